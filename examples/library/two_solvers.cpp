// Two blocks tied by a spring are pushed along the floor. The contact problem of one time step is built by hand, solved
// by two solvers, one on impulses and one on velocities, and the referee measures both answers. With a FILE (FCLib,
// npz, recording) its first problem is solved the same way.
//
//   two_solvers [FILE]          exit code 0: both answers are accurate and agree

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/residuals.h"
#include "record/problem_file.h"
#include "solvers/registry.h"

using namespace signorini;

namespace {

constexpr double kTolerance = 1e-10;  // of the residual: the largest velocity error over max|q|

/// M v = H r + f, u = Hᵀ v + w for two points with three dofs each, axes x, y, z, z upwards; SI units.
ContactProblem two_blocks() {
  const double dt = 0.01, gravity = 9.81, stiffness = 2000.0, push = 30.0;
  const double mass[] = {2.0, 5.0};
  ContactProblem problem;
  std::vector<Eigen::Triplet<double>> M, H;
  problem.f = Vector::Zero(6);
  for (int point = 0; point < 2; ++point) {
    for (int axis = 0; axis < 3; ++axis) {
      const int dof = 3 * point + axis, other = 3 * (1 - point) + axis;
      M.emplace_back(dof, dof, mass[point] + (axis == 0 ? dt * dt * stiffness : 0.0));
      if (axis == 0) M.emplace_back(dof, other, -dt * dt * stiffness);
    }
    // columns of H: normal z, tangents x and y
    for (int row = 0; row < 3; ++row) H.emplace_back(3 * point + (row + 2) % 3, 3 * point + row, 1.0);
    problem.f[3 * point + 2] = -dt * mass[point] * gravity;
  }
  problem.f[0] = dt * push;
  problem.M.resize(6, 6);
  problem.M.setFromTriplets(M.begin(), M.end());
  problem.H.resize(6, 6);
  problem.H.setFromTriplets(H.begin(), H.end());
  problem.w = Vector::Zero(6);
  problem.mu = Vector::Constant(2, 0.4);
  problem.dt = dt;
  return problem;
}

struct Answer {
  Vector r;  // impulses, three per contact, N s
  double residual;
};

Answer solve(const ContactProblem& problem, const Referee& referee, const std::string& name) {
  const auto solver = make_solver(name);
  Answer answer{Vector::Zero(3 * problem.contacts()), 0.0};
  const std::span<double> r(answer.r.data(), static_cast<std::size_t>(answer.r.size()));
  solver->prepare(problem);
  const SolveReport report = solver->solve(r, {.residual = kTolerance}, nullptr);
  answer.residual = referee.measure(r, solver->common().spec()).residual;
  std::printf("%-8s %s after %d iterations, residual %.1e\n", name.c_str(),
              std::string(enum_name(report.status)).c_str(), report.iterations, answer.residual);
  return answer;
}

/// Both solvers reach the tolerance, and their velocities differ by rounding and by what it leaves.
bool both_agree(const ContactProblem& problem) {
  check_problem(problem, "the example's problem");
  const Referee referee(problem);
  const Answer a = solve(problem, referee, "pgs"), b = solve(problem, referee, "cr-full");
  const auto velocity = [&](const Answer& answer) {
    return referee.relative_velocity({answer.r.data(), static_cast<std::size_t>(answer.r.size())});
  };
  const double difference = (velocity(a) - velocity(b)).lpNorm<Eigen::Infinity>() / referee.velocity_scale();
  std::printf("%d contacts, velocities differ by %.1e of the largest\n", problem.contacts(), difference);
  return a.residual <= kTolerance && b.residual <= kTolerance && difference <= 1e-6;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1) {
    const ProblemFile file(argv[1]);
    return both_agree(file.read(file.steps().front())) ? 0 : 1;
  }
  return both_agree(two_blocks()) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
