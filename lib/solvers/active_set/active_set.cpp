#include "solvers/active_set/active_set_parts.h"

namespace signorini {

namespace {

/// Evaluations of a solved system that may fail to lower the number of changes before rows change singly.
constexpr int kBlockPatience = 5;

}  // namespace

void ActiveSet::prepare(const PrimalSystem& system, const StateRules& rules) {
  system_ = &system;
  rules_ = rules;
  const std::size_t m = system.contacts();
  contact_.assign(m, Contact{});
  asked_.assign(m, {});
  inverse_mass_.resize(m);
  for (std::size_t k = 0; k < m; ++k) inverse_mass_[k] = system.W_D_diagonal[k].diagonal();
  for (auto* x : {&lambda, &known, &active, &proximal, &centre}) x->assign(3 * m, 0.0);
  across.assign(m, Vector2::Zero());
  compliance.assign(m, 0.0);
  for (auto* x : {&bound_, &error_, &scale_}) x->assign(m, 0.0);
  history_.resize(m);
  for (auto* x : {&predicted_, &q_}) x->assign(3 * m, 0.0);
  if (rules.prediction == StatePrediction::coupled) sweep_.prepare(system);
}

void ActiveSet::restrict_to_active(std::span<const double> x, std::span<double> out) const {
  for (std::size_t k = 0; k < across.size(); ++k) {
    const std::size_t i = 3 * k;
    const double along = across[k][0] * x[i + 1] + across[k][1] * x[i + 2];
    out[i] = active[i] * x[i];
    const double a = active[i + 1] * x[i + 1] + along * across[k][0];
    out[i + 2] = active[i + 2] * x[i + 2] + along * across[k][1];
    out[i + 1] = a;
  }
}

// ---------------------------------------------------------------------------------------------- normal impulses

void ActiveSet::forget_normals(Contact& contact, double normal) const {
  contact.normals.fill(std::max(0.0, normal));
  contact.count = 1;
}

void ActiveSet::push_normal(Contact& contact, double normal) const {
  for (std::size_t i = contact.normals.size(); i-- > 1;) contact.normals[i] = contact.normals[i - 1];
  contact.normals[0] = std::max(0.0, normal);
  contact.count = std::min(contact.count + 1, rules_.average);
}

double ActiveSet::average(const Contact& contact) const {
  double sum = 0.0;
  for (int i = 0; i < contact.count; ++i) sum += contact.normals[i];
  return contact.count > 0 ? sum / contact.count : 0.0;
}

ActiveSet::Bound ActiveSet::bound_of(std::size_t k) const {
  if (bounds_ != Bounds::following) return {bound_[k], bound_[k]};
  return {mu(k) * std::max(0.0, lambda[3 * k]), mu(k) * average(contact_[k])};
}

// ------------------------------------------------------------------------------------------------------ tangents

void ActiveSet::drop_tangents(std::size_t k) {
  contact_[k].direction.setZero();
  contact_[k].tangent.fill(TangentState::none);
  across[k].setZero();
  compliance[k] = 0.0;
  for (std::size_t i = 3 * k + 1; i < 3 * k + 3; ++i) lambda[i] = known[i] = active[i] = 0.0;
}

void ActiveSet::switch_off(std::size_t k) {
  contact_[k].on = false;
  lambda[3 * k] = active[3 * k] = 0.0;
  if (bounds_ == Bounds::following) drop_tangents(k);
}

void ActiveSet::start(std::span<const double> r, std::span<const double> u) {
  /// Without velocities, normal impulses this small, relative to the largest, are none.
  constexpr double kNoImpulse = 1e-6;
  changes_ = bound_moves_ = contact_sweeps_ = 0;
  bounds_ = Bounds::following;
  unknowns_ = Unknowns::all;
  regularised_ = false;
  for (auto* x : {&proximal, &centre, &known}) std::fill(x->begin(), x->end(), 0.0);
  double least = 0.0;
  for (std::size_t k = 0; u.empty() && k < contact_.size(); ++k)
    least = std::max(least, kNoImpulse * r[3 * k]);
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    Contact& c = contact_[k] = Contact{};
    switch_off(k);
    const double S = inverse_mass_[k][0];
    if (!(r[3 * k] > least) || !(S > 0.0)) continue;
    if (!u.empty() && !(S * r[3 * k] > u[3 * k])) continue;
    c.on = true;
    forget_normals(c, r[3 * k]);
    lambda[3 * k] = r[3 * k];
    active[3 * k] = 1.0;
    const double bound = mu(k) * r[3 * k];
    if (bound > 0.0) with_law(system_->law, [&](auto law) { guess_tangents<decltype(law)>(k, bound, r, u); });
  }
}

