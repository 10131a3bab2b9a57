// Conjugate residuals on one large island, beside the read bandwidth; and the solvers on velocities side by
// side on two recorded blocks.
//
// iteration/<preconditioner>: states frozen, from the difference of a long and a short solve.
//   of_floor     time of an iteration / (bytes it must touch / bytes per second of the fastest plain sum)
//   two_threads  time of an iteration on one thread / on two
//   bytes: 8.44 per stored number of M in 3×3 blocks, 80 per dof, 28 per dof of a contact in H and again in
//   its transpose. Every stored number of M counts, though products read couplings inside a part of M once
//   for both rows (linalg/symmetric_block_matrix.h): below 1 is possible.
// block/<block>/<solver>: cold start to the residual; ms of the fastest solve, iterations, products with M.
// `prepare` is not in it.

#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "base/parallel.h"
#include "contact/residuals.h"
#include "interleaved.h"
#include "memory_bandwidth.h"
#include "record/fclib_file.h"
#include "solvers/primal_system.h"
#include "solvers/registry.h"

namespace signorini::bench {
namespace {

constexpr Index kSide = 32;  // nodes along each edge of the block: 98 304 dofs
constexpr int kShort = 10;   // iterations
constexpr int kLong = 50;

/// A block of kSide³ mass points with springs along the edges of Kuhn's tetrahedra (15 blocks per row, as a
/// tetrahedral mesh has), falling on a floor that its lowest layer touches.
ContactProblem falling_block() {
  const auto node = [](Index i, Index j, Index k) { return (k * kSide + j) * kSide + i; };
  const Index nodes = kSide * kSide * kSide;
  constexpr double kMass = 1.0, kSpring = 20.0;  // kg; dt² times N/m
  std::vector<Eigen::Triplet<double, Index>> entries;
  const auto add = [&](Index a, Index b, const Matrix3& block) {
    for (Index r = 0; r < 3; ++r) {
      for (Index c = 0; c < 3; ++c) entries.emplace_back(3 * a + r, 3 * b + c, block(r, c));
    }
  };
  for (Index a = 0; a < nodes; ++a) add(a, a, kMass * Matrix3::Identity());
  constexpr std::array<std::array<Index, 3>, 7> kEdges{
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}};
  for (Index k = 0; k < kSide; ++k) {
    for (Index j = 0; j < kSide; ++j) {
      for (Index i = 0; i < kSide; ++i) {
        for (const auto& [x, y, z] : kEdges) {
          if (i + x >= kSide || j + y >= kSide || k + z >= kSide) continue;
          const Vector3 along =
              Vector3(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)).normalized();
          // not of rank one, so that all nine numbers of a block are there
          const Matrix3 spring = kSpring * (along * along.transpose() + 0.1 * Matrix3::Constant(1.0) +
                                            0.2 * Matrix3::Identity());
          const Index a = node(i, j, k), b = node(i + x, j + y, k + z);
          add(a, a, spring);
          add(b, b, spring);
          add(a, b, -spring);
          add(b, a, -spring);
        }
      }
    }
  }
  ContactProblem problem;
  problem.M.resize(3 * nodes, 3 * nodes);
  problem.M.setFromTriplets(entries.begin(), entries.end());
  const Index contacts = kSide * kSide;
  problem.H.resize(3 * nodes, 3 * contacts);
  entries.clear();
  for (Index c = 0; c < contacts; ++c) {  // node c lies in the lowest layer; N = z, T1 = x, T2 = y
    entries.emplace_back(3 * c + 2, 3 * c, 1.0);
    entries.emplace_back(3 * c, 3 * c + 1, 1.0);
    entries.emplace_back(3 * c + 1, 3 * c + 2, 1.0);
  }
  problem.H.setFromTriplets(entries.begin(), entries.end());
  problem.w = Vector::Zero(3 * contacts);
  problem.mu = Vector::Constant(contacts, 0.5);
  problem.dt = 1e-3;
  Vector v(3 * nodes);
  for (Index a = 0; a < nodes; ++a) {
    v.segment<3>(3 * a) = Vector3(0.3 + 0.1 * std::sin(0.7 * static_cast<double>(a)), 0.1,
                                  -1.0 + 0.2 * std::cos(0.3 * static_cast<double>(a)));
  }
  problem.f = problem.M * v;
  return problem;
}

const ContactProblem& block_problem() {
  static const ContactProblem problem = falling_block();
  return problem;
}

