"""The command line of scripts/report."""

import argparse
import hashlib
import shutil
import sys
import textwrap
import tomllib
from pathlib import Path

from signorini_report import (families, figures, front, interactive, leaderboard, notes, page, replays, rules, run_tables, runs_page, table_errors, table_methods,
                              tables, whole_files)
from signorini_report import verdicts as judged
from signorini_report.data import read_experiment, read_schema
from signorini_report.strict import ReportError

RESULTS = ("runs.csv", "runs.schema.json", "siconos.csv", "problems.csv", "trace.h5", "regions.csv", "steps.csv", "follow.csv", "accuracy.csv", "series.csv", "recordings.csv",
           "run.toml")
DRAWN = ("figures.toml", "paper.toml", "../names.toml")  # of the definition
NOT_DRAWING = ("main.py", "page.py", "interactive.py", "step_tables.py", "front.py", "neighbours.py", "recorded_frames.py", "replays.py", "run_tables.py", "runs_page.py",
               "leaderboard.py", "docs_pages.py", "notes.py",
               "verdicts.py", "rules.py", "reference.py", "bounds.py", "machine.py", "definition.py", "strict.py",
               "migrate.py", "whole_files.py")


DESCRIPTION = """Draws the figures, writes the tables and judges the claims of experiments that
have been run."""
EXAMPLES = """examples:
  scripts/report                      every experiment under results/out
  scripts/report signorini_all        one of them
  scripts/report --out /data/night    results of
                                      `signorini run --out /data/night`
  scripts/report --runs before.csv --runs after.csv -o both/
                                      rows of `signorini solve --csv` or
                                      `compare`, without claims, as
                                      both/index.html
  scripts/report --runs a/runs.csv --runs b/runs.csv \\
      --leaderboard results/out/dataset_quick -o board/
                                      the same on the problems of a dataset,
                                      ranked (docs/dataset.md)

Claims and figures are those of today: of DIR/experiments/PAPER/ARTEFACT where
--configs or SIGNORINI_CONFIGS names DIR, else of the folder that was run, else
of this tree. After a change of claims.toml alone no figure is drawn again.

exit codes: 0 written, 2 usage, 3 a file that cannot be read"""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/report", formatter_class=argparse.RawDescriptionHelpFormatter, description=DESCRIPTION,
                                     epilog=EXAMPLES)
    parser.add_argument("ids", nargs="*", metavar="ID", help="experiments (folders of OUT); default: all that have a runs.csv")
    parser.add_argument("--out", type=Path, default=Path("results/out"), help="folder of the results (default: results/out)")
    parser.add_argument("--configs", type=Path, metavar="DIR", help="folder with experiments/PAPER/ARTEFACT (default: where each was run)")
    parser.add_argument("--runs", type=Path, action="append", metavar="FILE.csv",
                        help="tables, figures and a page of these rows, which the program wrote anywhere; may be repeated")
    parser.add_argument("--leaderboard", type=Path, metavar="DATASET", help="with --runs: rank these rows on the problems of this dataset")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder for them (default: FILE.report of the first)")
    parser.add_argument("--program", type=Path, metavar="FILE", help="signorini, which makes the replays that the 3D links lead to (default: SIGNORINI_PROGRAM, "
                        "that of this tree, or on the path)")
    parser.add_argument("--no-replay", action="store_true", help="make no replays; those that are there are linked")
    parser.add_argument("--quiet", action="store_true", help="no claims table on the terminal")
    options = parser.parse_args(arguments)
    if options.runs and (options.ids or options.configs):
        parser.error("--runs excludes experiments and --configs")
    if options.leaderboard and not options.runs:
        parser.error("--leaderboard ranks tables of runs: name them with --runs")
    if options.output and not options.runs:
        parser.error("-o needs --runs; results of experiments are in --out")
    return options


