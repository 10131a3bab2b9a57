"""The kind of claim `quantity`: a statistic of a column."""

from signorini_report.kinds import Kind
from signorini_report.rows import Absent, TOTAL, numbers, once, quotient_columns, select, statistic_of


def quantity(runs, claim):
    names = quotient_columns(claim)
    if names and claim.get("statistic") == TOTAL:
        pair = once(select(runs, claim.get("where")), *names)[names].dropna()
        if pair.empty or pair[names[1]].sum() <= 0:
            raise Absent("no rows match")
        return float(pair[names[0]].sum() / pair[names[1]].sum()), len(pair)
    values = numbers(once(select(runs, claim.get("where")), claim["column"]), claim["column"]).dropna()
    if len(values) == 0:
        raise Absent("no rows match")
    return float(statistic_of(claim)(values)), len(values)


KIND = Kind("quantity", quantity, keys=("statistic",))
