"""siconos.csv: Siconos' solvers on the snapshots of a result (an experiment, `signorini compare`), rows in the form of runs.csv.

Every solver gets the local problem u = W r + q as `signorini export --local` writes it, in Siconos' own storage of sparse 3×3 blocks, and starts from
r = 0, on one thread. A problem in the plane is handed over with the third row that our reader gives every contact (`delassus.to_space`), and its answer
is judged without that row. An answer counts when our referee's residual of it, on the snapshot itself, is at most the tolerance of the row. Siconos stops by
an error of its own that depends on units (column siconos_error, computed by Siconos), so a solver is first given the tolerance itself; while the
referee is not content, the solver is given less, in proportion to what is missing, at most TRIES times. The row tells the last solve alone. Set-up
is that of our `pgs` on the same snapshot, which forms the same W.
Left out are NSGSV, which ends the process with dense and with block storage, SOCLCP and the global interior point method, which solve the convex problem
without de Saxcé's term, and solvers that call GAMS.
"""

import csv
import json
import math
import shutil
import tempfile
from pathlib import Path

import numpy as np
import siconos.numerics as sn

from signorini_problems import delassus, siconos_library
from signorini_problems.snapshots import ProblemError, export, python_package, read_rows, read_settings, run_program, say, snapshots, write_table

TRIES = 5
LEAST = 1e-15          # no solver is given less
MOST_ENTRIES = 6_000_000  # of W in 3×3 blocks: Siconos reads its block storage from a text file only
SOLVERS = {  # label: (code, local solver of one contact)
    "NSGS": ("NSGS", None),
    "NSGS, projection": ("NSGS", "ONECONTACT_ProjectionOnConeWithLocalIteration"),
    "NSGS, Newton": ("NSGS", "ONECONTACT_NSN"),
    "NSGS, damped Newton": ("NSGS", "ONECONTACT_NSN_GP"),
    "NSGS, quartic": ("NSGS", "ONECONTACT_QUARTIC"),
    "PROX": ("PROX", None),
    "TFP": ("TFP", None),
    "PFP": ("PFP", None),
    "ACLMFP": ("ACLMFP", None),
    "DSFP": ("DSFP", None),
    "FPP": ("FPP", None),
    "EG": ("EG", None),
    "VI-FPP": ("VI_FPP", None),
    "VI-EG": ("VI_EG", None),
    "HP": ("HP", None),
    "ADMM": ("ADMM", None),
    "NSN-AC": ("NSN_AC", None),
    "NSN-FB": ("NSN_FB", None),
    "NSN-NM": ("NSN_NM", None),
}
DEFAULTS = {"text": "", "integer": "0", "real": "nan"}
UNTOLD = {"involuntary_switches": "-1", "solver_bytes": "-1", "factorisations": "-1", "threads_used": "-1"}  # what nobody counts of Siconos
SETUP = "pgs"  # the solver whose set-up, forming W, is counted for Siconos


def code_of(name):
    return getattr(sn, f"SICONOS_FRICTION_3D_{name}")


class Referee:
    """The program's own, through its Python package: M is factored once for all answers to a problem."""

    def __init__(self, path):
        self.package = python_package()
        self.problem, self.in_plane = self.package.open(str(path))[0], delassus.dimensions(path) == 2

    def residual(self, r):
        if not np.isfinite(r).all():
            return math.inf
        if self.in_plane:
            r = r.copy()
            r[2::3] = 0.0
        return self.package.referee(self.problem, r).residual


def set_up_seconds_of(path, folder):
    """Of SETUP, which forms W."""
    table = folder / "set_up.csv"
    run_program("solve", path, "--solver", SETUP, "--max-iterations", 1, "--csv", table, "--force")
    with open(table, newline="", encoding="utf-8") as file:
        return float(np.median([float(row["setup_seconds"]) for row in csv.DictReader(file)]))


def status_of(answer, residual, tolerance, max_iterations):
    if residual <= tolerance:
        return "converged"
    if answer.ended:
        return "time_limit" if answer.ended == "time_limit" else "failed"
    return "iteration_limit" if answer.iterations >= max_iterations else "stalled"


