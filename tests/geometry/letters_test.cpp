#include "geometry/letters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/check.h"
#include "bodies/embedding.h"
#include "geometry/mesh_checks.h"
#include "geometry/surface_intersections.h"

namespace signorini::letters_test {
namespace {

TEST(Letters, AllOfThePaperHave23000Tets) {
  std::size_t tets = 0;
  double worst = 1.0;
  for (Index n = 0; n < kPaperLetters; ++n) {
    const TetMesh mesh = text_letter(static_cast<char>('A' + n % 26), n, 0.1);
    tets += checked_counts(mesh).tets;
    worst = std::min(worst, mesh_quality(mesh).smallest);
  }
  EXPECT_EQ(tets, 23000U);
  EXPECT_GT(worst, 0.36);  // of the quarters of a Kuhn tet: 0.369
}

TEST(Letters, CagesAreInOnePieceAndAllDifferent) {
  std::set<std::pair<std::vector<double>, std::vector<Tetrahedron>>> all;
  Index cells = 0;
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    SCOPED_TRACE(letter);
    const TetMesh cage = letter_cage(letter, 0.7);
    const Counts counts = checked_counts(cage);
    // 2 − 2 · holes of a single piece.
    const std::string holes_1 = "ADOPQR", holes_2 = "B";
    const Index holes =
        holes_2.find(letter) != std::string::npos ? 2 : holes_1.find(letter) != std::string::npos;
    EXPECT_EQ(counts.euler_characteristic, 2 - 2 * holes);
    cells += static_cast<Index>(counts.tets / 6) * (letter <= 'H' ? 7 : 6);
    EXPECT_LE((extent(cage) - Vector3(0.7, 0.7, 0.1)).cwiseAbs().maxCoeff(), 1e-15);
    std::vector<double> places;
    for (const Vector3& x : cage.vertices) places.insert(places.end(), x.begin(), x.end());
    EXPECT_TRUE(all.emplace(places, cage.tets).second);
  }
  EXPECT_EQ(cells, 3683);
}

/// The grids of the study of resolutions: numbers of tets of all 164 letters, each a manifold that contains
/// the surface which all of them carry.
TEST(Letters, CagesOfOtherGridsCarryTheSameSurface) {
  struct Case {
    LetterGrid grid;
    std::size_t tets;
  };
  for (const Case& one : {Case{{3, 1}, 6 * 1300}, Case{{4, 1}, 6 * 2157}, Case{{7, 1}, 6 * 3683},
                          Case{{7, 2}, 12 * 3683}, Case{{14, 1}, 24 * 3683}}) {
    SCOPED_TRACE(one.grid.across);
    std::size_t tets = 0;
    for (char letter = 'A'; letter <= 'Z'; ++letter) {
      const TetMesh cage = letter_cage(letter, 0.7, one.grid);
      tets += checked_counts(cage).tets * (letter <= 'H' ? 7 : 6);
      EXPECT_LE((extent(cage) - Vector3(0.7, 0.7, 0.1)).cwiseAbs().maxCoeff(), 1e-15) << letter;
      for (const auto& weights : embed(letter_surface(letter, 0.7), cage, "letter").weights) {
        for (const double w : weights) EXPECT_GT(w, -1e-12) << letter;
      }
    }
    EXPECT_EQ(tets, one.tets);
  }
}

TEST(Letters, SurfacesAreClosedAndLieInTheirCages) {
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    SCOPED_TRACE(letter);
    const TetMesh cage = letter_cage(letter, 0.7);
    const TriangleMesh surface = letter_surface(letter, 0.7, 0.2);
    EXPECT_TRUE(is_closed_and_oriented(surface));
    std::vector<Index> vertex_of;
    const TriangleMesh boundary = boundary_surface(cage, vertex_of);
    EXPECT_EQ(euler_characteristic(surface), euler_characteristic(boundary));
    // The chamfers take away less than bevel² cell² along every edge of the outline, at front and back.
    const double most = static_cast<double>(boundary.triangles.size()) * 0.04 * 1e-3;
    const TriangleMesh sharp = letter_surface(letter, 0.7, 0.0);
    EXPECT_TRUE(is_closed_and_oriented(sharp));
    EXPECT_LT(enclosed_volume(surface), enclosed_volume(sharp));
    EXPECT_GT(enclosed_volume(surface), enclosed_volume(sharp) - most);
    EXPECT_LT(enclosed_volume(sharp), total_volume(cage) + 1e-15);
    for (const auto& weights : embed(surface, cage, "letter").weights) {
      for (const double w : weights) EXPECT_GT(w, -1e-12);
    }
  }
}

TEST(Letters, StrokesStayWholeUnderTheLargestBevel) {
  for (char letter = 'A'; letter <= 'Z'; ++letter)
    EXPECT_FALSE(first_self_intersection(letter_surface(letter, 0.7, 0.29))) << letter;
}

/// The arms of an X run along the diagonals of the squares.
TEST(Letters, DiagonalStrokesAreStraight) {
  const TriangleMesh surface = letter_surface('X', 0.7, 0.1);
  double diagonal = 0.0, side = 0.0;
  for (const Triangle& t : surface.triangles) {
    const auto& x = surface.vertices;
    const Vector3 area = area_vector(x[t[0]], x[t[1]], x[t[2]]);
    if (std::abs(area[2]) > 1e-12) continue;
    side += area.norm();
    if (std::abs(std::abs(area[0]) - std::abs(area[1])) < 1e-12) diagonal += area.norm();
  }
  // 20 edges of the outline are diagonals of squares, 8 are sides: four ends, the middle above, below, left and right.
  EXPECT_NEAR(diagonal / side, 20.0 * std::sqrt(2.0) / (20.0 * std::sqrt(2.0) + 8.0), 1e-12);
}

TEST(Letters, RefuseWhatIsNone) {
  EXPECT_THROW(letter_cage('a', 1.0), UsageError);
  EXPECT_THROW(letter_cage('A', 0.0), UsageError);
  EXPECT_THROW(letter_surface('A', 1.0, 0.3), UsageError);
  EXPECT_THROW(letter_surface('[', 1.0), UsageError);
  EXPECT_THROW(text_letter('A', -1, 1.0), UsageError);
  EXPECT_THROW(letter_cage('A', 1.0, {1, 1}), UsageError);
  EXPECT_THROW(letter_cage('A', 1.0, {29, 1}), UsageError);
  EXPECT_THROW(letter_cage('A', 1.0, {7, 0}), UsageError);
}

}  // namespace
}  // namespace signorini::letters_test
