#pragma once

#include <array>
#include <span>
#include <vector>

#include "solvers/newton/newton_system.h"

/// Proximal point steps, each solved by a globalised semi-smooth Newton method (newton_system.h):
///
///     x₀ ← the solution of the law with y = W̃ x + q̃ + a (x − x₀)         outer step, a > 0
///     x ← x + t d,    |F|² below the largest of the last three             inner steps, t = 1, ½, …, 2⁻⁷
///
/// W̃ + a I is regular and better conditioned than W̃, and the fixed point x = x₀ solves the law itself. An outer step
/// ends where the residual of its problem is a fifth of the law's at x₀, after 40 inner steps, or after three failed line
/// searches. It is accepted where it reached that, or brought its own residual below 0.3 of its start and lowered the law's.
/// Then a falls with the inner steps that it took, else it grows (Rockafellar 1976 for the outer steps; Alart and Curnier
/// 1991 for F).
namespace signorini {

class ProximalNewton {
 public:
  /// `system` must outlive the use.
  void prepare(NewtonSystem& system);
  void start(std::span<const double> x, double shift);
  /// One inner step, with the end of the outer one where it is due.
  void step();

  /// The best of the admissible impulses next to all iterates of this solve, by the exact error, m/s.
  std::span<const double> iterate() const { return best_; }
  double error() const { return best_error_; }
  double shift() const { return shift_; }
  int outer_steps() const { return outer_steps_; }  ///< accepted ones
  int guards() const { return guards_; }            ///< outer steps refused
  long long products() const { return products_; }

 private:
  struct Centre {
    std::vector<double> x, y;  ///< x₀ and W̃ x₀ + q̃
    double size = 0.0;         ///< max_k |F_k| of the law itself
  };
  void open();
  bool search();
  void close();
  void adapt(double size_before);
  void offer(std::span<const double> x);

  NewtonSystem* system_ = nullptr;
  Centre centre_;
  std::vector<double> x_, y_;          ///< inner iterate; velocities of the shifted problem
  std::vector<double> kept_, kept_y_;  ///< best of the outer step
  std::vector<double> best_, near_, near_y_;
  std::vector<double> d_, Wd_, trial_, trial_y_;
  std::array<double, 3> last_{};  ///< |F|² of the last three inner iterates
  double shift_ = 0.0, best_error_ = 0.0;
  double size_ = 0.0, first_size_ = 0.0, kept_size_ = 0.0;
  bool opened_ = false;
  int inner_ = 0, failed_ = 0, outer_steps_ = 0, guards_ = 0;
  long long products_ = 0;
};

}  // namespace signorini
