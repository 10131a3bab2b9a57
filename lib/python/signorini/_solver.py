"""Solvers: which there are, and those written in Python."""

from __future__ import annotations

import inspect
import os
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np
import scipy.sparse

from . import _core
from ._errors import Unsupported, UsageError
from ._problem import _view_of
from ._solve import option_text


@dataclass(frozen=True)
class Option:
    """An option of a solver."""

    key: str
    type: str  #: 'true|false', 'integer', 'number', 'text', or the values that it may have, 'a|b'
    default: str  #: as the command line has it
    help: str


@dataclass(frozen=True)
class SolverInfo:
    """A solver of the registry."""

    name: str
    summary: str
    source: str  #: paper, section
    needs: str  #: 'mass' (M and H), 'delassus' (W and q, assembled where they are missing) or 'either'
    cone: bool  #: serves law='cone'
    pyramid: bool  #: serves law='pyramid'
    parallel: bool  #: uses threads inside one problem
    inner_regions: bool  #: serves regions='points-inner'
    phases: tuple[str, ...]  #: kinds of iterations that it tells apart
    options: tuple[Option, ...]
    is_python: bool  #: made by :func:`register_solver`


def solvers() -> list[SolverInfo]:
    """All solvers: those of the program, of loaded plugins, and of :func:`register_solver`."""
    def info(told: dict[str, Any]) -> SolverInfo:
        told["phases"] = tuple(told["phases"])
        told["options"] = tuple(Option(*row) for row in told["options"])
        return SolverInfo(**told)

    return [info(told) for told in _core.all_solvers()]


def load_plugin(path: Any) -> None:
    """Adds the solvers of a shared library (docs/adding-a-solver.md). It is code that runs with your rights: load what you trust."""
    _core.load_plugin(os.fspath(path))


@dataclass
class SolverProblem:
    """What a solver written in Python is told. All arrays are its own copies. Rows of a contact: normal, tangent 1, tangent 2."""

    law: str  #: 'cone': |r_T| <= mu r_N; 'pyramid': both components of r_T
    contacts: int  #: m
    dofs: int  #: n; 0 where M was not asked for
    mu: np.ndarray  #: (m,) coefficients of friction
    dt: float  #: s; 0: unknown
    W: Any = None  #: (3m, 3m) BSR, 1/kg; u = W r + q
    q: Optional[np.ndarray] = None  #: (3m,) m/s
    M: Any = None  #: (n, n) CSR, kg; M v = H r + f
    H: Any = None  #: (n, 3m) CSC
    f: Optional[np.ndarray] = None  #: (n,) N s
    w: Optional[np.ndarray] = None  #: (3m,) m/s
    warm_start: Optional[np.ndarray] = None  #: (3m,) N s
    tolerance: float = 0.0  #: error to reach, m/s; set when a solve begins
    velocity_scale: float = 1.0  #: U, m/s: residuals are errors divided by it; set when a solve begins
    start: Optional[np.ndarray] = None  #: (3m,) impulses to begin with, N s; set when a solve begins


def _told_problem(told: dict[str, Any]) -> SolverProblem:
    of = dict(told)
    transposed = of.pop("H_transposed")
    of["H"] = None
    if transposed is not None:
        data, indices, indptr, (rows, columns) = transposed
        of["H"] = _view_of((data, indices, indptr, (columns, rows)), scipy.sparse.csc_matrix)
    return SolverProblem(**{**of, "W": _view_of(of["W"], scipy.sparse.bsr_matrix), "M": _view_of(of["M"], scipy.sparse.csr_matrix)})


def _checked(answer: Any, size: int) -> np.ndarray:
    r = np.asarray(answer)
    if r.shape != (size,) or r.dtype.kind not in "fiu":
        raise ValueError(f"r has shape {r.shape} and dtype {r.dtype}; it must be ({size},) real numbers, 3 for every contact")
    return np.ascontiguousarray(r, dtype=np.float64)


