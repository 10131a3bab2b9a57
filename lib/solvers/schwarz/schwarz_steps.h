#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "solvers/accelerated/accelerated_map.h"
#include "solvers/schwarz/schwarz_sweep.h"

/// The iterations of `schwarz` (schwarz.h has the method) on impulses that somebody else owns.
namespace signorini {

enum class SchwarzOuter : std::uint8_t { none, nncg, anderson };
template <>
struct EnumNames<SchwarzOuter> {
  static constexpr std::array<std::pair<SchwarzOuter, std::string_view>, 3> value{
      {{SchwarzOuter::none, "none"}, {SchwarzOuter::nncg, "nncg"}, {SchwarzOuter::anderson, "anderson"}}};
};

class SchwarzSteps {
 public:
  /// Subdomains are solved to this share of the residual of the whole.
  static constexpr double kInnerShare = 0.1;

  /// `data` must outlive the use; `inner` solves the subdomains (schwarz_sweep.h).
  void prepare(const GaussSeidelData& data, const SubdomainOptions& cut, const Solver& inner,
               SchwarzOuter outer);
  /// Forgets the iterations before. `inner`: limits of the subdomains' solves; U in m/s.
  void start(StopRule inner, double damping, double velocity_scale);
  /// The error of the next r, m/s.
  void aim(double error) { sweep_.stop_at(kInnerShare * error / scale_); }
  /// r (3m, N·s) becomes the next iterate; `correction` is left 0. Null arena: one thread.
  SweepStep step(std::span<double> r, TaskArena* arena = nullptr);

  const SchwarzSweep& sweep() const { return sweep_; }
  long long restarts() const { return steps_.restarts(); }  ///< since `start`
  long long guards() const { return steps_.guards(); }      ///< since `start`

 private:
  SchwarzSweep sweep_;
  AcceleratedMap steps_;
  double scale_ = 1.0;  ///< U, m/s
};

}  // namespace signorini
