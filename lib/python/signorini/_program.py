"""The program `signorini` that belongs to this package: it records scenes, which needs physics that the package has not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

from . import _core
from ._errors import FileError, InternalError, UsageError

_HERE = Path(_core.__file__).parent
_USAGE, _BAD_INPUT, _OUT_OF_MEMORY, _INTERRUPTED = 2, 3, 5, 130  #: its exit codes; 1: rows of failed runs
_ERROR = "signorini: error: "


def find_program() -> Optional[Path]:
    """The file named by SIGNORINI_PROGRAM, else the one installed or built with the package; None where there is none."""
    named = os.environ.get("SIGNORINI_PROGRAM")
    if named:
        return Path(named)
    for folder in _HERE.parents:
        for place in (folder / "bin" / "signorini", folder / "experiments" / "signorini"):
            if place.is_file() and os.access(place, os.X_OK):
                return place
    return None


def home() -> str:
    """The folder that scenes and experiments are looked for from: that of the program, else the package's own."""
    program = find_program()
    return str((program.parent if program is not None else _HERE).resolve())


def run_program(arguments: list[str], tell: Callable[[str], None]) -> Any:
    """Runs it to its end and returns what it prints with --json; `tell` gets every line that it says.

    Raises:
        UsageError, FileError, MemoryError: with the message of the program.
        KeyboardInterrupt: after the program has ended; what it finished is kept.
    """
    program = find_program()
    if program is None:
        raise UsageError("this experiment has scenes, which the program signorini records, and none was built or installed with this "
                         "package; set SIGNORINI_PROGRAM to its path")
    with tempfile.TemporaryFile() as output:
        last = _run(program, [*arguments, "--json"], output, tell)
        output.seek(0)
        try:
            return json.load(output)
        except ValueError as error:
            raise InternalError(f"{program}: printed no JSON; its last line was: {last}") from error


def _run(program: Path, arguments: list[str], output: Any, tell: Callable[[str], None]) -> str:
    """The last line that it says."""
    try:
        running = subprocess.Popen([str(program), *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True,
                                   encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise FileError(f"{program}: cannot be started ({error.strerror})") from error
    last = ""
    with running:
        try:
            for line in running.stderr or ():
                last = line.rstrip("\n")
                tell(last)
        except BaseException:
            running.send_signal(signal.SIGINT)
            raise
    _raise_for(running.returncode, last.removeprefix(_ERROR), program)
    return last


def _raise_for(status: int, message: str, program: Path) -> None:
    if status in (0, 1):
        return
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    if status == _OUT_OF_MEMORY:
        raise MemoryError(message)
    kinds = {_USAGE: UsageError, _BAD_INPUT: FileError}
    if status not in kinds:
        message = f"{program}: ended with status {status}: {message}"
    raise kinds.get(status, InternalError)(message)
