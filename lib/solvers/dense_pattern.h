#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "contact/contact_problem.h"
#include "linalg/block_sparse_matrix.h"

/// W with every block stored, so that a sweep costs O(m²) as in Lazarevych 2010 section 5 and Otaduy 2009
/// section 5.1.
///
/// The full matrix is a block-sparse matrix whose pattern is full: the same kernel runs on it, so that a
/// comparison of both compares patterns, not implementations. It may take kMostDenseGib of memory.
namespace signorini {

enum class DelassusKernel { sparse, dense };
template <>
struct EnumNames<DelassusKernel> {
  static constexpr std::array<std::pair<DelassusKernel, std::string_view>, 2> value{
      {{DelassusKernel::sparse, "sparse"}, {DelassusKernel::dense, "dense"}}};
};

/// GiB: 7,517 contacts in one piece.
inline constexpr double kMostDenseGib = 4.0;

/// Option `kernel` of a solver on W.
struct KernelOptions {
  DelassusKernel kernel = DelassusKernel::sparse;

  template <class Visitor>
  void visit(Visitor& v) {
    v("kernel", kernel,
      "sparse: the non-zero blocks of W are stored; dense: all blocks, O(m^2) per product as in the paper");
  }
  /// "" when this many contacts fit into memory, else one line.
  std::string refusal(Index contacts) const;
  /// W with the blocks that the kernel stores.
  BlockSparseMatrix stored(BlockSparseMatrix W) const;
};

/// Adds a zero block for every pair of contacts with equal `label`; with no labels, for every pair.
BlockSparseMatrix fill_pattern(const BlockSparseMatrix& W, std::span<const Index> label = {});

/// The island of every contact: contacts coupled through W (regions/region_partition.h).
std::vector<Index> island_labels(const ContactProblem& problem);

/// "" when the full pattern fits into kMostDenseGib, else one line that says how much it would need.
std::string dense_refusal(Index contacts, std::span<const Index> label = {});

}  // namespace signorini
