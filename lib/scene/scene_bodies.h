#pragma once

#include <array>
#include <string>
#include <vector>

#include "bodies/material.h"
#include "bodies/motion.h"
#include "bodies/spring_network.h"
#include "scene/scene_keys.h"

/// What a scene file can say about materials, bodies, obstacles and pins. Each struct names its keys once in
/// `visit`; reading, checking and printing follow. Which keys there are depends on the material's model and
/// on the shape, so an unused key is an error.
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

enum class BodyShape {
  ball,
  block,
  ring,
  mesh,
  surface,
  box,
  sphere,
  cylinder,
  sheet,
  chain,
  pyramid_object,
  small_cube,
  bunny,
  bearing_sphere,
  armadillo,
  letter,
  skittle,
  table,
  footed_block,
  tube
};
template <>
struct EnumNames<BodyShape> {
  static constexpr std::array<std::pair<BodyShape, std::string_view>, 20> value{
      {{BodyShape::ball, "ball"},
       {BodyShape::block, "block"},
       {BodyShape::ring, "ring"},
       {BodyShape::mesh, "mesh"},
       {BodyShape::surface, "surface"},
       {BodyShape::box, "box"},
       {BodyShape::sphere, "sphere"},
       {BodyShape::cylinder, "cylinder"},
       {BodyShape::sheet, "sheet"},
       {BodyShape::chain, "chain"},
       {BodyShape::pyramid_object, "pyramid_object"},
       {BodyShape::small_cube, "small_cube"},
       {BodyShape::bunny, "bunny"},
       {BodyShape::bearing_sphere, "bearing_sphere"},
       {BodyShape::armadillo, "armadillo"},
       {BodyShape::letter, "letter"},
       {BodyShape::skittle, "skittle"},
       {BodyShape::table, "table"},
       {BodyShape::footed_block, "footed_block"},
       {BodyShape::tube, "tube"}}};
};

/// The shape of a body that names none.
BodyShape default_shape(MaterialModel model);
bool can_be(MaterialModel model, BodyShape shape);

enum class Arrangement { circle, grid };
template <>
struct EnumNames<Arrangement> {
  static constexpr std::array<std::pair<Arrangement, std::string_view>, 2> value{
      {{Arrangement::circle, "circle"}, {Arrangement::grid, "grid"}}};
};

/// A file beside the scene file. The digest makes the scene's text say what the file held.
struct FileConfig {
  std::string path;    ///< relative to the scene file
  std::string digest;  ///< XXH3 of its bytes, 16 hexadecimal digits; filled in when empty
  double scale = 1.0;

  template <class Visitor>
  void visit(Visitor& v, const std::string& key) {
    v(key, path, "file, relative to the scene file");
    v(key + "_xxh3", digest, "checksum of the file; not checked when empty");
    v(key + "_scale", scale, Range::positive, "factor from the file's unit to metres");
  }
};

/// A group of equal bodies, on circles in layers or on a grid. `circle`: layers of `per_layer` around
/// `position_m`, each turned by half a pitch against the one below. `grid`: nx × ny × nz places with the
/// given pitches, the lowest layer centred at `position_m`; x first, then y, then z. Jitter and random
/// orientations come from the scene's seed, body by body.
struct BodyConfig {
  MaterialModel model = MaterialModel::corotational;  ///< of its material; no key of its own
  BodyShape shape = BodyShape::ball;
  std::string material;
  int count = 0;
  Vector3 position_m = Vector3::Zero();
  Vector3 rotation_axis{0.0, 0.0, 1.0};
  double rotation_deg = 0.0;
  Vector3 velocity_m_s = Vector3::Zero();
  Vector3 angular_velocity_rad_s = Vector3::Zero();
  Arrangement arrangement = Arrangement::circle;
  int per_layer = 1;  // circle
  double circle_radius_m = 0.0;
  double layer_height_m = 0.0;
  std::array<int, 3> grid{1, 1, 1};  // grid
  Vector3 pitch_m{0.1, 0.1, 0.1};
  double jitter_m = 0.0;
  bool random_orientation = false;
  int level = 1;  // ball, sphere
  double radius_m = 0.1;
  std::array<int, 3> cells{2, 2, 2};  // block
  Vector3 size_m{0.2, 0.2, 0.2};      // block, box
  double thickness_m = 0.02;          // ring
  int segments = 18;                  // ring, cylinder
  double length_m = 0.2;              // cylinder, chain
  int columns = 20, rows = 20;        // sheet
  double width_m = 1.0, depth_m = 1.0;
  int nodes = 3;  // chain
  double bend_deg = 0.0;
  double largest_tet_m3 = 0.0;  // surface
  double coarseness = 1.0;      // armadillo
  std::string text = "A";       // letter
  double bevel = 0.15;
  int cage_cells = 7;
  int cage_layers = 1;
  int rings = 10;  // skittle
  int feet = 4;    // footed_block
  double cell_m = 0.02;
  double top_radius_m = 0.15;  // tube
  double bottom_radius_m = 0.4;
  int folds = 0;
  double fold_depth_m = 0.0;
  int refinements = 0;  // elastic, all but surface
  FileConfig mesh, surface, skin;

