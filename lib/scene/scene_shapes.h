#pragma once

#include <optional>
#include <string>

#include "bodies/spring_network.h"
#include "geometry/tet_mesh.h"
#include "scene/scene_config.h"

/// The rest shapes that a scene asks for, around their own origins.
namespace signorini {

/// Of elastic bodies: made, read from a file, or a surface filled with tetrahedra. `number` is that of the
/// body in its group, whose letters differ. `context` opens error lines.
TetMesh solid_shape(const SceneConfig& config, const BodyConfig& body, int number,
                    const std::string& context);
/// The surface that replaces the boundary of an elastic body: a file's, or that of a bevelled letter; else
/// nothing.
std::optional<TriangleMesh> skin_shape(const SceneConfig& config, const BodyConfig& body, int number);
TriangleMesh rigid_shape(const SceneConfig& config, const BodyConfig& body);
/// Cloth and chains.
SpringNetwork spring_shape(const SceneConfig& config, const BodyConfig& body, const MaterialConfig& material);
/// In its place in the world at time 0, without its motion.
TriangleMesh obstacle_shape(const SceneConfig& config, const ObstacleConfig& obstacle);

/// Rotation by `degrees` about `axis` (any length but 0).
Matrix3 rotation_about(const Vector3& axis, double degrees);

}  // namespace signorini
