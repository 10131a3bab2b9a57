// The papers' bodies as shapes of scene files: right elements and surfaces.

#include <gtest/gtest.h>

#include "scene/scene_builder.h"
#include "scene/scene_file.h"

namespace signorini::paper_shapes_test {
namespace {

constexpr const char* kEmpty = R"([time]
integrator = "implicit"
[materials.soft]
young_modulus_pa = 5e5
[materials.linen]
model = "cloth"
)";

BodySystem built(const std::string& body) {
  const SceneFile file("[bodies.some]\n" + body, "", kEmpty);
  BodySystem bodies = build_bodies(read_scene(file.request()));
  return bodies;
}

struct Case {
  const char* keys;
  Index elements;
  std::size_t triangles;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.keys; }

class PaperShapes : public testing::TestWithParam<Case> {};

TEST_P(PaperShapes, HaveTheCountsOfTheirMeshes) {
  const BodySystem bodies = built(GetParam().keys);
  EXPECT_EQ(bodies.elements(), GetParam().elements);
  EXPECT_EQ(bodies.surface().triangles.size(), GetParam().triangles);
}

INSTANTIATE_TEST_SUITE_P(
    All, PaperShapes,
    testing::Values(Case{"material = \"soft\"\nshape = \"pyramid_object\"\nwidth_m = 0.12\n", 432, 528},
                    Case{"material = \"soft\"\nshape = \"small_cube\"\nwidth_m = 0.05\n", 44, 48},
                    Case{"material = \"soft\"\nshape = \"small_cube\"\nrefinements = 2\n", 44 * 64, 48 * 16},
                    Case{"material = \"soft\"\nshape = \"bunny\"\nlength_m = 0.15\n", 1270, 738},
                    Case{"material = \"soft\"\nshape = \"bearing_sphere\"\nradius_m = 0.05\n", 12851, 5120},
                    Case{"material = \"soft\"\nshape = \"armadillo\"\ncoarseness = 8\n", 510, 340},
                    Case{"material = \"soft\"\nshape = \"skittle\"\nsegments = 8\n", 216, 160},
                    Case{"material = \"soft\"\nshape = \"table\"\n", 504, 496},
                    Case{"material = \"soft\"\nshape = \"footed_block\"\nfeet = 2\n", 750, 340},
                    Case{"material = \"linen\"\nshape = \"tube\"\ncolumns = 70\nrows = 40\n", 0, 5460}));

TEST(Letters, ComeOnePerBodyOfTheText) {
  const std::string grid = "arrangement = \"grid\"\ngrid = [9, 19, 1]\npitch_m = [0.2, 0.2, 0]\n";
  const BodySystem all = built("material = \"soft\"\nshape = \"letter\"\nwidth_m = 0.1\ncount = 164\n" +
                               grid + "text = \"ABCDEFGHIJKLMNOPQRSTUVWXYZ\"\n");
  EXPECT_EQ(all.bodies(), 164);
  EXPECT_EQ(all.elements(), 23000);
  const BodySystem coarse = built("material = \"soft\"\nshape = \"letter\"\nwidth_m = 0.1\ncount = 164\n" +
                                  grid + "text = \"ABCDEFGHIJKLMNOPQRSTUVWXYZ\"\ncage_cells = 3\n");
  EXPECT_EQ(coarse.elements(), 7800);
  EXPECT_EQ(coarse.surface().triangles.size(), all.surface().triangles.size())
      << "the same letters in other cages";
  const BodySystem two = built(
      "material = \"soft\"\nshape = \"letter\"\nwidth_m = 0.1\ntext = \"IL\"\nbevel = 0\nper_layer = 2\n"
      "circle_radius_m = 0.2\n");
  EXPECT_EQ(two.bodies(), 2);
  // I has 19 cells and L 13; without a bevel their boundary: 12 m − 4 s with s = m − 1 shared faces.
  EXPECT_EQ(two.elements(), 6 * (19 + 13) + 4 + 3 + 4);
  EXPECT_EQ(two.surface().triangles.size(), 8U * 32 + 2 * 4);
}

TEST(PaperShapes, MistakesAreOneClearLine) {
  const auto message = [](const std::string& body) {
    const SceneFile file("[bodies.some]\n" + body, "", kEmpty);
    return message_of(file.request());
  };
  EXPECT_NE(message("material = \"soft\"\nshape = \"letter\"\ntext = \"Aa\"\n").find("capital letters"),
            std::string::npos);
  EXPECT_NE(message("material = \"soft\"\nshape = \"letter\"\ncage_layers = 5\n").find("is above 4"),
            std::string::npos);
  EXPECT_NE(message("material = \"soft\"\nshape = \"letter\"\n[pins.p]\nbody = \"some\"\n")
                .find("cannot be pinned"),
            std::string::npos);
  EXPECT_NE(message("material = \"soft\"\nshape = \"footed_block\"\nfeet = 3\n").find("3 feet"),
            std::string::npos);
  EXPECT_NE(message("material = \"soft\"\nshape = \"armadillo\"\ncoarseness = 0.5\n").find("refinement"),
            std::string::npos);
  EXPECT_NE(message("material = \"soft\"\nshape = \"tube\"\n").find("is no shape for material"),
            std::string::npos);
  EXPECT_NE(message("material = \"soft\"\nrefinements = 4\n").find("is above 3"), std::string::npos);
}

TEST(PaperScenes, ThatOneSizeBuildsUpHaveThePapersCounts) {
  RecordRequest request;
  request.scene_path = SIGNORINI_SOURCE_DIR "/configs/scenes/pyramid.toml";
  request.size = SceneSize::paper;
  const BodySystem pyramid = build_bodies(read_scene(request));
  EXPECT_EQ(pyramid.nodes(), 140 * 260) << "objects of 49 + 36 + 25 + 16 + 9 + 4 + 1";
  EXPECT_EQ(pyramid.elements(), 60'480);
  request.size = SceneSize::quick;
  EXPECT_EQ(build_bodies(read_scene(request)).nodes(), (9 + 4 + 1) * 260);
}

}  // namespace
}  // namespace signorini::paper_shapes_test
