"""The figures `profiles_<tolerance>`: Dolan and Moré's performance profiles by group of problems, without and with set-up."""

import numpy as np
from matplotlib import pyplot as plt

from signorini_report import groups, strict, style
from signorini_report.data import protocols_to_compare
from signorini_report.figure_parts import GREY, label_looks, plain_log
from signorini_report.figures import Figure

WIDEST = 100.0  # factors beyond it are not drawn, and count as this in the order of the curves
NAMED = 6       # curves with a name, per panel
ALL = "all problems"
SIDES = (("solve_seconds", "without set-up"), ("total_seconds", "set-up counted in"))


def compared(experiment):
    """The rows that are compared: whole problems on the least number of threads, one protocol."""
    rows = experiment.runs[(experiment.runs["threads"] == experiment.runs["threads"].min()) & (experiment.runs["region_mode"] == "none")]
    protocol = next((name for name in protocols_to_compare(rows) if (rows["protocol"] == name).any()), "")
    return rows[rows["protocol"] == protocol]


def factors(rows, column):
    """Snapshots × labels: time over the least time of any label on that snapshot, infinite where the label did not solve it. A snapshot that
    nobody solved stays, as infinite for all."""
    cost = rows.assign(cost=np.where(rows["solved"] == 1, rows[column], np.inf))
    cost = cost.groupby(["file", "step", "label"])["cost"].median().unstack("label").fillna(np.inf)
    best = cost.min(axis=1)
    return cost.div(best, axis=0).where(np.isfinite(best), np.inf, axis=0)


def heights(ratio):
    """Mean height of every curve over 1 … WIDEST on a logarithmic axis, highest first: the share of the plot below it, 1 for a label that is
    the fastest everywhere, 0 for one that solves nothing within WIDEST times the best."""
    inside = np.log(ratio.clip(upper=WIDEST)) / np.log(WIDEST)
    return (1.0 - inside).mean(axis=0).sort_values(ascending=False, kind="stable")


def panels(experiment, rows):
    """[(title, rows)]: all problems, then group by group in the order of [groups]."""
    names = list(experiment.config["groups"])
    found = [(name, rows[rows["group"] == name]) for name in [*names, groups.OTHERS]]
    return [(ALL, rows)] + [(name or "others", part) for name, part in found if len(part)]


def curve(axes, ratio, **look):
    values = np.sort(ratio.to_numpy())
    values = values[values <= WIDEST]
    x = np.concatenate([[1.0], values, [WIDEST]])
    y = 100.0 * np.concatenate([[np.sum(values <= 1.0)], np.arange(1, len(values) + 1), [len(values)]]) / len(ratio)
    axes.step(x, y, where="post", **look)


def panel(axes, part, column, look, always):
    """One small plot; the highest curves and those of `always` in colour, named beside it with the share that they solve at all."""
    ratio = factors(part, column)
    order = heights(ratio)
    named = [label for place, label in enumerate(order.index) if (place < NAMED or label in always) and order[label] > 0.0]
    for label in order.index[::-1]:
        if label not in named:
            curve(axes, ratio[label], color="#CCCCCC", linewidth=0.6)
    for place, label in enumerate(named[::-1]):
        curve(axes, ratio[label], color=look[label]["color"], linestyle=look[label]["linestyle"], linewidth=1.5 if label in always else 1.1)
    for place, label in enumerate(named):
        solved = 100.0 * np.isfinite(ratio[label]).mean()
        axes.text(1.03, 0.99 - 0.135 * place, f"{label}, {solved:.0f} %", transform=axes.transAxes, fontsize=6, va="top",
                  color=look[label]["color"], fontweight="bold" if label in always else "normal")
    axes.set_xscale("log")
    axes.set_xlim(1, WIDEST)
    axes.set_ylim(0, 104)
    plain_log(axes.xaxis)
    return len(ratio)


def one_tolerance(experiment, folder, rows, tolerance):
    always = experiment.config.get("profiles", {}).get("always", [])
    shown = panels(experiment, rows)
    figure, grid = plt.subplots(len(shown), 2, squeeze=False, sharex=True, sharey=True, figsize=(style.FULL_WIDTH, 0.5 + 1.22 * len(shown)),
                                gridspec_kw={"wspace": 0.62, "hspace": 0.32})
    look = label_looks(experiment, list(dict.fromkeys(rows["label"])))
    for line, (name, part) in enumerate(shown):
        for side, (column, words) in enumerate(SIDES):
            axes = grid[line][side]
            count = panel(axes, part, column, look, always)
            axes.set_title(f"{name} ({count}), {words}", fontsize=7.5, pad=3)
        grid[line][0].set_ylabel("solved [%]")
    for axes in grid[-1]:
        axes.set_xlabel("time ÷ best time on the same snapshot")
    style.save(figure, folder, f"profiles_{tolerance:.0e}")


def profiles(experiment, folder):
    """A figure for every tolerance. False without [groups] or where fewer than three snapshots were run."""
    if "group" not in experiment.runs.columns:
        return False
    rows = compared(experiment)
    if rows.groupby(["file", "step"]).ngroups < 3:
        return False
    strict.typed(experiment.config.get("profiles", {}), {"always": strict.TEXTS}, f"{experiment.figures_file}: [profiles]")
    for tolerance, part in rows.groupby("tolerance"):
        one_tolerance(experiment, folder, part, tolerance)
    return True


def tolerance_of(folder, stem):
    text = stem.rpartition("_")[2].replace("e-0", "e-")
    return f" Residual asked for: {text}." if text != stem else ""


FIGURES = [
    Figure("profiles", profiles, order=45, keys={**groups.KEYS, "profiles": {"always": None}}, several=True, note=tolerance_of,
           caption="Performance profiles by family of problems (in brackets: how many snapshots), left by solve time alone, right with set-up. A curve says "
                   "on which share of the snapshots a solver stays within a factor of the fastest one. Named are the solvers with the highest curves, "
                   "best first, with the share that they solve at all; the others are grey."),
]
