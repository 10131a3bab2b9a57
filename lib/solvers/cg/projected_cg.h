#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/cg/tangent_cone.h"
#include "solvers/iterative_solver.h"
#include "solvers/relaxation/gauss_seidel.h"
#include "solvers/schwarz/block_inverse.h"

/// The projected conjugate gradient iteration of Lazarevych 2010 (eqs. 16–19, Algorithm 2) in three forms.
///
/// **robust** (docs/theory.md, C12–C18), with ϱ = −(W r + q) [m/s], g its projection on the tangent cone
/// (tangent_cone.h), sliding data S [–] and curvature C [1/kg], and D = (1/W_NN, 1/λ_max(W_TT)) [kg]:
///
///     z = D/(1 + D C) g,   F = d + S d_N                        sliding impulses follow their bound
///     α = g·d / (d·W F + d·C d)                                 if either is ≤ 0: d = z; then α = 1 where the
///                                                               denominator still is, and g·d ≤ 0: stuck
///     r = P(r + α F),   ϱ, S, C, g, z anew                      no recurrence across a projection
///     β = g'·(z' − z)/g·z (PR) or g'·z'/g·z (FR), ≥ 0, and 0 when a contact opened, closed, stuck or slid
///     d = projection of z' + β d on the tangent cone
///
/// With blocks, z_N of the contacts that press or are about to is Σ_E A_E⁻¹ g_N (schwarz/block_inverse.h, of W_NN), restricted
/// to them: descent survives the projection, as g·(z − P_T z) ≤ 0 for g in the tangent cone T. z_T stays as it is: blocks of
/// tangents, or of both, do harm (docs/notes/schwarz.md).
///
/// **true**: Algorithm 2 with C12–C15 only (true residual, exact step length; no preconditioner, bound or
/// curvature terms, β as printed). It stalls with friction and shows what C16–C18 are for.
///
/// **printed**: Algorithm 2 as printed, with the misprint λ + αλ read as λ + αd: α = r·r/d·Wd, and the
/// residual by its recurrence r̃ = r − αWd across the projection. Eq. 19 is read as the projection that
/// vanishes at a solution, which the text after it asks for. Its loop may end at a point that is no solution
/// (C14): the error is always the exact one.
///
/// Two products with W per iteration (robust, true); printed needs the second one only where the error is
/// asked for. A run of a fixed number of iterations measures no error.
namespace signorini {

enum class CgBeta { fr, pr };
template <>
struct EnumNames<CgBeta> {
  static constexpr std::array<std::pair<CgBeta, std::string_view>, 2> value{
      {{CgBeta::fr, "fr"}, {CgBeta::pr, "pr"}}};
};

enum class CgForm { robust, printed, true_residual };
template <>
struct EnumNames<CgForm> {
  static constexpr std::array<std::pair<CgForm, std::string_view>, 3> value{
      {{CgForm::robust, "robust"}, {CgForm::printed, "printed"}, {CgForm::true_residual, "true"}}};
};

class ProjectedCg {
 public:
  struct Settings {
    CgBeta beta = CgBeta::pr;
    CgForm form = CgForm::robust;
    bool exact = true;  ///< measure the error of every iterate
  };

  /// `data` must outlive the use.
  void prepare(const GaussSeidelData& data, const ContactBlockOptions& blocks = {});
  /// Begins with u = W r + q; `counters` and `products` are counted on from now on. Products are shared among the threads of
  /// `arena`.
  Iteration start(const Settings& settings, std::span<const double> r, SolveCounters& counters,
                  long long& products, TaskArena* arena);
  /// The first one projects r on the admissible set before it steps, and offers the result to `best`.
  Iteration iterate(std::span<double> r, BestIterate& best);
  /// β of the next iteration.
  void settle();

  /// Of the last iterate, m/s; NaN where it was not measured.
  double error() const { return error_; }
  Norms step() const { return step_; }  ///< r − the iterate before, N·s
  Norms residual() const;               ///< g, m/s

 private:
  struct Terms {
    double numerator = 0.0;
    double denominator = 0.0;
  };
  /// Breaks cycles (C18). An exact step along a direction of large effective mass may run far out of the
  /// admissible set, and its projection may undo the progress of the steps before it: with one contact and
  /// W_T2T2 ≪ W_T1T1 it cycles through r = 0, r_N > 0, sticking. When g·z had no new minimum for kPatience
  /// iterations, the next kPatience steps are at most one Jacobi step long (α ≤ 1, z being scaled by D), half
  /// of it the next time, and so on. Runs that converge steadily are not affected.
  class Watchdog {
   public:
    double longest_step() const { return guarded_ > 0 ? limit_ : std::numeric_limits<double>::infinity(); }
    void observe(double g_dot_z);

   private:
    static constexpr int kPatience = 100;
    double least_ = std::numeric_limits<double>::infinity();
    double limit_ = 1.0;
    int waited_ = 0;
    int guarded_ = 0;
    bool triggered_ = false;
  };

  bool robust() const { return settings_.form == CgForm::robust; }
  void evaluate(std::span<const double> r);
  template <class Law>
  bool make_admissible(std::span<double> r) const;
  template <class Law>
  void begin(std::span<double> r, BestIterate& best);
  template <class Law>
  void project_residual(std::span<const double> r);
  void precondition_normals();
  template <class Law>
  Terms aim(double beta);
  template <class Law>
  void move(double alpha, std::span<double> r);
  template <class Law>
  Iteration step_forward(std::span<double> r);
  template <class Law>
  Iteration step_printed(std::span<double> r);

  const GaussSeidelData* data_ = nullptr;
  Settings settings_;
  SolveCounters* counters_ = nullptr;
  long long* products_ = nullptr;
  TaskArena* arena_ = nullptr;
  std::vector<double> u_, z_, d_, F_, WF_;        // 3m
  std::vector<double> normal_step_, stick_step_;  // m: 1/W_NN, 1/λ_max(W_TT); 0 where a contact cannot move
  std::vector<ContactFace> face_;                 // m
  bool in_blocks_ = false;
  BlockInverse blocks_;
  std::vector<ContactRows> rows_;  // m: the normals that are free
  std::vector<double> block_z_;    // 3m: g, then z of the normals
  int faces_changed_ = 0;          ///< contacts that opened, closed, stuck or slid in the last step

  // of one solve
  bool fresh_ = true;
  double error_ = std::numeric_limits<double>::quiet_NaN();
  double g_dot_z_ = 0.0, g_dot_old_z_ = 0.0, old_g_dot_z_ = 0.0, beta_ = 0.0;
  Norms step_;
  Watchdog watchdog_;
};

}  // namespace signorini
