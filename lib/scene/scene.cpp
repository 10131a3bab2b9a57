#include "scene/scene.h"

#include <filesystem>

#include "base/check.h"
#include "scene/scene_builder.h"
#include "scene/scene_config.h"
#include "solvers/registry.h"

namespace signorini {

namespace {

/// Surfaces for pictures: the obstacle first, then every body's surface vertices.
std::unique_ptr<FrameGeometry> frame_geometry(const CollisionModel& model,
                                              std::span<const Vector3> position) {
  auto geometry = std::make_unique<FrameGeometry>();
  const auto fixed = static_cast<Index>(model.obstacle.vertices.size());
  const auto fixed_triangles = static_cast<Index>(model.obstacle.triangles.size());
  geometry->vertices.resize(fixed + static_cast<Index>(model.points.size()), 3);
  geometry->triangles.resize(fixed_triangles + static_cast<Index>(model.triangles.size()), 3);
  for (Index i = 0; i < fixed; ++i) {
    geometry->vertices.row(i) = model.obstacle.vertices[static_cast<std::size_t>(i)].transpose();
  }
  std::vector<Index> vertex_of(position.size(), -1);
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const auto node = static_cast<std::size_t>(model.points[i]);
    vertex_of[node] = fixed + static_cast<Index>(i);
    geometry->vertices.row(vertex_of[node]) = position[node].transpose();
  }
  for (Index t = 0; t < fixed_triangles; ++t) {
    const Triangle& triangle = model.obstacle.triangles[static_cast<std::size_t>(t)];
    geometry->triangles.row(t) << triangle[0], triangle[1], triangle[2];
  }
  geometry->triangle_body.assign(static_cast<std::size_t>(fixed_triangles), -1);
  for (std::size_t t = 0; t < model.triangles.size(); ++t) {
    const Triangle& triangle = model.triangles[t];
    geometry->triangles.row(fixed_triangles + static_cast<Index>(t))
        << vertex_of[static_cast<std::size_t>(triangle[0])],
        vertex_of[static_cast<std::size_t>(triangle[1])], vertex_of[static_cast<std::size_t>(triangle[2])];
    geometry->triangle_body.push_back(model.triangle_body[t]);
  }
  return geometry;
}

StepStatistics statistics_of(const ExplicitStepper& stepper, const StepReport& report, long long steps) {
  StepStatistics s;
  s.step = stepper.steps_taken();
  s.steps = steps;
  s.time = stepper.time();
  s.contacts = report.contacts;
  s.iterations = report.iterations;
  s.residual = report.residual;
  s.kinetic_energy = report.kinetic_energy;
  s.elastic_energy = report.elastic_energy;
  s.potential_energy = report.potential_energy;
  s.penetration = report.penetration;
  s.detection_seconds = report.detection_seconds;
  s.assembly_seconds = report.assembly_seconds;
  s.solve_seconds = report.solve_seconds;
  s.other_seconds = report.other_seconds;
  return s;
}

}  // namespace

std::string effective_scene(const RecordRequest& request) {
  return scene_text(read_scene(request), request.size);
}

RecordingHeader recording_header(const RecordRequest& request) {
  const SceneConfig config = read_scene(request);
  RecordingHeader header;
  header.scene = std::filesystem::path(request.scene_path).stem().string();
  header.config = scene_text(config, request.size);
  header.seed = static_cast<std::uint64_t>(config.seed);
  return header;
}

int run_scene(const RecordRequest& request, const std::function<bool(const std::string&)>& wanted,
              const std::function<void(const Frame&)>& on_frame,
              const std::function<bool(const StepStatistics&)>& on_step) {
  const SceneConfig config = read_scene(request);
  BuiltScene scene = build_scene(config);
  TaskArena arena(request.threads);
  ExplicitStepper stepper(scene.solids, ContactDetector(scene.collision, scene.detection),
                          make_solver(config.solver.name, config.solver.options), scene.stepping, arena);
  int frames = 0;
  for (long long step = 1; step <= config.time.steps; ++step) {
    const bool due = step % config.time.record_every == 0 && step >= config.time.record_from;
    // The picture shows the positions at which the contacts were found: the start of the step.
    std::unique_ptr<FrameGeometry> geometry;
    if (due && config.geometry) geometry = frame_geometry(scene.collision, stepper.state().position);
    const StepReport report = stepper.advance(arena);
    if (due && report.contacts > 0) {
      ++frames;
      const std::string id = fmt::format("{:06}", step);
      if (wanted(id)) on_frame({id, stepper.problem(), std::move(geometry)});
    }
    if (!on_step(statistics_of(stepper, report, config.time.steps))) break;
  }
  return frames;
}

}  // namespace signorini
