"""The figures of one experiment. Each function draws one picture and returns True, or False when the data have none."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from signorini_report import expect, style
from signorini_report.data import ReportError, measured, scene_of
from signorini_report.tables import config_labels, rows_for

GREY = "#8A8A8A"


def plain_log(axis):
    """1, 10, 100 and 0.1 instead of powers of ten; also 2 and 5 where the axis spans less than two decades."""
    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low) if low > 0 else 3.0
    subs = (1.0,) if decades > 2.2 else (1.0, 2.0, 5.0) if decades > 0.6 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=14))
    axis.set_major_formatter(FuncFormatter(
        lambda value, _: f"{value:g}" if 1e-3 <= value <= 1e4 else f"$10^{{{np.log10(value):.0f}}}$"))
    axis.set_minor_formatter(NullFormatter())


def time_unit(seconds):
    """(factor, unit) in which typical times are numbers that one likes to read."""
    seconds = np.asarray(seconds, dtype=float)
    seconds = seconds[np.isfinite(seconds) & (seconds > 0)]
    middle = float(np.median(seconds)) if seconds.size else 1e-3
    return (1e6, "µs") if middle < 2e-4 else (1e3, "ms") if middle < 0.5 else (1.0, "s")


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


def resampled(traces, horizontal, points):
    """Residual of every trace at common abscissae: before its first entry the first, after its end the last value."""
    table = np.empty((len(traces), len(points)))
    for row, trace in enumerate(traces):
        x = trace.iteration if horizontal == "iteration" else trace.seconds
        table[row] = trace.residual[np.maximum(np.searchsorted(x, points, side="right") - 1, 0)]
        if trace.residual[-1] <= trace.tolerance:
            table[row, points > x[-1]] = 0.0  # recorded until well below the tolerance: from there on below the picture
    return np.where(np.isfinite(table), table, 1e3)  # overflow and NaN lie beyond the top of the picture


def convergence(experiment, folder, horizontal, law):
    """Small multiples, one per variant: median over the snapshots, 10 to 90 % band, the other medians in grey."""
    traces = [trace for trace in experiment.traces if trace.law == law and trace.tolerance == experiment.tolerance] or \
        [trace for trace in experiment.traces if trace.law == law]
    if not traces:
        return False
    modes = {trace.region_mode for trace in traces}
    mode = "none" if "none" in modes else style.sorted_regions(modes)[0]
    threads = min(trace.threads for trace in traces if trace.region_mode == mode)
    traces = [trace for trace in traces if trace.region_mode == mode and trace.threads == threads]
    frame = pd.DataFrame({"solver": [t.solver for t in traces], "variant": [t.variant for t in traces]})
    pairs, look = variants_of(frame), looks(experiment.runs)
    factor, unit = time_unit([t.seconds[-1] for t in traces])
    ends = [float((t.iteration if horizontal == "iteration" else t.seconds * factor)[-1]) for t in traces]
    positive = [float(t.seconds[t.seconds > 0][0]) * factor for t in traces if np.any(t.seconds > 0)]
    if horizontal == "iteration":
        points = np.unique(np.round(np.geomspace(1, max(2.0, max(ends)), 200))).astype(float)
        label = "iteration"
    else:
        if not positive:
            return False
        points = np.geomspace(np.percentile(positive, 5), max(ends), 240)
        label = f"time [{unit}]"
    smallest = min((np.nanmin(t.residual[t.residual > 0]) for t in traces if np.any(t.residual > 0)), default=1e-12)
    floor = 1e-16
    curves = {}
    for _, variant in pairs:
        own = [t for t in traces if t.variant == variant]
        scale = 1.0 if horizontal == "iteration" else 1.0 / factor
        table = resampled(own, horizontal, points * scale)
        curves[variant] = [np.maximum(line, floor) for line in np.percentile(table, [10, 50, 90], axis=0)]
    columns = min(3, len(pairs))
    lines = -(-len(pairs) // columns)
    figure, grid = plt.subplots(lines, columns, squeeze=False, sharex=True, sharey=True,
                                figsize=(style.FULL_WIDTH * min(1.0, 0.12 + 0.32 * columns), 0.5 + 1.75 * lines),
                                gridspec_kw={"hspace": 0.3, "wspace": 0.13})
    tolerances = sorted({t.tolerance for t in traces if t.tolerance > 0})
    for place, (_, variant) in enumerate(pairs):
        axes = grid[place // columns][place % columns]
        for _, other in pairs:
            if other != variant:
                axes.plot(points, curves[other][1], color="#C4C4C4", linewidth=0.8)
        low, middle, high = curves[variant]
        colour = look[variant]["color"]
        axes.fill_between(points, low, high, color=colour, alpha=0.22, linewidth=0)
        axes.plot(points, middle, color=colour, linewidth=1.8)
        own = [t for t in traces if t.variant == variant]
        failed = [t for t in own if not np.any(t.residual <= t.tolerance * (1 + 1e-9))]
        for t in failed:
            x = float(t.iteration[-1]) if horizontal == "iteration" else float(t.seconds[-1]) * factor
            y = t.residual[-1] if np.isfinite(t.residual[-1]) else 10.0
            axes.plot([x], [min(max(y, floor), 10.0)], marker="x", color="#B00000", markersize=4, markeredgewidth=1.0,
                      linestyle="none", clip_on=False, zorder=5)
        for tolerance in tolerances:
            axes.axhline(tolerance, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 2)))
        share = f"{len(own) - len(failed)} of {len(own)}"
        axes.set_title(variant, pad=3, color=colour, fontweight="bold", fontsize=title_size(variant, columns))
        axes.text(0.97, 0.95, share + " reach the tolerance" if place == 0 else share, transform=axes.transAxes, ha="right",
                  va="top", fontsize=6.5, color="#B00000" if failed else "#444444",
                  bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0})
        axes.set_xscale("log")
        axes.set_yscale("log")
    bottom = max(floor, min(smallest, min(tolerances, default=1e-6)) * 0.3)
    bottom = max(bottom, min(tolerances, default=1e-6) * 1e-4)
    grid[0][0].set_ylim(bottom, 30.0)
    grid[0][0].set_xlim(points[0] * (0.9 if horizontal == "iteration" else 1.0), points[-1] * 1.05)
    for place in range(len(pairs), lines * columns):
        grid[place // columns][place % columns].set_visible(False)
    for column in range(columns):
        below = max(place // columns for place in range(len(pairs)) if place % columns == column)
        axes = grid[below][column]
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(label)
        plain_log(axes.xaxis)
    for line in range(lines):
        grid[line][0].set_ylabel("residual [–]")
        grid[line][0].yaxis.set_major_locator(LogLocator(base=10, numticks=7))
        grid[line][0].yaxis.set_minor_formatter(NullFormatter())
    handles = [Line2D([], [], color="#444444", linewidth=1.8, label="median snapshot"),
               Patch(facecolor="#444444", alpha=0.22, label="10–90 % of the snapshots"),
               Line2D([], [], color="#C4C4C4", linewidth=0.9, label="medians of the others"),
               Line2D([], [], color="#000000", linewidth=0.7, linestyle=(0, (1, 2)), label="tolerance"),
               Line2D([], [], color="#B00000", marker="x", markersize=4, linestyle="none", label="not reached")]
    figure.legend(handles=handles, loc="lower center", ncol=5, handlelength=1.8, columnspacing=1.2,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.66 / figure.get_size_inches()[1]))
    style.save(figure, folder, f"convergence_{'iterations' if horizontal == 'iteration' else 'time'}_{law}")
    return True


def steps_axis(experiment, rows):
    """The step number where all steps are numbers of one file, else the running number of the snapshot."""
    try:
        values = rows["step"].astype(float)
        if rows["file"].nunique() == 1:
            return values.to_numpy(), "step of the recording"
    except ValueError:
        pass
    return np.arange(len(rows), dtype=float), "snapshot"


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
        left.set_xlim(0, max(counts[-1] * 1.12, float(pairs["speedup"].quantile(0.9))))
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
    right.set_ylim(0, max(counts[-1] * 1.12, float(most["speedup"].quantile(0.98)) * 1.05))
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
    columns = legend_columns(len(used), 4)
    figure.legend(handles=by_rows(used, columns), loc="upper center", ncol=columns, handlelength=2.8, columnspacing=1.2,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.42 / figure.get_size_inches()[1]))
    style.save(figure, folder, "growth")
    return True


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


def ratios(experiment, folder):
    """A ratio of two rows of one snapshot against its size, one panel per variant, one colour per scene: [ratios]."""
    wanted = experiment.config.get("ratios")
    if wanted is None:
        return False
    against = wanted.get("against", "contacts")
    runs = experiment.runs[experiment.runs["tolerance"] == experiment.tolerance]
    match = wanted.get("match", ["file", "step", "label"])
    try:
        pairs = expect.pairs_of(runs, wanted | {"match": match + [key for key in ("family", against) if key not in match]})
    except expect.Impossible as impossible:
        raise ReportError(f"{experiment.folder / 'config.toml'}: [ratios]: {impossible}") from impossible
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


def series(experiment, folder):
    """Columns of the recordings' statistics over time, one panel per recording: [series]."""
    table, wanted = experiment.series, experiment.config.get("series", {})
    if table is None or len(table.columns) < 3:
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
    names = [recording["name"] for recording in experiment.config.get("recordings", [])]
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


