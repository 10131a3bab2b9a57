#include "contact/local_problem.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "contact/body_touches.h"
#include "contact/delassus_operator.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"
#include "linalg/block_sparse_matrix.h"

namespace signorini {

namespace {

/// Without the zeros that blocks have between a second tangent and other rows: the form of planar_problem.h.
SparseRows without_second_tangents(SparseRows W) {
  const auto is_second = [](Index row) { return row % 3 == 2; };
  W.prune([&](Index i, Index j, double) { return i == j || (!is_second(i) && !is_second(j)); });
  return W;
}

/// Contacts that touch one of these bodies, each counted once.
std::uint64_t count_contacts(const BodyTouches& table, const std::vector<Index>& bodies) {
  if (bodies.size() == 1) return table.body_begin[bodies[0] + 1] - table.body_begin[bodies[0]];
  std::vector<Index> contacts;
  for (const Index body : bodies) {
    for (Index t = table.body_begin[body]; t < table.body_begin[body + 1]; ++t)
      contacts.push_back(table.touches[t].contact);
  }
  std::sort(contacts.begin(), contacts.end());
  return std::unique(contacts.begin(), contacts.end()) - contacts.begin();
}

}  // namespace

ContactProblem to_local(ContactProblem problem) {
  if (!problem.has_dual()) {
    ReducedProblem reduced = assemble_reduced(problem);
    problem.q = std::move(reduced.q);
    problem.W = to_scalar(reduced.W);
    if (problem.spacedim == 2) problem.W = without_second_tangents(std::move(problem.W));
  }
  problem.M = SparseRows();
  problem.M_stored = StoredTriangle::both;
  problem.H = SparseColumns();
  for (Vector* vector : {&problem.f, &problem.w, &problem.v_minus}) vector->resize(0);
  problem.points.resize(0, 4);
  problem.weights.resize(0, 4);
  problem.node_numbers.clear();
  problem.body_dofs.clear();
  return problem;
}

std::uint64_t blocks_to_form(const ContactProblem& problem) {
  if (problem.has_dual()) return 0;
  const DirectionRows H = make_direction_rows(problem.H, problem.contacts());
  const MassFactor mass(problem.M, problem.node_size(), std::span<const Index>());  // bodies, no factors
  const BodyTouches table = make_body_touches(H, mass);
  // contacts of the same bodies have the same neighbours
  std::map<std::vector<Index>, std::uint64_t> groups;
  for (Index k = 0; k < problem.contacts(); ++k) {
    const auto first = table.contact_bodies.begin() + table.contact_begin[k];
    ++groups[std::vector<Index>(first, table.contact_bodies.begin() + table.contact_begin[k + 1])];
  }
  std::uint64_t blocks = 0;
  for (const auto& [bodies, contacts] : groups)
    blocks += contacts * (bodies.empty() ? 1 : count_contacts(table, bodies));
  return blocks;
}

}  // namespace signorini
