#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scene/shapes/shape.h"

/// All shapes, as one constexpr table in registry.cpp.
namespace signorini {

struct ShapeEntry {
  BodyKind kind;
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Shape> (*create)();  ///< with default options
};

/// Kind by kind; the first shape of a kind is that of bodies that name none.
std::span<const ShapeEntry> shape_registry();
/// Each once, in the order of the table.
std::vector<std::string> shape_names(std::initializer_list<BodyKind> kinds);
/// Null where bodies of this kind have no shape of this name.
std::unique_ptr<Shape> make_shape(BodyKind kind, std::string_view name);

}  // namespace signorini
