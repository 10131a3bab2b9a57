#!/usr/bin/python3
"""Contact problems as arrays: open a file, look at it, solve it in several ways, judge, write.

    PYTHONPATH=build/release/python /usr/bin/python3 lib/python/examples/look_at_problems.py [FILE]

FILE: a recording, an FCLib file or an npz archive; without one, a problem made here: five blocks in a row on a slope.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

import signorini


def blocks_on_a_slope(blocks=5, mass=2.0, slope=0.3, friction=0.5, dt=0.01):
    """Blocks of `mass` kg that slide in x, side by side on a slope of `slope` radians, each on two contacts."""
    weight = mass * 9.81 * dt * np.array([-np.cos(slope), np.sin(slope), 0.0])  # N s: normal, down the slope, across
    H = scipy.sparse.kron(scipy.sparse.identity(blocks), np.hstack([np.eye(3), np.eye(3)]))
    contacts = 2 * blocks
    return signorini.Problem(M=mass * scipy.sparse.identity(3 * blocks), H=H, f=np.tile(weight, blocks), w=np.zeros(3 * contacts),
                             mu=np.full(contacts, friction), dt=dt)


def describe(problem):
    """Sizes and structure, from the views that scipy and numpy have of the library's arrays."""
    print(problem)
    if problem.has_mass:
        print(f"  M: {problem.M.nnz} entries, H: {problem.H.nnz}")
    W = problem.W  # assembled here where the file does not have it
    eigenvalues = np.linalg.eigvalsh(W.toarray()) if W.shape[0] <= 600 else np.array([np.nan])
    print(f"  W: {W.shape[0]} rows, {W.nnz} entries, eigenvalues {eigenvalues[0]:.2e} to {eigenvalues[-1]:.2e} 1/kg")
    sizes = np.bincount(problem.islands)
    print(f"  {sizes.size} islands of {sizes.min()} to {sizes.max()} contacts; {problem.regions.max() + 1} regions of mass points")
    if problem.geometry.positions is not None:
        low, high = problem.geometry.positions.min(axis=0), problem.geometry.positions.max(axis=0)
        print(f"  contacts within {np.round(low, 3)} to {np.round(high, 3)} m")


def solve_in_several_ways(problem):
    """The same problem by four solvers; one referee judges all."""
    best = None
    for name in ("pgs", "nncg", "ica", "prox-newton"):
        result = signorini.solve(problem, name, tolerance=1e-8, regions="islands", trace=True)
        report = result.report
        print(f"  {name:12} {report.status:16} {report.iterations:6} iterations, residual {result.residuals.residual:.1e}")
        if result.curve is not None and len(result.curve.residual) > 1:
            print(f"  {'':12} residual {result.curve.residual[0]:.1e} at the start, {result.curve.residual[-1]:.1e} at the end")
        if result.converged and (best is None or result.residuals.residual < best.residuals.residual):
            best = result
    return best


def show_answer(problem, result):
    """Which contacts stick, slide and open."""
    r = result.r.reshape(-1, 3)
    pushes = r[:, 0] > 0
    slides = pushes & (np.linalg.norm(r[:, 1:], axis=1) >= problem.mu * r[:, 0] * (1 - 1e-9))
    print(f"  {np.sum(~pushes)} contacts open, {np.sum(pushes & ~slides)} stick, {np.sum(slides)} slide")
    print(f"  the referee once more: {signorini.referee(problem, result.r).residual:.1e}")


def main(arguments):
    if arguments:
        file = signorini.open(arguments[0])
        print(file)
        problem = file[-1]
    else:
        problem = blocks_on_a_slope()
    describe(problem)
    result = solve_in_several_ways(problem)
    if result is None:
        print("  none of them converged")
        return
    show_answer(problem, result)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.hdf5"
        signorini.write_fclib(path, problem, result, title="written by an example")
        again = signorini.open(path)[0]
        same = np.array_equal(again.solution.r, result.r) and np.array_equal(again.mu, problem.mu)
        print(f"  as an FCLib file: {path.stat().st_size} bytes, read again {'the same' if same else 'DIFFERENT'}")


if __name__ == "__main__":
    main(sys.argv[1:])
