#include "regions/region_extractor.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "regions/contact_graph.h"

namespace signorini {

namespace {

/// A compressed matrix from the kept entries of some rows (columns) of another one.
/// `source(j)`: which outer vector of `in` becomes vector j; `place(inner)`: new inner index, < 0 drops the
/// entry.
template <class Sparse, class Source, class Place>
Sparse cut(const Sparse& in, Index rows, Index columns, Source&& source, Place&& place) {
  Sparse out(rows, columns);
  const Eigen::Index outer = out.outerSize();
  Index* const begin = out.outerIndexPtr();
  begin[0] = 0;
  for (Index j = 0; j < outer; ++j) {
    Index kept = 0;
    for (typename Sparse::InnerIterator entry(in, source(j)); entry; ++entry) {
      kept += place(entry.index()) >= 0 ? 1 : 0;
    }
    begin[j + 1] = begin[j] + kept;
  }
  out.resizeNonZeros(begin[outer]);
  Index* inner = out.innerIndexPtr();
  double* value = out.valuePtr();
  for (Index j = 0; j < outer; ++j) {
    for (typename Sparse::InnerIterator entry(in, source(j)); entry; ++entry) {
      const Index i = place(entry.index());
      if (i < 0) continue;
      *inner++ = i;
      *value++ = entry.value();
    }
  }
  return out;
}

Vector cut_triples(const Vector& in, std::span<const Index> contacts) {
  if (in.size() == 0) return {};
  Vector out(3 * count(contacts));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    out.segment<3>(3 * i) = in.segment<3>(3 * contacts[i]);
  }
  return out;
}

template <class Table>
Table cut_rows(const Table& in, std::span<const Index> contacts) {
  if (in.rows() == 0) return {};
  Table out(count(contacts), in.cols());
  for (std::size_t i = 0; i < contacts.size(); ++i) out.row(i) = in.row(contacts[i]);
  return out;
}

SparseRows identity(Index n) {
  SparseRows out(n, n);
  out.setIdentity();
  return out;
}

}  // namespace

RegionExtractor::RegionExtractor(const ContactProblem& problem, const RegionPartition& partition)
    : problem_(&problem), partition_(&partition), node_size_(problem.node_size()) {
  SIGNORINI_CHECK(count(partition.label) == problem.contacts());
  contact_rank_.resize(partition.label.size());
  for (Index r = 0; r < partition.regions(); ++r) {
    Index rank = 0;
    for (const Index k : partition.region(r)) contact_rank_[k] = rank++;
  }
  if (problem.has_primal()) {
    find_nodes();
  } else {
    node_begin_.assign(partition.regions() + 1, 0);
  }
}

void RegionExtractor::find_nodes() {
  const Index nodes = node_count(*problem_);
  const Index regions = partition_->regions();
  // Components: single nodes for points, mechanical bodies otherwise.
  UnionFind bodies(nodes);
  if (partition_->mode != RegionMode::points) connect_nodes_by_mass(*problem_, bodies);

  // Which components does a region touch? `owner`: its last region; a second one means that nodes are shared.
  std::vector<Index> owner(nodes, -1);
  std::vector<Index> touched_begin{0};
  std::vector<Index> touched;
  with_node_size(*problem_, [&](auto size) {
    for (Index r = 0; r < regions; ++r) {
      for (const Index k : partition_->region(r)) {
        visit_contact_nodes<size>(*problem_, k, [&](Index node) {
          const Index body = bodies.find(node);
          if (owner[body] == r) return;
          shared_nodes_ = shared_nodes_ || owner[body] >= 0;
          owner[body] = r;
          touched.push_back(body);
        });
      }
      touched_begin.push_back(count(touched));
    }
  });

  node_begin_.assign(regions + 1, 0);
  if (!shared_nodes_) {
    // Every node belongs to one region at most: a counting sort keeps the nodes ascending.
    node_region_.resize(nodes);
    node_rank_.resize(nodes);
    for (Index i = 0; i < nodes; ++i) {
      const Index r = owner[bodies.find(i)];
      node_region_[i] = r;
      if (r >= 0) node_rank_[i] = node_begin_[r + 1]++;
    }
    std::partial_sum(node_begin_.begin(), node_begin_.end(), node_begin_.begin());
    nodes_.resize(node_begin_.back());
    for (Index i = 0; i < nodes; ++i) {
      const Index r = node_region_[i];
      if (r >= 0) nodes_[node_begin_[r] + node_rank_[i]] = i;
    }
    return;
  }
  std::vector<std::vector<Index>> members(nodes);
  for (Index i = 0; i < nodes; ++i) members[bodies.find(i)].push_back(i);
  for (Index r = 0; r < regions; ++r) {
    for (Index t = touched_begin[r]; t < touched_begin[r + 1]; ++t) {
      const auto& body = members[touched[t]];
      nodes_.insert(nodes_.end(), body.begin(), body.end());
    }
    node_begin_[r + 1] = count(nodes_);
    std::sort(nodes_.begin() + node_begin_[r], nodes_.end());
  }
}