def to_tolerance(problem, referee, name, tolerance, limits):
    """(answer, residual, tolerance that was given) of the first solve that the referee accepts, else of the last."""
    code, local = SOLVERS[name]
    local = None if local is None else code_of(local)
    given, last = tolerance, (siconos_library.Answer("not run"), math.nan, tolerance)
    for _ in range(TRIES):
        answer = siconos_library.solve(problem, code_of(code), local, given, *limits)
        if answer.ended:
            return answer, last[1], given
        residual = referee.residual(answer.r)
        last = answer, residual, given
        if residual <= tolerance or given <= LEAST or answer.info != 0:
            return last
        given = max(LEAST, 0.5 * given * min(1.0, tolerance / residual)) if math.isfinite(residual) else LEAST
    return last


def read_schema(folder):
    columns = json.loads((folder / "runs.schema.json").read_text(encoding="utf-8"))["runs.csv"]
    return {column["name"]: column["type"] for column in columns}


def empty_row(schema):
    return {column: UNTOLD.get(column, DEFAULTS[kind]) for column, kind in schema.items()}


def set_up_seconds(rows):
    """{(file, step): median of the set-ups of SETUP}."""
    found = {}
    for row in rows:
        if row["solver"] == SETUP and row["status"] not in ("unsupported", "failed"):
            found.setdefault((row["file"], row["step"]), []).append(float(row["setup_seconds"]))
    return {key: float(np.median(values)) for key, values in found.items()}


class Table:
    """Rows of one result."""

    def __init__(self, folder):
        self.folder, self.run = folder, read_settings(folder)
        self.schema, rows = read_schema(folder), read_rows(folder)
        self.experiment, self.setup = rows[0]["experiment"], set_up_seconds(rows)
        self.limits = int(self.run.get("max_iterations", 1000)), float(self.run.get("time_limit", 60.0))
        self.tolerances = sorted(self.run.get("tolerances", [1e-6]), reverse=True)

    def row(self, snapshot, name, tolerance, **values):
        base = empty_row(self.schema)
        code, _, local = name.partition(", ")
        base |= {"experiment": self.experiment, "file": snapshot.file, "step": snapshot.step, "contacts": snapshot.contacts, "dofs": snapshot.dofs,
                 "regions": 1, "largest_region": snapshot.contacts, "solver": f"siconos-{code.lower()}", "options": f"local={local.lower().replace(' ', '-')}" if local else "",
                 "law": "cone", "region_mode": "none", "threads": 1, "protocol": "self-stopped",
                 "tolerance": repr(tolerance), "label": f"Siconos {name}"}
        return base | {key: repr(value) if isinstance(value, float) else value for key, value in values.items()}

    def refusal(self, snapshot, path):
        """Why Siconos does not get the exported snapshot; "" where it does."""
        if snapshot.contacts == 0:
            return "no contacts"
        entries = delassus.stored_entries(path) * 9 // delassus.dimensions(path) ** 2
        return f"W is too large for Siconos: {entries:,} entries ({snapshot.contacts:,} contacts), at most {MOST_ENTRIES:,}" if entries > MOST_ENTRIES else ""

    def handed_over(self, snapshot, path, folder):
        """The problem in Siconos' storage and "", or None and why not."""
        if words := self.refusal(snapshot, path):
            return None, words
        try:
            local = export(snapshot, folder / "local.hdf5", "--local")
        except ProblemError as error:  # an M that has no inverse, say
            return None, f"not handed to Siconos: {error}"
        found = delassus.read(local)
        W, q = (found.W, found.q) if delassus.dimensions(local) == 3 else delassus.to_space(found.W, found.q)
        return siconos_library.native(W, q, found.mu), ""

    def rows_of(self, snapshot, names, folder):
        """All solvers and tolerances of one snapshot; files go into the folder."""
        path = export(snapshot, folder / "problem.hdf5")
        problem, words = self.handed_over(snapshot, path, folder)
        if problem is None:
            return [self.row(snapshot, name, tolerance, status="unsupported", message=words) for name in names for tolerance in self.tolerances]
        referee, rows = Referee(path), []
        for name in names:
            rows += self.rows_of_solver(snapshot, name, problem, referee)
        set_up = self.setup.get((snapshot.file, snapshot.step)) or set_up_seconds_of(path, folder)
        return [row | {"setup_seconds": repr(set_up)} for row in rows]

    def rows_of_solver(self, snapshot, name, problem, referee):
        """Without set-up. A solver that ran out of time at one tolerance is not asked for less."""
        rows, hopeless = [], ""
        for tolerance in self.tolerances:
            if hopeless:
                rows.append(rows[-1] | {"tolerance": repr(tolerance), "message": hopeless})
                continue
            answer, residual, given = to_tolerance(problem, referee, name, tolerance, self.limits)
            status = status_of(answer, residual, tolerance, self.limits[0])
            words = f"given {given:.2g}" + (f"; {answer.ended}" if answer.ended and status == "failed" else "")
            seconds = self.limits[1] if status == "time_limit" else answer.seconds
            rows.append(self.row(snapshot, name, tolerance, status=status, iterations=answer.iterations, residual=float(residual),
                                 siconos_error=float(answer.error), message=words, solve_seconds=float(seconds), cpu_share=answer.cpu_share))
            if status in ("time_limit", "failed"):
                hopeless = f"not run: {status} at {tolerance:g}"
        return rows


