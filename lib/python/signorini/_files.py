"""Recordings, FCLib files and npz archives."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Union

import numpy as np

from . import _core
from ._arrays import vector
from ._errors import UsageError
from ._hdf5 import hdf5
from ._problem import Problem

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Solution:
    """Impulses and velocities that solve a problem."""

    r: np.ndarray  #: (3m,) impulses, N s
    u: Optional[np.ndarray] = None  #: (3m,) relative velocities, m/s
    v: Optional[np.ndarray] = None  #: (n,) velocities, m/s; None without M


class Frame(Problem):
    """A problem of a file: one step of a recording, or the single problem of another file."""

    path: str = ""  #: of the file
    step: str = ""  #: as the file has it, such as '001640'
    solution: Optional[Solution] = None  #: that stands beside a single problem

    @classmethod
    def _read(cls, core: _core.Problem, path: str, step: str, solution: Optional[Solution]) -> "Frame":
        frame = cls._of(core)
        assert isinstance(frame, Frame)
        frame.path, frame.step, frame.solution = path, step, solution
        return frame

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, step {self.step} of {os.path.basename(self.path)}>"


class File:
    """A file of contact problems, made by :func:`open`. A sequence of frames that are read when they are asked for.

    ::

        for frame in file: ...
        file[0], file[-1]            # by position
        file["1640"]                 # by step
        file[::10]                   # a file of every tenth step
    """

    def __init__(self, core: _core.File, path: str, steps: list[str]) -> None:
        self._core: Optional[_core.File] = core
        self.path = path
        self.steps = steps

    def _opened(self) -> _core.File:
        if self._core is None:
            raise UsageError(f"{self.path}: is closed; open it again")
        return self._core

    @property
    def kind(self) -> str:
        """'recording', 'fclib_local', 'fclib_global' or 'npz'."""
        return self._opened().kind()

    @property
    def title(self) -> str:
        """Scene of a recording, title of another file."""
        return self._opened().title()

    def read(self, step: str) -> Frame:
        """The frame of a step, which may be written without leading zeros."""
        core = self._opened()
        with hdf5():
            name = core.find(step)
            problem, stored = core.read(name), core.solution()
        return Frame._read(problem, self.path, name, None if stored is None else Solution(*stored))

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            return self.read(which)
        if isinstance(which, slice):
            return File(self._opened(), self.path, self.steps[which])
        return self.read(self.steps[which])

    def __iter__(self) -> Iterator[Frame]:
        for step in self.steps:
            yield self.read(step)

    def close(self) -> None:
        """Lets the file go. Frames that were read stay good."""
        self._core = None

    def __enter__(self) -> "File":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._core is None else self.kind
        return f"<File {os.path.basename(self.path)}: {state}, {len(self)} steps>"


def open(path: PathLike, *, matrix: str = "symmetric") -> File:
    """Opens a recording (.h5), an FCLib file (.hdf5) or an npz archive, whatever its name. The file is checked in a child process first.

    Args:
        matrix: what an M with entries on one side of the diagonal only means: 'symmetric' (all of it) or 'as-stored'.

    Raises:
        FileError: the file is missing, damaged or foreign.
    """
    with hdf5():
        core = _core.open_file(os.fspath(path), matrix)
    return File(core, os.fspath(path), core.steps())


def _solution_parts(solution: Any) -> Optional[tuple[Any, Any, Any]]:
    """r, u, v of a result, a solution, a tuple or an array."""
    if solution is None:
        return None
    if isinstance(solution, (tuple, list)):
        parts = list(solution) + [None, None]
        r, u, v = parts[:3]
    elif hasattr(solution, "r"):
        r, u, v = solution.r, getattr(solution, "u", None), getattr(solution, "v", None)
    else:
        r, u, v = solution, None, None
    if r is None:
        raise UsageError("solution: has no impulses r (a run that gave no answer?)")
    return tuple(None if part is None else vector(name, part) for name, part in (("r", r), ("u", u), ("v", v)))  # type: ignore[return-value]


def _write(path: PathLike, problem: Problem, solution: Any, texts: tuple[str, str, str], kind: str, replace: bool) -> None:
    with hdf5():
        _core.write_file(os.fspath(path), problem._core, _solution_parts(solution), texts, kind, replace)


def write_fclib(path: PathLike, problem: Problem, solution: Any = None, *, title: str = "", description: str = "", math_info: str = "",
                replace: bool = False) -> None:
    """Writes a problem as an FCLib file: /fclib_global where there is an M, otherwise /fclib_local. Read again it is the same to the last bit.

    Args:
        solution: a :class:`Result`, a :class:`Solution`, (r, u, v), or r alone; u and v that are missing are computed from r.
        replace: whether a file of that name is replaced.

    Raises:
        FileError: a file of that name exists, or the file cannot be written; then an old one stays as it was.
    """
    _write(path, problem, solution, (title, description, math_info), "fclib", replace)


def write_npz(path: PathLike, problem: Problem, solution: Any = None, *, title: str = "", description: str = "", math_info: str = "",
              replace: bool = False) -> None:
    """Writes a problem as numpy's archive in the layout of docs/npz.md; arguments as of :func:`write_fclib`."""
    _write(path, problem, solution, (title, description, math_info), "npz", replace)
