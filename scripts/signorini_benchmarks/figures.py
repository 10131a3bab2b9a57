"""The two figures: detection time over faces, and the time of a step by phase beside the paper."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from signorini_benchmarks import measured, paper
from signorini_report import style

LOOKS = {"bvh": (style.BLUE, "o"), "hash": (style.VERMILION, "s")}
PHASE_COLOURS = {"detection": style.BLUE, "assembly": style.GREEN, "free": style.ORANGE, "solve": style.VERMILION, "other": style.GREY}
PAPER_COLOURS = {"collision": "#9CC4DE", "resolution": "#EBB18E"}


def power_of_ten(value, _):
    exponent = round(np.log10(value))
    return f"$10^{{{exponent}}}$"


def plain_milliseconds(value, _):
    return f"{value:g}"


def detection(results, folder):
    """Measured one-thread points with the n log n line that fits them, two-thread points, and the parts of a detection."""
    if not measured.detection_points(results, "bvh"):
        return False
    figure, (axes, parts) = plt.subplots(1, 2, figsize=(style.FULL_WIDTH, 3.35), gridspec_kw={"width_ratios": [1.62, 1], "wspace": 0.27})
    handles = []
    for series, words in measured.SERIES[:2]:
        points = measured.detection_points(results, series)
        if not points:
            continue
        colour, marker = LOOKS[series]
        growth = measured.detection_growth(results, series)
        faces = np.array([point.faces for point in points])
        line = np.geomspace(faces[0] / 1.25, faces[-1] * 1.25, 100)
        axes.plot(line, [1e3 * growth.seconds(n) for n in line], color=colour, linewidth=1.0,
                  linestyle="-" if series == "bvh" else (0, (5, 1.5)))
        axes.plot(faces, [1e3 * point.seconds for point in points], marker, color=colour, markersize=4.6, zorder=3)
        handles.append(Line2D([], [], color=colour, marker=marker, markersize=4.6, linewidth=1.0,
                              linestyle="-" if series == "bvh" else (0, (5, 1.5)), label=f"{words}, one thread; {exponent_words(growth)}"))
        if series == "bvh":
            axes.plot(faces, [1e3 * point.seconds_two for point in points], marker, color=colour, markersize=4.6,
                      markerfacecolor="white", markeredgewidth=1.0, zorder=3)
            gain = np.median([point.seconds / point.seconds_two for point in points if point.faces >= 1e4] or [np.nan])
            handles.append(Line2D([], [], linestyle="none", color=colour, marker=marker, markersize=4.6, markerfacecolor="white",
                                  markeredgewidth=1.0, label=f"{words}, two threads" + (f" ({gain:.2f} times as fast)" if gain > 0 else "")))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("faces")
    axes.set_ylabel("one detection [ms]")
    axes.set_title("Growth: points, and lines $c\\,n\\,\\log n$ fitted to them")
    axes.xaxis.set_major_formatter(FuncFormatter(power_of_ten))
    axes.yaxis.set_major_formatter(FuncFormatter(plain_milliseconds))
    axes.yaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 30.0)  # room for the legend
    axes.legend(handles=handles, loc="upper left", handlelength=2.4, labelspacing=0.45, borderaxespad=0.2)
    draw_parts(parts, measured.detection_points(results, "bvh"))
    style.save(figure, folder, "detection")
    return True


def exponent_words(growth):
    if not np.isfinite(growth.exponent):
        return "too few sizes to fit"
    return f"$t \\sim n\\,\\log n\\cdot n^{{{growth.exponent:+.3f} \\pm {growth.doubt:.3f}}}$"


def draw_parts(axes, points):
    """Stacked shares of the three parts, per face: flat but for the logarithm."""
    faces = [point.faces for point in points]
    layers = [[1e9 * point.parts[i] / point.faces for point in points] for i in range(3)]
    names, colours = ["candidates", "tolerance pairs", "crossings"], ["#0072B2", "#56B4E9", "#BFDDF0"]
    axes.stackplot(faces, layers, colors=colours, edgecolor="white", linewidth=0.6)
    axes.set_xscale("log")
    axes.set_xlim(0.97 * min(faces), 1.03 * max(faces))
    axes.set_xlabel("faces")
    axes.set_ylabel("time per face [ns]")
    axes.set_title("Its parts (box tree, one thread)")
    axes.xaxis.set_major_formatter(FuncFormatter(power_of_ten))
    axes.set_ylim(0, 1.42 * max(sum(layer) for layer in zip(*layers)))
    axes.legend(handles=[Patch(color=c, label=n) for n, c in list(zip(names, colours))[::-1]], loc="upper left", ncol=1, borderaxespad=0.2,
                handlelength=1.2)


def step(results, folder):
    """Upper panel: our step at the scale of the paper's two fastest methods; lower panel: our phases at their own scale."""
    ours = measured.main_step(results)
    if ours is None:
        return False
    figure, (above, below) = plt.subplots(2, 1, figsize=(style.FULL_WIDTH, 3.5), gridspec_kw={"height_ratios": [4, 2.3], "hspace": 0.55})
    draw_beside_paper(above, ours)
    draw_phases(below, ours)
    handles = [Patch(color=PHASE_COLOURS[phase], label=words) for phase, words in measured.PHASES]
    handles += [Patch(facecolor=PAPER_COLOURS[part], hatch="////", edgecolor="white", label=f"the paper's {part}") for part in PAPER_COLOURS]
    figure.legend(handles=handles, loc="upper center", ncol=4, bbox_to_anchor=(0.5, 0.02), columnspacing=1.6, handlelength=1.3)
    style.save(figure, folder, "step")
    return True


