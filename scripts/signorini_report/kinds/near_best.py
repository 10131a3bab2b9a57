"""The kind of claim `near_best`: the share of the problems on which the rows of `of` are within a factor of the best of the others."""

from signorini_report.kinds import Kind
from signorini_report.rows import MATCH, Absent, Impossible, numbers, select

PROBLEM = [key for key in MATCH if key not in ("solver", "options", "region_mode", "threads")]


def near_best(runs, claim):
    """Problems are those that some other rows solve, and rows that solve a problem nobody else does are no gain here. What `of` does
    not solve is beyond every factor. Solved is what has 1 in the column `reached`. Repetitions count by their median."""
    if not isinstance(claim.get("numerator"), dict) or "factor" not in claim:
        raise Impossible("near_best needs 'of' and 'factor'")
    rows = select(runs, claim.get("where"))
    match, reached = claim.get("match") or PROBLEM, claim.get("reached", "solved")
    if reached not in rows.columns:
        raise Impossible(f"there is no column '{reached}'")
    rows = rows.assign(_value=numbers(rows, claim["column"])).dropna(subset=["_value"])
    own = select(rows, claim["numerator"])
    others = rows.drop(own.index)
    if own.empty or others.empty:
        raise Absent("no rows match")
    solved = [part[part[reached] == 1] for part in (own, others)]
    ours = solved[0].groupby(match)["_value"].median()
    best = solved[1].groupby([*match, "label"])["_value"].median().groupby(level=list(range(len(match)))).min()
    if best.empty:
        raise Impossible("no other rows solve a problem")
    near = ours.reindex(best.index) <= claim["factor"] * best  # a missing time is beyond
    return float(near.mean()), len(best)


KIND = Kind("near_best", near_best, keys=("numerator", "match", "factor", "reached"), percent=True, of="problem")
