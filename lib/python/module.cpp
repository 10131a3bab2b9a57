#include "base/digest.h"
#include "harness/environment.h"
#include "harness/run_record.h"
#include "python/bindings.h"
#include "python/interpreter_lock.h"

namespace signorini::python {

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ library behind the package signorini; use the package.";
  watch_for_end();
  bind_errors();
  bind_problem(module);
  bind_files(module);
  bind_solving(module);
  bind_solvers(module);
  bind_experiments(module);
  module.attr("version") = build_facts().version;
  module.def(
      "build_json", [] { return build_json(); }, "Version, revision, compiler and libraries, as JSON.");
  module.def(
      "run_schema_json", [] { return run_schema_json(); },
      "The columns of runs.csv, as in runs.schema.json.");
  module.def(
      "digest", [](const py::bytes& bytes) { return digest_text(digest_of(std::string_view(bytes))); },
      py::arg("data"), "XXH3 of bytes, 16 hexadecimal digits.");
}

}  // namespace signorini::python
