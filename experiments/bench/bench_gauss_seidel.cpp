// One projected Gauss–Seidel sweep, both laws, 9 blocks per row, beside the read bandwidth.
//
//   ns_per_contact   time of a sweep over the number of contacts
//   of_read          bytes that a sweep must touch per second / bytes per second of the fastest plain sum
//   sliding, open    shares of contacts in these states at the end (the rest sticks)
//
// chain: every contact is a neighbour of the one before, so the latency of a projection shows; scattered:
// neighbours are anywhere within 500 contacts. in_cache: 1000 contacts (0.8 MB); from_memory: 10⁶ contacts
// (860 MB).
//
// methods: one iteration of pgs, nncg, nsgs and anderson on the same W, the mean of the first kSweeps from r = 0, timed
// in turn; ns_per_contact is that of pgs, x_<name> the time of another method over it.
//
// orders: one sweep of the same W in natural order, coloured on one and on two threads, and there and back, timed in turn;
// ns_per_contact is that of the natural order, x_… the time of another over it; plan_sweeps: time to find the colours and to
// move the rows, in sweeps of natural order.
//
// matrices: one iteration of pgs and nncg on a net of mass points with `matrix = delassus` and `bodies`, the mean of the
// first kSweeps from r = 0, timed in turn, and their set-up; ns_per_contact is that of pgs on W, x_… the time of another
// over it, set_up the time to prepare pgs in sweeps of it; blocks: of W and of the rows of bodies per contact.

#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <random>

#include "contact/planted_problem.h"
#include "contact_matrix.h"
#include "interleaved.h"
#include "memory_bandwidth.h"
#include "solvers/registry.h"
#include "solvers/relaxation/gauss_seidel.h"
#include "solvers/relaxation/ordered_sweep.h"

