// signorini export: one snapshot as an FCLib file.

#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "commands.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "terminal.h"

namespace signorini {
namespace {

struct ExportArguments {
  std::string file, step, output;
  bool force = false;
};

int export_problem(const ExportArguments& a) {
  std::error_code error;
  if (std::filesystem::exists(a.output, error) && !a.force)
    throw_usage("{}: exists already; --force replaces it", a.output);
  const ProblemFile file(a.file);
  std::string step = a.step;
  if (step.empty()) {
    if (file.steps().size() != 1) {
      throw_usage("{}: holds {} snapshots; pick one with --step ('signorini info {} --steps' lists them)",
                  a.file, file.steps().size(), a.file);
    }
    step = file.steps().front();
  }
  FclibFile out;
  out.problem = file.read(step);
  out.info.title = file.title();
  out.info.description = fmt::format("step {} of {}, exported by signorini", step,
                                     std::filesystem::path(a.file).filename().string());
  out.info.math_info = "normal component first; impulses in N s, velocities in m/s; cone friction";
  write_fclib(a.output, out);
  say(fmt::format("{}: {} contacts, {} dofs, {}", a.output, out.problem.contacts(), out.problem.dofs(),
                  bytes_text(static_cast<double>(std::filesystem::file_size(a.output)))));
  return kSuccess;
}

}  // namespace

void add_export(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("export", "Write one snapshot as an FCLib file that Siconos and others read");
  command->footer(
      "Lossless both ways: the exported problem, solved again, gives the same bits of r.\n"
      "\n"
      "Examples:\n"
      "  signorini export bucket.h5 --step 120 -o bucket_120.hdf5\n"
      "  signorini solve bucket_120.hdf5 --solver pgs");
  auto a = std::make_shared<ExportArguments>();
  command->add_option("FILE", a->file, "Recording (or FCLib file)")->required();
  command
      ->add_option("--step", a->step, "Snapshot, e.g. 120 or 120.2; may be left out when there is only one")
      ->type_name("K");
  command->add_option("-o,--output", a->output, "File to write")->required()->type_name("FILE.hdf5");
  command->add_flag("--force", a->force, "Replace an existing file");
  command->callback([&program, a] { program.command = [a] { return export_problem(*a); }; });
}

}  // namespace signorini
