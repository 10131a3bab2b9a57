"""A small set of problems, made from four scenes, has the bytes that are written down: with every compiler and with any kernels but `portable`.
Where CHOLMOD factors, only on x86-64 and under the reference BLAS; where Eigen does (SIGNORINI_FACTOR=eigen), everywhere.

    SIGNORINI_PROGRAM=build/release/experiments/signorini tests/scripts/same_bytes_test.py --write

writes them anew (same_bytes.csv beside this file), after a change that is meant to alter numbers.
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
FIELDS = ("factor", "problem", "array", "sha256")
FACTORS = ("cholmod", "eigen")
SINGLE = ("M_data", "H_data", "f", "w", "r", "u", "v")  # the others of a problem have one digest
# Explicit steps of springs and rigid bodies; implicit ones of elastic solids under large turns, of elastic solids glued to a wall, and of cloth.
SCENES = "bucket,rings,wedge,cloth"


def make(folder, factor, isa=""):
    """(the kernels that ran, folder of the problems) of a set that is made in `folder`."""
    words = [SOURCE / "scripts/make_dataset", "--scenes", SCENES, "--contact-steps", "60", "--most", "2", "--solvers", "prox-newton",
             "--tolerance", "1e-10", "--max-iterations", "500", "--threads", "1", "--program", PROGRAM, "--out", folder]
    environment = os.environ | {"SIGNORINI_ISA": isa, "SIGNORINI_FACTOR": factor}
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


def made(factor, isa=""):
    """(kernels, digests) of a set of its own."""
    with tempfile.TemporaryDirectory() as place:
        kernels, folder = make(Path(place) / "set", factor, isa)
        return kernels, digests(folder)


def blas():
    """The line of `signorini --version` that names it."""
    words = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    return next(line.split(maxsplit=1)[1] for line in words if line.split()[:1] == ["BLAS"])


def why_not(factor, kernels):
    """Empty where the bytes must be those of the file."""
    if kernels.partition("+")[0] == "portable":
        return "this processor has no fused multiplication; kernels `portable` and libm round differently in the last bits"
    if factor == "cholmod" and not blas().startswith("reference"):
        return f"the BLAS is {blas()}: the last bits of factors are its own (docs/installing.md, BLAS)"
    return ""


def known(factor):
    """{(problem, array): digest}."""
    with KNOWN.open(newline="", encoding="utf-8") as lines:
        return {(row["problem"], row["array"]): row["sha256"] for row in csv.DictReader(lines) if row["factor"] == factor}


class Bytes(unittest.TestCase):
    def assert_known(self, factor, found, scene=""):
        found, expected = ({key: digest for key, digest in of.items() if key[0].startswith(scene)} for of in (found, known(factor)))
        self.assertEqual(sorted(found), sorted(expected), "other problems were chosen")
        other = [f"{array} of {problem}" for (problem, array), digest in found.items() if digest != expected[problem, array]]
        self.assertEqual(other, [], f"arrays with other bytes; where that is meant: {Path(__file__).name} --write")


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class FactorsOfEigen(Bytes):
    """What scripts/check_arm64 asks for."""

    def assert_made(self, isa=""):
        kernels, found = made("eigen", isa)
        if why_not("eigen", kernels):
            self.skipTest(why_not("eigen", kernels))
        self.assert_known("eigen", found)

    def test_of_this_processor(self):
        self.assert_made()

    def test_of_kernels_in_plain_cpp(self):
        self.assert_made("fused")


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class FactorsOfCholmod(Bytes):
    @classmethod
    def setUpClass(cls):
        try:
            cls.kernels, cls.found = made("cholmod")
        except AssertionError as error:
            if "built without CHOLMOD" in str(error):
                raise unittest.SkipTest("this program was built without CHOLMOD") from error
            raise
        if why_not("cholmod", cls.kernels):
            raise unittest.SkipTest(why_not("cholmod", cls.kernels))

    def test_of_this_processor(self):
        self.assert_known("cholmod", self.found)

    def test_of_kernels_in_plain_cpp(self):
        kernels, found = made("cholmod", "fused")
        self.assertNotEqual(kernels, "portable")
        self.assert_known("cholmod", found)

    def test_explicit_steps_have_the_bytes_of_those_with_eigen(self):
        """Nothing is factored in them."""
        self.assert_known("eigen", {key: digest for key, digest in self.found.items() if key[0].startswith("bucket")}, "bucket")


class Digests(unittest.TestCase):
    def test_a_changed_bit_is_found(self):
        with tempfile.TemporaryDirectory() as place:
            values = np.array([1.0, 2.0])
            np.savez(Path(place) / "a.npz", r=values, mu=values)
            first = digests(Path(place))
            np.savez(Path(place) / "a.npz", r=np.nextafter(values, 3.0), mu=values)
            second = digests(Path(place))
        self.assertEqual([key for key in first if first[key] != second[key]], [("a", "r")])


def write():
    rows = []
    for factor in FACTORS:
        kernels, found = made(factor)
        if why_not(factor, kernels):
            sys.exit(why_not(factor, kernels))
        rows += [(factor, *key, digest) for key, digest in found.items()]
    with KNOWN.open("w", newline="", encoding="utf-8") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(FIELDS)
        table.writerows(rows)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        unittest.main()
