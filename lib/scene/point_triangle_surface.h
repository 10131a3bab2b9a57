#pragma once

#include <vector>

#include "bodies/body_system.h"
#include "collision/contact_detection.h"
#include "collision/surface_contact.h"

/// The bridge between the surfaces of a BodySystem and the point–triangle detector of explicit steps.
namespace signorini {

/// Node i of `model` is surface vertex i. Kinematic bodies that never move are its obstacle, in the order of
/// the bodies; those that move are scripted bodies with the vertices that stick out as points. All vertices
/// of bodies with dofs are points.
struct PointTriangleSurface {
  CollisionModel model;
  std::vector<Index> triangle;         ///< surface triangle behind each moving triangle, then each fixed one
  std::vector<Index> obstacle_vertex;  ///< surface vertex behind each obstacle vertex
};
PointTriangleSurface point_triangle_surface(const BodySystem& system);

/// The detector's contact on surface vertices; bodies are the system's, obstacles included.
SurfaceContact surface_contact(const SurfaceModel& surface, const PointTriangleSurface& map,
                               const PointTriangleContact& contact);

}  // namespace signorini
