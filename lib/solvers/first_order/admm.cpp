#include "solvers/first_order/admm.h"

#include <utility>

namespace signorini {

void DelassusResolvent::prepare(const BlockSparseMatrix& W, std::span<const double> q,
                                const ContactCones& cones) {
  q_ = q;
  cones_ = &cones;
  const std::span<const double> step = cones.step(), weight = cones.weight();
  SparseRows A = to_scalar(W);
  SparseRows S(A.rows(), A.rows());
  S.reserve(A.rows());
  for (Index i = 0; i < A.rows(); ++i) {
    const bool acts = step[static_cast<std::size_t>(i)] > 0.0;
    for (SparseRows::InnerIterator entry(A, i); entry; ++entry) {
      if (!acts || step[static_cast<std::size_t>(entry.col())] == 0.0)
        entry.valueRef() = entry.col() == i ? 1.0 : 0.0;
    }
    S.startVec(i);
    S.insertBack(i, i) = acts ? weight[static_cast<std::size_t>(i)] : 0.0;
  }
  S.finalize();
  factor_.prepare(A, S);
}

void DelassusResolvent::apply(double t, std::span<const double> c, std::span<double> impulse,
                              std::span<double> velocity) {
  const std::span<const double> step = cones_->step(), weight = cones_->weight();
  for (std::size_t i = 0; i < c.size(); ++i) impulse[i] = step[i] > 0.0 ? c[i] - q_[i] : 0.0;
  factor_.solve(impulse);
  for (std::size_t i = 0; i < c.size(); ++i)
    velocity[i] = step[i] > 0.0 ? c[i] - t * weight[i] * impulse[i] : q_[i];
}

void Admm::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  resolvent_.prepare(data_.W, span_of(std::as_const(data_.q)), cones_);
  iteration_.prepare(options_.admm, cones_, resolvent_);
  u_start_.assign(cones_.rows(), 0.0);
}

Iteration Admm::start(std::span<double> r, const StopTest& stop) {
  begin(stop, LawForm::exact);
  evaluate(r, u_start_);
  iteration_.start(r, u_start_, stop.scale(), counters_);
  return tell_start(r, u_start_);
}

}  // namespace signorini
