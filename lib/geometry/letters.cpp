#include "geometry/letters.h"

#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/check.h"
#include "geometry/local_splits.h"
#include "geometry/voxels.h"

namespace signorini {

namespace {

constexpr Index kCells = 7;
/// Rows from the top. Of a square the surface has all (#), or half: below its falling diagonal (L), above it (7), below
/// the rising one (J), above it (F). An o belongs to the cage alone.
using Glyph = std::array<std::string_view, kCells>;

// clang-format off
constexpr std::array<Glyph, 26> kGlyphs{{
    {{"..J#L..", ".JF.7L.", "JF...7L", "#######", "#.....#", "#.....#", "#.....#"}},  // A
    {{"#####L.", "#...o#.", "#...o#.", "######L", "#.....#", "#.....#", "######F"}},  // B
    {{"J######", "#......", "#......", "#......", "#......", "#......", "7######"}},  // C
    {{"#####L.", "#...o7L", "#.....#", "#.....#", "#.....#", "#...oJF", "#####F."}},  // D
    {{"#######", "#......", "#......", "######.", "#......", "#......", "#######"}},  // E
    {{"#######", "#......", "#......", "######.", "#......", "#......", "#......"}},  // F
    {{"J######", "#......", "#......", "#..####", "#.....#", "#.....#", "7#####F"}},  // G
    {{"#.....#", "#.....#", "#.....#", "#######", "#.....#", "#.....#", "#.....#"}},  // H
    {{"#######", "...#...", "...#...", "...#...", "...#...", "...#...", "#######"}},  // I
    {{"...####", "....o#.", "....o#.", "....o#.", "#...o#.", "#...o#.", "7####F."}},  // J
    {{"#....JF", "#...JF.", "#..JF..", "####...", "#..7L..", "#...7L.", "#....7L"}},  // K
    {{"#......", "#......", "#......", "#......", "#......", "#......", "#######"}},  // L
    {{"#L...J#", "#7L.JF#", "#.7#F.#", "#.....#", "#.....#", "#.....#", "#.....#"}},  // M
    {{"#L....#", "#7L...#", "#.7L..#", "#..7L.#", "#...7L#", "#....7#", "#.....#"}},  // N
    {{"J#####L", "#.....#", "#.....#", "#.....#", "#.....#", "#.....#", "7#####F"}},  // O
    {{"######L", "#.....#", "#.....#", "######F", "#......", "#......", "#......"}},  // P
    {{"J#####L", "#.....#", "#.....#", "#.....#", "#..7L.#", "#..o7L#", "7######"}},  // Q
    {{"######L", "#.....#", "#.....#", "######F", "#..7L..", "#..o7L.", "#....7L"}},  // R
    {{"J######", "#......", "#......", "7#####L", "......#", "......#", "######F"}},  // S
    {{"#######", "...#...", "...#...", "...#...", "...#...", "...#...", "...#..."}},  // T
    {{"#.....#", "#.....#", "#.....#", "#.....#", "#.....#", "#.....#", "7#####F"}},  // U
    {{"#.....#", "#.....#", "#.....#", "7L.o.JF", ".7LoJF.", "..7#F..", "...o..."}},  // V
    {{"#.....#", "#.....#", "#..o..#", "#..o..#", "#.J#L.#", "#JF.7L#", "#F...7#"}},  // W
    {{"7L...JF", ".7LoJF.", "..7#F..", "..o#o..", "..J#L..", ".JFo7L.", "JF...7L"}},  // X
    {{"7L...JF", ".7LoJF.", "..7#F..", "..o#...", "...#...", "...#...", "...#..."}},  // Y
    {{"#######", "...oJFo", "...JF..", "..JF...", ".JF....", "JFo....", "#######"}},  // Z
}};
// clang-format on

const Glyph& glyph(char letter) {
  if (letter < 'A' || letter > 'Z') throw_usage("letter: '{}' is no capital letter", letter);
  return kGlyphs[letter - 'A'];
}

/// Square i to the right, j up; empty outside the grid.
char square(const Glyph& rows, Index i, Index j) {
  if (i < 0 || j < 0 || i >= kCells || j >= kCells) return '.';
  return rows[kCells - 1 - j][i];
}
bool is_filled(const Glyph& rows, Index i, Index j) { return square(rows, i, j) != '.'; }

double cell_size(double size) {
  if (!(size > 0.0) || !std::isfinite(size)) throw_usage("letter: size {} m is not positive", size);
  return size / kCells;
}

/// The extruded surface in units of cells, origin at the grid's corner. Four levels of grid corners: back and
/// front plane, drawn in from the outline by the bevel, and the outline itself in between; without a bevel two.
class BevelledLetter {
 public:
  BevelledLetter(const Glyph& rows, double bevel) : bevel_(bevel) {
    number_.fill(-1);
    for (Index j = 0; j < kCells; ++j) {
      for (Index i = 0; i < kCells; ++i) add_piece(square(rows, i, j), i, j);
    }
    find_outline();
    for (const Piece& piece : pieces_) add_front_and_back(piece);
    for (const Edge& edge : outline_) add_side(edge);
  }
  TriangleMesh mesh;

