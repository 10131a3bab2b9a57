"""Figures of single runs: [[scatter]], one mark per run, columns of variants against a column of the problems."""

import numpy as np
from matplotlib import pyplot as plt

from signorini_report import style
from signorini_report.data import ReportError
from signorini_report.expect import Impossible, numbers, select
from signorini_report.figure_parts import plain_log, time_unit
from signorini_report.figure_steps import wishes

WORK = ["iterations", "products", "relinearisations"]  # up to the tolerance, or to where a run gave up: a hollow mark
SNAPSHOT = "snapshot"  # the abscissa that is their running number


def with_snapshots(rows):
    """A column that numbers the snapshots of each file in the order of their steps."""
    keys = rows[["file", "step"]].drop_duplicates()
    keys = keys.assign(_number=keys["step"].astype(float)).sort_values(["file", "_number"], kind="stable")
    order = {(file, step): place + 1 for _, part in keys.groupby("file") for place, (file, step) in enumerate(zip(part["file"], part["step"]))}
    return rows.assign(snapshot=[float(order[pair]) for pair in zip(rows["file"], rows["step"])])


def members(experiment, wanted):
    """[(words, rows, values)] of the series of one figure that have rows."""
    abscissa, found = wanted.get("abscissa", "contacts"), []
    try:
        for series in wanted["series"]:
            rows = select(select(select(experiment.runs, wanted.get("where")), series.get("where")), {"label": series["label"]})
            if rows.empty:
                continue
            rows = with_snapshots(rows) if abscissa == SNAPSHOT else rows
            rows = rows.assign(_x=numbers(rows, abscissa), _y=numbers(rows, series["column"]))
            found.append((series.get("words", series["label"]), series["column"], rows.dropna(subset=["_x", "_y"])))
    except Impossible as impossible:
        raise ReportError(f"{experiment.folder / 'config.toml'}: {impossible}") from impossible
    return found


def setting_title(column, value):
    """setting.time.step_s, 0.001 → step 0.001 s"""
    words = column.split(".")[-1].split("_")
    unit = words.pop() if len(words) > 1 and words[-1] in ("s", "m", "pa", "deg") else ""
    return f"{' '.join(words)} {value} {unit.replace('pa', 'Pa')}".strip()


def draw_panel(axes, parts, order, wanted, factor):
    log = wanted.get("log", True)
    for words, column, rows in parts:
        place = order.index(words)
        x, y = rows["_x"].to_numpy(), factor * rows["_y"].to_numpy()
        good = (y > 0) & ((x > 0) | (log != True)) if log else np.isfinite(y)  # noqa: E712 (log may be "y")
        x, y, reached = x[good], y[good], (rows["solved"].to_numpy() == 1)[good]
        colour = style.CYCLE[place % len(style.CYCLE)]  # by the words, which may stand in several panels
        if wanted.get("fit", False) and x.size > 2 and x.max() >= 2 * x.min():
            slope, height = np.polyfit(np.log(x), np.log(y), 1)
            ends = np.array([x.min(), x.max()])
            axes.plot(ends, np.exp(height) * ends ** slope, color=colour, linewidth=1.1)
            axes.annotate(f"{slope:.2f}", (ends[1], np.exp(height) * ends[1] ** slope), xytext=(3, 0), textcoords="offset points",
                          fontsize=7, color=colour, va="center", annotation_clip=False)
        marks = dict(linestyle="none", marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)], markersize=3.2, color=colour)
        hollow = ~reached if column in WORK or column.endswith("_seconds") else np.zeros(len(x), dtype=bool)
        axes.plot(x[~hollow], y[~hollow], alpha=0.75, label=words, **marks)
        axes.plot(x[hollow], y[hollow], markerfacecolor="white", **marks)
    for limit in wanted.get("limits", []):
        axes.axhline(factor * limit, color="#444444", linewidth=0.8, linestyle=(0, (4, 2)))
    if log is True:
        axes.set_xscale("log")
        plain_log(axes.xaxis)
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    axes.set_xlabel(wanted.get("abscissa_label", wanted.get("abscissa", "contacts").replace("_", " ")))


def scatter(experiment, folder):
    """One picture for each [[scatter]]."""
    drawn = False
    for stem, wanted in wishes(experiment, "scatter"):
        found = members(experiment, wanted)
        if not found:
            continue
        order = list(dict.fromkeys(words for words, _, _ in found))
        column = wanted.get("panels")
        names = list(dict.fromkeys(str(value) for _, _, rows in found for value in rows[column])) if column else [""]
        factor, unit = 1.0, ""
        if all(name.endswith("_seconds") for _, name, _ in found):
            factor, unit = time_unit(np.concatenate([rows["_y"].to_numpy() for _, _, rows in found]))
            unit = f" [{unit}]"
        width = style.FULL_WIDTH * (0.62 if len(names) == 1 else 1.0)
        figure, grid = plt.subplots(1, len(names), squeeze=False, sharey=True, figsize=(width, 2.7), gridspec_kw={"wspace": 0.12})
        for axes, name in zip(grid[0], names):
            parts = [(words, value, rows[rows[column].astype(str) == name] if column else rows) for words, value, rows in found]
            draw_panel(axes, [part for part in parts if len(part[2])], order, wanted, factor)
            if name:
                plain = column in ("scene", "label", "file", "family")
                axes.set_title(name.replace("_", " ") if plain else setting_title(column, name))
        grid[0][0].set_ylabel(wanted.get("label", found[0][1].replace("_", " ")) + unit)
        handles = {}
        for axes in grid[0]:
            for handle, label in zip(*axes.get_legend_handles_labels()):
                handles.setdefault(label, handle)
        labels = [words for words in order if words in handles]
        figure.legend([handles[label] for label in labels], labels, loc="upper center", ncol=min(4, len(labels)), bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.42 / 2.7), markerscale=1.4)
        style.save(figure, folder, stem)
        drawn = True
    return drawn
