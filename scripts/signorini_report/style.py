"""One look for all figures: colour per solver, line per variant, marker per region mode; readable in grey print.

Colours are Okabe and Ito's, distinguishable with every common colour vision deficiency; every colour is doubled by a
marker or a line style.
"""

import matplotlib

matplotlib.use("Agg")
from matplotlib import patheffects, pyplot as plt  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
VERMILION, SKY, BLACK, GREY = "#D55E00", "#56B4E9", "#000000", "#8A8A8A"

SOLVER_COLOURS = {
    "pgs": BLUE, "pcg": ORANGE, "pcg-pgs": GREEN, "ca": PINK, "reference": BLACK, "ica": VERMILION, "ica-cr": "#6A3D9A", "cr-full": SKY,
    "cr-diag": "#004C77", "sp-active-set": "#7A5C00", "sp-cr": "#006B50", "minres": "#8C4A6F",
    "body-newton": "#A6004C", "sap": "#5B7F00", "nsgs": "#4F81BD", "nncg": "#1B3A93", "anderson": "#7FB2E5", "apgd": "#B8860B", "spg": "#D2A24C",
    "fbf": "#8C6D1F", "admm": "#2E8B57", "admm-global": "#7AC29A", "newton": "#C2185B", "prox-newton": "#E377A2", "ipm": "#9C27B0", "schwarz": "#3B7A57", "mass-splitting": "#7B4B2A", "auto": "#B22222",
}
SOLVER_ORDER = list(SOLVER_COLOURS)
SPARE_COLOURS = ["#5D3A9B", "#994F00", "#40B0A6", "#DC3220", "#4B4B4B"]

# Region mode: marker and whether it is filled.
REGION_MARKS = {"none": ("o", False), "points": ("o", True), "islands": ("s", True), "points-approx": ("^", True),
                "points-inner": ("D", True), "auto": ("v", True)}
REGION_ORDER = list(REGION_MARKS)
REGION_WORDS = {"none": "whole", "points": "regions (points)", "islands": "islands",
                "points-approx": "regions (points, approximate)", "points-inner": "regions inside (points-inner)",
                "auto": "islands (auto)"}
LINES = ["-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1))]
SOLVER_MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "*"]

CYCLE = [BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, BLACK, GREY]  # where solvers do not tell the lines apart

HALO = [patheffects.withStroke(linewidth=1.8, foreground="white")]  # around numbers that stand on marks
FULL_WIDTH = 7.1  # inches: the text width of a two-column journal page


def apply():
    plt.rcdefaults()
    plt.rcParams.update({
        "svg.hashsalt": "signorini", "svg.fonttype": "path",
        "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8.5, "axes.labelsize": 8,
        "xtick.labelsize": 7.5, "ytick.labelsize": 7.5, "legend.fontsize": 7.5, "legend.frameon": False,
        "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.7,
        "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.5, "axes.axisbelow": True,
        "lines.linewidth": 1.4, "lines.markersize": 4.5, "figure.dpi": 100, "savefig.dpi": 200,
        "axes.titlelocation": "left", "xtick.major.width": 0.7, "ytick.major.width": 0.7,
    })


def solver_colour(solver, all_solvers):
    if solver in SOLVER_COLOURS:
        return SOLVER_COLOURS[solver]
    unknown = sorted(name for name in set(all_solvers) if name not in SOLVER_COLOURS)
    return SPARE_COLOURS[unknown.index(solver) % len(SPARE_COLOURS)]


def sorted_solvers(names):
    return sorted(names, key=lambda name: (SOLVER_ORDER.index(name) if name in SOLVER_ORDER else 99, name))


def sorted_regions(names):
    return sorted(names, key=lambda name: (REGION_ORDER.index(name) if name in REGION_ORDER else 99, name))


def region_mark(mode):
    return REGION_MARKS.get(mode, ("v", True))


def region_handles(modes):
    handles = []
    for mode in modes:
        marker, filled = region_mark(mode)
        handles.append(Line2D([], [], linestyle="none", marker=marker, color="#444444", markeredgewidth=1.1,
                              markerfacecolor="#444444" if filled else "white", label=REGION_WORDS.get(mode, mode)))
    return handles


def save(figure, folder, name):
    """Writes name.svg and name.png; equal data give equal bytes."""
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight", pad_inches=0.06)
    figure.savefig(folder / f"{name}.png", metadata={"Software": None}, bbox_inches="tight", pad_inches=0.06)
    plt.close(figure)
