"""scripts/migrate_experiment: nothing of an old file is lost, and a person is told what to mend."""

import contextlib
import io
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

from signorini_report import definition, migrate  # noqa: E402

OLD = """# What it is for.
artefact = "Mine"
claim = "A \\"quoted\\" claim."
source = "here"
files = ["../problems/a.hdf5"]
figures = ["series"]
[series]
columns = ["front", "back"]
label = "speed"
[follow]
regions = ["points"]
[sizes.quick]
max_steps = 3
[[solvers]]
name = "pgs"
label = "PGS, cone"
tol = 1e-9
[methods]
reference = "PGS, cone"
scenes = ["rings"]
methods = ["PGS, cone"]
tables = [{ title = "t", rows = "steps" }]
[methods.paper.rings."PGS, cone"]
iterations = [3, 2]
[table]
title = "T"
[table.numbers."PGS, cone"]
a = "81"
[[expect]]
id = "fast"
claim = "it is fast"
kind = "ratio"
column_of = ["x", "y"]
numerator = { label = "PGS, cone" }
denominator = { law = "cone" }
size = ["medium"]
min = 1.0
reason = "slow"
[[expect]]
id = "also"
claim = "it is fast"
kind = "fraction"
column = "solved"
lower = 1.0
min = 1.0
reason = "slow"
"""
RESULT = "# size: quick\n# program: 0123\n" + OLD


class Migrate(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.folder = self.root / "new" / "mine"
        (self.root / "mine.toml").write_text(OLD, encoding="utf-8")

    def run_it(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = migrate.main([str(one) for one in arguments])
        return status, out.getvalue(), err.getvalue()

    def test_every_part_finds_its_file(self):
        status, said, _ = self.run_it(self.root / "mine.toml", self.folder)
        self.assertEqual(status, 0)
        self.assertIn("run.toml, claims.toml, figures.toml, paper.toml, reasons.toml", said)
        self.assertIn("say which are the paper's", said)
        found = definition.read_definition(self.folder)
        self.assertTrue((self.folder / "run.toml").read_text().startswith("# What it is for.\n"))
        self.assertEqual(found.run, {"artefact": "Mine", "files": ["../../../problems/a.hdf5"], "series": ["front", "back"], "follow": ["points"], "steps": True,
                                     "sizes": {"quick": {"max_steps": 3}}, "solvers": [{"name": "pgs", "label": "PGS, cone", "tol": 1e-9}]})
        self.assertEqual((found.says, found.source), ('A "quoted" claim.', "here"))
        old, config = tomllib.loads(OLD), found.config
        for key in ("figures", "methods", "table", "series"):
            self.assertEqual(config[key], old[key], key)
        fast, also = found.claims
        self.assertEqual({key: fast[key] for key in ("column_of", "numerator", "denominator", "sizes", "min", "reason", "bound", "why")},
                         {"column_of": ["x", "y"], "numerator": {"label": "PGS, cone"}, "denominator": {"law": "cone"}, "sizes": ["medium"], "min": 1.0,
                          "reason": "slow", "bound": "ours", "why": "taken over from the old form"})
        self.assertEqual((also["kind"], also["lower"], also["reason"]), ("fraction", 1.0, "slow"))
        self.assertEqual(tomllib.loads((self.folder / "reasons.toml").read_text()), {"fast": "slow"}, "a reason stands once")

    def test_results_keep_their_head(self):
        (self.root / "config.toml").write_text(RESULT, encoding="utf-8")
        self.assertEqual(self.run_it("--results", self.root)[0], 0)
        self.assertFalse((self.root / "config.toml").exists())
        text = (self.root / "run.toml").read_text()
        self.assertTrue(text.startswith("# size: quick\n# program: 0123\n# What it is for.\n"))
        self.assertEqual(set(tomllib.loads(text)), {"artefact", "files", "series", "follow", "steps", "sizes", "solvers"})

    def test_wrong_use_is_one_line(self):
        self.run_it(self.root / "mine.toml", self.folder)
        for arguments, status, words in (((self.root / "mine.toml", self.folder), 3, "run.toml: is there already"), ((self.root / "none.toml", self.folder), 3, "none.toml"),
                                         (("--results", self.root), 3, "config.toml: no such file")):
            found = self.run_it(*arguments)
            self.assertEqual(found[0], status)
            self.assertIn(words, found[2])
        with self.assertRaises(SystemExit) as usage, contextlib.redirect_stderr(io.StringIO()):
            migrate.main([str(self.root / "mine.toml")])
        self.assertEqual(usage.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
