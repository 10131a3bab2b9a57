// StatePrediction::coupled.
#include "solvers/active_set/active_set_parts.h"

namespace signorini {

namespace {

/// StatePrediction::coupled: sweeps over the contacts in an evaluation at most, and the correction, relative to the
/// gate, that ends them.
constexpr int kPredictionSweeps = 20;
constexpr double kPredictionAccuracy = 0.1;
/// A predicted impulse this close to its bound slides.
constexpr double kOnBound = 1.0 - 1e-9;

}  // namespace

/// r' from the present impulses; those of rows that are no unknowns stay.
void ActiveSet::predict(std::span<const double> u, double gate, TaskArena* arena) {
  for (std::size_t i = 0; i < predicted_.size(); ++i) predicted_[i] = lambda[i] + known[i];
  sweep_.without_own(u, predicted_, q_);
  ContactSweep::Rule rule;
  rule.enough = kPredictionAccuracy * gate;
  rule.limit = kPredictionSweeps;
  rule.repetitions = 2;
  if (unknowns_ == Unknowns::normals) rule.moves = ContactSweep::Moves::normals;
  if (unknowns_ == Unknowns::tangents) rule.moves = ContactSweep::Moves::tangents;
  if (bounds_ != Bounds::following) rule.bounds = bound_;
  contact_sweeps_ += sweep_.run(1.0, q_, rule, predicted_, arena).sweeps;
}

template <class Law>
std::array<ActiveSet::Change, 3> ActiveSet::ask_predicted(std::size_t k, double gate) const {
  std::array<Change, 3> asked{};
  const Contact& c = contact_[k];
  if (!(inverse_mass_[k][0] > 0.0)) return asked;
  const auto moves = [&](std::size_t row) { return predicted_[row] - lambda[row] - known[row]; };
  const bool pressed = predicted_[3 * k] > 0.0;
  if (unknowns_ != Unknowns::tangents && pressed != c.on &&
      inverse_mass_[k][0] * std::abs(moves(3 * k)) > gate)
    asked[0] = pressed ? Change::on : Change::off;
  const bool friction =
      bounds_ == Bounds::following ? c.on && asked[0] == Change::none && mu(k) > 0.0 : bound_[k] > 0.0;
  if (!friction || unknowns_ == Unknowns::normals) return asked;
  for (int part = 0; part < Law::kParts; ++part) {
    PartVector<Law> moved;
    for (Eigen::Index j = 0; j < Law::kPartSize; ++j) moved[j] = moves(row_of<Law>(k, part) + j);
    if (!(inverse_mass_of<Law>(inverse_mass_[k], part) * moved.norm() > gate)) continue;
    const double size = part_at<Law>(std::span<const double>(predicted_), k, part).norm();
    const bool slides = size >= kOnBound * predicted_bound(k);
    const bool slid = c.tangent[part] == TangentState::sliding;
    if (!slides && !slid) continue;
    asked[1 + part] = !slides ? Change::stick : slid ? Change::follow : Change::slide;
  }
  return asked;
}

template std::array<ActiveSet::Change, 3> ActiveSet::ask_predicted<FrictionCone>(std::size_t, double) const;
template std::array<ActiveSet::Change, 3> ActiveSet::ask_predicted<FrictionPyramid>(std::size_t,
                                                                                    double) const;

template <class Law>
void ActiveSet::apply_predicted(std::size_t k, const std::array<Change, 3>& changes,
                                std::span<const double> u) {
  Contact& c = contact_[k];
  if (changes[0] == Change::off) switch_off(k);
  if (changes[0] == Change::on) {
    c.on = true;
    active[3 * k] = 1.0;
    forget_normals(c, predicted_[3 * k]);
    if (bounds_ == Bounds::following && mu(k) > 0.0)
      guess_tangents<Law>(k, predicted_bound(k), predicted_, {});
  }
  bool moved = false;
  for (int part = 0; part < Law::kParts; ++part) {
    const Change change = changes[1 + part];
    if (change == Change::none) continue;
    moved = true;
    const Part<Law> present = part_of<Law>(k, part, u);
    if (change == Change::stick) {
      stick(present);
      continue;
    }
    const PartVector<Law> impulse = part_at<Law>(std::span<const double>(predicted_), k, part);
    const double size = impulse.norm();
    const PartVector<Law> direction =
        size > 0.0 ? unit<Law>(-impulse, size) : PartVector<Law>(present.direction());
    slide_along<Law>(k, part, direction, predicted_bound(k), present.s.norm());
  }
  changes_ += (changes[0] != Change::none ? 1 : 0) + (moved ? 1 : 0);
}

template void ActiveSet::apply_predicted<FrictionCone>(std::size_t, const std::array<Change, 3>&,
                                                       std::span<const double>);
template void ActiveSet::apply_predicted<FrictionPyramid>(std::size_t, const std::array<Change, 3>&,
                                                          std::span<const double>);

/// λ becomes what was predicted: ρ_v then holds H (r' − r), whose velocities Full gives back in its first step.
void ActiveSet::adopt_predicted() {
  for (std::size_t i = 0; i < lambda.size(); ++i) {
    if (active[i] > 0.0) lambda[i] = predicted_[i];
  }
  for (std::size_t k = 0; regularised_ && k < contact_.size(); ++k) recentre(k);
}

}  // namespace signorini
