#include "solvers/global_newton/sap_cone.h"

#include "contact/friction_law.h"

namespace signorini {

ConeImpulse project_in_norm(const ConeRegularisation& R, double mu, const Vector3& y) {
  ConeImpulse impulse;
  if (!(mu > 0.0)) {
    if (y[0] <= 0.0) return impulse;
    impulse.gamma[0] = y[0];
    impulse.G(0, 0) = 1.0 / R.normal;
    return impulse;
  }
  const Vector2 y_T = y.tail<2>();
  const double length = y_T.norm();
  if (length <= mu * y[0]) {
    impulse.gamma = y;
    impulse.G = R.diagonal().cwiseInverse().asDiagonal();
    return impulse;
  }
  const double mu_hat = mu * R.tangent / R.normal;
  if (y[0] <= -mu_hat * length) return impulse;
  const double share = 1.0 / (1.0 + mu * mu_hat);
  const Vector2 t = y_T / length;
  const double normal = share * (y[0] + mu_hat * length);
  impulse.gamma[0] = normal;
  impulse.gamma.tail<2>() = mu * normal * t;
  // μ̂/R_T = μ/R_N makes both off-diagonal parts the same numbers
  const double coupling = share * mu / R.normal;
  impulse.G(0, 0) = share / R.normal;
  impulse.G.col(0).tail<2>() = coupling * t;
  impulse.G.row(0).tail<2>() = coupling * t.transpose();
  const Eigen::Matrix2d along = t * t.transpose();
  impulse.G.bottomRightCorner<2, 2>() =
      coupling * mu * along + mu * normal / (length * R.tangent) * (Eigen::Matrix2d::Identity() - along);
  return impulse;
}

}  // namespace signorini
