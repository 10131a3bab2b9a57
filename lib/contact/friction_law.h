#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "linalg/types.h"

/// The contact laws. Sweeps are templates over a law, so that the compiler sees the projection inside the loop.
///
///     cone:     ‖r_T‖₂ ≤ μ r_N            isotropic Coulomb friction (Lazarevych 2010 eq. 7)
///     pyramid:  |r_T1|, |r_T2| ≤ μ r_N    four-sided (Lazarevych 2010 eq. 6, Otaduy 2009 eq. 7 corrected)
///
/// The pyramid depends on the tangents: `fixed` takes those of the problem, `aligned` turns t1 along the tangential free
/// velocity q_T first (Otaduy 2009 section 3.2; `contact/align_tangents.h`).
namespace signorini {

enum class FrictionLaw { cone, pyramid };
enum class PyramidFrame { fixed, aligned };

struct LawSpec {
  FrictionLaw law = FrictionLaw::cone;
  PyramidFrame frame = PyramidFrame::fixed;
};

template <>
struct EnumNames<FrictionLaw> {
  static constexpr std::array<std::pair<FrictionLaw, std::string_view>, 2> value{
      {{FrictionLaw::cone, "cone"}, {FrictionLaw::pyramid, "pyramid"}}};
};
template <>
struct EnumNames<PyramidFrame> {
  static constexpr std::array<std::pair<PyramidFrame, std::string_view>, 2> value{
      {{PyramidFrame::fixed, "fixed"}, {PyramidFrame::aligned, "aligned"}}};
};

using Vector2 = Eigen::Vector2d;

/// Second-order friction cone K_μ and its dual K_μ* = { μ‖x_T‖ ≤ x_N }.
struct FrictionCone {
  double mu = 0.0;

  /// Euclidean projection onto K_μ (used by the natural map, not by Coulomb sweeps).
  Vector3 project(const Vector3& x) const;
  /// Euclidean projection onto the dual cone K_μ*.
  Vector3 project_dual(const Vector3& x) const;
  bool contains(const Vector3& r, double slack) const;
  /// De Saxcé's change of variable û = u + μ‖u_T‖ n.
  Vector3 de_saxce(const Vector3& u) const;
  /// Radial projection of r_T onto the disc of radius μ max(0, r_N): branch-free.
  static Vector2 project_tangent(const Vector2& r_T, double bound);
};

/// Four-sided pyramid in the contact's own tangents.
struct FrictionPyramid {
  double mu = 0.0;

  bool contains(const Vector3& r, double slack) const;
  /// Componentwise clamp to [−bound, bound].
  static Vector2 project_tangent(const Vector2& r_T, double bound);
};

template <class Law>
concept ContactLaw = requires(const Vector2& r_T, double bound) {
  { Law::project_tangent(r_T, bound) } -> std::convertible_to<Vector2>;
};

}  // namespace signorini
