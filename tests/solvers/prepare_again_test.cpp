#include <gtest/gtest.h>

#include <cstring>

#include "contact/planted_problem.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

// A solver that has solved one problem and is prepared for the next gives the bits of a new solver, whatever
// it kept; told that only contacts have changed, it still meets the asked residual.

namespace signorini::prepare_again_test {
namespace {

ContactProblem planted(std::uint64_t seed, int contacts) {
  PlantedOptions options;
  options.contacts = contacts;
  options.regions = 1;
  options.stiffness = 5.0;
  options.seed = seed;
  ContactProblem problem = make_planted_problem(options).problem;
  problem.W = SparseRows();
  problem.q = Vector();
  return problem;
}

/// a and b side by side: two groups of mechanical bodies.
ContactProblem joined(const ContactProblem& a, const ContactProblem& b) {
  ContactProblem out;
  std::vector<Eigen::Triplet<double, Index>> mass, directions;
  Index dof = 0, contact = 0;
  out.f.resize(a.dofs() + b.dofs());
  out.w.resize(3 * (a.contacts() + b.contacts()));
  out.mu.resize(a.contacts() + b.contacts());
  for (const ContactProblem* part : {&a, &b}) {
    for (Index i = 0; i < part->dofs(); ++i) {
      for (SparseRows::InnerIterator e(part->M, i); e; ++e)
        mass.emplace_back(dof + i, dof + e.index(), e.value());
    }
    for (Index c = 0; c < 3 * part->contacts(); ++c) {
      for (SparseColumns::InnerIterator e(part->H, c); e; ++e)
        directions.emplace_back(dof + e.index(), 3 * contact + c, e.value());
    }
    out.f.segment(dof, part->dofs()) = part->f;
    out.w.segment(3 * contact, 3 * part->contacts()) = part->w;
    out.mu.segment(contact, part->contacts()) = part->mu;
    dof += part->dofs();
    contact += part->contacts();
  }
  out.M.resize(dof, dof);
  out.M.setFromTriplets(mass.begin(), mass.end());
  out.H.resize(dof, 3 * contact);
  out.H.setFromTriplets(directions.begin(), directions.end());
  return out;
}

/// The same M and f with every second contact only.
ContactProblem thinned(const ContactProblem& problem) {
  ContactProblem out = problem;
  const Index kept = (problem.contacts() + 1) / 2;
  std::vector<Eigen::Triplet<double, Index>> directions;
  out.w.resize(3 * kept);
  out.mu.resize(kept);
  for (Index k = 0; k < kept; ++k) {
    for (Index c = 0; c < 3; ++c) {
      for (SparseColumns::InnerIterator e(problem.H, 6 * k + c); e; ++e)
        directions.emplace_back(e.index(), 3 * k + c, e.value());
      out.w[3 * k + c] = problem.w[6 * k + c];
    }
    out.mu[k] = problem.mu[2 * k];
  }
  out.H.resize(problem.dofs(), 3 * kept);
  out.H.setFromTriplets(directions.begin(), directions.end());
  return out;
}

ContactProblem heavier(ContactProblem problem) {
  problem.M *= 1.25;
  problem.f *= 1.25;
  return problem;
}

class PrepareAgain : public ::testing::TestWithParam<SolverEntry> {};

Vector solve(Solver& solver, const ContactProblem& problem) {
  Vector r = Vector::Zero(3 * problem.contacts());
  StopRule stop;
  stop.residual = 1e-6;
  stop.max_iterations = 3000;
  solver.solve(span_of(r), stop, nullptr);
  return r;
}

TEST_P(PrepareAgain, GivesTheBitsOfANewSolver) {
  const ContactProblem a = planted(1, 6), b = planted(2, 9);
  const ContactProblem both = joined(a, b);
  // the same twice, fewer contacts, one body changed, bodies in another order, a body gone, the first again
  const ContactProblem sequence[] = {both, both, thinned(both), joined(heavier(a), b), joined(b, a), b, both};
  const auto used = GetParam().create({});
  for (std::size_t i = 0; i < std::size(sequence); ++i) {
    SCOPED_TRACE(i);
    const auto fresh = GetParam().create({});
    used->prepare(sequence[i]);
    fresh->prepare(sequence[i]);
    const Vector r = solve(*used, sequence[i]), expected = solve(*fresh, sequence[i]);
    ASSERT_EQ(r.size(), expected.size());
    EXPECT_EQ(std::memcmp(r.data(), expected.data(), sizeof(double) * r.size()), 0)
        << "largest difference " << (r - expected).cwiseAbs().maxCoeff();
  }
}

TEST_P(PrepareAgain, UpdatedContactsAreSolvedAsWell) {
  const ContactProblem both = joined(planted(3, 8), planted(4, 8));
  const ContactProblem half = thinned(both);
  const auto solver = GetParam().create({});
  solver->prepare(both);
  const double first = Referee(both).measure(span_of(solve(*solver, both)), solver->common().spec()).residual;
  ASSERT_LE(first, 1e-6) << "the sequence tells nothing when the solver fails anyway";
  for (const ContactProblem* next : {&half, &both, &half}) {
    solver->update_contacts(*next);
    const Vector r = solve(*solver, *next);
    EXPECT_LE(Referee(*next).measure(span_of(r), {solver->common().law, PyramidFrame::fixed}).residual, 1e-6);
  }
}

std::string name_of(const ::testing::TestParamInfo<SolverEntry>& info) {
  std::string name(info.param.name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

std::vector<SolverEntry> all_solvers() { return {solver_registry().begin(), solver_registry().end()}; }

INSTANTIATE_TEST_SUITE_P(Registry, PrepareAgain, ::testing::ValuesIn(all_solvers()), name_of);

}  // namespace
}  // namespace signorini::prepare_again_test
