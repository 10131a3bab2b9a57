#include "contact/friction_state.h"

#include "base/check.h"
#include "contact/align_tangents.h"

namespace signorini {

ContactEnd contact_end(const Vector3& r, double mu, FrictionLaw law) {
  if (!(r[0] > 0.0)) return {FrictionState::open, 0.0};
  const double bound = mu * r[0];
  const double tangential =
      with_law(law, [&](auto type) { return decltype(type)::tangent_size(r.tail<2>()); });
  const bool slides = tangential >= (1.0 - kAtBound) * bound;
  return {slides ? FrictionState::sliding : FrictionState::sticking, bound};
}

std::vector<ContactEnd> contact_ends(std::span<const double> r, const Vector& mu, LawSpec law,
                                     std::span<const double> q) {
  SIGNORINI_CHECK(count(r) == 3 * mu.size());
  std::vector<double> turned;
  if (is_turned(law)) {
    SIGNORINI_CHECK(q.size() == r.size());
    turned.assign(r.begin(), r.end());
    turn_impulses(turned, turned_angles(law, q), +1);
    r = turned;
  }
  std::vector<ContactEnd> ends;
  ends.reserve(r.size() / 3);
  for (std::size_t k = 0; 3 * k < r.size(); ++k) {
    ends.push_back(contact_end(Vector3(r[3 * k], r[3 * k + 1], r[3 * k + 2]), mu[k], law.law));
  }
  return ends;
}

}  // namespace signorini
