"""Problems of a result one by one: W, numbers that describe them, the referee, and Siconos where it is installed."""

import contextlib
import csv
import importlib.util
import io
import os
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

import h5py  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sparse  # noqa: E402
from signorini_problems import delassus, facts, snapshots  # noqa: E402

HAS_SICONOS = importlib.util.find_spec("siconos") is not None
BUILT = Path(os.environ.get("SIGNORINI_PROGRAM") or SOURCE / "build/release/experiments/signorini").is_file()


def write_matrix(group, matrix):
    matrix = matrix.tocoo()
    for name, value in (("m", matrix.shape[0]), ("n", matrix.shape[1]), ("nz", matrix.nnz), ("nzmax", matrix.nnz)):
        group[name] = np.array([value], dtype=np.int32)
    group["p"], group["i"], group["x"] = matrix.col.astype(np.int32), matrix.row.astype(np.int32), matrix.data


def write_problem(path, M, H, f, w, mu, spacedim=3):
    """/fclib_global as `signorini export` writes it."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([spacedim], dtype=np.int32)
        write_matrix(group.create_group("M"), M)
        write_matrix(group.create_group("H"), H)
        group["vectors/f"], group["vectors/w"], group["vectors/mu"] = f, w, mu
    return path


def invented(seed=3, coupled=True):
    """Two bodies of four nodes that do not touch each other, with two and one contacts on the ground; a third without contact."""
    random = np.random.default_rng(seed)
    blocks = []
    for _ in range(3):
        A = random.normal(size=(12, 12))
        blocks.append(A @ A.T + 12 * np.eye(12) if coupled else np.diag(random.uniform(1, 2, 12)))
    M = sparse.block_diag(blocks, format="csc")
    H = np.zeros((36, 9))
    for contact, node in enumerate((0, 1, 5)):
        H[3 * node:3 * node + 3, 3 * contact:3 * contact + 3] = np.linalg.qr(random.normal(size=(3, 3)))[0]
    w = np.tile([-1.0, 0.3, -0.2], 3)
    return M, sparse.csc_matrix(H), random.normal(size=36) * 0.1, w, np.array([0.2, 0.5, 0.8])


def in_plane():
    """The same bodies; of every contact the rows N and T."""
    M, H, f, w, mu = invented()
    rows = np.array([0, 1, 3, 4, 6, 7])
    return M, H[:, rows], f, w[rows], mu


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.folder = Path(self.directory.name)

    def file(self, **choice):
        return write_problem(self.folder / "problem.hdf5", *invented(**choice))


class Delassus(Files):
    def test_w_and_q_are_those_of_the_dense_formula(self):
        for coupled in (True, False):
            M, H, f, w, _ = invented(coupled=coupled)
            found = delassus.read(self.file(coupled=coupled))
            inverse = np.linalg.inv(M.toarray())
            W, q = H.toarray().T @ inverse @ H.toarray(), H.toarray().T @ inverse @ f + w
            np.testing.assert_allclose(found.W.toarray(), W, rtol=0, atol=1e-14)  # condition of M below 100: some hundred roundings
            np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-14)

    def test_a_problem_in_the_plane_gets_a_third_row_that_couples_with_nothing(self):
        flat = delassus.read(write_problem(self.folder / "flat.hdf5", *in_plane(), 2))
        W, q = delassus.to_space(flat.W, flat.q)
        rows, third = np.array([0, 1, 3, 4, 6, 7]), np.array([2, 5, 8])
        self.assertEqual(W.shape, (9, 9))
        self.assertEqual((W[rows][:, rows] != flat.W).nnz, 0)
        np.testing.assert_array_equal(W[third].toarray()[:, third], np.diag(flat.W.diagonal()[1::2]))
        self.assertEqual((W[third][:, rows].nnz, W[rows][:, third].nnz), (0, 0))
        np.testing.assert_array_equal(q[rows], flat.q)
        np.testing.assert_array_equal(q[third], 0)
        np.testing.assert_array_equal(delassus.to_plane(q), flat.q)

    def test_bodies_that_do_not_touch_are_not_coupled(self):
        self.assertEqual(delassus.read(self.file()).W.nnz, 36 + 9)
        self.assertEqual(delassus.stored_entries(self.file()), 36 + 9)


@unittest.skipUnless(BUILT, "the program is not built")
class Local(Files):
    def test_what_export_local_writes_is_the_dense_formula(self):
        for coupled in (True, False):
            M, H, f, w, mu = invented(coupled=coupled)
            inverse = np.linalg.inv(M.toarray())
            W, q = H.toarray().T @ inverse @ H.toarray(), H.toarray().T @ inverse @ f + w
            for name in ("local.hdf5", "local.npz"):
                snapshots.run_program("export", self.file(coupled=coupled), "--local", "-o", self.folder / name, "--force")
            found, arrays = delassus.read(self.folder / "local.hdf5"), np.load(self.folder / "local.npz")
            self.assertIsNone(found.M)
            np.testing.assert_allclose(found.W.toarray(), W, rtol=0, atol=1e-14)  # condition of M below 100: some hundred roundings
            np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-14)
            np.testing.assert_array_equal(found.mu, mu)
            self.assertEqual((found.W != found.W.T).nnz, 0)
            loaded = sparse.csr_matrix((arrays["W_data"], arrays["W_indices"], arrays["W_indptr"]))
            self.assertEqual((loaded != found.W).nnz, 0)
            np.testing.assert_array_equal(arrays["q"], found.q)

    def test_of_a_stored_triangle_it_is_the_whole_matrix(self):
        M, *others = invented()
        whole, half = self.file(), write_problem(self.folder / "half.hdf5", sparse.triu(M), *others)
        read = []
        for path in (whole, half):
            snapshots.run_program("export", path, "--local", "-o", self.folder / "local.hdf5", "--force")
            read.append(delassus.read(self.folder / "local.hdf5"))
        self.assertEqual((read[0].W != read[1].W).nnz, 0)
        self.assertEqual((delassus.read(half).M != M).nnz, 0)


class Sources(Files):
    def test_rows_name_files_by_as_many_folders_as_they_need(self):
        for name, path, fits in (("a", "/x/a.hdf5", True), ("a.h5", "/x/a.h5", True), ("x/a", "/y/x/a.npz", True), ("x/a", "/x/y/a.npz", False),
                                 ("a", "/x/ba.hdf5", False), ("a.b", "/x/a.b.hdf5", True)):
            self.assertEqual(snapshots.is_named(Path(path), name), fits, (name, path))


class Facts(Files):
    def test_numbers_are_those_of_dense_matrices(self):
        M, H, *_ = invented()
        found = facts.facts_of(self.file())
        self.assertEqual((found["islands"], found["largest_island"], found["most_neighbours"], found["touched_dofs"]), (2, 2, 1, 24))
        self.assertEqual((found["rank"], found["rank_ratio"], found["mu_min"], found["mu_max"]), (9, "0.375", "0.2", "0.8"))
        values = np.linalg.eigvalsh(H.toarray().T @ np.linalg.inv(M.toarray()) @ H.toarray())
        self.assertEqual(found["condition"], f"{values[-1] / values[0]:.2e}")
        D = sparse.block_diag([M.toarray()[k:k + 3, k:k + 3] for k in range(0, 36, 3)]).toarray()
        scaled = np.sort(np.linalg.eigvals(np.linalg.inv(D) @ M.toarray()).real)
        self.assertAlmostEqual(float(found["mass_condition"]) / (scaled[-1] / scaled[0]), 1.0, delta=0.01)  # Lanczos to 1e-3 at both ends, three digits

    def test_a_contact_twice_lowers_the_rank_alone(self):
        M, H, f, w, mu = invented()
        twice = sparse.hstack([H, H[:, :3]], format="csc")
        path = write_problem(self.folder / "twice.hdf5", M, twice, f, np.concatenate([w, w[:3]]), np.append(mu, mu[0]))
        found = facts.facts_of(path)
        self.assertEqual((found["rank"], found["rank_ratio"], found["islands"]), (9, "0.5", 2))

    def test_a_mass_matrix_by_points_has_condition_one(self):
        self.assertEqual(facts.facts_of(self.file(coupled=False))["mass_condition"], "1.00")

    def test_a_problem_in_the_plane_has_no_numbers(self):
        self.assertEqual(set(facts.facts_of(write_problem(self.folder / "flat.hdf5", *in_plane(), 2)).values()), {""})

    def test_too_large_an_island_has_no_spectrum(self):
        with mock.patch.object(facts, "MOST_ROWS", 5):
            found = facts.facts_of(self.file())
        self.assertEqual((found["rank"], found["condition"], found["islands"]), ("", "", 2))


@unittest.skipUnless(BUILT, "the program is not built")
@unittest.skipUnless(HAS_SICONOS, "Debian's python3-siconos is not installed (scripts/compare_siconos installs it)")
class Siconos(Files):
    def setUp(self):
        super().setUp()
        from signorini_problems import siconos, siconos_library
        self.siconos, self.library, self.path = siconos, siconos_library, self.file()
        self.reduced = delassus.read(self.path)

    def native(self):
        return self.library.native(self.reduced.W, self.reduced.q, self.reduced.mu)

    def solved(self, tolerance, column):
        """Impulses of the program's pgs, and what its row has in this column."""
        answer, table = self.folder / "answer.hdf5", self.folder / "rows.csv"
        snapshots.run_program("solve", self.path, "--solver", "pgs", "--tolerance", tolerance, "--solution", answer, "--csv", table)
        with h5py.File(answer) as file:
            r = file["solution/r"][:]
        with open(table, newline="") as file:
            return r, float(next(csv.DictReader(file))[column])

    def test_the_referee_is_the_programs_own(self):
        r, told = self.solved(1e-5, "residual")
        referee = self.siconos.Referee(self.path)
        self.assertAlmostEqual(referee.residual(r) / told, 1.0, places=9)
        self.assertGreater(referee.residual(1.5 * r), 1e-3)
        self.assertEqual(referee.residual(np.full_like(r, np.nan)), np.inf)

    def test_its_own_error_is_the_one_that_our_referee_has_of_it(self):
        r, told = self.solved(1e-3, "siconos_error")
        with self.library.Silence():
            self.assertAlmostEqual(self.library.own_error(self.native(), r) / told, 1.0, places=6)

    def handed_over(self, path, contacts=3, most=6_000_000):
        """What Siconos gets of a file, and why not."""
        table = mock.Mock(spec=self.siconos.Table)
        table.refusal = lambda *words: self.siconos.Table.refusal(table, *words)
        with mock.patch.object(self.siconos, "MOST_ENTRIES", most):
            return self.siconos.Table.handed_over(table, snapshots.Snapshot("p", "0", path, contacts, 36), path, self.folder)

    def test_what_is_not_handed_over_says_why(self):
        self.assertEqual(self.handed_over(self.path, contacts=0), (None, "no contacts"))
        self.assertEqual(self.handed_over(self.path, most=44), (None, "W is too large for Siconos: 45 entries (3 contacts), at most 44"))
        flat = write_problem(self.folder / "flat.hdf5", *in_plane(), 2)
        self.assertIn("45 entries", self.handed_over(flat, most=44)[1], "blocks of three rows")
        M, *others = invented()
        M = M.tolil()
        M[:12, :12] = -M[:12, :12]
        problem, words = self.handed_over(write_problem(self.folder / "turned.hdf5", M.tocsc(), *others))
        self.assertIsNone(problem)
        self.assertRegex(words, "^not handed to Siconos: .*M")

    def test_a_problem_in_the_plane_is_solved_and_judged_as_such(self):
        flat = write_problem(self.folder / "flat.hdf5", *in_plane(), 2)
        problem, words = self.handed_over(flat)
        self.assertEqual((words, problem.dimension, problem.numberOfContacts), ("", 3, 3))
        ours = self.folder / "ours.hdf5"
        snapshots.run_program("solve", flat, "--solver", "pgs", "--tolerance", 1e-12, "--solution", ours)
        with h5py.File(ours) as file:
            r = file["solution/r"][:]
        self.assertEqual(len(r), 6)
        for name in ("NSGS", "NSN-AC", "PROX"):
            answer, residual, _ = self.siconos.to_tolerance(problem, self.siconos.Referee(flat), name, 1e-10, (10000, 10.0))
            self.assertLessEqual(residual, 1e-10, name)
            np.testing.assert_array_equal(answer.r[2::3], 0)
            # Both residuals are below 1e-10 of the scale of the problem; the condition of W is below 1e3.
            np.testing.assert_allclose(delassus.to_plane(answer.r), r, rtol=0, atol=1e-7 * np.abs(r).max(), err_msg=name)

    def test_files_of_any_kind_get_one_page_with_both(self):
        import siconos_rows
        snapshots.run_program("export", self.path, "--local", "-o", self.folder / "local.npz")
        flat = write_problem(self.folder / "flat.hdf5", *in_plane(), 2)
        arguments = [str(self.path), str(self.folder / "local.npz"), str(flat), "-o", str(self.folder / "beside"), "--siconos", "NSGS;NSGS, quartic", "--solver", "pgs",
                     "--tolerance", "1e-6", "--repetitions", "1", "--no-replay"]
        with mock.patch.object(snapshots, "say"), mock.patch.object(self.siconos, "say"):
            self.assertEqual(siconos_rows.run(siconos_rows.parse(arguments)), 0)
        from signorini_report import run_tables, runs_page
        experiment = run_tables.read_tables([self.folder / "beside" / "runs.csv"], self.folder)
        solved = {key["variant"]: (count, good) for key, count, good, *_ in runs_page.solver_rows(experiment)}
        self.assertEqual(solved, {"pgs": (3, 3), "siconos-nsgs": (3, 3), "siconos-nsgs quartic": (3, 3)})
        theirs = experiment.runs[experiment.runs["solver"] == "siconos-nsgs"]
        self.assertEqual(sorted(theirs["file"]), ["flat"] * 2 + ["local"] * 2 + ["problem"] * 2)
        self.assertTrue((theirs["siconos_error"] < 1e-5).all() and (theirs["setup_seconds"] > 0).all())
        once = runs_page.outcomes(experiment.runs)
        self.assertEqual(len(once), 9)
        self.assertIn("siconos-nsgs", (self.folder / "beside" / "index.html").read_text())

    def test_wrong_command_lines_say_what_is_missing(self):
        import siconos_rows
        for words, part in (([], "name files with -o DIR"), ([str(self.path)], "-o DIR is missing"), ([str(self.folder), "-o", "x"], "is a folder"),
                            ([str(self.folder), "--tolerance", "1"], "have run already"), (["--experiment", "x", "-o", "y"], "--experiment names a result"),
                            ([str(self.path), "-o", "x", "--siconos", "NSGZ"], "unknown 'NSGZ'")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
                siconos_rows.parse(words)
            self.assertIn(part, said.getvalue())

    def test_solvers_reach_what_the_referee_asks_for(self):
        referee, problem = self.siconos.Referee(self.path), self.native()
        for name in ("NSGS", "NSN-AC", "PROX"):
            answer, residual, given = self.siconos.to_tolerance(problem, referee, name, 1e-8, (10000, 10.0))
            self.assertEqual(answer.ended, "", name)
            self.assertLessEqual(residual, 1e-8, name)
            self.assertEqual(self.siconos.status_of(answer, residual, 1e-8, 10000), "converged")
            self.assertLessEqual(given, 1e-8)

    def test_a_solver_that_stops_too_early_is_given_less(self):
        asked = []

        def early(problem, code, local, tolerance, *_):
            asked.append(tolerance)
            return self.library.Answer("", 0, 1, 1e-3, 1.0, np.full(9, tolerance))
        referee = mock.Mock(residual=lambda r: 100.0 * r[0])
        with mock.patch.object(self.library, "solve", early):
            _, residual, given = self.siconos.to_tolerance(None, referee, "NSGS", 1e-6, (10, 1.0))
        self.assertEqual(len(asked), 2)
        self.assertAlmostEqual(given / 5e-9, 1.0, places=12)  # half of 1e-6 / 100
        self.assertLessEqual(residual, 1e-6)

    def test_a_solve_that_hangs_ends_the_process_or_throws_is_an_answer(self):
        def fails(*_):
            raise RuntimeError("two\nlines")
        for act, ended in ((lambda *_: time.sleep(60), "time_limit"), (lambda *_: os._exit(3), "ended the process with code 3"),
                           (lambda *_: os.kill(os.getpid(), signal.SIGSEGV), "ended by signal 11"), (fails, "two lines")):
            limit = 0.1 if ended == "time_limit" else 30.0  # a busy machine takes its time to start a process
            with mock.patch.object(self.library, "solve_here", act), mock.patch.object(self.library, "GRACE", 0.1):
                self.assertEqual(self.library.solve(self.native(), 0, None, 1e-6, 10, limit).ended, ended)

    def test_rows_have_the_form_of_runs_csv_and_the_rest_is_not_run(self):
        folder = self.folder / "out" / "mine"
        folder.mkdir(parents=True)
        snapshots.run_program("solve", self.path, "--solver", "pgs", "--csv", folder / "rows.csv")
        (folder / "runs.csv").write_text((folder / "rows.csv").read_text())
        schema = next(folder.glob("*.schema.json"), None)
        text = schema.read_text() if schema else snapshots.run_program("list", "columns", "--json")
        (folder / "runs.schema.json").write_text(text if text.lstrip().startswith("{") else f'{{"runs.csv": {text}}}')
        (folder / "run.toml").write_text(f"tolerances = [1e-3, 1e-6]\nfiles = [\"{self.path}\"]\ntime_limit = 60.0\n[sizes]\nquick = {{ time_limit = 5.0 }}\n")
        (folder / "env.json").write_text('{"size": "quick"}')
        solve = self.library.solve

        def hangs(problem, code, *rest):
            return solve(problem, code, *rest) if code == self.siconos.code_of("NSGS") else self.library.Answer("time_limit")
        with mock.patch.object(self.library, "solve", hangs), mock.patch.object(snapshots, "say"), mock.patch.object(self.siconos, "say"):
            self.siconos.write(folder, ["NSGS", "HP"])
        from signorini_report import data
        rows = data.read_runs(folder / "siconos.csv").sort_values(["solver", "tolerance"])
        self.assertEqual(list(rows["label"]), ["Siconos HP"] * 2 + ["Siconos NSGS"] * 2)
        self.assertEqual(list(rows["status"]), ["time_limit"] * 2 + ["converged"] * 2)
        self.assertEqual(rows["message"].iloc[0], "not run: time_limit at 0.001")
        self.assertEqual(set(rows["solve_seconds"].iloc[:2]), {5.0})
        self.assertTrue((rows["residual"].iloc[2:] <= rows["tolerance"].iloc[2:]).all())
        self.assertTrue((rows["setup_seconds"].iloc[2:] > 0).all())
        self.assertFalse((folder / "siconos.partial.csv").exists())
        self.check_renewed_set_up(folder)

    def check_renewed_set_up(self, folder):
        """Rows of ours with another set-up: Siconos' rows take it and are otherwise the same."""
        def table(name):
            with open(folder / name, newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))
        ours, before = table("runs.csv"), table("siconos.csv")
        snapshots.write_table(folder / "runs.csv", list(ours[0]), [row | {"setup_seconds": "0.125"} for row in ours])
        with mock.patch.object(self.siconos, "say"):
            self.siconos.renew_set_up(folder)
        self.assertEqual(table("siconos.csv"), [row | {"setup_seconds": "0.125"} for row in before])
        self.assertNotEqual({row["setup_seconds"] for row in before}, {"0.125"})
        snapshots.write_table(folder / "runs.csv", list(ours[0]), [row | {"file": "other"} for row in ours])
        with self.assertRaisesRegex(snapshots.ProblemError, "no set-up of pgs on"):
            self.siconos.renew_set_up(folder)


if __name__ == "__main__":
    unittest.main()
