"""scripts/make_dataset: snapshots are chosen as it says, files hold true solutions, two runs make the same bytes, failures are rows."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

import h5py  # noqa: E402
import numpy as np  # noqa: E402
from signorini_dataset import conditioning, gallery, program, tables  # noqa: E402
from signorini_dataset.choice import choose  # noqa: E402

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
        self.assertEqual(steps(choose(snapshots(0, 5, 2, 9), most=4, contacts=3, stride=1)), [1, 3])

    def test_each_span_of_time_gives_its_richest_and_earliest(self):
        self.assertEqual(steps(choose(snapshots(5, 7, 7, 4, 8, 3, 9, 9, 9), most=3, contacts=3, stride=1)), [1, 4, 6])

    def test_stride_comes_first(self):
        self.assertEqual(steps(choose(snapshots(9, 99, 8, 99, 7, 99), most=10, contacts=1, stride=2)), [0, 2, 4])

    def test_never_more_than_asked_for(self):
        for most in range(1, 12):
            for count in range(30):
                chosen = steps(choose(snapshots(*range(3, 3 + count)), most=most, contacts=3, stride=1))
                self.assertEqual(len(chosen), min(most, count))
                self.assertEqual(chosen, sorted(set(chosen)))


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
        words = [SOURCE / "scripts/make_dataset", "--scenes", scenes, "--most", "2", "--contacts", "1", "--program", PROGRAM,
                 "--out", cls.root / out, *more]
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
            with h5py.File(self.first / "problems" / row["file"], "r") as file:
                self.assertEqual(len(file["fclib_global/vectors/mu"]), int(row["contacts"]))
                self.assertEqual(len(file["fclib_global/vectors/f"]), int(row["dofs"]))
                self.assertEqual(file["signorini"].attrs["dt"], float(row["dt"]))
                self.assertIn(f"step {row['step']} of {row['scene']}.h5", file["fclib_global/info/description"][()].decode())
        scenes = {row["scene"]: row for row in tables.read_table(self.first / "scenes.csv")}
        self.assertEqual(scenes["rigidstack"]["status"], "recorded")
        facts = (SOURCE / "configs" / "scenes" / "rigidstack.toml").read_text().count("\n[facts.")
        self.assertEqual(scenes["rigidstack"]["facts"], f"{facts}/{facts}")
        self.assertGreater(int(scenes["rigidstack"]["bytes_per_contact"]), 0)

    def test_solutions_solve_their_problems(self):
        for row in tables.read_table(self.first / "problems.csv"):
            with h5py.File(self.first / "problems" / row["file"], "r") as file:
                problem, answer = file["fclib_global"], file["solution"]
                M, H = (whole(problem[name]) for name in "MH")
                f, w, mu = (problem[f"vectors/{name}"][:] for name in ("f", "w", "mu"))
                r, u, v = (answer[name][:] for name in "ruv")
            scale = np.abs(H.T @ np.linalg.solve(M, f) + w).max()
            W = conditioning.delassus(self.first / "problems" / row["file"])
            np.testing.assert_allclose(W, H.T @ np.linalg.solve(M, H), atol=1e-9 * np.abs(W).max())
            np.testing.assert_allclose(M @ v, H @ r + f, atol=1e-10 * np.abs(f).max())
            np.testing.assert_allclose(u, H.T @ v + w, atol=1e-10 * scale)
            r, u = r.reshape(-1, 3), u.reshape(-1, 3)
            # What the table says the referee found, with an order of magnitude for the other way to measure it.
            error = 10.0 * max(float(row["residual"]), 1e-12) * scale
            self.assertGreaterEqual(r[:, 0].min(), 0.0)
            self.assertGreaterEqual(u[:, 0].min(), -error)
            pressed = r[:, 0] > 1e-6 * r[:, 0].max()
            self.assertLess(np.abs(u[pressed, 0]).max(), error)
            self.assertLessEqual((np.hypot(r[:, 1], r[:, 2]) - mu * r[:, 0]).max(), 1e-12 * max(r[:, 0].max(), 1e-12))

    def test_checksums_are_those_of_the_files(self):
        lines = (self.first / "SHA256SUMS").read_text().splitlines()
        self.assertEqual(len(lines), 4 + 1)
        for line in lines:
            digest, name = line.split("  ")
            self.assertEqual(hashlib.sha256((self.first / name).read_bytes()).hexdigest(), digest, name)

    def test_a_second_machine_makes_the_same_bytes(self):
        second = self.make("second_quick", "--threads", "2")
        for name in ("SHA256SUMS", "problems.csv", "scenes.csv", "facts.csv"):
            self.assertEqual((second / name).read_bytes(), (self.first / name).read_bytes(), name)

    def test_a_run_goes_on_with_what_is_there(self):
        again = self.make("again_quick")
        sums, kept, lost = again / "SHA256SUMS", *sorted((again / "problems").glob("*.hdf5"))[:2]
        before, when = sums.read_bytes(), kept.stat().st_mtime_ns
        lost.unlink()
        self.make("again_quick")
        self.assertEqual(sums.read_bytes(), before)
        self.assertEqual(kept.stat().st_mtime_ns, when, "made anew without need")

    def test_an_interrupted_run_stops_its_recording_and_goes_on(self):
        words = [SOURCE / "scripts/make_dataset", "--scenes", "bucket", "--record-only", "--program", PROGRAM, "--threads", "1",
                 "--out", self.root / "cut_quick"]
        recordings = self.root / "cut_quick/recordings"
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 60.0
            while not (recordings / "bucket.h5.parts").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            process.terminate()
            error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, error)
        self.assertFalse((recordings / "bucket.h5").exists(), "the scene ended too early to be interrupted")
        took = json.loads((recordings / "bucket.took.json").read_text())
        self.assertGreater(took["seconds"], 0.0)
        self.assertGreater(took["cpu_seconds"], 0.0)
        self.make("cut_quick", "--record-only", scenes="bucket")
        self.assertEqual(tables.read_table(self.root / "cut_quick/scenes.csv")[0]["status"], "recorded")

    def test_other_settings_make_other_files_and_failures_are_rows(self):
        out = self.make("poor_quick", "--solvers", "cr-full,ica", "--max-iterations", "1", scenes="rigidstack")
        for row in tables.read_table(out / "problems.csv"):
            self.assertEqual(row["status"], "iteration_limit")
            self.assertGreater(float(row["residual"]), 1e-11)
        out = self.make("poor_quick", "--solvers", "nonsense", scenes="rigidstack")
        for row in tables.read_table(out / "problems.csv"):
            self.assertEqual(row["status"], "no solution")
            self.assertIn("unknown solver 'nonsense'", row["message"])
            with h5py.File(out / "problems" / row["file"], "r") as file:
                self.assertNotIn("solution", file)

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

    def test_steps_with_contact_stand_beside_the_papers_numbers(self):
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
        out = self.make("tables_quick", "--record-only")
        before = (out / "scenes.csv").read_bytes()
        (out / "scenes.csv").unlink()
        self.make("tables_quick", "--tables", scenes="springtoy,bucket,rigidstack")
        self.assertEqual((out / "scenes.csv").read_bytes(), before)
        self.assertFalse((out / "recordings/bucket.h5").exists())

    def test_wrong_use_is_refused(self):
        for words in (["--scenes", "ring"], ["--most", "0"], ["--program", "/nowhere"], ["--bogus"]):
            done = subprocess.run([SOURCE / "scripts/make_dataset", *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
