#include "contact/contact_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "contact/planar_problem.h"

namespace signorini {

namespace {

using Defect = std::optional<std::string>;

/// |a·b − δ_ab| of the rows of a frame.
constexpr double kOrthonormal = 1e-8;

Defect check_size(const char* name, Eigen::Index rows, Eigen::Index columns, Eigen::Index need_rows,
                  Eigen::Index need_columns) {
  if (rows == need_rows && columns == need_columns) return {};
  return fmt::format("{} is {}x{} but must be {}x{}", name, rows, columns, need_rows, need_columns);
}

Defect check_length(const char* name, Eigen::Index length, Eigen::Index need) {
  if (length == need) return {};
  return fmt::format("{} has {} numbers but must have {}", name, length, need);
}

template <class Dense>
Defect check_finite(const char* name, const Dense& values) {
  for (Eigen::Index row = 0; row < values.rows(); ++row) {
    for (Eigen::Index column = 0; column < values.cols(); ++column) {
      if (std::isfinite(values(row, column))) continue;
      if (values.cols() == 1) return fmt::format("{}[{}] is not finite", name, row);
      return fmt::format("{}[{},{}] is not finite", name, row, column);
    }
  }
  return {};
}

Defect check_non_negative(const char* name, const Vector& values) {
  if (auto d = check_finite(name, values)) return d;
  for (Eigen::Index k = 0; k < values.size(); ++k) {
    if (values[k] < 0.0) return fmt::format("{}[{}] = {} is negative", name, k, exact_text(values[k]));
  }
  return {};
}

/// Products of a friction coefficient with impulses and inverse masses must stay finite.
Defect check_friction(const Vector& mu) {
  constexpr double kMost = 1e200;
  if (auto d = check_non_negative("mu", mu)) return d;
  for (Eigen::Index k = 0; k < mu.size(); ++k) {
    if (mu[k] > kMost)
      return fmt::format("mu[{}] = {} is above {}; a contact with mu = 1e6 does not slide either", k,
                         exact_text(mu[k]), exact_text(kMost));
  }
  return {};
}

/// Compressed, index ranges, ascending without repetition, finite.
template <class Sparse>
Defect check_sparse(const char* name, const Sparse& matrix) {
  if (!matrix.isCompressed()) return fmt::format("{} is not in compressed form", name);
  const char* outer_name = Sparse::IsRowMajor ? "row" : "column";
  const auto* begin = matrix.outerIndexPtr();
  const auto* index = matrix.innerIndexPtr();
  const Eigen::Index outer = matrix.outerSize();
  if (outer == 0) return {};
  if (begin[0] != 0) return fmt::format("{} starts at entry {} instead of 0", name, begin[0]);
  for (Eigen::Index o = 0; o < outer; ++o) {
    if (begin[o + 1] < begin[o]) return fmt::format("{}: {} {} ends before it begins", name, outer_name, o);
    for (Index e = begin[o]; e < begin[o + 1]; ++e) {
      const Index inner = index[e];
      const Eigen::Index row = Sparse::IsRowMajor ? o : inner;
      const Eigen::Index column = Sparse::IsRowMajor ? inner : o;
      if (inner < 0 || inner >= matrix.innerSize())
        return fmt::format("{}[{},{}] lies outside {}x{}", name, row, column, matrix.rows(), matrix.cols());
      if (e > begin[o] && inner <= index[e - 1])
        return fmt::format("{}: {} {} is unsorted or repeats entry [{},{}]", name, outer_name, o, row,
                           column);
      if (!std::isfinite(matrix.valuePtr()[e]))
        return fmt::format("{}[{},{}] is not finite", name, row, column);
    }
  }
  return {};
}

Defect check_mass(const SparseRows& M) {
  const Vector diagonal = M.diagonal();
  for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
    if (!(diagonal[i] > 0.0))
      return fmt::format("M[{0},{0}] = {1}: a mass must be positive", i, exact_text(diagonal[i]));
  }
  return {};
}

Defect check_primal(const ContactProblem& p, Eigen::Index rows) {
  const Eigen::Index n = p.dofs();
  if (auto d = check_size("M", p.M.rows(), p.M.cols(), n, n)) return d;
  if (auto d = check_size("H", p.H.rows(), p.H.cols(), n, rows)) return d;
  if (auto d = check_length("w", p.w.size(), rows)) return d;
  if (auto d = check_sparse("M", p.M)) return d;
  if (auto d = check_sparse("H", p.H)) return d;
  if (auto d = check_finite("f", p.f)) return d;
  if (auto d = check_finite("w", p.w)) return d;
  return check_mass(p.M);
}

Defect check_dual(const ContactProblem& p, Eigen::Index rows) {
  if (auto d = check_size("W", p.W.rows(), p.W.cols(), rows, rows)) return d;
  if (auto d = check_length("q", p.q.size(), rows)) return d;
  if (auto d = check_sparse("W", p.W)) return d;
  if (auto d = check_finite("q", p.q)) return d;
  const Vector diagonal = p.W.diagonal();
  for (Eigen::Index i = 0; i < rows; ++i) {
    if (diagonal[i] < 0.0) {
      return fmt::format("W[{0},{0}] = {1} (contact {2}): a diagonal entry of W must not be negative", i,
                         exact_text(diagonal[i]), i / (rows / p.contacts()));
    }
  }
  return {};
}

/// The parts that exist, `rows` rows of contacts; without either the contacts have no equation.
Defect check_parts(const ContactProblem& p, Eigen::Index rows) {
  if (p.has_primal()) {
    if (auto d = check_primal(p, rows)) return d;
  } else {
    if (p.M.rows() != 0 || p.M.cols() != 0) return check_size("M", p.M.rows(), p.M.cols(), 0, 0);
    if (p.H.rows() != 0) return check_size("H", p.H.rows(), p.H.cols(), 0, rows);
    if (p.w.size() != 0) {
      // Every contact is between fixed bodies: u = w.
      if (auto d = check_length("w", p.w.size(), rows)) return d;
      if (auto d = check_finite("w", p.w)) return d;
    }
  }
  if (p.has_dual()) return check_dual(p, rows);
  if (p.W.rows() != 0) return fmt::format("W is {}x{} but q is empty", p.W.rows(), p.W.cols());
  if (rows > 0 && p.w.size() == 0)
    return fmt::format("{} contacts but neither M, H, f, w nor W, q", p.contacts());
  return {};
}

Defect check_frames(const ContactProblem& p) {
  if (p.frame.size() == 0) return {};
  if (auto d = check_size("frame", p.frame.rows(), p.frame.cols(), p.contacts(), 9)) return d;
  if (auto d = check_finite("frame", p.frame)) return d;
  static constexpr const char* kAxis[3] = {"n", "t1", "t2"};
  for (Eigen::Index k = 0; k < p.frame.rows(); ++k) {
    for (Eigen::Index a = 0; a < 3; ++a) {
      for (Eigen::Index b = a; b < 3; ++b) {
        const double product = p.frame.block<1, 3>(k, 3 * a).dot(p.frame.block<1, 3>(k, 3 * b));
        if (std::abs(product - (a == b ? 1.0 : 0.0)) <= kOrthonormal) continue;
        return fmt::format("frame[{}] is not orthonormal: {}.{} = {}", k, kAxis[a], kAxis[b],
                           exact_text(product));
      }
    }
  }
  return {};
}

Defect check_range(const char* name, Eigen::Index row, Eigen::Index column, Index value, Index limit) {
  if (value >= -1 && (limit < 0 || value < limit)) return {};
  const std::string range = limit < 0 ? "-1 or more" : fmt::format("-1 to {}", limit - 1);
  return fmt::format("{}[{},{}] = {} but must be {}", name, row, column, value, range);
}

Defect check_bodies(const ContactProblem& p) {
  const auto& offsets = p.body_dofs;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    if (offsets[b] < 0 || (b > 0 && offsets[b] < offsets[b - 1])) {
      return fmt::format("body_dofs[{}] = {}: offsets must start at 0 or more and ascend", b, offsets[b]);
    }
  }
  if (!offsets.empty() && p.has_primal() && offsets.back() > p.dofs()) {
    return fmt::format("body_dofs[{}] = {} but there are {} dofs", offsets.size() - 1, offsets.back(),
                       p.dofs());
  }
  if (p.bodies.size() == 0) return {};
  if (auto d = check_size("bodies", p.bodies.rows(), p.bodies.cols(), p.contacts(), 2)) return d;
  const Index limit = offsets.empty() ? -1 : count(offsets) - 1;
  for (Eigen::Index k = 0; k < p.bodies.rows(); ++k) {
    for (Eigen::Index side = 0; side < 2; ++side) {
      if (auto d = check_range("bodies", k, side, p.bodies(k, side), limit)) return d;
    }
  }
  return {};
}

