// Legs of `ImpulsePortfolio`: sweeps with either accelerator, subdomains, and which goes on.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "solvers/accelerated/nncg.h"
#include "solvers/portfolio/impulse_portfolio.h"

namespace signorini {

namespace {

constexpr double kAndersonContact =
    110.0;  ///< operations of an iteration of Anderson's method beside its sweep
constexpr int kWindow = 5;
// Sweeps left from which both accelerators are tried, on few contacts and on more; how much faster the other must have been.
constexpr double kWorthComparingFew = 25.0, kWorthComparing = 100.0, kFaster = 1.5;
// Sweeps that Anderson's method waits for on many contacts: out of the cache its iterations cost more than is counted.
constexpr double kSweptOnMany = 300.0;
constexpr double kTurn = 2.0;  ///< times the other's cost that one may cost before the other has a turn
// Of subdomains: contacts, and what sweeps have cost, in sweeps, from which they are solved; the part of that cost which they get;
// iterations before their rate is judged again; those inside of a subdomain, and what one outside costs with these, in sweeps.
constexpr Index kContactsOfSubdomains = 150;
constexpr double kSweptBefore = 150.0, kShareOfSubdomains = 0.8;
constexpr int kLeastSubdomainLeg = 3, kInnerIterations = 10;
constexpr double kSubdomainSweeps = 7.0;
constexpr SubdomainOptions kCut{100, 0, 0.1};

}  // namespace

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

/// Operations of one iteration; of subdomains that of the last.
double ImpulsePortfolio::cost_of_iteration(Legs legs) const {
  if (legs == Legs::subdomains) return subdomains_cost_;
  const double rest = kAndersonContact * static_cast<double>(data_.contacts());
  return sweep_cost_ + (legs == Legs::anderson ? rest : 0.0);
}

/// Of the leg that ends. Subdomains that stand still do so for good.
void ImpulsePortfolio::note_rate() {
  const double rate = legs_ == Legs::subdomains ? record().rate() : record().best_rate();
  rates_[index_of(legs_)] = rate * sweep_cost_ / cost_of_iteration(legs_);
}

int ImpulsePortfolio::iterations_worth(Legs legs, double sweeps) const {
  if (legs != Legs::subdomains) return static_cast<int>(sweeps);
  return std::max(kSubdomainLeg, static_cast<int>(sweeps * sweep_cost_ / subdomains_cost_));
}

double ImpulsePortfolio::spent() const { return std::accumulate(spent_.begin(), spent_.end(), 0.0); }

/// Anderson's method once in a solve, on many contacts late; subdomains where they have cost little beside the sweeps, and these have more left.
bool ImpulsePortfolio::is_due(Legs legs) const {
  const bool tried = rates_[index_of(Legs::anderson)] >= 0.0;
  if (legs == Legs::anderson) {
    if (data_.contacts() >= kMany && spent() < kSweptOnMany * sweep_cost_) return false;
    return !tried && sweeps_left() > (data_.contacts() <= kFew ? kWorthComparingFew : kWorthComparing);
  }
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

}  // namespace signorini
