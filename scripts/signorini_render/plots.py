"""Small plots over time beside rendered frames: contacts and regions, energies; from the recording's statistics of every step."""

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from PIL import Image

from signorini_render.fonts import INK, PALE

GRID = "#D0D4D8"
DPI = 72  # one point is one pixel


def curves_of(statistics):
    """[(unit, [(label, values, colour)])] of what the statistics hold; potential energy above its lowest value, since heights have no natural
    zero."""
    counts = [(name, statistics[name], colour) for name, colour in (("contacts", "#1F66C4"), ("regions", "#D62728"), ("islands", "#1E9E2E"))
              if name in statistics]
    energies = [(label, statistics[name], colour) for name, label, colour in
                (("kinetic_energy", "kinetic", "#D62728"), ("elastic_energy", "elastic", "#8E44C9")) if name in statistics]
    if "potential_energy" in statistics:
        potential = statistics["potential_energy"]
        if np.isfinite(potential).any():
            energies.append(("potential", potential - np.nanmin(potential), "#1F66C4"))
    if len(energies) == 3:
        energies.append(("sum", sum(values for _, values, _ in energies), INK))
    return [(unit, curves) for unit, curves in (("", counts), ("J", energies)) if curves]


def draw_curves(axes, size, time, curves, unit, marks):
    """Curves over time in s; `marks`: the times of the frames beside them."""
    for mark in marks:
        axes.axvline(mark, color=GRID, linewidth=size / 14, zorder=0)
    for number, (label, values, colour) in enumerate(curves):  # later ones are thinner: equal curves stay visible
        axes.plot(time, values, color=colour, label=label + (f" ({unit})" if unit and number == len(curves) - 1 else ""),
                  linewidth=size / 11 + size / 20 * (len(curves) - 1 - number))
    axes.set_xlim(time[0], max(time[-1], time[0] + 1e-12))
    axes.set_ylim(bottom=0.0)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} s"))
    axes.grid(axis="y", color=GRID, linewidth=size / 14)
    axes.tick_params(labelsize=0.85 * size, labelcolor=PALE, color=GRID, width=size / 14, length=size / 4, pad=size / 4)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=len(curves), frameon=False, fontsize=0.85 * size, labelcolor=INK, borderpad=0.1,
                borderaxespad=0.1, handlelength=1.2, handletextpad=0.4, columnspacing=1.0)


def curves(width, height, size, statistics, marks, beside):
    """All plots as one image of width × height pixels, side by side or one below the other; `size`: of letters, pixels."""
    groups = curves_of(statistics)
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "axes.linewidth": size / 14}):
        figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.8 * size / DPI, h_pad=0.3 * size / DPI)
        shape = (1, len(groups)) if beside else (len(groups), 1)
        for place, (unit, group) in enumerate(groups):
            draw_curves(figure.add_subplot(*shape, place + 1), size, statistics["time"], group, unit, marks)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    return Image.fromarray(np.ascontiguousarray(pixels), "RGB")
