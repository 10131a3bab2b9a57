"""[factors]: quotients of paired rows over contacts, several columns in one panel, beside what a paper says of them."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Patch

from signorini_report import rows as table_rows, style
from signorini_report.data import ReportError
from signorini_report.figure_parts import GREY, plain_log
from signorini_report.figures import Figure

BAND = "#D8D8D8"


def binned(pairs, edges):
    """[(lowest, highest number of contacts, ratio of the sums)] of the bins that hold pairs; an edge belongs to the bin below it."""
    found = []
    for low, high in zip([-np.inf, *edges], [*edges, np.inf]):
        part = pairs[(pairs["contacts"] > low) & (pairs["contacts"] <= high)]
        if len(part):
            found.append((part["contacts"].min(), part["contacts"].max(), part["numerator"].sum() / part["denominator"].sum()))
    return found


def pairs_of(experiment, wanted, panel, column):
    """Pairs of rows with both sides above nothing, and their numbers of contacts."""
    choice = {key: value for key, value in wanted.items() if key in ("numerator", "denominator")}
    match = wanted.get("match", ["file", "step", "label"])
    try:
        rows = table_rows.select(table_rows.select(experiment.runs, wanted.get("where")), panel.get("where"))
        pairs = table_rows.pairs_of(rows, choice | {"column": column, "match": [*match, *(["contacts"] if "contacts" not in match else [])]})
    except table_rows.Impossible as impossible:
        raise ReportError(f"{experiment.figures_file}: [factors]: {impossible}") from impossible
    return pairs[(pairs["numerator"] > 0) & (pairs["denominator"] > 0)].reset_index()


def factors(experiment, folder):
    """A panel per choice of rows: a mark per snapshot and column, ratios of the sums by bins of contacts, the paper's band behind."""
    wanted = experiment.config.get("factors")
    if wanted is None:
        return False
    panels = [(panel, [(line, pairs_of(experiment, wanted, panel, line["column"])) for line in wanted["lines"]]) for panel in wanted["panels"]]
    panels = [(panel, lines) for panel, lines in panels if any(len(pairs) for _, pairs in lines)]
    if not panels:
        return False
    figure, grid = plt.subplots(1, len(panels), squeeze=False, sharey=True, gridspec_kw={"wspace": 0.08},
                                figsize=(style.FULL_WIDTH * min(1.0, 0.22 + 0.39 * len(panels)), 3.0))
    handles = {}
    for axes, (panel, lines) in zip(grid[0], panels):
        axes.axhline(1.0, color=GREY, linewidth=0.8)
        if "band" in panel:
            low, high = panel["band"]
            axes.fill_between([0, 1], low, high, transform=axes.get_yaxis_transform(), color=BAND, linewidth=0, zorder=0)
            axes.text(0.015, 0.98 * low, f"paper: {low:g} to {high:g}", transform=axes.get_yaxis_transform(), fontsize=6.5, va="top", color="#444444")
            handles.setdefault(wanted.get("band_words", "the paper's numbers"), Patch(facecolor=BAND))
        for place, (line, pairs) in enumerate(lines):
            look = dict(color=style.CYCLE[place % len(style.CYCLE)])
            marked, = axes.plot(pairs["contacts"], pairs["numerator"] / pairs["denominator"], linestyle="none", markersize=3, alpha=0.5, markeredgewidth=0,
                                marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)], **look)
            handles.setdefault(line["words"], marked)
            for low, high, ratio in binned(pairs, wanted.get("edges", [])):
                axes.plot([low * 0.97, high * 1.03], [ratio, ratio], linewidth=2.2, solid_capstyle="butt", **look)
                below = place == 0 and len(lines) > 1
                axes.annotate(f"{ratio:.3g}", (np.sqrt(low * high), ratio), xytext=(0, -2 if below else 2), textcoords="offset points", fontsize=6.5,
                              ha="center", va="top" if below else "bottom", path_effects=style.HALO, zorder=4, **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("contacts")
        axes.set_title(panel.get("title", ""))
        found = np.concatenate([pairs["contacts"].to_numpy(float) for _, pairs in lines])
        axes.set_xlim(0.85 * found.min(), 1.18 * found.max())
        plain_log(axes.xaxis)
    plain_log(grid[0][0].yaxis)
    grid[0][0].set_ylabel(wanted.get("label", "ratio"))
    figure.legend(list(handles.values()), list(handles), loc="upper center", ncol=len(handles),
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.38 / figure.get_size_inches()[1]))
    style.save(figure, folder, "factors")
    return True


KEYS = {**dict.fromkeys(("where", "numerator", "denominator", "match", "edges", "label", "band_words")),
        "panels": dict.fromkeys(("title", "where", "band")), "lines": dict.fromkeys(("column", "words"))}
FIGURES = [
    Figure("factors", factors, order=225, keys={"factors": KEYS},
           caption="Every mark is one snapshot. Thick strokes with numbers are ratios of the sums over the snapshots within a bin of contacts; grey is what "
                   "the paper says."),
]
