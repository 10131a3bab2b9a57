#pragma once

#include <memory>
#include <optional>

#include "contact/contact_problem.h"
#include "solvers/portfolio/deforming_bodies.h"

/// What `auto` expects its methods to cost on a problem, in operations of a sweep over W (about 0.1 ns in cache). Where the
/// constants are from: docs/notes/auto.md.
namespace signorini {

struct AutoCosts {
  static constexpr double kMostBlocks = 1e7;  ///< of W: 720 MB
  static constexpr double kBlock = 18.0;      ///< operations with one 3×3 block
  static constexpr double kStepContact =
      6000.0;  ///< a Newton step on velocities beside its factor, for each contact

  double product = 0.0;  ///< M v in an iteration of `ica`
  double set_up = 0.0;   ///< of `ica` beside the factor
  double inner = 0.0;    ///< a sweep of its inner problem
  double factor = 0.0;   ///< of M
  double solves = 0.0;   ///< of M⁻¹ H: for W, or for its diagonal blocks that the exact residual takes
  double form = 0.0;     ///< the blocks of W from M⁻¹ H
  double step = 0.0;     ///< a Newton step on velocities
  double sweep = 0.0;    ///< a sweep over W
  bool fits = true;      ///< W into kMostBlocks

  double iteration() const;  ///< of `ica`, about
  double instead() const;    ///< of going on with W, from a factor of M
  double impulses() const;   ///< whole solves, set-up counted in
  double velocities() const;
  double factorless() const;
  /// W and the usual number of sweeps against the usual number of iterations of `ica`, which are tried where it is even: their
  /// stages are weighed as they go.
  bool prefer_impulses() const;
  /// A failed try without a factor of M comes on top of what a factor costs.
  bool avoid_factor() const;
};

/// Without a look at the bodies: with many more rows of H than dofs, contacts touch nearly all. `step` alone.
AutoCosts costs_of_stack(const ContactProblem& problem);
/// What the choices of a solve depend on where bodies deform; nothing elsewhere. Without M and H, or with W at hand, there
/// is no choice. `bodies` of this M are made where they are not known.
std::optional<AutoCosts> costs_where_bodies_deform(const ContactProblem& problem,
                                                   std::unique_ptr<const DeformingBodies>& bodies);
/// A Newton step on velocities, counted from the pattern of its matrix.
double counted_velocity_step(const ContactProblem& problem);

}  // namespace signorini
