"""The examples run, and say what they should."""

import subprocess
import sys

from conftest import ROOT

EXAMPLES = ROOT / "lib" / "python" / "examples"


def run(name, *arguments):
    done = subprocess.run([sys.executable, "-B", EXAMPLES / name, *arguments], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_look_at_problems(reference, recording):
    made = run("look_at_problems.py")
    assert "islands: 1, of 9 to 9 contacts" in made and "read again the same" in made and made.count("converged") == 4
    assert "read again the same" in run("look_at_problems.py", reference / "expl.hdf5")
    assert "contacts within" in run("look_at_problems.py", recording)


def test_solver_in_python(reference):
    table = run("solver_in_python.py", reference / "net0.hdf5", reference / "fE.hdf5")
    assert "gradients" in table and "frictionless" in table and "plugin=python:solver_in_python.py:" in table


def test_solver_in_experiment(reference, tmp_path):
    (tmp_path / "run.toml").write_text(f'artefact = "a"\nfiles = ["{reference / "expl.hdf5"}"]\nprotocols = ["self-stopped"]\nregions = ["none", "points"]\n'
                                       'tolerances = [1e-3]\nsolvers = [{ name = "pgs", label = "PGS" }]\n')
    table = run("solver_in_experiment.py", tmp_path, tmp_path / "out")
    assert "PGS" in table and "points" in table and "plugin=python:solver_in_experiment.py:" in table
    rows = [line.split() for line in table.splitlines() if line.startswith("jacobi")]
    assert rows and rows[0][2:4] == ["1", "1"], "it solves the snapshot"


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"look_at_problems.py", "solver_in_python.py", "solver_in_experiment.py"}
