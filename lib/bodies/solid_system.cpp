#include "bodies/solid_system.h"

#include <Eigen/LU>
#include <algorithm>

#include "bodies/polar_rotation.h"

namespace signorini {

namespace {

constexpr std::size_t kElementGrain = 256;
constexpr std::size_t kNodeGrain = 512;

}  // namespace

Index SolidSystem::add(const TetMesh& rest, const ElasticMaterial& material, const Placement& placement) {
  const Index body = bodies();
  material.validate(fmt::format("body {}", body));
  if (rest.tets.empty()) throw_usage("body {}: the mesh has no tetrahedra", body);
  const Index shift = nodes();
  // Everything is checked before anything is kept.
  std::vector<Element> elements;
  std::vector<double> mass(rest.vertices.size(), 0.0);
  double transit = smallest_transit_;
  for (std::size_t e = 0; e < rest.tets.size(); ++e) {
    const Tetrahedron& tet = rest.tets[e];
    const double volume = tet_volume(rest, tet);
    if (!(volume > 0.0))
      throw_usage("body {}: tetrahedron {} is flat or inverted (volume {} m³)", body, e, volume);
    const auto x = [&](std::size_t i) -> const Vector3& {
      return rest.vertices[static_cast<std::size_t>(tet[i])];
    };
    Matrix3 rest_shape;
    rest_shape << x(1) - x(0), x(2) - x(0), x(3) - x(0);
    Element element{tet, rest_shape.inverse(), volume, material.lambda(), material.mu()};
    for (std::size_t i = 0; i < 4; ++i) {
      element.nodes[i] += shift;
      mass[static_cast<std::size_t>(tet[i])] += 0.25 * material.density * volume;
    }
    elements.push_back(element);
    transit = std::min(transit, smallest_altitude(rest, tet) / material.wave_speed());
  }
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (!(mass[i] > 0.0))
      throw_usage("body {}: vertex {} belongs to no tetrahedron and has no mass", body, i);
  }
  smallest_transit_ = transit;
  elements_.insert(elements_.end(), elements.begin(), elements.end());
  for (std::size_t i = 0; i < mass.size(); ++i) {
    mass_.push_back(mass[i]);
    damping_.push_back(material.damping);
    body_of_.push_back(body);
    const Vector3 arm = placement.rotation * rest.vertices[i];
    start_.position.push_back(arm + placement.translation);
    start_.velocity.push_back(placement.velocity + placement.angular_velocity.cross(arm));
  }
  for (const Triangle& t : boundary_triangles(rest))
    surface_.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  first_node_.push_back(shift + static_cast<Index>(rest.vertices.size()));
  rebuild_gather();
  return body;
}

void SolidSystem::rebuild_gather() {
  slot_begin_.assign(static_cast<std::size_t>(nodes()) + 1, 0);
  for (const Element& element : elements_) {
    for (const Index node : element.nodes) ++slot_begin_[static_cast<std::size_t>(node) + 1];
  }
  for (std::size_t i = 1; i < slot_begin_.size(); ++i) slot_begin_[i] += slot_begin_[i - 1];
  slots_.resize(4 * elements_.size());
  std::vector<Index> next(slot_begin_.begin(), slot_begin_.end() - 1);
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    for (std::size_t corner = 0; corner < 4; ++corner) {
      const auto node = static_cast<std::size_t>(elements_[e].nodes[corner]);
      slots_[static_cast<std::size_t>(next[node]++)] = static_cast<Index>(4 * e + corner);
    }
  }
  element_force_.resize(slots_.size());
  element_energy_.resize(elements_.size());
}

double SolidSystem::largest_stable_step() const { return 0.5 * smallest_transit_; }

Matrix3 SolidSystem::deformation(const Element& element, std::span<const Vector3> position) const {
  const auto x = [&](std::size_t i) -> const Vector3& {
    return position[static_cast<std::size_t>(element.nodes[i])];
  };
  Matrix3 shape;
  shape << x(1) - x(0), x(2) - x(0), x(3) - x(0);
  return shape * element.rest_inverse;
}

double SolidSystem::elastic_forces(TaskArena& arena, std::span<const Vector3> position,
                                   std::span<Vector3> force) {
  SIGNORINI_CHECK(position.size() == mass_.size() && force.size() == mass_.size());
  arena.for_chunks(elements_.size(), kElementGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      const Element& element = elements_[e];
      const Matrix3 F = deformation(element, position);
      const Matrix3 R = polar_rotation(F);
      const double trace = R.cwiseProduct(F).sum() - 3.0;  // tr(Rᵀ F − I)
      const Matrix3 P = 2.0 * element.mu * (F - R) + (element.lambda * trace) * R;
      const Matrix3 f = (-element.volume * P) * element.rest_inverse.transpose();
      // ‖S − I‖ = ‖R (S − I)‖ = ‖F − R‖
      element_energy_[e] =
          element.volume * (element.mu * (F - R).squaredNorm() + 0.5 * element.lambda * trace * trace);
      element_force_[4 * e] = -(f.col(0) + f.col(1) + f.col(2));
      element_force_[4 * e + 1] = f.col(0);
      element_force_[4 * e + 2] = f.col(1);
      element_force_[4 * e + 3] = f.col(2);
    }
  });
  arena.for_chunks(mass_.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vector3 sum = Vector3::Zero();
      for (Index s = slot_begin_[i]; s < slot_begin_[i + 1]; ++s) {
        sum += element_force_[static_cast<std::size_t>(slots_[static_cast<std::size_t>(s)])];
      }
      force[i] = sum;
    }
  });
  return arena.deterministic_sum(elements_.size(), kElementGrain, [&](std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t e = begin; e < end; ++e) sum += element_energy_[e];
    return sum;
  });
}

double SolidSystem::kinetic_energy(TaskArena& arena, std::span<const Vector3> velocity) const {
  return arena.deterministic_sum(mass_.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += 0.5 * mass_[i] * velocity[i].squaredNorm();
    return sum;
  });
}

double SolidSystem::potential_energy(TaskArena& arena, std::span<const Vector3> position,
                                     const Vector3& gravity) const {
  return arena.deterministic_sum(mass_.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum -= mass_[i] * gravity.dot(position[i]);
    return sum;
  });
}

}  // namespace signorini
