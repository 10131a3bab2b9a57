"""Problems from arrays, and what is read back: views that cannot be written and outlive what they were read from."""

import gc

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from conftest import chain_arrays, same_matrix

import signorini


def test_arrays_come_back_to_the_last_bit(arrays):
    problem = signorini.Problem(**arrays, dt=0.01, time=2.5, kind="implicit")
    assert (problem.contacts, problem.dofs, problem.spacedim) == (4, 15, 3)
    assert (problem.dt, problem.time, problem.kind) == (0.01, 2.5, "implicit")
    assert isinstance(problem.M, scipy.sparse.csr_matrix) and isinstance(problem.H, scipy.sparse.csc_matrix)
    assert same_matrix(problem.M, arrays["M"]) and same_matrix(problem.H, arrays["H"])
    for name in ("f", "w", "mu"):
        assert np.array_equal(getattr(problem, name), arrays[name])
    assert problem.has_mass and not problem.has_delassus


def test_the_reduced_problem_is_assembled_where_it_is_absent(problem, arrays):
    W = arrays["H"].T @ np.linalg.solve(arrays["M"], arrays["H"])
    q = arrays["H"].T @ np.linalg.solve(arrays["M"], arrays["f"]) + arrays["w"]
    assert isinstance(problem.W, scipy.sparse.bsr_matrix) and problem.W.blocksize == (3, 3)
    # 15 unknowns: a dense solve and the sparse factor agree to some hundred roundings of the largest entry
    np.testing.assert_allclose(problem.W.toarray(), W, rtol=0, atol=1e-13 * np.abs(W).max())
    np.testing.assert_allclose(problem.q, q, rtol=0, atol=1e-13 * np.abs(q).max())
    assert problem.W is problem.W
    given = signorini.Problem(W=problem.W, q=problem.q, mu=problem.mu)
    assert given.has_delassus and not given.has_mass and given.M is None and given.H is None and given.f is None and given.w is None
    assert isinstance(given.W, scipy.sparse.csr_matrix) and same_matrix(given.W, problem.W)
    assert given.dofs == 0 and np.array_equal(given.q, problem.q)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok"])
def test_every_form_of_scipy_means_the_same(arrays, form):
    sparse = {name: scipy.sparse.csr_matrix(arrays[name]).asformat(form) for name in ("M", "H")}
    problem = signorini.Problem(**{**arrays, **sparse})
    assert same_matrix(problem.M, arrays["M"]) and same_matrix(problem.H, arrays["H"])


def test_unsorted_and_repeated_entries_add_up(arrays):
    H = scipy.sparse.coo_matrix(arrays["H"])
    order = np.random.default_rng(3).permutation(H.nnz)
    # each entry in halves, which are exact, in random order
    halves = scipy.sparse.coo_matrix((np.concatenate([H.data[order] / 2, H.data / 2]),
                                      (np.concatenate([H.row[order], H.row]), np.concatenate([H.col[order], H.col]))), H.shape)
    assert same_matrix(signorini.Problem(**{**arrays, "H": halves}).H, arrays["H"])
    mixed = scipy.sparse.csr_matrix(arrays["H"])
    for row in range(mixed.shape[0]):
        mixed.indices[mixed.indptr[row] : mixed.indptr[row + 1]] = mixed.indices[mixed.indptr[row] : mixed.indptr[row + 1]][::-1]
        mixed.data[mixed.indptr[row] : mixed.indptr[row + 1]] = mixed.data[mixed.indptr[row] : mixed.indptr[row + 1]][::-1]
    mixed.has_sorted_indices = False
    assert same_matrix(signorini.Problem(**{**arrays, "H": mixed}).H, arrays["H"])


def test_a_vector_is_a_diagonal_and_a_triangle_is_all_of_m():
    arrays = chain_arrays()
    M = np.diag(np.arange(1.0, 16.0))
    assert same_matrix(signorini.Problem(**{**arrays, "M": np.arange(1.0, 16.0)}).M, M)
    lower = np.tril(arrays["M"])
    assert same_matrix(signorini.Problem(**{**arrays, "M": lower}).M, arrays["M"])
    assert same_matrix(signorini.Problem(**{**arrays, "M": lower}, matrix="as-stored").M, lower)


