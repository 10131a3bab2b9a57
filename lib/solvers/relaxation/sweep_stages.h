#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/stages.h"
#include "solvers/relaxation/gauss_seidel.h"
#include "solvers/relaxation/sweep_plan.h"
#include "solvers/work_and_span.h"

/// The contacts of a sweep in the order of a `SweepPlan`, cut into stages and pieces: what `OrderedSweep` and `nsgs` share.
///
/// A colour is cut into pieces of kPiece contacts, which threads take one by one; all pieces of a colour end before the
/// next colour begins (base/stages.h). Neighbouring colours that are smaller than two pieces stay one piece, on one
/// thread. Results are joined piece by piece in the order of the contacts, with or without an arena: the bits never depend
/// on it.
namespace signorini {

class SweepStages {
 public:
  static constexpr Index kPiece = 64;  ///< contacts, some microseconds

  /// Threads share a sweep where two of them need at most the share `worth_sharing` of its time, by `work_and_span`.
  void prepare(Index contacts, const SweepPlan& plan, double worth_sharing);

  /// The results of work(SweepRange) for all pieces, joined. `partial` has room for `pieces()`. Allocates nothing.
  template <class Result, class Work, class Join>
  Result run(TaskArena* arena, std::vector<Result>& partial, const Work& work, const Join& join) const {
    const auto piece = [&](std::size_t stage, std::size_t i) {
      const Stage& own = stages_[stage];
      SweepRange range{own.begin, own.end};
      if (own.split) {
        range.begin += kPiece * static_cast<Index>(i);
        range.end = std::min(range.end, range.begin + kPiece);
      }
      partial[own.first_piece + i] = work(range);
    };
    if (arena != nullptr && worth_sharing_) {
      for_each_stage(*arena, sizes_, piece);
    } else {
      for (std::size_t stage = 0; stage < stages_.size(); ++stage)
        for (std::size_t i = 0; i < sizes_[stage]; ++i) piece(stage, i);
    }
    Result all = partial.front();
    for (std::size_t i = 1; i < pieces_; ++i) all = join(all, partial[i]);
    return all;
  }
  std::size_t pieces() const { return pieces_; }
  std::size_t stages() const { return stages_.size(); }
  /// Of a sweep, in contacts.
  WorkAndSpan work_and_span(int cores) const;
  /// What a barrier of base/stages.h costs on two threads, in contacts (docs/notes/measurements.md).
  static constexpr double kBarrier = 10.0;
  /// `worth_sharing` of sweeps over W, whose times are as predicted …
  static constexpr double kWorthSharing = 0.85;
  /// … and on bodies, where a contact takes half the time, and a barrier counts twice.
  static constexpr double kWorthSharingOnBodies = 0.7;
  static double worth_sharing(const GaussSeidelData& data) {
    return data.bodies ? kWorthSharingOnBodies : kWorthSharing;
  }

 private:
  void add_stage(Index begin, Index end, bool split);

  /// Contacts between two barriers.
  struct Stage {
    Index begin = 0, end = 0;
    bool split = false;           ///< into pieces; else one
    std::size_t first_piece = 0;  ///< in `partial`
  };
  std::vector<Stage> stages_;
  std::vector<std::size_t> sizes_;  ///< pieces of every stage
  std::size_t pieces_ = 0;
  bool worth_sharing_ = false;
};

}  // namespace signorini
