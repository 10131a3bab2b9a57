#include "solvers/cg/pcg.h"

#include <utility>

namespace signorini {

void PcgOptions::validate() const {
  paper.validate("solver 'pcg'");
  blocks.validate("solver 'pcg'");
  if (blocks.blocks > 0 && form != CgForm::robust)
    throw_usage("solver 'pcg': blocks belong to form = robust, the others have no preconditioner");
}

void Pcg::prepare_island(ReducedProblem problem, Vector mu) {
  set_data(make_gauss_seidel_data(options_.kernel.stored(std::move(problem.W)), std::move(problem.q),
                                  std::move(mu), options_.common.law, TangentStep::scalar));
  cg_.prepare(data_, options_.blocks);
}

Iteration Pcg::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  rules_ = {};
  if (options_.stop == StopKind::paper && !stop.fixed()) {
    rules_ = PaperRules(options_.paper, impulse_scale(data_, stop.scale()), stop.scale());
    left_ = 2 * static_cast<int>(r.size());
  }
  return cg_.start({options_.beta, options_.form, !stop.fixed()}, r, counters_, products_, arena_);
}

Iteration Pcg::iterate(std::span<double> r) { return cg_.iterate(r, best()); }

LoopEnd Pcg::settle(std::span<double> /*r*/) {
  if (rules_.active()) {
    if (rules_.met(cg_.step(), cg_.residual())) return LoopEnd::paper_rule;
    if (--left_ == 0) return LoopEnd::cap;
  }
  cg_.settle();
  return LoopEnd::none;
}

IterationProgress Pcg::progress() {
  IterationProgress told;
  if (options_.form != CgForm::printed) told.plain = cg_.residual().max;
  return told;
}

}  // namespace signorini
