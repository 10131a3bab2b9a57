"""scripts/harden: every command meets every failing call once, and every other command (`--pairs`)."""

import argparse
import csv
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import commands, damaged, faults, pairs, soak, stories

ROOT = Path(__file__).resolve().parents[2]
ALL = (*commands.COMMANDS, *commands.SCRIPT_COMMANDS)
COLUMNS = ("command", "call", "number", "errno", "wrong")
MEETINGS = ("first", "second", "seed", "wrong")
STORIES = ("seed", "wrong")
DAMAGED = ("number", "kind", "wrong")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="harden", description="Lets every call of the system fail once in every command and checks what is left: inputs as "
                                     "they were, outputs old, new or to be resumed, one line of error, the documented exit code. Finished tries are kept in "
                                     "the table and not repeated.")
    parser.add_argument("--table", type=Path, default=ROOT / "build/harden.csv", help="finished tries (default: build/harden.csv)")
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="instead: N meetings of every two commands, at once in one folder, one of them or both "
                        "killed at a random moment; what is left must lead on to what one after the other makes")
    parser.add_argument("--meetings", type=Path, default=ROOT / "build/harden_pairs.csv", help="finished meetings (default: build/harden_pairs.csv)")
    parser.add_argument("--stories", type=float, default=0.0, metavar="SECONDS", help="instead: random stories of use (record, kill, resume, solve, run, export, "
                        "delete, damage) against a model of what must lie there, for so long")
    parser.add_argument("--told", type=Path, default=ROOT / "build/harden_stories.csv", help="seeds of the stories told (default: build/harden_stories.csv)")
    parser.add_argument("--damaged", type=int, default=0, metavar="N", help="instead: files number 0 to N - 1 whose content is wrong while their containers are right")
    parser.add_argument("--read", type=Path, default=ROOT / "build/harden_damaged.csv", help="damaged files that were read (default: build/harden_damaged.csv)")
    parser.add_argument("--fuzzed", type=Path, default=ROOT / "build/fuzz/executions.csv", help="what scripts/fuzz did, for --page (default: "
                        "build/fuzz/executions.csv)")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS", help="instead: a long recording, recordings of all scenes and reproduce all, over "
                        "and over for so long, with memory and open files of every process watched: flat or growing")
    parser.add_argument("--soaked", type=Path, default=ROOT / "build/harden_soak.csv", help="what each process used (default: build/harden_soak.csv)")
    parser.add_argument("--page", type=Path, help="write the counts as a page, e.g. docs/hardening.md")
    parser.add_argument("--commands", default="", help="names, with commas between (default: all)")
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


def asked_commands(options, among):
    known = [command.name for command in among]
    asked = options.commands.split(",") if options.commands else known
    unknown = sorted(set(asked) - set(known))
    if unknown:
        sys.exit(f"harden: unknown command '{unknown[0]}'")
    return asked


def cases(options, folder):
    asked = asked_commands(options, ALL)
    for command in ALL:
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
        if case.command.is_script() and kind not in faults.SCRIPT_KINDS:
            continue
        count = case.calls(kind, work)
        for number in faults.sample(count, options.most):
            for error in faults.KINDS[kind]:
                yield kind, number, error


class Results:
    """A table of finished tries that grows row by row and is gone on with: its last column says what was wrong."""

    def __init__(self, path, columns):
        done = read_table(path)
        self.known = {tuple(row[c] for c in columns[:-1]) for row in done}
        self.wrong = sum(1 for row in done if row["wrong"])
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("a", encoding="utf-8", newline="")
        if not done:
            csv.writer(self.file).writerow(columns)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def add(self, key, text, name):
        """1 where something was wrong, which is printed."""
        csv.writer(self.file).writerow((*key, text))
        self.file.flush()
        if text:
            print(f"{name}: {text}")
        self.wrong += bool(text)
        return int(bool(text))


