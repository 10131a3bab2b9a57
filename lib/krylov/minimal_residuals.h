#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "krylov/krylov_method.h"
#include "krylov/lanczos_rotation.h"

/// MINRES (Paige and Saunders 1975; Verschoor and Jalba 2019, section 7) on K y = d, symmetric and
/// indefinite, with the diagonal preconditioner P, which is positive definite, or the indefinite block one.
///
/// The preconditioned Lanczos process and Givens rotations of its tridiagonal matrix (lanczos_rotation.h)
/// give iterates that minimise √(ρ·P⁻¹ρ) over the Krylov space: those of conjugate residuals in exact
/// arithmetic, without the division by z·Kz that may vanish (docs/theory.md, C38), at the price of more
/// vectors. One product with K per step.
///
/// With the block preconditioner t·P⁻¹t may be negative. At ρ = (0; u_L), where every staggered projection begins, it
/// is −u_L·S⁻¹u_L, so that β₁ has no real root. Two forms go on from there, neither with a minimal residual:
///
///     signed      β = √|t·P⁻¹t|, σ its sign: α_k = σ_k v_k·K v_k, and σ_k σ_{k−1} β_k above the diagonal, which is
///                 the symmetric Lanczos process in the metric of P (simplified QMR, Freund and Nachtigal 1994)
///     magnitude   β = √|t·P⁻¹t| in the recurrences of a definite P. The v_k are not orthogonal then
namespace signorini {

/// Of MINRES where P may be indefinite. definite: the block preconditioner is refused.
enum class LanczosMetric : std::uint8_t { definite, with_signs, magnitude };
template <>
struct EnumNames<LanczosMetric> {
  static constexpr std::array<std::pair<LanczosMetric, std::string_view>, 3> value{
      {{LanczosMetric::definite, "definite"},
       {LanczosMetric::with_signs, "signed"},
       {LanczosMetric::magnitude, "magnitude"}}};
};

class MinimalResiduals final : public KrylovMethod {
 public:
  explicit MinimalResiduals(LanczosMetric metric = LanczosMetric::definite) : metric_(metric) {}
  void resize(const KrylovSystem& s) override;
  void begin(bool full) override;
  void restart(KrylovSystem& s) override;
  KrylovStep step(KrylovSystem& s) override;
  bool turn(KrylovSystem& s) override;
  double preconditioned_norm(KrylovSystem& s) override;

 private:
  struct Direction {
    SaddleVector w;
    SaddleImage Kw;
  };
  /// √(t·P⁻¹t) of the present t and v = P⁻¹t; σ into sign_.
  double root(KrylovSystem& s);

  SaddleVector t_, t_before_, next_, v_;
  SaddleImage Kv_;
  std::array<Direction, 3> direction_;  ///< w_k, w_{k−1}, w_{k−2} in turn
  std::size_t newest_ = 0;
  LanczosRotation rotation_;
  LanczosMetric metric_;
  double sign_ = 1.0, sign_before_ = 1.0;  ///< σ_k, σ_{k−1}
};

}  // namespace signorini
