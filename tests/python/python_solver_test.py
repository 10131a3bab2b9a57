"""Solvers written in Python: what they are told, what their answers and mistakes become."""

import numpy as np
import pytest
from conftest import same_matrix

import signorini


class Sweeps:
    """Gauss-Seidel on the impulses"""

    def __init__(self, problem, omega):
        self.problem, self.omega = problem, omega
        self.W = problem.W.toarray()

    def iterate(self, r):
        W, q, mu = self.W, self.problem.q, self.problem.mu
        change = 0.0
        for k in range(mu.size):
            rows = slice(3 * k, 3 * k + 3)
            u = W[rows] @ r + q[rows]
            stiffness = max(np.linalg.eigvalsh(W[rows, rows][1:, 1:])[-1], 1e-300)
            new = np.concatenate([[max(0.0, r[3 * k] - self.omega * u[0] / W[3 * k, 3 * k])], r[rows][1:] - self.omega * u[1:] / stiffness])
            length = np.linalg.norm(new[1:])
            if length > mu[k] * new[0]:
                new[1:] *= mu[k] * new[0] / length
            change = max(change, np.abs((new - r[rows]) * [W[3 * k, 3 * k], stiffness, stiffness]).max())
            r[rows] = new
        return r, change / self.omega


@pytest.fixture
def sweeps():
    signorini.register_solver("sweeps", Sweeps, options={"omega": (1.0, "relaxation factor")}, estimates="last")
    return "sweeps"


def test_it_solves_as_those_of_the_program_do(problem, sweeps):
    own, other = signorini.solve(problem, sweeps, tolerance=1e-9, trace=True), signorini.solve(problem, "pgs", tolerance=1e-12)
    assert own.converged and own.residuals.residual <= 1.01e-9 and own.report.iterations > 1
    # the problem is strictly convex in the normal direction and W is regular: two answers to 1e-9 differ by its condition at most
    np.testing.assert_allclose(own.r, other.r, atol=1e-6 * np.abs(other.r).max())
    assert own.curve.residual[-1] <= 1.01e-9 and len(own.curve.iteration) == own.report.iterations + 1
    assert own.report.options.split(";")[-1].startswith("plugin=python:python_solver_test.py:")
    assert signorini.solve(problem, sweeps, tolerance=1e-9, omega=0.7).report.iterations != own.report.iterations


def test_regions_have_objects_of_their_own(reference, sweeps):
    frame = signorini.open(reference / "expl.hdf5")[0]
    split, whole = signorini.solve(frame, sweeps, regions="points", threads=1), signorini.solve(frame, sweeps)
    assert split.converged and whole.converged and split.report.regions == 6
    two = signorini.solve(frame, sweeps, regions="points", threads=2)
    if two.report.status != "unsupported":  # one processor
        assert np.array_equal(two.r, split.r)


def test_it_is_told_the_whole_problem(arrays):
    seen = {}

    def look(problem, **options):
        seen.update(vars(problem), **options)
        return np.zeros(12)

    problem = signorini.Problem(**arrays, dt=0.25, warm_start=np.arange(12.0))
    for needs in ("both", "mass", "delassus"):
        seen.clear()
        signorini.register_solver("look", look, needs=needs, law="both", options={"depth": 3, "fast": (True, "a flag"), "order": ("up", "an order", "up|down")})
        signorini.solve(problem, "look", law="pyramid", order="down", tolerance=1e-3)
        assert seen["law"] == "pyramid" and seen["contacts"] == 4 and np.array_equal(seen["mu"], problem.mu)
        assert (seen["depth"], seen["fast"], seen["order"]) == (3, True, "down")
        assert seen["velocity_scale"] == np.abs(problem.q).max() and seen["tolerance"] == pytest.approx(1e-3 * seen["velocity_scale"])
        if needs == "delassus":
            assert seen["M"] is None and seen["H"] is None and seen["f"] is None and seen["dofs"] == 0
        else:
            assert same_matrix(seen["M"], arrays["M"]) and same_matrix(seen["H"], arrays["H"]) and seen["dofs"] == 15
            assert np.array_equal(seen["f"], arrays["f"]) and np.array_equal(seen["w"], arrays["w"]) and seen["dt"] == 0.25
            assert np.array_equal(seen["warm_start"], np.arange(12.0))
        if needs == "mass":
            assert seen["W"] is None and seen["q"] is None
        else:
            assert same_matrix(seen["W"], problem.W) and np.array_equal(seen["q"], problem.q)
    kept = seen["W"].copy()
    seen["W"].data[:] = -1.0  # a copy: nothing of the library changes
    assert same_matrix(problem.W, kept)


def test_a_function_answers_at_once_and_once_per_solve(problem):
    exact, calls = signorini.solve(problem, "prox-newton", tolerance=1e-12).r, []
    signorini.register_solver("oracle", lambda p: calls.append(1) or exact)
    result = signorini.solve(problem, "oracle", tolerance=1e-10)
    assert result.converged and result.report.iterations == 1 and len(calls) == 1 and np.array_equal(result.r, exact)
    signorini.register_solver("zero", lambda p: np.zeros_like(p.q))
    lazy = signorini.solve(problem, "zero")
    assert lazy.report.status == "stalled" and lazy.residuals.residual > 0.1