void ActiveSet::set_unknowns(Unknowns unknowns) {
  unknowns_ = unknowns;
  fewest_ = 3 * contact_.size() + 1;
  block_patience_ = kBlockPatience;
  const auto make = [&](std::size_t row, bool unknown) {
    const double total = lambda[row] + known[row];
    active[row] = unknown ? 1.0 : 0.0;
    lambda[row] = unknown ? total : 0.0;
    known[row] = unknown ? 0.0 : total;
  };
  with_law(system_->law, [&](auto law) {
    using Law = decltype(law);
    for (std::size_t k = 0; k < contact_.size(); ++k) {
      make(3 * k, unknowns != Unknowns::tangents && contact_[k].on);
      for (int part = 0; part < Law::kParts; ++part) {
        const bool sticks = contact_[k].tangent[part] == TangentState::sticking;
        for (std::size_t j = 0; j < Law::kPartSize; ++j)
          make(row_of<Law>(k, part) + j, unknowns != Unknowns::normals && sticks);
      }
      if (regularised_) recentre(k);
      if (unknowns != Unknowns::normals) continue;
      across[k].setZero();
      compliance[k] = 0.0;
    }
  });
}

void ActiveSet::impulses(std::span<double> r) const {
  with_law(system_->law, [&](auto law) {
    for (std::size_t k = 0; k < contact_.size(); ++k) {
      const double pressed = lambda[3 * k] + known[3 * k];
      const double normal = std::max(0.0, pressed);
      const Vector2 tangent(lambda[3 * k + 1] + known[3 * k + 1], lambda[3 * k + 2] + known[3 * k + 2]);
      const Vector2 kept = decltype(law)::project_tangent(tangent, mu(k) * normal);
      r[3 * k] = std::isnan(pressed) ? pressed : normal;  // max and min lose a NaN
      r[3 * k + 1] = kept[0];
      r[3 * k + 2] = kept[1];
    }
  });
}

// ---------------------------------------------------------------------------------------------------- evaluation

bool ActiveSet::evaluate(std::span<const double> u, double gate, Moment moment, TaskArena* arena) {
  if (predicts()) predict(u, gate, arena);
  const bool changed =
      with_law(system_->law, [&](auto law) { return evaluate_by<decltype(law)>(u, gate, moment); });
  return changed || (regularised_ && moment == Moment::converged && move_solved(u, gate));
}

/// First what every row asks for, then the changes: all of them, or the last one alone.
template <class Law>
bool ActiveSet::evaluate_by(std::span<const double> u, double gate, Moment moment) {
  const bool predicted = predicts();
  std::size_t count = 0, last = 0;
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    auto& asked = asked_[k];
    asked = predicted ? ask_predicted<Law>(k, gate) : ask_single<Law>(k, u, gate, moment);
    for (const Change change : asked) count += change != Change::none ? 1 : 0;
    if (asked != std::array<Change, 3>{}) last = k;
  }
  if (count == 0) return false;
  for (std::size_t k = pivots(count, moment) ? 0 : last; k <= last; ++k) {
    if (asked_[k] == std::array<Change, 3>{}) continue;
    if (predicted) {
      apply_predicted<Law>(k, asked_[k], u);
    } else {
      apply<Law>(k, asked_[k], u, gate);
    }
  }
  if (predicted) adopt_predicted();
  return true;
}

template <class Law>
std::array<ActiveSet::Change, 3> ActiveSet::ask_single(std::size_t k, std::span<const double> u, double gate,
                                                       Moment moment) {
  std::array<Change, 3> asked{};
  if (!(inverse_mass_[k][0] > 0.0)) return asked;
  const bool was_on = contact_[k].on;
  if (unknowns_ != Unknowns::tangents) asked[0] = ask_normal(k, u.data() + 3 * k, gate, moment);
  const bool friction = bounds_ == Bounds::following ? mu(k) > 0.0 && was_on && asked[0] == Change::none
                                                     : mu(k) > 0.0 && bound_[k] > 0.0;
  if (!friction || unknowns_ == Unknowns::normals) return asked;
  push_normal(contact_[k], lambda[3 * k]);
  for (int part = 0; part < Law::kParts; ++part)
    asked[1 + part] = ask_tangent<Law>(part_of<Law>(k, part, u), gate, moment);
  return asked;
}

