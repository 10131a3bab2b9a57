"""Whether a program became faster or slower: paired times of two builds, one pair per round.

In every round both builds run one after the other, so that what the machine does slowly (heat, other work) meets both. x_i = log(new_i / old_i)
of round i. The ratio is exp of the Hodges-Lehmann estimate of the x_i, the median of their averages in pairs (Walsh averages); its
interval holds with probability LEVEL and comes from the exact distribution of Wilcoxon's signed rank statistic. It needs that the x_i are independent and
scatter symmetrically, no normal distribution.

    faster, slower   the interval excludes 1, and the ratio is at least CHANGE away from it
    same             the whole interval lies within CHANGE of 1
    open             neither: more rounds, or a quieter machine
    not judged       fewer rounds than an interval of that level needs (8)
"""

import math
import statistics
from dataclasses import dataclass

LEVEL = 0.99   # about 150 rows are judged at once: 95 % would call seven of them changed that are not
CHANGE = 0.02  # below it nobody acts on a difference


@dataclass(frozen=True)
class Change:
    ratio: float  # new over old
    low: float
    high: float
    rounds: int
    verdict: str


def rank_sum_tail(rounds):
    """[P(T <= 0), P(T <= 1), ...] of the signed rank statistic T of that many differences without a trend."""
    ways = [1]
    for rank in range(1, rounds + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    tail, total = [], 0
    for count in ways:
        total += count
        tail.append(total / 2.0**rounds)
    return tail


def median_interval(values, level=LEVEL):
    """(estimate, low, high) of the centre of `values`; infinite ends where there are too few."""
    averages = sorted((values[i] + values[j]) / 2.0 for i in range(len(values)) for j in range(i, len(values)))
    allowed = sum(tail <= (1.0 - level) / 2.0 for tail in rank_sum_tail(len(values)))
    if allowed == 0:
        return statistics.median(averages), -math.inf, math.inf
    return statistics.median(averages), averages[allowed - 1], averages[-allowed]


def judge(pairs):
    """pairs: [(old, new)] in seconds, one per round."""
    estimate, low, high = median_interval([math.log(new / old) for old, new in pairs])
    ratio, low, high = math.exp(estimate), math.exp(low), math.exp(high)  # exp(inf) is inf
    if math.isinf(high):
        verdict = "not judged"
    elif high < 1.0 and ratio <= 1.0 - CHANGE:
        verdict = "faster"
    elif low > 1.0 and ratio >= 1.0 + CHANGE:
        verdict = "slower"
    elif low >= 1.0 - CHANGE and high <= 1.0 + CHANGE:
        verdict = "same"
    else:
        verdict = "open"
    return Change(ratio, low, high, len(pairs), verdict)
