#pragma once

#include "geometry/tet_mesh.h"

/// Block letters A … Z for the letters of Otaduy et al. 2009 (Fig. 7): 164 bodies of 23,000 tets in total.
namespace signorini {

inline constexpr Index kPaperLetters = 164;

/// How finely a cage is cut: `across` × `across` × `layers` cells. A letter is drawn on 7 × 7 squares and halves
/// of them; a cell belongs to its cage where it overlaps a square of the letter, so that every cage contains the
/// same letter.
///
///     across × layers       3 × 1   4 × 1   7 × 1 (the paper's)   7 × 2   14 × 1
///     tets, mean of the 164    48      79      135, 140 with splits   270      539
struct LetterGrid {
  Index across = 7;  ///< 2 … 28
  Index layers = 1;  ///< 1 … 4
  bool is_papers() const { return across == 7 && layers == 1; }
  /// Throws `UsageError` outside these bounds.
  void validate() const;
};

/// Letter of cells in a grid, each cut into 6 Kuhn tets. Width and depth of the grid are `size` in the x–y
/// plane (the letter is read from +z), the thickness is size/7; the grid's middle is the origin. Cells of a
/// letter hang together by faces. No two of the grid with 7 cells across meet at an edge only; others are for
/// cages that carry a surface. Throws `UsageError` for anything but a capital letter and for a size ≤ 0.
TetMesh letter_cage(char letter, double size, const LetterGrid& grid = {});

/// Letter in the place `number` of a text: the cage with one interior edge split (+ 4 tets) and, for even
/// numbers, the centre of a tet added (+ 3). The 164 letters of the paper are A … Z six times, then A … H:
/// their 3,683 cells have 22,098 tets, so that
///
///     tets  Σ over all 164 = 22,098 + 164 · 4 + 82 · 3 = 23,000
///
/// as in the paper. Other grids have no such splits. Throws as `letter_cage` does, and for a negative number.
TetMesh text_letter(char letter, Index number, double size, const LetterGrid& grid = {});

/// Surface that the cage carries: the letter extruded, diagonal strokes as such, its edges at front and back cut off
/// by `bevel` · size/7 in both directions, or sharp with 0. Closed, inside the cage. Throws `UsageError` for a bevel
/// outside [0, 0.3): diagonal strokes are 0.7 squares wide, and sharp corners go in further.
TriangleMesh letter_surface(char letter, double size, double bevel = 0.15);

}  // namespace signorini
