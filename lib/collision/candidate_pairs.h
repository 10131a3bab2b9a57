#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/parallel.h"
#include "bodies/surface_model.h"
#include "collision/box_hash.h"
#include "collision/bvh.h"

/// Pairs of a vertex and a face, and of two edges, whose boxes overlap: what is worth a closer look.
///
/// Every vertex has a box; the box of a face or an edge is the union of its vertices' boxes. Left out are
/// pairs that share a vertex, pairs of two bodies without dofs, and pairs inside a body that does not deform.
/// Boxes are kept as floats rounded outward; both broad phases give the same pairs.
namespace signorini {

enum class BroadPhase { bvh, hash };
template <>
struct EnumNames<BroadPhase> {
  static constexpr std::array<std::pair<BroadPhase, std::string_view>, 2> value{
      {{BroadPhase::bvh, "bvh"}, {BroadPhase::hash, "hash"}}};
};

/// Lists of partners, one run per feature (compressed rows). A feature may have several runs.
struct PairRuns {
  std::vector<Index> feature;  ///< vertex, or one edge
  std::vector<Index> end;      ///< of its run in `partner`; the previous end is the beginning
  std::vector<Index> partner;  ///< faces, or the other edges (smaller or larger numbers)
  std::vector<Index> found;    ///< scratch of the search

  void clear();
  /// Ends the run of `f`; a run without partners is not kept.
  void close(Index f);
};

/// The boxes of faces and edges: the unions of their vertices' boxes.
void unite_boxes(TaskArena& arena, const SurfaceModel& surface, std::span<const FloatBox> vertex,
                 std::span<FloatBox> face, std::span<FloatBox> edge);

class CandidatePairs {
 public:
  /// `surface` must outlive the object.
  CandidatePairs(const SurfaceModel& surface, BroadPhase broad_phase);

  /// All pairs for new boxes, one per surface vertex.
  void find(TaskArena& arena, std::span<const FloatBox> vertex_boxes);
  /// Grows the boxes of the vertices whose new box leaves the present one, and adds the pairs that this makes
  /// overlap, asking only for the features of those vertices (Verschoor and Jalba 2019, section 5.2). Returns
  /// how many vertices had left. Before the first `find` it finds all pairs.
  std::size_t extend(TaskArena& arena, std::span<const FloatBox> vertex_boxes);

  bool found() const { return found_; }
  /// Whether few enough vertices leave with these boxes, those that have left since `find` included, that
  /// `extend` is faster than `find`.
  bool fits(std::span<const FloatBox> vertex_boxes) const;

  /// Every pair once; the parts are tasks for callers that walk over the pairs. Parts and their order do not
  /// depend on the number of threads.
  std::span<const PairRuns> vertex_face() const { return std::span(vertex_face_).first(vertex_face_parts_); }
  std::span<const PairRuns> edge_edge() const { return std::span(edge_edge_).first(edge_edge_parts_); }

  /// The boxes that the lists are for.
  std::span<const FloatBox> vertex_boxes() const { return vertices_.box; }

  bool admissible_vertex_face(Index vertex, Index face) const;
  bool admissible_edges(Index a, Index b) const;

 private:
  /// Boxes and search structures of one kind of feature; those of bodies without dofs apart, because they
  /// are never compared with each other.
  struct Features {
    std::vector<FloatBox> box, old_box;
    std::vector<Index> group;  // body, −1 without dofs
    std::vector<Index> movable, fixed;
    Bvh movable_tree, fixed_tree;
    std::vector<Index> leaf_group;  // of movable_tree: the body that all members share and that cannot touch
                                    // itself, −1 otherwise
    BoxHash movable_hash, fixed_hash;
    std::vector<char> left;
    std::vector<Index> affected;
  };
  void find_all(TaskArena& arena);
  void index_all(TaskArena& arena);
  void index_features(TaskArena& arena, Features& features);
  void find_with_trees(TaskArena& arena);
  void find_with_hash(TaskArena& arena);
  void collect_affected(TaskArena& arena);
  void add_new_pairs(TaskArena& arena);
  void query(const Features& features, const FloatBox& box, std::vector<Index>& result) const;
  void pair_vertices_with_faces(const Bvh& vertices, Index leaf, bool movable, PairRuns& runs) const;
  void pair_edges(Index leaf, PairRuns& runs) const;
  void hash_vertex(Index vertex, PairRuns& runs) const;
  void hash_face(Index face, PairRuns& runs) const;
  void hash_edge(Index edge, PairRuns& runs) const;

  const SurfaceModel& surface_;
  BroadPhase broad_phase_;
  std::vector<char> touches_itself_;  // per body
  Features vertices_, faces_, edges_;
  std::vector<PairRuns> vertex_face_, edge_edge_;
  std::size_t vertex_face_parts_ = 0, edge_edge_parts_ = 0;
  bool found_ = false;
  std::size_t left_since_found_ = 0;
  double cell_ = 0.0;  // of the hash, m
};

}  // namespace signorini
