"""The figure of [sweep]: means of steps over a quantity of their recordings, a panel per scene and a line per method, beside the paper's mean."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from signorini_report import style
from signorini_report.data import ReportError
from signorini_report.figure_parts import plain_log
from signorini_report.figures import Figure
from signorini_report.rows import Impossible, numbers, within


def means(experiment, wanted):
    """{(scene, solver): (abscissae, mean of the column)} of the recordings that a solver drives and that agree in the column `by`, ascending."""
    steps = experiment.steps
    if steps is None or not {"recording.scene", "setting.solver.name"} <= set(steps.columns):
        return {}
    try:
        rows = within(steps, wanted)
        rows = rows.assign(_x=numbers(rows, wanted["abscissa"]), _y=numbers(rows, wanted["column"])).dropna(subset=["_x", "_y"])
    except Impossible as impossible:
        raise ReportError(f"{experiment.figures_file}: [sweep]: {impossible}") from impossible
    found = {}
    for (scene, solver, _), part in rows.groupby(["recording.scene", "setting.solver.name", wanted["by"]]):
        if scene in wanted["scenes"] and solver in wanted["methods"]:
            found.setdefault((scene, solver), []).append((part["_x"].mean(), part["_y"].mean()))
    return {pair: np.array(sorted(points)).T for pair, points in found.items()}


def draw_line(axes, points, solver, place, slopes):
    """One method in one panel; with `slopes` its log–log slope where three recordings span a factor of two."""
    x, y = points
    good = (x > 0) & (y > 0)
    x, y, colour = x[good], y[good], style.SOLVER_COLOURS.get(solver, style.BLACK)
    axes.plot(x, y, color=colour, marker=style.SOLVER_MARKERS[place], markersize=3.6, linewidth=1.1)
    if slopes and len(x) > 2 and x.max() >= 2 * x.min():
        slope = np.polyfit(np.log(x), np.log(y), 1)[0]
        axes.text(0.97, 0.03 + 0.06 * place, f"{slope:.2f}", transform=axes.transAxes, fontsize=6.5, color=colour, ha="right")


def sweep(experiment, folder):
    """False where nothing was asked for or nothing ran."""
    wanted = experiment.config.get("sweep")
    if wanted is None:
        return False
    for key in ("column", "abscissa", "by", "scenes", "methods"):
        if key not in wanted:
            raise ReportError(f"{experiment.figures_file}: [sweep] lacks '{key}'")
    found = means(experiment, wanted)
    scenes = [scene for scene in wanted["scenes"] if any(pair[0] == scene for pair in found)]
    if not scenes:
        return False
    names = experiment.definition.names if experiment.definition else {}
    paper = experiment.config.get("methods", {}).get("paper", {})
    figure, grid = plt.subplots(1, len(scenes), squeeze=False, sharey=True, figsize=(style.FULL_WIDTH, 2.6), gridspec_kw={"wspace": 0.08})
    for axes, scene in zip(grid[0], scenes):
        for place, (solver, label) in enumerate(wanted["methods"].items()):
            if (scene, solver) in found:
                draw_line(axes, found[(scene, solver)], solver, place, wanted.get("slopes", True))
            pair = paper.get(scene, {}).get(label, {}).get(wanted["column"])
            if pair:
                axes.axhline(pair[0], color=style.SOLVER_COLOURS.get(solver, style.BLACK), linewidth=0.9, linestyle=(0, (4, 2)), alpha=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_log(axes.xaxis)
        if np.ptp(np.log10(axes.get_xlim())) > 1.15:  # narrow panels have room for powers of ten
            axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0,), numticks=9))
        plain_log(axes.yaxis)
        axes.set_xlabel(wanted.get("abscissa_label", wanted["abscissa"].replace("_", " ")))
        axes.set_title(names.get(scene, scene).replace("_", " "))
    grid[0][0].set_ylabel(wanted.get("label", wanted["column"].replace("_", " ")))
    handles = [Line2D([], [], color=style.SOLVER_COLOURS.get(solver, style.BLACK), marker=style.SOLVER_MARKERS[place], markersize=3.6, label=label)
               for place, (solver, label) in enumerate(wanted["methods"].items()) if any(pair[1] == solver for pair in found)]
    if any(paper.get(scene) for scene in scenes):
        handles.append(Line2D([], [], color="#444444", linestyle=(0, (4, 2)), linewidth=0.9, label="the paper's mean"))
    figure.legend(handles=handles, loc="upper center", ncol=min(6, len(handles)), bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.16))
    style.save(figure, folder, "sweep")
    return True


FIGURES = [
    Figure("sweep", sweep, order=195,
           keys={"sweep": dict.fromkeys(("column", "abscissa", "by", "abscissa_label", "label", "scenes", "methods", "at_least", "at_most", "slopes"))},
           caption="Means over steps of recordings; numbers are log–log slopes, dashed lines the paper's means."),
]
