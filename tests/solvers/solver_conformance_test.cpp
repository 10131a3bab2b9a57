// Every solver variant on every problem of the zoo, judged by the referee only.
#define SIGNORINI_DEFINE_ALLOCATION_COUNTER
#include "solvers/allocation_counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "contact/align_tangents.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

namespace signorini::solver_conformance_test {
namespace {

/// A row of a table: registry name with options.
struct Variant {
  std::string name;
  OptionMap options;

  std::string label() const {
    std::string text = name;
    for (const auto& [key, value] : options) text += "_" + key + "_" + value;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
    return text;
  }
};

/// Every registry entry with its default options, and the other sound variants.
std::vector<Variant> sound_variants() {
  std::vector<Variant> variants;
  for (const SolverEntry& entry : solver_registry()) variants.push_back({std::string(entry.name), {}});
  variants.push_back({"pgs", {{"kernel", "dense"}}});
  variants.push_back({"pcg", {{"kernel", "dense"}}});
  variants.push_back({"pcg-pgs", {{"kernel", "dense"}}});
  for (const char* name : {"pcg", "cr-full", "cr-diag"}) variants.push_back({name, {{"blocks", "2"}}});
  variants.push_back({"pgs", {{"tangent", "scalar"}}});
  variants.push_back({"pcg-pgs", {{"tol_cg", "0.0001"}}});
  variants.push_back({"ica", {{"refine", "jacobi"}}});
  variants.push_back({"ica", {{"start", "free"}}});
  variants.push_back({"ica-cr", {{"length", "0"}}});
  variants.push_back({"ica-cr", {{"length", "40"}}});
  for (const char* name : {"cr-full", "cr-diag", "minres", "sp-cr"})
    variants.push_back({name, {{"prediction", "single"}}});
  variants.push_back({"sp-active-set", {{"prediction", "coupled"}}});
  variants.push_back({"sp-cr", {{"qp", "minres"}}});
  variants.push_back({"sp-active-set", {{"qp", "minres"}}});
  variants.push_back({"sp-cr", {{"preconditioner", "full"}}});
  variants.push_back({"sp-active-set", {{"preconditioner", "full"}}});
  variants.push_back({"sp-cr", {{"preconditioner", "full"}, {"qp", "minres"}, {"lanczos", "signed"}}});
  for (const char* order : {"coloured", "symmetric"}) variants.push_back({"nsgs", {{"order", order}}});
  variants.push_back({"anderson", {{"window", "20"}}});
  variants.push_back({"anderson", {{"window", "1"}}});
  variants.push_back({"anderson", {{"guard", "none"}}});
  variants.push_back({"nncg", {{"form", "printed"}}});
  for (const char* outer : {"none", "nesterov", "anderson"})
    variants.push_back({"mass-splitting", {{"outer", outer}}});
  variants.push_back({"sap", {{"line_search", "backtracking"}}});
  variants.push_back({"apgd", {{"restart", "none"}}});
  variants.push_back({"apgd", {{"inner", "0.3"}}});
  variants.push_back({"spg", {{"step", "long"}, {"memory", "1"}}});
  variants.push_back({"fbf", {{"length", "tseng"}}});
  variants.push_back({"admm", {{"penalty", "fixed"}, {"relaxation", "1"}, {"eta", "0"}}});
  return variants;
}

/// Literal forms of the paper that need not converge but must keep every other promise.
std::vector<Variant> literal_variants() {
  return {{"pgs", {{"form", "printed"}}},
          {"pgs", {{"tangent", "componentwise"}}},
          {"pgs", {{"stop", "paper"}}},
          {"pcg", {{"form", "printed"}}},
          {"pcg", {{"form", "true"}}},
          {"pcg", {{"beta", "fr"}}},
          {"pcg", {{"stop", "paper"}}},
          {"pcg-pgs", {{"stop", "paper"}}},
          {"ica", {{"stop", "paper5"}}},
          {"ica", {{"stop", "thresholds"}}},
          {"cr-full", {{"stop", "paper"}}},
          {"sp-cr", {{"stop", "paper"}}},
          {"apgd", {{"law_form", "associated"}}},
          {"spg", {{"law_form", "associated"}}}};
}

struct Case {
  Variant variant;
  LawSpec law;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.label(); }

std::string law_label(LawSpec law) {
  if (law.law == FrictionLaw::cone) return "cone";
  return law.frame == PyramidFrame::fixed ? "pyramid" : "aligned";
}

std::unique_ptr<Solver> build(const Case& c) {
  OptionMap options = c.variant.options;
  options["law"] = enum_name(c.law.law);
  options["frame"] = enum_name(c.law.frame);
  return make_solver(c.variant.name, options);
}

std::vector<double> zeros(const ContactProblem& problem) {
  return std::vector<double>(3 * problem.contacts(), 0.0);
}

const std::vector<zoo::Specimen>& zoo_problems() {
  static const std::vector<zoo::Specimen> all = zoo::problem_zoo();
  return all;
}

const SolverTraits& traits_of(const Variant& variant) {
  for (const SolverEntry& entry : solver_registry()) {
    if (entry.name == variant.name) return entry.traits;
  }
  throw std::logic_error("no solver " + variant.name);
}

/// Solvers on velocities, which have no use for W alone.
bool needs_primal(const Variant& variant) { return traits_of(variant).needs == SolverNeeds::mass; }

/// Stops that are lengths (solvers/thresholds.h).
bool needs_time_step(const Variant& variant) {
  const auto stop = variant.options.find("stop");
  return needs_primal(variant) && stop != variant.options.end() &&
         (stop->second == "paper" || stop->second == "thresholds");
}

/// What the variant must refuse, with a reason.
bool cannot_take(const Variant& variant, const ContactProblem& problem) {
  const bool dual_only = problem.has_dual() && !problem.has_primal();
  return (needs_primal(variant) && dual_only) || (needs_time_step(variant) && !(problem.dt > 0.0));
}

/// What the variant must accept.
std::vector<zoo::Specimen> zoo_of(const Variant& variant) {
  std::vector<zoo::Specimen> taken;
  for (const zoo::Specimen& specimen : zoo_problems()) {
    if (!cannot_take(variant, specimen.problem)) taken.push_back(specimen);
  }
  return taken;
}

class Recorder : public IterationObserver {
 public:
  void on_iteration(int iteration, std::span<const double> r, std::string_view) override {
    iterations.push_back(iteration);
    last.assign(r.begin(), r.end());
    finite = finite && std::all_of(r.begin(), r.end(), [](double x) { return std::isfinite(x); });
  }
  std::vector<int> iterations;
  std::vector<double> last;
  bool finite = true;
};

constexpr double kTolerance = 1e-8;

StopRule rule(double residual = kTolerance, int iterations = 20000) {
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = iterations;
  return stop;
}

/// Problems on which a sound method need not arrive within 20 000 iterations; it still has to say so.
bool known_hard(const Variant& variant, const std::string& problem) {
  const bool newton = variant.name == "reference";
  // A heavy mass (10⁶) on a light one: Gauss–Seidel contracts by 1 − 10⁻⁶ per sweep.
  if (problem == "stack_mass_ratio_1e6") return variant.name != "pcg" && !newton;
  // μ = 10: the tangential bound follows the normal impulse so strongly that fixed-point iterations run into
  // a cycle.
  return problem == "planted_rough" && !newton;
}

class SolverConformance : public testing::TestWithParam<Variant> {
 protected:
  /// check(case) under the cone, the pyramid and the aligned pyramid.
  template <class Check>
  void for_each_law(Check&& check) {
    const SolverTraits& traits = traits_of(GetParam());
    for (const LawSpec law :
         {LawSpec{FrictionLaw::cone, PyramidFrame::fixed}, LawSpec{FrictionLaw::pyramid, PyramidFrame::fixed},
          LawSpec{FrictionLaw::pyramid, PyramidFrame::aligned}}) {
      if (!(is_cone(law.law) ? traits.cone : traits.pyramid)) continue;
      SCOPED_TRACE(law_label(law));
      check(Case{GetParam(), law});
    }
  }
};
class SoundSolver : public SolverConformance {};
class AnySolver : public SolverConformance {};

std::string variant_name(const testing::TestParamInfo<Variant>& info) { return info.param.label(); }

TEST_P(SoundSolver, ReachesTheToleranceOnTheWholeZoo) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      const auto solver = build(c);
      ASSERT_EQ(solver->unsupported_reason(specimen.problem), "") << specimen.name;
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      const SolveReport report = solver->solve(r, rule(), nullptr);
      const Residuals errors = Referee(specimen.problem).measure(r, c.law);
      if (known_hard(c.variant, specimen.name)) {
        EXPECT_NE(report.status == SolveStatus::converged, errors.residual > kTolerance) << specimen.name;
        continue;
      }
      EXPECT_EQ(enum_name(report.status), "converged") << specimen.name << " after " << report.iterations;
      EXPECT_LE(errors.residual, kTolerance) << specimen.name;
      // The solver's own number comes from its own W, the referee's from M.
      EXPECT_NEAR(report.own_residual, errors.residual, 0.1 * kTolerance) << specimen.name;
    }
  });
}

