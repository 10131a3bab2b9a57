#include "collision/candidate_pairs.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace signorini {

namespace {

constexpr std::size_t kBoxGrain = 2048;     // features per task that sets boxes
constexpr std::size_t kLeafGrain = 16;      // leaves per task that searches
constexpr std::size_t kFeatureGrain = 128;  // features per task that searches
constexpr double kDegraded = 1.5;           // trees are built again when they are this much worse
constexpr std::size_t kManyLeft = 16;       // one vertex in so many: all pairs are searched again

std::size_t parts_of(std::size_t n, std::size_t grain) { return (n + grain - 1) / grain; }

/// Empty parts, at least `count`; keeps the memory of earlier ones.
void clear_parts(std::vector<PairRuns>& parts, std::size_t count) {
  if (parts.size() < count) parts.resize(count);
  for (std::size_t p = 0; p < count; ++p) parts[p].clear();
}

bool share_vertex(const Edge& a, const Edge& b) {
  return a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1];
}

}  // namespace

void unite_boxes(TaskArena& arena, const SurfaceModel& surface, std::span<const FloatBox> vertex,
                 std::span<FloatBox> face, std::span<FloatBox> edge) {
  arena.for_chunks(face.size(), kBoxGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      const Triangle& t = surface.triangles[f];
      face[f] = vertex[t[0]];
      face[f].extend(vertex[t[1]]);
      face[f].extend(vertex[t[2]]);
    }
  });
  arena.for_chunks(edge.size(), kBoxGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      edge[e] = vertex[surface.edges[e][0]];
      edge[e].extend(vertex[surface.edges[e][1]]);
    }
  });
}

void PairRuns::clear() {
  feature.clear();
  end.clear();
  partner.clear();
}

void PairRuns::close(Index f) {
  const Index size = count(partner);
  if (size == (end.empty() ? 0 : end.back())) return;
  feature.push_back(f);
  end.push_back(size);
}

CandidatePairs::CandidatePairs(const SurfaceModel& surface, BroadPhase broad_phase)
    : surface_(surface), broad_phase_(broad_phase) {
  for (const SurfaceModel::Body& body : surface.bodies) touches_itself_.push_back(body.deformable);
  const auto number = [&](Features& features, const std::vector<Index>& body) {
    features.box.resize(body.size());
    features.left.assign(body.size(), 0);
    for (Index i = 0; i < count(body); ++i) {
      const bool movable = surface.bodies[body[i]].movable;
      features.group.push_back(movable ? body[i] : -1);
      (movable ? features.movable : features.fixed).push_back(i);
    }
  };
  number(vertices_, surface.vertex_body);
  number(faces_, surface.triangle_body);
  number(edges_, surface.edge_body);
}

bool CandidatePairs::admissible_vertex_face(Index vertex, Index face) const {
  const Index group = vertices_.group[vertex];
  if (group != faces_.group[face]) return true;
  if (group < 0 || !touches_itself_[group]) return false;
  const Triangle& t = surface_.triangles[face];
  return t[0] != vertex && t[1] != vertex && t[2] != vertex;
}

bool CandidatePairs::admissible_edges(Index a, Index b) const {
  const Index group = edges_.group[a];
  if (group != edges_.group[b]) return true;
  if (group < 0 || !touches_itself_[group]) return false;
  return !share_vertex(surface_.edges[a], surface_.edges[b]);
}

void CandidatePairs::index_features(TaskArena& arena, Features& features) {
  if (broad_phase_ == BroadPhase::hash) {
    features.movable_hash.build(features.box, features.movable, cell_);
    features.fixed_hash.build(features.box, features.fixed, cell_);
    return;
  }
  const auto update = [&](Bvh& tree, const std::vector<Index>& members) {
    if (found_) tree.refit(arena, features.box);
    if (found_ && tree.degradation() <= kDegraded) return false;
    tree.build(arena, features.box, members);
    return true;
  };
  update(features.fixed_tree, features.fixed);
  if (!update(features.movable_tree, features.movable)) return;
  features.leaf_group.assign(features.movable_tree.leaves(), -1);
  for (Index leaf = 0; leaf < features.movable_tree.leaves(); ++leaf) {
    const auto members = features.movable_tree.members(leaf);
    const Index group = features.group[members[0]];
    const bool same =
        std::all_of(members.begin(), members.end(), [&](Index m) { return features.group[m] == group; });
    if (same && !touches_itself_[group]) features.leaf_group[leaf] = group;
  }
}

