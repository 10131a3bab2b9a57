#include "scene/scene_bodies.h"

#include <numbers>

namespace signorini {

ElasticMaterial MaterialConfig::elastic() const {
  ElasticMaterial material;
  material.young_modulus = young_modulus_pa;
  material.poisson_ratio = poisson_ratio;
  material.density = density_kg_m3;
  material.damping = damping_1_s;
  material.model =
      model == MaterialModel::neo_hookean ? ElasticModel::neo_hookean : ElasticModel::corotational;
  material.compression_limit = compression_limit;
  material.stiffness_damping = stiffness_damping_s;
  return material;
}

ClothMaterial MaterialConfig::cloth() const {
  ClothMaterial material;
  material.density = density_kg_m2;
  material.stretch = stretch_n_m;
  material.shear = shear_n_m;
  material.bending = bending_n_m;
  material.damping = damping_1_s;
  material.spring_damping = spring_damping_s;
  return material;
}

BodyShape default_shape(MaterialModel model) {
  switch (model) {
    case MaterialModel::rigid:
      return BodyShape::box;
    case MaterialModel::cloth:
      return BodyShape::sheet;
    case MaterialModel::springs:
      return BodyShape::chain;
    case MaterialModel::corotational:
    case MaterialModel::neo_hookean:
      break;
  }
  return BodyShape::ball;
}

bool can_be(MaterialModel model, BodyShape shape) {
  switch (shape) {
    case BodyShape::ball:
    case BodyShape::block:
    case BodyShape::mesh:
    case BodyShape::pyramid_object:
    case BodyShape::small_cube:
    case BodyShape::bunny:
    case BodyShape::bearing_sphere:
    case BodyShape::armadillo:
    case BodyShape::letter:
    case BodyShape::skittle:
    case BodyShape::table:
    case BodyShape::footed_block:
      return is_elastic(model);
    case BodyShape::ring:
      return is_elastic(model) || model == MaterialModel::rigid;
    case BodyShape::surface:
      return model != MaterialModel::springs;
    case BodyShape::box:
    case BodyShape::sphere:
    case BodyShape::cylinder:
      return model == MaterialModel::rigid;
    case BodyShape::sheet:
    case BodyShape::tube:
      return model == MaterialModel::cloth;
    case BodyShape::chain:
      return model == MaterialModel::springs;
  }
  return false;
}

int BodyConfig::bodies() const {
  if (count > 0) return count;
  if (arrangement == Arrangement::grid) return grid[0] * grid[1] * grid[2];
  return shape == BodyShape::letter ? static_cast<int>(text.size()) : 1;
}

Motion MotionConfig::motion() const {
  Motion motion;
  motion.pivot = pivot_m;
  motion.axis = axis;
  motion.velocity = velocity_m_s;
  motion.spin = spin_rad_s;
  motion.amplitude = amplitude_m;
  motion.frequency = frequency_hz;
  motion.start = start_s;
  motion.stop = stop_s;
  motion.key_time = key_time_s;
  motion.key_displacement = key_displacement_m;
  for (const double angle : key_angle_deg) motion.key_angle.push_back(angle * std::numbers::pi / 180.0);
  return motion;
}

}  // namespace signorini
