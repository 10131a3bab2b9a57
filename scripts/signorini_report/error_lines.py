"""The lines of [errors] in figures.toml: recordings of one scene from the coarsest to the finest, one line for each solver that drives them.

    [errors]
    lines = [
      { words = "incline", where = { "recording.scene" = "incline" }, slip = { … }, solvers = ["pgs", "cr-full"] },
    ]

`where` chooses the rows (scripts/signorini_report/accuracy.py), `slip` others of the same solvers that tell the slope of slip; the first of
the solvers is the one that the line is about, the others check it.
"""

import dataclasses

import pandas as pd

from signorini_report.rows import Impossible, select
from signorini_report.strict import ReportError

KEYS = {"errors": {"title": None, "lines": dict.fromkeys(("words", "where", "slip", "solvers"))}}  # of figures.toml
SOLVER = "setting.solver.name"
ROUNDING = 1e-16  # m, of coordinates of some 0.1 m: a length below it is 0


@dataclasses.dataclass
class Line:
    words: str
    solver: str
    place: int           # of the scene among the lines
    check: bool          # drawn beside the first solver of the scene
    rows: pd.DataFrame   # from the finest to the coarsest
    slip: pd.Series | None  # slip_slope by `asked`


def chosen(rows, where, solver):
    return select(rows, {**where, SOLVER: solver}).sort_values("asked")


def lines_of(experiment):
    """Those that have rows; empty where the experiment asks for none."""
    wanted, rows = experiment.config.get("errors"), experiment.accuracy
    if wanted is None or rows is None:
        return []
    found = []
    for place, one in enumerate(wanted.get("lines", [])):
        missing = next((key for key in ("words", "where", "solvers") if key not in one), None)
        if missing:
            raise ReportError(f"{experiment.figures_file}: [errors] lines: '{missing}' is missing")
        for solver in one["solvers"]:
            try:
                part = chosen(rows, one["where"], solver)
                slip = chosen(rows, one["slip"], solver).set_index("asked")["slip_slope"] if "slip" in one else None
            except (Impossible, KeyError) as error:
                raise ReportError(f"{experiment.figures_file}: [errors] lines '{one['words']}': {error}") from error
            if part["asked"].duplicated().any():
                raise ReportError(f"{experiment.figures_file}: [errors] lines '{one['words']}': 'where' chooses several recordings of one residual")
            if len(part):
                found.append(Line(one["words"], solver, place, solver != one["solvers"][0], part, slip))
    return found
