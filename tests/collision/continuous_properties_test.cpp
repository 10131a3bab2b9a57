// What must not change an impact: which corner or edge is named first, where the origin is, in which units,
// and in which direction time runs. Coordinates are small multiples of 1/8, so that moves, turns by right
// angles and powers of two are exact; many of these pairs are degenerate.

#include <gtest/gtest.h>

#ifdef SIGNORINI_HAVE_RAPIDCHECK

#include <rapidcheck/gtest.h>

#include <Eigen/Geometry>
#include <cstdlib>

#include "collision/impact_oracle.h"

namespace signorini::continuous_properties_test {
namespace {

using oracle::Pair;

/// The same cases in every run, unless RC_PARAMS asks for others.
const int kParameters = setenv("RC_PARAMS", "seed=28 max_success=5000", 0);

rc::Gen<Vector3> lattice_point(int reach) {
  const auto number = rc::gen::resize(100, rc::gen::inRange(-8 * reach, 8 * reach + 1));
  return rc::gen::map(rc::gen::tuple(number, number, number), [](const std::tuple<int, int, int>& k) {
    return Vector3(std::get<0>(k) / 8.0, std::get<1>(k) / 8.0, std::get<2>(k) / 8.0);
  });
}

/// Coarse pairs, in {−2 … 2}³, meet and degenerate often; fine ones are more general.
Pair any_pair(PairKind kind) {
  Pair pair;
  pair.kind = kind;
  const bool coarse = *rc::gen::arbitrary<bool>();
  for (auto* points : {&pair.x, &pair.d}) {
    for (Vector3& p : *points) p = coarse ? Vector3((*lattice_point(2)).array().round()) : *lattice_point(2);
  }
  return pair;
}

PairKind any_kind() { return *rc::gen::element(PairKind::vertex_face, PairKind::edge_edge); }

Pair reordered(const Pair& pair, const std::array<std::size_t, 4>& order) {
  Pair result{pair.kind, {}, {}};
  for (std::size_t i = 0; i < 4; ++i) {
    result.x[i] = pair.x[order[i]];
    result.d[i] = pair.d[order[i]];
  }
  return result;
}

bool touches_at(const Pair& pair, long double t) { return oracle::distance(pair, t) < 1e-12L; }

/// Times are within ε of contact over the speed.
double time_slack(const Pair& pair) {
  const oracle::Lengths l = oracle::lengths(pair);
  return l.speed > 0.0 ? 3.0 * l.tolerance / l.speed + 1e-12 : 1e-12;
}

/// Roots that are not sharp let times within the band differ by more, where the distance does not.
void expect_same_impact(const Pair& pair, const std::optional<Impact>& a, const std::optional<Impact>& b) {
  RC_ASSERT(a.has_value() == b.has_value());
  if (!a) return;
  if (std::abs(a->time - b->time) > time_slack(pair)) {
    const double early = std::min(a->time, b->time), late = std::max(a->time, b->time);
    RC_ASSERT(late - early < 1e-5);
    for (const double t : {early, late})
      RC_ASSERT(oracle::distance(pair, t) <= 1.001L * oracle::lengths(pair).tolerance);
  }
}

RC_GTEST_PROP(ImpactProperties, CornersMayBeNamedInAnyCyclicOrderAndEdgesFromAnyEnd, ()) {
  const Pair pair = any_pair(any_kind());
  const bool face = pair.kind == PairKind::vertex_face;
  const auto impact = pair.detect();
  using Order = std::array<std::size_t, 4>;
  const std::vector<Order> orders = face ? std::vector<Order>{{0, 2, 3, 1}, {0, 3, 1, 2}}
                                         : std::vector<Order>{{1, 0, 2, 3}, {0, 1, 3, 2}, {2, 3, 0, 1}};
  for (const Order& order : orders) {
    const auto other = reordered(pair, order).detect();
    expect_same_impact(pair, impact, other);
    if (!impact || oracle::starts_in_contact(pair) || oracle::volume(pair, 0) == 0) continue;
    // The same normal; from a to b when the edges change places.
    const double sign = order[0] == 2 && !face ? -1.0 : 1.0;
    if (std::abs(impact->time - other->time) < 1e-12)
      RC_ASSERT((impact->normal - sign * other->normal).norm() < 1e-5);
  }
}

RC_GTEST_PROP(ImpactProperties, OriginCommonMotionAndUnitsChangeNoBit, ()) {
  const Pair pair = any_pair(any_kind());
  const auto impact = pair.detect();
  Pair moved = pair;
  const Vector3 x = 1024.0 * *lattice_point(4), d = 64.0 * *lattice_point(4);
  const double unit = std::ldexp(1.0, *rc::gen::inRange(-30, 20));
  for (std::size_t i = 0; i < 4; ++i) {
    moved.x[i] = unit * (moved.x[i] + x);
    moved.d[i] = unit * (moved.d[i] + d);
  }
  const auto other = moved.detect();
  RC_ASSERT(impact.has_value() == other.has_value());
  if (!impact) return;
  RC_ASSERT(impact->time == other->time);
  RC_ASSERT(impact->weight == other->weight);
  RC_ASSERT(impact->normal == other->normal);
}

RC_GTEST_PROP(ImpactProperties, RightAnglesTurnTheNormalAlong, ()) {
  const Pair pair = any_pair(any_kind());
  const auto impact = pair.detect();
  const Index first = *rc::gen::inRange<Index>(0, 3);
  Matrix3 turn = Matrix3::Zero();  // a cyclic permutation of the axes with two signs changed
  for (Index k = 0; k < 3; ++k) turn(k, (k + first) % 3) = k < 2 ? -1.0 : 1.0;
  Pair turned = pair;
  for (std::size_t i = 0; i < 4; ++i) {
    turned.x[i] = turn * pair.x[i];
    turned.d[i] = turn * pair.d[i];
  }
  const auto other = turned.detect();
  expect_same_impact(pair, impact, other);
  if (impact && !oracle::starts_in_contact(pair) && oracle::volume(pair, 0) != 0 &&
      std::abs(impact->time - other->time) < 1e-12) {
    RC_ASSERT((turn * impact->normal - other->normal).norm() < 1e-5);
  }
}

RC_GTEST_PROP(ImpactProperties, BackwardsInTimeThePairMeetsAsWell, ()) {
  const Pair pair = any_pair(any_kind());
  if (touches_at(pair, 0) || touches_at(pair, 1)) return;  // a start in contact has rules of its own
  Pair back = pair;
  for (std::size_t i = 0; i < 4; ++i) {
    back.x[i] += back.d[i];
    back.d[i] = -back.d[i];
  }
  const auto forth = pair.detect(), return_trip = back.detect();
  RC_ASSERT(forth.has_value() == return_trip.has_value());
  // The first contact one way is no later than the last, which is the first on the way back.
  if (forth) RC_ASSERT(forth->time <= 1.0 - return_trip->time + 1e-5);
}

}  // namespace
}  // namespace signorini::continuous_properties_test

#endif
