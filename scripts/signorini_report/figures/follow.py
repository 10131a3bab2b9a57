"""The figure of regions followed over time: [follow]."""

from matplotlib import pyplot as plt

from signorini_report import style
from signorini_report.figure_parts import plain_log
from signorini_report.figures import Figure

WORDS = {"points": "mass-point regions", "islands": "islands"}


def follow(experiment, folder):
    """Time of an update over that of a rebuild against churn, a mark per step, a panel per kind of region; the line through the
    marks is their running median. Steps without any change have no place on a logarithmic axis and stand at its left end."""
    rows = experiment.follow
    if rows is None or rows.empty:
        return False
    modes = [mode for mode in WORDS if mode in set(rows["region_mode"])]
    scenes = sorted(set(rows["scene"]))
    changed = rows.loc[rows["churn"] > 0, "churn"]
    least = changed.min() if len(changed) else 0.01
    figure, panels = plt.subplots(1, len(modes), figsize=(style.FULL_WIDTH, 2.8), sharey=True, squeeze=False)
    for axes, mode in zip(panels[0], modes):
        for place, scene in enumerate(scenes):
            part = rows[(rows["region_mode"] == mode) & (rows["scene"] == scene)].sort_values("churn", kind="stable")
            if part.empty:
                continue
            x = part["churn"].where(part["churn"] > 0, least / 2).to_numpy()
            y = part["update_share"].to_numpy()
            axes.plot(x, y, linestyle="none", marker=style.SOLVER_MARKERS[place], markersize=3, markeredgewidth=0, alpha=0.5,
                      color=style.CYCLE[place], label=f"{scene.replace('_', ' ')} ({part['contacts'].min()} to {part['contacts'].max()} contacts)")
            moving = part[part["churn"] > 0]
            if len(moving) > 10:
                window = max(5, len(moving) // 8)
                middle = moving[["churn", "update_share"]].rolling(window, center=True, min_periods=window // 2).median().dropna()
                axes.plot(middle["churn"], middle["update_share"], color=style.CYCLE[place], linewidth=1.4)
        axes.axhline(1.0, color=style.GREY, linewidth=0.8)
        axes.axvline(0.2, color=style.GREY, linewidth=0.8, linestyle=style.LINES[1], zorder=0)
        if (rows["churn"] == 0).any():
            axes.text(least / 2.3, 0.38, "no change", ha="left", va="bottom", fontsize=6.5, color=style.GREY)
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_log(axes.xaxis)
        plain_log(axes.yaxis)
        axes.set_title(WORDS[mode])
        axes.set_xlabel("share of contacts that came or went")
        axes.legend(fontsize=6.5, loc="lower right")
    panels[0][0].set_ylabel("time of update ÷ rebuild")
    style.save(figure, folder, "follow")
    return True


FIGURES = [
    Figure("follow", follow, order=190,
           caption="Every mark is one step of a recording: its regions updated from the step before, against building them anew. Below the "
                   "line the update is faster."),
]
