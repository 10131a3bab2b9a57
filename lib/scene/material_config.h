#pragma once

#include "bodies/material.h"
#include "bodies/spring_network.h"
#include "scene/scene_keys.h"

namespace signorini {

/// What a material makes of its bodies: elastic solids, rigid bodies, cloth, or point masses on springs.
enum class MaterialModel { corotational, neo_hookean, rigid, cloth, springs };
template <>
struct EnumNames<MaterialModel> {
  static constexpr std::array<std::pair<MaterialModel, std::string_view>, 5> value{
      {{MaterialModel::corotational, "corotational"},
       {MaterialModel::neo_hookean, "neo_hookean"},
       {MaterialModel::rigid, "rigid"},
       {MaterialModel::cloth, "cloth"},
       {MaterialModel::springs, "springs"}}};
};
inline bool is_elastic(MaterialModel model) {
  return model == MaterialModel::corotational || model == MaterialModel::neo_hookean;
}

struct MaterialConfig {
  MaterialModel model = MaterialModel::corotational;
  double young_modulus_pa = 2e5;  // elastic
  double poisson_ratio = 0.3;
  double density_kg_m3 = 1000.0;  // elastic, rigid
  double damping_1_s = 1.0;
  double stiffness_damping_s = 0.0;
  double compression_limit = 0.7;  // neo_hookean
  double density_kg_m2 = 0.2;      // cloth
  double stretch_n_m = 500.0;
  double shear_n_m = 50.0;
  double bending_n_m = 1e-5;
  double spring_damping_s = 0.0;  // cloth, springs
  double node_mass_kg = 0.01;     // springs
  double stiffness_n = 100.0;
  double hinge_n_m = 0.0;

  template <class Visitor>
  void visit(Visitor& v) {
    v("model", model, "corotational or neo_hookean (elastic solids), rigid, cloth, springs");
    if (is_elastic(model)) {
      v("young_modulus_pa", young_modulus_pa, Range::positive, "E");
      v("poisson_ratio", poisson_ratio, Range::below_half, "nu");
    }
    if (is_elastic(model) || model == MaterialModel::rigid) {
      v("density_kg_m3", density_kg_m3, Range::positive, "rho");
    }
    if (model == MaterialModel::cloth) {
      v("density_kg_m2", density_kg_m2, Range::positive, "mass per area");
      v("stretch_n_m", stretch_n_m, Range::positive,
        "stiffness along warp and weft, force per stretch and width");
      v("shear_n_m", shear_n_m, Range::non_negative, "the same along diagonals");
      v("bending_n_m", bending_n_m, Range::non_negative, "stiffness of folds, moment per angle");
    }
    if (model == MaterialModel::springs) {
      v("node_mass_kg", node_mass_kg, Range::positive, "of every node");
      v("stiffness_n", stiffness_n, Range::positive, "of springs, force per stretch");
      v("hinge_n_m", hinge_n_m, Range::non_negative, "of hinges, moment per angle");
    }
    if (model != MaterialModel::rigid)
      v("damping_1_s", damping_1_s, Range::non_negative, "mass-proportional damping");
    if (is_elastic(model)) {
      v("stiffness_damping_s", stiffness_damping_s, Range::non_negative,
        "stiffness-proportional damping of implicit steps");
    } else if (model != MaterialModel::rigid) {
      v("spring_damping_s", spring_damping_s, Range::non_negative, "damping of springs, per stiffness");
    }
    if (model == MaterialModel::neo_hookean) {
      v("compression_limit", compression_limit, Range::inside_unit,
        "volume ratio below which the energy is extended linearly");
    }
  }
  ElasticMaterial elastic() const;
  ClothMaterial cloth() const;
};

}  // namespace signorini
