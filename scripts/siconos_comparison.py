"""Siconos' NSGS and one of our solvers on the same problems; called by scripts/compare_siconos, which says how.

Both codes solve from r = 0 on one thread. An answer counts when it passes the gate:

    residual   our Alart-Curnier residual <= tolerance
    both       also Siconos' own error (fc3d_compute_error) <= tolerance

Each code is given the largest tolerance of a fixed ladder with which its answer passes; finding it is not timed. Times are
of the pure solve: fc3d_driver for Siconos (its problem in its own fastest storage, sparse 3x3 blocks, built before), the
column solve_seconds for ours (setup_seconds stands beside it). Rounds alternate between the codes. Siconos runs with full
error evaluation and every local solver of `LOCAL_SOLVERS`; the fastest that passes the gate is the one compared with.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import siconos.numerics as sn

from signorini_problems.delassus import read_matrix
from signorini_problems.siconos_library import Silence, native
from signorini_problems.snapshots import ProblemError, program

LOCAL_SOLVERS = {
    "nsn": sn.SICONOS_FRICTION_3D_ONECONTACT_NSN,
    "nsn-gp": sn.SICONOS_FRICTION_3D_ONECONTACT_NSN_GP,
    "nsn-gp-hybrid": sn.SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID,
    "quartic": sn.SICONOS_FRICTION_3D_ONECONTACT_QUARTIC,
    "projection": sn.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration,
}
LADDER = [1.0, 0.8, 0.65, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.01]
MAX_ITERATIONS = 20000
GATES = ("residual", "both")
COLUMNS = ["file", "contacts", "gate", "code", "local_solver", "given_tolerance", "iterations", "solve_ms_min",
           "solve_ms_median", "setup_ms_median", "residual", "siconos_error", "speedup_min", "speedup_median", "speedup_with_setup"]


class Problem:
    """One local FCLib file: u = W r + q, contacts ordered N, T1, T2."""

    def __init__(self, path):
        self.path = Path(path)
        with h5py.File(path, "r") as file:
            if "fclib_local" not in file:
                sys.exit(f"error: {path}: no /fclib_local in it; only local problems can be compared")
            group = file["fclib_local"]
            if int(group["spacedim"][0]) != 3:
                sys.exit(f"error: {path}: not a 3D problem")
            W = read_matrix(group["W"]).tocsr()
            self.q = group["vectors/q"][:]
            self.mu = group["vectors/mu"][:]
        W.sum_duplicates()
        W.sort_indices()
        self.W = W
        self.blocks = W.tobsr((3, 3))
        self.blocks.sort_indices()
        self.contacts = len(self.mu)
        self.diagonal = np.zeros((self.contacts, 3, 3))
        for k in range(self.contacts):
            for b in range(self.blocks.indptr[k], self.blocks.indptr[k + 1]):
                if self.blocks.indices[b] == k:
                    self.diagonal[k] = self.blocks.data[b]

    def residual(self, r):
        """The Alart-Curnier residual of lib/contact/residuals.h for the cone, written again with NumPy."""
        u = (self.W @ r + self.q).reshape(-1, 3)
        r = r.reshape(-1, 3)
        tangential = self.diagonal[:, 1:, 1:]
        rho_n = 1.0 / self.diagonal[:, 0, 0]
        rho_t = 1.0 / np.linalg.eigvalsh((tangential + tangential.transpose(0, 2, 1)) / 2)[:, -1]
        p_n = np.maximum(0.0, r[:, 0] - rho_n * u[:, 0])
        e_n = (r[:, 0] - p_n) / rho_n
        t = r[:, 1:] - rho_t[:, None] * u[:, 1:]
        length = np.linalg.norm(t, axis=1)
        bound = self.mu * p_n
        factor = np.where(length > bound, bound / np.maximum(length, 1e-300), 1.0)
        e_t = (r[:, 1:] - t * factor[:, None]) / rho_t[:, None]
        return float(np.sqrt(e_n**2 + (e_t**2).sum(axis=1)).max() / np.abs(self.q).max())


class Siconos:
    def __init__(self, problem):
        self.problem = problem
        self.native = native(problem.W, problem.q, problem.mu)

    def error(self, r):
        options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
        u = np.zeros_like(r)
        with Silence():
            _, error = sn.fc3d_compute_error(self.native, r.copy(), u, 1e-16, options, np.linalg.norm(self.problem.q))
        return float(error)

    def solve(self, local, tolerance):
        options = sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
        options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = MAX_ITERATIONS
        options.iparam[sn.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = sn.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL
        sn.solver_options_update_internal(options, 0, LOCAL_SOLVERS[local])
        r, u = np.zeros(3 * self.problem.contacts), np.zeros(3 * self.problem.contacts)
        with Silence():
            start = time.perf_counter()
            info = sn.fc3d_driver(self.native, r, u, options)
            seconds = time.perf_counter() - start
        return info, int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]), seconds, r


class Ours:
    def __init__(self, program, solver, options, problem, folder):
        self.command = [str(program), "solve", str(problem.path), "--solver", solver, "--regions", "none", "--threads", "1",
                        "--max-iterations", str(MAX_ITERATIONS), "--set", f"{solver}.law=cone"]
        for option in options:
            self.command += ["--set", f"{solver}.{option}"]
        self.problem = problem
        self.csv = folder / "ours.csv"
        self.solution = folder / "ours.hdf5"

    def solve(self, tolerance, repetitions):
        """Rows of runs.csv and r."""
        for file in (self.csv, self.solution):
            file.unlink(missing_ok=True)
        command = self.command + ["--tolerance", repr(tolerance), "--repetitions", str(repetitions), "--csv", str(self.csv),
                                  "--solution", str(self.solution), "--force"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"error: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
        with open(self.csv, newline="") as file:
            rows = list(csv.DictReader(file))
        with h5py.File(self.solution, "r") as file:
            r = file["solution/r"][:]
        return rows, r


def passes(gate, tolerance, residual, error):
    return residual <= tolerance and (gate == "residual" or error <= tolerance)


def first_on_ladder(gate, tolerance, judge, solve):
    """(given tolerance, what solve returned, residual, error) of the largest tolerance whose answer passes; or None."""
    for factor in LADDER:
        result, r = solve(tolerance * factor)
        residual, error = judge(r)
        if passes(gate, tolerance, residual, error):
            return tolerance * factor, result, residual, error
    return None


def compare(problem, gate, arguments, folder):
    siconos = Siconos(problem)
    ours = Ours(arguments.program, arguments.solver, arguments.set, problem, folder)

    def judge(r):
        return problem.residual(r), siconos.error(r)

    def solve_ours(tolerance):
        rows, r = ours.solve(tolerance, 1)
        reported, computed = float(rows[0]["residual"]), problem.residual(r)
        if not abs(reported - computed) <= 1e-6 * computed + 1e-13:
            sys.exit(f"error: {problem.path}: signorini says residual {reported}, NumPy says {computed}")
        return int(rows[0]["iterations"]), r

    def solve_siconos(local):
        def run(tolerance):
            _, iterations, _, r = siconos.solve(local, tolerance)
            return iterations, r
        return run

    mine = first_on_ladder(gate, arguments.tolerance, judge, solve_ours)
    theirs = {name: first_on_ladder(gate, arguments.tolerance, judge, solve_siconos(name)) for name in LOCAL_SOLVERS}
    theirs = {name: found for name, found in theirs.items() if found}

    seconds = {name: [] for name in theirs}
    my_seconds, my_setup = [], []
    rounds = 3
    for _ in range(rounds):
        for name, found in theirs.items():
            for _ in range(-(-arguments.repetitions // rounds)):
                seconds[name].append(siconos.solve(name, found[0])[2])
        if mine:
            rows, _ = ours.solve(mine[0], -(-arguments.repetitions // rounds))
            my_seconds += [float(row["solve_seconds"]) for row in rows]
            my_setup += [float(row["setup_seconds"]) for row in rows]

    fastest = min(seconds, key=lambda name: min(seconds[name])) if seconds else None
    table = []
    for name, found in theirs.items():
        table.append(row_of(problem, gate, "siconos nsgs", name, found, seconds[name], None))
    row = row_of(problem, gate, f"signorini {arguments.solver}", "", mine, my_seconds, my_setup)
    if mine and fastest:
        row["speedup_min"] = min(seconds[fastest]) / min(my_seconds)
        row["speedup_median"] = float(np.median(seconds[fastest]) / np.median(my_seconds))
        row["speedup_with_setup"] = float(np.median(seconds[fastest]) / (np.median(my_seconds) + np.median(my_setup)))
    table.append(row)
    return table, mine is not None, fastest


def row_of(problem, gate, code, local, found, seconds, setup):
    row = dict.fromkeys(COLUMNS, "") | {"file": problem.path.name, "contacts": problem.contacts, "gate": gate, "code": code,
                                        "local_solver": local}
    if found:
        row |= {"given_tolerance": found[0], "iterations": found[1], "residual": found[2], "siconos_error": found[3],
                "solve_ms_min": 1e3 * min(seconds), "solve_ms_median": 1e3 * float(np.median(seconds))}
    if found and setup:
        row["setup_ms_median"] = 1e3 * float(np.median(setup))
    return row


def text_of(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def markdown(rows, arguments):
    lines = [f"Accuracy asked: {arguments.tolerance:g}; gate `residual`: our residual, gate `both`: also Siconos' own error. "
             "One thread. Speed-up: time of Siconos' fastest local solver over ours, of the least and of the median times, and of "
             "the median times with our set-up (blocks and diagonal of W) added to ours.", "",
             "| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    lines += ["| " + " | ".join(text_of(row[name]) for name in COLUMNS) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def find_files(names):
    files = []
    for name in map(Path, names):
        if name.is_dir():
            found = sorted(name.rglob("Capsules-*.hdf5")) + sorted(name.rglob("KaplasTower*.hdf5"))
            if not found:
                sys.exit(f"error: {name}: no Capsules-*.hdf5 or KaplasTower*.hdf5 in it")
            files += found
        elif name.is_file():
            files.append(name)
        else:
            sys.exit(f"error: {name}: no such file or directory")
    return files


def main():
    parser = argparse.ArgumentParser(prog="scripts/compare_siconos", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="FCLib files, or folders that hold Capsules-* and KaplasTower* files")
    parser.add_argument("--solver", default="pgs")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--program", type=Path, help="the program (default: SIGNORINI_PROGRAM, else the one of this tree)")
    parser.add_argument("--out", type=Path, default=Path("results/out/compare_siconos"))
    arguments = parser.parse_args()
    try:
        arguments.program = arguments.program or program()
    except ProblemError as error:
        sys.exit(f"error: {error}")
    if not arguments.program.is_file():
        sys.exit(f"error: {arguments.program}: no such program; build it or say --program")

    rows, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        for path in find_files(arguments.files):
            problem = Problem(path)
            for gate in GATES:
                table, passed, fastest = compare(problem, gate, arguments, Path(folder))
                rows += table
                good = good and passed
                mine = table[-1]
                if not passed:
                    print(f"{path.name:32s} {gate:9s} signorini {arguments.solver}: no answer passes")
                elif fastest is None:
                    print(f"{path.name:32s} {gate:9s} Siconos: no answer passes; ours {mine['solve_ms_min']:.3f} ms")
                else:
                    peer = next(row for row in table if row["local_solver"] == fastest)
                    print(f"{path.name:32s} {gate:9s} ours {mine['solve_ms_min']:8.3f} ms ({mine['iterations']} sweeps)   Siconos "
                          f"{fastest} {peer['solve_ms_min']:8.3f} ms ({peer['iterations']})   {mine['speedup_min']:.2f}x", flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with open(arguments.out / "compare_siconos.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (arguments.out / "compare_siconos.md").write_text(markdown(rows, arguments))
    speedups = [row["speedup_min"] for row in rows if row["speedup_min"] != ""]
    print(f"At least as fast as Siconos in {sum(s >= 1.0 for s in speedups)} of {len(speedups)} comparisons; "
          f"table: {arguments.out / 'compare_siconos.md'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
