"""scripts/reference promote: nothing is copied unasked, times of a busy machine and large files are refused."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import make_results  # noqa: E402


class Promote(unittest.TestCase):
    """It copies what it says and nothing else, with the commits at which bounds were set and without places of this machine."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        self.out = self.root / "out" / "demo"
        self.out.mkdir(parents=True)
        for name in ("summary.csv", "run.toml"):
            (self.out / name).write_text(f"{name} = 1\n")
        (self.out / "claims.json").write_text("[]\n")
        (self.out / "env.json").write_text('{"load_at_start": "0.10 0.10 0.10", "machine": {"cores": 2}}')
        self.rows([0.0] * 10)

    def rows(self, waited):
        """runs.csv of timed runs that waited for a processor this share of their time."""
        row = "e,f.h5,{},4,12,1,4,pgs,,cone,none,1,0,converged,5,1e-7,0,0,0,0,0,0,0,0.001,0.001,1e-6,time,{},{}"
        make_results.write_runs(self.out, [*make_results.CONTRACT, "protocol", "cpu_share", "waited_share"],
                                [row.format(place, 1 - share, share) for place, share in enumerate(waited)])

    def tearDown(self):
        self.directory.cleanup()

    def promote(self, *arguments):
        return subprocess.run([str(SOURCE / "scripts" / "reference"), "promote", *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "SIGNORINI_RESULTS": str(self.root)})

    def test_nothing_is_copied_before_a_person_says_yes(self):
        self.assertEqual(self.promote("demo").returncode, 0)
        self.assertFalse((self.root / "reference").exists())
        self.assertEqual(self.promote("demo", "--yes").returncode, 0)
        self.assertEqual({path.name for path in (self.root / "reference" / "demo").iterdir()},
                         {"summary.csv", "claims.json", "run.toml", "env.json"})

    def test_verdicts_get_the_origin_of_their_bounds_and_lose_nothing(self):
        claim = {"experiment": "demo", "id": "a", "claim": "c", "source": "", "kind": "ratio", "expected": "≥ 1", "value": 2.0, "unit": "", "samples": 3,
                 "verdict": "holds", "reason": ""}
        (self.out / "claims.json").write_text(json.dumps([claim]))
        definition = make_results.define(self.root / "defined", '[[claims]]\nid = "a"\ntext = "c"\nratio = "iterations"\nmin = 1\nbound = "ours"\nwhy = "w"\n')
        (self.out / "env.json").write_text(json.dumps({"definition": str(definition), "build": {"git": "0123456789ab"}}))
        self.assertEqual(self.promote("demo", "--yes").returncode, 0)
        (found,) = json.loads((self.root / "reference" / "demo" / "claims.json").read_text())
        self.assertEqual({key: found[key] for key in claim}, claim)
        self.assertEqual((found["bound"], found["why"], found["bound_set"], found["bound_first"]), ("ours", "w", "", None), "outside git nothing is known")
        self.assertEqual(json.loads((self.root / "reference" / "demo" / "env.json").read_text())["definition"], "defined", "no places of this machine")

    def test_times_of_a_busy_machine_are_refused(self):
        self.rows([0.4] * 2 + [0.0] * 8)
        refused = self.promote("demo", "--yes")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("reference: demo: the machine was busy: 20 % of the timed runs waited", refused.stderr)
        self.assertIn("--counts-only", refused.stderr)
        self.assertFalse((self.root / "reference").exists())
        self.assertEqual(self.promote("demo", "--counts-only", "--yes").returncode, 0)
        self.assertTrue((self.root / "reference" / "demo" / "claims.json").is_file())
        (self.out / "runs.csv").unlink()  # files without rows are judged by the load
        self.assertEqual(self.promote("demo").returncode, 0)
        (self.out / "env.json").write_text('{"load_at_start": "2.10 0.10 0.10", "machine": {"cores": 2}}')
        self.assertIn("load 2.1 on 2 processors", self.promote("demo").stderr)
        (self.out / "env.json").write_text("{")
        self.assertEqual(self.promote("demo").returncode, 3)

    def test_large_absent_and_foreign_files_are_refused(self):
        (self.out / "runs.csv").write_bytes(b"x" * 1_000_001)
        self.assertEqual(self.promote("demo", "runs.csv", "--yes").returncode, 1)
        self.assertEqual(self.promote("demo", "absent.csv", "--yes").returncode, 3)
        self.assertEqual(self.promote("demo", "../demo/env.json", "--yes").returncode, 2)
        self.assertEqual(self.promote("../out", "--yes").returncode, 2)
        self.assertFalse((self.root / "reference").exists())


