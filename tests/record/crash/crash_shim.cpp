// Ends the whole process group at the k-th call that changes the disk. Preloaded into a recording program:
//   SIGNORINI_CRASH_AT=k     the call before which everything ends (1-based); 0 = never
//   SIGNORINI_CRASH_TORN=1   a write does half of its bytes first
//   SIGNORINI_CRASH_LOG=FILE one letter per call: w write, o other
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

// Shared with forked children: they count on.
std::atomic<long>* calls = nullptr;
long crash_at = 0;
bool torn = false;
int log_fd = -1;

__attribute__((constructor)) void start() {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  calls = new (page) std::atomic<long>(0);
  if (const char* at = std::getenv("SIGNORINI_CRASH_AT")) crash_at = std::atol(at);
  torn = std::getenv("SIGNORINI_CRASH_TORN") != nullptr;
  if (const char* file = std::getenv("SIGNORINI_CRASH_LOG")) {
    log_fd = ::open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
}

/// True when this is the call to end at.
bool count(char letter) {
  if (calls == nullptr) return false;
  if (log_fd >= 0) ::syscall(SYS_write, log_fd, &letter, 1);
  return ++*calls == crash_at;
}

[[noreturn]] void end_all() {
  ::kill(0, SIGKILL);
  ::_exit(1);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void before_change() {
  if (count('o')) end_all();
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static auto* real = next<ssize_t(int, const void*, size_t)>("write");
  if (fd > 2 && count('w')) {
    if (torn) real(fd, data, size / 2);
    end_all();
  }
  return real(fd, data, size);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  static auto* real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (count('w')) {
    if (torn) real(fd, data, size / 2, offset);
    end_all();
  }
  return real(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return pwrite(fd, data, size, offset);
}

int ftruncate(int fd, off_t length) {
  before_change();
  static auto* real = next<int(int, off_t)>("ftruncate");
  return real(fd, length);
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int fsync(int fd) {
  before_change();
  static auto* real = next<int(int)>("fsync");
  return real(fd);
}

int rename(const char* from, const char* to) {
  before_change();
  static auto* real = next<int(const char*, const char*)>("rename");
  return real(from, to);
}

int unlink(const char* path) {
  before_change();
  static auto* real = next<int(const char*)>("unlink");
  return real(path);
}

int unlinkat(int folder, const char* path, int flags) {
  before_change();
  static auto* real = next<int(int, const char*, int)>("unlinkat");
  return real(folder, path, flags);
}

int remove(const char* path) {
  before_change();
  static auto* real = next<int(const char*)>("remove");
  return real(path);
}

int mkdir(const char* path, mode_t mode) {
  before_change();
  static auto* real = next<int(const char*, mode_t)>("mkdir");
  return real(path, mode);
}

}  // extern "C"