// ------------------------------------------------------------------------------------------- each by itself

/// Whether all changes are made together.
bool ActiveSet::pivots(std::size_t count, Moment moment) {
  if (!rules_.block_pivoting || moment == Moment::running) return true;
  if (count < fewest_) {
    fewest_ = count;
    block_patience_ = kBlockPatience;
    return true;
  }
  return block_patience_ > 0 && block_patience_-- > 0;
}

ActiveSet::Change ActiveSet::ask_normal(std::size_t k, const double* u, double gate, Moment moment) const {
  if (contact_[k].on) {
    const bool opens = u[0] >= (moment == Moment::converged ? -gate : 0.0);
    const double pull = -lambda[3 * k];
    return opens && pull >= 0.0 && inverse_mass_[k][0] * pull > gate ? Change::off : Change::none;
  }
  return u[0] < -gate && rules_.gates == StateForm::corrected ? Change::on : Change::none;
}

template <class Law>
ActiveSet::Change ActiveSet::ask_tangent(const Part<Law>& part, double gate, Moment moment) {
  Contact& c = part.contact;
  if (part.state() == TangentState::sticking) {
    if (!(part.S * (part.stuck.norm() - part.bound.now) > gate)) return Change::none;
    const double product = part.s.dot(part.stuck);
    const bool slips = rules_.slip_test == StateForm::corrected ? product < 0.0 : product > 0.0;
    return moment == Moment::converged || slips ? Change::slide : Change::none;
  }
  int& confirmed = c.confirmed[part.part];
  if (part.s.dot(part.direction()) <= 0.0 && part.s.norm() > gate && rules_.gates == StateForm::corrected) {
    // Against cycles of a part with two directions only: sticking must be asked for more often the more often it
    // has slipped.
    const bool cycles = Law::kPartSize == 1 && !(rules_.block_pivoting && moment == Moment::converged);
    if (cycles && ++confirmed < 1 + c.slips[part.part]) return Change::none;
    return Change::stick;
  }
  confirmed = 0;
  // Else a restart for every turn, and nearly coincident contacts never settle.
  if (Law::kPartSize > 1 && bounds_ != Bounds::following && newton() && moment == Moment::running)
    return Change::none;
  const double violation = rules_.gates == StateForm::corrected
                               ? part.S * (part.bound.now * part.turned(*this, gate) + part.present).norm()
                               : part.S * std::abs(part.bound.wanted - c.last_average);
  return violation > gate ? Change::follow : Change::none;
}

template <class Law>
void ActiveSet::apply(std::size_t k, const std::array<Change, 3>& changes, std::span<const double> u,
                      double gate) {
  Contact& c = contact_[k];
  if (changes[0] == Change::off) switch_off(k);
  if (changes[0] == Change::on) {
    c.on = true;
    active[3 * k] = 1.0;
    forget_normals(c, 0.0);
    if (bounds_ == Bounds::following && mu(k) > 0.0) begin_tangents<Law>(k, u, gate);
  }
  bool moved = false;
  for (int part = 0; part < Law::kParts; ++part) {
    const Change change = changes[1 + part];
    if (change == Change::none) continue;
    moved = true;
    apply_tangent<Law>(part_of<Law>(k, part, u), change, gate);
  }
  changes_ += (changes[0] != Change::none ? 1 : 0) + (moved ? 1 : 0);
  if (regularised_) recentre(k);
}

template <class Law>
void ActiveSet::apply_tangent(const Part<Law>& part, Change change, double gate) {
  Contact& c = part.contact;
  const std::size_t which = part.part;
  if (change == Change::slide) {
    const PartVector<Law> direction = -part.stuck / part.stuck.norm();
    if constexpr (Law::kPartSize > 1) forget_normals(c, lambda[3 * part.k]);
    ++c.slips[which];
    c.confirmed[which] = 0;
    slide_along<Law>(part.k, part.part, direction, part.bound.now, part.s.norm());
  } else if (change == Change::stick) {
    stick(part);
  } else {
    const PartVector<Law> direction = part.turned(*this, gate);
    c.last_average = part.bound.wanted;
    slide_along<Law>(part.k, part.part, direction, part.bound.wanted, part.s.norm());
  }
}

}  // namespace signorini
