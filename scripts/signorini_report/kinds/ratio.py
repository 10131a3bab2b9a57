"""The kind of claim `ratio`: a statistic of the quotients of paired rows."""

from signorini_report.kinds import Kind
from signorini_report.rows import Absent, Impossible, TOTAL, pairs_of, statistic_of


def ratio(runs, claim):
    pairs = pairs_of(runs, claim)
    total = claim.get("statistic") == TOTAL
    if not total:
        pairs = pairs[pairs["denominator"] > 0]
    if len(pairs) == 0:
        raise Absent("no pairs match")
    if total:
        below = float(pairs["denominator"].sum())
        if below <= 0:
            raise Impossible("the denominators sum to nothing")
        return float(pairs["numerator"].sum()) / below, len(pairs)
    return float(statistic_of(claim)(pairs["numerator"] / pairs["denominator"])), len(pairs)


KIND = Kind("ratio", ratio, keys=("numerator", "denominator", "denominator_column", "match", "statistic"), of="pair")