def run(options):
    with tempfile.TemporaryDirectory() as place, Results(options.table, COLUMNS) as results:
        for case in cases(options, Path(place)):
            work, made, failed = Path(place) / "work", 0, 0
            for kind, number, error in tries(options, case, work):
                key = (case.command.name, kind, str(number), str(error))
                if key in results.known:
                    continue
                text = "; ".join(case.try_fault(work, kind, number, error))
                failed += results.add(key, text, f"{case.command.name}: {kind} number {number}, errno {error}")
                made += 1
            print(f"{case.command.name}: {made} tries, {failed} wrong", file=sys.stderr)
        return results.wrong


def meet(options):
    """Meetings that are not in the table yet; the number of wrong ones in all."""
    with tempfile.TemporaryDirectory() as place, Results(options.meetings, MEETINGS) as results:
        for first, second in pairs.all_pairs(asked_commands(options, commands.COMMANDS)):
            seeds = [seed for seed in range(options.pairs) if (first.name, second.name, str(seed)) not in results.known]
            if not seeds:
                continue
            pair, failed = pairs.Pair(options.program, first, second, Path(place) / "pair"), 0
            for seed in seeds:
                failed += results.add((first.name, second.name, seed), "; ".join(pair.meet(seed)), f"{first.name} beside {second.name}, seed {seed}")
            print(f"{first.name} beside {second.name}: {len(seeds)} meetings, {failed} wrong", file=sys.stderr)
        return results.wrong


def tell(options):
    """New stories until the time is over; the number of wrong ones in all."""
    end = time.monotonic() + options.stories
    with tempfile.TemporaryDirectory() as place, Results(options.told, STORIES) as results:
        seed = 1 + max((int(number) for (number,) in results.known), default=-1)
        stories.make_clean(options.program, Path(place) / "clean")
        while time.monotonic() < end:
            results.add((seed,), stories.play(options.program, Path(place) / "clean", place, seed), f"seed {seed}")
            seed += 1
        print(f"{seed} stories of {stories.ACTS_OF_A_STORY} acts, {results.wrong} wrong", file=sys.stderr)
        return results.wrong


def read_damaged(options):
    """The number of wrong ones in all."""
    with tempfile.TemporaryDirectory() as place, Results(options.read, DAMAGED) as results:
        bases, folder = Path(place) / "bases", Path(place) / "files"
        damaged.make_bases(options.program, bases)
        shutil.copytree(bases, folder)
        known = {number for number, _ in results.known}
        for number in range(options.damaged):
            if str(number) in known:
                continue
            kind, path = damaged.make(number, bases, folder)
            results.add((number, kind), damaged.judge(options.program, folder, kind, path), f"number {number}, {kind}")
            path.unlink()
        return results.wrong


def damaged_lines(options):
    table, fuzzed = read_table(options.read), read_table(options.fuzzed)
    if not table and not fuzzed:
        return []
    lines = ["", "## Wrong files", ""]
    if table:
        kinds = ", ".join(f"{sum(1 for row in table if row['kind'] == kind)} {word}" for kind, word in (
            ("npz", "npz archives"), ("fclib", "FCLib files"), ("scene", "scenes"), ("experiment", "experiments")))
        wrong = [row for row in table if row["wrong"]]
        lines += ["Files whose content is wrong while their containers, checksums included, are right: other values, lengths, shapes and types, arrays that are missing,",
                  "keys with other values. The program ends with a documented exit code, one line and no crash.", "",
                  f"{len(table)} files ({kinds}), {len(wrong)} wrong (`scripts/harden --damaged N`)."]
        lines += [""] * bool(wrong) + [f"- number {row['number']}, {row['kind']}: {row['wrong']}" for row in wrong]
    if fuzzed:
        lines += ["", "Executions of the fuzz targets (`scripts/fuzz`, clang's libFuzzer, address and undefined behaviour checks on):", "",
                  "| target | executions | seconds | crashes |", "|---|--:|--:|--:|"]
        for name in dict.fromkeys(row["target"] for row in fuzzed):
            own = [row for row in fuzzed if row["target"] == name]
            lines.append(f"| `{name}` | " + " | ".join(f"{sum(int(row[key]) for row in own):,}" for key in ("executions", "seconds", "crashes")) + " |")
    return lines


def soak_long(options):
    """The number of wrong ones in all."""
    with tempfile.TemporaryDirectory() as place, Results(options.soaked, soak.COLUMNS) as results:
        soak.run(options.program, Path(place) / "soak", results, options.soak)
        return results.wrong


