#include "geometry/tetrahedralise.h"

#include <algorithm>
#include <cmath>

#include "base/cancellation.h"
#include "base/check.h"
#include "base/child_process.h"
#include "base/write_all.h"
#include "geometry/surface_intersections.h"

#ifdef SIGNORINI_HAVE_TETGEN
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tetgen.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#endif

namespace signorini {

namespace {

void check_options(const TetrahedraliseOptions& options, std::string_view context) {
  if (!(options.largest_volume >= 0.0) || !std::isfinite(options.largest_volume)) {
    throw_usage("{}: largest volume {} m³ is negative or not finite", context, options.largest_volume);
  }
  if (!(options.radius_edge >= 1.0 && options.radius_edge <= 100.0)) {
    throw_usage("{}: radius-edge bound {} is outside [1, 100]", context, options.radius_edge);
  }
  if (!(options.dihedral >= 0.0 && options.dihedral <= 30.0)) {
    throw_usage("{}: dihedral bound {} degrees is outside [0, 30]", context, options.dihedral);
  }
}

void check_surface(const TriangleMesh& surface, std::string_view context) {
  for (const Triangle& t : surface.triangles) {
    for (const Index v : t) {
      if (v < 0 || v >= count(surface.vertices)) {
        throw_usage("{}: a triangle uses vertex {}, the surface has {}", context, v, surface.vertices.size());
      }
    }
  }
  for (const Vector3& x : surface.vertices) {
    if (!x.allFinite()) throw_usage("{}: a vertex of the surface is not finite", context);
  }
  if (surface.triangles.empty() || !is_closed_and_oriented(surface)) {
    throw_usage(
        "{}: only a closed, consistently oriented surface can be filled with tetrahedra; this one has "
        "holes, edges of more than two triangles or triangles turned round",
        context);
  }
  if (!(enclosed_volume(surface) > 0.0)) {
    throw_usage("{}: the surface is inside out; turn its triangles round", context);
  }
  if (const auto pair = first_self_intersection(surface)) {
    throw_usage("{}: triangles {} and {} of the surface cross each other (counted from 0); repair it",
                context, (*pair)[0], (*pair)[1]);
  }
}

#ifdef SIGNORINI_HAVE_TETGEN

/// TetGen's input; it deletes the arrays itself.
void fill(tetgenio& in, const TriangleMesh& surface) {
  in.firstnumber = 0;
  in.numberofpoints = static_cast<int>(surface.vertices.size());
  in.pointlist = new double[3 * surface.vertices.size()];
  double* x = in.pointlist;
  for (const Vector3& vertex : surface.vertices) x = std::copy_n(vertex.data(), 3, x);
  in.numberoffacets = static_cast<int>(surface.triangles.size());
  in.facetlist = new tetgenio::facet[surface.triangles.size()];
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    tetgenio::facet& facet = in.facetlist[t];
    facet.numberofpolygons = 1;
    facet.polygonlist = new tetgenio::polygon[1];
    facet.numberofholes = 0;
    facet.holelist = nullptr;
    facet.polygonlist[0].numberofvertices = 3;
    facet.polygonlist[0].vertexlist = new int[3];
    std::copy_n(surface.triangles[t].data(), 3, facet.polygonlist[0].vertexlist);
  }
}

/// In the child: meshes, and writes two counts, the points and the tetrahedra.
int mesh_and_write(int pipe, const TriangleMesh& surface, const TetrahedraliseOptions& options) {
  const int nowhere = ::open("/dev/null", O_WRONLY);  // TetGen prints some errors even when quiet
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  const rlim_t seconds = 120 + surface.triangles.size() / 50;
  const rlimit time{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &time);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    tetgenio in, out;
    fill(in, surface);
    tetgenbehavior switches;
    switches.plc = 1;       // -p
    switches.nobisect = 1;  // -Y: no new vertices on the surface
    switches.quality = 1;   // -q
    switches.minratio = options.radius_edge;
    switches.mindihedral = options.dihedral;
    switches.quiet = 1;
    if (options.largest_volume > 0.0) {
      switches.fixedvolume = 1;  // -a
      switches.maxvolume = options.largest_volume;
    }
    tetrahedralize(&switches, &in, &out);
    const std::array<std::int64_t, 2> counts{out.numberofpoints, out.numberoftetrahedra};
    const bool written = write_all(pipe, counts.data(), sizeof counts) &&
                         write_all(pipe, out.pointlist, 3 * sizeof(double) * counts[0]) &&
                         write_all(pipe, out.tetrahedronlist, 4 * sizeof(int) * counts[1]);
    return written ? 0 : 1;
  } catch (...) {
    return 2;
  }
}

