"""The words of the command line; needs nothing that scripts/setup may have to install first."""

import argparse
from pathlib import Path

from signorini_benchmarks.programs import BY_NAME, PROGRAMS

ROOT = Path(__file__).resolve().parents[2]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/benchmarks", add_help=False)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--compare", metavar="OLD[..NEW]")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--rounds", type=int, default=8, metavar="N")
    parser.add_argument("--siconos", type=Path, metavar="DATA")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # of the words only; before set-up and build
    parser.add_argument("--targets", action="store_true", help=argparse.SUPPRESS)  # what CMake must build
    parser.add_argument("-o", "--out", type=Path, metavar="DIR")
    options = parser.parse_args(arguments)
    options.only = [name.removeprefix("bench_") for name in options.only]
    for name in options.only:
        if name not in BY_NAME:
            parser.error(f"no program '{name}'; there are: {', '.join(BY_NAME)}")
    if options.rounds < 1 or options.rounds > 999:
        parser.error(f"--rounds {options.rounds}: from 1 to 999; an interval needs 8")
    if options.full and (options.quick or not options.compare):
        parser.error("--full belongs to --compare, without --quick; without --compare all sizes are measured anyway")
    options.sizes = "quick" if options.quick else "compared" if options.compare and not options.full else "full"
    if options.compare and (options.publish or options.siconos):
        parser.error("--compare makes a table of its own, without --publish and --siconos")
    if options.quick and options.publish:
        parser.error("--publish takes full measurements only, not --quick")
    return options


def chosen_programs(options):
    return [program for program in PROGRAMS if not options.only or program.name in options.only]
