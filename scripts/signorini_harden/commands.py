"""The commands that are tried, each on small inputs of its own in a folder that is made anew for every try."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
#: Python scripts that stand among the words of commands in the place of one of the program's.
SCRIPTS = {"report": (str(ROOT / "scripts/report"),), "make_dataset": ("-m", "signorini_dataset")}
SCENE = """seed = 3
[time]
step_s = 5e-4
duration_s = 0.02
record_every = 10
[materials.soft]
young_modulus_pa = 2e5
poisson_ratio = 0.3
density_kg_m3 = 1000.0
[obstacles.floor]
shape = "ground"
[bodies.balls]
shape = "ball"
material = "soft"
level = 0
radius_m = 0.1
position_m = [0.0, 0.0, 0.1005]
velocity_m_s = [0.0, 0.0, -1.0]
"""
EXPERIMENT = """artefact = "Hardening"
files = ["p.npz"]
protocols = ["converge", "time"]
regions = ["none", "islands"]
repetitions = 1
max_iterations = 200
minimum_time = 1e-5
[[solvers]]
name = "pgs"
[[solvers]]
name = "nsgs"
"""


@dataclass(frozen=True)
class Command:
    name: str
    words: tuple          # of the try
    again: tuple          # what finishes the work after a failure
    inputs: tuple         # files and folders that must stay as they are
    outputs: tuple = ()   # files that it makes; the others beside them are its own business
    before: tuple = ()    # commands that make what lies there before
    grows: str = ""       # folder of outputs that grow row by row; `again` goes on with them or makes them anew
    says: str = "signorini: error: "  # before every error

    def is_script(self):
        return self.words[0] in SCRIPTS


COMMANDS = (
    Command("record", ("record", "ball.toml", "-o", "r.h5", "--checkpoint-seconds", "0"), ("record", "ball.toml", "-o", "r.h5", "--resume"),
            ("ball.toml",), ("r.h5", "r.steps.csv", "r.env.json")),
    Command("record_over", ("record", "ball.toml", "-o", "r.h5", "--force", "--set", "contact.friction=0.2"),
            ("record", "ball.toml", "-o", "r.h5", "--force", "--set", "contact.friction=0.2"), ("ball.toml",), ("r.h5", "r.steps.csv", "r.env.json"),
            (("record", "ball.toml", "-o", "r.h5"),)),
    Command("run", ("run", "trial.toml", "--out", "out"), ("run", "trial.toml", "--out", "out", "--resume", "--again", "failed"), ("trial.toml", "p.npz"),
            ("out/trial/runs.csv", "out/trial/trace.h5", "out/trial/env.json", "out/trial/run.toml"), grows="out/"),
    Command("solve", ("solve", "p.npz", "--solver", "pgs", "--csv", "s.csv", "--solution", "a.npz", "--trace", "t.h5"),
            ("solve", "p.npz", "--solver", "pgs", "--csv", "s.csv", "--solution", "a.npz", "--trace", "t.h5", "--force"), ("p.npz",),
            ("s.csv", "a.npz", "t.h5", "s.schema.json")),
    Command("solve_over", ("solve", "p.hdf5", "--solver", "nsgs", "--csv", "s.csv", "--solution", "a.hdf5", "--trace", "t.h5", "--force"),
            ("solve", "p.hdf5", "--solver", "nsgs", "--csv", "s.csv", "--solution", "a.hdf5", "--trace", "t.h5", "--force"), ("p.hdf5",),
            ("s.csv", "a.hdf5", "t.h5"),
            (("export", "p.npz", "-o", "p.hdf5"), ("solve", "p.hdf5", "--solver", "pgs", "--csv", "s.csv", "--solution", "a.hdf5", "--trace", "t.h5"))),
    Command("export", ("export", "p.npz", "-o", "e.hdf5"), ("export", "p.npz", "-o", "e.hdf5", "--force"), ("p.npz",), ("e.hdf5",)),
    Command("export_npz", ("export", "r.h5", "--step", "30", "-o", "e.npz"), ("export", "r.h5", "--step", "30", "-o", "e.npz", "--force"), ("r.h5",),
            ("e.npz",), (("record", "ball.toml", "-o", "r.h5"),)),
    Command("export_vtk", ("export", "r.h5", "--vtk", "v"), ("export", "r.h5", "--vtk", "v", "--force"), ("r.h5",), ("v/surface.pvd", "v/contacts.pvd"),
            (("record", "ball.toml", "-o", "r.h5"),)),
    Command("replay", ("replay", "r.h5", "--solver", "pgs", "-o", "f.html"), ("replay", "r.h5", "--solver", "pgs", "-o", "f.html", "--force"), ("r.h5",),
            ("f.html",), (("record", "ball.toml", "-o", "r.h5"),)),
    Command("info", ("info", "r.h5"), ("info", "r.h5"), ("r.h5",), (), (("record", "ball.toml", "-o", "r.h5"),)),
    Command("plan", ("plan", "trial.toml", "-o", "camp"), ("plan", "trial.toml", "-o", "camp"), ("trial.toml", "p.npz"),
            ("camp/plan.toml", "camp/cells.csv")),
    Command("shard", ("run", "--plan", "camp", "--shard", "1/1"), ("run", "--plan", "camp", "--shard", "1/1"), ("trial.toml", "p.npz", "camp/plan.toml"),
            (), (("plan", "trial.toml", "-o", "camp"),)),
    Command("merge", ("merge", "camp"), ("merge", "camp"), ("trial.toml", "p.npz", "camp/plan.toml", "camp/parts"),
            ("camp/trial/runs.csv", "camp/trial/env.json"), (("plan", "trial.toml", "-o", "camp"), ("run", "--plan", "camp", "--shard", "1/1")),
            grows="camp/trial/"),
)


RUN, REPORT = ("run", "trial.toml", "--out", "out"), ("report", "--out", "out", "--no-replay", "--quiet")
DATASET = ("make_dataset", "--scenes", "incline", "--most", "1", "--contacts", "1", "--contact-steps", "3", "--max-iterations", "300", "--time-limit", "5", "-o", "ds")
REPORTED = tuple(f"out/trial/{name}" for name in ("summary.csv", "summary.md", "claims.json", "claims.md", "map.json", "index.html", "inner.svg", "inner.png")) + (
    "out/report.html",)
#: What Python writes: a failing write or rename, of which it makes an exception. Memory of the interpreter is its own business.
SCRIPT_COMMANDS = (
    Command("report", REPORT, REPORT, ("trial.toml", "p.npz", "out/trial/runs.csv", "out/trial/trace.h5"), REPORTED, (RUN,), says="error: "),
    Command("report_over", REPORT, REPORT, ("trial.toml", "p.npz", "out/trial/runs.csv", "out/trial/trace.h5"), REPORTED, (RUN, REPORT), says="error: "),
    Command("dataset", DATASET, DATASET, ("p.npz",), tuple(f"ds/{name}" for name in ("problems.csv", "scenes.csv", "facts.csv", "settings.json", "DATASHEET.md")),
            says="make_dataset: error: ", grows="ds/"),
)


def call(program, words):
    """What is started for these words, and what it needs of the environment."""
    if words[0] not in SCRIPTS:
        return [program, *words], {}
    environment = {"PYTHONPATH": str(ROOT / "scripts"), "SIGNORINI_CONFIGS": str(ROOT / "configs"), "SIGNORINI_PROGRAM": program, "OPENBLAS_NUM_THREADS": "1"}
    own = ["--program", program] if words[0] == "make_dataset" else []
    return ["/usr/bin/python3", "-B", *SCRIPTS[words[0]], *words[1:], *own], environment


def make_inputs(program, command, folder: Path):
    """Everything that lies there before the try."""
    folder.mkdir(parents=True)
    (folder / "ball.toml").write_text(SCENE, encoding="utf-8")
    (folder / "trial.toml").write_text(EXPERIMENT, encoding="utf-8")
    rng = np.random.default_rng(5)
    H = np.hstack([np.vstack([np.eye(3), np.zeros((3, 3))]), np.vstack([np.zeros((3, 3)), np.eye(3)])])
    np.savez(folder / "p.npz", M=np.diag(np.repeat([1.0, 2.0], 3)), H=H, f=-rng.uniform(0.5, 1.0, 6), w=np.zeros(6), mu=np.array([0.5, 0.3]))
    for words in command.before:
        argv, own = call(program, words)
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **own})
        if done.returncode != 0:
            raise RuntimeError(f"signorini {' '.join(words)}: {done.stderr.strip()}")
