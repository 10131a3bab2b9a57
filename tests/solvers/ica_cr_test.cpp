#include "solvers/anticipation/ica_cr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "solvers/registry.h"

namespace signorini::ica_cr_test {
namespace {

struct Answer {
  std::vector<double> r;
  SolveReport report;
};

Answer answer(std::string_view name, const OptionMap& options, const ContactProblem& problem,
              const StopRule& stop) {
  const auto solver = make_solver(name, options);
  solver->prepare(problem);
  Answer found{std::vector<double>(3 * problem.contacts(), 0.0), {}};
  found.report = solver->solve(found.r, stop, nullptr);
  return found;
}

StopRule exactly(int iterations) {
  StopRule stop;
  stop.fixed_iterations = true;
  stop.max_iterations = iterations;
  return stop;
}

StopRule to(double residual, int limit = 20000) {
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = limit;
  return stop;
}

double largest(std::span<const double> r) {
  double most = 0.0;
  for (const double x : r) most = std::max(most, std::abs(x));
  return most;
}

/// Without conjugate residuals the iterates are those of `ica`.
TEST(IcaCr, WithoutConjugateResidualsIsIca) {
  for (const char* name : {"planted_implicit", "planted_implicit_regions"}) {
    const ContactProblem problem = zoo::specimen(name).problem;
    for (const int iterations : {1, 2, 7, 30}) {
      const Answer ica = answer("ica", {}, problem, exactly(iterations));
      const Answer own = answer("ica-cr", {{"length", "0"}, {"sweeps", "100"}}, problem, exactly(iterations));
      ASSERT_GT(largest(ica.r), 0.0);
      // the same operations but for v = v_free + dv and M dv, rounded apart once each
      for (std::size_t i = 0; i < ica.r.size(); ++i)
        EXPECT_NEAR(own.r[i], ica.r[i], 1e-12 * largest(ica.r)) << name << " " << iterations << " " << i;
    }
  }
}

/// Cycles only cut what `ica` does into pieces as long as no conjugate residual runs.
TEST(IcaCr, CyclesAloneChangeNothing) {
  const ContactProblem problem = zoo::specimen("planted_implicit").problem;
  const OptionMap whole{{"length", "0"}, {"sweeps", "100"}};
  const OptionMap cut{{"length", "0"}, {"sweeps", "1"}};
  EXPECT_EQ(answer("ica-cr", cut, problem, exactly(20)).r, answer("ica-cr", whole, problem, exactly(20)).r);
}

/// Contacts of one place, their rows the same up to a turn of the tangents: λ is not unique, and every row
/// that is switched on by itself overshoots.
TEST(IcaCr, SolvesContactsThatRepeatEachOther) {
  for (const char* name : {"planted_implicit", "four_legged_plate", "h2_stack"}) {
    ContactProblem problem = zoo::specimen(name).problem;
    ContactProblem twice = problem;
    const Index m = problem.contacts();
    SparseColumns H(problem.H.rows(), 6 * m);
    std::vector<Eigen::Triplet<double, Index>> entries;
    for (Index c = 0; c < problem.H.outerSize(); ++c) {
      for (SparseColumns::InnerIterator entry(problem.H, c); entry; ++entry) {
        for (const Index copy : {0, 1}) entries.emplace_back(entry.index(), c + 3 * m * copy, entry.value());
      }
    }
    H.setFromTriplets(entries.begin(), entries.end());
    twice.H = H;
    twice.w = Vector(6 * m);
    twice.w << problem.w, problem.w;
    twice.mu = Vector(2 * m);
    twice.mu << problem.mu, problem.mu;
    const ContactProblem bare =
        zoo::make_primal(Matrix(twice.M), Matrix(twice.H), twice.f, twice.w, twice.mu);
    const Answer found = answer("ica-cr", {}, bare, to(1e-9));
    EXPECT_EQ(enum_name(found.report.status), "converged") << name;
    EXPECT_LE(Referee(bare).measure(found.r, {}).residual, 1e-9) << name;
  }
}

/// C27, H14: matrices on which Gauss–Seidel over the nodes with block Jacobi anticipation runs away
/// (spectral radii 1.0958 and 1.0508). Conjugate residuals between fixed states, and the guard, hold the
/// cycles together.
TEST(IcaCr, ConvergesWhereTheMixtureDiverges) {
  const auto blown_up = [](const Matrix& small) {
    Matrix large = Matrix::Zero(3 * small.rows(), 3 * small.cols());
    for (Eigen::Index i = 0; i < small.rows(); ++i) {
      for (Eigen::Index j = 0; j < small.cols(); ++j)
        large.block<3, 3>(3 * i, 3 * j) = small(i, j) * Matrix3::Identity();
    }
    return large;
  };
  const auto problem = [&](const Matrix& M, const Matrix& directions, double mu) {
    const Matrix H = blown_up(directions.transpose());
    Vector w(H.cols());
    for (Eigen::Index i = 0; i < w.size(); ++i) w[i] = i % 3 == 0 ? -1.0 : 0.1;
    return zoo::make_primal(blown_up(M), H, Vector::Zero(H.rows()), w,
                            Vector::Constant(directions.rows(), mu));
  };
  const Matrix first = zoo::matrix_of(3, 3, {1, -.8, -.9, -.8, 1, .9, -.9, .9, 1});
  const Matrix second = zoo::matrix_of(3, 3, {1, .8, .9, .8, 1, .6, .9, .6, 1});
  for (const double mu : {0.0, 0.5}) {
    for (const ContactProblem& one : {problem(first, zoo::matrix_of(2, 3, {1, 1, 1, 1, 1, -1}), mu),
                                      problem(second, zoo::matrix_of(1, 3, {0, 1, 2}), mu)}) {
      const Answer found = answer("ica-cr", {}, one, to(1e-8));
      EXPECT_EQ(enum_name(found.report.status), "converged") << mu;
      EXPECT_LE(Referee(one).measure(found.r, {}).residual, 1e-8) << mu;
      // alone, as printed, the mixture is nowhere near
      const Answer printed = answer("ica", {{"fallback", "false"}}, one, to(1e-8));
      EXPECT_NE(enum_name(printed.report.status), "converged") << mu;
    }
  }
}

TEST(IcaCr, RefusesImpossibleOptions) {
  for (const OptionMap& wrong : {OptionMap{{"sweeps", "0"}}, OptionMap{{"length", "-1"}}})
    EXPECT_THROW(make_solver("ica-cr", wrong), UsageError) << wrong.begin()->first;
}

}  // namespace
}  // namespace signorini::ica_cr_test
