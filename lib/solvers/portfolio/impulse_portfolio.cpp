#include "solvers/portfolio/impulse_portfolio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "linalg/factor_count.h"
#include "solvers/accelerated/nncg.h"

namespace signorini {

namespace {

// Costs, in operations of a sweep: found by measurement, docs/notes/auto.md.
constexpr double kBlock = 18.0, kContact = 60.0;  ///< of a sweep
constexpr double kAndersonContact = 110.0;        ///< of the rest of an iteration of Anderson's method
constexpr double kStepBlock = 2300.0,
                 kStepContact = 5600.0;  ///< of a Newton step beside its factor's operations
constexpr double kSparseOperation = 3.0, kDenseOperation = 0.5;  ///< one of a sparse and of a dense factor
constexpr double kAnalysis = 2000.0;  ///< twice the count of its operations, per block of W

// Sweeps before the first decision, and between later ones.
constexpr int kFirstLeg = 20, kShortLeg = 10, kLongLeg = 200;
// With so few contacts Anderson's method is tried sooner: its window spans much of what they can do.
constexpr Index kFew = 30;
// Of the accelerators: sweeps left from which both are tried; how much faster the other must have been.
constexpr double kWorthComparing = 100.0, kWorthComparingFew = 25.0, kFaster = 1.5;
constexpr double kTurn = 2.0;  ///< times the other's cost that one may cost before the other has a turn
// Of subdomains: contacts, and what sweeps have cost, in sweeps, from which they are solved; the part of that cost which they get;
// iterations before their rate is judged again; those inside of a subdomain, and what one outside costs with these, in sweeps.
constexpr Index kContactsOfSubdomains = 150;
constexpr double kSweptBefore = 150.0, kShareOfSubdomains = 0.8;
constexpr int kSubdomainLeg = 15, kLeastSubdomainLeg = 3, kInnerIterations = 10;
constexpr double kSubdomainSweeps = 7.0;
constexpr SubdomainOptions kCut{100, 0, 0.1};
constexpr int kWindow = 5;
constexpr double kSteps =
    10.0;  ///< that a trial is expected to take, where a guess of their cost is too high …
constexpr double kCountedSteps = 16.0;  ///< … and where it is counted
constexpr double kShareOfSweeps = 0.8;  ///< of a trial's cost, spent on sweeps before the next trial
constexpr double kLeastOfSweeps = 0.2;  ///< the same, before a rate is trusted
constexpr double kGrowth = 1.5;         ///< of the cost of a trial after one that failed

// Trials.
constexpr double kRegularisation = 0.01, kShift = 0.1;
constexpr int kMostSteps = 60, kPatience = 12;           ///< of full steps, the first trial
constexpr int kMostLaterSteps = 30, kLaterPatience = 8;  ///< from iterates of sweeps
constexpr double kShareOfFirst = 0.5;                    ///< of what trials have to cost
constexpr double kProximalSteps = 40.0;
constexpr double kGain = 2.0, kLargeGain = 20.0;

}  // namespace

void ImpulsePortfolio::prepare(const ContactProblem& problem) {
  const bool small = problem.contacts() <= NewtonSystem::kSmall;
  if (small || !takes_body_rows(problem, SweepMatrix::automatic)) return DelassusSolver::prepare(problem);
  prepare_bodies(problem);
}

void ImpulsePortfolio::prepare_bodies(const ContactProblem& problem) {
  set_body_sweeps(problem, options_.common.law, TangentChoice::automatic, SweepOrder::automatic);
  problem_ = &problem;
  blocks_ = delassus_blocks_at_most(problem);
  prepare_sweeps();
}

void ImpulsePortfolio::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_sweeps(std::move(problem), std::move(mu), law, TangentChoice::automatic, SweepOrder::automatic);
  problem_ = nullptr;
  blocks_ = data_.W.blocks();
  prepare_sweeps();
}

void ImpulsePortfolio::change_free_velocity(std::span<const double> q) {
  SweepingSolver::change_free_velocity(q);
  newton_ready_ = false;
  subdomains_.reset();
}

void ImpulsePortfolio::prepare_sweeps() {
  anderson_ready_ = false;
  subdomains_.reset();
  sweeps_.prepare(data_, plan_);
  formed_ = {};
  newton_ready_ = false;
  const double read = data_.bodies ? 2.0 * data_.bodies->J.blocks() : data_.W.blocks();
  sweep_cost_ = kBlock * read + kContact * static_cast<double>(data_.contacts());
}

