#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "solvers/cr.h"
#include "solvers/krylov_method.h"
#include "solvers/lanczos_rotation.h"

/// `minres`: the minimal residual method of Paige and Saunders (1975) in the place of conjugate residuals
/// (Verschoor and Jalba 2019, section 7).
///
/// On B y = d, symmetric and indefinite, with the positive definite preconditioner C (Diag), the
/// preconditioned Lanczos process and Givens rotations of its tridiagonal matrix (lanczos_rotation.h) give
/// iterates that minimise √(ρ·C⁻¹ρ) over the Krylov space. That is what conjugate residuals with Diag
/// minimise too: the same iterates in exact arithmetic as long as no state changes, but without the division
/// by z·Bz that may vanish (docs/theory.md, C38), at the price of four more vectors.
///
/// A change of states starts a new Lanczos process. With `switching = on_the_way` contacts change as for
/// cr-diag, and the short processes in between may never get anywhere (the paper saw failures): the status
/// then says iteration_limit. With `converged` (default) states are frozen until the linear system is solved.
namespace signorini {

class MinimalResiduals final : public KrylovMethod {
 public:
  void resize(const SaddleSystem& s) override;
  void restart(SaddleSystem& s) override;
  KrylovStep step(SaddleSystem& s) override;
  bool turn(SaddleSystem& s) override;
  double preconditioned_norm(SaddleSystem& s) override;

 private:
  /// One of the vectors w with B w and Hᵀ w_v.
  struct Direction {
    SaddleVector w, Bw;
    std::vector<double> Hw;
  };

  SaddleVector t_, t_before_, next_, v_, Bv_;
  std::vector<double> Hv_;
  std::array<Direction, 3> direction_;  ///< w_k, w_{k−1}, w_{k−2} in turn
  int newest_ = 0;
  LanczosRotation rotation_;
};

enum class MinresSwitching { converged, on_the_way };
template <>
struct EnumNames<MinresSwitching> {
  static constexpr std::array<std::pair<MinresSwitching, std::string_view>, 2> value{
      {{MinresSwitching::converged, "converged"}, {MinresSwitching::on_the_way, "on-the-way"}}};
};

class Minres : public ConjugateResiduals {
 public:
  static constexpr std::string_view kName = "minres";
  struct Options : CrOptions {
    MinresSwitching switching = MinresSwitching::converged;
    Options() {
      inner = 0.3;
      postpone = 1.0;
    }
    template <class Visitor>
    void visit(Visitor& v) {
      visit_states(v);
      v("switching", switching,
        "converged: states are frozen until the linear system is solved; on-the-way: contacts switch every "
        "`interval` iterations");
    }
    void validate() const { CrOptions::validate("solver 'minres'"); }
  };
  explicit Minres(const Options& options);
  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(own_options_); }

 private:
  Options own_options_;
};

}  // namespace signorini
