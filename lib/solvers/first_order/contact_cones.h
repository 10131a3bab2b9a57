#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "contact/friction_law.h"
#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"
#include "solvers/contact_error.h"

/// All contacts of a problem as first-order methods see them: the product K of their cones, its projection, and the
/// metric in which steps are taken.
///
/// Every contact has one weight s_k [1/kg], the mean of its inverse masses in the directions that impulses act in:
///
///     s = (W_NN + 2 λ_max(W_TT))/3      with friction (tr(W_kk)/3 where W_TT is isotropic)
///     s = W_NN                          where μ = 0 or W_TT = 0: r_T = 0 there
///     S = diag(s, s, s)                 norms: ‖r‖² = rᵀS r of impulses, ‖u‖² = uᵀS⁻¹u of velocities, kg m²/s²
///
/// That is the same as to iterate on x_k = √s_k r_k with √s⁻¹ W √s⁻¹, which has no units and entries about 1 on its
/// diagonal: step lengths, Lipschitz constants and penalties of this folder are numbers without a unit. One weight per
/// contact keeps its cone a cone. A contact with W_NN ≤ 0 (nothing moves) keeps r = 0.
///
///     r: 3m [N·s]    u: 3m [m/s]    shift: m, the normal part μ s(u_T) of û [m/s] (cone_projection.h)
///
/// Sums are taken in a fixed order.
namespace signorini {

class ContactCones {
 public:
  void prepare(FrictionLaw law, const Vector& mu, std::vector<InverseMass> inverse_mass);

  std::size_t contacts() const { return mu_.size(); }
  std::size_t rows() const { return step_.size(); }
  /// Per row: S, and S⁻¹ with 0 in the rows that never carry an impulse.
  std::span<const double> weight() const { return weight_; }
  std::span<const double> step() const { return step_; }
  double largest_friction() const { return largest_friction_; }

  /// next = P_K(r − t S⁻¹ (u + shift n)); `next` may be `r`. Contacts are shared among the threads of `arena`.
  void descend(std::span<const double> r, double t, std::span<const double> u, std::span<const double> shift,
               std::span<double> next, TaskArena* arena = nullptr) const;
  /// r ← P_K(r). Whether that changed anything.
  bool make_admissible(std::span<double> r) const;
  /// u ← the nearest point of K* in the metric of velocities.
  void project_velocity(std::span<double> u) const;
  void measure_shift(std::span<const double> u, std::span<double> shift) const;

  /// (a − b)ᵀS(c − d) of impulses.
  double product(std::span<const double> a, std::span<const double> b, std::span<const double> c,
                 std::span<const double> d) const;
  /// (a − b)ᵀS(a − b).
  double squared_distance(std::span<const double> a, std::span<const double> b) const {
    return product(a, b, a, b);
  }
  /// Σ_k (a_k − b_k)²/s_k of two shifts.
  double squared_shift_distance(std::span<const double> a, std::span<const double> b) const;
  /// max_k s_k ‖a_k − b_k‖, m/s. NaN where one is.
  double largest_distance(std::span<const double> a, std::span<const double> b) const;

  /// The Alart–Curnier error (contact_error.h), m/s. NaN where r or u is not finite.
  double error(std::span<const double> r, std::span<const double> u) const;

  /// A bound of the eigenvalues of S^{-½} W S^{-½}, by Gershgorin's circles of its symmetric part; at least 1.
  double largest_curvature(const BlockSparseMatrix& W) const;

 private:
  FrictionLaw law_ = FrictionLaw::cone;
  std::vector<double> mu_;        ///< m: 0 where no tangential impulse acts
  std::vector<double> given_mu_;  ///< m
  std::vector<InverseMass> inverse_mass_;
  std::vector<double> weight_, step_;  ///< 3m
  double largest_friction_ = 0.0;
};

/// Σ_i term(i), four sums in a fixed order (linalg/dot.h).
template <class Term>
double sum_in_order(std::size_t n, Term&& term) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += term(i);
    s1 += term(i + 1);
    s2 += term(i + 2);
    s3 += term(i + 3);
  }
  for (; i < n; ++i) s0 += term(i);
  return (s0 + s1) + (s2 + s3);
}

}  // namespace signorini
