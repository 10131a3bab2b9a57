#pragma once

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "linalg/dot.h"
#include "solvers/accelerated/stall_guard.h"
#include "solvers/relaxation/ordered_sweep.h"

/// The sweeps of `nncg` (nncg.h has the method) on impulses that somebody else owns.
namespace signorini {

enum class NncgForm { robust, printed };
template <>
struct EnumNames<NncgForm> {
  static constexpr std::array<std::pair<NncgForm, std::string_view>, 2> value{
      {{NncgForm::robust, "robust"}, {NncgForm::printed, "printed"}}};
};

class NncgSweeps {
 public:
  /// `data`, in the order of `plan`, must outlive the use.
  void prepare(const GaussSeidelData& data, const SweepPlan& plan = {});
  /// With `map` in the place of sweeps, on impulses in its order. Both must outlive the use.
  void prepare(const GaussSeidelData& data, SweepMap& map);
  /// Forgets the directions. Until the next `start` nobody else changes the r of the steps.
  void start(NncgForm form = NncgForm::robust, double restart_above = 1.5);
  /// r (3m, N·s) becomes the next y. Null arena: one thread.
  SweepStep step(std::span<double> r, TaskArena* arena = nullptr);

  long long restarts() const { return restarts_; }      ///< since `start`
  long long guards() const { return guard_.spells(); }  ///< since `start`

 private:
  void prepare_directions(const GaussSeidelData& data);
  bool robust() const { return form_ == NncgForm::robust; }
  /// Whether velocities of bodies go along with r.
  bool on_bodies(const GaussSeidelData& data) const { return map_ == nullptr && data.bodies; }
  bool may_accelerate();
  void accelerate(std::span<double> r, TaskArena* arena);
  void begin_sweep(std::span<double> r, TaskArena* arena);
  void move(double beta, std::span<double> r, TaskArena* arena);
  void move_velocities(double beta, TaskArena* arena);

  const GaussSeidelData* data_ = nullptr;
  OrderedSweep sweep_;
  SweepMap* map_ = nullptr;                 ///< in the place of `sweep_`; null: none
  std::vector<double> change_, direction_;  ///< 3m: d and p, N·s
  /// With the rows of bodies: M⁻¹ H p, and the velocities that the last sweep began with; m/s.
  std::vector<double> v_direction_, v_before_;
  NncgForm form_ = NncgForm::robust;
  double restart_above_ = 1.5;
  bool swept_once_ = false;
  bool directed_ = false;                                                       ///< p is not zero
  double square_ = 0.0, old_square_ = std::numeric_limits<double>::infinity();  ///< |d|²: last sweep, before
  double along_ = 0.0;                                                          ///< d·p of the last sweep
  long long restarts_ = 0;
  StallGuard guard_;
};

}  // namespace signorini
