"""Reads the results of one experiment, OUT/<id>: runs.csv with its schema; trace.h5, env.json, run.toml and tables of recordings where they
are. What is claimed and drawn comes from the definition of the experiment (definition.py)."""

import collections
import dataclasses
import io
import json
import re
import warnings
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

from signorini_report import accuracy as accuracies, definition as definitions, groups
from signorini_report.strict import ReportError

# Rows get their columns one by one, and what no row tells has no mean: nothing that a user has to know.
warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
warnings.filterwarnings("ignore", message="Mean of empty slice")

NORMS = ["plain", "preconditioned", "constraint"]  # m/s
EVENTS = ["state_changes", "restarts", "relinearisations", "guards"]  # so far
PROGRESS = NORMS + EVENTS + ["contact_sweeps"]


@dataclasses.dataclass
class Trace:
    file: str
    step: str
    solver: str
    options: str
    law: str
    region_mode: str
    threads: int
    tolerance: float
    variant: str
    iteration: np.ndarray
    seconds: np.ndarray
    residual: np.ndarray
    label: str = ""          # the experiment's own name of the variant
    progress: dict = dataclasses.field(default_factory=dict)  # what the solver said of itself: PROGRESS; may be empty
    pressing: np.ndarray | None = None  # contacts with r_N > 0,
    sliding: np.ndarray | None = None   # and those of them on the friction bound


@dataclasses.dataclass
class Experiment:
    id: str
    folder: Path
    runs: pd.DataFrame       # every row of runs.csv plus: variant, solved, unsolved, scene, family, total_seconds, largest_share, options.<key>
    traces: list
    env: dict
    config: dict             # one table with everything that run.toml, figures.toml and claims.toml say
    region_sizes: pd.DataFrame | None  # columns file, step, region_mode, size, count
    series: pd.DataFrame | None = None  # columns file, time and what the config's [series] asks for
    steps: pd.DataFrame | None = None   # a row per step of every recording: add_steps
    follow: pd.DataFrame | None = None  # regions followed over the steps of recordings: read_follow
    accuracy: pd.DataFrame | None = None  # recordings beside the finest of their kind: accuracy.py
    definition: definitions.Definition | None = None  # None where it was not found
    counters: list = dataclasses.field(default_factory=list)  # columns of whole numbers

    @property
    def title(self):
        return self.config.get("artefact") or self.id

    @property
    def tolerance(self):
        """The tolerance that the figures show: the first one of the config, else the strictest."""
        present = sorted(set(self.runs["tolerance"]))
        asked = self.config.get("tolerances", [])
        return asked[0] if asked and asked[0] in present else (present[0] if present else 0.0)

    @property
    def claim(self):
        return self.config.get("claim", "")

    @property
    def claims(self):
        return self.config.get("expect", [])

    @property
    def figures_file(self):
        """Where wishes for figures stand, for messages."""
        return (self.definition.folder if self.definition else self.folder) / "figures.toml"


def option_pairs(text):
    """'beta=pr;form=robust' as a dictionary."""
    return dict(pair.split("=", 1) for pair in str(text).split(";") if "=" in pair)


IN_PYTHON = " (Python)"


def is_python(options):
    """Whether a solver written in Python made the row: its times are Python's."""
    return ";plugin=python:" in f";{options}"


def mark_python(runs):
    """Names that nobody chose say that the solver is written in Python; so its times are not taken for those of a method."""
    if "label" not in runs:
        return
    runs["label"] = [label + IN_PYTHON if is_python(options) and str(label).split(" ")[0] == solver else label
                     for label, solver, options in zip(runs["label"], runs["solver"], runs["options"])]