void CandidatePairs::index_all(TaskArena& arena) {
  const std::array<Features*, 3> kinds{&edges_, &faces_, &vertices_};
  if (broad_phase_ == BroadPhase::hash) {
    arena.for_each_task(kinds.size(), [&](std::size_t k) { index_features(arena, *kinds[k]); });
  } else {
    for (Features* kind : kinds) index_features(arena, *kind);
  }
}

void CandidatePairs::find(TaskArena& arena, std::span<const FloatBox> vertex_boxes) {
  SIGNORINI_CHECK(vertex_boxes.size() == vertices_.box.size());
  std::copy(vertex_boxes.begin(), vertex_boxes.end(), vertices_.box.begin());
  find_all(arena);
}

void CandidatePairs::find_all(TaskArena& arena) {
  left_since_found_ = 0;
  unite_boxes(arena, surface_, vertices_.box, faces_.box, edges_.box);
  if (broad_phase_ == BroadPhase::hash) {
    double length = 0.0;  // of the boxes of the edges, longest side
    for (const FloatBox& box : edges_.box)
      length += std::max({box.high(0) - box.low(0), box.high(1) - box.low(1), box.high(2) - box.low(2)});
    cell_ = length > 0.0 ? length / static_cast<double>(edges_.box.size()) : 1.0;
  }
  index_all(arena);
  found_ = true;
  broad_phase_ == BroadPhase::hash ? find_with_hash(arena) : find_with_trees(arena);
}

// Leaves are searched for together; then every member looks at the members of what they found.
void CandidatePairs::pair_vertices_with_faces(const Bvh& vertices, Index leaf, bool movable,
                                              PairRuns& runs) const {
  const Index group = movable ? vertices_.leaf_group[leaf] : -1;
  runs.found.clear();
  faces_.movable_tree.for_leaves(vertices.leaf_box(leaf), 0, [&](Index other) {
    if (group < 0 || faces_.leaf_group[other] != group) runs.found.push_back(other);
  });
  const std::size_t fixed = runs.found.size();
  if (movable) {
    faces_.fixed_tree.for_leaves(vertices.leaf_box(leaf), 0,
                                 [&](Index other) { runs.found.push_back(other); });
  }
  for (const Index v : vertices.members(leaf)) {
    const BoxProbe probe(vertices_.box[v]);
    for (std::size_t k = 0; k < runs.found.size(); ++k) {
      const Bvh& faces = k < fixed ? faces_.movable_tree : faces_.fixed_tree;
      const auto members = faces.members(runs.found[k]);
      for (unsigned mask = probe.overlaps(faces.boxes(runs.found[k])); mask != 0; mask &= mask - 1) {
        const Index f = members[std::countr_zero(mask)];
        if (admissible_vertex_face(v, f)) runs.partner.push_back(f);
      }
    }
    runs.close(v);
  }
}

