#!/usr/bin/python3
"""A solver written in Python among those of an experiment: the same snapshots, protocols, limits and referee, rows in the same table.

    PYTHONPATH=build/release/python /usr/bin/python3 lib/python/examples/solver_in_experiment.py [EXPERIMENT [OUT]]

EXPERIMENT is a name of `signorini list experiments`, a folder or a run.toml (default: lazarevych2010_fig1); OUT is continued where it has
results. The method: Jacobi's, on all contacts at once, weighted so that the energy falls.
"""

import logging
import sys
import tempfile

import numpy as np

import signorini


class Jacobi:
    """weighted Jacobi on u = W r + q, written in numpy"""

    def __init__(self, problem, omega):
        self.problem = problem
        size = abs(problem.W)
        # (3m,) 1/kg: of each contact the largest sum of a row, so that diag(step) - W is diagonally dominant
        step = np.repeat(np.asarray(size.sum(axis=1)).reshape(-1, 3).max(axis=1), 3)
        self.step = omega / np.maximum(step, 1e-300)  # kg

    def iterate(self, r):
        """The next impulses, (3m,) N s: a step against u, then the contact law of every contact by itself."""
        r = (r - self.step * (self.problem.W @ r + self.problem.q)).reshape(-1, 3)
        normal = np.maximum(r[:, 0], 0.0)
        length = np.maximum(np.linalg.norm(r[:, 1:], axis=1), 1e-300)
        inside = np.minimum(1.0, self.problem.mu * normal / length)
        return np.column_stack([normal, r[:, 1:] * inside[:, None]]).ravel()


def main(arguments):
    logging.basicConfig(level=logging.INFO, format="%(message)s")  # what the program says while it records and solves
    signorini.register_solver("jacobi", Jacobi, options={"omega": (1.0, "factor on the steps, below 2")})
    name = arguments[0] if arguments else "lazarevych2010_fig1"
    with tempfile.TemporaryDirectory() as temporary:
        runs = signorini.run(name, "jacobi", size="quick", out=arguments[1] if len(arguments) > 1 else temporary, resume=True)
    stopped = runs[runs.protocol == runs.protocol.iloc[-1]]
    stopped = stopped.assign(solved=stopped.status == "converged")
    told = stopped.groupby(["label", "region_mode"], sort=False).agg(snapshots=("solved", "size"), solved=("solved", "sum"), iterations=("iterations", "median"),
                                                                     residual=("residual", "median"))
    print(told.to_string(float_format="{:.3g}".format))
    own = runs[runs.solver == "jacobi"].iloc[0]
    print(f"\nrows name the code: {own.options.split(';')[-1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
