#include "harness/vtk_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "base/output_file.h"
#include "regions/contact_graph.h"
#include "regions/region_partition.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSurfaceSeries = "surface.pvd";
constexpr const char* kContactSeries = "contacts.pvd";

std::string surface_name(const std::string& id) { return fmt::format("surface_{}.vtu", id); }
std::string contacts_name(const std::string& id) { return fmt::format("contacts_{}.vtu", id); }

/// True for the names that an export writes.
bool is_ours(const std::string& name) {
  if (name == kSurfaceSeries || name == kContactSeries) return true;
  for (const std::string_view head : {"surface_", "contacts_"}) {
    constexpr std::string_view tail = ".vtu";
    if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail))
      continue;
    const std::string id = name.substr(head.size(), name.size() - head.size() - tail.size());
    if (id.find_first_not_of("0123456789.") == std::string::npos) return true;
  }
  return false;
}

void write_text(const fs::path& path, const std::string& text) {
  write_durable(path, std::as_bytes(std::span(text)));
}

/// A series is written here first, so that a full disk or a signal leaves the earlier one as it was.
fs::path staging_of(const fs::path& folder) { return folder / "export.tmp"; }
fs::path lock_in(const fs::path& folder) { return folder / "export.lock"; }

/// The files of earlier exports. Refuses a folder that holds anything unless they are to be replaced.
std::vector<fs::path> earlier_exports(const fs::path& folder, ExistingFolder existing) {
  std::vector<fs::path> earlier;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path == staging_of(folder) || path == lock_in(folder)) continue;
    if (existing == ExistingFolder::refuse) {
      throw_usage("--vtk {}: the folder is not empty; --force replaces an earlier export in it",
                  folder.string());
    }
    if (is_ours(path.filename().string())) earlier.push_back(path);
  }
  if (error) throw_input("{}: cannot use the folder: {}", folder.string(), error.message());
  return earlier;
}

LockFile claim_folder(const fs::path& folder, const fs::path& recording, ExistingFolder existing) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw_usage("--vtk {}: is a file; --vtk names a folder", folder.string());
  }
  make_output_folder(folder);
  LockFile lock(lock_in(folder), folder.string() + ": is being written");
  for (const fs::path& path : earlier_exports(folder, existing)) {
    if (fs::equivalent(path, recording, error))
      throw_usage("--vtk {}: {} in it is the input of this command", folder.string(),
                  path.filename().string());
  }
  return lock;
}

/// Files that appear in a folder together: the series of all files comes last, what is left of an earlier
/// export goes.
class StagedFolder {
 public:
  explicit StagedFolder(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    fs::remove_all(staging_of(folder_), error);
    make_output_folder(staging_of(folder_));
  }
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder() {
    std::error_code error;
    fs::remove_all(staging_of(folder_), error);
  }
  void add(const std::string& name, const std::string& text) {
    write_text(staging_of(folder_) / name, text);
    names_.push_back(name);
  }
  void publish() {
    const std::vector<fs::path> earlier = earlier_exports(folder_, ExistingFolder::replace);
    std::error_code error;
    for (const std::string& name : names_) {
      if (!error) fs::rename(staging_of(folder_) / name, folder_ / name, error);
    }
    for (const fs::path& path : earlier) {
      const bool written = std::find(names_.begin(), names_.end(), path.filename()) != names_.end();
      if (!error && !written) fs::remove(path, error);
    }
    if (error) throw_input("{}: the export cannot be put in place: {}", folder_.string(), error.message());
    sync_folder(folder_);
  }

 private:
  fs::path folder_;
  std::vector<std::string> names_;
};

/// Rows n, t1, t2 of each contact's frame times its impulse: world axes, 3 per contact.
std::vector<double> in_world_axes(const ContactProblem& problem, const Vector& r) {
  std::vector<double> world(r.size());
  Eigen::Map<Vector> out(world.data(), r.size());
  for (Index k = 0; k < problem.contacts(); ++k) {
    for (Index axis = 0; axis < 3; ++axis) {
      double sum = 0.0;
      for (Index row = 0; row < 3; ++row) sum += problem.frame(k, 3 * row + axis) * r[3 * k + row];
      out[3 * k + axis] = sum;
    }
  }
  return world;
}