void ImpulsePortfolio::prepare_newton() {
  if (problem_ != nullptr) {
    ReducedProblem reduced = in_order(assemble_reduced(*problem_, arena_), plan_, arena_);
    formed_ = make_gauss_seidel_data(std::move(reduced.W), std::move(reduced.q), data_.mu, data_.law,
                                     TangentChoice::automatic);
    blocks_ = formed_.W.blocks();
  }
  system_.prepare(problem_ != nullptr ? formed_ : data_);
  newton_.prepare(system_);
  proximal_.prepare(system_);
  for (std::vector<double>* v : {&swept_, &best_r_, &x_}) v->assign(u_.size(), 0.0);
  newton_ready_ = true;
}

Iteration ImpulsePortfolio::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  stop_ = &stop;
  target_ = stop.judging() ? stop.tolerance() : stop.asked();
  newton_begun_ = proximal_begun_ = resume_ = left_to_others_ = false;
  trials_ = steps_so_far_ = 0;
  slice_ = swept_cost_ = counted_factor_ = 0.0;
  phase_ = 0;
  method_ = Method::sweeps;
  rates_.fill(-1.0);
  spent_.fill(0.0);
  subdomains_cost_ = 0.0;
  Iteration first;
  first.error = measure(r, 0.0);
  best_error_ = first.error;
  start_leg(Legs::gradients, first.error / stop.scale());
  length_ = data_.contacts() <= kFew ? kShortLeg : kFirstLeg;
  return first;
}

Iteration ImpulsePortfolio::sweep(std::span<double> r) {
  phase_ = 0;
  if (resume_) std::copy(swept_.begin(), swept_.end(), r.begin());
  resume_ = false;
  --length_;
  if (legs_ == Legs::subdomains) return solve_subdomains(r);
  const bool anderson = legs_ == Legs::anderson;
  const SweepStep step = anderson ? anderson_.step(r, arena_) : sweeps_.step(r, arena_);
  if (!anderson) counters_.restarts = sweeps_.restarts();
  const double cost = cost_of_iteration(legs_);
  swept_cost_ += cost;
  spent_[index_of(legs_)] += cost;
  record().add(step.correction / stop_->scale());
  return swept(step.correction);
}

/// One iteration of `schwarz`, whose error is measured.
Iteration ImpulsePortfolio::solve_subdomains(std::span<double> r) {
  subdomains_->aim(subdomains_error_);
  subdomains_->step(r, arena_);
  const SchwarzSweep& sweep = subdomains_->sweep();
  counters_.contact_sweeps += sweep.inner_iterations();
  products_ += std::llround(sweep.products());
  subdomains_cost_ = kBlock * blocks_ * (sweep.products() + 1.0) +
                     kContact * static_cast<double>(data_.contacts()) * sweep.inner_iterations();
  swept_cost_ += subdomains_cost_;
  spent_[index_of(Legs::subdomains)] += subdomains_cost_;
  Iteration iteration;
  iteration.error = subdomains_error_ = measure(r, 0.0);
  record().add(iteration.error / stop_->scale());
  return iteration;
}

void ImpulsePortfolio::prepare_anderson() {
  if (anderson_ready_) return;
  anderson_.prepare(data_, plan_, kWindow);
  for (std::vector<double>& left : left_at_) left.assign(u_.size(), 0.0);
  anderson_ready_ = true;
}

void ImpulsePortfolio::prepare_subdomains() {
  if (subdomains_) return;
  subdomains_ = std::make_unique<SchwarzSteps>();
  subdomains_->prepare(data_, kCut, Nncg(NncgOptions{options_.common}), SchwarzOuter::nncg);
}

/// From the impulses at hand, whose error is `error`, unit-free.
void ImpulsePortfolio::start_leg(Legs legs, double error) {
  legs_ = legs;
  record().begin(error);
  switch (legs) {
    case Legs::gradients:
      return sweeps_.start();
    case Legs::anderson:
      return anderson_.start();
    case Legs::subdomains:
      break;
  }
  StopRule inner;
  inner.max_iterations = kInnerIterations;
  subdomains_->start(inner, 1.0, stop_->scale());
  subdomains_error_ = error * stop_->scale();
}

double ImpulsePortfolio::spent() const { return std::accumulate(spent_.begin(), spent_.end(), 0.0); }

