#include "scene/implicit_settings.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace signorini {

namespace {

/// δ as a share of the finder's tolerance.
constexpr double kKeptShare = 0.5;
/// What a pair that is too close parts by, as a share of δ, in a step of kRecoveryStep s; at most so much in longer
/// steps.
constexpr double kRecoveredShare = 0.1, kRecoveryStep = 4e-3;
/// ε₂ of Verschoor's loop for steps up to 4 ms; it grows with longer steps (docs/theory.md, V49). m, s.
constexpr double kGapTolerance = 1e-6, kGapToleranceStep = 4e-3;

}  // namespace

void ImplicitSettings::validate() const {
  const auto require = [](bool holds, const char* name, const char* rule, double value) {
    if (!holds) throw_usage("implicit step: {} must be {}, not {}", name, rule, value);
  };
  require(std::isfinite(dt) && dt > 0.0, "dt", "positive", dt);
  require(gravity.allFinite(), "gravity", "finite", gravity.norm());
  require(std::isfinite(friction) && friction >= 0.0, "friction", "zero or positive", friction);
  require(restitution >= 0.0 && restitution <= 1.0, "restitution", "between 0 and 1", restitution);
  require(std::isfinite(rest_speed) && rest_speed >= 0.0, "rest_speed", "zero or positive", rest_speed);
  require(std::isfinite(recovery_speed) && recovery_speed >= 0.0, "recovery_speed", "zero or positive",
          recovery_speed);
  require(std::isfinite(safety_distance) && safety_distance >= 0.0, "safety_distance",
          "zero (the default) or positive", safety_distance);
  require(rounds >= 0, "rounds", "zero (the default) or positive", rounds);
  require(halvings >= 0 && halvings <= 20, "halvings", "between 0 and 20", halvings);
  require(largest_turn > 0.0, "largest_turn", "positive", largest_turn);
  require(gap_tolerance >= 0.0, "gap_tolerance", "zero (the default) or positive", gap_tolerance);
  require(accepted_residual >= 0.0, "accepted_residual", "zero or positive", accepted_residual);
  require(free_tolerance > 0.0 && free_tolerance < 1.0, "free_tolerance", "between 0 and 1", free_tolerance);
}

ImplicitSettings resolved(ImplicitSettings settings, double tolerance) {
  settings.validate();
  if (settings.safety_distance == 0.0) settings.safety_distance = kKeptShare * tolerance;
  if (!(settings.safety_distance <= tolerance)) {
    throw_usage("implicit step: safety_distance = {} m must not exceed the detection tolerance {} m",
                settings.safety_distance, tolerance);
  }
  if (settings.gap_tolerance == 0.0)
    settings.gap_tolerance = std::max(kGapTolerance, kGapTolerance * settings.dt / kGapToleranceStep);
  if (settings.rounds == 0) settings.rounds = settings.loop == ContactLoop::refine ? 5 : 20;
  return settings;
}

double target_gap(const ImplicitSettings& settings, double gap, double dt) {
  const double speed = settings.recovery_speed > 0.0
                           ? settings.recovery_speed
                           : kRecoveredShare * settings.safety_distance / std::max(dt, kRecoveryStep);
  return std::min(settings.safety_distance, gap + speed * dt);
}

double push_of(double gap, double target) { return std::max(0.0, target - gap); }

double implicit_offset(const ImplicitSettings& settings, double gap, double target, double speed_before,
                       double dt) {
  const bool impact = settings.restitution > 0.0 && speed_before < -settings.rest_speed;
  const double rebound = impact ? settings.restitution * speed_before : 0.0;
  if (settings.level == ConstraintLevel::velocity) return rebound;
  const double position = (gap - target) / dt;
  return impact ? std::min(position, rebound) : position;
}

}  // namespace signorini
