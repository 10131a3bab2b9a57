"""Commands under valgrind's memcheck: `scripts/harden --memcheck`.

What is wrong: a read of memory that nobody wrote or that is not the program's, a write beyond it, memory freed twice. Leaks are not looked for. The
sample: every command of `commands.COMMANDS`, all solvers on the problems of configs/problems, whole and by islands, and the first steps of every scene at
size quick."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import commands

COLUMNS = ("sample", "seconds", "wrong")
ERROR = 99  # none of the program's exit codes
STEPS = 3   # of a scene
SUPPRESSIONS = commands.ROOT / "tests" / "valgrind.supp"
PROBLEMS = commands.ROOT / "configs" / "problems"


@dataclass(frozen=True)
class Sample:
    name: str
    words: tuple
    command: commands.Command | None = None  # what makes its inputs
    may_end_with: tuple = (0,)


def samples():
    scenes = sorted(path.stem for path in (commands.ROOT / "configs" / "scenes").glob("*.toml"))
    yield from (Sample(command.name, command.words, command) for command in commands.COMMANDS)
    # 1: not all converge
    yield from (Sample(f"solve {path.name}", ("solve", str(path), "--solver", "all", "--regions", "none,islands", "--max-iterations", "30"), None, (0, 1))
                for path in sorted(PROBLEMS.glob("*/*.hdf5")))
    # 1: facts of a scene that is cut short need not hold
    yield from (Sample(f"record {scene}", ("record", scene, "-o", "s.h5", "--steps", str(STEPS)), None, (0, 1)) for scene in scenes)


def first_error(log):
    """The kind of the first error and the innermost places of its stack."""
    lines = [line.split("== ", 1)[1].rstrip() for line in log.splitlines() if line.startswith("==") and "== " in line]
    said = [line.strip() for line in lines if line.strip()]
    return " | ".join(said[:6])[:600] if said else ""


def check(program, sample, folder: Path):
    """What was wrong, or ""."""
    shutil.rmtree(folder, ignore_errors=True)
    if sample.command:
        commands.make_inputs(program, sample.command, folder)
    else:
        folder.mkdir(parents=True)
    logs = folder / "valgrind"
    logs.mkdir()
    argv = ["valgrind", "--quiet", f"--error-exitcode={ERROR}", f"--suppressions={SUPPRESSIONS}", f"--log-file={logs}/%p", program, *sample.words]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env=os.environ | {"SIGNORINI_CONFIGS": str(commands.ROOT / "configs")})
    found = [error for log in sorted(logs.iterdir()) if (error := first_error(log.read_text(encoding="utf-8", errors="replace")))]
    if found:
        return "; ".join(found)
    if done.returncode not in sample.may_end_with:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    return ""