def solved(experiment, folder):
    """Share of the problems solved within a number of iterations, one panel per law, one line per variant."""
    rows = rows_for(experiment, "converge")
    rows = rows[(rows["region_mode"] == "none") & (rows["status"] != "unsupported") & (rows["label"] != "")]
    if rows.empty or rows.groupby(["file", "step"]).ngroups < 3:
        return False
    laws = laws_of(rows)
    labels = [label for label in config_labels(experiment) if label in set(rows["label"])]
    look = label_looks(experiment, labels)
    figure, grid = plt.subplots(1, len(laws), squeeze=False, sharey=True, sharex=True,
                                figsize=(style.FULL_WIDTH * (1.0 if len(laws) > 1 else 0.66), 2.8), gridspec_kw={"wspace": 0.08})
    most = float(rows.loc[rows["solved"] == 1, "iterations"].max()) if (rows["solved"] == 1).any() else 2.0
    for column, law in enumerate(laws):
        axes = grid[0][column]
        drawn = []
        for label in labels:
            own = rows[(rows["label"] == label) & (rows["law"] == law)]
            if own.empty:
                continue
            drawn.append(label)
            values = np.sort(own.loc[own["solved"] == 1, "iterations"].to_numpy(float))
            x = np.concatenate([[0.9], np.maximum(values, 1.0), [1.05 * most]])
            y = 100.0 * np.concatenate([[0], np.arange(1, len(values) + 1), [len(values)]]) / len(own)
            axes.step(x, y, where="post", color=look[label]["color"], linestyle=look[label]["linestyle"], linewidth=1.5)
        axes.set_xscale("log")
        axes.set_xlim(0.9, 1.05 * max(2.0, most))
        axes.set_ylim(0, 104)
        axes.set_title(f"law: {law}, {rows[rows['law'] == law].groupby(['file', 'step']).ngroups} problems")
        axes.set_xlabel("iterations")
        plain_log(axes.xaxis)
        handles = [Line2D([], [], color=look[v]["color"], linestyle=look[v]["linestyle"], linewidth=1.5, label=v) for v in drawn]
        axes.legend(handles=handles, loc="upper left", fontsize=6, handlelength=2.4)
    grid[0][0].set_ylabel("problems solved [%]")
    style.save(figure, folder, "solved")
    return True


