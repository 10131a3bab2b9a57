#include "geometry/letters.h"

#include <cmath>
#include <string_view>

#include "base/check.h"
#include "geometry/local_splits.h"
#include "geometry/voxels.h"

namespace signorini {

namespace {

constexpr Index kCells = 7;
using Glyph = std::array<std::string_view, kCells>;  // rows from the top

// clang-format off
constexpr std::array<Glyph, 26> kGlyphs{{
    {{"#######", "#.....#", "#.....#", "#######", "#.....#", "#.....#", "#.....#"}},  // A
    {{"######.", "#...##.", "#...##.", "#######", "#.....#", "#.....#", "#######"}},  // B
    {{"#######", "#......", "#......", "#......", "#......", "#......", "#######"}},  // C
    {{"######.", "#...###", "#.....#", "#.....#", "#.....#", "#...###", "######."}},  // D
    {{"#######", "#......", "#......", "######.", "#......", "#......", "#######"}},  // E
    {{"#######", "#......", "#......", "######.", "#......", "#......", "#......"}},  // F
    {{"#######", "#......", "#......", "#..####", "#.....#", "#.....#", "#######"}},  // G
    {{"#.....#", "#.....#", "#.....#", "#######", "#.....#", "#.....#", "#.....#"}},  // H
    {{"#######", "...#...", "...#...", "...#...", "...#...", "...#...", "#######"}},  // I
    {{"...####", "....##.", "....##.", "....##.", "#...##.", "#...##.", "######."}},  // J
    {{"#.....#", "#...###", "#..###.", "####...", "#..###.", "#...###", "#.....#"}},  // K
    {{"#......", "#......", "#......", "#......", "#......", "#......", "#######"}},  // L
    {{"#######", "#..#..#", "#..#..#", "#..#..#", "#.....#", "#.....#", "#.....#"}},  // M
    {{"#.....#", "###...#", "####..#", "#..#..#", "#..####", "#...###", "#.....#"}},  // N
    {{"#######", "#.....#", "#.....#", "#.....#", "#.....#", "#.....#", "#######"}},  // O
    {{"#######", "#.....#", "#.....#", "#######", "#......", "#......", "#......"}},  // P
    {{"#######", "#.....#", "#.....#", "#.....#", "#..####", "#...###", "#######"}},  // Q
    {{"#######", "#.....#", "#.....#", "#######", "#..###.", "#...###", "#.....#"}},  // R
    {{"#######", "#......", "#......", "#######", "......#", "......#", "#######"}},  // S
    {{"#######", "...#...", "...#...", "...#...", "...#...", "...#...", "...#..."}},  // T
    {{"#.....#", "#.....#", "#.....#", "#.....#", "#.....#", "#.....#", "#######"}},  // U
    {{"#.....#", "#.....#", "#.....#", "#.....#", "###.###", ".#####.", "...#..."}},  // V
    {{"#.....#", "#.....#", "#..#..#", "#..#..#", "#..#..#", "#..#..#", "#######"}},  // W
    {{"#.....#", "###.###", ".#####.", "...#...", ".#####.", "###.###", "#.....#"}},  // X
    {{"#.....#", "###.###", ".#####.", "...#...", "...#...", "...#...", "...#..."}},  // Y
    {{"#######", "....###", "...###.", ".###...", "###....", "#......", "#######"}},  // Z
}};
// clang-format on

const Glyph& glyph(char letter) {
  if (letter < 'A' || letter > 'Z') throw_usage("letter: '{}' is no capital letter", letter);
  return kGlyphs[letter - 'A'];
}

/// Cell i to the right, j up; empty outside the grid.
bool is_filled(const Glyph& rows, Index i, Index j) {
  if (i < 0 || j < 0 || i >= kCells || j >= kCells) return false;
  return rows[kCells - 1 - j][i] == '#';
}

double cell_size(double size) {
  if (!(size > 0.0) || !std::isfinite(size)) throw_usage("letter: size {} m is not positive", size);
  return size / kCells;
}

/// The extruded surface in units of cells, origin at the grid's corner. Four levels of grid corners: back and
/// front plane, drawn in from the outline, and the outline itself in between.
class BevelledLetter {
 public:
  BevelledLetter(const Glyph& rows, double bevel) : rows_(rows), bevel_(bevel) {
    number_.fill(-1);
    for (Index j = 0; j < kCells; ++j) {
      for (Index i = 0; i < kCells; ++i) {
        if (is_filled(rows_, i, j)) add_cell(i, j);
      }
    }
  }
  TriangleMesh mesh;