def claims_markdown(verdicts):
    header = ["claim", "expected", "bound", "measured", "verdict"]
    reasons, whys = notes.numbered(), notes.lettered()
    rows = [[v.claim + (f" ({v.source})" if v.source else ""), v.expected, v.bound + whys.mark(v.why), v.measured, v.verdict + reasons.mark(v.reason)]
            for v in judged.shown(verdicts)]
    text = tables.markdown(header, rows, set()) if rows else "No claims are stated for this experiment.\n"
    absent = judged.absent_line(verdicts)
    below = [f"- ({mark}) {sentence}" for mark, sentence in reasons.entries() + whys.entries()]
    return text + (f"\n{absent}\n" if absent else "") + ("\n" + "\n".join(below) + "\n" if below else "")


def write_claims(verdicts, folder):
    whole_files.write_text(folder / "claims.json", judged.to_json(verdicts))
    whole_files.write_text(folder / "claims.md", claims_markdown(verdicts))


def terminal_table(verdicts, width):
    """Plain aligned text; long claims are wrapped. Where no column of claims finds room, numbers stand below each claim."""
    absent, verdicts = judged.absent_line(verdicts), judged.shown(verdicts)
    if not verdicts:
        return "No claims are stated.\n"
    expected = max(len("expected"), *(len(v.expected) for v in verdicts))
    measured = max(len("measured"), *(len(v.measured) for v in verdicts))
    room = width - expected - measured - len("not comparable (10)") - 15
    stacked = room < 28
    lines = [] if stacked else [f"{'claim':<{room}}  {'expected':>{expected}}  {'bound':<5}  {'measured':>{measured}}  verdict", "-" * min(width, room + expected + measured + 27)]
    reasons = notes.numbered()
    for verdict in verdicts:
        words = verdict.claim or verdict.id
        if verdict.source:
            words += f" ({verdict.source})"
        judgement = f"{verdict.verdict}{reasons.mark(verdict.reason)}"
        if stacked:
            numbers = f"expected {verdict.expected} ({verdict.bound}), measured {verdict.measured}: {judgement}"
            lines += textwrap.wrap(words, width) + textwrap.wrap(numbers, width, initial_indent="    ", subsequent_indent="    ")
            continue
        first, *rest = textwrap.wrap(words, room) or [""]
        lines.append(f"{first:<{room}}  {verdict.expected:>{expected}}  {verdict.bound:<5}  {verdict.measured:>{measured}}  {judgement}")
        lines += rest
    for mark, sentence in reasons.entries():
        lines += textwrap.wrap(f"({mark}) {sentence}", width, subsequent_indent=" " * (len(mark) + 3))
    return "\n".join([*lines, *(textwrap.wrap(absent, width) if absent else [])]) + "\n"


def find_folders(out, ids):
    if not out.is_dir():
        raise ReportError(f"{out}: no such folder; run an experiment first (scripts/reproduce)")
    if ids:
        for name in ids:
            if not (out / name / "runs.csv").is_file():
                raise ReportError(f"{out / name}: has no runs.csv; run the experiment first")
        return [out / name for name in ids]
    folders = sorted(path.parent for path in out.glob("*/runs.csv"))
    if not folders:
        raise ReportError(f"{out}: holds no runs.csv; run an experiment first (scripts/reproduce)")
    return folders


