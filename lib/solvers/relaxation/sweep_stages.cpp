#include "solvers/relaxation/sweep_stages.h"

namespace signorini {

void SweepStages::add_stage(Index begin, Index end, bool split) {
  const std::size_t pieces = split ? (end - begin + kPiece - 1) / kPiece : 1;
  stages_.push_back({begin, end, split, pieces_});
  sizes_.push_back(pieces);
  pieces_ += pieces;
}

void SweepStages::prepare(Index contacts, const SweepPlan& plan, double worth_sharing) {
  stages_.clear();
  sizes_.clear();
  pieces_ = 0;
  for (Index c = 0; c < plan.colours(); ++c) {
    const Index begin = plan.colour_begin[c], end = plan.colour_begin[c + 1];
    const bool split = end - begin >= 2 * kPiece;
    if (!split && !stages_.empty() && !stages_.back().split) {
      stages_.back().end = end;
    } else {
      add_stage(begin, end, split);
    }
  }
  if (plan.colours() == 0) add_stage(0, contacts, false);
  const WorkAndSpan on_two = work_and_span(2);
  worth_sharing_ = on_two.time <= worth_sharing * on_two.work;
}

WorkAndSpan SweepStages::work_and_span(int cores) const {
  WorkAndSpan sum;
  std::vector<double> pieces;
  for (const Stage& stage : stages_) {
    pieces.clear();
    const Index longest = stage.split ? kPiece : std::max<Index>(1, stage.end - stage.begin);
    for (Index begin = stage.begin; begin < stage.end; begin += longest)
      pieces.push_back(std::min(longest, stage.end - begin));
    signorini::add_stage(pieces, cores, kBarrier, sum);
  }
  return sum;
}

}  // namespace signorini