/// Anderson's method once in a solve; subdomains where they have cost little beside the sweeps, and these have more left.
bool ImpulsePortfolio::is_due(Legs legs) const {
  const bool tried = rates_[index_of(Legs::anderson)] >= 0.0;
  if (legs == Legs::anderson)
    return !tried && sweeps_left() > (data_.contacts() <= kFew ? kWorthComparingFew : kWorthComparing);
  if (!tried || legs_ == Legs::subdomains || data_.bodies || data_.contacts() < kContactsOfSubdomains)
    return false;
  const double own = spent_[index_of(Legs::subdomains)], swept = spent() - own;
  return swept >= kSweptBefore * sweep_cost_ && own < 0.5 * kShareOfSubdomains * swept &&
         sweeps_left() * sweep_cost_ > swept;
}

/// Iterations of the leg that begins now.
int ImpulsePortfolio::length_of(const Change& change) const {
  const std::size_t then = index_of(change.legs);
  const double rest = spent() - spent_[then];
  const bool subdomains = change.legs == Legs::subdomains;
  if (subdomains && change.why == Change::Why::due) {
    const double iteration = subdomains_cost_ > 0.0 ? subdomains_cost_ : kSubdomainSweeps * sweep_cost_;
    return std::max(kLeastSubdomainLeg,
                    static_cast<int>((kShareOfSubdomains * rest - spent_[then]) / iteration));
  }
  if (subdomains) return kSubdomainLeg;
  if (change.why != Change::Why::turn) return kFirstLeg;
  return std::max(kFirstLeg, static_cast<int>((spent_[index_of(legs_)] - spent_[then]) / sweep_cost_));
}

/// What is due, else the faster one, or where more is left than all have cost, sweeps that have cost little.
ImpulsePortfolio::Change ImpulsePortfolio::next_legs() const {
  using enum Change::Why;
  for (const Legs legs : {Legs::anderson, Legs::subdomains})
    if (is_due(legs)) return {legs, due};
  const std::size_t now = index_of(legs_);
  const bool turns =
      legs_ != Legs::subdomains && record().left(target_ / stop_->scale()) * sweep_cost_ > spent();
  Change next{legs_, none};
  double rate = kFaster * rates_[now];
  for (const Legs legs : {Legs::gradients, Legs::anderson, Legs::subdomains}) {
    const std::size_t then = index_of(legs);
    if (then == now || rates_[then] < 0.0) continue;  // not tried
    if (turns && legs != Legs::subdomains && spent_[now] > kTurn * spent_[then]) return {legs, turn};
    if (!(rates_[then] > rate)) continue;
    next = {legs, faster};
    rate = rates_[then];
  }
  return next;
}

/// After a leg. A turn brings the cost of its legs up to that of the others. In a turn, and where their error is the smaller one,
/// they go on where they left, as if nothing had happened in between; otherwise they start from here.
bool ImpulsePortfolio::changes_legs(std::span<double> r) {
  const Change next = next_legs();
  using enum Change::Why;
  if (next.why == none) return false;
  const std::size_t then = index_of(next.legs);
  const double error = record().best();
  const bool resumes = next.why == turn || (next.why == faster && records_[then].best() < error);
  if (next.why == due) next.legs == Legs::anderson ? prepare_anderson() : prepare_subdomains();
  length_ = length_of(next);
  std::copy(r.begin(), r.end(), left_at_[index_of(legs_)].begin());
  if (resumes) {
    std::copy(left_at_[then].begin(), left_at_[then].end(), r.begin());
    legs_ = next.legs;
  } else {
    // the errors of subdomains are measured, those of sweeps estimated
    start_leg(next.legs, next.legs == Legs::subdomains ? measure(r, 0.0) / stop_->scale() : error);
  }
  return true;
}

/// Of one Newton step here: counted, or before the first a guess from the contacts that push.
double ImpulsePortfolio::cost_of_steps(std::span<const double> r) const {
  const double m = static_cast<double>(data_.contacts()), blocks = blocks_;
  Index pushing = 0;
  for (std::size_t k = 0; k < r.size(); k += 3) pushing += r[k] > 0.0 ? 1 : 0;
  const double share = static_cast<double>(pushing) / std::max(1.0, m);
  const double rest = kStepBlock * blocks * share * share + kStepContact * pushing + 3.0 * sweep_cost_;
  const double n = 3.0 * pushing;
  const double dense = kDenseOperation * 2.0 / 3.0 * n * n * n;
  if (steps_so_far_ > 0) return std::min(dense, kSparseOperation * system_.flops() / steps_so_far_) + rest;
  // a factor that holds four times the entries of the matrix
  const double entries = 4.0 * 9.0 * blocks * share * share;
  const double sparse = n > 0.0 ? kSparseOperation * entries * entries / n : 0.0;
  const double factor = counted_factor_ > 0.0 ? kSparseOperation * counted_factor_ : sparse;
  return std::min(dense, factor) + rest;
}