def ladder(experiment, folder):
    """Work and failures of one variant family over an option's values, relative to another variant: [ladder]."""
    wanted = experiment.config.get("ladder")
    if wanted is None:
        return False
    option = f"options.{wanted['option']}"
    runs = experiment.runs[(experiment.runs["protocol"] == wanted.get("protocol", "self-stopped")) & (experiment.runs["region_mode"] == "none")
                           & (experiment.runs["threads"] == experiment.runs["threads"].min()) & (experiment.runs["repetition"] == 0)]
    if option not in runs.columns or runs.empty:
        return False
    columns = wanted.get("columns", ["products", "iterations"])
    laws = laws_of(runs)
    figure, (left, right) = plt.subplots(1, 2, figsize=(style.FULL_WIDTH, 2.7), gridspec_kw={"wspace": 0.28})
    colours, drawn = {"cone": style.BLUE, "pyramid": style.VERMILION}, False
    for law in laws:
        part = runs[runs["law"] == law]
        base = part[part["label"].isin(wanted["beside"])].set_index(["file", "step"])
        family = part[(part["solver"] == wanted["solver"]) & (part[option] != "")]
        family = family.assign(value=pd.to_numeric(family[option], errors="coerce")).dropna(subset=["value"])
        if base.empty or family.empty:
            continue
        drawn = True
        steps = sorted(set(family["value"]))
        for column, dashes, marker in zip(columns, style.LINES, style.SOLVER_MARKERS):
            y = []
            for value in steps:
                own = family[family["value"] == value].set_index(["file", "step"])[column]
                common = own.index.intersection(base.index)
                y.append(own.loc[common].sum() / max(1e-300, base.loc[common, column].sum()))
            left.plot(steps, y, color=colours.get(law, GREY), linestyle=dashes, marker=marker, markersize=4, linewidth=1.4,
                      label=f"{WORK_WORDS.get(column, column)}, {law}")
        share = [100.0 * family.loc[family["value"] == value, "unsolved"].mean() for value in steps]
        right.plot(steps, share, color=colours.get(law, GREY), linestyle="-" if law == laws[0] else (0, (4, 1.5)),
                   marker="o", markersize=3.5, linewidth=1.4, label=f"combined, {law}")
        right.axhline(100.0 * base["unsolved"].mean(), color=colours.get(law, GREY), linewidth=1.0, linestyle=(0, (1, 1)) if law == laws[0] else (0, (3, 3)),
                      label=f"{wanted['beside'][0].split(',')[0]}, {law}")
    if not drawn:
        plt.close(figure)
        return False
    left.axhline(1.0, color=GREY, linewidth=0.8)
    left.set_ylabel(f"sum ÷ that of {wanted['beside'][0].split(',')[0]}")
    left.set_ylim(0, 1.15 * left.get_ylim()[1])
    right.set_ylabel("not solved within the caps [%]")
    right.set_ylim(bottom=-0.05 * max(1e-9, right.get_ylim()[1]))
    for axes in (left, right):
        axes.set_xscale("log")
        axes.invert_xaxis()
        axes.set_xlabel(wanted.get("label", wanted["option"]))
        axes.legend(fontsize=6, loc="best", handlelength=2.4)
    style.save(figure, folder, "ladder")
    return True


