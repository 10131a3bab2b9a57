"""Many problems, many solvers: comparisons and experiments, with rows on disk."""

from __future__ import annotations

import logging
import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Union

from . import _core
from ._errors import UsageError
from ._files import PathLike
from ._hdf5 import hdf5
from ._program import home, run_program
from ._runs import read_runs
from ._solve import number, option_text

if TYPE_CHECKING:
    import pandas

_LOG = logging.getLogger("signorini")
Progress = Callable[[int, int, str], None]


class _Listener:
    """Lines go to the logger 'signorini', progress to a function (done, total, what)."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self._progress = progress
        self.left_out: list[str] = []

    def __call__(self, event: str, text: str, done: int, total: int) -> None:
        if event == "message":
            _LOG.info("%s", text)
            if text.strip().startswith("left out:"):
                self.left_out.append(text.strip())
        elif event == "progress" and self._progress is not None:
            self._progress(done, total, text)


def _texts(name: str, value: Any) -> list[str]:
    """One or several names, numbers or paths as texts."""
    entries = [value] if isinstance(value, (str, int)) or hasattr(value, "__fspath__") else list(value)
    if not entries:
        raise UsageError(f"{name}: is empty; name one at least")
    return [os.fspath(entry) if hasattr(entry, "__fspath__") else str(entry) for entry in entries]


def _settings(options: Optional[dict[str, dict[str, Any]]]) -> list[str]:
    """SOLVER.option=value for each."""
    return [f"{name}.{key}={option_text(value)}" for name, of in (options or {}).items() for key, value in of.items()]


def _finish(out: dict[str, Any], listener: _Listener) -> "pandas.DataFrame":
    if out["unreadable"]:
        warnings.warn(f"{out['unreadable']} files or snapshots could not be read and are left out: {'; '.join(listener.left_out)}",
                      RuntimeWarning, stacklevel=3)
    rows = read_runs(os.path.join(out["folder"], "runs.csv"))
    rows.attrs.update({key: out[key] if key != "folder" else str(out[key]) for key in ("folder", "resumed", "failed", "unreadable")})
    return rows


def compare(files: Union[PathLike, Iterable[PathLike]], solvers: Union[str, Iterable[str]] = ("all", "-reference"), *, out: PathLike,
            tolerance: float = 1e-6, regions: Union[str, Iterable[str]] = "none", threads: Union[int, Iterable[int]] = 1,
            snapshots: int = 10, repetitions: int = 3, max_iterations: int = 10000, time_limit: float = 5.0,
            options: Optional[dict[str, dict[str, Any]]] = None, curves: bool = True, resume: bool = False, force: bool = False,
            progress: Optional[Progress] = None) -> "pandas.DataFrame":
    """Every solver on every file, as ``signorini compare``: once traced, several times timed, judged by the referee.

    Args:
        files: recordings, FCLib files, npz archives.
        solvers: names, patterns ('cr-*'), 'all', and exceptions ('-reference').
        out: folder for runs.csv, trace.h5, env.json and run.toml: a new one, or with ``resume`` or ``force`` one with results.
            ``scripts/report --runs OUT/runs.csv --output OUT`` makes figures and a page of it.
        snapshots: of a file at most, evenly spread.
        time_limit: s for a solve; a traced run may take ten times that.
        options: of solvers, by name: ``{"pgs": {"law": "pyramid"}}``.
        curves: False: nothing traced, only runs that stop by themselves (protocol "self-stopped"): many times faster with large bodies.
        resume: keep finished rows of the same program, files and solvers. force: make all again.
        progress: called as progress(done, total, what). Lines are logged by the logger 'signorini'.

    Returns:
        The rows, as :func:`read_runs` reads them; ``attrs`` also holds "folder", "resumed", "failed" and "unreadable". Failed runs are rows.

    Ctrl-C ends it; finished rows stay. A solver written in Python must not use h5py meanwhile.
    """
    settings = _settings(options)
    given = dict(files=_texts("files", files), solvers=_texts("solvers", solvers), settings=settings, regions=_texts("regions", regions),
                 threads=_texts("threads", threads), tolerance=number("tolerance", tolerance, 0.0, may_be_least=False),
                 max_iterations=number("max_iterations", max_iterations, 1, is_whole=True),
                 time_limit=number("time_limit", time_limit, 0.0, may_be_least=False),
                 repetitions=number("repetitions", repetitions, 1, is_whole=True), snapshots=number("snapshots", snapshots, 1, is_whole=True),
                 folder=os.fspath(out), curves=bool(curves), resume=bool(resume), force=bool(force),
                 command_line=["signorini.compare"] + _texts("files", files))
    listener = _Listener(progress)
    with hdf5():
        return _finish(_core.compare(given, listener), listener)


def run(experiment: PathLike, solvers: Union[str, Iterable[str]] = (), *, size: str = "quick", out: PathLike = "results/out",
        options: Optional[dict[str, dict[str, Any]]] = None, resume: bool = False, force: bool = False,
        progress: Optional[Progress] = None) -> "pandas.DataFrame":
    """Runs an experiment (docs/experiments.md), and further solvers, such as ones written in Python, beside those that it has.

    ::

        signorini.register_solver("mine", Mine)
        runs = signorini.run("lazarevych2010_fig1", "mine", size="quick")

    Scenes are recorded by the program that was built or installed with the package (or SIGNORINI_PROGRAM), which then also makes the rows
    of the experiment's own solvers, as ``signorini run`` does. All others are made here: protocols, limits, snapshots and referee are those of
    the experiment.

    Args:
        experiment: its name ('lazarevych2010_fig1'), its folder, or its file run.toml. Names are looked up in the folder ``configs`` of the
            program, or in SIGNORINI_CONFIGS.
        solvers: beside those of the experiment: names and patterns, as of :func:`compare`.
        size: 'quick', 'medium' or 'paper'.
        out: results go to OUT/<id>, recordings to OUT/recordings.
        options: of ``solvers``, by name: ``{"mine": {"omega": 0.5}}``. Without any, a solver has its defaults, its friction law too.
        resume: keep finished rows of the same program, experiment and inputs, ``signorini run``'s too; rows of changed Python code are made
            again. force: make all again.
        progress: called as progress(done, total, what) for runs made here. Lines, those of the program too, go to the logger 'signorini'.

    Returns:
        The rows, as of :func:`compare`. A run that fails, by an exception of a callback too, is a row with status 'failed' and a message.

    Raises:
        UsageError: names and options that do not exist; results that are there already, without ``resume`` or ``force``.
        FileError: files that cannot be read or written.

    ``scripts/report --runs OUT/<id>/runs.csv --output FOLDER`` makes figures and a page of the rows, ``scripts/report --out OUT`` the experiment's own.
    """
    name, extra = os.fspath(experiment), [] if isinstance(solvers, (list, tuple)) and not solvers else _texts("solvers", solvers)
    settings = _settings(options)
    if settings and not extra:
        raise UsageError("options: are of solvers beside the experiment's own, and 'solvers' names none; those of the experiment are in its file")
    listener, place, before = _Listener(progress), home(), None
    found = _core.look_up(name, place, str(size))
    if found["is_recorded"]:
        policy = ["--force"] if force else ["--resume"] if resume else []
        told = run_program(["run", os.path.abspath(found["config"]), "--size", str(size), "--out", os.fspath(out), *policy],
                           lambda line: listener("message", line, 0, 0))
        before, resume, force = told["experiments"][0], True, False
    given = dict(config=os.fspath(found["config"]), size=str(size), output=os.fspath(out), resume=bool(resume), force=bool(force), solvers=extra,
                 settings=settings, home=place, after_program=found["is_recorded"], command_line=["signorini.run", name, *extra])
    with hdf5():
        done = _core.run(given, listener)
    if before is not None:  # of both parts of the work
        done["resumed"] = min(done["resumed"], before["resumed"])
        done["failed"] += before["failed"]
    return _finish(done, listener)
