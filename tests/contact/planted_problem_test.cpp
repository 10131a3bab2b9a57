#include "contact/planted_problem.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "contact/delassus_operator.h"
#include "contact/residuals.h"

namespace signorini::planted_problem_test {
namespace {

struct Case {
  const char* name;
  PlantedOptions options;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

Case with(const char* name, void (*change)(PlantedOptions&)) {
  Case c{name, {}};
  change(c.options);
  return c;
}

const Case kCases[] = {
    with("defaults", [](PlantedOptions&) {}),
    with("one_contact", [](PlantedOptions& o) { o.contacts = 1; }),
    with("pyramid", [](PlantedOptions& o) { o.law = FrictionLaw::pyramid; }),
    with("frictionless", [](PlantedOptions& o) { o.mu = 0.0; }),
    with("pyramid_frictionless", [](PlantedOptions& o) { o.mu = 0.0, o.law = FrictionLaw::pyramid; }),
    with("rough", [](PlantedOptions& o) { o.mu = 10.0; }),
    with("regions", [](PlantedOptions& o) { o.contacts = 50, o.regions = 7; }),
    with("implicit", [](PlantedOptions& o) { o.stiffness = 10.0; }),
    with("implicit_regions_pyramid",
         [](PlantedOptions& o) {
           o.contacts = 60, o.regions = 6, o.stiffness = 3.0, o.law = FrictionLaw::pyramid;
         }),
    with("mass_ratio", [](PlantedOptions& o) { o.mass_ratio = 1e6; }),
    with("stiff_mass_ratio", [](PlantedOptions& o) { o.mass_ratio = 1e4, o.stiffness = 1e3; }),
    with("sharing", [](PlantedOptions& o) { o.contacts = 40, o.sharing = 0.7, o.regions = 3; }),
    with("sharing_duplicates", [](PlantedOptions& o) { o.sharing = 0.5, o.duplicates = 4; }),
    with("duplicates", [](PlantedOptions& o) { o.contacts = 40, o.duplicates = 11, o.regions = 3; }),
    with("duplicates_pyramid", [](PlantedOptions& o) { o.duplicates = 5, o.law = FrictionLaw::pyramid; }),
};

class PlantedProblems : public testing::TestWithParam<Case> {};

TEST_P(PlantedProblems, AreSolvedByTheirPlantedImpulse) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    PlantedOptions options = GetParam().options;
    options.seed = seed;
    const PlantedProblem planted = make_planted_problem(options);
    ASSERT_EQ(find_defect(planted.problem), std::nullopt);
    ASSERT_EQ(planted.problem.contacts(), options.contacts);
    const Referee referee(planted.problem);
    const Residuals errors = referee.measure(span_of(planted.r), {options.law, PyramidFrame::fixed});
    // u is recomputed through M: its error is a few ε times the velocities that cancel in Hᵀ v + w, relative
    // to U.
    const Vector v = referee.velocity(span_of(planted.r));
    const double cancelled = std::max(v.cwiseAbs().maxCoeff(), planted.problem.w.cwiseAbs().maxCoeff());
    // W r, at the scale of the residual: λ_max(W_kk) r_k.
    double pushed = 0.0;
    for (Index k = 0; k < options.contacts; ++k) {
      pushed = std::max(
          pushed, referee.diagonal_blocks().middleRows<3>(3 * k).norm() * planted.r.segment<3>(3 * k).norm());
    }
    const double condition = 1.0 + options.stiffness * 100.0;
    const double tolerance =
        20.0 * 2.3e-16 * condition * (1.0 + options.mu) * (cancelled + pushed) / referee.velocity_scale();
    EXPECT_LE(errors.residual, tolerance) << "seed " << seed;
    const Vector u = referee.relative_velocity(span_of(planted.r));
    EXPECT_LE((u - planted.u).cwiseAbs().maxCoeff(), tolerance * referee.velocity_scale());
  }
}

INSTANTIATE_TEST_SUITE_P(Options, PlantedProblems, testing::ValuesIn(kCases), case_name);

}  // namespace
}  // namespace signorini::planted_problem_test