std::span<const Index> RegionExtractor::nodes(Index region) const {
  const std::size_t begin = node_begin_[region];
  return std::span<const Index>(nodes_).subspan(begin, node_begin_[region + 1] - begin);
}

Index RegionExtractor::local_node(Index region, Index node) const {
  if (!shared_nodes_) return node_region_[node] == region ? node_rank_[node] : -1;
  const auto own = nodes(region);
  const auto found = std::lower_bound(own.begin(), own.end(), node);
  return found != own.end() && *found == node ? static_cast<Index>(found - own.begin()) : -1;
}

Index RegionExtractor::local_dof(Index region, Index dof) const {
  const Index node = dof / node_size_;
  const Index local = local_node(region, node);
  return local < 0 ? -1 : local * node_size_ + (dof - node * node_size_);
}

void RegionExtractor::extract_primal(Index region, ContactProblem& out) const {
  const ContactProblem& in = *problem_;
  const auto contacts = partition_->region(region);
  const auto own = nodes(region);
  const Index columns = 3 * count(contacts);
  out.w = cut_triples(in.w, contacts);
  if (own.empty()) {
    // Nothing moves: u = w. An idle mass keeps the problem primal.
    out.M = identity(node_size_);
    out.H = SparseColumns(node_size_, columns);
    out.f = Vector::Zero(node_size_);
    return;
  }
  const Index n = count(own) * node_size_;
  const auto place = [&](Index dof) { return local_dof(region, dof); };
  const auto dof = [&](Index i) { return own[i / node_size_] * node_size_ + i % node_size_; };
  const auto column = [&](Index j) { return 3 * contacts[j / 3] + j % 3; };
  out.M = cut(in.M, n, n, dof, place);
  out.H = cut(in.H, n, columns, column, place);
  out.f.resize(n);
  for (Index i = 0; i < n; ++i) out.f[i] = in.f[dof(i)];
}

void RegionExtractor::extract_dual(Index region, ContactProblem& out) const {
  const auto contacts = partition_->region(region);
  const Index rows = 3 * count(contacts);
  const auto row = [&](Index j) { return 3 * contacts[j / 3] + j % 3; };
  const auto place = [&](Index j) {
    const std::size_t l = j / 3;
    return partition_->label[l] == region ? 3 * contact_rank_[l] + j % 3 : -1;
  };
  out.W = cut(problem_->W, rows, rows, row, place);
  out.q = cut_triples(problem_->q, contacts);
}

