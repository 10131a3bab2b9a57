"""The figure of [methods]: what every method takes over what the reference takes, scene by scene, beside the paper's ratio."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from signorini_report import style, table_methods
from signorini_report.figure_parts import GREY, plain_log
from signorini_report.figures import Figure

COLUMNS = (("resolution", "time ÷ that of {} (right: slower)"), ("iterations", "iterations ÷ those of {} (right: more)"))


def methods(experiment, folder):
    """A row per scene and method, a panel for time and one for iterations; marks are tables of the experiment, hollow where a method did not
    solve all, crosses the paper's. False where nothing was asked for or nothing ran."""
    config = experiment.config.get("methods")
    if config is None:
        return False
    table_methods.check(experiment, config)
    reference = config["reference"]
    rows, paper = table_methods.ratios(experiment)
    if not rows:
        return False
    places = list(dict.fromkeys((row["scene"], row["method"]) for row in rows))
    places.sort(key=lambda pair: (config["scenes"].index(pair[0]), config["methods"].index(pair[1])))
    titles = list(dict.fromkeys(row["table"] for row in rows))
    apart = min(0.16, 0.8 / max(1, len(titles) - 1))  # the marks of a row stay in it
    figure, panels = plt.subplots(1, 2, sharey=True, figsize=(style.FULL_WIDTH, 0.8 + 0.17 * len(places)), gridspec_kw={"wspace": 0.05})
    long = len(reference) > 12  # too long for half of the width
    for axes, (column, label) in zip(panels, COLUMNS):
        axes.axvline(1.0, color=GREY, linewidth=0.8)
        for row in rows:
            place = places.index((row["scene"], row["method"]))
            number = titles.index(row["table"])
            if np.isfinite(row[column]):
                axes.plot(row[column], place + apart * (number - (len(titles) - 1) / 2), linestyle="none", marker=style.SOLVER_MARKERS[number],
                          markersize=4, color=style.CYCLE[number], markerfacecolor=style.CYCLE[number] if row["all_solved"] else "white")
        for place, (scene, method) in enumerate(places):
            value = paper.get((scene, method), {}).get(column, np.nan)
            if np.isfinite(value):
                axes.plot(value, place, linestyle="none", marker="x", markersize=5, color=style.BLACK)
        axes.set_xscale("log")
        plain_log(axes.xaxis)
        axes.set_xlabel(label.format(reference).replace(" (right", "\n(right" if long else " (right"))
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    for place, (scene, _) in enumerate(places):
        if place and places[place - 1][0] != scene:
            for axes in panels:
                axes.axhline(place - 0.5, color="#DDDDDD", linewidth=0.7)
    panels[0].set_yticks(range(len(places)), [f"{scene.replace('_', ' ')}, {method}" for scene, method in places])
    panels[0].set_ylim(len(places) - 0.4, -0.6)
    handles = [Line2D([], [], linestyle="none", marker=style.SOLVER_MARKERS[number], color=style.CYCLE[number], label=title)
               for number, title in enumerate(titles)]
    if not all(row["all_solved"] for row in rows):
        handles.append(Line2D([], [], linestyle="none", marker="o", color="#444444", markerfacecolor="white", label="one of the two did not solve all"))
    if paper:
        handles.append(Line2D([], [], linestyle="none", marker="x", color=style.BLACK, label="the paper"))
    figure.legend(handles=handles, loc="upper center", ncol=2, fontsize=7,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - (0.55 if long else 0.4) / figure.get_size_inches()[1]))
    style.save(figure, folder, "methods")
    return True


FIGURES = [
    Figure("methods", methods, order=30, keys=table_methods.KEYS, from_tables=True,
           caption="Time to resolve contacts (left) and iterations (right) of every method, divided by those of the reference method, scene by "
                   "scene, over the problems that both solved. Crosses are the paper's ratios. The numbers are in the tables below."),
]
