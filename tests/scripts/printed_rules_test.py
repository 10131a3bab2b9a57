"""docs/printed-rules.md and its experiment: options exist, the page tells what the config says, numbers come from the runs."""

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

from signorini_report import definition, rules, tables  # noqa: E402
from signorini_report.data import read_experiment  # noqa: E402

FOLDER = SOURCE / "configs" / "experiments" / "signorini" / "printed_rules"
PAGE = SOURCE / "docs" / "printed-rules.md"
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")

RUN = """
artefact = "Trial"
protocols = ["converge", "self-stopped"]
max_iterations = 40
min_contacts = 10
problems = [
  { name = "two_coupled", W = [[2, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [1, 0, 0, 2, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]], q = [1, 0, 0, -1, 0, 0], mu = [0, 0] },
]
solvers = [
  { name = "pgs", label = "inside" },
  { name = "pgs", label = "after", form = "printed" },
]
"""
FIGURES = """
[[rules]]
id = "C08"
source = "eqs. 14 and 15"
printed = "p"
wrong = "w"
change = "c"
as_printed = ["after"]
corrected = ["inside"]
[[rules]]
id = "C09"
source = "eq. 7"
printed = "p"
wrong = "w"
change = "c"
as_printed = ["after"]
corrected = ["inside"]
judge = "self-stopped"
[table]
title = "Both"
"""


class Config:
    """What rules.py needs of an experiment that has not been run."""

    def __init__(self, folder):
        self.config = definition.read_definition(folder).config
        self.id, self.title, self.claim = definition.identifier(folder), self.config["artefact"], self.config["claim"]


class CommittedPage(unittest.TestCase):
    def setUp(self):
        self.experiment, self.page = Config(FOLDER), PAGE.read_text(encoding="utf-8")

    def test_every_rule_of_the_config_stands_on_the_page_with_its_words_and_options(self):
        flat = " ".join(self.page.split())
        solvers = rules.solvers_by_label(self.experiment)
        self.assertGreaterEqual(len(self.experiment.config["rules"]), 12)
        for rule in self.experiment.config["rules"]:
            self.assertIn(f"## {rule['id']}: {rule['source']}", self.page)
            for key in ("printed", "wrong", "change"):
                self.assertIn(" ".join(rule[key].split()), flat, rule["id"])
            for label in rule.get("as_printed", []) + rule.get("corrected", []):
                self.assertIn(rules.option_text(solvers[label]), self.page, rule["id"])
        self.assertEqual(len(re.findall(r"^## ", self.page, re.M)), len(self.experiment.config["rules"]), "rules that are gone")

    def test_counts_of_other_experiments_are_those_of_their_committed_results(self):
        measured = [rule for rule in self.experiment.config["rules"] if rule.get("elsewhere")]
        self.assertGreaterEqual(len(measured), 2)
        for rule in measured:
            self.assertIn(rules.section(self.experiment, rule).strip(), self.page, rule["id"])
            self.assertIn(" | ".join(rules.first_effect(self.experiment, rule)), self.page, rule["id"])

    def test_links_of_the_overview_lead_to_sections(self):
        wanted = set(re.findall(r"\]\(#([^)]+)\)", self.page))
        present = {rules.anchor({"id": a, "source": b}) for a, b in re.findall(r"^## ([^:\n]+): (.+)$", self.page, re.M)}
        self.assertEqual(wanted, present)

    def test_the_page_names_a_command_that_is_there(self):
        self.assertIn("`scripts/reference page signorini_printed_rules`", " ".join(self.page.split()))
        self.assertTrue(os.access(SOURCE / "scripts" / "reference", os.X_OK))

    @unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM is not set")
    def test_every_option_on_the_page_is_one_of_the_program(self):
        listed = json.loads(subprocess.run([PROGRAM, "list", "solvers", "--json"], capture_output=True, text=True, check=True).stdout)
        known = {f"{solver['name']}.{option['key']}" for solver in listed for option in solver["options"]}
        named = re.findall(r"--set ([a-z0-9-]+\.[a-z_0-9]+)=", self.page)
        self.assertGreater(len(named), 8)
        self.assertEqual(set(named) - known, set())


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM is not set")
class TrialRun(unittest.TestCase):
    def test_numbers_of_page_and_table_are_those_of_the_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            trial = Path(folder) / "trial"
            trial.mkdir()
            for name, text in (("run.toml", RUN), ("figures.toml", FIGURES), ("claims.toml", 'says = "A rule fails as printed."\n'),
                               ("paper.toml", '[numbers.after]\ntwo_coupled = "never"\n')):
                (trial / name).write_text(text, encoding="utf-8")
            subprocess.run([PROGRAM, "run", str(trial), "--out", f"{folder}/out"], capture_output=True, check=True)
            experiment = read_experiment(Path(folder) / "out" / "trial")
            runs = experiment.runs[experiment.runs["protocol"] == "converge"].set_index("label")
            inside = int(runs.loc["inside", "iterations"])
            self.assertEqual(runs.loc["inside", "status"], "converged")
            page = rules.page(experiment)
            self.assertRegex(page, rf"\| two_coupled \| > 40, at \S+ +\| {inside} ")
            self.assertRegex(page, r"\| two_coupled \| stops after \d+, residual \S+ +\| stops as converged after \d+, residual")
            self.assertIn("`pgs` `--set pgs.form=printed` (as printed); `pgs` (corrected)", page)
            title, _, header, rows = tables.iteration_table(experiment)
            self.assertEqual((title, header), ("Both", ["variant", "two_coupled"]))
            self.assertEqual(rows[0], ["inside", str(inside)])
            self.assertRegex(rows[1][1], r"^> 40, at \S+ \[never\]$")


if __name__ == "__main__":
    unittest.main()
