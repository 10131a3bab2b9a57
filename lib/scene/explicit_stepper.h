#pragma once

#include <memory>

#include "bodies/solid_system.h"
#include "scene/contact_assembly.h"
#include "scene/stepper.h"

/// Explicit symplectic Euler with contact impulses (Lazarevych 2010, section 2, with the position update made
/// explicit):
///
///     u_free = u⁻ + dt (M⁻¹ f_elastic(x) + g − α u⁻),   u⁺ = u_free + M⁻¹ H r,   x⁺ = x + dt u⁺
///
/// r solves the contact problem of the step. Stable for dt ≤ SolidSystem::largest_stable_step().
namespace signorini {

struct ExplicitSettings {
  double dt = 2e-4;                  ///< s
  Vector3 gravity{0.0, 0.0, -9.81};  ///< m/s²
  ContactLawSettings law;
  StopRule stop{.residual = 1e-8};  ///< of the driving solver
  double accepted_residual = 1e-4;  ///< a solve that ends above this, also after a cold restart, ends the run
};

class ExplicitStepper {
 public:
  /// `solids` must outlive the stepper. Detection uses the start state; the first step is ready to be taken.
  ExplicitStepper(SolidSystem& solids, ContactDetector detector, std::unique_ptr<Solver> solver,
                  const ExplicitSettings& settings, TaskArena& arena);

  /// Advances by dt. Throws `std::runtime_error` when the contact solve fails or the motion is not finite any
  /// more.
  StepReport advance(TaskArena& arena);

  long long steps_taken() const { return steps_; }
  double time() const { return static_cast<double>(steps_) * settings_.dt; }
  const NodeState& state() const { return state_; }
  /// Of the step last taken: its contacts, its problem (empty when there were none) and the impulses that
  /// solved it.
  std::span<const PointTriangleContact> contacts() const { return contacts_; }
  const ContactProblem& problem() const { return assembled_.problem; }
  std::span<const Index> problem_nodes() const { return assembled_.nodes; }
  std::span<const double> impulses() const { return impulses_; }
  /// Deepest penetration of the present state, m.
  double penetration() const { return detector_.deepest(); }
  const ContactDetector& detector() const { return detector_; }

 private:
  void look_ahead(TaskArena& arena, StepReport& report);
  void solve_contacts(StepReport& report);

  SolidSystem& solids_;
  ContactDetector detector_;
  std::unique_ptr<Solver> solver_;
  ExplicitSettings settings_;
  long long steps_ = 0;
  NodeState state_;
  std::vector<Vector3> force_, free_velocity_;
  std::vector<Index> first_node_;
  WarmStartCache warm_start_;
  std::vector<PointTriangleContact> contacts_;
  AssembledProblem assembled_;
  std::vector<double> impulses_;
};

}  // namespace signorini
