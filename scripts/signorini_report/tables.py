"""The summary table: one row per solver variant, law, region mode, thread count and protocol."""

import numpy as np
import pandas as pd

from signorini_report import style, whole_files
from signorini_report.data import IN_PYTHON, scene_of
from signorini_report.definition import file_stem, recordings_of
from signorini_report.strict import ReportError, nearest

COLUMNS = [  # name in the .csv, heading in the .md and .html
    ("variant", "solver"), ("law", "law"), ("region_mode", "regions"), ("threads", "threads"), ("protocol", "protocol"), ("tolerance", "tolerance"),
    ("snapshots", "snapshots"), ("solved_percent", "solved [%]"), ("unsupported", "unsupported"),
    ("iterations_median", "iterations, median"), ("iterations_max", "max"),
    ("residual_median", "residual, median"), ("residual_max", "max"),
    ("setup_us_median", "setup [µs], median"), ("solve_us_median", "solve [µs], median"),
    ("ratio_to_best_median", "solve ÷ best, median"), ("memory_kb_median", "memory [kB], median"),
]
KEYS = {"table": dict.fromkeys(("title", "beside", "show", "column", "facts", "variants", "problem", "note"))}  # of figures.toml
GROUP = ["variant", "law", "region_mode", "threads", "protocol", "tolerance"]


def summary(runs):
    """Times and ratios are over solved snapshots only; the ratio compares with the fastest row that solved the same
    snapshot under the same law and protocol, over all solvers, region modes and thread counts. Memory: what the solver keeps
    of set-up and solve."""
    if runs.empty:
        return pd.DataFrame(columns=[name for name, _ in COLUMNS])
    snapshot = ["file", "step", "law", "protocol", "tolerance"]
    held = runs["solver_bytes"] if "solver_bytes" in runs.columns else pd.Series(np.nan, index=runs.index)
    runs = runs.assign(solver_bytes=held.where(held >= 0))
    merged = runs.groupby(GROUP + ["solver", "file", "step", "status"], as_index=False).agg(
        iterations=("iterations", "median"), residual=("residual", "max"), solved=("solved", "min"),
        setup_seconds=("setup_seconds", "median"), solve_seconds=("solve_seconds", "median"),
        solver_bytes=("solver_bytes", "median"))
    good = merged[merged["solved"] == 1]
    best = good.groupby(snapshot)["solve_seconds"].min().rename("best")
    merged = merged.join(best, on=snapshot)
    rows = []
    for key, group in merged.groupby(GROUP + ["solver"], sort=True):
        counted = group[group["status"] != "unsupported"]
        solved = counted[counted["solved"] == 1]
        ratios = (solved["solve_seconds"] / solved["best"]).replace([np.inf, -np.inf], np.nan).dropna()
        rows.append(dict(zip(GROUP + ["solver"], key)) | {
            "snapshots": len(counted),
            "solved_percent": 100.0 * counted["solved"].mean() if len(counted) else np.nan,
            "unsupported": len(group) - len(counted),
            "iterations_median": solved["iterations"].median(), "iterations_max": solved["iterations"].max(),
            "residual_median": counted["residual"].median(), "residual_max": counted["residual"].max(),
            "setup_us_median": 1e6 * solved["setup_seconds"].median(),
            "solve_us_median": 1e6 * solved["solve_seconds"].median(),
            "ratio_to_best_median": ratios.median() if len(ratios) else np.nan,
            "memory_kb_median": 1e-3 * solved["solver_bytes"].median()})
    table = pd.DataFrame(rows)
    solvers, regions = style.sorted_solvers(set(table["solver"])), style.sorted_regions(set(table["region_mode"]))
    table["_solver"] = table["solver"].map(solvers.index)
    table["_region"] = table["region_mode"].map(regions.index)
    table = table.sort_values(["tolerance", "protocol", "law", "_solver", "variant", "_region", "threads"], kind="stable",
                              key=lambda c: c.map({"time": "0", "self-stopped": "1"}).fillna(c) if c.name == "protocol" else c)
    return table[[name for name, _ in COLUMNS]].reset_index(drop=True)


