"""Figures of single runs: [[scatter]], one mark per run, columns of variants against a column of the problems."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from signorini_report import style
from signorini_report.data import ReportError
from signorini_report.definition import number_of
from signorini_report.rows import Impossible, numbers, once, select, within
from signorini_report.figure_parts import plain_log, put_notes, time_unit
from signorini_report.figures import Figure
from signorini_report.figures.steps import wishes

WORK = ["iterations", "products", "mass_products", "direction_products", "contact_sweeps", "triangular_solves", "evaluations",
        "relinearisations"]  # up to the tolerance, or to where a run gave up: a hollow mark
SNAPSHOT = "snapshot"  # the abscissa that is their running number
PROBLEM = "problem"  # the same for files, in every panel anew


def with_snapshots(rows):
    """A column that numbers the snapshots of each file in the order of their steps."""
    keys = rows[["file", "step"]].drop_duplicates()
    keys = keys.assign(_number=keys["step"].astype(float)).sort_values(["file", "_number"], kind="stable")
    order = {(file, step): place + 1 for _, part in keys.groupby("file") for place, (file, step) in enumerate(zip(part["file"], part["step"]))}
    return rows.assign(snapshot=[float(order[pair]) for pair in zip(rows["file"], rows["step"])])


def with_problems(rows, panels):
    """A column that numbers the files of each panel in the order of the rows."""
    groups = rows[panels] if panels else pd.Series("", index=rows.index)
    return rows.assign(problem=rows["file"].groupby(groups).transform(lambda files: pd.factorize(files)[0] + 1.0))


def place_of(rows, abscissa):
    """The abscissa; steps and options are text, options of other solvers empty."""
    if (abscissa.startswith("options.") or abscissa == "time_step") and abscissa in rows.columns:
        return pd.to_numeric(rows[abscissa], errors="coerce")
    return numbers(rows, abscissa)


def members(experiment, wanted):
    """[(words, rows, values)] of the series of one figure that have rows."""
    abscissa, found = wanted.get("abscissa", "contacts"), []
    try:
        for series in wanted["series"]:
            rows = within(select(select(select(experiment.runs, wanted.get("where")), series.get("where")), {"label": series["label"]}), wanted)
            if rows.empty:
                continue
            rows = once(rows, series["column"]) if wanted.get("median") else rows
            rows = with_snapshots(rows) if abscissa == SNAPSHOT else with_problems(rows, wanted.get("panels")) if abscissa == PROBLEM else rows
            rows = rows.assign(_x=place_of(rows, abscissa), _y=numbers(rows, series["column"]))
            found.append((series.get("words", series["label"]), series["column"], rows.dropna(subset=["_x", "_y"])))
    except Impossible as impossible:
        raise ReportError(f"{experiment.figures_file}: {impossible}") from impossible
    return found


def setting_title(column, value):
    """setting.time.step_s, 0.001 → step 0.001 s"""
    words = column.split(".")[-1].split("_")
    unit = words.pop() if len(words) > 1 and words[-1] in ("s", "m", "pa", "deg") else ""
    return f"{' '.join(words)} {value} {unit.replace('pa', 'Pa')}".strip()


def paper_mark(experiment, axes, panel, wanted, factor):
    """A cross at two of the paper's numbers, `paper = { method, column, abscissa, per }`: those of the scene that the panel is about."""
    asked = wanted["paper"]
    numbers_there = experiment.definition.numbers if experiment.definition else {}
    x, y = (number_of(numbers_there, f'"{panel}"."{asked["method"]}"."{asked[key]}"') for key in ("abscissa", "column"))
    if x is not None and y is not None:
        axes.plot(x / asked.get("per", 1.0), factor * y, linestyle="none", marker="x", markersize=5, color=style.BLACK, label=asked.get("words", "the paper"))


def limits_of(wanted):
    """[(value, words)] of the dashed lines."""
    return [(one["value"], one.get("words", "")) if isinstance(one, dict) else (one, "") for one in wanted.get("limits", [])]


def colours_of(found, wanted):
    """{words: colour}: as asked for; else the colour says the solver where words of several solvers are shown, and the marker tells its variants apart."""
    solvers = {words: set(rows["solver"]) if "solver" in rows.columns else set() for words, _, rows in found}
    asked = {series.get("words", series["label"]): series["colour"] for series in wanted["series"] if "colour" in series}
    names = [next(iter(some)) if len(some) == 1 else "" for some in solvers.values()]
    if asked or len(set(names)) < 2 or not set(names) <= set(style.SOLVER_COLOURS):
        return {words: style.CYCLE[place % len(style.CYCLE)] for place, words in enumerate(solvers)} | asked
    return {words: style.SOLVER_COLOURS[name] for words, name in zip(solvers, names)}


