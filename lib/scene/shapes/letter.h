#pragma once

#include <string>

#include "geometry/letters.h"
#include "scene/shapes/shape.h"

namespace signorini::shapes {

struct Letter {
  static constexpr std::string_view kName = "letter";
  static constexpr std::string_view kSummary = "block letter (Otaduy et al. 2009) in a cage";
  struct Options {
    std::string text = "A";
    double width_m = 1.0;
    double bevel = 0.15;
    int cage_cells = 7, cage_layers = 1;

    void visit(auto& v) {
      v("text", text, "capital letters, one per body, over and over");
      v("width_m", width_m, Range::positive, "along x");
      v("bevel", bevel, Range::non_negative, "of the edges, share of a stroke's width; below 0.3, 0 = sharp");
      v("cage_cells", cage_cells, Between{2, 28}, "of the cage across the letter, 2 to 28; 7 = the paper's");
      v("cage_layers", cage_layers, Between{1, 4}, "of the cage through its thickness, 1 to 4");
    }
    void validate() const;
  };
  static int series(const Options& o) { return static_cast<int>(o.text.size()); }
  static SolidMesh build(const Options& o, const ShapeContext& context);
};

}  // namespace signorini::shapes
