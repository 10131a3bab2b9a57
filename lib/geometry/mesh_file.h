#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "geometry/tet_mesh.h"

/// Meshes that users bring along. The extension, in any case, names the format:
///
///     .msh   tetrahedra    Gmsh 2.x and 4.1, ASCII
///     .vtk   tetrahedra    VTK legacy unstructured grid, ASCII or binary, versions 1 to 5
///     .obj   surface       Wavefront; `v` and `f` are read, everything else is passed over
///     .ply   surface       ASCII and binary of both byte orders
///     .stl   surface       ASCII and binary; vertices with equal coordinates are merged
///
/// Tetrahedra: elements of lower dimension are passed over, other volume elements refused. Every tetrahedron
/// of negative volume gets its last two vertices exchanged. Surfaces: polygons are cut into fans around their
/// first vertex; orientation is left as it is. Vertices that no element uses are dropped, the others keep
/// their order; apart from STL equal vertices are not merged.
///
/// Everything wrong with a file is one `InputError`, "<file>:<line>: …" where there is a line: what the
/// format does not allow, coordinates that are not finite or beyond 10³⁰, elements without volume or area (to
/// the rounding of their coordinates) or with a vertex twice, faces of more than two tetrahedra or of two
/// that lie on the same side. Counts in a file are believed only as far as the rest of the file can hold
/// them.
namespace signorini {

/// Throws `UsageError` for an extension without a reader, `InputError` for the rest.
TetMesh read_tet_mesh(const std::filesystem::path& path);
TriangleMesh read_surface(const std::filesystem::path& path);

/// The same from the bytes of a file; `name` opens error lines.
enum class TetFormat { msh, vtk };
enum class SurfaceFormat { obj, ply, stl };
TetMesh parse_tet_mesh(std::string_view bytes, TetFormat format, const std::string& name);
TriangleMesh parse_surface(std::string_view bytes, SurfaceFormat format, const std::string& name);

}  // namespace signorini
