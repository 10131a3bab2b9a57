#include "solvers/schwarz/subdomains.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "regions/contact_blocks.h"
#include "regions/contact_neighbours.h"

namespace signorini {
namespace {

/// Numbers 0 … n − 1 with a mark that is taken off all at once.
class Marks {
 public:
  explicit Marks(Index n) : at_(n, -1) {}
  void clear() { ++now_; }
  /// False where it had the mark already.
  bool set(Index k) { return std::exchange(at_[k], now_) != now_; }
  bool has(Index k) const { return at_[k] == now_; }

 private:
  std::vector<Index> at_;
  Index now_ = 0;
};

/// Blocks along strong links; what is left between them, and what has no strong link, by any link.
ContactBlocks cut(const BlockSparseMatrix& W, const ContactNeighbours& strong, Index size) {
  const Index least = std::max<Index>(1, size / 4), most = size + size / 2;
  ContactBlocks blocks = join_small_blocks(strong, grow_blocks(strong, size), least, most);
  return join_small_blocks(neighbours_by_delassus(W), std::move(blocks), least, most);
}

std::vector<std::vector<Index>> members_of(const ContactBlocks& blocks) {
  std::vector<std::vector<Index>> members(blocks.blocks);
  for (Index k = 0; k < count(blocks.block_of); ++k) members[blocks.block_of[k]].push_back(k);
  return members;
}

/// `own` and `rings` rings of neighbours around them, ascending.
std::vector<Index> with_rings(const std::vector<Index>& own, const ContactNeighbours& graph, int rings,
                              Marks& marks) {
  std::vector<Index> all = own;
  marks.clear();
  for (const Index k : own) marks.set(k);
  std::size_t begin = 0;
  for (int ring = 0; ring < rings && begin < all.size(); ++ring) {
    const std::size_t end = all.size();
    for (std::size_t i = begin; i < end; ++i) {
      const Index k = all[i];
      for (const Index l : graph.of(k))
        if (marks.set(l)) all.push_back(l);
    }
    begin = end;
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Subdomains that may not be solved at the same time.
ContactNeighbours conflicts(const std::vector<Subdomain>& parts, const ContactNeighbours& strong,
                            const std::vector<Index>& block_of) {
  std::vector<std::vector<Index>> lists(parts.size());
  const auto link = [&](Index a, Index b) {
    if (a == b) return;
    lists[a].push_back(b);
    lists[b].push_back(a);
  };
  for (Index p = 0; p < count(parts); ++p) {
    for (const Index k : parts[p].contacts) {
      link(p, block_of[k]);
      for (const Index l : strong.of(k)) link(p, block_of[l]);
    }
  }
  ContactNeighbours result;
  result.begin.push_back(0);
  for (std::vector<Index>& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    result.neighbour.insert(result.neighbour.end(), list.begin(), list.end());
    result.begin.push_back(count(result.neighbour));
  }
  return result;
}

void find_outside(const BlockSparseMatrix& W, Marks& marks, Subdomain& part) {
  marks.clear();
  for (const Index k : part.contacts) marks.set(k);
  part.outside_begin.assign(1, 0);
  for (const Index k : part.contacts) {
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b)
      if (!marks.has(W.column[b])) part.outside.push_back(b);
    part.outside_begin.push_back(count(part.outside));
  }
}

Subdomains sort_by_colour(std::vector<Subdomain> parts, const std::vector<Index>& colour) {
  std::vector<Index> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return colour[a] < colour[b]; });
  Subdomains result;
  for (const Index p : order) {
    while (count(result.colour_begin) <= colour[p]) result.colour_begin.push_back(result.parts.size());
    result.parts.push_back(std::move(parts[p]));
  }
  result.colour_begin.push_back(result.parts.size());
  return result;
}

}  // namespace

Subdomains make_subdomains(const BlockSparseMatrix& W, const SubdomainOptions& options) {
  const ContactNeighbours strong = neighbours_by_delassus(W, options.strength);
  const ContactBlocks blocks = cut(W, strong, options.size);
  Marks marks(W.block_rows);
  std::vector<Subdomain> parts(blocks.blocks);
  const std::vector<std::vector<Index>> members = members_of(blocks);
  for (Index p = 0; p < blocks.blocks; ++p) {
    Subdomain& part = parts[p];
    part.contacts = with_rings(members[p], strong, options.overlap, marks);
    for (Index i = 0; i < count(part.contacts); ++i)
      if (blocks.block_of[part.contacts[i]] == p) part.own.push_back(i);
    find_outside(W, marks, part);
  }
  const std::vector<Index> colour = first_fit_colours(conflicts(parts, strong, blocks.block_of));
  return sort_by_colour(std::move(parts), colour);
}

ReducedProblem cut_subdomain(const BlockSparseMatrix& from, const Vector& q, const Subdomain& part) {
  ReducedProblem result;
  BlockSparseMatrix& W = result.W;
  W.block_rows = W.block_columns = count(part.contacts);
  result.q.resize(3 * W.block_rows);
  W.row_begin.assign(1, 0);
  for (Index i = 0; i < W.block_rows; ++i) {
    const Index k = part.contacts[i];
    auto place = part.contacts.begin();  // columns and contacts both ascend
    for (Index b = from.row_begin[k]; b < from.row_begin[k + 1]; ++b) {
      place = std::lower_bound(place, part.contacts.end(), from.column[b]);
      if (place == part.contacts.end()) break;
      if (*place != from.column[b]) continue;
      W.column.push_back(static_cast<Index>(place - part.contacts.begin()));
      W.values.insert(W.values.end(), from.block(b), from.block(b) + 9);
    }
    W.row_begin.push_back(W.blocks());
    result.q.segment<3>(3 * i) = q.segment<3>(3 * k);
  }
  W.values.resize(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return result;
}

void outside_velocity(const BlockSparseMatrix& W, const Vector& q_all, const Subdomain& part,
                      std::span<const double> r, std::span<double> q) {
  for (Index i = 0; i < count(part.contacts); ++i) {
    Vector3 u = q_all.segment<3>(3 * part.contacts[i]);
    for (Index o = part.outside_begin[i]; o < part.outside_begin[i + 1]; ++o) {
      const Index b = part.outside[o];
      const std::size_t l = W.column[b];
      u += Eigen::Map<const Matrix3>(W.block(b)) * Eigen::Map<const Vector3>(r.data() + 3 * l);
    }
    Eigen::Map<Vector3>(q.data() + 3 * static_cast<std::size_t>(i)) = u;
  }
}

}  // namespace signorini