  /// Bodies of the group: `count`, or else 1 on circles and all places of a grid.
  int bodies() const;

  template <class Visitor>
  void visit(Visitor& v) {
    v("shape", shape,
      "elastic: ball, block, ring, pyramid_object, small_cube, bunny, bearing_sphere, armadillo, letter, "
      "skittle, table, footed_block, mesh, surface; rigid: box, sphere, cylinder, ring, surface; cloth: "
      "sheet, tube, surface; springs: chain");
    v("material", material, "a name of [materials]");
    v("count", count, Range::non_negative, "number of bodies; 0 = one, or all places of the grid");
    v("position_m", position_m, Range::any, "centre of the lowest layer");
    v("rotation_axis", rotation_axis, Range::any, "axis of the first rotation of every body");
    v("rotation_deg", rotation_deg, Range::any, "its angle");
    v("velocity_m_s", velocity_m_s, Range::any, "at the start");
    v("angular_velocity_rad_s", angular_velocity_rad_s, Range::any, "at the start, about each body's origin");
    v("arrangement", arrangement, "circle or grid");
    if (arrangement == Arrangement::circle) {
      v("per_layer", per_layer, Range::positive, "bodies per layer");
      v("circle_radius_m", circle_radius_m, Range::non_negative, "distance of their centres from the axis");
      v("layer_height_m", layer_height_m, Range::non_negative, "distance of layers");
    } else {
      v("grid", grid, Range::positive, "places along x, y, z");
      v("pitch_m", pitch_m, Range::non_negative, "distances of places along x, y, z");
    }
    v("jitter_m", jitter_m, Range::non_negative, "random shift of each centre, per axis up to +-jitter");
    v("random_orientation", random_orientation, "turn each body at random");
    visit_shape(v);
    if (is_elastic(model)) {
      v("refinements", refinements, Range::non_negative, "times that every tetrahedron is cut into eight");
      if (shape != BodyShape::letter) skin.visit(v, "skin");
    }
  }

