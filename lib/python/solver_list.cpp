// The registry of solvers: what there is, plugins, solvers written in Python.

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "python/bindings.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/python_solver.h"
#include "solvers/plugin/plugin_library.h"
#include "solvers/registry.h"

namespace signorini::python {

namespace {

py::dict dict_of(const SolverEntry& entry) {
  py::list options;
  for (const OptionDescription& o : entry.describe())
    options.append(py::make_tuple(text_of(o.key), text_of(o.type), text_of(o.value), text_of(o.help)));
  py::list phases;
  for (const std::string_view phase : entry.traits.phases) {
    if (!phase.empty()) phases.append(std::string(phase));
  }
  py::dict told;
  told["name"] = text_of(std::string(entry.name));
  told["summary"] = text_of(std::string(entry.summary));
  told["source"] = text_of(std::string(entry.source));
  told["needs"] = std::string(enum_name(entry.traits.needs));
  told["cone"] = entry.traits.cone;
  told["pyramid"] = entry.traits.pyramid;
  told["parallel"] = entry.traits.parallel;
  told["inner_regions"] = entry.traits.inner_regions;
  told["phases"] = phases;
  told["options"] = options;
  told["is_python"] = is_python_solver(std::string(entry.name));
  return told;
}

py::list all_solvers() {
  py::list all;
  for (const SolverEntry& entry : solver_registry()) all.append(dict_of(entry));
  return all;
}

void load_plugin(const std::filesystem::path& path) {
  if (is_working()) throw_usage("{}: plugins are loaded before anything is solved", path.string());
  about_files([&] { load_solver_plugin(path); });
}

/// `told`: the members of `PythonSolver`, and options as (key, type, value, help, choices).
void register_solver(const py::dict& told, py::object make) {
  PythonSolver solver;
  const auto text = [&told](const char* key) { return told[key].cast<std::string>(); };
  solver.name = text("name");
  solver.summary = text("summary");
  solver.source = text("source");
  solver.library = text("library");
  solver.needs = text("needs");
  solver.tells = text("tells");
  solver.cone = told["cone"].cast<bool>();
  solver.pyramid = told["pyramid"].cast<bool>();
  for (const py::handle option : told["options"]) {
    const auto parts = option.cast<std::vector<std::string>>();
    solver.options.push_back({parts.at(0), parts.at(2), parts.at(3), parts.at(4), parts.at(1)});
  }
  solver.make = std::move(make);
  register_python_solver(std::move(solver));
}

}  // namespace

void bind_solvers(py::module_& module) {
  module.def("all_solvers", &all_solvers, "What is known of every solver.");
  module.def("load_plugin", &load_plugin, py::arg("path"), "Adds the solvers of a shared library.");
  module.def("register_solver", &register_solver, py::arg("told"), py::arg("make"),
             "Adds a solver written in Python.");
}

}  // namespace signorini::python