std::vector<double> values_of(const Vector& vector) { return {vector.begin(), vector.end()}; }

/// Where a solver may start, as far as it was recorded.
void add_starts(const ContactProblem& problem, std::vector<VtkArray>& data) {
  const Index m = problem.contacts();
  if (problem.warm_start.size() == 3 * m)
    data.push_back({"warm_start", 3, in_world_axes(problem, problem.warm_start)});
  if (problem.v_minus.size() > 0)
    data.push_back({"start_velocity", 3, in_world_axes(problem, problem.H.transpose() * problem.v_minus)});
  if (std::ssize(problem.start_states) == m) {
    std::vector<std::int32_t> states;
    for (const FrictionState state : problem.start_states) states.push_back(static_cast<std::int32_t>(state));
    data.push_back({"start_state", 1, std::move(states)});
  }
  if (problem.start_bounds.size() == m) data.push_back({"start_bound", 1, values_of(problem.start_bounds)});
}

/// The smallest mass point of each contact's region, −1 for a region without any.
std::vector<std::int32_t> region_points(const ContactProblem& problem, const RegionPartition& regions) {
  std::vector<std::int32_t> smallest(regions.regions(), -1);
  if (problem.has_primal()) {
    with_node_size(problem, [&](auto size) {
      for (Index k = 0; k < problem.contacts(); ++k) {
        std::int32_t& point = smallest[regions.label[k]];
        visit_contact_nodes<size>(problem, k, [&](Index node) {
          if (point < 0 || node < point) point = node;
        });
      }
    });
  }
  std::vector<std::int32_t> of_contact;
  for (const Index label : regions.label) of_contact.push_back(smallest[label]);
  return of_contact;
}

}  // namespace

VtkGrid surface_grid(const FrameGeometry& geometry) {
  VtkGrid grid;
  grid.cell = VtkCell::triangle;
  grid.points.assign(geometry.vertices.data(), geometry.vertices.data() + geometry.vertices.size());
  grid.cells.assign(geometry.triangles.data(), geometry.triangles.data() + geometry.triangles.size());
  grid.cell_data.push_back(
      {"body", 1, std::vector<std::int32_t>(geometry.triangle_body.begin(), geometry.triangle_body.end())});
  if (geometry.rest.rows() == geometry.vertices.rows() && geometry.rest.rows() > 0) {
    std::vector<double> displacement(grid.points.size());
    for (std::size_t i = 0; i < displacement.size(); ++i)
      displacement[i] = geometry.vertices.data()[i] - geometry.rest.data()[i];
    grid.point_data.push_back({"displacement", 3, std::move(displacement)});
  }
  return grid;
}

VtkGrid contact_grid(const Frame& frame, const std::string& where) {
  const ContactProblem& problem = frame.problem;
  const Index m = problem.contacts();
  if (m > 0 && (problem.position.rows() != m || problem.frame.rows() != m)) {
    throw_input("{}: {} were not recorded, so the contacts cannot be drawn", where,
                problem.position.rows() != m ? "contact positions" : "contact frames");
  }
  VtkGrid grid;
  grid.points.reserve(3 * m);
  std::vector<double> normal;
  for (Index k = 0; k < m; ++k) {
    grid.cells.push_back(k);
    for (Index axis = 0; axis < 3; ++axis) {
      grid.points.push_back(problem.position(k, axis));
      normal.push_back(problem.frame(k, axis));
    }
  }
  auto& data = grid.point_data;
  data.push_back({"normal", 3, std::move(normal)});
  if (frame.impulse.size() == 3 * m) data.push_back({"impulse", 3, in_world_axes(problem, frame.impulse)});
  add_starts(problem, data);
  if (problem.gap.size() == m) data.push_back({"gap", 1, values_of(problem.gap)});
  data.push_back({"friction", 1, values_of(problem.mu)});
  if (problem.bodies.rows() == m) {
    for (const int side : {0, 1}) {
      std::vector<std::int32_t> body(m);
      for (Index k = 0; k < m; ++k) body[k] = problem.bodies(k, side);
      data.push_back({side == 0 ? "body_a" : "body_b", 1, std::move(body)});
    }
  }
  const RegionPartition regions = partition_regions(problem, RegionMode::points_approx);
  data.push_back({"region", 1, std::vector<std::int32_t>(regions.label.begin(), regions.label.end())});
  data.push_back({"region_point", 1, region_points(problem, regions)});
  const RegionPartition islands = partition_regions(problem, RegionMode::islands);
  data.push_back({"island", 1, std::vector<std::int32_t>(islands.label.begin(), islands.label.end())});
  return grid;
}

