"""compare: solvers written in Python beside the others, rows on disk."""

import subprocess

import pytest
from conftest import run_python

import signorini


def test_python_stands_beside_the_others(reference, tmp_path, own_solvers):
    progress = []
    files = [reference / "net0.hdf5", reference / "fE.hdf5"]
    runs = signorini.compare(files, ["descent", "broken", "pgs"], out=tmp_path / "cmp", tolerance=1e-3, repetitions=2, max_iterations=20000,
                             time_limit=20.0, progress=lambda done, total, what: progress.append((done, total, what)))
    assert set(runs.solver) == {"descent", "broken", "pgs"} and runs.attrs["failed"] > 0 and runs.attrs["unreadable"] == 0
    own = runs[(runs.solver == "descent") & (runs.protocol == "self-stopped")]
    assert len(own) == 2 and (own.status == "converged").all() and (own.residual <= 1.01e-3).all()
    assert own.options.str.contains("plugin=python:conftest.py:").all()
    assert len(runs[(runs.solver == "descent") & (runs.protocol == "time")]) == 4  # two files, two repetitions
    failed = runs[runs.solver == "broken"]
    assert (failed.status == "failed").all() and failed.message.str.contains("RuntimeError: cannot go on").all()
    assert (runs[runs.solver == "pgs"].status == "converged").all()
    assert progress and progress[-1][1] == 6 and all(done < total for done, total, _ in progress)
    assert {p.name for p in (tmp_path / "cmp").iterdir()} >= {"runs.csv", "runs.schema.json", "env.json", "run.toml", "trace.h5"}
    # the same again: refused, then every row kept
    with pytest.raises(signorini.Error, match="cmp"):
        signorini.compare(files, ["descent"], out=tmp_path / "cmp")
    again = signorini.compare(files, ["descent", "broken", "pgs"], out=tmp_path / "cmp", tolerance=1e-3, repetitions=2, max_iterations=20000,
                              time_limit=20.0, resume=True)
    assert again.attrs["resumed"] == len(again) == len(runs)


def test_options_regions_and_threads(reference, tmp_path, own_solvers):
    runs = signorini.compare(reference / "expl.hdf5", "pgs", out=tmp_path / "cmp", options={"pgs": {"law": "pyramid", "tangent": "scalar"}},
                             regions=["none", "points"], repetitions=1, tolerance=1e-2)
    assert set(runs.region_mode) == {"none", "points"} and set(runs.law) == {"pyramid"} and runs.options.str.contains("tangent=scalar").all()


def test_without_curves_every_run_stops_by_itself(reference, tmp_path):
    runs = signorini.compare(reference / "net0.hdf5", ["pgs", "nncg"], out=tmp_path / "cmp", curves=False)
    assert set(runs.protocol) == {"self-stopped"} and set(runs.solver) == {"pgs", "nncg"}
    assert not (tmp_path / "cmp" / "trace.h5").exists()


def test_a_solver_that_fails_only_when_it_is_timed_is_a_row(reference, tmp_path):
    exact = signorini.solve(signorini.open(reference / "net0.hdf5")[0], "prox-newton", tolerance=1e-10).r
    for good_starts in (2, 3):  # the warm-up fails, then a repetition
        starts = []

        class Moody:
            def __init__(self, problem):
                pass

            def start(self, r):
                starts.append(1)
                if len(starts) > good_starts:
                    raise RuntimeError("enough")

            def iterate(self, r):
                return exact

        signorini.register_solver("moody", Moody)
        runs = signorini.compare(reference / "net0.hdf5", ["moody", "pgs"], out=tmp_path / str(good_starts), repetitions=2, tolerance=1e-4)
        assert (runs[runs.solver == "pgs"].status == "converged").all()
        failed = runs[(runs.solver == "moody") & (runs.status == "failed")]
        assert len(failed) and failed.message.str.contains("RuntimeError: enough").all()


def test_what_makes_no_sense(reference, tmp_path):
    file, out = reference / "net0.hdf5", tmp_path / "cmp"
    for arguments, message in ((dict(solvers="nobody"), "nobody"), (dict(options={"pgs": {"wombat": 1}}), "pgs"), (dict(solvers=[]), "empty"),
                               (dict(regions="x"), "'x'"), (dict(threads="many"), "threads"), (dict(repetitions=0), "repetitions")):
        with pytest.raises(signorini.UsageError, match=message):
            signorini.compare(file, **{"solvers": "pgs", "out": out, **arguments})
    with pytest.raises(signorini.FileError, match="missing.h5"):
        signorini.compare(tmp_path / "missing.h5", "pgs", out=out)
    assert not out.exists()


def test_unreadable_files_are_left_out_with_a_warning(reference, tmp_path):
    (tmp_path / "bad.h5").write_bytes(b"no file of problems")
    with pytest.warns(RuntimeWarning, match="bad.h5"):
        runs = signorini.compare([tmp_path / "bad.h5", reference / "net0.hdf5"], "pgs", out=tmp_path / "cmp", repetitions=1, tolerance=1e-2)
    assert set(runs.file) == {"net0"} and runs.attrs["unreadable"] == 1


def test_rows_do_not_depend_on_who_asks(reference, tmp_path, program):
    arguments = ["--solver", "pgs,cr-full", "--tolerance", "1e-6", "--repetitions", "1", "--no-report"]
    subprocess.run([program, "compare", reference / "net1.hdf5", "-o", tmp_path / "program", *arguments], check=True, capture_output=True)
    ours = signorini.compare(reference / "net1.hdf5", ["pgs", "cr-full"], out=tmp_path / "python", repetitions=1)
    theirs = signorini.read_runs(tmp_path / "program" / "runs.csv")
    for column in ("solver", "options", "protocol", "status", "iterations", "residual", "products"):
        assert list(ours[column]) == list(theirs[column]), column


INTERRUPTED = """
import sys, threading, os, signal
import signorini
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    signorini.compare(sys.argv[1], "pcg", out=sys.argv[2], tolerance=1e-300, max_iterations=2**31 - 1, time_limit=1e6)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_comparison(reference, tmp_path):
    status, output = run_python(INTERRUPTED, str(reference / "f4.hdf5"), str(tmp_path / "cmp"))
    assert status == 0 and output.strip() == "interrupted", output
