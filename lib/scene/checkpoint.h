#pragma once

#include <string>
#include <string_view>

#include "bodies/body_system.h"
#include "scene/contact_rows.h"

/// Bytes that hold the state of a run exactly: magic, version, what wrote them, the digest of the scene's
/// bodies, the numbers, and an XXH3 of all that. Little-endian; doubles as their eight bytes.
namespace signorini {

/// What a stepper carries from step to step, beside its settings all that the next one depends on.
struct CarriedState {
  long long steps = 0;  ///< taken
  SystemState state;
  WarmStart warm;        ///< impulses of the last (sub-)step
  double warm_dt = 0.0;  ///< its length, s
};

std::string write_checkpoint(std::string_view kind, const BodySystem& system, const CarriedState& carried);
/// Throws `InputError` as the reader does, and when the numbers of nodes, bodies or blocks are not those of
/// `system`.
CarriedState read_checkpoint(std::string_view bytes, std::string_view kind, const BodySystem& system);

}  // namespace signorini
