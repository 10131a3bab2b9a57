"""Snapshots become FCLib files with a reference solution inside, and a row each."""

import csv
import json
import math
import tempfile
from pathlib import Path

from signorini_dataset.conditioning import spectrum
from signorini_dataset.program import Failed, run, say

FIELDS = ("file", "scene", "size", "step", "kind", "dt", "contacts", "dofs", "regions", "largest_region", "islands", "largest_island",
          "mu_min", "mu_max", "diagonal_ratio", "rank", "condition", "status", "solver", "iterations", "residual", "message")


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
        if best is None or residual < float(best[0]["residual"]):
            best = row, answer
        if residual <= asked.tolerance:
            break
    return best, "; ".join(messages)


def make(asked, recording, scene, snapshot, target, dt):
    """Writes the file (problem, and the best answer if there is one); returns its row."""
    row = {"file": target.name, "scene": scene, "size": asked.size, "dt": dt} | {name: snapshot[name] for name in FIELDS if name in snapshot}
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        best, message = best_solution(asked, recording, snapshot["step"], folder)
        if best is None:
            made = Path(folder) / "problem.hdf5"
            run(asked.program, "export", recording, "--step", snapshot["step"], "-o", made)
            row |= {"status": "no solution", "message": message}
        else:
            run_row, made = best
            reached = float(run_row["residual"]) <= asked.tolerance
            row |= {"status": "reached" if reached else run_row["status"], "solver": run_row["solver"], "iterations": run_row["iterations"],
                    "residual": f"{float(run_row['residual']):.2e}", "message": message}
        row |= spectrum(made)
        made.replace(target)
    return row


def problem_rows(asked, recording, scene, digest, chosen, dt, folder):
    """Rows of all chosen snapshots; what an earlier run finished under the same settings is taken over."""
    settings = {"scene": digest, "solvers": asked.solvers, "tolerance": asked.tolerance, "max_iterations": asked.max_iterations}
    rows = []
    for snapshot in chosen:
        target = folder / f"{scene}-{snapshot['step']}.hdf5"
        note = folder / f".{target.stem}.json"
        known = json.loads(note.read_text()) if note.exists() and target.exists() else {}
        if known.get("settings") != settings:
            say(f"{scene}: step {snapshot['step']}, {snapshot['contacts']} contacts")
            known = {"settings": settings, "row": make(asked, recording, scene, snapshot, target, dt)}
            note.write_text(json.dumps(known) + "\n")
        rows.append({name: known["row"].get(name, "") for name in FIELDS})
    return rows
