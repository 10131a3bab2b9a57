#include "bodies/tet_elements.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "bodies/element_kernels.h"

namespace signorini {

namespace {

constexpr std::size_t kElementGrain = 128;
constexpr std::size_t kNodeGrain = 64;

}  // namespace

void TetElements::add(const TetMesh& rest, const ElasticMaterial& material, Index first_node,
                      std::span<double> mass, std::string_view context) {
  material.validate(context);
  SIGNORINI_CHECK(mass.size() == rest.vertices.size());
  SIGNORINI_CHECK(first_node >= (parts_.empty() ? 0 : parts_.back().end_node));
  if (rest.tets.empty()) throw_usage("{}: the mesh has no tetrahedra", context);
  const Index vertices = count(rest.vertices);
  // Everything is checked before anything is kept.
  std::vector<Element> elements;
  elements.reserve(rest.tets.size());
  double transit = smallest_transit_;
  for (std::size_t e = 0; e < rest.tets.size(); ++e) {
    const Tetrahedron& tet = rest.tets[e];
    for (const Index vertex : tet) {
      if (vertex < 0 || vertex >= vertices)
        throw_usage("{}: tetrahedron {} names vertex {}, the mesh has {}", context, e, vertex, vertices);
    }
    const double volume = tet_volume(rest, tet);
    if (!(volume > 0.0))
      throw_usage("{}: tetrahedron {} is flat or inverted (volume {} m³)", context, e, volume);
    const auto x = [&](std::size_t i) -> const Vector3& { return rest.vertices[tet[i]]; };
    Matrix3 rest_shape;
    rest_shape << x(1) - x(0), x(2) - x(0), x(3) - x(0);
    Element element{tet, rest_shape.inverse(), volume, count(parts_)};
    for (Index& node : element.nodes) node += first_node;
    elements.push_back(element);
    transit = std::min(transit, smallest_altitude(rest, tet) / material.wave_speed());
  }
  for (std::size_t e = 0; e < elements.size(); ++e) {
    for (const Index vertex : rest.tets[e]) mass[vertex] += 0.25 * material.density * elements[e].volume;
  }
  smallest_transit_ = transit;
  const ElementMaterial law{material.model, material.mu(), material.lambda(), material.compression_limit};
  parts_.push_back(
      {law, material.stiffness_damping, first_node, first_node + vertices, size(), factors_.size()});
  elements_.insert(elements_.end(), elements.begin(), elements.end());
  factors_.resize(factors_.size() + stiffness_factors(material.model) * elements.size());
}

void TetElements::couplings(std::vector<std::array<Index, 2>>& pairs) const {
  for (const Element& element : elements_) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j)
        pairs.push_back(
            {std::min(element.nodes[i], element.nodes[j]), std::max(element.nodes[i], element.nodes[j])});
    }
  }
}

void TetElements::finish(Index nodes, const BlockSparseMatrix* A) {
  slot_begin_.assign(nodes + 1, 0);
  for (const Element& element : elements_) {
    for (const Index node : element.nodes) ++slot_begin_[node + 1];
  }
  for (std::size_t i = 1; i < slot_begin_.size(); ++i) slot_begin_[i] += slot_begin_[i - 1];
  slots_.resize(4 * elements_.size());
  std::vector<Index> next(slot_begin_.begin(), slot_begin_.end() - 1);
  for (Index e = 0; e < count(elements_); ++e) {
    for (Index corner = 0; corner < 4; ++corner) {
      const Index node = elements_[e].nodes[corner];
      slots_[next[node]++] = 4 * e + corner;
    }
  }
  force_.resize(slots_.size());
  energies_.resize((elements_.size() + kElementGrain - 1) / kElementGrain);
  slot_blocks_.clear();
  if (A == nullptr) return;
  slot_blocks_.reserve(4 * slots_.size());
  for (const Index slot : slots_) {
    const Tetrahedron& tet = elements_[slot / 4].nodes;
    for (const Index other : tet) {
      const Index block = find_block(*A, tet[slot % 4], other);
      SIGNORINI_CHECK(block >= 0);
      slot_blocks_.push_back(block);
    }
  }
}

Matrix3 TetElements::deformation(const Element& element, std::span<const Vector3> position) const {
  const auto x = [&](std::size_t i) -> const Vector3& { return position[element.nodes[i]]; };
  Matrix3 shape;
  shape << x(1) - x(0), x(2) - x(0), x(3) - x(0);
  return shape * element.rest_inverse;
}

