"""The figure `outcomes` of [table]: what every variant takes over what the first one takes, problem by problem, and how many it solves."""

import re

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from signorini_report import committed, style, tables
from signorini_report.figure_parts import GREY, plain_log
from signorini_report.figures import Figure

SOLVED = re.compile(r"(?P<count>[\d.]+(?:e[+-]?\d+)?)(?: on (?P<some>\d+) of (?P<all>\d+))?")


def outcome(cell, steps):
    """(iterations, snapshots solved) of a cell that tables.outcome wrote; iterations are nan where not all `steps` were solved."""
    found = SOLVED.match(cell)
    if found is None:
        return np.nan, 0
    return (np.nan, int(found["some"])) if found["some"] else (float(found["count"]), steps)


def table(experiment):
    """(head, rows of text) of the table of iterations; None where none is asked for or nothing ran."""
    if "table" not in experiment.config:
        return None
    if experiment.runs is None:
        ((_, head, body),) = committed.tables(experiment.folder / "iterations.md")
        return head, body
    if experiment.runs.empty:
        return None
    _, _, head, body = tables.iteration_table(experiment)
    return head, body


def outcomes(experiment, folder):
    """A row per variant: left its iterations over those of the first variant, a mark per problem that both solved and the median; right how
    many snapshots it solved."""
    found = table(experiment)
    if found is None or len(found[1]) < 2:
        return False
    head, body = found
    steps = [int(match[1]) if (match := re.search(r"\((\d+) steps\)$", name)) else 1 for name in head[1:]]
    cells = [[outcome(cell, count) for cell, count in zip(row[1:], steps)] for row in body]
    iterations = np.array([[one[0] for one in row] for row in cells])
    solved, whole = np.array([sum(one[1] for one in row) for row in cells]), sum(steps)
    quotients = iterations / iterations[0]
    figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(style.FULL_WIDTH, 0.9 + 0.19 * len(body)),
                                         gridspec_kw={"wspace": 0.05, "width_ratios": (3, 1)})
    left.axvline(1.0, color=GREY, linewidth=0.8)
    for place, row in enumerate(quotients):
        values = row[np.isfinite(row)]
        left.plot(values, np.full(len(values), place), linestyle="none", marker="o", markersize=3.5, color=style.BLUE, markerfacecolor="none", markeredgewidth=0.8)
        if len(values):
            left.plot(np.median(values), place, linestyle="none", marker="|", markersize=11, markeredgewidth=2.2, color=style.VERMILION)
    left.set_xscale("log")
    plain_log(left.xaxis)
    left.set_xlabel(f"iterations ÷ those of '{body[0][0]}' (right: more)")
    right.barh(range(len(body)), solved, color=style.BLUE, height=0.6)
    right.axvline(whole, color=GREY, linewidth=0.8)
    for place, value in enumerate(solved):
        right.text(value, place, f" {value}", va="center", fontsize=7)
    right.set_xlim(0, 1.15 * whole)
    right.set_xlabel(f"snapshots solved, of {whole}")
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    left.set_yticks(range(len(body)), [row[0] for row in body])
    left.set_ylim(len(body) - 0.4, -0.6)
    handles = [Line2D([], [], linestyle="none", marker="o", markersize=3.5, color=style.BLUE, markerfacecolor="none", label="a problem that both solve"),
               Line2D([], [], linestyle="none", marker="|", markersize=11, markeredgewidth=2.2, color=style.VERMILION, label="median")]
    figure.legend(handles=handles, loc="upper center", ncol=2, fontsize=7,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.4 / figure.get_size_inches()[1]))
    style.save(figure, folder, "outcomes")
    return True


FIGURES = [
    Figure("outcomes", outcomes, order=31, from_tables=True,
           caption="Iterations of every variant over those of the first, problem by problem (left), and how many snapshots each solves (right). The "
                   "numbers are in the table of iterations."),
]
