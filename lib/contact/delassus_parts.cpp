#include "contact/delassus_parts.h"

#include <utility>

#include "base/check.h"
#include "contact/body_touches.h"
#include "contact/direction_rows.h"

namespace signorini {

namespace {

/// q = Hᵀ M⁻¹ f + w of some contacts in their order.
Vector free_velocity(const ContactProblem& problem, const MassFactor& mass, const DirectionRows& H,
                     std::span<const Index> contacts) {
  Vector q = Vector::Zero(3 * count(contacts));
  if (problem.has_primal()) {
    Vector v(problem.dofs());
    mass.solve(span_of(problem.f), span_of(v));
    contact_velocities(H, span_of(std::as_const(v)), span_of(q));
  }
  for (std::size_t i = 0; i < contacts.size(); ++i)
    q.segment<3>(3 * i) += problem.w.segment<3>(3 * contacts[i]);
  return q;
}

}  // namespace

DelassusParts::DelassusParts(const ContactProblem& problem, Index node_size, std::span<const Index> begin,
                             std::span<const Index> contacts)
    : DelassusParts(problem, node_size, begin, contacts, make_direction_rows(problem.H, contacts)) {}

DelassusParts::DelassusParts(const ContactProblem& problem, Index node_size, std::span<const Index> begin,
                             std::span<const Index> contacts, const DirectionRows& H)
    : begin_(begin.begin(), begin.end()),
      mass_(problem.M, node_size, H.dof),
      touches_(make_body_touches(H, mass_)),
      q_(free_velocity(problem, mass_, H, contacts)),
      blocks_(touches_, mass_) {
  SIGNORINI_CHECK(!problem.has_dual());
}

ReducedProblem DelassusParts::assemble(Index part) {
  const Index first = begin_[part], end = begin_[part + 1];
  return {blocks_.assemble(first, end), q_.segment(3 * first, 3 * (end - first))};
}

}  // namespace signorini
