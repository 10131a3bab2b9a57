#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "solvers/relaxation/gauss_seidel.h"
#include "solvers/relaxation/sweep_plan.h"

/// Sweeps of projected Gauss–Seidel (gauss_seidel.h) in the order of a `SweepPlan`, on several threads where contacts
/// are coloured.
///
/// A colour is cut into pieces of kPiece contacts, which threads take one by one; all pieces of a colour end before the
/// next colour begins (base/stages.h). Neighbouring colours that are smaller than two pieces stay one piece, on one
/// thread. Within a piece contacts are updated in ascending order, and the sums of a step are added piece by piece in
/// that order, with or without an arena: the bits never depend on it.
namespace signorini {

class OrderedSweep {
 public:
  /// `data` is in the order of `plan` already (`in_order`) and must outlive the use.
  void prepare(const GaussSeidelData& data, const SweepPlan& plan);

  /// One sweep, or the two of a symmetric order: updates r (3m, N·s) in place and returns the correction as
  /// `gauss_seidel_sweep` does (symmetric: the larger of two). Null arena: one thread. Allocates nothing.
  double run(std::span<double> r, TaskArena* arena = nullptr);
  /// The same bits of r; `change` (3m, N·s) receives d, `along` is p; it may be `change`.
  SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                 TaskArena* arena = nullptr);
  /// Sweeps of one `run` or `step`.
  int sweeps() const { return symmetric_ ? 2 : 1; }

  static constexpr Index kPiece = 64;  ///< contacts, some microseconds

 private:
  void add_stage(Index begin, Index end, bool split);
  template <class Work>
  SweepStep over_pieces(TaskArena* arena, Work&& work);
  SweepStep there_and_back(std::span<const double> along, std::span<double> r, std::span<double> change);

  const GaussSeidelData* data_ = nullptr;
  bool symmetric_ = false;
  /// Contacts between two barriers.
  struct Stage {
    Index begin = 0, end = 0;
    bool split = false;           ///< into pieces; else one
    std::size_t first_piece = 0;  ///< in `partial_`
  };
  std::vector<Stage> stages_;
  std::vector<std::size_t> sizes_;  ///< pieces of every stage
  std::vector<SweepStep> partial_;  ///< by piece
  std::vector<double> before_;      ///< 3m, N·s, of a symmetric order
};

}  // namespace signorini