TEST_P(AnySolver, RefusesWithAReasonWhatItCannotTake) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_problems()) {
      EXPECT_EQ(build(c)->unsupported_reason(specimen.problem).empty(),
                !cannot_take(c.variant, specimen.problem))
          << specimen.name;
    }
  });
}

// Traces and timed runs iterate on without the exact error that ends other solves: they may not give up
// early.
TEST_P(SoundSolver, ReachesTheToleranceWithoutBeingStopped) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      // on the rough one `reference` keeps its best iterate, which only the exact error can pick
      if (known_hard(c.variant, specimen.name) || specimen.name == "planted_rough") continue;
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      const int needed = solver->solve(r, rule(), nullptr).iterations;
      StopRule fixed =
          rule(kTolerance, 3 * needed + 50);  // others may go a different way than where they stop
      fixed.fixed_iterations = true;
      r = zeros(specimen.problem);
      solver->solve(r, fixed, nullptr);
      EXPECT_LE(Referee(specimen.problem).measure(r, c.law).residual, kTolerance)
          << specimen.name << ", stopped after " << needed;
    }
  });
}

TEST_P(SoundSolver, FindsTheKnownAnswersWhereTheyAreUnique) {
  for_each_law([](const Case& c) {
    if (c.law.frame == PyramidFrame::aligned) return;  // the zoo's answers are for the problem's own tangents
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      if (!specimen.unique || !specimen.has_solution(c.law.law)) continue;
      if (known_hard(c.variant, specimen.name)) continue;
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      solver->solve(r, rule(1e-11), nullptr);
      const Vector& expected = specimen.solution(c.law.law);
      if (expected.size() == 0) continue;
      const double scale = expected.cwiseAbs().maxCoeff();
      for (Eigen::Index i = 0; i < expected.size(); ++i) {
        // A residual of 1e-11 moves r by at most cond(W) times as much, and no W of the zoo is worse than the
        // stack's 1e6.
        EXPECT_NEAR(r[i], expected[i], 1e-5 * scale) << specimen.name << " row " << i;
      }
    }
  });
}