double floor_bytes(const ContactProblem& problem) {
  return 8.44 * static_cast<double>(problem.M.nonZeros()) + 80.0 * static_cast<double>(problem.dofs()) +
         2.0 * 28.0 * static_cast<double>(problem.H.nonZeros());
}

void iteration(benchmark::State& state, const char* name) {
  const ContactProblem& problem = block_problem();
  TaskArena two(2);
  std::array<std::unique_ptr<Solver>, 2> solver;
  for (std::size_t i = 0; i < 2; ++i) {
    OptionMap options{{"judge", "own"}};
    if (std::string_view(name) != "minres") options["interval"] = "converged";
    solver[i] = make_solver(name, options);
    if (i == 1) solver[i]->use_arena(&two);
    solver[i]->prepare(problem);
  }
  std::vector<double> r(3 * problem.contacts());
  const auto run = [&](Solver& s, int iterations) {
    StopRule stop;
    stop.fixed_iterations = true;
    stop.max_iterations = iterations;
    std::fill(r.begin(), r.end(), 0.0);
    benchmark::DoNotOptimize(s.solve(r, stop, nullptr).iterations);
  };
  std::vector<double> matrix(problem.M.nonZeros(), 1.0);
  std::vector<std::function<void()>> candidates;
  candidates.emplace_back([&] { run(*solver[0], kLong); });
  candidates.emplace_back([&] { run(*solver[0], kShort); });
  candidates.emplace_back([&] { run(*solver[1], kLong); });
  candidates.emplace_back([&] { run(*solver[1], kShort); });
  for (const Reader read : readers())
    candidates.emplace_back([read, &matrix] { benchmark::DoNotOptimize(read(matrix)); });
  const std::vector<double> seconds = least_seconds(state, Start::cold, candidates);
  const double one = (seconds[0] - seconds[1]) / (kLong - kShort);
  const double both = (seconds[2] - seconds[3]) / (kLong - kShort);
  const double read_seconds = *std::min_element(seconds.begin() + 4, seconds.end());
  const double bandwidth = static_cast<double>(matrix.size() * sizeof(double)) / read_seconds;
  state.counters["ms"] = 1e3 * one;
  state.counters["of_floor"] = one * bandwidth / floor_bytes(problem);
  state.counters["two_threads"] = one / both;
  state.counters["read_GB_per_s"] = bandwidth / 1e9;
}

void large(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Iterations(7)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(iteration, cr_full, "cr-full")->Apply(large);
BENCHMARK_CAPTURE(iteration, cr_diag, "cr-diag")->Apply(large);
BENCHMARK_CAPTURE(iteration, minres, "minres")->Apply(large);

std::filesystem::path fem_folder() {
  return std::filesystem::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems" / "fem";
}

/// `digits`: the residual is 10^−digits.
void block(benchmark::State& state, const char* name, const char* file) {
  const ContactProblem problem = read_fclib(fem_folder() / file).problem;
  const auto solver = make_solver(name);
  solver->prepare(problem);
  StopRule stop;
  stop.residual = std::pow(10.0, -static_cast<double>(state.range(0)));
  stop.max_iterations = 20'000;
  std::vector<double> r(3 * problem.contacts());
  SolveReport report;
  const std::vector<std::function<void()>> candidates{[&] {
    std::fill(r.begin(), r.end(), 0.0);
    report = solver->solve(r, stop, nullptr);
  }};
  const std::vector<double> seconds = least_seconds(state, Start::warm, candidates);
  state.counters["fastest_ms"] = 1e3 * seconds[0];
  state.counters["iterations"] = report.iterations;
  state.counters["products"] = static_cast<double>(report.counters.mass_products);
  state.counters["residual"] = Referee(problem).measure(r, solver->common().spec()).residual;
  state.SetLabel(std::string(enum_name(report.status)));
}
void digits(benchmark::internal::Benchmark* b) {
  b->ArgName("digits")->Arg(4)->Arg(8)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
}

/// Nothing where the recorded blocks are not at hand.
void register_blocks() {
  for (const char* kind : {"soft", "stiff"}) {
    const std::string file = std::string("femblock_") + kind + ".hdf5";
    if (!std::filesystem::exists(fem_folder() / file)) continue;
    for (const char* solver : {"cr-full", "cr-diag", "minres", "ica"}) {
      const std::string name = std::string("block/") + kind + "/" + solver;
      digits(benchmark::RegisterBenchmark(
          name.c_str(), [solver, file](benchmark::State& state) { block(state, solver, file.c_str()); }));
    }
  }
}

}  // namespace
}  // namespace signorini::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  signorini::bench::register_blocks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
