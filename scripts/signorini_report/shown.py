"""The rows that the figure of an experiment's page draws, kept with its committed result (shown_steps.csv or shown_runs.csv), so that the figure can
be drawn again without a run: `scripts/reference promote` writes them, `scripts/reference page` reads them (committed.py)."""

import io

import pandas as pd

from signorini_report.figures import steps
from signorini_report.rows import MATCH, flatten, select, within

STEPS, RUNS = "shown_steps.csv", "shown_runs.csv"
DIGITS = "%.9g"


def keys_of(*tables):
    """Columns that tables such as `where` or `at_least` name."""
    return [column for table in tables for column, _ in flatten(table or {})]


def step_rows(experiment, wanted):
    """None where marks are means over windows of steps."""
    panels = [wanted | one for one in wanted.get("panels", [wanted])]
    if experiment.steps is None or any("window_s" in one for one in panels):
        return None
    columns = ["scene", "setting.solver.name", "time"]
    for one in panels:
        columns += [one["column"], *keys_of(one.get("at_least"), one.get("at_most"))]
    return columns, [part for one in panels for _, part in steps.chosen(experiment, one)]


def run_rows(experiment, wanted):
    columns, parts = ["scene", "label", "solver", "file", "step", "solved"], []
    columns += [wanted[key] for key in ("panels", "abscissa") if key in wanted] + keys_of(wanted.get("where"), wanted.get("at_least"), wanted.get("at_most"))
    columns += [*MATCH, "repetition"] if wanted.get("median") else []
    for series in wanted["series"]:
        columns += [series["column"], *keys_of(series.get("where"))]
        chosen = select(select(experiment.runs, wanted.get("where")), series.get("where"))
        parts.append(within(select(chosen, {"label": series["label"]}), wanted))
    return columns if "abscissa" in wanted else [*columns, "contacts"], parts


DRAWN = {"over_time": (STEPS, step_rows), "scatter": (RUNS, run_rows)}


def table(experiment, stem):
    """(file name, its text) of the rows behind a figure; None for figures that are not drawn row by row."""
    for figure, (name, rows_of) in DRAWN.items():
        wanted = dict(steps.wishes(experiment, figure)).get(stem)
        found = rows_of(experiment, wanted) if wanted else None
        if found and any(len(part) for part in found[1]):
            columns, parts = found
            rows = pd.concat(parts)
            rows = rows[~rows.index.duplicated()].sort_index()
            text = io.StringIO()
            rows[[column for column in dict.fromkeys(columns) if column in rows.columns]].to_csv(text, index=False, float_format=DIGITS)
            return name, text.getvalue()
    return None


def read(folder):
    """(rows of runs, rows of steps) of a committed result; None for what it does not keep."""
    found = {name: pd.read_csv(folder / name, dtype={"step": str, "file": str, "label": str}) if (folder / name).is_file() else None for name in (RUNS, STEPS)}
    return found[RUNS], found[STEPS]


def only(experiment, figure, stem):
    """The experiment with the wish for this one picture alone, where a figure has several: the kept rows are its rows."""
    if figure in DRAWN:
        wanted = dict(steps.wishes(experiment, figure)).get(stem, {})
        named = {} if stem == figure else {"name": stem.removeprefix(f"{figure}_")}
        experiment.config = experiment.config | {figure: [wanted | named] if wanted else []}
    return experiment