WORK_WORDS = {"products": "products with W", "iterations": "iterations", "solve_seconds": "time"}


def profile(experiment, folder):
    """Performance profile: the share of snapshots solved within a factor of the fastest variant on the same snapshot."""
    rows = measured(experiment)
    if rows.empty:
        return False
    rows = rows[rows["threads"] == rows["threads"].min()]
    laws, modes = laws_of(rows), style.sorted_regions(set(rows["region_mode"]))
    laws = [law for law in laws if len(variants_of(rows[rows["law"] == law])) > 1]  # one alone has nobody to compare with
    if rows.groupby(["file", "step"]).ngroups < 3 or not laws:
        return False
    mode = "points" if "points" in modes else modes[0]
    figure, grid = plt.subplots(1, len(laws), squeeze=False, sharey=True,
                                figsize=(style.FULL_WIDTH * (1.0 if len(laws) > 1 else 0.62), 2.6), gridspec_kw={"wspace": 0.1})
    look = looks(experiment.runs)
    used = []
    for column, law in enumerate(laws):
        axes = grid[0][column]
        part = rows[(rows["law"] == law) & (rows["region_mode"] == mode)]
        cost = part.assign(cost=np.where(part["solved"] == 1, part["solve_seconds"], np.inf)).pivot_table(
            index=["file", "step", "tolerance"], columns="variant", values="cost", aggfunc="median")
        best = cost.min(axis=1)
        ratio = cost.div(best, axis=0).where(np.isfinite(best), np.inf, axis=0)
        finite = ratio.to_numpy()[np.isfinite(ratio.to_numpy())]
        limit = max(2.0, float(finite.max()) * 1.15) if finite.size else 2.0
        for _, variant in variants_of(part):
            values = np.sort(ratio[variant].to_numpy())
            values = values[np.isfinite(values)]
            x = np.concatenate([[1.0], values, [limit]])
            y = 100.0 * np.concatenate([[np.sum(values <= 1.0)], np.arange(1, len(values) + 1), [len(values)]]) / len(ratio)
            axes.step(x, y, where="post", color=look[variant]["color"], linestyle=look[variant]["linestyle"], linewidth=1.6)
            if variant not in used:
                used.append(variant)
        axes.set_xscale("log")
        axes.set_xlim(1, limit)
        axes.set_ylim(0, 104)
        axes.set_title(f"law: {law}, {style.REGION_WORDS.get(mode, mode)}")
        axes.set_xlabel("time ÷ best time on the same snapshot")
        plain_log(axes.xaxis)
    grid[0][0].set_ylabel("snapshots solved [%]")
    handles = [Line2D([], [], color=look[v]["color"], linestyle=look[v]["linestyle"], linewidth=1.6, label=v) for v in used]
    columns = legend_columns(len(handles))
    figure.legend(handles=by_rows(handles, columns), loc="upper center", ncol=columns, handlelength=2.8, columnspacing=1.2,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.4 / figure.get_size_inches()[1]))
    style.save(figure, folder, "profile")
    return True


