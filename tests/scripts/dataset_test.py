"""scripts/make_dataset: snapshots are chosen as it says, files hold true solutions, two runs make the same bytes, failures are rows."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import types
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests/scripts")]

import h5py  # noqa: E402
import numpy as np  # noqa: E402
from signorini_dataset import conditioning, datasheet, difficulty, folder_lock, gallery, layout, parts, problems, program, recordings, tables, zenodo  # noqa: E402
from slow import slow  # noqa: E402
from signorini_dataset.choice import POOL, candidates, choose, ranks  # noqa: E402

PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")


def snapshots(*contacts):
    return [{"step": f"{number:06d}", "contacts": count} for number, count in enumerate(contacts)]


def steps(chosen):
    return [int(snapshot["step"]) for snapshot in chosen]


def whole(group):
    triplets = conditioning.Triplets(group)
    return triplets.rows(0, triplets.shape[0])


class Choice(unittest.TestCase):
    def test_few_are_all_kept_and_poor_ones_never(self):
        pool = candidates(snapshots(0, 5, 2, 9), most=4, contacts=3, stride=1)
        self.assertEqual(steps(pool), [1, 3])
        self.assertEqual(steps(choose(pool, 4)), [1, 3])

    def test_candidates_are_in_turn_the_richest_and_the_poorest_of_spans_of_time(self):
        counts = [5, 7, 7, 4, 8, 3, 9, 9, 9, 6, 7, 5] + [10] * 12
        pool = candidates(snapshots(*counts), most=2, contacts=3, stride=1)  # eight spans of three
        self.assertEqual(len(pool), 2 * POOL)
        self.assertEqual(steps(pool)[:4], [1, 5, 6, 11])

    def test_stride_comes_first(self):
        self.assertEqual(steps(candidates(snapshots(9, 99, 8, 99, 7, 99), most=10, contacts=1, stride=2)), [0, 2, 4])

    def test_equal_values_share_a_place(self):
        self.assertEqual(ranks([7, 3, 7, 9, 7]), [0.5, 0.0, 0.5, 1.0, 0.5])

    def test_the_choice_is_even_in_time_contacts_and_difficulty(self):
        # 40 snapshots: contacts rise and fall; ten snapshots at even times are all easy or all hard, with a gap of 0.74.
        pool = snapshots(*(10 + min(number, 40 - number) for number in range(40)))
        for number, snapshot in enumerate(pool):
            snapshot["difficulty"] = (9 * number % 40, 0.0)
        chosen = choose(pool, 10)
        self.assertEqual(len(chosen), 10)
        for key in ("step", "contacts", "difficulty"):
            place = dict(zip([snapshot["step"] for snapshot in pool], ranks([snapshot[key] for snapshot in pool])))
            places = sorted(place[snapshot["step"]] for snapshot in chosen)
            self.assertLess(max(b - a for a, b in zip([0.0, *places], [*places, 1.0])), 2 / 9, key)  # even places are 1/9 apart
        self.assertEqual(steps(chosen), steps(choose(pool, 10)))

    def test_a_single_one_is_rich_hard_and_late(self):
        pool = snapshots(3, 9, 9, 4)
        for snapshot, hard in zip(pool, (0, 1, 2, 1)):
            snapshot["difficulty"] = (hard, 0.0)
        self.assertEqual(steps(choose(pool, 1)), [2])

    def test_never_more_than_asked_for(self):
        for most in (1, 2, 5, 11):
            for count in (0, 1, 4, 5, 12, 47, 60):
                pool = candidates(snapshots(*range(3, 3 + count)), most=most, contacts=3, stride=1)
                for snapshot in pool:
                    snapshot["difficulty"] = snapshot["contacts"] % 3
                chosen = steps(choose(pool, most))
                self.assertEqual(len(chosen), min(most, count))
                self.assertEqual(chosen, sorted(set(chosen)))

    def test_what_cheap_solves_leave_sorts_after_what_they_solve(self):
        keys = [difficulty.key(12, 9e-4), difficulty.key(300, 8e-4), difficulty.key(300, 2e-2), difficulty.key(300, float("nan")), difficulty.key(-1, 0.0)]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(len(set(keys)), 4)  # not a number counts as no answer


def row_of(name, scene, size, **more):
    return dict.fromkeys(problems.FIELDS, "") | {"name": name, "scene": scene, "bytes": size, "status": "reached", "residual": "1e-13", "contacts": 4, "rank": 12} | more


class Clock(unittest.TestCase):
    """A solver that the clock ended may find more on a faster machine: its row says so, and another limit makes the problem again."""

    def test_the_row_says_which_solver_the_clock_ended(self):
        ends = {"a": ("stalled", "3e-9"), "b": ("time_limit", "1e-7"), "c": ("converged", "1e-13")}
        asked = types.SimpleNamespace(solvers=["a", "b", "c"], tolerance=1e-12)
        with mock.patch.object(problems, "solve", lambda asked, recording, step, solver, folder:
                               ({"status": ends[solver][0], "residual": ends[solver][1], "message": ""}, solver)):
            best, message = problems.best_solution(asked, "r.h5", "000001", "nowhere")
        self.assertEqual((best[1], message), ("c", "b: time_limit"))

    def test_another_limit_makes_it_again_and_only_it(self):
        with tempfile.TemporaryDirectory() as folder:
            note, settings = Path(folder) / "note.json", {"version": problems.VERSION}
            for message, taken in (("", True), ("b: time_limit", False)):
                note.write_text(json.dumps({"settings": settings, "time_limit": 20.0, "row": {"message": message}, "sha256": {}}))
                self.assertIsNotNone(problems.noted(note, Path(folder), settings, 20.0))
                self.assertEqual(problems.noted(note, Path(folder), settings, 40.0) is not None, taken, message)


class Parts(unittest.TestCase):
    def test_the_smallest_of_each_scene_comes_first(self):
        rows = [row_of(f"{scene}-{number}", scene, size) for scene, sizes in (("a", (1, 2, 30)), ("b", (8, 9)), ("c", (50,))) for number, size in enumerate(sizes)]
        self.assertEqual([row["name"] for row in parts.by_preference(rows)], ["a-0", "b-0", "c-0", "a-1", "b-1", "a-2"])

    def test_archives_have_no_dates_and_hold_what_tar_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            folder, made = Path(folder), []
            (folder / "a").write_bytes(parts.pressed(parts.entry("root/problems/a.npz", b"1" * 5000)))
            for number in range(2):
                os.utime(folder / "a", (number * 1e6, number * 1e6))
                parts.write_archive(folder / f"{number}.tar.xz", "root", {"DATASHEET.md": "words"}, ["a"], folder)
                made.append((folder / f"{number}.tar.xz").read_bytes())
            self.assertEqual(made[0], made[1])
            told = subprocess.run(["tar", "tvf", folder / "0.tar.xz"], capture_output=True, text=True, timeout=60)
            self.assertEqual([line.split()[-1] for line in told.stdout.splitlines()], ["root/DATASHEET.md", "root/problems/a.npz"], told.stderr)


class Datasheet(unittest.TestCase):
    SETTINGS = {"size": "quick", "scenes": ["a", "b"], "steps": None, "contact_steps": None, "most": 2, "contacts": 3, "stride": 1,
                "solvers": ["prox-newton", "auto"], "tolerance": 1e-12, "max_iterations": 5000, "time_limit": 120.0}

    def made(self):
        scenes = [dict.fromkeys(("message", "differing"), "") | {"scene": "a", "status": "recorded", "steps": 50, "unresolved": 2},
                  {"scene": "b", "status": "failed", "message": "no room", "differing": "", "steps": "", "unresolved": ""}]
        rows = [row_of("a-000001", "a", 1000, contacts=10, rank=30, residual="3.00e-13"), row_of("a-000002", "a", 3000, contacts=20, rank=41, residual="2.00e-05", status="stalled"),
                row_of("a-000003", "a", 2000, contacts=900, rank="", residual="5.00e-11", status="accurate")]
        return layout.Made(scenes, [], rows, {})

    def test_it_counts_what_the_tables_hold(self):
        text = datasheet.text(self.made(), self.SETTINGS)
        self.assertNotIn("$", text)
        for words in ("3 problems of 1 scene,", "10 – 900", "`a-000002` (2.00e-05, stalled)", "velocities are: 1 of 2 problems", "not measured on 1 larger problem.",
                      "Scene `b` could not be recorded: no room", "2 of 50 steps", "2 of 3", "No snapshot here: `b`", "BSD-3-Clause",
                      "make_dataset --size quick --most 2 --contacts 3 --scenes a,b"):
            self.assertIn(words, text)
        self.assertRegex(text, r"\| ≤ 1e-10 \| 2 \|")
        self.assertRegex(text, r"\| > 1e-06 \| 1 \|")

    def test_zenodo_gets_the_keys_it_knows(self):
        metadata = json.loads(zenodo.text(self.made(), self.SETTINGS | {"part": "standard", "problems_of_all_parts": 9}))
        known = {"title", "upload_type", "description", "creators", "access_right", "license", "version", "language", "keywords", "references", "related_identifiers"}
        self.assertEqual(set(metadata), known)  # of Zenodo's deposit metadata, which refuses others
        self.assertEqual((metadata["upload_type"], metadata["license"]), ("dataset", "BSD-3-Clause"))
        self.assertEqual(metadata["creators"], [{"name": "The Signorini authors"}])
        self.assertEqual(len(metadata["references"]), 3)
        self.assertIn("3 of 9 problems", metadata["description"])


class Watching(unittest.TestCase):
    def test_memory_and_time_are_those_of_the_program(self):
        here = bytearray(300_000_000)  # must not be counted
        done = program.run(sys.executable, "-c", "import time\nx = b'1' * 100_000_000\nwhile time.process_time() < 0.5: pass\nprint(len(x))")
        self.assertEqual(done.out, "100000000\n")
        self.assertGreater(done.peak, 100_000_000)
        self.assertLess(done.peak, 100_000_000 + len(here) // 2)
        self.assertGreater(done.cpu, 0.4)

    def test_an_error_is_its_last_line(self):
        with self.assertRaisesRegex(program.Failed, "^second$"):
            program.run(sys.executable, "-c", "import sys; sys.exit('first\\n\\nsecond')")


    def test_a_program_that_was_ended_from_outside_gave_no_answer(self):
        for ending in ("os.kill(os.getpid(), signal.SIGTERM)", "sys.exit(130)"):
            ended = f"import os, signal, sys; {ending}"
            with self.assertRaises(program.EndedFromOutside):
                program.run(sys.executable, "-c", ended, may_end_with=(0, 1))
            with tempfile.TemporaryDirectory() as folder:
                fake, recording = Path(folder) / "signorini", Path(folder) / "scene.h5"
                fake.write_text(f"#!{sys.executable}\n{ended}\n")
                fake.chmod(0o755)
                with self.assertRaises(program.EndedFromOutside):
                    difficulty.add(types.SimpleNamespace(program=fake), recording, "digest", [{"step": "000001"}])
                with self.assertRaises(program.EndedFromOutside):
                    problems.best_solution(types.SimpleNamespace(program=fake, solvers=["pgs"], tolerance=1e-6, max_iterations=10, time_limit=1, threads=1),
                                           recording, "000001", folder)
                self.assertFalse(recording.with_suffix(".difficulty.json").exists())


class Spectrum(unittest.TestCase):
    def test_of_a_problem_worked_out_by_hand(self):
        # M = diag(2, 2, 4), two equal contacts along the axes: W = [[D, D], [D, D]], D = diag(1/2, 1/2, 1/4): rank 3, eigenvalues 2 D.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.hdf5"
            with h5py.File(path, "w") as file:
                for name, shape, i, p, x in (("M", (3, 3), [0, 1, 2], [0, 1, 2], [2.0, 2.0, 4.0]),
                                             ("H", (3, 6), [0, 1, 2, 0, 1, 2], [0, 1, 2, 3, 4, 5], [1.0] * 6)):
                    group = file.create_group(f"fclib_global/{name}")
                    group["m"], group["n"] = [shape[0]], [shape[1]]
                    group["i"], group["p"], group["x"] = i, p, x
                file["signorini/body_dofs"] = [0, 1, 1, 3]
            self.assertEqual(conditioning.spectrum(path), {"rank": "3", "condition": "2.0e+00"})
            with h5py.File(path, "a") as file:  # a mass that couples the two bodies
                for name, value in (("i", 0), ("p", 2), ("x", 0.1)):
                    values = np.append(file[f"fclib_global/M/{name}"][:], value)
                    del file[f"fclib_global/M/{name}"]
                    file[f"fclib_global/M/{name}"] = values
            with self.assertRaisesRegex(ValueError, "couples bodies"):
                conditioning.spectrum(path)


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class Dataset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.root = Path(cls.directory.name)
        cls.first = cls.make("first_quick", "--threads", "1")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def start(cls, out, *more, scenes="springtoy,rigidstack"):
        words = [SOURCE / "scripts/make_dataset", "--scenes", scenes, "--most", "2", "--contacts", "1", "--max-iterations", "300",
                 "--program", PROGRAM, "--out", cls.root / out, *more]
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=250)

    @classmethod
    def make(cls, out, *more, **keys):
        done = cls.start(out, *more, **keys)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return cls.root / out

    def test_tables_list_what_is_there(self):
        problems = tables.read_table(self.first / "problems.csv")
        self.assertEqual([row["scene"] for row in problems], ["springtoy"] * 2 + ["rigidstack"] * 2)
        for row in problems:
            with h5py.File(self.first / "problems" / f"{row['name']}.hdf5", "r") as file:
                self.assertEqual(len(file["fclib_global/vectors/mu"]), int(row["contacts"]))
                self.assertEqual(len(file["fclib_global/vectors/f"]), int(row["dofs"]))
                self.assertEqual(file["signorini"].attrs["dt"], float(row["dt"]))
                self.assertEqual(file["signorini"].attrs["time"], float(row["time"]))
                self.assertIn(f"step {row['step']} of {row['scene']}.h5", file["fclib_global/info/description"][()].decode())
            self.assertEqual(int(row["bytes"]), sum((self.first / "problems" / f"{row['name']}{suffix}").stat().st_size for suffix in (".hdf5", ".npz")))
            self.assertTrue(0 <= int(row["pgs_sweeps"]) <= difficulty.SWEEPS)
        scenes = {row["scene"]: row for row in tables.read_table(self.first / "scenes.csv")}
        self.assertEqual(scenes["rigidstack"]["status"], "recorded")
        facts = (SOURCE / "configs" / "scenes" / "rigidstack.toml").read_text().count("\n[facts.")
        self.assertEqual(scenes["rigidstack"]["facts"], f"{facts}/{facts}")
        self.assertGreater(int(scenes["rigidstack"]["bytes_per_contact"]), 0)

    def test_solutions_solve_their_problems(self):
        for row in tables.read_table(self.first / "problems.csv"):
            path = self.first / "problems" / f"{row['name']}.hdf5"
            with h5py.File(path, "r") as file:
                problem, answer = file["fclib_global"], file["solution"]
                M, H = (whole(problem[name]) for name in "MH")
                f, w, mu = (problem[f"vectors/{name}"][:] for name in ("f", "w", "mu"))
                r, u, v = (answer[name][:] for name in "ruv")
            scale = np.abs(H.T @ np.linalg.solve(M, f) + w).max()
            W = conditioning.delassus(path)
            np.testing.assert_allclose(W, H.T @ np.linalg.solve(M, H), atol=1e-9 * np.abs(W).max())
            np.testing.assert_allclose(M @ v, H @ r + f, atol=1e-10 * np.abs(f).max())
            np.testing.assert_allclose(u, H.T @ v + w, atol=1e-10 * scale)
            r, u = r.reshape(-1, 3), u.reshape(-1, 3)
            # What the table says the referee found, with an order of magnitude for the other way to measure it.
            error = 10.0 * max(float(row["residual"]), 1e-12) * scale
            self.assertGreaterEqual(r[:, 0].min(), 0.0)
            self.assertGreaterEqual(u[:, 0].min(), -error)
            pressed = r[:, 0] > 1e-6 * r[:, 0].max()
            self.assertLess(np.abs(u[pressed, 0]).max(initial=0.0), error)
            self.assertLessEqual((np.hypot(r[:, 1], r[:, 2]) - mu * r[:, 0]).max(), 10.0 * max(float(row["residual"]), 1e-12) * max(r[:, 0].max(), 1e-12))

    def loader(self, folder):
        """contact_problems.py as it lies in the dataset."""
        spec = importlib.util.spec_from_file_location("contact_problems", folder / "contact_problems.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module

    def test_both_files_of_a_problem_hold_the_same(self):
        loader = self.loader(self.first)
        for row, problem in loader.problems():
            other = loader.load(self.first / "problems" / f"{row['name']}.hdf5")
            self.assertEqual((problem.contacts, len(problem.f)), (int(row["contacts"]), int(row["dofs"])))
            self.assertIn(f"{row['name']}.hdf5", problem.more["description"].item().decode())
            for name in ("f", "w", "mu", "r", "u", "v"):
                np.testing.assert_array_equal(getattr(problem, name), getattr(other, name), name)
            for name in ("M", "H"):
                self.assertEqual(abs(getattr(problem, name) - getattr(other, name)).max(), 0.0, name)
            for name in ("v_minus", "start_states", "start_bounds", "warm_start", "gap", "frame", "position", "bodies", "dt", "time"):
                np.testing.assert_array_equal(np.ravel(problem.more[name]), np.ravel(other.more[name]), name)

    def test_the_loader_measures_as_the_referee(self):
        loader = self.loader(self.first)
        for row, problem in loader.problems():
            path = self.first / "problems" / f"{row['name']}.npz"
            for tolerance, count in (("1e-1", 3), ("1e-4", 50), ("1e-12", 5000)):
                answer = self.root / "answer.npz"
                done = subprocess.run([PROGRAM, "--json", "solve", path, "--solver", "pgs", "--tolerance", tolerance, "--max-iterations", str(count),
                                       "--solution", answer, "--force"], capture_output=True, text=True, timeout=60)
                told = json.loads(done.stdout)[0]["residual"]
                found = loader.residual(problem, np.load(answer)["r"])
                # Roundings of two ways to solve with M: 1e-12 of the velocity scale, ten times what was seen.
                self.assertAlmostEqual(found, told, delta=1e-12 + 1e-9 * told, msg=f"{row['name']} {tolerance}")
            self.assertEqual(loader.residual(problem, np.full(3 * problem.contacts, np.nan)), np.inf)

    def test_the_loader_finds_what_is_wrong(self):
        copy = self.root / "copy"
        shutil.copytree(self.first, copy, ignore=shutil.ignore_patterns("recordings"))
        command = [sys.executable, "-B", copy / "contact_problems.py"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "4 problems: checksums and residuals are those of the tables\n"), done.stderr)
        name = tables.read_table(copy / "problems.csv")[-1]["name"]
        arrays = dict(np.load(copy / "problems" / f"{name}.npz"))
        np.savez(copy / "problems" / f"{name}.npz", **arrays | {"r": 1.01 * arrays["r"]})
        (copy / "scenes.csv").unlink()
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3, done.stdout)
        for words in (f"problems/{name}.npz: another content", "scenes.csv: is missing", f"{name}: residual "):
            self.assertTrue(any(line.startswith(words) for line in lines), done.stdout)

    def test_checksums_are_those_of_the_files(self):
        done = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=self.first, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout)
        names = {line.split("  ")[1] for line in (self.first / "SHA256SUMS").read_text().splitlines()}
        there = {path.relative_to(self.first).as_posix() for path in self.first.rglob("*") if path.is_file() and path.parts[-2] != "recordings"}
        self.assertEqual(there - names - {name for name in there if Path(name).name.startswith(".") and name != ".zenodo.json"}, {"SHA256SUMS", "made_by.json"})
        self.assertEqual(sum(name.startswith("problems/") for name in names), 8)

    def test_the_datasheet_is_of_these_problems(self):
        text = (self.first / "DATASHEET.md").read_text()
        self.assertIn("4 problems of 2 scenes", text)
        self.assertIn("--scenes springtoy,rigidstack", text)
        self.assertNotIn(str(self.root), text)

    def test_parts_split_the_problems(self):
        rows = tables.read_table(self.first / "problems.csv")
        pieces = sum(len(parts.pressed(b"".join(parts.entry("name", (self.first / "problems" / f"{row['name']}{suffix}").read_bytes()) for suffix in parts.SUFFIXES)))
                     for row in parts.by_preference(rows)[:3])
        budget = parts.ROOM + pieces + 3 * 200  # names of entries are longer
        self.make("first_quick", "--pack", "--part-bytes", str(budget))
        found = {}
        for part in ("standard", "further"):
            with tarfile.open(self.root / f"first_quick_{part}.tar.xz") as archive:
                archive.extractall(self.root / "parts")
            folder = self.root / "parts" / f"contact-problems-quick-{part}"
            done = subprocess.run([sys.executable, "-B", folder / "contact_problems.py"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout)
            found[part] = [row["name"] for row in tables.read_table(folder / "problems.csv")]
            self.assertIn(f"{part} part", (folder / "DATASHEET.md").read_text())
        self.assertLessEqual((self.root / "first_quick_standard.tar.xz").stat().st_size, budget)
        self.assertEqual((len(found["standard"]), len(found["further"])), (3, 1))
        self.assertEqual(sorted(found["standard"] + found["further"]), sorted(row["name"] for row in rows))

    def test_runs_on_the_dataset_make_a_leaderboard(self):
        runs = self.root / "mine.csv"
        files = sorted((self.first / "problems").glob("*.npz"))
        done = subprocess.run([PROGRAM, "solve", *files, "--solver", "pgs,ica", "--tolerance", "1e-4", "--max-iterations", "500", "--csv", runs],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([SOURCE / "scripts/report", "--runs", runs, "--leaderboard", self.first, "-o", self.root / "board"],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.root / "board/index.html").read_text()
        for words in ("4 problems of", "Machine 1", "Residual ≤ 1e-4", "<td class=''>pgs</td>", "<td class=''>ica</td>"):
            self.assertIn(words, page)
        self.assertNotIn("Left out", page)

    def test_other_numbers_of_threads_and_jobs_make_the_same_bytes(self):
        second = self.make("second_quick", "--threads", "2", "--jobs", "3")
        for name in ("SHA256SUMS", "problems.csv", "scenes.csv", "facts.csv", "DATASHEET.md", ".zenodo.json", "settings.json"):
            self.assertEqual((second / name).read_bytes(), (self.first / name).read_bytes(), name)
        for path in (self.first / "problems").glob("*.npz"):
            self.assertEqual((second / "problems" / path.name).read_bytes(), path.read_bytes(), path.name)

    def test_a_run_goes_on_with_what_is_there(self):
        again = shutil.copytree(self.first, self.root / "again_quick")
        sums, kept, lost = again / "SHA256SUMS", *sorted((again / "problems").glob("*.npz"))[:2]
        before, when = sums.read_bytes(), kept.stat().st_mtime_ns
        lost.unlink()
        (again / "problems" / f"{problems.UNFINISHED}x").mkdir()  # what a kill leaves
        self.make("again_quick")
        self.assertEqual(sums.read_bytes(), before)
        self.assertEqual(kept.stat().st_mtime_ns, when, "made anew without need")
        self.assertTrue(lost.is_file())
        self.assertFalse((again / "problems" / f"{problems.UNFINISHED}x").exists())

    def test_a_folder_that_another_process_works_in_is_left_alone(self):
        folder = self.root / "busy"
        unfinished = folder / "problems" / f"{problems.UNFINISHED}x"
        unfinished.mkdir(parents=True)
        words = [SOURCE / "scripts/make_dataset", "--program", PROGRAM, "--scenes", "incline", "--record-only", "--out", folder]
        with folder_lock.held(folder):
            done = subprocess.run(words, capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"is being made by process {os.getpid()}", done.stderr)
            self.assertTrue(unfinished.is_dir())
        self.assertFalse((folder / folder_lock.NAME).exists())
        # what a killed one has started holds the folder on
        with folder_lock.held(folder):
            child = subprocess.Popen(["sleep", "60"], pass_fds=program.INHERITED)
            (folder / folder_lock.NAME).rename(folder / "kept")
        (folder / "kept").rename(folder / folder_lock.NAME)
        with self.assertRaises(folder_lock.Busy), folder_lock.held(folder):
            pass
        child.kill()
        child.wait()
        with folder_lock.held(folder):
            pass

    def interrupted(self, *words, begun):
        """Starts make_dataset and ends it when all of the paths `begun` are there."""
        process = subprocess.Popen([str(word) for word in (SOURCE / "scripts/make_dataset", "--record-only", "--program", PROGRAM, *words)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 60.0
            while not all(path.exists() for path in begun) and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            process.terminate()
            error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, error)

    def test_an_interrupted_run_stops_its_recording_and_goes_on(self):
        recordings = self.root / "cut_quick/recordings"
        self.interrupted("--scenes", "bucket", "--threads", "1", "--out", self.root / "cut_quick", begun=[recordings / "bucket.h5.parts/steps.csv"])
        self.assertFalse((recordings / "bucket.h5").exists(), "the scene ended too early to be interrupted")
        took = json.loads((recordings / "bucket.took.json").read_text())
        self.assertGreater(took["seconds"], 0.0)
        self.assertGreater(took["cpu_seconds"], 0.0)
        self.make("cut_quick", "--tables", scenes="bucket")
        row = tables.read_table(self.root / "cut_quick/scenes.csv")[0]
        done = int(row["steps"])
        self.assertEqual((row["status"], row["message"]), ("unfinished", f"{done} of 2500 steps"))
        self.assertLess(done, 2500)  # how many are on disk when it ends depends on the machine
        self.assertTrue(gallery.scene_line(row, took).startswith(f"| `bucket` | {done} of 2500 | – |"))
        none = row | {"steps": "0", "message": "0 of 2500 steps"}
        self.assertIn("| 0 of 2500 | – |", gallery.scene_line(none, took))
        self.make("cut_quick", "--record-only", scenes="bucket")
        self.assertEqual(tables.read_table(self.root / "cut_quick/scenes.csv")[0]["status"], "recorded")

    def test_an_interrupted_run_stops_all_of_its_programs(self):
        recordings, scenes = self.root / "both_quick/recordings", ("cloth", "pyramid")
        self.interrupted("--scenes", ",".join(scenes), "--jobs", "2", "--out", self.root / "both_quick",
                         begun=[recordings / f"{scene}.h5.parts/steps.csv" for scene in scenes])
        sizes = [(recordings / f"{scene}.h5.parts/steps.csv").stat().st_size for scene in scenes]
        for scene in scenes:
            self.assertGreater(json.loads((recordings / f"{scene}.took.json").read_text())["seconds"], 0.0)
        time.sleep(0.3)  # a program that still runs writes several steps in this time
        self.assertEqual([(recordings / f"{scene}.h5.parts/steps.csv").stat().st_size for scene in scenes], sizes)

    @slow
    def test_slow_other_settings_make_other_files_and_failures_are_rows(self):
        out = self.make("poor_quick", "--solvers", "cr-full,ica", "--max-iterations", "1", scenes="rigidstack")
        for row in tables.read_table(out / "problems.csv"):
            self.assertEqual(row["status"], "iteration_limit")
            self.assertGreater(float(row["residual"]), 1e-11)
        out = self.make("poor_quick", "--solvers", "nonsense", scenes="rigidstack")
        for row in tables.read_table(out / "problems.csv"):
            self.assertEqual(row["status"], "no solution")
            self.assertIn("unknown solver 'nonsense'", row["message"])
            with h5py.File(out / "problems" / f"{row['name']}.hdf5", "r") as file:
                self.assertNotIn("solution", file)
            self.assertNotIn("r", np.load(out / "problems" / f"{row['name']}.npz"))
        self.assertIn("no solution | 2 |", (out / "DATASHEET.md").read_text())

    def test_a_scene_that_cannot_be_recorded_is_a_row(self):
        broken = self.root / "broken_quick/recordings/springtoy.h5"
        broken.parent.mkdir(parents=True)
        broken.write_bytes(b"not a recording")
        done = self.start("broken_quick", scenes="springtoy")
        self.assertEqual(done.returncode, 1, done.stderr)
        row = tables.read_table(self.root / "broken_quick/scenes.csv")[0]
        self.assertEqual((row["status"], row["steps"]), ("failed", ""))
        self.assertIn("springtoy.h5", row["message"])
        self.assertNotIn(str(self.root), row["message"])

    def test_of_few_steps_with_contact_every_one_is_recorded(self):
        out = self.make("few_quick", "--record-only", "--contact-steps", "3", scenes="bucket")
        row = tables.read_table(out / "scenes.csv")[0]
        self.assertEqual((row["status"], row["snapshots"]), ("recorded", "3"))

    @slow
    def test_slow_steps_with_contact_stand_beside_the_papers_numbers(self):
        out = self.make("cut_paper", "--size", "quick", "--record-only", "--contact-steps", "3", scenes="rings,springtoy")
        rows = {row["scene"]: row for row in tables.read_table(out / "scenes.csv")}
        found = gallery.contact_steps(out / "recordings/rings.steps.csv")
        self.assertEqual(len(found), 3)
        self.assertTrue(all(contacts >= gallery.LEAST and seconds > 0.0 for contacts, seconds in found))
        self.assertLess(int(rows["rings"]["steps"]), 150)
        self.assertEqual(gallery.planned_steps(out / "recordings/rings.h5"), 150)
        self.assertGreater(int(rows["rings"]["open"]), 0)
        self.assertEqual((rows["springtoy"]["steps"], rows["springtoy"]["open"]), ("20", "0"))  # never has so many contacts
        page = self.root / "paper.md"
        gallery.write(page, out)
        lines = page.read_text().splitlines()
        beside = next(line for line in lines[lines.index("### Beside the papers"):] if line.startswith("| `rings`")).split("|")
        self.assertEqual([cell.strip() for cell in beside[5:6] + beside[7:8] + beside[9:11]], ["760", "1.46 s", "380 MB", "150"])
        self.assertIn("not reached", page.read_text())

    def test_growth_of_a_whole_recording_leaves_pauses_out(self):
        folder = self.root / "grown_medium"
        (folder / "recordings").mkdir(parents=True)
        steps = [(20, 1.0)] * 20 + [(40, 3.0)] * 20 + [(40, 1000.0), (5, 7.0)]  # one in which the machine slept, one with few contacts
        text = "contacts," + ",".join(gallery.CLOCKS) + "\n"
        text += "".join(f"{contacts},0,0,0,{seconds},0\n" for contacts, seconds in steps)
        (folder / "recordings/rings.steps.csv").write_text(text)
        (folder / "recordings/rings.took.json").write_text('{"seconds": 1100.0, "cpu_seconds": 90.0}')
        self.assertAlmostEqual(gallery.growth(folder, "rings"), 2.0)
        found, share = gallery.measured_steps(folder / "recordings/rings.steps.csv", gallery.took_of(folder, "rings"))
        self.assertEqual((len(found), share), (40, 0.9))
        self.assertIsNone(gallery.growth(folder, "bunnies"))

    def test_whole_scenes_stand_beside_the_papers_means(self):
        folder = self.root / "dataset_paper_whole"
        (folder / "recordings").mkdir(parents=True)
        cells = ("rings", "paper", "recorded", "700", "3", "15768", "30", "2", "1", "0", "1e-3", "1", "1", "1/1", "", "0", "")
        (folder / "scenes.csv").write_text(",".join(recordings.FIELDS) + "\n" + ",".join(cells) + "\n")
        cut = ("bunnies", "paper", "unfinished", "3", "1", "", "40", "2", "1", "0", "", "1", "", "0/0", "", "0", "3 of 1000 steps")
        with open(folder / "scenes.csv", "a", encoding="utf-8") as file:
            file.write(",".join(cut) + "\n")
        (folder / "facts.csv").write_text("scene,fact,says,quantity,over,value,unit,at_least,at_most,holds,reached\n")
        text = "contacts,pressed," + ",".join(gallery.CLOCKS) + "\n"
        text += "".join(f"{contacts},{pressed},0,0,0,{seconds},0\n" for contacts, pressed, seconds in [(20, 10, 1.0), (40, 30, 3.0), (5, 5, 7.0)])
        (folder / "recordings/rings.steps.csv").write_text(text)
        (folder / "recordings/rings.took.json").write_text('{"seconds": 22.0, "cpu_seconds": 11.0, "peak_bytes": 2000000}')
        (folder / "recordings/bunnies.h5.parts").mkdir()
        (folder / "recordings/bunnies.h5.parts/steps.csv").write_text(text + "50,50,0,0")  # a line that is being written
        (folder / "recordings/bunnies.took.json").write_text('{"seconds": 22.0, "cpu_seconds": 11.0, "peak_bytes": 3000000}')
        page = self.root / "whole.md"
        page.write_text(f"# Whole\n\n{gallery.HEAD}\nold\n")
        gallery.write(page, folder)
        lines = page.read_text().splitlines()
        line = next(line for line in lines[lines.index("## Beside the papers"):] if line.startswith("| `rings`"))
        self.assertEqual([cell.strip() for cell in line.split("|")[1:-1]],
                         ["`rings`", "700", "2", "30", "20", "760", "1 s", "1.46 s", "2 MB", "380 MB", "11 s", "17 min"])
        line = next(line for line in lines[lines.index("## Beside the papers"):] if line.startswith("| `bunnies`"))
        self.assertEqual([cell.strip() for cell in line.split("|")[1:-1]],
                         ["`bunnies`", "3 of 1000", "2", "30", "20", "233", "–", "36.2 s", "3 MB", "2.2 GB", "–", "10.1 h"])
        self.assertIn("`pyramid`", next(line for line in lines if line.startswith("Not among them yet")))
        # a scene that is not in the folder keeps its rows, one that is there has new ones
        other = "| `cloth` | 1000 | 7500 | 9 | 2 | 0 | 1,000 s | 500 s | 0.5 s | 2 MB | 1 kB | all hold |"
        stale = "| `rings` | 1 |" + " – |" * 10
        page.write_text(f"# Whole\n\n{gallery.HEAD}\n\n## Size paper, whole scenes\n\n|---|\n{other}\n{stale}\n\n## Facts\n\n|---|\n| `cloth` | moves | … |\n")
        gallery.write(page, folder)
        lines = page.read_text().splitlines()
        self.assertEqual([line for line in lines if line.startswith("| `cloth`")], [other, "| `cloth` | moves | … |"])
        self.assertEqual([line.split("|")[1].strip() for line in lines[:lines.index("## Beside the papers")] if line.startswith("| `")],
                         ["`bunnies`", "`cloth`", "`rings`"])
        self.assertNotIn(stale, lines)
        self.assertIn("The 2 timed of 3 scenes of this size: 1,022 s by the clock, 511 s of CPU time.", lines)
        self.assertNotIn("`cloth`", next(line for line in lines if line.startswith("Not among them yet")))
        # the steps took 11 s: a run that was killed is not among the 5 s
        (folder / "recordings/rings.took.json").write_text('{"seconds": 5.0, "cpu_seconds": 4.0, "peak_bytes": 2000000}')
        gallery.write(page, folder)
        lines = page.read_text().splitlines()
        line = next(line for line in lines[lines.index("## Beside the papers"):] if line.startswith("| `rings`"))
        self.assertEqual([cell.strip() for cell in line.split("|")[1:-1]][6:11:2], ["–", "2 MB", "–"])
        self.assertNotIn("old", lines)

    def test_the_gallery_keeps_its_text_and_repeats(self):
        page = self.root / "gallery.md"
        page.write_text(f"# Mine\n\n{gallery.HEAD}\nold table\n")
        for _ in range(2):
            self.make("first_quick", "--draw", "--gallery", page)
            text = page.read_text()
            self.assertTrue(text.startswith("# Mine\n\n"))
            self.assertNotIn("old table", text)
            self.assertEqual(text.count("## Size quick"), 1)
            facts = (SOURCE / "configs" / "scenes" / "rigidstack.toml").read_text().count("\n[facts.")
            self.assertEqual(text.count("| `rigidstack` |"), 1 + facts)
            self.assertIn("all hold", text)

    def test_tables_can_be_made_of_what_is_there(self):
        out = self.root / "tables_quick"
        shutil.copytree(self.first / "recordings", out / "recordings")
        self.make("tables_quick", "--record-only")
        before = (out / "scenes.csv").read_bytes()
        (out / "scenes.csv").unlink()
        self.make("tables_quick", "--tables", scenes="springtoy,bucket,rigidstack")
        self.assertEqual((out / "scenes.csv").read_bytes(), before)
        self.assertFalse((out / "recordings/bucket.h5").exists())

    def test_wrong_use_is_refused(self):
        for words in (["--scenes", "ring"], ["--scenes", ","], ["--most", "0"], ["--program", "/nowhere"], ["--bogus"]):
            done = subprocess.run([SOURCE / "scripts/make_dataset", *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