Defect check_points(const ContactProblem& p) {
  if (p.points.size() > 0) {
    if (auto d = check_size("points", p.points.rows(), p.points.cols(), p.contacts(), 4)) return d;
    const Index limit = p.has_primal() ? p.dofs() / p.node_size() : -1;
    for (Eigen::Index k = 0; k < p.points.rows(); ++k) {
      for (Eigen::Index i = 0; i < 4; ++i) {
        if (auto d = check_range("points", k, i, p.points(k, i), limit)) return d;
      }
    }
  }
  if (p.weights.size() == 0) return {};
  if (auto d = check_size("weights", p.weights.rows(), p.weights.cols(), p.contacts(), 4)) return d;
  return check_finite("weights", p.weights);
}

/// Two vertices or faces, or two edges, and no pair twice: pairs name contacts over time.
Defect check_features(const ContactProblem& p) {
  if (p.features.size() == 0) return {};
  if (auto d = check_size("features", p.features.rows(), p.features.cols(), p.contacts(), 2)) return d;
  std::vector<std::pair<std::pair<Index, Index>, Eigen::Index>> pairs;
  for (Eigen::Index k = 0; k < p.features.rows(); ++k) {
    const Index a = p.features(k, 0), b = p.features(k, 1);
    if ((a < 0) != (b < 0))
      return fmt::format("features[{}] = ({}, {}): an edge (below 0) beside a vertex or face", k, a, b);
    pairs.push_back({{a, b}, k});
  }
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    if (pairs[i].first == pairs[i - 1].first)
      return fmt::format("features[{}] = ({}, {}) names contact {} too", pairs[i].second,
                         pairs[i].first.first, pairs[i].first.second, pairs[i - 1].second);
  }
  return {};
}

