"""One time step through all its re-linearisations, in the manner of Verschoor and Jalba 2019, Fig. 6: the figure `rounds`."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from signorini_report import style
from signorini_report.data import round_of, step_of
from signorini_report.figures import Figure
from signorini_report.figures.convergence import NORM_LOOKS


def accurate_part(trace):
    """Entries up to the first iteration at which the referee's residual meets the tolerance; all where none does."""
    reached = np.flatnonzero(trace.residual <= trace.tolerance * (1 + 1e-9))
    return int(reached[0]) + 1 if reached.size else len(trace.iteration)


def rounds_to_show(experiment):
    """{label: its traces of one step in the order of the rounds}: of the steps that every variant has, and
    solves where there is such a step, that with most rounds, then most contacts; or the `step` of the config's [rounds]."""
    contacts = experiment.runs.groupby(["file", "step"])["contacts"].first()
    steps = {}
    for trace in experiment.traces:
        if trace.region_mode == "none" and any(np.isfinite(trace.progress.get(norm, np.nan)).any() for norm in NORM_LOOKS):
            steps.setdefault((trace.file, step_of(trace.step)), {}).setdefault(trace.label, []).append(trace)
    labels = {trace.label for trace in experiment.traces}
    whole = {key: found for key, found in steps.items() if set(found) == labels and len({len(part) for part in found.values()}) == 1}
    wanted = experiment.config.get("rounds", {}).get("step")
    if wanted is not None:
        whole = {key: found for key, found in whole.items() if int(key[1]) == wanted} or whole
    if not whole:
        return {}

    def solved(key):
        return all(np.any(trace.residual <= trace.tolerance * (1 + 1e-9)) for parts in whole[key].values() for trace in parts)

    def weight(key):
        parts = next(iter(whole[key].values()))
        return solved(key) and len(parts) > 1, len(parts), max(contacts.get((trace.file, trace.step), 0) for trace in parts), key

    best = max(whole, key=weight)
    if weight(best)[1] < 2:
        return {}
    return {label: sorted(parts, key=lambda trace: round_of(trace.step)) for label, parts in whole[best].items()}


def joined(traces, norm):
    """Iterations and a norm of all rounds, one behind the other, and where each but the first begins."""
    x, y, starts, passed = [], [], [], 0
    for place, trace in enumerate(traces):
        end = accurate_part(trace)
        if place > 0:
            starts.append(passed)
        values = np.array(trace.progress.get(norm, np.full(len(trace.iteration), np.nan))[:end], dtype=float)
        values[~(values > 0)] = np.nan
        x.append(passed + trace.iteration[:end])
        y.append(values)
        passed += int(trace.iteration[end - 1])
    return np.concatenate(x), np.concatenate(y), starts, passed


def rounds(experiment, folder):
    """One panel per variant: the norms that a solver knows of itself, every re-linearisation a circle on them. Drawn where it is asked for."""
    shown = rounds_to_show(experiment) if "rounds" in experiment.config.get("figures", []) else {}
    if not shown:
        return False
    figure, grid = plt.subplots(1, len(shown), squeeze=False, sharey=True, figsize=(style.FULL_WIDTH, 2.6), gridspec_kw={"wspace": 0.1})
    for axes, (label, traces) in zip(grid[0], shown.items()):
        for norm, (_, colour, dashes, width) in NORM_LOOKS.items():
            x, y, starts, passed = joined(traces, norm)
            axes.plot(x, y, color=colour, linestyle=dashes, linewidth=width)
            for start in starts:  # the first finite norm of a round
                behind = np.flatnonzero((x >= start) & np.isfinite(y) & (np.arange(len(x)) > np.searchsorted(x, start, side="left")))
                if behind.size:
                    axes.plot(x[behind[0]], y[behind[0]], marker="o", markersize=4.2, markerfacecolor="white", color=colour, linestyle="none")
        for start in starts:
            axes.axvline(start, color="#888888", linewidth=0.6, linestyle=(0, (1, 2)))
        axes.set_yscale("log")
        axes.set_xlim(0, max(1, passed))
        axes.set_title(label, pad=3, fontweight="bold")
        axes.text(1.0, 1.02, f"{passed} iterations, {len(traces)} rounds", transform=axes.transAxes, ha="right", va="bottom", fontsize=6.5, color="#444444")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.set_xlabel("iteration")
    grid[0][0].set_ylabel("norm [m/s]")
    grid[0][0].yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    grid[0][0].yaxis.set_minor_formatter(NullFormatter())
    handles = [Line2D([], [], color=colour, linestyle=dashes, linewidth=width, label=word) for word, colour, dashes, width in NORM_LOOKS.values()]
    handles.append(Line2D([], [], linestyle="none", marker="o", markersize=4.2, markerfacecolor="white", color="#444444", label="re-linearisation"))
    figure.legend(handles=handles, loc="upper center", ncol=4, handlelength=2.2, columnspacing=1.4,
                  bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.4 / figure.get_size_inches()[1]))
    style.save(figure, folder, "rounds")
    return True


FIGURES = [
    Figure("rounds", rounds, order=90, keys={"rounds": {"step": None}},
           caption="Norms that the solvers compute themselves through one time step with several linearised problems, one behind the other. Each "
                   "starts from the impulses of the one before; at every circle the contacts are linearised anew."),
]
