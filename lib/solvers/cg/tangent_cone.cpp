#include "solvers/cg/tangent_cone.h"

namespace signorini {

Norms projected_residual(FrictionLaw law, const Vector& mu, std::span<const double> r,
                         std::span<const double> u) {
  Norms norms;
  with_law(law, [&](auto type) {
    for (std::size_t k = 0; 3 * k < r.size(); ++k) {
      const double rho[3] = {-u[3 * k], -u[3 * k + 1], -u[3 * k + 2]};
      const double mu_k = mu[k];
      const ContactFace face = face_of<decltype(type)>(mu_k, r.data() + 3 * k, rho);
      for (const double g : face.g) norms.add(g);
    }
  });
  return norms.rooted();
}

}  // namespace signorini
