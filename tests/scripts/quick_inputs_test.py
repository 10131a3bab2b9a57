"""The quick counts and verdicts of results/reference were made from the experiments as they are; stale ones are named."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

from signorini_report import definition, quick_inputs  # noqa: E402

REFERENCE = SOURCE / "results" / "reference"
TABLES = ("quick_counts.csv", "quick_verdicts.csv", quick_inputs.NAME)


class Tree(unittest.TestCase):
    def test_no_quick_count_or_verdict_is_older_than_its_experiment(self):
        self.assertEqual(quick_inputs.stale(REFERENCE), [], "scripts/reference stale says what to do")

    def test_every_experiment_of_lazarevych_is_in_the_tables(self):
        # reference_test, among the slow ones, runs them all again
        runs = (SOURCE / "configs" / "experiments" / "lazarevych2010").glob("*/run.toml")
        there = [line.split(",")[0] for line in (REFERENCE / quick_inputs.NAME).read_text().splitlines()]
        left_out = [name for name in sorted(f"lazarevych2010_{run.parent.name}" for run in runs) if name not in there]
        self.assertEqual(left_out, [], "run them at size quick, then: scripts/reference compare OUT NAME --write")



class Stale(unittest.TestCase):
    """Copies of the tables and of one experiment, changed."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.reference = self.root / "reference"
        self.reference.mkdir()
        for name in TABLES:
            lines = (REFERENCE / name).read_text().splitlines()
            (self.reference / name).write_text("\n".join([lines[0], *(line for line in lines if line.startswith("otaduy2009_inner,"))]) + "\n")
        shutil.copytree(SOURCE / "configs" / "experiments" / "otaduy2009", self.root / "configs" / "experiments" / "otaduy2009")
        shutil.copytree(SOURCE / "configs" / "scenes", self.root / "configs" / "scenes")
        self.folder = self.root / "configs" / "experiments" / "otaduy2009" / "inner"
        self.enterContext(mock.patch.dict("os.environ", {"SIGNORINI_CONFIGS": str(self.root / "configs")}))

    def change(self, path, old, new):
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def test_an_experiment_as_it_was_is_not_stale(self):
        self.assertEqual(quick_inputs.stale(self.reference), [])

    def test_what_changed_is_named(self):
        self.change(self.folder / "run.toml", "min_contacts = 10", "min_contacts = 11")
        self.assertEqual(quick_inputs.stale(self.reference), ["otaduy2009_inner: its rows are stale, run.toml changed"])

    def test_a_scene_and_a_bound_count(self):
        self.change(self.root / "configs" / "scenes" / "cloth.toml", "[time]", "[time]\nseconds_more = 1")
        self.change(self.folder / "claims.toml", "min = 0.9", "min = 0.8")
        self.assertEqual(quick_inputs.stale(self.reference), ["otaduy2009_inner: its rows are stale, a scene file that it names and claims.toml or paper.toml changed"])

    def test_words_titles_and_other_sizes_do_not_count(self):
        self.change(self.folder / "run.toml", 'artefact = "', 'artefact = "Another ')
        self.change(self.folder / "claims.toml", 'says = "', 'says = "Again: ')
        path = self.root / "configs" / "scenes" / "cloth.toml"
        self.change(path, "[size.medium]", "[size.medium]\nmore = 1")
        self.assertEqual(quick_inputs.stale(self.reference), [])

    def test_rows_without_an_entry_and_entries_without_rows_are_named(self):
        (self.reference / quick_inputs.NAME).write_text("experiment,run,scenes,claims\nother,1,2,3\n")
        self.assertEqual(quick_inputs.stale(self.reference), [f"otaduy2009_inner: {quick_inputs.NAME} does not say what its rows were made from",
                                                              f"other: {quick_inputs.NAME} has it, but no count and no verdict"])
        (self.reference / quick_inputs.NAME).unlink()
        self.assertEqual(len(quick_inputs.stale(self.reference)), 1)

    def test_rows_of_an_experiment_that_is_gone_are_named(self):
        with mock.patch.object(definition, "find", lambda name: None):
            self.assertEqual(quick_inputs.stale(self.reference), ["otaduy2009_inner: configs/experiments has it no longer; take its rows out"])


if __name__ == "__main__":
    unittest.main()
