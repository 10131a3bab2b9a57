"""scripts/report --leaderboard DATASET: everyone's tables of runs on the problems of a dataset (scripts/make_dataset), ranked by fixed rules.

index.html has the rules, what each entry solved, and one ranking for every machine and tolerance; leaderboard.md the same as Markdown, with its figures in
the same folder; machine-K/index.html is the page of that machine's rows (runs_page.py). Times of different machines are never compared.
"""

import csv
import dataclasses
import re
from pathlib import Path

import numpy as np

from signorini_report import data, machine, page, run_tables, runs_page, tables, whole_files
from signorini_report.figures import pictures_in, profiles
from signorini_report.strict import ReportError

MACHINE = ("cpu", "instruction_sets", "cores", "usable_threads", "caches")  # what times depend on: machine_kind of lib/harness/environment.cpp
UNKNOWN = "unknown machine"
TOLERANCES = (1e-4, 1e-6, 1e-8)  # docs/protocols.md says what they mean
RULES = (
    "An entry is a solver with its options, as it stands in a table of runs. Its problems are those of the dataset; one that it was not run on counts as not solved.",
    "Tolerances are 1e-4, 1e-6 and 1e-8, each with a ranking of its own. Solved: the residual of the answer, measured by the referee outside of "
    "the solver, is at most the tolerance. What the solver believes does not count.",
    "One thread, the friction cone, the whole problem or any exact splitting of it. Other rows are left out, and the page says how many.",
    "Time is wall-clock time from the arrays of the problem to the impulses: set-up is counted in. Repetitions count by their median.",
    "Times are compared on one machine only. A machine is its processor, instruction sets, cores, usable threads and caches, as env.json beside the table names them.",
    "Rank: the area below the performance profile of time (Dolan and Moré 2002), the time over the least time of any entry on the same problem, on a logarithmic axis from "
    f"1 to {profiles.WIDEST:g}: 1 for an entry that is the fastest everywhere, 0 for one that solves nothing within {profiles.WIDEST:g} times the best.",
)


@dataclasses.dataclass
class Board:
    name: str        # of the machine
    experiment: data.Experiment
    busy: str        # why times are not comparable; "" where they are


def problem_kinds(dataset):
    """{name: "explicit steps" or "implicit steps"} of the dataset's problems."""
    try:
        with open(dataset / "problems.csv", newline="", encoding="utf-8") as file:
            return {row["name"]: f"{row['kind']} steps" for row in csv.DictReader(file)}
    except (OSError, KeyError) as error:
        raise ReportError(f"{dataset / 'problems.csv'}: no table of a dataset ({error}); name the folder that scripts/make_dataset wrote") from error


def problem_name(file):
    """Without folder and ending. The second solve of a step has a point in its name: rings-000120.2."""
    return re.sub(r"\.(npz|hdf5|h5)$", "", Path(file).name)


def kind_of(env):
    """The machine of an env.json as a short text."""
    found = env.get("machine")
    if not isinstance(found, dict):
        return UNKNOWN
    caches = found.get("caches", [])
    parts = [str(found.get("cpu", "unknown processor")), f"{found.get('usable_threads', '?')} of {found.get('cores', '?')} cores", str(found.get("instruction_sets", "")),
             ", ".join(map(str, caches)) if isinstance(caches, list) else str(caches)]
    return "; ".join(part for part in parts if part)


def by_machine(files):
    """{machine: tables}; a table without env.json, or merged from unlike machines, stands alone."""
    found = {}
    for path in files:
        env = run_tables.env_of(path)
        name = kind_of(env)
        if machine.unlike(path.parent):
            name = f"several machines ({path.parent.name})"
        elif name == UNKNOWN:
            name = f"{UNKNOWN} ({path})"
        found.setdefault(name, []).append(path)
    return found


def admitted(runs, names):
    """(rows that the rules admit, [(reason, how many are left out)])"""
    problem = runs["file"].map(problem_name)
    tests = (("not a problem of the dataset", ~problem.isin(names)), ("more than one thread", runs["threads"] != 1), ("another law than the cone", runs["law"] != "cone"),
             ("an approximate splitting", runs["region_mode"] == "points-approx"), ("another tolerance", ~runs["tolerance"].isin(TOLERANCES)))
    out, reasons = np.zeros(len(runs), dtype=bool), []
    for words, wrong in tests:
        new = wrong.to_numpy() & ~out
        reasons += [(words, int(new.sum()))] if new.any() else []
        out |= new
    return runs[~out].assign(problem=problem[~out]), reasons


