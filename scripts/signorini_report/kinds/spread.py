"""The kind of claim `spread`: how far groups of rows lie apart."""

from signorini_report.kinds import Kind
from signorini_report.rows import Impossible, numbers, once, select, statistic_of


def spread(runs, claim):
    """Largest ÷ smallest `statistic` of the column over the groups of rows that agree in the columns `match`."""
    rows = select(runs, claim.get("where"))
    if "match" not in claim:
        raise Impossible("a spread needs 'match', the columns that tell its groups apart")
    unknown = [key for key in claim["match"] if key not in rows.columns]
    if unknown:
        raise Impossible(f"there is no column '{unknown[0]}'")
    rows = once(rows, claim["column"])
    rows = rows.assign(_value=numbers(rows, claim["column"])).dropna(subset=["_value", *claim["match"]])
    groups = rows.groupby(claim["match"] if len(claim["match"]) > 1 else claim["match"][0])
    values = [float(statistic_of(claim)(part["_value"])) for _, part in groups]
    if len(values) < 2 or min(values) <= 0:
        raise Impossible("a spread needs two groups and positive values")
    return max(values) / min(values), len(rows)


KIND = Kind("spread", spread, keys=("match", "statistic"))