void RegionExtractor::extract_bodies(Index region, ContactProblem& out) const {
  const ContactProblem& in = *problem_;
  out.bodies = cut_rows(in.bodies, partition_->region(region));
  if (in.body_dofs.empty() || nodes(region).empty()) return;
  // Bodies that own a dof of the region or are named by a contact, ascending.
  std::vector<Index> owners;
  const auto& begin = in.body_dofs;
  Index body = -1;
  for (const Index node : nodes(region)) {
    for (Index dof = node * node_size_; dof < (node + 1) * node_size_; ++dof) {
      if (body < 0 || dof >= begin[body + 1]) {
        body = static_cast<Index>(std::upper_bound(begin.begin(), begin.end(), dof) - begin.begin()) - 1;
      }
      owners.push_back(body);
    }
  }
  std::vector<Index> numbers = owners;
  for (Index i = 0; i < count(out.bodies); ++i) numbers.push_back(out.bodies.data()[i]);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  numbers.erase(numbers.begin(), std::lower_bound(numbers.begin(), numbers.end(), Index{0}));

  const auto rank = [&](Index number) {
    return static_cast<Index>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
  };
  out.body_dofs.assign(numbers.size() + 1, 0);
  for (const Index owner : owners) ++out.body_dofs[rank(owner) + 1];
  std::partial_sum(out.body_dofs.begin(), out.body_dofs.end(), out.body_dofs.begin());
  for (Index i = 0; i < count(out.bodies); ++i) {
    Index& number = out.bodies.data()[i];
    if (number >= 0) number = rank(number);
  }
}

/// v_minus: of the same dofs as f; an idle mass rests.
void RegionExtractor::extract_starts(Index region, ContactProblem& out) const {
  const ContactProblem& in = *problem_;
  const auto contacts = partition_->region(region);
  out.warm_start = cut_triples(in.warm_start, contacts);
  out.start_bounds = cut_rows(in.start_bounds, contacts);
  if (!in.start_states.empty()) {
    for (const Index k : contacts) out.start_states.push_back(in.start_states[k]);
  }
  if (in.v_minus.size() == 0) return;
  const auto own = nodes(region);
  out.v_minus.setZero(out.dofs());
  for (Index i = 0; i < count(own); ++i)
    out.v_minus.segment(i * node_size_, node_size_) = in.v_minus.segment(own[i] * node_size_, node_size_);
}

void RegionExtractor::extract_metadata(Index region, ContactProblem& out) const {
  const ContactProblem& in = *problem_;
  const auto contacts = partition_->region(region);
  out.kind = in.kind;
  out.dt = in.dt;
  out.time = in.time;
  out.gap = cut_rows(in.gap, contacts);
  out.frame = cut_rows(in.frame, contacts);
  out.position = cut_rows(in.position, contacts);
  out.weights = cut_rows(in.weights, contacts);
  out.features = cut_rows(in.features, contacts);
  if (!in.node_numbers.empty()) {
    for (const Index node : this->nodes(region)) out.node_numbers.push_back(in.node_numbers[node]);
  }
  out.points = cut_rows(in.points, contacts);
  const Index nodes = problem_->has_primal() ? node_count(in) : 0;
  for (Index i = 0; i < count(out.points) && nodes > 0; ++i) {
    Index& point = out.points.data()[i];
    point = point >= 0 && point < nodes ? local_node(region, point) : -1;
  }
}

ContactProblem RegionExtractor::extract(Index region) const {
  ContactProblem out = extract_system(region);
  extract_metadata(region, out);
  extract_bodies(region, out);
  return out;
}

ContactProblem RegionExtractor::extract_system(Index region) const {
  SIGNORINI_CHECK(region >= 0 && region < regions());
  ContactProblem out;
  out.mu = cut_rows(problem_->mu, partition_->region(region));
  if (problem_->has_primal()) extract_primal(region, out);
  if (problem_->has_dual()) extract_dual(region, out);
  if (!problem_->has_primal() && !problem_->has_dual() && problem_->w.size() > 0) {
    // no body can move: u = w
    out.w = cut_triples(problem_->w, partition_->region(region));
    out.H.resize(0, out.w.size());
  }
  extract_starts(region, out);
  return out;
}

ContactProblem extract_region(const ContactProblem& problem, const RegionPartition& partition, Index region) {
  return RegionExtractor(problem, partition).extract(region);
}

}  // namespace signorini
