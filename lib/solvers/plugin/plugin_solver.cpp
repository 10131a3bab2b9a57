#include "solvers/plugin/plugin_solver.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/check.h"
#include "solvers/delassus_solver.h"
#include "solvers/mass_solver.h"

namespace signorini {

namespace {

// --- options ------------------------------------------------------------------------------------------------

struct OwnOption {
  const plugin::Option* described;
  std::variant<bool, int, double, std::string> value;
};

struct PluginOptions {
  CommonOptions common;
  std::vector<OwnOption> own;
  std::string plugin;
  std::string solver, library;  ///< for messages; no options

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    for (OwnOption& o : own)
      std::visit([&](auto& value) { v(o.described->key, value, o.described->help); }, o.value);
    v("plugin", plugin, "library that the solver is from and digest of its bytes; set by the program");
  }
  void validate() const;
};

/// "a|b|c" as it is written.
std::vector<std::string> choices_of(const plugin::Option& option) {
  return option.choices == nullptr ? std::vector<std::string>{} : split(option.choices, '|');
}

void PluginOptions::validate() const {
  for (const OwnOption& o : own) {
    const auto* text = std::get_if<std::string>(&o.value);
    const std::vector<std::string> choices = choices_of(*o.described);
    if (text == nullptr || choices.empty() || std::ranges::find(choices, *text) != choices.end()) continue;
    throw_usage("solver '{}': option '{}': unknown value '{}' (known: {})", solver, o.described->key, *text,
                fmt::join(choices, ", "));
  }
  if (plugin != library)
    throw_usage("solver '{}': plugin = {} is not what was loaded, {}; the program sets this option", solver,
                plugin, library);
}

decltype(OwnOption::value) zero_of(plugin::OptionType type) {
  switch (type) {
    case plugin::OptionType::flag:
      return false;
    case plugin::OptionType::integer:
      return 0;
    case plugin::OptionType::number:
      return 0.0;
    case plugin::OptionType::text:
      break;
  }
  return std::string();
}

std::vector<plugin::OptionValue> values_of(const PluginOptions& options) {
  std::vector<plugin::OptionValue> values;
  for (const OwnOption& o : options.own) {
    plugin::OptionValue value{o.described->key, "", 0.0};
    std::visit(
        [&]<class T>(const T& own) {
          if constexpr (std::is_same_v<T, std::string>) {
            value.text = own.c_str();
          } else {
            value.number = static_cast<double>(own);
          }
        },
        o.value);
    values.push_back(value);
  }
  return values;
}

// --- what is known of a solver --------------------------------------------------------------------------------

struct Described {
  plugin::Entry entry;
  SolverTraits traits;
  PluginOptions defaults;
};

std::unique_ptr<Solver> make(const std::shared_ptr<const Described>& described, const PluginOptions& options);

bool is_name(const char* text) {
  if (text == nullptr || std::isalpha(static_cast<unsigned char>(*text)) == 0) return false;
  return std::all_of(text, text + std::strlen(text), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '_';
  });
}

bool is_line(const char* text) {
  return text != nullptr && *text != '\0' && std::strpbrk(text, "\r\n") == nullptr;
}

void check_entry(const plugin::Entry& entry, const std::string& file) {
  if (!is_name(entry.name))
    throw_input("{}: a solver is named '{}'; names are small letters, digits and hyphens", file,
                entry.name == nullptr ? "" : entry.name);
  const auto require = [&](bool good, const char* what) {
    if (!good) throw_input("{}: solver '{}': {}", file, entry.name, what);
  };
  require(is_line(entry.summary) && is_line(entry.source), "summary and source must be a line of text each");
  require(entry.needs >= plugin::Needs::delassus && entry.needs <= plugin::Needs::both,
          "'needs' is no value of Needs");
  require(entry.tells == plugin::Tells::present || entry.tells == plugin::Tells::last,
          "'tells' is no value of Tells");
  require(entry.cone != 0 || entry.pyramid != 0, "serves neither cone nor pyramid");
  require(
      (entry.create || entry.create_for) && entry.destroy && entry.prepare && entry.start && entry.iterate,
      "a function is missing");
  require(entry.option_count == 0 || entry.options != nullptr, "its options are missing");
}

/// The options with their defaults; refuses what cannot be one.
PluginOptions default_options(const plugin::Entry& entry, const std::string& file,
                              const std::string& library) {
  PluginOptions options;
  options.solver = entry.name;
  options.plugin = options.library = library;
  if (entry.cone == 0) options.common.law = FrictionLaw::pyramid;
  std::set<std::string> taken;
  for (const OptionDescription& row : describe_options(options)) taken.insert(row.key);
  OptionMap defaults;
  for (std::uint32_t i = 0; i < entry.option_count; ++i) {
    const plugin::Option& option = entry.options[i];
    if (!is_name(option.key) || !is_line(option.help) || option.value == nullptr ||
        option.type < plugin::OptionType::flag || option.type > plugin::OptionType::text)
      throw_input("{}: solver '{}': option {} lacks a key in small letters, a type, a default or its help",
                  file, entry.name, i);
    if (!taken.insert(option.key).second)
      throw_input("{}: solver '{}': there is an option '{}' already; give this one another key", file,
                  entry.name, option.key);
    options.own.push_back({&option, zero_of(option.type)});
    defaults[option.key] = option.value;
  }
  try {
    apply_options(options, defaults, fmt::format("solver '{}'", entry.name));
  } catch (const UsageError& error) {
    throw_input("{}: a default is none of its option's values: {}", file, error.what());
  }
  return options;
}

