#pragma once

#include <memory>

#include "bodies/body_system.h"
#include "scene/explicit_stepper.h"
#include "scene/implicit_stepper.h"
#include "scene/scene_config.h"

namespace signorini {

/// All bodies of a scene in their start positions: groups of bodies first, in the order of their names, then
/// the obstacles; pinned, and put on axles.
///
/// Throws `UsageError` for what no body can be made of (inverted or flat elements, open rigid surfaces, pins
/// that hold nothing; the table is named), for an unstable explicit step (with the largest stable one) and
/// for bodies that intersect at the start or lie inside one another (both are named, with the place);
/// for more bodies than the memory of this machine can hold (scene_memory.h); `InputError` for mesh files that
/// cannot be read; `Cancelled` once `cancelled` is raised. Closer than the tolerance is allowed.
BodySystem build_bodies(const SceneConfig& config, const CancelFlag* cancelled = nullptr);

/// The stepper that the scene asks for. `bodies` must outlive it.
/// `cancelled`: of the driving solver (StopRule::cancelled), may be null.
std::unique_ptr<Stepper> make_stepper(const SceneConfig& config, BodySystem& bodies,
                                      const CancelFlag* cancelled);
/// The one of its prelude.
std::unique_ptr<Stepper> make_prelude_stepper(const SceneConfig& config, BodySystem& bodies,
                                              const CancelFlag* cancelled);

}  // namespace signorini
