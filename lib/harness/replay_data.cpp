#include "harness/replay_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"
#include "record/problem_file.h"
#include "regions/contact_elements.h"
#include "regions/region_partition.h"

namespace signorini {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of a replay are little endian");

template <class Dense>
std::vector<float> singles(const Dense& values) {
  std::vector<float> out(static_cast<std::size_t>(values.size()));
  std::transform(values.data(), values.data() + values.size(), out.begin(),
                 [](double value) { return static_cast<float>(value); });
  return out;
}

// --- surfaces ----------------------------------------------------------------------------------------------

std::vector<std::uint32_t> loose_vertices(const FrameGeometry& geometry) {
  std::vector<bool> used(static_cast<std::size_t>(geometry.vertices.rows()));
  for (Eigen::Index i = 0; i < geometry.triangles.size(); ++i)
    used[static_cast<std::size_t>(geometry.triangles.data()[i])] = true;
  std::vector<std::uint32_t> loose;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) loose.push_back(static_cast<std::uint32_t>(i));
  }
  return loose;
}

/// Springs between the mass points of chains: the vertices without a surface, chain after chain.
std::vector<std::uint32_t> rods_of(const std::vector<std::uint32_t>& loose, int chain_nodes) {
  std::vector<std::uint32_t> rods;
  const auto nodes = static_cast<std::size_t>(chain_nodes);
  if (nodes < 2 || loose.size() % nodes != 0) return rods;
  for (std::size_t i = 0; i + 1 < loose.size(); ++i) {
    if ((i + 1) % nodes != 0) rods.insert(rods.end(), {loose[i], loose[i + 1]});
  }
  return rods;
}

/// The topologies so far, by their numbers.
class Topologies {
 public:
  Topologies(int chain_nodes, ReplayData& out) : chain_nodes_(chain_nodes), out_(out) {}

  std::size_t number_of(const FrameGeometry& geometry) {
    std::vector<Index> key(geometry.triangles.data(), geometry.triangles.data() + geometry.triangles.size());
    key.insert(key.end(), geometry.triangle_body.begin(), geometry.triangle_body.end());
    key.push_back(static_cast<Index>(geometry.vertices.rows()));
    const auto [known, fresh] = known_.emplace(std::move(key), out_.topologies.size());
    if (fresh) add(geometry);
    return known->second;
  }

 private:
  void add(const FrameGeometry& geometry) {
    const std::vector<std::uint32_t> triangles(geometry.triangles.data(),
                                               geometry.triangles.data() + geometry.triangles.size());
    const std::vector<std::int32_t> body(geometry.triangle_body.begin(), geometry.triangle_body.end());
    const std::vector<std::uint32_t> loose = loose_vertices(geometry);
    const std::vector<std::uint32_t> rods = rods_of(loose, chain_nodes_);
    ReplayTopology topology;
    topology.triangles = body.size();
    topology.loose = loose.size();
    topology.rods = rods.size() / 2;
    topology.triangles_at = out_.bytes.add(triangles);
    topology.body_at = out_.bytes.add(body);
    topology.loose_at = out_.bytes.add(loose);
    topology.rods_at = out_.bytes.add(rods);
    out_.topologies.push_back(topology);
  }

  int chain_nodes_;
  ReplayData& out_;
  std::map<std::vector<Index>, std::size_t> known_;
};

template <class Points>
std::vector<std::uint16_t> codes_of(const Points& points, const QuantisedBox& box) {
  std::vector<std::uint16_t> codes;
  codes.reserve(3 * static_cast<std::size_t>(points.rows()));
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (int axis = 0; axis < 3; ++axis) codes.push_back(box.code(points(i, axis), axis));
  }
  return codes;
}

// --- contacts ----------------------------------------------------------------------------------------------

/// The smallest mass point of each contact's region.
std::vector<std::int32_t> region_points(const ContactProblem& problem, const RegionPartition& regions) {
  std::vector<std::int32_t> of_contact(static_cast<std::size_t>(problem.contacts()), -1);
  if (!problem.has_primal()) return of_contact;
  const ContactElements elements = contact_elements(problem, RegionMode::points);
  for (Index region = 0; region < regions.regions(); ++region) {
    Index smallest = std::numeric_limits<Index>::max();
    for (const Index k : regions.region(region)) {
      if (!elements.of(k).empty()) smallest = std::min(smallest, elements.of(k).front());
    }
    if (smallest == std::numeric_limits<Index>::max()) continue;
    for (const Index k : regions.region(region)) of_contact[static_cast<std::size_t>(k)] = smallest;
  }
  return of_contact;
}

void add_contacts(const ContactProblem& problem, ReplayFrame& frame, ReplayBytes& bytes) {
  const Index m = problem.contacts();
  const auto size = static_cast<std::size_t>(m);
  frame.contacts = m;
  frame.position_at = bytes.add(codes_of(problem.position, frame.box));
  std::vector<std::int16_t> axes;
  for (Index k = 0; k < m; ++k) {
    for (int i = 0; i < 9; ++i) axes.push_back(axis_code(problem.frame(k, i)));
  }
  frame.frame_at = bytes.add(axes);
  frame.gap_at =
      bytes.add(problem.gap.size() == m ? singles(problem.gap)
                                        : std::vector<float>(size, std::numeric_limits<float>::quiet_NaN()));
  frame.mu_at = bytes.add(singles(problem.mu));
  const RegionPartition regions = partition_regions(problem, RegionMode::points_approx);
  const RegionPartition islands = partition_regions(problem, RegionMode::islands);
  frame.regions = regions.regions();
  frame.islands = islands.regions();
  frame.region_at = bytes.add(std::vector<std::int32_t>(regions.label.begin(), regions.label.end()));
  frame.region_point_at = bytes.add(region_points(problem, regions));
  frame.island_at = bytes.add(std::vector<std::int32_t>(islands.label.begin(), islands.label.end()));
  std::vector<std::int32_t> bodies(2 * size, -2);
  if (problem.bodies.rows() == m)
    std::copy(problem.bodies.data(), problem.bodies.data() + problem.bodies.size(), bodies.begin());
  frame.bodies_at = bytes.add(bodies);
}