def named(experiment, kinds):
    """Labels of the entries, and families of problems for the performance profiles where there are two kinds of steps."""
    runs = experiment.runs
    variants = zip(runs["variant"], runs["region_mode"])
    experiment.runs = runs.assign(label=[variant if mode == "none" else f"{variant}, {mode}" for variant, mode in variants], group=runs["problem"].map(kinds))
    there = sorted(set(experiment.runs["group"]))
    experiment.config["groups"] = {kind: [] for kind in there} if len(there) > 1 else {}


def times(runs):
    """Rows whose times count: of the first protocol that an entry has."""
    once = runs[runs["protocol"] != "converge"]
    rank = data.protocol_ranks(once)
    return once[rank == rank.groupby([once["label"], once["tolerance"]]).transform("min")]


def ranking(rows, names):
    """(header, body) of one machine at one tolerance: entries by their rank."""
    ratio = profiles.factors(rows.assign(file=rows["problem"], step=""), "total_seconds").droplevel("step").reindex(names, fill_value=np.inf)
    body = []
    for place, (label, height) in enumerate(profiles.heights(ratio).items()):
        solved = ratio[label][np.isfinite(ratio[label])]
        own = rows[rows["label"] == label]
        mean = np.exp(np.log(solved).mean()) if len(solved) else np.nan
        missed = own[own["solved"] == 0].drop_duplicates("problem")["status"].map(end_words).value_counts().sort_index()
        body.append([str(place + 1), label, f"{height:.3f}", f"{len(solved)} of {len(names)}", str(own["problem"].nunique()), str(int((solved <= 1.0).sum())),
                     tables.cell("ratio", mean), tables.cell("iterations_median", own[own["solved"] == 1]["iterations"].median()),
                     ", ".join(f"{count} {words}" for words, count in missed.items())])
    return ["rank", "entry", "score", "solved", "run on", "fastest on", "time ÷ best, mean", "iterations, median", "not solved"], body


def end_words(status):
    return "residual missed" if status == "converged" else status.replace("_", " ")


def solved_table(boards, names):
    """(header, body): what every entry solved, over all machines: counts do not depend on the machine unless a time limit ends the solve."""
    tolerances = sorted({tolerance for board in boards for tolerance in board.experiment.runs["tolerance"]}, reverse=True)
    found = []
    for number, board in enumerate(boards):
        rows = times(board.experiment.runs)
        for label in dict.fromkeys(rows["label"]):
            own = rows[rows["label"] == label]
            once = own.groupby(["tolerance", "problem"])["solved"].min()
            counts = [int(once.get(tolerance).sum()) if tolerance in once.index.get_level_values(0) else None for tolerance in tolerances]
            found.append((label, f"{number + 1}", counts))
    found.sort(key=lambda one: ([-(count or 0) for count in reversed(one[2])], one[0]))
    header = ["entry", "machine", *(f"residual ≤ {tables.tolerance_text(tolerance)}" for tolerance in tolerances)]
    return header, [[label, number, *("–" if count is None else f"{count} of {len(names)}" for count in counts)] for label, number, counts in found]


def read_boards(files, kinds, folder):
    """([Board], [(reason, rows left out)])"""
    boards, left = [], {}
    for name, part in by_machine(files).items():
        experiment = run_tables.read_tables(part, folder / f"machine-{len(boards) + 1}")
        experiment.runs, reasons = admitted(experiment.runs, kinds)
        for words, count in reasons:
            left[words] = left.get(words, 0) + count
        if experiment.runs.empty:
            continue
        named(experiment, kinds)
        keys = set(zip(experiment.runs["file"], experiment.runs["step"]))
        experiment.traces = [trace for trace in experiment.traces if (trace.file, trace.step) in keys and trace.threads == 1 and trace.law == "cone"]
        experiment.config["artefact"] = f"Leaderboard, machine {len(boards) + 1}"
        busy = next((reason for path in part if (reason := machine.busy_sessions(run_tables.env_of(path)))), "")
        told, rows_busy = machine.busy_rows(experiment.runs)
        boards.append(Board(name, experiment, machine.unlike(part[0].parent) or (rows_busy if told else busy)))
    if not boards:
        told = ", ".join(f"{count} rows: {words}" for words, count in left.items())
        raise ReportError(f"{files[0]}: no row of the tables is left by the rules ({told or 'they are empty'})")
    return boards, sorted(left.items())


def rankings(board, names):
    """(title, note, header, body) of every tolerance, the widest first."""
    rows = times(board.experiment.runs)
    for tolerance in sorted(set(rows["tolerance"]), reverse=True):
        part = rows[rows["tolerance"] == tolerance]
        yield (f"Residual ≤ {tables.tolerance_text(tolerance)}", f"{part['label'].nunique()} entries on {part['problem'].nunique()} of {len(names)} problems.", *ranking(part, names))


