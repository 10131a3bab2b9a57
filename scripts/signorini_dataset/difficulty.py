"""How hard a snapshot is: sweeps of projected Gauss-Seidel from zero impulses until the referee's residual is small, and the residual then.

One cheap solve with a fixed number of sweeps at most, so that equal programs find equal numbers. Where pgs cannot run (W too large), a snapshot
counts as harder than all others.
"""

import csv
import json
import math
import tempfile
from pathlib import Path

from signorini_dataset.program import Failed, run
from signorini_report.whole_files import write_text

RESIDUAL = 1e-3
SWEEPS = 300
BATCH = 10  # snapshots of one call: what an interruption loses


def measure(asked, recording, steps):
    """{step: [sweeps, residual]}; [-1, inf] where pgs gave no answer."""
    with tempfile.TemporaryDirectory(dir=recording.parent) as folder:
        table = Path(folder) / "runs.csv"
        run(asked.program, "solve", recording, "--step", ",".join(steps), "--solver", "pgs", "--tolerance", RESIDUAL, "--max-iterations", SWEEPS,
            "--csv", table, may_end_with=(0, 1))
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    found = {row["step"]: [int(row["iterations"]), float(row["residual"])] for row in rows if row["status"] not in ("unsupported", "failed")}
    return {step: found.get(step, [-1, math.inf]) for step in steps}


def known(path, digest):
    """What an earlier run measured on the same scene."""
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return noted["steps"] if noted.get("scene") == digest else {}


def key(sweeps, residual):
    """Sorts from easy to hard; what is out of sweeps sorts by what is left. No answer is the hardest."""
    return (SWEEPS + 1, math.inf) if sweeps < 0 or math.isnan(residual) else (sweeps, residual)


def add(asked, recording, digest, snapshots):
    """Gives every snapshot its `pgs_sweeps`, `pgs_residual` and `difficulty`. Measured numbers are kept beside the recording."""
    path = recording.with_suffix(".difficulty.json")
    steps = known(path, digest)
    missing = [snapshot["step"] for snapshot in snapshots if snapshot["step"] not in steps]
    for begin in range(0, len(missing), BATCH):
        part = missing[begin:begin + BATCH]
        try:
            steps |= measure(asked, recording, part)
        except Failed:
            steps |= {step: [-1, math.inf] for step in part}
        write_text(path, json.dumps({"scene": digest, "steps": steps}) + "\n")
    for snapshot in snapshots:
        sweeps, residual = steps[snapshot["step"]]
        solved = sweeps >= 0
        snapshot |= {"pgs_sweeps": sweeps if solved else "", "pgs_residual": f"{residual:.2e}" if solved else "", "difficulty": key(sweeps, residual)}
