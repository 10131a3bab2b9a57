#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/run_monitor.h"
#include "record/recording_file.h"
#include "record/vtk_file.h"

/// A recording as VTK files for ParaView: for every frame K
///
///   surface_K.vtu   triangles of bodies and obstacles. Point data: displacement (m, from the undeformed start;
///                   where rest positions were recorded). Cell data: body (−1 = obstacle).
///   contacts_K.vtu  one point per contact at its position. Point data: normal; impulse and warm_start (N·s,
///                   world axes: r_N n + r_1 t₁ + r_2 t₂, the driving solver's answer and the previous step's,
///                   each where recorded); start_velocity (m/s, world axes: Hᵀ v⁻, the relative velocity at the
///                   beginning of the step with obstacles taken at rest), start_state (−1 new, 0 open,
///                   1 sticking, 2 sliding) and start_bound (N·s, μ r_N) of the previous solve, where recorded;
///                   gap (m); friction; body_a, body_b; region, region_point, island, where
///
///   region, island  number of the detached region (shared mass points) and of the island (whole bodies) as in
///                   regions/region_partition.h: by smallest contact, 0 … count − 1
///   region_point    smallest mass point of the region: a colour by it stays while regions come and go; −1
///                   without one
///
/// and surface.pvd, contacts.pvd, the series in time. The j-th of J solves with the same time t stands at t +
/// j/J dt (j = 0 … J−1), since a series shows one file per time.
namespace signorini {

VtkGrid surface_grid(const FrameGeometry& geometry);
/// Throws `InputError` "<where>: …" when contact positions or frames are missing.
VtkGrid contact_grid(const Frame& frame, const std::string& where);

/// Spreads equal times; `times` ascends, `dt` > 0 is the step of each (values ≤ 0 count as 1).
std::vector<double> series_times(const std::vector<double>& times, const std::vector<double>& dt);

struct VtkExport {
  int frames = 0;
  int surfaces = 0;       ///< frames with recorded surfaces
  int displacements = 0;  ///< of them with rest positions
  int impulses = 0;       ///< frames with the driving solver's impulses
};

enum class ExistingFolder { refuse, replace };

/// Writes the frames `steps` (all when empty) of a recording into `folder`, which is made, must be empty, or
/// loses its earlier exports when they are to be replaced. All files are written to `folder`/export.tmp first
/// and then renamed, the .pvd files last: what fails before leaves an earlier export as it was.
VtkExport export_vtk(const std::filesystem::path& recording, const std::vector<std::string>& steps,
                     const std::filesystem::path& folder, ExistingFolder existing,
                     RunMonitor* monitor = nullptr);

}  // namespace signorini
