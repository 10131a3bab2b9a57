// `compare` and `run`: many problems, many solvers, rows on disk (harness/experiment_run.h).

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "base/text.h"
#include "harness/added_solvers.h"
#include "harness/comparison.h"
#include "harness/config_folder.h"
#include "harness/experiment_run.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/python_solver.h"

namespace signorini::python {

namespace {

namespace fs = std::filesystem;

/// Hands lines and progress to a function of Python's, which is called with the interpreter's lock.
class PythonMonitor : public RunMonitor {
 public:
  PythonMonitor(const py::object& told, const CancelFlag& cancelled) : told_(told), cancelled_(cancelled) {}

  void message(std::string_view line) override { tell("message", line, 0, 0); }
  void begin_progress(const std::string& what, long long total) override {
    total_ = total;
    tell("begin", what, 0, total);
  }
  void progress(long long done, std::string_view detail) override { tell("progress", detail, done, total_); }
  void end_progress() override { tell("end", "", total_, total_); }
  const CancelFlag* cancelled() const override { return &cancelled_; }

 private:
  /// Whatever the function throws, Ctrl-C apart, is printed by Python as an exception that nobody catches.
  void tell(const char* event, std::string_view text, long long done, long long total) {
    const py::gil_scoped_acquire lock;
    try {
      told_(event, text_of(std::string(text)), done, total);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("the progress of a comparison");
    }
  }

  const py::object& told_;
  const CancelFlag& cancelled_;
  long long total_ = 0;
};

/// Python has no physics: the program has recorded the scenes and written the tables of them. They are where it leaves them.
class RecordedScenes : public RecordingProvider {
 public:
  explicit RecordedScenes(const ExperimentRequest& request)
      : folder_(request.output / "recordings"), size_(request.size) {}

  fs::path provide(const SceneVariant& wanted, bool /*keep_failed*/) override {
    const fs::path file = folder_ / fmt::format("{}-{}.h5", wanted.name, size_);
    std::error_code error;
    if (!fs::exists(file, error))
      throw_input("{}: no such recording of scene '{}'", file.string(), wanted.scene);
    return file;
  }
  std::vector<std::pair<std::string, double>> facts(const RecordingHeader&, const StepTable&,
                                                    const fs::path&) const override {
    return {};
  }
  std::vector<std::string> statistics_columns() const override { return {}; }
  std::vector<std::string> clock_columns() const override { return {}; }

 private:
  fs::path folder_;
  std::string size_;
};

/// `make`: the request. It tries solvers, those of Python too: on the thread that runs them.
py::dict run_request(FunctionRef<ExperimentRequest()> make, const py::object& told) {
  ExperimentResult result;
  run_interruptible([&](const CancelFlag& cancelled) {
    PythonMonitor monitor(told, cancelled);
    about_files([&] {
      const ExperimentRequest request = make();
      RecordedScenes scenes(request);
      std::vector<ResultFolder> folders = claim_results({request});
      result = run_experiment(request, std::move(folders.front()), scenes, monitor);
    });
  });
  py::dict out;
  out["folder"] = result.folder;
  out["rows"] = result.rows;
  out["resumed"] = result.resumed;
  out["failed"] = result.failed;
  out["unreadable"] = result.unreadable;
  out["seconds"] = result.seconds;
  return out;
}

/// `given`: the members of `SolveRequest` and `ComparisonRequest` by name.
py::dict compare(const py::dict& given, const py::object& told) {
  ComparisonRequest request;
  const auto texts = [&given](const char* key) { return given[key].cast<std::vector<std::string>>(); };
  SolveRequest& solve = request.solve;
  solve.files = texts("files");
  solve.solvers = texts("solvers");
  solve.settings = texts("settings");
  solve.regions = texts("regions");
  solve.threads = texts("threads");
  solve.tolerance = given["tolerance"].cast<double>();
  solve.max_iterations = given["max_iterations"].cast<int>();
  solve.time_limit = given["time_limit"].cast<double>();
  solve.repetitions = given["repetitions"].cast<int>();
  request.snapshots = given["snapshots"].cast<int>();
  request.traced = given["curves"].cast<bool>();
  request.folder = given["folder"].cast<fs::path>();
  request.resume = given["resume"].cast<bool>();
  request.force = given["force"].cast<bool>();
  request.command_line = texts("command_line");
  return run_request([&] { return comparison(request); }, told);
}

bool is_recorded(const Experiment& experiment) {
  return !experiment.scenes.empty() || !experiment.recordings.empty();
}

/// What the package has to know before it runs an experiment. The program refuses names of solvers in Python: a file
/// with scenes, which it has to run first, cannot have them.
py::dict look_up(const std::string& name, const fs::path& home, const std::string& size) {
  if (std::ranges::find(kSizeNames, size) == kSizeNames.end())
    throw_usage("size: unknown value '{}'{}", size, suggestion(size, kSizeNames));
  return about_files([&] {
    const fs::path config = is_config_path(name)
                                ? config_at(ConfigKind::experiments, name)
                                : find_config(find_configs_folder("", home), ConfigKind::experiments, name);
    const Experiment experiment = read_experiment(config, size);
    for (const SolverVariant& variant : experiment.solvers) {
      if (is_recorded(experiment) && is_python_solver(variant.name))
        throw_usage(
            "{}: solvers.name: '{}' is written in Python, and the program records the scenes of this file; "
            "name it in signorini.run(..., solvers=['{}']) instead",
            config.string(), variant.name, variant.name);
    }
    py::dict out;
    out["config"] = config;
    out["id"] = experiment.id;
    out["is_recorded"] = is_recorded(experiment);
    return out;
  });
}

/// The members of `ExperimentRequest` by name; `solvers` and `settings` of harness/added_solvers.h; `home` of
/// harness/config_folder.h; `after_program`: recordings and tables of them are there.
py::dict run(const py::dict& given, const py::object& told) {
  ExperimentRequest request;
  const auto texts = [&given](const char* key) { return given[key].cast<std::vector<std::string>>(); };
  const std::vector<std::string> solvers = texts("solvers"), settings = texts("settings");
  const auto home = given["home"].cast<fs::path>();
  request.config = given["config"].cast<fs::path>();
  request.size = given["size"].cast<std::string>();
  request.output = given["output"].cast<fs::path>();
  request.resume = given["resume"].cast<bool>();
  request.force = given["force"].cast<bool>();
  request.rows_only = given["after_program"].cast<bool>();
  request.command_line = texts("command_line");
  const auto make = [&] {
    request.experiment = read_experiment(request.config, request.size);
    if (!request.experiment.optional_files.empty())
      request.test_data = test_data_folder(find_configs_folder("", home));
    if (!solvers.empty() || !settings.empty()) add_solvers(solvers, settings, request.experiment);
    return request;
  };
  return run_request(make, told);
}

}  // namespace

void bind_experiments(py::module_& module) {
  module.def("compare", &compare, py::arg("given"), py::arg("told"), "Solvers on files; rows in a folder.");
  module.def("look_up", &look_up, py::arg("name"), py::arg("home"), py::arg("size"),
             "Where an experiment is.");
  module.def("run", &run, py::arg("given"), py::arg("told"), "An experiment; rows in a folder.");
}

}  // namespace signorini::python