def label_variants(pairs):
    """A short name for every (solver, options): the solver, plus the options in which its variants differ.

    `law` is a column of its own and `warm_start=false` says nothing, so neither lengthens a name needlessly. Where many
    variants differ from one of them, each is named by what it changes.
    """
    by_solver = {}
    for solver, options in pairs:
        by_solver.setdefault(solver, set()).add(options)
    labels = {}
    for solver, found in by_solver.items():
        texts = sorted(found)  # so that ties of the usual value fall the same way every time
        parsed = {text: {k: v for k, v in option_pairs(text).items() if k != "law"} for text in texts}
        keys = sorted({key for options in parsed.values() for key in options})
        varying = [key for key in keys if len({options.get(key) for options in parsed.values()}) > 1]
        if len(texts) > 4:
            usual = {key: collections.Counter(options.get(key) for options in parsed.values()).most_common(1)[0][0] for key in varying}
            for text, options in parsed.items():
                labels[(solver, text)] = " ".join([solver] + [f"{key}={options[key]}" for key in varying
                                                              if key in options and options[key] != usual[key]])
            continue
        for text, options in parsed.items():
            words = [options[key] if options[key].isalpha() and options[key] not in ("true", "false")
                     else f"{key}={options[key]}" for key in varying if key in options]
            labels[(solver, text)] = " ".join([solver] + words)
    return {(solver, text): label + IN_PYTHON * is_python(text) for (solver, text), label in labels.items()}


def schema_of(table):
    """runs.schema.json beside runs.csv: what the program says of the columns, name, type, unit, meaning, key."""
    return table.with_name(table.stem + ".schema.json")


def read_schema(table):
    """The columns of a table of runs, [{name, type, unit, meaning, key}], as the program that wrote it states them."""
    path = schema_of(table)
    if not path.is_file():
        raise ReportError(f"{table.parent}: has no {path.name}: made by an earlier program; run the experiment again with --force")
    try:
        columns = json.loads(path.read_text(encoding="utf-8"))["runs.csv"]
        known = {column["name"]: column for column in columns}
    except (ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path}: no list of columns ({error})") from error
    wrong = next((name for name, column in known.items() if column.get("type") not in TYPES), None)
    if wrong:
        raise ReportError(f"{path}: column {wrong}: type '{known[wrong].get('type')}' (known: {', '.join(TYPES)})")
    return list(known.values())


def real_numbers(texts):
    return texts.map(lambda text: float(text) if text else float("nan")).astype("float64")


def whole_numbers(texts):
    return real_numbers(texts).replace([np.inf, -np.inf], np.nan).fillna(0).astype("int64")


TYPES = {"text": lambda texts: texts, "integer": whole_numbers, "real": real_numbers}


