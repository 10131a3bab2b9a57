"""No answer is better than the program says: problems derived from one another, every solver, every way to split a problem, judged by a referee in
numpy alone (derived_problems.py).

A sample runs with every test run. HONEST_ANSWERS=FROM:TO takes the problems with these numbers instead; `honest_answers.slow` takes 500.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import derived_problems as problems  # noqa: E402

PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
TOLERANCE = 1e-6
MODES = ("none", "points", "islands", "auto")


def numbers():
    asked = os.environ.get("HONEST_ANSWERS", "0:14")
    first, last = map(int, asked.split(":"))
    return range(first, last)


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class HonestAnswers(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = Path(self.held.name)

    def solve(self, path, *words, tolerance=TOLERANCE):
        done = subprocess.run([PROGRAM, "--json", "solve", str(path), "--tolerance", str(tolerance), "--max-iterations", "3000", "--time-limit", "0.5",
                               *map(str, words)], capture_output=True, text=True, timeout=600)
        self.assertIn(done.returncode, (0, 1), f"{path} {words}: {done.stderr}")
        return json.loads(done.stdout)

    def answer(self, path, solver, mode):
        """The row of a run and the impulses that it gave."""
        out = path.with_name(f"{path.stem}-{solver}-{mode}.npz")
        row, = self.solve(path, "--solver", solver, "--regions", mode, "--solution", out)
        if not out.exists():
            return row, None
        with np.load(out) as arrays:
            r = arrays["r"]
        out.unlink()
        return row, r

    def check(self, number):
        """What is wrong with the answers to a problem, and how many were judged."""
        kind, problem, base, back = problems.derived(number)
        path = self.folder / f"{number:03d}_{kind}.npz"
        np.savez(path, **problem)
        parts = problems.parts(problem)
        wrong, judged = [], 0
        for row in self.solve(path, "--solver", "all", "--regions", ",".join(MODES)):
            name = f"{path.stem} {row['solver']} {row['region_mode']}: "
            if row["status"] in ("unsupported", "failed"):
                continue
            if row["region_mode"] in ("points", "islands") and row["regions"] < len(parts):  # auto joins small ones
                wrong.append(name + f"{row['regions']} regions, the problem has {len(parts)} parts")
            if row["status"] != "converged" or (row["region_mode"] != "none" and row["regions"] == 1):
                continue  # one region: the same solve as without regions
            again, r = self.answer(path, row["solver"], row["region_mode"])
            judged += 1
            if again["status"] != "converged":
                continue  # a limit of time
            if r is None:
                wrong.append(name + "converged without an answer")
                continue
            wrong += [name + text for text in self.judge(problem, again, r)]
            if base is not None:
                # the residual is relative to the largest component of q, which turned tangents change
                relative = problems.scale(problem) / problems.scale(base) if kind == "turned" else 1.0
                wrong += [name + "mapped back: " + text for text in self.judge(base, again, back(r), relative)]
        return wrong, judged

    @staticmethod
    def judge(problem, row, r, relative=1.0):
        error = problems.residual(problem, r, row["law"])
        # the program's u and ours may differ by rounding; 1 % is far more than what separates two orders of summation
        allowed = 1.01 * TOLERANCE * relative + problems.rounding(problem, r)
        if not error <= allowed:
            yield f"says converged with {row['residual']}, has {error:.3e} (allowed {allowed:.2e})"

    def test_converged_means_converged(self):
        with ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(self.check, numbers()))
        judged = sum(count for _, count in results)
        print(f"{len(results)} problems, {judged} answers judged", file=sys.stderr)
        self.assertEqual([line for lines, _ in results for line in lines], [])
        if len(results) > 9:
            self.assertGreater(judged, 10 * len(results))  # of about 26 solvers: the test judges something

    def test_a_slow_island_beside_a_fast_one_is_told(self):
        """A small problem whose speeds are 1e-5 of those beside it: to 1e-3 of the whole it is not solved at all."""
        seen = 0
        for seed in range(5):
            rng = np.random.default_rng([31, seed])
            slow = problems.rescaled(problems.particles(rng), speed=1e-5)
            problem = problems.union([problems.particles(rng), slow])
            path = self.folder / f"slow{seed}.npz"
            np.savez(path, **problem)
            row, = self.solve(path, "--solver", "pgs", "--solution", path.with_suffix(".r.npz"), tolerance=1e-3)
            with np.load(path.with_suffix(".r.npz")) as arrays:
                r = arrays["r"]
            expected = problems.island_residual(problem, r, row["law"])
            # two ways to compute u differ by `rounding` of the whole, here relative to speeds of 1e-5
            self.assertAlmostEqual(row["island_residual"], expected, delta=1e5 * problems.rounding(problem, r))
            seen += row["residual"] <= 1e-3 < row["island_residual"]
        self.assertGreater(seen, 0)

    def test_friction_beyond_products_is_refused(self):
        _, problem, _, _ = problems.derived(0)
        path = self.folder / "huge.npz"
        np.savez(path, **{**problem, "mu": np.full(len(problem["mu"]), 1e201)})
        done = subprocess.run([PROGRAM, "solve", str(path)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("mu[0] = 1e+201 is above 1e+200", done.stderr)

    def test_the_referee_knows_right_from_wrong(self):
        """A block on a slope of tan 0.2: it sticks with μ = 0.5 and slides with μ = 0.1."""
        frame = np.eye(3)
        for mu, r, good in ((0.5, [9.8, -1.9, 0.0], True), (0.5, [9.8, -1.8, 0.0], False), (0.1, [9.8, -0.98, 0.0], True), (0.1, [9.8, -1.9, 0.0], False),
                            (0.5, [-1.0, 0.0, 0.0], False)):
            problem = {"M": frame, "H": frame, "f": np.array([-9.8, 1.9, 0.0]), "w": np.zeros(3), "mu": np.array([mu])}
            self.assertEqual(problems.residual(problem, np.array(r)) < 1e-12, good, (mu, r))


if __name__ == "__main__":
    unittest.main()
