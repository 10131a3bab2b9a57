"""[[over_option]]: the mean of a column over the values of an option of solvers, beside the limits that a paper gives."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from signorini_report import rows as table_rows, style
from signorini_report.data import ReportError
from signorini_report.figure_parts import title_size
from signorini_report.figures import Figure
from signorini_report.figures.steps import wishes

LINEAR = 1.0  # %: below it the ordinate is linear, so that nothing has a place


def shares(rows, option, column):
    """Values of the option and the mean of the column at each, in %, one row for each run."""
    if option not in rows.columns:
        raise table_rows.Impossible(f"there is no column '{option}'")
    rows = table_rows.once(rows, column)
    rows = rows.assign(_x=pd.to_numeric(rows[option], errors="coerce"), _y=table_rows.numbers(rows, column)).dropna(subset=["_x", "_y"])
    means = rows.groupby("_x")["_y"].mean()
    return means.index.to_numpy(float), 100.0 * means.to_numpy(float)


def apart(axes, values):
    """Of values on a logarithmic abscissa those whose numbers do not run into each other."""
    values = sorted({float(value) for value in values})
    inches = axes.get_position().width * axes.figure.get_figwidth()
    step = (values[-1] / values[0]) ** (0.3 / inches) if values else 1.0
    kept = []
    for value in values:
        if not kept or value >= step * kept[-1]:
            kept.append(value)
    return kept


def over_option(experiment, folder):
    """One picture for each [[over_option]]."""
    drawn = False
    for stem, wanted in wishes(experiment, "over_option"):
        option, column = f"options.{wanted['option']}", wanted.get("column", "unsolved")
        panels = []
        try:
            rows = table_rows.select(experiment.runs, wanted.get("where"))
            for panel in wanted.get("panels", [{}]):
                part = table_rows.select(rows, panel.get("where"))
                panels.append((panel, part, [shares(table_rows.select(part, line.get("where")), option, column) for line in wanted["lines"]]))
        except table_rows.Impossible as impossible:
            raise ReportError(f"{experiment.figures_file}: [over_option]: {impossible}") from impossible
        panels = [one for one in panels if any(x.size for x, _ in one[2])]
        if not panels:
            continue
        figure, grid = plt.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True, gridspec_kw={"wspace": 0.06},
                                    figsize=(style.FULL_WIDTH * min(1.0, 0.3 + 0.35 * len(panels)), 3.0))
        titles = [f"{panel.get('title', '')} ({part.groupby(['file', 'step']).ngroups})".strip() for panel, part, _ in panels]
        for axes, title, (panel, part, lines) in zip(grid[0], titles, panels):
            for limit in wanted.get("limits", []):
                axes.axhline(limit["value"], color="#444444", linewidth=0.8, linestyle=(0, (4, 2)))
                if axes is grid[0][-1]:
                    axes.text(0.985, limit["value"], limit["words"], transform=axes.get_yaxis_transform(), fontsize=6.5, ha="right", va="bottom", color="#444444",
                              bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6}, zorder=5)
            for place, (line, (x, y)) in enumerate(zip(wanted["lines"], lines)):
                if x.size:
                    axes.plot(x, y, color=line.get("colour", style.CYCLE[place % len(style.CYCLE)]), linestyle=style.LINES[place % len(style.LINES)],
                              marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)], markersize=3.6, linewidth=1.4, label=line["words"])
            axes.set_xscale("log")
            axes.set_yscale("symlog", linthresh=LINEAR)
            axes.set_xlabel(wanted.get("abscissa_label", wanted["option"]))
            axes.set_title(title, fontsize=min(title_size(words, len(panels)) for words in titles))
            axes.xaxis.set_major_locator(FixedLocator(apart(axes, [value for x, _ in lines for value in x])))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
        top = max(float(y.max()) for _, _, lines in panels for _, y in lines if y.size)
        grid[0][0].set_ylim(-0.04, 1.3 * max(top, *(limit["value"] for limit in wanted.get("limits", [{"value": 0.0}]))))
        grid[0][0].yaxis.set_major_locator(FixedLocator([0, 0.3, 1, 3, 10, 30, 100]))
        grid[0][0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        grid[0][0].yaxis.set_minor_formatter(NullFormatter())
        grid[0][0].set_ylabel(f"{wanted.get('label', column)} [%]")
        handles, words = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, words, loc="upper center", ncol=min(3, len(words)), handlelength=3.0,
                      bbox_to_anchor=(0.5, figure.subplotpars.bottom - 0.4 / figure.get_size_inches()[1]))
        style.save(figure, folder, stem)
        drawn = True
    return drawn


KEYS = {**dict.fromkeys(("name", "option", "column", "where", "label", "abscissa_label")), "panels": dict.fromkeys(("title", "where")),
        "lines": dict.fromkeys(("words", "where", "colour")), "limits": dict.fromkeys(("value", "words"))}
FIGURES = [
    Figure("over_option", over_option, order=215, several=True, keys={"over_option": KEYS},
           caption="Share of the problems, whose number stands in brackets, over the value of an option; below 1 % the ordinate is linear. Dashed lines are what the paper says."),
]
