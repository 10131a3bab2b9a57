"""scripts/pages: pages and tables say what the reference results hold, stay short, and the examples in docs compile."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

from signorini_report import data, definition, docs_pages as pages, figures, reference  # noqa: E402
from signorini_report.figures import steps  # noqa: E402

CONFIG = """artefact = "Otaduy 2009, Fig. 2: springs"
scenes = ["springtoy"]
{more}
"""


CLAIMS = """says = "a global response is better, see otaduy2009_cmr and docs/gallery.md"
"""


def claim(identifier, verdict, reason="", value=1.5, kind="quantity", samples=1):
    return {"experiment": "otaduy2009_fig2", "id": identifier, "claim": f"claim {identifier}", "source": "Otaduy 2009, section 2", "kind": kind,
            "expected": "≥ 1", "value": value, "unit": "", "samples": samples, "verdict": verdict, "reason": reason}


class Committed(unittest.TestCase):
    def setUp(self):
        self.found = pages.complaints()

    def test_pages_say_what_the_reference_results_hold_and_are_short(self):
        self.assertEqual([line for line in self.found if not line.startswith("README.md: ") or "at most" not in line], [])

    def test_readme_is_short(self):
        self.assertEqual([line for line in self.found if line.startswith("README.md: ") and "at most" in line], [])

    def test_readme_and_results_count_the_verdicts(self):
        for name in ("README.md", "docs/results.md"):
            self.assertIn("<!-- verdicts -->", (SOURCE / name).read_text(encoding="utf-8"))

    def test_every_figure_is_one_that_the_report_draws(self):
        shown = pages.page_figures()
        self.assertGreaterEqual(len(shown), 20)
        for name, stem in ((name, table["figure"]) for name, table in shown.items()):
            experiment = types.SimpleNamespace(config=definition.find(name).config)
            drawn = set(experiment.config.get("figures", figures.known()))
            for picture in [name for name, kind in figures.known().items() if kind.several]:
                asked = {known for known, _ in steps.wishes(experiment, picture)} if picture in drawn else set()
                if picture in drawn and picture.startswith("convergence_"):
                    asked |= {f"{picture}_{law}" for law in ("cone", "pyramid")}  # one for each law that was run
                drawn = drawn - {picture} | asked
            self.assertIn(stem, drawn, name)


class Tree(unittest.TestCase):
    """A small repository with one experiment."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root, self.before = Path(self.directory.name), pages.ROOT
        pages.ROOT = self.root
        (self.root / "docs" / "papers" / "otaduy2009").mkdir(parents=True)
        shown = self.root / "configs" / "experiments" / "otaduy2009" / "cmr" / "figures.toml"
        shown.parent.mkdir(parents=True)
        shown.write_text('page = { figure = "histogram", caption = "Rounds." }\n')
        (self.root / "docs" / "gallery.md").write_text("# Gallery\n")
        (self.root / "README.md").write_text("# Demo\n\n<!-- verdicts -->\n<!-- /verdicts -->\n")
        self.index = self.root / "docs" / "papers" / "otaduy2009" / "README.md"
        self.index.write_text("# Paper\n\n<!-- experiments -->\n<!-- /experiments -->\n\n<!-- differences -->\n<!-- /differences -->\n")
        self.put("otaduy2009_fig2", [claim("a", "holds"), claim("b", "differs", "stiff springs"), claim("c", "differs", "stiff springs", samples=3),
                                     claim("d", "not comparable", "another machine", value=None)])

    def tearDown(self):
        pages.ROOT = self.before
        self.directory.cleanup()

    def put(self, name, claims, more=""):
        folder = self.root / "results" / "reference" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "claims.json").write_text(json.dumps(claims))
        defined = self.root / "configs" / "experiments" / "otaduy2009" / name.removeprefix("otaduy2009_")
        defined.mkdir(parents=True, exist_ok=True)
        for path in (folder / "run.toml", defined / "run.toml"):
            path.write_text(CONFIG.format(more=more))
        (defined / "claims.toml").write_text(CLAIMS)
        (folder / "env.json").write_text(json.dumps({"size": "medium", "load_at_start": "0.50 0.40 0.30", "build": {"git": "0123456789ab"},
                                                     "machine": {"cores": 2, "cpu": "Some CPU"}}))

    def write(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            pages.write()
        return said.getvalue()

    def test_a_long_table_of_what_differs_is_divided_by_experiments(self):
        self.put("otaduy2009_fig3", [claim("e", "differs", "soft springs")])
        folder = self.index.parent
        for name, marker in (("figures", "differences of fig2"), ("rest", "differences but fig2")):
            (folder / f"differences_{name}.md").write_text(f"# D\n\n<!-- {marker} -->\n<!-- /{marker} -->\n")
        self.write()
        figures, rest = ((folder / f"differences_{name}.md").read_text() for name in ("figures", "rest"))
        self.assertEqual(("fig2.md" in figures, "fig3.md" in figures, "fig2.md" in rest, "fig3.md" in rest), (True, False, False, True))
        self.assertIn("oft springs", rest)
        self.assertEqual(figures.count("tiff springs"), 1)  # of both claims

    def page(self, name="fig2.md"):
        return (self.index.parent / name).read_text(encoding="utf-8")

    def test_a_page_counts_verdicts_and_gives_each_reason_once(self):
        self.assertIn("written    docs/papers/otaduy2009/fig2.md", self.write())
        page = self.page()
        self.assertIn("1 of 4 claims holds, 2 differ and 1 cannot be compared.", page)
        self.assertEqual(page.count("Stiff springs."), 1)
        self.assertIn("| claim b (section 2) | ≥ 1 | – | 1.5 (1 row) | differs (1) |", page)
        self.assertIn("| claim c (section 2) | ≥ 1 | – | 1.5 (3 rows) | differs (1) |", page)
        self.assertIn("not comparable (2) |", page)
        self.assertIn("[gallery.md](../../gallery.md)", page)
        self.assertIn("see otaduy2009_cmr", page)  # no such experiment: no link

    def test_names_of_experiments_become_links(self):
        self.put("otaduy2009_cmr", [claim("a", "holds", value=2.0)])
        self.write()
        self.assertIn("[otaduy2009_cmr](../otaduy2009/cmr.md)", self.page())
        self.assertIn("The claim holds.", self.page("cmr.md"))

    def test_index_and_readme_tables_are_filled_and_stay_the_same(self):
        self.write()
        self.assertIn("| [Fig. 2: springs](fig2.md) | medium | 1 | 2 | 1 |", self.index.read_text(encoding="utf-8"))
        self.assertIn("Claim b. Expected ≥ 1, measured 1.5 (1 row).<br>Claim c.", self.index.read_text(encoding="utf-8"))
        self.assertIn("(docs/papers/otaduy2009/README.md) | 1 | medium | unknown origin | 4 | 1 | 2 | 1 |", (self.root / "README.md").read_text(encoding="utf-8"))
        self.assertEqual(pages.complaints(), [])
        self.assertEqual(self.write(), "")

    def test_orders_of_a_paper_count_apart_from_its_numbers(self):
        def found(bound, expected):
            return pages.judged.Verdict(**claim("a", "holds") | {"bound": bound, "expected": expected})

        parts = pages.origins([found("paper", "≥ 1"), found("paper", "≤ 1"), found("paper", "4.78 … 47.8"), found("paper", "≥ 90 %"), found("ours", "≥ 1")])
        self.assertEqual([(words, len(own)) for words, own in parts], [("the paper, an order", 2), ("the paper, a number", 2), ("ours", 1)])

    def test_bounds_of_the_paper_and_ours_stand_and_count_apart(self):
        ours = {"bound": "ours", "why": "half is ours", "bound_set": "abcdef0123ab", "bound_first": True}
        late = ours | {"bound_set": "1234567890ab", "bound_first": False}
        gone = claim("z", "not comparable", "no rows match", value=None) | {"bound": "ours", "why": "w", "absent": True}
        self.put("otaduy2009_fig2", [claim("a", "holds") | {"bound": "paper"}, claim("b", "holds") | ours, claim("c", "differs") | ours,
                                     claim("d", "differs") | late, gone])
        self.write()
        page, index, readme = self.page(), self.index.read_text(encoding="utf-8"), (self.root / "README.md").read_text(encoding="utf-8")
        self.assertIn("Bounds of the paper: the claim holds. Bounds of ours: 1 of 3 claims holds and 2 differ.", page)
        self.assertIn("| claim a (section 2) | ≥ 1 | paper | 1.5 (1 row) | holds |", page)
        self.assertIn("| claim b (section 2) | ≥ 1 | ours (a) | 1.5 (1 row) | holds |", page)
        self.assertIn("- (a) Half is ours. Bound set `abcdef0`, result `0123456`.\n- (b) Half is ours. Bound set `1234567`, result `0123456`: not before the result.\n", page)
        self.assertNotIn("claim z", page)
        self.assertIn("Without rows at this size, and not counted: 1 claim (z).", page)
        self.assertIn("| [Fig. 2: springs](fig2.md) | medium | 1 | 0 | 0 | 1 | 2 | 0 |", index)
        self.assertIn("hold, bounds of the paper | differ | not comparable | hold, bounds of ours | differ | not comparable |", index)
        self.assertRegex(readme, r"\| 1 \| medium \| the paper, an order \| 1 \| 1 \| 0 \| 0 \|\n\|  \|  \|  \| ours \| 3 \| 1 \| 2 \| 0 \|")

    def test_the_table_of_columns_is_the_program_s(self):
        page = self.root / "docs" / "experiments.md"
        page.write_text("# E\n\n<!-- columns -->\nkept\n<!-- /columns -->\n")
        with mock.patch.dict(os.environ, SIGNORINI_PROGRAM=str(self.root / "none")):
            self.write()
        self.assertIn("kept", page.read_text(), "without a program the table stays")
        stub = self.root / "signorini"
        stub.write_text("""#!/bin/sh\necho '{"runs.csv": [{"name": "residual", "type": "real", "unit": "1", "meaning": "the error", "key": false}]}'\n""")
        stub.chmod(0o755)
        with mock.patch.dict(os.environ, SIGNORINI_PROGRAM=str(stub)):
            self.write()
        self.assertIn("| `residual` | real | 1 | the error |", page.read_text())

    def test_recordings_that_end_early_are_told(self):
        recording = '[[recordings]]\nname = "x"\nscene = "springtoy"\nset = { "time.contact_steps" = 20 }\n'
        self.put("otaduy2009_fig2", [claim("a", "holds")], recording)
        self.write()
        self.assertIn("| medium, first 20 steps with contact | 1 |", self.index.read_text(encoding="utf-8"))

    def test_what_is_out_of_date_too_long_or_left_over_is_named(self):
        self.write()
        self.put("otaduy2009_fig2", [claim("a", "holds")])
        (self.root / "docs" / "otaduy2009_cmr.svg").write_text("<svg/>")
        (self.root / "docs" / "long.md").write_text("x" * 60_001)
        (self.index.parent / "gone.md").write_text(pages.NOTE + "# Gone\n")
        with (self.root / "README.md").open("a") as readme:
            readme.write("\n" * 12_000)
        found = "\n".join(pages.complaints())
        for words in ("fig2.md: does not say", "README.md: does not say", "long.md: 60,001 bytes", "gone.md: results/reference has no such", "README.md: 12,", "otaduy2009_cmr.svg: belongs to docs/papers/otaduy2009/otaduy2009_cmr.svg",
                      "lines, at most 200"):
            self.assertIn(words, found)
        self.assertIn("removed    docs/papers/otaduy2009/gone.md", self.write())

    def test_a_missing_figure_is_named_and_copied_from_the_results(self):
        self.put("otaduy2009_cmr", [claim("a", "holds")])
        self.write()
        self.assertIn("otaduy2009_cmr.svg: the page of otaduy2009_cmr shows this figure and it is missing", "\n".join(pages.complaints()))
        out = self.root / "results" / "out" / "otaduy2009_cmr"
        out.mkdir(parents=True)
        with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(reference.main(["page", "otaduy2009_cmr"]), 3)
            self.assertIn("histogram.svg does not exist", err.getvalue())
            (out / "histogram.svg").write_text("<svg/>")
            self.assertEqual(reference.main(["page", "otaduy2009_cmr"]), 0)
            self.assertEqual(reference.main(["page", "otaduy2009_fig2"]), 0)
        self.assertEqual(pages.complaints(), [])


class CommandLine(unittest.TestCase):
    def test_unknown_arguments_are_usage_errors(self):
        self.assertEqual(subprocess.run([SOURCE / "scripts" / "pages", "--bogus"], capture_output=True, check=False).returncode, 2)

    def test_help_explains(self):
        text = subprocess.run([SOURCE / "scripts" / "pages", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn("--check", text)


class Names(unittest.TestCase):
    def test_every_solver_stands_on_the_page_of_the_solvers(self):
        page = (SOURCE / "docs" / "solvers.md").read_text(encoding="utf-8")
        names = [name for path in (SOURCE / "lib" / "solvers").rglob("*.h") for name in re.findall(r'kName = "([^"]+)"', path.read_text(encoding="utf-8"))]
        self.assertGreaterEqual(len(names), 12)
        for name in names:
            self.assertIn(f"| `{name}` |", page)

    def test_the_index_leads_to_every_page(self):
        index = (SOURCE / "docs" / "README.md").read_text(encoding="utf-8")
        for path in sorted((SOURCE / "docs").glob("*.md")):
            if path.name != "README.md":
                self.assertIn(f"({path.name}", index)


if __name__ == "__main__":
    sys.exit(unittest.main())
