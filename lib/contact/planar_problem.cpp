#include "contact/planar_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"

namespace signorini {

namespace {

using Triplets = std::vector<Eigen::Triplet<double, Index>>;

bool is_second_tangent(Index row) { return row % 3 == 2; }
Index second_tangent(Index contact) { return 3 * contact + 2; }
Index row_in_space(Index row) { return 3 * (row / 2) + row % 2; }
Index row_in_plane(Index row) { return 2 * (row / 3) + row % 3; }

/// visit(row, column, value), stored zeros included.
template <class Sparse, class Visit>
void visit_entries(const Sparse& matrix, Visit&& visit) {
  for (Index outer = 0; outer < matrix.outerSize(); ++outer) {
    for (typename Sparse::InnerIterator entry(matrix, outer); entry; ++entry)
      visit(static_cast<Index>(entry.row()), static_cast<Index>(entry.col()), entry.value());
  }
}

template <class Sparse>
Sparse from_triplets(Index rows, Index columns, const Triplets& entries) {
  Sparse matrix(rows, columns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

SparseRows delassus_to_space(const SparseRows& W, Index contacts) {
  Triplets entries;
  entries.reserve(W.nonZeros() + contacts);
  visit_entries(
      W, [&](Index i, Index j, double x) { entries.emplace_back(row_in_space(i), row_in_space(j), x); });
  const Vector diagonal = W.diagonal();
  for (Index k = 0; k < contacts; ++k) {
    const double tangential = diagonal[2 * k + 1];
    if (tangential > 0.0) entries.emplace_back(second_tangent(k), second_tangent(k), tangential);
  }
  return from_triplets<SparseRows>(3 * contacts, 3 * contacts, entries);
}

/// m_k of every contact; 0 where T moves nothing.
Vector second_masses(const SparseRows& M, const SparseColumns& H, Index contacts) {
  Vector masses = Vector::Zero(contacts);
  Vector h = Vector::Zero(M.rows());
  for (Index k = 0; k < contacts; ++k) {
    double scale = 0.0;  // keeps squares of tiny and huge directions finite
    for (SparseColumns::InnerIterator entry(H, 2 * k + 1); entry; ++entry)
      scale = std::max(scale, std::abs(entry.value()));
    if (scale == 0.0) continue;
    for (SparseColumns::InnerIterator entry(H, 2 * k + 1); entry; ++entry)
      h[entry.row()] = entry.value() / scale;
    double energy = 0.0, square = 0.0;
    for (SparseColumns::InnerIterator entry(H, 2 * k + 1); entry; ++entry) {
      energy += h[entry.row()] * M.row(entry.row()).dot(h);
      square += h[entry.row()] * h[entry.row()];
    }
    for (SparseColumns::InnerIterator entry(H, 2 * k + 1); entry; ++entry) h[entry.row()] = 0.0;
    const double mass = energy / (square * square) / scale / scale;
    if (mass > 0.0 && std::isnormal(mass)) masses[k] = mass;
  }
  return masses;
}

SparseRows mass_to_space(const SparseRows& M, const Vector& masses) {
  const Index n = static_cast<Index>(M.rows()), whole = n + 3 * count(masses);
  Triplets entries;
  entries.reserve(M.nonZeros() + 3 * masses.size());
  visit_entries(M, [&](Index i, Index j, double x) { entries.emplace_back(i, j, x); });
  for (Index i = n; i < whole; ++i) {
    const double mass = masses[(i - n) / 3];
    entries.emplace_back(i, i, mass > 0.0 ? mass : 1.0);
  }
  return from_triplets<SparseRows>(whole, whole, entries);
}

SparseColumns directions_to_space(const SparseColumns& H, const Vector& masses) {
  const Index n = static_cast<Index>(H.rows()), contacts = count(masses);
  Triplets entries;
  entries.reserve(H.nonZeros() + contacts);
  visit_entries(H, [&](Index i, Index j, double x) { entries.emplace_back(i, row_in_space(j), x); });
  for (Index k = 0; k < contacts; ++k) {
    if (masses[k] > 0.0) entries.emplace_back(n + 3 * k, second_tangent(k), 1.0);
  }
  return from_triplets<SparseColumns>(n + 3 * contacts, 3 * contacts, entries);
}

std::optional<std::string> find_in_rows(const char* name, const Vector& rows) {
  for (Index i = 0; i < count(rows); ++i) {
    if (is_second_tangent(i) && rows[i] != 0.0)
      return fmt::format("spacedim is 2, but {}[{}] = {} (second tangent of contact {}) is not zero", name, i,
                         exact_text(rows[i]), i / 3);
  }
  return {};
}

/// The first entry of a matrix that `allowed` refuses.
template <class Sparse, class Allowed>
std::optional<std::string> find_entry(const char* name, const Sparse& matrix, const Allowed& allowed) {
  std::optional<std::string> found;
  visit_entries(matrix, [&](Index i, Index j, double) {
    if (found || allowed(i, j)) return;
    found = fmt::format("spacedim is 2, but {}[{},{}] couples a second tangent with others", name, i, j);
  });
  return found;
}

}  // namespace

Vector rows_to_space(const Vector& rows) {
  Vector wide = Vector::Zero(rows.size() / 2 * 3);
  for (Index i = 0; i < count(rows); ++i) wide[row_in_space(i)] = rows[i];
  return wide;
}

Vector rows_to_plane(const Vector& rows) {
  Vector narrow(rows.size() / 3 * 2);
  for (Index i = 0; i < count(rows); ++i) {
    if (!is_second_tangent(i)) narrow[row_in_plane(i)] = rows[i];
  }
  return narrow;
}

Vector dofs_to_space(const Vector& v, Index contacts) {
  if (v.size() == 0) return v;
  Vector longer = Vector::Zero(v.size() + 3 * contacts);
  longer.head(v.size()) = v;
  return longer;
}

ContactProblem to_space(ContactProblem planar) {
  const Index m = planar.contacts();
  if (planar.has_primal()) {
    const Vector masses = second_masses(planar.M, planar.H, m);
    planar.M = mass_to_space(planar.M, masses);
    planar.H = directions_to_space(planar.H, masses);
    planar.f = dofs_to_space(planar.f, m);
    planar.v_minus = dofs_to_space(planar.v_minus, m);
  } else if (planar.H.cols() > 0) {
    planar.H.resize(0, 3 * m);
  }
  if (planar.has_dual()) planar.W = delassus_to_space(planar.W, m);
  for (Vector* rows : {&planar.w, &planar.q, &planar.warm_start}) *rows = rows_to_space(*rows);
  planar.spacedim = 2;
  return planar;
}

ContactProblem to_plane(const ContactProblem& problem) {
  const Index n = problem.own_dofs(), m = problem.contacts();
  ContactProblem planar = problem;
  Triplets entries;
  if (problem.has_primal()) {
    visit_entries(problem.M, [&](Index i, Index j, double x) {
      if (i < n && j < n) entries.emplace_back(i, j, x);
    });
    planar.M = from_triplets<SparseRows>(n, n, entries);
    entries.clear();
    visit_entries(problem.H, [&](Index i, Index j, double x) {
      if (i < n && !is_second_tangent(j)) entries.emplace_back(i, row_in_plane(j), x);
    });
    planar.H = from_triplets<SparseColumns>(n, 2 * m, entries);
    planar.f = problem.f.head(n);
    if (problem.v_minus.size() > 0) planar.v_minus = problem.v_minus.head(n);
  } else if (problem.H.cols() > 0) {
    planar.H.resize(0, 2 * m);
  }
  if (problem.has_dual()) {
    entries.clear();
    visit_entries(problem.W, [&](Index i, Index j, double x) {
      if (!is_second_tangent(i) && !is_second_tangent(j))
        entries.emplace_back(row_in_plane(i), row_in_plane(j), x);
    });
    planar.W = from_triplets<SparseRows>(2 * m, 2 * m, entries);
  }
  for (Vector* rows : {&planar.w, &planar.q, &planar.warm_start}) *rows = rows_to_plane(*rows);
  return planar;
}

std::optional<std::string> find_spatial_part(const ContactProblem& problem) {
  if (auto d = find_in_rows("w", problem.w)) return d;
  if (auto d = find_in_rows("q", problem.q)) return d;
  const auto in_W = [](Index i, Index j) {
    return i == j || (!is_second_tangent(i) && !is_second_tangent(j));
  };
  if (auto d = find_entry("W", problem.W, in_W)) return d;
  if (!problem.has_primal()) return {};
  const Index n = problem.own_dofs();
  if (n <= 0) {
    return fmt::format(
        "spacedim is 2, but there are {} dofs: three for each of the {} contacts are not those of bodies",
        problem.dofs(), problem.contacts());
  }
  for (Index i = n; i < problem.dofs(); ++i) {
    if (problem.f[i] != 0.0)
      return fmt::format("spacedim is 2, but f[{}] = {} pushes a second tangent", i,
                         exact_text(problem.f[i]));
  }
  const auto in_M = [n](Index i, Index j) { return i == j || (i < n && j < n); };
  if (auto d = find_entry("M", problem.M, in_M)) return d;
  const auto in_H = [n](Index i, Index j) { return is_second_tangent(j) ? i == n + j - 2 : i < n; };
  return find_entry("H", problem.H, in_H);
}

}  // namespace signorini