def outcome(rows):
    """Of the rows of one snapshot, for the terminal."""
    if all(row["status"] == "unsupported" for row in rows):
        return rows[0]["message"]
    return f"{sum(row['status'] == 'converged' for row in rows)} of {len(rows)} converged"


def read_finished(path, schema):
    """Rows of an interrupted call: those of whole snapshots."""
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows if rows and list(rows[0]) == list(schema) else []


def write(folder, names):
    """siconos.csv beside runs.csv; siconos.partial.csv holds whole snapshots until all are done, and the next call goes on there."""
    table, rows = Table(folder), []
    unfinished = folder / "siconos.partial.csv"
    known = {}
    for row in read_finished(unfinished, table.schema):
        known.setdefault((row["file"], row["step"]), []).append(row)
    wanted = snapshots(folder)
    with tempfile.TemporaryDirectory() as place:
        for number, snapshot in enumerate(wanted, 1):
            found = known.get((snapshot.file, snapshot.step), [])
            if len(found) != len(names) * len(table.tolerances):
                found = table.rows_of(snapshot, names, Path(place))
            rows += found
            write_table(unfinished, list(table.schema), rows)
            say(f"  [{number:3d}/{len(wanted)}] {snapshot.file} {snapshot.step}, {snapshot.contacts} contacts: {outcome(found)}")
    shutil.copyfile(folder / "runs.schema.json", folder / "siconos.schema.json")
    unfinished.replace(folder / "siconos.csv")
    say(f"{folder / 'siconos.csv'}: {len(rows)} rows")


def renew_set_up(folder):
    """After ours have run again: siconos.csv keeps its solves and takes the set-up of SETUP in the present runs.csv."""
    path, schema, found = folder / "siconos.csv", read_schema(folder), set_up_seconds(read_rows(folder))
    rows = []
    if path.is_file():
        with open(path, newline="", encoding="utf-8") as file:
            rows = [empty_row(schema) | row for row in csv.DictReader(file)]  # an earlier table may have fewer columns
    if not rows or set(rows[0]) != set(schema):
        raise ProblemError(f"{path}: is missing, has no rows, or columns that runs.csv has not; run scripts/compare_siconos without --set-up")
    for row in rows:
        if row["status"] == "unsupported":
            continue
        if (row["file"], row["step"]) not in found:
            raise ProblemError(f"{folder / 'runs.csv'}: has no set-up of {SETUP} on {row['file']} step {row['step']}, which {path.name} has")
        row["setup_seconds"] = repr(found[row["file"], row["step"]])
    shutil.copyfile(folder / "runs.schema.json", folder / "siconos.schema.json")
    write_table(path, list(schema), rows)
    say(f"{path}: set-up of {len(found)} snapshots renewed")