class PageFigures(unittest.TestCase):
    """scripts/reference page where an experiment has not run here."""

    def test_figures_of_tables_are_drawn_and_others_are_not(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        from signorini_report import reference
        with tempfile.TemporaryDirectory() as name:
            target = Path(name) / "figure.svg"
            for identifier, figure, drawn in (("verschoor2019_first20", "methods.svg", True), ("verschoor2019_ablation", "outcomes.svg", True),
                                              ("verschoor2019_fig9", "over_time_paper.svg", True), ("verschoor2019_fig9", "over_time_small.svg", False),
                                              ("verschoor2019_fig12", "scatter_delassus.svg", True), ("verschoor2019_sp_small", "scatter_iterations.svg", False),  # keeps no rows
                                              ("verschoor2019_ablation", "histories.svg", False), ("verschoor2019_fig9", "outcomes.svg", False),
                                              ("verschoor2019_absent", "methods.svg", False)):
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(reference.drawn_from_tables(identifier, figure, target), drawn, (identifier, figure))
                self.assertEqual(target.is_file() and target.read_text().count("<path") > 20, drawn, (identifier, figure))
                target.unlink(missing_ok=True)

    def test_kept_rows_are_those_that_a_figure_draws(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        from signorini_report import committed, shown
        for identifier, stem in (("verschoor2019_fig10", "over_time_work"), ("verschoor2019_fig12", "scatter_delassus")):
            folder = SOURCE / "results" / "reference" / identifier
            name, text = shown.table(committed.experiment(folder), stem)
            self.assertEqual(text, (folder / name).read_text())
            self.assertIsNone(shown.table(committed.experiment(folder), "convergence_iterations"))

    def test_the_colour_of_a_series_says_its_solver(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        import pandas as pd
        from signorini_report import style
        from signorini_report.figures import scatter
        found = [(words, "iterations", pd.DataFrame({"solver": [solver]})) for words, solver in (("ICA", "ica"), ("Full", "cr-full"), ("Full, ours", "cr-full"))]
        wanted = {"series": [{"label": words} for words, _, _ in found]}
        colours = style.SOLVER_COLOURS
        self.assertEqual(scatter.colours_of(found, wanted), {"ICA": colours["ica"], "Full": colours["cr-full"], "Full, ours": colours["cr-full"]})
        self.assertEqual(scatter.colours_of(found[1:], wanted), {"Full": style.CYCLE[0], "Full, ours": style.CYCLE[1]})
        wanted["series"][0]["colour"] = "#123456"
        self.assertEqual(scatter.colours_of(found, wanted), {"ICA": "#123456", "Full": style.CYCLE[1], "Full, ours": style.CYCLE[2]})

    def test_lines_of_the_paper_are_drawn(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        from signorini_report import reference
        with tempfile.TemporaryDirectory() as name:
            target = Path(name) / "figure.svg"
            for identifier, figure, words in (("verschoor2019_fig10", "over_time_work.svg", ["the paper's mean", "6,839", "81"]),
                                              ("verschoor2019_fig9", "over_time_paper.svg", ["as many for a second"]),
                                              ("verschoor2019_fig12", "scatter_delassus.svg", ["the paper's CR (Full), mean"]),
                                              ("verschoor2019_fig8", "methods.svg", ["the paper"]),
                                              ("verschoor2019_fig13", "scatter_classes.svg", ["eps1 = 5e-5 m", "eps2 = 5e-6 m"])):
                with contextlib.redirect_stdout(io.StringIO()):
                    reference.drawn_from_tables(identifier, figure, target)
                for word in words:
                    self.assertIn(f"<!-- {word}", target.read_text(), (identifier, word))


if __name__ == "__main__":
    unittest.main()