/// What the child wrote; empty tets when it is not whole.
TetMesh unpacked(const std::string& bytes) {
  TetMesh mesh;
  std::array<std::int64_t, 2> counts;
  if (bytes.size() < sizeof counts) return mesh;
  std::memcpy(counts.data(), bytes.data(), sizeof counts);
  const std::size_t points = counts[0];
  const std::size_t tets = counts[1];
  if (bytes.size() != sizeof counts + points * 3 * sizeof(double) + tets * sizeof(Tetrahedron)) return mesh;
  const char* at = bytes.data() + sizeof counts;
  mesh.vertices.resize(points);
  for (Vector3& x : mesh.vertices) {
    std::memcpy(x.data(), at, 3 * sizeof(double));
    at += 3 * sizeof(double);
  }
  mesh.tets.resize(tets);
  for (Tetrahedron& tet : mesh.tets) {
    std::memcpy(tet.data(), at, sizeof(Tetrahedron));
    at += sizeof(Tetrahedron);
    if (tet_volume(mesh, tet) < 0.0) std::swap(tet[2], tet[3]);
  }
  return mesh;
}

TetMesh run_tetgen(const TriangleMesh& surface, const TetrahedraliseOptions& options,
                   std::string_view context) {
  const ChildOutput out = output_of_child([&](int pipe) { return mesh_and_write(pipe, surface, options); });
  const int status = out.status;
  if (status == -1) throw_usage("{}: no process for TetGen: {}", context, std::strerror(errno));
  // A terminal, timeout(1) and schedulers signal the whole process group: the surface is not to blame.
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) throw Cancelled();
  TetMesh mesh = unpacked(out.bytes);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || mesh.tets.empty()) {
    const std::string why = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? "took too long" : "gave up";
    throw_usage("{}: TetGen {} on the surface; parts of it may touch or nearly touch (tetgen -d lists them)",
                context, why);
  }
  return mesh;
}

/// The boundary is the surface, triangle for triangle.
void check_boundary(const TetMesh& mesh, const TriangleMesh& surface, std::string_view context) {
  const auto canonical = [](std::vector<Triangle> triangles) {
    for (Triangle& t : triangles) std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
    std::sort(triangles.begin(), triangles.end());
    return triangles;
  };
  if (canonical(boundary_triangles(mesh)) != canonical(surface.triangles)) {
    throw_usage(
        "{}: the surface does not bound one volume (it has a cavity or nested parts); mesh it by hand and "
        "give a .msh or .vtk file",
        context);
  }
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    if (!(tet_volume(mesh, mesh.tets[t]) > 0.0)) {
      throw_usage("{}: TetGen made a flat tetrahedron; smooth the surface or refine it", context);
    }
  }
}

#endif

}  // namespace

bool can_tetrahedralise() {
#ifdef SIGNORINI_HAVE_TETGEN
  return true;
#else
  return false;
#endif
}

TetMesh tetrahedralise(const TriangleMesh& surface, const TetrahedraliseOptions& options,
                       std::string_view context) {
  check_options(options, context);
  check_surface(surface, context);
#ifdef SIGNORINI_HAVE_TETGEN
  TetMesh mesh = run_tetgen(surface, options, context);
  check_boundary(mesh, surface, context);
  return mesh;
#else
  throw_usage(
      "{}: filling a surface with tetrahedra needs TetGen, which this build lacks: apt-get install "
      "libtet1.5-dev and configure with -DSIGNORINI_TETGEN=ON, or mesh the volume with gmsh or tetgen "
      "and give the .msh or .vtk file",
      context);
#endif
}

}  // namespace signorini
