"""Which problems an experiment solved, and each of them as an FCLib file."""

import csv
import dataclasses
import importlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from signorini_report import whole_files

ROOT = Path(__file__).resolve().parents[2]


class ProblemError(Exception):
    """Wrong input: one line for the user."""


@dataclasses.dataclass(frozen=True)
class Snapshot:
    file: str
    step: str
    source: Path
    contacts: int
    dofs: int


def program():
    """SIGNORINI_PROGRAM, else the one that these scripts were installed with, else the one that is built in this tree."""
    built, installed = ROOT / "build" / "release" / "experiments" / "signorini", ROOT.parent.parent / "bin" / "signorini"
    path = Path(os.environ.get("SIGNORINI_PROGRAM") or (installed if ROOT.parent.name == "share" and installed.is_file() else built))
    if not path.is_file():
        raise ProblemError(f"{path}: the program is not built (cmake --preset release && cmake --build --preset release --target signorini)")
    return path


def python_package():
    """Our Python package (docs/python.md): the one that is built in this tree, else an installed one."""
    built = ROOT / "build" / "release" / "python"
    if built.is_dir() and str(built) not in sys.path:
        sys.path.insert(0, str(built))
    try:
        return importlib.import_module("signorini")
    except ImportError as error:
        raise ProblemError(f"the Python package signorini is missing ({error}): cmake --build build/release --target signorini_python builds it") from error


def run_program(*words):
    """Standard output of `signorini WORDS`."""
    done = subprocess.run([str(program()), *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise ProblemError(lines[-1].removeprefix("signorini: error: ") if lines else f"signorini {words[0]} ended with code {done.returncode}")
    return done.stdout


def test_data():
    return Path(os.environ.get("SIGNORINI_DATA") or ROOT.parent / "shared" / "data")


def is_named(path, file):
    """Whether rows call the path so: by its name or stem, behind as many folders as tell it from others of that name."""
    parts = Path(file).parts
    return parts in (path.parts[-len(parts):], path.with_suffix("").parts[-len(parts):])


def source_of(folder, run, file):
    """Where the problems of `file`, as the rows name it, lie."""
    places = [folder.parent / "recordings" / file, folder / "problems" / f"{file}.hdf5"]
    places += [test_data() / name for name in run.get("optional_files", []) if Path(name).stem == file]
    places += [Path(name) for name in run.get("files", []) if is_named(Path(name), file)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise ProblemError(f"{folder / 'runs.csv'}: rows of '{file}', which is none of {', '.join(map(str, places))}")
    return found


def read_rows(folder):
    try:
        with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError as error:
        raise ProblemError(f"{folder}: has no runs.csv; run the experiment first (scripts/reproduce)") from error
    if not rows:
        raise ProblemError(f"{folder / 'runs.csv'}: has no rows")
    return rows


def read_settings(folder):
    """run.toml with what its size changes; and the size."""
    run = tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
    env = json.loads((folder / "env.json").read_text(encoding="utf-8"))
    return run | run.get("sizes", {}).get(env.get("size", ""), {})


def snapshots(folder):
    """Every snapshot that has rows, in their order."""
    run, found, sources = read_settings(folder), {}, {}
    for row in read_rows(folder):
        file = row["file"]
        if file not in sources:
            sources[file] = source_of(folder, run, file)
        found.setdefault((file, row["step"]), Snapshot(file, row["step"], sources[file], int(row["contacts"]), int(row["dofs"])))
    return list(found.values())


def export(snapshot, path, *options):
    """The snapshot as an FCLib file; `options` of `signorini export`."""
    words = [] if snapshot.source.suffix == ".hdf5" else ["--step", snapshot.step]
    run_program("export", snapshot.source, *words, *options, "-o", path, "--force")
    return path


def write_table(path, fields, rows):
    """A CSV file that is there whole or not at all."""
    with whole_files.replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def say(text):
    print(text, file=sys.stderr, flush=True)
