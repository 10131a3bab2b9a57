#include "geometry/mesh_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/mesh_writers.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The largest piece of memory asked for; sanitizers keep their own allocator and their own limit.
namespace {
std::atomic<std::size_t> largest_allocation{0};
}
// Not inline: gcc would see free() on the result of operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  std::size_t seen = largest_allocation.load();
  while (bytes > seen && !largest_allocation.compare_exchange_weak(seen, bytes)) {
  }
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#else
namespace {
std::atomic<std::size_t> largest_allocation{0};
}
#endif

namespace signorini::mesh_file_test {
namespace {

namespace fs = std::filesystem;
using namespace test;

TetMesh some_tets() { return kuhn_block({2, 1, 1}, {0.2, 0.1, 0.3}); }
/// Coordinates that a float keeps, so that binary STL is exact.
TriangleMesh some_triangles() {
  TriangleMesh mesh = icosphere(1);
  for (Vector3& x : mesh.vertices) x = (x * 64.0).array().round() / 64.0;
  return mesh;
}

void expect_equal(const TetMesh& a, const TetMesh& b) {
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.tets, b.tets);
}

/// Up to the order of the vertices.
void expect_same_triangles(const TriangleMesh& a, const TriangleMesh& b) {
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  ASSERT_EQ(a.triangles.size(), b.triangles.size());
  for (std::size_t t = 0; t < a.triangles.size(); ++t) {
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(a.vertices[a.triangles[t][c]], b.vertices[b.triangles[t][c]]);
    }
  }
}

/// One kind of file: its text and how to read it.
struct Sample {
  std::string name;
  std::string bytes;
  std::function<void(std::string_view)> read;  // also checks what every mesh must satisfy
};

void read_tets(std::string_view bytes, TetFormat format) {
  const TetMesh mesh = parse_tet_mesh(bytes, format, "file");
  EXPECT_FALSE(mesh.tets.empty());
  std::vector<bool> used(mesh.vertices.size(), false);
  for (const Tetrahedron& t : mesh.tets) {
    EXPECT_GT(tet_volume(mesh, t), 0.0);
    for (const Index v : t) used.at(v) = true;
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), false), 0);
}

void read_triangles(std::string_view bytes, SurfaceFormat format) {
  const TriangleMesh mesh = parse_surface(bytes, format, "file");
  EXPECT_GT(surface_area(mesh), 0.0);
  std::vector<bool> used(mesh.vertices.size(), false);
  for (const Triangle& t : mesh.triangles) {
    for (const Index v : t) used.at(v) = true;
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), false), 0);
}

std::vector<Sample> samples() {
  const TetMesh tets = some_tets();
  const TriangleMesh surface = some_triangles();
  const auto as_tets = [](TetFormat f) { return [f](std::string_view b) { read_tets(b, f); }; };
  const auto as_surface = [](SurfaceFormat f) { return [f](std::string_view b) { read_triangles(b, f); }; };
  return {{"msh 2.2", msh_2(tets), as_tets(TetFormat::msh)},
          {"msh 4.1", msh_4(tets), as_tets(TetFormat::msh)},
          {"vtk 3", vtk(tets, 3, false), as_tets(TetFormat::vtk)},
          {"vtk 5", vtk(tets, 5, false), as_tets(TetFormat::vtk)},
          {"vtk 3 binary", vtk(tets, 3, true), as_tets(TetFormat::vtk)},
          {"vtk 5 binary", vtk(tets, 5, true), as_tets(TetFormat::vtk)},
          {"obj", obj(surface), as_surface(SurfaceFormat::obj)},
          {"ply", ply(surface, "ascii"), as_surface(SurfaceFormat::ply)},
          {"ply little", ply(surface, "binary_little_endian"), as_surface(SurfaceFormat::ply)},
          {"ply big", ply(surface, "binary_big_endian"), as_surface(SurfaceFormat::ply)},
          {"stl", stl(surface, false), as_surface(SurfaceFormat::stl)},
          {"stl binary", stl(surface, true), as_surface(SurfaceFormat::stl)}};
}

/// What the reader says; "" when it is content.
template <class Read>
std::string complaint(Read&& read) {
  try {
    read();
    return "";
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.rfind("file", 0), 0U) << text;
    return text;
  }
}

std::string tet_complaint(std::string_view bytes, TetFormat format) {
  return complaint([&] { read_tets(bytes, format); });
}
std::string surface_complaint(std::string_view bytes, SurfaceFormat format) {
  return complaint([&] { read_triangles(bytes, format); });
}