std::vector<double> series_times(const std::vector<double>& times, const std::vector<double>& dt) {
  std::vector<double> spread = times;
  for (std::size_t begin = 0; begin < times.size();) {
    std::size_t end = begin + 1;
    while (end < times.size() && times[end] == times[begin]) ++end;
    const double step = dt[begin] > 0.0 ? dt[begin] : 1.0;
    for (std::size_t i = begin; i < end; ++i)
      spread[i] += static_cast<double>(i - begin) / static_cast<double>(end - begin) * step;
    begin = end;
  }
  return spread;
}

namespace {

/// Times and names of the frames so far.
class Series {
 public:
  void add(const Frame& frame) {
    names_.push_back(frame.id);
    times_.push_back(frame.problem.time);
    dt_.push_back(frame.problem.dt);
    has_surface_.push_back(frame.geometry != nullptr);
  }
  void write(StagedFolder& folder) const {
    const std::vector<double> spread = series_times(times_, dt_);
    std::vector<std::pair<double, std::string>> surfaces, contacts;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (has_surface_[i]) surfaces.emplace_back(spread[i], surface_name(names_[i]));
      contacts.emplace_back(spread[i], contacts_name(names_[i]));
    }
    folder.add(kContactSeries, vtk_series_text(contacts));
    folder.add(kSurfaceSeries, vtk_series_text(surfaces));
  }

 private:
  std::vector<std::string> names_;
  std::vector<double> times_, dt_;
  std::vector<bool> has_surface_;
};

}  // namespace

VtkExport export_vtk(const fs::path& recording, const std::vector<std::string>& steps, const fs::path& folder,
                     ExistingFolder existing, RunMonitor* monitor) {
  const RecordingReader reader(recording);
  const std::vector<std::string>& ids = steps.empty() ? reader.frames() : steps;
  if (ids.empty()) throw_input("{}: holds no snapshots", recording.string());
  MonitoredProgress progress(monitor, "exporting " + recording.string(), static_cast<long long>(ids.size()));
  VtkExport done;
  std::optional<LockFile> lock;
  std::optional<StagedFolder> staged;
  Series series;
  for (const std::string& id : ids) {
    progress.stop_when_cancelled();
    const Frame frame = reader.read(id);
    if (done.frames == 0) {
      if (!frame.geometry) {
        throw_input("{}: step {} holds no surfaces; record the scene with --set geometry=true",
                    recording.string(), frame.id);
      }
      lock.emplace(claim_folder(folder, recording, existing));
      staged.emplace(folder);
    }
    const std::string where = fmt::format("{}: step {}", recording.string(), frame.id);
    staged->add(contacts_name(frame.id), vtk_grid_text(contact_grid(frame, where)));
    if (frame.geometry) {
      const VtkGrid surface = surface_grid(*frame.geometry);
      staged->add(surface_name(frame.id), vtk_grid_text(surface));
      ++done.surfaces;
      done.displacements += surface.point_data.empty() ? 0 : 1;
    }
    done.impulses += frame.impulse.size() > 0 ? 1 : 0;
    series.add(frame);
    ++done.frames;
    progress.update(done.frames, "step " + frame.id);
  }
  series.write(*staged);
  staged->publish();
  return done;
}

}  // namespace signorini
