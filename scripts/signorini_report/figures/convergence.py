"""Figures over iterations: convergence, histories, shares of problems solved, profiles, the ladder of switch tolerances."""

import functools

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from signorini_report import style
from signorini_report.data import measured
from signorini_report.figure_parts import (GREY, by_rows, label_looks, laws_of, legend_columns, looks, plain_log, time_unit,
                                           title_size, variants_of)
from signorini_report.figures import Figure
from signorini_report.tables import config_labels, rows_for


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
            x = max(x, points[0])  # one that ends before its first iteration has no place on a logarithmic axis
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


def every_law(experiment, folder, horizontal):
    """One picture for each law of the traced runs."""
    laws = laws_of(pd.DataFrame({"law": [trace.law for trace in experiment.traces]}, dtype=object))
    return any([convergence(experiment, folder, horizontal, law) for law in laws])


def law_of(folder, stem):
    return f" Law: {stem.rsplit('_', 1)[1]}."


def snapshot_of(folder, stem):
    """What `histories` wrote beside its picture."""
    path = folder / f"{stem}.txt"
    return f" Snapshot: {path.read_text(encoding='utf-8').strip()}." if path.is_file() else ""


LADDER = dict.fromkeys(("solver", "option", "beside", "columns", "label", "protocol"))
FIGURES = [
    Figure("profile", profile, order=50,
           caption="Performance profile: the share of snapshots that a solver solves within a factor of the fastest solver's time. The value at 1 "
                   "says how often it is the fastest, the value at the right end how many snapshots it solves at all."),
    Figure("convergence_iterations", functools.partial(every_law, horizontal="iteration"), order=60, several=True, note=law_of,
           caption="The referee's residual against the iteration, whole problems on one thread; a red cross ends a run that did not reach the "
                   "tolerance."),
    Figure("convergence_time", functools.partial(every_law, horizontal="seconds"), order=70, several=True, note=law_of,
           caption="The referee's residual against solve time, whole problems on one thread; a red cross ends a run that did not reach the "
                   "tolerance."),
    Figure("histories", histories, order=80, keys={"histories": dict.fromkeys(("problem", "variants"))}, note=snapshot_of,
           caption="Norms that the solvers compute themselves on one snapshot, by iteration: largest component of the residual of the system, of "
                   "the preconditioned residual and of the relative velocity left in active constraints. Ticks at the foot are changes of contact "
                   "states and restarts; the dotted line is the first iteration at which the referee's residual meets the tolerance."),
    Figure("solved", solved, order=120,
           caption="Share of the problems on which the referee's residual meets the tolerance within a number of iterations."),
    Figure("ladder", ladder, order=130, keys={"ladder": LADDER},
           caption="Work until the solver stops (left) and share of the problems that it does not solve (right), against the residual at which the "
                   "first phase hands over to the second."),
]
