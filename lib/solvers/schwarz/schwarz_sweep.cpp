#include "solvers/schwarz/schwarz_sweep.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace signorini {

void SchwarzSweep::prepare(const GaussSeidelData& data, Subdomains subdomains, const Solver& inner) {
  data_ = &data;
  subdomains_ = std::move(subdomains);
  parts_.clear();
  parts_.resize(subdomains_.parts.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Subdomain& part = subdomains_.parts[p];
    Part& own = parts_[p];
    std::unique_ptr<Solver> solver = inner.fresh();
    own.solver.reset(dynamic_cast<DelassusSolver*>(solver.get()));
    SIGNORINI_CHECK(own.solver != nullptr);
    static_cast<void>(solver.release());
    Vector mu(part.contacts.size());
    for (Index i = 0; i < count(part.contacts); ++i) mu[i] = data.mu[part.contacts[i]];
    own.solver->prepare_island(cut_subdomain(data.W, data.q, part), std::move(mu));
    own.q.assign(3 * part.contacts.size(), 0.0);
    own.r.assign(own.q.size(), 0.0);
  }
  before_.assign(3 * data.contact.size(), 0.0);
}

void SchwarzSweep::start(const StopRule& inner, double damping) {
  rule_ = inner;
  watch_ = {};
  damping_ = damping;
}

void SchwarzSweep::solve(std::size_t p, std::span<const double> r) {
  const Subdomain& part = subdomains_.parts[p];
  Part& own = parts_[p];
  outside_velocity(data_->W, data_->q, part, r, own.q);
  for (std::size_t i = 0; i < part.contacts.size(); ++i)
    std::copy_n(r.data() + 3 * static_cast<std::size_t>(part.contacts[i]), 3, own.r.data() + 3 * i);
  own.solver->change_free_velocity(own.q);
  StopRule rule = rule_;
  rule.time_limit = std::max(0.0, rule_.time_limit - watch_.seconds());
  own.report = own.solver->solve(own.r, rule, nullptr);
}

void SchwarzSweep::take(std::size_t p, std::span<double> r) const {
  const Subdomain& part = subdomains_.parts[p];
  for (const Index i : part.own) {
    const double* from = parts_[p].r.data() + 3 * static_cast<std::size_t>(i);
    double* to = r.data() + 3 * static_cast<std::size_t>(part.contacts[i]);
    for (int j = 0; j < 3; ++j) to[j] += damping_ * (from[j] - to[j]);
  }
}

void SchwarzSweep::count_work() {
  inner_iterations_ = 0;
  double work = 0.0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const SolveReport& report = parts_[p].report;
    inner_iterations_ = std::max(inner_iterations_, report.iterations);
    const Subdomain& part = subdomains_.parts[p];
    double blocks = -static_cast<double>(part.outside.size());
    for (const Index k : part.contacts) blocks += data_->W.row_begin[k + 1] - data_->W.row_begin[k];
    work += blocks * static_cast<double>(report.products) + static_cast<double>(part.outside.size());
  }
  products_ = work / static_cast<double>(data_->W.blocks());
}

WorkAndSpan SchwarzSweep::work_and_span(int cores) const {
  WorkAndSpan sum;
  std::vector<double> pieces;
  for (std::size_t colour = 0; colour < subdomains_.colours(); ++colour) {
    pieces.clear();
    for (std::size_t p = subdomains_.colour_begin[colour]; p < subdomains_.colour_begin[colour + 1]; ++p)
      pieces.push_back(static_cast<double>(subdomains_.parts[p].contacts.size()));
    add_stage(pieces, cores, 0.0, sum);
  }
  return sum;
}

SweepStep SchwarzSweep::step(std::span<const double> along, std::span<double> r, std::span<double> change,
                             TaskArena* arena) {
  std::copy(r.begin(), r.end(), before_.begin());
  for (std::size_t colour = 0; colour < subdomains_.colours(); ++colour) {
    const std::size_t begin = subdomains_.colour_begin[colour];
    const std::size_t size = subdomains_.colour_begin[colour + 1] - begin;
    for_each_task(arena, size, [&](std::size_t i) { solve(begin + i, r); });
    for (std::size_t i = 0; i < size; ++i) take(begin + i, r);
  }
  count_work();
  return measured_step(*data_, before_, r, along, change);
}

}  // namespace signorini
