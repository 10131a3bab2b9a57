"""scripts/reference compare on invented runs: experiments that made no rows are compared like others. Seconds; reference_test.py runs
experiments."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))

import make_results  # noqa: E402


def compare(*arguments):
    return subprocess.run([SOURCE / "scripts" / "reference", "compare", *map(str, arguments)], capture_output=True, text=True, timeout=120)


class ReferenceCompare(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.out = Path(self.directory.name) / "out"
        self.reference = Path(self.directory.name) / "reference"
        self.reference.mkdir()
        for name in ("full", "bare"):
            make_results.make(self.out / name, steps=3)
            table = self.out / name / "runs.csv"
            table.write_text(table.read_text().replace("invented,", f"{name},"))
        head = (self.out / "bare" / "runs.csv").read_text().splitlines()[0]
        (self.out / "bare" / "runs.csv").write_text(head + "\n")  # no snapshot had enough contacts
        (self.out / "bare" / "trace.h5").unlink()

    def test_experiments_without_runs_are_compared(self):
        made = compare(self.out, "full", "bare", "--write", "--reference", self.reference)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertNotIn("bare", (self.reference / "quick_counts.csv").read_text())
        self.assertIn("bare,all_solved,not comparable", (self.reference / "quick_verdicts.csv").read_text())
        for names in (["bare"], ["full"], ["full", "bare"]):
            found = compare(self.out, *names, "--reference", self.reference)
            self.assertEqual((found.returncode, found.stdout), (0, ""), found.stderr)
            self.assertIn("0 differ", found.stderr)

    def test_rows_that_came_or_went_are_named(self):
        compare(self.out, "full", "bare", "--write", "--reference", self.reference)
        shutil.copy(self.out / "bare" / "runs.csv", self.out / "full" / "runs.csv")
        found = compare(self.out, "full", "--reference", self.reference)
        self.assertEqual(found.returncode, 1)
        self.assertIn("no longer there", found.stdout)
        self.assertIn("claim all_solved: not comparable, ", found.stdout)

    def test_an_experiment_the_reference_does_not_know_differs(self):
        compare(self.out, "full", "--write", "--reference", self.reference)
        found = compare(self.out, "bare", "--reference", self.reference)
        self.assertEqual(found.returncode, 1)
        self.assertIn("claim all_solved: not comparable, not in the reference", found.stdout)


if __name__ == "__main__":
    unittest.main()
