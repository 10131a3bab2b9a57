#include "scene/material_config.h"

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

}  // namespace signorini
