"""Figures of constraint anticipation: times over contacts, [over_contacts], and sweeps inside an iteration."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator

from signorini_report import rows as table_rows, style
from signorini_report.data import family_of, inner_sweeps
from signorini_report.figure_parts import GREY, plain_log, time_unit
from signorini_report.figures import Figure


def fitted(x, y):
    """(exponent, factor) of y = factor x^exponent by least squares of the logarithms; None where x spans less than a factor of two."""
    if len(x) < 3 or x.max() < 2 * x.min():
        return None
    power, offset = np.polyfit(np.log(x), np.log(y), 1)
    return power, np.exp(offset)


def points_of(rows, column):
    """Contacts and the column, one point per snapshot: repetitions by their median."""
    rows = rows[(rows["contacts"] > 0) & (rows[column] > 0)]
    points = rows.groupby(["file", "step"], as_index=False).agg(contacts=("contacts", "median"), value=(column, "median"))
    return points["contacts"].to_numpy(float), points["value"].to_numpy(float)


def over_contacts(experiment, folder):
    """Columns of times against contacts, one panel per choice of rows, one line per solver, part or setting."""
    wanted = experiment.config.get("over_contacts")
    if wanted is None:
        return False
    panels = []
    for panel in wanted["panels"]:
        try:
            rows = table_rows.select(experiment.runs, panel.get("where"))
            panels.append((panel, [points_of(table_rows.select(rows, line.get("where")), line["column"]) for line in panel["lines"]]))
        except table_rows.Impossible:
            continue
    every = [y for _, lines in panels for _, y in lines if y.size]
    if not every:
        return False
    factor, unit = time_unit(np.concatenate(every))
    figure, grid = plt.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True, gridspec_kw={"wspace": 0.08},
                                figsize=(style.FULL_WIDTH * min(1.0, 0.22 + 0.39 * len(panels)), 3.0))
    for axes, (panel, lines) in zip(grid[0], panels):
        for place, (line, (x, y)) in enumerate(zip(panel["lines"], lines)):
            if not x.size:
                continue
            look = dict(color=style.CYCLE[place % len(style.CYCLE)])
            fit = fitted(x, y)
            words = line["words"] + (f", exponent {fit[0]:.2f}" if fit else "")
            axes.plot(x, factor * y, linestyle="none", marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)], markersize=3.4, alpha=0.7,
                      markeredgewidth=0, label=words, **look)
            if fit:
                ends = np.array([x.min(), x.max()])
                axes.plot(ends, factor * fit[1] * ends**fit[0], linewidth=1.2, linestyle=style.LINES[place % len(style.LINES)], **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("contacts")
        axes.set_title(panel.get("title", ""))
        axes.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.16), handletextpad=0.2, ncol=1)
    plain_log(grid[0][0].xaxis)
    plain_log(grid[0][0].yaxis)
    grid[0][0].set_ylabel(f"{wanted.get('label', 'time')} [{unit}]")
    style.save(figure, folder, "over_contacts")
    return True


def inner(experiment, folder):
    """Share of the iterations with at most so many inner sweeps, a line per recording, a panel per variant."""
    found = {}
    for trace in experiment.traces:
        sweeps = inner_sweeps(trace)
        if sweeps is not None:
            found.setdefault(trace.label, {}).setdefault(family_of(trace.file), []).append(sweeps)
    if not found:
        return False
    labels = [one.get("label", one["name"]) for one in experiment.config.get("solvers", [])]
    labels = [label for label in labels if label in found] or sorted(found)
    scenes = sorted({scene for scenes in found.values() for scene in scenes})
    columns = min(3, len(labels))
    lines = -(-len(labels) // columns)
    figure, grid = plt.subplots(lines, columns, squeeze=False, sharex=True, sharey=True, gridspec_kw={"wspace": 0.08, "hspace": 0.32},
                                figsize=(style.FULL_WIDTH * min(1.0, 0.2 + 0.3 * columns), 2.5 * lines))
    most = max(int(np.max(part)) for scenes_of in found.values() for parts in scenes_of.values() for part in parts)
    for axes, label in zip(grid.flat, labels):
        for scene, parts in sorted(found[label].items()):
            values = np.sort(np.concatenate(parts))
            place = scenes.index(scene)
            axes.step(np.concatenate([[0], values, [most]]), 100 * np.concatenate([[0], np.arange(1, len(values) + 1), [len(values)]]) / len(values),
                      where="post", color=style.CYCLE[place % len(style.CYCLE)], linestyle=style.LINES[place % len(style.LINES)], linewidth=1.3,
                      label=scene.replace("_", " "))
        axes.axvline(9.5, color=GREY, linewidth=0.8, linestyle=(0, (1, 1)))
        axes.axhline(90, color=GREY, linewidth=0.8, linestyle=(0, (1, 1)))
        axes.set_title(label)
        axes.set_xlim(0, most)
        axes.set_ylim(0, 102)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    for axes in grid.flat[len(labels):]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("sweeps in one iteration")
    for line in grid:
        line[0].set_ylabel("iterations [%]")
    handles, words = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, words, loc="upper center", ncol=min(4, len(words)),
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.42 / figure.get_size_inches()[1]))
    style.save(figure, folder, "inner")
    return True


LINE = dict.fromkeys(("words", "where", "column"))
FIGURES = [
    Figure("over_contacts", over_contacts, order=240,
           keys={"over_contacts": {"label": None, "panels": {"title": None, "where": None, "lines": LINE}}},
           caption="Every mark is one snapshot, every line the fitted power law with its exponent; where the numbers of contacts do not span a "
                   "factor of two there is none."),
    Figure("inner", inner, order=250,
           caption="Sweeps over the contacts in one iteration, up to the first iteration at which the referee's residual meets the "
                   "tolerance: share of the iterations with at most so many, all snapshots of a recording together."),
]
