#pragma once

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "solvers/cg/tangent_cone.h"
#include "solvers/relaxation/gauss_seidel.h"

/// The termination rules of Lazarevych 2010 section 4: a loop ends when either of
///
///     ‖Δr‖₂ ≤ ε  [N·s],   ‖g‖₂ ≤ δ  [m/s]
///
/// holds, Δr the last step and g the projected residual (tangent_cone.h). The paper gives no values. The
/// options are unit-free: ε is relative to U/min W_NN, δ to U = max|q|; with 0 only an exact zero ends the
/// loop. The paper's further thresholds, on maximum norms (eqs. 20, 21), are left out: no experiment needs
/// them.
namespace signorini {

/// What ends the iteration besides the limits on iterations and time.
enum class StopKind { residual, paper };
template <>
struct EnumNames<StopKind> {
  static constexpr std::array<std::pair<StopKind, std::string_view>, 2> value{
      {{StopKind::residual, "residual"}, {StopKind::paper, "paper"}}};
};

struct PaperThresholds {
  double eps = 1e-10;
  double delta = 1e-6;

  /// The two options. A solver with two loops tells them apart by `suffix` ("_cg") and `loop` ("CG").
  template <class Visitor>
  void visit(Visitor& v, std::string_view suffix = "", std::string_view loop = "") {
    const auto option = [&](std::string_view key, double& value, std::string_view help) {
      v(fmt::format("{}{}", key, suffix), value,
        fmt::format("stop = paper{}{}: {}", loop.empty() ? "" : ", ", loop, help));
    };
    option("eps", eps, "2-norm of the step, relative to max|q|/min W_NN");
    option("delta", delta, "2-norm of the projected residual, relative to max|q|");
  }
  /// Throws `UsageError` that opens with `context` for a negative threshold.
  void validate(std::string_view context) const;
};

/// Norms of r − previous, N·s.
Norms step_norms(std::span<const double> r, std::span<const double> previous);
/// U / min W_NN in N·s over the contacts that can move; 0 when there is none.
double impulse_scale(const GaussSeidelData& data, double velocity_scale);

/// Thresholds in units, for one prepared problem.
class PaperRules {
 public:
  PaperRules() = default;
  /// `impulse_scale` = U / min W_NN in N·s, `velocity_scale` = U in m/s.
  PaperRules(const PaperThresholds& thresholds, double impulse_scale, double velocity_scale);

  bool active() const { return active_; }
  bool met(const Norms& step, const Norms& residual) const;

 private:
  bool active_ = false;
  double eps_ = 0.0;
  double delta_ = 0.0;
};

}  // namespace signorini
