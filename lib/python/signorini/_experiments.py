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
            options: Optional[dict[str, dict[str, Any]]] = None, resume: bool = False, force: bool = False,
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
        resume: keep finished rows of the same program, files and solvers. force: make all again.
        progress: called as progress(done, total, what). Lines are logged by the logger 'signorini'.

    Returns:
        The rows, as :func:`read_runs` reads them; ``attrs`` also holds "folder", "resumed", "failed" and "unreadable". Failed runs are rows.

    Ctrl-C ends it; finished rows stay. A solver written in Python must not use h5py meanwhile.
    """
    settings = [f"{name}.{key}={option_text(value)}" for name, of in (options or {}).items() for key, value in of.items()]
    given = dict(files=_texts("files", files), solvers=_texts("solvers", solvers), settings=settings, regions=_texts("regions", regions),
                 threads=_texts("threads", threads), tolerance=number("tolerance", tolerance, 0.0, may_be_least=False),
                 max_iterations=number("max_iterations", max_iterations, 1, is_whole=True),
                 time_limit=number("time_limit", time_limit, 0.0, may_be_least=False),
                 repetitions=number("repetitions", repetitions, 1, is_whole=True), snapshots=number("snapshots", snapshots, 1, is_whole=True),
                 folder=os.fspath(out), resume=bool(resume), force=bool(force), command_line=["signorini.compare"] + _texts("files", files))
    listener = _Listener(progress)
    with hdf5():
        return _finish(_core.compare(given, listener), listener)


def run(experiment: PathLike, *, size: str = "quick", out: PathLike = "results/out", resume: bool = False, force: bool = False,
        progress: Optional[Progress] = None) -> "pandas.DataFrame":
    """Runs an experiment file (docs/experiments.md) on its ``files`` and ``problems``; its solvers may be ones written in Python.

    Results go to OUT/<id>. Scenes are recorded by the program alone: an experiment with scenes is run by ``signorini run``, or names
    finished recordings under ``files``. Arguments and what is returned are as of :func:`compare`.
    """
    given = dict(config=os.fspath(experiment), size=str(size), output=os.fspath(out), resume=bool(resume), force=bool(force),
                 command_line=["signorini.run", os.fspath(experiment)])
    listener = _Listener(progress)
    with hdf5():
        return _finish(_core.run(given, listener), listener)