def read_runs(path):
    """The rows of runs.csv with the types of its schema, sorted by the columns that tell runs apart; columns beyond the schema are text."""
    columns = read_schema(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: no table of runs ({error.reason})") from error
    if text and not text.endswith("\n"):  # a kill tore the last row
        text = text.rsplit("\n", 1)[0] + "\n" if "\n" in text else ""
    if not text.strip():
        raise ReportError(f"{path}: empty; run the experiment first")
    try:
        runs = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ReportError(f"{path}: no table ({error})") from error
    absent = [column["name"] for column in columns if column["name"] not in runs.columns]
    if absent:
        raise ReportError(f"{path}: lacks columns that {schema_of(path).name} names: {', '.join(absent)}; run the experiment again with --force")
    for column in columns:
        try:
            runs[column["name"]] = TYPES[column["type"]](runs[column["name"]].fillna(""))
        except ValueError as error:
            raise ReportError(f"{path}: column {column['name']} holds what is no {column['type']} ({error})") from error
    return runs.sort_values([column["name"] for column in columns if column.get("key")], kind="stable").reset_index(drop=True)


def with_siconos(runs, folder, again):
    """The rows and those of siconos.csv, where scripts/compare_siconos made one for this result; `again`: its words that make it again."""
    path = folder / "siconos.csv"
    if not path.is_file():
        return runs
    rows = read_runs(path)
    strangers = set(zip(rows["file"], rows["step"])) - set(zip(runs["file"], runs["step"]))
    if strangers:
        raise ReportError(f"{path}: has rows of {' '.join(sorted(strangers)[0])}, which runs.csv has not: made for another run; "
                          f"scripts/compare_siconos {again} makes it again")
    return pd.concat([runs, rows], ignore_index=True)


def with_problems(runs, folder):
    """Columns problem.<name> of problems.csv (scripts/problem_facts), and problem.rows_per_rank: rows of H over the rank of W."""
    path = folder / "problems.csv"
    if not path.is_file():
        return runs
    try:
        facts = pd.read_csv(path, dtype={"file": str, "step": str})
        facts["rows_per_rank"] = 3 * facts["contacts"] / facts["rank"]
        facts = facts.drop(columns=["contacts", "dofs"]).set_index(["file", "step"])
    except (KeyError, ValueError) as error:
        raise ReportError(f"{path}: no table of this version ({error})") from error
    return runs.join(facts.add_prefix("problem."), on=["file", "step"])


def scene_of(file):
    """bucket-quick.h5 → bucket"""
    stem = definitions.file_stem(file)
    for size in ("-quick", "-medium", "-paper"):
        stem = stem.removesuffix(size)
    return stem


def family_of(file):
    """bucket-quick_000040_3, a region that was cut out, → bucket; net_017, one of many, → net; else the scene."""
    cut = re.fullmatch(r"(.+)-(quick|medium|paper)_[0-9.]+_[0-9]+", file)
    return cut.group(1) if cut else re.sub(r"_[0-9]+$", "", file) if "." not in file else scene_of(file)


def step_of(step):
    """000015.2 → 000015: the time step that a recorded solve belongs to."""
    return step.split(".")[0]


def round_of(step):
    """000015.2 → 2, 000015 → 1: which linearisation of its time step a recorded solve is."""
    tail = step.split(".")[1:]
    return int(tail[0]) if tail and tail[0].isdigit() else 1


def give_thinned_rounds(runs, run):
    """time_step and round of thinned snapshots ([[thinned]] of run.toml): those of the snapshots that they were made from, which have the same order."""
    for one in run.get("thinned", []):
        steps = sorted(set(runs["step"][runs["scene"] == one["recording"]]), key=lambda step: (step_of(step), round_of(step)))
        numbers = runs["file"][runs["family"] == one["name"]].str.rsplit("_", n=1).str[1].astype(int)
        if len(numbers) and numbers.max() + 1 == len(steps):  # else rows are missing
            runs.loc[numbers.index, "time_step"] = [step_of(steps[number]) for number in numbers]
            runs.loc[numbers.index, "round"] = [round_of(steps[number]) for number in numbers]


def first_to_reach(runs, wanted):
    """1 for the runs with the loosest of their own tolerances at which the residual is at most `wanted`: a ladder of tolerances
    brings solvers with different stops to equal residuals."""
    reached = (runs["residual"] <= wanted * (1 + 1e-9)) & (runs["status"] != "unsupported")
    group = ["file", "step", "solver", "options", "law", "region_mode", "threads", "protocol"]
    loosest = runs["tolerance"].where(reached).groupby([runs[key] for key in group]).transform("max")
    return (reached & (runs["tolerance"] == loosest)).astype(int)


TIMES = ("seconds_per_contact", "update_share")  # made from times, under names that do not end with _seconds


def is_time(column):
    """Whether the clock measured the column, or one that it was made from."""
    return column.endswith("_seconds") or column in TIMES


def clock_columns(table):
    return {name for name in table.columns if is_time(name)}


def derive(table, name, values, *sources):
    """A column made from others; where one of them is a time it must be known as one too."""
    assert is_time(name) or not any(is_time(source) for source in sources), f"{name} is made from times: name it in TIMES"
    table[name] = values


def add_columns(runs):
    labels = label_variants(set(zip(runs["solver"], runs["options"])))
    runs["variant"] = [labels[pair] for pair in zip(runs["solver"], runs["options"])]
    mark_python(runs)
    # 1e-9: a residual that was written with 17 digits and read back may not be the same comparison as in the program
    met = (runs["residual"] <= runs["tolerance"] * (1 + 1e-9)) & (runs["status"] != "unsupported")
    # a traced run goes on after it has met the tolerance: its status says whether it did
    runs["solved"] = met.where(runs["protocol"] != "converge", runs["status"] == "converged").astype(int)
    runs["unsolved"] = 1 - runs["solved"]
    for tolerance in sorted(set(runs["tolerance"])):
        runs[f"first_to_reach.{tolerance:.0e}"] = first_to_reach(runs, tolerance)
    runs["family"] = [family_of(file) for file in runs["file"]]
    derive(runs, "total_seconds", runs["setup_seconds"] + runs["solve_seconds"], "setup_seconds", "solve_seconds")
    derive(runs, "seconds_per_contact", runs["total_seconds"] / runs["contacts"].where(runs["contacts"] > 0), "total_seconds", "contacts")
    derive(runs, "iteration_seconds", runs["solve_seconds"] / runs["iterations"].where(runs["iterations"] > 0), "solve_seconds", "iterations")
    if "contact_sweeps" in runs:
        updates = runs["contact_sweeps"] * runs["contacts"]
        derive(runs, "contact_sweep_seconds", runs["solve_seconds"] / updates.where(updates > 0), "solve_seconds", "contact_sweeps", "contacts")
    runs["largest_share"] = runs["largest_region"] / runs["contacts"].where(runs["contacts"] > 0)
    if "solver_bytes" in runs:  # earlier programs did not measure it; -1: the system did not tell
        runs["bytes_per_contact"] = runs["solver_bytes"].where(runs["solver_bytes"] >= 0) / runs["contacts"].where(runs["contacts"] > 0)
    runs["scene"] = runs["file"].map(scene_of)
    runs["time_step"], runs["round"] = runs["step"].map(step_of), runs["step"].map(round_of).astype("int64")
    options = [option_pairs(text) for text in runs["options"]]
    for key in sorted({key for pairs in options for key in pairs}):
        runs[f"options.{key}"] = [pairs.get(key, "") for pairs in options]
    return labels


CLOCKS = ["detection_seconds", "assembly_seconds", "free_seconds", "solve_seconds", "other_seconds"]  # of a step


def read_steps(folder):
    """steps.csv: statistics of every step of every recording, the seconds of a step summed up; None where there is none."""
    path = folder / "steps.csv"
    if not path.is_file():
        return None
    try:
        steps = pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ReportError(f"{path}: no table ({error})") from error
    absent = [column for column in ["file", "step", "time", *CLOCKS] if column not in steps.columns]
    if absent:
        raise ReportError(f"{path}: columns missing: {', '.join(absent)}")
    steps["scene"] = steps["file"].map(scene_of)
    resolution = ["assembly_seconds", "free_seconds", "solve_seconds"]
    derive(steps, "step_seconds", steps[CLOCKS].sum(axis=1, skipna=False), *CLOCKS)
    derive(steps, "resolution_seconds", steps[resolution].sum(axis=1, skipna=False), *resolution)
    return steps


def read_follow(folder):
    """follow.csv: regions updated from step to step beside a rebuild; None where there is none."""
    path = folder / "follow.csv"
    if not path.is_file():
        return None
    try:
        rows = pd.read_csv(path, dtype={"step": str})
        rows["scene"] = rows["file"].map(scene_of)
        derive(rows, "update_share", rows["update_seconds"] / rows["rebuild_seconds"], "update_seconds", "rebuild_seconds")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, KeyError) as error:
        raise ReportError(f"{path}: no table of this version ({error})") from error
    return rows


