"""The command line."""

import argparse
import os
from pathlib import Path

from signorini_problems.snapshots import ROOT as SOURCE
from signorini_problems.snapshots import ProblemError, program

SIZES = ("quick", "medium", "paper")


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be at least 1")
    return number


def parse(arguments=None):
    parser = argparse.ArgumentParser(prog="make_dataset", description="a library of deformable contact problems; see docs/dataset.md")
    parser.add_argument("--size", choices=SIZES, default="quick")
    parser.add_argument("--scenes", default="")
    parser.add_argument("--steps", type=positive, default=None)
    parser.add_argument("--contact-steps", type=positive, default=None)
    parser.add_argument("--most", type=positive, default=10)
    parser.add_argument("--contacts", type=positive, default=3)
    parser.add_argument("--stride", type=positive, default=1)
    parser.add_argument("--solvers", default="reference")
    parser.add_argument("--tolerance", type=float, default=1e-12)
    parser.add_argument("--max-iterations", type=positive, default=40000)
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--jobs", type=positive, default=1)
    parser.add_argument("--threads", type=positive, default=None)
    parser.add_argument("--record-only", action="store_true")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--program", type=Path, default=None)
    parser.add_argument("-o", "--out", type=Path, default=None)
    parser.add_argument("--gallery", type=Path, default=None)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--part-bytes", type=positive, default=200_000_000)
    asked = parser.parse_args(arguments)
    if asked.out is None:
        asked.out = results() / f"dataset_{asked.size}"
    asked.threads = asked.threads or max(1, (os.cpu_count() or 1) // asked.jobs)
    asked.solvers = [name for name in asked.solvers.split(",") if name]
    known = sorted(path.stem for path in (SOURCE / "configs/scenes").glob("*.toml"))
    named = [name for name in asked.scenes.split(",") if name]
    if asked.scenes and not named:
        parser.error("--scenes: names none")
    asked.scenes = named or known
    if asked.tables:
        asked.record_only = True
        asked.scenes = [name for name in asked.scenes if any((asked.out / "recordings" / f"{name}.h5{part}").exists() for part in ("", ".parts"))]
    for name in asked.scenes:
        if name not in known:
            parser.error(f"--scenes: no scene '{name}'; there are {', '.join(known)}")
    if not asked.solvers:
        parser.error("--solvers: names none")
    if not asked.draw and not asked.pack:
        asked.program = program_of(asked, parser)
    return asked


def results():
    """results/out of the source tree; of the current folder where this script was installed."""
    return (SOURCE if (SOURCE / "CMakeLists.txt").is_file() else Path()) / "results/out"


def program_of(asked, parser):
    """--program, else the one that all scripts take."""
    if asked.program is None:
        try:
            return program()
        except ProblemError as error:
            parser.error(f"{error}; or name it with --program")
    if not asked.program.is_file() or not os.access(asked.program, os.X_OK):
        parser.error(f"--program: {asked.program} is no program")
    return asked.program


def settings_of(asked):
    """What the content of a dataset depends on, besides the program."""
    names = ("size", "scenes", "steps", "contact_steps", "most", "contacts", "stride", "solvers", "tolerance", "max_iterations", "time_limit")
    return {name: getattr(asked, name) for name in names}
