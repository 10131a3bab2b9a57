#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "base/roots.h"
#include "linalg/types.h"

/// The contact laws, as types. What depends on the law is a template over it; `with_law` is the one place where
/// the law chosen at run time becomes a type.
///
///     cone:     ‖r_T‖₂ ≤ μ r_N            isotropic Coulomb friction (Lazarevych 2010 eq. 7)
///     pyramid:  |r_T1|, |r_T2| ≤ μ r_N    four-sided (Lazarevych 2010 eq. 6, Otaduy 2009 eq. 7 corrected)
///
/// Either bounds the tangential impulse in *parts*, each the ball of radius μ r_N in its own dimension: the cone
/// has one part of two components, the pyramid two parts of one component.
///
/// The pyramid depends on the tangents: `fixed` takes those of the problem, `aligned` turns t1 along the
/// tangential free velocity q_T first (Otaduy 2009 section 3.2), `rotated` turns those of the problem by 45°, so
/// that corners stand where sides stood (`contact/align_tangents.h`).
namespace signorini {

enum class FrictionLaw { cone, pyramid };
enum class PyramidFrame { fixed, aligned, rotated };

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
  static constexpr std::array<std::pair<PyramidFrame, std::string_view>, 3> value{
      {{PyramidFrame::fixed, "fixed"},
       {PyramidFrame::aligned, "aligned"},
       {PyramidFrame::rotated, "rotated"}}};
};

using Vector2 = Eigen::Vector2d;

/// Second-order friction cone K_μ and its dual K_μ* = { μ‖x_T‖ ≤ x_N }. μ ≥ 0 and finite.
struct FrictionCone {
  static constexpr FrictionLaw kLaw = FrictionLaw::cone;
  static constexpr int kParts = 1;
  static constexpr int kPartSize = 2;
  double mu = 0.0;

  /// Euclidean projection onto K_μ (used by the natural map, not by Coulomb sweeps).
  Vector3 project(const Vector3& x) const {
    const double tangential = x.tail<2>().norm();
    if (mu * tangential <= -x[0]) return Vector3::Zero();
    if (tangential <= mu * x[0]) return x;
    // The nearest point lies on the ray (c, s): its length along the ray is c x_N + s ‖x_T‖ > 0.
    const double cosine = 1.0 / hypotenuse(1.0, mu);
    const double sine = mu * cosine;
    const double length = cosine * x[0] + sine * tangential;
    const double scale = tangential > 0.0 ? sine * length / tangential : 0.0;
    return {cosine * length, scale * x[1], scale * x[2]};
  }
  /// Euclidean projection onto the dual cone K_μ*, by the Moreau split x = P_K*(x) − P_K(−x).
  Vector3 project_dual(const Vector3& x) const { return x + project(-x); }
  /// r_N ≥ −slack and ‖r_T‖ ≤ μ max(0, r_N) + slack; slack in N·s.
  bool contains(const Vector3& r, double slack) const {
    return r[0] >= -slack && r.tail<2>().norm() <= mu * std::max(0.0, r[0]) + slack;
  }
  /// De Saxcé's change of variable û = u + μ‖u_T‖ n.
  Vector3 de_saxce(const Vector3& u) const { return {u[0] + mu * u.tail<2>().norm(), u[1], u[2]}; }
  /// Radial projection of r_T onto the disc of radius `bound` ≥ 0: branch-free, no division by zero. Inside
  /// the disc the factor is exactly 1; a NaN in r_T stays a NaN.
  static Vector2 project_tangent(const Vector2& r_T, double bound) {
    return r_T * std::min(1.0, bound / std::max(r_T.norm(), std::numeric_limits<double>::min()));
  }
  /// What is compared with μ r_N.
  static double tangent_size(const Vector2& r_T) { return hypotenuse(r_T[0], r_T[1]); }
};

/// Four-sided pyramid in the contact's own tangents.
struct FrictionPyramid {
  static constexpr FrictionLaw kLaw = FrictionLaw::pyramid;
  static constexpr int kParts = 2;
  static constexpr int kPartSize = 1;
  double mu = 0.0;

  /// r_N ≥ −slack and |r_Tj| ≤ μ max(0, r_N) + slack; slack in N·s.
  bool contains(const Vector3& r, double slack) const {
    return r[0] >= -slack && r.tail<2>().cwiseAbs().maxCoeff() <= mu * std::max(0.0, r[0]) + slack;
  }
  /// Componentwise clamp to [−bound, bound], bound ≥ 0; a NaN stays a NaN.
  static Vector2 project_tangent(const Vector2& r_T, double bound) {
    return {std::max(std::min(r_T[0], bound), -bound), std::max(std::min(r_T[1], bound), -bound)};
  }
  static double tangent_size(const Vector2& r_T) { return std::max(std::abs(r_T[0]), std::abs(r_T[1])); }
};

template <class Law>
concept ContactLaw = requires(const Vector2& r_T, double bound) {
  { Law::project_tangent(r_T, bound) } -> std::convertible_to<Vector2>;
  requires Law::kParts* Law::kPartSize == 2;
};

/// function(FrictionCone{}) or function(FrictionPyramid{}).
template <class Function>
decltype(auto) with_law(FrictionLaw law, Function&& function) {
  if (law == FrictionLaw::cone) return function(FrictionCone{});
  return function(FrictionPyramid{});
}

/// For quantities that only the cone has (the natural map).
inline bool is_cone(FrictionLaw law) { return law == FrictionLaw::cone; }

/// Whether the tangents are turned before the law applies (contact/align_tangents.h).
inline bool is_turned(const LawSpec& law) {
  return law.law == FrictionLaw::pyramid && law.frame != PyramidFrame::fixed;
}
/// Whether they are turned along the tangential free velocity.
inline bool is_aligned(const LawSpec& law) {
  return law.law == FrictionLaw::pyramid && law.frame == PyramidFrame::aligned;
}

/// r_T onto the disc or square of radius `bound`.
inline Vector2 project_tangent(FrictionLaw law, const Vector2& r_T, double bound) {
  return with_law(law, [&](auto type) { return decltype(type)::project_tangent(r_T, bound); });
}

}  // namespace signorini
