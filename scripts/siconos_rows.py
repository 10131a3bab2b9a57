"""Siconos' solvers beside ours; called by scripts/compare_siconos, which says how."""

import argparse
import itertools
import os
import subprocess
import sys
from pathlib import Path

from signorini_problems import siconos
from signorini_problems.snapshots import ProblemError, program

HERE = Path(__file__).resolve().parent
OURS = "auto,pgs,nsgs"


def parse(arguments):
    """Files or the folder stand in front; what is no option of this script is one of `signorini compare`."""
    places = list(itertools.takewhile(lambda word: not word.startswith("-"), arguments))
    parser = argparse.ArgumentParser(prog="scripts/compare_siconos", allow_abbrev=False, add_help=False)
    parser.add_argument("-o", "--output", type=Path, metavar="DIR")
    parser.add_argument("--experiment", metavar="ID")
    parser.add_argument("--out", type=Path, default=Path("results/out"))
    parser.add_argument("--siconos", default=";".join(siconos.SOLVERS), metavar="NAME;NAME")
    parser.add_argument("--set-up", action="store_true")
    parser.add_argument("--help-solvers", action="store_true")
    parser.add_argument("--no-report", action="store_true")
    parser.add_argument("--no-replay", action="store_true")
    options, options.ours = parser.parse_known_args(arguments[len(places):])
    options.places, options.names = [Path(place) for place in places], options.siconos.split(";")
    unknown = [name for name in options.names if name not in siconos.SOLVERS]
    if unknown:
        parser.error(f"--siconos: unknown '{unknown[0]}' (known: {'; '.join(siconos.SOLVERS)})")
    check(options, parser)
    return options


def check(options, parser):
    """One of the three forms."""
    is_folder = len(options.places) == 1 and options.places[0].is_dir()
    if options.experiment and (options.places or options.output):
        parser.error("--experiment names a result: neither files nor -o beside it")
    if not options.experiment and not options.places and not options.help_solvers:
        parser.error("name files with -o DIR, a folder of `signorini compare`, or --experiment ID; files stand before all options")
    if options.set_up and not options.experiment:
        parser.error("--set-up goes with --experiment ID, whose rows of ours are new")
    if is_folder and options.output:
        parser.error(f"{options.places[0]}: is a folder, whose results stay in it; -o is for files")
    if options.places and not is_folder and not options.output:
        parser.error("-o DIR is missing: the folder for the results")
    if options.ours and (is_folder or options.experiment):
        parser.error(f"{options.ours[0]}: our solvers have run already; options of `signorini compare` are for files")


def compare_ours(files, folder, others):
    """The exit code of `signorini compare`."""
    solvers = [] if any(word.split("=")[0] == "--solver" for word in others) else ["--solver", OURS]
    return subprocess.run([program(), "compare", *files, *solvers, *others, "--no-report", "-o", folder], stdout=sys.stderr, check=False).returncode


def write_page(folder, replays):
    words = ["--runs", folder / "runs.csv", "-o", folder, *([] if replays else ["--no-replay"])]
    return subprocess.run([sys.executable, HERE / "report", *words], env=os.environ | {"SIGNORINI_PROGRAM": str(program())}, check=False).returncode


def run(options):
    if options.help_solvers:
        print("\n".join(siconos.SOLVERS))
        return 0
    if options.experiment:
        folder = options.out / options.experiment
        siconos.renew_set_up(folder) if options.set_up else siconos.write(folder, options.names)
        return 0
    folder, code = options.output or options.places[0], 0
    if options.output:
        code = compare_ours(options.places, folder, options.ours)
        if code not in (0, 1):  # 1: a run failed, and is a row
            return code
    siconos.write(folder, options.names)
    return code if options.no_report else write_page(folder, not options.no_replay) or code


def main():
    try:
        return run(parse(sys.argv[1:]))
    except (ProblemError, OSError) as error:
        print(f"compare_siconos: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
