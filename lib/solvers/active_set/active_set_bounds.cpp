// Bounds that do not follow the normal impulses, and the compliance of regularised rows.
#include <limits>

#include "solvers/active_set/active_set_parts.h"

namespace signorini {

namespace {

/// Of the lag of held bounds: what the problem with these bounds is solved to before they move. Where
/// contacts nearly coincide, their normal impulses are a hundred times less accurate than the velocities
/// (docs/notes/measurements.md).
constexpr double kTightBounds = 1e-4;
/// HeldBounds::adaptive: the largest τ, and the moves that may pass without a halving of the lag.
constexpr double kLooseBounds = 0.1;
constexpr int kMovesInVain = 4;
/// Of the proximal lag: what the regularised problem is solved to before its centre moves.
constexpr double kCentreAccuracy = 0.1;
/// ϑ/S. Larger: more moves of the centre; smaller: less regularisation of redundant contacts
/// (docs/notes/measurements.md).
constexpr double kProximal = 1e-4;

}  // namespace

void ActiveSet::hold_bounds() {
  bounds_ = Bounds::held;
  history_.forget();
  bound_accuracy_ = kTightBounds;
  lag_ = std::numeric_limits<double>::infinity();
  moves_in_vain_ = 0;
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    bound_[k] = mu(k) * std::max(0.0, lambda[3 * k]);
    if (!(bound_[k] > 0.0)) drop_tangents(k);
    contact_[k].slips = contact_[k].confirmed = {};
  }
  regularise();
}

void ActiveSet::regularise() {
  regularised_ = true;
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    const Vector3& S = inverse_mass_[k];
    proximal[3 * k] = kProximal * S[0];
    proximal[3 * k + 1] = proximal[3 * k + 2] = kProximal * std::max(S[1], S[2]);
    recentre(k);
  }
}

double ActiveSet::bound_error(std::size_t k) const {
  return mu(k) * std::max(0.0, lambda[3 * k]) - bound_[k];
}

double ActiveSet::bound_lag() const {
  double largest = 0.0;
  for (std::size_t k = 0; k < contact_.size(); ++k)
    largest =
        std::max(largest, std::max(inverse_mass_[k][1], inverse_mass_[k][2]) * std::abs(bound_error(k)));
  return largest;
}

double ActiveSet::proximal_lag() const {
  double largest = 0.0;
  for (std::size_t i = 0; i < centre.size(); ++i)
    largest = std::max(largest, proximal[i] * std::abs(lambda[i] - centre[i]));
  return largest;
}

double ActiveSet::held_accuracy() const {
  const double bounds = held() ? bound_accuracy_ * bound_lag() : 0.0;
  return regularised_ ? std::max(bounds, kCentreAccuracy * proximal_lag()) : 0.0;
}

void ActiveSet::recentre(std::size_t k) {
  for (std::size_t i = 3 * k; i < 3 * k + 3; ++i) centre[i] = lambda[i];
}

void ActiveSet::loosen_bounds() { bound_accuracy_ = std::min(kLooseBounds, 10.0 * bound_accuracy_); }

void ActiveSet::adapt_accuracy(double lag) {
  if (lag < 0.5 * lag_) {
    lag_ = lag;
    moves_in_vain_ = 0;
  } else if (++moves_in_vain_ >= kMovesInVain) {
    bound_accuracy_ = std::max(kTightBounds, 0.1 * bound_accuracy_);
    lag_ = lag;
    moves_in_vain_ = 0;
  }
}

/// Sliding impulses go to the new bound, along the direction that they have; of fixed bounds also sticking ones
/// above it.
template <class Law>
void ActiveSet::follow_bound(std::size_t k, std::span<const double> u) {
  for (int part = 0; part < Law::kParts; ++part) {
    const Part<Law> p = part_of<Law>(k, part, u);
    const double size = p.present.norm();
    const bool exceeds = bounds_ == Bounds::fixed && p.state() == TangentState::sticking && size > bound_[k];
    if (p.state() != TangentState::sliding && !exceeds) continue;
    PartVector<Law> direction = p.direction();
    if (exceeds) direction = unit<Law>(-p.present, size);
    if (Law::kPartSize > 1 && size > 0.0) direction = -p.present.normalized();
    slide_along<Law>(k, part, direction, bound_[k], p.s.norm());
  }
}

void ActiveSet::move_held_bounds(std::span<const double> u, double gate) {
  ++bound_moves_;
  if (rules_.bounds == HeldBounds::adaptive) adapt_accuracy(bound_lag());
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    error_[k] = bound_error(k);
    scale_[k] = std::max(inverse_mass_[k][1], inverse_mass_[k][2]);
  }
  history_.step(scale_, error_, bound_);
  with_law(system_->law, [&](auto law) {
    for (std::size_t k = 0; k < contact_.size(); ++k) {
      Contact& c = contact_[k];
      c.slips = c.confirmed = {};
      if (!(bound_[k] > 0.0)) {
        bound_[k] = 0.0;
        drop_tangents(k);
        continue;
      }
      if (c.tangent[0] == TangentState::none) begin_tangents<decltype(law)>(k, u, gate);
      follow_bound<decltype(law)>(k, u);
    }
  });
}

bool ActiveSet::move_solved(std::span<const double> u, double gate) {
  const double bounds = held() ? bound_lag() : 0.0;
  const double centres = proximal_lag();
  if (!(std::max(bounds, centres) > gate)) return false;
  if (held() && kCentreAccuracy * centres <= bound_accuracy_ * bounds) move_held_bounds(u, gate);
  for (std::size_t k = 0; k < contact_.size(); ++k) recentre(k);
  return true;
}

void ActiveSet::fix_bounds() {
  bounds_ = Bounds::fixed;
  std::fill(bound_.begin(), bound_.end(), 0.0);
}

void ActiveSet::move_fixed_bounds(double relaxation, std::span<const double> u) {
  with_law(system_->law, [&](auto law) {
    for (std::size_t k = 0; k < contact_.size(); ++k) {
      Contact& c = contact_[k];
      const double wanted = mu(k) * std::max(0.0, lambda[3 * k] + known[3 * k]);
      bound_[k] = relaxation >= 1.0 ? wanted : bound_[k] + relaxation * (wanted - bound_[k]);
      c.slips = c.confirmed = {};
      if (!(bound_[k] > 0.0)) {
        drop_tangents(k);
        continue;
      }
      if (c.tangent[0] == TangentState::none) guess_tangents<decltype(law)>(k, bound_[k], known, u);
      follow_bound<decltype(law)>(k, u);
    }
  });
}

}  // namespace signorini