def inputs_digest(experiment):
    """Of everything that the figures depend on: rows, what was run, what is asked for, and the code that draws; not the claims."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    code = [path for path in sorted(package.glob("*.py")) if path.name not in NOT_DRAWING] + sorted((package / "figures").glob("*.py"))
    definition = [experiment.definition.folder / name for name in DRAWN] if experiment.definition else []
    for path in [experiment.folder / name for name in RESULTS] + definition + code:
        digest.update(path.name.encode() + path.read_bytes() if path.is_file() else b"-")
    return digest.hexdigest()


def draw(experiment, folder):
    """Draws the figures unless all of them are there, drawn from the same numbers by the same code."""
    stamp, digest = folder / "figures.sha256", inputs_digest(experiment)
    known, *names = stamp.read_text(encoding="utf-8").split() if stamp.is_file() else [""]
    if known == digest and all((folder / name).is_file() for name in names):
        return
    stamp.unlink(missing_ok=True)
    figures.draw_all(experiment, folder)
    names = [f"{stem}{suffix}" for stem, _ in figures.pictures_in(folder) for suffix in (".svg", ".png")]
    whole_files.write_text(stamp, "\n".join([digest, *names]) + "\n")


def report_one(folder, configs=None, replaying=None):
    """Figures, tables, verdicts and the page of one experiment, after the replays that it leads to."""
    experiment = read_experiment(folder, configs)
    steps = f", {len(experiment.steps)} steps" if experiment.steps is not None else ""
    print(f"report: {experiment.id}, {len(experiment.runs)} runs{steps}", file=sys.stderr, flush=True)
    if experiment.definition is None:
        print(f"report: {experiment.id}: no folder of its run.toml is found (--configs, env.json, configs/experiments): drawn without claims",
              file=sys.stderr)
    draw(experiment, folder)
    table = tables.summary(experiment.runs)
    tables.write_summary(table, folder)
    tables.write_iterations(experiment, folder)
    rules.write(experiment, folder)
    table_methods.write(experiment, folder)
    table_errors.write(experiment, folder)
    families.write(experiment, folder)
    verdicts = judged.evaluate_all(experiment)
    write_claims(verdicts, folder)
    front.write_map(experiment)
    if replaying:
        replaying.make(replaying.of_experiment(experiment))
    whole_files.write_text(folder / "index.html", page.experiment_page(experiment, figures.pictures_in(folder), verdicts, table))
    return experiment, verdicts


def earlier_entry(folder):
    """(id, title, verdicts) as an earlier report left them; None where there is none."""
    try:
        config = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
        verdicts = judged.read_claims(folder / "claims.json")
    except (OSError, ValueError, TypeError):
        return None
    return folder.name, config.get("artefact") or folder.name, verdicts


def report(out, ids, configs=None, replaying=None):
    """The experiments `ids` (all when empty); report.html leads to every experiment of the folder. `replaying`: replays.Maker; without one
    no replay is made."""
    chosen = {folder.name for folder in find_folders(out, ids)}
    experiments, verdicts, entries = [], [], []
    for folder in find_folders(out, []):
        entry = None if folder.name in chosen else earlier_entry(folder)
        if entry is None:
            experiment, found = report_one(folder, configs, replaying)
            entry = (experiment.id, experiment.title, found)
            if folder.name in chosen:
                experiments.append(experiment)
                verdicts += found
        entries.append(entry)
    whole_files.write_text(out / "report.html", page.index_page(entries, out))
    if interactive.unavailable():
        print(f"report: {interactive.unavailable()}", file=sys.stderr)
    return experiments, verdicts


def report_runs(files, folder, replaying=None):
    """The page of tables of runs; replays of their recordings go into its folder."""
    folder = folder or files[0].with_suffix(".report")
    experiment = run_tables.read_tables(files, folder)
    print(f"report: {len(files)} tables, {len(experiment.runs)} runs", file=sys.stderr, flush=True)
    runs_page.draw(experiment)
    if replaying:
        replaying.make(replaying.of_tables(experiment))
    whole_files.write_text(folder / "index.html", runs_page.html_of(experiment, read_schema(files[0])))
    return folder / "index.html"


def main(arguments=None):
    options = parse(arguments)
    replaying = None if options.no_replay else replays.Maker(replays.find_program(options.program), options.out)
    try:
        if options.leaderboard:
            print(f"leaderboard  {leaderboard.write(options.runs, options.leaderboard, options.output or options.leaderboard / 'leaderboard')}")
            return 0
        if options.runs:
            print(f"report  {report_runs(options.runs, options.output, replaying)}")
            return 0
        experiments, verdicts = report(options.out, options.ids, options.configs, replaying)
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"error: {error.filename or options.out}: {error.strerror or error}", file=sys.stderr)
        return 3
    if not options.quiet:
        print(terminal_table(verdicts, min(140, max(60, shutil.get_terminal_size().columns))))
        for experiment in experiments:
            print(f"tables and figures  {experiment.folder / 'index.html'}")
        print(f"report              {options.out / 'report.html'}")
    return 0
