#include "solvers/active_set/active_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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
/// StatePrediction::coupled: sweeps over the contacts in an evaluation at most, and the correction, relative to the
/// gate, that ends them.
constexpr int kPredictionSweeps = 20;
constexpr double kPredictionAccuracy = 0.1;
/// A predicted impulse this close to its bound slides.
constexpr double kOnBound = 1.0 - 1e-9;
/// Evaluations of a solved system that may fail to lower the number of changes before rows change singly.
constexpr int kBlockPatience = 5;

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

}  // namespace

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

// ---------------------------------------------------------------------------------------------------- evaluation

bool ActiveSet::evaluate(std::span<const double> u, double gate, Moment moment, TaskArena* arena) {
  if (predicts()) predict(u, gate, arena);
  const bool changed =
      with_law(system_->law, [&](auto law) { return evaluate_by<decltype(law)>(u, gate, moment); });
  if (changed || !regularised_ || moment == Moment::running) return changed;
  const double bounds = held() ? bound_lag() : 0.0;
  if (!(std::max(bounds, proximal_lag()) > gate)) return false;
  if (held() && kCentreAccuracy * proximal_lag() <= bound_accuracy_ * bounds) move_held_bounds(u, gate);
  for (std::size_t k = 0; k < contact_.size(); ++k) recentre(k);
  return true;
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

// ------------------------------------------------------------------------------------------------- prediction

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

/// λ becomes what was predicted: ρ_v then holds H (r' − r), whose velocities Full gives back in its first step.
void ActiveSet::adopt_predicted() {
  for (std::size_t i = 0; i < lambda.size(); ++i) {
    if (active[i] > 0.0) lambda[i] = predicted_[i];
  }
  for (std::size_t k = 0; regularised_ && k < contact_.size(); ++k) recentre(k);
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

// --------------------------------------------------------------------------------------- held and fixed bounds

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

}  // namespace signorini
