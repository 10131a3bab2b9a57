"""Every claim with a bound of a paper that differs says why by experiments: its reason names one, or claims of its own, or says that the cause is not known."""

import json
import re
import sys
import tomllib
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

from signorini_report import definition, verdicts  # noqa: E402

PAPERS = ("lazarevych2010", "otaduy2009", "verschoor2019")
EXPERIMENT = re.compile(r"\b(?:lazarevych2010|otaduy2009|verschoor2019|signorini)_\w+")
SHOWN = re.compile(r"\bclaims? [\w*]|\brecordings? `|\bthis experiment\b|not known")


def differing():
    """Experiment, id and reason of every such claim among the committed results."""
    for path in sorted((SOURCE / "results" / "reference").glob("*/claims.json")):
        paper, _, name = path.parent.name.partition("_")
        folder = SOURCE / "configs" / "experiments" / paper / name
        if paper not in PAPERS or not folder.is_dir():
            continue
        reasons = {claim["id"]: claim.get("reason", "") for claim in definition.read_definition(folder).claims}
        for claim in json.loads(path.read_text()):
            if claim["bound"] == "paper" and claim["verdict"] == "differs":
                yield path.parent.name, claim["id"], reasons.get(claim["id"], "")


class Causes(unittest.TestCase):
    def test_a_claim_of_a_paper_that_differs_says_what_was_changed(self):
        found = list(differing())
        self.assertGreater(len(found), 20)
        told = [f"{name}: {claim}: {reason[:100]}" for name, claim, reason in found if not (EXPERIMENT.search(reason) or SHOWN.search(reason))]
        self.assertEqual(told, [])

    def test_committed_verdicts_have_the_words_of_today(self):
        """Texts, reasons, and whose bounds they are; `scripts/reference bounds` writes them."""
        stale = []
        for path in sorted((SOURCE / "results" / "reference").glob("*/claims.json")):
            found = definition.find(path.parent.name)
            known = {str(claim["id"]): claim for claim in found.claims} if found else {}
            stale += [f"{path.parent.name}: {one.id}" for one in verdicts.read_claims(path) if verdicts.with_origin(one, known.get(one.id)) != one]
        self.assertEqual(stale, [])

    def test_the_experiments_that_reasons_name_exist(self):
        missing = {(name, claim, other) for name, claim, reason in differing() for other in EXPERIMENT.findall(reason)
                   if not (SOURCE / "configs" / "experiments" / other.split("_")[0] / other.split("_", 1)[1]).is_dir()}
        self.assertEqual(missing, set())

    def test_reasons_are_short(self):
        """They stand below tables; docs/notes/causes.md has room for the rest."""
        long = {f"{path.parent.name}: {name}": len(text) for path in (SOURCE / "configs" / "experiments").glob("*/reasons.toml")
                for name, text in tomllib.loads(path.read_text(encoding="utf-8")).items() if len(text) > 500}
        self.assertEqual(long, {})


if __name__ == "__main__":
    unittest.main()
