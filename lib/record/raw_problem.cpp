#include "record/raw_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "contact/planar_problem.h"
#include "linalg/asymmetry.h"
#include "record/compact_matrix.h"
#include "record/fclib_matrix.h"
#include "record/stored_triangle.h"

namespace signorini {

namespace {

std::size_t size_of(const Vector& v) { return v.size(); }

std::span<const double> view(const Vector& v) { return {v.data(), size_of(v)}; }

Vector to_vector(std::span<const double> values) {
  return Eigen::Map<const Vector>(values.data(), values.size());
}

/// Row-major copy of a matrix of any storage order.
template <class Dense>
auto row_major(const Dense& matrix) {
  using Scalar = typename Dense::Scalar;
  std::vector<Scalar> values(matrix.size());
  Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      values.data(), matrix.rows(), matrix.cols()) = matrix;
  return values;
}

template <class Scalar>
auto as_rows(std::span<const Scalar> values, std::size_t columns) {
  using Rows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Rows>(values.data(), values.size() / columns, columns);
}

template <class Dense>
void put_rows(RawTree& tree, const std::string& path, const Dense& matrix) {
  if (matrix.size() > 0) tree.put_matrix(path, row_major(matrix), matrix.cols());
}

void put_vector(RawTree& tree, const std::string& path, const Vector& vector) {
  if (vector.size() > 0) tree.put(path, view(vector));
}

Vector optional_vector(const RawReader& raw, const std::string& path) {
  return raw.has(path) ? to_vector(raw.reals(path)) : Vector();
}

const char* kind_name(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::explicit_step:
      return "explicit";
    case ProblemKind::implicit_step:
      return "implicit";
    case ProblemKind::unknown:
      break;
  }
  return "unknown";
}

ProblemKind kind_of(const RawReader& raw, const std::string& name) {
  if (name == "explicit") return ProblemKind::explicit_step;
  if (name == "implicit") return ProblemKind::implicit_step;
  if (name != "unknown") raw.fail("attribute 'kind': neither explicit nor implicit nor unknown");
  return ProblemKind::unknown;
}

std::unique_ptr<FrameGeometry> read_geometry(const RawReader& raw) {
  if (!raw.tree().has_group("geometry")) return nullptr;
  auto geometry = std::make_unique<FrameGeometry>();
  geometry->vertices = as_rows(raw.real_rows("geometry/vertices", 3), 3);
  geometry->triangles = as_rows(raw.integer_rows("geometry/triangles", 3), 3);
  const auto bodies = raw.integers("geometry/triangle_body", geometry->triangles.rows());
  geometry->triangle_body.assign(bodies.begin(), bodies.end());
  if (!geometry->vertices.allFinite()) raw.fail("geometry/vertices", "holds a number that is not finite");
  const Eigen::Index vertices = geometry->vertices.rows();
  for (Eigen::Index t = 0; t < geometry->triangles.rows(); ++t) {
    for (Eigen::Index k = 0; k < 3; ++k) {
      const Index vertex = geometry->triangles(t, k);
      if (vertex < 0 || vertex >= vertices) {
        raw.fail("geometry/triangles",
                 fmt::format("triangle {}: vertex {} out of range 0..{}", t, vertex, vertices - 1));
      }
    }
    if (geometry->triangle_body[t] < -1) {
      raw.fail("geometry/triangle_body",
               fmt::format("triangle {}: body {} is below -1", t, geometry->triangle_body[t]));
    }
  }
  if (raw.has("geometry/rest")) {
    geometry->rest = as_rows(raw.real_rows("geometry/rest", 3), 3);
    if (geometry->rest.rows() != vertices) {
      raw.fail("geometry/rest", fmt::format("has {} rows for {} vertices", geometry->rest.rows(), vertices));
    }
    if (!geometry->rest.allFinite()) raw.fail("geometry/rest", "holds a number that is not finite");
  }
  return geometry;
}

