// What rows say of the method that `auto` chose.
#include "harness/chosen_method.h"

#include <gtest/gtest.h>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "harness/protocols.h"

namespace signorini::chosen_method_test {
namespace {

ContactProblem many_islands() { return make_planted_problem({.contacts = 30, .regions = 12}).problem; }

/// A solver whose regions say what their number of contacts is, and which tells why.
class Telling : public RegionSolver {
 public:
  Telling(std::vector<std::string> said, SolveStatus last) {
    for (std::string& text : said) {
      SolveReport report;
      report.status = reports_.size() + 1 == said.size() ? last : SolveStatus::converged;
      report.message = std::move(text);
      reports_.push_back(std::move(report));
    }
  }
  std::string_view name() const override { return "telling"; }
  std::string options() const override { return ""; }
  const CommonOptions& common() const override { return common_; }
  const SolverTraits& traits() const override { return traits_; }
  std::unique_ptr<Solver> fresh() const override { return nullptr; }
  std::string unsupported_reason(const ContactProblem&) const override { return ""; }
  void prepare(const ContactProblem&) override {}
  SolveReport solve(std::span<double>, const StopRule&, IterationObserver*) override { return {}; }
  const RegionPartition& partition() const override { return partition_; }
  std::span<const SolveReport> region_reports() const override { return reports_; }
  std::string choice(const ContactProblem&) const override { return "why"; }

 private:
  std::vector<SolveReport> reports_;
  CommonOptions common_;
  SolverTraits traits_;
  RegionPartition partition_;
};

std::string told(std::vector<std::string> said, SolveStatus last = SolveStatus::converged) {
  SolveReport whole;
  whole.status = last;
  whole.message = "region 3 (7 contacts): b";
  return chosen_method({}, Telling(std::move(said), last), whole);
}

TEST(ChosenMethod, CountsRegionsByWhatTheyUsed) {
  EXPECT_EQ(told({"a", "a", "a"}), "a (why)");
  EXPECT_EQ(told({"b", "a", "a"}), "a: 2 regions, b: 1 region (why)");
  EXPECT_EQ(told({"b", "a", "c", "c", "a"}), "a: 2 regions, c: 2 regions, b: 1 region (why)");
  EXPECT_EQ(told({"a", "b"}, SolveStatus::stalled), "region 3 (7 contacts): b (why)");
}

/// On rows of every protocol; rows of solvers that do not choose say nothing.
TEST(ChosenMethod, StandsOnRows) {
  const ContactProblem problem = many_islands();
  const Referee referee = make_referee(problem);
  const RunTarget target = make_target(problem, referee, "", "file", "1");
  for (const RegionMode mode : {RegionMode::none, RegionMode::islands}) {
    PreparedRun run =
        prepare_run(target, SolverVariant{.name = "auto", .label = "auto", .options = {}}, mode, 1);
    const std::string message = solve_self_stopped(target, run, {.tolerance = 1e-6}).record.message;
    EXPECT_EQ(message.find("impulses (no body deforms, "), 0U) << message;
    const TracedRun traced = trace_run(target, run, {.tolerance = 1e-6});
    EXPECT_EQ(traced.record.message, message);
    const TimedRun timed{&run, &traced};
    EXPECT_EQ(time_runs(target, std::span(&timed, 1), {.tolerance = 1e-6}, {}).at(0).message, message);
    const std::string missed =
        trace_run(target, run, {.tolerance = 1e-9, .max_iterations = 1}).record.message;
    EXPECT_EQ(missed, message + "; residual 1.0e-09 not reached within 1 iterations");
  }
  PreparedRun plain = prepare_run(target, SolverVariant{.name = "pgs", .label = "pgs", .options = {}},
                                  RegionMode::islands, 1);
  EXPECT_EQ(solve_self_stopped(target, plain, {.tolerance = 1e-6}).record.message, "");
}

}  // namespace
}  // namespace signorini::chosen_method_test
