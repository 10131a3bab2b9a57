"""Figures of the steps of recordings: [histogram], [over_time], [against], [shares]; each a table of the config or a list of them."""

import fnmatch

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from signorini_report import style
from signorini_report.data import CLOCKS, ReportError
from signorini_report.definition import number_of
from signorini_report.rows import Impossible, numbers, windows, within
from signorini_report.figure_parts import GREY, legend_columns, plain_log, time_unit
from signorini_report.figures import Figure

PARTS = {"detection_seconds": "detection", "assembly_seconds": "assembly", "free_seconds": "free motion", "solve_seconds": "contact solve",
         "other_seconds": "other"}


def wishes(experiment, figure):
    """[(file stem, table of the config)]"""
    wanted = experiment.config.get(figure, [])
    wanted = [wanted] if isinstance(wanted, dict) else wanted
    return [(figure + (f"_{one['name']}" if one.get("name") else f"_{place + 1}" if len(wanted) > 1 else ""), one)
            for place, one in enumerate(wanted)]


def chosen(experiment, wanted):
    """[(words, its steps)] of the recordings that a figure shows: names or patterns such as "rings_*", in their order; with `pool`
    all recordings of a pattern together."""
    steps = experiment.steps
    if steps is None:
        return []
    patterns, words = wanted.get("recordings", ["*"]), wanted.get("words", [])
    scenes, found = list(dict.fromkeys(steps["scene"])), []
    pooled = [(pattern, words[place] if place < len(words) else pattern, steps["scene"].map(lambda s, p=pattern: fnmatch.fnmatchcase(s, p)))
              for place, pattern in enumerate(patterns)] if wanted.get("pool") else []
    for place, pattern in enumerate(patterns if not pooled else []):
        mine = [scene for scene in scenes if fnmatch.fnmatchcase(scene, pattern) and scene not in [name for name, _, _ in found]]
        named = len(mine) == 1 and place < len(words)  # a pattern of several recordings: their own names
        found += [(scene, words[place] if named else scene.replace("_", " "), None) for scene in mine]
    averaged = lambda part: windows(part, wanted["window_s"]) if "window_s" in wanted else part  # noqa: E731
    try:
        parts = [(name, within(averaged(steps[steps["scene"] == scene]), wanted)) for scene, name, _ in found]
        parts += [(name, within(averaged(steps[mine]), wanted)) for _, name, mine in pooled]
    except Impossible as impossible:
        raise ReportError(f"{experiment.figures_file}: {impossible}") from impossible
    return [(name, part) for name, part in parts if len(part)]


def column_of(experiment, part, name):
    try:
        return numbers(part, name)
    except Impossible as impossible:
        raise ReportError(f"{experiment.figures_file}: {impossible}") from impossible


MANY = 1000  # marks from which on a picture holds them as pixels


def looks(parts):
    """Colour and line of every part: where each has a solver that drove it and they differ, the colour says the solver."""
    driven = [set(part["setting.solver.name"]) - {""} if "setting.solver.name" in part else set() for _, part in parts]
    solvers = [next(iter(found)) if len(found) == 1 else "" for found in driven]
    if len(set(solvers)) < 2 or not set(solvers) <= set(style.SOLVER_COLOURS):
        return [dict(color=style.CYCLE[place % len(style.CYCLE)], linestyle=style.LINES[place // len(style.CYCLE) % len(style.LINES)])
                for place in range(len(parts))]
    return [dict(color=style.SOLVER_COLOURS[solver], linestyle=style.LINES[solvers[:place].count(solver) % len(style.LINES)])
            for place, solver in enumerate(solvers)]


def scaled(values, column):
    """Values and their unit: seconds as what one likes to read."""
    if not column.endswith("_seconds"):
        return 1.0, ""
    factor, unit = time_unit(values)
    return factor, f" [{unit}]"


def histogram(experiment, folder):
    """Share of the steps over an integer column, a bar per recording."""
    drawn = False
    for stem, wanted in wishes(experiment, "histogram"):
        parts = chosen(experiment, wanted)
        if not parts:
            continue
        most = wanted.get("most", 10)
        figure, axes = plt.subplots(figsize=(style.FULL_WIDTH * 0.62, 2.4))
        values = [column_of(experiment, part, wanted["column"]).dropna().clip(upper=most).round().astype(int) for _, part in parts]
        low = min(int(one.min()) for one in values if len(one))
        high = max(int(one.max()) for one in values if len(one))
        width, paper = 0.8 / len(parts), wanted.get("paper")
        for place, ((name, _), one) in enumerate(zip(parts, values)):
            counts = one.value_counts(normalize=True)
            places = np.arange(low, high + 1)
            axes.bar(places - 0.4 + (place + 0.5) * width, 100 * counts.reindex(places).fillna(0).to_numpy(), width=0.92 * width,
                     color=style.CYCLE[place % len(style.CYCLE)],
                     label=f"{name} ({len(one)} steps" + (f", {100 * (one <= paper['within']).mean():.3g} % up to {paper['within']}" if paper else "") + ")")
        axes.set_xticks(np.arange(low, high + 1), [f"{value}" if value < most else f"≥ {most}" for value in range(low, high + 1)])
        if paper:
            axes.axvline(paper["within"] + 0.5, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)))
            axes.plot([low - 0.5, paper["within"] + 0.5], [paper["share"]] * 2, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)), label=paper["words"])
        axes.grid(axis="x", visible=False)
        axes.set_xlabel(wanted.get("label", wanted["column"].replace("_", " ")))
        axes.set_ylabel("share of the steps [%]")
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        style.save(figure, folder, stem)
        drawn = True
    return drawn