namespace signorini::bench {
namespace {

constexpr Index kPerRow = 9;
constexpr double kFriction = 0.5;

Vector free_velocities(Index contacts) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> velocity(-1.0, 1.0);
  Vector q(3 * contacts);
  for (Index i = 0; i < 3 * contacts; ++i) q[i] = velocity(engine) - (i % 3 == 0 ? 0.8 : 0.0);
  return q;
}

GaussSeidelData make_data(Index contacts, Order order, FrictionLaw law) {
  return make_gauss_seidel_data(contact_matrix(contacts, kPerRow, order), free_velocities(contacts),
                                Vector::Constant(contacts, kFriction), law, TangentStep::scalar);
}

double bytes_of(const GaussSeidelData& data) {
  const double blocks = static_cast<double>(data.W.blocks());
  const double per_contact = sizeof(GaussSeidelContact) + 2 * sizeof(Index) + 2 * 3 * sizeof(double);
  return blocks * (9 * sizeof(double) + sizeof(Index)) + static_cast<double>(data.contacts()) * per_contact;
}

void sweep(benchmark::State& state, Order order, FrictionLaw law) {
  const auto contacts = static_cast<Index>(state.range(0));
  const GaussSeidelData data = make_data(contacts, order, law);
  Vector r = Vector::Zero(3 * contacts), u(3 * contacts);
  const std::span<double> impulses = span_of(r);
  const std::span<double> velocities = span_of(u);
  std::vector<std::function<void()>> candidates;
  candidates.emplace_back([&] { benchmark::DoNotOptimize(gauss_seidel_sweep(data, impulses)); });
  candidates.emplace_back([&] { benchmark::DoNotOptimize(alart_curnier_error(data, impulses, velocities)); });
  for (const Reader read : readers()) {
    candidates.emplace_back([read, &data] { benchmark::DoNotOptimize(read(data.W.values)); });
  }
  const std::vector<double> seconds =
      least_seconds(state, state.range(0) > 10'000 ? Start::cold : Start::warm, candidates);

  int sliding = 0, open = 0;
  for (Index k = 0; k < contacts; ++k) {
    const double bound = kFriction * r[3 * k];
    const auto tangent = r.segment<2>(3 * k + 1);
    const double length = with_law(law, [&](auto type) { return decltype(type)::tangent_size(tangent); });
    open += bound == 0.0;
    sliding += bound > 0.0 && length >= 0.999999 * bound;
  }
  const double read_seconds = *std::min_element(seconds.begin() + 2, seconds.end());
  const double bandwidth = static_cast<double>(data.W.values.size() * sizeof(double)) / read_seconds;
  state.counters["ns_per_contact"] = seconds[0] * 1e9 / contacts;
  state.counters["error_ns_per_contact"] = seconds[1] * 1e9 / contacts;
  state.counters["GB_per_s"] = bytes_of(data) / seconds[0] / 1e9;
  state.counters["read_GB_per_s"] = bandwidth / 1e9;
  state.counters["of_read"] = bytes_of(data) / seconds[0] / bandwidth;
  state.counters["sliding"] = static_cast<double>(sliding) / contacts;
  state.counters["open"] = static_cast<double>(open) / contacts;
  state.SetLabel(std::string(enum_name(isa())));
}

void methods(benchmark::State& state, Order order, FrictionLaw law) {
  constexpr int kSweeps = 10;
  constexpr std::array<const char*, 4> kNames{"pgs", "nncg", "nsgs", "anderson"};
  const auto contacts = static_cast<Index>(state.range(0));
  StopRule stop;
  stop.max_iterations = kSweeps;
  stop.fixed_iterations = true;
  std::vector<double> r(3 * static_cast<std::size_t>(contacts));
  std::vector<std::unique_ptr<Solver>> solvers;
  std::vector<std::function<void()>> candidates;
  for (const char* name : kNames) {
    solvers.push_back(make_solver(name, {{"law", std::string(enum_name(law))}}));
    solvers.back()->prepare_island({contact_matrix(contacts, kPerRow, order), free_velocities(contacts)},
                                   Vector::Constant(contacts, kFriction));
    candidates.emplace_back([solver = solvers.back().get(), &r, &stop] {
      std::fill(r.begin(), r.end(), 0.0);
      benchmark::DoNotOptimize(solver->solve(r, stop, nullptr).iterations);
    });
  }
  const std::vector<double> seconds =
      least_seconds(state, state.range(0) > 10'000 ? Start::cold : Start::warm, candidates);
  state.counters["ns_per_contact"] = seconds[0] * 1e9 / (kSweeps * contacts);
  for (std::size_t i = 1; i < kNames.size(); ++i)
    state.counters[std::string("x_") + kNames[i]] = seconds[i] / seconds[0];
  state.SetLabel(std::string(enum_name(isa())));
}

void orders(benchmark::State& state, Order order) {
  const auto contacts = static_cast<Index>(state.range(0));
  const BlockSparseMatrix W = contact_matrix(contacts, kPerRow, order);
  const Vector q = free_velocities(contacts), mu = Vector::Constant(contacts, kFriction);
  TaskArena two(2);
  struct Candidate {
    SweepOrder order;
    TaskArena* arena;
    SweepPlan plan;
    GaussSeidelData data;
    OrderedSweep sweep;
    std::vector<double> r;
  };
  std::array<Candidate, 4> all{{{SweepOrder::natural, nullptr, {}, {}, {}, {}},
                                {SweepOrder::coloured, nullptr, {}, {}, {}, {}},
                                {SweepOrder::coloured, &two, {}, {}, {}, {}},
                                {SweepOrder::symmetric, nullptr, {}, {}, {}, {}}}};
  std::vector<std::function<void()>> candidates;
  for (Candidate& c : all) {
    c.plan = plan_sweeps(W, c.order);
    ReducedProblem placed = in_order(ReducedProblem{W, q}, c.plan);
    c.data = make_gauss_seidel_data(std::move(placed.W), std::move(placed.q), mu, FrictionLaw::cone,
                                    TangentStep::scalar);
    c.sweep.prepare(c.data, c.plan);
    c.r.assign(3 * static_cast<std::size_t>(contacts), 0.0);
    candidates.emplace_back([&c] { benchmark::DoNotOptimize(c.sweep.run(c.r, c.arena)); });
  }
  candidates.emplace_back([&] {
    benchmark::DoNotOptimize(in_order(ReducedProblem{W, q}, plan_sweeps(W, SweepOrder::coloured)).q.data());
  });
  const std::vector<double> seconds =
      least_seconds(state, state.range(0) > 10'000 ? Start::cold : Start::warm, candidates);
  state.counters["ns_per_contact"] = seconds[0] * 1e9 / contacts;
  state.counters["colours"] = all[1].plan.colours();
  const std::array<const char*, 4> names{"x_coloured", "x_coloured_2_threads", "x_symmetric", "plan_sweeps"};
  for (std::size_t i = 0; i < names.size(); ++i) state.counters[names[i]] = seconds[i + 1] / seconds[0];
  state.SetLabel(std::string(enum_name(isa())));
}

void matrices(benchmark::State& state) {
  constexpr int kSweeps = 10;
  PlantedOptions options;
  options.contacts = static_cast<int>(state.range(0));
  options.sharing = 0.3;
  const ContactProblem problem = make_planted_problem(options).problem;
  StopRule stop;
  stop.max_iterations = kSweeps;
  stop.fixed_iterations = true;
  std::vector<double> r(3 * static_cast<std::size_t>(problem.contacts()));
  std::vector<std::unique_ptr<Solver>> solvers;
  std::vector<std::function<void()>> candidates;
  for (const char* name : {"pgs", "nncg"}) {
    for (const char* matrix : {"delassus", "bodies"}) {
      solvers.push_back(make_solver(name, {{"matrix", matrix}}));
      solvers.back()->prepare(problem);
      candidates.emplace_back([solver = solvers.back().get(), &r, &stop] {
        std::fill(r.begin(), r.end(), 0.0);
        benchmark::DoNotOptimize(solver->solve(r, stop, nullptr).iterations);
      });
    }
  }
  for (std::size_t i = 0; i < 2; ++i)
    candidates.emplace_back([solver = solvers[i].get(), &problem] { solver->prepare(problem); });
  const std::vector<double> seconds =
      least_seconds(state, state.range(0) > 10'000 ? Start::cold : Start::warm, candidates);
  state.counters["ns_per_contact"] = seconds[0] * 1e9 / (kSweeps * static_cast<double>(problem.contacts()));
  state.counters["x_bodies"] = seconds[1] / seconds[0];
  state.counters["x_nncg"] = seconds[2] / seconds[0];
  state.counters["x_nncg_bodies"] = seconds[3] / seconds[0];
  state.counters["set_up"] = kSweeps * seconds[4] / seconds[0];
  state.counters["set_up_bodies"] = kSweeps * seconds[5] / seconds[0];
  const double contacts = problem.contacts();
  state.counters["blocks"] = assemble_delassus(problem).blocks() / contacts;
  state.counters["blocks_bodies"] = 2.0 * make_body_rows(problem).J.blocks() / contacts;
  state.SetLabel(std::string(enum_name(isa())));
}

void island_sizes(benchmark::internal::Benchmark* b) {
  b->Arg(1'000)->Arg(10'000)->Arg(100'000)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

void in_cache(benchmark::internal::Benchmark* b) { b->Arg(1000)->UseManualTime(); }
void from_memory(benchmark::internal::Benchmark* b) {
  b->Arg(1'000'000)->UseManualTime()->Iterations(20)->Unit(benchmark::kMillisecond);
}
void beyond_cache(benchmark::internal::Benchmark* b) {  // four copies of W in memory
  b->Arg(200'000)->UseManualTime()->Iterations(5)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(sweep, cone_chain_in_cache, Order::chain, FrictionLaw::cone)->Apply(in_cache);
BENCHMARK_CAPTURE(sweep, cone_scattered_in_cache, Order::scattered, FrictionLaw::cone)->Apply(in_cache);
BENCHMARK_CAPTURE(sweep, pyramid_chain_in_cache, Order::chain, FrictionLaw::pyramid)->Apply(in_cache);
BENCHMARK_CAPTURE(sweep, pyramid_scattered_in_cache, Order::scattered, FrictionLaw::pyramid)->Apply(in_cache);
BENCHMARK_CAPTURE(sweep, cone_scattered_from_memory, Order::scattered, FrictionLaw::cone)->Apply(from_memory);
BENCHMARK_CAPTURE(sweep, pyramid_scattered_from_memory, Order::scattered, FrictionLaw::pyramid)
    ->Apply(from_memory);
BENCHMARK_CAPTURE(methods, cone_chain_in_cache, Order::chain, FrictionLaw::cone)->Apply(in_cache);
BENCHMARK_CAPTURE(methods, pyramid_chain_in_cache, Order::chain, FrictionLaw::pyramid)->Apply(in_cache);
BENCHMARK_CAPTURE(methods, cone_scattered_in_cache, Order::scattered, FrictionLaw::cone)->Apply(in_cache);
BENCHMARK_CAPTURE(methods, pyramid_scattered_in_cache, Order::scattered, FrictionLaw::pyramid)
    ->Apply(in_cache);
BENCHMARK_CAPTURE(methods, cone_scattered_from_memory, Order::scattered, FrictionLaw::cone)
    ->Apply(beyond_cache);
BENCHMARK(matrices)->Apply(island_sizes);
BENCHMARK_CAPTURE(orders, chain, Order::chain)->Apply(island_sizes);
BENCHMARK_CAPTURE(orders, scattered, Order::scattered)->Apply(island_sizes);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
