#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"
#include "scene/implicit_stepper.h"
#include "solvers/registry.h"

namespace signorini::testing_tools {

/// Bodies and settings of an implicit run, and what its last step did. Every step is checked: problems
/// without defect, and no surface through another at its end.
struct ImplicitWorld {
  BodySystem bodies;
  ImplicitSettings settings;
  FinderSettings detection;
  std::string solver = "pgs";
  OptionMap options;

  std::unique_ptr<TaskArena> arena;
  std::unique_ptr<ImplicitStepper> stepper;
  std::vector<ContactProblem> problems;  // of the last step, failed ones too
  std::vector<std::vector<double>> impulses;
  std::vector<std::vector<SurfaceContact>> contacts;
  std::vector<int> substeps;
  std::vector<bool> accepted;

  void floor(double extent = 2.0, const Motion& motion = {}) {
    bodies.add_kinematic("floor", ground(extent), motion);
  }
  void start(int threads = 1, std::unique_ptr<Solver> driver = nullptr) {
    bodies.finish();
    arena = std::make_unique<TaskArena>(threads);
    stepper = std::make_unique<ImplicitStepper>(bodies, ContactFinder(bodies.surface(), detection),
                                                driver ? std::move(driver) : make_solver(solver, options),
                                                settings);
  }
  StepReport advance() {
    problems.clear();
    impulses.clear();
    contacts.clear();
    substeps.clear();
    accepted.clear();
    const StepReport report = stepper->advance(*arena, [this](const SolveEvent& event) {
      const auto defect = find_defect(event.problem);
      EXPECT_FALSE(defect.has_value()) << *defect;
      EXPECT_EQ(event.solve, static_cast<int>(problems.size()) + 1);
      problems.push_back(event.problem);
      impulses.emplace_back(event.impulses.begin(), event.impulses.end());
      contacts.emplace_back(event.contacts.begin(), event.contacts.end());
      substeps.push_back(event.substep);
      accepted.push_back(event.accepted);
    });
    const auto hit = find_intersection(bodies.surface(), surface());
    EXPECT_FALSE(hit.has_value()) << "step " << stepper->steps_taken() << ": an edge of "
                                  << bodies.name(hit->edge_body) << " passes through a triangle of "
                                  << bodies.name(hit->triangle_body);
    return report;
  }
  std::vector<Vector3> surface() const {
    std::vector<Vector3> x(bodies.surface().vertices());
    bodies.surface_positions(*arena, stepper->state(), x);
    return x;
  }
  double mass() const {
    std::vector<Matrix3> blocks(bodies.blocks());
    bodies.mass_blocks(bodies.start(), blocks);
    double sum = 0.0;
    for (Index b = 0; b < bodies.blocks(); ++b) {
      if (b < bodies.nodes() || (b - bodies.nodes()) % 2 == 0) sum += blocks[b](0, 0);
    }
    return sum;
  }
  /// Σ r in world axes of solve `i` of the last step; N·s.
  Vector3 total_impulse(std::size_t i) const {
    Vector3 sum = Vector3::Zero();
    for (Index k = 0; k < problems[i].contacts(); ++k) {
      for (Index d = 0; d < 3; ++d)
        sum += impulses[i][3 * k + d] * problems[i].frame.block<1, 3>(k, 3 * d).transpose();
    }
    return sum;
  }
};

inline ElasticMaterial elastic(double young_modulus, double damping = 0.0) {
  return {.young_modulus = young_modulus, .poisson_ratio = 0.3, .density = 1000.0, .damping = damping};
}
inline TetMesh centred_block(const Vector3& size, Index cells) {
  TetMesh mesh = kuhn_block({cells, cells, cells}, size);
  for (Vector3& x : mesh.vertices) x -= 0.5 * size;
  return mesh;
}
inline TriangleMesh centred_box(const Vector3& size) {
  std::vector<Index> unused;
  return boundary_surface(centred_block(size, 1), unused);
}

}  // namespace signorini::testing_tools
