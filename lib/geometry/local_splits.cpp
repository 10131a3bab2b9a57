#include "geometry/local_splits.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace signorini {

namespace {

enum class Kind { boundary_edge, interior_edge, centre };

bool has(const Tetrahedron& tet, Index i) { return std::find(tet.begin(), tet.end(), i) != tet.end(); }

Tetrahedron with(Tetrahedron tet, Index old, Index replacement) {
  std::replace(tet.begin(), tet.end(), old, replacement);
  return tet;
}

class Splitter {
 public:
  explicit Splitter(TetMesh& mesh)
      : mesh_(mesh), tets_(mesh.tets), begin_(mesh.vertices.size() + 1, 0), is_cut_(mesh.tets.size(), 0) {
    for (const Tetrahedron& tet : mesh.tets) {
      for (const Index i : tet) ++begin_[i + 1];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    at_.resize(4 * mesh.tets.size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
      for (const Index i : mesh.tets[t]) at_[next[i]++] = t;
    }
  }

  /// Makes up to `count` splits in one tour of the tetrahedra; the number made.
  Index tour(Kind kind, Index count, double quality) {
    const std::size_t tets = tets_.size();
    // A step of the golden section of all leaves every stretch of the tour spread over the whole mesh.
    std::size_t step =
        std::max<std::size_t>(1, static_cast<std::size_t>(0.6180339887498949 * static_cast<double>(tets)));
    while (std::gcd(step, tets) != 1) ++step;
    Index made = 0;
    for (std::size_t n = 0, t = 0; n < tets && made < count; ++n, t = (t + step) % tets) {
      if (is_cut_[t]) continue;
      if (kind == Kind::centre ? split_centre(t, quality) : split_longest_edge(t, kind, quality)) ++made;
    }
    return made;
  }

 private:
  const Vector3& x(Index i) const { return mesh_.vertices[i]; }

  /// Tetrahedra around an edge.
  void find_ring(Index i, Index j) {
    ring_.clear();
    for (std::size_t n = begin_[i]; n < begin_[i + 1]; ++n) {
      if (has(tets_[at_[n]], j)) ring_.push_back(at_[n]);
    }
  }

  /// The ring is closed when it has as many outer vertices as tetrahedra.
  bool ring_is(Kind kind, Index i, Index j) {
    if (ring_.size() != (kind == Kind::boundary_edge ? 2U : 4U)) return false;
    others_.clear();
    for (const std::size_t t : ring_) {
      for (const Index k : tets_[t]) {
        if (k != i && k != j) others_.push_back(k);
      }
    }
    std::sort(others_.begin(), others_.end());
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    return others_.size() == (kind == Kind::boundary_edge ? 3U : 4U);
  }

  Index add_vertex(const Vector3& position) {
    mesh_.vertices.push_back(position);
    return count(mesh_.vertices) - 1;
  }

  void take(std::size_t t, std::initializer_list<Tetrahedron> parts) {
    is_cut_[t] = 1;
    mesh_.tets[t] = *parts.begin();
    mesh_.tets.insert(mesh_.tets.end(), parts.begin() + 1, parts.end());
  }

  /// Quality of tetrahedron t after its corner `old` has moved.
  double quality_with(std::size_t t, Index old, const Vector3& moved) const {
    TetMesh one{{}, {{0, 1, 2, 3}}};
    for (const Index i : tets_[t]) one.vertices.push_back(i == old ? moved : x(i));
    return tet_quality(one, one.tets[0]);
  }

  bool split_centre(std::size_t t, double quality) {
    const Tetrahedron tet = tets_[t];
    const Vector3 centre = 0.25 * (x(tet[0]) + x(tet[1]) + x(tet[2]) + x(tet[3]));
    for (const Index i : tet) {
      if (quality_with(t, i, centre) < quality) return false;
    }
    const Index c = add_vertex(centre);
    take(t, {with(tet, tet[0], c), with(tet, tet[1], c), with(tet, tet[2], c), with(tet, tet[3], c)});
    return true;
  }

  bool split_longest_edge(std::size_t t, Kind kind, double quality) {
    const Tetrahedron tet = tets_[t];
    Index i = -1, j = -1;
    double longest = 0.0;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) {
        const double length = (x(tet[a]) - x(tet[b])).squaredNorm();
        if (length <= longest) continue;
        const Vector3 middle = 0.5 * (x(tet[a]) + x(tet[b]));
        if (quality_with(t, tet[a], middle) < quality || quality_with(t, tet[b], middle) < quality) continue;
        find_ring(tet[a], tet[b]);
        if (!ring_is(kind, tet[a], tet[b])) continue;
        longest = length;
        i = tet[a];
        j = tet[b];
      }
    }
    return i >= 0 && split_edge(i, j, quality);
  }

  bool split_edge(Index i, Index j, double quality) {
    const Vector3 middle = 0.5 * (x(i) + x(j));
    find_ring(i, j);
    for (const std::size_t t : ring_) {
      if (is_cut_[t] || quality_with(t, i, middle) < quality || quality_with(t, j, middle) < quality)
        return false;
    }
    const Index m = add_vertex(middle);
    for (const std::size_t t : ring_) {
      const Tetrahedron tet = tets_[t];
      take(t, {with(tet, i, m), with(tet, j, m)});
    }
    return true;
  }

  TetMesh& mesh_;
  const std::vector<Tetrahedron> tets_;  ///< those of the beginning, which all numbers below refer to
  std::vector<std::size_t> begin_, at_;  ///< tetrahedra at each vertex
  std::vector<char> is_cut_;
  std::vector<std::size_t> ring_;
  std::vector<Index> others_;
};

void split(Splitter& splitter, Kind kind, Index count, const char* what) {
  if (count < 0) throw_usage("splits: {} {}, at least 0 is needed", count, what);
  constexpr double kLeast = 0.01;
  for (double quality = 0.7; count > 0; quality *= 0.8) {
    if (quality < kLeast) throw_usage("splits: no place is left for {} splits of {}", count, what);
    count -= splitter.tour(kind, count, quality);
  }
}

}  // namespace

void split_locally(TetMesh& mesh, const LocalSplits& splits) {
  Splitter splitter(mesh);
  split(splitter, Kind::boundary_edge, splits.boundary_edges, "boundary edges");
  split(splitter, Kind::interior_edge, splits.interior_edges, "interior edges");
  split(splitter, Kind::centre, splits.centres, "tetrahedra");
}

}  // namespace signorini
