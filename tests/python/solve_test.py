"""solve and referee: answers, reports, curves, regions, threads; what is refused; Ctrl-C and other threads."""

import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from conftest import run_python

import signorini


def test_an_answer_satisfies_the_equations_and_the_law(problem):
    result = signorini.solve(problem, "nsgs", tolerance=1e-10)
    assert result.converged and result.report.status == "converged" and result.residuals.residual <= 1.01e-10
    r, u, v = result.r, result.u, result.v
    scale = np.abs(problem.q).max()
    # u and v are those of r, by another way than the library's: 1e-12 of the scale is thousands of roundings
    np.testing.assert_allclose(problem.M @ v, problem.H @ r + problem.f, rtol=0, atol=1e-12 * np.abs(problem.f).max())
    np.testing.assert_allclose(u, problem.H.T @ v + problem.w, rtol=0, atol=1e-12 * scale)
    rows, speeds = r.reshape(-1, 3), u.reshape(-1, 3)
    assert np.all(rows[:, 0] >= 0) and np.all(np.linalg.norm(rows[:, 1:], axis=1) <= problem.mu * rows[:, 0] * (1 + 1e-12))
    # complementarity: the residual bounds the velocity error by tolerance times U
    assert np.all(speeds[:, 0] >= -1e-9 * scale) and np.all(np.minimum(rows[:, 0], speeds[:, 0]) <= 1e-9 * scale)
    assert r.flags.writeable and r.flags.owndata


def test_the_referee_is_the_same_for_all(reference):
    frame = signorini.open(reference / "f2.hdf5")[0]
    result = signorini.solve(frame, "cr-full", tolerance=1e-6, regions="islands")
    again = signorini.referee(frame, result.r)
    assert again.residual == result.residuals.residual and again.natural_map == result.residuals.natural_map
    assert np.isnan(again.equation) and signorini.referee(frame, result.r, v=result.v).equation < 1e-9
    assert signorini.contact_errors(frame, result.r).max() == again.residual
    u, v = signorini.velocities(frame, result.r)
    assert np.array_equal(u, result.u) and np.array_equal(v, result.v)
    assert set(again.as_dict()) >= {"residual", "fb_static"} and np.isnan(signorini.referee(frame, result.r, law="pyramid").natural_map)
    assert signorini.referee(frame, np.full(frame.contacts * 3, np.nan)).residual == np.inf
    assert signorini.referee(frame, frame.solution.r).residual < 1e-13  # configs/problems/README.md


def test_the_report_tells_what_the_program_tells(reference):
    frame = signorini.open(reference / "f2.hdf5")[0]
    report = signorini.solve(frame, "pgs", regions="islands", threads=1, tangent="scalar", law="pyramid").report
    assert report.solver == "pgs" and report.law == "pyramid" and report.region_mode == "islands" and report.threads == 1
    assert "tangent=scalar" in report.options.split(";") and report.regions >= 1 and report.iterations > 0
    assert report.setup_seconds >= 0 and report.solve_seconds >= 0 and report.counters["contact_sweeps"] > 0


def test_the_bits_are_those_of_the_program(reference, program, tmp_path):
    for solver in ("pgs", "cr-full", "auto"):
        answer = tmp_path / f"{solver}.npz"
        subprocess.run([program, "solve", reference / "f3.hdf5", "--solver", solver, "--solution", answer], check=True, capture_output=True)
        result = signorini.solve(signorini.open(reference / "f3.hdf5")[0], solver)
        assert np.array_equal(np.load(answer)["r"], result.r) and np.array_equal(np.load(answer)["u"], result.u)


def test_threads_and_regions_do_not_change_bits(reference):
    frame = signorini.open(reference / "expl.hdf5")[0]
    one = signorini.solve(frame, "nsgs", regions="points", threads=1)
    if len(os.sched_getaffinity(0)) > 1:
        assert np.array_equal(one.r, signorini.solve(frame, "nsgs", regions="points", threads=2).r)
    assert one.report.regions == 6 and one.converged
    many = signorini.solve(frame, "nsgs", threads=1000)
    assert many.report.status == "unsupported" and "threads" in many.report.message and many.r is None


def test_a_curve_falls_to_the_answer(problem):
    result = signorini.solve(problem, "pgs", tolerance=1e-9, trace=True)
    curve = result.curve
    assert np.array_equal(curve.iteration, np.arange(result.report.iterations + 1))
    assert curve.residual[0] > 1e-2 and curve.residual[-1] <= 1.01e-9 and np.all(np.diff(curve.seconds) >= 0)
    assert curve.active[-1] == np.sum(result.r[::3] > 0) and len(curve.sliding) == len(curve.residual)
    assert signorini.solve(problem, "pgs").curve is None
    columns = curve.as_dict()
    assert {"iteration", "residual", "natural_map"} <= set(columns) and all(len(column) == len(curve.iteration) for column in columns.values())


