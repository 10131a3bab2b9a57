#include "solvers/global_newton/sap_cone.h"

#include <algorithm>

#include "contact/friction_law.h"

namespace signorini {

namespace {

/// ‖y_T‖, its direction and γ_T/‖y_T‖ ≤ 1 of numbers of any size: squares below 1e-308 vanish, and influence decays
/// to less than 1e-154 up a tall stack.
struct Tangential {
  static constexpr double kSmall = 1e-140;

  explicit Tangential(const Vector2& y_T) : largest(y_T.cwiseAbs().maxCoeff()) {
    if (largest == 0.0) return;
    if (is_small()) {
      const Vector2 scaled = y_T / largest;
      length = largest * scaled.norm();
      direction = scaled.normalized();
    } else {
      length = y_T.norm();
      direction = y_T / length;
    }
  }
  bool is_small() const { return largest < kSmall; }
  /// impulse/(length R_T), where 0 ≤ impulse ≤ length.
  double slope(double impulse, double R_T) const {
    return is_small() ? std::min(1.0, impulse / length) / R_T : impulse / (length * R_T);
  }

  double largest = 0.0;
  double length = 0.0;
  Vector2 direction = Vector2::Zero();
};

}  // namespace

ConeImpulse project_in_norm(const ConeRegularisation& R, double mu, const Vector3& y) {
  ConeImpulse impulse;
  if (!(mu > 0.0)) {
    if (y[0] <= 0.0) return impulse;
    impulse.gamma[0] = y[0];
    impulse.G(0, 0) = 1.0 / R.normal;
    return impulse;
  }
  const Tangential tangential(y.tail<2>());
  const double length = tangential.length;
  if (length <= mu * y[0]) {
    impulse.gamma = y;
    impulse.G = R.diagonal().cwiseInverse().asDiagonal();
    return impulse;
  }
  const double mu_hat = mu * R.tangent / R.normal;
  if (y[0] <= -mu_hat * length) return impulse;
  const double share = 1.0 / (1.0 + mu * mu_hat);
  const Vector2& t = tangential.direction;
  const double normal = share * (y[0] + mu_hat * length);
  impulse.gamma[0] = normal;
  impulse.gamma.tail<2>() = mu * normal * t;
  // μ̂/R_T = μ/R_N makes both off-diagonal parts the same numbers
  const double coupling = share * mu / R.normal;
  impulse.G(0, 0) = share / R.normal;
  impulse.G.col(0).tail<2>() = coupling * t;
  impulse.G.row(0).tail<2>() = coupling * t.transpose();
  const Eigen::Matrix2d along = t * t.transpose();
  impulse.G.bottomRightCorner<2, 2>() = coupling * mu * along + tangential.slope(mu * normal, R.tangent) *
                                                                    (Eigen::Matrix2d::Identity() - along);
  return impulse;
}

}  // namespace signorini
