"""Whether times grow no faster than n log n.

Least squares of log(t / (n log2 n)) = log c + k log n over the measured sizes. k = 0 is n log n, k > 0 is faster growth. With s the
standard error of k:

    holds         k <= 2 s: not above n log n by more than the scatter of the points tells
    differs       k > 2 s
    not judged    fewer than four sizes, less than two decades between them, or 2 s > 0.1 (the points scatter too much:
                  over three decades 0.1 would hide a factor of 2)
"""

import math
from dataclasses import dataclass

LEAST_SIZES, LEAST_DECADES, LARGEST_DOUBT = 4, 2.0, 0.1
ROUNDING = 1e-9  # of the fit itself, where the times are exactly n log n


@dataclass(frozen=True)
class Growth:
    exponent: float  # k
    doubt: float  # 2 s
    coefficient: float  # of the fit with k = 0: seconds per n log2 n, geometric mean
    sizes: int
    verdict: str
    reason: str

    def seconds(self, n):
        return self.coefficient * n * math.log2(n)


def fit_growth(points):
    """points: [(n, seconds)] with n > 1 and seconds > 0."""
    points = sorted(points)
    if len(points) < 2 or points[0][0] == points[-1][0]:
        return Growth(math.nan, math.inf, math.nan, len(points), "not judged", "fewer than two sizes were measured")
    x = [math.log(n) for n, _ in points]
    y = [math.log(t / (n * math.log2(n))) for n, t in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / spread
    rest = sum((b - mean_y - slope * (a - mean_x)) ** 2 for a, b in zip(x, y))
    doubt = 2.0 * math.sqrt(rest / (len(x) - 2) / spread) if len(x) > 2 else math.inf
    decades = (x[-1] - x[0]) / math.log(10.0)
    if len(x) < LEAST_SIZES or decades < LEAST_DECADES:
        verdict, reason = "not judged", f"{len(x)} sizes over {decades:.1f} decades; needed: {LEAST_SIZES} over {LEAST_DECADES:.0f}"
    elif doubt > LARGEST_DOUBT:
        verdict, reason = "not judged", "the times scatter too much; repeat on a quiet machine"
    elif slope <= doubt + ROUNDING:
        verdict, reason = "holds", "the exponent of t/(n log n) is not above zero"
    else:
        verdict, reason = "differs", "the exponent of t/(n log n) is above zero"
    return Growth(slope, doubt, math.exp(mean_y), len(x), verdict, reason)
