#include "python/python_solver.h"

#include <signorini/solver_plugin.h>

#include <memory>
#include <set>

#include "python/array_views.h"
#include "python/interruptible.h"
#include "solvers/plugin/plugin_solver.h"
#include "solvers/registry.h"

namespace signorini::python {

namespace {

using plugin::Failure;
using plugin::Outcome;

// --- calls from solves --------------------------------------------------------------------------------------

/// An object of Python's, and the numbers in an answer of it.
struct SolverObject {
  py::object object;
  py::ssize_t rows = 0;
};

/// Of an exception of Python's; with the interpreter's lock.
std::string line_of(py::error_already_set& error) {
  try {
    const py::object describe = py::module_::import("signorini._solver").attr("describe_error");
    return describe(error.value(), error.trace()).cast<std::string>();
  } catch (const std::exception&) {
    return "raised an exception that cannot be printed";
  }
}

bool is_unsupported(py::error_already_set& error) {
  return error.matches(py::module_::import("signorini._errors").attr("Unsupported"));
}

/// `body` with the interpreter's lock; what it throws becomes an outcome.
template <class Body>
Outcome in_python(Failure* failure, Body&& body) noexcept {
  const py::gil_scoped_acquire lock;
  try {
    body();
    return Outcome::good;
  } catch (py::error_already_set& error) {
    plugin::detail::tell(failure, line_of(error).c_str());
    return is_unsupported(error) ? Outcome::unsupported : Outcome::failed;
  } catch (const std::exception& error) {
    plugin::detail::tell(failure, error.what());
  } catch (...) {
    plugin::detail::tell(failure, "threw something that is no std::exception");
  }
  return Outcome::failed;
}

py::object option_value(const PythonOption& option, const plugin::OptionValue& value) {
  if (option.type == "flag") return py::bool_(value.number != 0.0);
  if (option.type == "integer") return py::int_(static_cast<long long>(value.number));
  if (option.type == "number") return py::float_(value.number);
  return py::str(value.text);
}

Outcome create(const void* context, const plugin::OptionValue* values, std::uint32_t count, void** solver,
               Failure* failure) {
  return in_python(failure, [&] {
    const auto& described = *static_cast<const PythonSolver*>(context);
    py::dict options;
    for (std::uint32_t i = 0; i < count; ++i)
      options[values[i].key] = option_value(described.options.at(i), values[i]);
    *solver = new SolverObject{described.make(options), 0};
  });
}

void destroy(void* solver) {
  const py::gil_scoped_acquire lock;
  delete static_cast<SolverObject*>(solver);
}

py::object csr_of(const plugin::Matrix& a) {
  if (a.rows == 0) return py::none();
  const auto entries = static_cast<std::size_t>(a.row_begin[a.rows]);
  return py::make_tuple(copy_of(a.value, entries), copy_of(a.column, entries),
                        copy_of(a.row_begin, static_cast<std::size_t>(a.rows) + 1),
                        py::make_tuple(a.rows, a.columns));
}

py::object vector_of(const double* values, std::int32_t size) {
  if (values == nullptr) return py::none();
  return copy_of(values, static_cast<std::size_t>(size));
}

py::dict dict_of(const plugin::Problem& p) {
  const bool has_delassus = p.q != nullptr, has_mass = p.w != nullptr;
  py::dict told;
  told["law"] = p.law == plugin::Law::cone ? "cone" : "pyramid";
  told["contacts"] = p.contacts;
  told["dofs"] = p.dofs;
  told["mu"] = vector_of(p.mu, p.contacts);
  told["dt"] = p.dt;
  told["W"] = has_delassus ? py::object(bsr_copy(p.W.rows, p.W.columns, p.W.row_begin, p.W.column, p.W.value))
                           : py::none();
  told["q"] = vector_of(p.q, 3 * p.contacts);
  told["M"] = has_mass ? csr_of(p.M) : py::none();
  told["H_transposed"] = has_mass ? csr_of(p.H_transposed) : py::none();
  told["f"] = has_mass ? vector_of(p.f, p.dofs) : py::none();
  told["w"] = vector_of(p.w, 3 * p.contacts);
  told["warm_start"] = vector_of(p.warm_start, 3 * p.contacts);
  return told;
}

Outcome prepare(void* solver, const plugin::Problem* problem, Failure* failure) {
  return in_python(failure, [&] {
    auto& own = *static_cast<SolverObject*>(solver);
    own.rows = py::ssize_t{3} * problem->contacts;
    own.object.attr("prepare")(dict_of(*problem));
  });
}

/// The numbers of an array of Python's, which the package has checked.
void copy_back(const SolverObject& own, const py::handle& given, double* r) {
  const auto numbers = given.cast<py::array_t<double, py::array::c_style>>();
  if (numbers.size() != own.rows) throw std::runtime_error("an answer of another size");
  std::copy_n(numbers.data(), own.rows, r);
}

py::array_t<double> copy_in(const SolverObject& own, const double* r) {
  return copy_of(r, static_cast<std::size_t>(own.rows));
}

Outcome start(void* solver, double* r, const plugin::Start* told, Failure* failure) {
  return in_python(failure, [&] {
    const auto& own = *static_cast<SolverObject*>(solver);
    const py::array_t<double> values = copy_in(own, r);
    own.object.attr("start")(values, told->tolerance, told->velocity_scale);
    copy_back(own, values, r);
  });
}

Outcome iterate(void* solver, double* r, plugin::Step* out, Failure* failure) {
  return in_python(failure, [&] {
    const auto& own = *static_cast<SolverObject*>(solver);
    const auto answer = own.object.attr("iterate")(copy_in(own, r)).cast<py::tuple>();
    copy_back(own, answer[0], r);
    out->products = answer[1].cast<std::int32_t>();
    out->sweeps = answer[2].cast<std::int32_t>();
    out->exhausted = answer[3].cast<bool>() ? 1 : 0;
    out->estimate = answer[4].cast<double>();
  });
}

// --- what is known of a solver --------------------------------------------------------------------------------

/// The description of a solver and what its pointers point to. They stay until the process ends, with the objects of
/// Python that they name: solves of the last moment may hold on to them.
struct Kept {
  explicit Kept(PythonSolver given) : solver(std::move(given)) {}