def cell(name, value):
    """A number as a reader wants it: three digits, a dash where there is none."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if name in ("threads", "snapshots", "unsupported"):
        return f"{int(value)}"
    if name == "solved_percent":
        return f"{value:.0f}" if value in (0.0, 100.0) else f"{value:.1f}"
    if name == "tolerance":
        return f"{value:.0e}"
    if name.startswith("residual"):
        return f"{value:.1e}" if np.isfinite(value) else "∞"
    if name.startswith("iterations"):
        return f"{value:g}"
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{value:.0f}"


def to_rows(table, columns):
    names = [name for name, _ in columns]
    return [[cell(name, value) for name, value in zip(names, row)] for row in table[names].itertuples(index=False)]


def markdown(header, rows, numeric):
    """A table; the columns `numeric` are flush right. Cells are not padded: pages stay small, and a changed cell changes one line."""
    lines = [" | ".join(str(text).replace("|", "\\|").replace("\n", " ") for text in row) for row in [header] + rows]
    rule = "|".join("--:" if place in numeric else "---" for place in range(len(header)))
    return "\n".join([f"| {lines[0]} |", f"|{rule}|"] + [f"| {line} |" for line in lines[1:]]) + "\n"


def summary_markdown(table):
    header = [heading for _, heading in COLUMNS]
    return markdown(header, to_rows(table, COLUMNS), set(range(3, len(header))) - {4})


def write_summary(table, folder):
    whole_files.write_table(table, folder / "summary.csv", "%.9g")
    whole_files.write_text(
        folder / "summary.md", "Times and ratios are medians over the snapshots that were solved to the tolerance, judged by the referee; "
        "setup and solve are timed apart.\n\n" + summary_markdown(table))


# --- iterations of every variant on every problem: the config's [table] ---------------------------------------------------

def count_text(value):
    return f"{value:g}" if value < 1e5 else f"{value:.2g}"


def reached_text(value):
    """A residual that was not enough: one digit and the power of ten, or what it is instead of a number."""
    if value is None or np.isnan(value):
        return "no number"
    return "overflow" if np.isinf(value) or value > 1e3 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").removesuffix("e0")


def problems_of(runs):
    """[(file, [steps])] in the order of the table of runs."""
    return [(file, list(dict.fromkeys(part["step"]))) for file, part in runs.groupby("file", sort=False)]


def ordered(experiment, runs):
    """Problems in the order in which the config names them; runs are sorted by name."""
    config = experiment.config
    names = [f"{scene}" for scene in config.get("scenes", [])] + [name for name, _, _ in recordings_of(config)] + \
        [file_stem(file) for file in config.get("files", [])] + \
        [problem["name"] for problem in config.get("problems", [])] + [file_stem(file) for file in config.get("optional_files", [])]

    def rank(file):
        return next((place for place, name in enumerate(names) if file_stem(file) == name or file.startswith(name + "-")), len(names))
    return sorted(problems_of(runs), key=lambda item: (rank(item[0]), item[0]))


def least_residuals(experiment):
    """(label, file, step): the least residual of the traced run, for runs that did not reach the tolerance."""
    least = {}
    for trace in experiment.traces:
        finite = trace.residual[np.isfinite(trace.residual)]
        if finite.size:
            key = (trace.label, trace.file, trace.step)
            least[key] = min(least.get(key, np.inf), float(finite.min()))
    return least


def outcome(part, least, label):
    """What a variant did on the snapshots of a problem: the median of its iterations, or how far it came."""
    part = part.drop_duplicates("step")
    if part.empty:
        return ""
    if (part["status"] == "unsupported").all():
        return "unsupported"
    solved = part[part["solved"] == 1] if part["protocol"].iloc[0] != "converge" else part[part["status"] == "converged"]
    if len(solved) == len(part):
        return count_text(float(solved["iterations"].median()))
    reached = []
    for row in part.itertuples():
        if row.step in set(solved["step"]):
            continue
        value = row.residual if row.protocol == "self-stopped" else least.get((label, row.file, row.step), row.residual)
        reached.append(np.inf if np.isnan(value) else value)
    text = f"> {count_text(float(part['iterations'].max()))}, at {reached_text(max(reached))}"
    return text if solved.empty else f"{count_text(float(solved['iterations'].median()))} on {len(solved)} of {len(part)}, else {text}"


def rows_for(experiment, protocol):
    runs = experiment.runs
    return runs[(runs["protocol"] == protocol) & (runs["tolerance"] == experiment.tolerance) & (runs["repetition"] == 0)
                & (runs["threads"] == runs["threads"].min())]


def tolerance_text(value):
    """1e-4, where Python says 1e-04."""
    return f"{value:.0e}".replace("e-0", "e-")


def short(value):
    """Two digits, 0 as it is, a dash for no number."""
    if np.isnan(value):
        return "–"
    return "∞" if np.isinf(value) else f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e")


def column_table(experiment, wanted):
    """The same for [table] with a column: problems × (`facts`, means of columns of their snapshots, and the largest value of `column` for every
    variant). An answer that was not asked to meet the tolerance is as good as any: of runs without an answer there is no number."""
    rows = experiment.runs[(experiment.runs["protocol"] == "self-stopped") & (experiment.runs["tolerance"] == experiment.tolerance)]
    column, facts, labels = wanted["column"], wanted.get("facts", {}), wanted.get("variants") or config_labels(experiment)
    for name in [column, *facts]:
        if name not in rows.columns:
            raise ReportError(f"{experiment.figures_file}: [table]: there is no column '{name}' ({nearest(name, list(rows.columns))})")
    body = []
    for file, steps in ordered(experiment, rows):
        own = rows[rows["file"] == file]
        known = own.drop_duplicates("step")
        values = [own[own["label"] == label][column] for label in labels]
        body.append([scene_of(file), str(len(steps)), *(short(float(known[name].mean())) for name in facts),
                     *(short(float(part.max())) if len(part) and part.notna().any() else "–" for part in values)])
    note = wanted.get("note", f"Largest {column.replace('_', ' ')} of the snapshots of a problem.")
    return wanted.get("title", column), note, [wanted.get("problem", "problem"), "snapshots", *facts.values(), *labels], body


def iteration_table(experiment):
    """(title, note, header, rows) of the table that the config asks for with [table], or None."""
    wanted = experiment.config.get("table")
    if wanted is None:
        return None
    if "column" in wanted:
        return column_table(experiment, wanted)
    rows = rows_for(experiment, "converge")
    if rows.empty:
        rows = rows_for(experiment, "self-stopped")
    least, problems = least_residuals(experiment), ordered(experiment, rows)
    numbers, show = wanted.get("numbers", {}), wanted.get("show")
    if show and show not in experiment.counters:
        raise ReportError(f"{experiment.figures_file}: [table] show = '{show}' is no counter ({nearest(show, experiment.counters)})")
    labels = [label for own in config_labels(experiment) for label in (own, own + IN_PYTHON) if label in set(rows["label"])]
    body = []
    for label in labels:
        own = rows[rows["label"] == label]
        cells = [label]
        for file, _ in problems:
            part = own[own["file"] == file]
            text = outcome(part, least, label)
            if show and len(part) and (part["status"] == "converged").all():
                text += f" ({count_text(float(part[show].median()))})"
            beside = numbers.get(label, {}).get(scene_of(file))
            cells.append(text if beside is None else f"{text} [{beside}]")
        body.append(cells)
    header = ["variant"] + [scene_of(file) + (f" ({len(steps)} steps)" if len(steps) > 1 else "") for file, steps in problems]
    note = f"Iterations until the referee's residual is at most {experiment.tolerance:.0e}; over several steps the median. " \
           "`> n, at x`: not within n iterations, x is the least residual on the way."
    if show:
        note += f" In round brackets: {show.replace('_', ' ')}."
    if numbers:
        note += f" In square brackets: {wanted.get('beside', 'the numbers given in the configuration')}."
    return wanted.get("title", "Iterations"), note, header, body


def config_labels(experiment):
    """Labels in the order of [[solvers]]."""
    labels = []
    for solver in experiment.config.get("solvers", []):
        options = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in solver.items()
                   if key not in ("name", "label")]
        labels.append(solver.get("label", " ".join([solver["name"], *options])))
    return labels


def write_iterations(experiment, folder):
    table = iteration_table(experiment)
    if table is None:
        return
    title, note, header, body = table
    whole_files.write_text(folder / "iterations.md", f"# {title}\n\n{note}\n\n" + markdown(header, body, set(range(1, len(header)))))
