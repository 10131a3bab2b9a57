#pragma once

#include <limits>
#include <span>
#include <vector>

#include "linalg/dot.h"
#include "solvers/accelerated/stall_guard.h"
#include "solvers/relaxation/gauss_seidel.h"

/// The sweeps of `nncg` (nncg.h has the method) on impulses that somebody else owns.
namespace signorini {

enum class NncgForm { robust, printed };

class NncgSweeps {
 public:
  /// `data` must outlive the use.
  void prepare(const GaussSeidelData& data);
  /// Forgets the directions.
  void start(NncgForm form = NncgForm::robust, double restart_above = 1.0);
  /// r (3m, N·s) becomes the next y.
  SweepStep step(std::span<double> r);

  long long restarts() const { return restarts_; }     ///< since `start`
  long long guards() const { return guard_.spells(); }  ///< since `start`

 private:
  bool may_accelerate();
  void accelerate(std::span<double> r);

  const GaussSeidelData* data_ = nullptr;
  std::vector<double> change_, direction_;  ///< 3m: d and p, N·s
  NncgForm form_ = NncgForm::robust;
  double restart_above_ = 1.0;
  bool swept_once_ = false;
  bool along_ = false;  ///< p is not zero
  double square_ = 0.0, old_square_ = std::numeric_limits<double>::infinity();  ///< |d|² of the last two sweeps
  long long restarts_ = 0;
  StallGuard guard_;
};

}  // namespace signorini
