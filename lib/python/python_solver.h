#pragma once

#include <string>
#include <vector>

#include "python/bindings.h"

/// Solvers written in Python, in the place of those of a shared library (solvers/plugin): the same description, boundary
/// and registry.
///
/// Of a solver the program makes as many objects as it needs, `make(options)`; each has
///
///     prepare(problem)                     a dictionary of arrays, copies
///     start(r, tolerance, velocity_scale)  the start values as they may be changed
///     iterate(r)                           (r, products, sweeps, exhausted, estimate)
///
/// which are called with the interpreter's lock, one at a time, by any thread. Copies: what a solver keeps of a problem
/// outlives it, and no mistake of a solver reaches memory that is not its own.
namespace signorini::python {

struct PythonOption {
  std::string key, value, help, choices;  ///< no choices: any text
  std::string type;                       ///< flag, integer, number, text
};

struct PythonSolver {
  std::string name, summary, source;
  std::string library;  ///< "python:file.py:digest", as rows name it
  std::string needs;    ///< delassus, mass, both
  std::string tells;    ///< present, last: which iterate an estimate is of
  bool cone = true, pyramid = true;
  std::vector<PythonOption> options;
  py::object make;
};

/// Adds it to the registry, in the place of another Python solver of that name. Throws `UsageError` while anything is
/// solved, for names that others have, and for a description that makes no sense.
void register_python_solver(PythonSolver solver);
/// Whether the solver of that name was added by the function above.
bool is_python_solver(const std::string& name);

}  // namespace signorini::python
