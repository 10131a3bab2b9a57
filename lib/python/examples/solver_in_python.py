#!/usr/bin/python3
"""A solver written in Python, compared with those of the program on the same problems, by the same referee.

    PYTHONPATH=build/release/python /usr/bin/python3 lib/python/examples/solver_in_python.py [FILE...]

The method: projected gradients on the impulses, r <- P(r - s D u), u = W r + q, with Nesterov's momentum and a restart where the direction
turns. D holds the inverse diagonal of W, s makes the step stable.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import signorini


class Gradients:
    """projected gradients with momentum, written in numpy"""

    def __init__(self, problem, momentum):
        self.problem, self.momentum = problem, momentum
        W = problem.W
        diagonal = np.maximum(W.diagonal().reshape(-1, 3), 1e-300)
        # the tangents share the larger step bound, so that the disc stays a disc
        diagonal[:, 1:] = diagonal[:, 1:].max(axis=1, keepdims=True)
        self.D = 1.0 / diagonal
        scaled = abs(W) @ np.sqrt(self.D).ravel()
        self.s = 1.0 / np.max(scaled * np.sqrt(self.D).ravel())  # at most the inverse of the largest eigenvalue of D W
        self.mu = problem.mu

    def start(self, r):
        self.before, self.t = r.copy(), 1.0

    def project(self, r):
        """Impulses that push, with friction inside the disc of radius mu r_N."""
        r = r.reshape(-1, 3)
        normal = np.maximum(r[:, 0], 0.0)
        length = np.linalg.norm(r[:, 1:], axis=1)
        factor = np.minimum(1.0, self.mu * normal / np.maximum(length, 1e-300))
        return np.column_stack([normal, r[:, 1:] * factor[:, None]]).ravel()

    def iterate(self, r):
        t = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.t**2))
        ahead = r + ((self.t - 1.0) / t) * (r - self.before) if self.momentum else r
        u = self.problem.W @ ahead + self.problem.q
        new = self.project(ahead - self.s * self.D.ravel() * u)
        if (ahead - new) @ (new - r) > 0.0:
            t = 1.0
        self.before, self.t = r, t
        return new  # without an estimate the program measures the error itself, after every iteration


def quadratic(problem):
    """no friction at all: what frictionless contact alone gives, as a bound to compare with; one iteration"""
    W, q = problem.W.toarray(), problem.q
    r = np.zeros_like(q)
    for _ in range(200):
        for k in range(0, q.size, 3):
            if W[k, k] > 0.0:
                r[k] = max(0.0, r[k] - (W[k] @ r + q[k]) / W[k, k])
    return r


def main(arguments):
    files = arguments or sorted(str(p) for p in (Path(__file__).resolve().parents[3] / "configs/problems/reference").glob("net*.hdf5"))
    signorini.register_solver("gradients", Gradients, options={"momentum": (True, "Nesterov's momentum")})
    signorini.register_solver("frictionless", quadratic)
    with tempfile.TemporaryDirectory() as folder:
        runs = signorini.compare(files, ["gradients", "frictionless", "pgs", "apgd", "nncg"], out=Path(folder) / "runs", tolerance=1e-4,
                                 max_iterations=2000, repetitions=1, time_limit=2.0)
    runs = runs[runs.protocol == "self-stopped"]
    table = runs.pivot_table(index="label", columns="file", values="residual")
    print("residual by the referee")
    print(table.to_string(float_format="{:.1e}".format))
    print("\niterations")
    print(runs.pivot_table(index="label", columns="file", values="iterations").to_string(float_format="{:.0f}".format))
    own = runs[runs.solver == "gradients"].iloc[0]
    print(f"\nrows name the code: {own.options.split(';')[-1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
