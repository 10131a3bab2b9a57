// Solvers of plugins, in this process: what they are told, what their answers and their mistakes become, and which
// libraries are refused. plugin_test.py does the same with shared libraries and the program.
#include "solvers/plugin/plugin_solver.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <cstring>
#include <functional>

#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "examples/plugin/example.cpp"
#include "solvers/plugin/plugin_library.h"
#include "solvers/region_solver.h"

namespace signorini::plugin_solver_test {
namespace {

using plugin::About;
using plugin::Needs;
using plugin::Option;
using plugin::Options;
using plugin::Problem;
using plugin::Start;
using plugin::Step;

constexpr const char* kLibrary = "libtest.so:0123456789abcdef";

/// What the next solvers of this file do; they run on this thread alone.
std::function<void(const Problem&)> on_prepare;
std::function<void(double*, const Start&)> on_start;
std::function<Step(double*)> on_iterate;

/// Does what the functions above say.
template <Needs needs>
class Told : public plugin::Solver {
 public:
  static constexpr About kAbout{"told", "does what the test says", "a test", needs};
  explicit Told(const Options&) {}
  void prepare(const Problem& problem) override {
    if (on_prepare) on_prepare(problem);
  }
  void start(double* r, const Start& start) override {
    if (on_start) on_start(r, start);
  }
  Step iterate(double* r) override { return on_iterate ? on_iterate(r) : Step{}; }
};

/// Options of every type.
class Choosy : public plugin::Solver {
 public:
  static constexpr About kAbout{"choosy", "has options", "a test"};
  static constexpr std::array kOptions{
      Option::flag("fast", "false", "a flag"), Option::integer("depth", "3", "a count"),
      Option::number("omega", "0.5", "a factor"), Option::text("order", "up", "an order", "up|down"),
      Option::text("label", "x", "any text")};
  static inline std::string seen;
  explicit Choosy(const Options& o) {
    seen = fmt::format("{} {} {} {} {}", o.flag("fast"), o.integer("depth"), o.number("omega"),
                       o.text("order"), o.text("label"));
    if (o.number("omega") > 1.0) throw std::invalid_argument("omega must be at most 1");
    if (o.integer("depth") == 9) static_cast<void>(o.number("undeclared"));
  }
  void prepare(const Problem&) override {}
  Step iterate(double*) override { return {}; }
};

Matrix dense(const plugin::Matrix& a) {
  Matrix out = Matrix::Zero(a.rows, a.columns);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int32_t e = a.row_begin[i]; e < a.row_begin[i + 1]; ++e) out(i, a.column[e]) = a.value[e];
  }
  return out;
}

Matrix dense(const plugin::BlockMatrix& a) {
  Matrix out = Matrix::Zero(3 * a.rows, 3 * a.columns);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int32_t b = a.row_begin[i]; b < a.row_begin[i + 1]; ++b)
      out.block<3, 3>(3 * i, 3 * a.column[b]) = Eigen::Map<const Matrix3>(a.value + 9 * b);
  }
  return out;
}

Vector vector_of(const double* values, Index size) { return Eigen::Map<const Vector>(values, size); }

/// Gauss–Seidel on normal impulses alone, with nothing but M, H, f and w: for problems without friction.
class FromMass : public plugin::Solver {
 public:
  static constexpr About kAbout{"from-mass", "works with M and H", "a test", Needs::mass};
  explicit FromMass(const Options&) {}
  void prepare(const Problem& p) override {
    const Matrix Ht = dense(p.H_transposed);
    const Eigen::PartialPivLU<Matrix> M(dense(p.M));
    W_ = Ht * M.solve(Ht.transpose());
    q_ = Ht * M.solve(vector_of(p.f, p.dofs)) + vector_of(p.w, 3 * p.contacts);
  }
  Step iterate(double* r) override {
    Eigen::Map<Vector> x(r, q_.size());
    Step step;
    step.estimate = 0.0;
    for (Eigen::Index i = 0; i < q_.size(); i += 3) {
      const double u = W_.row(i).dot(x) + q_[i];
      const double next = std::max(0.0, x[i] - u / W_(i, i));
      step.estimate = std::max(step.estimate, W_(i, i) * std::abs(next - x[i]));
      x[i] = next;
    }
    return step;
  }

 private:
  Matrix W_;
  Vector q_;
};

template <class... Solvers>
std::vector<SolverEntry> entries_of() {
  static const auto entries = plugin::detail::entries<Solvers...>();
  static const plugin::Library library = plugin::detail::library(entries);
  return solvers_of(&library, "libtest.so", kLibrary);
}

