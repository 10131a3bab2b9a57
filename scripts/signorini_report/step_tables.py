"""The interactive part of a page for tables that have a line per step or per recording, not per run: steps.csv, accuracy.csv, follow.csv.

    step_tables.tables_of(experiment)        [Table] of those that the experiment has, in the order of the page
    step_tables.explorer(table, links)       the part of a page, for page.document; its scripts come with interactive.scripts

Filters and series are the recording and the settings in which recordings differ, as recordings.csv tells them. Looks are those of the
figures: the colour says the solver that drove a recording where recordings differ in it."""

import dataclasses
import shlex

import numpy as np
import pandas as pd

from signorini_report import interactive, style
from signorini_report.data import scene_of

MOST_ROWS = 20_000   # of one table on a page; more are thinned, evenly in each recording
MOST_VALUES = 40     # of a setting that makes series
SETTING = "setting."
UNSET = "not set"
DRIVER = "setting.solver.name"
TITLES = {DRIVER: "Solver", "asked": "residual asked for", "setting.solver.tolerance": "Tolerance", "setting.time.step_s": "Time step"}
MOST_FILTERS = 8     # settings; those of solver, time and contact come first
UNITS = {"time": "s", "velocity_error": "m/s", "momentum_error": "m/s", "deepest_point": "m", "smallest_gap": "m", "pressed_gap": "m", "largest_turn": "degree",
         "creep_mean": "m/s", "creep_most": "m/s", "drift_mean": "m/s", "drift_most": "m/s", "apart_mean": "m", "apart_most": "m",
         "velocity_error_whole": "m/s", "velocity_error_most": "m/s", "time_step": "s", "duration": "s", "step_error": "m", "path_error": "m",
         "creep_beyond": "m/s", "deepest_beyond": "m", "energy": "J", "energy_error": "J", "slide_speed": "m/s"}


@dataclasses.dataclass
class Table:
    """Rows with what a page says of them. `first`: x, y, by and the scales of the first view; `whole`: the file with all rows."""
    key: str     # one letter, before ids and the words of an address
    title: str
    word: str    # what a row is; more of them with an s
    every: str   # heading of the marks
    mark: str
    whole: str
    rows: pd.DataFrame
    lines: list  # choices of the line through the marks; the first at first
    first: dict
    listed: list  # columns of the table of rows
    further: list = dataclasses.field(default_factory=list)  # columns of text besides settings that filter and make series
    joined: bool = False  # a recording is one row: lines join recordings, and nothing is distributed within one


def unit_of(column):
    return "s" if column.endswith("_seconds") else "J" if column.endswith("_energy") else UNITS.get(column, "")


def title_of(column):
    if column.endswith("_seconds"):
        return f"time of {'a step' if column == 'step_seconds' else column.removesuffix('_seconds').replace('_', ' ')}"
    return TITLES.get(column, column.removeprefix(SETTING) if column.startswith(SETTING) else column.replace("_", " "))


def varying_settings(rows):
    """Settings in which recordings differ, few enough of them, and of their values, to choose among."""
    def values(name):
        return rows[name].nunique(dropna=False)

    found = [name for name in rows.columns if name.startswith(SETTING) and 1 < values(name) <= MOST_VALUES and values(name) < rows["file"].nunique()]
    first = [name for part in ("solver.", "time.", "contact.") for name in found if name.startswith(SETTING + part)]
    return [*first, *(name for name in found if name not in first)][:MOST_FILTERS]


def number_columns(rows):
    """Columns of numbers that say something of single rows; the settings of a recording only where they differ."""
    varying = set(varying_settings(rows))
    return [name for name in rows.columns if pd.api.types.is_numeric_dtype(rows[name]) and rows[name].notna().any() and not name.startswith("fact.")
            and (not name.startswith(SETTING) or name in varying)]


