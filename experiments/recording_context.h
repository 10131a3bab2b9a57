#pragma once

#include "scene/recorder.h"

namespace signorini {

struct Program;

/// For one recording: who made it and how, from now on.
RecordingContext recording_context(const Program& program, RunMonitor& monitor);

}  // namespace signorini
