// The simulation engine on rings in a bin (120 of them are the scene "Rings" of Verschoor and Jalba 2019,
// Fig. 8(h); 12,960 tets, 17,280 faces, 25,920 dofs, dt = 1 ms): the same steps with one and with two threads
// from the same state, split by phase beside the paper's Table 1 (0.94 s of collision and 0.52 s of
// resolution per step, CR (Full), one core of an AMD FX-8350).
//
// Every repetition takes the same steps, to the bit, so each phase of each step counts with its least time
// over the repetitions. Counters, all per step; N is the number of threads, 1 or 2:
//
//   t<N>_<phase>_s   detection, assembly, free (velocities without contact and the response to impulses),
//                    solve (setup and iterations of the contact solver), other, and step, their sum
//   x2_<phase>       one thread over two
//   contacts, solves, iterations, rounds
//   bodies, tets, faces, dofs of the scene
//   paper_detection_x, paper_resolution_x   the paper's seconds over ours, one thread
//
//   bench_engine [--benchmark_filter=…]     SIGNORINI_BENCH_SOLVER=name adds a driving solver to the default
//   one

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>

#include "base/rng.h"
#include "geometry/bucket.h"
#include "geometry/ring.h"
#include "scene/implicit_stepper.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

constexpr const char* kDriver = "ica";  // carries every pile to its start
constexpr int kRingsOfThePaper = 120;
constexpr int kWarmUp = 220;  // steps until the lower layers lie on each other
constexpr int kSteps = 5;     // timed ones
constexpr int kRepetitions = 6;

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
  std::size_t tets = 0, faces = 0;  // of the rings

  explicit Rings(int rings) {
    const RingShape shape;
    const TetMesh mesh = ring(shape);
    ElasticMaterial material;
    material.young_modulus = 5e5;
    material.poisson_ratio = 0.2;
    material.density = 1000.0;
    material.damping = 0.0;
    Rng rng(1, 0);
    const double pitch = 2.0 * (shape.radius + shape.thickness) + 0.002;
    for (int i = 0; i < rings; ++i) {
      Placement placement;
      placement.rotation = random_rotation(rng);
      placement.translation =
          Vector3((i % 4 - 1.5) * pitch, (i / 4 % 4 - 1.5) * pitch, (i / 16 + 0.55) * pitch);
      placement.velocity = Vector3(0, 0, -1.5);
      system.add_solid(fmt::format("ring {}", i), mesh, material, placement);
    }
    system.add_kinematic("bin", bucket({0.45, 0.47, 1.5, 24}), {});
    system.finish();
    tets = rings * mesh.tets.size();
    faces = rings * boundary_triangles(mesh).size();
    finder.tolerance = 1e-3;
    settings.dt = 1e-3;
    settings.friction = 0.5;
    settings.loop = ContactLoop::relinearise;
    settings.rounds = 10;
    settings.unresolved = Unresolved::hold;
    settings.stop.residual = 1e-4;  // about the accuracy of the paper's eps1
  }
  std::unique_ptr<ImplicitStepper> stepper(std::string_view solver) {
    return std::make_unique<ImplicitStepper>(system, ContactFinder(system.surface(), finder),
                                             make_solver(solver), settings);
  }
};

struct Pile {
  Rings rings;
  std::string start;  // checkpoint

  explicit Pile(int count) : rings(count) {
    TaskArena arena(2);
    const auto stepper = rings.stepper(kDriver);
    for (int s = 0; s < kWarmUp; ++s) stepper->advance(arena, nullptr);
    start = stepper->checkpoint();
  }
};

Pile& pile(int count) {
  static std::map<int, Pile> piles;
  return piles.try_emplace(count, count).first->second;
}

constexpr std::array<const char*, 5> kPhases{"detection", "assembly", "free", "solve", "other"};
using PhaseSeconds = std::array<double, kPhases.size()>;

