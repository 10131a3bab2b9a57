"""Every kind of figure shows its data: marks and curves against the rows, limits, scales, labels and legends. Figures of other data, cut
or blank ones do not pass."""

import dataclasses
import itertools
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

import drawn  # noqa: E402
from report_test import progress_trace, run_table  # noqa: E402
from signorini_report import data, figures
from signorini_report.figures import sheet as sheet_module  # noqa: E402
from signorini_report.figures import scatter as scatter_figure  # noqa: E402

FOLDER = Path("absent")  # nothing is written
LABELS = {"pgs": "PGS", "pcg": "PCG"}
SCENES = ["hill", "dale"]
CLOCKS = ["detection_seconds", "assembly_seconds", "free_seconds", "solve_seconds", "other_seconds"]


def runs():
    """Two solvers on six snapshots of two scenes, whole and by regions, on one and two threads; PCG fails on the last of dale."""
    random = np.random.default_rng(11)
    rows = []
    for scene, step, solver in itertools.product(SCENES, range(1, 7), LABELS):
        fails = solver == "pcg" and scene == "dale" and step == 6
        iterations = int(random.integers(5, 90))
        for protocol, mode, threads, repetition in [("converge", "none", 1, 0), ("self-stopped", "none", 1, 0), ("self-stopped", "points", 1, 0),
                                                    *itertools.product(["time"], ["none", "points"], [1, 2], [0, 1])]:
            rows.append({"file": f"{scene}-quick.h5", "step": f"{10 * step:06d}", "solver": solver, "label": LABELS[solver], "region_mode": mode,
                         "threads": threads, "repetition": repetition, "protocol": protocol, "iterations": 1000 if fails else iterations,
                         "contacts": 7 * step, "regions": step if mode == "points" else 1, "largest_region": 7 if mode == "points" else 7 * step,
                         "status": "iteration_limit" if fails else "converged", "residual": 2e-3 if fails else random.uniform(1e-8, 9e-7),
                         "setup_seconds": random.uniform(1e-3, 9e-3), "solve_seconds": random.uniform(1e-2, 9e-2),
                         "options": f"tol_cg={10.0 ** -step}" if solver == "pcg" and scene == "hill" and protocol == "self-stopped" and mode == "none" else ""})
    table = run_table(**{name: [row[name] for row in rows] for name in rows[0]})
    table["options.tol_cg"] = [row["options"].removeprefix("tol_cg=") for row in rows]
    table["products"], table["mass_products"] = 2 * table["iterations"], 3 * table["iterations"]
    table["setting.stiffness"] = table["step"].astype(float) * 10
    table["group"] = table["scene"].map({"hill": "smooth", "dale": "rough"})
    table["fact.moved"] = (table["scene"] == "dale").astype(float)
    table["setting.angle"] = np.degrees(np.arctan(0.5)) + np.where(table["fact.moved"] > 0, 0.03, -0.02)
    return table


