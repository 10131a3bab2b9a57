#include "solvers/tangent_cone.h"

namespace signorini {

Norms projected_residual(FrictionLaw law, std::span<const double> mu, std::span<const double> r,
                         std::span<const double> u) {
  Norms norms;
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const double rho[3] = {-u[3 * k], -u[3 * k + 1], -u[3 * k + 2]};
    const ContactFace face = face_of(law, mu[k], r.data() + 3 * k, rho);
    for (const double g : face.g) {
      norms.two += g * g;
      norms.max = std::max(norms.max, std::abs(g));
    }
  }
  norms.two = std::sqrt(norms.two);
  return norms;
}

}  // namespace signorini
