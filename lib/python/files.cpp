// Files of problems: recordings, FCLib files and npz archives, by record/problem_file.h.

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "base/output_file.h"
#include "harness/solve_plan.h"
#include "python/errors.h"
#include "python/held_problem.h"
#include "python/interpreter_lock.h"
#include "record/npz_file.h"
#include "record/problem_file.h"

namespace signorini::python {

namespace {

namespace fs = std::filesystem;

std::shared_ptr<ProblemFile> open_file(const fs::path& path, const std::string& reading) {
  const auto parsed = parse_enum<MatrixReading>(reading, "matrix");
  const Unlocked unlocked;
  return about_files([&] { return std::make_shared<ProblemFile>(path, parsed); });
}

const char* kind_text(ProblemFileKind kind) {
  switch (kind) {
    case ProblemFileKind::recording:
      return "recording";
    case ProblemFileKind::fclib_local:
      return "fclib_local";
    case ProblemFileKind::fclib_global:
      return "fclib_global";
    case ProblemFileKind::npz:
      break;
  }
  return "npz";
}

std::shared_ptr<HeldProblem> read_step(const ProblemFile& file, const std::string& step) {
  const Unlocked unlocked;
  return about_files([&] {
    ContactProblem problem = file.read(step);
    check_problem(problem, file.path().string() + ": step " + step);
    return std::make_shared<HeldProblem>(std::move(problem));
  });
}

/// (r, u, v or None), or None.
py::object solution_of(const ProblemFile& file) {
  const std::optional<FclibSolution>& solution = file.solution();
  if (!solution) return py::none();
  py::object v = py::none();
  if (solution->v.size() > 0) v = copy_of(solution->v);
  return py::make_tuple(copy_of(solution->r), copy_of(solution->u), v);
}

/// With a `u` or `v` of None it is computed from r.
FclibSolution solution_from(HeldProblem& held, const py::tuple& given) {
  const ContactProblem& problem = held.get();
  const Index rows = 3 * problem.contacts();
  FclibSolution solution;
  solution.r = vector_from(given[0].cast<py::array>(), rows, "r", "3 for every contact");
  if (!given[1].is_none())
    solution.u = vector_from(given[1].cast<py::array>(), rows, "u", "3 for every contact");
  if (!given[2].is_none() && problem.has_primal())
    solution.v = vector_from(given[2].cast<py::array>(), problem.dofs(), "v", "one for every dof");
  if (!solution.r.allFinite() || !solution.u.allFinite() || !solution.v.allFinite())
    throw_usage("solution: holds a number that is not finite");
  const Unlocked unlocked;
  return held.with_referee([&](const Referee& referee) {
    if (solution.u.size() != rows) solution.u = referee.relative_velocity(span_of(std::as_const(solution.r)));
    if (problem.has_primal() && solution.v.size() == 0)
      solution.v = referee.velocity(span_of(std::as_const(solution.r)));
    return std::move(solution);
  });
}

void write_file(const fs::path& path, HeldProblem& held, const py::object& solution, const py::tuple& texts,
                const std::string& format, bool replace) {
  const auto parsed = parse_enum<ProblemFormat>(format, "format");
  FclibFile file;
  file.problem = held.get();
  file.info = {texts[0].cast<std::string>(), texts[1].cast<std::string>(), texts[2].cast<std::string>()};
  if (!solution.is_none()) file.solution = solution_from(held, solution.cast<py::tuple>());
  const Unlocked unlocked;
  about_files([&] {
    if (!replace && fs::exists(path))
      throw_input("{}: exists already; replace=True replaces it", path.string());
    const std::vector<LockFile> locks =
        claim_outputs({{}, {{"path", path}}, replace ? ExistingOutput::replace : ExistingOutput::refuse});
    write_problem(path, file, parsed);
  });
}

}  // namespace

void bind_files(py::module_& module) {
  py::class_<ProblemFile, std::shared_ptr<ProblemFile>>(module, "File", "A file of contact problems.")
      .def(
          "kind", [](const ProblemFile& file) { return kind_text(file.kind()); }, "What kind of file.")
      .def(
          "steps", [](const ProblemFile& file) { return file.steps(); }, "Names of the steps.")
      .def(
          "title", [](const ProblemFile& file) { return text_of(file.title()); }, "Scene, or title.")
      .def("read", &read_step, py::arg("step"), "The problem of a step.")
      .def(
          "find",
          [](const ProblemFile& file, const std::string& step) { return choose_steps(file, {step}).front(); },
          py::arg("step"), "The name of a step that may be given without leading zeros.")
      .def("solution", &solution_of, "(r, u, v) that stands beside a single problem, or None.");
  module.def("open_file", &open_file, py::arg("path"), py::arg("reading"), "Checks and opens a file.");
  module.def("write_file", &write_file, py::arg("path"), py::arg("problem"), py::arg("solution"),
             py::arg("texts"), py::arg("format"), py::arg("replace"),
             "Writes a problem, and a solution where one is given.");
}

}  // namespace signorini::python
