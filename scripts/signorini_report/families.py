"""families.csv, failures.csv and dependence.csv: which solver for which family of problems ([groups] of figures.toml), at every tolerance; how runs
ended that did not reach it; and how the time of each solver over the best depends on numbers of the problem (problems.csv)."""

import numpy as np
import pandas as pd

from signorini_report import groups, whole_files
from signorini_report.figures import profiles

NUMBERS = ("contacts", "problem.rank_ratio", "problem.rows_per_rank", "problem.condition", "problem.mass_condition", "problem.most_neighbours", "problem.mu_max")
ENDS = ("time_limit", "iteration_limit", "stalled", "diverged", "failed", "unsupported")
LEAST = 8       # snapshots for a correlation
PER_PROBLEM = ["file", "step"]


def shown(part, column):
    """Per label: height of the performance profile, how often it is the fastest, geometric mean of its time over the best where it solves."""
    ratio = profiles.factors(part, column)
    inside = np.isfinite(ratio)
    return pd.DataFrame({"height": profiles.heights(ratio), "fastest": (ratio <= 1.0).sum(), "factor": np.exp(np.log(ratio.where(inside)).mean())})


def families(rows):
    """One row per tolerance, family and label; `alone`: by solve time without set-up."""
    found = []
    for tolerance, at in rows.groupby("tolerance", sort=True):
        for family in [profiles.ALL, *dict.fromkeys(rows["group"])]:
            part = at if family == profiles.ALL else at[at["group"] == family]
            if part.empty:
                continue
            counts = part.groupby("label").agg(solver=("solver", "first"), problems=("solved", "size"), solved=("solved", "sum"))
            table = counts.join(shown(part, "total_seconds")).join(shown(part, "solve_seconds").add_suffix("_alone"))
            found.append(table.reset_index().assign(tolerance=tolerance, family=family or "others"))
    return pd.concat(found, ignore_index=True)


def failures(rows):
    """One row per tolerance, family, label and way to end without the residual, with how many, and the files."""
    missed = rows[rows["solved"] == 0].copy()
    missed["end"] = missed["status"].where(missed["status"].isin(ENDS), "residual missed")
    files = missed.groupby(["tolerance", "group", "label", "end"], sort=True)["scene"]
    return files.agg(runs="size", scenes=lambda names: " ".join(sorted(set(names)))).reset_index().rename(columns={"group": "family"})


def ranks_agree(first, second):
    """Spearman's rank correlation; nan for too few, or equal, numbers."""
    both = pd.DataFrame({"a": first, "b": second}).dropna()
    if len(both) < LEAST or both.nunique().min() < 2:
        return np.nan
    return float(both["a"].rank().corr(both["b"].rank()))


def dependence(rows):
    """One row per tolerance, label and number: the correlation of rank of that number with the time, set-up counted in, over the best time. A snapshot that
    the solver did not solve counts as slower than all."""
    found = []
    for tolerance, at in rows.groupby("tolerance", sort=True):
        ratio = profiles.factors(at, "total_seconds")
        ratio = ratio[np.isfinite(ratio).any(axis=1)]
        facts = at.drop_duplicates(PER_PROBLEM).set_index(PER_PROBLEM)
        supported = at.assign(there=(at["status"] != "unsupported").astype(int)).groupby([*PER_PROBLEM, "label"])["there"].max().unstack("label")
        for label in ratio.columns:
            factor = ratio[label].replace(np.inf, 1e30).where(supported[label].reindex(ratio.index) == 1)
            for name in NUMBERS:
                if name in facts.columns:
                    value = ranks_agree(factor, pd.to_numeric(facts[name], errors="coerce").reindex(ratio.index))
                    found.append({"tolerance": tolerance, "label": label, "number": name.removeprefix("problem."), "correlation": value,
                                  "problems": int(factor.notna().sum())})
    return pd.DataFrame(found)


def write(experiment, folder):
    """Nothing without [groups]."""
    if "group" not in experiment.runs.columns:
        return
    rows = profiles.compared(experiment)
    if rows.empty:
        return
    order = {name: place for place, name in enumerate([profiles.ALL, *experiment.config["groups"], "others", groups.OTHERS])}
    table = families(rows).sort_values(["tolerance", "family"], key=lambda c: c.map(order) if c.name == "family" else c, kind="stable")
    columns = ["tolerance", "family", "label", "solver", "problems", "solved", "fastest", "factor", "height", "fastest_alone", "factor_alone", "height_alone"]
    whole_files.write_table(table[columns], folder / "families.csv", "%.4g")
    whole_files.write_table(failures(rows), folder / "failures.csv", "%.4g")
    whole_files.write_table(dependence(rows), folder / "dependence.csv", "%.3g")