/// Where the guess of a factor weighs most, its operations are counted from the pattern of the contacts that push.
void ImpulsePortfolio::count_factor(std::span<const double> r) {
  if (counted_factor_ > 0.0 || steps_so_far_ > 0 || (problem_ != nullptr && step_of_others_ > 0.0)) return;
  if (swept_cost_ < kAnalysis * blocks_ || cost_of_steps(r) < 4.0 * kStepBlock * blocks_) return;
  if (problem_ != nullptr && !newton_ready_) prepare_newton();
  std::vector<Index> pushing;
  for (Index k = 0; k < data_.contacts(); ++k)
    if (r[3 * static_cast<std::size_t>(k)] > 0.0) pushing.push_back(k);
  // a block of L costs a multiplication of 3×3 blocks with every block below it; L and U
  counted_factor_ =
      std::max(1.0, 2.0 * 27.0 * factor_products(problem_ != nullptr ? formed_.W : data_.W, pushing));
}

bool ImpulsePortfolio::others_are_cheaper(std::span<const double> r) const {
  return step_of_others_ > 0.0 && step_of_others_ <= cost_of_steps(r);
}

/// Of the next trial, here or by others.
double ImpulsePortfolio::cost_of_trial(std::span<const double> r) const {
  if (others_are_cheaper(r)) return std::max(steps_of_others_ * step_of_others_, slice_);
  return std::max((counted_factor_ > 0.0 ? kCountedSteps : kSteps) * cost_of_steps(r), slice_);
}

bool ImpulsePortfolio::trial_is_due(std::span<const double> r) const {
  const double need = cost_of_trial(r);
  if (swept_cost_ > kShareOfSweeps * need) return true;
  return swept_cost_ > kLeastOfSweeps * need && sweeps_left() * sweep_cost_ > need;
}

double ImpulsePortfolio::operations_left() const { return sweeps_left() * sweep_cost_; }

/// The best error of a leg, unit-free. Sweeps estimate theirs: where the estimate meets the tolerance and no measured error
/// has, these count.
double ImpulsePortfolio::best_of(const SweepRecord& record) const {
  const double estimated = record.best(), scale = stop_->scale();
  return estimated * scale <= target_ && best().has() ? std::max(estimated, best().error() / scale)
                                                      : estimated;
}

/// At the rate of the better accelerator, in sweeps of conjugate gradients.
double ImpulsePortfolio::sweeps_left() const {
  const double target = target_ / stop_->scale();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kLegs; ++i) {
    if (rates_[i] < 0.0) continue;  // not tried
    if (best_of(records_[i]) <= target) return 0.0;
    if (rates_[i] > 0.0) least = std::min(least, std::log(best_of(records_[i]) / target) / rates_[i]);
  }
  return least;
}

/// Operations of one iteration; of subdomains that of the last.
double ImpulsePortfolio::cost_of_iteration(Legs legs) const {
  if (legs == Legs::subdomains) return subdomains_cost_;
  const double rest = kAndersonContact * static_cast<double>(data_.contacts());
  return sweep_cost_ + (legs == Legs::anderson ? rest : 0.0);
}

int ImpulsePortfolio::iterations_worth(Legs legs, double sweeps) const {
  if (legs != Legs::subdomains) return static_cast<int>(sweeps);
  return std::max(kSubdomainLeg, static_cast<int>(sweeps * sweep_cost_ / subdomains_cost_));
}

/// Of the leg that ends. Subdomains that stand still do so for good.
void ImpulsePortfolio::note_rate() {
  const double rate = legs_ == Legs::subdomains ? record().rate() : record().best_rate();
  rates_[index_of(legs_)] = rate * sweep_cost_ / cost_of_iteration(legs_);
}

bool ImpulsePortfolio::trials_are_over(std::span<const double> r) const {
  if (most_trials_ == 0 || trials_ < most_trials_) return false;
  return steps_so_far_ * cost_of_steps(r) >= least_of_trials_;
}