void put_solution(RawTree& tree, const std::string& group, const Vector& r, const Vector& u,
                  const Vector& v) {
  if (v.size() > 0) tree.put(group + "/v", view(v));
  tree.put(group + "/u", view(u));
  tree.put(group + "/r", view(r));
}

/// Finite and of the right length, otherwise empty: files in the wild carry stale and broken guesses.
Vector usable_vector(const RawReader& raw, const std::string& path, Eigen::Index length) {
  if (!raw.has(path) || !raw.tree().arrays.at(path).written) return {};
  Vector vector = to_vector(raw.reals(path));
  if (vector.size() != length || !vector.allFinite()) return {};
  return vector;
}

bool has_columns(const RawReader& raw, const std::string& matrix) {
  return raw.tree().has_group(matrix) && (!raw.has(matrix + "/n") || raw.integer(matrix + "/n") != 0);
}

/// Sizes that stay countable with what `to_space` adds.
void check_counts_in_plane(const RawReader& raw, const ContactProblem& planar) {
  const std::int64_t added = 3 * std::int64_t{planar.contacts()};
  check_counts(raw, size_of(planar.mu), size_of(planar.f) + static_cast<std::uint64_t>(added));
  const std::int64_t entries = std::max({planar.W.nonZeros(), planar.M.nonZeros(), planar.H.nonZeros()});
  if (entries + added > std::numeric_limits<Index>::max())
    raw.fail("a matrix has more than 2^31 - 1 entries with those of the second tangents");
}

void decode_local(const RawReader& raw, ContactProblem& problem) {
  const std::string root = "fclib_local/";
  if (has_columns(raw, root + "V") || has_columns(raw, root + "R")) {
    raw.fail("has equality constraints (V, R); only contacts with friction are supported");
  }
  problem.mu = to_vector(raw.reals(root + "vectors/mu"));
  check_counts(raw, size_of(problem.mu), 0);
  const std::size_t rows = problem.spacedim * size_of(problem.mu);
  problem.q = to_vector(raw.reals(root + "vectors/q", rows));
  problem.W = read_fclib_rows(raw, root + "W", rows, rows);
}

void decode_global(const RawReader& raw, MatrixReading reading, ContactProblem& problem) {
  const std::string root = "fclib_global/";
  if (has_columns(raw, root + "G")) {
    raw.fail("has equality constraints (G); only contacts with friction are supported");
  }
  problem.mu = to_vector(raw.reals(root + "vectors/mu"));
  problem.f = to_vector(raw.reals(root + "vectors/f"));
  check_counts(raw, size_of(problem.mu), size_of(problem.f));
  const std::size_t n = size_of(problem.f);
  const std::size_t rows = problem.spacedim * size_of(problem.mu);
  problem.w = to_vector(raw.reals(root + "vectors/w", rows));
  problem.M = read_fclib_rows(raw, root + "M", n, n);
  if (reading == MatrixReading::symmetric) {
    problem.M_stored = stored_triangle(problem.M);
    problem.M = complete_triangle(std::move(problem.M), problem.M_stored);
  }
  problem.H = read_fclib_columns(raw, root + "H", n, rows);
}

/// The stored solution; nothing without r and u of the right length. `rows`: those of all contacts.
std::optional<FclibSolution> decode_solution(const RawReader& raw, Eigen::Index rows, Eigen::Index dofs) {
  if (!raw.has("solution/r") || !raw.has("solution/u")) return {};
  FclibSolution solution{usable_vector(raw, "solution/r", rows), usable_vector(raw, "solution/u", rows),
                         usable_vector(raw, "solution/v", dofs)};
  if (solution.r.size() != rows || solution.u.size() != rows) return {};
  return solution;
}

FclibFile file_to_space(FclibFile file) {
  file.problem = to_space(std::move(file.problem));
  if (!file.solution) return file;
  FclibSolution& solution = *file.solution;
  solution.r = rows_to_space(solution.r);
  solution.u = rows_to_space(solution.u);
  solution.v = dofs_to_space(solution.v, file.problem.contacts());
  return file;
}

