"""Contact problems: arrays in, arrays out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import scipy.sparse

from . import _core
from ._arrays import matrix, reals, whole
from ._errors import ProblemError

_MATRICES = ("M", "H", "W")
_REALS = ("f", "w", "q", "mu", "warm_start", "gap", "frame", "position", "weights", "v_minus", "start_bounds")
_WHOLE = ("points", "bodies", "features", "node_numbers", "body_dofs", "start_states")
_NUMBERS = ("dt", "time")


@dataclass(frozen=True)
class Geometry:
    """Where the m contacts are. Read-only views; None for what the file does not have."""

    positions: Optional[np.ndarray]  #: (m, 3) contact points, m
    frames: Optional[np.ndarray]  #: (m, 3, 3) rows are normal, tangent 1, tangent 2 in world axes
    gaps: Optional[np.ndarray]  #: (m,) signed gaps at the start of the step, m
    points: Optional[np.ndarray]  #: (m, 4) mass points, -1: none
    weights: Optional[np.ndarray]  #: (m, 4) signed barycentric weights
    bodies: Optional[np.ndarray]  #: (m, 2) body numbers, -1: an obstacle
    features: Optional[np.ndarray]  #: (m, 2) touching vertices, faces and edges by their numbers in the scene


def _shape_text(value: Any) -> str:
    try:
        return str(getattr(value, "shape", None) or np.shape(value) or "a number")
    except Exception:  # of an object's own conversion
        return f"a {type(value).__name__}"


def _convert(given: dict[str, Any]) -> dict[str, Any]:
    """The arrays of an npz archive. Errors name the array that they are about."""
    arrays: dict[str, Any] = {}
    for name, value in given.items():
        if name in _MATRICES:
            arrays.update(matrix(name, value, "problem"))
        elif name in _REALS:
            arrays[name] = reals(name, value, "problem")
        elif name in _WHOLE or name == "spacedim":
            arrays[name] = whole(name, value, "problem")
        elif name in _NUMBERS:
            arrays[name] = reals(name, value, "problem").reshape(-1)
        else:
            arrays[name] = str(value)
    return arrays


def _view_of(sparse: Optional[tuple[Any, ...]], kind: Any) -> Any:
    """A matrix of scipy's around views of the library."""
    if sparse is None:
        return None
    data, indices, indptr, shape = sparse
    view = kind((data, indices, indptr), shape=shape, copy=False)
    view.has_sorted_indices = True
    view.has_canonical_format = True
    return view


