// Preloaded into a program: ends it, without any clean-up, at the call number KILL_AT (1, 2, …) of those that
// change a regular file or a folder. KILL_TORN=1 lets half of a write through first. Only the process that
// was started counts; children that it forks do not.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> calls{0};
const pid_t started = getpid();

long environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}
const long kill_at = environment("KILL_AT");
const bool torn = environment("KILL_TORN") != 0;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// True when this call is the last one.
bool last_call() { return getpid() == started && kill_at > 0 && ++calls == kill_at; }

[[noreturn]] void end() { _exit(137); }

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (regular(descriptor) && last_call()) {
    if (torn) real(descriptor, data, bytes / 2);
    end();
  }
  return real(descriptor, data, bytes);
}
ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (regular(descriptor) && last_call()) {
    if (torn) real(descriptor, data, bytes / 2, offset);
    end();
  }
  return real(descriptor, data, bytes, offset);
}
ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  if (regular(descriptor) && last_call()) {
    if (torn) real(descriptor, data, bytes / 2, offset);
    end();
  }
  return real(descriptor, data, bytes, offset);
}
int ftruncate(int descriptor, off_t length) {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  if (last_call()) end();
  return real(descriptor, length);
}
int ftruncate64(int descriptor, off64_t length) {
  static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
  if (last_call()) end();
  return real(descriptor, length);
}
int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  if (last_call()) end();
  return real(descriptor);
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  if (last_call()) end();
  return real(from, to);
}
int unlink(const char* path) {
  static const auto real = next<int (*)(const char*)>("unlink");
  if (last_call()) end();
  return real(path);
}
int remove(const char* path) {
  static const auto real = next<int (*)(const char*)>("remove");
  if (last_call()) end();
  return real(path);
}
int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  if (last_call()) end();
  return real(path, mode);
}

}  // extern "C"