std::vector<OptionDescription> describe(const Described& described) {
  std::vector<OptionDescription> rows = describe_options(described.defaults);
  for (const OwnOption& o : described.defaults.own) {
    if (o.described->choices == nullptr) continue;
    std::ranges::find(rows, o.described->key, &OptionDescription::key)->type = o.described->choices;
  }
  return rows;
}

// --- one object of the library --------------------------------------------------------------------------------

class PluginObject {
 public:
  PluginObject(std::shared_ptr<const Described> described, const PluginOptions& options)
      : described_(std::move(described)) {
    const std::vector<plugin::OptionValue> values = values_of(options);
    const auto size = static_cast<std::uint32_t>(values.size());
    const plugin::Outcome outcome = call([&](plugin::Failure* failure) {
      if (entry().create_for != nullptr)
        return entry().create_for(entry().context, values.data(), size, &solver_, failure);
      return entry().create(values.data(), size, &solver_, failure);
    });
    if (outcome == plugin::Outcome::good && solver_ == nullptr)
      throw std::runtime_error(fmt::format("solver '{}': its library made no solver", entry().name));
    if (outcome != plugin::Outcome::good) throw_usage("solver '{}': {}", entry().name, failure_.text);
  }
  ~PluginObject() {
    if (solver_ != nullptr) entry().destroy(solver_);
  }
  PluginObject(const PluginObject&) = delete;
  PluginObject& operator=(const PluginObject&) = delete;

  const plugin::Entry& entry() const { return described_->entry; }
  const std::shared_ptr<const Described>& described() const { return described_; }

  /// Of what the solver may read afterwards; the rest is filled in by those who have it.
  plugin::Problem problem{};
  void prepare() {
    const plugin::Outcome outcome =
        call([&](plugin::Failure* failure) { return entry().prepare(solver_, &problem, failure); });
    if (outcome == plugin::Outcome::unsupported) throw_usage("{}", failure_.text);
    require(outcome);
  }
  void start(std::span<double> r, const StopTest& stop) {
    iterations_ = 0;
    const plugin::Start told{sizeof(plugin::Start), stop.asked(), stop.scale()};
    require(call([&](plugin::Failure* failure) { return entry().start(solver_, r.data(), &told, failure); }));
  }
  /// `step`: what the library says of it.
  Iteration iterate(std::span<double> r, plugin::Step& step) {
    step = {};
    require(
        call([&](plugin::Failure* failure) { return entry().iterate(solver_, r.data(), &step, failure); }));
    ++iterations_;
    Iteration iteration;
    iteration.exhausted = step.exhausted != 0;
    if (!all_finite(r)) return iteration;  // without any number: diverged
    if (std::isfinite(step.estimate)) {
      iteration.estimate = step.estimate;
    } else {
      iteration.ripe = true;
      iteration.merit = -static_cast<double>(iterations_);
    }
    return iteration;
  }

 private:
  /// Libraries that are not made with our header may throw.
  template <class Body>
  plugin::Outcome call(Body&& body) {
    failure_.text[0] = '\0';
    plugin::Outcome outcome = plugin::Outcome::failed;
    try {
      outcome = body(&failure_);
    } catch (const std::exception& error) {
      plugin::detail::tell(&failure_, error.what());
    } catch (...) {
      plugin::detail::tell(&failure_, "threw something that is no std::exception");
    }
    failure_.text[sizeof failure_.text - 1] = '\0';
    return outcome;
  }
  void require(plugin::Outcome outcome) const {
    if (outcome != plugin::Outcome::good)
      throw std::runtime_error(fmt::format("solver '{}': {}", entry().name, failure_.text));
  }

  std::shared_ptr<const Described> described_;
  void* solver_ = nullptr;
  plugin::Failure failure_{};
  int iterations_ = 0;
};

plugin::BlockMatrix view_of(const BlockSparseMatrix& W) {
  return {W.block_rows, W.block_columns, W.row_begin.data(), W.column.data(), W.values.data()};
}

template <class Sparse>
plugin::Matrix view_of(const Sparse& matrix) {
  SIGNORINI_CHECK(matrix.isCompressed());
  return {static_cast<std::int32_t>(matrix.outerSize()), static_cast<std::int32_t>(matrix.innerSize()),
          matrix.outerIndexPtr(), matrix.innerIndexPtr(), matrix.valuePtr()};
}

/// `of_program` is W.
void times_W(const plugin::Problem* problem, const double* r, double* u) {
  const auto& W = *static_cast<const BlockSparseMatrix*>(problem->of_program);
  const std::size_t rows = 3 * W.block_rows;
  multiply(W, {r, rows}, {u, rows});
}