def read_accuracy(folder, run):
    """accuracy.csv with what recordings set and what follows (accuracy.py); `run`: the table of run.toml."""
    rows = accuracies.read(folder, CLOCKS)
    if rows is None:
        return None
    rows["scene"] = rows["file"].map(scene_of)
    derive(rows, "step_seconds", rows[CLOCKS].sum(axis=1, skipna=False), *CLOCKS)
    return accuracies.derived(with_recorded(rows, folder), run.get("accuracy", {}).get("over", ""))


def with_recorded(runs, folder):
    """A table with a column `file`, and columns setting.<key> and fact.<name> from recordings.csv beside its own: what a recording sets, and
    the values of its scene's facts; numbers where all of them are."""
    path = folder / "recordings.csv"
    if not path.is_file():
        return runs
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        groups = list(table.groupby(["kind", "key"], sort=True))
    except (KeyError, ValueError) as error:
        raise ReportError(f"{path}: {error}") from error
    columns = {}
    for (kind, key), part in groups:
        values = runs["file"].map(dict(zip(part["file"], part["value"])))
        numbers = pd.to_numeric(values, errors="coerce")
        numeric = kind == "fact" or not numbers[values.notna()].isna().any()
        columns[f"{kind}.{key}"] = numbers.astype("float64") if numeric else values.fillna("")
    return pd.concat([runs, pd.DataFrame(columns, index=runs.index)], axis=1)


def read_series(folder):
    """series.csv: file, time and the columns that [series] asks for; None where there is none."""
    path = folder / "series.csv"
    return pd.read_csv(path) if path.is_file() else None