  template <class Visitor>
  void visit_shape(Visitor& v) {
    switch (shape) {
      case BodyShape::ball:
      case BodyShape::sphere:
        v("level", level, Range::non_negative, "subdivisions: 1 has 42 surface vertices, 2 has 162");
        v("radius_m", radius_m, Range::positive, "of the sphere through the surface vertices");
        break;
      case BodyShape::block:
        v("cells", cells, Range::positive, "cells along x, y, z; 6 tetrahedra each");
        v("size_m", size_m, Range::positive, "edges along x, y, z");
        break;
      case BodyShape::box:
        v("size_m", size_m, Range::positive, "edges along x, y, z");
        break;
      case BodyShape::ring:
        v("segments", segments, Range::positive, "around the axis, 6 tetrahedra each; at least 3");
        v("radius_m", radius_m, Range::positive, "of the circle through the middle of the section");
        v("thickness_m", thickness_m, Range::positive, "edge of the square section");
        break;
      case BodyShape::cylinder:
        v("radius_m", radius_m, Range::positive, "of the circle through the vertices");
        v("length_m", length_m, Range::positive, "along z");
        v("segments", segments, Range::positive, "around the axis; at least 3");
        break;
      case BodyShape::sheet:
        v("columns", columns, Range::positive, "vertices along x; at least 2");
        v("rows", rows, Range::positive, "vertices along y; at least 2");
        v("width_m", width_m, Range::positive, "along x");
        v("depth_m", depth_m, Range::positive, "along y");
        break;
      case BodyShape::chain:
        v("nodes", nodes, Range::positive, "point masses in a row along x; at least 2");
        v("length_m", length_m, Range::positive, "of the springs between them");
        v("bend_deg", bend_deg, Range::any, "turn at every inner node, in the x-z plane");
        break;
      case BodyShape::pyramid_object:
      case BodyShape::small_cube:
        v("width_m", width_m, Range::positive, "along x");
        break;
      case BodyShape::bunny:
        v("length_m", length_m, Range::positive, "largest extent");
        break;
      case BodyShape::bearing_sphere:
        v("radius_m", radius_m, Range::positive, "of the sphere through the surface vertices");
        break;
      case BodyShape::armadillo:
        v("length_m", length_m, Range::positive, "along z");
        v("coarseness", coarseness, Range::positive,
          "1 = 28 x 31 x 74 cells and the paper's counts; else so many times fewer along each axis");
        break;
      case BodyShape::letter:
        v("text", text, "capital letters, one per body, over and over");
        v("width_m", width_m, Range::positive, "along x");
        v("bevel", bevel, Range::non_negative, "of the edges, share of a stroke's width; below 0.5");
        v("cage_cells", cage_cells, Range::positive,
          "of the cage across the letter, 2 to 28; 7 = the paper's");
        v("cage_layers", cage_layers, Range::positive, "of the cage through its thickness, 1 to 4");
        break;
      case BodyShape::skittle:
        v("length_m", length_m, Range::positive, "along z");
        v("radius_m", radius_m, Range::positive, "of the belly");
        v("segments", segments, Range::positive, "around the axis; at least 3");
        v("rings", rings, Range::positive, "of vertices from foot to head; at least 4");
        break;
      case BodyShape::footed_block:
        v("feet", feet, Range::positive, "1, 2 or 4");
        v("cell_m", cell_m, Range::positive, "edge of a cell; the body has 7 x 5 x 4");
        break;
      case BodyShape::table:
        v("cell_m", cell_m, Range::positive, "edge of a cell; the body has 10 x 6 x 7");
        break;
      case BodyShape::tube:
        v("columns", columns, Range::positive, "vertices around; at least 3");
        v("rows", rows, Range::positive, "vertices along z; at least 2");
        v("top_radius_m", top_radius_m, Range::positive, "at the top, where z = 0");
        v("bottom_radius_m", bottom_radius_m, Range::positive, "at the hem");
        v("length_m", length_m, Range::positive, "along z");
        v("folds", folds, Range::non_negative, "waves around the hem");
        v("fold_depth_m", fold_depth_m, Range::non_negative, "their amplitude");
        break;
      case BodyShape::mesh:
        mesh.visit(v, "mesh");
        break;
      case BodyShape::surface:
        surface.visit(v, "surface");
        if (is_elastic(model))
          v("largest_tet_m3", largest_tet_m3, Range::non_negative,
            "bound of the volume of the tetrahedra that fill it; 0 = none");
        break;
    }
  }
};

/// bodies/motion.h in the words of a scene file.
struct MotionConfig {
  Vector3 velocity_m_s = Vector3::Zero();
  Vector3 axis{0.0, 0.0, 1.0};
  double spin_rad_s = 0.0;
  Vector3 pivot_m = Vector3::Zero();
  Vector3 amplitude_m = Vector3::Zero();
  double frequency_hz = 0.0;
  double start_s = 0.0;
  double stop_s = 1e30;
  std::vector<double> key_time_s;
  std::vector<Vector3> key_displacement_m;
  std::vector<double> key_angle_deg;

  template <class Visitor>
  void visit(Visitor& v) {
    v("velocity_m_s", velocity_m_s, Range::any, "constant velocity");
    v("axis", axis, Range::any, "of spin and of key angles");
    v("spin_rad_s", spin_rad_s, Range::any, "angular speed about the axis");
    v("pivot_m", pivot_m, Range::any, "a point of the axis; position_m when left out");
    v("amplitude_m", amplitude_m, Range::any, "of a sine in time");
    v("frequency_hz", frequency_hz, Range::non_negative, "of the sine");
    v("start_s", start_s, Range::any, "before this velocity, spin and sine rest");
    v("stop_s", stop_s, Range::any, "after this too; 1e30 = never");
    v("key_time_s", key_time_s, "times of keyframes, ascending");
    v("key_displacement_m", key_displacement_m, "one [x, y, z] per key time, or none");
    v("key_angle_deg", key_angle_deg, "one angle about the axis per key time, or none");
  }
  Motion motion() const;
};

