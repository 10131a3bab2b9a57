"""The kind of claim `fraction`: the share of the rows whose column lies between `lower` and `upper`."""

import math

from signorini_report.kinds import Kind
from signorini_report.rows import Absent, numbers, once, select


def fraction(runs, claim):
    values = numbers(once(select(runs, claim.get("where")), claim["column"]), claim["column"])
    if len(values) == 0:
        raise Absent("no rows match")
    inside = (values >= claim.get("lower", -math.inf)) & (values <= claim.get("upper", math.inf))
    return float(inside.mean()), len(values)


KIND = Kind("fraction", fraction, keys=("lower", "upper"), percent=True)