DASHES = dict(linestyle=(0, (4, 2)), linewidth=0.9)


def paper_lines(experiment, axes, parts, wanted, factor):
    """Dashed: the paper's number of every part, `paper = { scene, number }` of paper.toml by the part's name, in its colour."""
    asked, found = wanted["paper"], []
    numbers_there = experiment.definition.numbers if experiment.definition else {}
    for look, (name, _) in zip(looks(parts), parts):
        value = number_of(numbers_there, f'"{asked["scene"]}"."{name}"."{asked["number"]}"')
        if value is not None:
            found.append((factor * value, look["color"]))
    if not found:
        raise ReportError(f"{experiment.figures_file}: paper.toml has no {asked['number']} of {asked['scene']} for {', '.join(name for name, _ in parts)}")
    for place, (value, colour) in enumerate(sorted(found)):
        axes.axhline(value, color=colour, **DASHES)
        axes.text((0.99, 0.85)[place % 2], value, f"{value:,.0f}" if value >= 100 else f"{value:.3g}", transform=axes.get_yaxis_transform(),
                  fontsize=6.5, color=colour, ha="right", va="center", bbox=dict(facecolor="white", edgecolor="none", pad=0.5))
    axes.plot([], [], color="#444444", label=asked.get("words", "the paper's mean"), **DASHES)


def as_many_lines(experiment, axes, parts, wanted):
    """Dashed: the mean that every part would have with as many per second of the scene as the part that `as_many_as` names."""
    per_step = {name: (part["time"].groupby(part["scene"]).diff().median(), column_of(experiment, part, wanted["column"]).mean()) for name, part in parts}
    if wanted["as_many_as"] not in per_step:
        raise ReportError(f"{experiment.figures_file}: as_many_as = \"{wanted['as_many_as']}\": one of {', '.join(per_step)}")
    length, mean = per_step[wanted["as_many_as"]]
    for look, (name, _) in zip(looks(parts), parts):
        axes.axhline(mean * per_step[name][0] / length, color=look["color"], **DASHES)
    axes.plot([], [], color="#444444", label=f"as many for a second\nas with {wanted['as_many_as']}", **DASHES)


def over_time_panel(experiment, axes, parts, wanted):
    """One column: the running median over `window` steps, single steps pale behind it."""
    column, window, log = wanted["column"], wanted.get("window", 15), wanted.get("log", True)
    factor, unit = scaled(np.concatenate([column_of(experiment, part, column).to_numpy() for _, part in parts]), column)
    for look, (name, part) in zip(looks(parts), parts):
        for place, (_, one) in enumerate(part.groupby("scene", sort=False)):  # several where they are pooled
            values = factor * column_of(experiment, one, column)
            if log:
                values = values.where(values > 0)  # a step without contacts is a gap, not a fall to the bottom
            middle = values.rolling(window, center=True, min_periods=1).median().where(values.notna())
            axes.plot(one["time"], values, linestyle="none", marker=".", markersize=2, color=look["color"], alpha=0.25,
                      rasterized=len(one) > MANY)
            axes.plot(one["time"], middle, label="" if place else name, linewidth=1.3, **look)
    if "paper" in wanted:
        paper_lines(experiment, axes, parts, wanted, factor)
    if "as_many_as" in wanted:
        as_many_lines(experiment, axes, parts, wanted)
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    axes.set_xlabel("time of the scene [s]")
    axes.set_ylabel(wanted.get("label", column.removesuffix("_seconds").replace("_", " ")) + unit)


def over_time(experiment, folder):
    """A column over time, a line per recording; several panels side by side. False where there are no rows."""
    drawn = False
    for stem, wanted in wishes(experiment, "over_time"):
        shown = [wanted | one for one in wanted.get("panels", [wanted])]
        shown = [(one, parts) for one, parts in ((one, chosen(experiment, one)) for one in shown) if parts]
        if not shown:
            continue
        width = style.FULL_WIDTH * (0.72 if len(shown) == 1 else 1.0)
        figure, panels = plt.subplots(1, len(shown), figsize=(width, 2.7), squeeze=False)
        for axes, (one, parts) in zip(panels[0], shown):
            over_time_panel(experiment, axes, parts, one)
        labels = {label: handle for axes in panels[0] for handle, label in zip(*axes.get_legend_handles_labels())}
        if len(labels) > 1 and len(shown) == 1:
            panels[0][0].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        elif len(labels) > 1:
            figure.tight_layout(w_pad=2.0)
            figure.legend(labels.values(), labels.keys(), fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=legend_columns(len(labels)))
        style.save(figure, folder, stem)
        drawn = True
    return drawn