def traces():
    """Of hill: three linearisations of one step, each variant of its own length."""
    made = []
    for (solver, label), (place, step) in itertools.product(LABELS.items(), enumerate(["000010", "000010.2", "000010.3"])):
        trace = progress_trace(label, 8 + 2 * place + (3 if solver == "pcg" else 0), state_changes=np.arange(9 + 2 * place + (3 if solver == "pcg" else 0)) // 3)
        trace.file, trace.step, trace.solver, trace.options, trace.variant = "hill-quick.h5", step, solver, "", solver
        trace.residual = trace.residual * (1 + 0.1 * np.cos(np.arange(len(trace.residual))))
        trace.progress["contact_sweeps"] = np.cumsum(3 + np.arange(len(trace.residual)) % 4)
        made.append(trace)
    return made


def steps():
    random = np.random.default_rng(5)
    count = 20
    table = pd.DataFrame({"file": [f"{scene}-quick.h5" for scene in SCENES for _ in range(count)], "scene": [scene for scene in SCENES for _ in range(count)],
                          "step": list(range(count)) * 2, "time": [0.01 * k for k in range(count)] * 2, "contacts": [3 * k for k in range(count)] * 2,
                          "iterations": random.integers(1, 14, 2 * count), "rounds": random.integers(1, 9, 2 * count)})
    for clock in CLOCKS:
        table[clock] = random.uniform(1e-3, 5e-3, 2 * count)
    size = table["step"] // 7  # of a sweep: 0, 1, 2
    table = table.assign(**{"recording.scene": table["scene"], "setting.size": size, "matrix.jacobi_condition": 10.0 * 4.0 ** size,
                            "setting.solver.name": np.where(table["step"] % 2, "pcg", "pgs")})
    return table.assign(step_seconds=table[CLOCKS].sum(axis=1))


def follow():
    random = np.random.default_rng(6)
    return pd.DataFrame([{"scene": scene, "region_mode": mode, "contacts": 4 + k, "churn": 0.03 * k, "update_share": random.uniform(0.2, 2.0)}
                         for scene in SCENES for mode in ("points", "islands") for k in range(9)])


def accuracy():
    """Of two scenes runs at three residuals, by two solvers; nothing sinks in the finest of dale."""
    random = np.random.default_rng(8)
    rows = [{"file": f"{scene}_{solver}_{asked}", "finest": f"{scene}_{solver}_1e-08", "recording.scene": scene, "setting.solver.name": solver, "asked": asked,
             "creep_most": random.uniform(0.1, 1.0) * asked, "deepest_point": 0.0 if scene == "dale" and asked < 1e-6 else random.uniform(1e-9, 1e-6),
             "apart_mean": 0.0 if asked < 1e-6 else random.uniform(1e-6, 1e-3), "energy_share": 0.0 if asked < 1e-6 else random.uniform(1e-6, 1e-3),
             "step_seconds": random.uniform(1e-3, 9e-2), "slip_slope": -random.uniform(0.1, 1.0) * asked}
            for scene in SCENES for solver in LABELS for asked in (1e-2, 1e-4, 1e-8)]
    return pd.DataFrame(rows)


def series():
    time = np.arange(12) / 100
    return pd.DataFrame({"file": ["hill-quick.h5"] * 12 + ["dale-quick.h5"] * 12, "time": list(time) * 2,
                         "front": np.sin(np.arange(24)), "back": np.cos(np.arange(24))})


CONFIG = {
    "scenes": SCENES, "solvers": [{"name": "pgs", "label": "PGS"}, {"name": "pcg", "label": "PCG"}], "figures": list(figures.known()),
    "growth": {"key": "stiffness", "label": "stiffness [Pa]"}, "groups": {"smooth": ["hill"], "rough": ["dale"]},
    "ladder": {"solver": "pcg", "option": "tol_cg", "beside": ["PGS"], "label": "tolerance of the first phase"},
    "series": {"columns": ["front", "back"], "label": "speed [m/s]", "window": 0.04},
    "scatter": {"panels": "scene", "abscissa": "contacts", "where": {"protocol": "time", "region_mode": "none", "threads": 1, "repetition": 0}, "series": [
        {"label": "PGS", "column": "solve_seconds"}, {"label": "PCG", "column": "solve_seconds"}]},
    "histogram": {"column": "rounds", "label": "rounds in a step", "most": 6}, "over_time": {"column": "iterations", "window": 3, "label": "iterations per step"},
    "against": {"column": "step_seconds", "label": "time of a step"}, "shares": {},
    "incline": {"angle": "angle", "fact": "moved", "friction": "friction", "default": 0.5, "limit": 0.5},
    "ratios": {"column": "solve_seconds", "numerator": {"region_mode": "none"}, "denominator": {"region_mode": "points"}, "label": "whole ÷ by regions",
               "where": {"protocol": "time", "threads": 1}},
    "over_contacts": {"panels": [{"title": "whole", "where": {"protocol": "time", "region_mode": "none", "threads": 1}, "lines": [
        {"words": label, "where": {"label": label, "family": "hill"}, "column": "total_seconds"} for label in LABELS.values()]}]},
    "factors": {"numerator": {"region_mode": "none"}, "denominator": {"region_mode": "points"}, "where": {"protocol": "time", "threads": 1, "label": "PGS"},
                "edges": [14, 28], "label": "whole ÷ by regions", "panels": [{"title": scene, "where": {"scene": scene}, "band": [0.5, 2.0]} for scene in SCENES],
                "lines": [{"column": "total_seconds", "words": "total"}, {"column": "solve_seconds", "words": "solve"}]},
    "over_option": {"option": "tol_cg", "column": "setup_seconds", "where": {"protocol": "self-stopped", "region_mode": "none"}, "label": "mean",
                    "panels": [{"title": "hill", "where": {"scene": "hill"}}], "lines": [{"words": "PCG", "where": {"label": "PCG"}}],
                    "limits": [{"value": 0.3, "words": "paper"}]},
    "table": {"title": "Iterations"},
    "methods": {"reference": "PGS", "scenes": SCENES, "methods": ["PGS", "PCG"], "tables": [{"title": "own stop", "target": 1e-6, "where": {
        "protocol": "self-stopped", "region_mode": "none"}}], "paper": {"hill": {"PGS": {"iterations": [10, 9]}, "PCG": {"iterations": [25, 9]}}}},
    "sheet": {"recordings": ["hill", "dale"]},
    "errors": {"lines": [{"words": scene, "where": {"recording.scene": scene}, "solvers": list(LABELS), **({"slip": {"recording.scene": scene}} if scene == "hill" else {})}
                         for scene in SCENES]},
    "sweep": {"column": "iterations", "abscissa": "matrix.jacobi_condition", "by": "setting.size", "scenes": SCENES, "methods": {"pgs": "PGS", "pcg": "PCG"},
              "abscissa_label": "condition", "label": "mean iterations"},
}


def experiment():
    return data.Experiment("e", FOLDER, runs(), traces(), {}, dict(CONFIG), None, series=series(), follow=follow(), steps=steps(), accuracy=accuracy())


@dataclasses.dataclass
class Panel:
    """What one panel must show. None: not looked at."""
    marks: list | None = None      # (x, y) of every mark, no more and no fewer; None as a coordinate: any
    curves: list | None = None     # for each: points that one line without marks goes through
    bars: list | None = None       # (column of drawn.bars, values), in their order
    x: str = ""
    y: str = ""
    words: list | None = None      # (text, x, y) of every note inside
    colours: object = None         # the numbers of a picture made of cells, nan where a cell is empty
    scales: tuple | None = ("linear", "linear")


@dataclasses.dataclass
class Kind:
    name: str
    wanted: object                 # experiment → [Panel], in the order of the panels
    legend: object                 # experiment → labels
    stem: str = ""


def middle(table, keys, column):
    return table.groupby(keys)[column].median()


def timed(e, mode="none", threads=1):
    """Repetitions by their median, as every figure of times has them."""
    rows = e.runs[(e.runs["protocol"] == "time") & (e.runs["region_mode"] == mode) & (e.runs["threads"] == threads)]
    return rows.groupby(["file", "step", "solver", "label", "family"], as_index=False).agg(
        contacts=("contacts", "first"), solve=("solve_seconds", "median"), total=("total_seconds", "median"), iterations=("iterations", "median"),
        solved=("solved", "min"))


def good(table):
    return table[table["solved"] == 1]


MS = 1e3  # all invented times are read in ms
REGIONS = ("whole", "regions (points)")


def times_and_iterations(e):
    def marks(column, factor):
        return [(factor * np.percentile(own[column], 50), row + 0.62 * (place - 0.5)) for row, solver in enumerate(LABELS) for place, mode in
                enumerate(("none", "points")) for own in [good(timed(e, mode)).query("solver == @solver")]]
    return [Panel(marks("solve", MS), x="solve time per snapshot [ms], 1 thread", scales=("log", "linear")),
            Panel(marks("iterations", 1), x="iterations to the tolerance", scales=("log", "linear"))]


def methods(e):
    rows = e.runs[(e.runs["protocol"] == "self-stopped") & (e.runs["region_mode"] == "none")]
    panels = []
    for column, words in (("total_seconds", "time ÷ that of PGS (right: slower)"), ("iterations", "iterations ÷ those of PGS (right: more)")):
        found = []
        for row, scene in enumerate(SCENES):
            own = rows[rows["scene"] == scene].pivot_table(index="step", columns="label", values=[column, "solved"], aggfunc="first")
            own = own[(own["solved"] == 1).all(axis=1)][column]
            found.append((own["PCG"].sum() / own["PGS"].sum(), row))
        panels.append(Panel(found + ([(2.5, 0)] if column == "iterations" else []), x=words, scales=("log", "linear")))
    return panels


def outcomes(e):
    rows = e.runs[(e.runs["protocol"] == "converge")]
    medians = rows[rows["scene"] == "hill"].groupby("label")["iterations"].median()  # PCG does not solve all of dale
    quotient = medians["PCG"] / medians["PGS"]
    return [Panel([(1, 0)] * 3 + [(quotient, 1)] * 2, x="iterations ÷ those of 'PGS' (right: more)", scales=("log", "linear")),
            Panel(x="snapshots solved, of 12", bars=[(2, [12, 11])], words=[(" 12", 12, 0), (" 11", 11, 1)])]


def winners(e):
    rows = e.runs[(e.runs["protocol"] == "self-stopped") & (e.runs["region_mode"] == "none")]
    table = rows.pivot_table(index=["scene", "step"], columns="label", values=["total_seconds", "solved"])
    cost = table["total_seconds"].where(table["solved"] == 1)
    ratio = np.exp(np.log(cost.div(cost.min(axis=1), axis=0)).groupby("scene").mean())
    whole = (table["solved"] == 1).groupby("scene").agg(["sum", "size"])
    cells = [(f"{ratio.loc[scene, label]:.1f}" if whole.loc[scene, (label, "sum")] == 6 else f"{whole.loc[scene, (label, 'sum')]} of 6", column, row)
             for row, scene in enumerate(SCENES) for column, label in enumerate(LABELS.values())]
    colours = [[ratio.loc[scene, label] if whole.loc[scene, (label, "sum")] == 6 else np.nan for label in LABELS.values()] for scene in SCENES]
    return [Panel(words=cells, colours=colours), Panel(y="time ÷ that of\nthe fastest method", scales=None)]


def profile(e):
    rows = timed(e, "points").assign(cost=lambda t: t["solve"].where(t["solved"] == 1, np.inf))
    table = rows.pivot_table(index=["file", "step"], columns="solver", values="cost")
    ratio = table.div(table.min(axis=1), axis=0)
    curves = [[(value, 100 * (place + 1) / len(table)) for place, value in enumerate(sorted(ratio[solver][np.isfinite(ratio[solver])]))] for solver in LABELS]
    return [Panel(curves=curves, x="time ÷ best time on the same snapshot", y="snapshots solved [%]", scales=("log", "linear"))]


def profiles(e):
    """A row of panels for all problems and for each group, without set-up and with it; the better curve is named first."""
    panels = []
    for scenes in (SCENES, *([scene] for scene in SCENES)):
        for column, words in (("solve", "without set-up"), ("total", "set-up counted in")):
            rows = timed(e).query("file in @files", local_dict={"files": [f"{scene}-quick.h5" for scene in scenes]})
            table = rows.assign(cost=rows[column].where(rows["solved"] == 1, np.inf)).pivot_table(index=["file", "step"], columns="label", values="cost")
            ratio = table.div(table.min(axis=1), axis=0)
            height = (1 - np.log(ratio.clip(upper=100.0)) / np.log(100.0)).mean()
            order = sorted(LABELS.values(), key=lambda label: -height[label])
            curves = [[(value, 100 * (place + 1) / len(table)) for place, value in enumerate(sorted(ratio[label][np.isfinite(ratio[label])]))] for label in order]
            names = [(f"{label}, {100 * np.isfinite(ratio[label]).mean():.0f} %", 1.03, 0.99 - 0.135 * place) for place, label in enumerate(order)]
            panels.append(Panel(curves=curves, words=names, x="time ÷ best time on the same snapshot" if scenes == ["dale"] else "",
                                y="solved [%]" if column == "solve" else "", scales=("log", "linear")))
    return panels


def convergence(column):
    def wanted(e):
        found = []
        for solver in LABELS:
            own = [t for t in e.traces if t.solver == solver]
            if column == "iteration":
                at = range(1, min(len(t.iteration) for t in own))
                curve = [(k, np.median([t.residual[k] for t in own])) for k in at]
            else:  # the abscissae are the figure's own: the heights are medians of the residuals
                curve = [(None, np.median([t.residual[k] for t in own])) for k in range(1, min(len(t.iteration) for t in own) - 1)]
            found.append(Panel(curves=[curve], x="iteration" if column == "iteration" else "time [ms]", y="residual [–]", scales=("log", "log")))
        return found
    return wanted


def histories(e):
    trace = {label: next(t for t in e.traces if t.label == label and t.step == "000010") for label in LABELS.values()}
    found = []
    for label in LABELS.values():
        t = trace[label]
        first = int(np.flatnonzero(t.residual <= t.tolerance * (1 + 1e-9))[0])
        end = min(len(t.iteration), int(1.15 * first) + 4)
        curves = [[(k, t.progress[norm][k]) for k in range(end) if t.progress[norm][k] > 0] for norm in data.NORMS]
        found.append(Panel(curves=curves, x="iteration", y="norm [m/s]", scales=("linear", "log")))
    return found


def rounds(e):
    found = []
    for label in LABELS.values():
        passed, curves, circles = 0, {norm: [] for norm in data.NORMS}, []
        for place, t in enumerate(sorted((t for t in e.traces if t.label == label), key=lambda t: t.step)):
            end = int(np.flatnonzero(t.residual <= t.tolerance * (1 + 1e-9))[0]) + 1
            for norm in data.NORMS:
                points = [(passed + k, t.progress[norm][k]) for k in range(end) if t.progress[norm][k] > 0]
                circles += points[:1] if place else []
                curves[norm] += points
            passed += end - 1
        found.append(Panel(circles, list(curves.values()), x="iteration", y="norm [m/s]", scales=("linear", "log")))
    return found


def growth(e):
    rows = e.runs[e.runs["protocol"] == "converge"]
    panels = []
    for column in ("iterations", "mass_products"):
        found = [(setting, value) for label in LABELS.values() for setting, value in
                 middle(rows[(rows["label"] == label) & (rows["status"] == "converged")], "setting.stiffness", column).items()]
        missed = rows[rows["status"] != "converged"]
        panels.append(Panel(found + list(zip(missed["setting.stiffness"], missed[column])), x="stiffness [Pa]", y="" if panels else "number", scales=("log", "log")))
    return panels


def residuals(e):
    rows = e.runs[e.runs["protocol"] == "self-stopped"]
    found = [(setting, value) for label in LABELS.values() for mode in ("none", "points") for setting, value in
             rows[(rows["label"] == label) & (rows["region_mode"] == mode)].groupby("setting.stiffness")["residual"].max().items()]
    return [Panel(found, x="stiffness [Pa]", y="residual [–], worst snapshot", scales=("log", "log"))]


def solved(e):
    rows = e.runs[e.runs["protocol"] == "converge"]
    curves = []
    for label in LABELS.values():
        own = rows[rows["label"] == label]
        values = sorted(own.loc[own["status"] == "converged", "iterations"])
        curves.append([(value, 100 * (place + 1) / len(own)) for place, value in enumerate(values)])
    return [Panel(curves=curves, x="iterations", y="problems solved [%]", scales=("log", "linear"))]


def ladder(e):
    rows = e.runs[(e.runs["protocol"] == "self-stopped") & (e.runs["region_mode"] == "none")]
    base = rows[rows["label"] == "PGS"].set_index(["file", "step"])
    left, right = [], []
    for row in rows[rows["options.tol_cg"] != ""].itertuples():
        for column in ("products", "iterations"):
            left.append((float(row[rows.columns.get_loc("options.tol_cg") + 1]), getattr(row, column) / base.loc[(row.file, row.step), column]))
        right.append((float(row[rows.columns.get_loc("options.tol_cg") + 1]), 100.0 * row.unsolved))
    words = "tolerance of the first phase"
    return [Panel(left, x=words, y="sum ÷ that of PGS", scales=("log", "linear")), Panel(right, x=words, y="not solved within the caps [%]", scales=("log", "linear"))]


def series_panels(e):
    found = []
    for scene in SCENES:
        part = e.series[e.series["file"] == f"{scene}-quick.h5"]
        late = part[(part["time"] >= 0.055) & (part["time"] <= 0.095)]
        last = scene == SCENES[-1]
        for rows, y in ((part, "speed [m/s]"), (late, "")):
            found.append(Panel(curves=[list(zip(rows["time"], rows[column])) for column in ("front", "back")], x="time [s]" if last else "", y=y))
    return found


def scatter(e):
    return [Panel([(row.contacts, MS * row.solve_seconds) for row in e.runs[(e.runs["protocol"] == "time") & (e.runs["region_mode"] == "none")
                                                                           & (e.runs["threads"] == 1) & (e.runs["repetition"] == 0)
                                                                           & (e.runs["scene"] == scene)].itertuples()],
                  x="contacts", y="solve seconds [ms]" if scene == SCENES[0] else "", scales=("log", "log")) for scene in SCENES]


def histogram(e):
    shares = []
    for scene in SCENES:
        values = e.steps.loc[e.steps["scene"] == scene, "rounds"].clip(upper=6)
        low = int(e.steps["rounds"].min())
        shares += [100 * float((values == k).mean()) for k in range(low, 7)]
    return [Panel(bars=[(3, shares)], x="rounds in a step", y="share of the steps [%]")]


def over_time(e):
    curves = [list(zip(part["time"], part["iterations"].rolling(3, center=True, min_periods=1).median())) for _, part in e.steps.groupby("scene", sort=False)]
    return [Panel(list(zip(e.steps["time"], e.steps["iterations"])), curves, x="time of the scene [s]", y="iterations per step", scales=("linear", "log"))]


def against(e):
    rows = e.steps[e.steps["contacts"] > 0]
    return [Panel(list(zip(rows["contacts"], MS * rows["step_seconds"])), x="contacts", y="time of a step [ms]", scales=("log", "log"))]


def sweep(e):
    panels = []
    for scene in SCENES:
        marks, words = [], []
        for place, solver in enumerate(("pgs", "pcg")):
            part = e.steps[(e.steps["scene"] == scene) & (e.steps["setting.solver.name"] == solver)]
            points = [(10.0 * 4.0 ** size, rows["iterations"].mean()) for size, rows in part.groupby("setting.size")]
            marks += points
            words.append((f"{np.polyfit(*np.log(np.transpose(points)), 1)[0]:.2f}", 0.97, 0.03 + 0.06 * place))
        panels.append(Panel(marks, words=words, x="condition", y="mean iterations" if scene == SCENES[0] else "", scales=("log", "log")))
    return panels


def follow_panels(e):
    least = e.follow.loc[e.follow["churn"] > 0, "churn"].min()
    return [Panel([(row.churn or least / 2, row.update_share) for row in e.follow[e.follow["region_mode"] == mode].itertuples()],
                  x="share of contacts that came or went", y="time of update ÷ rebuild" if mode == "points" else "", scales=("log", "log"))
            for mode in ("points", "islands")]


def shares(e):
    means = [e.steps.loc[e.steps["scene"] == scene, CLOCKS].mean() for scene in SCENES]
    return [Panel(bars=[(2, [100 * one[clock] / one.sum() for clock in CLOCKS for one in means])], x="share of the mean time of a step [%]")]


def incline(e):
    rows = e.runs.drop_duplicates("file")
    return [Panel([(1e3 * (np.tan(np.radians(angle)) / 0.5 - 1), None) for angle in rows["setting.angle"]], x="tan(angle) against μ, or √2 μ [‰]")]


def ratios(e):
    found = []
    for label in LABELS.values():
        pairs = timed(e, "none").merge(timed(e, "points"), on=["file", "step", "label"], suffixes=("", "_split"))
        pairs = pairs[pairs["label"] == label]
        found.append(Panel(list(zip(pairs["contacts"], pairs["solve"] / pairs["solve_split"])), x="contacts",
                           y="whole ÷ by regions" if label == "PGS" else "", scales=("log", "log")))
    return found


def factors(e):
    """Marks of both columns, and bins up to 14, up to 28 and above."""
    found = []
    for scene in SCENES:
        pairs = timed(e, "none").merge(timed(e, "points"), on=["file", "step", "label"], suffixes=("", "_split"))
        pairs = pairs[(pairs["label"] == "PGS") & pairs["file"].str.startswith(scene)]
        marks, curves = [], []
        for column in ("total", "solve"):
            marks += list(zip(pairs["contacts"], pairs[column] / pairs[f"{column}_split"]))
            for low, high in ((0, 14), (14, 28), (28, 99)):
                part = pairs[(pairs["contacts"] > low) & (pairs["contacts"] <= high)]
                ratio = part[column].sum() / part[f"{column}_split"].sum()
                curves.append([(0.97 * part["contacts"].min(), ratio), (1.03 * part["contacts"].max(), ratio)])
        found.append(Panel(marks, curves, x="contacts", y="whole ÷ by regions" if scene == "hill" else "", scales=("log", "log")))
    return found


def over_option(e):
    rows = e.runs[(e.runs["protocol"] == "self-stopped") & (e.runs["options.tol_cg"] != "") & (e.runs["scene"] == "hill")]
    return [Panel([(float(row["options.tol_cg"]), 100 * row["setup_seconds"]) for _, row in rows.iterrows()], x="tol_cg", y="mean [%]", scales=("log", "symlog"))]


def contacts(e):
    return [Panel([(row.contacts, MS * row.solve) for row in good(timed(e, mode)).itertuples()], x="contacts", y="solve time [ms]" if mode == "none" else "",
                  scales=("log", "log")) for mode in ("none", "points")]


def over_contacts(e):
    rows = timed(e)
    return [Panel([(row.contacts, MS * row.total) for row in rows[rows["family"] == "hill"].itertuples()], x="contacts", y="time [ms]", scales=("log", "log"))]


def inner(e):
    found = []
    for label in LABELS.values():
        values = np.sort(np.concatenate([data.inner_sweeps(t) for t in e.traces if t.label == label]))
        found.append(Panel(curves=[[(value, 100 * (place + 1) / len(values)) for place, value in enumerate(values)]], x="sweeps in one iteration",
                           y="iterations [%]" if label == "PGS" else ""))
    return found


def regions(e):
    rows = e.runs[e.runs["region_mode"] == "points"].drop_duplicates(["file", "step"]).sort_values(["file", "step"]).reset_index()
    return [Panel(curves=[list(zip(rows.index, rows["contacts"])), list(zip(rows.index, rows["regions"]))], x="snapshot", y="number"),
            Panel(x="contacts in the largest region", y="snapshots", scales=("linear", "log")),
            Panel(curves=[list(zip(rows.index, 100 * rows["largest_region"] / rows["contacts"]))], x="snapshot", y="largest region [% of contacts]")]


def threads(e):
    one, two = good(timed(e, "points")), good(timed(e, "points", 2))
    pairs = one.merge(two, on=["file", "step", "solver"], suffixes=("", "_two"))
    pairs = pairs.assign(gain=pairs["solve"] / pairs["solve_two"])
    left = [(np.percentile(pairs.loc[pairs["solver"] == solver, "gain"], 50), row) for row, solver in enumerate(LABELS)]
    return [Panel(left, x="speed-up with 2 threads: median, quartiles"),
            Panel(list(zip(MS * pairs["solve"], pairs["gain"])), x="solve time with one thread [ms]", y="speed-up, 2 threads", scales=("log", "linear"))]


def errors(e):
    """0 is drawn a decade below the least other value."""
    panels = []
    for abscissa, words, factor in (("asked", "residual", 1.0), ("step_seconds", "time of a step [ms]", MS)):
        for column, label, others in (("creep_most", "creep [m/s]", False), ("deepest_point", "penetration [m]", False),
                                      ("apart_mean", "distance [m]", True), ("energy_share", "energy error [share]", True)):
            rows = e.accuracy[e.accuracy["file"] != e.accuracy["finest"]] if others else e.accuracy
            above = rows.loc[rows[column] > 0, column]
            zero = 10.0 ** (np.floor(np.log10(above.min())) - 1) if len(above) else 1.0
            panels.append(Panel([(factor * row[abscissa], row[column] or zero) for _, row in rows.iterrows()], x=words, y=label, scales=("log", "log")))
    return panels


def slip(e):
    rows = e.accuracy[e.accuracy["recording.scene"] == "hill"]
    return [Panel(list(zip(rows["asked"], rows["slip_slope"].abs())), x="residual", y="error of the slope of slip [share]", scales=("log", "log"))]


def sheet(e):
    return [Panel() for _ in SCENES]


def labels(e):
    return list(LABELS.values())


def solvers(e):
    return list(LABELS)


def counted(scene, e):
    part = e.follow[e.follow["scene"] == scene]
    return f"{scene} ({part['contacts'].min()} to {part['contacts'].max()} contacts)"


def exponent(x, y):
    return f"exponent {np.polyfit(np.log(x), np.log(y), 1)[0]:.2f}"


def against_legend(e):
    rows = e.steps[e.steps["contacts"] > 0]
    return [f"{scene}: {exponent(part['contacts'], part['step_seconds'])}" for scene, part in rows.groupby("scene", sort=False)]


def over_contacts_legend(e):
    return [f"{label}, {exponent(part['contacts'], part['total'])}" for label, part in timed(e).query("family == 'hill'").groupby("label")]


NORMS = ["residual of the system", "preconditioned", "of the active constraints"]
BANDS = ["median snapshot", "10–90 % of the snapshots", "medians of the others", "tolerance", "not reached"]
KINDS = [
    Kind("times_and_iterations", times_and_iterations, lambda e: [*REGIONS, "quartiles"]),
    Kind("methods", methods, lambda e: ["own stop", "one of the two did not solve all", "the paper"]),
    Kind("outcomes", outcomes, lambda e: ["a problem that both solve", "median"]),
    Kind("winners", winners, lambda e: []),
    Kind("profile", profile, solvers),
    Kind("profiles", profiles, lambda e: [], "profiles_1e-06"),
    Kind("convergence_iterations", convergence("iteration"), lambda e: BANDS, "convergence_iterations_cone"),
    Kind("convergence_time", convergence("seconds"), lambda e: BANDS, "convergence_time_cone"),
    Kind("histories", histories, lambda e: [*NORMS, "state changes", "tolerance met (referee)"]),
    Kind("rounds", rounds, lambda e: [*NORMS, "re-linearisation"]),
    Kind("growth", growth, labels),
    Kind("residuals", residuals, lambda e: [f"{label}, {mode}" for label in LABELS.values() for mode in REGIONS] + ["tolerance"]),
    Kind("solved", solved, labels),
    Kind("ladder", ladder, lambda e: ["products with W, cone", "iterations, cone", "combined, cone", "PGS, cone"]),
    Kind("series", series_panels, lambda e: ["front", "back"]),
    Kind("scatter", scatter, lambda e: [*LABELS.values(), "tolerance not met"]),
    Kind("histogram", histogram, lambda e: [f"{scene} (20 steps)" for scene in SCENES]),
    Kind("over_time", over_time, lambda e: SCENES),
    Kind("against", against, against_legend),
    Kind("sweep", sweep, lambda e: [*LABELS.values(), "the paper's mean"]),
    Kind("follow", follow_panels, lambda e: [counted(scene, e) for scene in SCENES]),
    Kind("shares", shares, lambda e: ["detection", "assembly", "free motion", "contact solve", "other"]),
    Kind("incline", incline, lambda e: ["stays", "slides"]),
    Kind("ratios", ratios, lambda e: []),
    Kind("factors", factors, lambda e: ["the paper's numbers", "total", "solve"]),
    Kind("over_option", over_option, lambda e: ["PCG"]),
    Kind("contacts", contacts, solvers),
    Kind("over_contacts", over_contacts, over_contacts_legend),
    Kind("inner", inner, lambda e: ["hill"]),
    Kind("regions", regions, lambda e: ["contacts", "regions"]),
    Kind("threads", threads, lambda e: ["regions (points)", *LABELS]),
    Kind("errors", errors, lambda e: [*SCENES, "a second solver"]),
    Kind("slip", slip, lambda e: ["hill, pgs", "hill, pcg"]),
    Kind("sheet", sheet, lambda e: []),
]
IMAGES = {"hill": np.linspace(0, 1, 5 * 8 * 3).reshape(5, 8, 3), "dale": np.linspace(1, 0, 5 * 8 * 3).reshape(5, 8, 3)}


def draw(kind, e):
    """(stem, figure) of one kind, or nothing where it was not drawn."""
    with mock.patch.object(sheet_module, "recordings_of", lambda e, names: [(name, Path(name)) for name in names if len(e.runs)]), \
            mock.patch.object(sheet_module, "drawn", lambda file, *_: IMAGES[file.name]), tempfile.TemporaryDirectory() as name:
        return figures.known()[kind.name].draw(e, Path(name))


def faults(kind, wanted, legend, name, figure):
    """Everything in which a figure is not what the data want it to be."""
    found = drawn.problems(figure)
    if name != (kind.stem or kind.name):
        found.append(f"it is called {name}")
    shown = drawn.panels(figure)
    if len(shown) != len(wanted):
        return [*found, f"{len(shown)} panels instead of {len(wanted)}"]
    for number, (axes, panel) in enumerate(zip(shown, wanted)):
        found += [f"panel {number}: {text}" for text in panel_faults(axes, panel)]
    if set(drawn.legends(figure)) != set(legend):
        found.append(f"the legend says {sorted(drawn.legends(figure))} instead of {sorted(legend)}")
    found += [f"the legend has '{label}', which is not drawn" for label, handle in drawn.legends(figure).items() if not looks_like_any(handle, shown)]
    if kind.name == "sheet":
        found += [f"the picture of {scene} is another one" for axes, scene in zip(shown, SCENES) if not (
            len(axes.images) == 1 and np.array_equal(axes.images[0].get_array(), IMAGES[scene]))]
    return found


def looks_like_any(handle, shown):
    """Whether a line, bar or area of the figure has the marker, or the colour and dashes, of a legend entry. Grey entries explain a manner of
    drawing, red crosses what may happen."""
    from matplotlib.colors import to_hex
    if not hasattr(handle, "get_marker"):
        return True
    colour = to_hex(handle.get_color())
    if colour in ("#444444", "#b00000", "#c4c4c4", "#666666") or (handle.get_marker() == "|"):
        return True
    lines = [line for axes in shown for line in axes.lines if len(line.get_xdata())]
    return any(to_hex(line.get_color()) == colour and (handle.get_marker() in ("None", "", None) or line.get_marker() == handle.get_marker())
               for line in lines)


def panel_faults(axes, panel):
    found = []
    if panel.scales and (axes.get_xscale(), axes.get_yscale()) != panel.scales:
        found.append(f"scales {(axes.get_xscale(), axes.get_yscale())} instead of {panel.scales}")
    for have, want in ((axes.get_xlabel(), panel.x), (axes.get_ylabel(), panel.y)):
        if want is not None and have != want and not (want and not have):  # a shared axis has its label once: drawn.problems
            found.append(f"the axis says '{have}' instead of '{want}'")
    if panel.marks is not None:
        have = drawn.marks(axes)
        if len(have) != len(panel.marks):
            found.append(f"{len(have)} marks for {len(panel.marks)} rows")
        elif not drawn.contains(have, panel.marks):
            found.append("the marks stand elsewhere")
    lines = [drawn.vertices(line) for line in drawn.data_lines(axes) if not drawn.has_marks(line)]
    for number, curve in enumerate(panel.curves or []):
        if not curve or not any(drawn.contains(points, curve) for points in lines):
            found.append(f"no line goes through the {len(curve)} points of curve {number}")
    if panel.words is not None:
        have = sorted((text.get_text(), *text.get_position()) for text in axes.texts)
        if have != sorted(panel.words):
            found.append(f"it says {have} instead of {sorted(panel.words)}")
    if panel.colours is not None:
        have = np.ma.filled(axes.images[0].get_array().astype(float), np.nan)
        if have.shape != np.shape(panel.colours) or not np.allclose(have, panel.colours, rtol=1e-9, equal_nan=True):
            found.append("the cells have other colours")
    for column, values in panel.bars or []:
        have = drawn.bars(axes)[:, column]
        if len(have) != len(values) or not np.allclose(have, values, rtol=1e-9, atol=1e-12):
            found.append(f"bars {have.round(2)} instead of {np.round(values, 2)}")
    return found


def emptied(e):
    return data.Experiment(e.id, e.folder, e.runs.iloc[:0], [], {}, e.config, None, series=e.series.iloc[:0], follow=e.follow.iloc[:0], steps=e.steps.iloc[:0],
                           accuracy=e.accuracy.iloc[:0])


def shuffled(e):
    """The same numbers in other rows."""
    random = np.random.default_rng(1)

    def mixed(table, columns):
        return table.assign(**{name: random.permutation(table[name].to_numpy()) for name in columns})

    changed = [dataclasses.replace(t, residual=np.concatenate([t.residual[:1], random.permutation(t.residual[1:])]),
                                   progress={name: random.permutation(values) if name in data.NORMS else np.cumsum(random.integers(0, 9, len(values)))
                                             for name, values in t.progress.items()}) for t in e.traces]
    mixed_runs = mixed(e.runs, ["iterations", "products", "mass_products", "residual", "setup_seconds", "solve_seconds", "contacts", "largest_region",
                                "setting.angle"])
    mixed_runs["total_seconds"] = mixed_runs["setup_seconds"] + mixed_runs["solve_seconds"]
    mixed_runs["largest_share"] = mixed_runs["largest_region"] / mixed_runs["contacts"]
    mixed_runs["first_to_reach.1e-06"] = data.first_to_reach(mixed_runs, 1e-6)
    return dataclasses.replace(e, runs=mixed_runs, traces=changed, series=mixed(e.series, ["front", "back"]), follow=mixed(e.follow, ["update_share"]),
                               accuracy=mixed(e.accuracy, ["creep_most", "deepest_point", "step_seconds", "slip_slope"]),
                               steps=mixed(e.steps, ["iterations", "rounds", "step_seconds", *CLOCKS]))


class EveryFigure(unittest.TestCase):
    """Each test walks over all kinds, so that a new kind of figure cannot be left out."""

    @classmethod
    def setUpClass(cls):
        cls.experiment = experiment()
        cls.wanted = {kind.name: (kind.wanted(cls.experiment), list(kind.legend(cls.experiment))) for kind in KINDS}

    def faults(self, kind, name, figure):
        return faults(kind, *self.wanted[kind.name], name, figure)

    def test_no_kind_is_left_out(self):
        self.assertEqual({kind.name for kind in KINDS}, set(figures.known()))

    def test_figures_show_their_data_and_nothing_is_cut(self):
        for kind in KINDS:
            with self.subTest(kind.name), drawn.captured() as found:
                self.assertTrue(draw(kind, self.experiment))
                self.assertEqual(len(found), 1)
                self.assertEqual(self.faults(kind, *found[0]), [])

    def test_without_data_there_is_no_figure(self):
        for kind in KINDS:
            with self.subTest(kind.name), drawn.captured() as found:
                draw(kind, emptied(self.experiment))
                self.assertTrue(not found or self.faults(kind, *found[0]), "an empty figure passes")

    def test_a_figure_of_shuffled_data_is_noticed(self):
        for kind in KINDS:
            if kind.name == "sheet":
                continue  # it shows pictures, no rows
            with self.subTest(kind.name), drawn.captured() as found:
                draw(kind, shuffled(self.experiment))
                self.assertTrue(not found or self.faults(kind, *found[0]), "wrong data pass")

    def test_a_figure_that_lost_a_part_is_noticed(self):
        for kind in KINDS:
            with self.subTest(kind.name), drawn.captured() as found:
                draw(kind, self.experiment)
                name, figure = found[0]
                for damage, mend in damages(figure):
                    self.assertTrue(self.faults(kind, name, figure), f"{damage} passes")
                    mend()
                self.assertEqual(self.faults(kind, name, figure), [], "mended again")


def damages(figure):
    """Damages a figure in one way after the other: (what was done, what undoes it)."""
    axes = next((one for one in drawn.panels(figure) if drawn.data_lines(one) or len(drawn.bars(one)) or one.images), None)
    for kind, artists in (("a line", [line for line in drawn.data_lines(axes) if drawn.has_marks(line)] or sorted(
            drawn.data_lines(axes), key=lambda line: -line.get_linewidth())), ("a bar", list(axes.patches)), ("a picture", list(axes.images))):
        if artists:
            artist = artists[0]
            if kind == "a line":
                before = artist.get_data()
                artist.set_data([], [])
                yield f"{kind} without its points", lambda: artist.set_data(*before)
            elif kind == "a bar":
                height, width = artist.get_height(), artist.get_width()
                artist.set_height(2 * height), artist.set_width(2 * width)
                yield "a bar of twice the size", lambda: (artist.set_height(height), artist.set_width(width))
            else:
                image = artist.get_array()
                artist.set_data(np.ones_like(image))
                yield "a blank picture", lambda: artist.set_data(image)
    marked = [line for line in drawn.data_lines(axes) if drawn.has_marks(line)]
    if marked:
        limits = axes.get_xlim()
        axes.set_xlim(limits[0], np.median(np.concatenate([drawn.vertices(line)[:, 0] for line in marked])))
        yield "marks beyond the axis", lambda: axes.set_xlim(limits)
    if axes.axison:
        label = axes.get_xlabel()
        axes.set_xlabel("another" if label else "one too many")
        yield "another label", lambda: axes.set_xlabel(label)
        if not drawn.names(axes.xaxis):  # a scale takes its own ticks
            scale, limits = axes.get_xscale(), axes.get_xlim()
            axes.set_xscale("linear" if scale == "log" else "symlog")
            yield "another scale", lambda: (axes.set_xscale(scale), axes.set_xlim(limits))
    if drawn.legends(figure):
        legend = (figure.legends or [one.get_legend() for one in drawn.panels(figure) if one.get_legend()])[0]
        word = legend.get_texts()[0].get_text()
        legend.get_texts()[0].set_text("a solver that is not there")
        yield "a wrong legend", lambda: legend.get_texts()[0].set_text(word)


class Scatter(unittest.TestCase):
    def test_problems_are_numbered_in_every_panel(self):
        rows = pd.DataFrame({"family": ["a", "a", "b", "a", "b"], "file": ["p", "q", "r", "p", "s"]})
        self.assertEqual(list(scatter_figure.with_problems(rows, "family")["problem"]), [1.0, 2.0, 1.0, 1.0, 2.0])
        self.assertEqual(list(scatter_figure.with_problems(rows, None)["problem"]), [1.0, 2.0, 3.0, 1.0, 4.0])

    def test_a_run_that_gave_up_is_hollow_whatever_counts_its_work(self):
        from matplotlib.figure import Figure
        for column, hollow in (*((work, True) for work in ("iterations", "products", "contact_sweeps", "evaluations", "solve_seconds")), ("setup_seconds", False)):
            axes = Figure().subplots()
            rows = pd.DataFrame({"_x": [10.0, 20.0], "_y": [3.0, 4.0], "solved": [1, 0]})
            found, _ = scatter_figure.draw_panel(axes, [("PGS", column, rows)], ["PGS"], {}, 1.0, {"PGS": "#000000"})
            self.assertEqual(found, hollow, column)

if __name__ == "__main__":
    unittest.main()