def draw_panel(axes, parts, order, wanted, factor, colours):
    """(whether any mark is hollow, [(words, colour)] to be put into the panel)"""
    log, any_hollow, notes = wanted.get("log", True), False, []
    for words, column, rows in parts:
        place = order.index(words)
        x, y = rows["_x"].to_numpy(), factor * rows["_y"].to_numpy()
        good = (y > 0) & ((x > 0) | (log != True)) if log else np.isfinite(y)  # noqa: E712 (log may be "y")
        x, y, reached = x[good], y[good], (rows["solved"].to_numpy() == 1)[good]
        colour = colours[words]
        whole = np.ones(len(x), dtype=bool) if column == "setup_seconds" else reached  # what gave up is no measure of the work
        if wanted.get("fit", False) and whole.sum() > 2 and x[whole].max() >= 2 * x[whole].min():
            slope, height = np.polyfit(np.log(x[whole]), np.log(y[whole]), 1)
            along = np.geomspace(x[whole].min(), x[whole].max(), 2 if log is True else 60)  # straight on two logarithmic axes alone
            axes.plot(along, np.exp(height) * along ** slope, color=colour, linewidth=1.1)
            notes.append((f"exponent {slope:.2f}", colour))
        marks = dict(linestyle="none", marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)], markersize=3.2, color=colour)
        work = column in WORK or (column.endswith("_seconds") and column != "setup_seconds")
        hollow = ~reached if work else np.zeros(len(x), dtype=bool)
        any_hollow = any_hollow or hollow.any()
        axes.plot(x[~hollow], y[~hollow], alpha=0.75, label=words, **marks)
        axes.plot(x[hollow], y[hollow], markerfacecolor="white", **marks)
    for limit, _ in limits_of(wanted):
        axes.axhline(factor * limit, color="#444444", linewidth=0.8, linestyle=(0, (4, 2)))
    if log is True:
        axes.set_xscale("log")
        plain_log(axes.xaxis)
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    if wanted.get("abscissa") in (SNAPSHOT, PROBLEM):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(wanted.get("abscissa_label", wanted.get("abscissa", "contacts").replace("_", " ")))
    return any_hollow, notes


def scatter(experiment, folder):
    """One picture for each [[scatter]]. False where there are no rows."""
    drawn = False
    if experiment.runs is None:
        return drawn
    for stem, wanted in wishes(experiment, "scatter"):
        found = members(experiment, wanted)
        if not found:
            continue
        order = list(dict.fromkeys(words for words, _, _ in found))
        column = wanted.get("panels")
        names = list(dict.fromkeys(str(value) for _, _, rows in found for value in rows[column])) if column else [""]
        titles = wanted.get("panel_words", {})
        names.sort(key=lambda name: list(titles).index(name) if name in titles else len(titles))
        factor, unit = 1.0, ""
        if all(name.endswith("_seconds") for _, name, _ in found):
            factor, unit = time_unit(np.concatenate([rows["_y"].to_numpy() for _, _, rows in found]))
            unit = f" [{unit}]"
        stacked = wanted.get("stacked", False)  # one below the other, each with an ordinate of its own
        width, height = style.FULL_WIDTH * (0.62 if len(names) == 1 or stacked else 1.0), 2.2 * len(names) if stacked else 2.7
        figure, grid = plt.subplots(len(names) if stacked else 1, 1 if stacked else len(names), squeeze=False, sharex=stacked, sharey=not stacked,
                                    figsize=(width, height), gridspec_kw={"wspace": 0.12, "hspace": 0.24})
        hollow, notes, colours = False, [], colours_of(found, wanted)
        for axes, name in zip(grid.flat, names):
            parts = [(words, value, rows[rows[column].astype(str) == name] if column else rows) for words, value, rows in found]
            if "paper" in wanted:
                paper_mark(experiment, axes, name, wanted, factor)
            any_hollow, words = draw_panel(axes, [part for part in parts if len(part[2])], order, wanted, factor, colours)
            hollow |= any_hollow
            notes.append(words)
            if name:
                plain = column in ("scene", "label", "file", "family")
                axes.set_title(titles.get(name, name.replace("_", " ") if plain else setting_title(column, name)))
        for axes, words in zip(grid.flat, notes):  # now that the limits are those of all panels
            put_notes(axes, words)
        for limit, words in limits_of(wanted):
            last = grid[-1][-1]
            last.text(0.99, factor * limit, words, transform=last.get_yaxis_transform(), fontsize=6.5, color="#444444", ha="right", va="bottom")
        for axes in grid[:, 0]:
            axes.set_ylabel(wanted.get("label", found[0][1].replace("_", " ")) + unit)
        for axes in grid[:-1].flat:
            axes.set_xlabel("")
        handles = {}
        for axes in grid.flat:
            for handle, label in zip(*axes.get_legend_handles_labels()):
                handles.setdefault(label, handle)
        labels = [words for words in order if words in handles] + [words for words in handles if words not in order]  # the paper's after ours
        if hollow:
            handles["tolerance not met"] = Line2D([], [], linestyle="none", marker="o", markersize=3.2, color="#444444", markerfacecolor="white")
            labels.append("tolerance not met")
        figure.legend([handles[label] for label in labels], labels, loc="upper center", ncol=min(4, len(labels)), bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.42 / height), markerscale=1.4)
        style.save(figure, folder, stem)
        drawn = True
    return drawn


SERIES = dict.fromkeys(("label", "column", "words", "where", "colour"))
KEYS = dict.fromkeys(("name", "panels", "panel_words", "stacked", "median", "abscissa", "abscissa_label", "log", "fit", "label", "limits", "where", "at_least", "at_most"))
PAPER = dict.fromkeys(("method", "column", "abscissa", "per", "words"))
FIGURES = [
    Figure("scatter", scatter, order=150, several=True, from_tables=True, keys={"scatter": {**KEYS, "series": SERIES, "paper": PAPER}},
           caption="Every mark is one run on one snapshot; a hollow one did not meet the tolerance."),
]
