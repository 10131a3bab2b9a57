#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/laplacian.h"
#include "geometry/local_splits.h"
#include "geometry/mesh_checks.h"
#include "geometry/smooth.h"
#include "geometry/tet_flips.h"

namespace signorini::tet_edits_test {
namespace {

/// Two tetrahedra over and under the triangle 0, 1, 2; the edge 3–4 passes through it.
TetMesh bipyramid() {
  return {{{1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}, {0, 0, 1}, {0, 0, -1}}, {{0, 1, 2, 3}, {0, 2, 1, 4}}};
}

TEST(Flips, TwoThreeAndThreeTwoUndoEachOther) {
  TetMesh mesh = bipyramid();
  const double volume = total_volume(mesh);
  flip_faces(mesh, 1);
  EXPECT_EQ(checked_counts(mesh), (Counts{3, 6, 5, 5, 2}));
  EXPECT_NEAR(total_volume(mesh), volume, 1e-15);
  EXPECT_THROW(flip_faces(mesh, 1), UsageError);  // what is left is not convex around any face
  flip_edge(mesh, 3, 4);
  EXPECT_EQ(checked_counts(mesh), (Counts{2, 6, 5, 5, 2}));
  EXPECT_NEAR(total_volume(mesh), volume, 1e-15);
}

TEST(Flips, FacesThatHideTheOtherApexStay) {
  TetMesh mesh = bipyramid();
  mesh.vertices[3] += Vector3(5, 0, 0);  // the edge 3–4 passes beside the triangle
  EXPECT_THROW(flip_faces(mesh, 1), UsageError);
}

TEST(Flips, KeepBoundaryVolumeAndPositiveTets) {
  TetMesh mesh = tet_ball(2, 1.0);
  const auto boundary = boundary_triangles(mesh);
  const double volume = total_volume(mesh);
  const auto tets = mesh.tets.size();
  flip_faces(mesh, 30);
  EXPECT_EQ(checked_counts(mesh).tets, tets + 30);
  EXPECT_EQ(boundary_triangles(mesh), boundary);
  EXPECT_NEAR(total_volume(mesh), volume, 1e-15 * static_cast<double>(tets));
}

TEST(Flips, EdgesNeedARingOfThree) {
  TetMesh mesh = kuhn_block({1, 1, 1}, Vector3::Ones());
  EXPECT_THROW(flip_edge(mesh, 0, 7), UsageError);  // six around the main diagonal
  EXPECT_THROW(flip_edge(mesh, 0, 99), UsageError);
  TetMesh flat{{{0, 0, 0}, {0, 0, 2}, {1, 0, 0}, {-1, 1, 0}, {-1, -1, 0}},
               {{0, 1, 2, 3}, {0, 1, 3, 4}, {0, 1, 4, 2}}};
  EXPECT_THROW(flip_edge(flat, 0, 1), UsageError);  // vertex 0 lies in the triangle
}

TEST(ShapePenalty, GrowsAsShapesWorsen) {
  EXPECT_EQ(shape_penalty(1.0), 1.0);
  EXPECT_EQ(shape_penalty(0.5), 16.0);
  EXPECT_EQ(shape_penalty(0.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(shape_penalty(-0.5), std::numeric_limits<double>::infinity());
}

double sum_of_penalties(const TetMesh& mesh) {
  double sum = 0.0;
  for (const Tetrahedron& tet : mesh.tets) sum += shape_penalty(tet_quality(mesh, tet));
  return sum;
}

TEST(Smooth, LowersThePenaltyWithEverySweepAndKeepsTheSurfaceWhereItMayBe) {
  TetMesh mesh = tet_ball(2, 1.0);
  Rng noise(1);
  for (std::size_t i = 162; i < mesh.vertices.size(); ++i) {
    for (Index d = 0; d < 3; ++d) mesh.vertices[i][d] += noise.uniform(-0.1, 0.1);
  }
  std::vector<Vector3> parameters = mesh.vertices;
  const auto place = [](Index i, Vector3& u) {
    if (i < 162) u.normalize();
    return u;
  };
  const double worst = mesh_quality(mesh).smallest;
  Rng rng(2);
  double before = sum_of_penalties(mesh);
  for (int sweep = 0; sweep < 5; ++sweep) {
    smooth(mesh, parameters, place, {}, rng);
    const double now = sum_of_penalties(mesh);
    EXPECT_LT(now, before);
    before = now;
  }
  EXPECT_GT(mesh_quality(mesh).smallest, 1.3 * worst);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    EXPECT_EQ(mesh.vertices[i], parameters[i]);
    if (i < 162) {
      EXPECT_NEAR(mesh.vertices[i].norm(), 1.0, 1e-15);
    }
  }
}

TEST(LocalSplits, AddTheStatedCounts) {
  const Counts plain = checked_counts(kuhn_block({4, 4, 4}, Vector3::Ones()));
  struct Case {
    LocalSplits splits;
    std::size_t tets, triangles, vertices, surface_vertices;
  };
  for (const Case& c : {Case{{}, 0, 0, 0, 0}, Case{{.boundary_edges = 7}, 14, 14, 7, 7},
                        Case{{.interior_edges = 5}, 20, 0, 5, 0}, Case{{.centres = 9}, 27, 0, 9, 0},
                        Case{{.boundary_edges = 2, .interior_edges = 3, .centres = 4}, 28, 4, 9, 2}}) {
    TetMesh mesh = kuhn_block({4, 4, 4}, Vector3::Ones());
    split_locally(mesh, c.splits);
    EXPECT_EQ(checked_counts(mesh),
              (Counts{plain.tets + c.tets, plain.triangles + c.triangles, plain.vertices + c.vertices,
                      plain.surface_vertices + c.surface_vertices, 2}));
    EXPECT_NEAR(total_volume(mesh), 1.0, 1e-13);
    EXPECT_GT(mesh_quality(mesh).smallest, 0.36);  // of the worst quarter of a Kuhn tet: 0.369
  }
}

TEST(LocalSplits, CutNoElementTwiceAndSayWhenPlacesRunOut) {
  TetMesh mesh = kuhn_block({2, 2, 2}, Vector3::Ones());
  split_locally(mesh, {.centres = 48});
  EXPECT_EQ(checked_counts(mesh).tets, 4U * 48);
  TetMesh full = kuhn_block({2, 2, 2}, Vector3::Ones());
  EXPECT_THROW(split_locally(full, {.centres = 49}), UsageError);
  EXPECT_THROW(split_locally(full, {.interior_edges = 100}), UsageError);
  EXPECT_THROW(split_locally(full, {.boundary_edges = -1}), UsageError);
}

TEST(LocalSplits, AreSpreadOverTheMesh) {
  TetMesh mesh = kuhn_block({10, 2, 2}, Vector3(5, 1, 1));
  const auto old = mesh.vertices.size();
  split_locally(mesh, {.centres = 20});
  std::array<int, 5> parts{};
  for (std::size_t i = old; i < mesh.vertices.size(); ++i)
    ++parts[static_cast<std::size_t>(mesh.vertices[i][0])];
  for (const int n : parts) EXPECT_GE(n, 2);  // 4 on average
}

TEST(Laplacian, KeepsWhatIsEvenAndRoundsEdges) {
  const TetMesh block = kuhn_block({6, 6, 6}, Vector3::Ones());
  TetMesh mesh = block;
  laplacian_smooth(mesh, 1);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vector3& X = block.vertices[i];
    const double margin = std::min(X.minCoeff(), 1.0 - X.maxCoeff());
    const auto on_sides = (X.array() < 1e-9).count() + (X.array() > 1.0 - 1e-9).count();
    // Neighbours of inner vertices, and of those inside a side, lie opposite one another.
    const double moved = (mesh.vertices[i] - X).norm();
    EXPECT_TRUE(margin > 1e-9 || on_sides == 1 ? moved < 1e-14 : moved > 1e-3) << i;
  }
  const double volume = total_volume(mesh);
  laplacian_smooth(mesh, 5);
  EXPECT_LT(total_volume(mesh), volume);
  EXPECT_EQ(checked_counts(mesh).tets, block.tets.size());
}

TEST(Smooth, LeavesVerticesWhoseElementsAreGoodEnough) {
  TetMesh mesh = kuhn_block({4, 4, 4}, Vector3::Ones());
  const Index bad = 62;  // the middle of 5 × 5 × 5
  mesh.vertices[bad] += Vector3(0.12, 0.1, -0.05);
  const TetMesh before = mesh;
  const double worst = mesh_quality(mesh).smallest;
  std::vector<Vector3> parameters = mesh.vertices;
  Rng rng(1);
  smooth(
      mesh, parameters, [](Index, Vector3& u) { return u; },
      {.step = 0.05, .trials = 5, .sweeps = 10, .below = 0.5}, rng);
  EXPECT_GT(mesh_quality(mesh).smallest, worst);
  EXPECT_EQ(mesh.vertices.front(), before.vertices.front()) << "far from the bad elements";
  Index moved = 0;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) moved += mesh.vertices[i] != before.vertices[i];
  EXPECT_GE(moved, 1);
  EXPECT_LE(moved, 15) << "the vertex and its 14 neighbours";
}

}  // namespace
}  // namespace signorini::tet_edits_test
