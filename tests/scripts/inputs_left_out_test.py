"""Claims of an experiment that was run without some of its optional files are not judged on the rest, and say which are absent."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(Path(__file__).resolve().parent)]

import make_results  # noqa: E402
from signorini_report import data, verdicts  # noqa: E402


class InputsLeftOut(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.folder = Path(self.directory.name) / "invented"
        make_results.make(self.folder, steps=3)

    def verdicts(self, left_out):
        env = json.loads((self.folder / "env.json").read_text())
        (self.folder / "env.json").write_text(json.dumps(env | {"inputs_left_out": left_out}))
        experiment = data.read_experiment(self.folder)
        first = experiment.claims[0]
        present = experiment.runs["file"].iloc[0]
        experiment.claims.append(first | {"id": "of_one_file", "where": {"file": [present]}})
        experiment.claims.append(first | {"id": "of_an_absent_file", "where": {"file": [present, "capsules"]}})
        return {verdict.id: verdict for verdict in verdicts.evaluate_all(experiment)}

    def test_with_all_inputs_claims_are_judged(self):
        found = self.verdicts("")
        self.assertNotEqual(found["all_solved"].verdict, verdicts.NOT_COMPARABLE)

    def test_without_some_only_claims_about_the_others_are(self):
        for ending in ("hdf5", "npz"):
            left_out = f"fclib/local/capsules.{ending}, fclib/local/rover.{ending}"
            found = self.verdicts(left_out)
            for name in ("all_solved", "of_an_absent_file"):
                self.assertEqual(found[name].verdict, verdicts.NOT_COMPARABLE)
                self.assertIn(f"input not in the clone: {left_out}", found[name].reason)
        self.assertNotEqual(found["of_one_file"].verdict, verdicts.NOT_COMPARABLE)
        self.assertEqual(found["hardware"].reason, "the paper names no hardware")


if __name__ == "__main__":
    unittest.main()
