"""What interactive pages are made from: columns as they travel, repetitions, names of series, links; and what is made where D3 is not installed."""

import base64
import contextlib
import io
import json
import math
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

import make_results  # noqa: E402
import pandas as pd  # noqa: E402
from signorini_report import data, front, interactive, main, neighbours, page  # noqa: E402


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def table(rows):
    """Rows given by some columns, as data.read_runs and add_columns leave them."""
    usual = {"experiment": "x", "file": "a.h5", "step": "1", "contacts": 4, "dofs": 12, "regions": 1, "largest_region": 4, "solver": "pgs", "options": "law=cone", "law": "cone",
             "region_mode": "none", "threads": 1, "repetition": 0, "status": "converged", "iterations": 5, "residual": 1e-7, "setup_seconds": 1e-6, "solve_seconds": 2e-6,
             "tolerance": 1e-6, "protocol": "time", "products": 3, "message": "", "label": ""}
    made = pd.DataFrame([usual | row for row in rows])
    data.add_columns(made)
    return made


class Columns(unittest.TestCase):
    def test_numbers_travel_with_what_json_does_not_have(self):
        column = interactive.number_column([1.0, math.nan, math.inf, -math.inf, 0.1 + 0.2], None)
        self.assertEqual(column["numbers"], "[1,null,1e999,-1e999,0.30000000000000004]")
        self.assertEqual(interactive.number_column([2.5, 2.5]), {"one": "2.5"})
        self.assertEqual(interactive.text_column(["a", "b", "a"]), {"words": ["a", "b"], "at": [0, 1, 0]})
        self.assertEqual(unpacked(interactive.packed({"a": "</script>"})), {"a": "</script>"})

    def test_nothing_in_a_script_element_ends_it(self):
        self.assertEqual(interactive.for_script("</script>&<!--"), '"\\u003c/script\\u003e\\u0026\\u003c!--"')

    def test_repetitions_count_once_by_their_medians_and_reach_what_all_of_them_reach(self):
        rows = table([{"repetition": number, "solve_seconds": seconds, "residual": residual}
                      for number, (seconds, residual) in enumerate([(1e-3, 1e-7), (5e-3, 1e-7), (2e-3, 3e-6)])])
        once, targets = interactive.runs_once(rows)
        self.assertEqual((len(once), targets), (1, [1e-6]))
        self.assertEqual(once.loc[0, ["solve_seconds", "residual", "reached.0", "repetitions"]].tolist(), [2e-3, 3e-6, 0, 3])

    def test_a_ladder_reaches_a_residual_at_its_loosest_tolerance_only(self):
        rows = table([{"tolerance": 1e-3, "residual": 5e-7}, {"tolerance": 1e-6, "residual": 4e-7}, {"tolerance": 1e-9, "residual": 1e-8}])
        once, targets = interactive.runs_once(rows)
        self.assertEqual(targets, [1e-9, 1e-6, 1e-3])
        self.assertEqual(once.set_index("tolerance")[["reached.0", "reached.1", "reached.2"]].to_numpy().tolist(), [[0, 1, 1], [0, 0, 0], [0, 0, 0]])

    def test_a_traced_run_has_reached_what_its_status_says(self):
        rows = table([{"protocol": "converge", "residual": 1e-3}, {"protocol": "converge", "residual": 1e-9, "step": "2", "status": "iteration_limit"}])
        self.assertEqual(interactive.runs_once(rows)[0]["reached.0"].tolist(), [1, 0])

    def test_series_have_the_label_where_it_tells_them_apart_else_the_variant(self):
        rows = table([{"label": "mine"}, {"label": "same", "solver": "pcg", "options": "beta=fr"}, {"label": "same", "solver": "pcg", "options": "beta=pr"}])
        self.assertEqual(interactive.named(rows)["name"].tolist(), ["mine", "pcg fr", "pcg pr"])

    def test_thinned_curves_keep_their_ends(self):
        for count in (1, 2, 31, 32, 33, 5000):
            kept = interactive.kept_points(count, 32)
            self.assertEqual((kept[0], kept[-1]), (0, count - 1))
            self.assertLessEqual(len(kept), 32)


class Pages(unittest.TestCase):
    def report(self, folder):
        heard = io.StringIO()
        with contextlib.redirect_stderr(heard):
            main.report(folder, [])
        return heard.getvalue()

    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.out = Path(home.name) / "out"
        make_results.make(self.out / "invented", steps=3, laws=("cone",))

    def test_without_d3_the_pages_are_static_and_one_line_says_what_to_install(self):
        with mock.patch.object(interactive, "D3", Path("/nowhere/d3.min.js")):
            said = self.report(self.out)
        lines = [line for line in said.splitlines() if "node-d3" in line]
        self.assertEqual(lines, ["report: pages are static: node-d3 not installed (sudo apt-get install --no-install-recommends node-d3)"])
        text = (self.out / "invented" / "index.html").read_text(encoding="utf-8")
        self.assertNotIn("id=\"explorer\"", text)
        self.assertIn("<h2>Claims</h2>", text)
        self.assertFalse((self.out / "invented" / front.MAP).exists())
        self.assertNotIn("id=\"winners\"", (self.out / "report.html").read_text(encoding="utf-8"))

    def test_equal_rows_make_equal_pages_and_the_map_is_kept_for_report_html(self):
        if reason := interactive.unavailable():
            self.skipTest(reason)
        self.report(self.out)
        names = ("invented/index.html", "invented/map.json", "report.html")
        first = [(self.out / name).read_bytes() for name in names]
        self.report(self.out)
        self.assertEqual([(self.out / name).read_bytes() for name in names], first)
        kept = json.loads(first[1])
        self.assertEqual((kept["rows"], kept["scenes"], kept["snapshots"]), (len(interactive.runs_once(data.read_experiment(self.out / "invented").runs)[0]), 1, 3))
        (self.out / "invented" / "map.json").write_text("[]")
        self.assertNotIn("id=\"winners\"", page.index_page([("invented", "t", [])], self.out))

    def test_links_lead_to_files_that_are_there_and_to_the_replay_of_a_recording(self):
        recordings = self.out / "recordings"
        recordings.mkdir()
        (recordings / "bucket.h5").write_text("")
        (recordings / "bucket.replay.html").write_text('<head><meta name="signorini-steps" content="000100 000120"><title>r</title></head>')
        links = neighbours.links_of(data.read_experiment(self.out / "invented"))
        self.assertEqual(links.recordings, {"recordings/bucket.h5": "recordings/bucket.h5"})
        self.assertEqual(links.replays, {"recordings/bucket.h5": {"address": "../recordings/bucket.replay.html", "steps": ["000100", "000120"]}})
        for _, address in links.files:
            self.assertTrue((self.out / "invented" / address).is_file(), address)
        self.assertIn(("runs.csv", "runs.csv"), links.files)


if __name__ == "__main__":
    unittest.main()
