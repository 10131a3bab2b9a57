#pragma once

#include "json_output.h"
#include "scene/facts.h"

namespace signorini {

/// What a fact of a scene says, its bounds (null: none), the measured value and the verdict.
Json to_json(const FactVerdict& verdict);

}  // namespace signorini
