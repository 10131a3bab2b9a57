"""The kind of claim `slope_ratio`: a slope over the slopes of others."""

from signorini_report.kinds import Kind, slope
from signorini_report.rows import Absent, Impossible, select, statistic_of


def slope_ratio(runs, claim):
    """Slope of the numerator's rows over the `statistic` (maximum when none is given) of the slopes of the denominator's
    rows, one slope for each combination of the columns `match` (the label when none are given)."""
    numerator, denominator = claim.get("numerator"), claim.get("denominator")
    if not isinstance(numerator, dict) or not isinstance(denominator, dict):
        raise Impossible("a ratio of slopes needs tables 'numerator' and 'denominator'")
    rows = select(runs, claim.get("where"))
    match = claim.get("match") or ["label"]
    unknown = [key for key in match if key not in rows.columns]
    if unknown:
        raise Impossible(f"there is no column '{unknown[0]}'")
    plain = {key: value for key, value in claim.items() if key != "where"}
    above, samples = slope.slope(select(rows, numerator), plain)
    slopes = [slope.slope(part, plain)[0] for _, part in select(rows, denominator).groupby(match if len(match) > 1 else match[0])]
    if not slopes:
        raise Absent("no rows match")
    below = float(statistic_of({"statistic": "maximum"} | claim)(slopes))
    if below <= 0:
        raise Impossible(f"the slope below is {below:.3g}, a ratio needs a positive one")
    return above / below, samples


KIND = Kind("slope_ratio", slope_ratio, keys=(*slope.KIND.keys, "numerator", "denominator", "match", "statistic"))
