#include "solvers/region_systems.h"

#include <gtest/gtest.h>

#include <vector>

#include "contact/planted_problem.h"
#include "regions/region_extractor.h"

namespace signorini::region_systems_test {
namespace {

ContactProblem planted(int regions, int contacts, double stiffness) {
  PlantedOptions options;
  options.regions = regions;
  options.contacts = regions * contacts;
  options.stiffness = stiffness;
  return make_planted_problem(options).problem;
}

/// The same problem with W and q only, and a stored zero between the first and the last contact.
ContactProblem dual_of(const ContactProblem& primal) {
  const ReducedProblem reduced = assemble_reduced(primal);
  ContactProblem dual;
  dual.W = to_scalar(reduced.W);
  dual.W.coeffRef(0, dual.W.cols() - 1) = 0.0;
  dual.W.makeCompressed();
  dual.q = reduced.q;
  dual.mu = primal.mu;
  return dual;
}

void expect_systems_of_extracted_regions(const ContactProblem& problem, RegionMode mode, TaskArena* arena) {
  const RegionPartition partition = partition_regions(problem, mode);
  const RegionExtractor extractor(problem, partition);
  std::vector<ReducedProblem> taken(partition.regions());
  for_each_region_system(problem, partition, arena,
                         [&](Index region, ReducedProblem system) { taken[region] = std::move(system); });
  for (Index i = 0; i < partition.regions(); ++i) {
    const ReducedProblem& got = taken[i];
    const ReducedProblem expected = assemble_reduced(extractor.extract(i));
    ASSERT_EQ(got.W.block_rows, count(partition.region(i)));
    EXPECT_EQ(got.W.row_begin, expected.W.row_begin);
    EXPECT_EQ(got.W.column, expected.W.column);
    EXPECT_EQ(got.W.values, expected.W.values);  // to the last bit
    EXPECT_EQ(got.q, expected.q);
  }
}

TEST(RegionSystems, HaveTheBitsOfRegionsAssembledAlone) {
  TaskArena three(3);
  for (TaskArena* const arena : {static_cast<TaskArena*>(nullptr), &three}) {
    for (const int contacts : {3, 40}) {
      const ContactProblem explicit_step = planted(25, contacts, 0.0);
      expect_systems_of_extracted_regions(explicit_step, RegionMode::points, arena);
      expect_systems_of_extracted_regions(explicit_step, RegionMode::islands, arena);
      expect_systems_of_extracted_regions(planted(25, contacts, 1.0), RegionMode::islands, arena);
      expect_systems_of_extracted_regions(dual_of(explicit_step), RegionMode::points, arena);
    }
  }
}

// Bodies whose matrices are not symmetric have all blocks of W, beside others that have one triangle mirrored.
TEST(RegionSystems, HaveTheBitsOfRegionsAssembledAloneWhereMIsNotSymmetric) {
  ContactProblem problem = planted(12, 4, 1.0);
  problem.M.makeCompressed();
  bool changed = false;
  for (Index i = 0; i < problem.dofs() / 2; ++i) {
    for (SparseRows::InnerIterator entry(problem.M, i); entry; ++entry) {
      if (entry.index() <= i || entry.value() == 0.0) continue;
      entry.valueRef() *= 1.25;  // the other triangle stays
      changed = true;
    }
  }
  ASSERT_TRUE(changed);
  TaskArena three(3);
  expect_systems_of_extracted_regions(problem, RegionMode::islands, nullptr);
  expect_systems_of_extracted_regions(problem, RegionMode::islands, &three);
}

TEST(RegionSystems, LeaveBodiesWithoutContactsAlone) {
  ContactProblem problem = planted(2, 3, 0.0);
  const ReducedProblem before = assemble_reduced(problem);
  // three more dofs that no contact touches, with a mass that has no inverse
  const Index n = problem.dofs();
  problem.M.conservativeResize(n + 3, n + 3);
  problem.H.conservativeResize(n + 3, problem.H.cols());
  problem.f.conservativeResize(n + 3);
  problem.f.tail<3>().setOnes();
  const ReducedProblem after = assemble_reduced(problem);
  EXPECT_EQ(after.W.values, before.W.values);
  EXPECT_EQ(after.q, before.q);
}

}  // namespace
}  // namespace signorini::region_systems_test