TEST_P(SoundSolver, StartsAtTheAnswerAndStaysThere) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      if (known_hard(c.variant, specimen.name)) continue;
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      solver->solve(r, rule(1e-10), nullptr);
      const std::vector<double> answer = r;
      const SolveReport report = solver->solve(r, rule(1e-9), nullptr);
      EXPECT_EQ(enum_name(report.status), "converged") << specimen.name;
      EXPECT_EQ(report.iterations, 0) << specimen.name;
      if (c.law.frame == PyramidFrame::fixed) {
        EXPECT_EQ(r, answer) << specimen.name;
      } else {
        const Residuals errors = Referee(specimen.problem).measure(r, c.law);
        EXPECT_LE(errors.residual, 1e-9) << specimen.name;
      }
    }
  });
}

TEST_P(SoundSolver, WithoutFrictionTheTangentialImpulsesAreZero) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      ContactProblem problem = specimen.problem;
      problem.mu.setZero();
      const auto solver = build(c);
      solver->prepare(problem);
      std::vector<double> r = zeros(problem);
      solver->solve(r, rule(), nullptr);
      for (std::size_t k = 0; k < r.size(); k += 3) {
        EXPECT_EQ(std::abs(r[k + 1]), 0.0) << specimen.name;
        EXPECT_EQ(std::abs(r[k + 2]), 0.0) << specimen.name;
      }
    }
  });
}

