// One solve of one problem, by the protocols of harness/protocols.h, and the referee.

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "harness/protocols.h"
#include "python/held_problem.h"
#include "python/interruptible.h"
#include "solvers/registry.h"

namespace signorini::python {

namespace {

struct SolveWish {
  SolverVariant variant;
  RegionMode mode = RegionMode::none;
  int threads = 1;
  RunLimits limits;
  bool trace = false;
};

SolveWish wish_of(const std::string& solver, const OptionMap& options, const py::dict& given) {
  SolveWish wish;
  wish.variant = {solver, solver, options};
  wish.mode = parse_enum<RegionMode>(given["regions"].cast<std::string>(), "regions");
  wish.threads = given["threads"].cast<int>();
  wish.limits.tolerance = given["tolerance"].cast<double>();
  wish.limits.max_iterations = given["max_iterations"].cast<int>();
  wish.limits.time_limit = given["time_limit"].cast<double>();
  wish.trace = given["trace"].cast<bool>();
  return wish;
}

struct Solved {
  SolveOutcome outcome;
  Vector u, v;
  std::optional<ConvergenceTrace> curve;
};

/// The traced run has as many iterations as the answer took.
Solved solve_with(const SolveWish& wish, const ContactProblem& problem, const Referee& referee,
                  const CancelFlag& cancelled) {
  RunLimits limits = wish.limits;
  limits.cancelled = &cancelled;
  const RunTarget target = make_target(problem, referee, "python", "", "");
  PreparedRun run = prepare_run(target, wish.variant, wish.mode, wish.threads);
  Solved solved{solve_self_stopped(target, run, limits), {}, {}, {}};
  const SolveOutcome& outcome = solved.outcome;
  if (is_answer(outcome)) {
    solved.u = referee.relative_velocity(span_of(outcome.r));
    solved.v = referee.velocity(span_of(outcome.r));
  }
  if (wish.trace && run.solver) {
    limits.max_iterations = std::max(1, outcome.record.iterations);
    solved.curve = trace_run(target, run, limits).trace;
  }
  return solved;
}

py::dict dict_of(const Residuals& e) {
  py::dict all;
  all["residual"] = e.residual;
  all["natural_map"] = e.natural_map;
  all["siconos_error"] = e.siconos_error;
  all["fischer_burmeister"] = e.fischer_burmeister;
  all["penetration"] = e.penetration;
  all["cone_violation"] = e.cone_violation;
  all["dissipation_angle"] = e.dissipation_angle;
  all["equation"] = e.equation;
  all["fb_normal"] = e.fb_normal;
  all["fb_static"] = e.fb_static;
  all["fb_kinetic"] = e.fb_kinetic;
  all["island_residual"] = e.island_residual;
  return all;
}

template <class T>
py::object column_of(const std::vector<T>& column) {
  if (column.empty()) return py::none();
  return copy_of(column.data(), column.size());
}

py::dict dict_of(const ConvergenceTrace& t) {
  py::dict curve;
  curve["iteration"] = copy_of(t.iteration.data(), t.iteration.size());
  curve["seconds"] = copy_of(t.seconds.data(), t.seconds.size());
  curve["residual"] = copy_of(t.residual.data(), t.residual.size());
  curve["natural_map"] = copy_of(t.natural_map.data(), t.natural_map.size());
  curve["active"] = copy_of(t.active.data(), t.active.size());
  curve["sliding"] = copy_of(t.sliding.data(), t.sliding.size());
  curve["plain"] = column_of(t.plain);
  curve["preconditioned"] = column_of(t.preconditioned);
  curve["constraint"] = column_of(t.constraint);
  curve["state_changes"] = column_of(t.state_changes);
  curve["restarts"] = column_of(t.restarts);
  curve["relinearisations"] = column_of(t.relinearisations);
  curve["guards"] = column_of(t.guards);
  curve["contact_sweeps"] = column_of(t.contact_sweeps);
  return curve;
}

/// {"record": a row as JSON, "residuals", "r", "u", "v", "curve"}; what there is not is None.
py::dict solve(HeldProblem& held, const std::string& solver, const OptionMap& options,
               const py::dict& given) {
  const SolveWish wish = wish_of(solver, options, given);
  Solved solved;
  run_interruptible([&](const CancelFlag& cancelled) {
    // names and values that do not exist, before work; here, since the end of the interpreter waits for this thread
    make_solver(wish.variant.name, wish.variant.options);
    solved = held.with_referee(
        [&](const Referee& referee) { return solve_with(wish, held.get(), referee, cancelled); });
  });
  const bool answered = is_answer(solved.outcome);
  py::dict out;
  out["record"] = text_of(run_record_json(solved.outcome.record));
  out["residuals"] = dict_of(solved.outcome.record.errors);
  out["r"] = answered ? py::object(copy_of(solved.outcome.r)) : py::none();
  out["u"] = answered ? py::object(copy_of(solved.u)) : py::none();
  out["v"] = answered && held.get().has_primal() ? py::object(copy_of(solved.v)) : py::none();
  out["curve"] = solved.curve ? py::object(dict_of(*solved.curve)) : py::none();
  return out;
}

LawSpec law_of(const std::string& law, const std::string& frame) {
  return {parse_enum<FrictionLaw>(law, "law"), parse_enum<PyramidFrame>(frame, "frame")};
}

py::dict measure(HeldProblem& held, const py::array& r, const py::object& v, const std::string& law,
                 const std::string& frame) {
  const LawSpec spec = law_of(law, frame);
  const Vector impulses = vector_from(r, 3 * held.get().contacts(), "r", "3 for every contact");
  Vector velocities;
  if (!v.is_none() && held.get().has_primal())
    velocities = vector_from(v.cast<py::array>(), held.get().dofs(), "v", "one for every dof");
  Residuals errors;
  run_interruptible([&](const CancelFlag&) {
    errors = held.with_referee([&](const Referee& referee) {
      return referee.measure(span_of(impulses), spec, span_of(std::as_const(velocities)));
    });
  });
  return dict_of(errors);
}

/// (u, v or None) of an answer, through M where there is one.
py::tuple velocities(HeldProblem& held, const py::array& r) {
  const Vector impulses = vector_from(r, 3 * held.get().contacts(), "r", "3 for every contact");
  Vector u, v;
  run_interruptible([&](const CancelFlag&) {
    held.with_referee([&](const Referee& referee) {
      u = referee.relative_velocity(span_of(impulses));
      v = referee.velocity(span_of(impulses));
      return true;
    });
  });
  return py::make_tuple(copy_of(u), held.get().has_primal() ? py::object(copy_of(v)) : py::none());
}

py::array_t<double> contact_errors(HeldProblem& held, const py::array& r, const std::string& law,
                                   const std::string& frame) {
  const LawSpec spec = law_of(law, frame);
  const Vector impulses = vector_from(r, 3 * held.get().contacts(), "r", "3 for every contact");
  Vector errors(held.get().contacts());
  run_interruptible([&](const CancelFlag&) {
    held.with_referee([&](const Referee& referee) {
      referee.contact_errors(span_of(impulses), spec, span_of(errors));
      return true;
    });
  });
  return copy_of(errors);
}

}  // namespace

void bind_solving(py::module_& module) {
  module.def("solve", &solve, py::arg("problem"), py::arg("solver"), py::arg("options"), py::arg("given"),
             "Solves a problem; what there is of a row, an answer and a curve.");
  module.def("measure", &measure, py::arg("problem"), py::arg("r"), py::arg("v"), py::arg("law"),
             py::arg("frame"), "All errors of an answer.");
  module.def("contact_errors", &contact_errors, py::arg("problem"), py::arg("r"), py::arg("law"),
             py::arg("frame"), "The residual of every contact.");
  module.def("velocities", &velocities, py::arg("problem"), py::arg("r"), "u and v of an answer.");
}

}  // namespace signorini::python
