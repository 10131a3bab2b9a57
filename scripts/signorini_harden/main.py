"""scripts/harden: every command meets every failing call once."""

import argparse
import csv
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import commands, faults

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ("command", "call", "number", "errno", "wrong")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="harden", description="Lets every call of the system fail once in every command and checks what is left: inputs as "
                                     "they were, outputs old, new or to be resumed, one line of error, the documented exit code. Finished tries are kept in "
                                     "the table and not repeated.")
    parser.add_argument("--table", type=Path, default=ROOT / "build/harden.csv", help="finished tries (default: build/harden.csv)")
    parser.add_argument("--page", type=Path, help="write the counts as a page, e.g. docs/hardening.md")
    parser.add_argument("--commands", default=",".join(c.name for c in commands.COMMANDS), help="names, with commas between (default: all)")
    parser.add_argument("--calls", default=",".join(faults.KINDS), help="kinds of calls (default: all)")
    parser.add_argument("--most", type=int, default=400, help="tries per command, kind and error; of more calls a sample (default: 400)")
    parser.add_argument("--program", default=os.environ.get("SIGNORINI_PROGRAM", str(ROOT / "build/release/experiments/signorini")))
    parser.add_argument("--shim", default=os.environ.get("SIGNORINI_FAULT_SHIM", str(ROOT / "build/release/tests/program/fault_shim.so")))
    options = parser.parse_args(arguments)
    options.program, options.shim = (str(Path(path).resolve()) for path in (options.program, options.shim))
    return options


def read_table(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cases(options, folder):
    asked = options.commands.split(",")
    unknown = set(asked) - {command.name for command in commands.COMMANDS}
    if unknown:
        sys.exit(f"harden: unknown command '{unknown.pop()}'")
    for command in commands.COMMANDS:
        if command.name not in asked:
            continue
        start, clean = folder / command.name / "start", folder / command.name / "clean"
        commands.make_inputs(options.program, command, start)
        shutil.copytree(start, clean)
        case = faults.Case(options.program, options.shim, command, start, clean)
        done = case.run(clean, command.words)
        if done.returncode != 0:
            sys.exit(f"harden: {command.name} fails by itself: {done.stderr.strip()}")
        yield case


def tries(options, case, work):
    for kind in options.calls.split(","):
        count = case.calls(kind, work)
        for number in faults.sample(count, options.most):
            for error in faults.KINDS[kind]:
                yield kind, number, error


def run(options):
    done = read_table(options.table)
    known = {tuple(row[c] for c in COLUMNS[:-1]) for row in done}
    options.table.parent.mkdir(parents=True, exist_ok=True)
    wrong = sum(1 for row in done if row["wrong"])
    with tempfile.TemporaryDirectory() as place, options.table.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(COLUMNS)
        for case in cases(options, Path(place)):
            work = Path(place) / "work"
            made = failed = 0
            for kind, number, error in tries(options, case, work):
                key = (case.command.name, kind, str(number), str(error))
                if key in known:
                    continue
                text = "; ".join(case.try_fault(work, kind, number, error))
                writer.writerow((*key, text))
                file.flush()
                made += 1
                if text:
                    failed += 1
                    print(f"{case.command.name}: {kind} number {number}, errno {error}: {text}")
            wrong += failed
            print(f"{case.command.name}: {made} tries, {failed} wrong", file=sys.stderr)
    return wrong


def page(options):
    table = read_table(options.table)
    revision = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    kinds = list(faults.KINDS)
    lines = ["# Calls that fail", "",
             "What the commands leave behind when a call of the system fails: each call number n of a kind fails once in a run of its own. Afterwards inputs are as",
             "they were, every output is the old one, the new one or to be resumed, the exit code is a [documented one](command-line.md#exit-codes), and one line says",
             "why; then the command goes on and ends with the result of a run without failures.", "",
             f"Made by `scripts/harden --page docs/hardening.md` on {datetime.date.today()} at {revision}: {len(table)} failing calls, "
             f"{sum(1 for row in table if row['wrong'])} wrong. Of kinds with many calls (`malloc`) a sample is taken: the first, the last, and others evenly between.", "",
             "| command | " + " | ".join(kinds) + " | wrong |", "|---|" + "--:|" * (len(kinds) + 1)]
    for name in dict.fromkeys(row["command"] for row in table):
        own = [row for row in table if row["command"] == name]
        counts = [sum(1 for row in own if row["call"] == kind) for kind in kinds]
        lines.append(f"| `{name}` | " + " | ".join(map(str, counts)) + f" | {sum(1 for row in own if row['wrong'])} |")
    options.page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments=None):
    options = parse(arguments)
    for path in (options.program, options.shim):
        if not Path(path).exists():
            sys.exit(f"harden: {path} is not there; build it (cmake --build --preset release)")
    wrong = run(options)
    if options.page:
        page(options)
    return 1 if wrong else 0
