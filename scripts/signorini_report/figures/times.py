"""Figures of times and ratios: per variant, over contacts, over a setting, over threads."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from signorini_report import rows as table_rows, style
from signorini_report.data import ReportError, measured
from signorini_report.figure_parts import GREY, by_rows, laws_of, legend_columns, looks, plain_log, time_unit, title_size, variants_of
from signorini_report.figures import Figure
from signorini_report.tables import config_labels, rows_for


def times_and_iterations(experiment, folder):
    """Dots and quartiles: solve time left, iterations right, one row per variant, one mark per region mode."""
    rows = measured(experiment)
    if rows.empty:
        return False
    rows = rows[rows["threads"] == rows["threads"].min()]
    laws, regions = laws_of(rows), style.sorted_regions(set(rows["region_mode"]))
    counts = [len(variants_of(rows[rows["law"] == law])) for law in laws]
    figure, grid = plt.subplots(len(laws), 2, squeeze=False, sharex="col", figsize=(
        style.FULL_WIDTH, 0.6 + sum(0.25 + count * (0.12 + 0.115 * len(regions)) for count in counts)),
        gridspec_kw={"height_ratios": counts, "hspace": 0.13, "wspace": 0.06})
    spread = 0.62 / max(1, len(regions) - 1) if len(regions) > 1 else 0.0
    look = looks(experiment.runs)
    factor, unit = time_unit(rows["solve_seconds"])
    for line, law in enumerate(laws):
        part = rows[rows["law"] == law]
        pairs = variants_of(part)
        for column, (value, scale) in enumerate((("solve_seconds", factor), ("iterations", 1.0))):
            axes = grid[line][column]
            axes.set_xscale("log")
            for row, (_, variant) in enumerate(pairs):
                for index, mode in enumerate(regions):
                    group = part[(part["variant"] == variant) & (part["region_mode"] == mode)]
                    if group.empty:
                        continue
                    y = row + (index - (len(regions) - 1) / 2) * spread
                    solved = group[group["solved"] == 1]
                    marker, filled = style.region_mark(mode)
                    colour = look[variant]["color"]
                    values = scale * solved[value].astype(float).to_numpy()
                    values = values[values > 0]
                    if values.size:
                        low, middle, high = np.percentile(values, [25, 50, 75])
                        axes.plot([low, high], [y, y], color=colour, linewidth=1.3, solid_capstyle="butt")
                        axes.plot([middle], [y], marker=marker, color=colour, markersize=5, linestyle="none",
                                  markerfacecolor=colour if filled else "white", markeredgewidth=1.2)
                    if column == 1:
                        share = f"{len(solved)}/{len(group)}"
                        axes.text(1.01, y, share, transform=axes.get_yaxis_transform(), fontsize=6.5, va="center",
                                  color="#B00000" if len(solved) < len(group) else "#444444")
            axes.set_yticks(range(len(pairs)))
            axes.set_yticklabels([variant for _, variant in pairs])
            axes.set_ylim(len(pairs) - 0.5, -0.5)
            axes.grid(axis="y", visible=False)
            for row in range(1, len(pairs)):
                axes.axhline(row - 0.5, color="#DDDDDD", linewidth=0.5)
            axes.tick_params(axis="y", length=0)
            if column == 0:
                axes.set_title(f"law: {law}", pad=3)
            else:
                axes.text(1.01, 1.0, "solved", transform=axes.transAxes, fontsize=6.5, va="bottom", color="#444444")
    for axes in grid[:, 1]:
        axes.set_yticklabels([])
    for axes in grid[-1]:
        plain_log(axes.xaxis)
    threads = int(rows["threads"].min())
    grid[-1][0].set_xlabel(f"solve time per snapshot [{unit}], {threads} thread{'s' if threads > 1 else ''}")
    grid[-1][1].set_xlabel("iterations to the tolerance")
    bottom = figure.subplotpars.bottom
    height = figure.get_size_inches()[1]
    figure.legend(handles=style.region_handles(regions) + [Line2D([], [], color="#444444", linewidth=1.3, label="quartiles")],
                  loc="upper center", ncol=len(regions) + 1, bbox_to_anchor=(0.5, bottom - 0.42 / height))
    style.save(figure, folder, "times_and_iterations")
    return True


def threads(experiment, folder):
    """Speed-up against one thread: by variant and region mode, and against the time that one thread needs."""
    rows = measured(experiment)
    counts = sorted(set(rows["threads"])) if len(rows) else []
    split = rows[(rows["region_mode"] != "none") & (rows["solved"] == 1)] if len(rows) else rows
    if len(counts) < 2 or counts[0] != 1 or split.empty:
        return False
    keys = ["file", "step", "variant", "solver", "law", "region_mode", "tolerance"]
    base = split[split["threads"] == 1].set_index(keys)["solve_seconds"].rename("one")
    pairs = split[split["threads"] > 1].join(base, on=keys, how="inner")
    pairs = pairs[(pairs["one"] > 0) & (pairs["solve_seconds"] > 0)]
    if pairs.empty:
        return False
    pairs = pairs.assign(speedup=pairs["one"] / pairs["solve_seconds"])
    law = laws_of(pairs)[0]
    pairs = pairs[pairs["law"] == law]
    modes = style.sorted_regions(set(pairs["region_mode"]))
    variants, look = variants_of(pairs), looks(experiment.runs)
    many = len(counts) > 2
    figure, (left, right) = plt.subplots(1, 2, figsize=(style.FULL_WIDTH, 1.1 + 0.34 * max(5, len(variants))),
                                         gridspec_kw={"wspace": 0.3 if many else 0.24})
    if many:
        for _, variant in variants:
            for mode in modes:
                part = pairs[(pairs["variant"] == variant) & (pairs["region_mode"] == mode)]
                medians = part.groupby("threads")["speedup"].median()
                marker, filled = style.region_mark(mode)
                left.plot([1, *medians.index], [1.0, *medians], color=look[variant]["color"], marker=marker,
                          linestyle=look[variant]["linestyle"], markerfacecolor=look[variant]["color"] if filled else "white")
        left.plot([1, counts[-1]], [1, counts[-1]], color=GREY, linewidth=0.8)
        left.set_xlabel("threads")
        left.set_xticks(counts)
        left.set_ylabel("speed-up, median")
    else:
        spread = 0.5 / max(1, len(modes) - 1) if len(modes) > 1 else 0.0
        for row, (_, variant) in enumerate(variants):
            for index, mode in enumerate(modes):
                part = pairs[(pairs["variant"] == variant) & (pairs["region_mode"] == mode)]["speedup"]
                if part.empty:
                    continue
                y = row + (index - (len(modes) - 1) / 2) * spread
                low, middle, high = np.percentile(part, [25, 50, 75])
                marker, filled = style.region_mark(mode)
                colour = look[variant]["color"]
                left.plot([low, high], [y, y], color=colour, linewidth=1.3)
                left.plot([middle], [y], marker=marker, color=colour, markersize=5, linestyle="none",
                          markerfacecolor=colour if filled else "white")
        left.set_yticks(range(len(variants)))
        left.set_yticklabels([variant for _, variant in variants])
        left.set_ylim(len(variants) - 0.5, -0.5)
        left.grid(axis="y", visible=False)
        left.tick_params(axis="y", length=0)
        left.axvline(1.0, color=GREY, linewidth=0.8)
        left.axvline(counts[-1], color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
        left.set_xlabel(f"speed-up with {counts[-1]} threads: median, quartiles")
        left.set_xlim(0, max(counts[-1] * 1.12, 1.05 * max(float(np.max(line.get_xdata())) for line in left.lines)))
    most = pairs[pairs["threads"] == counts[-1]]
    factor, unit = time_unit(most["one"])
    for _, variant in variants:
        part = most[most["variant"] == variant]
        right.plot(factor * part["one"], part["speedup"], linestyle="none", marker=look[variant]["marker"], markersize=3,
                   color=look[variant]["color"], alpha=0.75, markeredgewidth=0)
    right.set_xscale("log")
    plain_log(right.xaxis)
    right.axhline(1.0, color=GREY, linewidth=0.8)
    right.axhline(counts[-1], color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    right.set_ylim(0, max(counts[-1] * 1.12, 1.05 * float(most["speedup"].max())))
    right.set_xlabel(f"solve time with one thread [{unit}]")
    right.set_ylabel(f"speed-up, {counts[-1]} threads")
    drop = 0.44 / figure.get_size_inches()[1]
    figure.legend(handles=style.region_handles(modes), loc="upper center", ncol=len(modes), handletextpad=0.1,
                  bbox_to_anchor=(0.3, figure.subplotpars.bottom - drop))
    handles = [Line2D([], [], linestyle="none", color=look[v]["color"], marker=look[v]["marker"], label=v) for _, v in variants]
    columns = legend_columns(len(handles), 5)
    figure.legend(handles=by_rows(handles, columns), loc="upper center", ncol=columns, handletextpad=0.1, columnspacing=0.9,
                  bbox_to_anchor=(0.72, figure.subplotpars.bottom - drop))
    style.save(figure, folder, "threads")
    return True


def contacts(experiment, folder):
    """Solve time against the number of contacts, one panel per region mode, with the fitted power."""
    rows = measured(experiment)
    rows = rows[(rows["solved"] == 1) & (rows["contacts"] > 0) & (rows["solve_seconds"] > 0)]
    if rows.empty or rows["contacts"].nunique() < 3:
        return False
    rows = rows[(rows["threads"] == rows["threads"].min()) & (rows["law"] == laws_of(rows)[0])]
    modes = style.sorted_regions(set(rows["region_mode"]))
    pairs, look = variants_of(rows), looks(experiment.runs)
    figure, grid = plt.subplots(1, len(modes), squeeze=False, sharex=True, sharey=True,
                                figsize=(style.FULL_WIDTH * min(1.0, 0.15 + 0.32 * len(modes)), 2.7),
                                gridspec_kw={"wspace": 0.08})
    factor, unit = time_unit(rows["solve_seconds"])
    spans = rows["contacts"].max() >= 2 * rows["contacts"].min()
    for column, mode in enumerate(modes):
        axes = grid[0][column]
        part = rows[rows["region_mode"] == mode]
        axes.set_title(style.REGION_WORDS.get(mode, mode))
        powers = []
        for _, variant in pairs:
            own = part[part["variant"] == variant]
            if own.empty:
                continue
            x, y = own["contacts"].to_numpy(float), factor * own["solve_seconds"].to_numpy(float)
            axes.plot(x, y, linestyle="none", marker=look[variant]["marker"], markersize=2.6, alpha=0.55,
                      color=look[variant]["color"], markeredgewidth=0)
            if spans and len(own) >= 3 and x.max() >= 2 * x.min():
                power, offset = np.polyfit(np.log(x), np.log(y), 1)
                ends = np.array([x.min(), x.max()])
                axes.plot(ends, np.exp(offset) * ends**power, color=look[variant]["color"], linewidth=1.3,
                          linestyle=look[variant]["linestyle"])
                powers.append((f"{variant}: {power:.2f}", look[variant]["color"]))
        for line, (words, colour) in enumerate([("exponent", "#444444"), *powers] if powers else []):
            axes.text(0.03, 0.97 - 0.07 * line, words, transform=axes.transAxes, fontsize=6, va="top", color=colour)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("contacts")
    plain_log(grid[0][0].xaxis)
    plain_log(grid[0][0].yaxis)
    grid[0][0].set_ylabel(f"solve time [{unit}]")
    handles = [Line2D([], [], color=look[v]["color"], marker=look[v]["marker"], linestyle=look[v]["linestyle"], markersize=3.5,
                      label=v) for _, v in pairs]
    columns = legend_columns(len(handles))
    figure.legend(handles=by_rows(handles, columns), loc="upper center", ncol=columns, handlelength=2.6, columnspacing=1.2,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.38 / figure.get_size_inches()[1]))
    style.save(figure, folder, "contacts")
    return True


def growth(experiment, folder):
    """Iterations, and products with M of the solvers that make them, against a setting of the recordings: [growth]."""
    wanted = experiment.config.get("growth", {})
    column = f"setting.{wanted.get('key', '')}"
    if column not in experiment.runs.columns or not pd.api.types.is_numeric_dtype(experiment.runs[column]):
        return False
    rows = rows_for(experiment, "converge")
    rows = rows[rows[column].notna() & (rows[column] > 0) & (rows["label"] != "")]
    if rows[column].nunique() < 2:
        return False
    labels = [label for label in wanted.get("variants", config_labels(experiment)) if label in set(rows["label"])]
    panels = [("iterations", "iterations to the tolerance")]
    if (rows["mass_products"] > 0).any():
        panels.append(("mass_products", "products with M"))
    figure, grid = plt.subplots(1, len(panels), squeeze=False, sharey=True, figsize=(style.FULL_WIDTH, 3.4),
                                gridspec_kw={"wspace": 0.08})
    colours = {solver: style.solver_colour(solver, set(rows["solver"])) for solver in set(rows["solver"])}
    ranks = {}
    used = []
    for label in labels:
        own = rows[rows["label"] == label]
        solver = own["solver"].iloc[0]
        rank = ranks[solver] = ranks.get(solver, -1) + 1
        look = dict(color=colours[solver], linestyle=style.LINES[rank % len(style.LINES)],
                    marker=style.SOLVER_MARKERS[rank % len(style.SOLVER_MARKERS)])
        used.append(Line2D([], [], markersize=4, linewidth=1.4, label=label, **look))
        for axes, (value, _) in zip(grid[0], panels):
            solved = own[(own["solved"] == 1) & (own[value] > 0)].groupby(column)[value].median()
            axes.plot(solved.index, solved.to_numpy(), markersize=4, linewidth=1.4, **look)
            missed = own[own["solved"] == 0].groupby(column)[value].max()
            missed = missed[missed > 0]
            axes.plot(missed.index, missed.to_numpy(), linestyle="none", marker="x", color="#B00000", markersize=5)
    for axes, (_, words) in zip(grid[0], panels):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(wanted.get("label", wanted["key"]))
        axes.set_title(words)
        at = sorted(set(rows[column]))
        axes.set_xticks(at, [f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-") for value in at])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.margins(x=0.08)
    plain_log(grid[0][0].yaxis)
    grid[0][0].set_ylabel("number")
    columns = legend_columns(len(used), 4)
    figure.legend(handles=by_rows(used, columns), loc="upper center", ncol=columns, handlelength=2.8, columnspacing=1.2,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.42 / figure.get_size_inches()[1]))
    style.save(figure, folder, "growth")
    return True


def ratios(experiment, folder):
    """A ratio of two rows of one snapshot against its size, one panel per variant, one colour per scene: [ratios]."""
    wanted = experiment.config.get("ratios")
    if wanted is None:
        return False
    against = wanted.get("against", "contacts")
    runs = experiment.runs[experiment.runs["tolerance"] == experiment.tolerance]
    match = wanted.get("match", ["file", "step", "label"])
    try:
        pairs = table_rows.pairs_of(runs, wanted | {"match": match + [key for key in ("family", against) if key not in match]})
    except table_rows.Impossible as impossible:
        raise ReportError(f"{experiment.figures_file}: [ratios]: {impossible}") from impossible
    pairs = pairs[(pairs["numerator"] > 0) & (pairs["denominator"] > 0)].reset_index()
    if pairs.empty:
        return False
    panel = next((key for key in ("label", "solver") if key in match), None)
    pairs["panel"] = pairs[panel] if panel else ""
    pairs["ratio"] = pairs["numerator"] / pairs["denominator"]
    labels = wanted.get("variants", config_labels(experiment)) if panel == "label" else style.sorted_solvers(set(pairs["panel"])) \
        if panel else [""]
    labels = [label for label in labels if label in set(pairs["panel"])]
    families = list(dict.fromkeys(name for name in [*experiment.config.get("scenes", []), *sorted(set(pairs["family"]))]
                                  if name in set(pairs["family"])))
    columns = min(3, len(labels))
    lines = -(-len(labels) // columns)
    figure, grid = plt.subplots(lines, columns, squeeze=False, sharex=True, sharey=True, gridspec_kw={"hspace": 0.28, "wspace": 0.08},
                                figsize=(style.FULL_WIDTH * min(1.0, 0.2 + 0.32 * columns), 0.5 + 2.1 * lines))
    colours = [style.BLUE, style.VERMILION, style.GREEN, style.PINK, style.ORANGE]
    for place, label in enumerate(labels):
        axes = grid[place // columns][place % columns]
        axes.axhline(1.0, color=GREY, linewidth=0.8)
        for number, family in enumerate(families):
            part = pairs[(pairs["panel"] == label) & (pairs["family"] == family)]
            if part.empty:
                continue
            colour = colours[number % len(colours)]
            axes.plot(part[against], part["ratio"], linestyle="none", marker=style.SOLVER_MARKERS[number % len(style.SOLVER_MARKERS)],
                      markersize=3, alpha=0.55, color=colour, markeredgewidth=0)
            total = part["numerator"].sum() / part["denominator"].sum()
            axes.axhline(total, color=colour, linewidth=1.0, linestyle=(0, (4, 1.5)))
            axes.text(0.03, 0.95 - 0.085 * number, f"{family}: {total:.2f}", transform=axes.transAxes, fontsize=6.5, va="top", color=colour,
                      bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6})
        axes.set_title(label, pad=3, fontsize=title_size(label, columns))
        axes.set_xscale("log")
        axes.set_yscale("log")
    plain_log(grid[0][0].xaxis)
    plain_log(grid[0][0].yaxis)
    for place in range(len(labels), lines * columns):
        grid[place // columns][place % columns].set_visible(False)
    for column in range(columns):
        below = max(place // columns for place in range(len(labels)) if place % columns == column)
        grid[below][column].tick_params(labelbottom=True)
        grid[below][column].set_xlabel(against)
    for line in range(lines):
        grid[line][0].set_ylabel(wanted.get("label", f"ratio of {wanted['column']}"))
    style.save(figure, folder, "ratios")
    return True


PAIRS = dict.fromkeys(("column", "where", "numerator", "denominator", "denominator_column", "match", "against", "label", "variants"))
FIGURES = [
    Figure("times_and_iterations", times_and_iterations, order=20,
           caption="Solve time and iterations to the tolerance, by solver and region mode. Marks are medians over the snapshots that were solved, "
                   "bars their quartiles; the column on the right counts solved snapshots."),
    Figure("growth", growth, order=100, keys={"growth": dict.fromkeys(("key", "label", "variants"))},
           caption="Iterations until the referee's residual meets the tolerance, and products with M on the way, against the setting at which the "
                   "problem was recorded. A red cross marks a run that did not reach it."),
    Figure("ratios", ratios, order=220, keys={"ratios": PAIRS},
           caption="Every mark is one snapshot; dashed lines and numbers are ratios of the sums over all of a scene or family."),
    Figure("contacts", contacts, order=230,
           caption="Solve time against the number of contacts in the snapshot, with the fitted power law and its exponent."),
    Figure("threads", threads, order=270,
           caption="Speed-up by threads on the same snapshot, and where it pays: against the time that one thread needs."),
]