def profile_pictures(board):
    """[(stem, caption)] of the machine's performance profiles."""
    return [(stem, caption) for stem, caption in pictures_in(board.experiment.folder) if stem.startswith("profiles_")]


def busy_words(board):
    return f"{board.busy[0].upper() + board.busy[1:]}. Ranks and times are not comparable; what was solved is." if board.busy else ""


def machine_part(number, board, names):
    parts = [f"<h2>Machine {number}</h2><p>{page.text(board.name)}. <a href='machine-{number}/index.html'>All runs on it, curves and tables</a></p>"]
    if board.busy:
        parts.append(f"<p class='not-comparable'>{page.text(busy_words(board))}</p>")
    parts += [page.titled(title, note, page.plain_table(header, body)) for title, note, header, body in rankings(board, names)]
    parts += [f"<figure>{page.picture(board.experiment.folder / f'{stem}.svg', caption)}<figcaption>{page.text(caption)}</figcaption></figure>"
              for stem, caption in profile_pictures(board)]
    return "\n".join(parts)


def dataset_words(dataset, names):
    return (f"{len(names)} problems of <code>{page.text(dataset.resolve().name)}</code>, "
            "made by <code>scripts/make_dataset</code>; its <code>DATASHEET.md</code> says what they are.")


def index(boards, left, dataset, names, files):
    rules = "".join(f"<li>{page.text(rule)}</li>" for rule in RULES)
    parts = ["<h1>Leaderboard</h1>", f"<p>{dataset_words(dataset, names)} {len(files)} table{'s' if len(files) > 1 else ''} of runs, {len(boards)} "
             f"machine{'s' if len(boards) > 1 else ''}.</p>", f"<h2>Rules</h2><ol>{rules}</ol>"]
    if left:
        parts.append(f"<p class='soft'>Left out: {page.text('; '.join(f'{count} rows, {words}' for words, count in left))}.</p>")
    parts += [machine_part(number + 1, board, names) for number, board in enumerate(boards)]
    parts.append(page.titled("What each entry solves", "On all machines. – was not run at this tolerance.", page.plain_table(*solved_table(boards, names))))
    return page.document("Leaderboard, Signorini", "\n".join(parts))


def machine_markdown(number, board, names, folder):
    """The same part as Markdown; its figures are copied into `folder`, so that page and figures can be moved together."""
    parts = [f"## Machine {number}", f"{board.name}.", busy_words(board)]
    for title, note, header, body in rankings(board, names):
        parts += [f"### {title}", note, tables.markdown(header, body, set(range(2, 8)) | {0})]
    for stem, caption in profile_pictures(board):
        name = f"leaderboard_{number}_{stem}.svg"
        whole_files.write_text(folder / name, (board.experiment.folder / f"{stem}.svg").read_text(encoding="utf-8"))
        parts += [f"![Performance profiles of machine {number}]({name})", f"*{caption}*"]
    return parts


def markdown(boards, left, dataset, names, folder):
    parts = ["<!-- Written by scripts/report --leaderboard; do not edit. -->\n# Leaderboard", f"{len(names)} problems of `{dataset.resolve().name}`, made by `scripts/make_dataset`. {len(boards)} machine{'s' if len(boards) > 1 else ''}.", "## Rules",
             "\n".join(f"{number}. {rule}" for number, rule in enumerate(RULES, 1)),
             f"Left out: {'; '.join(f'{count} rows, {words}' for words, count in left)}." if left else ""]
    for number, board in enumerate(boards, 1):
        parts += machine_markdown(number, board, names, folder)
    header, body = solved_table(boards, names)
    parts += ["## What each entry solves", "On all machines. – was not run at this tolerance.", tables.markdown(header, body, set(range(1, len(header))))]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def write(files, dataset, folder):
    """Pages of all machines, leaderboard.md, and index.html, whose path is returned."""
    kinds = problem_kinds(dataset)
    boards, left = read_boards(files, kinds, folder)
    for board in boards:
        runs_page.draw(board.experiment)
        html = runs_page.html_of(board.experiment, data.read_schema(files[0]))
        whole_files.write_text(board.experiment.folder / "index.html", html)
    whole_files.write_text(folder / "leaderboard.md", markdown(boards, left, dataset, list(kinds), folder))
    whole_files.write_text(folder / "index.html", index(boards, left, dataset, list(kinds), files))
    return folder / "index.html"
