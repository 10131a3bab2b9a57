"""Figures of what the scenes do: regions, residuals over a setting, series of recordings, the critical angle."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from signorini_report import style
from signorini_report.data import scene_of
from signorini_report.definition import recordings_of
from signorini_report.figure_parts import GREY, plain_log, steps_axis
from signorini_report.figures import Figure
from signorini_report.tables import config_labels


def regions(experiment, folder):
    """Contacts and regions over the recording; sizes of the regions; share of the largest one."""
    rows = experiment.runs[experiment.runs["status"] != "unsupported"]
    modes = [mode for mode in style.sorted_regions(set(rows["region_mode"])) if mode != "none"]
    if not modes:
        return False
    figure, (count, size, share) = plt.subplots(1, 3, figsize=(style.FULL_WIDTH, 2.3), gridspec_kw={"wspace": 0.42})
    colours = {"points": style.BLUE, "islands": style.VERMILION, "points-approx": style.GREEN}
    lines = {"points": "-", "islands": (0, (4, 1.5)), "points-approx": (0, (1, 1))}
    label, largest_size = "snapshot", 1
    for place, mode in enumerate(modes):
        part = rows[rows["region_mode"] == mode].groupby(["file", "step"], as_index=False, sort=True)[
            ["contacts", "regions", "largest_region", "largest_share"]].first()
        x, label = steps_axis(experiment, part)
        if place == 0:
            count.plot(x, part["contacts"], color="#666666", linewidth=1.0, linestyle=(0, (1, 1.2)), label="contacts")
        look = dict(color=colours.get(mode, style.PINK), linestyle=lines.get(mode, "-"))
        word = {"points": "regions", "islands": "islands"}.get(mode, mode)
        count.plot(x, part["regions"], label=word, **look)
        share.plot(x, 100 * part["largest_share"], label=word, **look)
        sizes = region_sizes(experiment, part, mode)
        if sizes is not None:
            sizes = sizes[sizes["size"] > 0]
            largest_size = max(largest_size, int(sizes["size"].max()))
            edges = 2 ** np.arange(int(sizes["size"].max()).bit_length() + 1)  # 1, 2–3, 4–7, …
            total, _ = np.histogram(sizes["size"], bins=edges, weights=sizes["count"])
            size.stairs(total, np.arange(len(edges)) - 0.5, label=word, linewidth=1.5, baseline=0.5, **look)
    if experiment.region_sizes is not None:
        size.set_ylabel("regions, all snapshots")
        size.set_xlabel("contacts in a region")
    else:
        size.set_ylabel("snapshots")
        size.set_xlabel("contacts in the largest region")
    bins = largest_size.bit_length()
    every = -(-bins // 5)
    size.set_xticks(range(0, bins, every), [f"{2 ** b}–{2 ** (b + 1) - 1}" if b else "1" for b in range(0, bins, every)])
    size.set_yscale("log")
    size.set_ylim(bottom=0.7)
    plain_log(size.yaxis)
    count.set_ylabel("number")
    count.set_ylim(bottom=0)
    count.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    share.set_ylabel("largest region [% of contacts]")
    share.set_ylim(0, 105)
    for axes in (count, share):
        axes.set_xlabel(label)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    handles, names = count.get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncol=len(names), bbox_to_anchor=(0.5, -0.19), handlelength=2.4)
    style.save(figure, folder, "regions")
    return True


def region_sizes(experiment, part, mode):
    """size, count: from regions.csv, else the largest regions alone."""
    if experiment.region_sizes is not None:
        table = experiment.region_sizes
        table = table[table["region_mode"] == mode]
        return table.groupby("size", as_index=False)["count"].sum() if len(table) else None
    table = part.groupby("largest_region", as_index=False).size()
    return table.rename(columns={"largest_region": "size", "size": "count"}) if len(table) else None


def residuals(experiment, folder):
    """Residual with which solvers stop by themselves, against a setting of the recordings ([growth]), by region mode."""
    wanted = experiment.config.get("growth", {})
    column = f"setting.{wanted.get('key', '')}"
    runs = experiment.runs
    if column not in runs.columns or not pd.api.types.is_numeric_dtype(runs[column]):
        return False
    rows = runs[(runs["protocol"] == "self-stopped") & (runs["status"] != "unsupported") & (runs[column] > 0) & (runs["residual"] > 0)
                & (runs["tolerance"] == experiment.tolerance) & (runs["threads"] == runs["threads"].min())]
    if rows.empty or rows[column].nunique() < 2:
        return False
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH * 0.62, 2.8))
    labels = [label for label in wanted.get("variants", config_labels(experiment)) if label in set(rows["label"])]
    for dashes, label in zip(style.LINES, labels):
        for colour, mode in zip(style.CYCLE, style.sorted_regions(set(rows["region_mode"]))):
            own = rows[(rows["label"] == label) & (rows["region_mode"] == mode)].groupby(column)["residual"].max()
            marker, filled = style.region_mark(mode)
            axes.plot(own.index, own.to_numpy(), color=colour, linestyle=dashes, marker=marker, markersize=5, linewidth=1.4,
                      markerfacecolor=colour if filled else "white", label=f"{label}, {style.REGION_WORDS.get(mode, mode)}")
    axes.axhline(experiment.tolerance, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 2)), label="tolerance")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(wanted.get("label", wanted["key"]))
    axes.set_ylabel("residual [–], worst snapshot")
    axes.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.save(figure, folder, "residuals")
    return True


def series(experiment, folder):
    """Columns of the recordings' statistics over time, one panel per recording: [series]."""
    table, wanted = experiment.series, experiment.config.get("series", {})
    if table is None or table.empty or len(table.columns) < 3:
        return False
    columns = [column for column in wanted.get("columns", []) if column in table.columns]
    words = wanted.get("words", columns)
    files = list(dict.fromkeys(table["file"]))
    figure, grid = plt.subplots(len(files), 2, squeeze=False, sharey="row", figsize=(style.FULL_WIDTH, 0.5 + 1.9 * len(files)),
                                gridspec_kw={"hspace": 0.45, "wspace": 0.06, "width_ratios": [1.7, 1.0]})
    for line, file in enumerate(files):
        part = table[table["file"] == file]
        end = float(part["time"].max())
        for axes, (low, high) in zip(grid[line], ((0.0, end), (0.5 * end, 0.5 * end + wanted.get("window", 0.04)))):
            inside = part[(part["time"] >= low) & (part["time"] <= high)]
            for column, word, colour, dashes in zip(columns, words, style.CYCLE, style.LINES):
                axes.plot(inside["time"], inside[column], color=colour, linewidth=0.8 if high == end else 1.3, label=word,
                          linestyle="-" if high == end else dashes)
            axes.axhline(0.0, color=GREY, linewidth=0.7)
            axes.set_xlim(low, high)
            axes.xaxis.set_major_locator(MaxNLocator(nbins=5 if high == end else 3))
        grid[line][0].set_title(scene_of(file), pad=3)
        grid[line][1].set_title(f"{1e3 * wanted.get('window', 0.04):g} ms of it", pad=3)
        grid[line][0].set_ylabel(wanted.get("label", ""))
    for axes in grid[-1]:
        axes.set_xlabel("time [s]")
    handles = [Line2D([], [], color=colour, linewidth=1.4, linestyle=dashes, label=word)
               for word, colour, dashes in zip(words, style.CYCLE, style.LINES)]
    figure.legend(handles=handles, loc="upper center", ncol=len(handles), handlelength=2.6,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.42 / figure.get_size_inches()[1]))
    style.save(figure, folder, "series")
    return True


