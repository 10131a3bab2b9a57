#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solvers/active_set/active_set.h"

/// What the files of the active set share: a part of the tangents of a contact, and how its rows change state.
/// Included by active_set*.cpp alone.
namespace signorini {

template <class Law>
using PartVector = Eigen::Matrix<double, Law::kPartSize, 1>;

/// First row of a part of the tangents of contact k.
template <class Law>
std::size_t row_of(std::size_t k, int part) {
  return 3 * k + 1 + part * Law::kPartSize;
}

template <class Law>
Eigen::Map<PartVector<Law>> part_at(std::vector<double>& x, std::size_t k, int part) {
  return Eigen::Map<PartVector<Law>>(x.data() + row_of<Law>(k, part));
}

template <class Law>
PartVector<Law> part_at(std::span<const double> x, std::size_t k, int part) {
  return Eigen::Map<const PartVector<Law>>(x.data() + row_of<Law>(k, part));
}

/// x/‖x‖; of one component also where it is infinite.
template <class Law>
PartVector<Law> unit(const PartVector<Law>& x, double size) {
  if constexpr (Law::kPartSize == 1) return PartVector<Law>(x[0] > 0.0 ? 1.0 : -1.0);
  return x / size;
}

/// S of a part.
template <class Law>
double inverse_mass_of(const Vector3& S, int part) {
  return S.segment<Law::kPartSize>(1 + part * Law::kPartSize).maxCoeff();
}

template <class Law>
struct ActiveSet::Part {
  std::size_t k;
  int part;
  Contact& contact;
  double S;
  Bound bound;
  PartVector<Law> s;  ///< u_T of the part
  PartVector<Law> stuck, present;

  auto direction() const { return contact.direction.template segment<Law::kPartSize>(part * Law::kPartSize); }
  TangentState state() const { return contact.tangent[part]; }

  /// δ that the impulse and the slip ask for.
  PartVector<Law> turned(const ActiveSet& set, double gate) const {
    PartVector<Law> d = direction();
    if constexpr (Law::kPartSize > 1) {
      const StateRules& rules = set.rules_;
      const double speed = s.norm();
      if (set.newton() && present.norm() > 0.0) d = -present.normalized();
      if (rules.direction != SlideDirection::paper) {
        const PartVector<Law> pushed = bound.wanted * S * d + s;
        if (pushed.norm() > 0.0) d = pushed.normalized();
      } else if (speed > gate) {
        const double cosine = std::clamp(s.dot(d) / speed, -1.0, 1.0);
        if (std::acos(cosine) * 180.0 / std::numbers::pi > rules.angle)
          d = (d + rules.turn * (s / speed - d)).normalized();
      }
    }
    return d;
  }
};

template <class Law>
ActiveSet::Part<Law> ActiveSet::part_of(std::size_t k, int part, std::span<const double> u) {
  Part<Law> result{k,           part, contact_[k], inverse_mass_of<Law>(inverse_mass_[k], part),
                   bound_of(k), {},   {},          {}};
  result.s = part_at<Law>(u, k, part);
  result.stuck = part_at<Law>(lambda, k, part);
  result.present = part_at<Law>(known, k, part) + result.stuck;
  return result;
}

/// r_T = −bound·δ + a e with a unknown: a = −(bound/speed) e·s, the change of −bound·s/‖s‖ with s.
template <class Law>
void ActiveSet::slide_along(std::size_t k, int part,
                            const Eigen::Matrix<double, Law::kPartSize, 1>& direction, double bound,
                            double speed) {
  contact_[k].tangent[part] = TangentState::sliding;
  contact_[k].direction.segment<Law::kPartSize>(part * Law::kPartSize) = direction;
  part_at<Law>(lambda, k, part).setZero();
  part_at<Law>(active, k, part).setZero();
  part_at<Law>(known, k, part) = -bound * direction;
  if constexpr (Law::kPartSize > 1) {
    const bool turns = newton() && bound > 0.0;
    across[k] = turns ? Vector2(-direction[1], direction[0]) : Vector2::Zero();
    compliance[k] = turns ? speed / bound : 0.0;
  }
}

template <class Law>
void ActiveSet::stick(const Part<Law>& part) {
  const std::size_t which = part.part;
  part.contact.confirmed[which] = 0;
  part.contact.tangent[which] = TangentState::sticking;
  part_at<Law>(lambda, part.k, part.part) = part.present;
  part_at<Law>(known, part.k, part.part).setZero();
  part_at<Law>(active, part.k, part.part).setOnes();
  if constexpr (Law::kPartSize > 1) {
    across[part.k].setZero();
    compliance[part.k] = 0.0;
  }
}

/// Of a contact that was switched on: sliding along s without an impulse yet, sticking where s is small.
template <class Law>
void ActiveSet::begin_tangents(std::size_t k, std::span<const double> u, double gate) {
  Contact& c = contact_[k];
  c.slips = c.confirmed = {};
  for (int part = 0; part < Law::kParts; ++part) {
    const PartVector<Law> s = part_at<Law>(u, k, part);
    const double speed = s.norm();
    const bool slides = speed > gate;
    c.tangent[part] = slides ? TangentState::sliding : TangentState::sticking;
    auto direction = c.direction.segment<Law::kPartSize>(part * Law::kPartSize);
    direction.setZero();
    if (slides) direction = s / speed;
    part_at<Law>(active, k, part).setConstant(slides ? 0.0 : 1.0);
  }
}

/// States by one projected step from r_T: it slides where r_T − u_T/S leaves its disc or square. The impulse stays
/// what it is.
template <class Law>
void ActiveSet::guess_tangents(std::size_t k, double bound, std::span<const double> r,
                               std::span<const double> u) {
  /// Without velocities: r_T this close to its bound slides.
  constexpr double kAtBound = 1.0 - 1e-4;
  Contact& c = contact_[k];
  for (int part = 0; part < Law::kParts; ++part) {
    const PartVector<Law> impulse = part_at<Law>(r, k, part);
    PartVector<Law> wanted = impulse / kAtBound;
    if (!u.empty())
      wanted = impulse - part_at<Law>(u, k, part) / inverse_mass_of<Law>(inverse_mass_[k], part);
    const double size = wanted.norm();
    const bool slides = size > bound;  // false where nothing moves: NaN, infinity only of such contacts
    c.tangent[part] = slides ? TangentState::sliding : TangentState::sticking;
    if (slides) c.direction.segment<Law::kPartSize>(part * Law::kPartSize) = unit<Law>(-wanted, size);
    part_at<Law>(slides ? known : lambda, k, part) = impulse;
    part_at<Law>(slides ? lambda : known, k, part).setZero();
    part_at<Law>(active, k, part).setConstant(slides ? 0.0 : 1.0);
  }
}

}  // namespace signorini