 private:
  using Corner = std::array<Index, 2>;
  using Piece = std::vector<Corner>;  // counter-clockwise as seen from the front
  using Edge = std::array<Corner, 2>;

  void add_piece(char kind, Index i, Index j) {
    const Corner a{i, j}, b{i + 1, j}, c{i + 1, j + 1}, d{i, j + 1};
    if (kind == '#') pieces_.push_back({a, b, c, d});
    if (kind == 'L') pieces_.push_back({a, b, d});
    if (kind == 'J') pieces_.push_back({a, b, c});
    if (kind == 'F') pieces_.push_back({a, c, d});
    if (kind == '7') pieces_.push_back({b, c, d});
  }

  /// Edges of one piece only, and where the corners on them go: to the distance 1 from both of a corner's edges.
  void find_outline() {
    std::set<Edge> edges;
    const auto for_edges = [this](const auto& visit) {
      for (const Piece& piece : pieces_) {
        for (std::size_t n = 0; n < piece.size(); ++n) visit(Edge{piece[n], piece[(n + 1) % piece.size()]});
      }
    };
    for_edges([&](const Edge& edge) { edges.insert(edge); });
    std::map<Corner, std::vector<Eigen::Vector2d>> normals;
    for_edges([&](const Edge& edge) {
      const auto& [p, q] = edge;
      if (edges.contains({q, p})) return;
      outline_.push_back(edge);
      const Eigen::Vector2d inward = Eigen::Vector2d(p[1] - q[1], q[0] - p[0]).normalized();
      normals[p].push_back(inward);
      normals[q].push_back(inward);
    });
    for (const auto& [at, n] : normals) {
      SIGNORINI_CHECK(n.size() == 2);
      inward_[at] = (n[0] + n[1]) / (1.0 + n[0].dot(n[1]));
    }
  }

  Index corner(Index level, const Corner& at) {
    Index& n = number_[level + 4 * (at[0] + (kCells + 1) * at[1])];
    if (n < 0) {
      n = count(mesh.vertices);
      mesh.vertices.push_back(position(level, at));
    }
    return n;
  }

  Vector3 position(Index level, const Corner& at) const {
    const std::array<double, 4> height{0.0, bevel_, 1.0 - bevel_, 1.0};
    Vector3 x(at[0], at[1], height[level]);
    const auto inward = inward_.find(at);
    if ((level == 0 || level == 3) && inward != inward_.end()) x.head<2>() += bevel_ * inward->second;
    return x;
  }

  void add_front_and_back(const Piece& piece) {
    for (std::size_t n = 1; n + 1 < piece.size(); ++n) {
      mesh.triangles.push_back({corner(3, piece[0]), corner(3, piece[n]), corner(3, piece[n + 1])});
      mesh.triangles.push_back({corner(0, piece[0]), corner(0, piece[n + 1]), corner(0, piece[n])});
    }
  }

  void add_side(const Edge& edge) {
    const auto& [p, q] = edge;
    const Index step = bevel_ > 0.0 ? 1 : 3;
    for (Index level = 0; level < 3; level += step) {
      mesh.triangles.push_back({corner(level, p), corner(level, q), corner(level + step, q)});
      mesh.triangles.push_back({corner(level, p), corner(level + step, q), corner(level + step, p)});
    }
  }

  double bevel_;
  std::vector<Piece> pieces_;
  std::vector<Edge> outline_;
  std::map<Corner, Eigen::Vector2d> inward_;
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
  if (!(bevel >= 0.0) || !(bevel < 0.3)) throw_usage("letter: bevel {} is outside [0, 0.3)", bevel);
  const double cell = cell_size(size);
  TriangleMesh mesh = BevelledLetter(glyph(letter), bevel).mesh;
  for (Vector3& x : mesh.vertices) x = cell * (x - Vector3(0.5 * kCells, 0.5 * kCells, 0.5));
  return mesh;
}

}  // namespace signorini
