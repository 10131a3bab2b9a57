// signorini export: one snapshot as an FCLib file or an npz archive, or a recording as a VTK series.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "base/options.h"
#include "commands.h"
#include "harness/fclib_export.h"
#include "harness/vtk_export.h"
#include "json_output.h"
#include "terminal.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

struct ExportArguments {
  std::string file, step, output, vtk, format = "by-name", matrix = "symmetric";
  bool force = false, local = false;
};

int export_snapshot(const Program& program, const ExportArguments& a) {
  const FclibExport done = export_fclib({a.file, a.step, a.output, a.matrix,
                                         a.force ? ExistingOutput::replace : ExistingOutput::refuse,
                                         parse_enum<ProblemFormat>(a.format, "--format"), a.local});
  if (program.json) {
    print_json({{"file", a.output},
                {"input", a.file},
                {"step", done.step},
                {"kind", done.kind},
                {"contacts", done.contacts},
                {"dofs", done.dofs},
                {"delassus_entries", done.entries},
                {"bytes", done.bytes}});
  }
  const std::string size =
      a.local ? fmt::format("W with {} entries", done.entries) : fmt::format("{} dofs", done.dofs);
  say(fmt::format("{}: {} contacts, {}, {}{}{}", a.output, done.contacts, size,
                  bytes_text(static_cast<double>(done.bytes)), done.note.empty() ? "" : "; ", done.note));
  return kSuccess;
}

int export_pictures(const Program& program, const ExportArguments& a) {
  const std::vector<std::string> steps = a.step.empty() ? std::vector<std::string>{} : std::vector{a.step};
  TerminalMonitor monitor;
  const VtkExport done =
      export_vtk(a.file, steps, a.vtk, a.force ? ExistingFolder::replace : ExistingFolder::refuse, &monitor);
  if (program.json) {
    print_json({{"folder", a.vtk},
                {"input", a.file},
                {"kind", "vtk"},
                {"frames", done.frames},
                {"frames_with_surfaces", done.surfaces},
                {"frames_with_displacements", done.displacements},
                {"frames_with_impulses", done.impulses}});
  }
  std::string missing;
  if (done.displacements < done.surfaces)
    missing += "; without displacements (rest positions were not recorded)";
  if (done.impulses < done.frames)
    missing +=
        "; without impulses of the step itself (only those of the step before were recorded: warm_start)";
  say(fmt::format("{}: {} frames; open surface.pvd and contacts.pvd in ParaView{}", a.vtk, done.frames,
                  missing));
  return kSuccess;
}

int export_problem(const Program& program, const ExportArguments& a) {
  if (a.vtk.empty() && a.output.empty()) {
    throw_usage(
        "export: no output is named; give -o FILE.hdf5 for one snapshot in FCLib's format, -o FILE.npz "
        "for one in numpy's, or --vtk DIR for a ParaView series");
  }
  if (!a.vtk.empty() && !a.output.empty()) {
    throw_usage("export: takes -o or --vtk, not both ({} and {}); run it once for each", a.output, a.vtk);
  }
  if (!a.vtk.empty() && a.local)
    throw_usage("export: --local condenses one snapshot, for -o FILE; --vtk {} takes none", a.vtk);
  return a.vtk.empty() ? export_snapshot(program, a) : export_pictures(program, a);
}

}  // namespace

void add_export(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "export",
      "Write a snapshot as an FCLib or npz file, or a recording for ParaView\n"
      "\n"
      "With -o: one snapshot in the format of FCLib (HDF5), which Siconos and other tools read. The whole "
      "problem is written: solved again, it gives the same bits. A group /signorini, which other tools pass "
      "over, holds what FCLib has no name for: geometry, velocities at the beginning of the step, states and "
      "friction bounds of the previous solve. Surfaces are left out. With -o FILE.npz: the same problem as "
      "an archive of numpy arrays (docs/npz.md). With --local the bodies are eliminated: W = H^T M^-1 H, "
      "q = H^T M^-1 f + w and mu stand in /fclib_local, or in the arrays W, q, mu. With --vtk: a folder with "
      "surface.pvd "
      "(bodies with displacements in m) and contacts.pvd (contacts with normals, impulses in N s, gaps in m, "
      "regions, islands, and where a solver may start); both open in ParaView.");
  command->footer(
      "Examples:\n"
      "  signorini export bucket.h5 --step 120 -o bucket_120.hdf5\n"
      "  signorini solve bucket_120.hdf5 --solver pgs         solve what was exported\n"
      "  signorini export bucket.h5 --step 120 -o 120.npz     for np.load\n"
      "  signorini export bucket.h5 --step 120 --local -o W.hdf5   W, q and mu alone\n"
      "  signorini export bucket.h5 --vtk bucket_vtk          every snapshot\n"
      "  signorini export bucket.h5 --vtk one --step 120      one snapshot\n"
      "\n"
      "With --json: one object with file, input, step, kind, contacts, dofs, "
      "delassus_entries (of W, 0 without one) and bytes; with --vtk the folder and the number of frames.\n"
      "Exit codes: 0 written; 2 wrong command line; 3 a file cannot be read or written; 5 out of memory.");
  auto a = std::make_shared<ExportArguments>();
  command->add_option("FILE", a->file, "Recording (.h5), FCLib file (.hdf5) or npz problem (.npz)")
      ->required();
  command
      ->add_option("--step", a->step,
                   "Snapshot, e.g. 120, or 120.2 for the second solve of step 120 (default: the only one; "
                   "with --vtk: all)")
      ->type_name("K");
  command
      ->add_option("-o,--output", a->output,
                   "File to write: FCLib's format, or numpy's where it ends in .npz")
      ->type_name("FILE");
  command
      ->add_option(
          "--format", a->format,
          "Format of -o, whatever its name: fclib or npz (default: by-name, npz where FILE ends in .npz)")
      ->type_name("FORMAT");
  command->add_flag("--local", a->local,
                    "Write W, q and mu instead of M, H, f and w; refused where W does not fit into memory");
  command->add_option("--vtk", a->vtk, "Folder for the ParaView series; it must be new or empty")
      ->type_name("DIR");
  add_matrix_option(*command, a->matrix);
  command->add_flag("--force", a->force, "Replace an existing file, or an earlier export in DIR");
  command->callback(
      [&program, a] { program.command = [&program, a] { return export_problem(program, *a); }; });
}

}  // namespace signorini
