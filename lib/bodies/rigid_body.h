#pragma once

#include <string_view>

#include "bodies/system_state.h"
#include "geometry/triangle_mesh.h"

/// Rigid bodies: exact mass properties of a closed surface, and their motion.
namespace signorini {

struct MassProperties {
  double mass = 0.0;                  ///< kg
  Vector3 centre = Vector3::Zero();   ///< centre of mass, m
  Matrix3 inertia = Matrix3::Zero();  ///< about the centre, kg·m²
};

/// Of the volume inside a closed, outward oriented surface of uniform density, exact for the polyhedron:
/// volume integrals by signed tetrahedra (Tonon 2004). Throws `UsageError` when the surface is not closed and
/// oriented or encloses no volume.
MassProperties mass_properties(const TriangleMesh& surface, double density, std::string_view context);

/// Torque of the gyroscopic term, −ω × (I ω), N·m.
Vector3 gyroscopic_torque(const Matrix3& world_inertia, const Vector3& angular_velocity);

/// Pose after dt with the velocities held: centre += dt v; rotation := exp(dt ω) rotation, normalised.
RigidPose advanced(const RigidPose& pose, const Vector3& velocity, const Vector3& angular_velocity,
                   double dt);

}  // namespace signorini
