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
/// Layout, little-endian: magic; XXH3 of all that follows; digest of the header; steps; frames; statistics;
/// clocks; state. Texts and lists carry their length in front.
namespace signorini {

struct RecordingCheckpoint {
  long long steps = 0;              ///< finished
  std::vector<std::string> frames;  ///< ids of all frames of these steps, ascending
  StepTable statistics;             ///< one row per finished step: what the finished file will hold
  StepTable clocks;                 ///< the columns that only the CSV file has
  std::string state;                ///< Stepper::checkpoint()
};

/// Scene, configuration, seed and revision as one number.
std::uint64_t header_digest(const RecordingHeader& header);

std::string encode_checkpoint(const RecordingCheckpoint& checkpoint, std::uint64_t header);
/// Throws `InputError` "<where>: …" for damaged bytes, another header, or tables whose rows are not `steps`.
RecordingCheckpoint decode_checkpoint(std::string_view bytes, std::uint64_t header, const std::string& where);

}  // namespace signorini
