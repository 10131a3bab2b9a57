"""What several figures share: axes, legends, looks of variants."""

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from signorini_report import style

GREY = "#8A8A8A"
LABEL_INCHES = 0.4  # that a number under an axis takes


def log_label(value):
    """0.01, 500, 10⁶, 5·10⁶"""
    if 1e-3 <= value <= 1e4 or value <= 0:
        return f"{value:g}"
    exponent = int(np.floor(np.log10(value) + 1e-9))
    mantissa = value / 10.0 ** exponent
    return f"$10^{{{exponent}}}$" if abs(mantissa - 1) < 1e-6 else f"${mantissa:g}\\cdot10^{{{exponent}}}$"


def plain_log(axis):
    """1, 10, 100 and 0.1 instead of powers of ten; also 2 and 5, or 3, where the axis spans less than two decades and has the room."""
    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low) if low > 0 else 3.0
    subs = (1.0,) if decades > 2.2 else (1.0, 2.0, 5.0) if decades > 0.6 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axes = axis.axes
    width = axes.get_position().width * axes.figure.get_figwidth()
    if axis.axis_name == "x" and decades > 1.2:
        subs = next((some for some in (subs, (1.0, 3.0)) if width >= LABEL_INCHES * len(some) * decades), (1.0,))
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=14))
    axis.set_major_formatter(FuncFormatter(lambda value, _: log_label(value)))
    axis.set_minor_formatter(NullFormatter())


def drawn_points(axes):
    """[n × 2] places of marks and along lines, as shares of the width and height of the axes."""
    parts = [np.empty((0, 2))]
    for line in axes.lines:
        ends = axes.transAxes.inverted().transform(line.get_transform().transform(line.get_xydata()))
        ends = ends[np.isfinite(ends).all(axis=1)]
        parts.append(ends)
        if line.get_linestyle() not in ("None", "none", "", " "):
            parts += [np.linspace(start, end, int(min(2000, 2 + 100 * np.hypot(*(end - start))))) for start, end in zip(ends[:-1], ends[1:])]
    return np.concatenate(parts)


def put_notes(axes, notes, size=7):
    """Lines of words [(words, colour)] one below the other, at the side of finished axes where the fewest marks and lines are beneath them."""
    if not notes:
        return
    room = axes.get_window_extent()
    points = axes.figure.dpi / 72
    line = 1.7 * size * points / room.height
    wide, high = 0.6 * size * max(len(words) for words, _ in notes) * points / room.width, line * len(notes)
    drawn, edge = drawn_points(axes), 0.04

    def beneath(place):
        left, top = place
        return np.count_nonzero((drawn[:, 0] > left - edge / 2) & (drawn[:, 0] < left + wide + edge / 2)
                                & (drawn[:, 1] < top + edge / 2) & (drawn[:, 1] > top - high - edge / 2))

    tops = [1 - edge, high + edge / 2, 0.5 + high / 2]
    left, top = min([(left, top) for left in (edge, 1 - edge - wide) for top in tops], key=beneath)  # of equal ones the first: the left, the top
    for place, (words, colour) in enumerate(notes):
        axes.text(left, top - line * place, words, transform=axes.transAxes, fontsize=size, color=colour, va="top")


def time_unit(seconds):
    """(factor, unit) in which typical times are numbers that one likes to read."""
    seconds = np.asarray(seconds, dtype=float)
    seconds = seconds[np.isfinite(seconds) & (seconds > 0)]
    middle = float(np.median(seconds)) if seconds.size else 1e-3
    return (1e9, "ns") if middle < 2e-7 else (1e6, "µs") if middle < 2e-4 else (1e3, "ms") if middle < 0.5 else (1.0, "s")


def legend_columns(count, most=6):
    """As few lines as possible, filled evenly."""
    lines = -(-count // most)
    return -(-count // lines)


def by_rows(handles, columns):
    """Matplotlib fills legends by columns; this order makes them read by rows."""
    return [handle for column in range(columns) for handle in handles[column::columns]]


def title_size(words, columns):
    """Letters that fit a panel: about 25 bold ones of 8.5 pt in a third of the width."""
    return max(5.0, min(8.5, 8.5 * 25 * 3 / columns / max(1, len(words))))


def variants_of(rows):
    """(solver, variant) in the fixed order of the solvers."""
    pairs = sorted(set(zip(rows["solver"], rows["variant"])))
    order = style.sorted_solvers({solver for solver, _ in pairs})
    return sorted(pairs, key=lambda pair: (order.index(pair[0]), pair[1]))


def looks(rows):
    """Colour, marker and line of every variant: the colour says the solver, the line tells its variants apart."""
    pairs = variants_of(rows)
    solvers = {solver for solver, _ in pairs}
    return {variant: dict(color=style.solver_colour(solver, solvers), marker=style.SOLVER_MARKERS[rank % len(style.SOLVER_MARKERS)],
                          linestyle=style.LINES[rank % len(style.LINES)]) for rank, (solver, variant) in enumerate(pairs)}


def laws_of(rows):
    return [law for law in ("cone", "pyramid") if law in set(rows["law"])] + \
        sorted(set(rows["law"]) - {"cone", "pyramid"})


def steps_axis(experiment, rows):
    """The step number where all steps are numbers of one file, else the running number of the snapshot."""
    try:
        values = rows["step"].astype(float)
        if rows["file"].nunique() == 1:
            return values.to_numpy(), "step of the recording"
    except ValueError:
        pass
    return np.arange(len(rows), dtype=float), "snapshot"


def label_looks(experiment, labels):
    """Colour, marker and line by the experiment's own names: the colour says the solver."""
    rows = experiment.runs.drop_duplicates("label").set_index("label")
    solvers = set(rows.loc[labels, "solver"])
    ranks, result = {}, {}
    if len(labels) > 4 and len(solvers) < 3:  # variants of one solver: no colour says more than another
        return {label: dict(color=style.CYCLE[place % len(style.CYCLE)], linestyle=style.LINES[place // len(style.CYCLE) % len(style.LINES)],
                            marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)]) for place, label in enumerate(labels)}
    for label in labels:
        solver = rows.loc[label, "solver"]
        rank = ranks[solver] = ranks.get(solver, -1) + 1
        result[label] = dict(color=style.solver_colour(solver, solvers), linestyle=style.LINES[rank % len(style.LINES)],
                             marker=style.SOLVER_MARKERS[rank % len(style.SOLVER_MARKERS)])
    return result
