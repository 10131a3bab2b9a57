#pragma once

#include <Eigen/Geometry>
#include <vector>

#include "linalg/types.h"

/// Where everything is and how fast it moves: the part of a simulation that a checkpoint has to keep.
///
/// Unknowns are *blocks* of three dofs. Mesh nodes come first, one block each (velocity in m/s). Rigid body r
/// follows with two: N + 2r, the velocity of its centre of mass (m/s), and N + 2r + 1, its angular velocity
/// in world axes (rad/s). Kinematic bodies have no blocks.
namespace signorini {

/// x = centre + rotation · X, with X in body axes about the centre of mass.
struct RigidPose {
  Vector3 centre = Vector3::Zero();  ///< m
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();
};

struct SystemState {
  double time = 0.0;          ///< s
  std::vector<Vector3> node;  ///< positions of the mesh nodes, m
  std::vector<RigidPose> rigid;
  std::vector<Vector3> velocity;  ///< one per block
};

/// Where a body stands at the start: x = R X + t; every point X moves with velocity + ω × (R X).
struct Placement {
  Matrix3 rotation = Matrix3::Identity();
  Vector3 translation = Vector3::Zero();       ///< m
  Vector3 velocity = Vector3::Zero();          ///< m/s
  Vector3 angular_velocity = Vector3::Zero();  ///< rad/s, about the body's own origin
};

}  // namespace signorini
