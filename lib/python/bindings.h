#pragma once

#include <pybind11/pybind11.h>

/// The extension module `signorini._core`, a part from each file. It is what the package around it (lib/python/signorini)
/// is written with, not what users call: it takes and gives plain arrays, texts and numbers, and checks whatever could
/// harm the process. docs/python.md is for users.
namespace signorini::python {

namespace py = pybind11;

/// Errors of the tree as exceptions of `signorini._errors`; before all others.
void bind_errors();
void bind_problem(py::module_& module);
void bind_files(py::module_& module);
void bind_solving(py::module_& module);
void bind_solvers(py::module_& module);
void bind_experiments(py::module_& module);

/// A text of C++, which may hold bytes of a foreign file.
inline py::str text_of(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape"));
}

}  // namespace signorini::python
