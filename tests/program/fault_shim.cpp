// Preloaded into a program: call number FAULT_AT (1, 2, …) of the kind FAULT_CALL fails once with the errno FAULT_ERRNO.
// Kinds: write, fsync, rename, mkdir, open, read, close, mmap, malloc (calloc, realloc and operator new too). Calls
// count from the start of main, in the process that was started only: not in children that it forks or starts. Reads,
// writes and closes count for regular files. FAULT_COUNT=FILE writes the number of calls of the kind there at the end.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> calls{0};
pid_t started = 0;
char kind[16] = "";
char count_file[4096] = "";
long fail_at = 0;
int fail_with = 0;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// True when this call is the one that fails; errno says why.
bool fails(const char* call) {
  if (!counting.load(std::memory_order_relaxed) || std::strcmp(kind, call) != 0 || getpid() != started)
    return false;
  if (++calls != fail_at) return false;
  errno = fail_with;
  return true;
}

void take(char* place, std::size_t size, const char* name) {
  const char* text = std::getenv(name);
  if (text != nullptr) std::strncpy(place, text, size - 1);
}

int (*program_main)(int, char**, char**) = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  counting = true;
  return program_main(argc, argv, environment);
}

__attribute__((constructor)) void begin() {
  started = getpid();
  take(kind, sizeof kind, "FAULT_CALL");
  take(count_file, sizeof count_file, "FAULT_COUNT");
  const char* at = std::getenv("FAULT_AT");
  const char* with = std::getenv("FAULT_ERRNO");
  fail_at = at == nullptr ? 0 : std::atol(at);
  fail_with = with == nullptr ? EIO : std::atoi(with);
  unsetenv("LD_PRELOAD");  // programs that it starts are others' work
}

__attribute__((destructor)) void end() {
  counting = false;
  if (count_file[0] == '\0' || getpid() != started) return;
  const int file = ::open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0) {
    dprintf(file, "%ld\n", calls.load());
    ::close(file);
  }
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  return next<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

ssize_t write(int descriptor, const void* data, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return regular(descriptor) && fails("write") ? -1 : real(descriptor, data, bytes);
}
ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return regular(descriptor) && fails("write") ? -1 : real(descriptor, data, bytes, offset);
}
ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return regular(descriptor) && fails("write") ? -1 : real(descriptor, data, bytes, offset);
}
ssize_t writev(int descriptor, const iovec* pieces, int count) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
  return regular(descriptor) && fails("write") ? -1 : real(descriptor, pieces, count);
}
int ftruncate(int descriptor, off_t length) {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return fails("write") ? -1 : real(descriptor, length);
}
ssize_t read(int descriptor, void* data, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  return regular(descriptor) && fails("read") ? -1 : real(descriptor, data, bytes);
}
ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  return regular(descriptor) && fails("read") ? -1 : real(descriptor, data, bytes, offset);
}
ssize_t pread64(int descriptor, void* data, size_t bytes, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off64_t)>("pread64");
  return regular(descriptor) && fails("read") ? -1 : real(descriptor, data, bytes, offset);
}
int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails("fsync") ? -1 : real(descriptor);
}
int close(int descriptor) {
  static const auto real = next<int (*)(int)>("close");
  const bool failed = regular(descriptor) && fails("close");
  const int reason = errno;
  const int result = real(descriptor);  // closed all the same, as the kernel does
  if (!failed) return result;
  errno = reason;
  return -1;
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return fails("rename") ? -1 : real(from, to);
}
int mkdir(const char* path, mode_t mode) {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  return fails("mkdir") ? -1 : real(path, mode);
}
int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails("open") ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails("open") ? -1 : real(path, flags, mode);
}
std::FILE* fopen(const char* path, const char* how) {
  static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen");
  return fails("open") ? nullptr : real(path, how);
}
std::FILE* fopen64(const char* path, const char* how) {
  static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen64");
  return fails("open") ? nullptr : real(path, how);
}
void* mmap(void* place, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  return fails("mmap") ? MAP_FAILED : real(place, bytes, protection, flags, descriptor, offset);
}

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* place, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) { return fails("malloc") ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails("malloc") ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* place, size_t bytes) { return fails("malloc") ? nullptr : __libc_realloc(place, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails("malloc") ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** place, size_t alignment, size_t bytes) {
  if (fails("malloc")) return ENOMEM;
  *place = __libc_memalign(alignment, bytes);
  return *place == nullptr ? ENOMEM : 0;
}

}  // extern "C"
