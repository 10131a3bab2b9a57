#pragma once

#include "bodies/system_state.h"

namespace signorini {

/// Angular velocity ω⁺ (world, rad/s) after a torque-free step of a rigid body, implicit in ω⁺: the angular
/// momentum L = R I_b Rᵀ ω is the same after the pose has been turned by exp(dt ω⁺),
///
///     (E R) I_b (E R)ᵀ ω⁺ = L,   E = exp(dt ω⁺);   in body axes, Ω = Rᵀ ω⁺:   I_b Ω = exp(−dt Ω) Rᵀ L
///
/// The kinetic energy never grows, whatever dt: with d = Rᵀ L − I_b Ω, which is across Ω because exp(−dt Ω)
/// leaves the part along Ω alone, it falls by ½ d·I_b⁻¹ d. Newton's iteration with halved steps; where it
/// does not converge (steps of several turns), Ω stays as it was, which keeps the energy but not the
/// momentum. `body_inertia`: about the centre in body axes, kg·m², SPD.
Vector3 free_rotation(const Matrix3& body_inertia, const RigidPose& pose, const Vector3& angular_velocity,
                      double dt);

}  // namespace signorini
