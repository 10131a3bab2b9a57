#include "regions/redundant_contacts.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "base/check.h"
#include "regions/region_partition.h"

namespace signorini {

namespace {

/// The part of a normal column at one mass point, times the inverse of a Cholesky factor of its block.
using NodePart = std::pair<Index, Vector3>;

std::vector<NodePart> scaled_normal(const ContactProblem& problem,
                                    const std::vector<Eigen::LLT<Matrix3>>& blocks, Index contact) {
  std::vector<NodePart> parts;
  for (SparseColumns::InnerIterator entry(problem.H, 3 * contact); entry; ++entry) {
    const Index node = entry.index() / 3;
    if (parts.empty() || parts.back().first != node) parts.emplace_back(node, Vector3::Zero());
    parts.back().second[entry.index() % 3] = entry.value();
  }
  double squares = 0.0;
  for (auto& [node, part] : parts) {
    part = blocks[node].matrixL().solve(part).eval();
    squares += part.squaredNorm();
  }
  for (auto& [node, part] : parts) part /= squares > 0.0 ? std::sqrt(squares) : 1.0;
  return parts;
}

double dot(const std::vector<NodePart>& a, const std::vector<NodePart>& b) {
  double sum = 0.0;
  auto at = b.begin();
  for (const auto& [node, part] : a) {
    while (at != b.end() && at->first < node) ++at;
    if (at != b.end() && at->first == node) sum += part.dot(at->second);
  }
  return sum;
}

/// The square of cos_k: gᵀ G⁻¹ g with G the products of the unit normals of `near` and g those of contact k with them.
double share_in_span(const std::vector<std::vector<NodePart>>& normals, Index k,
                     const std::vector<Index>& near) {
  if (near.empty()) return 0.0;
  Matrix products(count(near), count(near));
  Vector own(count(near));
  for (Index i = 0; i < count(near); ++i) {
    own[i] = dot(normals[k], normals[near[i]]);
    for (Index j = 0; j <= i; ++j) products(i, j) = products(j, i) = dot(normals[near[i]], normals[near[j]]);
  }
  // those taken are independent, by the bound on their own cosines
  return own.dot(products.ldlt().solve(own));
}

std::vector<Eigen::LLT<Matrix3>> node_blocks(const ContactProblem& problem) {
  std::vector<Eigen::LLT<Matrix3>> blocks;
  blocks.reserve(problem.dofs() / 3);
  for (Index node = 0; node < problem.dofs() / 3; ++node) {
    Matrix3 block = Matrix3::Zero();
    for (Index i = 0; i < 3; ++i) {
      for (SparseRows::InnerIterator entry(problem.M, 3 * node + i); entry; ++entry) {
        if (entry.col() / 3 == node) block(i, entry.col() % 3) = entry.value();
      }
    }
    blocks.emplace_back(block);
  }
  return blocks;
}

}  // namespace

std::vector<Index> redundant_contacts(const ContactProblem& problem, double cosine) {
  SIGNORINI_CHECK(cosine > 0.0 && cosine < 1.0);
  if (!problem.has_primal() || problem.node_size() != 3)
    throw_usage("redundant contacts: M, H and three dofs for each mass point are needed");
  const std::vector<Eigen::LLT<Matrix3>> blocks = node_blocks(problem);
  std::vector<Index> order(problem.contacts());
  std::iota(order.begin(), order.end(), 0);
  if (problem.gap.size() > 0)
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return problem.gap[a] < problem.gap[b]; });

  std::vector<std::vector<NodePart>> normals(problem.contacts());
  std::vector<std::vector<Index>> taken(problem.dofs() / 3);  // contacts that stay, by mass point
  std::vector<Index> left_out, near;
  for (const Index k : order) {
    normals[k] = scaled_normal(problem, blocks, k);
    near.clear();
    for (const NodePart& part : normals[k])
      near.insert(near.end(), taken[part.first].begin(), taken[part.first].end());
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    if (share_in_span(normals, k, near) > cosine * cosine) {
      left_out.push_back(k);
    } else {
      for (const NodePart& part : normals[k]) taken[part.first].push_back(k);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  return left_out;
}

std::vector<Index> contacts_at_random(const ContactProblem& problem, Index number) {
  SIGNORINI_CHECK(number >= 0 && number <= problem.contacts());
  std::vector<Index> order(problem.contacts());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(1);  // the engine is the same everywhere, distributions are not
  for (Index i = 0; i < number; ++i)
    std::swap(order[i],
              order[i + static_cast<Index>(random() % static_cast<std::uint64_t>(count(order) - i))]);
  order.resize(number);
  std::sort(order.begin(), order.end());
  return order;
}

ContactProblem without_contacts(const ContactProblem& problem, const std::vector<Index>& left_out) {
  if (left_out.empty()) return problem;
  SIGNORINI_CHECK(count(left_out) < problem.contacts());
  std::vector<Index> label(problem.contacts(), 0);
  for (const Index k : left_out) label[k] = 1;
  // points_approx: the dofs of whole bodies, which both parts may have
  return extract_region(problem, partition_from_labels(RegionMode::points_approx, std::move(label), 2), 0);
}

}  // namespace signorini