NORM_LOOKS = {  # as in Verschoor and Jalba 2019, Fig. 6: three norms of one residual
    "plain": ("residual of the system", style.BLUE, "-", 1.3),
    "preconditioned": ("preconditioned", style.VERMILION, (0, (4, 1.4)), 1.1),
    "constraint": ("of the active constraints", style.GREEN, (0, (1.2, 1.2)), 1.1)}
MOST_HISTORIES = 9


def histories_to_show(experiment):
    """Traces of solvers that precondition a system, whole problems: of the snapshot that the config's [histories] names, else of the one with most
    contacts among those that most variants have."""
    traces = [trace for trace in experiment.traces if trace.region_mode == "none"
              and any(np.isfinite(trace.progress.get(norm, np.nan)).any() for norm in ("preconditioned", "constraint"))]
    wanted = experiment.config.get("histories", {})
    if "variants" in wanted:
        traces = [trace for trace in traces if trace.label in wanted["variants"]]
        traces.sort(key=lambda trace: wanted["variants"].index(trace.label))
    if "problem" in wanted:
        traces = [trace for trace in traces if trace.file.split("-")[0] == wanted["problem"] or trace.file == wanted["problem"]]
    if not traces:
        return []
    contacts = experiment.runs.groupby(["file", "step"])["contacts"].first()
    snapshots = {}
    for trace in traces:
        snapshots.setdefault((trace.file, trace.step), []).append(trace)
    best = max(snapshots, key=lambda key: (len(snapshots[key]), contacts.get(key, 0), key))
    return snapshots[best][:MOST_HISTORIES]


def events(trace, kind):
    """Iterations at which a counter grew."""
    counts = trace.progress.get(kind)
    return trace.iteration[1:][np.diff(counts) > 0] if counts is not None else np.empty(0)


