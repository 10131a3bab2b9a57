#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/global_newton/newton_step.h"
#include "solvers/global_newton/velocity_newton.h"
#include "solvers/registered_solver.h"

/// `body-newton`: semi-smooth Newton on the equations of Alart and Curnier (1991) in global form: velocities and
/// impulses together, W never formed. An iteration is one step of newton_step.h, that is one sparse factorisation
/// of M + H C Hᵀ.
///
/// Phase `newton`: full steps with the regularisation α = 0.01 times the residual, in [alpha_min, 0.01]. Fast where
/// it converges; nothing makes it.
///
/// Phase `proximal` (`globalise = proximal`), where `patience` steps have gained less than 10 %: a proximal point
/// method. Around a centre r° it solves the equations of W + a S, q − a S r° (newton_step.h; unique where a is
/// large) by Newton steps with backtracking on the sum of squared errors, against the largest of the last three,
/// until that residual is 0.2 times the true one at r°; the answer is the next centre. a falls where few steps were
/// enough. A step of which no part lowers the errors is taken whole. After three of these, or 20 steps, r° stays and
/// a grows fourfold; for a while it then falls no further than there. The phase starts from r = 0, or from the best
/// iterate of the first one where that is below 1e-3. After 300 iterations without a gain of 10 % the solve ends at
/// its best iterate.
///
/// Source: ours for the globalisation; the proximal point method is Rockafellar's (1976). Numbers were chosen on
/// recorded problems, not derived.
namespace signorini {

enum class Globalise { proximal, none };
template <>
struct EnumNames<Globalise> {
  static constexpr std::array<std::pair<Globalise, std::string_view>, 2> value{
      {{Globalise::proximal, "proximal"}, {Globalise::none, "none"}}};
};

struct BodyNewtonOptions {
  CommonOptions common;
  Globalise globalise = Globalise::proximal;
  int patience = 8;
  double alpha_min = 1e-11;
  Judge judge = Judge::exact;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("globalise", globalise,
      "what follows full Newton steps that do not get on. proximal: Newton on nearby problems that have one "
      "answer "
      "(proximal point method); none: nothing, the solve ends");
    v("patience", patience, "full steps without a gain of 10 % after which that is so");
    v("alpha_min", alpha_min,
      "least regularisation of W, relative to the effective inverse mass of a contact; redundant contacts "
      "have none "
      "of their own");
    v("judge", judge, kJudgeHelp);
  }
  void validate() const;
};

class BodyNewton : public RegisteredSolver<BodyNewton, BodyNewtonOptions, VelocityNewton> {
 public:
  static constexpr std::string_view kName = "body-newton";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::mass, .phases = {"newton", "proximal"}};
  explicit BodyNewton(const Options& options) : RegisteredSolver(options) {}

  void prepare(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  std::size_t phase() const override { return last_was_proximal_ ? 1 : 0; }

 private:
  /// Impulses with the velocities that they give.
  struct Point {
    std::vector<double> r;  ///< 3m, N·s
    std::vector<double> y;  ///< n, v − v_free, m/s
    double residual = 0.0;  ///< m/s
  };
  enum class Stage { newton, proximal, last, ended };

  void evaluate(std::span<const double> r);
  void take(const Point& point, std::span<double> r);
  void keep(Point& point, std::span<const double> r) const;
  void note_gain(std::span<const double> r);

  bool step_fully(std::span<double> r);
  void begin_proximal(std::span<double> r);
  void step_proximally(std::span<double> r);
  void open_inner(std::span<const double> r);
  bool search(std::span<double> r);
  double merit_at(double t, std::span<const double> r);
  void close_inner(std::span<double> r);
  void accept();
  void reject(std::span<double> r);

  NewtonStep step_;
  std::vector<double> trial_r_, trial_u_;  ///< 3m

  // of one solve
  Stage stage_ = Stage::newton;
  bool last_was_proximal_ = false;
  Point best_point_;
  // of the problem around a centre
  bool inner_ = false;      ///< there is one
  Point centre_, nearest_;  ///< nearest: the best iterate for that problem
  NewtonStep::Shift shift_;
  double shifted_first_ = 0.0, shifted_least_ = 0.0;  ///< m/s
  std::array<double, 3> merits_{};                    ///< of the last iterates
  int steps_ = 0, failures_ = 0;
  double least_shift_ = 0.0;       ///< of a, since the last centre that was not left
  double refused_residual_ = 0.0;  ///< there, m/s
};

}  // namespace signorini
