"""A small set of problems, made from four scenes, has the bytes that are written down: with every compiler, with any kernels but `portable`. Those of
cloth and wedge differ between AMD EPYC and Intel Xeon, for a reason that is not found yet: the bytes of either are right.

    SIGNORINI_PROGRAM=build/release/experiments/signorini tests/scripts/same_bytes_test.py --write

writes those of this maker of processors anew (same_bytes.csv beside this file), after a change that is meant to alter numbers.
"""

import csv
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
KNOWN = Path(__file__).with_name("same_bytes.csv")
FIELDS = ("processor", "problem", "array", "sha256")
SINGLE = ("M_data", "H_data", "f", "w", "r", "u", "v")  # the others of a problem have one digest
# Explicit steps of springs and rigid bodies; implicit ones of elastic solids under large turns, of elastic solids glued to a wall, and of cloth.
SCENES = "bucket,rings,wedge,cloth"


def make(folder, isa=""):
    """(the kernels that ran, folder of the problems) of a set that is made in `folder`."""
    words = [SOURCE / "scripts/make_dataset", "--scenes", SCENES, "--contact-steps", "60", "--most", "2", "--solvers", "prox-newton",
             "--tolerance", "1e-10", "--max-iterations", "500", "--threads", "1", "--program", PROGRAM, "--out", folder]
    environment = {name: value for name, value in os.environ.items() if name != "SIGNORINI_ISA"} | ({"SIGNORINI_ISA": isa} if isa else {})
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=800, env=environment)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    with h5py.File(next((folder / "recordings").glob("*.h5")), "r") as file:
        return file.attrs["kernels"].decode(), folder / "problems"


def digests(folder):
    """{(problem, array): SHA-256 of its bytes}, and one digest of all other arrays of a problem with their names."""
    found = {}
    for path in sorted(folder.glob("*.npz")):
        rest = hashlib.sha256()
        with np.load(path) as arrays:
            for name in sorted(arrays):
                data = np.ascontiguousarray(arrays[name]).tobytes()
                if name in SINGLE:
                    found[path.stem, name] = hashlib.sha256(data).hexdigest()
                else:
                    rest.update(name.encode() + b"\0" + data)
        found[path.stem, "others"] = rest.hexdigest()
    return found


def made(isa=""):
    """(kernels, digests) of a set of its own."""
    with tempfile.TemporaryDirectory() as place:
        kernels, folder = make(Path(place) / "set", isa)
        return kernels, digests(folder)


def maker():
    """Of this processor, as the kernel names it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")), "unknown")


def rows():
    with KNOWN.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def known():
    """{(problem, array): the digests of any processor}."""
    found = {}
    for row in rows():
        found.setdefault((row["problem"], row["array"]), set()).add(row["sha256"])
    return found


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class SameBytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels, cls.found = made()
        if cls.kernels == "portable":
            raise unittest.SkipTest("this processor has no fused multiplication; kernels `portable` and libm round differently in the last bits")

    def assert_known(self, found):
        expected = known()
        self.assertEqual(sorted(found), sorted(expected), "other problems were chosen")
        other = [f"{array} of {problem}" for (problem, array), digest in found.items() if digest not in expected[problem, array]]
        self.assertEqual(other, [], f"arrays with other bytes; where that is meant: {Path(__file__).name} --write")

    def test_of_this_processor(self):
        self.assert_known(self.found)

    def test_of_kernels_in_plain_cpp(self):
        kernels, found = made("fused")
        self.assertNotEqual(kernels, "portable")
        self.assert_known(found)

    def test_a_changed_bit_is_found(self):
        with tempfile.TemporaryDirectory() as place:
            values = np.array([1.0, 2.0])
            np.savez(Path(place) / "a.npz", r=values, mu=values)
            first = digests(Path(place))
            np.savez(Path(place) / "a.npz", r=np.nextafter(values, 3.0), mu=values)
            second = digests(Path(place))
        self.assertEqual([key for key in first if first[key] != second[key]], [("a", "r")])


def write():
    kernels, found = made()
    if kernels == "portable":
        sys.exit("kernels `portable` round differently; write the file on a processor with fused multiplication")
    others = [[row[field] for field in FIELDS] for row in rows() if row["processor"] != maker()]
    with KNOWN.open("w", newline="", encoding="utf-8") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(FIELDS)
        table.writerows(others)
        table.writerows((maker(), *key, digest) for key, digest in found.items())


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        unittest.main()