class _Function:
    """A function that answers at once, as a solver of one iteration."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function, self._options = function, options

    def prepare(self, told: dict[str, Any]) -> None:
        self._problem = _told_problem(told)

    def start(self, r: np.ndarray, tolerance: float, velocity_scale: float) -> None:
        self._problem.start, self._problem.tolerance, self._problem.velocity_scale = r.copy(), tolerance, velocity_scale
        self._answer: Optional[np.ndarray] = None

    def iterate(self, r: np.ndarray) -> tuple[np.ndarray, int, int, bool, float]:
        if self._answer is None:
            self._answer = _checked(self._function(self._problem, **self._options), r.size)
        return self._answer, 0, 0, True, float("nan")


class _Object:
    """A class with ``iterate``."""

    def __init__(self, kind: Callable[..., Any], options: dict[str, Any]) -> None:
        self._kind, self._options = kind, options

    def prepare(self, told: dict[str, Any]) -> None:
        self._problem = _told_problem(told)
        self._solver = self._kind(self._problem, **self._options)

    def start(self, r: np.ndarray, tolerance: float, velocity_scale: float) -> None:
        self._problem.start, self._problem.tolerance, self._problem.velocity_scale = r.copy(), tolerance, velocity_scale
        if hasattr(self._solver, "start"):
            answer = self._solver.start(r)
            if answer is not None:
                r[:] = _checked(answer, r.size)

    def iterate(self, r: np.ndarray) -> tuple[np.ndarray, int, int, bool, float]:
        answer, estimate = self._solver.iterate(r), float("nan")
        if isinstance(answer, tuple):
            if len(answer) != 2:
                raise ValueError(f"iterate returned {len(answer)} values; return r, or (r, estimate of the error in m/s)")
            answer, estimate = answer
            estimate = float("nan") if estimate is None else float(estimate)
        return (r if answer is None else _checked(answer, r.size)), 1, 0, False, estimate


def describe_error(error: BaseException, trace: Any) -> str:
    """One line of an exception, with the place where it was raised: at most 250 bytes, the length of messages across the boundary."""
    if isinstance(error, Unsupported):
        text = str(error) or "cannot take this problem"
    else:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        frames = traceback.extract_tb(trace)
        if frames:
            text = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}: {text}"
    return " ".join(text.split()).encode("utf-8", "replace")[:250].decode("utf-8", "ignore")


def _library(callback: Callable[..., Any]) -> str:
    """'python:file.py:digest' of the file that holds the code, or of the code itself: rows of other code are other rows."""
    name, code = getattr(callback, "__qualname__", type(callback).__name__), b""
    try:
        file = inspect.getsourcefile(callback)
        if file and os.path.isfile(file):
            name = os.path.basename(file)
            with open(file, "rb") as stream:
                code = stream.read()
        else:
            code = inspect.getsource(callback).encode()
    except (TypeError, OSError):
        pass
    if not code:
        compiled = getattr(callback, "__code__", None)
        code = repr(callback).encode() if compiled is None else compiled.co_code + repr(compiled.co_consts).encode()
    name = "".join("_" if c in ';=,"' or c <= " " else c for c in name)
    return f"python:{name}:{_core.digest(code)}"


def _option(key: str, told: Any) -> tuple[str, str, str, str, str]:
    """(key, type, default, help, choices) of ``default``, ``(default, help)`` or ``(default, help, "a|b")``."""
    default, help, choices = (tuple(told) + ("", ""))[:3] if isinstance(told, tuple) else (told, "", "")
    kinds = {bool: "flag", int: "integer", float: "number", str: "text"}
    if type(default) not in kinds:
        raise UsageError(f"option '{key}': its default is a {type(default).__name__}; give a bool, int, float or str")
    return key, kinds[type(default)], option_text(default), help or "an option of this solver", choices


def register_solver(name: str, callback: Callable[..., Any], *, law: str = "cone", needs: str = "delassus",
                    options: Optional[dict[str, Any]] = None, summary: str = "", source: str = "Python", estimates: str = "present") -> None:
    """Adds a solver written in Python. :func:`solve`, :func:`compare` and :func:`run` then take it by name as all others: with regions and
    threads, stopping rule, traces, referee.

    ``callback`` is a function or a class::

        def mine(problem, **options):             # answers at once
            return r

        class Mine:                               # goes step by step
            def __init__(self, problem, **options): ...        # the set-up, timed apart
            def start(self, r): ...                            # optional: a solve begins from r, which may be changed
            def iterate(self, r):                              # one iteration: the next r
                return r, estimate                             # or r alone; estimate: of its error, m/s

    ``problem`` is a :class:`SolverProblem`. r is (3m,), N s. With regions every region has an object of its own. A solver of the second
    form is stopped by the measured error: where there is no estimate, it is measured in every iteration.

    What the callback raises becomes the status of the run: :class:`Unsupported` from ``__init__`` 'unsupported', all else 'failed' with the
    message. Rows name the code: the column ``options`` of runs.csv ends with ``plugin=python:FILE:DIGEST``, and times are those of Python.

    Args:
        name: small letters, digits and hyphens. A name that was registered before is replaced.
        law: 'cone', 'pyramid' or 'both': the laws that it serves.
        needs: 'delassus' (W and q), 'mass' (M, H, f, w) or 'both': what it is told; problems without M are unsupported with the last two.
        options: by key: a default (bool, int, float or str), or (default, help), or (default, help, "first|second").
        estimates: whether an estimate is of the r that is returned, 'present', or of the one before, 'last'.

    Raises:
        UsageError: names and values that make no sense, and while anything is solved.
    """
    if not callable(callback):
        raise UsageError(f"solver '{name}': its callback is a {type(callback).__name__}; give a function or a class")
    if law not in ("cone", "pyramid", "both"):
        raise UsageError(f"solver '{name}': law: unknown value '{law}' (known: cone, pyramid, both)")
    if estimates not in ("present", "last"):
        raise UsageError(f"solver '{name}': estimates: unknown value '{estimates}' (known: present, last)")
    kind: Any = _Object if inspect.isclass(callback) else _Function
    if kind is _Object and not callable(getattr(callback, "iterate", None)):
        raise UsageError(f"solver '{name}': the class {getattr(callback, '__name__', '')} has no method 'iterate'")
    first_line = (inspect.getdoc(callback) or "").split("\n")[0]
    told = dict(name=str(name), summary=summary or first_line or "a solver written in Python", source=source, library=_library(callback),
                needs=needs, tells=estimates, cone=law != "pyramid", pyramid=law != "cone",
                options=[_option(key, value) for key, value in (options or {}).items()])
    _core.register_solver(told, lambda values: kind(callback, values))
