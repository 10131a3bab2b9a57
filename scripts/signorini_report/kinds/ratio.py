"""The kind of claim `ratio`: a statistic of the quotients of paired rows."""

import pandas as pd

from signorini_report.kinds import Kind
from signorini_report.rows import Absent, Impossible, TOTAL, pairs_of, quotient_columns, statistic_of


def ratio_of_sums(pairs):
    below = float(pairs["denominator"].sum())
    if below <= 0:
        raise Impossible("the denominators sum to nothing")
    return float(pairs["numerator"].sum()) / below


def ratio_of_quotients_of_sums(runs, claim, names):
    """Of `of` over `to`: the sum of the first column divided by that of the second, over the pairs that have both."""
    both = pd.concat([pairs_of(runs, claim | {"column": name}) for name in names], axis=1, join="inner", keys=names)
    if both.empty:
        raise Absent("no pairs match")
    below = ratio_of_sums(both[names[1]])
    if below <= 0:
        raise Impossible(f"'{names[1]}' sums to nothing")
    return ratio_of_sums(both[names[0]]) / below, len(both)


def ratio(runs, claim):
    names, total = quotient_columns(claim), claim.get("statistic") == TOTAL
    if names and total:
        return ratio_of_quotients_of_sums(runs, claim, names)
    pairs = pairs_of(runs, claim)
    if not total:
        pairs = pairs[pairs["denominator"] > 0]
    if len(pairs) == 0:
        raise Absent("no pairs match")
    if total:
        return ratio_of_sums(pairs), len(pairs)
    return float(statistic_of(claim)(pairs["numerator"] / pairs["denominator"])), len(pairs)


KIND = Kind("ratio", ratio, keys=("numerator", "denominator", "denominator_column", "match", "statistic"), of="pair")
