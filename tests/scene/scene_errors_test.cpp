// Everything wrong with a scene is one clear line before its first step.

#include <gtest/gtest.h>

#include "scene/scene_file.h"

namespace signorini::scene_errors_test {
namespace {

TEST(SceneErrors, NameFileLineKeyAndTheNearestKey) {
  const SceneFile typo("raduis_m = 0.2\n");
  EXPECT_MESSAGE(typo.request(),
                 ".toml:22: unknown key 'bodies.balls.raduis_m' (did you mean 'bodies.balls.radius_m'?)");
  const SceneFile other_shape("extent_m = 0.2\n");
  EXPECT_MESSAGE(other_shape.request(), "unknown key 'bodies.balls.extent_m'");
  const SceneFile in_size("[size.paper]\nbodies.balls.cuont = 2\n");
  EXPECT_MESSAGE(in_size.request(),
                 ".toml:23: unknown key 'bodies.balls.cuont' (did you mean 'bodies.balls.count'?)");
  const SceneFile unknown_size("[size.huge]\nseed = 2\n");
  EXPECT_MESSAGE(unknown_size.request(), "unknown value 'huge' (known: quick, medium, paper)");
  RecordRequest set = SceneFile().request();
  const SceneFile good;
  set = good.request();
  set.overrides["time.stpe_s"] = "1";
  EXPECT_MESSAGE(set, "--set: unknown key 'time.stpe_s' (did you mean 'time.step_s'?)");
}

TEST(SceneErrors, WrongTypesAndRangesAreOneClearLine) {
  const SceneFile good;
  const auto with = [&](const std::string& key, const std::string& value) {
    RecordRequest request = good.request();
    request.overrides[key] = value;
    return request;
  };
  EXPECT_EQ(message_of(good.request()), "");
  EXPECT_MESSAGE(with("materials.soft.density_kg_m3", "-1"),
                 "'materials.soft.density_kg_m3' = -1 must be positive");
  EXPECT_MESSAGE(with("materials.soft.poisson_ratio", "0.5"), "below 0.5");
  EXPECT_MESSAGE(with("materials.soft.young_modulus_pa", "nan"), "must be finite");
  EXPECT_MESSAGE(with("time.step_s", "0"), "must be positive");
  EXPECT_MESSAGE(with("time.step_s", "fast"), "'time.step_s' = \"fast\" is not a number");
  EXPECT_MESSAGE(with("time.record_every", "2.5"), "is not a whole number");
  EXPECT_MESSAGE(with("time.record_every", "1e-3"), "'time.record_every' = 0.001 is not a whole number");
  EXPECT_MESSAGE(with("time.record_every", "1e17"), "is not a whole number");
  EXPECT_EQ(message_of(with("time.record_every", "1e1")), "");
  EXPECT_MESSAGE(with("time.record_every", "99999999999"), "out of range");
  EXPECT_MESSAGE(with("time.record_every", "1e11"), "out of range");
  EXPECT_MESSAGE(with("time.gravity_m_s2", "[0, 1]"), "is not a list of three numbers");
  EXPECT_MESSAGE(with("contact.friction", "-0.1"), "must be zero or positive");
  EXPECT_MESSAGE(with("contact.friction", "1e201"), "'contact.friction' = 1e+201 is above 1e+200");
  EXPECT_MESSAGE(with("contact.restitution", "1.1"), "between 0 and 1");
  EXPECT_MESSAGE(with("bodies.balls.material", "steel"), "no table [materials.steel]");
  EXPECT_MESSAGE(with("bodies.balls.material", "sfot"), "did you mean 'soft'?");
  EXPECT_MESSAGE(with("bodies.balls.shape", "bal"), "unknown value 'bal' (known: ball, block, ring, ");
  EXPECT_MESSAGE(with("bodies.balls.level", "9"), "is above");
  EXPECT_MESSAGE(with("solver.name", "psg"), "unknown solver 'psg'");
  EXPECT_MESSAGE(with("solver.options.lwa", "cone"), "law");
  EXPECT_MESSAGE(with("time.duration_s", "1e9"), "steps are more than");
  EXPECT_MESSAGE(with("time.duration_s", "1e300"), "e+303 steps are more than");
  EXPECT_MESSAGE(with("time.step_s", "0.01"), "unstable");
  EXPECT_MESSAGE(with("contact.tolerance_m", "1e9"),
                 "--set: 'contact.tolerance_m' = 1000000000 is not below the size of the largest body (0.3");
  EXPECT_MESSAGE(with("bodies.balls.layer_height_m", "0.15"), "overlap");
  EXPECT_MESSAGE(with("bodies.balls.position_m", "[0, 0, 0.05]"), "overlap");
  const SceneFile no_material("", "material =");
  EXPECT_MESSAGE(no_material.request(), "'bodies.balls.material' is missing");
}

TEST(SceneErrors, BrokenTomlNamesTheLineAndAMissingFileIsAnInputError) {
  const SceneFile broken("radius_m = = 2\n");
  EXPECT_NE(message_of<InputError>(broken.request()).find(".toml:22: "), std::string::npos);
  RecordRequest missing;
  missing.scene_path = "no/such/scene.toml";
  EXPECT_EQ(message_of<InputError>(missing), "no/such/scene.toml: no such scene file");
  missing.scene_path = std::filesystem::temp_directory_path().string();
  EXPECT_NE(message_of<InputError>(missing).find("folder"), std::string::npos);
}

TEST(SceneErrors, KeysThatTheModelOrTheShapeDoesNotHaveAreUnknown) {
  const SceneFile good("", "", kOneOfEach);
  EXPECT_EQ(message_of(good.request()), "");
  const auto with = [&](const std::string& key, const std::string& value) {
    return good.request({{key, value}});
  };
  EXPECT_MESSAGE(with("materials.wood.young_modulus_pa", "1e5"),
                 "unknown key 'materials.wood.young_modulus_pa'");
  EXPECT_MESSAGE(with("materials.soft.compression_limit", "0.5"),
                 "unknown key 'materials.soft.compression_limit'");
  EXPECT_EQ(message_of(with("materials.squashy.compression_limit", "0.5")), "");
  EXPECT_MESSAGE(with("bodies.boxes.cells", "[1, 1, 1]"), "unknown key 'bodies.boxes.cells'");
  EXPECT_MESSAGE(with("bodies.sheet.skin", "a.obj"), "unknown key 'bodies.sheet.skin'");
  EXPECT_MESSAGE(with("contact.depth_m", "1e-3"), "unknown key 'contact.depth_m'");
  EXPECT_MESSAGE(with("obstacles.floor.radius_m", "1"), "unknown key 'obstacles.floor.radius_m'");
  EXPECT_MESSAGE(with("bodies.boxes.pitch_m", "[1, 1, 1]"), "unknown key 'bodies.boxes.pitch_m'");
  EXPECT_MESSAGE(SceneFile().request({{"contact.loop", "refine"}}), "unknown key 'contact.loop'");
}

TEST(SceneErrors, ValuesOutOfRangeAndShapesThatAMaterialCannotBe) {
  const SceneFile good("", "", kOneOfEach);
  const auto with = [&](const std::string& key, const std::string& value) {
    return good.request({{key, value}});
  };
  EXPECT_MESSAGE(with("materials.squashy.compression_limit", "1.0"), "must be above 0 and below 1");
  EXPECT_MESSAGE(with("materials.linen.stretch_n_m", "0"),
                 "'materials.linen.stretch_n_m' = 0 must be positive");
  EXPECT_MESSAGE(with("contact.loop", "newton"), "unknown value 'newton' (known: refine, relinearise)");
  EXPECT_MESSAGE(with("contact.halvings", "21"), "'contact.halvings' = 21 is above 20");
  EXPECT_MESSAGE(with("contact.safety_m", "4e-3"), "must be below contact.tolerance_m");
  EXPECT_MESSAGE(with("time.integrator", "midpoint"), "unknown value 'midpoint' (known: explicit, implicit)");
  EXPECT_MESSAGE(with("bodies.boxes.shape", "ball"),
                 "'bodies.boxes.shape' = \"ball\" is no shape for material 'wood' of model rigid");
  EXPECT_MESSAGE(with("bodies.sheet.columns", "1"), "'bodies.sheet.columns' = 1 must be at least 2");
  EXPECT_MESSAGE(with("bodies.sheet.rotation_axis", "[0, 0, 0]"),
                 "'bodies.sheet.rotation_axis' has no length");
  RecordRequest request = with("bodies.balls.arrangement", "grid");
  request.overrides["bodies.balls.count"] = "2";
  EXPECT_MESSAGE(request, "'bodies.balls.count' = 2 are more bodies than the grid has places (1)");
  request = with("time.integrator", "explicit");
  EXPECT_MESSAGE(request, "made of cloth, whose contacts explicit steps do not see");
}

TEST(SceneErrors, PreludesThatMakeNoSense) {
  const SceneFile file("[prelude]\nsteps = 1\n");
  const auto with = [&](const std::string& key, const std::string& value) {
    return file.request({{"prelude." + key, value}});
  };
  EXPECT_EQ(message_of(file.request()), "");
  EXPECT_MESSAGE(with("step", "1"), "unknown key 'prelude.step'");
  EXPECT_MESSAGE(with("steps", "-1"), "'prelude.steps' = -1 must be zero or positive");
  EXPECT_MESSAGE(with("steps", "1000000"), "'prelude.steps' = 1000000 are more than 999999");
  EXPECT_MESSAGE(with("step_s", "0.1"), "prelude.step_s = 0.1 s is unstable");
  EXPECT_MESSAGE(with("contact.friction", "-1"), "'prelude.contact.friction' = -1 must be zero or positive");
  EXPECT_MESSAGE(with("contact.tolerance_m", "1"), "'prelude.contact.tolerance_m' = 1 is not below the size");
  EXPECT_MESSAGE(with("contact.safety_m", "0.1"), "unknown key 'prelude.contact.safety_m'");
  EXPECT_MESSAGE(with("solver.name", "gauss"), "[prelude.solver]: ");
  const SceneFile implicit("", "", kOneOfEach);
  EXPECT_MESSAGE(implicit.request({{"prelude.steps", "1"}, {"prelude.contact.safety_m", "1"}}),
                 "'prelude.contact.safety_m' = 1 must be below contact.tolerance_m");
}

TEST(SceneErrors, MotionsAndPinsThatMakeNoSense) {
  const SceneFile motion("[obstacles.plunger]\nshape = \"box\"\nposition_m = [0, 0, 5]\n", "", kOneOfEach);
  const auto with = [&](const std::string& key, const std::string& value) {
    return motion.request({{"obstacles.plunger." + key, value}});
  };
  EXPECT_EQ(message_of(motion.request()), "");
  EXPECT_EQ(message_of(with("velocity_m_s", "[0, 0, -1]")), "");
  EXPECT_MESSAGE(with("axis", "[0, 0, 0]"), "[obstacles.plunger]: ");
  EXPECT_MESSAGE(with("key_time_s", "[0, 1, 1]"), "[obstacles.plunger]: ");
  EXPECT_MESSAGE(with("key_displacement_m", "[[0, 0, 0], [0, 0, 1]]"), "[obstacles.plunger]: ");
  EXPECT_MESSAGE(with("key_displacement_m", "[0, 0, 0]"), "is not a list of [x, y, z]");
  EXPECT_MESSAGE(with("key_displacement_m", "[[0, 0], [1, 1]]"), "is not a list of [x, y, z]");
  EXPECT_MESSAGE(with("key_displacement_m", "[[0, 0, 0], 1]"), "mixes lists and numbers");
  RecordRequest keys = with("key_time_s", "[0, 1]");
  keys.overrides["obstacles.plunger.key_displacement_m"] = "[[0, 0, 0], [0, 0, 1]]";
  keys.overrides["obstacles.plunger.key_angle_deg"] = "[0, 90]";
  EXPECT_EQ(message_of(keys), "");

  const SceneFile pinned("[pins.edge]\nbody = \"sheet\"\nmin_m = [-1, -1, -1]\nmax_m = [-0.14, 1, 1]\n", "",
                         kOneOfEach);
  EXPECT_EQ(message_of(pinned.request()), "");
  const auto pin = [&](const std::string& key, const std::string& value) {
    return pinned.request({{"pins.edge." + key, value}});
  };
  EXPECT_MESSAGE(pin("body", "shet"), "no table [bodies.shet] (did you mean 'sheet'?)");
  EXPECT_MESSAGE(pin("body", "boxes"), "bodies 'boxes' are rigid; only deformable ones can be pinned");
  EXPECT_MESSAGE(pin("max_m", "[-2, 0, 0]"), "'pins.edge.max_m' lies below min_m");
  EXPECT_MESSAGE(pin("max_m", "[-0.5, 1, 1]"), "[pins.edge]: no vertex of 'sheet' lies in the box");
}

TEST(SceneErrors, BodiesThatOverlapAtTheStartAreNamedWithThePlace) {
  const SceneFile good("", "", kOneOfEach);
  const auto with = [&](const std::string& key, const std::string& value) {
    return good.request({{key, value}});
  };
  const std::string message = message_of(with("bodies.balls.position_m", "[0.09, 0.0, 0.052]"));
  EXPECT_NE(message.find("bodies overlap: '"), std::string::npos) << message;
  EXPECT_NE(message.find("'balls'"), std::string::npos) << message;
  EXPECT_NE(message.find("'boxes'"), std::string::npos) << message;
  EXPECT_NE(message.find("at the start, near (0.0"), std::string::npos) << message;
  EXPECT_MESSAGE(with("bodies.sheet.position_m", "[0.075, 0.075, 0.08]"), "'sheet'");
  // Wholly inside, so that no surfaces meet.
  RecordRequest inside = with("bodies.balls.position_m", "[0.0, 0.0, 0.052]");
  inside.overrides["bodies.balls.radius_m"] = "0.02";
  EXPECT_MESSAGE(inside, "'balls' lies inside 'boxes' at the start");
  // Closer than the tolerance, but apart: fine.
  EXPECT_EQ(message_of(with("bodies.balls.position_m", "[0.101, 0.0, 0.052]")), "");
  // Groups number their bodies.
  RecordRequest two = with("bodies.boxes.count", "2");
  two.overrides["bodies.boxes.layer_height_m"] = "0.05";
  EXPECT_MESSAGE(two, "'boxes[1]'");
}

/// Gmsh 2.2: one tetrahedron over a unit corner with its tip at (0, 0, `height`).
std::string one_tet_msh(double height) {
  return fmt::format(
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 {}\n$EndNodes\n"
      "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n",
      height);
}

TEST(SceneErrors, MeshFilesAreFoundIdentifiedAndChecked) {
  const std::string table =
      "[bodies.brought]\nmaterial = \"soft\"\nmesh = \"tet.msh\"\nmesh_scale = 0.1\nposition_m = [1.0, 0.0, "
      "0.1]\n";
  const SceneFile file(table);
  EXPECT_NE(message_of<InputError>(file.request()).find("tet.msh: no such mesh file (asked for by "),
            std::string::npos);
  file.add("tet.msh", one_tet_msh(1.0));
  EXPECT_EQ(message_of(file.request()), "");
  const std::string text = effective_scene(file.request());
  EXPECT_NE(text.find("shape = \"mesh\""), std::string::npos);
  const std::size_t digest = text.find("mesh_xxh3 = \"") + 13;
  const std::string xxh3 = text.substr(digest, 16);
  EXPECT_EQ(text[digest + 16], '"');

  // Another content under the same name is another scene, and an error where the scene says which it means.
  file.add("tet.msh", one_tet_msh(0.9));
  EXPECT_NE(effective_scene(file.request()), text);
  const RecordRequest pinned_down = file.request({{"bodies.brought.mesh_xxh3", xxh3}});
  EXPECT_NE(message_of<InputError>(pinned_down).find("is not the file that "), std::string::npos);
  file.add("tet.msh", one_tet_msh(1.0));
  EXPECT_EQ(message_of(pinned_down), "");

  file.add("tet.msh", one_tet_msh(0.0));
  EXPECT_NE(message_of<InputError>(file.request()).find("tet.msh:"), std::string::npos);
  file.add("tet.msh", "no mesh");
  EXPECT_NE(message_of<InputError>(file.request()).find("tet.msh"), std::string::npos);
  EXPECT_MESSAGE(file.request({{"bodies.brought.mesh", "\"\""}}), "'bodies.brought.mesh' is missing");
}

TEST(SceneErrors, AnOpenSurfaceIsNoRigidBodyAndASlantedOneNoMesh) {
  const SceneFile file(
      "[materials.iron]\nmodel = \"rigid\"\n[bodies.plate]\nmaterial = \"iron\"\nsurface = \"plate.obj\"\n");
  file.add("plate.obj", "v 0 0 2\nv 1 0 2\nv 0 1 2\nf 1 2 3\n");
  EXPECT_MESSAGE(file.request(), "[bodies.plate]: ");
  EXPECT_MESSAGE(file.request({{"bodies.plate.shape", "mesh"}}), "is no shape for material 'iron'");
}

}  // namespace
}  // namespace signorini::scene_errors_test
