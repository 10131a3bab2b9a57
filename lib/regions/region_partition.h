#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "contact/contact_problem.h"

/// Detached contact regions (Lazarevych 2010 section 3; Algorithm 1 is corrected) and islands. Proofs of what
/// is exact, and the correction C11: docs/theory.md.
///
///   points:   connected components of the bipartite graph (contacts, movable mass points). W = Hᵀ M⁻¹ H is
///             block diagonal over them exactly when M couples no two mass points (explicit integration).
///   islands:  the same graph with the edges of M added. W is block diagonal over them for every M.
///
///   auto:     islands, the small ones several at a time (`join_small_regions`), so that no part costs more to set up than
///             it saves. Exact for every M.
///
///   points-inner:  the graph of `points` whatever M is. Nothing of W is dropped: the solver works on the
///                  whole problem and only its inner problems are split (solvers/region_solver.h).
///   points-approx: the same graph, and the coupling by M is ignored: for the study of that error only.
///
/// Dual-only problems know only W: both modes mean the connected components of its 3×3 blocks.
/// Fixed bodies own no columns of H and so never merge anything. A contact without any movable point is a
/// region of its own. Labels are deterministic: the label of a component is the rank of its smallest contact.
namespace signorini {

enum class RegionMode { none, points, islands, automatic, points_approx, points_inner };

template <>
struct EnumNames<RegionMode> {
  static constexpr std::array<std::pair<RegionMode, std::string_view>, 6> value{
      {{RegionMode::none, "none"},
       {RegionMode::points, "points"},
       {RegionMode::islands, "islands"},
       {RegionMode::automatic, "auto"},
       {RegionMode::points_approx, "points-approx"},
       {RegionMode::points_inner, "points-inner"}}};
};

struct RegionPartition {
  RegionMode mode = RegionMode::none;
  std::vector<Index> label;         ///< m region numbers
  std::vector<Index> region_begin;  ///< regions + 1 offsets into `contacts`
  std::vector<Index> contacts;      ///< contacts of region 0, 1, …, ascending within a region

  Index regions() const { return region_begin.empty() ? 0 : count(region_begin) - 1; }
  std::span<const Index> region(Index i) const {
    const std::size_t begin = region_begin[i];
    const std::size_t end = region_begin[i + 1];
    return std::span<const Index>(contacts).subspan(begin, end - begin);
  }
  Index largest() const;
};

/// Throws `UsageError` when `points` is asked for and M couples mass points (inexact; ask for points-approx
/// or islands). The parts of `auto` are the islands: whoever solves them knows which are small.
RegionPartition partition_regions(const ContactProblem& problem, RegionMode mode);

/// The lists of a partition from its labels 0 … regions − 1, numbered by smallest contact.
RegionPartition partition_from_labels(RegionMode mode, std::vector<Index> label, Index regions);
/// The same in place: `region_begin` and `contacts` from `label`.
void list_regions(RegionPartition& partition, Index regions);

/// Joins regions of fewer than `least` contacts, in their order, until they hold as many together; the last ones may stay
/// below. Larger regions stay as they are.
RegionPartition join_small_regions(const RegionPartition& partition, Index least);

/// True when solving `problem` by `mode` drops no entry of W. False for `points` wherever `partition_regions`
/// refuses it.
bool is_exact(const ContactProblem& problem, RegionMode mode);

/// The problem of some contacts alone: their columns of H, the dofs that their island (or, for points, their
/// nodes) needs, with f, w, μ and the metadata; W and q likewise for a dual part. Contacts keep their order;
/// dofs ascend. For more than one region use `RegionExtractor` (regions/region_extractor.h), which builds its
/// maps once.
ContactProblem extract_region(const ContactProblem& problem, const RegionPartition& partition, Index region);

}  // namespace signorini