def histories(experiment, folder):
    """One panel per variant: the three norms that a solver knows of itself, with its events, over the iterations."""
    traces = histories_to_show(experiment)
    if not traces:
        return False
    columns = min(3 if len(traces) > 4 else 2, len(traces))
    lines = -(-len(traces) // columns)
    height = 1.9 if columns > 2 else 2.2
    figure, grid = plt.subplots(lines, columns, squeeze=False, sharey=True,
                                figsize=(style.FULL_WIDTH * (1.0 if columns > 1 else 0.62), 0.55 + height * lines),
                                gridspec_kw={"hspace": 0.42, "wspace": 0.1})
    lowest, highest = np.inf, 0.0
    ends = []
    for trace in traces:  # a run is recorded beyond the tolerance: the end of the picture is a little behind it
        reached = np.flatnonzero(trace.residual <= trace.tolerance * (1 + 1e-9))
        end = len(trace.iteration) if not reached.size else min(len(trace.iteration), int(1.15 * reached[0]) + 4)
        ends.append((end, trace.iteration[reached[0]] if reached.size else None))
        for norm in NORM_LOOKS:
            values = trace.progress.get(norm, np.empty(0))[:end]
            values = values[np.isfinite(values) & (values > 0)]
            if values.size:
                lowest, highest = min(lowest, values.min()), max(highest, values.max())
    lowest = max(lowest, 1e-12 * highest)
    for place, (trace, (end, first)) in enumerate(zip(traces, ends)):
        axes = grid[place // columns][place % columns]
        x = trace.iteration[:end]
        for norm, (_, colour, dashes, width) in NORM_LOOKS.items():
            values = np.array(trace.progress.get(norm, np.full(len(trace.iteration), np.nan))[:end], dtype=float)
            values[~(values > 0)] = np.nan
            axes.plot(x, values, color=colour, linestyle=dashes, linewidth=width, solid_joinstyle="round")
        rug = axes.get_xaxis_transform()
        for kind, level, colour in (("state_changes", 0.0, "#555555"), ("restarts", 0.055, style.PINK)):
            at = events(trace, kind)
            at = at[at <= x[-1]]
            axes.vlines(at, level, level + 0.045, transform=rug, color=colour, linewidth=0.6)
        for kind, colour in (("relinearisations", style.BLACK), ("guards", style.ORANGE)):
            at = events(trace, kind)
            at = at[at <= x[-1]]
            axes.plot(at, np.full(len(at), 0.965), transform=rug, linestyle="none", marker="v", markersize=3.4, color=colour,
                      markeredgewidth=0)
        if first is not None:
            axes.axvline(first, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 2)))
        count = f"{first}" if first is not None else f"> {trace.iteration[-1]}"
        axes.set_title(trace.label, pad=3, fontweight="bold", fontsize=title_size(trace.label, columns))
        axes.text(1.0, 1.02, f"{count} iterations", transform=axes.transAxes, ha="right", va="bottom", fontsize=6.5,
                  color="#444444" if first is not None else "#B00000")
        axes.set_yscale("log")
        axes.set_xlim(0, max(1, x[-1]))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.set_xlabel("iteration" if place + columns >= len(traces) else "")
    decades = np.log10(highest / lowest)
    grid[0][0].set_ylim(lowest * 10 ** (-0.16 * decades), highest * 10 ** (0.12 * decades))
    for line in range(lines):
        grid[line][0].set_ylabel("norm [m/s]")
        grid[line][0].yaxis.set_major_locator(LogLocator(base=10, numticks=8))
        grid[line][0].yaxis.set_minor_formatter(NullFormatter())
    for place in range(len(traces), lines * columns):
        grid[place // columns][place % columns].set_visible(False)
    told = {kind for trace in traces for kind in EVENT_WORDS if events(trace, kind).size}
    handles = [Line2D([], [], color=colour, linestyle=dashes, linewidth=width, label=word)
               for word, colour, dashes, width in NORM_LOOKS.values()]
    handles += [Line2D([], [], linestyle="none", color=colour, marker=marker, markersize=5 if marker == "|" else 3.6,
                       markeredgewidth=0.9 if marker == "|" else 0, label=word)
                for kind, (word, colour, marker) in EVENT_WORDS.items() if kind in told]
    handles.append(Line2D([], [], color="#000000", linewidth=0.7, linestyle=(0, (1, 2)), label="tolerance met (referee)"))
    wide = legend_columns(len(handles), 4)
    figure.legend(handles=by_rows(handles, wide), loc="upper center", ncol=wide, handlelength=2.2, columnspacing=1.4,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.4 / figure.get_size_inches()[1]))
    style.save(figure, folder, "histories")
    (folder / "histories.txt").write_text(f"{traces[0].file} step {traces[0].step}\n", encoding="utf-8")
    return True


EVENT_WORDS = {"state_changes": ("state changes", "#555555", "|"), "restarts": ("restarts", style.PINK, "|"),
               "relinearisations": ("re-linearisations", style.BLACK, "v"), "guards": ("guards", style.ORANGE, "v")}

