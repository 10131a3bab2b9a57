"""Rows for claims and figures: chosen by the values of their columns, paired, counted once, and reduced to one number."""

import math

import numpy as np
import pandas as pd

STATISTICS = {"median": np.median, "mean": np.mean, "maximum": np.max, "minimum": np.min, "sum": np.sum,
              "p95": lambda values: np.percentile(values, 95),
              "p99.9 over mean": lambda values: np.percentile(values, 99.9) / np.mean(values) if np.mean(values) > 0 else math.nan}
TOTAL = "total"  # of a ratio: sum of the numerators over sum of the denominators, a ratio of average times
MATCH = ["file", "step", "solver", "options", "law", "region_mode", "threads", "protocol", "tolerance"]
STEP_MATCH = ["step"]  # of rows = "steps"


class Impossible(Exception):
    """The claim cannot be evaluated; the text says why."""


class Absent(Impossible):
    """The run has no rows for the claim."""


def digits(value):
    """Three digits, from a thousand to a million all of them: 1,258 and not 1.26e+03."""
    return f"{value:,.0f}" if 999.5 <= abs(value) < 1e6 else f"{value:.3g}"


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
            here = chosen[column].isin([float(value) for value in values if value != ""])
            chosen = chosen[here | chosen[column].isna()] if "" in values else chosen[here]
        else:
            chosen = chosen[chosen[column].isin([str(value).lower() if isinstance(value, bool) else str(value)
                                                 for value in values])]
    return chosen


def within(rows, claim):
    """Rows whose columns lie within the bounds of `at_least` and `at_most`; a missing number lies outside."""
    for key, inside in (("at_least", np.greater_equal), ("at_most", np.less_equal)):
        for column, bound in flatten(claim.get(key) or {}):
            rows = rows[inside(numbers(rows, column), float(bound))]
    return rows


def windows(steps, seconds):
    """Steps averaged over windows of the scene's time: the means of the columns of numbers over the steps of one recording that end within the
    same window; `step` is the window's last. An unfinished window at the end is left out."""
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or seconds <= 0:
        raise Impossible(f"window_s = {seconds}: must be a time in s")
    place = np.ceil(steps["time"] / seconds - 1e-6).astype(int)
    found = []
    for file, part in steps.assign(_window=place).groupby("file", sort=False):
        length = part["time"].diff().median()
        for _, one in part.groupby("_window"):
            if (one["time"].iloc[-1] - one["time"].iloc[0] + length) < seconds - 0.5 * length:
                continue
            means = one.mean(numeric_only=True)
            words = {column: one[column].iloc[-1] for column in steps.columns if column not in means.index}
            found.append({**words, **means.drop("_window").to_dict(), "step": one["step"].iloc[-1], "time": one["time"].iloc[-1]})
    return pd.DataFrame(found, columns=steps.columns) if found else steps.iloc[:0]


def quotient_columns(claim):
    names = claim.get("column_of")
    if names is not None and (not isinstance(names, list) or len(names) != 2):
        raise Impossible("'column_of' must be two columns: what is divided by what")
    return names


def numbers(rows, column):
    if column not in rows.columns:
        raise Impossible(f"there is no column '{column}'")
    if not pd.api.types.is_numeric_dtype(rows[column]):
        raise Impossible(f"column '{column}' holds no numbers")
    return rows[column].astype(float)


def statistic_of(claim):
    name = claim.get("statistic", "median")
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


def pairs_of(runs, claim):
    """Pairs of rows, numerator and denominator, repetitions by their median, indexed by the columns in which they agree."""
    rows = select(runs, claim.get("where"))
    numerator, denominator = claim.get("numerator"), claim.get("denominator")
    if not isinstance(numerator, dict) or not isinstance(denominator, dict):
        raise Impossible("a ratio needs tables 'numerator' and 'denominator'")
    chosen = {key for key, _ in list(flatten(numerator)) + list(flatten(denominator))}
    if any(key.startswith("options") for key in chosen) or "solver" in chosen:
        chosen.add("options")
    match = claim.get("match") or (STEP_MATCH if claim.get("rows") == "steps" else [key for key in MATCH if key not in chosen])
    unknown = [key for key in match if key not in rows.columns]
    if unknown:
        raise Impossible(f"there is no column '{unknown[0]}'")
    sides = []
    below = claim.get("denominator_column", claim["column"])
    for side, column in ((numerator, claim["column"]), (denominator, below)):
        part = select(rows, side)
        part = part.assign(_value=numbers(part, column)).dropna(subset=["_value"])
        sides.append(part.groupby(match)["_value"].median())
    pairs = pd.concat(sides, axis=1, join="inner", keys=["numerator", "denominator"])
    return pairs[np.isfinite(pairs["numerator"]) & np.isfinite(pairs["denominator"])]