void CandidatePairs::pair_edges(Index leaf, PairRuns& runs) const {
  const Bvh& tree = edges_.movable_tree;
  const Index group = edges_.leaf_group[leaf];
  runs.found.clear();
  tree.for_leaves(tree.leaf_box(leaf), leaf, [&](Index other) {
    if (group < 0 || edges_.leaf_group[other] != group) runs.found.push_back(other);
  });
  const std::size_t fixed = runs.found.size();
  edges_.fixed_tree.for_leaves(tree.leaf_box(leaf), 0, [&](Index other) { runs.found.push_back(other); });
  const auto members = tree.members(leaf);
  for (std::size_t a = 0; a < members.size(); ++a) {
    const BoxProbe probe(edges_.box[members[a]]);
    for (std::size_t k = 0; k < runs.found.size(); ++k) {
      const Index other = runs.found[k];
      const Bvh& edges = k < fixed ? tree : edges_.fixed_tree;
      unsigned mask = probe.overlaps(edges.boxes(other));
      if (k < fixed && other == leaf) mask &= ~0U << (a + 1);  // within the leaf every pair once
      for (; mask != 0; mask &= mask - 1) {
        const Index b = edges.members(other)[std::countr_zero(mask)];
        if (admissible_edges(members[a], b)) runs.partner.push_back(b);
      }
    }
    runs.close(members[a]);
  }
}

void CandidatePairs::find_with_trees(TaskArena& arena) {
  const std::size_t movable = vertices_.movable_tree.leaves(), fixed = vertices_.fixed_tree.leaves();
  const std::size_t edge_leaves = edges_.movable_tree.leaves();
  const std::size_t movable_parts = parts_of(movable, kLeafGrain);
  vertex_face_parts_ = movable_parts + parts_of(fixed, kLeafGrain);
  edge_edge_parts_ = parts_of(edge_leaves, kLeafGrain);
  clear_parts(vertex_face_, vertex_face_parts_);
  clear_parts(edge_edge_, edge_edge_parts_);
  arena.for_each_task(vertex_face_parts_ + edge_edge_parts_, [&](std::size_t task) {
    if (task >= vertex_face_parts_) {
      const std::size_t begin = (task - vertex_face_parts_) * kLeafGrain;
      for (std::size_t leaf = begin; leaf < std::min(edge_leaves, begin + kLeafGrain); ++leaf)
        pair_edges(static_cast<Index>(leaf), edge_edge_[task - vertex_face_parts_]);
      return;
    }
    const bool moves = task < movable_parts;
    const Bvh& tree = moves ? vertices_.movable_tree : vertices_.fixed_tree;
    const std::size_t begin = (moves ? task : task - movable_parts) * kLeafGrain;
    for (std::size_t leaf = begin; leaf < std::min(moves ? movable : fixed, begin + kLeafGrain); ++leaf)
      pair_vertices_with_faces(tree, static_cast<Index>(leaf), moves, vertex_face_[task]);
  });
}

// Of two features the one of the lower level asks, of two edges of one level the smaller number: so no query
// is larger than the cells it looks at, and every pair is found once.
void CandidatePairs::hash_vertex(Index vertex, PairRuns& runs) const {
  const FloatBox& box = vertices_.box[vertex];
  const int level = faces_.movable_hash.level(box);
  const auto take = [&](Index face, int) {
    if (admissible_vertex_face(vertex, face)) runs.partner.push_back(face);
  };
  faces_.movable_hash.for_overlapping(box, level, take);
  if (vertices_.group[vertex] >= 0) faces_.fixed_hash.for_overlapping(box, level, take);
  runs.close(vertex);
}

void CandidatePairs::hash_face(Index face, PairRuns& runs) const {
  const FloatBox& box = faces_.box[face];
  const int level = vertices_.movable_hash.level(box) + 1;
  const auto take = [&](Index vertex, int) {
    if (!admissible_vertex_face(vertex, face)) return;
    runs.partner.push_back(face);
    runs.close(vertex);
  };
  vertices_.movable_hash.for_overlapping(box, level, take);
  if (faces_.group[face] >= 0) vertices_.fixed_hash.for_overlapping(box, level, take);
}

