#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "solvers/relaxation/gauss_seidel.h"
#include "solvers/relaxation/sweep_map.h"
#include "solvers/relaxation/sweep_plan.h"
#include "solvers/relaxation/sweep_stages.h"

/// Sweeps of projected Gauss–Seidel (gauss_seidel.h) in the order of a `SweepPlan`, on several threads where contacts
/// are coloured (sweep_stages.h): the bits never depend on the number of threads. Within a piece contacts are updated in
/// ascending order.
///
/// With the rows of bodies the velocities of r are kept from sweep to sweep, and found anew from r where r is another one
/// and after kLongestUse sweeps: they lose a digit in about as many.
namespace signorini {

class OrderedSweep final : public SweepMap {
 public:
  /// `data` is in the order of `plan` already (`in_order`) and must outlive the use.
  void prepare(const GaussSeidelData& data, const SweepPlan& plan);

  /// One sweep, or the two of a symmetric order: updates r (3m, N·s) in place and returns the correction as
  /// `gauss_seidel_sweep` does (symmetric: the larger of two). Null arena: one thread. Allocates nothing.
  double run(std::span<double> r, TaskArena* arena = nullptr);
  /// The same bits of r; `change` (3m, N·s) receives d, `along` is p; it may be `change`.
  SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                 TaskArena* arena = nullptr) override;
  /// With the rows of bodies, before a `step` by a caller that alone changes r from step to step, and the velocities with it
  /// (`moved`): they are found anew (true) after `forget` and where they are old. Saves comparing r.
  bool refresh_velocities(std::span<const double> r);
  std::span<double> velocities() { return v_; }
  void moved() { ++age_; }
  void forget() { v_known_ = false; }
  /// Of one sweep, in contacts; serial where it goes there and back.
  WorkAndSpan work_and_span(int cores) const { return stages_.work_and_span(cores); }
  /// Sweeps of one `run` or `step`.
  int sweeps() const { return symmetric_ ? 2 : 1; }

  static constexpr int kLongestUse = 64;
  static constexpr Index kPiece = SweepStages::kPiece;

 private:
  SweepStep there_and_back(std::span<const double> along, std::span<double> r, std::span<double> change);
  void find_velocities(std::span<const double> r, TaskArena* arena);
  bool same_impulses(std::span<const double> r, TaskArena* arena) const;
  void tell(std::span<const double> r, TaskArena* arena);

  const GaussSeidelData* data_ = nullptr;
  bool symmetric_ = false;
  SweepStages stages_;
  std::vector<SweepStep> partial_;  ///< by piece
  std::vector<double> before_;      ///< 3m, N·s, of a symmetric order
  std::vector<double> v_;           ///< velocities of bodies, m/s; empty with W
  bool v_known_ = false;            ///< v_ is that of the r of the last sweep
  bool told_ = false;               ///< which is r_, since the caller did not refresh
  bool refreshed_ = false;          ///< v_ is that of the r of the next sweep
  int age_ = 0;                     ///< sweeps and moves since v_ was found from r
  std::vector<double> r_;           ///< 3m, N·s
};

}  // namespace signorini