enum class ObstacleShape { ground, bucket, bin, box, wall, sphere, cylinder, capsule, surface, groove };
template <>
struct EnumNames<ObstacleShape> {
  static constexpr std::array<std::pair<ObstacleShape, std::string_view>, 10> value{
      {{ObstacleShape::ground, "ground"},
       {ObstacleShape::bucket, "bucket"},
       {ObstacleShape::bin, "bin"},
       {ObstacleShape::box, "box"},
       {ObstacleShape::wall, "wall"},
       {ObstacleShape::sphere, "sphere"},
       {ObstacleShape::cylinder, "cylinder"},
       {ObstacleShape::capsule, "capsule"},
       {ObstacleShape::surface, "surface"},
       {ObstacleShape::groove, "groove"}}};
};

struct ObstacleConfig {
  ObstacleShape shape = ObstacleShape::ground;
  Vector3 position_m = Vector3::Zero();
  Vector3 rotation_axis{0.0, 0.0, 1.0};
  double rotation_deg = 0.0;
  double floor_radius_m = 0.3;  // bucket
  double rim_radius_m = 0.4;
  double height_m = 0.5;          // bucket, wall
  int segments = 24;              // bucket, cylinder, capsule
  double extent_m = 1.0;          // ground
  Vector3 size_m{1.0, 1.0, 0.5};  // bin, box
  double width_m = 1.0;           // wall
  int level = 3;                  // sphere
  double radius_m = 0.1;          // sphere, cylinder, capsule
  double length_m = 0.5;          // cylinder, capsule
  double track_radius_m = 0.2;    // groove
  double from_deg = -60.0, to_deg = 60.0;
  FileConfig surface;
  MotionConfig motion;

  template <class Visitor>
  void visit(Visitor& v) {
    v("shape", shape, "ground, bucket, bin, box, wall, sphere, cylinder, capsule, groove, surface");
    v("position_m", position_m, Range::any, "of the shape's origin");
    v("rotation_axis", rotation_axis, Range::any, "axis of its first rotation");
    v("rotation_deg", rotation_deg, Range::any, "the angle");
    visit_shape(v);
    motion.visit(v);
  }

  template <class Visitor>
  void visit_shape(Visitor& v) {
    switch (shape) {
      case ObstacleShape::ground:
        v("extent_m", extent_m, Range::positive, "half the edge of the square");
        break;
      case ObstacleShape::bucket:
        v("floor_radius_m", floor_radius_m, Range::positive, "of the floor's corners");
        v("rim_radius_m", rim_radius_m, Range::positive, "of the rim's corners");
        v("height_m", height_m, Range::positive, "of the rim above the floor");
        v("segments", segments, Range::positive, "flat panels around the axis; at least 3");
        break;
      case ObstacleShape::bin:
        v("size_m", size_m, Range::positive,
          "inside, along x, y, z; open at the top, origin in the floor's middle");
        break;
      case ObstacleShape::box:
        v("size_m", size_m, Range::positive, "edges along x, y, z around the origin");
        break;
      case ObstacleShape::wall:
        v("width_m", width_m, Range::positive, "along y; the wall faces +x");
        v("height_m", height_m, Range::positive, "along z");
        break;
      case ObstacleShape::sphere:
        v("level", level, Range::non_negative, "subdivisions of the icosahedron");
        v("radius_m", radius_m, Range::positive, "of the sphere through the vertices");
        break;
      case ObstacleShape::cylinder:
      case ObstacleShape::capsule:
        v("radius_m", radius_m, Range::positive, "of the circle through the vertices");
        v("length_m", length_m, Range::positive, "along z, without the caps of a capsule");
        v("segments", segments, Range::positive, "around the axis; at least 3");
        break;
      case ObstacleShape::groove:
        v("track_radius_m", track_radius_m, Range::positive, "of the circle along the middle of the section");
        v("radius_m", radius_m, Range::positive, "of the section");
        v("from_deg", from_deg, Range::any, "arc of the section: 0 is outward, 90 up …");
        v("to_deg", to_deg, Range::any, "… up to here");
        v("segments", segments, Range::positive, "around the axis; at least 3");
        break;
      case ObstacleShape::surface:
        surface.visit(v, "surface");
        break;
    }
  }
};

/// Vertices of deformable bodies that move as they are told.
struct PinConfig {
  std::string body;
  Vector3 min_m = Vector3::Zero();
  Vector3 max_m = Vector3::Zero();
  MotionConfig motion;

  template <class Visitor>
  void visit(Visitor& v) {
    v("body", body, "a name of [bodies]; all bodies of the group are pinned");
    v("min_m", min_m, Range::any, "vertices of the rest shape within this box, its own axes …");
    v("max_m", max_m, Range::any, "… are pinned");
    motion.visit(v);
  }
};

}  // namespace signorini
