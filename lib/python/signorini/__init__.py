"""Signorini in Python: contact problems, solvers, the referee (docs/python.md).

::

    import signorini

    for frame in signorini.open("rings.h5"):
        result = signorini.solve(frame, "cr-full", tolerance=1e-6, regions="islands")
        print(frame.step, result.report.status, result.residuals.residual)

Units are SI. n degrees of freedom, m contacts, three rows per contact in the order normal, tangent 1, tangent 2:

    M v = H r + f,   u = H.T v + w,   u = W r + q         M kg, W 1/kg, f and r N s, u v w q m/s
"""

from . import _core
from ._errors import Error, FileError, InternalError, ProblemError, Unsupported, UsageError
from ._experiments import compare, run
from ._files import File, Frame, Solution, open, write_fclib, write_npz
from ._problem import Geometry, Problem
from ._runs import read_runs
from ._solve import Curve, Report, Residuals, Result, contact_errors, referee, solve, velocities
from ._solver import Option, SolverInfo, SolverProblem, load_plugin, register_solver, solvers

__version__: str = _core.version

__all__ = ["Curve", "Error", "File", "FileError", "Frame", "Geometry", "InternalError", "Option", "Problem", "ProblemError", "Report",
           "Residuals", "Result", "Solution", "SolverInfo", "SolverProblem", "Unsupported", "UsageError", "compare", "contact_errors",
           "load_plugin", "open", "read_runs", "referee", "register_solver", "run", "solve", "solvers", "velocities", "write_fclib",
           "write_npz"]
