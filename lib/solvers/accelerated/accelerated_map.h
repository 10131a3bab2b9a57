#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "solvers/accelerated/anderson_sweeps.h"
#include "solvers/accelerated/nesterov_sweeps.h"
#include "solvers/accelerated/nncg_sweeps.h"

/// A map r → G(r) that is repeated, plain or accelerated: the option `outer` of `schwarz` and `mass-splitting`.
namespace signorini {

enum class Acceleration : std::uint8_t { none, nesterov, nncg, anderson };
template <>
struct EnumNames<Acceleration> {
  static constexpr std::array<std::pair<Acceleration, std::string_view>, 4> value{
      {{Acceleration::none, "none"},
       {Acceleration::nesterov, "nesterov"},
       {Acceleration::nncg, "nncg"},
       {Acceleration::anderson, "anderson"}}};
};

class AcceleratedMap {
 public:
  /// Both must outlive the use.
  void prepare(const GaussSeidelData& data, SweepMap& map, Acceleration by);
  /// Forgets the steps before.
  void start();
  /// r (3m, N·s) becomes the next iterate. Null arena: one thread.
  SweepStep step(std::span<double> r, TaskArena* arena = nullptr);

  long long restarts() const { return nesterov_.restarts() + nncg_.restarts() + anderson_.restarts(); }
  long long guards() const { return nesterov_.guards() + nncg_.guards() + anderson_.guards(); }

 private:
  SweepMap* map_ = nullptr;
  Acceleration by_ = Acceleration::none;
  NesterovSweeps nesterov_;
  NncgSweeps nncg_;
  AndersonSweeps anderson_;
  std::vector<double> change_;  ///< 3m, N·s; where nothing accelerates
};

}  // namespace signorini
