"""The kind of claim `matched`: the mean of a column at the value of an option at which other rows come down to a level."""

import pandas as pd

from signorini_report.kinds import Kind
from signorini_report.rows import Absent, Impossible, numbers, once, select


def by_option(rows, claim):
    """{value of the option: (mean of the column, rows)}, ascending."""
    over = claim["over"]
    if over not in rows.columns:
        raise Impossible(f"there is no column '{over}'")
    rows = once(rows, claim["column"])
    rows = rows.assign(_over=pd.to_numeric(rows[over], errors="coerce"), _value=numbers(rows, claim["column"])).dropna(subset=["_over", "_value"])
    return {value: (float(part["_value"].mean()), len(part)) for value, part in rows.groupby("_over")}


def matched(runs, claim):
    """Of the rows of `of` at the least value of `over` at which the mean over those of `to` is at most `level`."""
    missing = [key for key in ("over", "level", "numerator", "denominator") if key not in claim]
    if missing:
        raise Impossible("a matched share needs 'over', 'level', 'of' and 'to'")
    rows = select(runs, claim.get("where"))
    ours, theirs = (by_option(select(rows, claim[side]), claim) for side in ("numerator", "denominator"))
    if not ours or not theirs:
        raise Absent("no rows match")
    reached = [value for value, (mean, _) in theirs.items() if mean <= claim["level"]]
    if not reached:
        raise Impossible(f"the mean of the others is {min(mean for mean, _ in theirs.values()):.3g} at best, above the level {claim['level']:g}")
    if reached[0] not in ours:
        raise Impossible(f"no rows of 'of' at {reached[0]:g}, where the others come down to {claim['level']:g}")
    return ours[reached[0]]


KIND = Kind("matched", matched, keys=("over", "level", "numerator", "denominator"), percent=True)
