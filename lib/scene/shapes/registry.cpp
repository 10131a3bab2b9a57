#include "scene/shapes/registry.h"

#include <algorithm>
#include <array>
#include <concepts>

#include "scene/shapes/armadillo.h"
#include "scene/shapes/ball.h"
#include "scene/shapes/bearing_sphere.h"
#include "scene/shapes/bin.h"
#include "scene/shapes/block.h"
#include "scene/shapes/box.h"
#include "scene/shapes/bucket.h"
#include "scene/shapes/bunny.h"
#include "scene/shapes/capsule.h"
#include "scene/shapes/chain.h"
#include "scene/shapes/cylinder.h"
#include "scene/shapes/footed_block.h"
#include "scene/shapes/groove.h"
#include "scene/shapes/ground.h"
#include "scene/shapes/letter.h"
#include "scene/shapes/mannequin.h"
#include "scene/shapes/mesh.h"
#include "scene/shapes/pyramid_object.h"
#include "scene/shapes/ring.h"
#include "scene/shapes/sheet.h"
#include "scene/shapes/skittle.h"
#include "scene/shapes/small_cube.h"
#include "scene/shapes/sphere.h"
#include "scene/shapes/surface.h"
#include "scene/shapes/table.h"
#include "scene/shapes/tube.h"
#include "scene/shapes/wall.h"

namespace signorini {

namespace {

template <class S>
auto built(const typename S::Options& options, const ShapeContext& context) {
  if constexpr (requires { S::build(options, context); })
    return S::build(options, context);
  else
    return S::build(options);
}
template <class S>
using Built = decltype(built<S>(std::declval<typename S::Options>(), std::declval<ShapeContext>()));

template <class S>
class ShapeOf final : public Shape {
 public:
  std::string_view name() const override { return S::kName; }
  void visit(KeyReader& v) override { options_.visit(v); }
  void visit(KeyLister& v) override { options_.visit(v); }
  void visit(LengthScaler& v) override { options_.visit(v); }
  void validate() const override {
    if constexpr (requires { options_.validate(); }) options_.validate();
  }
  int series() const override {
    if constexpr (requires { S::series(options_); }) return S::series(options_);
    return 0;
  }
  bool has_skin() const override { return std::same_as<Built<S>, SolidMesh>; }
  double vertices() const override {
    if constexpr (requires { S::vertices(options_); }) return S::vertices(options_);
    return 0.0;
  }
  std::string_view counts() const override {
    if constexpr (requires { S::kCounts; }) return S::kCounts;
    return {};
  }
  ShapeGeometry build(const ShapeContext& context) const override { return built<S>(options_, context); }

 private:
  typename S::Options options_;
};

template <class S>
std::unique_ptr<Shape> create() {
  return std::make_unique<ShapeOf<S>>();
}

template <BodyKind kind, class S>
constexpr ShapeEntry entry() {
  constexpr bool solid = std::same_as<Built<S>, TetMesh> || std::same_as<Built<S>, SolidMesh>;
  constexpr bool surface = std::same_as<Built<S>, TriangleMesh>;
  constexpr bool springs = std::same_as<Built<S>, SpringNetwork>;
  static_assert(kind == BodyKind::elastic   ? solid
                : kind == BodyKind::cloth   ? surface || springs
                : kind == BodyKind::springs ? springs
                                            : surface || solid,
                "no body of this kind can be made of what build returns");
  return {kind, S::kName, S::kSummary, &create<S>};
}

using enum BodyKind;
constexpr std::array kShapes{entry<elastic, shapes::Ball>(),
                             entry<elastic, shapes::Block>(),
                             entry<elastic, shapes::Ring>(),
                             entry<elastic, shapes::PyramidObject>(),
                             entry<elastic, shapes::SmallCube>(),
                             entry<elastic, shapes::Bunny>(),
                             entry<elastic, shapes::BearingSphere>(),
                             entry<elastic, shapes::Armadillo>(),
                             entry<elastic, shapes::Letter>(),
                             entry<elastic, shapes::Skittle>(),
                             entry<elastic, shapes::Table>(),
                             entry<elastic, shapes::FootedBlock>(),
                             entry<elastic, shapes::Mesh>(),
                             entry<elastic, shapes::FilledSurface>(),
                             entry<rigid, shapes::Box>(),
                             entry<rigid, shapes::Sphere>(),
                             entry<rigid, shapes::Cylinder>(),
                             entry<rigid, shapes::Ring>(),
                             entry<rigid, shapes::Surface>(),
                             entry<cloth, shapes::Sheet>(),
                             entry<cloth, shapes::Tube>(),
                             entry<cloth, shapes::Surface>(),
                             entry<springs, shapes::Chain>(),
                             entry<obstacle, shapes::Ground>(),
                             entry<obstacle, shapes::Bucket>(),
                             entry<obstacle, shapes::Bin>(),
                             entry<obstacle, shapes::BoxObstacle>(),
                             entry<obstacle, shapes::Wall>(),
                             entry<obstacle, shapes::SphereObstacle>(),
                             entry<obstacle, shapes::CylinderObstacle>(),
                             entry<obstacle, shapes::Capsule>(),
                             entry<obstacle, shapes::Mannequin>(),
                             entry<obstacle, shapes::Groove>(),
                             entry<obstacle, shapes::Surface>()};

}  // namespace

std::span<const ShapeEntry> shape_registry() { return kShapes; }

std::vector<std::string> shape_names(std::initializer_list<BodyKind> kinds) {
  std::vector<std::string> names;
  for (const ShapeEntry& shape : kShapes) {
    if (std::ranges::count(kinds, shape.kind) > 0 && std::ranges::count(names, shape.name) == 0)
      names.emplace_back(shape.name);
  }
  return names;
}

std::unique_ptr<Shape> make_shape(BodyKind kind, std::string_view name) {
  for (const ShapeEntry& shape : kShapes)
    if (shape.kind == kind && shape.name == name) return shape.create();
  return nullptr;
}

}  // namespace signorini
