#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/function_ref.h"

/// Work on untrusted files in a child process: whatever the library that reads them does there (crash, endless loop,
/// huge allocation), the caller gets one clear line.
namespace signorini {

/// Runs `work` in a forked child with limits on memory (its present size + 1 GiB + 4 × `bytes`), CPU time and
/// wall time (10 s and 60 s, growing with `bytes`; time while this process is stopped does not count). An exception of `work` is rethrown here as `InputError`
/// with the same text; a crash or an exceeded limit becomes `InputError` "<name>: damaged file (…)".
/// `Cancelled` (base/cancellation.h) where SIGINT, SIGTERM or SIGHUP ended the child.
///
/// `work` must not take locks that other threads of this process may hold, apart from the HDF5 lock and
/// malloc's.
void run_in_child(const std::string& name, std::uintmax_t bytes, FunctionRef<void()> work);

/// Appends to `reply` all that is written to the other end of `fd`, until that is closed. False where it takes longer than
/// `patience`. A process that is stopped and goes on, by Ctrl-Z or with its machine, has not waited meanwhile.
bool hear_out(int fd, std::chrono::milliseconds patience, std::string& reply);

/// Opens `path` in a child and does there what a reader will do here: visits every object, and reads all
/// numbers unless the file is a recording, whose payload is protected by its layout (plain contiguous arrays)
/// and its checksums. Once in the life of this process for every file, as long as it stays the same
/// (record/checked_files.h).
void check_hdf5_in_child(const std::filesystem::path& path);

/// By this process so far.
std::uint64_t children_started();

}  // namespace signorini
