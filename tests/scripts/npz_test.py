"""Problems that numpy saved: the page's example, every form of an array, and archives that must be refused."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")


def fences(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (SOURCE / "docs" / page).read_text(encoding="utf-8"), re.M | re.S)


def block(**changes):
    """Three degrees of freedom, two contacts on one plane, a matrix that is no multiple of the identity."""
    M = np.array([[2.0, 0.25, 0.0], [0.25, 3.0, -0.0], [0.0, 0.0, 4.0]])
    H = np.hstack([np.eye(3), np.eye(3)])
    arrays = {"M": M, "H": H, "f": np.array([-1.0, 0.5, 0.0]), "w": np.zeros(6), "mu": np.array([0.5, 0.25])}
    arrays.update(changes)
    return {name: array for name, array in arrays.items() if array is not None}


def pieces(name, matrix):
    """Of CSR, entry by entry; zeros are left out as scipy does."""
    rows = [np.flatnonzero(row) for row in matrix]
    return {f"{name}_data": np.concatenate([row[index] for row, index in zip(matrix, rows)]),
            f"{name}_indices": np.concatenate(rows), f"{name}_indptr": np.cumsum([0] + [len(index) for index in rows])}


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class Npz(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = Path(self.held.name)

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=120)

    def save(self, name, arrays, packed=False):
        path = self.folder / name
        (np.savez_compressed if packed else np.savez)(path, **arrays)
        return path

    def exported(self, path):
        """The program's own bytes of a problem, without what names the file."""
        out = self.folder / "out.npz"
        done = self.run_program("export", path, "-o", out, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(out) as arrays:
            return {name: arrays[name].tobytes() for name in arrays.files if name not in ("title", "description")}

    def refused(self, path, *parts):
        done = self.run_program("info", path)
        self.assertEqual(done.returncode, 3, f"{path}: {done.stderr}")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in (path.name, *parts):
            self.assertIn(part, done.stderr)

    def test_the_example_of_the_page_runs_and_is_solved(self):
        make, read, sparse = fences("npz.md", "python")
        self.assertEqual(len(make.strip().splitlines()), 5)
        [command] = fences("npz.md", "sh")
        subprocess.run([sys.executable, "-c", make], cwd=self.folder, check=True)
        done = self.run_program(*command.split()[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        said = subprocess.run([sys.executable, "-c", "import numpy as np\n" + read], cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertIn("N s", said.stdout)
        with np.load(self.folder / "answer.npz") as answer:
            r = answer["r"].reshape(-1, 3).sum(axis=0)
            # tan 0.2 < mu: the block sticks, so the contacts take all of f; 1e-6 is the solver's tolerance
            np.testing.assert_allclose(r, -0.01 * 2.0 * 9.81 * np.array([-np.cos(0.2), np.sin(0.2), 0.0]), atol=1e-6)
        subprocess.run([sys.executable, "-c", f"{make}\nimport scipy.sparse\n{sparse}"], cwd=self.folder, check=True)
        self.assertEqual(self.run_program("info", "block.npz").returncode, 0)

    def test_every_form_of_the_same_problem_is_the_same_problem(self):
        wanted = self.exported(self.save("dense.npz", block()))
        M, H = block()["M"], block()["H"]
        turned = {f"H_{name[2:]}": array for name, array in pieces("X", H.T).items()}  # CSC is the CSR of the transpose
        forms = {"packed": (block(), True), "fortran": (block(M=np.asfortranarray(M), H=np.asfortranarray(H)), False),
                 "sparse": (block(M=None, H=None, **pieces("M", M), **pieces("H", H)), False),
                 "columns": (block(H=None, **turned, H_format="csc"), True),
                 "single": (block(f=np.array([-1.0, 0.5, 0.0], dtype="<f4"), w=np.zeros(6, dtype=np.int64)), False),
                 "other": (block(remark=np.array([{"any": "thing"}], dtype=object)), False)}
        for name, (arrays, packed) in forms.items():
            with self.subTest(name):
                self.assertEqual(self.exported(self.save(f"{name}.npz", arrays, packed)), wanted)
        diagonal = self.exported(self.save("d.npz", block(M=np.diag([2.0, 3.0, 4.0]))))
        self.assertEqual(self.exported(self.save("e.npz", block(M=None, M_diagonal=np.array([2.0, 3.0, 4.0])))), diagonal)

    def test_a_reduced_problem_is_read_and_comes_back_through_fclib(self):
        W = block()["H"].T @ np.linalg.solve(block()["M"], block()["H"])
        path = self.save("reduced.npz", {"W": W, "q": np.full(6, -1.0), "mu": np.array([0.5, 0.25])})
        wanted = self.exported(path)
        self.assertEqual(self.run_program("export", path, "-o", "x.hdf5").returncode, 0)
        self.assertEqual(self.exported(self.folder / "x.hdf5"), wanted)
        done = self.run_program("--json", "info", path)
        self.assertEqual(json.loads(done.stdout)[0]["steps"][0]["contacts"], 2)

    def test_commands_that_read_fclib_read_it(self):
        path = self.save("block.npz", block())
        for words in (("info", path), ("solve", path, "--solver", "pgs"), ("compare", path, "--solver", "pgs,nsgs", "-o", "cmp"),
                      ("export", path, "--format", "npz", "-o", "x"), ("export", path, "--format", "fclib", "-o", "y.npz")):
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        self.assertTrue(zipfile.is_zipfile(self.folder / "x"))
        self.assertFalse(zipfile.is_zipfile(self.folder / "y.npz"))
        self.assertEqual(self.run_program("export", path, "--format", "zip", "-o", "z").returncode, 2)

    def test_an_experiment_and_a_campaign_take_it_beside_its_twin(self):
        path = self.save("block.npz", block())
        self.assertEqual(self.run_program("export", path, "-o", "block.hdf5").returncode, 0)
        (self.folder / "trial.toml").write_text('artefact = "A trial"\nfiles = ["block.npz", "block.hdf5"]\nprotocols = ["converge"]\n'
                                                '[[solvers]]\nname = "pgs"\n', encoding="utf-8")
        for words in (("run", "trial.toml", "--out", "single"), ("plan", "trial.toml", "-o", "campaign"), ("run", "--plan", "campaign"), ("merge", "campaign")):
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        for place in ("single", "campaign"):
            with open(self.folder / place / "trial/runs.csv", newline="", encoding="utf-8") as table:
                rows = {row["file"]: (row["iterations"], row["residual"]) for row in csv.DictReader(table)}
            self.assertEqual(list(rows), ["block.npz", "block.hdf5"], place)
            self.assertEqual(rows["block.npz"], rows["block.hdf5"], place)

    def test_what_cannot_be_read_is_one_line_with_the_way_out(self):
        nan = block()["M"].copy()
        nan[0, 1] = np.nan
        wrong = {"big": (block(f=block()["f"].astype(">f8")), "'f'", "big-endian", ".astype('<f8')"),
                 "complex": (block(f=block()["f"].astype(complex)), "'f'", "<c16"),
                 "objects": (block(f=np.array([1, 2, None], dtype=object)), "'f'", "Python objects"),
                 "structured": (block(f=np.zeros(3, dtype=[("a", "<f8")])), "'f'", "structured"),
                 "nan": (block(M=nan), "not finite"), "infinite": (block(mu=np.array([np.inf, 0.5])), "mu[0]"),
                 "negative": (block(mu=np.array([-1.0, 0.5])), "mu[0] = -1"),
                 "short": (block(w=np.zeros(5)), "'w'", "5 entries instead of 6"),
                 "shape": (block(H=np.eye(3)), "'H'", "3 columns instead of 6"),
                 "rows": (block(M=np.eye(4)), "'M'", "4 columns instead of 3"),
                 "cube": (block(M=np.zeros((3, 3, 3))), "'M'", "3 dimensions"),
                 "massless": (block(M=np.zeros((3, 3))), "a mass must be positive"),
                 "index": (block(M=None, **{**pieces("M", np.eye(3)), "M_indices": np.array([0, 1, 2**40])}), "'M_indices'", "32 bits"),
                 "beyond": (block(M=None, **{**pieces("M", np.eye(3)), "M_indices": np.array([0, 1, 3])}), "'M_indices'", "out of range"),
                 "real": (block(M=None, **{**pieces("M", np.eye(3)), "M_indices": np.arange(3.0)}), "'M_indices'", "whole numbers"),
                 "twice": (block(M_diagonal=np.ones(3)), "'M'", "two forms"), "none": ({"mu": np.ones(1)}, "no contact problem"),
                 "nothing": (block(mu=None), "'mu'", "missing")}
        for name, (arrays, *parts) in wrong.items():
            with self.subTest(name):
                self.refused(self.save(f"{name}.npz", arrays), *parts)

    def test_damaged_archives_are_one_line(self):
        whole = self.save("whole.npz", block(), packed=True).read_bytes()
        for length in (2, 3, 21, 22, 60, len(whole) // 2, len(whole) - 1):
            path = self.folder / f"cut{length}.npz"
            path.write_bytes(whole[:length])
            self.refused(path, "cut off" if length > 3 else "")
        changed = bytearray(whole)
        changed[60] ^= 255
        (self.folder / "flipped.npz").write_bytes(changed)
        self.refused(self.folder / "flipped.npz", "damaged")
        for name, method in (("bzip2", zipfile.ZIP_BZIP2), ("lzma", zipfile.ZIP_LZMA)):
            path = self.folder / f"{name}.npz"
            with zipfile.ZipFile(path, "w", method) as archive, zipfile.ZipFile(self.folder / "whole.npz") as source:
                for entry in source.namelist():
                    archive.writestr(entry, source.read(entry))
            self.refused(path, "zip method")
        with zipfile.ZipFile(self.folder / "empty.npz", "w"):
            pass
        self.refused(self.folder / "empty.npz", "no contact problem")

    def test_a_bomb_takes_neither_memory_nor_time(self):
        path = self.folder / "bomb.npz"
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (137500000,), }\n"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("mu.npy", "w", force_zip64=True) as entry:
                entry.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
                for _ in range(1100):
                    entry.write(bytes(1_000_000))
        self.refused(path, "'mu'", "too many for an archive")


if __name__ == "__main__":
    unittest.main()
