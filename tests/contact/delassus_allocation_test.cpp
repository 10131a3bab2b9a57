#define SIGNORINI_DEFINE_ALLOCATION_COUNTER
#include <gtest/gtest.h>

#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "solvers/allocation_counter.h"

namespace signorini::delassus_allocation_test {
namespace {

/// Products run inside solver loops: after the first one, which may warm workspaces up, nothing is allocated.
TEST(DelassusOperatorApply, AllocatesNothing) {
  for (const double stiffness : {0.0, 1.0}) {
    PlantedOptions options;
    options.contacts = 40;
    options.regions = 4;
    options.stiffness = stiffness;
    const PlantedProblem planted = make_planted_problem(options);
    ContactProblem dual;
    dual.mu = planted.problem.mu;
    const ReducedProblem reduced = assemble_reduced(planted.problem);
    dual.W = to_scalar(reduced.W);
    dual.q = reduced.q;
    for (const ContactProblem& problem : {planted.problem, dual}) {
      const DelassusOperator W(problem);
      Vector u(planted.r.size());
      W.apply(span_of(planted.r), span_of(u));
      EXPECT_EQ(test::allocations_during([&] {
                  for (int i = 0; i < 10; ++i) W.apply(span_of(planted.r), span_of(u));
                }),
                0);
    }
  }
}

TEST(AllocationCounter, SeesAnAssembly) {
  const PlantedProblem planted = make_planted_problem({});
  EXPECT_GT(test::allocations_during([&] { assemble_delassus(planted.problem); }), 0);
}

}  // namespace
}  // namespace signorini::delassus_allocation_test