def soak_lines(options):
    table = read_table(options.soaked)
    if not table:
        return []
    lines = ["", "## Long runs", "",
             "Memory (resident) and open files of every process, read five times a second. A recording of a body at rest has steps that are all alike: its memory may",
             f"grow by {soak.SHARE:.0%}, {soak.ROOM_KB // 1024} MiB and {soak.KB_OF_A_STEP:g} kB for every step, of which it keeps the statistics, from the middle of its time to the end, its open files not at all.",
             "A command that is run again may use as much as in its first round, with the same allowance.", "",
             f"{sum(float(row['seconds']) for row in table) / 3600:.2f} hours, {len(table)} processes, {sum(1 for row in table if row['wrong'])} wrong (`scripts/harden --soak SECONDS`).", "",
             "| command | rounds | seconds | memory in the middle, at the end, at most [MB] | open files at most |", "|---|--:|--:|--:|--:|"]
    for name in dict.fromkeys(row["command"] for row in table):
        own = [row for row in table if row["command"] == name]
        memory = ", ".join(f"{max(int(row[key]) for row in own) / 1024:.0f}" for key in ("middle_kb", "end_kb", "peak_kb"))
        lines.append(f"| {name} | {len(own)} | {sum(float(row['seconds']) for row in own):.0f} | {memory} | {max(int(row['files']) for row in own)} |")
    wrong = [row for row in table if row["wrong"]]
    return lines + [""] * bool(wrong) + [f"- {row['command']}, {row['began']}: {row['wrong']}" for row in wrong]


def stories_lines(options):
    table = read_table(options.told)
    if not table:
        return []
    wrong = [row for row in table if row["wrong"]]
    return ["", "## Random stories", "",
            "A story is a row of random acts in one folder: record, record and be killed, resume, record again, run, run and be killed, resume the table, solve, export,",
            "info, delete, damage a recording. A model says after every act what the exit code must be and what must lie there, down to the bytes of what is whole.", "",
            f"{len(table)} stories of {stories.ACTS_OF_A_STORY} acts, {len(wrong)} wrong (`scripts/harden --stories SECONDS`)."
            ] + [""] * bool(wrong) + [f"- seed {row['seed']}: {row['wrong']}" for row in wrong]


def meetings_lines(options):
    table = read_table(options.meetings)
    if not table:
        return []
    names = list(dict.fromkeys(name for row in table for name in (row["first"], row["second"])))
    lines = ["", "## Two commands at once", "",
             "Every two commands meet in one folder: the second begins at a random moment, and none, one or both are killed (`SIGKILL`) at random moments. Inputs stay",
             "as they were, a refusal is one line, and going on with both ends with the exit codes and the outputs that one after the other makes.", "",
             f"{len(table)} meetings of {len({(row['first'], row['second']) for row in table})} pairs of {len(names)} commands, {sum(1 for row in table if row['wrong'])} wrong"
             " (`scripts/harden --pairs N`)."]
    wrong = [row for row in table if row["wrong"]]
    return lines + [""] * bool(wrong) + [f"- `{row['first']}` beside `{row['second']}`, seed {row['seed']}: {row['wrong']}" for row in wrong]


def page(options):
    table = read_table(options.table)
    revision = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    kinds = list(faults.KINDS)
    lines = ["# Hardening", "", "## Calls that fail", "",
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
    options.page.write_text("\n".join(lines + meetings_lines(options) + stories_lines(options) + damaged_lines(options) + soak_lines(options)) + "\n", encoding="utf-8")


def main(arguments=None):
    options = parse(arguments)
    os.environ.setdefault("SIGNORINI_CONFIGS", str(ROOT / "configs"))  # of a program that was copied
    for path in (options.program, options.shim):
        if not Path(path).exists():
            sys.exit(f"harden: {path} is not there; build it (cmake --build --preset release)")
    wrong = read_damaged(options) if options.damaged else soak_long(options) if options.soak else tell(options) if options.stories else meet(options) if options.pairs else run(options)
    if options.page:
        page(options)
    return 1 if wrong else 0