void CandidatePairs::hash_edge(Index edge, PairRuns& runs) const {
  const FloatBox& box = edges_.box[edge];
  const int level = edges_.movable_hash.level(box);
  const bool movable = edges_.group[edge] >= 0;
  edges_.movable_hash.for_overlapping(box, movable ? level : level + 1, [&](Index other, int its_level) {
    if (movable && its_level == level && other <= edge) return;
    if (admissible_edges(edge, other)) runs.partner.push_back(other);
  });
  if (movable) {
    edges_.fixed_hash.for_overlapping(box, level, [&](Index other, int) { runs.partner.push_back(other); });
  }
  runs.close(edge);
}

void CandidatePairs::find_with_hash(TaskArena& arena) {
  // Movable and fixed features after each other, each with its own parts.
  const auto parts = [](const Features& features) {
    return parts_of(features.movable.size(), kFeatureGrain) + parts_of(features.fixed.size(), kFeatureGrain);
  };
  const auto for_part = [](const Features& features, std::size_t part, auto&& visit) {
    const std::size_t movable_parts = parts_of(features.movable.size(), kFeatureGrain);
    const std::vector<Index>& members = part < movable_parts ? features.movable : features.fixed;
    const std::size_t begin = (part < movable_parts ? part : part - movable_parts) * kFeatureGrain;
    for (std::size_t i = begin; i < std::min(members.size(), begin + kFeatureGrain); ++i) visit(members[i]);
  };
  const std::size_t vertex_parts = parts(vertices_), face_parts = parts(faces_);
  vertex_face_parts_ = vertex_parts + face_parts;
  edge_edge_parts_ = parts(edges_);
  clear_parts(vertex_face_, vertex_face_parts_);
  clear_parts(edge_edge_, edge_edge_parts_);
  arena.for_each_task(vertex_face_parts_ + edge_edge_parts_, [&](std::size_t task) {
    if (task < vertex_parts) {
      for_part(vertices_, task, [&](Index v) { hash_vertex(v, vertex_face_[task]); });
    } else if (task < vertex_face_parts_) {
      for_part(faces_, task - vertex_parts, [&](Index f) { hash_face(f, vertex_face_[task]); });
    } else {
      const std::size_t part = task - vertex_face_parts_;
      for_part(edges_, part, [&](Index e) { hash_edge(e, edge_edge_[part]); });
    }
  });
}

void CandidatePairs::query(const Features& features, const FloatBox& box, std::vector<Index>& result) const {
  result.clear();
  const auto take = [&result](Index member, int = 0) { result.push_back(member); };
  if (broad_phase_ == BroadPhase::hash) {
    features.movable_hash.for_overlapping(box, 0, take);
    features.fixed_hash.for_overlapping(box, 0, take);
  } else {
    features.movable_tree.for_overlapping(box, take);
    features.fixed_tree.for_overlapping(box, take);
  }
}

bool CandidatePairs::fits(std::span<const FloatBox> vertex_boxes) const {
  std::size_t left = 0;
  for (std::size_t v = 0; v < vertex_boxes.size(); ++v) left += !contains(vertices_.box[v], vertex_boxes[v]);
  return left * kManyLeft <= vertex_boxes.size() && (left_since_found_ + left) * 4 <= vertex_boxes.size();
}

std::size_t CandidatePairs::extend(TaskArena& arena, std::span<const FloatBox> vertex_boxes) {
  SIGNORINI_CHECK(vertex_boxes.size() == vertices_.box.size());
  if (!found_) {
    find(arena, vertex_boxes);
    return 0;
  }
  arena.for_chunks(vertex_boxes.size(), kBoxGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v)
      vertices_.left[v] = !contains(vertices_.box[v], vertex_boxes[v]);
  });
  const std::size_t left = std::count(vertices_.left.begin(), vertices_.left.end(), 1);
  if (left == 0) return 0;
  left_since_found_ += left;
  for (Features* features : {&vertices_, &faces_, &edges_}) features->old_box = features->box;
  for (std::size_t v = 0; v < vertex_boxes.size(); ++v) {
    if (vertices_.left[v]) vertices_.box[v].extend(vertex_boxes[v]);
  }
  if (left * kManyLeft > vertex_boxes.size()) {
    find_all(arena);
    return left;
  }
  unite_boxes(arena, surface_, vertices_.box, faces_.box, edges_.box);
  index_all(arena);
  collect_affected(arena);
  add_new_pairs(arena);
  return left;
}

