#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/options.h"
#include "bodies/spring_network.h"
#include "geometry/tet_mesh.h"
#include "scene/key_lister.h"
#include "scene/key_reader.h"
#include "scene/length_scale.h"

/// The rest shapes that a scene file can ask for, around their own origins. A shape is a file in this folder
///
///     struct Ball {
///       static constexpr std::string_view kName, kSummary;
///       struct Options { … visit(v) names each key once …; void validate() const; };
///       static TetMesh build(const Options&);
///     };
///
/// and a line in registry.cpp per kind of body that can have it. `validate` may be left out. `build` may ask
/// for a `ShapeContext` too and returns a TetMesh or SolidMesh (elastic bodies; rigid ones and obstacles take
/// its boundary), a TriangleMesh (rigid, obstacle, cloth) or a SpringNetwork (cloth, springs). A shape whose
/// bodies differ from one another says by `static int series(const Options&)` how many there are; one that can be
/// large says by `static double vertices(const Options&)` how large, and by `kCounts` which key makes it so.
namespace signorini {

struct MaterialConfig;

enum class BodyKind { elastic, rigid, cloth, springs, obstacle };
template <>
struct EnumNames<BodyKind> {
  static constexpr std::array<std::pair<BodyKind, std::string_view>, 5> value{
      {{BodyKind::elastic, "elastic"},
       {BodyKind::rigid, "rigid"},
       {BodyKind::cloth, "cloth"},
       {BodyKind::springs, "springs"},
       {BodyKind::obstacle, "obstacle"}}};
};

/// Bound of counts in scene files.
inline constexpr int kMaxCount = 1'000'000;

/// What a shape may depend on beside its options.
struct ShapeContext {
  std::filesystem::path folder;              ///< of the scene file; its files are found from there
  std::string name;                          ///< of the body's table; opens error lines
  const MaterialConfig* material = nullptr;  ///< of the body; obstacles have none
  int number = 0;                            ///< of the body in its group
};

/// A volume, and the surface that replaces its boundary where it wears one.
struct SolidMesh {
  SolidMesh(TetMesh tets, std::optional<TriangleMesh> surface = std::nullopt)
      : mesh(std::move(tets)), skin(std::move(surface)) {}
  TetMesh mesh;
  std::optional<TriangleMesh> skin;
};
using ShapeGeometry = std::variant<SolidMesh, TriangleMesh, SpringNetwork>;

/// A shape with its options.
class Shape {
 public:
  virtual ~Shape() = default;
  virtual std::string_view name() const = 0;
  virtual void visit(KeyReader& v) = 0;
  virtual void visit(KeyLister& v) = 0;
  virtual void visit(LengthScaler& v) = 0;
  virtual void validate() const = 0;
  /// Bodies of this shape that differ from one another; 0: all are equal.
  virtual int series() const = 0;
  /// Whether `build` gives skins, so that the body has no key for one.
  virtual bool has_skin() const = 0;
  virtual ShapeGeometry build(const ShapeContext& context) const = 0;
  /// About so many vertices of one body, told without building it; 0: known when it is built.
  virtual double vertices() const = 0;
  /// The key that they depend on; empty where there is none.
  virtual std::string_view counts() const = 0;
};

}  // namespace signorini
