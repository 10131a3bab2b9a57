#include "scene/scene.h"

#include <filesystem>

#include "base/check.h"
#include "scene/scene_builder.h"
#include "scene/scene_config.h"
#include "solvers/registry.h"

namespace signorini {

namespace {

/// Surfaces of all bodies for pictures.
std::unique_ptr<FrameGeometry> frame_geometry(const BodySystem& bodies, const SystemState& state,
                                              TaskArena& arena) {
  const SurfaceModel& surface = bodies.surface();
  std::vector<Vector3> x(static_cast<std::size_t>(surface.vertices()));
  bodies.surface_positions(arena, state, x);
  auto geometry = std::make_unique<FrameGeometry>();
  geometry->vertices.resize(surface.vertices(), 3);
  for (Index i = 0; i < surface.vertices(); ++i)
    geometry->vertices.row(i) = x[static_cast<std::size_t>(i)].transpose();
  geometry->triangles.resize(static_cast<Index>(surface.triangles.size()), 3);
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Triangle& triangle = surface.triangles[t];
    geometry->triangles.row(static_cast<Index>(t)) << triangle[0], triangle[1], triangle[2];
    const Index body = surface.triangle_body[t];
    geometry->triangle_body.push_back(surface.bodies[static_cast<std::size_t>(body)].movable ? body : -1);
  }
  return geometry;
}

StepStatistics statistics_of(const ExplicitStepper& stepper, const StepReport& report, long long steps) {
  StepStatistics s;
  s.step = stepper.steps_taken();
  s.steps = steps;
  s.time = stepper.state().time;
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
  ExplicitStepper stepper(scene.bodies, scene.detection,
                          make_solver(config.solver.name, config.solver.options), scene.stepping);
  int frames = 0;
  for (long long step = 1; step <= config.time.steps; ++step) {
    const bool due = step % config.time.record_every == 0 && step >= config.time.record_from;
    // The picture shows the positions at which the contacts were found: the start of the step.
    std::unique_ptr<FrameGeometry> geometry;
    if (due && config.geometry) geometry = frame_geometry(scene.bodies, stepper.state(), arena);
    const StepReport report = stepper.advance(arena, [&](const SolveEvent& event) {
      if (!due || !event.accepted) return;
      ++frames;
      const std::string id = fmt::format("{:06}", step);
      if (wanted(id)) on_frame({id, event.problem, std::move(geometry)});
    });
    if (!on_step(statistics_of(stepper, report, config.time.steps))) break;
  }
  return frames;
}

}  // namespace signorini