class Problem:
    """A frictional contact problem: n degrees of freedom, m contacts, three rows per contact in the order normal, tangent 1, tangent 2.

    ::

        M v = H r + f,   u = H.T v + w          (M, H, f, w, mu)
              u = W r + q                       (W, q, mu); W = H.T inv(M) H, q = H.T inv(M) f + w

    Give M, H, f, w or W, q or all of them, and always mu; as arrays of numpy or matrices of ``scipy.sparse`` (any form, also with unsorted
    or repeated entries, which add up). M may also be a vector: its diagonal.

    ==========  ===============  =========  =======================================================================
    argument    shape            unit       meaning
    ==========  ===============  =========  =======================================================================
    M           (n, n)           kg         positive definite; one triangle means all of it
    H           (n, 3m)          1          columns are contact directions
    f, w        (n,), (3m,)      N s, m/s   momentum of the free motion; velocities that contacts have of their own
    W, q        (3m, 3m), (3m,)  1/kg, m/s  the reduced problem
    mu          (m,)             1          coefficients of friction, not negative
    dt, time    numbers          s          time step, simulated time
    warm_start  (3m,)            N s        impulses that a solver may start from
    ==========  ===============  =========  =======================================================================

    ``spacedim=2``: two rows per contact (H is (n, 2m) and so on). The problem is then held as one in space that has the same solutions
    (docs/fclib.md): what is read from it has three rows per contact. Further keywords are the names of docs/npz.md: ``kind``, ``gap``,
    ``frame``, ``position``, ``points``, ``weights``, ``bodies``, ``features``, ``node_numbers``, ``body_dofs``, ``v_minus``,
    ``start_states``, ``start_bounds``.

    Everything is copied and checked once, as by the reader of npz archives; what is read back are read-only views.

    Raises:
        ProblemError: the message names the array, what it has and what it must have.
    """

    def __init__(self, *, M: Any = None, H: Any = None, f: Any = None, w: Any = None, W: Any = None, q: Any = None, mu: Any = None,
                 dt: Optional[float] = None, time: Optional[float] = None, kind: Optional[str] = None, warm_start: Any = None,
                 spacedim: int = 3, matrix: str = "symmetric", **more: Any) -> None:
        given = dict(M=M, H=H, f=f, w=w, W=W, q=q, mu=mu, dt=dt, time=time, kind=kind, warm_start=warm_start, **more)
        given = {name: value for name, value in given.items() if value is not None}
        for name in more:
            if name not in _REALS + _WHOLE:
                raise ProblemError(f"problem: there is no array '{name}'; docs/npz.md lists them")
        given["spacedim"] = spacedim
        try:
            self._core: _core.Problem = _core.problem_from(_convert(given), "problem", matrix)
        except ProblemError as error:
            shapes = ", ".join(f"{name} {_shape_text(value)}" for name, value in given.items() if name in _MATRICES + _REALS)
            raise ProblemError(f"{error} (given: {shapes or 'nothing'})") from None

    @classmethod
    def _of(cls, core: _core.Problem) -> "Problem":
        problem = cls.__new__(cls)
        problem._core = core
        return problem

    @functools.cached_property
    def _facts(self) -> dict[str, Any]:
        return self._core.facts()

    @property
    def contacts(self) -> int:
        """m, the number of contacts."""
        return int(self._facts["contacts"])

    @property
    def dofs(self) -> int:
        """n, the number of degrees of freedom; 0 of a problem that has W and q only."""
        return int(self._facts["dofs"])

    @property
    def spacedim(self) -> int:
        """3, or 2 for a problem in the plane."""
        return int(self._facts["spacedim"])

    @property
    def dt(self) -> float:
        """Time step, s; 0: unknown."""
        return float(self._facts["dt"])

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self._facts["time"])

    @property
    def kind(self) -> str:
        """How velocities were integrated: 'explicit' (M is block diagonal over the mass points), 'implicit' or 'unknown'."""
        return str(self._facts["kind"])

    @property
    def has_mass(self) -> bool:
        """Whether M, H, f and w are there."""
        return bool(self._facts["has_primal"])

    @property
    def has_delassus(self) -> bool:
        """Whether W and q were given, and need not be assembled."""
        return bool(self._facts["has_dual"])

    @functools.cached_property
    def M(self) -> Any:
        """(n, n) mass matrix as CSR, kg: a view. None without one."""
        return _view_of(self._core.sparse("M"), scipy.sparse.csr_matrix)

    @functools.cached_property
    def H(self) -> Any:
        """(n, 3m) contact directions as CSC: a view. None without M."""
        return _view_of(self._core.sparse("H"), scipy.sparse.csc_matrix)

    @functools.cached_property
    def _reduced(self) -> tuple[Any, np.ndarray]:
        sparse, q = self._core.reduced()
        q.flags.writeable = False
        return _view_of(sparse, scipy.sparse.bsr_matrix), q

    @functools.cached_property
    def W(self) -> Any:
        """(3m, 3m) Delassus operator, 1/kg. A view as CSR where it was given; otherwise assembled at the first use, which factors M, as
        BSR of 3x3 blocks."""
        return _view_of(self._core.sparse("W"), scipy.sparse.csr_matrix) if self.has_delassus else self._reduced[0]

    @property
    def q(self) -> np.ndarray:
        """(3m,) relative velocities without impulses, m/s: given, or assembled with W."""
        given = self._core.array("q")
        return self._reduced[1] if given is None else given

    @property
    def f(self) -> Optional[np.ndarray]:
        """(n,) momentum of the free motion, N s: a view. None without M."""
        return self._core.array("f")

    @property
    def w(self) -> Optional[np.ndarray]:
        """(3m,) velocities that contacts have of their own, m/s: a view. None without M."""
        return self._core.array("w")

    @property
    def mu(self) -> np.ndarray:
        """(m,) coefficients of friction: a view."""
        mu = self._core.array("mu")
        assert mu is not None
        return mu

    @property
    def warm_start(self) -> Optional[np.ndarray]:
        """(3m,) impulses of the step before, N s: a view, or None."""
        return self._core.array("warm_start")

    def array(self, name: str) -> Optional[np.ndarray]:
        """Any array of docs/npz.md by its name there, as a read-only view; None where the problem has none."""
        return self._core.array(name)

    @functools.cached_property
    def geometry(self) -> Geometry:
        """Positions, frames, gaps and partners of the contacts."""
        frames = self._core.array("frame")
        return Geometry(positions=self._core.array("position"), frames=None if frames is None else frames.reshape(-1, 3, 3),
                        gaps=self._core.array("gap"), points=self._core.array("points"), weights=self._core.array("weights"),
                        bodies=self._core.array("bodies"), features=self._core.array("features"))

    @functools.cached_property
    def regions(self) -> np.ndarray:
        """(m,) number of the detached region of every contact: contacts connected through shared mass points. Where M couples mass points
        W couples these regions too; ``islands`` are independent for every M."""
        return self.labels("points-approx")

    @functools.cached_property
    def islands(self) -> np.ndarray:
        """(m,) number of the island of every contact: contacts connected through bodies. W is block diagonal over them."""
        return self.labels("islands")

    def labels(self, mode: str = "points") -> np.ndarray:
        """(m,) number of the region of every contact by a region mode ('points', 'islands', 'points-approx', 'none'), by smallest contact.

        Raises:
            UsageError: 'points' where M couples mass points.
        """
        return self._core.labels(mode)

    def region(self, number: int, mode: str = "islands") -> "Problem":
        """The problem of one region alone: its contacts in their order, and the degrees of freedom that they need."""
        return Problem._of(self._core.region(mode, int(number)))

    def __repr__(self) -> str:
        parts = [name for name, there in (("M H f w", self.has_mass), ("W q", self.has_delassus)) if there]
        return f"<{type(self).__name__}: {self.contacts} contacts, {self.dofs} dofs, {' '.join(parts) or 'no equation'}>"