def test_it_may_use_other_solvers(problem):
    def by_another(p):
        inner = signorini.Problem(W=p.W, q=p.q, mu=p.mu)
        return signorini.solve(inner, "prox-newton", tolerance=1e-10).r

    signorini.register_solver("by-another", by_another)
    assert signorini.solve(problem, "by-another").converged


class Unable:
    def __init__(self, problem):
        raise signorini.Unsupported("only for problems of another kind")

    def iterate(self, r):
        return r


class Start:
    def __init__(self, problem):
        pass

    def start(self, r):
        return r[:2]

    def iterate(self, r):
        return r


def raising(error):
    def solver(problem):
        raise error

    return solver


MISTAKES = {
    "raises": (raising(ValueError("a bad\nmood")), "failed", r"python_solver_test.py:\d+: ValueError: a bad mood"),
    "nothing to say": (raising(KeyError()), "failed", "KeyError"),
    "exits": (raising(SystemExit(3)), "failed", "SystemExit"),
    "interrupts": (raising(KeyboardInterrupt()), "failed", "KeyboardInterrupt"),
    "long": (raising(ValueError("ä" * 1000)), "failed", "ValueError: ää"),
    "surrogates": (raising(ValueError("\udc80")), "failed", "ValueError"),
    "unsupported": (Unable, "unsupported", "only for problems of another kind"),
    "too short": (lambda p: np.zeros(3), "failed", r"r has shape \(3,\)"),
    "another shape": (lambda p: np.zeros((4, 3)), "failed", r"r has shape \(4, 3\)"),
    "no array": (lambda p: None, "failed", r"r has shape \(\)"),
    "text": (lambda p: "hello", "failed", "r has shape"),
    "complex": (lambda p: np.zeros(12, dtype=complex), "failed", "complex128"),
    "no options": (lambda: np.zeros(12), "failed", "TypeError"),
    "start": (Start, "failed", r"r has shape \(2,\)"),
    "not finite": (lambda p: np.full(12, np.nan), "diverged", ""),
}


@pytest.mark.parametrize("case", MISTAKES)
@pytest.mark.filterwarnings("ignore")
def test_mistakes_are_statuses_with_a_message(problem, case):
    import re

    callback, status, message = MISTAKES[case]
    signorini.register_solver("mistake", callback)
    result = signorini.solve(problem, "mistake", trace=True)
    assert result.report.status == status and re.search(message, result.report.message), result.report
    if status != "diverged":
        assert result.r is None
    assert signorini.solve(problem, "pgs").converged


@pytest.mark.parametrize("arguments, message", [
    (dict(name="pgs"), "there is one of that name already"), (dict(name="Mine"), "small letters"), (dict(name=""), "small letters"),
    (dict(callback=3), "give a function or a class"), (dict(callback=dict), "has no method 'iterate'"), (dict(law="cube"), "law.*cube"),
    (dict(needs="everything"), "needs.*everything"), (dict(estimates="future"), "estimates"), (dict(summary="two\nlines"), "a line of text"),
    (dict(options={"law": "x"}), "option 'law' already"), (dict(options={"Key": 1}), "key in small letters"),
    (dict(options={"a": None}), "NoneType"), (dict(options={"a": ("x", "help", "y|z")}), "default")])
def test_descriptions_without_sense_are_usage_errors(arguments, message):
    with pytest.raises(signorini.UsageError, match=message):
        signorini.register_solver(**{"name": "fine", "callback": lambda p: p.q, **arguments})
    assert "fine" not in [solver.name for solver in signorini.solvers()]


def test_a_name_may_be_registered_again(problem):
    exact = signorini.solve(problem, "prox-newton", tolerance=1e-12).r
    signorini.register_solver("again", lambda p: np.zeros(12))
    first = signorini.solve(problem, "again")
    signorini.register_solver("again", lambda p: exact, summary="the second")
    second = signorini.solve(problem, "again")
    assert not first.converged and second.converged
    listed = [solver for solver in signorini.solvers() if solver.name == "again"]
    assert len(listed) == 1 and listed[0].summary == "the second" and listed[0].is_python


def test_none_is_registered_while_one_runs(problem):
    caught = []

    def sly(p):
        try:
            signorini.register_solver("late", sly)
        except signorini.UsageError as error:
            caught.append(str(error))
        return np.zeros(12)

    signorini.register_solver("sly", sly)
    signorini.solve(problem, "sly")
    assert caught and "before anything is solved" in caught[0]
    signorini.register_solver("late", sly)


def test_a_law_that_is_not_served_is_refused(problem):
    signorini.register_solver("cones-only", lambda p: np.zeros(12))
    with pytest.raises(signorini.UsageError, match="does not serve law = pyramid"):
        signorini.solve(problem, "cones-only", law="pyramid")
    signorini.register_solver("pyramids-only", lambda p: np.zeros(12), law="pyramid")
    assert signorini.solve(problem, "pyramids-only").report.law == "pyramid"


def test_a_problem_without_m_is_unsupported_for_those_that_need_it(problem):
    signorini.register_solver("massive", lambda p: np.zeros(12), needs="mass")
    dual = signorini.Problem(W=problem.W, q=problem.q, mu=problem.mu)
    assert signorini.solve(dual, "massive").report.status == "unsupported"
