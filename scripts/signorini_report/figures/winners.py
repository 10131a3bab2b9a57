"""The figure `winners`: scenes × methods of [methods], the time of every method over that of the fastest one on the same snapshot."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm

from signorini_report import style, table_methods
from signorini_report.figures import Figure

WORST = 30.0  # slower than this has the same colour


def winners_table(experiment):
    """[{scene, method, problems, solved, ratio}] of the first table of [methods]. `ratio`: geometric mean, over the snapshots that the
    method solved, of its time over the least time of any method on that snapshot; nan where it solved none."""
    config = experiment.config["methods"]
    table_methods.check(experiment, config)
    wanted, frame = next(table_methods.frames(experiment, config), (None, None))
    if frame is None:
        return []
    best = frame[frame["solved"] == 1].groupby(["scene", "problem"])["resolution"].min().rename("best")
    rows = []
    for scene in config["scenes"]:
        for method in config["methods"]:
            own = frame[(frame["scene"] == scene) & (frame["method"] == method)]
            solved = own[own["solved"] == 1].join(best, on=["scene", "problem"])
            if len(own):
                rows.append({"scene": scene, "method": method, "problems": len(own), "solved": len(solved),
                             "ratio": np.exp(np.log(solved["resolution"] / solved["best"]).mean()) if len(solved) else np.nan})
    return rows


def scene_label(experiment, scene):
    """The scene with its size, medians over the snapshots."""
    runs = experiment.runs
    runs = runs[[found == scene for found in table_methods.scenes_of(runs, experiment.config["methods"]["scenes"])]].drop_duplicates(["file", "step"])
    size = f"{runs['contacts'].median():,.0f} contacts" + (f", {runs['dofs'].median():,.0f} dofs" if runs["dofs"].median() > 0 else "")
    return f"{scene.replace('_', ' ')}  ({size})"


def winners(experiment, folder):
    """One cell per scene and method; white cells with a count are methods that did not solve every snapshot. False without [methods]."""
    if "methods" not in experiment.config:
        return False
    rows = winners_table(experiment)
    if not rows:
        return False
    scenes = [scene for scene in experiment.config["methods"]["scenes"] if any(row["scene"] == scene for row in rows)]
    methods = [method for method in experiment.config["methods"]["methods"] if any(row["method"] == method for row in rows)]
    figure, axes = plt.subplots(figsize=(style.FULL_WIDTH, max(1.7, 0.9 + 0.25 * len(scenes))))
    colours = np.full((len(scenes), len(methods)), np.nan)
    for row in rows:
        if row["solved"] == row["problems"]:
            colours[scenes.index(row["scene"]), methods.index(row["method"])] = min(row["ratio"], WORST)
    image = axes.imshow(colours, norm=LogNorm(1.0, WORST), cmap="YlGnBu_r", aspect="auto")
    for scene in scenes:
        own = [row for row in rows if row["scene"] == scene]
        fastest = min((row["ratio"] for row in own if row["solved"] == row["problems"]), default=np.nan)
        for row in own:
            place = (methods.index(row["method"]), scenes.index(scene))
            whole = row["solved"] == row["problems"]
            counts = f"{row['solved']}/{row['problems']}" if len(methods) > 10 else f"{row['solved']} of {row['problems']}"
            text = ratio_text(row["ratio"]) if whole else counts
            dark = whole and row["ratio"] < 3.0
            axes.text(*place, text, ha="center", va="center", fontsize=5 if len(methods) > 10 and len(text) > 3 else 7,
                      color="white" if dark else "black" if whole else style.VERMILION, fontweight="bold" if whole and row["ratio"] == fastest else "normal")
    many = len(methods) > 10
    axes.set_xticks(range(len(methods)), methods, rotation=60 if many else 0, ha="left" if many else "center")
    axes.set_yticks(range(len(scenes)), [scene_label(experiment, scene) for scene in scenes])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xticks(np.arange(len(methods) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(scenes) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    bar = figure.colorbar(image, ax=axes, fraction=0.025, pad=0.015, ticks=[1, 3, 10, 30])
    bar.ax.set_yticklabels(["1", "3", "10", "30"])
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label("time ÷ that of\nthe fastest method")
    style.save(figure, folder, "winners")
    return True


def ratio_text(ratio):
    """1.0, 2.4, 17, >99"""
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}" if ratio < 99.5 else ">99"


FIGURES = [
    Figure("winners", winners, order=40, keys=table_methods.KEYS,
           caption="Time of every method over that of the fastest one on the same snapshot, set-up included; geometric mean over the "
                   "snapshots of a scene. 1.0: the fastest on every snapshot; bold: the fastest on the scene among those that solve every "
                   "snapshot. A count in red: the method reached the residual on so many snapshots only."),
]
