#include "collision/cubic_roots.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace signorini {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

double slope(const BernsteinCubic& f, double t) {
  const double s = 1.0 - t;
  return 3.0 * ((f[1] - f[0]) * s * s + 2.0 * (f[2] - f[1]) * s * t + (f[3] - f[2]) * t * t);
}

double curvature(const BernsteinCubic& f, double t) {
  return 6.0 * ((f[2] - 2.0 * f[1] + f[0]) * (1.0 - t) + (f[3] - 2.0 * f[2] + f[1]) * t);
}

int sign_beyond(double value, double tolerance) {
  return value > tolerance ? 1 : value < -tolerance ? -1 : 0;
}

/// Zeros of f' in (0, 1), ascending: d_0 (1 − t)² + 2 d_1 t (1 − t) + d_2 t² = 0 without cancellation.
int extrema(const BernsteinCubic& f, std::array<double, 2>& t) {
  const double d_0 = f[1] - f[0], d_1 = f[2] - f[1], d_2 = f[3] - f[2];
  const double discriminant = d_1 * d_1 - d_0 * d_2;
  if (!(discriminant >= 0.0)) return 0;
  const double half = d_1 - d_0;
  const double q = -(half + std::copysign(std::sqrt(discriminant), half));
  int count = 0;
  for (const auto& [above, below] : {std::pair{q, d_0 - 2.0 * d_1 + d_2}, {d_0, q}}) {
    const double root = above / below;  // NaN and ∞ fail the test
    if (root > 0.0 && root < 1.0) t[count++] = root;
  }
  if (count == 2 && t[0] > t[1]) std::swap(t[0], t[1]);
  return count;
}

/// Between the end `inside` of the band and `limit`: a point beyond which |f| > τ, f being monotone.
double widen(const BernsteinCubic& f, double tolerance, double inside, double limit) {
  const double direction = limit > inside ? 1.0 : -1.0;
  const double by_slope = 2.0 * tolerance / std::abs(slope(f, inside));
  const double by_curvature = 2.0 * std::sqrt(tolerance / std::abs(curvature(f, inside)));
  double step = 2.0 * kEps;
  if (const double guess = std::min(by_slope, by_curvature); guess < 1.0) step += guess;  // not for 0/0
  while (step < std::abs(limit - inside)) {
    const double t = inside + direction * step;
    if (std::abs(evaluate(f, t)) > tolerance) return t;
    step *= 2.0;
  }
  return limit;
}

/// A point with |f| ≤ τ between l and r, where f has opposite signs.
double crossing(const BernsteinCubic& f, double tolerance, double l, double r, double f_l, double f_r) {
  const auto value = [&](double t) {
    const double y = evaluate(f, t);
    return std::abs(y) <= tolerance ? 0.0 : y;
  };
  const auto close = [](double a, double b) { return b - a <= kEps; };
  std::uintmax_t evaluations = 100;
  const auto bracket = boost::math::tools::toms748_solve(value, l, r, f_l, f_r, close, evaluations);
  return std::abs(evaluate(f, bracket.first)) <= std::abs(evaluate(f, bracket.second)) ? bracket.first
                                                                                       : bracket.second;
}

}  // namespace

double evaluate(const BernsteinCubic& f, double t) {
  const double s = 1.0 - t;
  return (f[0] * s + 3.0 * f[1] * t) * s * s + (3.0 * f[2] * s + f[3] * t) * t * t;
}

int root_bands(const BernsteinCubic& f, double tolerance, std::array<RootBand, 3>& bands) {
  std::array<double, 2> inner{};
  const int inner_count = extrema(f, inner);
  int count = 0;
  double l = 0.0, f_l = f[0];
  for (int piece = 0; piece <= inner_count; ++piece) {
    const bool last = piece == inner_count;
    const double r = last ? 1.0 : inner[piece];
    const double f_r = last ? f[3] : evaluate(f, r);
    const int s_l = sign_beyond(f_l, tolerance), s_r = sign_beyond(f_r, tolerance);
    if (s_l == 0 || s_r == 0 || s_l != s_r) {
      RootBand band{l, r, l, s_l, s_r};
      if (s_l != 0 && s_r != 0) {
        band.root = crossing(f, tolerance, l, r, f_l, f_r);
        band.begin = widen(f, tolerance, band.root, l);
        band.end = widen(f, tolerance, band.root, r);
      } else if (s_l != 0) {
        band.root = r;
        band.begin = widen(f, tolerance, r, l);
      } else if (s_r != 0) {
        band.end = widen(f, tolerance, l, r);
      }
      RootBand* previous = count > 0 ? &bands[count - 1] : nullptr;
      if (previous != nullptr && previous->end >= band.begin) {
        previous->end = band.end;
        previous->after = band.after;
      } else if (count < 3) {
        bands[count++] = band;
      }
    }
    l = r;
    f_l = f_r;
  }
  return count;
}

int cubic_roots(const std::array<double, 4>& c, double scale, std::array<double, 3>& roots) {
  const BernsteinCubic f{c[0], c[0] + c[1] / 3.0, c[0] + (2.0 * c[1] + c[2]) / 3.0,
                         c[0] + c[1] + c[2] + c[3]};
  std::array<RootBand, 3> bands;
  const int count = root_bands(f, 64.0 * kEps * scale, bands);
  if (count == 1 && bands[0].begin == 0.0 && bands[0].end == 1.0) return -1;
  for (int i = 0; i < count; ++i) roots[i] = bands[i].root;
  return count;
}

}  // namespace signorini