void CandidatePairs::collect_affected(TaskArena& arena) {
  arena.for_chunks(faces_.left.size(), kBoxGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      const Triangle& t = surface_.triangles[f];
      faces_.left[f] = static_cast<char>(vertices_.left[t[0]] | vertices_.left[t[1]] | vertices_.left[t[2]]);
    }
  });
  arena.for_chunks(edges_.left.size(), kBoxGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      const Edge& edge = surface_.edges[e];
      edges_.left[e] = static_cast<char>(vertices_.left[edge[0]] | vertices_.left[edge[1]]);
    }
  });
  for (Features* features : {&vertices_, &faces_, &edges_}) {
    features->affected.clear();
    for (Index i = 0; i < count(features->left); ++i) {
      if (features->left[i]) features->affected.push_back(i);
    }
  }
}

// A pair that starts to overlap has a feature whose box has grown. To add it once: a vertex that left asks
// for all faces, a face that left for the other vertices; an edge that left for all edges but smaller ones
// that left.
void CandidatePairs::add_new_pairs(TaskArena& arena) {
  const std::size_t vertex_parts = parts_of(vertices_.affected.size(), kFeatureGrain);
  const std::size_t face_parts = parts_of(faces_.affected.size(), kFeatureGrain);
  const std::size_t edge_parts = parts_of(edges_.affected.size(), kFeatureGrain);
  const std::size_t vf = vertex_face_parts_, ee = edge_edge_parts_;
  vertex_face_parts_ += vertex_parts + face_parts;
  edge_edge_parts_ += edge_parts;
  if (vertex_face_.size() < vertex_face_parts_) vertex_face_.resize(vertex_face_parts_);
  if (edge_edge_.size() < edge_edge_parts_) edge_edge_.resize(edge_edge_parts_);
  const auto for_affected = [&](const Features& features, std::size_t part, auto&& visit) {
    const std::size_t begin = part * kFeatureGrain;
    for (std::size_t i = begin; i < std::min(features.affected.size(), begin + kFeatureGrain); ++i)
      visit(features.affected[i]);
  };
  arena.for_each_task(vertex_parts, [&](std::size_t part) {
    PairRuns& runs = vertex_face_[vf + part];
    runs.clear();
    for_affected(vertices_, part, [&](Index v) {
      query(faces_, vertices_.box[v], runs.found);
      for (const Index f : runs.found) {
        if (!overlap(vertices_.old_box[v], faces_.old_box[f]) && admissible_vertex_face(v, f))
          runs.partner.push_back(f);
      }
      runs.close(v);
    });
  });
  arena.for_each_task(face_parts, [&](std::size_t part) {
    PairRuns& runs = vertex_face_[vf + vertex_parts + part];
    runs.clear();
    for_affected(faces_, part, [&](Index f) {
      query(vertices_, faces_.box[f], runs.found);
      for (const Index v : runs.found) {
        if (vertices_.left[v] || overlap(vertices_.old_box[v], faces_.old_box[f])) continue;
        if (!admissible_vertex_face(v, f)) continue;
        runs.partner.push_back(f);
        runs.close(v);
      }
    });
  });
  arena.for_each_task(edge_parts, [&](std::size_t part) {
    PairRuns& runs = edge_edge_[ee + part];
    runs.clear();
    for_affected(edges_, part, [&](Index e) {
      query(edges_, edges_.box[e], runs.found);
      for (const Index g : runs.found) {
        if (g == e || (edges_.left[g] && g < e)) continue;
        if (!overlap(edges_.old_box[e], edges_.old_box[g]) && admissible_edges(e, g))
          runs.partner.push_back(g);
      }
      runs.close(e);
    });
  });
}

}  // namespace signorini