  PythonSolver solver;
  std::vector<plugin::Option> options;
  plugin::Entry entry{};
};

std::set<std::string>& names() {
  static std::set<std::string> added;
  return added;
}

plugin::OptionType type_of(const std::string& type) {
  if (type == "flag") return plugin::OptionType::flag;
  if (type == "integer") return plugin::OptionType::integer;
  return type == "number" ? plugin::OptionType::number : plugin::OptionType::text;
}

plugin::Needs needs_of(const std::string& needs) {
  if (needs == "delassus") return plugin::Needs::delassus;
  if (needs == "mass") return plugin::Needs::mass;
  if (needs == "both") return plugin::Needs::both;
  throw_usage("needs: unknown value '{}' (known: delassus, mass, both)", needs);
}

plugin::Entry entry_of(Kept& kept) {
  const PythonSolver& s = kept.solver;
  for (const PythonOption& o : s.options)
    kept.options.push_back({o.key.c_str(), o.value.c_str(), o.help.c_str(),
                            o.choices.empty() ? nullptr : o.choices.c_str(), type_of(o.type)});
  plugin::Entry entry{};
  entry.size = sizeof entry;
  entry.needs = needs_of(s.needs);
  entry.tells = s.tells == "last" ? plugin::Tells::last : plugin::Tells::present;
  entry.cone = s.cone ? 1 : 0;
  entry.pyramid = s.pyramid ? 1 : 0;
  entry.option_count = static_cast<std::uint32_t>(kept.options.size());
  entry.options = kept.options.data();
  entry.name = s.name.c_str();
  entry.summary = s.summary.c_str();
  entry.source = s.source.c_str();
  entry.destroy = &destroy;
  entry.prepare = &prepare;
  entry.start = &start;
  entry.iterate = &iterate;
  entry.create_for = &create;
  entry.context = &kept.solver;
  return entry;
}

}  // namespace

void register_python_solver(PythonSolver solver) {
  if (is_working()) throw_usage("solver '{}': solvers are registered before anything is solved", solver.name);
  if (find_solver(solver.name) != nullptr && !is_python_solver(solver.name))
    throw_usage("solver '{}': there is one of that name already; give this one another", solver.name);
  auto kept = std::make_unique<Kept>(std::move(solver));
  kept->entry = entry_of(*kept);
  SolverEntry made;
  try {
    made = plugin_solver_entry(kept->entry, "register_solver", kept->solver.library);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
  const std::string& name = kept->solver.name;
  if (is_python_solver(name)) remove_solver(name);
  names().insert(name);
  add_solver(std::move(made));
  static_cast<void>(kept.release());
}

bool is_python_solver(const std::string& name) { return names().contains(name); }

}  // namespace signorini::python
