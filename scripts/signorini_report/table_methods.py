"""Methods compared scene by scene beside a paper's numbers: [methods] of figures.toml, written as methods.md and on the page.

Every table of [[methods.tables]] has one line per scene and method: mean (median) of the time to resolve contacts, of iterations and
of constraints (three per contact), how many problems the method solved, and its mean over that of the reference method. Means and
medians are over what the method solved; a ratio is between the sums over what both methods solved, so that a failure never looks
like a fast solve. Beside them stand the paper's numbers, as paper.toml gives them. Where recordings.csv tells the condition of
D⁻¹M, a last table sets the ratios of iterations against it.
"""

import numpy as np
import pandas as pd

from signorini_report import committed, strict, tables, whole_files
from signorini_report.rows import Impossible, digits, select
from signorini_report.strict import ReportError

PAPER_KEYS = ("resolution", "collision", "total", "iterations", "constraints")  # each [mean, median]; times in s
OVER = "over"  # { resolution = 4.35 }: where the paper gives no more than the ratio to the reference

TABLE = dict.fromkeys(("title", "note", "target", "suffix", "count", "rows", "where", "methods"))
KEYS = {"methods": {**dict.fromkeys(("title", "reference", "scenes", "methods")), "tables": TABLE}}  # of figures.toml


def scene_recorded(name, scenes):
    """rings_long_by_ica → rings: the longest of the scenes that the name of a recording begins with, else what stands before _by_."""
    found = [scene for scene in scenes if name == scene or name.startswith(f"{scene}_")]
    return max(found, key=len) if found else name.split("_by_")[0]


def scenes_of(rows, scenes):
    """What every row counts as in the table: its scene where `scenes` names that, else its group (groups.py) where they name that."""
    groups = rows["group"] if "group" in rows.columns else [""] * len(rows)
    found = [(scene_recorded(name, scenes), group) for name, group in zip(rows["scene"], groups)]
    return [group if scene not in scenes and group in scenes else scene for scene, group in found]


def recorded(experiment, scenes):
    """{recording: (scene, solver)} of the recordings that a solver drives, as recordings.csv tells them."""
    steps = experiment.steps.drop_duplicates("scene")
    if "setting.solver.name" not in steps.columns:
        return {}
    known = steps["recording.scene"] if "recording.scene" in steps.columns else pd.Series("", index=steps.index)
    return {name: (scene or scene_recorded(name, scenes), solver)
            for name, scene, solver in zip(steps["scene"], known, steps["setting.solver.name"]) if solver}


def method_of(name, solver, methods):
    """The key of `methods` that a recording stands for: rings_own_by_ica-free_1 for ica-free, the longest that fits, else its solver."""
    part = name.partition("_by_")[2]
    found = [key for key in methods if part == key or part.startswith(f"{key}_")]
    return max(found, key=len) if found else solver


def of_runs(experiment, wanted):
    """scene, method, problem, solved, resolution [s], iterations, constraints, residual of the runs that the table asks for, one row
    for each problem: at the loosest tolerance at which the method reaches the residual `target`; with `count = "stopped"` at the
    loosest of all, whatever residual that leaves."""
    rows = select(experiment.runs, wanted.get("where"))
    suffix = wanted.get("suffix", "")
    rows = rows[rows["label"].str.endswith(suffix)]
    stopped = wanted.get("count") == "stopped"
    reached = f"first_to_reach.{wanted.get('target', experiment.tolerance):.0e}"
    if not stopped and reached not in rows.columns:
        raise Impossible(f"no run was asked for the residual {wanted['target']:g}")
    frame = pd.DataFrame({"scene": scenes_of(rows, experiment.config["methods"]["scenes"]), "method": [label.removesuffix(suffix) for label in rows["label"]],
                          "problem": rows["file"] + " " + rows["step"],
                          "solved": rows["status"].isin(["converged", "stalled"]).astype(int) if stopped else rows[reached],
                          "resolution": rows["total_seconds"], "iterations": rows["iterations"].astype(float),
                          "constraints": 3.0 * rows["contacts"], "residual": rows["residual"], "tolerance": rows["tolerance"]})
    order = ["tolerance"] if stopped else ["solved", "tolerance"]  # what comes first stays
    frame = frame.sort_values(order, ascending=False, kind="stable")
    return frame.drop_duplicates(["scene", "method", "problem"]).sort_values(["scene", "method", "problem"], kind="stable")


