#pragma once

#include <cmath>
#include <string_view>

#include "base/check.h"
#include "base/options.h"

namespace signorini {

enum class ElasticModel { corotational, neo_hookean };
template <>
struct EnumNames<ElasticModel> {
  static constexpr std::array<std::pair<ElasticModel, std::string_view>, 2> value{
      {{ElasticModel::corotational, "corotational"}, {ElasticModel::neo_hookean, "neo_hookean"}}};
};

/// Isotropic elastic material with Rayleigh damping.
struct ElasticMaterial {
  double young_modulus = 2e5;  ///< E, Pa, > 0
  double poisson_ratio = 0.3;  ///< ν, in [0, 0.5)
  double density = 1000.0;     ///< ρ, kg/m³, > 0
  double damping = 1.0;        ///< α in the damping force −α M v, 1/s, ≥ 0
  ElasticModel model = ElasticModel::corotational;
  double compression_limit =
      0.7;  ///< volume ratio below which the neo-Hookean energy is extended linearly, in (0, 1)
  double stiffness_damping = 0.0;  ///< β in the damping force −β K v of implicit steps, s, ≥ 0

  /// Lamé's constants in Pa.
  double lambda() const {
    return young_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio));
  }
  double mu() const { return young_modulus / (2.0 * (1.0 + poisson_ratio)); }
  /// Speed of pressure waves √((λ + 2μ)/ρ) = √(E (1 − ν) / (ρ (1 + ν)(1 − 2ν))); m/s.
  double wave_speed() const { return std::sqrt((lambda() + 2.0 * mu()) / density); }

  /// Throws `UsageError`; `context` opens the line.
  void validate(std::string_view context) const {
    if (!(young_modulus > 0.0) || !std::isfinite(young_modulus)) {
      throw_usage("{}: young_modulus {} Pa is not positive", context, young_modulus);
    }
    if (!(poisson_ratio >= 0.0 && poisson_ratio < 0.5)) {
      throw_usage("{}: poisson_ratio {} is outside [0, 0.5)", context, poisson_ratio);
    }
    if (!(density > 0.0) || !std::isfinite(density))
      throw_usage("{}: density {} kg/m³ is not positive", context, density);
    if (!(damping >= 0.0) || !std::isfinite(damping))
      throw_usage("{}: damping {} 1/s is not a number ≥ 0", context, damping);
    if (!(stiffness_damping >= 0.0) || !std::isfinite(stiffness_damping))
      throw_usage("{}: stiffness_damping {} s is not a number ≥ 0", context, stiffness_damping);
    if (!(compression_limit > 0.0 && compression_limit < 1.0))
      throw_usage("{}: compression_limit {} is outside (0, 1)", context, compression_limit);
  }
};

}  // namespace signorini