def against(experiment, folder):
    """A column against another one, a mark per step; with `fit` the power law through them."""
    drawn = False
    for stem, wanted in wishes(experiment, "against"):
        parts = chosen(experiment, wanted)
        if not parts:
            continue
        column, abscissa = wanted["column"], wanted.get("abscissa", "contacts")
        factor, unit = scaled(np.concatenate([column_of(experiment, part, column).to_numpy() for _, part in parts]), column)
        figure, axes = plt.subplots(figsize=(style.FULL_WIDTH * 0.62, 2.9))
        log = wanted.get("log", True)
        for place, (look, (name, part)) in enumerate(zip(looks(parts), parts)):
            x, y = column_of(experiment, part, abscissa), factor * column_of(experiment, part, column)
            good = (x > 0) & (y > 0) if log else x.notna() & y.notna()
            x, y = x[good].to_numpy(), y[good].to_numpy()
            word = name
            fits = wanted.get("fit", log) and x.size > 2 and x.min() > 0 and y.min() > 0 and x.max() >= 2 * x.min()
            if fits:
                slope, height = np.polyfit(np.log(x), np.log(y), 1)
                ends = np.array([x.min(), x.max()]) if log else np.linspace(x.min(), x.max(), 100)
                axes.plot(ends, np.exp(height) * ends ** slope, linewidth=1.2, **look)
                word += f": exponent {slope:.2f}"
            axes.plot(x, y, linestyle="none", marker=style.SOLVER_MARKERS[place % len(style.SOLVER_MARKERS)],
                      markersize=4 if "window_s" in wanted else 2.5, color=look["color"], alpha=0.5, label=word, rasterized=x.size > MANY)
        if log:
            axes.set_xscale("log")
            axes.set_yscale("log")
            plain_log(axes.xaxis)
            plain_log(axes.yaxis)
        else:
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
        axes.set_xlabel(wanted.get("abscissa_label", abscissa.replace("_", " ")))
        axes.set_ylabel(wanted.get("label", column.removesuffix("_seconds").replace("_", " ")) + unit)
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=2)
        style.save(figure, folder, stem)
        drawn = True
    return drawn


def shares(experiment, folder):
    """Parts of the mean time of a step, a bar per recording."""
    drawn = False
    for stem, wanted in wishes(experiment, "shares"):
        parts = [(name, part.dropna(subset=CLOCKS)) for name, part in chosen(experiment, wanted)]
        parts = [(name, part) for name, part in parts if len(part)]
        if not parts:
            continue
        means = pd.DataFrame({name: part[CLOCKS].mean() for name, part in parts})
        percent = 100 * means / means.sum()
        factor, unit = time_unit(means.sum().to_numpy())
        names = [f"{name}, {factor * means[name].sum():.3g} {unit}" for name, _ in parts]
        paper = wanted.get("paper")
        if paper:
            percent[""] = [100 * paper.get(clock, 0.0) for clock in CLOCKS]
            names.append(paper["words"])
        figure, axes = plt.subplots(figsize=(style.FULL_WIDTH * 0.72, 0.8 + 0.3 * len(names)))
        left = np.zeros(len(names))
        for colour, (clock, word) in zip(style.CYCLE, PARTS.items()):
            widths = percent.loc[clock].to_numpy()
            axes.barh(range(len(names)), widths, left=left, height=0.7, color=colour, label=word)
            for row, (start, width) in enumerate(zip(left, widths)):
                if width > 7:
                    axes.text(start + width / 2, row, f"{width:.0f} %", ha="center", va="center", fontsize=6.5, color="white")
            left += widths
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("share of the mean time of a step [%]")
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        style.save(figure, folder, stem)
        drawn = True
    return drawn


CHOICE = dict.fromkeys(("name", "recordings", "words", "pool", "at_least", "at_most", "window_s"))  # of steps
OVER_TIME = {**dict.fromkeys(("column", "window", "log", "label", "as_many_as")), "paper": dict.fromkeys(("scene", "number", "words"))}
FIGURES = [
    Figure("histogram", histogram, order=160, several=True, keys={"histogram": {**CHOICE, **dict.fromkeys(("column", "most", "label")), "paper": dict.fromkeys(("within", "share", "words"))}},
           caption="Share of the steps of each recording; the last bar holds everything from there on."),
    Figure("over_time", over_time, order=170, several=True, from_tables=True, keys={"over_time": {**CHOICE, **OVER_TIME, "panels": {**CHOICE, **OVER_TIME}}},
           caption="Every dot is one step of a recording, the line their running median. Dashed lines are means to compare with."),
    Figure("against", against, order=180, several=True,
           keys={"against": {**CHOICE, **dict.fromkeys(("column", "abscissa", "abscissa_label", "fit", "log", "label"))}},
           caption="Every mark is one step of a recording; lines are fitted power laws."),
    Figure("shares", shares, order=200, several=True, keys={"shares": {**CHOICE, "paper": dict.fromkeys(("words", *CLOCKS))}},
           caption="Where the time of a step goes, by the clock, with everything but recording."),
]