FclibFile file_to_plane(const FclibFile& file) {
  FclibFile planar{to_plane(file.problem), file.info, file.solution};
  if (!planar.solution) return planar;
  FclibSolution& solution = *planar.solution;
  solution.r = rows_to_plane(solution.r);
  solution.u = rows_to_plane(solution.u);
  if (solution.v.size() > 0) solution.v.conservativeResize(planar.problem.f.size());
  return planar;
}

/// What the equations lack, three rows for each contact in the plane too.
void decode_extras(const RawReader& raw, ContactProblem& problem) {
  if (raw.tree().attributes.empty()) return;
  read_extras(raw, problem);
  if (!raw.has("q")) return;
  problem.q = to_vector(raw.reals("q", 3 * size_of(problem.mu)));
  problem.W = read_square(raw, "W", 3 * size_of(problem.mu));
}

/// With the rows of contacts that the file is to have.
RawTree encode_as_written(const FclibFile& file) {
  const ContactProblem& problem = file.problem;
  RawTree tree;
  const bool is_global = problem.has_primal() || problem.w.size() > 0;
  const std::string root = is_global ? "fclib_global/" : "fclib_local/";
  tree.put(root + "spacedim", std::vector<Index>{problem.spacedim});
  if (is_global) {
    put_fclib_matrix(tree, root + "M", problem.M, written_triangle(problem));
    put_fclib_matrix(tree, root + "H", SparseRows(problem.H));
    tree.put(root + "vectors/f", view(problem.f));
    tree.put(root + "vectors/w", view(problem.w));
  } else {
    put_fclib_matrix(tree, root + "W", problem.W);
    tree.put(root + "vectors/q", view(problem.q));
  }
  tree.put(root + "vectors/mu", view(problem.mu));
  tree.put_text(root + "info/title", file.info.title);
  tree.put_text(root + "info/description", file.info.description);
  tree.put_text(root + "info/math_info", file.info.math_info);
  if (problem.warm_start.size() > 0) {
    tree.put("guesses/number_of_guesses", std::vector<Index>{1});
    const Vector zero = Vector::Zero(problem.warm_start.size());
    put_solution(tree, "guesses/1", problem.warm_start, zero, Vector::Zero(problem.dofs()));
  }
  if (file.solution) {
    put_solution(tree, "solution", file.solution->r, file.solution->u,
                 is_global ? file.solution->v : Vector());
  }
  return tree;
}

}  // namespace

void check_counts(const RawReader& raw, std::uint64_t contacts, std::uint64_t dofs) {
  constexpr std::uint64_t kLimit = std::numeric_limits<Index>::max() / 4;
  if (contacts > kLimit) raw.fail(fmt::format("{} contacts are too many", contacts));
  if (dofs > kLimit) raw.fail(fmt::format("{} degrees of freedom are too many", dofs));
}

Index check_spacedim(const RawReader& raw, std::int64_t spacedim, const std::string& place) {
  if (spacedim != 2 && spacedim != 3)
    raw.fail(fmt::format("{}: {} dimensions; only contact problems in 2 or 3 can be read", place, spacedim));
  return static_cast<Index>(spacedim);
}

StoredTriangle written_triangle(const ContactProblem& problem) {
  const bool whole = problem.M_stored == StoredTriangle::both || asymmetry(problem.M) > 0.0;
  return whole ? StoredTriangle::both : problem.M_stored;
}

FclibFile file_as_written(const FclibFile& file) {
  return file.problem.spacedim == 2 ? file_to_plane(file) : file;
}

FclibFile complete_file(const RawReader& raw, FclibFile file, const RawReader& extras,
                        const std::string& where) {
  if (file.problem.spacedim == 2) {
    check_counts_in_plane(raw, file.problem);
    if (const auto defect = find_defect_in_plane(file.problem)) raw.fail(*defect);
    file = file_to_space(std::move(file));
  }
  decode_extras(extras, file.problem);
  check_problem(file.problem, where);
  return file;
}

