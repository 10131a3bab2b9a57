"""The kind of claim `ratio_growth`: how much a ratio grows from some rows to others."""

from signorini_report.kinds import Kind, ratio
from signorini_report.rows import Impossible, select


def ratio_growth(runs, claim):
    """The `ratio` of the rows of `above` ÷ that of the rows of `below`: whether a gap between two methods grows."""
    if not isinstance(claim.get("above"), dict) or not isinstance(claim.get("below"), dict):
        raise Impossible("a growth of ratios needs tables 'above' and 'below'")
    rows = select(runs, claim.get("where"))
    plain = {key: value for key, value in claim.items() if key != "where"}
    (above, count), (below, others) = (ratio.ratio(select(rows, claim[side]), plain) for side in ("above", "below"))
    if below <= 0:
        raise Impossible("the ratio below is nothing")
    return above / below, count + others


KIND = Kind("ratio_growth", ratio_growth, keys=(*ratio.KIND.keys, "above", "below"))
