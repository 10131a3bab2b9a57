#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "linalg/types.h"

/// A scene at another size: `scale = s` in its file multiplies every length and every speed of bodies, obstacles, pins, materials, probes and
/// contacts, given or default, by s. Density, Young's modulus, gravity, angular speeds, the moments of axles and the time step stay. Masses go
/// with s³, and the condition of D⁻¹M, which grows with E dt² / (ρ size²) where that is large, with s⁻².
namespace signorini {

/// The unit at the end of a key is m or m/s: `radius_m`, `velocity_m_s`; not `slope_n_m_s`, `stiffness_n_m`.
inline bool is_length_or_speed(std::string_view key) {
  for (const std::string_view unit : {"_m", "_m_s"}) {
    if (!key.ends_with(unit)) continue;
    const std::string_view before = key.substr(0, key.size() - unit.size());
    return !(before == "n" || before.ends_with("_n") || before.ends_with("_kg") || before.ends_with("_1"));
  }
  return false;
}

/// Visitor that multiplies the lengths and speeds of a table, and the factor from a file's unit to metres.
struct LengthScaler {
  double factor;

  template <class T>
  void operator()(std::string_view key, T& value, std::string_view) {
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Vector3>) {
      if (is_length_or_speed(key) || key.ends_with("_scale")) value *= factor;
    } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<Vector3>>) {
      if (!is_length_or_speed(key)) return;
      for (auto& one : value) one *= factor;
    }
  }
  template <class T, class Limits>
  void operator()(std::string_view key, T& value, const Limits&, std::string_view help) {
    (*this)(key, value, help);
  }
};

}  // namespace signorini
