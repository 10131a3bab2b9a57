#pragma once

#include <array>
#include <span>
#include <vector>

#include "linalg/simd.h"
#include "solvers/relaxation/gauss_seidel.h"

/// One sweep of Gauss–Seidel over the contacts, each of which is solved exactly while the others are held
/// (Jourdan, Alart and Jean 1998):
///
///     r_k ← the answer of u = W_kk r_k + b_k and the contact law,   b_k = q_k + Σ_{j≠k} W_kj r_j
///
///     W: 3m×3m [1/kg]     r: 3m [N·s]     b, q, u: 3m [m/s]
///
/// Of one contact, the cheapest case first. Elimination of u_N = 0 leaves u_T = A r_T + c, A = W_TT − W_TN
/// W_NT/W_NN, c = b_T − W_TN b_N/W_NN; e = adj(A) c.
///
///     take-off: b_N ≥ 0, r = 0
///     stick:    r_T = −e/det A, where that is within the bound
///     slip, cone:     r_T = −(e + s c)/δ with δ = det(A + s I); s [1/kg] is the root of
///                         ω(s) = μ ν(s)/‖e + s c‖ − 1,   ν = δ r_N = (W_NT·(e + s c) − b_N δ)/W_NN
///                     ω(0) < 0, and ω grows in proportion to s in the end: Newton within a bracket, from the
///                     root of the last sweep
///     slip, pyramid:  each tangent sticks or slips to either side; the sides of the last sweep first
///
/// With the rows of bodies (body_rows.h) b_k = Σ_s J_ks v_s + w_k − W_kk r_k from velocities v that go along with r, as in a sweep
/// of `pgs`.
///
/// A contact whose A is not positive definite up to rounding, and one for which the search ends without an
/// answer, goes to the slow solution (one_contact.h). A contact with W_NN ≤ 0 keeps r = 0.
namespace signorini {

class ExactSweep {
 public:
  struct Outcome {
    double correction = 0.0;  ///< max_k ‖(Δr_N/ρ_N, Δr_T/ρ_T)‖ in m/s, as of `gauss_seidel_sweep`
    int slow = 0;             ///< contacts that the slow solution had to solve
  };

  /// `data` must outlive the use.
  void prepare(const GaussSeidelData& data);
  /// q of `data` has changed, and nothing else.
  void take_free_velocity();
  /// The next sweep knows nothing of the ones before.
  void forget();
  /// Updates r (3m) in place. Allocates nothing.
  Outcome run(std::span<double> r) { return run(isa(), r); }
  Outcome run(Isa level, std::span<double> r, std::span<double> v = {});
  /// The part of a sweep that updates these contacts; contacts of `data.fixed` are left alone. Parts that share no block of
  /// W may run side by side. `v`: the velocities of r with `data.bodies`, updated likewise; without them nothing.
  Outcome run(SweepRange range, std::span<double> r, std::span<double> v = {});

  /// A contact without its row of W. Components are N, T1, T2.
  struct Contact {
    double q[3];  ///< m/s
    double mu;
    double inverse_mass[3];  ///< W_NN and 1/ρ_T, 1/kg
    double inverse_normal;   ///< 1/W_NN, kg; 0: fixed
    double by_normal[2];     ///< W_TN/W_NN
    double to_normal[2];     ///< W_NT, 1/kg
    double A[2][2];          ///< 1/kg
    double trace;            ///< of A
    double determinant;      ///< of A; 0 where A is not positive definite
    double inverse_determinant;
  };
  /// How a contact slid in the last sweep.
  struct Memory {
    double slip = 0.0;                 ///< s, 1/kg
    std::array<int, 2> side = {0, 0};  ///< of the pyramid: sign of r_Tj where it slips, else 0
  };

 private:
  Outcome run(Isa level, SweepRange range, std::span<double> r, std::span<double> v);

  const GaussSeidelData* data_ = nullptr;
  std::vector<Contact> contact_;
  std::vector<Memory> memory_;
};

}  // namespace signorini
