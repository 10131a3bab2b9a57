// Every shape of the registry is read, refused, built and documented without a line about it elsewhere.

#include <gtest/gtest.h>

#include <iterator>

#include "base/text.h"
#include "geometry/tetrahedralise.h"
#include "scene/scene_config.h"
#include "scene/scene_file.h"
#include "scene/shapes/registry.h"

namespace signorini::shape_registry_test {
namespace {

std::vector<KeyLister::Row> keys_of(const ShapeEntry& entry) {
  const std::unique_ptr<Shape> shape = entry.create();
  KeyLister lister;
  shape->visit(lister);
  return lister.rows;
}

/// A scene whose last table, `table_of(entry)`, has this shape. The files of shapes lie beside it.
class ShapeScene : public SceneFile {
 public:
  explicit ShapeScene(const ShapeEntry& entry, const std::string& keys = "")
      : SceneFile(text_of(entry) + keys, "", "[time]\nintegrator = \"implicit\"\n") {
    add("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    add("tet.vtk",
        "# vtk DataFile Version 3.0\ntet\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 "
        "0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
  }
  static std::string table_of(const ShapeEntry& entry) {
    return entry.kind == BodyKind::obstacle ? "obstacles.some" : "bodies.some";
  }
  std::string text() const {
    std::ifstream in(folder() / "scene.toml");
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  static std::string text_of(const ShapeEntry& entry) {
    const std::string file = entry.name == "mesh"      ? "mesh = \"tet.vtk\"\n"
                             : entry.name == "surface" ? "surface = \"tet.obj\"\n"
                                                       : "";
    const std::string shape = fmt::format("shape = \"{}\"\n", entry.name) + file;
    if (entry.kind == BodyKind::obstacle)
      return "[materials.any]\ndamping_1_s = 0\n[bodies.other]\nmaterial = \"any\"\n[obstacles.some]\n" +
             shape;
    const std::string_view model = entry.kind == BodyKind::elastic ? "corotational" : enum_name(entry.kind);
    return fmt::format("[materials.any]\nmodel = \"{}\"\n[bodies.some]\nmaterial = \"any\"\n", model) + shape;
  }
};

/// Another value that the key can have.
std::string other_value(const KeyLister::Row& row) {
  if (row.value.starts_with('"')) return "\"XYZ\"";
  if (row.value.starts_with('[')) return "[3, 4, 5]";
  const bool whole = row.value.find_first_of(".e") == std::string::npos;
  return exact_text(parse_double(row.value, row.key) + (whole ? 1.0 : 0.25));
}

bool names_a_file(const KeyLister::Row& row) {
  return row.key == "mesh" || row.key == "surface" || row.key.ends_with("_xxh3");
}

class Shapes : public testing::TestWithParam<ShapeEntry> {};

TEST_P(Shapes, ReadTheirKeysAndWriteThemBack) {
  std::string keys, expected;
  for (const KeyLister::Row& row : keys_of(GetParam())) {
    EXPECT_FALSE(row.help.empty()) << row.key;
    if (names_a_file(row)) continue;
    keys += fmt::format("{} = {}\n", row.key, other_value(row));
    const ShapeScene one(GetParam(), fmt::format("{} = {}\n", row.key, other_value(row)));
    const std::string line = fmt::format("\n{} = {}  # {}\n", row.key, other_value(row), row.help);
    EXPECT_NE(effective_scene(one.request()).find(line), std::string::npos) << line;
  }
  const ShapeScene all(GetParam(), keys);
  EXPECT_NO_THROW(effective_scene(all.request())) << keys;
}

TEST_P(Shapes, RefuseAnUnknownKeyWithFileLineAndShape) {
  const ShapeScene file(GetParam(), "no_such_key = 1\n");
  const auto line = std::ranges::count(file.text(), '\n');
  EXPECT_MESSAGE(file.request(), fmt::format("scene.toml:{}: unknown key '{}.no_such_key'", line,
                                             ShapeScene::table_of(GetParam())));
  EXPECT_MESSAGE(file.request(),
                 fmt::format("keys of shape '{}': {}", GetParam().name, keys_of(GetParam()).front().key));
}

TEST_P(Shapes, AreBuiltWithTheirDefaults) {
  if (GetParam().kind == BodyKind::elastic && GetParam().name == "surface" && !can_tetrahedralise())
    GTEST_SKIP() << "built without TetGen";
  const ShapeScene file(GetParam());
  const SceneConfig config = read_scene(file.request());
  const bool obstacle = GetParam().kind == BodyKind::obstacle;
  const Shape& shape = obstacle ? *config.obstacles.at("some").shape : *config.bodies.at("some").shape;
  EXPECT_EQ(shape.name(), GetParam().name);
  const MaterialConfig* material = obstacle ? nullptr : &config.materials.at("any");
  const ShapeGeometry geometry = shape.build({file.folder(), "some", material});
  const bool solid = std::holds_alternative<SolidMesh>(geometry);
  if (solid) {
    EXPECT_GT(total_volume(std::get<SolidMesh>(geometry).mesh), 0.0);
    EXPECT_EQ(std::get<SolidMesh>(geometry).skin.has_value(), shape.has_skin());
  } else if (const auto* surface = std::get_if<TriangleMesh>(&geometry)) {
    EXPECT_GT(surface_area(*surface), 0.0);
    EXPECT_TRUE(GetParam().kind != BodyKind::rigid || is_closed_and_oriented(*surface));
  } else {
    EXPECT_NO_THROW(std::get<SpringNetwork>(geometry).validate("some"));
    EXPECT_FALSE(std::get<SpringNetwork>(geometry).springs.empty());
  }
  EXPECT_TRUE(solid || GetParam().kind != BodyKind::elastic);
}

INSTANTIATE_TEST_SUITE_P(All, Shapes, testing::ValuesIn(shape_registry()), [](const auto& entry) {
  return fmt::format("{}_{}", enum_name(entry.param.kind), entry.param.name);
});

TEST(ShapeRegistry, TheFirstShapeOfAKindIsThatOfBodiesThatNameNone) {
  for (const ShapeEntry& entry : shape_registry()) {
    if (entry.name != shape_names({entry.kind}).front()) continue;
    const ShapeScene file(entry);
    std::string text = file.text();
    const std::string shape = fmt::format("shape = \"{}\"\n", entry.name);
    text.replace(text.find(shape), shape.size(), "position_m = [0, 0, 0]\n");
    const SceneFile unnamed("", "", text);
    EXPECT_EQ(effective_scene(unnamed.request()), effective_scene(file.request()));
  }
}

TEST(ShapeRegistry, NamesAreUniqueWithinAKind) {
  std::set<std::pair<BodyKind, std::string_view>> seen;
  for (const ShapeEntry& entry : shape_registry()) {
    EXPECT_TRUE(seen.insert({entry.kind, entry.name}).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(make_shape(entry.kind, entry.name)->name(), entry.name);
  }
  EXPECT_EQ(make_shape(BodyKind::rigid, "ball"), nullptr);
}

/// The tables at the end of "## Shapes" of docs/scenes.md.
std::string shapes_section() {
  std::string text;
  for (const auto& [kind, kind_name] : EnumNames<BodyKind>::value) {
    text += fmt::format("\n`{}`:\n\n| shape | key | default | meaning |\n|---|---|---|---|\n", kind_name);
    for (const ShapeEntry& entry : shape_registry()) {
      if (entry.kind != kind) continue;
      text += fmt::format("| **{}** | | | {} |\n", entry.name, entry.summary);
      for (const KeyLister::Row& row : keys_of(entry))
        text += fmt::format("| | `{}` | `{}` | {} |\n", row.key, row.value, row.help);
    }
  }
  return text;
}

TEST(ShapeRegistry, ThePageOfScenesHasEveryKeyOfEveryShape) {
  std::ifstream in(SIGNORINI_SOURCE_DIR "/docs/scenes.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(page.find(shapes_section()), std::string::npos) << "docs/scenes.md, '## Shapes', must be:\n"
                                                            << shapes_section();
  for (const std::string& row :
       {"| `shape` | `ball` | " + body_shapes(), "| `shape` | `ground` | " + obstacle_shapes()})
    EXPECT_NE(page.find(row + " |\n"), std::string::npos) << "docs/scenes.md must have the row " << row;
}

}  // namespace
}  // namespace signorini::shape_registry_test