// --- in the place of a solver of the tree -----------------------------------------------------------------------

template <class Base>
class PluginSolver : public Base {
 public:
  PluginSolver(const std::shared_ptr<const Described>& described, const PluginOptions& options)
      : object_(described, options), options_(options) {}

  std::string_view name() const override { return object_.entry().name; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  const SolverTraits& traits() const override { return object_.described()->traits; }
  std::unique_ptr<Solver> fresh() const override { return make(object_.described(), options_); }

 protected:
  MeasureSchedule::Tells estimates_tell() const override {
    return object_.entry().tells == plugin::Tells::last ? MeasureSchedule::Tells::last
                                                        : MeasureSchedule::Tells::present;
  }
  /// The parts of the problem that all solvers are told.
  plugin::Problem& new_problem(const Vector& mu) {
    plugin::Problem& problem = object_.problem;
    problem = {};
    problem.size = sizeof(plugin::Problem);
    problem.law = is_cone(options_.common.law) ? plugin::Law::cone : plugin::Law::pyramid;
    problem.contacts = static_cast<std::int32_t>(mu.size());
    problem.mu = mu.data();
    return problem;
  }
  static void add_delassus(const BlockSparseMatrix& W, const Vector& q, plugin::Problem& problem) {
    problem.W = view_of(W);
    problem.q = q.data();
    problem.times_W = times_W;
    problem.of_program = &W;
  }

  PluginObject object_;
  PluginOptions options_;
};

class DelassusPlugin final : public PluginSolver<DelassusSolver> {
 public:
  using PluginSolver::PluginSolver;
  void prepare_island(ReducedProblem problem, Vector mu) override {
    set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu),
                                    options_.common.law, natural_tangent_step(options_.common.law)));
    add_delassus(data_.W, data_.q, new_problem(data_.mu));
    object_.prepare();
  }
  /// A plugin may have taken q apart when it was prepared.
  bool follows_free_velocity() const override { return false; }

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override {
    reset_counters();
    object_.start(r, stop);
    return {};
  }
  Iteration iterate(std::span<double> r) override {
    plugin::Step step;
    const Iteration iteration = object_.iterate(r, step);
    products_ += step.products;
    counters_.contact_sweeps += step.sweeps;
    return iteration;
  }
};

class MassPlugin final : public PluginSolver<MassSolver> {
 public:
  using PluginSolver::PluginSolver;
  void prepare(const ContactProblem& given) override {
    system_.prepare(given, options_.common.law, Judge::exact, arena_);
    const std::size_t rows = 3 * given.contacts();
    best().resize(rows);
    plugin::Problem& problem = new_problem(given.mu);
    problem.dofs = given.dofs();
    problem.M = view_of(given.M);
    problem.H_transposed = view_of(given.H);
    if (std::cmp_not_equal(problem.H_transposed.rows, rows)) {  // nothing moves
      no_entries_.assign(rows + 1, 0);
      problem.H_transposed = {static_cast<std::int32_t>(rows), problem.dofs, no_entries_.data(), nullptr,
                              nullptr};
    }
    problem.f = given.f.data();
    problem.w = given.w.data();
    problem.dt = given.dt;
    if (std::cmp_equal(given.warm_start.size(), rows)) problem.warm_start = given.warm_start.data();
    if (object_.entry().needs == plugin::Needs::both) {
      reduced_ = assemble_reduced(given, arena_);
      add_delassus(reduced_.W, reduced_.q, problem);
    }
    object_.prepare();
  }

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override {
    counters_ = {};
    object_.start(r, stop);
    return {};
  }
  Iteration iterate(std::span<double> r) override {
    plugin::Step step;
    const Iteration iteration = object_.iterate(r, step);
    counters_.mass_products += step.products;
    counters_.contact_sweeps += step.sweeps;
    return iteration;
  }

 private:
  ReducedProblem reduced_;
  std::vector<Index> no_entries_;
};

std::unique_ptr<Solver> make(const std::shared_ptr<const Described>& described,
                             const PluginOptions& options) {
  if (described->entry.needs == plugin::Needs::delassus)
    return std::make_unique<DelassusPlugin>(described, options);
  return std::make_unique<MassPlugin>(described, options);
}

}  // namespace

SolverEntry plugin_solver_entry(const plugin::Entry& entry, const std::string& file,
                                const std::string& library) {
  check_entry(entry, file);
  auto made = std::make_shared<Described>();
  made->entry = entry;
  made->traits.needs = entry.needs == plugin::Needs::delassus ? SolverNeeds::delassus : SolverNeeds::mass;
  made->traits.cone = entry.cone != 0;
  made->traits.pyramid = entry.pyramid != 0;
  made->defaults = default_options(entry, file, library);
  const std::shared_ptr<const Described> described = std::move(made);
  const auto create = [described](const OptionMap& values) {
    PluginOptions options = described->defaults;
    apply_options(options, values, fmt::format("solver '{}'", described->entry.name));
    return make(described, options);
  };
  return {entry.name,        entry.summary, entry.source,
          described->traits, create,        [described] { return describe(*described); }};
}

}  // namespace signorini
