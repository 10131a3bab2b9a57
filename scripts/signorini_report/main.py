"""The command line of scripts/report."""

import argparse
import dataclasses
import hashlib
import json
import math
import os
import shutil
import sys
import textwrap
import tomllib
from pathlib import Path

from signorini_report import expect, figures, page, rules, table_methods, tables
from signorini_report.data import ReportError, read_experiment


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/report", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Draws the figures, writes the tables and judges the claims of experiments that have been run.",
        epilog="examples:\n  scripts/report                          every experiment under results/out\n"
               "  scripts/report signorini_all            one of them\n"
               "  scripts/report --out /data/night        results of `signorini run --out /data/night`\n\n"
               "exit codes: 0 written, 2 usage, 3 a file that cannot be read")
    parser.add_argument("ids", nargs="*", metavar="ID", help="experiments (folders of OUT); default: all that have a runs.csv")
    parser.add_argument("--out", type=Path, default=Path("results/out"), help="folder of the results (default: results/out)")
    parser.add_argument("--quiet", action="store_true", help="no claims table on the terminal")
    return parser.parse_args(arguments)


def claims_markdown(verdicts):
    header = ["claim", "expected", "measured", "verdict", "reason"]
    rows = [[v.claim + (f" ({v.source})" if v.source else ""), v.expected, v.measured, v.verdict, v.reason] for v in verdicts]
    return tables.markdown(header, rows, set()) if rows else "No claims are stated for this experiment.\n"


def write_claims(verdicts, folder):
    records = []
    for verdict in verdicts:
        record = dataclasses.asdict(verdict)
        if record["value"] is not None and not math.isfinite(record["value"]):
            record["value"] = str(record["value"])  # JSON has no infinity
        records.append(record)
    (folder / "claims.json").write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "claims.md").write_text(claims_markdown(verdicts), encoding="utf-8")


def terminal_table(verdicts, width):
    """Plain aligned text; long claims are wrapped."""
    if not verdicts:
        return "No claims are stated.\n"
    expected = max(len("expected"), *(len(v.expected) for v in verdicts))
    measured = max(len("measured"), *(len(v.measured) for v in verdicts))
    room = max(28, width - expected - measured - len("not comparable") - 8)
    lines = [f"{'claim':<{room}}  {'expected':>{expected}}  {'measured':>{measured}}  verdict", "-" * min(width, room + expected + measured + 20)]
    for verdict in verdicts:
        words = verdict.claim or verdict.id
        if verdict.source:
            words += f" ({verdict.source})"
        first, *rest = textwrap.wrap(words, room) or [""]
        lines.append(f"{first:<{room}}  {verdict.expected:>{expected}}  {verdict.measured:>{measured}}  {verdict.verdict}")
        lines += rest
        if verdict.reason:
            lines += textwrap.wrap(f"because: {verdict.reason}", width - 4, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


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


def inputs_digest(folder):
    """Of everything that the figures depend on: the numbers, the configuration and the code that draws."""
    digest = hashlib.sha256()
    code = sorted(Path(__file__).parent.glob("*.py"))
    for path in [folder / name for name in ("runs.csv", "trace.h5", "regions.csv", "steps.csv", "follow.csv", "series.csv", "recordings.csv", "config.toml")] + code:
        digest.update(path.name.encode() + path.read_bytes() if path.is_file() else b"-")
    return digest.hexdigest()


def draw(experiment, folder):
    """Draws the figures unless all of them are there, drawn from the same numbers by the same code."""
    stamp, digest = folder / "figures.sha256", inputs_digest(folder)
    known, *names = stamp.read_text(encoding="utf-8").split() if stamp.is_file() else [""]
    if known == digest and all((folder / name).is_file() for name in names):
        return
    stamp.unlink(missing_ok=True)
    figures.draw_all(experiment, folder)
    names = [f"{stem}{suffix}" for stem, _ in figures.pictures_in(folder) for suffix in (".svg", ".png")]
    stamp.write_text("\n".join([digest, *names]) + "\n", encoding="utf-8")


def report_one(folder):
    """Figures, tables, verdicts and the page of one experiment."""
    experiment = read_experiment(folder)
    steps = f", {len(experiment.steps)} steps" if experiment.steps is not None else ""
    print(f"report: {experiment.id}, {len(experiment.runs)} runs{steps}", file=sys.stderr, flush=True)
    draw(experiment, folder)
    table = tables.summary(experiment.runs)
    tables.write_summary(table, folder)
    tables.write_iterations(experiment, folder)
    rules.write(experiment, folder)
    table_methods.write(experiment, folder)
    verdicts = expect.evaluate_all(experiment)
    write_claims(verdicts, folder)
    write_page(folder / "index.html", page.experiment_page(experiment, figures.pictures_in(folder), verdicts, table))
    return experiment, verdicts


def earlier_entry(folder):
    """(id, title, verdicts) as an earlier report left them; None where there is none."""
    try:
        config = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
        verdicts = expect.read_claims(folder / "claims.json")
    except (OSError, ValueError, TypeError):
        return None
    return folder.name, config.get("artefact") or folder.name, verdicts


def write_page(path, content):
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(content, encoding="utf-8")
    os.replace(temporary, path)


def report(out, ids):
    """The experiments `ids` (all when empty); report.html leads to every experiment of the folder."""
    chosen = {folder.name for folder in find_folders(out, ids)}
    experiments, verdicts, entries = [], [], []
    for folder in find_folders(out, []):
        entry = None if folder.name in chosen else earlier_entry(folder)
        if entry is None:
            experiment, found = report_one(folder)
            entry = (experiment.id, experiment.title, found)
            if folder.name in chosen:
                experiments.append(experiment)
                verdicts += found
        entries.append(entry)
    write_page(out / "report.html", page.index_page(entries))
    return experiments, verdicts


def main(arguments=None):
    options = parse(arguments)
    try:
        experiments, verdicts = report(options.out, options.ids)
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"error: {error.filename or options.out}: {error.strerror or error}", file=sys.stderr)
        return 3
    if not options.quiet:
        print(terminal_table(verdicts, min(140, max(90, shutil.get_terminal_size((120, 24)).columns))))
        for experiment in experiments:
            print(f"tables and figures  {experiment.folder / 'index.html'}")
        print(f"report              {options.out / 'report.html'}")
    return 0