def test_numbers_of_other_types_are_converted(arrays):
    H = np.asfortranarray(arrays["H"]).astype(">f8")
    f = np.repeat(arrays["f"], 2)[::2]  # not contiguous
    problem = signorini.Problem(**{**arrays, "H": H, "f": f, "mu": [1, 0, 2, 1], "w": np.zeros(12, dtype=np.int8)})
    assert same_matrix(problem.H, arrays["H"]) and np.array_equal(problem.f, arrays["f"])
    assert np.array_equal(problem.mu, [1.0, 0.0, 2.0, 1.0]) and np.array_equal(problem.w, np.zeros(12))


def test_two_rows_per_contact():
    problem = signorini.Problem(W=np.diag([1.0, 2.0, 1.0, 2.0]), q=np.array([-1.0, 0.1, -1.0, 0.1]), mu=[0.5, 0.5], spacedim=2)
    assert problem.spacedim == 2 and problem.q.shape == (6,)
    result = signorini.solve(problem, "pgs", tolerance=1e-10)
    # r_N = 1; r_T = -0.05 stops the tangent: |r_T| <= 0.5
    np.testing.assert_allclose(result.r, [1, -0.05, 0] * 2, atol=1e-9)


def test_geometry_and_other_arrays(arrays):
    frame = np.tile(np.eye(3).ravel(), (4, 1))
    position = np.arange(12.0).reshape(4, 3)
    problem = signorini.Problem(**arrays, gap=[0.0, -1e-3, 1e-3, 0.0], frame=frame, position=position, bodies=[[0, -1]] * 4, warm_start=np.ones(12))
    geometry = problem.geometry
    assert np.array_equal(geometry.positions, position) and np.array_equal(geometry.gaps, [0.0, -1e-3, 1e-3, 0.0])
    assert geometry.frames.shape == (4, 3, 3) and np.array_equal(geometry.frames[2], np.eye(3))
    assert np.array_equal(geometry.bodies, [[0, -1]] * 4) and geometry.points is None and geometry.features is None
    assert np.shares_memory(geometry.frames, problem.array("frame"))
    assert np.array_equal(problem.warm_start, np.ones(12)) and problem.array("v_minus") is None
    with pytest.raises(signorini.UsageError, match="no array 'nonsense'"):
        problem.array("nonsense")


def test_views_share_memory_cannot_be_written_and_keep_the_problem(arrays):
    problem = signorini.Problem(**arrays)
    views = [problem.f, problem.mu, problem.M.data, problem.M.indices, problem.M.indptr, problem.H.data]
    assert np.shares_memory(problem.f, problem.array("f")) and np.shares_memory(problem.M.data, problem._core.sparse("M")[0])
    for view in views:
        assert not view.flags.owndata and not view.flags.writeable
        with pytest.raises(ValueError):
            view[0] = 0
        with pytest.raises(ValueError):
            view.setflags(write=True)
    copies = [view.copy() for view in views]
    del problem
    gc.collect()
    signorini.Problem(**chain_arrays(contacts=40))  # takes memory that would have become free
    assert all(np.array_equal(view, copy) for view, copy in zip(views, copies))


def test_views_serve_scipy(problem, arrays):
    x = np.arange(15.0)
    np.testing.assert_allclose(problem.M @ x, arrays["M"] @ x, rtol=1e-13)
    np.testing.assert_allclose(problem.H.T @ x, arrays["H"].T @ x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scipy.sparse.linalg.spsolve(problem.M.tocsc(), x), np.linalg.solve(arrays["M"], x), rtol=1e-10)
    assert scipy.sparse.csgraph.connected_components(problem.M)[0] == 1
    assert np.array_equal(problem.M[:3, :3].toarray(), arrays["M"][:3, :3]) and problem.W.tocsr().shape == (12, 12)
    assert (problem.M + problem.M).nnz == problem.M.nnz