def incline(experiment, folder):
    """Which recordings slide, against tan(angle) / mu: [incline] names the settings and the fact that tells."""
    wanted = experiment.config.get("incline")
    if wanted is None:
        return False
    angle, fact, friction = f"setting.{wanted['angle']}", f"fact.{wanted['fact']}", f"setting.{wanted['friction']}"
    if angle not in experiment.runs.columns or fact not in experiment.runs.columns:
        return False
    rows = experiment.runs.drop_duplicates("file")
    rows = rows[rows[angle].notna() & rows[fact].notna()]
    mu = rows[friction].fillna(wanted["default"]) if friction in rows.columns else pd.Series(wanted["default"], index=rows.index)
    slope = np.tan(np.radians(rows[angle])) / mu
    critical = np.where(np.abs(slope - 1) < np.abs(slope - np.sqrt(2.0)), 1.0, np.sqrt(2.0))
    rows = rows.assign(slope=1e3 * (slope / critical - 1), critical=critical, group=[scene.rsplit("_", 1)[0] for scene in rows["scene"]],
                       slides=rows[fact] > wanted["limit"])
    if rows.empty:
        return False
    names = [name for name, _, _ in recordings_of(experiment.config)]
    rank = {group: (next((place for place, name in enumerate(names) if group.startswith(name)), len(names)), group)
            for group in set(rows["group"])}
    groups = sorted(rank, key=rank.get)
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH * 0.72, 0.9 + 0.19 * len(groups)))
    for row, group in enumerate(groups):
        part = rows[rows["group"] == group]
        for slides, colour, face in ((False, style.BLUE, style.BLUE), (True, style.VERMILION, "white")):
            own = part[part["slides"] == slides]
            axes.plot(own["slope"], [row] * len(own), linestyle="none", marker="o", markersize=5, color=colour, markerfacecolor=face,
                      markeredgewidth=1.2)
    axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    turned = {group for group, part in rows.groupby("group") if (part["critical"] > 1).all()}
    axes.set_yticks(range(len(groups)), [group.replace("_", " ") + (" (√2 μ)" if group in turned else "") for group in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.25)
    axes.set_xlabel("tan(angle) against μ, or √2 μ [‰]")
    handles = [Line2D([], [], linestyle="none", marker="o", markersize=5, color=colour, markerfacecolor=face, label=word)
               for word, colour, face in (("stays", style.BLUE, style.BLUE), ("slides", style.VERMILION, "white"))]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
    style.save(figure, folder, "incline")
    return True


GROWTH = {"growth": dict.fromkeys(("key", "label", "variants"))}
FIGURES = [
    Figure("residuals", residuals, order=110, keys=GROWTH,
           caption="The referee's residual where the solver stops by itself, against the setting at which the problem was recorded, by region "
                   "mode."),
    Figure("series", series, order=140, keys={"series": dict.fromkeys(("label", "words", "window"))},
           caption="What the recordings measured over time; on the right a short part of it."),
    Figure("incline", incline, order=210, keys={"incline": dict.fromkeys(("angle", "friction", "default", "fact", "limit"))},
           caption="Which recorded blocks stay and which slide. Every row is one way to drive the same block, every mark one recording; the two "
                   "of a pair lie 0.1 % below and above the critical slope."),
    Figure("regions", regions, order=260, caption="The recording: contacts and regions over the steps, sizes of the regions, share of the largest."),
]