def of_steps(experiment, wanted):
    """The same of steps that a method drove itself, with the times of collision detection and of the whole step."""
    steps = getattr(experiment, "steps", None)
    if steps is None or steps.empty:
        return pd.DataFrame()
    names = wanted.get("methods", {})
    known = recorded(experiment, experiment.config["methods"]["scenes"])
    driven = {name: (scene, method_of(name, solver, names)) for name, (scene, solver) in known.items()}
    pairs = {name: (scene, names[method]) for name, (scene, method) in driven.items() if method in names}
    rows = select(steps, wanted.get("where"))
    unsolved = rows["unresolved"].fillna(0)  # such a step counts no contacts where its bodies were held
    rows = rows[rows["scene"].isin(list(pairs)) & ((rows["contacts"] >= 1) | (unsolved > 0))]
    return pd.DataFrame({"run": rows["scene"].to_numpy(), "scene": [pairs[name][0] for name in rows["scene"]], "method": [pairs[name][1] for name in rows["scene"]],
                         "problem": rows["step"].to_numpy(), "solved": 1 - rows["unresolved"].fillna(0).to_numpy(),
                         "resolution": rows["resolution_seconds"].to_numpy(), "contact solve": rows["solve_seconds"].to_numpy(),
                         "collision": rows["detection_seconds"].to_numpy(),
                         "total": rows["step_seconds"].to_numpy(), "iterations": rows["iterations"].astype(float).to_numpy(),
                         "constraints": 3.0 * rows["contacts"].to_numpy()})


def held_text(frame):
    """Which steps held their bodies and so count no contacts."""
    held = frame[frame["constraints"] == 0].groupby(["scene", "method"], sort=False).size()
    if held.empty:
        return ""
    each = ", ".join(f"{scene}, {method}: {number}" for (scene, method), number in held.items())
    return f" Steps that end with a collision that was not solved are in no mean; those that held their bodies and count no contacts: {each}."


