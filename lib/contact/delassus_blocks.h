#pragma once

#include <array>
#include <vector>

#include "base/parallel.h"
#include "contact/body_touches.h"
#include "contact/mass_factor.h"
#include "linalg/block_sparse_matrix.h"

/// The blocks of W = Σ_b H_bᵀ M_b⁻¹ H_b (3m×3m, 1/kg) from the contact directions by body (body_touches.h).
///
/// A block is the sum of its bodies in ascending order, so its bits depend neither on threads nor on which other
/// contacts are assembled. Rows are sorted, and the diagonal block is always present. Where all bodies are symmetric, W is
/// symmetric to the last bit.
namespace signorini {

/// All of W. With an arena the blocks of bodies are computed side by side and added row by row.
BlockSparseMatrix assemble_blocks(const BodyTouches& H, const MassFactor& mass, TaskArena* arena = nullptr,
                                  ColumnSolves columns = ColumnSolves::together);

/// For the blocks of one body after the other.
struct BodyWorkspace {
  ColumnSolves columns = ColumnSolves::together;
  Matrix X;                    ///< M_b⁻¹ H_t of a batch of touches t, 3 columns each
  std::vector<Index> touched;  ///< dofs of the body in which some H_s is not zero
  std::vector<Index> number;   ///< per dof: where it stands in `touched`, else −1
  std::vector<double>
      rows;  ///< of X at the touched dofs, row by row; or a panel of the factor (linalg/spd_factor.h)
  std::size_t width = 0;          ///< of a row
  const Index* row_of = nullptr;  ///< per dof: its row
  std::vector<char> needed;       ///< supernodes of the touched dofs, of a panel
  std::array<double, 9 * static_cast<std::size_t>(MassFactor::kBatch)> product;  ///< H_sᵀ X of one touch s
};

/// W of parts of consecutive contacts, which share bodies with no others; numbers count from the first of the part.
class BlockParts {
 public:
  BlockParts(const BodyTouches& H, const MassFactor& mass, ColumnSolves columns = ColumnSolves::together);
  /// W of the contacts [first, end).
  BlockSparseMatrix assemble(Index first, Index end);

 private:
  void find_bodies(Index first, Index end);

  const BodyTouches& H_;
  const MassFactor& mass_;
  std::vector<Index> part_of_;  ///< per body: first contact of the part that met it last
  std::vector<Index> bodies_;   ///< of the present part, ascending
  BodyWorkspace work_;
};

}  // namespace signorini
