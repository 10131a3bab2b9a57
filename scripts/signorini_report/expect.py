"""Verdicts on the machine-checkable claims of an experiment (`[[expect]]` in its config.toml, see docs/experiments.md)."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd

from signorini_report import machine
from signorini_report.data import is_time

HOLDS, DIFFERS, NOT_COMPARABLE = "holds", "differs", "not comparable"
STATISTICS = {"median": np.median, "mean": np.mean, "maximum": np.max, "minimum": np.min, "sum": np.sum,
              "p95": lambda values: np.percentile(values, 95),
              "p99.9 over mean": lambda values: np.percentile(values, 99.9) / np.mean(values) if np.mean(values) > 0 else math.nan}
TOTAL = "total"  # of a ratio: sum of the numerators over sum of the denominators, a ratio of average times
MATCH = ["file", "step", "solver", "options", "law", "region_mode", "threads", "protocol", "tolerance"]
KNOWN = {"id", "claim", "source", "kind", "column", "where", "lower", "upper", "min", "max", "numerator", "denominator",
         "match", "statistic", "against", "comparable", "reason", "size", "sizes", "unit", "rows", "at_least", "at_most",
         "column_of", "denominator_column", "above", "below"}
STEP_MATCH = ["step"]  # of rows = "steps"


@dataclasses.dataclass
class Verdict:
    experiment: str
    id: str
    claim: str
    source: str
    kind: str
    expected: str
    value: float | None
    unit: str
    samples: int
    verdict: str
    reason: str

    @property
    def measured(self):
        if self.value is None:
            return "–"
        if self.kind == "fraction":
            return f"{100 * self.value:.4g} % of {self.samples}"
        of = "pair" if self.kind == "ratio" else "row"
        return f"{self.value:.3g}{' ' + self.unit if self.unit else ''} ({self.samples} {of if self.samples == 1 else of + 's'})"


class Impossible(Exception):
    """The claim cannot be evaluated; the text says why."""


class Absent(Impossible):
    """The run has no rows for the claim."""


def flatten(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def select(runs, where):
    chosen = runs
    for column, wanted in flatten(where or {}):
        if column not in runs.columns:
            raise Impossible(f"there is no column '{column}'")
        values = wanted if isinstance(wanted, list) else [wanted]
        if pd.api.types.is_numeric_dtype(runs[column]):
            chosen = chosen[chosen[column].isin([float(value) for value in values])]
        else:
            chosen = chosen[chosen[column].isin([str(value).lower() if isinstance(value, bool) else str(value)
                                                 for value in values])]
    return chosen


def within(rows, expect):
    """Rows whose columns lie within the bounds of `at_least` and `at_most`; a missing number lies outside."""
    for key, inside in (("at_least", np.greater_equal), ("at_most", np.less_equal)):
        for column, bound in flatten(expect.get(key) or {}):
            rows = rows[inside(numbers(rows, column), float(bound))]
    return rows


def quotient_columns(expect):
    names = expect.get("column_of")
    if names is not None and (not isinstance(names, list) or len(names) != 2):
        raise Impossible("'column_of' must be two columns: what is divided by what")
    return names


def numbers(rows, column):
    if column not in rows.columns:
        raise Impossible(f"there is no column '{column}'")
    if not pd.api.types.is_numeric_dtype(rows[column]):
        raise Impossible(f"column '{column}' holds no numbers")
    return rows[column].astype(float)


def statistic_of(expect):
    name = expect.get("statistic", "median")
    if name not in STATISTICS:
        raise Impossible(f"unknown statistic '{name}' (known: {', '.join(STATISTICS)})")
    return STATISTICS[name]


def once(rows, *columns):
    """One row for each run, its repetitions' median in the columns: what converges is timed several times, what fails once, and would
    count less."""
    if "repetition" not in rows.columns or rows["repetition"].nunique() < 2:
        return rows
    keys = [key for key in (*MATCH, "label", "scene") if key in rows.columns]
    groups = rows.groupby(keys, dropna=False)
    medians = {column: groups[column].transform("median") for column in columns
               if column in rows.columns and pd.api.types.is_numeric_dtype(rows[column])}
    return rows.assign(**medians).drop_duplicates(keys)


def fraction(runs, expect):
    values = numbers(once(select(runs, expect.get("where")), expect["column"]), expect["column"])
    if len(values) == 0:
        raise Absent("no rows match")
    inside = (values >= expect.get("lower", -math.inf)) & (values <= expect.get("upper", math.inf))
    return float(inside.mean()), len(values)


def quantity(runs, expect):
    names = quotient_columns(expect)
    if names and expect.get("statistic") == TOTAL:
        pair = once(select(runs, expect.get("where")), *names)[names].dropna()
        if pair.empty or pair[names[1]].sum() <= 0:
            raise Absent("no rows match")
        return float(pair[names[0]].sum() / pair[names[1]].sum()), len(pair)
    values = numbers(once(select(runs, expect.get("where")), expect["column"]), expect["column"]).dropna()
    if len(values) == 0:
        raise Absent("no rows match")
    return float(statistic_of(expect)(values)), len(values)


def pairs_of(runs, expect):
    """Pairs of rows, numerator and denominator, repetitions by their median, indexed by the columns in which they agree."""
    rows = select(runs, expect.get("where"))
    numerator, denominator = expect.get("numerator"), expect.get("denominator")
    if not isinstance(numerator, dict) or not isinstance(denominator, dict):
        raise Impossible("a ratio needs tables 'numerator' and 'denominator'")
    chosen = {key for key, _ in list(flatten(numerator)) + list(flatten(denominator))}
    if any(key.startswith("options") for key in chosen) or "solver" in chosen:
        chosen.add("options")
    match = expect.get("match") or (STEP_MATCH if expect.get("rows") == "steps" else [key for key in MATCH if key not in chosen])
    unknown = [key for key in match if key not in rows.columns]
    if unknown:
        raise Impossible(f"there is no column '{unknown[0]}'")
    sides = []
    below = expect.get("denominator_column", expect["column"])
    for side, column in ((numerator, expect["column"]), (denominator, below)):
        part = select(rows, side)
        part = part.assign(_value=numbers(part, column)).dropna(subset=["_value"])
        sides.append(part.groupby(match)["_value"].median())
    pairs = pd.concat(sides, axis=1, join="inner", keys=["numerator", "denominator"])
    return pairs[np.isfinite(pairs["numerator"]) & np.isfinite(pairs["denominator"])]


def ratio(runs, expect):
    pairs = pairs_of(runs, expect)
    total = expect.get("statistic") == TOTAL
    if not total:
        pairs = pairs[pairs["denominator"] > 0]
    if len(pairs) == 0:
        raise Absent("no pairs match")
    if total:
        below = float(pairs["denominator"].sum())
        if below <= 0:
            raise Impossible("the denominators sum to nothing")
        return float(pairs["numerator"].sum()) / below, len(pairs)
    return float(statistic_of(expect)(pairs["numerator"] / pairs["denominator"])), len(pairs)


def ratio_growth(runs, expect):
    """The `ratio` of the rows of `above` ÷ that of the rows of `below`: whether a gap between two methods grows."""
    if not isinstance(expect.get("above"), dict) or not isinstance(expect.get("below"), dict):
        raise Impossible("a growth of ratios needs tables 'above' and 'below'")
    rows = select(runs, expect.get("where"))
    plain = {key: value for key, value in expect.items() if key != "where"}
    (above, count), (below, others) = (ratio(select(rows, expect[side]), plain) for side in ("above", "below"))
    if below <= 0:
        raise Impossible("the ratio below is nothing")
    return above / below, count + others


def spread(runs, expect):
    """Largest ÷ smallest `statistic` of the column over the groups of rows that agree in the columns `match`."""
    rows = select(runs, expect.get("where"))
    if "match" not in expect:
        raise Impossible("a spread needs 'match', the columns that tell its groups apart")
    unknown = [key for key in expect["match"] if key not in rows.columns]
    if unknown:
        raise Impossible(f"there is no column '{unknown[0]}'")
    rows = once(rows, expect["column"])
    rows = rows.assign(_value=numbers(rows, expect["column"])).dropna(subset=["_value", *expect["match"]])
    values = [float(statistic_of(expect)(part["_value"])) for _, part in rows.groupby(expect["match"] if len(expect["match"]) > 1 else expect["match"][0])]
    if len(values) < 2 or min(values) <= 0:
        raise Impossible("a spread needs two groups and positive values")
    return max(values) / min(values), len(rows)


def slope(runs, expect):
    rows = select(runs, expect.get("where"))
    if "against" not in expect:
        raise Impossible("a slope needs 'against'")
    rows = once(rows, expect["column"])
    y, x = numbers(rows, expect["column"]), numbers(rows, expect["against"])
    good = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    x, y = x[good], y[good]
    if len(x) < 3:
        raise Impossible(f"{len(x)} usable rows, a slope needs 3")
    if x.max() < 2 * x.min():
        raise Impossible(f"'{expect['against']}' spans less than a factor 2 ({x.min():g} to {x.max():g})")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]), len(x)


def slope_ratio(runs, expect):
    """Slope of the numerator's rows over the `statistic` (maximum when none is given) of the slopes of the denominator's
    rows, one slope for each combination of the columns `match` (the label when none are given)."""
    numerator, denominator = expect.get("numerator"), expect.get("denominator")
    if not isinstance(numerator, dict) or not isinstance(denominator, dict):
        raise Impossible("a ratio of slopes needs tables 'numerator' and 'denominator'")
    rows = select(runs, expect.get("where"))
    match = expect.get("match") or ["label"]
    unknown = [key for key in match if key not in rows.columns]
    if unknown:
        raise Impossible(f"there is no column '{unknown[0]}'")
    plain = {key: value for key, value in expect.items() if key != "where"}
    above, samples = slope(select(rows, numerator), plain)
    slopes = [slope(part, plain)[0] for _, part in select(rows, denominator).groupby(match if len(match) > 1 else match[0])]
    if not slopes:
        raise Absent("no rows match")
    below = float(statistic_of({"statistic": "maximum"} | expect)(slopes))
    if below <= 0:
        raise Impossible(f"the slope below is {below:.3g}, a ratio needs a positive one")
    return above / below, samples


KINDS = {"fraction": fraction, "quantity": quantity, "ratio": ratio, "slope": slope, "slope_ratio": slope_ratio, "ratio_growth": ratio_growth,
         "spread": spread}


def expected_text(expect):
    low, high = expect.get("min"), expect.get("max")
    scale, unit = (100, " %") if expect.get("kind") == "fraction" else (1, f" {expect['unit']}" if "unit" in expect else "")
    if low is not None and high is not None:
        return f"{low * scale:g} … {high * scale:g}{unit}" if low != high else f"{low * scale:g}{unit}"
    if low is not None:
        return f"≥ {low * scale:g}{unit}"
    return f"≤ {high * scale:g}{unit}" if high is not None else ""


def columns_used(expect):
    """Every column that the value of a claim depends on."""
    names = {expect[key] for key in ("column", "denominator_column", "against") if isinstance(expect.get(key), str)}
    names |= set(expect["column_of"]) if isinstance(expect.get("column_of"), list) else set()
    for key in ("where", "numerator", "denominator", "above", "below", "at_least", "at_most"):
        names |= {name for name, _ in flatten(expect[key])} if isinstance(expect.get(key), dict) else set()
    return names


def is_about_time(expect):
    """Whether the clock measured one of the columns that the claim is about."""
    return any(is_time(column) for column in columns_used(expect))


def on_this_machine(runs):
    """Without the rows that ask for more threads than the program could use: they say nothing about a claim."""
    if not {"status", "message"} <= set(runs.columns):
        return runs
    refused = (runs["status"] == "unsupported") & runs["message"].astype(str).str.contains("threads, this process may use", regex=False)
    return runs[~refused]


def rows_for(expect, tables):
    """The table that a claim is about, cut down to its bounds, with the column `quotient` where it asks for one."""
    kind = expect.get("rows", "runs")
    if kind not in ("runs", "steps", "follow"):
        raise Impossible(f"unknown rows '{kind}' (known: follow, runs, steps)")
    if tables.get(kind) is None:
        raise Impossible(f"there is no {kind}.csv")
    rows = within(on_this_machine(tables[kind]) if kind == "runs" else tables[kind], expect)
    names = quotient_columns(expect)
    if names:
        below = numbers(rows, names[1])
        rows = rows.assign(quotient=numbers(rows, names[0]) / below.where(below != 0))
    return rows


def evaluate(runs, expect, experiment="", size="", steps=None, follow=None, busy=None):
    """`busy`: for each kind of rows why their times are not comparable, "" where they are (machine.busy)."""
    kind, tables = expect.get("kind", ""), {"runs": runs, "steps": steps, "follow": follow}
    value, samples, reason = None, 0, ""
    sizes = expect.get("sizes", expect.get("size", []))
    sizes = sizes if isinstance(sizes, list) else [sizes]
    elsewhere = f"asked at size {' or '.join(sizes)}; this run is {size}" if sizes and size and size not in sizes else ""
    try:
        unknown = sorted(set(expect) - KNOWN)
        if unknown:
            raise Impossible(f"unknown key '{unknown[0]}'")
        if expect.get("comparable", True) is False:
            raise Impossible(expect.get("reason", "declared not comparable"))
        if kind not in KINDS:
            raise Impossible(f"unknown kind '{kind}' (known: {', '.join(KINDS)})")
        if "column_of" in expect:
            expect = {"column": "quotient"} | expect
        if "column" not in expect:
            raise Impossible("'column' is missing")
        if "min" not in expect and "max" not in expect:
            raise Impossible("neither 'min' nor 'max' is given")
        value, samples = KINDS[kind](rows_for(expect, tables), expect)
        if math.isnan(value):
            value = None
            raise Impossible("the measured value is not a number")
        if elsewhere:
            raise Impossible(elsewhere)
        disturbed = (busy or {}).get(expect.get("rows", "runs"), "")
        if disturbed and is_about_time(expect):
            raise Impossible(disturbed)
        holds = expect.get("min", -math.inf) <= value <= expect.get("max", math.inf)
        verdict = HOLDS if holds else DIFFERS
    except Impossible as impossible:
        verdict, reason = NOT_COMPARABLE, elsewhere if elsewhere and isinstance(impossible, Absent) else str(impossible)
    return Verdict(experiment, str(expect.get("id", "")), str(expect.get("claim", "")), str(expect.get("source", "")), kind,
                   expected_text(expect), value, str(expect.get("unit", "")), samples, verdict,
                   reason or (str(expect.get("reason", "")) if verdict == DIFFERS else ""))


def judged_without(verdict, expect, left_out):
    """A claim about all problems is none about some of them: what `optional_files` left out (docs/experiments.md) makes it not comparable."""
    named = (expect.get("where") or {}).get("file")
    if not left_out or (named and not set(named if isinstance(named, list) else [named]) & {file.rsplit('/', 1)[-1].removesuffix('.hdf5') for file in left_out}):
        return verdict
    if verdict.verdict == NOT_COMPARABLE:
        return verdict
    return dataclasses.replace(verdict, verdict=NOT_COMPARABLE, reason=f"input not in the clone: {', '.join(left_out)} (SIGNORINI_DATA)")


def evaluate_all(experiment):
    size, busy = str(experiment.env.get("size") or experiment.config.get("size", "")), machine.of_experiment(experiment)
    left_out = [file for file in str(experiment.env.get("inputs_left_out", "")).split(", ") if file]
    return [judged_without(evaluate(experiment.runs, expect, experiment.id, size, experiment.steps, experiment.follow, busy), expect, left_out)
            for expect in experiment.config.get("expect", [])]


def read_claims(path):
    """The verdicts of a claims.json, as an earlier report wrote them."""
    verdicts = [Verdict(**record) for record in json.loads(path.read_text(encoding="utf-8"))]
    for verdict in verdicts:
        verdict.value = None if verdict.value is None else float(verdict.value)  # JSON has no infinity: a text
    return verdicts


def read_reference(folder, config, env):
    """The verdicts of a committed result. Programs that noted the load alone judged times whatever it was: on a busy machine these are not
    comparable either."""
    verdicts, busy = read_claims(folder / "claims.json"), machine.busy_without_waiting_times(env)
    timed = {str(claim.get("id")) for claim in config.get("expect", []) if is_about_time(claim)} if busy else set()
    return [dataclasses.replace(verdict, verdict=NOT_COMPARABLE, reason=busy) if verdict.id in timed and verdict.verdict != NOT_COMPARABLE
            else verdict for verdict in verdicts]