PhaseSeconds phases(const StepReport& r) {
  return {r.detection_seconds, r.assembly_seconds, r.free_seconds, r.solve_seconds, r.other_seconds};
}
double sum(const PhaseSeconds& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

/// The timed steps with a fixed number of threads, and the least seconds of every phase of every step.
class Timing {
 public:
  Timing(Pile& pile, std::string_view solver, int threads)
      : arena_(threads), stepper_(pile.rings.stepper(solver)), start_(pile.start) {
    least_.fill(PhaseSeconds{1e9, 1e9, 1e9, 1e9, 1e9});
  }
  void run() {
    stepper_->restore(start_);
    for (std::size_t s = 0; s < least_.size(); ++s) {
      report_[s] = stepper_->advance(arena_, nullptr);
      const PhaseSeconds seconds = phases(report_[s]);
      for (std::size_t i = 0; i < seconds.size(); ++i) least_[s][i] = std::min(least_[s][i], seconds[i]);
    }
  }
  /// Per step.
  PhaseSeconds least() const {
    PhaseSeconds mean{};
    for (const PhaseSeconds& step : least_) {
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += step[i] / kSteps;
    }
    return mean;
  }
  double mean(int StepReport::*member) const {
    double total = 0.0;
    for (const StepReport& r : report_) total += r.*member;
    return total / kSteps;
  }

 private:
  TaskArena arena_;
  std::unique_ptr<ImplicitStepper> stepper_;
  std::string_view start_;
  std::array<StepReport, kSteps> report_;
  std::array<PhaseSeconds, kSteps> least_;
};

void count_times(benchmark::State& state, const PhaseSeconds& one, const PhaseSeconds& two) {
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    state.counters[fmt::format("t1_{}_s", kPhases[i])] = one[i];
    state.counters[fmt::format("t2_{}_s", kPhases[i])] = two[i];
    state.counters[fmt::format("x2_{}", kPhases[i])] = one[i] / two[i];
  }
  state.counters["t1_step_s"] = sum(one);
  state.counters["t2_step_s"] = sum(two);
  state.counters["x2_step"] = sum(one) / sum(two);
}

void rings_step(benchmark::State& state, const std::string& solver) {
  Pile& scene = pile(static_cast<int>(state.range(0)));
  Timing one(scene, solver, 1), two(scene, solver, 2);
  try {
    for (auto _ : state) {
      const auto start = std::chrono::steady_clock::now();
      one.run();
      state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      two.run();
    }
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
    return;
  }
  const PhaseSeconds least = one.least();
  count_times(state, least, two.least());
  state.counters["contacts"] = one.mean(&StepReport::contacts);
  state.counters["solves"] = one.mean(&StepReport::solves);
  state.counters["iterations"] = one.mean(&StepReport::iterations);
  state.counters["rounds"] = one.mean(&StepReport::detection_rounds);
  const BodySystem& system = scene.rings.system;
  state.counters["bodies"] = static_cast<double>(state.range(0));
  state.counters["tets"] = static_cast<double>(scene.rings.tets);
  state.counters["faces"] = static_cast<double>(scene.rings.faces);
  state.counters["dofs"] = 3.0 * system.blocks();
  if (state.range(0) != kRingsOfThePaper) return;
  state.counters["paper_detection_x"] = 0.94 / least[0];
  state.counters["paper_resolution_x"] = 0.52 / (least[1] + least[2] + least[3]);
}

void add(const std::string& solver, int rings) {
  benchmark::RegisterBenchmark(("rings_step/" + solver).c_str(),
                               [solver](benchmark::State& state) { rings_step(state, solver); })
      ->ArgName("rings")
      ->Arg(rings)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(kRepetitions);
}

}  // namespace
}  // namespace signorini

int main(int argc, char** argv) {
  signorini::add(signorini::kDriver, 24);
  signorini::add(signorini::kDriver, signorini::kRingsOfThePaper);
  if (const char* asked = std::getenv("SIGNORINI_BENCH_SOLVER"))
    signorini::add(asked, signorini::kRingsOfThePaper);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
