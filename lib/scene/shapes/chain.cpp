#include "scene/shapes/chain.h"

#include <cmath>
#include <numbers>

#include "scene/material_config.h"

namespace signorini::shapes {

SpringNetwork Chain::build(const Options& o, const ShapeContext& context) {
  const MaterialConfig& material = *context.material;
  SpringNetwork network;
  network.damping = material.damping_1_s;
  Vector3 x = Vector3::Zero(), mean = Vector3::Zero();
  for (Index i = 0; i < o.nodes; ++i) {
    network.vertices.push_back(x);
    network.mass.push_back(material.node_mass_kg);
    mean += x / o.nodes;
    const double angle = std::numbers::pi / 180.0 * o.bend_deg * i;
    x += o.length_m * Vector3(std::cos(angle), 0.0, std::sin(angle));
  }
  for (Vector3& vertex : network.vertices) vertex -= mean;
  for (Index i = 0; i + 1 < o.nodes; ++i) {
    network.springs.push_back(
        {i, i + 1, material.stiffness_n, material.spring_damping_s * material.stiffness_n, o.length_m});
    network.edges.push_back({i, i + 1});
  }
  for (Index i = 0; i + 2 < o.nodes && material.hinge_n_m > 0.0; ++i) {
    const auto* vertex = &network.vertices[i];
    network.hinges.push_back(
        {i, i + 1, i + 2, material.hinge_n_m, hinge_angle(vertex[0], vertex[1], vertex[2])});
  }
  return network;
}

}  // namespace signorini::shapes
