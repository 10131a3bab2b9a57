// The simulation engine on 120 rings in a bin (the scene "Rings" of Verschoor and Jalba 2019, Fig. 8(h);
// 12,960 tets, 17,280 faces, 25,920 dofs, dt = 1 ms): one step with one and with two threads from the same
// state, split by phase beside the paper's Table 1 (0.94 s of collision and 0.52 s of resolution per step, CR
// (Full), one core of an AMD FX-8350).
//
//   bench_engine [--benchmark_filter=…]     SIGNORINI_BENCH_SOLVER=name chooses the driving solver (default
//   below)

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cstdlib>
#include <memory>
#include <numbers>

#include "base/rng.h"
#include "geometry/bucket.h"
#include "geometry/ring.h"
#include "interleaved.h"
#include "scene/implicit_stepper.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

constexpr int kRings = 120;
constexpr int kWarmUp = 220;  // steps until the lower layers lie on each other
constexpr int kStepsPerTiming = 5;

const char* solver_name() {
  const char* asked = std::getenv("SIGNORINI_BENCH_SOLVER");
  return asked != nullptr ? asked : "ica";
}

Matrix3 random_rotation(Rng& rng) {
  const double u = rng.uniform(), a = 2.0 * std::numbers::pi * rng.uniform(),
               b = 2.0 * std::numbers::pi * rng.uniform();
  return Eigen::Quaterniond(std::sqrt(u) * std::cos(b), std::sqrt(1 - u) * std::sin(a),
                            std::sqrt(1 - u) * std::cos(a), std::sqrt(u) * std::sin(b))
      .toRotationMatrix();
}

/// Layers of 4 × 4 rings, each free to turn in its own ball, thrown down into a bin.
struct Rings {
  BodySystem system;
  ImplicitSettings settings;
  FinderSettings finder;

  Rings() {
    const RingShape shape;
    const TetMesh mesh = ring(shape);
    ElasticMaterial material;
    material.young_modulus = 5e5;
    material.poisson_ratio = 0.2;
    material.density = 1000.0;
    material.damping = 0.0;
    Rng rng(1, 0);
    const double pitch = 2.0 * (shape.radius + shape.thickness) + 0.002;
    for (int i = 0; i < kRings; ++i) {
      Placement placement;
      placement.rotation = random_rotation(rng);
      placement.translation =
          Vector3((i % 4 - 1.5) * pitch, (i / 4 % 4 - 1.5) * pitch, (i / 16 + 0.55) * pitch);
      placement.velocity = Vector3(0, 0, -1.5);
      system.add_solid(fmt::format("ring {}", i), mesh, material, placement);
    }
    system.add_kinematic("bin", bucket({0.45, 0.47, 1.5, 24}), {});
    system.finish();
    finder.tolerance = 1e-3;
    settings.dt = 1e-3;
    settings.friction = 0.5;
    settings.loop = ContactLoop::relinearise;
    settings.rounds = 10;
    settings.unresolved = Unresolved::hold;
    settings.stop.residual = 1e-4;  // about the accuracy of the paper's eps1
  }
  std::unique_ptr<ImplicitStepper> stepper() {
    return std::make_unique<ImplicitStepper>(system, ContactFinder(system.surface(), finder),
                                             make_solver(solver_name()), settings);
  }
};

struct Pile {
  Rings rings;
  std::string start;  // checkpoint
  static Pile& get() {
    static Pile pile;
    return pile;
  }

 private:
  Pile() {
    TaskArena arena(2);
    const auto stepper = rings.stepper();
    for (int s = 0; s < kWarmUp; ++s) stepper->advance(arena, nullptr);
    start = stepper->checkpoint();
  }
};

StepReport sum_of_steps(Stepper& stepper, TaskArena& arena) {
  StepReport sum;
  for (int s = 0; s < kStepsPerTiming; ++s) {
    const StepReport r = stepper.advance(arena, nullptr);
    sum.contacts += r.contacts;
    sum.solves += r.solves;
    sum.iterations += r.iterations;
    sum.detection_seconds += r.detection_seconds;
    sum.assembly_seconds += r.assembly_seconds;
    sum.free_seconds += r.free_seconds;
    sum.solve_seconds += r.solve_seconds;
    sum.other_seconds += r.other_seconds;
  }
  return sum;
}

void rings_step(benchmark::State& state) {
  Pile& pile = Pile::get();
  std::array<TaskArena, 2> arena{TaskArena(1), TaskArena(2)};
  std::array<std::unique_ptr<ImplicitStepper>, 2> stepper{pile.rings.stepper(), pile.rings.stepper()};
  std::array<StepReport, 2> report;
  const auto run = [&](std::size_t i) {
    stepper[i]->restore(pile.start);
    report[i] = sum_of_steps(*stepper[i], arena[i]);
  };
  const std::array<std::function<void()>, 2> candidates{[&] { run(0); }, [&] { run(1); }};
  const auto least = bench::least_seconds(state, bench::Start::cold, candidates);
  const auto per_step = [](double seconds) { return seconds / kStepsPerTiming; };
  state.counters["contacts"] = static_cast<double>(report[0].contacts) / kStepsPerTiming;
  state.counters["solves"] = static_cast<double>(report[0].solves) / kStepsPerTiming;
  state.counters["iterations"] = static_cast<double>(report[0].iterations) / kStepsPerTiming;
  state.counters["detection_s"] = per_step(report[0].detection_seconds);
  state.counters["assembly_s"] = per_step(report[0].assembly_seconds);
  state.counters["free_s"] = per_step(report[0].free_seconds);
  state.counters["solve_s"] = per_step(report[0].solve_seconds);
  state.counters["other_s"] = per_step(report[0].other_seconds);
  state.counters["step_s"] = per_step(least[0]);
  state.counters["detection_x2"] = report[0].detection_seconds / report[1].detection_seconds;
  state.counters["assembly_x2"] = report[0].assembly_seconds / report[1].assembly_seconds;
  state.counters["free_x2"] = report[0].free_seconds / report[1].free_seconds;
  state.counters["solve_x2"] = report[0].solve_seconds / report[1].solve_seconds;
  state.counters["threads2_x"] = least[0] / least[1];
  state.counters["paper_detection_x"] = 0.94 / per_step(report[0].detection_seconds);
  state.counters["paper_resolution_x"] =
      0.52 / per_step(report[0].assembly_seconds + report[0].free_seconds + report[0].solve_seconds);
}
BENCHMARK(rings_step)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
