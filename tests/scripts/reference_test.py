"""The experiments of Lazarevych 2010 at size quick give the counts and verdicts of results/reference; other counts are noticed."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
REFERENCE = SOURCE / "results" / "reference"
NAMES = sorted(f"lazarevych2010_{path.parent.name}" for path in (SOURCE / "configs" / "experiments" / "lazarevych2010").glob("*/run.toml"))


def compare(*arguments):
    return subprocess.run([SOURCE / "scripts" / "reference", "compare", *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = os.environ.get("SIGNORINI_PROGRAM")
        if not program:
            raise unittest.SkipTest("no program: SIGNORINI_PROGRAM is not set")
        cls.directory = tempfile.TemporaryDirectory()
        cls.out = Path(cls.directory.name) / "out"
        # Two at a time: the experiments are solved with one thread, and take seven minutes of it.
        command = [program, "run", "--size", "quick", "--out", str(cls.out)]
        halves = [subprocess.Popen([*command, *names], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for names in (NAMES[::2], NAMES[1::2])]
        for half in halves:
            said = half.communicate(timeout=900)[1]
            assert half.returncode == 0, said[-2000:]

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_every_experiment_is_as_the_reference(self):
        with (REFERENCE / "quick_counts.csv").open() as rows:
            counted = {line.split(",")[0] for line in rows}
        self.assertEqual(NAMES, sorted(name for name in counted if name.startswith("lazarevych2010_")))
        found = compare(self.out)
        self.assertEqual((found.returncode, found.stdout), (0, ""))
        self.assertRegex(found.stderr, r"\d{3} counts and \d+ verdicts compared, 0 differ")

    def test_short_experiments_of_otaduy_are_as_the_reference(self):
        names = ["otaduy2009_divergence", "otaduy2009_fig2"]
        ran = subprocess.run([os.environ["SIGNORINI_PROGRAM"], "run", *names, "--size", "quick", "--out", str(self.out)], capture_output=True,
                             text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        found = compare(self.out, *names)
        self.assertEqual((found.returncode, found.stdout), (0, ""))

    def test_writing_keeps_the_rows_of_other_experiments(self):
        other = Path(self.directory.name) / "written"
        other.mkdir()
        for name in ("quick_counts.csv", "quick_verdicts.csv"):
            shutil.copy(REFERENCE / name, other)
        self.assertEqual(compare(self.out, "lazarevych2010_cone", "--write", "--reference", other).returncode, 0)
        for name in ("quick_counts.csv", "quick_verdicts.csv"):
            was, now = ((folder / name).read_text().splitlines() for folder in (REFERENCE, other))
            self.assertEqual(len(now), len(was))
            rest = [line for line in was if not line.startswith("lazarevych2010_cone,")]
            self.assertEqual([line for line in now if not line.startswith("lazarevych2010_cone,")], rest)

    def test_other_counts_and_verdicts_are_named(self):
        other = Path(self.directory.name) / "other"
        other.mkdir()
        for name in ("quick_counts.csv", "quick_verdicts.csv"):
            shutil.copy(REFERENCE / name, other)
        counts = (other / "quick_counts.csv").read_text().splitlines()
        place = max(k for k, line in enumerate(counts) if line.startswith("lazarevych2010_"))
        columns = counts[place].split(",")
        columns[-1] = str(2 * int(columns[-1]) + 10)  # iterations
        counts[place] = ",".join(columns)
        (other / "quick_counts.csv").write_text("\n".join(counts) + "\n")
        verdicts = (other / "quick_verdicts.csv").read_text()
        (other / "quick_verdicts.csv").write_text(verdicts.replace(",exact,holds", ",exact,differs"))
        found = compare(self.out, "--reference", other)
        self.assertEqual(found.returncode, 1)
        self.assertEqual(len(found.stdout.splitlines()), 2, found.stdout)
        self.assertIn(f"{columns[-1]} in the reference", found.stdout)
        self.assertIn("claim exact: holds, differs in the reference", found.stdout)

    def test_a_folder_without_runs_is_an_error(self):
        found = compare(self.directory.name + "/nothing")
        self.assertEqual(found.returncode, 3)
        self.assertIn("signorini run", found.stderr)


if __name__ == "__main__":
    unittest.main()
