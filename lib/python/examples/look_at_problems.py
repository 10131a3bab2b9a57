#!/usr/bin/python3
"""Contact problems as arrays: open a file, look at it, solve it in several ways, judge, write.

    PYTHONPATH=build/release/python /usr/bin/python3 lib/python/examples/look_at_problems.py [FILE]

FILE: a recording, an FCLib file or an npz archive; without one, a problem made here: five blocks on a slope.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

import signorini


def blocks_on_a_slope(blocks=5, mass=2.0, slope=0.3, dt=0.01):
    """Blocks of `mass` kg one behind the other on a slope of `slope` radians; the further down, the rougher. Those above push those below.

    A block has three degrees of freedom: down the slope, across, off the slope. It stands on one contact, and one more joins it to the next.
    """
    push = mass * 9.81 * dt  # N s: weight times a step
    f = np.tile([push * np.sin(slope), 0.0, -push * np.cos(slope)], blocks)
    down, across, off = np.eye(3)
    stand = np.column_stack([off, down, across])  # columns: normal, tangent 1, tangent 2
    join = np.column_stack([down, off, across])
    H = scipy.sparse.lil_matrix((3 * blocks, 3 * (2 * blocks - 1)))
    for k in range(blocks):
        H[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = stand
    for k in range(blocks - 1):
        columns = slice(3 * (blocks + k), 3 * (blocks + k) + 3)
        H[3 * k : 3 * k + 3, columns] = -join  # the upper block is pushed up the slope,
        H[3 * k + 3 : 3 * k + 6, columns] = join  # the lower one down
    friction = np.concatenate([np.linspace(0.1, 0.6, blocks), np.full(blocks - 1, 0.2)])
    return signorini.Problem(M=np.full(3 * blocks, mass), H=H, f=f, w=np.zeros(H.shape[1]), mu=friction, dt=dt)


def describe(problem):
    """Sizes and structure, from the views that scipy and numpy have of the library's arrays."""
    print(problem)
    if problem.has_mass:
        print(f"  M: {problem.M.nnz} entries, H: {problem.H.nnz}")
    W = problem.W  # assembled here where the file does not have it
    eigenvalues = np.linalg.eigvalsh(W.toarray()) if W.shape[0] <= 600 else np.array([np.nan])
    print(f"  W: {W.shape[0]} rows, {W.nnz} entries, eigenvalues {eigenvalues[0]:.2e} to {eigenvalues[-1]:.2e} 1/kg")
    sizes = np.bincount(problem.islands)
    print(f"  islands: {sizes.size}, of {sizes.min()} to {sizes.max()} contacts; regions of mass points: {problem.regions.max() + 1}")
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
