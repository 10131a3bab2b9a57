#include "scene/shapes/letter.h"

#include <algorithm>

namespace signorini::shapes {

void Letter::Options::validate() const {
  const bool capitals = std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (text.empty() || !capitals)
    throw KeyError("text", fmt::format("= \"{}\" must be capital letters A to Z only", text));
}

SolidMesh Letter::build(const Options& o, const ShapeContext& context) {
  const char letter = o.text[context.number % o.text.size()];
  SolidMesh solid = text_letter(letter, context.number, o.width_m, {o.cage_cells, o.cage_layers});
  solid.skin = letter_surface(letter, o.width_m, o.bevel);
  return solid;
}

}  // namespace signorini::shapes
