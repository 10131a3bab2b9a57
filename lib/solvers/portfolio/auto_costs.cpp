#include "solvers/portfolio/auto_costs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/roots.h"
#include "solvers/portfolio/velocity_step_cost.h"

namespace signorini {
namespace {

constexpr Eigen::Index kFewEntries = 6;  ///< of M in a row: stiffness couples more
constexpr double kSweptBlock = 10.0;  ///< a block in a sweep over W, of all blocks that bodies could couple
constexpr double kSolve = 1.1;  ///< of three solves with a body's factor, for each entry of its part of M …
                                ///< … times the cube root of its dofs: the fill of a solid
constexpr double kFormBlock = 800.0;              ///< a block of W from the columns of M⁻¹ H
constexpr double kSweepsOnImpulses = 150.0;       ///< that a problem takes once W is there
constexpr double kIterationsOnVelocities = 60.0;  ///< of `ica` that it takes
constexpr double kSetUpProducts = 30.0;           ///< its set-up beside the factor
constexpr double kSetUpContact = 1e5;             ///< and its inner matrix, for each contact
constexpr double kInnerSweeps = 10.0,             ///< in an iteration
    kNeighbours = 35.0;                           ///< blocks per contact of its inner matrix
constexpr double kWorthTrying = 0.8;              ///< of the costs with a factor
constexpr double kStep = 3.5;  ///< a factor of M + H C Hᵀ, for each entry of M, times all dofs ^ 2/3
constexpr double kStepProduct = 300.0;  ///< of 3×3 blocks in that factor, where they are counted
constexpr double kFactor = 3.0;       ///< a factor of M, for each entry of a body's part times its dofs ^ 2/3
constexpr double kGradients = 150.0;  ///< products of the free velocity and of the bound

/// W has t² blocks for a body that t contacts touch; each takes a few dofs of M⁻¹ H, whose 3 t columns cost two passes over
/// the factor of the body.
AutoCosts costs_of(const ContactProblem& problem, const DeformingBodies& bodies) {
  const std::vector<double> touching = bodies.touches(problem);
  AutoCosts costs;
  double blocks = 0.0, coupled_entries = 0.0, coupled_dofs = 0.0;
  for (std::size_t b = 0; b < touching.size(); ++b) {
    const double touches = touching[b], entries = bodies.entries[b], dofs = bodies.dofs[b];
    if (!(touches > 0.0)) continue;
    coupled_entries += entries;
    coupled_dofs += dofs;
    blocks += touches * touches;
    costs.factor += kFactor * std::pow(dofs, 2.0 / 3.0) * entries;
    costs.solves += kSolve * touches * cube_root(dofs) * entries;
    costs.form += kFormBlock * touches * touches;
  }
  costs.step = kStep * coupled_entries * std::pow(coupled_dofs, 2.0 / 3.0);
  costs.fits = blocks <= AutoCosts::kMostBlocks;
  costs.sweep = kSweptBlock * blocks;
  costs.product = 2.0 * AutoCosts::kBlock * static_cast<double>(problem.M.nonZeros()) / 9.0;
  costs.inner = AutoCosts::kBlock * kNeighbours * static_cast<double>(problem.contacts());
  costs.set_up = kSetUpContact * static_cast<double>(problem.contacts());
  return costs;
}

}  // namespace

double AutoCosts::iteration() const { return product + kInnerSweeps * inner; }
double AutoCosts::impulses() const { return factor + solves + form + kSweepsOnImpulses * sweep; }
double AutoCosts::instead() const { return solves + form + kSweepsOnImpulses * sweep; }
double AutoCosts::velocities() const {
  return factor + solves + set_up + kSetUpProducts * product + kIterationsOnVelocities * iteration();
}
double AutoCosts::factorless() const {
  return set_up + kGradients * product + kIterationsOnVelocities * iteration();
}
bool AutoCosts::prefer_impulses() const {
  return fits && impulses() <= std::min(kWorthTrying * velocities(), factorless() / kWorthTrying);
}
bool AutoCosts::avoid_factor() const { return factorless() < kWorthTrying * velocities(); }

AutoCosts costs_of_stack(const ContactProblem& problem) {
  AutoCosts costs;
  costs.step = kStep * static_cast<double>(problem.M.nonZeros()) *
               std::pow(static_cast<double>(problem.dofs()), 2.0 / 3.0);
  return costs;
}

std::optional<AutoCosts> costs_where_bodies_deform(const ContactProblem& problem,
                                                   std::unique_ptr<const DeformingBodies>& bodies) {
  if (!problem.has_primal() || problem.has_dual() || problem.contacts() == 0) return std::nullopt;
  // mass points and rigid bodies, without a look at the bodies
  if (problem.M.nonZeros() <= kFewEntries * static_cast<Eigen::Index>(problem.dofs())) return std::nullopt;
  if (!bodies) bodies = std::make_unique<const DeformingBodies>(problem);
  if (bodies->rigid || bodies->refused) return std::nullopt;
  return costs_of(problem, *bodies);
}

double counted_velocity_step(const ContactProblem& problem) {
  return kStepProduct * velocity_factor_products(problem) +
         AutoCosts::kStepContact * static_cast<double>(problem.contacts());
}

}  // namespace signorini
