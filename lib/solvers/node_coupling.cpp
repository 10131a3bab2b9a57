#include "solvers/node_coupling.h"

#include <algorithm>
#include <numeric>

namespace signorini {

namespace {

Eigen::Map<const Vector3> triple(const std::vector<double>& x, std::size_t i) {
  return Eigen::Map<const Vector3>(x.data() + 3 * i);
}

/// Root of a disjoint set, with halving of paths.
Index root_of(std::vector<Index>& parent, Index i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

void NodeCoupling::prepare(const PrimalSystem& system) {
  const Index contacts = system.contacts();
  const std::size_t nodes = system.size() / 3;
  std::vector<Index> partner(nodes, -1), pair(nodes, -1);
  for (Index p = 0; p < count(system.pairs); ++p) {
    const auto& [first, second, inverse] = system.pairs[p];
    partner[first] = second;
    partner[second] = first;
    pair[first] = pair[second] = p;
  }
  begin_.assign(1, 0);
  dof_.clear();
  into_.clear();
  out_of_.clear();
  y_.assign(system.size(), 0.0);
  for (Index k = 0; k < contacts; ++k) append(system, k, partner, pair);
  moved_ = dof_;
  std::sort(moved_.begin(), moved_.end());
  moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
  join(system, contacts);
}

/// The node blocks of contact k with the partners of those in pairs, and its rows there.
void NodeCoupling::append(const PrimalSystem& system, Index k, std::span<const Index> partner,
                          std::span<const Index> pair) {
  const DirectionRows& H = system.H;
  std::vector<Index> nodes;
  for (Index e = H.begin[k]; e < H.begin[k + 1]; ++e) {
    const Index node = H.dof[e] / 3;
    nodes.push_back(node);
    if (partner[node] >= 0) nodes.push_back(partner[node]);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const std::size_t first = dof_.size();
  for (const Index node : nodes) {
    for (Index a = 0; a < 3; ++a) dof_.push_back(3 * node + a);
  }
  into_.resize(3 * dof_.size(), 0.0);
  for (Index e = H.begin[k]; e < H.begin[k + 1]; ++e) {
    const std::size_t place = std::lower_bound(dof_.begin() + first, dof_.end(), H.dof[e]) - dof_.begin();
    for (std::size_t j = 0; j < 3; ++j) into_[3 * place + j] = H.coefficient[3 * e + j];
  }
  out_of_.resize(3 * dof_.size(), 0.0);
  const auto rows_of = [&](Index node) {
    const auto place = std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin();
    return first + 3 * place;
  };
  using Rows = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  for (const Index node : nodes) {
    Eigen::Map<Rows> out(out_of_.data() + 3 * rows_of(node));
    if (pair[node] < 0) {
      out = system.inverse[node] * Eigen::Map<const Rows>(into_.data() + 3 * rows_of(node));
      continue;
    }
    const PrimalSystem::Pair& both = system.pairs[pair[node]];
    const Eigen::Index row = node == both.first ? 0 : 3;
    out = both.inverse.block<3, 3>(row, 0) * Eigen::Map<const Rows>(into_.data() + 3 * rows_of(both.first)) +
          both.inverse.block<3, 3>(row, 3) * Eigen::Map<const Rows>(into_.data() + 3 * rows_of(both.second));
  }
  begin_.push_back(count(dof_));
}

void NodeCoupling::join(const PrimalSystem& system, Index contacts) {
  std::vector<Index> parent(contacts), first(system.size() / 3, -1);
  std::iota(parent.begin(), parent.end(), 0);
  for (Index k = 0; k < contacts; ++k) {
    for (Index e = begin_[k]; e < begin_[k + 1]; e += 3) {
      Index& other = first[dof_[e] / 3];
      if (other < 0) other = k;
      const Index a = root_of(parent, k), b = root_of(parent, other);
      parent[std::max(a, b)] = std::min(a, b);  // the root is the smallest of its set
    }
  }
  components_.label.assign(contacts, 0);
  components_.count = 0;
  for (Index k = 0; k < contacts; ++k) {
    const Index root = root_of(parent, k);
    components_.label[k] = root == k ? components_.count++ : components_.label[root];
  }
}

void NodeCoupling::start(std::span<const double> r) {
  for (const Index dof : moved_) y_[dof] = 0.0;
  for (std::size_t k = 0; k + 1 < begin_.size(); ++k)
    add(static_cast<Index>(k), Eigen::Map<const Vector3>(r.data() + 3 * k));
}

Vector3 NodeCoupling::velocity(Index k) const {
  Vector3 u = Vector3::Zero();
  const std::size_t end = begin_[k + 1];
  for (std::size_t e = begin_[k]; e < end; ++e) u += y_[dof_[e]] * triple(into_, e);
  return u;
}

void NodeCoupling::add(Index k, const Vector3& change) {
  const std::size_t end = begin_[k + 1];
  for (std::size_t e = begin_[k]; e < end; ++e) y_[dof_[e]] += triple(out_of_, e).dot(change);
}

ContactNeighbours NodeCoupling::neighbours() const {
  BlockSparseMatrix touched;  // contacts × node blocks, without values
  touched.block_rows = count(begin_) - 1;
  touched.block_columns = count(y_) / 3;
  touched.row_begin.reserve(begin_.size());
  for (const Index dof : begin_) touched.row_begin.push_back(dof / 3);
  touched.column.reserve(dof_.size() / 3);
  for (std::size_t d = 0; d < dof_.size(); d += 3) touched.column.push_back(dof_[d] / 3);
  return neighbours_by_slots(touched);
}

}  // namespace signorini
