#include "geometry/smooth.h"

#include <algorithm>

#include "base/check.h"
#include "geometry/tet_flips.h"

namespace signorini {

void smooth(TetMesh& mesh, std::vector<Vector3>& parameters, FunctionRef<Vector3(Index, Vector3&)> place,
            const SmoothOptions& options, Rng& rng) {
  SIGNORINI_CHECK(parameters.size() == mesh.vertices.size());
  std::vector<std::vector<std::size_t>> star(mesh.vertices.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    for (const Index i : mesh.tets[t]) star[i].push_back(t);
  }
  const auto penalty = [&](std::size_t v) {
    double sum = 0.0;
    for (const std::size_t t : star[v]) sum += shape_penalty(tet_quality(mesh, mesh.tets[t]));
    return sum;
  };
  const auto is_good = [&](std::size_t v) {
    return std::all_of(star[v].begin(), star[v].end(),
                       [&](std::size_t t) { return tet_quality(mesh, mesh.tets[t]) >= options.below; });
  };
  const auto shift = [&] { return options.step * rng.uniform(-1.0, 1.0); };
  for (int sweep = 0; sweep < options.sweeps; ++sweep) {
    for (Index v = 0; v < count(star); ++v) {
      if (options.below < 1.0 && is_good(v)) continue;
      double least = penalty(v);
      for (int trial = 0; trial < options.trials; ++trial) {
        const Vector3 before = mesh.vertices[v];
        Vector3 u = parameters[v];
        for (Index d = 0; d < 3; ++d) u[d] += shift();
        mesh.vertices[v] = place(v, u);
        const double now = penalty(v);
        if (now < least) {
          least = now;
          parameters[v] = u;
        } else {
          mesh.vertices[v] = before;
        }
      }
    }
  }
}

}  // namespace signorini