def mean_median(values, scale=1.0):
    """mean (median), three digits each."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return "–"
    return f"{digits_or_dash(scale * values.mean())} ({digits_or_dash(scale * values.median())})"


def range_of_runs(part):
    """Smallest – largest of the mean iterations of several runs of a method."""
    means = part.groupby("run")["iterations"].mean()
    return f"{digits_or_dash(means.min())} – {digits_or_dash(means.max())}" if len(means) > 1 else "–"


def digits_or_dash(value):
    return digits(value) if np.isfinite(value) else "–"


def paper_pair(numbers, key):
    pair = numbers.get(key)
    return "–" if pair is None else f"{digits_or_dash(pair[0])} ({digits_or_dash(pair[1])})"


def ratio(part, reference, column):
    """Sum over the problems that both solved ÷ that of the reference; nan where there is none."""
    both = part[part["solved"] == 1].merge(reference[reference["solved"] == 1], on="problem", suffixes=("", "_reference"))
    below = both[f"{column}_reference"].sum() if len(both) else 0.0
    return both[column].sum() / below if below > 0 else np.nan


def ratio_of_means(part, reference, column):
    """Of steps of two simulations: they are not the same problems, so mean ÷ mean."""
    above, below = part.loc[part["solved"] == 1, column], reference.loc[reference["solved"] == 1, column]
    return above.mean() / below.mean() if len(above) and len(below) and below.mean() > 0 else np.nan


def paper_ratio(paper, scene, method, reference, key):
    numbers = paper.get(scene, {}).get(method, {})
    above, below = numbers.get(key), paper.get(scene, {}).get(reference, {}).get(key)
    return above[0] / below[0] if above and below else numbers.get(OVER, {}).get(key, np.nan)


def line(wanted, paper, reference_name, scene, method, part, reference):
    """One line of a table."""
    own_runs = wanted.get("rows") == "steps"
    good = part[part["solved"] == 1]
    quotient = ratio_of_means if own_runs else ratio
    numbers = paper.get(scene, {}).get(method, {})
    cells = [scene, method, f"{len(good)} of {len(part)}" if len(part) else "not run"]
    times = ("resolution", "collision", "total") if own_runs else ("resolution",)
    for key in times:
        cells += [mean_median(good[key], 1e3) if key in good else "–", paper_pair(numbers, key)]
    cells += [mean_median(good["iterations"]) if len(good) else "–", paper_pair(numbers, "iterations")]
    if own_runs:
        cells.append(range_of_runs(good))
    cells += [mean_median(good["constraints"]) if len(good) else "–", paper_pair(numbers, "constraints")]
    if wanted.get("count") == "stopped":
        cells.append(tables.reached_text(good["residual"].median()) if len(good) else "–")
    for key in quotients(wanted):
        cells.append(digits_or_dash(quotient(part, reference, key)) if len(part) and len(reference) else "–")
        if key in PAPER_KEYS:
            cells.append(digits_or_dash(paper_ratio(paper, scene, method, reference_name, key)))
    return cells


def quotients(wanted):
    """What stands over the reference method. Of steps also the contact solve alone: the free motion of a step, which `resolution`
    has too, costs every method the same, and no method of a paper may have it."""
    return ("resolution", "contact solve", "iterations") if wanted.get("rows") == "steps" else ("resolution", "iterations")


def header(wanted):
    times = ("resolution", "collision", "total") if wanted.get("rows") == "steps" else ("resolution",)
    cells = ["scene", "method", "steps" if wanted.get("rows") == "steps" else "stopped" if wanted.get("count") == "stopped" else "solved"]
    for key in times:
        cells += [f"{key} [ms]", "paper [s]"]
    cells += ["iterations", "paper"] + (["each run"] if wanted.get("rows") == "steps" else []) + ["constraints", "paper"]
    if wanted.get("count") == "stopped":
        cells.append("residual, median")
    for key in quotients(wanted):
        cells += [f"{key} ÷"] + (["paper"] if key in PAPER_KEYS else [])
    return cells


def check(experiment, config):
    where, paper = experiment.figures_file, experiment.figures_file.with_name("paper.toml")
    for key in ("reference", "methods", "scenes", "tables"):
        if key not in config:
            raise ReportError(f"{where}: [methods] lacks '{key}'")
    strict.typed(config, {"reference": strict.TEXT, "methods": strict.TEXTS, "scenes": strict.TEXTS, "tables": strict.TABLES}, f"{where}: [methods]")
    for scene in config["scenes"]:
        for method, numbers in config.get("paper", {}).get(scene, {}).items():
            if method not in config["methods"]:
                raise ReportError(f"{paper}: [{scene}] has '{method}', which is not in methods")
            for key, pair in numbers.items():
                if key == OVER and isinstance(pair, dict) and all(name in PAPER_KEYS and strict.is_number(value) for name, value in pair.items()):
                    continue
                if key not in PAPER_KEYS or not isinstance(pair, list) or len(pair) != 2:
                    raise ReportError(f"{paper}: [{scene}.'{method}'] {key}: one of {', '.join(PAPER_KEYS)}, each "
                                      f"[mean, median], or '{OVER}', a table of one number for each")


def asked(config):
    """[[methods.tables]]; one without a title has that of [methods]."""
    return [{"title": config.get("title", "Methods")} | wanted for wanted in config["tables"]]


def frames(experiment, config):
    """(table, frame) of every table that has rows."""
    for wanted in asked(config):
        try:
            frame = of_steps(experiment, wanted) if wanted.get("rows") == "steps" else of_runs(experiment, wanted)
        except Impossible as error:
            raise ReportError(f"{experiment.figures_file}: [[methods.tables]] '{wanted.get('title', '')}': {error}") from error
        if not frame.empty:
            yield wanted, frame


def ratios(experiment):
    """([table, scene, method, resolution, iterations, all_solved]; {(scene, method): the paper's}): everything over the reference method.
    all_solved: whether the method and the reference solved every problem; a ratio is over what both did."""
    config, known = experiment.config["methods"], {}
    check(experiment, config)
    rows = ratios_of_rows(experiment, config) if experiment.runs is not None else ratios_of_tables(experiment, config)
    for scene, method in {(row["scene"], row["method"]) for row in rows}:
        values = {key: paper_ratio(config.get("paper", {}), scene, method, config["reference"], key) for key in ("resolution", "iterations")}
        if np.isfinite(list(values.values())).any():
            known[(scene, method)] = values
    return rows, known


def ratios_of_rows(experiment, config):
    rows, reference_name = [], config["reference"]
    for wanted, frame in frames(experiment, config):
        quotient = ratio_of_means if wanted.get("rows") == "steps" else ratio
        for scene in config["scenes"]:
            own = frame[frame["scene"] == scene]
            reference = own[own["method"] == reference_name]
            for method in config["methods"]:
                part = own[own["method"] == method]
                if method == reference_name or part.empty or reference.empty:
                    continue
                values = {key: quotient(part, reference, key) for key in ("resolution", "iterations")}
                if np.isfinite(list(values.values())).any():
                    rows.append({"table": wanted.get("title", ""), "scene": scene, "method": method} | values
                                | {"all_solved": bool((part["solved"] == 1).all() and (reference["solved"] == 1).all())})
    return rows


def ratios_of_tables(experiment, config):
    """The same from methods.md of a committed result, to the three digits that it has."""
    rows, path = [], experiment.folder / "methods.md"
    for title, head, body in committed.tables(path):
        if head[:2] != ["scene", "method"]:
            continue  # conditions of the matrices
        places = {key: head.index(f"{key} ÷") for key in ("resolution", "iterations")}
        solved = {(cells[0], cells[1]): cells[2].split(" of ") for cells in body}
        whole = {pair for pair, counts in solved.items() if len(counts) == 2 and counts[0] == counts[1]}
        for scene, method, *rest in body:
            values = {key: number(([scene, method] + rest)[place]) for key, place in places.items()}
            if method != config["reference"] and np.isfinite(list(values.values())).any():
                rows.append({"table": title, "scene": scene, "method": method} | values
                            | {"all_solved": {(scene, method), (scene, config["reference"])} <= whole})
    unknown = sorted({row["scene"] for row in rows} - set(config["scenes"])) + sorted({row["method"] for row in rows} - set(config["methods"]))
    if unknown:
        raise ReportError(f"{path}: has {', '.join(unknown)}, which [methods] of {experiment.figures_file} does not name")
    return rows


def number(text):
    """What digits_or_dash() wrote."""
    return np.nan if text == "–" else float(text.replace(",", ""))


def methods_tables(experiment):
    """[(title, note, header, rows)] of [methods]; empty where the config does not ask."""
    config = experiment.config.get("methods")
    if config is None:
        return []
    check(experiment, config)
    found = []
    for wanted, frame in frames(experiment, config):
        body = []
        for scene in config["scenes"]:
            own = frame[frame["scene"] == scene]
            reference = own[own["method"] == config["reference"]]
            for method in config["methods"]:
                part = own[own["method"] == method]
                asked = method in set(frame["method"]) and method in config.get("paper", {}).get(scene, {}) and len(own)
                if len(part) or asked:
                    body.append(line(wanted, config.get("paper", {}), config["reference"], scene, method, part, reference))
        times = "times in ms, the paper's in s" if config.get("paper") else "times in ms"
        held = held_text(frame) if wanted.get("rows") == "steps" else ""
        solves = "; contact solve: resolution without assembly and the free motion of a step" if wanted.get("rows") == "steps" else ""
        note = f"{wanted.get('note', '')} Mean (median); {times}; ÷: against {config['reference']}{solves}.{held}"
        found.append((wanted.get("title", "Methods"), note.strip(), header(wanted), body))
    matrices = conditions(experiment)
    found += [matrices] if matrices else []
    return found if config.get("paper") else [(title, note, *without_paper(head, body)) for title, note, head, body in found]


def without_paper(head, body):
    """The same without the columns of the paper's numbers."""
    kept = [place for place, name in enumerate(head) if not name.startswith("paper")]
    return [head[place] for place in kept], [[row[place] for place in kept] for row in body]


def conditions(experiment):
    """(title, note, header, rows): per scene the condition of D⁻¹M, D the 3×3 diagonal blocks, beside the iterations of every method
    over those of the reference; None where no recording tells it."""
    config, name = experiment.config["methods"], "matrix.jacobi_condition"
    if name not in experiment.runs.columns:
        return None
    known = experiment.runs.groupby("scene")[name].max().dropna()
    wanted = next((one for one in asked(config) if "target" in one), None)
    if wanted is None or known.empty:
        return None
    reference_name = config["reference"]
    others = [method for method in config["methods"] if method != reference_name]
    frame, body = of_runs(experiment, wanted), []
    for scene in sorted((one for one in config["scenes"] if one in known), key=known.get):
        own = frame[frame["scene"] == scene]
        cells = [scene, digits_or_dash(known[scene])]
        for method in others:
            values = ratio(own[own["method"] == method], own[own["method"] == reference_name], "iterations")
            cells += [digits_or_dash(values), digits_or_dash(paper_ratio(config.get("paper", {}), scene, method, reference_name, "iterations"))]
        body.append(cells)
    header_cells = ["scene", "condition of D⁻¹M"] + [text for method in others for text in (f"{method} ÷", "paper")]
    note = (f"Iterations over those of {reference_name} ({wanted.get('title', '')}), scenes in the order of the condition of D⁻¹M, D the 3×3 "
            "diagonal blocks: relaxation node by node needs iterations in proportion to it, Krylov methods to its root.")
    return "What the matrices ask for", note, header_cells, body


def write(experiment, folder):
    """methods.md."""
    parts = [f"## {title}\n\n{note}\n\n{tables.markdown(head, body, set(range(2, len(head))))}"
             for title, note, head, body in methods_tables(experiment)]
    if parts:
        title = experiment.config["methods"].get("title", "Methods")
        whole_files.write_text(folder / "methods.md", f"# {title}\n\n" + "\n".join(parts))
