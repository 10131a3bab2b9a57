"""The figures of [errors]: what a residual leaves and costs, a line per scene; which slope a block slides on."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from signorini_report import style
from signorini_report.error_lines import KEYS, ROUNDING, lines_of
from signorini_report.figure_parts import plain_log
from signorini_report.figures import Figure

PANELS = [("creep_most", "creep [m/s]", False), ("deepest_point", "penetration [m]", False),
          ("apart_mean", "distance [m]", True), ("energy_share", "energy error [share]", True)]  # column, label, without the finest
LENGTHS = ("deepest_point", "apart_mean")
ABSCISSAE = [("asked", "residual", 1.0), ("step_seconds", "time of a step [ms]", 1e3)]


def look(line):
    """Of a line: colour and marker of its scene, hollow and dashed where it is a check."""
    colour = style.CYCLE[line.place % len(style.CYCLE)]
    return dict(color=colour, marker=style.SOLVER_MARKERS[line.place % len(style.SOLVER_MARKERS)], markersize=3.4, linewidth=0.9 if line.check else 1.2,
                linestyle=(0, (3, 1.5)) if line.check else "-", markerfacecolor="white" if line.check else colour, markeredgewidth=0.8)


def powers(axis, zero=None, most=6):
    """About `most` powers of ten; `zero`: where the value 0 is drawn."""
    low, high = axis.get_view_interval()
    decades = max(1, round(np.log10(high / low)))
    axis.set_major_locator(LogLocator(base=10 ** max(1, -(-decades // most)), numticks=20))
    axis.set_minor_formatter(NullFormatter())
    if zero is not None:
        axis.set_major_formatter(FuncFormatter(lambda value, _: "" if value < 2 * zero else f"$10^{{{round(np.log10(value))}}}$"))


def values_of(line, column, others):
    rows = line.rows[line.rows["file"] != line.rows["finest"]] if others else line.rows
    rows = rows[np.isfinite(rows[column])]
    values = rows[column].to_numpy(dtype=float)
    return rows, np.where(values < ROUNDING, 0.0, values) if column in LENGTHS else values


def floor_of(lines, column, others):
    """Where 0 is drawn: a decade below the smallest value above it; None where no value is 0."""
    found = np.concatenate([values_of(line, column, others)[1] for line in lines])
    if not (found == 0).any() or not (found > 0).any():
        return None
    return 10.0 ** (np.floor(np.log10(found[found > 0].min())) - 1)


def panel(axes, lines, column, label, others, abscissa):
    zero = floor_of(lines, column, others)
    key, words, factor = abscissa
    for line in lines:
        rows, values = values_of(line, column, others)
        if zero is not None:
            values = np.where(values == 0, zero, values)
        if (values > 0).any():
            axes.plot(factor * rows[key], values, **look(line))
    axes.set_xscale("log")
    axes.set_yscale("log")
    powers(axes.xaxis, most=3) if key == "asked" else plain_log(axes.xaxis)
    if zero is not None:
        axes.axhline(zero, color=style.GREY, linewidth=0.7, linestyle=(0, (1, 2)))
        axes.text(-0.03, zero, "0", transform=axes.get_yaxis_transform(), fontsize=7.5, va="center", ha="right")
    powers(axes.yaxis, zero)
    axes.set_xlabel(words)
    axes.set_ylabel(label)


def handles_of(lines):
    handles = [Line2D([], [], **{**look(line), "linestyle": "-"}, label=line.words) for line in lines if not line.check]
    if any(line.check for line in lines):
        handles.append(Line2D([], [], color="#666666", linestyle=(0, (3, 1.5)), marker="o", markerfacecolor="white", markersize=3.4,
                              label="a second solver"))
    return handles


def errors(experiment, folder):
    """False where the experiment asks for none or nothing was run."""
    lines = lines_of(experiment)
    if not lines:
        return False
    figure, grid = plt.subplots(len(ABSCISSAE), len(PANELS), squeeze=False, figsize=(style.FULL_WIDTH, 4.2),
                                gridspec_kw={"wspace": 0.62, "hspace": 0.4})
    for line_of_panels, abscissa in zip(grid, ABSCISSAE):
        for axes, (column, label, others) in zip(line_of_panels, PANELS):
            panel(axes, lines, column, label, others, abscissa)
    figure.legend(handles=handles_of(lines), loc="upper center", ncol=4, bbox_to_anchor=(0.5, 0.01), handlelength=2.6)
    style.save(figure, folder, "errors")
    return True


def slip(experiment, folder):
    """Slope of slip over the residual, of the lines that tell it."""
    lines = [line for line in lines_of(experiment) if line.slip is not None and np.isfinite(line.slip).any()]
    if not lines:
        return False
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH * 0.5, 2.6))
    for line in lines:
        axes.plot(line.slip.index, np.abs(line.slip), **look(line), label=f"{line.words}, {line.solver}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    powers(axes.xaxis)
    powers(axes.yaxis)
    axes.set_xlabel("residual")
    axes.set_ylabel("error of the slope of slip [share]")
    axes.legend(fontsize=7)
    style.save(figure, folder, "slip")
    return True


FIGURES = [
    Figure("errors", errors, order=205, keys=KEYS,
           caption="What a residual leaves (above, against the residual that every solve was asked for) and what that costs (below, against the time of a "
                   "step). Every mark is a run of a scene at one residual, compared with the finest run of the same solver."),
    Figure("slip", slip, order=206, caption="By how much the slope at which a block slides differs from Coulomb's, over the residual."),
]