std::size_t TetElements::factor_place(const Part& part, std::size_t e) {
  return part.first_factor + stiffness_factors(part.law.model) * (e - part.first_element);
}

/// Forces of an element into force_, the factors of its stiffness into factors_; returns its energy.
double TetElements::evaluate_element(std::size_t e, std::span<const Vector3> position, Want want, double dt) {
  const Element& element = elements_[e];
  const Part& part = parts_[element.part];
  const Matrix3 F = deformation(element, position);
  double* factors = want == Want::step ? factors_.data() + factor_place(part, e) : nullptr;
  const double scale = element.volume * dt * (dt + part.stiffness_damping);
  const ElementResponse response = element_response(part.law, F, element.rest_inverse, scale, factors);
  const Matrix3 f = (-element.volume * response.P) * element.rest_inverse.transpose();
  force_[4 * e] = -(f.col(0) + f.col(1) + f.col(2));
  for (int corner = 1; corner < 4; ++corner) force_[4 * e + corner] = f.col(corner - 1);
  return element.volume * response.density;
}

double TetElements::evaluate(TaskArena& arena, std::span<const Vector3> position, Want want, double dt) {
  SIGNORINI_CHECK(position.size() + 1 >= slot_begin_.size());
  arena.for_chunks(elements_.size(), kElementGrain, [&](std::size_t begin, std::size_t end) {
    double energy = 0.0;
    for (std::size_t e = begin; e < end; ++e) energy += evaluate_element(e, position, want, dt);
    energies_[begin / kElementGrain] = energy;
  });
  double energy = 0.0;
  for (const double part : energies_) energy += part;
  return energy;
}

double TetElements::add_forces(TaskArena& arena, std::span<const Vector3> position,
                               std::span<Vector3> force) {
  const double energy = evaluate(arena, position, Want::forces, 0.0);
  SIGNORINI_CHECK(force.size() + 1 >= slot_begin_.size());
  arena.for_chunks(slot_begin_.size() - 1, kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (Index s = slot_begin_[i]; s < slot_begin_[i + 1]; ++s) force[i] += force_[slots_[s]];
    }
  });
  return energy;
}

/// One block row of A; no other task writes it.
void TetElements::gather_row(std::size_t node, const Part& part, double dt, BlockSparseMatrix& A,
                             std::span<double> rhs) const {
  Vector3 force = Vector3::Zero();
  BlockRow row;
  const std::size_t end = slot_begin_[node + 1];
  for (std::size_t s = slot_begin_[node]; s < end; ++s) {
    const std::size_t slot = slots_[s];
    stiffness_row(part.law, factors_.data() + factor_place(part, slot / 4), static_cast<int>(slot % 4), row);
    for (std::size_t j = 0; j < 4; ++j) Eigen::Map<Matrix3>(A.block(slot_blocks_[4 * s + j])) += row[j];
    force += force_[slot];
  }
  Eigen::Map<Vector3>(rhs.data() + 3 * node) += dt * force;
}

void TetElements::add_step(TaskArena& arena, std::span<const Vector3> position, double dt,
                           BlockSparseMatrix& A, std::span<double> rhs) {
  SIGNORINI_CHECK(dt > 0.0 && slot_blocks_.size() == 4 * slots_.size());
  SIGNORINI_CHECK(rhs.size() + 3 >= 3 * slot_begin_.size());
  evaluate(arena, position, Want::step, dt);
  arena.for_chunks(slot_begin_.size() - 1, kNodeGrain, [&](std::size_t begin, std::size_t end) {
    auto part = std::partition_point(parts_.begin(), parts_.end(), [begin](const Part& p) {
      return std::cmp_less_equal(p.end_node, begin);
    });
    for (std::size_t i = begin; i < end; ++i) {
      while (part != parts_.end() && std::cmp_less_equal(part->end_node, i)) ++part;
      if (part == parts_.end()) return;
      if (std::cmp_greater_equal(i, part->first_node)) gather_row(i, *part, dt, A, rhs);
    }
  });
}

double TetElements::smallest_volume_ratio(std::span<const Vector3> position) const {
  double smallest = elements_.empty() ? 1.0 : std::numeric_limits<double>::infinity();
  for (const Element& element : elements_)
    smallest = std::min(smallest, deformation(element, position).determinant());
  return smallest;
}

}  // namespace signorini
