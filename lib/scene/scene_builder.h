#pragma once

#include "bodies/body_system.h"
#include "scene/explicit_stepper.h"
#include "scene/scene_config.h"

namespace signorini {

/// The bodies and obstacles of a scene in their start positions, and the settings of detection and stepping.
struct BuiltScene {
  BodySystem bodies;
  DetectionSettings detection;
  ExplicitSettings stepping;
};

/// Throws `UsageError` when the time step is unstable (with the largest stable one) or bodies overlap at the
/// start.
BuiltScene build_scene(const SceneConfig& config);

}  // namespace signorini
