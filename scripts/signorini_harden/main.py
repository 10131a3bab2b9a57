"""scripts/harden: every command meets every failing call once, and every other command (`--pairs`)."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import commands, damaged, faults, memcheck, page, pairs, soak, stories, suite
from .commands import ROOT
from .results import Results

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
                        "plan, run shards, merge, delete, damage) against a model of what must lie there, for so long")
    parser.add_argument("--told", type=Path, default=ROOT / "build/harden_stories.csv", help="seeds of the stories told (default: build/harden_stories.csv)")
    parser.add_argument("--damaged", type=int, default=0, metavar="N", help="instead: files number 0 to N - 1 whose content is wrong while their containers are right")
    parser.add_argument("--read", type=Path, default=ROOT / "build/harden_damaged.csv", help="damaged files that were read (default: build/harden_damaged.csv)")
    parser.add_argument("--fuzzed", type=Path, default=ROOT / "build/fuzz/executions.csv", help="what scripts/fuzz did, for --page (default: "
                        "build/fuzz/executions.csv)")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS", help="instead: a long recording, recordings of all scenes and reproduce all, over "
                        "and over for so long, with memory and open files of every process watched: flat or growing")
    parser.add_argument("--soaked", type=Path, default=ROOT / "build/harden_soak.csv", help="what each process used (default: build/harden_soak.csv)")
    parser.add_argument("--memcheck", action="store_true", help="instead: commands, all solvers on some problems and the first steps of all scenes under valgrind's memcheck")
    parser.add_argument("--checked", type=Path, default=ROOT / "build/harden_memcheck.csv", help="what ran under memcheck (default: build/harden_memcheck.csv)")
    parser.add_argument("--suite", default="", metavar="PRESETS", help="instead: every test under the sanitizers of these presets, asan,tsan or one of them; "
                        "they are built first")
    parser.add_argument("--tested", type=Path, default=ROOT / "build/harden_suite.csv", help="what was tested under sanitizers (default: build/harden_suite.csv)")
    parser.add_argument("--page", type=Path, help="write the counts as a page, e.g. docs/hardening.md; a section whose table is not there stays as it is")
    parser.add_argument("--commands", default="", help="names, with commas between (default: all)")
    parser.add_argument("--calls", default=",".join(faults.KINDS), help="kinds of calls (default: all)")
    parser.add_argument("--most", type=int, default=400, help="tries per command, kind and error; of more calls a sample (default: 400)")
    parser.add_argument("--program", default=os.environ.get("SIGNORINI_PROGRAM", str(ROOT / "build/release/experiments/signorini")))
    parser.add_argument("--shim", default=os.environ.get("SIGNORINI_FAULT_SHIM", str(ROOT / "build/release/tests/program/fault_shim.so")))
    options = parser.parse_args(arguments)
    options.program, options.shim = (str(Path(path).resolve()) for path in (options.program, options.shim))
    return options


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
        for first, second in pairs.all_pairs(asked_commands(options, ALL)):
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
            damaged.remove(path)
        return results.wrong


def soak_long(options):
    """The number of wrong ones in all."""
    with tempfile.TemporaryDirectory() as place, Results(options.soaked, soak.COLUMNS) as results:
        soak.run(options.program, Path(place) / "soak", results, options.soak)
        return results.wrong


def check_memory(options):
    """The number of wrong ones in all."""
    if shutil.which("valgrind") is None:
        sys.exit("harden: valgrind is not there (apt-get install valgrind)")
    with tempfile.TemporaryDirectory() as place, Results(options.checked, memcheck.COLUMNS) as results:
        known = {name for name, _ in results.known}
        for sample in memcheck.samples():
            if sample.name in known:
                continue
            began = time.monotonic()
            wrong = memcheck.check(options.program, sample, Path(place) / "sample")
            results.add((sample.name, f"{time.monotonic() - began:.0f}"), wrong, sample.name)
        return results.wrong


def test_suite(options):
    """The number of wrong ones in all."""
    presets = suite.asked(options.suite)
    with Results(options.tested, suite.COLUMNS) as results:
        known = {(preset, entry) for preset, entry, _ in results.known}
        for preset in presets:
            suite.build(preset)
            for entry in suite.entries(preset):
                if (preset, entry) in known:
                    continue
                began = time.monotonic()
                wrong = suite.check(preset, entry)
                results.add((preset, entry, f"{time.monotonic() - began:.0f}"), wrong, f"{preset}, {entry}")
        return results.wrong


def main(arguments=None):
    options = parse(arguments)
    os.environ.setdefault("SIGNORINI_CONFIGS", str(ROOT / "configs"))  # of a program that was copied
    for path in () if options.suite else (options.program, options.shim):
        if not Path(path).exists():
            sys.exit(f"harden: {path} is not there; build it (cmake --build --preset release)")
    instead = ((options.suite, test_suite), (options.memcheck, check_memory), (options.damaged, read_damaged), (options.soak, soak_long), (options.stories, tell), (options.pairs, meet))
    wrong = next((made for asked, made in instead if asked), run)(options)
    if options.page:
        page.write(options)
    return 1 if wrong else 0