 private:
  Index corner(Index level, Index i, Index j) {
    Index& n = number_[level + 4 * (i + (kCells + 1) * j)];
    if (n < 0) {
      n = count(mesh.vertices);
      mesh.vertices.push_back(position(level, i, j));
    }
    return n;
  }

  Vector3 position(Index level, Index i, Index j) const {
    constexpr std::array<double, 4> kFront{0.0, 0.0, 1.0, 1.0};
    const double inward = level == 1 ? bevel_ : level == 2 ? -bevel_ : 0.0;
    Vector3 x(i, j, kFront[level] + inward);
    if (level == 1 || level == 2) return x;
    // Towards the filled ones of the four cells around the corner.
    Index right = 0, up = 0;
    for (const Index a : {-1, 1}) {
      for (const Index b : {-1, 1}) {
        if (!is_filled(rows_, i + (a - 1) / 2, j + (b - 1) / 2)) continue;
        right += a;
        up += b;
      }
    }
    x[0] += right > 0 ? bevel_ : right < 0 ? -bevel_ : 0.0;
    x[1] += up > 0 ? bevel_ : up < 0 ? -bevel_ : 0.0;
    return x;
  }

  void add_cell(Index i, Index j) {
    const std::array<std::array<Index, 2>, 4> loop{{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}};
    constexpr std::array<std::array<Index, 2>, 4> kBeyond{{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}};
    const auto at = [&](Index level, std::size_t n) { return corner(level, loop[n % 4][0], loop[n % 4][1]); };
    mesh.triangles.push_back({at(3, 0), at(3, 1), at(3, 2)});
    mesh.triangles.push_back({at(3, 0), at(3, 2), at(3, 3)});
    mesh.triangles.push_back({at(0, 0), at(0, 2), at(0, 1)});
    mesh.triangles.push_back({at(0, 0), at(0, 3), at(0, 2)});
    for (std::size_t n = 0; n < 4; ++n) {
      if (is_filled(rows_, i + kBeyond[n][0], j + kBeyond[n][1])) continue;
      for (Index level = 0; level < 3; ++level) {
        mesh.triangles.push_back({at(level, n), at(level, n + 1), at(level + 1, n + 1)});
        mesh.triangles.push_back({at(level, n), at(level + 1, n + 1), at(level + 1, n)});
      }
    }
  }

  const Glyph& rows_;
  double bevel_;
  std::array<Index, 4 * (kCells + 1) * (kCells + 1)> number_;
};

}  // namespace

void LetterGrid::validate() const {
  if (across < 2 || across > 28) throw_usage("letter: {} cells across are not in 2 … 28", across);
  if (layers < 1 || layers > 4) throw_usage("letter: {} layers of cells are not in 1 … 4", layers);
}

TetMesh letter_cage(char letter, double size, const LetterGrid& grid) {
  grid.validate();
  const Glyph& rows = glyph(letter);
  const Vector3 box(size, size, cell_size(size));
  const Index n = grid.across;
  // The squares that cell i of a row overlaps: those from 7 i/n to 7 (i + 1)/n.
  const auto overlaps_filled = [&](Index i, Index j) {
    for (Index a = kCells * i / n; a * n < kCells * (i + 1); ++a) {
      for (Index b = kCells * j / n; b * n < kCells * (j + 1); ++b) {
        if (is_filled(rows, a, b)) return true;
      }
    }
    return false;
  };
  TetMesh mesh = kuhn_voxels(
      {n, n, grid.layers}, box, [&](Index i, Index j, Index) { return overlaps_filled(i, j); }, "letter");
  for (Vector3& x : mesh.vertices) x -= 0.5 * box;
  return mesh;
}

TetMesh text_letter(char letter, Index number, double size, const LetterGrid& grid) {
  if (number < 0) throw_usage("letter: number {} is negative", number);
  TetMesh mesh = letter_cage(letter, size, grid);
  if (!grid.is_papers()) return mesh;
  split_locally(mesh, {.interior_edges = 1, .centres = number % 2 == 0 ? 1 : 0});
  return mesh;
}

TriangleMesh letter_surface(char letter, double size, double bevel) {
  if (!(bevel > 0.0) || !(bevel < 0.5)) throw_usage("letter: bevel {} is outside (0, 0.5)", bevel);
  const double cell = cell_size(size);
  TriangleMesh mesh = BevelledLetter(glyph(letter), bevel).mesh;
  for (Vector3& x : mesh.vertices) x = cell * (x - Vector3(0.5 * kCells, 0.5 * kCells, 0.5));
  return mesh;
}

}  // namespace signorini
