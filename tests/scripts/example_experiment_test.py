"""The example experiment of docs/experiments.md is at most 25 lines, can be read, and does what the page says."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

from signorini_report import definition  # noqa: E402

PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
FILES = ("run.toml", "claims.toml", "figures.toml")


def example():
    """{file: text} of the section "An example"."""
    page = (SOURCE / "docs" / "experiments.md").read_text(encoding="utf-8")
    section = page[page.index("## An example"):]
    section = section[:section.index("\n## ", 1)]
    return dict(re.findall(r"`(\w+\.toml)`\n\n```toml\n(.*?)```", section, re.S))


def put(folder):
    folder.mkdir()
    for name, text in example().items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


class Example(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)

    def test_it_is_short_and_has_one_of_each(self):
        self.assertEqual(tuple(example()), FILES)
        self.assertLessEqual(sum(len(text.splitlines()) for text in example().values()), 25)
        found = definition.read_definition(put(self.root / "mine"))
        self.assertEqual((len(found.run["scenes"]), len(found.run["solvers"]), len(found.figures["figures"]), len(found.claims)), (1, 2, 1, 1))

    @unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM is not set")
    def test_one_command_gives_its_figure_and_its_verdict_and_a_changed_claim_keeps_its_rows(self):
        folder, out = put(self.root / "mine"), self.root / "out"
        done = subprocess.run([PROGRAM, "reproduce", str(folder), "--size", "quick", "--out", str(out)], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(sorted(path.name for path in (out / "mine").glob("*.svg")), ["contacts.svg"])
        (claim,) = json.loads((out / "mine" / "claims.json").read_text(encoding="utf-8"))
        self.assertEqual((claim["id"], claim["verdict"], claim["bound"]), ("fewer_iterations", "holds", "ours"))

        rows = (out / "mine" / "runs.csv").read_bytes()
        claims = folder / "claims.toml"
        claims.write_text(claims.read_text(encoding="utf-8").replace("min = 1.0", "min = 100.0"), encoding="utf-8")
        done = subprocess.run([PROGRAM, "reproduce", str(folder), "--size", "quick", "--out", str(out), "--resume"], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        (claim,) = json.loads((out / "mine" / "claims.json").read_text(encoding="utf-8"))
        self.assertEqual((claim["verdict"], claim["expected"]), ("differs", "≥ 100"))
        self.assertEqual((out / "mine" / "runs.csv").read_bytes(), rows, "a claim changes no row")


if __name__ == "__main__":
    unittest.main()
