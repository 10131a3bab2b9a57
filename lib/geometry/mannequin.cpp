#include "geometry/mannequin.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "geometry/lathe.h"

namespace signorini {

namespace {

/// Radius and height over the figure's height.
constexpr std::array<std::pair<double, double>, 24> kProfile{{
    {0.040, 0.000}, {0.042, 0.060}, {0.047, 0.150}, {0.050, 0.270}, {0.062, 0.360}, {0.076, 0.430},
    {0.086, 0.480}, {0.088, 0.505}, {0.084, 0.535}, {0.072, 0.570}, {0.062, 0.600}, {0.059, 0.615},
    {0.062, 0.640}, {0.072, 0.675}, {0.081, 0.710}, {0.083, 0.735}, {0.078, 0.775}, {0.062, 0.805},
    {0.036, 0.825}, {0.030, 0.850}, {0.038, 0.880}, {0.052, 0.910}, {0.053, 0.940}, {0.038, 0.980},
}};

}  // namespace

TriangleMesh mannequin_surface(double height, Index segments) {
  if (!(height > 0.0) || !std::isfinite(height))
    throw_usage("mannequin: height {} m is not positive", height);
  std::vector<std::pair<double, double>> profile;
  for (const auto& [radius, z] : kProfile) profile.emplace_back(height * radius, height * z);
  return lathe_surface(profile, 0.0, height, segments, "mannequin");
}

}  // namespace signorini