void put_extras(RawTree& tree, const ContactProblem& problem) {
  tree.attributes["dt"] = problem.dt;
  tree.attributes["time"] = problem.time;
  tree.attributes["kind"] = std::string(kind_name(problem.kind));
  put_vector(tree, "gap", problem.gap);
  put_rows(tree, "frame", problem.frame);
  put_rows(tree, "position", problem.position);
  put_rows(tree, "points", problem.points);
  put_rows(tree, "weights", problem.weights);
  put_rows(tree, "bodies", problem.bodies);
  put_rows(tree, "features", problem.features);
  if (!problem.node_numbers.empty()) tree.put("node_numbers", problem.node_numbers);
  if (!problem.body_dofs.empty()) tree.put("body_dofs", problem.body_dofs);
  put_vector(tree, "v_minus", problem.v_minus);
  if (!problem.start_states.empty()) {
    std::vector<Index> states;
    for (const FrictionState state : problem.start_states) states.push_back(static_cast<Index>(state));
    tree.put("start_states", std::move(states));
  }
  put_vector(tree, "start_bounds", problem.start_bounds);
}

void read_extras(const RawReader& raw, ContactProblem& problem) {
  problem.dt = raw.real_attribute("dt");
  problem.time = raw.real_attribute("time");
  problem.kind = kind_of(raw, raw.text_attribute("kind"));
  problem.gap = optional_vector(raw, "gap");
  if (raw.has("frame")) problem.frame = as_rows(raw.real_rows("frame", 9), 9);
  if (raw.has("position")) problem.position = as_rows(raw.real_rows("position", 3), 3);
  if (raw.has("points")) problem.points = as_rows(raw.integer_rows("points", 4), 4);
  if (raw.has("weights")) problem.weights = as_rows(raw.real_rows("weights", 4), 4);
  if (raw.has("bodies")) problem.bodies = as_rows(raw.integer_rows("bodies", 2), 2);
  if (raw.has("features")) problem.features = as_rows(raw.integer_rows("features", 2), 2);
  if (raw.has("node_numbers")) {
    const auto numbers = raw.integers("node_numbers");
    problem.node_numbers.assign(numbers.begin(), numbers.end());
  }
  if (raw.has("body_dofs")) {
    const auto offsets = raw.integers("body_dofs");
    problem.body_dofs.assign(offsets.begin(), offsets.end());
  }
  problem.v_minus = optional_vector(raw, "v_minus");
  if (raw.has("start_states")) {
    for (const Index state : raw.integers("start_states"))
      problem.start_states.push_back(static_cast<FrictionState>(state));
  }
  problem.start_bounds = optional_vector(raw, "start_bounds");
}

RawTree encode_frame(const Frame& frame) {
  const ContactProblem& problem = frame.problem;
  RawTree tree;
  tree.attributes["contacts"] = static_cast<std::uint64_t>(problem.contacts());
  tree.attributes["dofs"] = static_cast<std::uint64_t>(problem.dofs());
  if (problem.spacedim != 3) tree.attributes["spacedim"] = static_cast<std::uint64_t>(problem.spacedim);
  put_extras(tree, problem);
  tree.put("mu", view(problem.mu));
  if (problem.has_primal()) {
    put_square(tree, "M", problem.M);
    put_contact_columns(tree, "H", problem.H);
    tree.put("f", view(problem.f));
  }
  put_vector(tree, "w", problem.w);
  if (problem.has_dual()) {
    put_square(tree, "W", problem.W);
    tree.put("q", view(problem.q));
  }
  put_vector(tree, "warm_start", problem.warm_start);
  if (frame.geometry) {
    const FrameGeometry& geometry = *frame.geometry;
    tree.put_matrix("geometry/vertices", row_major(geometry.vertices), 3);
    tree.put_matrix("geometry/triangles", row_major(geometry.triangles), 3);
    tree.put("geometry/triangle_body", geometry.triangle_body);
    SIGNORINI_CHECK(geometry.rest.size() == 0 || geometry.rest.rows() == geometry.vertices.rows());
    if (geometry.rest.size() > 0) tree.put_matrix("geometry/rest", row_major(geometry.rest), 3);
  }
  SIGNORINI_CHECK(frame.impulse.size() == 0 || frame.impulse.size() == 3 * frame.problem.mu.size());
  put_vector(tree, "impulse", frame.impulse);
  return tree;
}

