#pragma once

namespace signorini {

/// m/s: with less the square of an error of 1e-12 U is no number any more (double ends at 1e-308), and sums of squares
/// vanish where the error does not.
inline constexpr double kSmallestSpeed = 1e-130;

/// U in m/s, that residuals are relative to: the largest |q|, or 1 where nothing moves faster than `kSmallestSpeed`.
inline double velocity_scale_of(double largest) { return largest > kSmallestSpeed ? largest : 1.0; }

}  // namespace signorini