def label_of(ours, threads):
    return f"Signorini, {ours.solver}, {threads} thread" + ("s" if threads > 1 else "")


def bare(axes, labels):
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def draw_stack(axes, row, ours, threads, unit):
    left = 0.0
    for phase, _ in measured.PHASES:
        width = unit * ours.seconds(phase, threads)
        axes.barh(row, width, left=left, height=0.62, color=PHASE_COLOURS[phase], edgecolor="white", linewidth=0.5)
        left += width
    return left


def draw_beside_paper(axes, ours):
    rows = [row for row in paper.RINGS if row.method in ("ICA", "CR (Full)")][::-1] if ours.rings == 120 else []
    labels = [f"{row.method}, {paper.CORE}" for row in rows] + [label_of(ours, threads) for threads in (1, 2)]
    for place, row in enumerate(rows):
        axes.barh(place, row.collision, height=0.62, color=PAPER_COLOURS["collision"], hatch="////", edgecolor="white", linewidth=0.5)
        axes.barh(place, row.resolution, left=row.collision, height=0.62, color=PAPER_COLOURS["resolution"], hatch="////", edgecolor="white",
                  linewidth=0.5)
        axes.annotate(f"{row.total:.2f} s", (row.total, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7.5)
    for threads in (1, 2):
        place = len(rows) + threads - 1
        end = draw_stack(axes, place, ours, threads, 1.0)
        axes.annotate(f"{end:.2f} s", (end, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7.5)
    bare(axes, labels)
    axes.set_xlim(0, 1.1 * max([row.total for row in rows] + [ours.seconds("step", 1)]))
    axes.set_xlabel("time per step [s]")
    axes.set_title(f"One step of {ours.rings} rings" + (", beside the two fastest methods of Verschoor & Jalba 2019, Table 1" if rows else ""))


def draw_phases(axes, ours):
    total = 1e3 * ours.seconds("step", 1)
    for threads in (1, 2):
        draw_stack(axes, threads - 1, ours, threads, 1e3)
        left = 0.0
        for phase, _ in measured.PHASES:
            width = 1e3 * ours.seconds(phase, threads)
            if width > 0.035 * total:
                axes.text(left + 0.5 * width, threads - 1, f"{width:.0f}", ha="center", va="center", fontsize=7.5,
                          color="black" if phase == "free" else "white")
            left += width
        if threads == 2:
            axes.annotate(f"{ours.ratio('step'):.2f} times as fast", (left, 1), xytext=(5, 0), textcoords="offset points", va="center", fontsize=7.5)
    bare(axes, [label_of(ours, threads) for threads in (1, 2)])
    axes.set_xlim(0, 1.02 * total)
    axes.set_xlabel("time per step [ms]")
    axes.set_title("The same by phase")


def draw_all(results, folder):
    """Returns the names drawn; a picture that the results have no data for does not stay behind."""
    style.apply()
    drawn = []
    for name, function in (("detection", detection), ("step", step)):
        if function(results, folder):
            drawn.append(name)
        else:
            for suffix in (".svg", ".png"):
                (folder / (name + suffix)).unlink(missing_ok=True)
    return drawn
