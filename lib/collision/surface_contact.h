#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "linalg/types.h"

/// One contact between two features of the scene's surfaces, linearised.
///
///     C(x) = n · Σ_i w_i x_i     signed distance along n of feature a from feature b; n points from b to a
///
/// over four surface vertices: (p; t_0, t_1, t_2) with weights (1, −a, −b, −c) for vertex–face, (a_0, a_1;
/// b_0, b_1) with (1 − s, s, −(1 − t), −t) for edge–edge. Weights sum to zero.
namespace signorini {

enum class PairKind : std::uint8_t { vertex_face, edge_edge };

/// The vertices of a pair in the order above, the face as the model lists it, the edges by number (smaller
/// edge first): stable while the surfaces keep their topology.
struct PairKey {
  PairKind kind = PairKind::vertex_face;
  std::array<Index, 4> vertex{-1, -1, -1, -1};
  auto operator<=>(const PairKey&) const = default;
};

struct SurfaceContact {
  PairKey key;
  /// The same pair by numbers of the surface model: vertex and face, or two edges; −1 where it was not asked
  /// for.
  std::array<Index, 2> feature{-1, -1};
  std::array<Index, 2> body{-1, -1};  ///< of feature a and feature b
  std::array<double, 4> weight{};     ///< signed
  Vector3 normal = Vector3::Zero();   ///< unit, from b to a
  Vector3 tangent =
      Vector3::Zero();  ///< unit, along the first edge of b: the body-fixed frame of the pyramid
  Vector3 position = Vector3::Zero();  ///< contact point on b, m
  double gap = 0.0;                    ///< C at the start of the step, m
  double impact_time =
      -1.0;  ///< share of the step in [0, 1] for pairs found by continuous detection, −1 otherwise
};

}  // namespace signorini