template <class S>
std::unique_ptr<Solver> make(const OptionMap& options = {}) {
  return entries_of<S>().front().create(options);
}

template <class Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class PluginSolver : public ::testing::Test {
 protected:
  void TearDown() override { on_prepare = nullptr, on_start = nullptr, on_iterate = nullptr; }
  static ContactProblem planted(double stiffness = 1.0) {
    PlantedOptions options;
    options.contacts = 8;
    options.stiffness = stiffness;
    return make_planted_problem(options).problem;
  }
  static StopRule to(double residual, int iterations = 1000) {
    StopRule stop;
    stop.residual = residual;
    stop.max_iterations = iterations;
    return stop;
  }
  static SolveReport solve(Solver& solver, const ContactProblem& problem, std::vector<double>& r,
                           const StopRule& stop) {
    solver.prepare(problem);
    r.assign(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
    return solver.solve(r, stop, nullptr);
  }
};

// Every array by its definition: W = Hᵀ M⁻¹ H and q = Hᵀ M⁻¹ f + w, through a dense inverse.
TEST_F(PluginSolver, SeesTheWholeProblem) {
  ContactProblem problem = planted();
  problem.W = SparseRows();
  problem.q = Vector();
  problem.dt = 0.25;
  const Index m = problem.contacts(), n = problem.dofs();
  problem.warm_start = Vector::LinSpaced(3 * m, 0.0, 1.0);
  const Matrix M = problem.M, H = problem.H;
  const Matrix W = H.transpose() * M.inverse() * H;
  const Vector q = H.transpose() * M.inverse() * problem.f + problem.w;
  int looks = 0;
  const auto common = [&](const Problem& p) {
    ++looks;
    EXPECT_EQ(p.size, sizeof(Problem));
    EXPECT_EQ(p.contacts, m);
    EXPECT_EQ(p.law, plugin::Law::pyramid);
    EXPECT_EQ(vector_of(p.mu, m), problem.mu);
  };
  const auto see_delassus = [&](const Problem& p) {
    EXPECT_LE((dense(p.W) - W).cwiseAbs().maxCoeff(), 1e-12 * W.cwiseAbs().maxCoeff());
    EXPECT_LE((vector_of(p.q, 3 * m) - q).cwiseAbs().maxCoeff(), 1e-12 * q.cwiseAbs().maxCoeff());
    const Vector r = Vector::LinSpaced(3 * m, -1.0, 2.0);
    Vector u(3 * m);
    p.multiply_W(r.data(), u.data());
    EXPECT_LE((u - W * r).cwiseAbs().maxCoeff(), 1e-12 * (W.cwiseAbs() * r.cwiseAbs()).maxCoeff());
  };
  const auto see_mass = [&](const Problem& p) {
    EXPECT_EQ(p.dofs, n);
    EXPECT_EQ(dense(p.M), M);
    EXPECT_EQ(dense(p.H_transposed), H.transpose());
    EXPECT_EQ(vector_of(p.f, n), problem.f);
    EXPECT_EQ(vector_of(p.w, 3 * m), problem.w);
    EXPECT_EQ(p.dt, 0.25);
    EXPECT_EQ(vector_of(p.warm_start, 3 * m), problem.warm_start);
  };
  const OptionMap pyramid{{"law", "pyramid"}};
  on_prepare = [&](const Problem& p) {
    common(p), see_delassus(p);
    EXPECT_EQ(p.M.rows + p.H_transposed.rows + p.dofs, 0);
    EXPECT_TRUE(p.M.value == nullptr && p.f == nullptr && p.w == nullptr && p.warm_start == nullptr);
  };
  make<Told<Needs::delassus>>(pyramid)->prepare(problem);
  on_prepare = [&](const Problem& p) {
    common(p), see_mass(p);
    EXPECT_TRUE(p.W.rows == 0 && p.W.value == nullptr && p.q == nullptr) << "W is not assembled unasked";
  };
  make<Told<Needs::mass>>(pyramid)->prepare(problem);
  on_prepare = [&](const Problem& p) { common(p), see_delassus(p), see_mass(p); };
  make<Told<Needs::both>>(pyramid)->prepare(problem);
  EXPECT_EQ(looks, 3);
}

TEST_F(PluginSolver, ThatNeedsMIsNotGivenAProblemWithout) {
  const ContactProblem dual =
      zoo::make_dual(Matrix::Identity(3, 3), zoo::vector_of({-1, 0, 0}), zoo::vector_of({0.5}));
  EXPECT_NE(make<Told<Needs::mass>>()->unsupported_reason(dual), "");
  EXPECT_NE(make<Told<Needs::both>>()->unsupported_reason(dual), "");
  EXPECT_EQ(make<Told<Needs::delassus>>()->unsupported_reason(dual), "");
}

TEST_F(PluginSolver, MayBeGivenContactsThatNothingMoves) {
  ContactProblem fixed;
  fixed.w = zoo::vector_of({0.1, 0, 0});
  fixed.mu = zoo::vector_of({0.5});
  fixed.M.resize(0, 0);
  fixed.H.resize(0, 0);
  on_prepare = [](const Problem& p) {
    ASSERT_EQ(p.H_transposed.rows, 3);
    for (int row = 0; row <= 3; ++row) EXPECT_EQ(p.H_transposed.row_begin[row], 0);
  };
  make<Told<Needs::both>>()->prepare(fixed);
}

TEST_F(PluginSolver, KnowsTheAskedErrorAndItsScale) {
  const ContactProblem problem = planted();
  const auto solver = make<Told<Needs::delassus>>();
  const double scale = Referee(problem).velocity_scale();
  on_start = [&](double* r, const Start& start) {
    EXPECT_EQ(r[0], 0.0);
    EXPECT_NEAR(start.velocity_scale, scale, 1e-12 * scale);
    EXPECT_NEAR(start.tolerance, 1e-3 * scale, 1e-15 * scale);
  };
  std::vector<double> r;
  solve(*solver, problem, r, to(1e-3, 1));
}

TEST_F(PluginSolver, OptionsAreTypedCheckedAndListed) {
  const SolverEntry entry = entries_of<Choosy>().front();
  EXPECT_EQ(
      entry.create({})->options(),
      fmt::format(
          "law=cone;frame=fixed;warm_start=false;fast=false;depth=3;omega=0.5;order=up;label=x;plugin={}",
          kLibrary));
  EXPECT_EQ(Choosy::seen, "false 3 0.5 up x");
  entry.create({{"fast", "true"}, {"depth", "-4"}, {"omega", "1e-3"}, {"order", "down"}, {"label", "a b"}});
  EXPECT_EQ(Choosy::seen, "true -4 0.001 down a b");
  OptionMap listed;
  std::map<std::string, std::string> types;
  for (const OptionDescription& row : entry.describe()) {
    EXPECT_FALSE(row.help.empty()) << row.key;
    listed[row.key] = row.value;
    types[row.key] = row.type;
  }
  EXPECT_EQ(types["order"], "up|down");
  EXPECT_EQ(types["depth"], "integer");
  EXPECT_EQ(entry.create(listed)->options(), entry.create({})->options())
      << "the printed defaults are the defaults";
  EXPECT_EQ(entry.create({{"omega", "0.25"}})->fresh()->options(),
            entry.create({{"omega", "0.25"}})->options());
  const auto refused = [&](const OptionMap& options) {
    return message_of<UsageError>([&] { entry.create(options); });
  };
  EXPECT_EQ(refused({{"omgea", "1"}}), "solver 'choosy': unknown option 'omgea' (did you mean 'omega'?)");
  EXPECT_NE(refused({{"depth", "1.5"}}), "");
  EXPECT_EQ(refused({{"order", "left"}}),
            "solver 'choosy': option 'order': unknown value 'left' (known: up, down)");
  EXPECT_EQ(refused({{"omega", "2"}}), "solver 'choosy': omega must be at most 1");
  EXPECT_EQ(refused({{"depth", "9"}}),
            "solver 'choosy': asks for option 'undeclared', which kOptions does not name");
  EXPECT_NE(refused({{"plugin", "libother.so:0"}}).find(kLibrary), std::string::npos);
}

TEST_F(PluginSolver, ThatThrowsEndsWithItsMessage) {
  const ContactProblem problem = planted();
  const auto solver = make<Told<Needs::delassus>>();
  std::vector<double> r;
  const auto run = [&] { solve(*solver, problem, r, to(1e-6)); };
  on_prepare = [](const Problem&) { throw plugin::Unsupported("too many contacts"); };
  EXPECT_EQ(message_of<UsageError>(run), "too many contacts");  // a row with status unsupported
  on_prepare = [](const Problem&) { throw std::runtime_error("singular"); };
  EXPECT_EQ(message_of<std::runtime_error>(run), "solver 'told': singular");
  on_prepare = nullptr;
  on_start = [](double*, const Start&) { throw std::logic_error("no start"); };
  EXPECT_EQ(message_of<std::runtime_error>(run), "solver 'told': no start");
  on_start = nullptr;
  on_iterate = [](double*) -> Step { throw std::runtime_error(std::string(1000, 'x')); };
  EXPECT_EQ(message_of<std::runtime_error>(run), "solver 'told': " + std::string(255, 'x'));
  on_iterate = [](double*) -> Step { throw 42; };
  EXPECT_EQ(message_of<std::runtime_error>(run), "solver 'told': threw something that is no std::exception");
}

TEST_F(PluginSolver, ValuesThatAreNotFiniteEndAsDiverged) {
  const ContactProblem problem = planted();
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const bool fixed : {false, true}) {
      int calls = 0;
      on_iterate = [&](double* r) {
        r[1] = ++calls < 3 ? 0.0 : poison;
        Step step;
        step.estimate = 1.0;
        return step;
      };
      std::vector<double> r;
      StopRule stop = to(1e-9);
      stop.fixed_iterations = fixed;
      const SolveReport report = solve(*make<Told<Needs::delassus>>(), problem, r, stop);
      EXPECT_EQ(enum_name(report.status), "diverged");
      EXPECT_EQ(calls, 3);
      for (const double x : r) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

TEST_F(PluginSolver, AnEstimateThatIsTooSmallConvincesNobody) {
  const ContactProblem problem = planted();
  on_iterate = [](double*) {
    Step step;
    step.estimate = 0.0;
    return step;
  };
  std::vector<double> r;
  const SolveReport report = solve(*make<Told<Needs::delassus>>(), problem, r, to(1e-6, 40));
  EXPECT_EQ(enum_name(report.status), "iteration_limit");
  EXPECT_EQ(report.iterations, 40);
  EXPECT_GT(report.own_residual, 1e-6);
  on_iterate = [](double*) {
    Step step;
    step.exhausted = 1;
    return step;
  };
  const SolveReport stuck = solve(*make<Told<Needs::delassus>>(), problem, r, to(1e-6, 40));
  EXPECT_EQ(enum_name(stuck.status), "stalled");
  EXPECT_EQ(stuck.iterations, 1);
}

// The answer from iteration 5 on: without an estimate it is found at once, with one that is too large late.
TEST_F(PluginSolver, WithoutAnEstimateIsMeasuredInEveryIteration) {
  const PlantedProblem planted = make_planted_problem({});
  for (const double estimate : {std::numeric_limits<double>::quiet_NaN(), 1e9}) {
    int calls = 0;
    on_iterate = [&](double* r) {
      if (++calls >= 5) std::copy(planted.r.begin(), planted.r.end(), r);
      Step step;
      step.products = 3;
      step.sweeps = 2;
      step.estimate = estimate;
      return step;
    };
    std::vector<double> r;
    const SolveReport report = solve(*make<Told<Needs::delassus>>(), planted.problem, r, to(1e-8));
    EXPECT_EQ(enum_name(report.status), "converged");
    EXPECT_EQ(report.iterations, std::isnan(estimate) ? 5 : 50);
    EXPECT_EQ(report.counters.contact_sweeps, 2 * report.iterations);
    const int measured = std::isnan(estimate) ? 1 + report.iterations : 2;
    EXPECT_EQ(report.products, 3 * report.iterations + measured);
  }
}

TEST_F(PluginSolver, OfTheExampleSolvesWholeAndByRegionsUnderBothLaws) {
  const std::vector<SolverEntry> entries = solvers_of(signorini_solver_plugin(), "libexample.so", kLibrary);
  ASSERT_EQ(entries.size(), 1U);
  PlantedOptions options;
  options.contacts = 40;
  options.regions = 8;
  const ContactProblem problem = make_planted_problem(options).problem;
  const Referee referee(problem);
  for (const OptionMap& chosen :
       {OptionMap{}, OptionMap{{"law", "pyramid"}}, OptionMap{{"order", "forward"}, {"omega", "1.2"}}}) {
    std::vector<double> whole, first;
    const auto alone = with_regions(entries[0].create(chosen), {RegionMode::none, 1});
    EXPECT_EQ(enum_name(solve(*alone, problem, whole, to(1e-8)).status), "converged");
    for (const int threads : {1, 2, 4}) {
      const auto split = with_regions(entries[0].create(chosen), {RegionMode::points, threads});
      std::vector<double> r;
      const SolveReport report = solve(*split, problem, r, to(1e-8));
      EXPECT_EQ(enum_name(report.status), "converged");
      EXPECT_LE(referee.measure(r, split->common().spec()).residual, 1.01e-8);
      if (first.empty()) first = r;
      EXPECT_EQ(std::memcmp(r.data(), first.data(), sizeof(double) * r.size()), 0) << threads << " threads";
      EXPECT_EQ(split->partition().regions(), 8);
    }
  }
}

TEST_F(PluginSolver, OnVelocitiesSolvesWholeAndByIslands) {
  PlantedOptions options;
  options.contacts = 30;
  options.regions = 5;
  options.stiffness = 1.0;
  ContactProblem problem = make_planted_problem(options).problem;
  problem.mu.setZero();
  std::vector<double> first;
  for (const RegionOptions& regions :
       {RegionOptions{RegionMode::none, 1}, RegionOptions{RegionMode::islands, 1},
        RegionOptions{RegionMode::islands, 2}}) {
    const auto solver = with_regions(make<FromMass>(), regions);
    std::vector<double> r;
    const SolveReport report = solve(*solver, problem, r, to(1e-8));
    EXPECT_EQ(enum_name(report.status), "converged");
    EXPECT_LE(Referee(problem).measure(r, {}).residual, 1.01e-8);
    if (regions.mode == RegionMode::none) {
      EXPECT_EQ(report.counters.mass_products, report.iterations);  // as the plugin tells
      continue;
    }
    EXPECT_GT(solver->partition().regions(), 1);
    if (first.empty()) first = r;
    EXPECT_EQ(first, r) << "threads change no bit";
  }
}

/// A library that is right but for what `change` does to it.
std::string refusal(const std::function<void(plugin::Library&, plugin::Entry&, plugin::Option&)>& change) {
  static plugin::Option option;
  static std::array<plugin::Entry, 1> entries;
  option = Option::number("omega", "1", "a factor");
  entries = plugin::detail::entries<Told<Needs::delassus>>();
  entries[0].options = &option;
  entries[0].option_count = 1;
  plugin::Library library = plugin::detail::library(entries);
  change(library, entries[0], option);
  const std::string text = message_of<InputError>([&] { solvers_of(&library, "bad.so", kLibrary); });
  EXPECT_TRUE(text.empty() || text.starts_with("bad.so: ")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  return text;
}

TEST(PluginLibrary, IsRefusedWithWhatIsWrong) {
  using L = plugin::Library;
  using E = plugin::Entry;
  using O = plugin::Option;
  EXPECT_EQ(refusal([](L&, E&, O&) {}), "") << "nothing is wrong with it";
  const std::pair<const char*, std::function<void(L&, E&, O&)>> cases[] = {
      {"version 7 of the plugin interface, this program has 1", [](L& l, E&, O&) { l.version = 7; }},
      {"struct Problem has 184 bytes", [](L& l, E&, O&) { l.problem_size += 8; }},
      {"struct Step has 8 bytes", [](L& l, E&, O&) { l.step_size = 8; }},
      {"struct Option has 48 bytes", [](L& l, E&, O&) { l.option_size += 8; }},
      {"brings no solver", [](L& l, E&, O&) { l.count = 0; }},
      {"brings no solver", [](L& l, E&, O&) { l.entries = nullptr; }},
      {"a solver is named ''", [](L&, E& e, O&) { e.name = nullptr; }},
      {"a solver is named 'My Solver'", [](L&, E& e, O&) { e.name = "My Solver"; }},
      {"a solver is named 'a,b'", [](L&, E& e, O&) { e.name = "a,b"; }},
      {"there is a solver 'pgs' already", [](L&, E& e, O&) { e.name = "pgs"; }},
      {"summary and source", [](L&, E& e, O&) { e.summary = "two\nlines"; }},
      {"'needs'", [](L&, E& e, O&) { e.needs = static_cast<Needs>(9); }},
      {"'tells'", [](L&, E& e, O&) { e.tells = static_cast<plugin::Tells>(-1); }},
      {"neither cone nor pyramid", [](L&, E& e, O&) { e.cone = e.pyramid = 0; }},
      {"a function is missing", [](L&, E& e, O&) { e.iterate = nullptr; }},
      {"its options are missing", [](L&, E& e, O&) { e.options = nullptr; }},
      {"option 0 lacks", [](L&, E&, O& o) { o.key = "two words"; }},
      {"option 0 lacks", [](L&, E&, O& o) { o.help = nullptr; }},
      {"option 'law' already", [](L&, E&, O& o) { o.key = "law"; }},
      {"option 'plugin' already", [](L&, E&, O& o) { o.key = "plugin"; }},
      {"a default is none of its option's values", [](L&, E&, O& o) { o.value = "much"; }},
  };
  for (const auto& [part, change] : cases) EXPECT_NE(refusal(change).find(part), std::string::npos) << part;
  EXPECT_NE(message_of<InputError>([] { solvers_of(nullptr, "bad.so", kLibrary); }), "");
}

TEST(PluginLibrary, MayServeOneLawOnly) {
  plugin::Entry entry = plugin::detail::Bridge<Told<Needs::delassus>>::entry();
  entry.cone = 0;
  const SolverEntry solver = plugin_solver_entry(entry, "some.so", kLibrary);
  EXPECT_FALSE(solver.traits.cone);
  EXPECT_EQ(solver.create({})->common().law, FrictionLaw::pyramid);
}

// Other languages have one function for all of their solvers, told apart by `context`.
TEST(PluginLibrary, MayMakeItsSolversByOneFunctionWithAContext) {
  plugin::Entry entry = plugin::detail::Bridge<Choosy>::entry();
  struct Context {
    decltype(plugin::Entry::create) create;
    mutable int made;
  };
  const Context context{entry.create, 0};
  entry.create = nullptr;
  entry.context = &context;
  entry.create_for = [](const void* given, const plugin::OptionValue* values, std::uint32_t count,
                        void** solver, plugin::Failure* failure) {
    const auto* own = static_cast<const Context*>(given);
    ++own->made;
    return own->create(values, count, solver, failure);
  };
  const SolverEntry solver = plugin_solver_entry(entry, "some.so", kLibrary);
  const std::unique_ptr<Solver> made = solver.create({{"omega", "0.25"}});
  EXPECT_EQ(Choosy::seen, "false 3 0.25 up x");
  EXPECT_EQ(made->fresh()->options(), made->options());
  EXPECT_EQ(context.made, 2);
}

TEST(PluginLibrary, MayBeTakenOutOfTheRegistryAgain) {
  const SolverEntry entry = entries_of<Choosy>().front();
  const std::size_t before = solver_registry().size();
  add_solver(entry);
  EXPECT_NE(find_solver("choosy"), nullptr);
  const std::unique_ptr<Solver> kept = make_solver("choosy");
  remove_solver("choosy");
  EXPECT_EQ(find_solver("choosy"), nullptr);
  EXPECT_EQ(solver_registry().size(), before);
  EXPECT_EQ(kept->fresh()->name(), "choosy");
}

// The layout of version 1, which libraries out there were compiled with: members may be appended, none moved.
TEST(PluginLibrary, HasTheLayoutOfVersionOne) {
  static_assert(SIGNORINI_PLUGIN_VERSION == 1);
  EXPECT_EQ(offsetof(plugin::Library, version), 0U);
  EXPECT_EQ(offsetof(plugin::Library, entries), 40U);
  EXPECT_EQ(offsetof(plugin::Entry, options), 24U);
  EXPECT_EQ(offsetof(plugin::Entry, create), 56U);
  EXPECT_EQ(offsetof(plugin::Entry, iterate), 88U);
  EXPECT_EQ(offsetof(plugin::Entry, create_for), 96U);
  EXPECT_EQ(offsetof(plugin::Entry, context), 104U);
  EXPECT_EQ(offsetof(plugin::Problem, mu), 16U);
  EXPECT_EQ(offsetof(plugin::Problem, W), 24U);
  EXPECT_EQ(offsetof(plugin::Problem, q), 56U);
  EXPECT_EQ(offsetof(plugin::Problem, H_transposed), 96U);
  EXPECT_EQ(offsetof(plugin::Problem, warm_start), 152U);
  EXPECT_EQ(offsetof(plugin::Problem, of_program), 168U);
  EXPECT_EQ(offsetof(plugin::Start, velocity_scale), 16U);
  EXPECT_EQ(offsetof(plugin::Step, estimate), 16U);
  EXPECT_EQ(sizeof(plugin::Option), 40U);
  EXPECT_EQ(sizeof(plugin::OptionValue), 24U);
  EXPECT_EQ(sizeof(plugin::Failure), 256U);
}

}  // namespace
}  // namespace signorini::plugin_solver_test
