#include <optional>

#include "collision/pair_motion.h"

/// The search of continuous detection where the cubic does not tell: motion within one plane, grazing,
/// parallel edges, features without area or length.
namespace signorini {

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();
constexpr int kMostDistances = 20'000;

/// Range of the norms between two times.
Vector3 largest_norms(const RelativePair& from, const RelativePair& to) {
  return {std::sqrt(std::max(from.q.squaredNorm(), to.q.squaredNorm())),
          std::sqrt(std::max(from.u.squaredNorm(), to.u.squaredNorm())),
          std::sqrt(std::max(from.v.squaredNorm(), to.v.squaredNorm()))};
}

/// The four points are not coplanar at any time in between. Here f is known better than over the whole
/// motion: its factors are shorter, their errors those of the positions.
bool volume_separates(const RelativePair& from, const RelativePair& to, const Vector3& reach) {
  const Vector3 size = largest_norms(from, to);
  const double rounding =
      0.25 * kCubicRounding *
      (reach[0] * size[1] * size[2] + size[0] * reach[1] * size[2] + size[0] * size[1] * reach[2]);
  return one_sign(coplanarity(from, to).f, rounding);
}

/// n · (e × r) between two times: three Bernstein coefficients.
using Quadratic = std::array<double, 3>;

Quadratic turn(const Vector3& n, const Vector3& e_0, const Vector3& e_1, const Vector3& r_0,
               const Vector3& r_1) {
  return {n.dot(e_0.cross(r_0)), 0.5 * n.dot(e_0.cross(r_1) + e_1.cross(r_0)), n.dot(e_1.cross(r_1))};
}

/// As seen along n, the vertices at r and r' relative to the moving line of e stay on one side of it and
/// both beyond `rounding` from it.
bool one_side(const Quadratic& a, const Quadratic& b, double rounding) {
  const auto [low_a, high_a] = std::minmax_element(a.begin(), a.end());
  const auto [low_b, high_b] = std::minmax_element(b.begin(), b.end());
  return std::min(*low_a, *low_b) > rounding || std::max(*high_a, *high_b) < -rounding;
}

/// Seen along n, the line of an edge separates the pair while it moves and turns: what no plane at rest does
/// between features that turn together at a small distance.
template <PairKind kind>
bool line_separates(const Vector3& apart, const RelativePair& from, const RelativePair& to,
                    const Vector3& reach) {
  const double rounding = 2.0 * kCubicRounding * reach.sum() * largest_norms(from, to).sum();
  if constexpr (kind == PairKind::edge_edge) {
    const auto beside = [&](const Vector3& e_0, const Vector3& e_1, const Vector3& other_0,
                            const Vector3& other_1) {
      const Vector3 n = (e_0 + e_1).cross(apart);
      const Quadratic first = turn(n, e_0, e_1, from.q, to.q);
      const Quadratic second = turn(n, e_0, e_1, from.q + other_0, to.q + other_1);
      return one_side(first, second, rounding * n.norm());
    };
    // b_0, b_1 from the line of a; a_0, a_1 from the line of b. q points from b_0 to a_0.
    return beside(from.u, to.u, -from.v, -to.v) || beside(from.v, to.v, from.u, to.u);
  }
  // The vertex beyond an edge (i, j) of the face, and beyond the face's third corner k as well.
  const auto beyond = [&](const Vector3& i_0, const Vector3& i_1, const Vector3& j_0, const Vector3& j_1,
                          const Vector3& k_0, const Vector3& k_1) {
    const Vector3 e_0 = j_0 - i_0, e_1 = j_1 - i_1;
    const Vector3 n = (e_0 + e_1).cross(apart);
    const Quadratic edge = turn(n, e_0, e_1, from.q - i_0, to.q - i_1);
    const Quadratic corner = turn(n, e_0, e_1, from.q - k_0, to.q - k_1);
    return one_side(edge, corner, rounding * n.norm());
  };
  const Vector3 zero = Vector3::Zero();
  return beyond(zero, zero, from.u, to.u, from.v, to.v) || beyond(zero, zero, from.v, to.v, from.u, to.u) ||
         beyond(from.u, to.u, from.v, to.v, zero, zero);
}

}  // namespace

template <PairKind kind>
std::optional<double> first_touch(const PairMotion& m, double begin, double end, const PairScale& scale,
                                  double tolerance) {
  struct Interval {
    double l, r;
  };
  // Left halves first, so the stack holds one interval per halving. An interval whose motion is below
  // tolerance/4, 2⁻⁵⁰ of the extent at t = 0 at least, is not halved; nor one that is down to a unit of t.
  std::array<Interval, 128> stack{{{begin, end}}};
  std::size_t depth = 1;
  std::optional<double> found;
  for (int distances = 0; depth > 0; ++distances) {
    const auto [l, r] = stack[--depth];
    const double middle = 0.5 * (l + r);
    const ClosestFeatures at_middle = closest<kind>(m.at(middle));
    if (distances == kMostDistances) return found ? found : middle;
    const double motion = scale.speed * (r - l);
    const bool finest = r - l <= kUnit * r || depth + 2 > stack.size();
    const bool is_short = motion <= 0.25 * tolerance || finest;
    if (at_middle.distance <= tolerance + (finest ? motion : 0.0)) {
      found = middle;
      if (is_short) return found;
      stack[0] = {l, middle};  // whatever is later does not matter any more
      depth = 1;
      continue;
    }
    if (is_short) continue;
    const RelativePair from = m.at(l), to = m.at(r);
    const Vector3 n = at_middle.apart / at_middle.distance;
    if (separates<kind>(n, from, to, 0.25 * tolerance) || volume_separates(from, to, scale.reach) ||
        line_separates<kind>(n, from, to, scale.reach)) {
      continue;
    }
    stack[depth++] = {middle, r};
    stack[depth++] = {l, middle};
  }
  return found;
}

template std::optional<double> first_touch<PairKind::vertex_face>(const PairMotion&, double, double,
                                                                  const PairScale&, double);
template std::optional<double> first_touch<PairKind::edge_edge>(const PairMotion&, double, double,
                                                                const PairScale&, double);

}  // namespace signorini