TEST_P(AnySolver, ClaimsConvergenceOnlyWhereTheRefereeAgrees) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      const SolveReport report = solver->solve(r, rule(1e-6, 300), nullptr);
      const Residuals errors = Referee(specimen.problem).measure(r, c.law);
      EXPECT_TRUE(std::all_of(r.begin(), r.end(), [](double x) { return std::isfinite(x); }))
          << specimen.name;
      EXPECT_EQ(report.status == SolveStatus::converged, errors.residual <= 1e-6)
          << specimen.name << ": " << enum_name(report.status) << " at " << errors.residual;
      EXPECT_LE(report.iterations, 300) << specimen.name;
    }
  });
}

TEST_P(AnySolver, GivesTheSameBitsAgainAndUnderObservation) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      std::vector<double> first = zeros(specimen.problem);
      std::vector<double> second = first;
      std::vector<double> observed = first;
      const SolveReport a = solver->solve(first, rule(1e-6, 60), nullptr);
      const SolveReport b = solver->solve(second, rule(1e-6, 60), nullptr);
      Recorder recorder;
      const SolveReport traced = solver->solve(observed, rule(1e-6, 60), &recorder);
      EXPECT_EQ(first, second) << specimen.name;
      EXPECT_EQ(first, observed) << specimen.name;
      EXPECT_EQ(a.iterations, b.iterations) << specimen.name;
      EXPECT_EQ(a.iterations, traced.iterations) << specimen.name;
      EXPECT_TRUE(recorder.finite) << specimen.name;
      if (specimen.problem.contacts() == 0) continue;
      // The observer sees the start and every iteration once, in order.
      ASSERT_EQ(count(recorder.iterations), traced.iterations + 1) << specimen.name;
      for (std::size_t i = 0; i < recorder.iterations.size(); ++i)
        EXPECT_EQ(recorder.iterations[i], static_cast<int>(i));
    }
  });
}

/// Every iteration belongs to a phase that the traits name, and the report counts them.
TEST_P(AnySolver, CountsItsIterationsByTheirPhase) {
  for_each_law([](const Case& c) {
    const SolverTraits& traits = traits_of(c.variant);
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      const auto solver = build(c);
      EXPECT_EQ(solver->traits().phases, traits.phases);
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      std::map<std::string, int, std::less<>> seen;
      class Phases : public IterationObserver {
       public:
        explicit Phases(std::map<std::string, int, std::less<>>& seen) : seen_(seen) {}
        void on_iteration(int iteration, std::span<const double>, std::string_view phase) override {
          if (iteration > 0) ++seen_[std::string(phase)];
        }

       private:
        std::map<std::string, int, std::less<>>& seen_;
      } observer(seen);
      const SolveReport report = solver->solve(r, rule(1e-6, 80), &observer);
      int counted = 0;
      for (std::size_t p = 0; p < traits.phases.size(); ++p) {
        counted += report.phase_iterations[p];
        if (p == 0 || !traits.phases[p].empty()) {
          EXPECT_EQ(report.phase_iterations[p], seen[std::string(traits.phases[p])]) << specimen.name;
        }
      }
      EXPECT_EQ(counted, report.iterations) << specimen.name;
    }
  });
}

