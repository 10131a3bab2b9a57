// signorini export: one snapshot as an FCLib file, or a recording as a VTK series.

#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "commands.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "terminal.h"
#include "vtk_export.h"

namespace signorini {
namespace {

struct ExportArguments {
  std::string file, step, output, vtk;
  bool force = false;
};

int export_fclib(const ExportArguments& a) {
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

int export_pictures(const ExportArguments& a) {
  const std::vector<std::string> steps = a.step.empty() ? std::vector<std::string>{} : std::vector{a.step};
  const VtkExport done =
      export_vtk(a.file, steps, a.vtk, a.force ? ExistingFolder::replace : ExistingFolder::refuse);
  std::string missing;
  if (done.displacements < done.surfaces) missing += "; no displacements: rest positions were not recorded";
  if (done.impulses < done.frames)
    missing += "; no impulses of the step itself: only those of the step before (warm_start) were recorded";
  say(fmt::format("{}: {} frames; open surface.pvd and contacts.pvd in ParaView{}", a.vtk, done.frames,
                  missing));
  return kSuccess;
}

int export_problem(const ExportArguments& a) {
  if (a.vtk.empty() == a.output.empty())
    throw_usage("export needs either -o FILE.hdf5 (FCLib) or --vtk DIR (ParaView)");
  return a.vtk.empty() ? export_fclib(a) : export_pictures(a);
}

}  // namespace

void add_export(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("export", "Write a snapshot for Siconos (FCLib), or a recording for ParaView (VTK)");
  command->footer(
      "FCLib is lossless both ways: the exported problem, solved again, gives the same bits of r.\n"
      "VTK: surface.pvd shows the bodies with their displacements, contacts.pvd the contacts with normals,\n"
      "impulses, gaps, regions and islands; the files of single frames are .vtu.\n"
      "\n"
      "Examples:\n"
      "  signorini export bucket.h5 --step 120 -o bucket_120.hdf5\n"
      "  signorini solve bucket_120.hdf5 --solver pgs\n"
      "  signorini export bucket.h5 --vtk bucket_vtk          every frame\n"
      "  signorini export bucket.h5 --vtk one --step 120      one of them");
  auto a = std::make_shared<ExportArguments>();
  command->add_option("FILE", a->file, "Recording (or FCLib file)")->required();
  command->add_option("--step", a->step, "Snapshot, e.g. 120 or 120.2; default: the only one; with --vtk all")
      ->type_name("K");
  command->add_option("-o,--output", a->output, "FCLib file to write")->type_name("FILE.hdf5");
  command->add_option("--vtk", a->vtk, "Folder for the VTK series; made, or empty")->type_name("DIR");
  command->add_flag("--force", a->force, "Replace an existing file, or an earlier export in DIR");
  command->callback([&program, a] { program.command = [a] { return export_problem(*a); }; });
}

}  // namespace signorini