Frame decode_frame(const RawTree& tree, const std::string& id, const std::string& where) {
  const RawReader raw(tree, where);
  Frame frame;
  frame.id = id;
  ContactProblem& problem = frame.problem;
  const std::uint64_t m = raw.count_attribute("contacts");
  const std::uint64_t n = raw.count_attribute("dofs");
  check_counts(raw, m, n);
  if (tree.attributes.contains("spacedim")) {
    const auto spacedim = static_cast<std::int64_t>(raw.count_attribute("spacedim"));
    problem.spacedim = check_spacedim(raw, spacedim, "attribute 'spacedim'");
  }
  problem.mu = to_vector(raw.reals("mu", m));
  problem.w = optional_vector(raw, "w");
  if (n > 0) {
    problem.f = to_vector(raw.reals("f", n));
    problem.M = read_square(raw, "M", n);
    problem.H = read_contact_columns(raw, "H", n, m);
  }
  if (raw.has("q")) {
    problem.q = to_vector(raw.reals("q", 3 * m));
    problem.W = read_square(raw, "W", 3 * m);
  }
  read_extras(raw, problem);
  problem.warm_start = optional_vector(raw, "warm_start");
  frame.geometry = read_geometry(raw);
  if (raw.has("impulse")) {
    frame.impulse = to_vector(raw.reals("impulse", 3 * m));
    if (!frame.impulse.allFinite()) raw.fail("impulse", "holds a number that is not finite");
  }
  check_problem(problem, where);
  return frame;
}

RawTree encode_fclib(const FclibFile& file) { return encode_as_written(file_as_written(file)); }

RawTree encode_fclib_extras(const ContactProblem& problem) {
  RawTree extras;
  put_extras(extras, problem);
  if (problem.w.size() > 0 && problem.has_dual()) {
    put_square(extras, "W", problem.W);
    extras.put("q", view(problem.q));
  }
  const bool is_empty = extras.arrays.empty() && problem.dt == 0.0 && problem.time == 0.0 &&
                        problem.kind == ProblemKind::unknown;
  return is_empty ? RawTree{} : extras;
}

FclibFile decode_fclib(const RawTree& tree, const RawTree& extras, const std::string& where,
                       MatrixReading reading) {
  const RawReader raw(tree, where);
  const bool is_global = tree.has_group("fclib_global");
  if (tree.has_group("fclib_global_rolling"))
    raw.fail("rolling friction (fclib_global_rolling) is not supported");
  if (!is_global && !tree.has_group("fclib_local")) {
    raw.fail("neither a recording nor an FCLib problem (no /fclib_local, no /fclib_global)");
  }
  const std::string root = is_global ? "fclib_global/" : "fclib_local/";
  FclibFile file;
  ContactProblem& problem = file.problem;
  problem.spacedim = check_spacedim(raw, raw.integer(root + "spacedim"), "dataset '" + root + "spacedim'");
  is_global ? decode_global(raw, reading, problem) : decode_local(raw, problem);
  file.info = {raw.text(root + "info/title"), raw.text(root + "info/description"),
               raw.text(root + "info/math_info")};
  const Eigen::Index rows = problem.spacedim * problem.mu.size();
  problem.warm_start = usable_vector(raw, "guesses/1/r", rows);
  file.solution = decode_solution(raw, rows, problem.f.size());
  return complete_file(raw, std::move(file), RawReader(extras, where + ": group 'signorini'"), where);
}

}  // namespace signorini