TEST_P(AnySolver, AFixedNumberOfIterationsEndsAtTheObservedIterate) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      StopRule stop = rule();
      stop.fixed_iterations = true;
      stop.max_iterations = 7;
      Recorder recorder;
      std::vector<double> observed = zeros(specimen.problem);
      const SolveReport report = solver->solve(observed, stop, &recorder);
      std::vector<double> timed = zeros(specimen.problem);
      const SolveReport again = solver->solve(timed, stop, nullptr);
      EXPECT_EQ(timed, observed) << specimen.name;
      EXPECT_EQ(report.iterations, again.iterations) << specimen.name;
      if (specimen.problem.contacts() == 0 || report.status == SolveStatus::diverged) continue;
      EXPECT_EQ(report.iterations, recorder.iterations.back()) << specimen.name;
      for (std::size_t i = 0; i < observed.size(); ++i)
        EXPECT_EQ(observed[i], recorder.last[i]) << specimen.name;
    }
  });
}

TEST_P(AnySolver, AllocatesNothingAfterPrepare) {
  for_each_law([](const Case& c) {
    for (const zoo::Specimen& specimen : zoo_of(c.variant)) {
      const auto solver = build(c);
      solver->prepare(specimen.problem);
      std::vector<double> r = zeros(specimen.problem);
      StopRule fixed = rule(1e-6, 40);
      fixed.fixed_iterations = true;
      // `auto` prepares Newton steps where it needs them first
      if (c.variant.name == "auto") solver->solve(r, rule(1e-6, 200), nullptr);
      std::fill(r.begin(), r.end(), 0.0);
      EXPECT_EQ(test::allocations_during([&] { solver->solve(r, rule(1e-6, 200), nullptr); }), 0)
          << specimen.name;
      EXPECT_EQ(test::allocations_during([&] { solver->solve(r, fixed, nullptr); }), 0) << specimen.name;
    }
  });
}

TEST_P(AnySolver, ObeysIterationAndTimeLimits) {
  for_each_law([](const Case& c) {
    const zoo::Specimen hard = zoo::specimen("stack_mass_ratio_1e6");
    const auto solver = build(c);
    solver->prepare(hard.problem);
    std::vector<double> r = zeros(hard.problem);
    EXPECT_LE(solver->solve(r, rule(1e-14, 1), nullptr).iterations, 1);
    std::fill(r.begin(), r.end(), 0.0);
    EXPECT_EQ(solver->solve(r, rule(1e-14, 0), nullptr).iterations, 0);
    std::fill(r.begin(), r.end(), 0.0);
    StopRule stop = rule(1e-14, 1000000000);
    stop.time_limit = 0.0;
    const SolveReport report = solver->solve(r, stop, nullptr);
    EXPECT_LE(report.iterations, 1);
    EXPECT_NE(report.status, SolveStatus::iteration_limit);
  });
}

TEST_P(AnySolver, StartValuesThatAreNotFiniteAreReplaced) {
  for_each_law([](const Case& c) {
    const zoo::Specimen specimen = zoo::specimen("planted_cone");
    const auto solver = build(c);
    solver->prepare(specimen.problem);
    std::vector<double> r = zeros(specimen.problem);
    solver->solve(r, rule(1e-6, 50), nullptr);
    std::vector<double> bad = zeros(specimen.problem);
    bad[4] = std::numeric_limits<double>::quiet_NaN();
    solver->solve(bad, rule(1e-6, 50), nullptr);
    EXPECT_EQ(bad, r);
  });
}

TEST(AllocationCounter, SeesEveryKindOfAllocation) {
  std::vector<double> standard;
  Vector eigen;
  EXPECT_GE(test::allocations_during([&] { standard.resize(100); }), 1);
  EXPECT_GE(test::allocations_during([&] { eigen.resize(100); }), 1);
  EXPECT_EQ(test::allocations_during([&] { eigen.setConstant(standard[0]); }), 0);
}

INSTANTIATE_TEST_SUITE_P(Variants, SoundSolver, testing::ValuesIn(sound_variants()), variant_name);
INSTANTIATE_TEST_SUITE_P(Variants, AnySolver, testing::ValuesIn([] {
                           std::vector<Variant> all = sound_variants();
                           for (const Variant& variant : literal_variants()) all.push_back(variant);
                           return all;
                         }()),
                         variant_name);

}  // namespace
}  // namespace signorini::solver_conformance_test