def test_a_run_without_success_says_so(problem, reference):
    short = signorini.solve(problem, "pgs", tolerance=1e-12, max_iterations=2)
    assert short.report.status == "iteration_limit" and not short.converged and short.r is not None and short.report.iterations == 2
    dual = signorini.Problem(W=problem.W, q=problem.q, mu=problem.mu)
    refused = signorini.solve(dual, "ica")
    assert refused.report.status == "unsupported" and refused.report.message and refused.r is None and np.isnan(refused.residuals.residual)
    answer = signorini.solve(dual, "pgs")
    assert answer.converged and answer.v is None and answer.u.shape == answer.r.shape


def test_warm_starts(problem, arrays):
    exact = signorini.solve(problem, "prox-newton", tolerance=1e-12).r
    warm = signorini.Problem(**arrays, warm_start=exact)
    assert signorini.solve(warm, "pgs", tolerance=1e-8, warm_start=True).report.iterations < signorini.solve(problem, "pgs", tolerance=1e-8).report.iterations


@pytest.mark.parametrize("arguments, message", [
    (dict(solver="psg"), "unknown solver 'psg'.*did you mean"), (dict(solver="pgs", wombat=1), "unknown option 'wombat'"),
    (dict(solver="pgs", eps="much"), "eps"), (dict(solver="pgs", law="cube"), "cube"), (dict(regions="bodies"), "regions.*'bodies'"),
    (dict(tolerance=0), "tolerance: 0 is not a number above 0"), (dict(tolerance=float("nan")), "tolerance"), (dict(tolerance="x"), "tolerance"),
    (dict(threads=0), "threads: 0 is not a whole number of at least 1"), (dict(threads=1.5), "threads"), (dict(threads=2**40), "threads"),
    (dict(max_iterations=0), "max_iterations"), (dict(time_limit=-1), "time_limit"), (dict(solver=None), "unknown solver")])
def test_what_makes_no_sense_is_a_usage_error(problem, arguments, message):
    with pytest.raises(signorini.UsageError, match=message):
        signorini.solve(problem, **arguments)


@pytest.mark.parametrize("r", [np.zeros(11), np.zeros((12, 1)), np.zeros(0), "text", None, np.zeros(12, dtype=complex), [[1], [1, 2]]])
def test_impulses_of_another_shape_are_refused(problem, r):
    with pytest.raises(signorini.UsageError, match="'?r'?"):
        signorini.referee(problem, r)


def test_only_problems_are_solved(arrays):
    for other in (arrays, None, "problem.hdf5"):
        with pytest.raises(signorini.UsageError, match="give a signorini.Problem"):
            signorini.solve(other)


def test_solvers_are_listed_with_their_traits():
    known = {solver.name: solver for solver in signorini.solvers()}
    assert {"pgs", "ica", "cr-full", "auto", "reference"} <= set(known)
    assert known["ica"].needs == "mass" and known["pgs"].needs == "delassus" and known["pcg-pgs"].phases
    eps = {option.key: option for option in known["pgs"].options}["eps"]
    assert eps.type == "number" and eps.help and float(eps.default) == 1e-10 and not known["pgs"].is_python
    # keywords of `solve` must not hide an option
    taken = {"tolerance", "regions", "threads", "max_iterations", "time_limit", "trace", "problem", "solver"}
    assert not [(s.name, o.key) for s in known.values() for o in s.options if o.key in taken]


def test_other_threads_go_on_during_a_solve(reference):
    frame = signorini.open(reference / "f4.hdf5")[0]
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    while counted[0] == 0:
        time.sleep(0)
    before = counted[0]
    # without release of the lock nothing is counted between these two lines
    assert signorini.solve(frame, "pcg", **FOREVER, time_limit=0.5).report.status == "time_limit"
    after = counted[0]
    stop.set()
    thread.join()
    assert after > before


def test_one_problem_in_several_threads(reference):
    frame = signorini.open(reference / "f3.hdf5")[0]
    expected = signorini.solve(frame, "cr-full").r
    answers = [None] * 4

    def work(i):
        answers[i] = signorini.solve(frame, "cr-full").r

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(answer, expected) for answer in answers)


# pcg goes on beyond the last bit
FOREVER = dict(tolerance=1e-300, max_iterations=2**31 - 1)
INTERRUPTED = """
import sys, threading, time, os, signal
import signorini
frame = signorini.open(sys.argv[1])[0]
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    signorini.solve(frame, "pcg", tolerance=1e-300, max_iterations=2**31 - 1)
except KeyboardInterrupt:
    print("interrupted", signorini.solve(frame, "pgs").converged)
"""


def test_ctrl_c_ends_a_solve(reference):
    status, output = run_python(INTERRUPTED, str(reference / "f4.hdf5"))
    assert status == 0 and output.strip() == "interrupted True", output


def test_a_handler_of_another_signal_may_end_a_solve(problem):
    class TooLong(Exception):
        pass

    def handler(*_):
        raise TooLong

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TooLong):
            signorini.solve(problem, "pcg", **FOREVER)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
