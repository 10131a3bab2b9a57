#define H5_USE_110_API
#include "record/h5_library.h"

#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace signorini::h5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t) && sizeof(herr_t) == sizeof(int));

namespace {

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

thread_local int lock_depth = 0;

/// What a program wants said where the library runs out of memory, and how it ends then.
struct Farewell {
  const char* line = nullptr;
  int code = 0;
  pid_t program = 0;  ///< not in children that it forks
};
Farewell farewell;

/// In a signal handler too: takes no memory and no lock.
void say_farewell() {
  if (farewell.line == nullptr || ::getpid() != farewell.program) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, farewell.line, std::strlen(farewell.line));
  ::_exit(farewell.code);
}

struct Crash {
  int signal = 0;
  struct sigaction before {};
};
std::array<Crash, 3> crashes{Crash{SIGSEGV}, Crash{SIGBUS}, Crash{SIGABRT}};

/// Within the library: the farewell. Elsewhere the action from before takes its place.
void at_crash(int signal) {
  if (lock_depth > 0) say_farewell();
  for (const Crash& crash : crashes) {
    if (crash.signal == signal) ::sigaction(signal, &crash.before, nullptr);
  }
  ::raise(signal);  // comes when this has returned; one that another process sent would not come again
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kReportsCrashes = true;
#else
constexpr bool kReportsCrashes = false;
#endif

/// HDF5 1.10 does not survive a failed allocation: it reads and frees what it never got, or recurses until the stack is full.
void watch_crashes() {
  if constexpr (kReportsCrashes) return;  // the report of the sanitizer is worth more
  static std::array<char, 1U << 16U> memory;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  ::sigaltstack(&stack, nullptr);  // of this thread
  struct sigaction action {};
  action.sa_handler = at_crash;
  action.sa_flags = SA_ONSTACK;
  for (Crash& crash : crashes) ::sigaction(crash.signal, &action, &crash.before);
}

/// What the library says where an allocation failed. Its heap may be damaged then.
bool is_out_of_memory(const H5E_error2_t& error) {
  return error.maj_num == H5E_RESOURCE && error.min_num == H5E_NOSPACE && error.desc != nullptr &&
         std::string_view(error.desc).find("memory allocation failed") != std::string_view::npos;
}

bool set_up() { return H5open() >= 0 && H5PLset_loading_state(0) >= 0; }

}  // namespace

LibraryLock::LibraryLock() {
  if (lock_depth++ == 0) library_mutex().lock();
}

LibraryLock::~LibraryLock() {
  if (--lock_depth == 0) library_mutex().unlock();
}

void skip_cleanup_at_exit() {
  const LibraryLock lock;
  H5dont_atexit();
}

void end_where_memory_runs_out(const char* line, int code) {
  farewell = {line, code, ::getpid()};
  watch_crashes();
}

Session::Session() {
  static const bool initialised = set_up();
  if (!initialised) throw std::bad_alloc();  // it fails for nothing else
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = other.id_;
    close_ = other.close_;
    other.id_ = -1;
  }
  return *this;
}

bool Handle::reset() {
  if (id_ < 0) return true;
  const Session session;
  const bool closed = close_(id_) >= 0;
  id_ = -1;
  return closed;
}

Handle group_handle(std::int64_t id) { return {id, H5Gclose}; }
Handle dataset_handle(std::int64_t id) { return {id, H5Dclose}; }
Handle space_handle(std::int64_t id) { return {id, H5Sclose}; }
Handle type_handle(std::int64_t id) { return {id, H5Tclose}; }
Handle list_handle(std::int64_t id) { return {id, H5Pclose}; }
Handle attribute_handle(std::int64_t id) { return {id, H5Aclose}; }

std::string plain_reason(std::string text) {
  // "file read failed: time = …, errno = 5, error message = 'Input/output error', buf = 0x55…, …"
  constexpr std::string_view kMessage = "error message = '";
  const std::size_t said = text.find(kMessage);
  const std::size_t details = text.find(": time = ");
  if (details == std::string::npos) return text;
  std::string reason = text.substr(0, details);
  if (said == std::string::npos) return reason;
  const std::size_t begin = said + kMessage.size();
  return reason + ": " + text.substr(begin, text.find('\'', begin) - begin);
}

std::string library_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
        if (is_out_of_memory(*error)) say_farewell();
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && error->desc != nullptr) text = error->desc;
        return 0;
      },
      &reason);
  for (char& c : reason) {
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  }
  reason = plain_reason(std::move(reason));
  return reason.empty() ? std::string("no reason given") : reason.substr(0, 200);
}

Handle access_list(bool in_memory, Format format) {
  Handle list = list_handle(H5Pcreate(H5P_FILE_ACCESS));
  const H5F_libver_t low = format == Format::earliest ? H5F_LIBVER_EARLIEST : H5F_LIBVER_V18;
  H5Pset_libver_bounds(list.get(), low, H5F_LIBVER_V18);
  H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(list.get(), false, true);
  if (in_memory) H5Pset_fapl_core(list.get(), std::size_t{1} << 16U, false);
  return list;
}

std::string join(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

}  // namespace signorini::h5
