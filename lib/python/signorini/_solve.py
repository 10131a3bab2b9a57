"""One solve of one problem, and the referee."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Optional

import numpy as np

from . import _core
from ._arrays import vector
from ._errors import UsageError
from ._problem import Problem

_COUNTERS = ("mass_products", "direction_products", "contact_sweeps", "triangular_solves", "factorisations", "evaluations",
             "state_changes", "restarts", "guards", "relinearisations")


@dataclass(frozen=True)
class Residuals:
    """All errors of an answer, measured by the referee; NaN where there is none. U is the largest entry of q, m/s."""

    residual: float  #: Alart-Curnier error of the worst contact, relative to U: what ``tolerance`` limits
    natural_map: float  #: cone only: largest |r - P_K(r - rho u^)| / rho, relative to U
    siconos_error: float  #: cone only: as Siconos 4.x reports it
    fischer_burmeister: float  #: m/s
    penetration: float  #: m; needs dt
    cone_violation: float  #: friction beyond mu r_N, relative to the largest r_N
    dissipation_angle: float  #: degrees between -r_T and u_T of the worst sliding contact
    equation: float  #: of a given v: largest entry of inv(diag M) (M v - H r - f), relative to U
    fb_normal: float  #: m; needs dt
    fb_static: float  #: m; needs dt
    fb_kinetic: float  #: m; needs dt
    island_residual: float  #: as residual, each contact relative to the largest entry of q in its own island

    def as_dict(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """What a solver says of a run."""

    status: str  #: converged, iteration_limit, time_limit, stalled, diverged, unsupported or failed
    message: str  #: what is to be known of M and W; what auto used and why; why a run failed
    solver: str
    options: str  #: all of them, key=value;key=value; a solver written in Python ends with plugin=python:...
    law: str  #: cone or pyramid
    region_mode: str
    regions: int
    largest_region: int  #: contacts
    threads: int
    tolerance: float
    iterations: int  #: with regions: the most of any region
    phases: str  #: iterations by kind, such as 'cg=12 gs=30'
    products: int  #: with the whole of W or M
    setup_seconds: float  #: s
    solve_seconds: float  #: s, without the set-up
    counters: dict[str, int]  #: work by kind


@dataclass(frozen=True)
class Curve:
    """Convergence of a run, one entry per iteration (the first is the start). None where a solver does not tell."""

    iteration: np.ndarray
    seconds: np.ndarray  #: s of the solver's own work
    residual: np.ndarray  #: the referee's
    natural_map: np.ndarray  #: NaN for the pyramid
    active: np.ndarray  #: contacts with r_N > 0
    sliding: np.ndarray  #: contacts on the bound of friction
    plain: Optional[np.ndarray] = None  #: m/s, as the next two: residuals of the solver's own system
    preconditioned: Optional[np.ndarray] = None
    constraint: Optional[np.ndarray] = None
    state_changes: Optional[np.ndarray] = None  #: so far, as those that follow
    restarts: Optional[np.ndarray] = None
    relinearisations: Optional[np.ndarray] = None
    guards: Optional[np.ndarray] = None
    contact_sweeps: Optional[np.ndarray] = None

    def as_dict(self) -> dict[str, np.ndarray]:
        """The columns that there are, for ``pandas.DataFrame``."""
        return {name: column for name, column in vars(self).items() if column is not None}


@dataclass(frozen=True)
class Result:
    """An answer with what is known of it. r, u and v are None when a run gave no answer (unsupported, failed, not finite)."""

    r: Optional[np.ndarray]  #: (3m,) impulses, N s
    u: Optional[np.ndarray]  #: (3m,) relative velocities that r leaves, m/s
    v: Optional[np.ndarray]  #: (n,) velocities, m/s; None without M
    report: Report
    residuals: Residuals
    curve: Optional[Curve]  #: with ``trace=True``

    @property
    def converged(self) -> bool:
        """Whether the status is 'converged'."""
        return self.report.status == "converged"


def option_text(value: Any) -> str:
    """An option as the command line has it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def number(name: str, value: Any, least: float, is_whole: bool = False, may_be_least: bool = True) -> Any:
    """A number within its rule, or a UsageError that names it."""
    rule = f"{'a whole number' if is_whole else 'a number'} {'of at least' if may_be_least else 'above'} {least:g}"
    try:
        number = int(value) if is_whole else float(value)
        good = number == value and number >= least and (may_be_least or number > least) and (not is_whole or number < 2**31)
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise UsageError(f"{name}: {value!r} is not {rule}")
    return number


