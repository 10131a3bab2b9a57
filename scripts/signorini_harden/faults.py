"""One failing call in one run of a command, and what must hold afterwards."""

import csv
import errno
import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .commands import call

#: Kinds of calls (tests/program/fault_shim.cpp) and the errors that they may fail with.
KINDS = {"write": (errno.ENOSPC, errno.EIO), "fsync": (errno.EIO,), "rename": (errno.ENOSPC, errno.EIO), "mkdir": (errno.ENOSPC,), "open": (errno.EIO, errno.EMFILE),
         "read": (errno.EIO,), "close": (errno.EIO,), "mmap": (errno.ENOMEM,), "malloc": (errno.ENOMEM,)}
#: Of Python scripts.
SCRIPT_KINDS = ("write", "rename", "mkdir")
#: Exit codes of a command that failed (docs/command-line.md); 0 where it could do without the call.
CODES = (0, 1, 3, 5)
#: Columns and files that tell times and machines differ between two runs.
TIMES = ("seconds", "cpu_share", "waited_share", "involuntary_switches", "solver_bytes", "threads_used", "_s")


@dataclass
class Case:
    """A command with its folder before the try, and what the try makes when nothing fails."""
    program: str
    shim: str
    command: object
    start: Path
    clean: Path

    def run(self, folder, words, **variables):
        argv, own = call(self.program, words)
        environment = {**os.environ, **own, "NO_COLOR": "1"}
        if variables:
            environment |= {"LD_PRELOAD": self.shim, **{f"FAULT_{name}": str(value) for name, value in variables.items()}}
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, errors="replace", env=environment, timeout=600, check=False)

    def calls(self, kind, folder):
        """How many calls of this kind the command makes."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.start, folder)
        count = folder.parent / "count"
        count.unlink(missing_ok=True)
        self.run(folder, self.command.words, CALL=kind, COUNT=count)
        return int(count.read_text(encoding="utf-8"))

    def try_fault(self, folder, kind, number, error):
        """What is wrong after call `number` of `kind` failed; empty where nothing is."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.start, folder)
        before = digests(self.command.inputs, folder)
        done = self.run(folder, self.command.words, CALL=kind, AT=number, ERRNO=error)
        return list(self.judge(folder, done, before))

    def judge(self, folder, done, before):
        said = [line for line in done.stderr.splitlines() if "error:" in line]
        if done.returncode not in CODES:
            yield f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
        # a run that ends for lack of memory is a row, as any that fails; going on makes it again
        a_row = done.returncode == 1 and not said and ("failed (out of memory)" in done.stderr or any(map(fails_for_memory, folder.rglob("*.csv"))))
        if done.returncode != 0 and not a_row and (len(said) != 1 or not said[0].startswith(self.command.says)):
            yield f"exit code {done.returncode} with {len(said)} error lines: {done.stderr.strip()[-300:]}"
        for words in ("filesystem error", "0x", "std::"):
            if any(words in line for line in said):
                yield f"the error says '{words}': {said[0]}"
        if digests(self.command.inputs, folder) != before:
            yield "an input changed"
        for name in self.command.outputs:
            path = folder / name
            if path.exists() and not a_row and not (same(path, self.clean / name) or same(path, self.start / name)):
                if not (self.command.grows and name.startswith(self.command.grows)):
                    yield f"{name} is neither the old nor the new one"
            elif not path.exists() and done.returncode == 0:
                yield f"{name} is missing after exit code 0"
        again = self.run(folder, self.command.again)
        if again.returncode != 0:
            yield f"cannot go on: exit code {again.returncode}: {again.stderr.strip()[-300:]}"
            return
        for name in self.command.outputs:
            if not (folder / name).exists() or not same(folder / name, self.clean / name):
                yield f"{name} differs from a run without failures after going on"


def digests(names, folder):
    """Of all files at or below these names."""
    paths = [path for name in names for path in ([folder / name] if (folder / name).is_file() else sorted((folder / name).rglob("*"))) if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def same(path, other):
    """Equal bytes; of tables without times, of other files that hold times only their beginning."""
    if not other.exists():
        return False
    if path.suffix == ".csv":
        return rows(path) == rows(other)
    if path.suffix in (".json", ".html") or path.name in ("t.h5", "trace.h5", "plan.toml"):
        return path.read_bytes()[:8] == other.read_bytes()[:8] and path.stat().st_size > other.stat().st_size // 2
    return path.read_bytes() == other.read_bytes()


def fails_for_memory(path):
    """Whether a table of runs has a row that says so."""
    with path.open(encoding="utf-8", newline="") as file:
        return any(row.get("status") == "failed" and "out of memory" in (row.get("message") or "") for row in csv.DictReader(file))


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    if not table:
        return []
    kept = [i for i, name in enumerate(table[0]) if not name.endswith(TIMES)]
    return sorted([row[i] for i in kept if i < len(row)] for row in table)


def sample(count, most):
    """Numbers 1 … count, or `most` of them: the first ones, the last ones and what lies between evenly."""
    if count <= most:
        return list(range(1, count + 1))
    third = most // 3
    between = [third + round(i * (count - 2 * third) / (most - 2 * third)) for i in range(1, most - 2 * third)]
    return sorted({*range(1, third + 1), *between, *range(count - third + 1, count + 1)})
