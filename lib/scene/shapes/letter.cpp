#include "scene/shapes/letter.h"

#include <algorithm>

namespace signorini::shapes {

void Letter::Options::validate() const {
  const bool capitals = std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (text.empty() || !capitals)
    throw KeyError("text", fmt::format("= \"{}\" must be capital letters A to Z only", text));
  if (bevel == 0.0 && (cage_cells != 7 || cage_layers != 1)) {
    throw KeyError("bevel", "= 0 makes the cage the surface; other cages than the paper's need a bevel");
  }
}

SolidMesh Letter::build(const Options& o, const ShapeContext& context) {
  const char letter = o.text[context.number % o.text.size()];
  SolidMesh solid = text_letter(letter, context.number, o.width_m, {o.cage_cells, o.cage_layers});
  if (o.bevel > 0.0) solid.skin = letter_surface(letter, o.width_m, o.bevel);
  return solid;
}

}  // namespace signorini::shapes
