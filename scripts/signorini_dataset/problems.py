"""Snapshots become FCLib files and npz archives of one name, both with the reference solution inside, and a row each."""

import csv
import hashlib
import json
import math
import tempfile
from pathlib import Path

import h5py

from signorini_dataset.conditioning import spectrum
from signorini_dataset.program import Failed, run, say
from signorini_report.whole_files import write_text

FIELDS = ("name", "scene", "size", "step", "kind", "dt", "time", "contacts", "dofs", "regions", "largest_region", "islands", "largest_island",
          "mu_min", "mu_max", "diagonal_ratio", "rank", "condition", "pgs_sweeps", "pgs_residual", "status", "solver", "iterations", "residual",
          "natural_map", "bytes", "message")
ACCURATE = 1e-10  # residual up to which a solution may serve as a reference
UNFINISHED = ".making-"  # how folders of problems that are being made begin
CLOCK = "time_limit"  # status of a solve that the clock ended; what was made of it is made again under another limit
VERSION = 2       # of what is written: rows and files of an earlier one are made again


def solve(asked, recording, step, solver, folder):
    """(row of runs.csv, file with problem and answer) of one solver."""
    answer, table = Path(folder) / f"{solver}.hdf5", Path(folder) / f"{solver}.csv"
    run(asked.program, "solve", recording, "--step", step, "--solver", solver, "--tolerance", asked.tolerance,
        "--max-iterations", asked.max_iterations, "--time-limit", asked.time_limit, "--solution", answer, "--csv", table,
        may_end_with=(0, 1))
    with open(table, newline="", encoding="utf-8") as file:
        return next(csv.DictReader(file)), answer


def best_solution(asked, recording, step, folder):
    """The first solver that reaches the tolerance, else the one with the smallest residual by the referee."""
    best, messages = None, []
    for solver in asked.solvers:
        try:
            row, answer = solve(asked, recording, step, solver, folder)
        except Failed as failure:
            messages.append(f"{solver}: {failure}")
            continue
        residual = float(row["residual"])
        if row["status"] in ("unsupported", "failed") or not math.isfinite(residual):
            messages.append(f"{solver}: {row['message'] or row['status']}")
            continue
        if row["status"] == CLOCK:  # what it would have reached may be the best elsewhere
            messages.append(f"{solver}: {CLOCK}")
        if best is None or residual < float(best[0]["residual"]):
            best = row, answer
        if residual <= asked.tolerance:
            break
    return best, "; ".join(messages)


def status_of(run_row, tolerance):
    """What the residual says, whatever the solver believed: reached, accurate (may serve as a reference), else how the best solve ended."""
    residual = float(run_row["residual"])
    if residual <= tolerance:
        return "reached"
    if residual <= ACCURATE:
        return "accurate"
    return "inaccurate" if run_row["status"] == "converged" else run_row["status"]


def three_digits(text):
    return f"{float(text):.2e}" if math.isfinite(float(text)) else ""


def clock(recording, step):
    with h5py.File(recording, "r") as file:
        frame = file[f"steps/{step}"].attrs
        return {"dt": repr(float(frame["dt"])), "time": repr(float(frame["time"]))}


def make(asked, recording, scene, snapshot, folder):
    """Writes NAME.hdf5 and NAME.npz (problem, and the best answer if there is one): (row, {file: SHA-256})."""
    name = f"{scene}-{snapshot['step']}"
    row = {"name": name, "scene": scene, "size": asked.size} | clock(recording, snapshot["step"])
    row |= {field: snapshot[field] for field in FIELDS if field in snapshot}
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder) as place:
        best, message = best_solution(asked, recording, snapshot["step"], place)
        if best is None:
            made = Path(place) / f"{name}.hdf5"
            run(asked.program, "export", recording, "--step", snapshot["step"], "-o", made)
            row |= {"status": "no solution", "message": message}
        else:
            run_row, made = best[0], best[1].rename(Path(place) / f"{name}.hdf5")  # the archive names the file that it was made from
            row |= {"status": status_of(run_row, asked.tolerance), "solver": run_row["solver"], "iterations": run_row["iterations"],
                    "residual": f"{float(run_row['residual']):.2e}", "natural_map": three_digits(run_row["natural_map"]),
                    "message": message}
        archive = made.with_suffix(".npz")
        run(asked.program, "export", made, "-o", archive)
        row |= spectrum(made) | {"bytes": made.stat().st_size + archive.stat().st_size}
        digests = {}
        for file in (archive, made):
            digests[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
            file.replace(folder / file.name)
    return row, digests


def settings_of(asked, digest):
    return {"version": VERSION, "scene": digest, "solvers": asked.solvers, "tolerance": asked.tolerance, "max_iterations": asked.max_iterations}


def noted(note, folder, settings, time_limit):
    """What an earlier run wrote down of a problem whose files are there; None where it has to be made."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = known.get("settings") == settings and all((folder / name).is_file() for name in known["sha256"])
    clock_ended_one = CLOCK in known.get("row", {}).get("message", "")
    return known if whole and (not clock_ended_one or known.get("time_limit") == time_limit) else None


def problem(asked, recording, scene, digest, snapshot, folder):
    """{"row", "sha256"} of one problem; what an earlier run finished under the same settings is taken over."""
    settings, note = settings_of(asked, digest), folder / f".{scene}-{snapshot['step']}.json"
    known = noted(note, folder, settings, asked.time_limit)
    if known is None:
        say(f"{scene}: step {snapshot['step']}, {snapshot['contacts']} contacts")
        row, made = make(asked, recording, scene, snapshot, folder)
        known = {"settings": settings, "time_limit": asked.time_limit, "row": row, "sha256": made}
        write_text(note, json.dumps(known) + "\n")
    return {"row": {name: known["row"].get(name, "") for name in FIELDS}, "sha256": known["sha256"]}