PICTURES = {  # name: (function, caption), in the order of the page
    "times_and_iterations": (times_and_iterations,
                             "Solve time and iterations to the tolerance, by solver and region mode. Marks are medians over the "
                             "snapshots that were solved, bars their quartiles; the column on the right counts solved snapshots."),
    "profile": (profile, "Performance profile. The height at 1 says how often a solver is the fastest, the height at the right "
                         "end how many snapshots it solves at all."),
    "convergence_iterations": (None, "The referee's residual against the iteration, whole problems on one thread; a red cross "
                                     "ends a run that did not reach the tolerance."),
    "convergence_time": (None, "The referee's residual against solve time, whole problems on one thread; a red cross ends a run "
                               "that did not reach the tolerance."),
    "histories": (histories, "What the solvers know of themselves on one snapshot, by iteration: largest component of the residual "
                             "of the system, of the preconditioned one and of the relative velocity left in active constraints. "
                             "Ticks at the foot are changes of contact states and restarts; the dotted line is the first iteration "
                             "at which the referee's residual meets the tolerance."),
    "growth": (growth, "Iterations that the referee's residual takes to the tolerance, and products with M on the way, against the "
                       "setting at which the problem was recorded. A red cross: not reached."),
    "residuals": (residuals, "The referee's residual where the solver stops by itself, against the setting at which the problem was "
                             "recorded, by region mode."),
    "solved": (solved, "Share of the problems on which the referee's residual meets the tolerance within a number of iterations."),
    "ladder": (ladder, "Work until the solver stops and share of the problems that it does not solve, against the residual at which one "
                       "phase hands over to the other, left to right ever later."),
    "series": (series, "What the recordings measured over time; on the right a short part of it."),
    "incline": (incline, "Which recorded blocks stay and which slide. Every row is one way to drive the same block, every mark one "
                         "recording; the two of a pair lie 0.1 % below and above the critical slope."),
    "ratios": (ratios, "Every mark is one snapshot; dashed lines and numbers are ratios of the sums over all of a scene or family."),
    "contacts": (contacts, "Solve time against the number of contacts in the snapshot, with the fitted power law and its exponent."),
    "regions": (regions, "The recording: contacts and regions over the steps, sizes of the regions, share of the largest."),
    "threads": (threads, "Speed-up by threads on the same snapshot, and where it pays: against the time that one thread needs."),
}


def pictures_in(folder):
    """[(file stem, caption)] of the figures that stand in a folder, in the order of the page."""
    found = []
    for name, (function, caption) in PICTURES.items():
        stems = [name] if function else sorted(path.stem for path in folder.glob(f"{name}_*.svg"))
        for stem in stems:
            if (folder / f"{stem}.svg").is_file():
                if name == "histories" and (folder / "histories.txt").is_file():
                    caption += f" Snapshot: {(folder / 'histories.txt').read_text(encoding='utf-8').strip()}."
                law = "" if function else f" Law: {stem[len(name) + 1:]}."
                found.append((stem, caption + law))
    return found


def draw_all(experiment, folder):
    """Draws what the data allow; pictures of earlier data do not stay behind as if they were current."""
    (folder / "histories.txt").unlink(missing_ok=True)
    for stem, _ in pictures_in(folder):
        for suffix in (".svg", ".png"):
            (folder / (stem + suffix)).unlink(missing_ok=True)
    style.apply()
    wanted = experiment.config.get("figures", list(PICTURES))
    unknown = sorted(set(wanted) - set(PICTURES))
    if unknown:
        raise ReportError(f"{experiment.folder / 'config.toml'}: unknown figure '{unknown[0]}' (known: {', '.join(PICTURES)})")
    for name, (function, _) in PICTURES.items():
        if function and name in wanted:
            function(experiment, folder)
    for law in laws_of(pd.DataFrame({"law": [trace.law for trace in experiment.traces]}, dtype=object)):
        if "convergence_iterations" in wanted:
            convergence(experiment, folder, "iteration", law)
        if "convergence_time" in wanted:
            convergence(experiment, folder, "seconds", law)
