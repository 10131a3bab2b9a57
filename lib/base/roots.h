#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

/// Roots with the same bits on every platform. `std::hypot` and `std::cbrt` have no prescribed rounding: those of glibc
/// differ in the last bits between x86-64 and arm64. These are made of + − × ÷ √ alone, which IEEE 754 rounds in one way;
/// -ffp-contract=off (cmake/flags.cmake) keeps the compiler from fusing them.
///
/// Errors in units of the last place (ulp), for results that are normal numbers:
///     hypotenuse(x, y) = √(x² + y²)    < 1.23, and 2⁻⁵² relative: from the roundings of squares, sum and root
///     cube_root(x) = ∛x                < 0.667; exact where x is the cube of an integer up to 2¹⁷
/// Infinite and NaN arguments as in C: hypotenuse(±∞, NaN) = ∞, cube_root(−0) = −0.
namespace signorini {

namespace roots_detail {

/// Where the sum of squares over- or underflows: after scaling by a power of two, which is exact.
inline double scaled_hypotenuse(double x, double y) {
  if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<double>::infinity();
  const bool large = std::max(std::abs(x), std::abs(y)) > 1.0;
  const double down = large ? 0x1p-600 : 0x1p+600, up = large ? 0x1p+600 : 0x1p-600;
  const double a = down * x, b = down * y;
  return up * std::sqrt(a * a + b * b);
}

}  // namespace roots_detail

inline double hypotenuse(double x, double y) {
  const double squares = x * x + y * y;
  // Below, what a square loses by underflow would be seen in the sum. A NaN takes the other branch too.
  if (squares >= 0x1p-960 && squares <= std::numeric_limits<double>::max()) [[likely]]
    return std::sqrt(squares);
  return roots_detail::scaled_hypotenuse(x, y);
}

inline double cube_root(double x) {
  if (x == 0.0 || !std::isfinite(x)) return x;
  const bool subnormal = std::abs(x) < std::numeric_limits<double>::min();
  const double a = std::abs(subnormal ? 0x1p+54 * x : x);
  // A third of the exponent, and of the fraction as its continuation: relative error below 1/31.
  double t = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) / 3 + (std::uint64_t{715094163} << 32));
  // Halley's iteration for t³ = a in the form that cannot overflow. Errors e → 2e³/3: 3e-5, 1e-14.
  for (int step = 0; step < 2; ++step) {
    const double q = a / (t * t);
    t *= (t + 2.0 * q) / (2.0 * t + q);
  }
  // Rounded to 23 bits t² is exact, so that the last step, relative 2⁻²³ at most, is all that is rounded.
  t = std::bit_cast<double>((std::bit_cast<std::uint64_t>(t) + 0x80000000) & 0xffffffffc0000000);
  const double q = a / (t * t);
  t += t * ((q - t) / (2.0 * t + q));
  return std::copysign(subnormal ? 0x1p-18 * t : t, x);
}

}  // namespace signorini