def add_series(runs, series):
    """series.correlation: of the first two columns of a recording's series, over time; nothing where one of them stands still."""
    if series is None or len(series.columns) < 4:
        return
    first, second = series.columns[2:4]
    found = {}
    for file, part in series.groupby("file"):
        pair = part[[first, second]].dropna()
        if len(pair) > 2 and pair[first].std() > 0 and pair[second].std() > 0:
            found[file] = float(np.corrcoef(pair[first], pair[second])[0, 1])
    runs["series.correlation"] = runs["file"].map(found).astype("float64")


def read_progress(group, length):
    """The columns in which a solver tells of itself; older files and silent solvers have none."""
    columns = {name: np.asarray(group[name]) for name in PROGRESS if name in group}
    return {name: values for name, values in columns.items() if values.size == length}


def read_traces(path, labels, own):
    traces = []
    with h5py.File(path, "r") as file:
        runs = file.get("runs")
        for name in sorted(runs, key=lambda n: (len(n), n)) if runs is not None else []:
            group = runs[name]
            words = {}
            for key in ("file", "step", "solver", "options", "law", "region_mode"):
                value = group.attrs.get(key, "")
                words[key] = value.decode() if isinstance(value, bytes) else str(value)
            variant = labels.get((words["solver"], words["options"]), words["solver"])
            traces.append(Trace(**words, threads=int(np.ravel(group.attrs.get("threads", 1))[0]),
                                tolerance=float(np.ravel(group.attrs.get("tolerance", 0.0))[0]), variant=variant,
                                iteration=np.asarray(group["iteration"]), seconds=np.asarray(group["seconds"]),
                                residual=np.asarray(group["residual"]),
                                label=own.get((words["solver"], words["options"]), variant),
                                **{name: np.asarray(group[key]) for name, key in (("pressing", "active"), ("sliding", "sliding")) if key in group},
                                progress=read_progress(group, len(group["iteration"]))))
    return [trace for trace in traces if trace.iteration.size > 0]


def run_key(trace):
    return (trace.file, trace.step, trace.solver, trace.options, trace.region_mode, trace.threads, trace.tolerance)


def add_starts(runs, traces):
    """start_residual: the referee's residual of the start that a traced run was given."""
    found = {run_key(trace): float(trace.residual[0]) for trace in traces if trace.iteration[0] == 0}
    if not found:
        return
    keys = zip(runs["file"], runs["step"], runs["solver"], runs["options"], runs["region_mode"], runs["threads"], runs["tolerance"])
    runs["start_residual"] = [found.get(key, np.nan) if protocol == "converge" else np.nan for key, protocol in zip(keys, runs["protocol"])]


def add_states(runs, traces):
    """pressing and sliding_share of every snapshot that was traced, in all its rows: contacts with r_N > 0, and the share of them on the friction
    bound, where the traced run with the least residual at its end ends."""
    best = {}
    for trace in traces:
        key = (trace.file, trace.step)
        if trace.pressing is not None and trace.sliding is not None and (key not in best or trace.residual[-1] < best[key].residual[-1]):
            best[key] = trace
    if not best:
        return
    found = {key: (float(trace.pressing[-1]), trace.sliding[-1] / trace.pressing[-1] if trace.pressing[-1] else np.nan) for key, trace in best.items()}
    rows = [found.get(key, (np.nan, np.nan)) for key in zip(runs["file"], runs["step"])]
    runs["pressing"], runs["sliding_share"] = ([row[place] for row in rows] for place in (0, 1))


def inner_sweeps(trace):
    """Sweeps over the contacts in every iteration up to the first that meets the tolerance; None where the solver tells of none."""
    so_far = trace.progress.get("contact_sweeps")
    if so_far is None or len(so_far) < 2 or so_far[-1] <= 0:
        return None
    met = np.flatnonzero(trace.residual <= trace.tolerance)
    last = int(met[0]) if met.size else len(so_far) - 1
    return np.diff(so_far[: last + 1]) if last > 0 else None