ReplayAnswerPlace place_answer(ReplayAnswer answer, bool answered, ReplayBytes& bytes) {
  ReplayAnswerPlace place;
  place.answered = answered;
  if (answered) {
    place.r_at = bytes.add(singles(answer.r));
    place.u_at = bytes.add(singles(answer.u));
    place.errors_at = bytes.add(std::vector<float>(answer.errors.begin(), answer.errors.end()));
    std::vector<std::int8_t> states;
    for (const FrictionState state : answer.states) states.push_back(static_cast<std::int8_t>(state));
    place.states_at = bytes.add(states);
    std::vector<std::uint16_t> iterates;
    for (const std::vector<double>& errors : answer.errors_at)
      std::transform(errors.begin(), errors.end(), std::back_inserter(iterates), residual_code);
    place.iterates_at = bytes.add(iterates);
  }
  place.facts.status = answer.status;
  place.facts.iterations = answer.iterations;
  place.facts.residual = answer.residual;
  place.facts.message = std::move(answer.message);
  place.facts.at = std::move(answer.at);
  return place;
}

ReplayAnswer answer_of(const std::optional<SolverVariant>& variant, const Frame& frame,
                       const RunTarget& target, const ReplayData& data) {
  if (variant) return solve_for_replay(target, *variant, data.plan.limits);
  if (frame.impulse.size() == 3 * frame.problem.contacts())
    return recorded_answer(target, frame.impulse, data.scene.law, data.plan.limits.tolerance);
  ReplayAnswer none;
  none.status = SolveStatus::unsupported;
  none.message = "the recording does not hold the impulses of this step";
  return none;
}

ReplayFrame make_frame(const Frame& frame, const std::string& where, Topologies& topologies,
                       ReplayData& data) {
  const ContactProblem& problem = frame.problem;
  const Index m = problem.contacts();
  if (!frame.geometry)
    throw_input("{}: no surfaces were recorded; record the scene with --set geometry=true", where);
  if (m > 0 && (problem.position.rows() != m || problem.frame.rows() != m)) {
    throw_input("{}: {} were not recorded, so the contacts cannot be drawn", where,
                problem.position.rows() != m ? "contact positions" : "contact frames");
  }
  ReplayFrame out;
  out.id = frame.id;
  out.time = problem.time;
  out.dt = problem.dt;
  const auto& vertices = frame.geometry->vertices;
  for (Eigen::Index i = 0; i < vertices.rows(); ++i) out.box.include(vertices.row(i).transpose());
  for (Index k = 0; k < m; ++k) out.box.include(problem.position.row(k).transpose());
  out.topology = topologies.number_of(*frame.geometry);
  out.vertices = static_cast<std::size_t>(vertices.rows());
  out.vertices_at = data.bytes.add(codes_of(vertices, out.box));
  add_contacts(problem, out, data.bytes);
  const Referee referee(problem);
  const RunTarget target = make_target(problem, referee, "replay", data.file, frame.id);
  for (const auto& variant : data.plan.answers) {
    ReplayAnswer answer = answer_of(variant, frame, target, data);
    const bool answered = answer.states.size() == static_cast<std::size_t>(m) &&
                          answer.status != SolveStatus::unsupported && answer.status != SolveStatus::failed;
    out.answers.push_back(place_answer(std::move(answer), answered, data.bytes));
  }
  return out;
}

}  // namespace

double replay_frame_bytes(Eigen::Index vertices, Index contacts, std::size_t answers, std::size_t solvers,
                          int iterates) {
  constexpr double kOfContact = 6 + 18 + 4 + 4 + 4 + 4 + 4 + 8, kOfAnswer = 12 + 12 + 4 + 1;
  return 6.0 * static_cast<double>(vertices) +
         contacts * (kOfContact + kOfAnswer * static_cast<double>(answers) +
                     2.0 * iterates * static_cast<double>(solvers));
}

ReplayData make_replay(const ReplayRequest& request, RunMonitor& monitor) {
  if (const ProblemFileKind kind = ProblemFile(request.file).kind(); kind != ProblemFileKind::recording) {
    throw_input(
        "{}: is {}, which holds no surfaces and nothing that moves; replay shows recordings of "
        "'signorini record'",
        request.file, kind_words(kind));
  }
  const RecordingReader reader(request.file, RecordingReader::Parts::checked);
  ReplayData data;
  data.header = reader.header();
  data.file = std::filesystem::path(request.file).filename().string();
  data.scene = read_replay_scene(data.header.config);
  data.plan = plan_replay(request, reader);
  Topologies topologies(data.scene.chain_nodes, data);
  MonitoredProgress progress(monitor, "solving " + request.file,
                             static_cast<long long>(data.plan.frames.size()));
  for (const std::string& id : data.plan.frames) {
    progress.stop_when_cancelled();
    data.frames.push_back(
        make_frame(reader.read(id), fmt::format("{}: step {}", request.file, id), topologies, data));
    progress.update(static_cast<long long>(data.frames.size()), "step " + id);
  }
  return data;
}

}  // namespace signorini