def _report(record: dict[str, Any]) -> Report:
    taken = {key: record[key] for key in ("status", "message", "solver", "options", "law", "region_mode", "regions", "largest_region",
                                          "threads", "tolerance", "iterations", "phases", "products", "setup_seconds", "solve_seconds")}
    return Report(counters={key: record[key] for key in _COUNTERS if key in record}, **taken)


def _check_problem(problem: Any) -> Problem:
    if not isinstance(problem, Problem):
        raise UsageError(f"problem: is a {type(problem).__name__}; give a signorini.Problem or a frame of signorini.open")
    return problem


def solve(problem: Problem, solver: str = "auto", *, tolerance: float = 1e-6, regions: str = "none", threads: int = 1,
          max_iterations: int = 10000, time_limit: Optional[float] = None, trace: bool = False, **options: Any) -> Result:
    """Solves a problem with one solver, which stops by its own test; the referee measures what it reached.

    Args:
        solver: a name of :func:`solvers`.
        tolerance: residual to stop at, relative, without unit.
        regions: 'none', 'points', 'islands', 'auto', 'points-approx' or 'points-inner': how the problem is split.
        threads: that solve regions side by side; the bits of the answer do not depend on their number.
        time_limit: s; None: no limit.
        trace: also run the same iterations again, observed, for ``curve``. The times of ``report`` are those of the first run.
        options: of the solver, such as ``law="pyramid"``, ``warm_start=True`` or ``omega=1.2``.

    The interpreter's lock is released; Ctrl-C ends the solve.

    Raises:
        UsageError: names, values and numbers that do not exist. Whatever happens in a solve is a status.
    """
    given = dict(tolerance=number("tolerance", tolerance, 0.0, may_be_least=False), regions=str(regions),
                 threads=number("threads", threads, 1, is_whole=True),
                 max_iterations=number("max_iterations", max_iterations, 1, is_whole=True),
                 time_limit=math.inf if time_limit is None else number("time_limit", time_limit, 0.0, may_be_least=False),
                 trace=bool(trace))
    out = _core.solve(_check_problem(problem)._core, str(solver), {key: option_text(value) for key, value in options.items()}, given)
    curve = None if out["curve"] is None else Curve(**out["curve"])
    return Result(r=out["r"], u=out["u"], v=out["v"], report=_report(json.loads(out["record"])), residuals=Residuals(**out["residuals"]),
                  curve=curve)


def referee(problem: Problem, r: Any, *, v: Any = None, law: str = "cone", frame: str = "fixed") -> Residuals:
    """All errors of impulses r (3m, N s), by the code that judges every answer in every table.

    Args:
        v: (n,) velocities that belong to them, m/s, for ``equation``.
        law: 'cone' or 'pyramid'.
        frame: tangents of the pyramid: 'fixed', 'aligned' or 'rotated'.
    """
    return Residuals(**_core.measure(_check_problem(problem)._core, vector("r", r), None if v is None else vector("v", v), law, frame))


def contact_errors(problem: Problem, r: Any, *, law: str = "cone", frame: str = "fixed") -> np.ndarray:
    """(m,) the part of every contact in ``Residuals.residual``, which is their maximum."""
    return _core.contact_errors(_check_problem(problem)._core, vector("r", r), law, frame)


def velocities(problem: Problem, r: Any) -> tuple[np.ndarray, Optional[np.ndarray]]:
    """(u, v) of impulses r: (3m,) relative velocities W r + q and (n,) velocities inv(M) (H r + f), m/s; v is None without M."""
    return _core.velocities(_check_problem(problem)._core, vector("r", r))
