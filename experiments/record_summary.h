#pragma once

#include <string>

#include "json_output.h"
#include "scene/recorder.h"

namespace signorini {

/// What `record` tells of a recording that it has made: numbers and the verdicts on the facts of the scene, on one screen
/// of stderr.
void print_record_summary(const RecordRequest& request, const std::string& output,
                          const RecordingSummary& summary);
/// The same as JSON. A recording that was complete already has only its counts.
Json to_json(const RecordRequest& request, const std::string& output, const RecordingSummary& summary);

}  // namespace signorini
