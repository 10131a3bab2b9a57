"""What interactive pages are made from: columns as they travel, repetitions, names of series, links; and what is made where D3 is not installed."""

import base64
import contextlib
import io
import json
import math
import os
import sys
import tempfile
import types
import unittest
import zlib
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

import h5py  # noqa: E402
import make_results  # noqa: E402
import pandas as pd  # noqa: E402
from signorini_report import data, front, interactive, main, neighbours, page, recorded_frames, replays, step_tables  # noqa: E402


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


class StepTables(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.folder = make_results.make_steps(Path(home.name) / "out" / "driven")

    def test_settings_that_differ_filter_and_make_series(self):
        experiment = data.read_experiment(self.folder)
        table, = step_tables.tables_of(experiment)
        self.assertEqual(step_tables.filters_of(table), [("scene", "Recording"), ("recording.scene", "Scene"), ("setting.solver.name", "Solver")])
        self.assertEqual((table.first["y"], table.first["y_scale"]), ("step_seconds", "log"), "what figures.toml draws first")
        command = step_tables.commands_of(experiment)["rings_by_ica-quick.h5"]
        self.assertEqual(command, "signorini record rings --size quick --set solver.name=ica --set time.step_s=0.002 -o rings_by_ica-quick.h5")

    def test_long_tables_are_thinned_evenly_in_each_recording(self):
        rows = pd.DataFrame({"file": ["a"] * 30000 + ["b"] * 29999, "step": [*range(30000), *range(29999)]})
        kept, every = step_tables.thinned(rows)
        self.assertEqual(every, 3)
        self.assertLessEqual(len(kept), step_tables.MOST_ROWS)
        self.assertEqual(kept.groupby("file")["step"].agg(["min", "max"]).to_numpy().tolist(), [[0, 29997], [0, 29997]])
        self.assertIs(step_tables.thinned(rows[:20000])[1], 1)

    def test_a_setting_that_some_recordings_do_not_set_says_so(self):
        rows = pd.DataFrame({"file": list("abc"), "setting.time.step_s": [0.001, float("nan"), 0.002], "setting.solver.name": ["pgs", "", "ica"], "setting.same": [1.0, 1.0, 1.0]})
        self.assertEqual(step_tables.varying_settings(rows), [])  # as many values as recordings: the recording says it
        twice = pd.concat([rows, rows.assign(file=list("def"))])
        self.assertEqual(step_tables.varying_settings(twice), ["setting.solver.name", "setting.time.step_s"])
        words = step_tables.texts_of_settings(twice, ["setting.solver.name", "setting.time.step_s"])
        self.assertEqual(words["setting.time.step_s"].tolist()[:3], ["0.001", "not set", "0.002"])
        self.assertEqual(words["setting.solver.name"].tolist()[:3], ["pgs", "not set", "ica"])


# replay FILE --steps LIST … -o PAGE --force: a page of 1 kB per frame, and a line in the log beside the program
PROGRAM = """#!/usr/bin/python3
import pathlib, sys
words = sys.argv[1:]
steps = words[words.index("--steps") + 1].split(",")
with open(sys.argv[0] + ".log", "a") as log:
    log.write(" ".join(steps) + "\\n")
names = " ".join(f"{int(one.split('.')[0]):06d}" + ("" if one.endswith(".1") else "." + one.split(".")[1]) for one in steps)
pathlib.Path(words[words.index("-o") + 1]).write_text('<html>\\n<head>\\n<meta name="signorini-steps" content="' + names + '">\\n</head>' + "x" * 1000 * len(steps))
"""


class Replays(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = Path(home.name)
        self.program, self.file, self.page = self.home / "program", self.home / "a.h5", self.home / "a.replay.html"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.record([f"{step:06d}" for step in range(1, 101)] + ["000050.2", "000050.10"])
        patch = mock.patch.object(replays, "THREE", self.home)
        patch.start()
        self.addCleanup(patch.stop)
        self.maker = replays.Maker(self.program, self.home)

    def record(self, frames, geometry=True):
        with h5py.File(self.file, "w") as file:
            file.create_group("steps")
            for frame in frames:
                file["steps"].create_group(f"{frame}/geometry" if geometry else frame)

    def make(self, steps=(), maker=None):
        heard = io.StringIO()
        with contextlib.redirect_stderr(heard):
            (maker or self.maker).make([replays.Wanted(self.file, self.page, set(steps))])
        return heard.getvalue()

    def started(self):
        log = self.program.with_name("program.log")
        return log.read_text().splitlines() if log.is_file() else []

    def test_frames_that_rows_name_come_first_and_others_fill_up(self):
        frames = recorded_frames.names(self.file)
        self.assertEqual(frames[49:53], ["000050", "000050.2", "000050.10", "000051"], "solves in their order")
        taken = replays.chosen(frames, {"000050.2", "000003", "000999"})
        self.assertEqual((len(taken), taken == sorted(taken, key=recorded_frames.number)), (40, True))
        self.assertLessEqual({"000001", "000003", "000050.2", "000100"}, set(taken))
        every = replays.chosen(frames, set(frames))
        self.assertEqual((len(every), every[0], every[-1]), (40, "000001", "000100"), "more than fit: evenly spread")
        self.assertEqual(replays.chosen(["000001"], set()), ["000001"])

    def test_a_replay_is_made_once_and_again_after_its_recording_or_its_frames_changed(self):
        said = self.make(["000050.2"])
        self.assertIn("a.replay.html: 40 of 102 frames", said)
        self.assertIn("50.2", self.started()[0].split())
        self.assertIn("000050.2", neighbours.replay_steps(self.page))
        self.assertEqual((self.make(["000050.2"]), len(self.started())), ("", 1), "it is current")
        self.make(["000050.2", "000051"])
        self.assertEqual(len(self.started()), 2)
        os.utime(self.file, (self.page.stat().st_mtime + 5,) * 2)
        self.make(["000050.2", "000051"])
        self.assertEqual(len(self.started()), 3)
        self.assertEqual([path.name for path in self.home.iterdir() if path.name.startswith(".")], [], "nothing is left behind")

    def test_what_the_user_made_is_kept_as_long_as_it_is_newer(self):
        self.page.write_text("<head>\n<title>two solvers</title>")
        self.assertEqual((self.make(["000050"]), self.started()), ("", []))
        os.utime(self.file, (self.page.stat().st_mtime + 5,) * 2)
        self.make()
        self.assertEqual(len(self.started()), 1)

    def test_what_is_too_large_is_made_of_fewer_frames(self):
        with mock.patch.object(replays, "BYTES", 20_000):
            said = self.make(["000050"])
            self.assertLessEqual(self.page.stat().st_size, 20_000)
            self.assertRegex(said, r"a.replay.html: 1\d of 102 frames")
            self.assertIn("000050", neighbours.replay_steps(self.page))
            self.assertEqual((self.make(["000050"]), len(self.started())), ("", 2), "and it is current")
        with mock.patch.object(replays, "BYTES", 100):
            self.page.unlink()
            self.assertIn("no replay of", self.make())
            self.assertFalse(self.page.exists())

    def test_why_there_is_none_is_said(self):
        self.program.write_text("#!/bin/sh\necho 'signorini: error: step 7 is damaged' >&2\nexit 3\n")
        self.assertIn(f"no replay of {self.file}: step 7 is damaged", self.make())
        nowhere = replays.Maker(None, self.home)
        self.assertIn("no program 'signorini' is found", self.make(maker=nowhere))
        self.assertEqual(self.make(maker=nowhere), "", "once")
        self.record([])
        self.assertEqual((self.make(), recorded_frames.why_none(self.file)), ("", "holds no frames"))
        self.record(["000001"], geometry=False)
        self.assertEqual((self.make(), recorded_frames.why_none(self.file)), ("", "holds no surfaces"))
        self.file.write_text("no recording")
        self.assertEqual((self.make(), recorded_frames.why_none(self.file)), ("", "cannot be read"))

    def test_recordings_are_found_by_the_names_that_rows_give(self):
        folder = self.home / "cmp"
        (self.home / "x").mkdir()
        (self.home / "x" / "a.h5").write_text("")
        (self.home / "p.hdf5").write_text("")
        experiment = types.SimpleNamespace(folder=folder, config={"files": ["../x/a.h5", "../a.h5", "../p.hdf5"]}, env={}, runs=pd.DataFrame({"file": ["x/a.h5", "p", "q"]}),
                                           steps=None, accuracy=None, follow=None, definition=None)
        self.assertEqual({name: path.resolve() for name, path in neighbours.recording_paths(experiment).items()},
                         {"x/a.h5": (self.home / "x" / "a.h5").resolve(), "p": (self.home / "p.hdf5").resolve()})
        experiment.runs = pd.DataFrame({"file": ["x/a.h5"], "step": ["000001"]})
        wanted, = self.maker.of_tables(experiment)
        self.assertEqual(wanted.target, folder / "x_a.replay.html")


if __name__ == "__main__":
    unittest.main()
