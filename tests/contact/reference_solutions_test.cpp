#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "contact/residuals.h"
#include "record/fclib_file.h"

/// The eight reference problems with a true solution (cone law). Residuals of r* and of ½ r* were computed
/// outside this program, with dense NumPy from the formulas.
namespace signorini::reference_solutions_test {
namespace {

struct Reference {
  const char* name;
  double half_residual;
};

void PrintTo(const Reference& reference, std::ostream* out) { *out << reference.name; }

class ReferenceSolutions : public testing::TestWithParam<Reference> {};

TEST_P(ReferenceSolutions, AreSolutionsForTheReferee) {
  const std::filesystem::path path = std::filesystem::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems" /
                                     "reference" / (std::string(GetParam().name) + ".hdf5");
  const FclibFile file = read_fclib(path);
  ASSERT_TRUE(file.solution.has_value());
  const Referee referee(file.problem);
  EXPECT_LT(referee.measure(span_of(file.solution->r), {}).residual, 1e-12);
  const Vector half = 0.5 * file.solution->r;
  // Two programs sum a few hundred products in different orders.
  EXPECT_NEAR(referee.measure(span_of(half), {}).residual, GetParam().half_residual, 1e-12);
}

const Reference kReferences[] = {{"expl", 0.364553637194117},  {"f2", 0.2122415246385977},
                                 {"f3", 0.3365907187589259},   {"f4", 0.342454498179856},
                                 {"fE", 0.3210010804044158},   {"net0", 0.5708385837968026},
                                 {"net1", 0.3523668785508399}, {"net3", 0.3869175162098152}};

INSTANTIATE_TEST_SUITE_P(Files, ReferenceSolutions, testing::ValuesIn(kReferences),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace signorini::reference_solutions_test
