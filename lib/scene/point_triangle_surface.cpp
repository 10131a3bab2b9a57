#include "scene/point_triangle_surface.h"

namespace signorini {

namespace {

struct Range {
  Index begin, end;
};
/// Of a body in one of the ascending lists of the model.
Range range(const SurfaceModel& surface, Index body, Index SurfaceModel::Body::*end) {
  return {body == 0 ? 0 : surface.bodies[body - 1].*end, surface.bodies[body].*end};
}

}  // namespace

PointTriangleSurface point_triangle_surface(const BodySystem& system) {
  const SurfaceModel& surface = system.surface();
  TaskArena arena(1);
  std::vector<Vector3> x(surface.vertices());
  system.surface_positions(arena, system.start(), x);

  PointTriangleSurface result;
  CollisionModel& model = result.model;
  model.nodes = surface.vertices();
  model.bodies = count(surface.bodies);
  model.scripted.assign(surface.bodies.size(), 0);
  std::vector<Index> fixed_triangles;
  for (Index body = 0; body < model.bodies; ++body) {
    const Range vertices = range(surface, body, &SurfaceModel::Body::vertices);
    const Range triangles = range(surface, body, &SurfaceModel::Body::triangles);
    const Motion* motion = system.motion(body);
    TriangleMesh mesh;
    mesh.vertices.assign(x.begin() + vertices.begin, x.begin() + vertices.end);
    for (Index t = triangles.begin; t < triangles.end; ++t) {
      const Triangle& corner = surface.triangles[t];
      mesh.triangles.push_back(
          {corner[0] - vertices.begin, corner[1] - vertices.begin, corner[2] - vertices.begin});
    }
    if (motion && motion->is_static()) {
      append(model.obstacle, mesh);
      for (Index v = vertices.begin; v < vertices.end; ++v) result.obstacle_vertex.push_back(v);
      for (Index t = triangles.begin; t < triangles.end; ++t) fixed_triangles.push_back(t);
      continue;
    }
    model.scripted[body] = motion != nullptr;
    for (Index t = triangles.begin; t < triangles.end; ++t) {
      model.triangles.push_back(surface.triangles[t]);
      model.triangle_body.push_back(body);
      result.triangle.push_back(t);
    }
    std::vector<Index> points;
    if (motion) {
      points = exposed_vertices(mesh);
    } else {
      for (Index v = vertices.begin; v < vertices.end; ++v) points.push_back(v - vertices.begin);
    }
    for (const Index v : points) {
      model.points.push_back(v + vertices.begin);
      model.point_body.push_back(body);
    }
  }
  result.triangle.insert(result.triangle.end(), fixed_triangles.begin(), fixed_triangles.end());
  model.obstacle_points = exposed_vertices(model.obstacle);
  return result;
}

SurfaceContact surface_contact(const SurfaceModel& surface, const PointTriangleSurface& map,
                               const PointTriangleContact& contact) {
  const Index triangle = map.triangle[contact.key.triangle];
  const Triangle& corner = surface.triangles[triangle];
  const Index point = contact.key.point < map.model.nodes
                          ? contact.key.point
                          : map.obstacle_vertex[contact.key.point - map.model.nodes];
  SurfaceContact result;
  result.key = {PairKind::vertex_face, {point, corner[0], corner[1], corner[2]}};
  result.feature = {point, triangle};
  result.body = {surface.vertex_body[point], surface.triangle_body[triangle]};
  result.weight = {1.0, -contact.barycentric[0], -contact.barycentric[1], -contact.barycentric[2]};
  result.normal = contact.normal;
  result.tangent = contact.tangent;
  result.position = contact.position;
  result.gap = contact.gap;
  return result;
}

}  // namespace signorini
