#pragma once

#include <span>
#include <vector>

#include "contact/contact_problem.h"
#include "regions/region_partition.h"

/// Cuts the problems of single regions out of a problem; all of them together in linear time, since the
/// inverse maps are built once.
///
/// A region's problem holds its contacts in ascending order and the dofs that they need, ascending:
///
///     points:         the nodes that its contacts touch
///     islands, none:  the nodes of every mechanical body (connected component of M) that its contacts touch
///     points-approx:  as islands, so that W's diagonal blocks and q are the true ones and only the coupling
///                     between regions is dropped. A body is then copied into each of its regions.
///
/// Rows and columns of M, H, f, w, W, q, the starts and the metadata follow. Nodes in `points` are renumbered (−1 when
/// the region does not move them), bodies are renumbered when `body_dofs` is there. A region that moves
/// nothing (both sides fixed) gets an idle unit mass, so that its problem is a valid one with u = w.
namespace signorini {

class RegionExtractor {
 public:
  /// `problem` and `partition` must outlive the extractor.
  RegionExtractor(const ContactProblem& problem, const RegionPartition& partition);

  Index regions() const { return partition_->regions(); }
  /// The problem of one region. May be called from several threads at once.
  ContactProblem extract(Index region) const;
  /// Only what u = W r + q and the law need (M, H, f, w, W, q, μ), and where a solver may start (warm_start, v_minus,
  /// start_states, start_bounds).
  ContactProblem extract_system(Index region) const;
  /// Nodes of the whole problem in the order of the region's dofs; empty for a dual-only problem or an idle
  /// region.
  std::span<const Index> nodes(Index region) const;

 private:
  void find_nodes();
  Index local_node(Index region, Index node) const;
  Index local_dof(Index region, Index dof) const;
  void extract_primal(Index region, ContactProblem& out) const;
  void extract_dual(Index region, ContactProblem& out) const;
  void extract_metadata(Index region, ContactProblem& out) const;
  void extract_starts(Index region, ContactProblem& out) const;
  void extract_bodies(Index region, ContactProblem& out) const;

  const ContactProblem* problem_;
  const RegionPartition* partition_;
  Index node_size_ = 1;
  bool shared_nodes_ = false;        ///< some node belongs to several regions (points-approx)
  std::vector<Index> node_begin_;    ///< regions + 1 offsets into `nodes_`
  std::vector<Index> nodes_;         ///< ascending within a region
  std::vector<Index> node_region_;   ///< region of a node, −1: none (unless `shared_nodes_`)
  std::vector<Index> node_rank_;     ///< its place among the region's nodes
  std::vector<Index> contact_rank_;  ///< place of a contact in its region
};

}  // namespace signorini