def add_inner_sweeps(runs, traces):
    """sweeps.median, sweeps.p90 and sweeps.below_10 (share of the iterations with fewer than 10 sweeps) of traced runs."""
    found = {}
    for trace in traces:
        sweeps = inner_sweeps(trace)
        if sweeps is not None:
            found[run_key(trace)] = (float(np.median(sweeps)), float(np.percentile(sweeps, 90)), float(np.mean(sweeps < 10)))
    if not found:
        return
    keys = zip(runs["file"], runs["step"], runs["solver"], runs["options"], runs["region_mode"], runs["threads"], runs["tolerance"])
    rows = [found.get(key, (np.nan,) * 3) if protocol == "converge" else (np.nan,) * 3 for key, protocol in zip(keys, runs["protocol"])]
    for place, name in enumerate(("median", "p90", "below_10")):
        runs[f"sweeps.{name}"] = [row[place] for row in rows]


def own_labels(runs):
    """{(solver, options): the experiment's own name}"""
    return {(row.solver, row.options): row.label for row in runs[["solver", "options", "label"]].itertuples() if row.label}


def counters_of(schema):
    return [column["name"] for column in schema if column["type"] == "integer" and not column.get("key")]


def read_env(folder):
    return read_env_file(folder / "env.json")


def read_env_file(path):
    if not path.is_file():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ReportError(f"{path}: {error}") from error


def read_experiment(folder, configs=None):
    """The results in a folder with their definition; `configs`: a folder with experiments/, asked first."""
    folder = Path(folder)
    if not (folder / "runs.csv").is_file():
        raise ReportError(f"{folder}: has no runs.csv; run the experiment first")
    schema = read_schema(folder / "runs.csv")
    runs = read_runs(folder / "runs.csv")
    runs = with_siconos(runs, folder, f"--experiment {folder.name}")
    try:
        labels = add_columns(runs)
    except KeyError as error:
        raise ReportError(f"{folder / 'runs.csv'}: has no column {error}; run the experiment again with --force") from error
    env, traces, sizes = read_env(folder), [], None
    definition = definitions.find(folder.name, env, configs)
    config = definitions.config_of(definition, folder)
    give_thinned_rounds(runs, config)
    groups.add(runs, config, definition.run if definition else {}, (definition.folder if definition else folder) / "figures.toml")
    runs = with_problems(with_recorded(runs, folder), folder)
    steps, follow = (None if table is None else with_recorded(table, folder) for table in (read_steps(folder), read_follow(folder)))
    accuracy = read_accuracy(folder, config)
    series = read_series(folder)
    add_series(runs, series)
    if (folder / "trace.h5").is_file():
        try:
            traces = read_traces(folder / "trace.h5", labels, own_labels(runs))
            add_inner_sweeps(runs, traces)
            add_starts(runs, traces)
            add_states(runs, traces)
        except (OSError, KeyError) as error:
            raise ReportError(f"{folder / 'trace.h5'}: {error}") from error
    if (folder / "regions.csv").is_file():
        sizes = pd.read_csv(folder / "regions.csv", dtype={"step": str, "file": str})
    return Experiment(folder.name, folder, runs, traces, env, config, sizes, series=series, follow=follow, steps=steps, accuracy=accuracy,
                      definition=definition, counters=counters_of(schema))


PROTOCOLS = ("time", "self-stopped", "converge")


def protocols_to_compare(runs):
    """Protocols in the order in which figures prefer them. Siconos' solvers stop themselves: beside them ours are compared as they stop themselves."""
    return ("self-stopped", "time", "converge") if runs["solver"].str.startswith("siconos").any() else PROTOCOLS


def protocol_ranks(runs):
    """The place of each row's protocol in that order."""
    return runs["protocol"].map({name: place for place, name in enumerate(protocols_to_compare(runs))})


def measured(experiment):
    """The rows that figures compare: one tolerance, one protocol; repetitions by their median."""
    runs = experiment.runs[experiment.runs["tolerance"] == experiment.tolerance]
    for protocol in protocols_to_compare(runs):
        chosen = runs[(runs["protocol"] == protocol) & (runs["status"] != "unsupported")]
        if len(chosen):
            break
    keys = ["file", "step", "contacts", "regions", "largest_region", "solver", "variant", "law", "region_mode", "threads",
            "tolerance"]
    return chosen.groupby(keys, as_index=False, sort=True).agg(
        solve_seconds=("solve_seconds", "median"), setup_seconds=("setup_seconds", "median"),
        iterations=("iterations", "median"), residual=("residual", "max"), solved=("solved", "min"))