void ImpulsePortfolio::begin_trial(std::span<const double> r) {
  if (!newton_ready_) prepare_newton();
  if (!newton_begun_) system_.begin(stop_->scale());
  std::copy(r.begin(), r.end(), swept_.begin());
  const double swept = best_of(record()) * stop_->scale();
  if (!newton_begun_ || swept < best_error_) {
    best_error_ = swept;
    std::copy(r.begin(), r.end(), best_r_.begin());
  }
  method_ = trials_ % 3 == 1 || trials_ == 0 ? Method::full : Method::proximal;
  trial_begin_ = system_.flops();
  trial_error_ = best_error_;
  steps_ = idle_ = 0;
  if (method_ == Method::full) {
    system_.to_unit_free(best_r_, x_);
    if (!newton_begun_) std::fill(x_.begin(), x_.end(), 0.0);
    newton_.start(x_, kRegularisation);
    gained_error_ = newton_.error();
    ++products_;
  } else if (!proximal_begun_) {
    std::fill(x_.begin(), x_.end(), 0.0);
    proximal_.start(x_, kShift);
    proximal_begun_ = true;
    ++products_;
  }
  newton_begun_ = true;
}

Iteration ImpulsePortfolio::step(std::span<double> r) {
  phase_ = 1;
  ++steps_;
  ++steps_so_far_;
  double error = 0.0;  // of the contacts that something moves, m/s
  if (method_ == Method::full) {
    if (!newton_.step()) steps_ = kMostSteps;
    error = newton_.error();
    system_.to_impulses(newton_.iterate(), r);
    ++products_;
  } else {
    proximal_.step();
    error = proximal_.error();
    system_.to_impulses(proximal_.iterate(), r);
    products_ += 2;
  }
  ++counters_.evaluations;
  counters_.state_changes += system_.state_changes();
  counters_.factorisations = system_.factorisations();
  if (!std::isfinite(error)) {  // full steps ran away: the trial ends
    steps_ = kMostSteps;
    std::copy(best_r_.begin(), best_r_.end(), r.begin());
    error = best_error_;
  } else if (error < best_error_) {
    best_error_ = error;
    std::copy(r.begin(), r.end(), best_r_.begin());
  }
  Iteration iteration;
  iteration.error = std::max(error, system_.immovable());
  return iteration;
}

bool ImpulsePortfolio::trial_is_over() {
  if (best_error_ <= target_) return false;  // nothing is left but rounding
  if (method_ == Method::proximal) {
    const double spent = system_.flops() - trial_begin_;
    return spent * kSparseOperation > std::max(kProximalSteps * cost_of_steps(best_r_), 2.0 * slice_) ||
           steps_ >= 3 * kProximalSteps;
  }
  ++idle_;
  if (newton_.error() < 0.9 * gained_error_) {
    gained_error_ = newton_.error();
    idle_ = 0;
  }
  const bool first = !proximal_begun_ && trials_ == 0;
  // where what comes instead is dear, steps from zero may wander
  if (first && steps_ < kMostSteps && steps_ * cost_of_steps(best_r_) < kShareOfFirst * least_of_trials_)
    return false;
  return steps_ >= (first ? kMostSteps : kMostLaterSteps) || idle_ >= (first ? kPatience : kLaterPatience);
}

void ImpulsePortfolio::end_trial() {
  ++trials_;
  slice_ = kGrowth * std::max(slice_, steps_ * cost_of_steps(best_r_));
  swept_cost_ = 0.0;
  method_ = Method::sweeps;
  resume_ = true;
  length_ = legs_ == Legs::subdomains ? kSubdomainLeg : kFirstLeg;
  if (trial_error_ > kGain * best_error_) {
    if (trial_error_ > kLargeGain * best_error_) trials_ = 0;
    swept_ = best_r_;
    start_leg(legs_, best_error_ / stop_->scale());
  } else {
    record().begin(record().best());
  }
  restart_schedule();
}

Iteration ImpulsePortfolio::iterate(std::span<double> r) {
  return method_ == Method::sweeps ? sweep(r) : step(r);
}

LoopEnd ImpulsePortfolio::settle(std::span<double> r) {
  if (method_ != Method::sweeps) {
    if (trial_is_over()) end_trial();
    return LoopEnd::none;
  }
  if (length_ > 0) return LoopEnd::none;
  note_rate();
  count_factor(r);
  if (best_of(record()) * stop_->scale() > target_ && trial_is_due(r)) {
    left_to_others_ = others_are_cheaper(r);
    if (left_to_others_ || trials_are_over(r)) return LoopEnd::stuck;
    begin_trial(r);
  } else if (!changes_legs(r)) {
    const double so_far = (spent_[0] + spent_[1] + spent_[2]) / sweep_cost_;
    const double sweeps =
        std::clamp(sweeps_left() / 3.0, double{kShortLeg}, std::min(so_far, double{kLongLeg}));
    length_ = iterations_worth(legs_, sweeps);
  }
  return LoopEnd::none;
}

}  // namespace signorini
