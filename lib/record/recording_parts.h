#pragma once

#include <string>
#include <vector>

#include "record/recording_format.h"

/// The folder of finished frames beside a recording, and packing them into it.
namespace signorini {

/// Ids of the complete parts, ascending; empty without a folder. Left-over temporary files are not listed.
std::vector<std::string> list_parts(const RecordingPaths& paths);

/// Merges the packed file (if there is one and the parts do not replace it), all parts and the statistics
/// (null: those of the packed file) into FILE.h5.tmp and verifies every checksum in it. The caller holds the
/// lock. HDF5 runs in a child process: a full disk or a damaged part gives one line and leaves file and parts
/// as they were.
void pack(const RecordingPaths& paths, const RecordingHeader& header, const StepTable* statistics);

/// Renames FILE.h5.tmp to FILE.h5 and puts away the parts (`remove_parts`).
void publish_packed(const RecordingPaths& paths);

/// What has been packed. Of a recording that ran to its end the files of kRecordingSidecars move beside it and
/// the folder goes; one that did not keeps its checkpoint.
void remove_parts(const RecordingPaths& paths);

/// Packs left-over parts when there are any and nobody is recording; parts that are to replace the file stay.
/// Throws `BusyError` when a recording is under way and there is no packed file yet.
void recover_parts(const RecordingPaths& paths);
/// The same for a caller that holds the lock.
void recover_locked_parts(const RecordingPaths& paths);

/// The header that all parts share, with the kernels of the last one; every part is verified, in a child process.
RecordingHeader verify_parts(const RecordingPaths& paths, const std::vector<std::string>& ids);

}  // namespace signorini
