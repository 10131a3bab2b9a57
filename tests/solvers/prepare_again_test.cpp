#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "contact/factor_store.h"
#include "contact/mass_factor.h"
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

/// The same M, H and f.
ContactProblem with_other_offsets(ContactProblem problem) {
  for (Index k = 0; k < problem.contacts(); ++k) problem.w[3 * k] += 0.01 * (k % 3);
  return problem;
}

void expect_same_bits(const Vector& r, const Vector& expected) {
  ASSERT_EQ(r.size(), expected.size());
  EXPECT_EQ(std::memcmp(r.data(), expected.data(), sizeof(double) * r.size()), 0)
      << "largest difference " << (r - expected).cwiseAbs().maxCoeff();
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
    expect_same_bits(solve(*used, sequence[i]), solve(*fresh, sequence[i]));
  }
}

/// As in a scene, where the time step has factored M before and the last solve of a step differs in w.
TEST_P(PrepareAgain, GivesTheSameBitsWithFactorsToShare) {
  const ContactProblem a = planted(1, 6), b = planted(2, 9);
  const ContactProblem both = joined(a, b);
  const auto store = std::make_shared<FactorStore>();
  const auto shared = [&](ContactProblem problem) {
    problem.factors = store;
    return problem;
  };
  const ContactProblem sequence[] = {both, with_other_offsets(both), joined(heavier(a), b), joined(b, a)};
  const auto used = GetParam().create({});
  for (const ContactProblem& plain : sequence) {
    const ContactProblem problem = shared(plain);
    store->turn_over();
    MassFactor().refactor(problem.M, problem.node_size(), *store);
    ASSERT_GT(store->size(), 0u) << "no body is large enough to be shared";
    store->settle();
    const auto fresh = GetParam().create({});
    used->prepare(problem);
    fresh->prepare(plain);
    const Vector expected = solve(*fresh, plain);
    expect_same_bits(solve(*used, problem), expected);
    if (used->traits().needs != SolverNeeds::delassus) continue;
    const ContactProblem moved = shared(with_other_offsets(plain));
    used->update_contacts(moved);
    fresh->prepare(moved);
    expect_same_bits(solve(*used, moved), solve(*fresh, moved));
    used->update_contacts(problem);
    expect_same_bits(solve(*used, problem), expected);
  }
}

TEST_P(PrepareAgain, UpdatedContactsAreSolvedAsWell) {
  const ContactProblem both = joined(planted(3, 8), planted(4, 8));
  const ContactProblem half = thinned(both);
  const auto solver = GetParam().create({});
  solver->prepare(both);
  const double first = Referee(both).measure(span_of(solve(*solver, both)), solver->common().spec()).residual;
  ASSERT_LE(first, 1e-6) << "the sequence tells nothing when the solver fails anyway";
  const ContactProblem moved = with_other_offsets(half);
  for (const ContactProblem* next : {&half, &moved, &both, &half}) {
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
