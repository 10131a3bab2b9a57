#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording_file.h"

/// The newest state of a recording under way, so that a resume need not simulate again from the start:
/// `FILE.h5.parts/checkpoint`, replaced durably (base/durable_file.h), removed when the recording is
/// packed. It is a note of the program to itself: read by the same revision only, never part of the finished
/// file.
///
/// Layout, little-endian: magic; XXH3 of all that follows; digest of the header; kernels; steps; frames; statistics;
/// clocks; state. Texts and lists carry their length in front.
namespace signorini {

struct RecordingCheckpoint {
  long long steps = 0;              ///< finished
  std::vector<std::string> frames;  ///< ids of all frames of these steps, ascending
  StepTable statistics;             ///< one row per finished step: what the finished file will hold
  StepTable clocks;                 ///< the columns that only the CSV file has
  std::string state;                ///< Stepper::checkpoint()
  std::string kernels = {};         ///< of the header that it was encoded with
};

std::string encode_checkpoint(const RecordingCheckpoint& checkpoint, const RecordingHeader& header);
/// Throws `InputError` "<where>: …" for damaged bytes, a header that differs in more than the kernels, or tables whose
/// rows are not `steps`.
RecordingCheckpoint decode_checkpoint(std::string_view bytes, const RecordingHeader& header,
                                      const std::string& where);

}  // namespace signorini