def thinned(rows):
    """(rows, k): one row of k of each recording, so that a page holds MOST_ROWS."""
    every = -(-len(rows) // MOST_ROWS)
    return (rows, 1) if every <= 1 else (rows[rows.groupby("file").cumcount() % every == 0], every)


def looks(rows, by):
    """{series: [colour, dashes]}"""
    names = sorted(set(rows[by].map(word)))
    driver = rows.groupby(rows[by].map(word))[DRIVER].agg(lambda part: part.iloc[0] if part.nunique() == 1 else "") if DRIVER in rows else {}
    solvers = {name: driver[name] for name in names if DRIVER in rows and driver[name]}
    if len(set(solvers.values())) < 2 or len(solvers) < len(names):
        return {name: [style.CYCLE[place % len(style.CYCLE)], interactive.svg_dashes(place // len(style.CYCLE))] for place, name in enumerate(names)}
    order, seen, found = style.sorted_solvers(set(solvers.values())), {}, {}
    for name in sorted(names, key=lambda one: (order.index(solvers[one]), one)):
        rank = seen[solvers[name]] = seen.get(solvers[name], -1) + 1
        found[name] = [style.solver_colour(solvers[name], order), interactive.svg_dashes(rank)]
    return found


def word(value):
    """A value of a setting as filters and series name it."""
    if not isinstance(value, (float, int, np.number)):
        return str(value) or UNSET
    return f"{value:g}" if np.isfinite(value) else UNSET


def texts_of_settings(rows, names):
    """Settings travel as text, so that filters find them as the experiment writes them."""
    return rows.assign(**{name: [word(value) for value in rows[name]] for name in names})


def command_of(settings, scene, size, file):
    """What records the recording again."""
    words = ["signorini", "record", scene, *(["--size", size] if size else [])]
    for key, value in settings:
        words += ["--set", f"{key}={value}"]
    return shlex.join([*words, "-o", file])


def commands_of(experiment):
    """{file: command} of recordings.csv."""
    path = experiment.folder / "recordings.csv"
    if not path.is_file():
        return {}
    table, found = pd.read_csv(path, dtype=str, keep_default_na=False), {}
    for file, part in table.groupby("file", sort=False):
        settings = part[part["kind"] == "setting"][["key", "value"]].itertuples(index=False)
        scene = part[(part["kind"] == "recording") & (part["key"] == "scene")]["value"]
        if len(scene):
            found[file] = command_of(list(settings), scene.iloc[0], str(experiment.env.get("size", "")), file)
    return found


def steps_table(experiment):
    rows = experiment.steps
    wanted = [one | part for one in as_list(experiment.config.get("over_time")) for part in one.get("panels", [one])]
    first = next((one for one in wanted if one.get("column") in rows.columns), {})
    timed = "step_seconds" if rows["step_seconds"].notna().any() else "contacts"
    return Table("t", "Explore the steps", "step", "Every step", "One mark per step of a recording; the line is the running median.", "steps.csv", rows,
                 ["median of 15", "median of 5", "through all", "none"],
                 {"x": "time", "y": first.get("column", timed), "by": "scene", "x_scale": "linear", "y_scale": "log" if first.get("log", True) else "linear"},
                 [name for name in ("step", "time", "contacts", "iterations", "residual", "step_seconds") if name in rows])


def accuracy_table(experiment):
    rows = experiment.accuracy.assign(ladder=experiment.accuracy["finest"].map(scene_of))
    return Table("a", "Explore the recordings", "recording", "Every recording", "One mark per recording; lines join those that differ in the residual alone.", "accuracy.csv",
                 rows, ["through all", "none"], {"x": "asked", "y": "apart_mean", "by": "ladder", "x_scale": "log", "y_scale": "log"},
                 [name for name in ("asked", "residual", "creep_most", "apart_mean", "energy_share", "iterations", "step_seconds") if name in rows], ["ladder"], joined=True)


def follow_table(experiment):
    return Table("f", "Explore the updates of regions", "update", "Every update", "One mark per step whose regions were updated from those of the step before.", "follow.csv",
                 experiment.follow, ["none", "median of 15"], {"x": "contacts", "y": "update_share", "by": "region_mode", "x_scale": "log", "y_scale": "log"},
                 [name for name in ("step", "contacts", "regions", "churn", "update_seconds", "rebuild_seconds", "update_share") if name in experiment.follow], ["region_mode"])


def as_list(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def tables_of(experiment):
    found = [make(experiment) for make, rows in ((accuracy_table, experiment.accuracy), (steps_table, experiment.steps), (follow_table, experiment.follow))
             if rows is not None and len(rows)]
    return [table for table in found if {table.first["x"], table.first["y"]} <= set(number_columns(table.rows))]


def filters_of(table):
    """[(column, title)]: recording, scene where recordings of one scene differ, further columns, settings."""
    rows, scenes = table.rows, "recording.scene"
    found = [("scene", "Recording")]
    if scenes in rows and 1 < rows[scenes].nunique() < rows["scene"].nunique():
        found.append((scenes, "Scene"))
    found += [(name, title_of(name).capitalize()) for name in table.further if rows[name].nunique() > 1]
    return found + [(name, title_of(name)) for name in varying_settings(rows)]


def explorer(table, experiment, links):
    filters, every_row = filters_of(table), table.rows
    rows, every = thinned(every_row)
    settings_by_text = [name for name, _ in filters if name.startswith(SETTING)]
    numbers = number_columns(rows)
    keep = list(dict.fromkeys(["file", *(["step"] if "step" in rows else []), *(name for name, _ in filters), *numbers]))
    travelling = texts_of_settings(rows[keep], settings_by_text)
    columns = [name for name in numbers if rows[name].nunique() > 1 and name not in settings_by_text]
    scenes = rows["recording.scene"] if "recording.scene" in rows else rows["scene"]
    settings = {"what": f"{table.word}s", "word": table.word, "whole": table.whole, "every": every, "filters": filters, "by": filters, "columns": [[name, title_of(name)] for name in columns],
                "listed": table.listed, "lines": table.lines, "joined": table.joined, "first": table.first, "looks": {name: looks(rows, name) for name, _ in filters},
                "scenes": dict(zip(rows["file"], scenes)), "commands": commands_of(experiment), "meanings": {name: [unit_of(name), ""] for name in numbers},
                "recordings": links.recordings, "replays": links.replays, "frameless": links.frameless, "rows": len(rows)}
    for axis in ("x", "y"):
        if table.first[axis] not in columns:
            settings["columns"].append([table.first[axis], title_of(table.first[axis])])
    return interactive.environment().get_template("steps.html.j2").render(
        key=table.key, title=table.title, every=table.every, mark=table.mark, joined=table.joined, what=f"{table.word}s", shown=f"{table.word.capitalize()}s shown", links=links.files,
        settings=interactive.for_script(settings), data=interactive.packed({"count": len(travelling), "columns": interactive.columns_of(travelling)}))