def test_regions_and_islands(reference):
    problem = signorini.open(reference / "expl.hdf5")[0]
    assert problem.regions.max() + 1 == 6 and problem.regions.shape == (36,)
    assert np.array_equal(problem.regions, problem.labels("points"))
    # W has entries between contacts of one island only
    W = problem.W.tocoo()
    assert np.all(problem.islands[W.row // 3] == problem.islands[W.col // 3])
    part = problem.region(2, "points")
    assert part.contacts == np.sum(problem.regions == 2) and np.array_equal(part.mu, problem.mu[problem.regions == 2])
    implicit = signorini.open(reference / "f2.hdf5")[0]
    with pytest.raises(signorini.UsageError, match="points-approx"):
        implicit.labels("points")
    with pytest.raises(signorini.UsageError, match="region 99"):
        problem.region(99)
    with pytest.raises(signorini.UsageError, match="islands"):
        problem.labels("bodies")


BAD = {
    "no equation": (dict(M=None, H=None, f=None, w=None), "neither M, H, f, w, mu nor W, q, mu"),
    "no mu": (dict(mu=None), "'mu': missing"),
    "no H": (dict(H=None), "'H': missing"),
    "wrong size of w": (dict(w=np.zeros(11)), r"'w': has 11 entries instead of 12.*given: M \(15, 15\)"),
    "wrong size of H": (dict(H=np.zeros((15, 9))), "'H': has 9 columns instead of 12"),
    "three dimensions": (dict(f=np.zeros((2, 2, 2))), r"'f' \(float64, shape \(2, 2, 2\)\): has 3 dimensions"),
    "complex": (dict(w=np.zeros(12, dtype=complex)), r"'w' \(complex128, shape \(12,\)\).*dtype=float"),
    "objects": (dict(w=np.array([None] * 12)), "'w'"),
    "texts": (dict(mu=np.array(["a", "b", "c", "d"])), "'mu'"),
    "ragged": (dict(w=[[1.0], [1.0, 2.0]]), "'w'"),
    "long doubles": (dict(w=np.zeros(12, dtype=np.longdouble)), "'w'"),
    "dates": (dict(w=np.zeros(12, dtype="M8[s]")), "'w'"),
    "masked": (dict(w=np.ma.masked_array(np.zeros(12), mask=True)), "masked"),
    "sparse vector": (dict(w=scipy.sparse.csr_matrix(np.ones((1, 12)))), "'w': is a sparse matrix"),
    "NaN": (dict(w=np.full(12, np.nan)), r"w\[0\] is not finite"),
    "infinity": (dict(f=np.full(15, np.inf)), r"f\[0\] is not finite"),
    "negative friction": (dict(mu=np.full(4, -0.1)), r"mu\[0\] = -0.1 is negative"),
    "no mass": (dict(M=np.zeros((15, 15))), "a mass must be positive"),
    "a number for a vector": (dict(w=3.0), "'w'"),
    "dt of nonsense": (dict(dt="soon"), "'dt'"),
    "kind of nonsense": (dict(kind="sideways"), "kind"),
    "fractions of bodies": (dict(bodies=np.full((4, 2), 0.5)), "'bodies'.*whole numbers"),
    "numbers of 64 bits": (dict(bodies=np.full((4, 2), 2**40)), "'bodies'.*32 bits"),
    "dimension": (dict(spacedim=7), "spacedim"),
    "unknown": (dict(wombat=np.zeros(3)), "no array 'wombat'"),
    "reading": (dict(matrix="upside-down"), "as-stored"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_problem_is_named(arrays, case):
    change, message = BAD[case]
    with pytest.raises(ValueError, match=message) as caught:
        signorini.Problem(**{**arrays, **change})
    assert isinstance(caught.value, signorini.Error) and "\n" not in str(caught.value)
