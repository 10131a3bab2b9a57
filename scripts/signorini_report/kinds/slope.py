"""The kind of claim `slope`: the exponent of a power law."""

import numpy as np

from signorini_report.kinds import Kind
from signorini_report.rows import Absent, Impossible, numbers, once, select


def slope(runs, claim):
    rows = select(runs, claim.get("where"))
    if "against" not in claim:
        raise Impossible("a slope needs 'against'")
    rows = once(rows, claim["column"])
    y, x = numbers(rows, claim["column"]), numbers(rows, claim["against"])
    good = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    x, y = x[good], y[good]
    if len(x) == 0:
        raise Absent("no rows match")
    if len(x) < 3:
        raise Impossible(f"{len(x)} usable rows, a slope needs 3")
    if x.max() < 2 * x.min():
        raise Impossible(f"'{claim['against']}' spans less than a factor 2 ({x.min():g} to {x.max():g})")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]), len(x)


KIND = Kind("slope", slope, keys=("against",))
