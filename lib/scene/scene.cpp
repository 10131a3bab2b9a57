#include "scene/scene.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/clock.h"
#include "collision/contact_finder.h"
#include "collision/nearest_bodies.h"
#include "regions/region_partition.h"
#include "scene/probes.h"
#include "scene/scene_builder.h"
#include "scene/scene_config.h"

namespace signorini {

namespace {

/// Surfaces of all bodies for pictures.
std::unique_ptr<FrameGeometry> frame_geometry(const BodySystem& bodies, const SystemState& state,
                                              TaskArena& arena) {
  const SurfaceModel& surface = bodies.surface();
  std::vector<Vector3> x(surface.vertices());
  bodies.surface_positions(arena, state, x);
  auto geometry = std::make_unique<FrameGeometry>();
  geometry->vertices.resize(surface.vertices(), 3);
  for (Index i = 0; i < surface.vertices(); ++i) geometry->vertices.row(i) = x[i].transpose();
  geometry->rest.resize(surface.vertices(), 3);
  for (Index i = 0; i < surface.vertices(); ++i) geometry->rest.row(i) = bodies.surface_rest()[i].transpose();
  geometry->triangles.resize(count(surface.triangles), 3);
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Triangle& triangle = surface.triangles[t];
    geometry->triangles.row(t) << triangle[0], triangle[1], triangle[2];
    const Index body = surface.triangle_body[t];
    geometry->triangle_body.push_back(surface.bodies[body].movable ? body : -1);
  }
  return geometry;
}

/// In front of a checkpoint that was made before the prelude had ended.
constexpr std::string_view kInPrelude = "prelude\n";

std::string frame_id(long long step, int solve) {
  return solve == 1 ? fmt::format("{:06}", step) : fmt::format("{:06}.{}", step, solve);
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

std::vector<std::filesystem::path> scene_files(const RecordRequest& request) {
  SceneConfig config = read_scene(request);
  std::vector<std::filesystem::path> files{request.scene_path};
  for (const FileConfig* file : mesh_files(config)) files.push_back(folder_of(config) / file->path);
  return files;
}

struct SceneRun::Impl {
  explicit Impl(const RecordRequest& request)
      : config(read_scene(request)),
        arena(request.threads),
        bodies(build_bodies(config, request.cancelled)),
        probes(config, bodies),
        cancelled(request.cancelled),
        in_prelude(config.prelude.steps > 0),
        stepper(new_stepper(in_prelude)) {}

  SceneConfig config;
  TaskArena arena;
  BodySystem bodies;
  Probes probes;
  const CancelFlag* cancelled;
  bool in_prelude;
  std::unique_ptr<Stepper> stepper;  ///< of the prelude, while in it

  std::unique_ptr<Stepper> new_stepper(bool prelude) {
    return (prelude ? make_prelude_stepper : make_stepper)(config, bodies, cancelled);
  }
  void end_prelude() {
    std::unique_ptr<Stepper> next = new_stepper(false);
    next->restore(stepper->checkpoint());
    next->restart_count();
    stepper = std::move(next);
    in_prelude = false;
  }

  bool is_due(long long step) const {
    return step % config.time.record_every == 0 && step >= config.time.record_from;
  }
  bool surfaces_intersect() {
    std::vector<Vector3> x(bodies.surface().vertices());
    bodies.surface_positions(arena, stepper->state(), x);
    return find_intersection(bodies.surface(), x).has_value();
  }
  Frame frame_of(const std::string& id, const SolveEvent& event) {
    Frame frame;
    frame.id = id;
    frame.problem = event.problem;
    if (config.geometry) frame.geometry = frame_geometry(bodies, stepper->state(), arena);
    if (event.accepted) {
      frame.impulse = Eigen::Map<const Vector>(event.impulses.data(), event.impulses.size());
    }
    return frame;
  }
};

SceneRun::SceneRun(const RecordRequest& request) : impl_(std::make_unique<Impl>(request)) {}
SceneRun::~SceneRun() = default;
SceneRun::SceneRun(SceneRun&&) noexcept = default;
SceneRun& SceneRun::operator=(SceneRun&&) noexcept = default;

long long SceneRun::steps() const {
  const TimeConfig& time = impl_->config.time;
  return time.stop_after > 0 ? std::min(time.stop_after, time.steps) : time.steps;
}
bool SceneRun::ends(const StepTable& statistics) const {
  if (steps_taken() >= steps()) return true;
  const TimeConfig& time = impl_->config.time;
  if (time.contact_steps == 0) return false;
  const std::size_t column = std::find(statistics.columns.begin(), statistics.columns.end(), "contacts") -
                             statistics.columns.begin();
  return std::count_if(statistics.rows.begin(), statistics.rows.end(), [&](const std::vector<double>& row) {
           return row[column] >= time.record_min_contacts;
         }) >= time.contact_steps;
}
StepTable SceneRun::statistics_table() const {
  StepTable table = signorini::statistics_table();
  table.columns.insert(table.columns.end(), impl_->probes.names().begin(), impl_->probes.names().end());
  table.units.insert(table.units.end(), impl_->probes.units().begin(), impl_->probes.units().end());
  return table;
}
long long SceneRun::steps_taken() const { return impl_->in_prelude ? 0 : impl_->stepper->steps_taken(); }

std::string SceneRun::checkpoint() const {
  const std::string bytes = impl_->stepper->checkpoint();
  return impl_->in_prelude ? std::string(kInPrelude) + bytes : bytes;
}

void SceneRun::restore(std::string_view bytes) {
  const bool in_prelude = bytes.starts_with(kInPrelude);
  if (in_prelude && impl_->config.prelude.steps == 0)
    throw_input("checkpoint is of a prelude, which the scene does not have");
  if (in_prelude) bytes.remove_prefix(kInPrelude.size());
  if (!in_prelude && !impl_->in_prelude) {
    impl_->stepper->restore(bytes);
    return;
  }
  std::unique_ptr<Stepper> other = impl_->new_stepper(in_prelude);
  other->restore(bytes);
  if (in_prelude && other->steps_taken() >= prelude_steps())
    throw_input("checkpoint is of step {} of a prelude that has {}", other->steps_taken(), prelude_steps());
  impl_->stepper = std::move(other);
  impl_->in_prelude = in_prelude;
}

long long SceneRun::prelude_steps() const { return impl_->config.prelude.steps; }
long long SceneRun::prelude_left() const {
  return impl_->in_prelude ? prelude_steps() - impl_->stepper->steps_taken() : 0;
}

StepReport SceneRun::advance_prelude() {
  StepReport report = impl_->stepper->advance(impl_->arena, {});
  if (prelude_left() == 0) impl_->end_prelude();
  return report;
}

StepStatistics SceneRun::advance(const FrameFilter& wanted, const FrameSink& on_frame) {
  StepStatistics statistics;
  statistics.step = steps_taken() + 1;
  statistics.steps = steps();
  const bool due = impl_->is_due(statistics.step);
  statistics.report = impl_->stepper->advance(impl_->arena, [&](const SolveEvent& event) {
    if (event.problem.contacts() == 0) return;
    const Stopwatch recording;
    const bool exact = event.problem.kind == ProblemKind::explicit_step;
    statistics.regions =
        partition_regions(event.problem, exact ? RegionMode::points : RegionMode::points_approx).regions();
    statistics.islands = partition_regions(event.problem, RegionMode::islands).regions();
    if (due && event.problem.contacts() >= impl_->config.time.record_min_contacts) {
      ++statistics.frames;
      const std::string id = frame_id(statistics.step, event.solve);
      if (wanted(id)) on_frame(impl_->frame_of(id, event));
    }
    statistics.recording_seconds += recording.seconds();
  });
  if (statistics.report.contacts == 0) statistics.regions = statistics.islands = 0;
  statistics.time = impl_->stepper->state().time;
  const Stopwatch measuring;
  if (due || statistics.step == statistics.steps)
    statistics.intersects = impl_->surfaces_intersect() ? 1.0 : 0.0;
  statistics.probes = impl_->probes.measure(impl_->bodies, impl_->stepper->state());
  statistics.recording_seconds += measuring.seconds();
  return statistics;
}

std::optional<NearestApproach> SceneRun::nearest_approach() const {
  const BodySystem& bodies = impl_->bodies;
  std::vector<Vector3> x(bodies.surface().vertices());
  bodies.surface_positions(impl_->arena, impl_->stepper->state(), x);
  const std::optional<NearestBodies> nearest = nearest_bodies(bodies.surface(), x);
  if (!nearest) return std::nullopt;
  return NearestApproach{bodies.name(nearest->a), bodies.name(nearest->b), nearest->distance};
}

int run_scene(const RecordRequest& request, const SceneRun::FrameFilter& wanted,
              const SceneRun::FrameSink& on_frame,
              const std::function<bool(const StepStatistics&)>& on_step) {
  SceneRun run(request);
  while (run.prelude_left() > 0) run.advance_prelude();
  StepTable statistics = run.statistics_table();
  int frames = 0;
  while (!run.ends(statistics)) {
    const StepStatistics step = run.advance(wanted, on_frame);
    statistics.rows.push_back(statistics_row(step));
    frames += step.frames;
    if (!on_step(step)) break;
  }
  return frames;
}

}  // namespace signorini