Defect check_node_numbers(const ContactProblem& p) {
  const auto& numbers = p.node_numbers;
  if (numbers.empty()) return {};
  if (p.has_primal()) {
    if (auto d = check_length("node_numbers", numbers.size(), p.dofs() / p.node_size())) return d;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || (i > 0 && numbers[i] <= numbers[i - 1]))
      return fmt::format("node_numbers[{}] = {}: numbers must be 0 or more and ascend", i, numbers[i]);
  }
  return {};
}

Defect check_starts(const ContactProblem& p) {
  const Eigen::Index m = p.contacts();
  if (p.warm_start.size() > 0) {
    if (auto d = check_length("warm_start", p.warm_start.size(), 3 * m)) return d;
    if (auto d = check_finite("warm_start", p.warm_start)) return d;
  }
  if (p.v_minus.size() > 0) {
    if (auto d = check_length("v_minus", p.v_minus.size(), p.dofs())) return d;
    if (auto d = check_finite("v_minus", p.v_minus)) return d;
  }
  if (!p.start_states.empty()) {
    const Eigen::Index states = p.start_states.size();
    if (auto d = check_length("start_states", states, m)) return d;
    for (std::size_t k = 0; k < p.start_states.size(); ++k) {
      const FrictionState state = p.start_states[k];
      if (state < FrictionState::unknown || state > FrictionState::sliding)
        return fmt::format("start_states[{}] = {} but must be -1 to 2", k, static_cast<Index>(state));
    }
  }
  if (p.start_bounds.size() == 0) return {};
  if (auto d = check_length("start_bounds", p.start_bounds.size(), m)) return d;
  return check_non_negative("start_bounds", p.start_bounds);
}

Defect check_extras(const ContactProblem& p) {
  const Eigen::Index m = p.contacts();
  if (!std::isfinite(p.dt) || p.dt < 0.0)
    return fmt::format("dt = {} must be 0 (unknown) or a positive time in s", exact_text(p.dt));
  if (!std::isfinite(p.time)) return "time is not finite";
  if (p.gap.size() > 0) {
    if (auto d = check_length("gap", p.gap.size(), m)) return d;
    if (auto d = check_finite("gap", p.gap)) return d;
  }
  if (p.position.size() > 0) {
    if (auto d = check_size("position", p.position.rows(), p.position.cols(), m, 3)) return d;
    if (auto d = check_finite("position", p.position)) return d;
  }
  if (auto d = check_starts(p)) return d;
  if (auto d = check_frames(p)) return d;
  if (auto d = check_points(p)) return d;
  if (auto d = check_features(p)) return d;
  if (auto d = check_node_numbers(p)) return d;
  return check_bodies(p);
}

}  // namespace

std::optional<std::string> find_defect(const ContactProblem& problem) {
  if (auto d = check_friction(problem.mu)) return d;
  if (auto d = check_parts(problem, 3 * problem.contacts())) return d;
  if (problem.spacedim != 2 && problem.spacedim != 3)
    return fmt::format("spacedim = {} must be 2 or 3", problem.spacedim);
  if (problem.spacedim == 2) {
    if (auto d = find_spatial_part(problem)) return d;
  }
  return check_extras(problem);
}

std::optional<std::string> find_defect_in_plane(const ContactProblem& planar) {
  if (auto d = check_friction(planar.mu)) return d;
  return check_parts(planar, 2 * planar.contacts());
}

void check_problem(const ContactProblem& problem, const std::string& where) {
  if (const auto defect = find_defect(problem)) throw_input("{}: {}", where, *defect);
}

}  // namespace signorini