testing::AssertionResult says(const std::string& text, const std::string& wanted) {
  if (text.find(wanted) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << wanted << "'";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(MeshFile, TetrahedraComeBackToTheLastBit) {
  const TetMesh mesh = some_tets();
  expect_equal(parse_tet_mesh(msh_2(mesh), TetFormat::msh, "file"), mesh);
  expect_equal(parse_tet_mesh(msh_2(mesh, 1'000'000'000'000), TetFormat::msh, "file"), mesh);
  expect_equal(parse_tet_mesh(msh_4(mesh), TetFormat::msh, "file"), mesh);
  for (const int version : {3, 5}) {
    for (const bool binary : {false, true}) {
      expect_equal(parse_tet_mesh(vtk(mesh, version, binary), TetFormat::vtk, "file"), mesh);
    }
  }
}

TEST(MeshFile, SurfacesComeBackToTheLastBit) {
  const TriangleMesh mesh = some_triangles();
  for (const auto& [bytes, format] :
       {std::pair{obj(mesh), SurfaceFormat::obj}, std::pair{ply(mesh, "ascii"), SurfaceFormat::ply},
        std::pair{ply(mesh, "binary_little_endian"), SurfaceFormat::ply},
        std::pair{ply(mesh, "binary_big_endian"), SurfaceFormat::ply}}) {
    const TriangleMesh read = parse_surface(bytes, format, "file");
    EXPECT_EQ(read.vertices, mesh.vertices);
    EXPECT_EQ(read.triangles, mesh.triangles);
  }
  for (const bool binary : {false, true}) {
    const TriangleMesh read = parse_surface(stl(mesh, binary), SurfaceFormat::stl, "file");
    expect_same_triangles(read, mesh);
    EXPECT_TRUE(is_closed_and_oriented(read));  // so equal vertices were merged
  }
}

TEST(MeshFile, StlMergesZerosOfBothSigns) {
  TriangleMesh mesh = some_triangles();
  std::string text = stl(mesh, false);
  text = replaced(text, "vertex 0 ", "vertex -0.0 ");
  EXPECT_EQ(parse_surface(text, SurfaceFormat::stl, "file").vertices.size(), mesh.vertices.size());
}

TEST(MeshFile, TurnsNegativeTetrahedraAndDropsUnusedVertices) {
  TetMesh mesh = some_tets();
  const double volume = total_volume(mesh);
  for (std::size_t t = 0; t < mesh.tets.size(); t += 2) std::swap(mesh.tets[t][0], mesh.tets[t][1]);
  mesh.vertices.insert(mesh.vertices.begin() + 3, Vector3(99, 99, 99));
  for (Tetrahedron& t : mesh.tets) {
    for (Index& v : t) v += v >= 3 ? 1 : 0;
  }
  const TetMesh read = parse_tet_mesh(msh_2(mesh), TetFormat::msh, "file");
  EXPECT_EQ(read.vertices, some_tets().vertices);
  for (const Tetrahedron& t : read.tets) EXPECT_GT(tet_volume(read, t), 0.0);
  EXPECT_NEAR(total_volume(read), volume, 1e-15);  // 12 tets of 5·10⁻⁴ m³: far above their rounding
}

TEST(MeshFile, PolygonsBecomeFans) {
  const std::string text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0.5 1.5 0\nv 0 1 0\nf 1 2 3 4 5\n";
  const TriangleMesh read = parse_surface(text, SurfaceFormat::obj, "file");
  EXPECT_EQ(read.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
}

TEST(MeshFile, ReadsFromDiskByExtensionInAnyCase) {
  const fs::path folder = fs::path(testing::TempDir()) / "signorini_mesh_file_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  };
  expect_equal(read_tet_mesh(write("a.MSH", msh_4(some_tets()))), some_tets());
  expect_equal(read_tet_mesh(write("a.vtk", vtk(some_tets(), 5, true))), some_tets());
  EXPECT_EQ(read_surface(write("b.Obj", obj(some_triangles()))).triangles, some_triangles().triangles);
  EXPECT_EQ(read_surface(write("b.ply", ply(some_triangles(), "ascii"))).triangles,
            some_triangles().triangles);
  expect_same_triangles(read_surface(write("b.stl", stl(some_triangles(), true))), some_triangles());

  EXPECT_THROW(read_tet_mesh(write("c.obj", obj(some_triangles()))), UsageError);
  EXPECT_THROW(read_surface(folder / "a.vtk"), UsageError);
  EXPECT_THROW(read_surface(folder / "absent.obj"), InputError);
  EXPECT_THROW(read_surface(write("empty.obj", "")), InputError);
  fs::create_directories(folder / "folder.ply");
  EXPECT_THROW(read_surface(folder / "folder.ply"), InputError);
  EXPECT_THROW(read_tet_mesh("/dev/zero.msh"), InputError);
  fs::remove_all(folder);
}

TEST(MeshFile, NamesTheLineAndTheReason) {
  const std::string two = msh_2(some_tets()), four = msh_4(some_tets());
  const std::string old = vtk(some_tets(), 3, false), now = vtk(some_tets(), 5, false);
  const auto msh = [](const std::string& bytes) { return tet_complaint(bytes, TetFormat::msh); };
  const auto vtk_says = [](const std::string& bytes) { return tet_complaint(bytes, TetFormat::vtk); };
  EXPECT_TRUE(says(msh(replaced(two, "2.2 0 8", "2.2 1 8")), "file:2: binary Gmsh files"));
  EXPECT_TRUE(says(msh(replaced(two, "2.2", "4.0")), "file:2: Gmsh format '4.0'"));
  EXPECT_TRUE(says(msh(replaced(two, "$MeshFormat", "$NOD")), "file:1: '$NOD'"));
  EXPECT_TRUE(says(msh(replaced(two, "\n2 4 2", "\n2 11 2")), "second order"));
  EXPECT_TRUE(says(msh(replaced(two, "\n2 4 2", "\n2 5 2")), "hexahedron"));
  EXPECT_TRUE(says(msh(replaced(two, "$Nodes\n12", "$Nodes\n11")), "$EndNodes"));
  EXPECT_TRUE(says(msh(replaced(two, "$Nodes\n12", "$Nodes\n500000000")), "more than the rest of the file"));
  EXPECT_TRUE(
      says(msh(replaced(two, "\n2 0.1 0 0", "\n2 nan 0 0")), "file:11: x coordinate nan is not finite"));
  EXPECT_TRUE(says(msh(replaced(two, "\n2 0.1 0 0", "\n2 1e999 0 0")), "file:11: x coordinate inf"));
  EXPECT_TRUE(says(msh(replaced(two, "\n2 0.1 0 0", "\n1 0.1 0 0")), "node 1 occurs twice"));
  EXPECT_TRUE(says(msh(replaced(four, "2 12 1 12", "2 13 1 12")), "13 nodes announced, 12 found"));
  EXPECT_TRUE(says(msh(two.substr(0, two.find("$Elements"))), "without section $Elements"));
  EXPECT_TRUE(says(vtk_says(replaced(old, "UNSTRUCTURED_GRID", "POLYDATA")), "'POLYDATA'"));
  EXPECT_TRUE(says(vtk_says(replaced(old, "# vtk", "# VTL")), "file:1:"));
  EXPECT_TRUE(says(vtk_says(replaced(now, "OFFSETS vtktypeint64", "OFFSETS float")), "32 or 64 bit"));
  EXPECT_TRUE(
      says(vtk_says(replaced(old, "CELL_TYPES 13\n3 10", "CELL_TYPES 13\n3 12")), "cell 2 has type 12"));
  EXPECT_TRUE(says(vtk_says(replaced(old, "POINTS 12", "POINTS 400000000")), "more than the rest"));

  const auto obj_says = [](const std::string& bytes) { return surface_complaint(bytes, SurfaceFormat::obj); };
  EXPECT_TRUE(says(obj_says("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"), "file:4: vertex of the face 4"));
  EXPECT_TRUE(says(obj_says("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"), "file:4: vertex 0"));
  EXPECT_TRUE(says(obj_says("v 0 0 0\nv 1 0 0\nf 1 2\n"), "face 1 has 2 corners"));
  EXPECT_TRUE(says(obj_says("v 0 0\n"), "file:1:"));
  EXPECT_TRUE(says(obj_says("v 0 0 0x\n"), "z coordinate '0x'"));
  EXPECT_TRUE(says(obj_says("\x01\x02 binary rubbish\n"), "no faces"));
  const auto ply_says = [](const std::string& bytes) { return surface_complaint(bytes, SurfaceFormat::ply); };
  const std::string p = ply(some_triangles(), "ascii");
  EXPECT_TRUE(says(ply_says("plyy\n"), "file:1: the first line"));
  EXPECT_TRUE(says(ply_says(replaced(p, "format ascii", "format utf8")), "file:2: format 'utf8'"));
  EXPECT_TRUE(says(ply_says(replaced(p, "property double z", "property double w")), "no coordinate 'z'"));
  EXPECT_TRUE(
      says(ply_says(replaced(p, "element vertex 42", "element vertex 300000000")), "more than the rest"));
  EXPECT_TRUE(says(ply_says(replaced(p, "list uchar int", "list float int")), "must be an integer"));
  EXPECT_TRUE(says(ply_says("ply\nformat ascii 1.0\nelement vertex 5\nend_header\n"), "no properties"));
  const auto stl_says = [](const std::string& bytes) { return surface_complaint(bytes, SurfaceFormat::stl); };
  const std::string ascii = stl(some_triangles(), false), binary = stl(some_triangles(), true);
  EXPECT_TRUE(says(stl_says(replaced(ascii, "outer loop", "outer look")), "file:3: 'look'"));
  EXPECT_TRUE(says(stl_says("x" + binary.substr(1, 200)), "80 triangles need"));
  EXPECT_TRUE(says(stl_says("solid\nendsolid\n"), "no faces"));
}

TEST(MeshFile, RefusesElementsThatAreNone) {
  TetMesh flat = some_tets();
  flat.vertices[4] = 0.5 * (flat.vertices[0] + flat.vertices[1]);  // several elements lose their volume
  EXPECT_TRUE(says(tet_complaint(msh_2(flat), TetFormat::msh), "is flat"));
  TetMesh twice = some_tets();
  twice.tets[5][0] = twice.tets[5][1];
  EXPECT_TRUE(
      says(tet_complaint(vtk(twice, 3, true), TetFormat::vtk), "tetrahedron 7 has the same vertex twice"));
  TetMesh doubled = some_tets();
  doubled.tets.push_back(doubled.tets[3]);
  EXPECT_TRUE(says(tet_complaint(msh_2(doubled), TetFormat::msh), "overlap"));
  TetMesh folded{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1, 0.1, 0.5}}, {{0, 1, 2, 3}, {0, 1, 2, 4}}};
  EXPECT_TRUE(says(tet_complaint(msh_2(folded), TetFormat::msh), "same side of a common face"));
  const std::string plain =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
      "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n";
  EXPECT_TRUE(
      says(tet_complaint(plain, TetFormat::msh), "no tetrahedra, only 1 elements of lower dimension"));
  EXPECT_TRUE(says(surface_complaint("v 0 0 0\nv 1 1 1\nv 3 3 3\nf 1 2 3\n", SurfaceFormat::obj),
                   "face 1 has no area"));
  EXPECT_TRUE(says(surface_complaint("v 0 0 0\nv 1 1 1\nf 1 2 1\n", SurfaceFormat::obj),
                   "face 1 has the same vertex twice"));
}

/// Cuts, copies and changes of bytes and numbers, as damage and malice make them.
std::string mutated(std::string bytes, Rng& rng) {
  static const std::vector<std::string> kNasty{
      "-1",   "0",      "999999999",           "2147483647", "4294967296", "1e30", "nan",
      "-inf", "1e-400", "9223372036854775807", "",           "\n",         "x",    "99999999999999999999"};
  const std::uint64_t changes = 1 + rng.below(3);
  for (std::uint64_t c = 0; c < changes && !bytes.empty(); ++c) {
    const std::size_t at = rng.below(bytes.size());
    const std::size_t length = std::min<std::size_t>(bytes.size() - at, 1 + rng.below(20));
    switch (rng.below(7)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(rng.below(bytes.size()), length));
        break;
      case 4:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        break;
      case 5: {  // another number or word in place of a token
        std::size_t begin = at, end = at;
        while (begin > 0 && std::string_view(" \n").find(bytes[begin - 1]) == std::string_view::npos) --begin;
        while (end < bytes.size() && std::string_view(" \n").find(bytes[end]) == std::string_view::npos)
          ++end;
        bytes.replace(begin, end - begin, kNasty[rng.below(kNasty.size())]);
        break;
      }
      default:  // four bytes of a large or negative binary count
        for (std::size_t i = at; i < std::min(bytes.size(), at + 4); ++i) {
          bytes[i] = static_cast<char>(rng.below(2) == 0 ? 0xFF : 0x7F);
        }
    }
  }
  return bytes;
}

TEST(MeshFile, SurvivesThousandsOfMutationsOfEveryFormat) {
  for (const Sample& sample : samples()) {
    sample.read(sample.bytes);  // whole to begin with
    Rng rng(2026, std::hash<std::string_view>{}(sample.name) & 0xFFFF);
    int refused = 0;
    largest_allocation = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      const std::string bytes = mutated(sample.bytes, rng);
      refused += complaint([&] { sample.read(bytes); }).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 400) << sample.name;
    EXPECT_LT(refused, 4000) << sample.name;
    // A record of 24 bytes per token of 2, doubled by the growth of vectors.
    EXPECT_LT(largest_allocation, 50 * sample.bytes.size()) << sample.name;
  }
}

TEST(MeshFile, EveryTruncationIsReadOrRefused) {
  for (const Sample& sample : samples()) {
    for (std::size_t length = 0; length < sample.bytes.size(); length += length < 400 ? 1 : 13) {
      complaint([&] { sample.read(std::string_view(sample.bytes).substr(0, length)); });
    }
  }
}

}  // namespace
}  // namespace signorini::mesh_file_test
