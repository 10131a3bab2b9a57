"""Solvers from outside, as a user has them: the commands of docs/adding-a-solver.md build and run the example; rows name the library; what cannot be
loaded is refused with one line; what throws, gives up or answers with NaN is a row."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
CXX = os.environ.get("CXX", "c++")
PROBLEMS = SOURCE / "configs" / "problems" / "reference"
THREADS = "1,2" if len(os.sched_getaffinity(0)) > 1 else "1"
EXPERIMENT = """artefact = "a solver from outside"
problems = [{ name = "small", planted = { contacts = 10 } }]
protocols = ["self-stopped"]
solvers = [{ name = "pgs" }, { name = "example", omega = 1.2 }]
"""


def commands():
    """The lines of the block of the section "Build and run it"."""
    page = (SOURCE / "docs" / "adding-a-solver.md").read_text(encoding="utf-8")
    section = page[page.index("\n### Build and run it"):]
    return [line for line in re.search(r"```sh\n(.*?)```", section, re.S)[1].splitlines() if line]


def compiled(source, library, *flags):
    command = [CXX, "-std=c++17", "-shared", "-fPIC", "-O1", f"-I{SOURCE}/include", *flags, str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


@unittest.skipUnless(PROGRAM and shutil.which("cmake"), "SIGNORINI_PROGRAM is not set, or there is no cmake")
class Plugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.folder = Path(directory.name)
        path = f"{Path(PROGRAM).resolve().parent}{os.pathsep}{os.environ['PATH']}"
        cls.said = {}
        for line in commands():
            done = subprocess.run(line.replace("/tmp/example", str(cls.folder / "example")), shell=True, cwd=SOURCE, capture_output=True, text=True,
                                  env={**os.environ, "PATH": path, "CXX": CXX}, timeout=300)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            cls.said[line] = done.stdout
        cls.example = cls.folder / "example" / "libexample.so"

    def run_program(self, *words, code=0):
        done = subprocess.run([PROGRAM, *(str(word) for word in words)], capture_output=True, text=True, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def rows(self, *words, problem="net0", code=0):
        table = self.folder / "rows.csv"
        self.run_program("solve", PROBLEMS / f"{problem}.hdf5", *words, "--csv", table, "--force", code=code)
        with open(table, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def refusal(self, *words, code):
        done = self.run_program("solve", PROBLEMS / "net0.hdf5", *words, code=code)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        return done.stderr.removeprefix("signorini: error: ").rstrip()

    def test_the_commands_of_the_page_list_it_and_converge(self):
        (listed,) = [text for line, text in self.said.items() if " list " in line]
        self.assertRegex(listed, r"(?m)^example  projected Gauss-Seidel")
        self.assertRegex(listed, r"(?m)^    omega = 1  \(number\)\n        relaxation factor")
        solved = [text for line, text in self.said.items() if " solve " in f" {line}" and "--require-converged" in line]
        self.assertGreaterEqual(len(solved), 1)
        for text in solved:
            self.assertIn("example", text)

    def test_rows_are_the_referees_and_name_the_library_by_its_bytes(self):
        by_row = {}
        for law in ("cone", "pyramid"):
            for row in self.rows("--plugin", self.example, "--solver", "example,pgs", "--set", f"example.law={law}", "--tolerance", "1e-8"):
                self.assertEqual(row["status"], "converged", row)
                self.assertLessEqual(float(row["residual"]), 1.01e-8)
                by_row[row["solver"]] = row
        options = by_row["example"]["options"]
        name, digest = re.search(r";plugin=(.*):([0-9a-f]{16})$", options).groups()
        self.assertEqual(name, "libexample.so")
        self.assertNotIn("plugin", by_row["pgs"]["options"])
        inputs = json.loads((self.folder / "rows.csv.env.json").read_text(encoding="utf-8"))["inputs"]
        self.assertIn(digest, [entry["xxh3"] for entry in inputs if entry["path"].endswith("libexample.so")])
        other = compiled(SOURCE / "examples" / "plugin" / "example.cpp", self.folder / "libexample.so", "-g")
        (row,) = self.rows("--plugin", other, "--solver", "example")
        self.assertNotEqual(row["options"].rpartition("plugin=")[2], f"{name}:{digest}", "other bytes, another digest")

    def test_it_runs_by_regions_on_threads(self):
        rows = self.rows("--plugin", self.example, "--solver", "example", "--regions", "none,points,islands", "--threads", THREADS, problem="expl")
        self.assertEqual(len(rows), 3 * len(THREADS.split(",")))
        for row in rows:
            self.assertEqual(row["status"], "converged", row)
            self.assertLessEqual(float(row["residual"]), 1.01e-6)

    def test_an_experiment_may_name_it(self):
        experiment = self.folder / "outside" / "run.toml"
        experiment.parent.mkdir()
        experiment.write_text(EXPERIMENT, encoding="utf-8")
        out = self.folder / "out"
        self.assertIn("unknown solver 'example'", self.run_program("run", experiment, "--out", out, code=2).stderr)
        self.run_program("run", experiment, "--out", out, "--plugin", self.example)
        with open(out / "outside" / "runs.csv", newline="", encoding="utf-8") as file:
            found = {row["solver"]: row for row in csv.DictReader(file)}
        self.assertEqual(sorted(found), ["example", "pgs"])
        self.assertRegex(found["example"]["options"], r";omega=1.2;.*;plugin=libexample.so:[0-9a-f]{16}$")
        kept = self.run_program("run", experiment, "--out", out, "--plugin", self.example, "--resume").stderr
        self.assertIn("2 rows (2 kept from before)", kept)

    def test_campaigns_take_it(self):
        experiment, folder = self.folder / "outside_plan.toml", self.folder / "campaign"
        experiment.write_text(EXPERIMENT, encoding="utf-8")
        self.run_program("plan", experiment, "-o", folder, "--plugin", self.example)
        self.run_program("run", "--plan", folder, "--plugin", self.example)
        self.run_program("merge", folder, "--plugin", self.example)
        with open(folder / "outside_plan" / "runs.csv", newline="", encoding="utf-8") as file:
            self.assertEqual(sorted(row["solver"] for row in csv.DictReader(file)), ["example", "pgs"])

    def test_a_report_of_solves_has_it(self):
        """The library is named once and asked for twice: for the plan and for the runs."""
        self.run_program("solve", PROBLEMS / "net0.hdf5", "--solver", "example,pgs", "--plugin", self.example, "--report", "report")
        self.assertTrue((self.folder / "report" / "runs.csv").exists())

    def test_what_throws_is_a_row_and_the_others_are_solved(self):
        troubles = compiled(SOURCE / "tests" / "plugin" / "troubles.cpp", self.folder / "libtroubles.so")
        both = ("--plugin", troubles, "--plugin", self.example)
        rows = self.rows(*both, "--solver", "thrower,nan,example", code=1)
        self.assertEqual([(row["solver"], row["status"]) for row in rows], [("thrower", "failed"), ("nan", "diverged"), ("example", "converged")])
        self.assertEqual(rows[0]["message"], "solver 'thrower': two lines")
        (row,) = self.rows(*both, "--solver", "thrower", "--regions", "islands", "--threads", THREADS.split(",")[-1], code=1)
        self.assertEqual((row["status"], row["message"]), ("failed", "region 0 (12 contacts): solver 'thrower': two lines"))
        (row,) = self.rows(*both, "--solver", "thrower", "--set", "thrower.when=preparing", code=1)
        self.assertEqual((row["status"], row["message"]), ("failed", "solver 'thrower': set-up broke down"))
        (row,) = self.rows(*both, "--solver", "thrower", "--set", "thrower.when=refusing")
        self.assertEqual((row["status"], row["message"]), ("unsupported", "takes no contacts"))
        self.assertEqual(self.refusal(*both, "--solver", "thrower", "--set", "thrower.when=making", code=2), "solver 'thrower': cannot be made")

    def test_what_is_no_plugin_of_this_version_is_refused(self):
        source = SOURCE / "examples" / "plugin" / "example.cpp"
        later = compiled(source, self.folder / "libversion7.so", "-DSIGNORINI_PLUGIN_VERSION=7")
        self.assertEqual(self.refusal("--plugin", later, "--solver", "pgs", code=3),
                         f"{later}: made for version 7 of the plugin interface, this program has 1; compile it again with "
                         "include/signorini/solver_plugin.h of this program")
        bare = self.folder / "bare.cpp"
        bare.write_text("int nothing;\n", encoding="utf-8")
        for library, part in ((self.folder / "none.so", "no such file"), (self.folder, "is a folder"), (bare, "cannot be loaded"),
                              (compiled(bare, self.folder / "libbare.so"), "has no function 'signorini_solver_plugin'")):
            text = self.refusal("--plugin", library, "--solver", "pgs", code=3)
            self.assertTrue(text.startswith(f"{library}: ") and part in text, text)
        renamed = self.folder / "renamed.cpp"
        renamed.write_text(source.read_text(encoding="utf-8").replace('"example"', '"pgs"'), encoding="utf-8")
        self.assertIn("there is a solver 'pgs' already", self.refusal("--plugin", compiled(renamed, self.folder / "libpgs.so"), "--solver", "pgs", code=3))

    def test_the_library_is_an_input_that_no_output_replaces(self):
        words = ("--plugin", self.example, "--solver", "example", "--csv", self.example, "--force")
        self.assertIn("libexample.so", self.refusal(*words, code=2))
        self.run_program("solve", PROBLEMS / "net0.hdf5", "--plugin", self.example, "--solver", "example", "--trace", self.folder / "trace.h5")

    def test_mistakes_in_its_options_are_told(self):
        asked = ("--plugin", self.example, "--solver", "example", "--set")
        self.assertEqual(self.refusal(*asked, "example.omga=1", code=2), "solver 'example': unknown option 'omga' (did you mean 'omega'?)")
        self.assertEqual(self.refusal(*asked, "example.omega=2", code=2), "solver 'example': omega must be in (0, 2)")
        self.assertIn("(known: symmetric, forward)", self.refusal(*asked, "example.order=back", code=2))


if __name__ == "__main__":
    unittest.main()
