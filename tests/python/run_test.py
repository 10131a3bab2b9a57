"""run: experiments of files and of scenes, with solvers written in Python beside those that they have."""

import json
import os
import subprocess
import sys

import h5py
import pytest
from conftest import ROOT

import signorini

EXPERIMENT = """artefact = "A test"
{inputs}
protocols = ["converge", "self-stopped"]
regions = ["none", "points"]
tolerances = [1e-3]
max_iterations = {iterations}
solvers = [{{ name = "pgs", label = "PGS" }}, {{ name = "cr-full", label = "CR (Full)" }}]
[sizes]
quick = {{ max_steps = 2 }}
"""


@pytest.fixture
def experiment(tmp_path, reference):
    """A folder with a run.toml on a problem file; by default with more iterations than `descent` needs, 27."""

    def write(name="mine", inputs=f'files = ["{reference / "expl.hdf5"}"]', iterations=100):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "run.toml").write_text(EXPERIMENT.format(inputs=inputs, iterations=iterations))
        return folder

    return write


def test_rows_stand_beside_those_of_the_experiment(experiment, tmp_path, own_solvers):
    runs = signorini.run(experiment(), ["descent", "broken"], out=tmp_path / "out")
    assert os.path.dirname(runs.attrs["folder"]) == str(tmp_path / "out")
    assert list(dict.fromkeys(runs.label)) == ["PGS", "CR (Full)", "descent", "broken"]
    # two protocols by two region modes each, for every solver
    assert (runs.groupby("label").size() == 4).all() and set(runs.tolerance) == {1e-3}
    own, failed = runs[runs.solver == "descent"], runs[runs.solver == "broken"]
    assert (own.status == "converged").all() and (own.residual <= 1.01e-3).all()
    assert own.options.str.contains("plugin=python:conftest.py:").all() and not runs[runs.solver == "pgs"].options.str.contains("plugin").any()
    assert (failed.status == "failed").all() and failed.message.str.contains("RuntimeError: cannot go on").all() and runs.attrs["failed"] == 4
    done = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "report", "--out", tmp_path / "out", "--no-replay"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = (tmp_path / "out" / "mine" / "summary.md").read_text(encoding="utf-8")
    assert all(f"| {label} |" in summary for label in ("pgs", "cr-full", "descent (Python)", "broken (Python)"))


def test_limits_are_those_of_the_experiment(experiment, tmp_path, own_solvers):
    runs = signorini.run(experiment(iterations=3), "descent", out=tmp_path / "out")
    own = runs[runs.solver == "descent"]
    assert (own.status == "iteration_limit").all() and (own.iterations == 3).all()


def text(group, name):
    value = group.attrs[name]
    return value.decode() if isinstance(value, bytes) else str(value)


def test_a_resume_keeps_rows_and_makes_those_of_changed_code_again(experiment, tmp_path, program, own_solvers):
    folder, out = experiment(), tmp_path / "out"
    subprocess.run([program, "run", folder, "--out", out], check=True, capture_output=True)
    with pytest.raises(signorini.UsageError, match="holds results already"):
        signorini.run(folder, "descent", out=out)
    added = signorini.run(folder, "descent", out=out, resume=True)
    assert added.attrs["resumed"] == 8 and len(added) == 12
    again = signorini.run(folder, "descent", out=out, resume=True)
    assert again.attrs["resumed"] == len(again) == 12
    kept = subprocess.run([program, "run", folder, "--out", out, "--resume"], check=True, capture_output=True, text=True).stderr
    assert "12 rows (12 kept from before)" in kept, "the program knows no solver in Python, and leaves its rows alone"
    signorini.register_solver("descent", lambda problem: problem.q * 0.0)
    changed = signorini.run(folder, "descent", out=out, resume=True)
    own = changed[changed.solver == "descent"]
    assert len(changed) == 12 and (own.residual > 1e-3).all() and own.options.nunique() == 1
    assert changed.attrs["resumed"] == 8 and (out / "mine" / "runs.outdated.csv").is_file()
    # the curves of the code before are gone too
    with h5py.File(out / "mine" / "trace.h5") as file:
        curves = [(text(group, "solver"), text(group, "options")) for group in file["runs"].values()]
    assert {options for solver, options in curves if solver == "descent"} == set(own.options)


def test_scenes_are_recorded_by_the_program(experiment, tmp_path, program, monkeypatch, own_solvers):
    monkeypatch.setenv("SIGNORINI_PROGRAM", program)
    folder, out = experiment(inputs='recordings = [{ name = "short", scene = "rings", set = { "time.duration_s" = 0.06 } }]', iterations=300), tmp_path / "out"
    runs = signorini.run(folder, "descent", out=out)
    assert set(runs.file) == {"short-quick.h5"} and list(dict.fromkeys(runs.label)) == ["PGS", "CR (Full)", "descent"]
    assert runs.attrs["resumed"] == 0 and (runs.groupby("label").size() == 8).all()
    tables = {name: (out / "mine" / name).read_text() for name in ("recordings.csv", "regions.csv")}
    assert len(tables["recordings.csv"].splitlines()) > 1, "the program's tables stay"
    again = signorini.run(folder, "descent", out=out, resume=True)
    assert again.attrs["resumed"] == len(again) == len(runs)
    sessions = json.loads((out / "mine" / "env.json").read_text())
    assert "signorini.run" in json.dumps(sessions)
    with pytest.raises(signorini.UsageError, match="holds results already"):
        signorini.run(folder, "descent", out=out)


def test_what_makes_no_sense(experiment, tmp_path, reference, monkeypatch, own_solvers):
    folder, out = experiment(), tmp_path / "out"
    for arguments, message in ((dict(solvers="nobody"), "nobody"), (dict(options={"pgs": {"law": "cone"}}), "names none"), (dict(size="huge"), "huge"),
                               (dict(solvers="descent", options={"descent": {"wombat": 1}}), "wombat"), (dict(solvers="*-nobody"), "nobody")):
        with pytest.raises(signorini.UsageError, match=message):
            signorini.run(folder, **{"out": out, **arguments})
    assert not list(out.glob("*/runs.csv"))
    with pytest.raises(signorini.UsageError, match="did you mean 'lazarevych2010_fig1'"):
        signorini.run("lazarevych2010_fig", out=out)
    with pytest.raises(signorini.FileError, match="without run.toml"):
        signorini.run(tmp_path / "mine" / "..", out=out)
    (folder / "run.toml").write_text('artefact = "a"\nscenes = ["rings"]\nsolvers = [{ name = "descent" }]\n')
    with pytest.raises(signorini.UsageError, match=r"solvers=\['descent'\]"):
        signorini.run(folder, out=out)
    experiment(inputs='scenes = ["rings"]')
    monkeypatch.setenv("SIGNORINI_PROGRAM", str(tmp_path / "missing"))
    with pytest.raises(signorini.FileError, match="missing: cannot be started"):
        signorini.run(folder, "descent", out=out)
    (folder / "run.toml").write_text(f'artefact = "a"\nfiles = ["{reference / "expl.hdf5"}"]\nsolvers = [{{ name = "unheard-of" }}]\n')
    with pytest.raises(signorini.UsageError, match="unheard-of"):
        signorini.run(folder, out=out)


def test_an_experiment_file_may_name_a_solver_of_python(tmp_path, reference, own_solvers):
    file = tmp_path / "named.toml"
    file.write_text(f'artefact = "a"\nfiles = ["{reference / "expl.hdf5"}"]\nprotocols = ["self-stopped"]\ntolerances = [1e-3]\nmax_iterations = 20000\n'
                    'solvers = [{ name = "descent", label = "ours" }]\n')
    runs = signorini.run(file, "descent", out=tmp_path / "out")
    assert list(runs.label) == ["ours"] and (runs.status == "converged").all(), "the same solver is not run twice"
