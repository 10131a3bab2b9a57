"""scripts/report: verdicts have hand-computed values, hostile tables give one clear line, figures repeat to the byte."""

import contextlib
import dataclasses
import io
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

import drawn as drawn_figures  # noqa: E402
import make_results  # noqa: E402
import render_test  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib import pyplot as plt  # noqa: E402
from signorini_report import data, definition, figure_parts, figures, machine, main, style, table_errors, table_methods, tables, verdicts  # noqa: E402
from signorini_report.figures import anticipation, convergence, follow, methods, outcomes, rounds, scatter, scenes, sheet, steps, times  # noqa: E402
from signorini_report.rows import digits, select, within  # noqa: E402


def run_table(**columns):
    """Rows with sensible defaults for every column of the contract."""
    length = max(len(values) for values in columns.values())
    defaults = {"experiment": "e", "file": "f.h5", "step": "000001", "contacts": 4, "dofs": 12, "regions": 1, "largest_region": 4,
                "solver": "pgs", "options": "", "law": "cone", "region_mode": "none", "threads": 1, "repetition": 0,
                "status": "converged", "iterations": 5, "residual": 1e-7, "setup_seconds": 1e-3, "solve_seconds": 1e-3,
                "tolerance": 1e-6, "protocol": "time", "message": ""}
    table = {name: columns.get(name, [value] * length) for name, value in (defaults | {"label": ""}).items()} | columns
    runs = pd.DataFrame(table)
    data.add_columns(runs)
    return runs


class Verdicts(unittest.TestCase):
    def verdict(self, runs, **keys):
        return verdicts.evaluate(runs, {"id": "x", "claim": "c"} | keys)

    def test_fraction_counts_the_rows_between_the_bounds(self):
        runs = run_table(residual=[1e-7, 2e-7, 1e-3, float("nan")])
        result = self.verdict(runs, kind="fraction", column="residual", upper=1e-6, min=0.5)
        self.assertEqual((result.value, result.samples, result.verdict), (0.5, 4, "holds"))
        self.assertEqual(self.verdict(runs, kind="fraction", column="residual", upper=1e-6, min=0.51).verdict, "differs")

    def test_a_run_without_an_error_misses_the_bound_and_threads_that_there_are_not_are_no_run(self):
        columns = {"status": ["converged", "failed", "unsupported", "unsupported"], "threads": [1, 1, 1, 2], "residual": [1e-7] + 3 * [float("nan")],
                   "message": ["", "", "needs a symmetric M", "asks for 2 threads, this process may use 1 CPU (affinity)"]}
        runs = run_table(**columns).assign(fb_static=[0.0] + 3 * [float("nan")])
        for column in ("residual", "fb_static"):
            result = self.verdict(runs, kind="fraction", column=column, upper=1e-6, min=0.9)
            self.assertEqual((round(3 * result.value), result.samples, result.verdict), (1, 3, "differs"))

    def test_where_takes_scalars_and_lists_and_option_columns(self):
        runs = run_table(solver=["pgs", "pcg", "pcg", "ca"], options=["", "beta=fr", "beta=pr", ""], iterations=[1, 10, 100, 1000])
        quantity = {"kind": "quantity", "column": "iterations", "statistic": "sum", "min": 0}
        self.assertEqual(self.verdict(runs, where={"solver": "pcg"}, **quantity).value, 110)
        self.assertEqual(self.verdict(runs, where={"solver": ["pgs", "ca"]}, **quantity).value, 1001)
        self.assertEqual(self.verdict(runs, where={"options": {"beta": "pr"}}, **quantity).value, 100)
        self.assertEqual(self.verdict(runs, where={"iterations": [1, 10]}, **quantity).value, 11)

    def test_where_finds_rows_that_have_no_number_by_empty_quotes(self):
        runs = run_table(scale=[0.5, None, 1.0])
        for wanted, rows in (("", [1]), (["", 1.0], [1, 2]), (0.5, [0])):
            self.assertEqual(list(select(runs, {"scale": wanted}).index), rows)

    def test_statistics_are_the_named_ones(self):
        runs = run_table(iterations=[1, 2, 9])
        for name, value in (("median", 2), ("mean", 4), ("maximum", 9), ("minimum", 1), ("sum", 12)):
            self.assertEqual(self.verdict(runs, kind="quantity", column="iterations", statistic=name, min=0).value, value)

    def test_ratio_pairs_rows_of_the_same_snapshot_only(self):
        runs = run_table(step=["1", "2", "3", "1", "2", "4"], region_mode=["none"] * 3 + ["points"] * 3,
                         solve_seconds=[4.0, 9.0, 100.0, 2.0, 3.0, 1.0])
        result = self.verdict(runs, kind="ratio", column="solve_seconds", numerator={"region_mode": "none"},
                              denominator={"region_mode": "points"}, statistic="mean", min=2.0)
        self.assertEqual((result.value, result.samples, result.verdict), (2.5, 2, "holds"))
        total = self.verdict(runs, kind="ratio", column="solve_seconds", numerator={"region_mode": "none"},
                             denominator={"region_mode": "points"}, statistic="total", min=2.0)
        self.assertEqual((total.value, total.samples), (13.0 / 5.0, 2))

    def test_ratio_between_solvers_does_not_match_their_options(self):
        runs = run_table(solver=["pgs", "pcg"], options=["a=1", "b=2"], iterations=[30, 10])
        result = self.verdict(runs, kind="ratio", column="iterations", numerator={"solver": "pgs"}, denominator={"solver": "pcg"},
                              max=4.0)
        self.assertEqual((result.value, result.verdict), (3.0, "holds"))

    def test_ratio_takes_repetitions_by_their_median(self):
        runs = run_table(region_mode=["none"] * 3 + ["points"], repetition=[0, 1, 2, 0], solve_seconds=[2.0, 4.0, 60.0, 1.0])
        result = self.verdict(runs, kind="ratio", column="solve_seconds", numerator={"region_mode": "none"},
                              denominator={"region_mode": "points"}, min=0)
        self.assertEqual((result.value, result.samples), (4.0, 1))

    def test_a_run_counts_once_however_often_it_was_repeated(self):
        runs = run_table(step=["1"] * 3 + ["2"], repetition=[0, 1, 2, 0], residual=[1e-9, 1e-9, 1e-9, 0.5], solve_seconds=[1.0, 3.0, 80.0, 5.0])
        result = self.verdict(runs, kind="fraction", column="residual", upper=1e-6, min=0.5)
        self.assertEqual((result.value, result.samples), (0.5, 2))
        result = self.verdict(runs, kind="quantity", column="solve_seconds", statistic="mean", max=4)
        self.assertEqual((result.value, result.samples), (4.0, 2))
        exact = run_table(step=["1"] * 2 + ["2", "3"], repetition=[0, 1, 0, 0], contacts=[1, 1, 2, 4], solve_seconds=[0.5, 1.5, 4.0, 16.0])
        result = self.verdict(exact, kind="slope", column="solve_seconds", against="contacts", min=2)
        self.assertAlmostEqual(result.value, 2.0)
        self.assertEqual(result.samples, 3)

    def test_slope_of_an_exact_power_is_its_exponent(self):
        runs = run_table(contacts=[1, 2, 4, 8], step=["1", "2", "3", "4"], solve_seconds=[3.0, 12.0, 48.0, 192.0])
        result = self.verdict(runs, kind="slope", column="solve_seconds", against="contacts", min=1.8)
        self.assertAlmostEqual(result.value, 2.0, places=12)  # log and a 4-point fit: a few eps
        self.assertEqual(result.verdict, "holds")

    def test_slope_ratio_divides_by_the_steepest_of_the_others(self):
        runs = run_table(label=["a"] * 3 + ["b"] * 3 + ["c"] * 3, contacts=[1, 2, 4] * 3, step=["1", "2", "3"] * 3,
                         iterations=[1, 8, 64, 3, 6, 12, 5, 20, 80])  # slopes 3, 1 and 2
        slopes = dict(kind="slope_ratio", column="iterations", against="contacts", numerator={"label": "a"},
                      denominator={"label": ["b", "c"]})
        self.assertAlmostEqual(self.verdict(runs, min=1, **slopes).value, 1.5, places=12)
        self.assertAlmostEqual(self.verdict(runs, min=1, statistic="minimum", **slopes).value, 3.0, places=12)
        falling = self.verdict(runs.assign(iterations=8 // runs["contacts"]), min=1, **slopes)
        self.assertEqual((falling.verdict, falling.value), ("not comparable", None))

    def test_a_claim_for_other_sizes_says_so_also_where_this_run_has_no_rows_for_it(self):
        runs = run_table(contacts=[10])
        claim = {"id": "x", "claim": "c", "kind": "ratio", "column": "residual", "min": 0, "numerator": {"solver": "pgs"}, "denominator": {"solver": "ca"}}
        self.assertEqual(verdicts.evaluate(runs, claim | {"sizes": ["quick", "paper"]}, size="medium").reason,
                         "asked at size quick or paper; this run is medium")
        self.assertEqual(verdicts.evaluate(runs, claim | {"sizes": ["medium"]}, size="medium").reason, "no pairs match")
        self.assertEqual(verdicts.evaluate(runs, claim | {"sizes": ["quick"], "colunm": 1}, size="medium").reason, "unknown key 'colunm'")

    def test_one_row_is_not_rows(self):
        self.assertTrue(self.verdict(run_table(contacts=[10]), kind="quantity", column="contacts", min=1).measured.endswith("(1 row)"))

    def test_what_cannot_be_judged_says_why(self):
        runs = run_table(contacts=[10, 11, 12], step=["1", "2", "3"])
        cases = [
            ({"kind": "fraction", "column": "residual", "where": {"solver": "ica"}, "min": 1}, "no rows match"),
            ({"kind": "fraction", "column": "resid", "min": 1}, "no column 'resid'"),
            ({"kind": "fraction", "column": "solver", "min": 1}, "holds no numbers"),
            ({"kind": "fraction", "column": "residual", "where": {"solvr": "ica"}, "min": 1}, "no column 'solvr'"),
            ({"kind": "share", "column": "residual", "min": 1}, "unknown kind 'share'"),
            ({"kind": "quantity", "column": "residual"}, "neither 'min' nor 'max'"),
            ({"kind": "quantity", "column": "residual", "min": 0, "statistic": "mode"}, "unknown statistic"),
            ({"kind": "quantity", "column": "residual", "min": 0, "colunm": 1}, "unknown key 'colunm'"),
            ({"kind": "quantity", "min": 0}, "'column' is missing"),
            ({"kind": "ratio", "column": "residual", "min": 0}, "needs tables"),
            ({"kind": "ratio", "column": "residual", "min": 0, "numerator": {"solver": "pgs"}, "denominator": {"solver": "ca"}},
             "no pairs match"),
            ({"kind": "slope", "column": "solve_seconds", "against": "contacts", "max": 2}, "less than a factor 2"),
            ({"kind": "slope", "column": "solve_seconds", "max": 2}, "needs 'against'"),
            ({"kind": "ratio", "column": "residual", "comparable": False, "reason": "no hardware named"}, "no hardware named"),
        ]
        for keys, reason in cases:
            result = self.verdict(runs, **keys)
            self.assertEqual(result.verdict, "not comparable", keys)
            self.assertIn(reason, result.reason)

    def test_a_claim_about_larger_sizes_is_not_judged_at_quick_size(self):
        runs = run_table(iterations=[5])
        for wanted in ({"sizes": ["medium", "paper"]}, {"sizes": "medium"}):
            keys = {"kind": "quantity", "column": "iterations", "min": 0} | wanted
            self.assertEqual(verdicts.evaluate(runs, keys, size="quick").verdict, "not comparable")
            self.assertEqual(verdicts.evaluate(runs, keys, size="medium").verdict, "holds")


class Templates(unittest.TestCase):
    """A claim of a grid that has nothing to judge is no row; one whose runs failed is."""

    CLAIM = {"id": "a", "claim": "c", "kind": "ratio", "column": "iterations", "where": {"scene": "b", "solved": 1}, "numerator": {"label": "x"},
             "denominator": {"label": "y"}, "min": 1.0}

    def judge(self, template=True, **columns):
        runs = run_table(**{"file": ["b.h5", "b.h5"], "label": ["x", "y"], "iterations": [4, 2], **columns})
        return verdicts.evaluate(runs, self.CLAIM, size="quick", template=template)

    def test_what_was_not_run_is_absent_and_what_failed_is_not(self):
        self.assertEqual((self.judge().verdict, self.judge().absent), ("holds", False))
        for columns, absent in (({"file": ["a.h5", "a.h5"]}, True), ({"label": ["x", "z"]}, True), ({"residual": [1.0, 1.0]}, False)):
            found = self.judge(**columns)
            self.assertEqual((found.verdict, found.absent), ("not comparable", absent), columns)
            self.assertFalse(self.judge(template=False, **columns).absent, "a claim of its own always has its row")

    def test_absent_claims_make_no_row_and_no_count_but_one_line(self):
        found = [self.judge(), self.judge(file=["a.h5", "a.h5"])]
        found[1].id = "gone"
        self.assertEqual(verdicts.counts(verdicts.shown(found)), [1, 0, 0])
        self.assertEqual(verdicts.absent_line(found), "Without rows at this size, and not counted: 1 claim (gone).")
        markdown, terminal = main.claims_markdown(found), main.terminal_table(found, 120)
        html = main.page.index_page([("e", "t", found)], Path("/nowhere"))
        self.assertEqual((markdown.count("| c |"), terminal.count("holds"), html.count("✓ holds")), (1, 1, 1))
        for text in (markdown, terminal, main.page.claims_table(found)):
            self.assertIn("(gone)", text)
        self.assertTrue(json.loads(verdicts.to_json(found))[1]["absent"])

    def test_the_table_of_the_terminal_is_no_wider_than_it(self):
        found = [self.judge(), self.judge()]
        found[0].claim, found[0].source = "a claim of many words " * 8, "a paper, section 5"
        found[1].reason = "the machine was busy, and more such words " * 5
        for width in (60, 80, 140):
            lines = main.terminal_table(found, width).splitlines()
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertEqual("verdict" in lines[0].split(), width > 60, "at 60 columns numbers stand below the claim")


class BusyMachine(unittest.TestCase):
    """Times that were measured while other programs ran are not compared; counts are."""

    TIME = {"id": "t", "claim": "c", "kind": "ratio", "column": "solve_seconds", "numerator": {"region_mode": "none"},
            "denominator": {"region_mode": "points"}, "min": 1.0}
    COUNT = TIME | {"id": "n", "column": "iterations"}
    OLD = {"load_at_start": "3.17 3.09 3.10", "machine": {"cores": 2, "usable_threads": 1}}

    def runs(self, disturbed=0, rows=20, **more):
        waited = [0.5] * disturbed + [0.01] * (rows - disturbed)
        return run_table(step=[str(place // 2) for place in range(rows)], region_mode=["none", "points"] * (rows // 2)).assign(
            waited_share=waited, cpu_share=[1 - share for share in waited], **more)

    def verdicts(self, runs, env=None, **more):
        experiment = data.Experiment("e", Path("absent"), runs, [], env or {}, {"expect": [self.TIME, self.COUNT]}, None, **more)
        return [(verdict.verdict, verdict.value, verdict.reason) for verdict in verdicts.evaluate_all(experiment)]

    def test_claims_about_time_are_not_judged_where_more_than_a_tenth_of_the_rows_waited(self):
        self.assertEqual([verdict for verdict, _, _ in self.verdicts(self.runs(disturbed=2))], ["holds", "holds"])
        timed, counted = self.verdicts(self.runs(disturbed=3))
        self.assertEqual((timed[0], counted[0]), ("not comparable", "holds"))
        self.assertEqual(timed[1], 1.0, "the measured value stays in sight")
        self.assertEqual(timed[2], "the machine was busy: 15 % of the timed runs waited more than 5 % of their time for a processor "
                                   "(allowed are 10 %)")

    def test_times_of_unlike_machines_are_not_compared_but_counts_are(self):
        with tempfile.TemporaryDirectory() as name:
            experiment = data.Experiment("e", Path(name), self.runs(), [], {}, {"expect": [self.TIME, self.COUNT]}, None)
            self.assertEqual([verdict.verdict for verdict in verdicts.evaluate_all(experiment)], ["holds", "holds"])
            (Path(name) / "machines.csv").write_text("file,step,machine\n")
            timed, counted = verdicts.evaluate_all(experiment)
            self.assertEqual((timed.verdict, counted.verdict), ("not comparable", "holds"))
            self.assertIn("unlike machines", timed.reason)

    def test_rows_that_tell_count_more_than_the_load(self):
        self.assertEqual(self.verdicts(self.runs(), self.OLD)[0][0], "holds")

    def test_without_waiting_times_what_one_thread_did_not_run_it_waited(self):
        runs = self.runs(disturbed=20).assign(waited_share=np.nan)
        self.assertEqual(self.verdicts(runs)[0][0], "not comparable")
        self.assertEqual(self.verdicts(runs.assign(threads=2))[0][0], "holds", "two threads may sleep: nothing is known")

    def test_older_results_are_judged_by_the_load_at_the_start_of_every_session(self):
        runs = run_table(step=["1", "1"], region_mode=["none", "points"])
        quiet = self.OLD | {"load_at_start": "2.00 9 9"}
        for env, verdict in ((self.OLD, "not comparable"), (quiet, "holds"), (quiet | {"earlier": [self.OLD]}, "not comparable"), ({}, "holds"),
                             ({"load_at_start": "unavailable", "machine": {}}, "holds")):
            self.assertEqual([found[0] for found in self.verdicts(runs, env)], [verdict, "holds"], env)
        self.assertIn("load 3.17 on 2 processors", self.verdicts(runs, self.OLD)[0][2])

    def test_steps_are_judged_by_the_session_and_by_the_recordings_they_come_from(self):
        with tempfile.TemporaryDirectory() as name:
            out = Path(name)
            (out / "recordings").mkdir()
            steps = pd.DataFrame({"file": ["hill-quick.h5"]})
            quiet = {"use": {"wall_seconds": 10.0, "waited_seconds": 0.9}}
            for session, recorded, busy in ((quiet, quiet, False), (quiet, {"use": {"wall_seconds": 10.0, "waited_seconds": 1.1}}, True),
                                            (quiet | {"earlier": [self.OLD]}, quiet, True), (self.OLD | quiet, None, False),
                                            # a session that was killed at once waited for its files only
                                            (quiet | {"earlier": [{"use": {"wall_seconds": 1e-3, "waited_seconds": 9e-4}}]}, quiet, False)):
                (out / "recordings" / "hill-quick.env.json").write_text(json.dumps(recorded))
                experiment = data.Experiment("e", out / "e", run_table(step=[]), [], session, {}, None, steps=steps)
                self.assertEqual(bool(machine.of_experiment(experiment)["steps"]), busy, (session, recorded))

    def test_columns_that_come_from_the_clock_are_known_without_a_list(self):
        """Every column that changes when the clock runs differently is a time, and no other."""
        with tempfile.TemporaryDirectory() as name:
            folder = make_results.make(Path(name) / "invented", steps=3, laws=("cone",))
            clocks = ["detection_seconds", "assembly_seconds", "free_seconds", "solve_seconds", "other_seconds"]
            (folder / "steps.csv").write_text("file,step,time,contacts," + ",".join(clocks) + "\nhill-quick.h5,1,0.1,4,1,2,3,4,5\n")
            (folder / "follow.csv").write_text("file,step,region_mode,contacts,churn,update_seconds,rebuild_seconds\nhill-quick.h5,1,points,4,0.5,1,2\n")
            runs = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
            runs.assign(contact_sweeps=runs["iterations"]).to_csv(folder / "runs.csv", index=False)
            before = data.read_experiment(folder)
            for table in ("runs", "steps", "follow"):
                path = folder / f"{table}.csv"
                frame = pd.read_csv(path, dtype=str, keep_default_na=False)
                for place, column in enumerate(one for one in frame.columns if one.endswith("_seconds")):
                    frame[column] = [str(float(value) * (1.5 + place)) for value in frame[column]]
                frame.to_csv(path, index=False)
            after = data.read_experiment(folder)
            for table in ("runs", "steps", "follow"):
                was, now = getattr(before, table), getattr(after, table)
                self.assertEqual({name for name in was.columns if not was[name].equals(now[name])}, data.clock_columns(was), table)

    def test_claims_are_about_time_by_any_of_their_columns(self):
        for keys, timed in (({"column": "iterations"}, False), ({"column": "seconds_per_contact"}, True), ({"column_of": ["setup_seconds", "contacts"]}, True),
                            ({"column": "iterations", "denominator_column": "solve_seconds"}, True), ({"column": "iterations", "against": "solve_seconds"}, True),
                            ({"column": "iterations", "at_least": {"total_seconds": 1}}, True), ({"column": "step_seconds", "rows": "steps"}, True)):
            self.assertEqual(verdicts.is_about_time(keys), timed, keys)

    def test_committed_times_of_a_busy_machine_are_not_comparable(self):
        today = [{"id": "work", "column": "iterations", "bound": "paper"}, {"id": "speed", "column": "solve_seconds", "bound": "ours", "why": "w"}]
        claims = [{"experiment": "x", "id": id, "claim": "", "source": "", "kind": "ratio", "expected": "", "value": 1.0, "unit": "", "samples": 3,
                   "verdict": "holds", "reason": ""} for id in ("work", "speed")]
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "claims.json").write_text(json.dumps(claims))
            for env, verdict in (({"load_at_start": "3.5 3 3", "machine": {"cores": 2}}, "not comparable"),
                                 ({"load_at_start": "1.5 3 3", "machine": {"cores": 2}}, "holds"),
                                 ({"load_at_start": "3.5 3 3", "machine": {"cores": 2}, "use": {"waited_seconds": 1.0, "wall_seconds": 100.0}}, "holds")):
                found = {one.id: one for one in verdicts.read_reference(Path(name), today, env)}
                self.assertEqual([(one.bound, one.why) for one in found.values()], [("paper", ""), ("ours", "w")], "of the definition of today")
                self.assertEqual((found["work"].verdict, found["speed"].verdict), ("holds", verdict), env)

    def test_reasons_of_a_committed_result_are_those_of_today(self):
        old = verdicts.Verdict(experiment="x", id="a", claim="", source="", kind="ratio", expected="", value=1.0, unit="", samples=3, verdict="differs", reason="old",
                               bound="paper")
        held = dataclasses.replace(old, verdict="holds", reason="")
        for verdict, claim, reason in ((old, {"reason": "new"}, "new"), (old, {}, "old"), (old, None, "old"), (held, {"reason": "new"}, "")):
            self.assertEqual(verdicts.with_origin(verdict, claim).reason, reason)


class MissingErrors(unittest.TestCase):
    """A run without an answer has no error: it counts neither as good nor as bad one."""

    def test_rows_that_were_not_solved_have_no_errors(self):
        with tempfile.TemporaryDirectory() as name:
            header = make_results.CONTRACT + ["protocol", "fb_normal", "fb_static", "fb_kinetic"]
            row = "e,f.h5,1,4,12,1,4,{},law=cone,cone,none,1,0,{},5,{},0,0,0,0,0,0,0,0.001,0.001,1e-6,self-stopped,{},{},{}"
            lines = [row.format("pgs", "converged", "1e-7", "1e-5", "2e-5", "3e-5"), row.format("ca", "unsupported", "nan", "nan", "nan", "nan"),
                     row.format("pcg", "failed", "nan", "nan", "nan", "nan"), row.format("ica", "diverged", "inf", "nan", "nan", "nan")]
            make_results.write_runs(name, header, lines)
            runs = data.read_experiment(Path(name)).runs.set_index("solver")
        for column in ("fb_normal", "fb_static", "fb_kinetic"):
            self.assertTrue(runs.loc[["ca", "pcg", "ica"], column].isna().all(), column)
            self.assertGreater(runs.loc["pgs", column], 0)

        quantity = {"kind": "quantity", "column": "fb_normal", "max": 1e-4}
        for statistic in ("median", "maximum", "minimum", "sum"):
            result = verdicts.evaluate(runs, quantity | {"statistic": statistic})
            self.assertEqual((result.value, result.samples), (1e-5, 1), statistic)
        self.assertEqual(verdicts.evaluate(runs, quantity | {"where": {"status": "failed"}}).verdict, "not comparable")
        result = verdicts.evaluate(runs, {"kind": "fraction", "column": "fb_normal", "upper": 1e-4, "min": 0.5})
        self.assertEqual((result.value, result.samples), (0.25, 4), "three of four have no error within the bound")
        ratio = {"kind": "ratio", "column": "fb_normal", "match": ["file"], "numerator": {"status": "failed"}, "denominator": {"status": "converged"}, "max": 1}
        self.assertIn("no pairs match", verdicts.evaluate(runs, ratio).reason)
        self.assertEqual(len(within(runs, {"at_most": {"fb_normal": 1.0}})), 1)

    def test_no_mark_stands_for_a_missing_error(self):
        runs = run_table(file=["a-quick.h5"] * 3, step=["1", "2", "3"], label=["CR"] * 3, status=["converged", "failed", "unsupported"],
                         residual=[1e-7, np.nan, np.nan]).assign(fb_static=[1e-5, np.nan, np.nan])
        experiment = data.Experiment("e", Path("."), runs, [], {}, {}, None)
        (_, _, rows), = scatter.members(experiment, {"series": [{"label": "CR", "column": "fb_static"}]})
        self.assertEqual(list(rows["_y"]), [1e-5])
        table = tables.summary(runs)
        self.assertEqual(int(table["snapshots"].sum()), 2)
        self.assertEqual(float((table["snapshots"] * table["solved_percent"].fillna(0)).sum()), 100.0, "one of two")


class Tables(unittest.TestCase):
    def test_solved_share_and_ratio_to_best_are_those_of_hand(self):
        runs = run_table(step=["1", "2", "1", "2"], solver=["pgs", "pgs", "ca", "ca"], solve_seconds=[1.0, 2.0, 3.0, 4.0],
                         residual=[1e-7, 1e-7, 1e-7, 1e-2], iterations=[4, 8, 1, 99])
        table = tables.summary(runs).set_index("variant")
        self.assertEqual(table.loc["pgs", "solved_percent"], 100.0)
        self.assertEqual(table.loc["pgs", "ratio_to_best_median"], 1.0)
        self.assertEqual(table.loc["pgs", "solve_us_median"], 1.5e6)
        self.assertEqual(table.loc["ca", "solved_percent"], 50.0)
        self.assertEqual(table.loc["ca", "ratio_to_best_median"], 3.0)
        self.assertEqual(table.loc["ca", "iterations_max"], 1.0)  # the failed run does not count as iterations to the tolerance
        self.assertEqual(table.loc["ca", "residual_max"], 1e-2)

    def test_unsupported_runs_are_counted_apart(self):
        table = tables.summary(run_table(step=["1", "2"], status=["converged", "unsupported"], residual=[1e-7, float("nan")]))
        self.assertEqual((table.loc[0, "snapshots"], table.loc[0, "unsupported"], table.loc[0, "solved_percent"]), (1, 1, 100.0))

    def test_variants_are_named_by_what_tells_them_apart(self):
        labels = data.label_variants([("pcg", "law=cone;beta=fr;form=robust"), ("pcg", "law=pyramid;beta=pr;form=robust"),
                                      ("pgs", "law=cone")])
        self.assertEqual(sorted(labels.values()), ["pcg fr", "pcg pr", "pgs"])


def progress_trace(label, iterations, tolerance=1e-6, **events):
    """An invented run that meets the tolerance half-way, with norms as a solver tells them."""
    k = np.arange(iterations + 1)
    residual = tolerance ** (2.0 * k / iterations)
    told = {"plain": residual * 0.5, "preconditioned": residual * 0.1, "constraint": np.where(k == 0, np.nan, residual)}
    for kind in data.EVENTS:
        told[kind] = events.get(kind, np.zeros(len(k), dtype=int))
    return data.Trace("rings-quick.h5", "000010", "cr-full", label, "cone", "none", 1, tolerance, label, k, k * 1e-3, residual,
                      label, told)


class Histories(unittest.TestCase):
    def experiment(self, traces, config=None):
        runs = run_table(file=["rings-quick.h5"], step=["000010"], solver=["cr-full"])
        return data.Experiment("e", Path("."), runs, traces, {}, config or {}, None)

    def test_events_are_the_iterations_at_which_a_counter_grew(self):
        trace = progress_trace("a", 6, restarts=np.array([0, 0, 2, 2, 3, 3, 3]))
        self.assertEqual(list(convergence.events(trace, "restarts")), [2, 4])
        self.assertEqual(list(convergence.events(trace, "guards")), [])

    def test_config_chooses_snapshot_and_variants_and_their_order(self):
        traces = [progress_trace(label, 10) for label in ("a", "b", "c")]
        shown = convergence.histories_to_show(self.experiment(traces, {"histories": {"problem": "rings", "variants": ["c", "a"]}}))
        self.assertEqual([trace.label for trace in shown], ["c", "a"])
        self.assertEqual(convergence.histories_to_show(self.experiment(traces, {"histories": {"problem": "bucket"}})), [])

    def test_silent_solvers_and_older_files_have_no_figure(self):
        silent, older = progress_trace("a", 10), progress_trace("b", 10)
        for norm in ("preconditioned", "constraint"):
            silent.progress[norm] = np.full(11, np.nan)
        older.progress = {}
        with tempfile.TemporaryDirectory() as folder:
            self.assertFalse(convergence.histories(self.experiment([silent, older]), Path(folder)))
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_figure_is_drawn_and_repeats_to_the_byte(self):
        traces = [progress_trace("a", 40, state_changes=np.arange(41) // 7), progress_trace("b", 9, guards=np.arange(10) // 5)]
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            self.assertTrue(convergence.histories(self.experiment(traces), Path(folder)))
            first = (Path(folder) / "histories.svg").read_bytes()
            self.assertTrue(convergence.histories(self.experiment(traces), Path(folder)))
            self.assertEqual((Path(folder) / "histories.svg").read_bytes(), first)
            self.assertEqual((Path(folder) / "histories.txt").read_text(), "rings-quick.h5 step 000010\n")


class Rounds(unittest.TestCase):
    def traces(self, steps, labels=("Diag", "Full"), iterations=10):
        made = []
        for step in steps:
            for label in labels:
                trace = progress_trace(label, iterations)
                trace.step, trace.label = step, label
                made.append(trace)
        return made

    def experiment(self, traces, config=None):
        steps = sorted({trace.step for trace in traces})
        runs = run_table(file=["rings-quick.h5"] * len(steps), step=steps, solver=["cr-full"] * len(steps))
        return data.Experiment("e", Path("."), runs, traces, {}, config or {"figures": ["rounds"]}, None)

    def test_a_recorded_solve_belongs_to_a_step_and_a_round(self):
        self.assertEqual([(data.step_of(step), data.round_of(step)) for step in ("000015", "000015.2", "000015.11", "0")],
                         [("000015", 1), ("000015", 2), ("000015", 11), ("0", 1)])

    def test_a_thinned_solve_belongs_to_the_step_and_round_of_the_solve_that_it_was_made_from(self):
        steps, files = ["000015", "000015.2", "000016"], ["rings-quick.h5"] * 3
        runs = run_table(file=[*files, "few_002", "few_000", "few_001", "net_001"], step=[*steps, "0", "0", "0", "0"], solver=["cr-full"] * 7)
        data.add_columns(runs)
        data.give_thinned_rounds(runs, {"thinned": [{"name": "few", "recording": "rings"}]})
        self.assertEqual(list(zip(runs["time_step"], runs["round"]))[3:], [("000016", 1), ("000015", 1), ("000015", 2), ("0", 1)])

    def test_thinned_solves_of_a_recording_that_is_not_all_there_have_no_step(self):
        runs = run_table(file=["rings-quick.h5", "few_001"], step=["000015.2", "0"], solver=["cr-full"] * 2)
        data.add_columns(runs)
        data.give_thinned_rounds(runs, {"thinned": [{"name": "few", "recording": "rings"}]})
        self.assertEqual(list(zip(runs["time_step"], runs["round"])), [("000015", 2), ("0", 1)])

    def test_the_step_with_most_rounds_is_shown_in_their_order(self):
        shown = rounds.rounds_to_show(self.experiment(self.traces(["000010.2", "000010", "000020.10", "000020", "000020.2", "000030"])))
        self.assertEqual({label: [trace.step for trace in traces] for label, traces in shown.items()},
                         {label: ["000020", "000020.2", "000020.10"] for label in ("Diag", "Full")})

    def test_a_step_that_a_variant_lacks_is_not_shown(self):
        traces = self.traces(["000010", "000010.2"]) + self.traces(["000020", "000020.2", "000020.3"], labels=("Full",))
        shown = rounds.rounds_to_show(self.experiment(traces))
        self.assertEqual([trace.step for trace in shown["Full"]], ["000010", "000010.2"])

    def test_a_step_that_every_variant_solves_comes_before_one_with_more_rounds(self):
        traces = self.traces(["000010", "000010.2", "000020", "000020.2", "000020.3"])
        self.assertEqual(len(rounds.rounds_to_show(self.experiment(traces))["Full"]), 3)
        traces[-1].residual = np.ones_like(traces[-1].residual)  # one variant, the last round
        self.assertEqual([trace.step for trace in rounds.rounds_to_show(self.experiment(traces))["Full"]], ["000010", "000010.2"])
        asked = self.experiment(traces, {"figures": ["rounds"], "rounds": {"step": 20}})
        self.assertEqual(len(rounds.rounds_to_show(asked)["Full"]), 3)
        never = self.traces(["000010"]) + traces[4:]  # no other step has several
        self.assertEqual(len(rounds.rounds_to_show(self.experiment(never))["Full"]), 3)

    def test_rounds_stand_one_behind_the_other_up_to_the_first_accurate_iteration(self):
        x, y, starts, passed = rounds.joined(self.traces(["000010", "000010.2"], labels=("Full",)), "plain")
        self.assertEqual(starts, [5])  # the invented runs meet the tolerance half-way
        self.assertEqual(passed, 10)
        self.assertEqual(list(x), [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10])
        self.assertEqual(y[6], y[0])

    def test_steps_of_one_round_have_no_figure_and_it_is_drawn_only_where_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertFalse(rounds.rounds(self.experiment(self.traces(["000010", "000020"])), Path(folder)))
            many = self.traces(["000010", "000010.2"])
            self.assertFalse(rounds.rounds(self.experiment(many, {"figures": ["histories"]}), Path(folder)))
            self.assertEqual(list(Path(folder).iterdir()), [])
            style.apply()
            self.assertTrue(rounds.rounds(self.experiment(many), Path(folder)))
            first = (Path(folder) / "rounds.svg").read_bytes()
            self.assertTrue(rounds.rounds(self.experiment(many), Path(folder)))
            self.assertEqual((Path(folder) / "rounds.svg").read_bytes(), first)

    def test_the_start_of_a_traced_run_is_a_column(self):
        runs = run_table(file=["rings-quick.h5"] * 2, step=["000010", "000010.2"], solver=["cr-full"] * 2)
        data.add_columns(runs)
        self.assertEqual(list(runs["round"]), [1, 2])
        self.assertEqual(list(runs["time_step"]), ["000010"] * 2)
        row = runs.iloc[0]
        trace = progress_trace("Full", 10)
        trace.options, trace.threads, trace.tolerance = row["options"], row["threads"], row["tolerance"]
        trace.residual = trace.residual * 0.25
        runs["protocol"] = "converge"
        data.add_starts(runs, [trace])
        self.assertEqual(runs["start_residual"][0], 0.25)
        self.assertTrue(np.isnan(runs["start_residual"][1]))

    def test_states_of_the_contacts_are_those_of_the_most_accurate_traced_run(self):
        runs = run_table(file=["rings-quick.h5"] * 3, step=["000010", "000010", "000020"], solver=["cr-full"] * 3)
        rough, fine = progress_trace("Full", 10), progress_trace("Full", 10)
        fine.residual = rough.residual * 0.5
        rough.pressing, rough.sliding = np.full(10, 9), np.full(10, 9)
        fine.pressing, fine.sliding = np.arange(10) + 3, np.full(10, 3)
        for traces in ([rough, fine], [fine, rough]):
            data.add_states(runs, traces)
            self.assertEqual(list(runs["pressing"][:2]), [12, 12])
            self.assertEqual(list(runs["sliding_share"][:2]), [0.25, 0.25])
            self.assertTrue(np.isnan(runs["sliding_share"][2]))


class Ratios(unittest.TestCase):
    CONFIG = {"scenes": ["b"], "solvers": [{"name": "pgs", "label": "a"}],
              "ratios": {"column": "solve_seconds", "numerator": {"region_mode": "none"}, "denominator": {"region_mode": "points"}}}

    def runs(self):
        return run_table(file=["b-quick.h5"] * 4, step=["1", "1", "2", "2"], region_mode=["none", "points"] * 2, contacts=[3, 3, 9, 9],
                         solve_seconds=[2e-6, 1e-6, 9e-6, 3e-6], label=["a"] * 4)

    def test_totals_are_ratios_of_sums_and_count_pairs_whose_denominator_is_nothing(self):
        runs = self.runs()
        keys = {"kind": "ratio", "column": "solve_seconds", "statistic": "total", "min": 0} | self.CONFIG["ratios"]
        self.assertAlmostEqual(verdicts.evaluate(runs, keys).value, 11 / 4, places=12)
        capped = run_table(step=["1", "2", "3"] * 2, label=["a"] * 3 + ["b"] * 3, residual=[1, 1, 1e-9, 1, 1e-9, 1e-9])
        keys = {"kind": "ratio", "column": "unsolved", "statistic": "total", "match": ["step"], "numerator": {"label": "b"},
                "denominator": {"label": "a"}, "max": 0.5}
        result = verdicts.evaluate(capped, keys)
        self.assertEqual((result.value, result.samples, result.verdict), (0.5, 3, "holds"))
        self.assertEqual(verdicts.evaluate(capped.assign(unsolved=0), keys).verdict, "not comparable")

    def test_totals_of_quotients_are_quotients_of_sums(self):
        runs = run_table(step=["1", "2", "3"] * 2, label=["a"] * 3 + ["b"] * 3, solve_seconds=[2.0, 4.0, 9.0, 1.0, 5.0, math.nan],
                         iterations=[1, 2, 9, 4, 4, 9])
        keys = {"kind": "ratio", "column_of": ["solve_seconds", "iterations"], "statistic": "total", "match": ["step"],
                "numerator": {"label": "a"}, "denominator": {"label": "b"}, "min": 0}
        result = verdicts.evaluate(runs, keys)
        self.assertAlmostEqual(result.value, (6 / 3) / (6 / 8), places=12)  # step 3 has no time on one side and counts on none
        self.assertEqual(result.samples, 2)
        for iterations in ([0] * 6, [0, 0, 0, 4, 4, 9], [1, 2, 9, 0, 0, 0]):
            self.assertIn("to nothing", verdicts.evaluate(runs.assign(iterations=iterations), keys).reason)

    def test_large_values_are_written_out(self):
        texts = {0.01234: "0.0123", 999.4: "999", 999.6: "1,000", 1258.4: "1,258", -20480.0: "-20,480", 3e6: "3e+06"}
        self.assertEqual({value: digits(value) for value in texts}, texts)

    def test_p95_is_the_percentile(self):
        runs = run_table(iterations=list(range(1, 102)))
        result = verdicts.evaluate(runs, {"kind": "quantity", "column": "iterations", "statistic": "p95", "max": 96})
        self.assertEqual((result.value, result.verdict), (96.0, "holds"))

    def test_figure_repeats_to_the_byte_and_names_a_wrong_column(self):
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            experiment = data.Experiment("e", Path(folder), self.runs(), [], {}, self.CONFIG, None)
            self.assertTrue(times.ratios(experiment, Path(folder)))
            first = (Path(folder) / "ratios.svg").read_bytes()
            self.assertTrue(times.ratios(experiment, Path(folder)))
            self.assertEqual((Path(folder) / "ratios.svg").read_bytes(), first)
            wrong = self.CONFIG | {"ratios": self.CONFIG["ratios"] | {"column": "time"}}
            with self.assertRaisesRegex(data.ReportError, "no column 'time'"):
                times.ratios(data.Experiment("e", Path(folder), self.runs(), [], {}, wrong, None), Path(folder))


class Scatter(unittest.TestCase):
    """[[scatter]]: marks of single runs; and ratios whose two sides are different columns."""

    CONFIG = {"scatter": [{"name": "a", "panels": "scene", "abscissa": "contacts", "fit": True, "limits": [1e-3],
                           "series": [{"label": "W", "column": "setup_seconds", "words": "building"},
                                      {"label": "CR", "column": "total_seconds", "where": {"solved": 1}}]},
                          {"name": "b", "abscissa": "snapshot", "log": "y", "series": [{"label": "CR", "column": "iterations"}]}]}

    def runs(self):
        return run_table(file=["b-quick.h5"] * 6, step=["1", "2", "10"] * 2, label=["W"] * 3 + ["CR"] * 3, contacts=[2, 4, 8] * 2,
                         setup_seconds=[4e-3, 8e-3, 16e-3, 1e-3, 1e-3, 1e-3], solve_seconds=[0, 0, 0, 1e-3, 3e-3, 1e-3])

    def test_the_sides_of_a_ratio_may_be_different_columns(self):
        claim = {"kind": "ratio", "column": "setup_seconds", "denominator_column": "total_seconds", "match": ["step"],
                 "numerator": {"label": "W"}, "denominator": {"label": "CR"}, "statistic": "minimum", "min": 2.0}
        result = verdicts.evaluate(self.runs(), claim)  # 4/2, 8/4, 16/2
        self.assertAlmostEqual(result.value, 2.0, places=12)
        self.assertEqual((result.samples, result.verdict), (3, "holds"))
        self.assertIn("no column 'time'", verdicts.evaluate(self.runs(), claim | {"denominator_column": "time"}).reason)

    def test_snapshots_are_numbered_by_step_as_a_number(self):
        numbered = scatter.with_snapshots(self.runs().iloc[[2, 0, 1]])
        self.assertEqual(list(numbered["snapshot"]), [3.0, 1.0, 2.0])

    def test_an_option_may_be_the_abscissa_and_rows_without_it_are_left_out(self):
        runs = self.runs().assign(**{"options.blocks": ["0", "10", "30", "", "", ""]})
        experiment = data.Experiment("e", Path("."), runs, [], {}, {}, None)
        (_, _, rows), = scatter.members(experiment, {"abscissa": "options.blocks", "series": [{"label": ["W", "CR"], "words": "both", "column": "setup_seconds"}]})
        self.assertEqual([list(rows["_x"]), list(rows["_y"])], [[0.0, 10.0, 30.0], [4e-3, 8e-3, 16e-3]])

    def test_figures_repeat_to_the_byte_and_name_a_wrong_column(self):
        with tempfile.TemporaryDirectory() as name:
            folder, before = Path(name), None
            style.apply()
            experiment = data.Experiment("e", folder, self.runs(), [], {}, self.CONFIG, None)
            for _ in range(2):
                self.assertTrue(scatter.scatter(experiment, folder))
                drawn = [(folder / f"scatter_{stem}.svg").read_bytes() for stem in "ab"]
                self.assertIn(before, (None, drawn))
                before = drawn
            repeated = run_table(step=["1"] * 3 + ["2"] * 3, contacts=[2] * 3 + [5] * 3, repetition=[0, 1, 2] * 2, label=["W"] * 6,
                                 solve_seconds=[1e-3, 9e-3, 2e-3, 4e-3, 3e-3, 5e-3])
            with drawn_figures.captured() as found:
                config = {"scatter": {"median": True, "log": False, "series": [{"label": "W", "column": "solve_seconds", "colour": "#123456"}]}}
                self.assertTrue(scatter.scatter(data.Experiment("e", folder, repeated, [], {}, config, None), folder))
                axes, = drawn_figures.panels(found[0][1])
                self.assertTrue(np.allclose(drawn_figures.marks(axes), [[2, 2], [5, 4]]))  # ms, one mark for each step
                self.assertEqual(axes.lines[0].get_color(), "#123456")
            experiment.config = {"scatter": {"panels": "label", "stacked": True, "panel_words": {"CR": "first", "W": "second"}, "label": "time",
                                             "series": [{"label": label, "column": "total_seconds"} for label in ("W", "CR")]}}
            with drawn_figures.captured() as found:
                self.assertTrue(scatter.scatter(experiment, folder))
                (_, figure), = found
                self.assertEqual(drawn_figures.problems(figure), [])
                upper, lower = drawn_figures.panels(figure)
                self.assertEqual([axes.get_title(loc="left") for axes in (upper, lower)], ["first", "second"])
                self.assertGreater(upper.get_position().y0, lower.get_position().y1)
                self.assertNotEqual(upper.get_ylim(), lower.get_ylim())
            experiment.config = {"scatter": [{"name": "a", "series": [{"label": "CR", "column": "speed"}]}]}
            with self.assertRaisesRegex(data.ReportError, "no column 'speed'"):
                scatter.scatter(experiment, folder)
            experiment.config = {"scatter": [{"name": "a", "series": [{"label": "absent", "column": "iterations"}]}]}
            self.assertFalse(scatter.scatter(experiment, folder))


class Shares(unittest.TestCase):
    CONFIG = {"solvers": [{"name": "pgs", "label": "PGS, cone"}, {"name": "pcg-pgs", "label": "early"}, {"name": "pcg-pgs", "label": "late"}],
              "ladder": {"solver": "pcg-pgs", "option": "tol_cg", "beside": ["PGS, cone"]}}

    def experiment(self, folder, protocol):
        runs = run_table(file=["net_1", "net_2", "net_3"] * 3, label=["PGS, cone"] * 3 + ["early"] * 3 + ["late"] * 3,
                         solver=["pgs"] * 3 + ["pcg-pgs"] * 6, options=[""] * 3 + ["tol_cg=0.1"] * 3 + ["tol_cg=0.001"] * 3,
                         iterations=[5, 9, 100, 6, 8, 30, 7, 11, 20], protocol=[protocol] * 9,
                         status=["converged"] * 2 + ["iteration_limit"] + ["converged"] * 6, residual=[1e-9] * 2 + [0.1] + [1e-9] * 6)
        return data.Experiment("e", Path(folder), runs.assign(products=runs["iterations"]), [], {}, self.CONFIG, None)

    def test_families_are_the_names_without_numbers(self):
        for file, family in (("net_017", "net"), ("bucket-quick_000040.2_3", "bucket"), ("bucket-quick.h5", "bucket"), ("net", "net"),
                             ("stiff_10-medium.h5", "stiff_10")):
            self.assertEqual(data.family_of(file), family)

    def test_figures_repeat_to_the_byte_and_need_their_protocol(self):
        style.apply()
        for draw, protocol, other in ((convergence.solved, "converge", "time"), (convergence.ladder, "self-stopped", "time")):
            with tempfile.TemporaryDirectory() as folder:
                self.assertTrue(draw(self.experiment(folder, protocol), Path(folder)))
                picture = Path(folder) / f"{draw.__name__}.svg"
                first = picture.read_bytes()
                self.assertTrue(draw(self.experiment(folder, protocol), Path(folder)))
                self.assertEqual(picture.read_bytes(), first)
                picture.unlink()
                self.assertFalse(draw(self.experiment(folder, other), Path(folder)))
                self.assertFalse(picture.exists())


class Settings(unittest.TestCase):
    CONFIG = {"recordings": [{"name": "soft", "scene": "cubes", "set": {"material": {"young": 5e5}, "floor": True}},
                             {"name": "stiff", "scene": "cubes", "set": {"material.young": 5e7}}],
              "solvers": [{"name": "pgs", "label": "a"}], "growth": {"key": "material.young", "label": "E [Pa]"}}

    RECORDINGS = ("file,kind,key,value\nsoft-quick.h5,setting,material.young,500000\nsoft-quick.h5,setting,floor,true\n"
                  "stiff-quick.h5,setting,material.young,5e7\nsoft-quick.h5,fact,stays,0.25\nstiff-quick.h5,fact,stays,nan\n")

    def runs(self, files=("soft-quick.h5", "stiff-quick.h5", "softer-quick.h5")):
        runs = run_table(file=list(files), iterations=[10, 40, 5], label=["a"] * 3, protocol=["converge"] * 3).assign(mass_products=[9, 39, 4])
        with tempfile.TemporaryDirectory() as folder:
            self.assertIs(data.with_recorded(runs, Path(folder)), runs)  # older results have no such file
            (Path(folder) / "recordings.csv").write_text(self.RECORDINGS)
            runs = data.with_recorded(runs, Path(folder))
        return runs

    def test_files_carry_what_their_recording_sets_and_shows(self):
        runs = self.runs()
        np.testing.assert_array_equal(runs["setting.material.young"], [5e5, 5e7, np.nan])
        self.assertEqual(list(runs["setting.floor"]), ["true", "", ""])
        np.testing.assert_array_equal(runs["fact.stays"], [0.25, np.nan, np.nan])
        result = verdicts.evaluate(runs, {"kind": "quantity", "column": "iterations", "where": {"setting.material.young": 5e7}, "max": 40})
        self.assertEqual((result.value, result.samples, result.verdict), (40.0, 1, "holds"))

    def test_residuals_need_two_settings_and_self_stopped_rows(self):
        style.apply()
        with tempfile.TemporaryDirectory() as folder:
            experiment = data.Experiment("e", Path(folder), self.runs(), [], {}, self.CONFIG, None)
            self.assertFalse(scenes.residuals(experiment, Path(folder)))
            experiment.runs = self.runs().assign(protocol="self-stopped")
            self.assertTrue(scenes.residuals(experiment, Path(folder)))

    def test_series_are_correlated_and_drawn(self):
        time = np.arange(8) / 8
        series = pd.DataFrame({"file": ["soft-quick.h5"] * 8 + ["stiff-quick.h5"] * 8, "time": list(time) * 2,
                               "a": [0, 1] * 4 + [1.0] * 8, "b": [1, 0] * 4 + list(range(8))})
        runs = self.runs()
        data.add_series(runs, series)
        np.testing.assert_allclose(runs["series.correlation"], [-1.0, np.nan, np.nan], rtol=1e-12)
        config = {"series": {"columns": ["a", "b"], "label": "speed"}}
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            self.assertTrue(scenes.series(data.Experiment("e", Path(folder), runs, [], {}, config, None, series), Path(folder)))
            self.assertFalse(scenes.series(data.Experiment("e", Path(folder), runs, [], {}, config, None), Path(folder)))

    def test_incline_needs_its_settings(self):
        runs = self.runs().assign(**{"setting.tilt": [16.6, 16.8, np.nan], "fact.slides": [0.0, 1e-3, np.nan]})
        config = {"incline": {"angle": "tilt", "friction": "mu", "fact": "slides", "default": 0.3, "limit": 1e-5}}
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            self.assertTrue(scenes.incline(data.Experiment("e", Path(folder), runs, [], {}, config, None), Path(folder)))
            config["incline"]["angle"] = "slope"
            self.assertFalse(scenes.incline(data.Experiment("e", Path(folder), runs, [], {}, config, None), Path(folder)))

    def test_a_contact_sheet_needs_its_recording_beside_the_results(self):
        runs = run_table(file=["bucket-quick.h5", "other-quick.h5"])
        config = {"sheet": {"recordings": ["bucket"], "frames": 2, "view": [30.0]}}
        with tempfile.TemporaryDirectory() as out:
            folder = Path(out) / "e"
            (Path(out) / "recordings").mkdir()
            folder.mkdir()
            experiment = data.Experiment("e", folder, runs, [], {}, config, None)
            style.apply()
            self.assertFalse(sheet.sheet(experiment, folder))
            render_test.write_recording(Path(out) / "recordings" / "bucket-quick.h5",
                                        {"000010": render_test.two_boxes_on_a_floor(), "000020": render_test.two_boxes_on_a_floor(time=0.5)})
            self.assertTrue(sheet.sheet(experiment, folder))
            first = (folder / "sheet.svg").read_bytes()
            sheet.sheet(experiment, folder)
            self.assertEqual(first, (folder / "sheet.svg").read_bytes())
            self.assertIn(b"<image", first)
            (Path(out) / "recordings" / "bucket-quick.h5").write_bytes(b"no recording")
            with self.assertRaisesRegex(data.ReportError, "contact sheet of bucket-quick.h5"):
                sheet.sheet(experiment, folder)

    def test_growth_needs_two_settings_and_repeats_to_the_byte(self):
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            experiment = data.Experiment("e", Path(folder), self.runs(), [], {}, self.CONFIG, None)
            self.assertTrue(times.growth(experiment, Path(folder)))
            first = (Path(folder) / "growth.svg").read_bytes()
            self.assertTrue(times.growth(experiment, Path(folder)))
            self.assertEqual((Path(folder) / "growth.svg").read_bytes(), first)
            alone = self.runs(("soft-quick.h5", "soft-medium.h5", "softer-quick.h5"))
            self.assertFalse(times.growth(data.Experiment("e", Path(folder), alone, [], {}, self.CONFIG, None), Path(folder)))


class Axes(unittest.TestCase):
    def test_numbers_of_logarithmic_axes_are_told_apart(self):
        labels = [figure_parts.log_label(value) for value in (0.01, 500, 1e4, 5e5, 1e6, 2e6, 1e-5)]
        self.assertEqual(labels, ["0.01", "500", "10000", r"$5\cdot10^{5}$", "$10^{6}$", r"$2\cdot10^{6}$", "$10^{-5}$"])

    def places_of_notes(self, line):
        """Where two notes stand, in shares of the axes, beside a line through points of the unit square."""
        figure, axes = plt.subplots()
        self.addCleanup(plt.close, figure)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.plot(*zip(*line))
        figure_parts.put_notes(axes, [("exponent 1.00", "k"), ("exponent 2.00", "k")])
        return [text.get_position() for text in axes.texts]

    def test_notes_stand_where_no_line_runs(self):
        right, left_top, across = [(0.5, 0.5), (1, 0)], [(0, 1), (0.5, 0.95)], [(0.1, -3), (0.1, 4)]  # the last has both ends outside
        for line, left, top in [(right, True, True), (left_top, True, False), (across, False, True)]:
            first, second = self.places_of_notes(line)
            self.assertEqual((first[0] < 0.5, first[1] > 0.5), (left, top), line)
            self.assertEqual((first[0], first[1] > second[1]), (second[0], True))


class Steps(unittest.TestCase):
    HEAD = "file,step,time,contacts,iterations,detection_seconds,assembly_seconds,free_seconds,solve_seconds,other_seconds\n"

    def experiment(self, folder, config=None):
        """Two recordings of eight steps: the second needs three times the iterations; its last step has no clocks."""
        rows = [f"{file}-quick.h5,{k},{k / 100},{k - 1},{factor * k}" + (",0.1,0.2,0.3,0.4,0" if (factor, k) != (3, 8) else ",,,,,")
                for file, factor in (("soft", 1), ("stiff", 3)) for k in range(1, 9)]
        (folder / "steps.csv").write_text(self.HEAD + "\n".join(rows) + "\n")
        (folder / "recordings.csv").write_text("file,kind,key,value\nsoft-quick.h5,setting,E,5\nstiff-quick.h5,setting,E,50\n"
                                               "stiff-quick.h5,fact,stays,2\n")
        steps = data.read_steps(folder)
        steps = data.with_recorded(steps, folder)
        return data.Experiment("e", folder, run_table(file=["soft-quick.h5"]), [], {}, config or {}, None, None, steps)

    def judged(self, **claim):
        with tempfile.TemporaryDirectory() as folder:
            steps = self.experiment(Path(folder)).steps
        return verdicts.evaluate(run_table(file=["f.h5"]), {"rows": "steps", "min": 0} | claim, steps=steps)

    def test_claims_about_steps_have_the_values_of_hand(self):
        ratio = self.judged(kind="ratio", column="iterations", numerator={"setting.E": 50}, denominator={"scene": "soft"})
        self.assertEqual((ratio.value, ratio.samples), (3.0, 8))
        few = self.judged(kind="fraction", column="iterations", where={"scene": "soft"}, at_least={"contacts": 2}, upper=4)
        self.assertEqual((few.value, few.samples), (2 / 6, 6))  # steps 3 to 8; 3 and 4 are within
        self.assertEqual(self.judged(kind="quantity", column="iterations", statistic="sum", at_most={"step": 2}).value, 1 + 2 + 3 + 6)
        self.assertEqual(self.judged(kind="quantity", column="fact.stays", statistic="maximum").value, 2.0)

    def test_steps_of_recordings_that_ended_early_are_judged_by_pairs_only(self):
        with tempfile.TemporaryDirectory() as folder:
            steps = self.experiment(Path(folder)).steps
        steps["status.failed"] = (steps["scene"] == "stiff").astype(float)
        judge = lambda **claim: verdicts.evaluate(run_table(file=["f.h5"]), {"rows": "steps", "min": 0} | claim, steps=steps)  # noqa: E731
        mean = judge(kind="quantity", column="iterations", statistic="mean")
        self.assertEqual((mean.verdict, mean.reason, mean.value), ("not comparable", "ended early: stiff", 9.0))
        self.assertEqual(judge(kind="quantity", column="iterations", where={"scene": "soft"}).verdict, "holds")
        self.assertEqual(judge(kind="slope_ratio", column="iterations", against="step", numerator={"scene": "soft"}, denominator={"scene": "stiff"}, match=["setting.E"]).reason,
                         "ended early: stiff")
        self.assertEqual(judge(kind="ratio", column="iterations", numerator={"setting.E": 50}, denominator={"scene": "soft"}).verdict, "holds")
        self.assertEqual(judge(kind="quantity", column="status.failed", statistic="maximum").value, 1.0)

    def test_windows_are_means_over_whole_ones_of_a_recording(self):
        # steps of 0.01 s: windows of three hold steps 1 to 3 and 4 to 6, steps 7 and 8 are none
        windowed = self.judged(kind="quantity", column="iterations", window_s=0.03, where={"scene": "stiff"}, statistic="sum")
        self.assertEqual((windowed.value, windowed.samples), (3 * 2 + 3 * 5, 2))
        late = self.judged(kind="quantity", column="contacts", window_s=0.03, where={"scene": "soft"}, at_least={"contacts": 2})
        self.assertEqual((late.value, late.samples), (4.0, 1))  # bounds are those of the means
        pairs = self.judged(kind="ratio", column="iterations", window_s=0.03, numerator={"scene": "stiff"}, denominator={"scene": "soft"})
        self.assertEqual((pairs.value, pairs.samples), (3.0, 2))
        self.assertEqual(self.judged(kind="quantity", column="step", window_s=0.08, statistic="minimum").value, 8)
        self.assertIn("must be a time", self.judged(kind="quantity", column="step", window_s=0).reason)
        runs = verdicts.evaluate(run_table(file=["f.h5"]), {"kind": "quantity", "column": "contacts", "window_s": 1.0, "min": 0})
        self.assertIn("is about rows", runs.reason)

    def test_quotients_are_by_row_or_of_sums_and_need_both_columns(self):
        pair = ["iterations", "contacts"]
        self.assertEqual(self.judged(kind="quantity", column_of=pair, statistic="maximum", where={"scene": "soft"}).value, 2.0)
        self.assertEqual(self.judged(kind="quantity", column_of=pair, statistic="total", where={"scene": "soft"}).value, 36 / 28)
        share = self.judged(kind="quantity", column_of=["detection_seconds", "step_seconds"])
        self.assertAlmostEqual(share.value, 0.1, delta=1e-15)
        self.assertEqual(share.samples, 15)  # the step without clocks has no time
        self.assertAlmostEqual(self.judged(kind="quantity", column="resolution_seconds").value, 0.9, delta=1e-15)

    def test_claims_about_followed_regions_have_the_values_of_hand(self):
        head = "file,step,region_mode,contacts,churn,same,update_seconds,rebuild_seconds\n"
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.assertIsNone(data.read_follow(folder))
            (folder / "follow.csv").write_text(head + "a-quick.h5,000002,points,10,0,1,1e-6,2e-6\n"
                                               "a-quick.h5,000003,points,12,0.1,1,3e-6,2e-6\n"
                                               "a-quick.h5,000004,points,12,0.5,0,9e-6,2e-6\n")
            rows = data.read_follow(folder)
            claim = {"rows": "follow", "at_most": {"churn": 0.2}}
            judge = lambda **keys: verdicts.evaluate(run_table(file=["f.h5"]), claim | keys, follow=rows)  # noqa: E731
            total = judge(kind="quantity", column_of=["update_seconds", "rebuild_seconds"], statistic="total", max=1)
            self.assertEqual((total.value, total.samples, total.verdict), (1.0, 2, "holds"))
            faster = judge(kind="fraction", column="update_share", upper=1, min=1)
            self.assertEqual((faster.value, faster.verdict), (0.5, "differs"))
            none = verdicts.evaluate(run_table(file=["f.h5"]), claim | {"kind": "fraction", "column": "same", "min": 1})
            self.assertEqual(none.reason, "there is no follow.csv")
            experiment = data.Experiment("e", folder, run_table(file=["f.h5"]), [], {}, {}, None, follow=rows)
            self.assertTrue(follow.follow(experiment, folder))
            self.assertTrue((folder / "follow.png").is_file())
            (folder / "follow.csv").write_text("file,step\n")
            with self.assertRaisesRegex(data.ReportError, "no table of this version"):
                data.read_follow(folder)

    def test_recordings_beside_the_finest_have_the_values_of_hand(self):
        columns = ["file", "finest", "drift_mean", "creep_most", "deepest_point", "energy_error", "energy", "residual", "velocity_error", "velocity_error_whole",
                   "velocity_error_most", "time_step", "duration", *data.CLOCKS]
        tilt = np.degrees(np.arctan(0.33))
        speed = 9.81 * (np.sin(np.radians(tilt)) - 0.3 * np.cos(np.radians(tilt))) / 100.0  # of Coulomb's law
        rows = [["a-quick.h5", "b-quick.h5", speed / 2, 3e-3, 4e-6, 0.5, 2.0, 1e-2, 1e-3, 2e-3, 5e-3, 1e-4, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5],
                ["b-quick.h5", "b-quick.h5", speed, 1e-3, 1e-6, 0.0, 2.0, 1e-8, 1e-9, 1e-9, 1e-9, 1e-4, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1],
                ["c-quick.h5", "c-quick.h5", speed, np.nan, 0.0, 0.0, 0.0, 1e-8, 1e-9, 1e-9, 1e-9, 1e-4, 0.5, *[np.nan] * 5]]
        settings = {"a": ("0.01", tilt), "b": ("1e-08", tilt), "c": ("1e-08", 10.0)}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.assertIsNone(data.read_accuracy(folder, {}))
            pd.DataFrame(rows, columns=columns).to_csv(folder / "accuracy.csv", index=False)
            (folder / "recordings.csv").write_text("file,kind,key,value\n" + "".join(
                f"{name}-quick.h5,setting,{key},{value}\n" for name, (asked, angle) in settings.items() for key, value in (
                    ("solver.tolerance", asked), ("time.gravity_tilt_deg", angle), ("contact.friction", 0.3), ("materials.rubber.damping_1_s", 100.0))))
            table = data.read_accuracy(folder, {"accuracy": {"over": "solver.tolerance"}})
            with self.assertRaisesRegex(data.ReportError, "no recording sets 'x'"):
                data.read_accuracy(folder, {"accuracy": {"over": "x"}})
            (folder / "accuracy.csv").write_text("file,finest\n")
            with self.assertRaisesRegex(data.ReportError, "columns missing: creep_most"):
                data.read_accuracy(folder, {})
        a, b, c = (row for _, row in table.iterrows())
        self.assertEqual((a["asked"], a["energy_share"], a["step_seconds"]), (0.01, 0.25, 1.5))
        for column, value in (("creep_beyond", 2e-3), ("deepest_beyond", 3e-6), ("step_error", 5e-7), ("path_error", 1e-3), ("slide_speed", speed),
                              ("slip_slope", 0.05), ("slip_beyond", 0.05)):  # half the speed: half of the 10 % that the slope has to spare
            self.assertAlmostEqual(a[column], value, delta=1e-12, msg=column)
        self.assertEqual((b["creep_beyond"], b["slip_beyond"]), (0.0, 0.0))
        self.assertAlmostEqual(b["slip_slope"], 0.0, delta=1e-12)
        self.assertTrue(np.isnan([c["slide_speed"], c["slip_slope"], c["energy_share"], c["creep_beyond"]]).all(), "it cannot slide, and nothing rests")
        judge = lambda **claim: verdicts.evaluate(run_table(file=["f.h5"]), {"rows": "accuracy", "max": 1} | claim, accuracy=table)  # noqa: E731
        creep = judge(kind="quantity", column_of=["creep_beyond", "velocity_error"], statistic="maximum")
        self.assertEqual((creep.verdict, creep.samples), ("differs", 2))
        self.assertAlmostEqual(creep.value, 2.0, delta=1e-12)
        self.assertEqual(judge(kind="ratio", column="step_seconds", numerator={"asked": 1e-8}, denominator={"asked": 0.01}, match=["finest"]).value, 0.5 / 1.5)
        table["status.failed"] = (table["file"] == "a-quick.h5").astype(float)
        self.assertEqual(judge(kind="quantity", column="residual").reason, "ended early: a")
        self.assertEqual(judge(kind="quantity", column="residual", at_most={"asked": 1e-3}).verdict, "holds")
        none = verdicts.evaluate(run_table(file=["f.h5"]), {"rows": "accuracy", "kind": "quantity", "column": "asked", "max": 1})
        self.assertEqual(none.reason, "there is no accuracy.csv")

    def test_the_table_of_errors_has_a_line_for_every_residual(self):
        steep = {"recording.scene": "slope"}
        rows = pd.DataFrame({"file": list("abcs"), "finest": list("bbcs"), "recording.scene": ["card", "card", "card", "slope"], "asked": [1e-2, 1e-8, 1e-2, 1e-2],
                             "setting.solver.name": ["cr-full", "cr-full", "pgs", "cr-full"], "residual": [9e-3, 2e-8, 1e-2, 1e-2], "velocity_error": 1.2e-4,
                             "creep_most": [2.5e-5, 0.0, np.nan, np.nan], "deepest_point": [0.0, 0.0, 3e-6, 0.0], "apart_mean": [2e-3, 0.0, 0.0, 0.0],
                             "energy_share": [0.0123, 0.0, 0.0, 0.0], "iterations": [1.5, 20.0, 3.0, 1.0], "halved": [0, 3, 0, 0], "unresolved": [0, 2, 0, 0], "steps": 40, "step_seconds": [1e-3, 2e-3, 2e-3, 2e-3], "creep_beyond": [2.4e-5, 0.0, np.nan, np.nan], "deepest_beyond": [0.0, 0.0, 1e-20, 0.0],
                             "slip_slope": [np.nan, np.nan, np.nan, -0.004]})
        config = {"errors": {"title": "T", "lines": [{"words": "card", "where": {"recording.scene": "card"}, "slip": steep, "solvers": ["cr-full", "pgs"]}]}}
        with tempfile.TemporaryDirectory() as folder:
            experiment = data.Experiment("e", Path(folder), run_table(file=["f.h5"]), [], {}, config, None, accuracy=rows)
            table_errors.write(experiment, Path(folder))
            text = (Path(folder) / "errors.md").read_text()
            self.assertIn("| card | `cr-full` | 1e-2 | 1.2e-4 | 2.5e-5 | -0.4 | 0 | 2.0e-3 | 1.2 | 1.5 | – | 1 |\n"
                          "| card | `cr-full` | 1e-8 (2.0e-8) | 1.2e-4 | 0 | – | 0 | – | – | 20 | 3 of 40, 2 held | 2 |\n\n## The same", text)
            self.assertIn("| 1e-2 | 1.2e-4 | 2.4e-5 | 0.4 | 0 | 2.0e-3 | 1.2 | 0.75 |\n| 1e-8 | 1.2e-4 | – | – | – | – | – | 1 |\n", text)
            self.assertIn("| card | `pgs` | 1e-2 | 1.2e-4 | – | – | 3.0e-6 | – | – | 3 | – | 2 |\n", text)
            for wrong, words in (({"where": steep, "solvers": ["pgs"]}, "'words' is missing"), ({"words": "w", "where": {"x": 1}, "solvers": ["pgs"]}, "no column 'x'"),
                                 ({"words": "w", "where": {"asked": [1e-2]}, "solvers": ["cr-full"]}, "several recordings of one residual")):
                experiment.config["errors"]["lines"] = [wrong]
                with self.assertRaisesRegex(data.ReportError, words):
                    table_errors.write(experiment, Path(folder))
            table_errors.write(data.Experiment("e", Path(folder), run_table(file=["f.h5"]), [], {}, {}, None), Path(folder))

    def test_what_steps_cannot_tell_says_why(self):
        self.assertIn("no column 'speed'", self.judged(kind="quantity", column="speed").reason)
        self.assertIn("two columns", self.judged(kind="quantity", column_of=["iterations"]).reason)
        self.assertIn("no column 'x'", self.judged(kind="quantity", column="step", at_least={"x": 1}).reason)
        without = verdicts.evaluate(run_table(file=["f.h5"]), {"kind": "quantity", "rows": "steps", "column": "step", "min": 0})
        self.assertEqual((without.verdict, without.reason), ("not comparable", "there is no steps.csv"))

    def test_figures_repeat_to_the_byte_and_name_a_wrong_column(self):
        config = {"histogram": {"column": "iterations", "most": 9, "paper": {"within": 3, "share": 90, "words": "the paper"}},
                  "shares": {"paper": {"words": "the paper", "solve_seconds": 0.7, "detection_seconds": 0.3}},
                  "against": [{"name": "log", "column": "iterations"}, {"name": "plain", "column": "iterations", "log": False, "fit": True, "window_s": 0.02}],
                  "over_time": [{"name": "a", "column": "iterations"}, {"name": "b", "column": "step_seconds", "recordings": ["st*"]},
                                {"name": "both", "window": 3, "panels": [{"column": "iterations", "recordings": ["soft"]}, {"column": "step_seconds", "label": "time per step", "log": False}]}]}
        names = ["histogram", "shares", "against_log", "against_plain", "over_time_a", "over_time_b", "over_time_both"]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            style.apply()
            experiment, before = self.experiment(folder, config), None
            for _ in range(2):
                figures.draw_all(experiment, folder)
                drawn = {stem: (folder / f"{stem}.svg").read_bytes() for stem in names}
                self.assertIn(before, (None, drawn))
                before = drawn
            self.assertEqual(sorted(stem for stem, _ in figures.pictures_in(folder) if stem in names), sorted(names))
            words = lambda stem: (folder / f"{stem}.svg").read_text()  # noqa: E731
            self.assertIn("soft (8 steps, 37.5 % up to 3)", words("histogram"))
            self.assertIn("the paper", words("histogram"))
            self.assertIn("the paper", words("shares"))
            self.assertIn("exponent", words("against_plain"))
            self.assertIn("time per step", words("over_time_both"))
            self.assertEqual(words("over_time_both").count("time of the scene [s]"), 2)
            self.assertFalse(steps.histogram(data.Experiment("e", folder, experiment.runs, [], {}, config, None), folder))
            experiment.config = {"against": {"column": "speed"}}
            with self.assertRaisesRegex(data.ReportError, "no column 'speed'"):
                steps.against(experiment, folder)

    def test_pooled_recordings_are_one_series(self):
        with tempfile.TemporaryDirectory() as folder:
            experiment = self.experiment(Path(folder))
        wanted = {"column": "iterations", "recordings": ["s*", "stiff"], "words": ["both"], "at_least": {"contacts": 1}}
        self.assertEqual([(name, len(part)) for name, part in steps.chosen(experiment, wanted | {"pool": True})], [("both", 14), ("stiff", 7)])
        self.assertEqual([name for name, _ in steps.chosen(experiment, wanted)], ["soft", "stiff"])

    def test_an_experiment_of_recordings_alone_has_a_page(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "alone"
            folder.mkdir()
            self.experiment(folder)
            make_results.write_runs(folder, make_results.HEADER, [])
            claim = '[[claims]]\nid = "a"\ntext = "few iterations"\nquantity = "iterations"\nrows = "steps"\nmax = 100\nbound = "paper"\n'
            (folder / "env.json").write_text(json.dumps({"definition": str(make_results.define(Path(name) / "defined", claim))}))
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(main.main(["--out", name]), 0)
            self.assertIn("few iterations", out.getvalue())
            self.assertIn("holds", out.getvalue())
            (folder / "steps.csv").write_text("file,step\n")
            with contextlib.redirect_stderr(io.StringIO()) as err:
                self.assertEqual(main.main(["--out", name]), 3)
            self.assertIn("steps.csv: columns missing: time", err.getvalue())


class Methods(unittest.TestCase):
    """[methods]: numbers by hand, for runs and for steps."""

    CONFIG = {"solvers": [{"name": "pgs", "label": "a"}, {"name": "pcg", "label": "b"}], "tolerances": [1e-3, 1e-6],
              "methods": {"reference": "b", "scenes": ["hill"], "methods": ["a", "b", "c"],
                          "tables": [{"title": "equal", "target": 1e-3}],
                          "paper": {"hill": {"a": {"resolution": [3.0, 2.0], "iterations": [30, 20]},
                                             "b": {"resolution": [1.5, 1.0], "iterations": [10, 10]},
                                             "c": {"iterations": [5, 5]}}}}}

    def experiment(self, **tables_):
        # step 1: both reach 1e-3, a only at its stop of 1e-6; step 2: only b does
        runs = run_table(file=["hill-quick.h5"] * 8, step=["1"] * 4 + ["2"] * 4, solver=["pgs", "pgs", "pcg", "pcg"] * 2, label=["a", "a", "b", "b"] * 2,
                         tolerance=[1e-3, 1e-6] * 4, residual=[5e-3, 1e-4, 9e-4, 1e-7, 1.0, 1.0, 1e-5, 1e-9], protocol=["self-stopped"] * 8,
                         iterations=[10, 40, 5, 8, 99, 99, 7, 9], setup_seconds=[1e-3] * 8, status=["stalled"] + ["converged"] * 3 + ["time_limit"] * 2 + ["converged"] * 2,
                         solve_seconds=[1e-3, 5e-3, 2e-3, 8e-3, 1.0, 1.0, 4e-3, 9e-3], contacts=[4] * 4 + [6] * 4)
        config = self.CONFIG | {"methods": self.CONFIG["methods"] | tables_}
        return data.Experiment("e", Path("e"), runs, [], {}, config, None)

    def test_the_first_stop_that_reaches_the_residual_counts_and_ratios_are_over_common_problems(self):
        experiment = self.experiment()
        np.testing.assert_array_equal(experiment.runs["first_to_reach.1e-03"], [0, 1, 1, 0, 0, 0, 1, 0])
        np.testing.assert_array_equal(experiment.runs["first_to_reach.1e-06"], [0, 0, 0, 1, 0, 0, 0, 1])
        (title, _, header, body), = table_methods.methods_tables(experiment)
        self.assertEqual((title, len(header)), ("equal", 13))
        self.assertEqual(body[0], ["hill", "a", "1 of 2", "6 (6)", "3 (2)", "40 (40)", "30 (20)", "12 (12)", "–", "2", "2", "8", "3"])
        self.assertEqual(body[1], ["hill", "b", "2 of 2", "4 (4)", "1.5 (1)", "6 (6)", "10 (10)", "15 (15)", "–", "1", "1", "1", "1"])
        self.assertEqual(len(body), 2)  # c is nowhere

    def test_the_time_of_an_iteration_is_that_of_the_solve_over_its_iterations(self):
        runs = run_table(iterations=[4, 0], solve_seconds=[2.0, 1.0])
        self.assertEqual(runs["iteration_seconds"].iloc[0], 0.5)
        self.assertTrue(np.isnan(runs["iteration_seconds"].iloc[1]))

    def test_the_time_of_a_contact_in_a_sweep_is_that_of_the_solve_over_sweeps_and_contacts(self):
        runs = run_table(contact_sweeps=[8, 0], contacts=[5, 5], solve_seconds=[2e-6, 1.0])
        self.assertEqual(runs["contact_sweep_seconds"].iloc[0], 5e-8)
        self.assertTrue(np.isnan(runs["contact_sweep_seconds"].iloc[1]))
        self.assertEqual(figure_parts.time_unit(runs["contact_sweep_seconds"]), (1e9, "ns"))

    def test_a_recording_named_after_a_scene_counts_as_that_scene(self):
        experiment, body = self.experiment(), table_methods.methods_tables(self.experiment())[0][3]
        experiment.runs = experiment.runs.assign(file="hill_window-quick.h5", scene="hill_window")
        self.assertEqual(table_methods.methods_tables(experiment)[0][3], body)
        experiment.runs = experiment.runs.assign(scene="hilly_window")
        self.assertEqual(table_methods.methods_tables(experiment)[0][3], [])  # another scene

    def test_what_ran_on_another_scene_only_is_said_beside_the_paper_s_number(self):
        experiment = self.experiment(scenes=["hill", "dale"], paper={"hill": {"c": {"iterations": [5, 5]}, "b": {"iterations": [10, 10]}}})
        experiment.runs = pd.concat([experiment.runs, experiment.runs.iloc[[2]].assign(label="c", scene="dale")])
        body = table_methods.methods_tables(experiment)[0][3]
        self.assertEqual([row[:3] for row in body], [["hill", "a", "1 of 2"], ["hill", "b", "2 of 2"], ["hill", "c", "not run"], ["dale", "c", "1 of 1"]])
        self.assertEqual(body[2][-1], "0.5")

    def test_the_conditions_of_the_matrices_stand_beside_the_ratios_in_their_order(self):
        experiment = self.experiment(scenes=["hill", "dale"])
        more = experiment.runs.assign(file="dale-quick.h5", scene="dale")
        experiment.runs = pd.concat([experiment.runs.assign(**{"matrix.jacobi_condition": 130.0}), more.assign(**{"matrix.jacobi_condition": 14.2})])
        title, note, header, body = table_methods.methods_tables(experiment)[-1]
        self.assertEqual((title, header), ("What the matrices ask for", ["scene", "condition of D⁻¹M", "a ÷", "paper", "c ÷", "paper"]))
        self.assertEqual(body, [["dale", "14.2", "8", "–", "–", "–"], ["hill", "130", "8", "3", "–", "0.5"]])
        self.assertIn("(equal)", note)

    def test_without_a_paper_s_numbers_there_are_no_columns_for_them(self):
        (_, note, header, body), = table_methods.methods_tables(self.experiment(paper={}))
        self.assertEqual(header, ["scene", "method", "solved", "resolution [ms]", "iterations", "constraints", "resolution ÷", "iterations ÷"])
        self.assertEqual(body[0], ["hill", "a", "1 of 2", "6 (6)", "40 (40)", "12 (12)", "2", "8"])
        self.assertNotIn("paper", note)

    def test_figure_shows_the_ratios_of_the_tables_and_repeats_to_the_byte(self):
        rows, paper = table_methods.ratios(self.experiment())
        self.assertEqual(rows, [{"table": "equal", "scene": "hill", "method": "a", "resolution": 2.0, "iterations": 8.0, "all_solved": False}])
        self.assertEqual(paper, {("hill", "a"): {"resolution": 2.0, "iterations": 3.0}})
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            self.assertTrue(methods.methods(self.experiment(), Path(folder)))
            first = (Path(folder) / "methods.svg").read_bytes()
            self.assertTrue(methods.methods(self.experiment(), Path(folder)))
            self.assertEqual((Path(folder) / "methods.svg").read_bytes(), first)
            nothing = self.experiment()
            del nothing.config["methods"]
            self.assertFalse(methods.methods(nothing, Path(folder)))

    def test_a_committed_result_gives_the_figures_of_its_rows_from_its_tables(self):
        config = {"table": {"title": "Iterations"}}
        with tempfile.TemporaryDirectory() as name:
            folder, experiment = Path(name), self.experiment()
            experiment.config = experiment.config | config
            table_methods.write(experiment, folder)
            tables.write_iterations(experiment, folder)
            committed = dataclasses.replace(experiment, folder=folder, runs=None)
            self.assertEqual(table_methods.ratios(committed), table_methods.ratios(experiment))
            self.assertEqual(outcomes.table(committed), outcomes.table(experiment))
            (folder / "methods.md").write_text((folder / "methods.md").read_text().replace("| hill | a |", "| hill | z |"))
            with self.assertRaisesRegex(data.ReportError, "methods.md: has z, which"):
                table_methods.ratios(committed)
            (folder / "methods.md").unlink()
            with self.assertRaisesRegex(data.ReportError, "methods.md does not exist"):
                table_methods.ratios(committed)

    def test_cells_of_the_table_of_iterations_are_read_as_they_were_written(self):
        for cell, steps, wanted in [("1007 (90)", 5, (1007, 5)), ("844.5 on 4 of 5, else > 1020, at 2e-6", 5, (np.nan, 4)), ("> 3000, at 1e-3", 5, (np.nan, 0)),
                                    ("92 (29) [81]", 1, (92, 1)), ("1.2e+05", 1, (120000, 1)), ("unsupported", 1, (np.nan, 0)), ("", 1, (np.nan, 0))]:
            np.testing.assert_equal(outcomes.outcome(cell, steps), wanted, cell)

    def test_a_paper_s_stop_counts_where_it_ends_and_says_what_it_leaves(self):
        (_, _, header, body), = table_methods.methods_tables(self.experiment(tables=[{"title": "own", "count": "stopped"}]))
        self.assertEqual((header[2], header[-5]), ("stopped", "residual, median"))
        self.assertEqual((body[0][2], body[0][5], body[0][9], body[0][12]), ("1 of 2", "10 (10)", "5e-3", "2"))

    def test_steps_are_those_with_contacts_of_the_method_s_own_recording(self):
        experiment = self.experiment(tables=[{"title": "own", "rows": "steps", "methods": {"pgs": "a", "pcg": "b"}}])
        self.assertEqual(table_methods.methods_tables(experiment), [])  # nothing recorded
        experiment.steps = pd.DataFrame({"file": [f"hill_by_{name}-quick.h5" for name in ["pgs"] * 3 + ["pcg"] * 2], "scene": ["hill_by_pgs"] * 3 + ["hill_by_pcg"] * 2,
                                         "setting.solver.name": ["pgs"] * 3 + ["pcg"] * 2, "step": [1, 2, 3, 1, 2], "contacts": [0, 2, 4, 0, 3], "unresolved": [0, 0, 1, 0, 0], "iterations": [1, 8, 9, 1, 4],
                                         "resolution_seconds": [1, 6e-3, 1, 1, 2e-3], "detection_seconds": [1, 1e-3, 1, 1, 1e-3], "step_seconds": [1, 8e-3, 1, 1, 4e-3],
                                         "solve_seconds": [1, 5e-3, 1, 1, 1e-3]})
        body = table_methods.methods_tables(experiment)[0][3]
        told = experiment.steps.assign(scene=experiment.steps["scene"].str.replace("hill", "any"), **{"recording.scene": "hill"})
        experiment.steps, plain = told, experiment.steps
        self.assertEqual(table_methods.methods_tables(experiment)[0][3], body, "the scene that is recorded comes before the name")
        self.assertEqual(table_methods.recorded(data.Experiment("e", Path("e"), None, [], {}, {}, None, steps=plain), ["hill", "hill_by"]),
                         {"hill_by_pgs": ("hill_by", "pgs"), "hill_by_pcg": ("hill_by", "pcg")})
        self.assertEqual(body[0], ["hill", "a", "1 of 2", "6 (6)", "3 (2)", "1 (1)", "–", "8 (8)", "–", "8 (8)", "30 (20)", "–", "6 (6)", "–", "3", "2", "5", "2", "3"])

    def test_steps_that_hold_their_bodies_count_though_they_have_no_contacts(self):
        experiment = self.experiment(tables=[{"title": "own", "rows": "steps", "methods": {"pgs": "a"}}])
        experiment.steps = pd.DataFrame({"file": ["hill_by_pgs-quick.h5"] * 4, "scene": ["hill_by_pgs"] * 4, "setting.solver.name": ["pgs"] * 4, "step": [1, 2, 3, 4],
                                         "contacts": [0, 2, 0, 4], "unresolved": [0, 0, 1, 1], "iterations": [1, 8, 50, 9], "resolution_seconds": [1e-3] * 4, "solve_seconds": [1e-3] * 4,
                                         "detection_seconds": [1e-3] * 4, "step_seconds": [2e-3] * 4})
        _, note, header, body = table_methods.methods_tables(experiment)[0]
        self.assertEqual((body[0][2], body[0][header.index("iterations")]), ("1 of 3", "8 (8)"))
        self.assertIn("count no contacts: hill, a: 1.", note)

    def test_several_runs_of_a_method_are_one_line_with_the_range_of_their_means(self):
        experiment = self.experiment(tables=[{"title": "own", "rows": "steps", "methods": {"pgs": "a", "pgs-cold": "b"}}])
        runs = ["hill_by_pgs_1", "hill_by_pgs_2", "hill_by_pgs-cold_1"]
        experiment.steps = pd.DataFrame({"file": [f"{name}-quick.h5" for name in runs], "scene": runs, "setting.solver.name": ["pgs"] * 3, "step": [1] * 3,
                                         "contacts": [2] * 3, "unresolved": [0] * 3, "iterations": [8, 10, 3], "resolution_seconds": [1e-3] * 3, "solve_seconds": [1e-3] * 3,
                                         "detection_seconds": [1e-3] * 3, "step_seconds": [2e-3] * 3})
        header, body = table_methods.methods_tables(experiment)[0][2:]
        place = header.index("each run")
        self.assertEqual([(row[1], row[2], row[place - 2], row[place]) for row in body], [("a", "2 of 2", "9 (9)", "8 – 10"), ("b", "1 of 1", "3 (3)", "–")])

    def test_wrong_tables_are_one_line(self):
        for change, words in (({"tables": [{"target": 1e-5}]}, "no run was asked for the residual 1e-05"), ({"paper": {"hill": {"d": {}}}}, "'d', which is not in methods"),
                              ({"paper": {"hill": {"a": {"speed": [1, 2]}}}}, "speed: one of resolution"), ({"paper": {"hill": {"a": {"total": [1]}}}}, "each \\[mean, median")):
            with self.assertRaisesRegex(data.ReportError, words):
                table_methods.methods_tables(self.experiment(**change))

    def test_a_matched_share_is_taken_where_the_others_come_down_to_the_level(self):
        caps = [10, 10, 20, 20, 40, 40]
        runs = run_table(file=["x", "y"] * 6, label=["a"] * 6 + ["b"] * 6, options=[f"n_max={cap}" for cap in caps * 2],
                         residual=[1, 1, 1, 1e-9, 1e-9, 1e-9] + [1, 1, 1, 1, 1, 1e-9])  # a fails on 100, 50, 0 %, b on 100, 100, 50 %
        claim = {"kind": "matched", "column": "unsolved", "over": "options.n_max", "level": 0.5, "numerator": {"label": "a"},
                 "denominator": {"label": "b"}, "max": 0.4}
        result = verdicts.evaluate(runs, claim)  # b comes down to a half at 40
        self.assertEqual((result.value, result.samples, result.verdict, result.expected), (0.0, 2, "holds", "≤ 40 %"))
        turned = verdicts.evaluate(runs, claim | {"numerator": {"label": "b"}, "denominator": {"label": "a"}})  # a does at 20
        self.assertEqual((turned.value, turned.verdict), (1.0, "differs"))
        self.assertIn("0.5 at best", verdicts.evaluate(runs, claim | {"level": 0.1}).reason)
        self.assertIn("no rows of 'of' at 40", verdicts.evaluate(runs[runs["options.n_max"] != "40"]._append(runs[runs["label"] == "b"]), claim).reason)
        self.assertIn("'over'", verdicts.evaluate(runs, {key: value for key, value in claim.items() if key != "over"}).reason)
        self.assertIn("no column 'options.no'", verdicts.evaluate(runs, claim | {"over": "options.no"}).reason)
        self.assertEqual(verdicts.evaluate(runs, claim | {"where": {"file": "z"}}).reason, "no rows match")

    def test_near_best_counts_problems_that_others_solve(self):
        runs = run_table(file=["w", "w", "x", "x", "x", "y", "y", "z", "z"], label=["a", "b", "a", "b", "c", "a", "b", "a", "b"],
                         iterations=[12, 10, 20, 10, 40, 1, 10, 1, 1], residual=[1e-9] * 5 + [1, 1e-9, 1e-9, 1])  # a fails on y, only a solves z
        claim = {"kind": "near_best", "column": "iterations", "numerator": {"label": "a"}, "factor": 1.3, "min": 0.5}
        result = verdicts.evaluate(runs, claim)  # of w, x, y: w
        self.assertEqual((round(result.value, 6), result.samples, result.verdict), (round(1 / 3, 6), 3, "differs"))
        self.assertEqual(verdicts.evaluate(runs, claim | {"factor": 2.0}).verdict, "holds")
        self.assertEqual(verdicts.evaluate(runs, claim | {"factor": 1e9}).value, 2 / 3)
        self.assertIn("no column 'no'", verdicts.evaluate(runs, claim | {"reached": "no"}).reason)
        self.assertIn("no other rows solve", verdicts.evaluate(runs[runs["file"] == "z"], claim).reason)
        self.assertIn("'factor'", verdicts.evaluate(runs, {key: value for key, value in claim.items() if key != "factor"}).reason)
        self.assertEqual(verdicts.evaluate(runs, claim | {"where": {"file": "q"}}).reason, "no rows match")

    def test_growth_of_a_ratio_and_spread_are_those_of_hand(self):
        runs = run_table(file=["x", "x", "y", "y"], label=["a", "b", "a", "b"], iterations=[6, 3, 20, 2])
        growth = {"kind": "ratio_growth", "column": "iterations", "numerator": {"label": "a"}, "denominator": {"label": "b"}, "match": ["file"], "min": 5,
                  "above": {"file": "y"}, "below": {"file": "x"}}
        self.assertEqual((verdicts.evaluate(runs, growth).value, verdicts.evaluate(runs, growth).verdict), (5.0, "holds"))
        self.assertIn("'above'", verdicts.evaluate(runs, {key: value for key, value in growth.items() if key != "above"}).reason)
        spread = {"kind": "spread", "column": "iterations", "match": ["file"], "statistic": "sum", "max": 2}
        self.assertAlmostEqual(verdicts.evaluate(runs, spread).value, 22 / 9)
        self.assertEqual(verdicts.evaluate(runs, spread).verdict, "differs")
        self.assertIn("two groups", verdicts.evaluate(runs, spread | {"where": {"file": "x"}}).reason)
        self.assertIn("no column 'no'", verdicts.evaluate(runs, spread | {"match": ["no"]}).reason)


class Anticipation(unittest.TestCase):
    def trace(self, label="a"):
        trace = progress_trace(label, 4)  # meets the tolerance at iteration 2
        trace.progress["contact_sweeps"] = np.array([0, 12, 15, 20, 60])
        return trace

    def test_sweeps_are_counted_up_to_the_first_accurate_iteration(self):
        self.assertEqual(data.inner_sweeps(self.trace()).tolist(), [12, 3])
        silent = self.trace()
        del silent.progress["contact_sweeps"]
        self.assertIsNone(data.inner_sweeps(silent))
        runs = run_table(file=["rings-quick.h5"] * 2, step=["000010"] * 2, solver=["cr-full"] * 2, options=["a"] * 2,
                         protocol=["converge", "time"])
        data.add_inner_sweeps(runs, [self.trace()])
        self.assertEqual(runs["sweeps.median"].iloc[0], 7.5)
        self.assertEqual(runs["sweeps.below_10"].iloc[0], 0.5)
        self.assertTrue(np.isnan(runs["sweeps.median"].iloc[1]))

    def test_the_fitted_power_is_that_of_hand_and_needs_a_factor_of_two(self):
        x = np.array([10.0, 20.0, 40.0])
        power, factor = anticipation.fitted(x, 3.0 * x**1.5)
        self.assertAlmostEqual(power, 1.5)
        self.assertAlmostEqual(factor, 3.0)
        self.assertIsNone(anticipation.fitted(np.array([10.0, 12.0, 19.0]), x))

    def test_the_99_9th_percentile_is_relative_to_the_mean(self):
        runs = run_table(iterations=[1] * 2000 + [41])
        quantity = {"kind": "quantity", "column": "iterations", "statistic": "p99.9 over mean", "max": 10, "id": "x", "claim": "c"}
        self.assertAlmostEqual(verdicts.evaluate(runs, quantity).value, 1 / (2041 / 2001))

    def test_figures_repeat_to_the_byte(self):
        runs = run_table(file=["a-quick.h5"] * 4, step=["1", "2", "3", "4"], contacts=[10, 20, 40, 80], label=["CA"] * 4)
        config = {"solvers": [{"name": "cr-full", "label": "a"}], "over_contacts": {"panels": [
            {"title": "all", "lines": [{"words": "CA", "where": {"label": "CA"}, "column": "total_seconds"}]}]}}
        experiment = data.Experiment("e", Path("."), runs, [self.trace()], {}, config, None)
        with tempfile.TemporaryDirectory() as folder:
            style.apply()
            for name in ("over_contacts", "inner"):
                draw = getattr(anticipation, name)
                self.assertTrue(draw(experiment, Path(folder)))
                first = (Path(folder) / f"{name}.svg").read_bytes()
                draw(experiment, Path(folder))
                self.assertEqual((Path(folder) / f"{name}.svg").read_bytes(), first)
            empty = data.Experiment("e", Path("."), runs, [], {}, {}, None)
            self.assertFalse(anticipation.over_contacts(empty, Path(folder)))
            self.assertFalse(anticipation.inner(empty, Path(folder)))


class Iterations(unittest.TestCase):
    def test_cells_are_medians_or_how_far_a_run_came(self):
        runs = run_table(label=["a"] * 3 + ["b"] * 3, solver=["pgs"] * 3 + ["pcg"] * 3, file=["x-quick.h5"] * 6,
                         step=["1", "2", "3"] * 2, iterations=[10, 30, 20, 7, 500, 500], protocol=["converge"] * 6,
                         status=["converged"] * 4 + ["iteration_limit"] * 2, residual=[1e-9] * 4 + [0.5, 0.5], repetition=[0] * 6)
        slow = progress_trace("b", 4)
        slow.file, slow.step, slow.residual = "x-quick.h5", "2", np.array([1.0, 0.2, 3e-3, np.nan, 0.4])
        config = {"scenes": ["x"], "solvers": [{"name": "pcg", "label": "b"}, {"name": "pgs", "label": "a"}],
                  "table": {"title": "T", "numbers": {"a": {"x": "19"}}}}
        experiment = data.Experiment("e", Path("."), runs, [slow], {}, config, None)
        _, _, header, rows = tables.iteration_table(experiment)
        self.assertEqual(header, ["variant", "x (3 steps)"])
        # the worst of the two that failed: the trace says 3e-3 for step 2, step 3 has only its row
        self.assertEqual(rows, [["b", "7 on 1 of 3, else > 500, at 5e-1"], ["a", "20 [19]"]])

    def test_a_table_of_a_column_has_a_line_per_problem_with_the_largest_value_of_each_variant(self):
        runs = run_table(label=["a", "a", "b", "b"], file=["x-quick.h5"] * 4, step=["1", "2"] * 2, protocol=["self-stopped"] * 4,
                         residual=[0.25, 0.012, np.nan, np.nan], status=["stalled"] * 2 + ["unsupported"] * 2)
        runs["sliding_share"] = [0.5, 0.25, 0.5, 0.25]
        config = {"scenes": ["x"], "solvers": [{"name": "pgs", "label": "a"}, {"name": "pgs", "label": "b"}],
                  "table": {"title": "T", "column": "residual", "facts": {"sliding_share": "slide"}, "note": "N"}}
        experiment = data.Experiment("e", Path("."), runs, [], {}, config, None)
        self.assertEqual(tables.iteration_table(experiment), ("T", "N", ["problem", "snapshots", "slide", "a", "b"], [["x", "2", "0.38", "0.25", "–"]]))
        config["table"]["column"] = "resdual"
        with self.assertRaisesRegex(data.ReportError, "no column 'resdual'"):
            tables.iteration_table(experiment)

    def test_many_variants_of_a_solver_are_named_by_what_they_change(self):
        texts = ["law=cone;a=1;b=2", "law=cone;a=2;b=2", "law=cone;a=1;b=3", "law=cone;a=1;b=4", "law=cone;a=3;b=2"]
        labels = data.label_variants({("s", text) for text in texts})
        self.assertEqual([labels[("s", text)] for text in texts][:3], ["s", "s a=2", "s b=3"])


class Program(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.out = Path(self.directory.name) / "out"

    def tearDown(self):
        self.directory.cleanup()

    def report(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main.main(["--out", str(self.out), *arguments])
        return status, out.getvalue(), err.getvalue()

    def test_figures_tables_and_page_are_made_and_repeat_to_the_byte(self):
        folder = make_results.make(self.out / "invented", steps=7, laws=("cone",))
        self.assertEqual(self.report()[0], 0)
        names = {path.stem for path in folder.glob("*.svg")}
        self.assertEqual(names, {"times_and_iterations", "profile", "contacts", "regions", "threads", "convergence_iterations_cone",
                                 "convergence_time_cone"})
        first = {path: path.read_bytes() for path in self.out.rglob("*") if path.suffix in (".svg", ".png", ".md", ".html", ".json")}
        for name in names:
            self.assertTrue((folder / f"{name}.png").read_bytes().startswith(b"\x89PNG"))
        lines = (folder / "runs.csv").read_text().splitlines()
        (folder / "runs.csv").write_text("\n".join([lines[0]] + lines[:0:-1]) + "\n")  # the order of the rows must not matter
        status, text, _ = self.report()
        self.assertEqual(status, 0)
        for path, content in first.items():
            self.assertEqual(path.read_bytes(), content, path.name)
        self.assertIn("not comparable", text)
        verdicts = {claim["id"]: claim["verdict"] for claim in json.loads((folder / "claims.json").read_text())}
        self.assertEqual(verdicts, {"all_solved": "holds", "regions_faster": "holds", "slope": "differs",
                                    "hardware": "not comparable"})
        page = (folder / "index.html").read_text()
        self.assertNotIn("src='http", page)
        self.assertEqual(page.count("data:image/svg+xml"), len(names))

        kept = folder / "profile.svg"
        kept.write_text("<svg/>")  # whether it is drawn again shows in its content
        self.report()
        self.assertEqual(kept.read_text(), "<svg/>", "unchanged numbers are not drawn again")
        (folder / "profile.png").unlink()
        self.report()
        self.assertEqual(kept.read_bytes(), first[kept], "a missing picture is drawn again")

    def test_every_experiment_has_a_page_and_the_index_leads_to_all(self):
        row = self.ROW.format("1", 4, "none", "converged", "1e-7")
        for name in ("lazarevych2010_b", "a"):
            claim = f'[[claims]]\nid = "i"\ntext = "solved {name}"\nfraction = "solved"\nmin = 0.5\nbound = "paper"\n'
            (self.plain([row], name, claim) / "run.toml").write_text(f'artefact = "Table of {name}"\n')
        self.assertEqual(self.report()[0], 0)
        before = (self.out / "report.html").read_bytes()
        (self.out / "a" / "index.html").write_text("kept")  # shows whether it is written again
        status, text, err = self.report("lazarevych2010_b")
        self.assertEqual(status, 0)
        self.assertNotIn("report: a,", err)
        self.assertNotIn("solved a", text)
        self.assertEqual((self.out / "a" / "index.html").read_text(), "kept")
        self.assertEqual((self.out / "report.html").read_bytes(), before)
        page = before.decode()
        for name in ("lazarevych2010_b", "a"):
            self.assertIn(f"href='{name}/index.html'", page)
            self.assertIn(f"Table of {name}", page)
            self.assertIn(f"solved {name}", page)
        self.assertLess(page.index("lazarevych2010_b/"), page.index("'a/"), "papers come first")
        (self.out / "a" / "claims.json").write_text("[")  # of no earlier report that can be read: made again
        self.assertIn("report: a,", self.report("lazarevych2010_b")[2])

    def plain(self, rows, id="e", claims=None):
        folder = self.out / id
        make_results.write_runs(folder, make_results.CONTRACT + ["protocol"], rows)
        if claims is not None:
            definition = make_results.define(self.out.parent / f"{self.out.name}_{id}", claims)
            (folder / "env.json").write_text(json.dumps({"definition": str(definition)}))
        return folder

    ROW = "e,f.h5,{},{},12,1,4,pgs,law=cone,cone,{},1,0,{},5,{},nan,nan,nan,nan,nan,nan,nan,0.001,0.001,1e-6,time"

    def test_one_snapshot_without_traces_or_config_is_enough(self):
        folder = self.plain([self.ROW.format("0", 4, "none", "converged", "1e-7")])
        status, text, _ = self.report()
        self.assertEqual(status, 0)
        self.assertIn("No claims are stated", text)
        self.assertTrue((folder / "times_and_iterations.png").is_file())

    def test_nothing_but_failures_and_no_contacts_still_gives_a_page(self):
        folder = self.plain([self.ROW.format(step, 0, mode, status, residual) for step, mode, status, residual in
                             (("1", "none", "diverged", "inf"), ("2", "points", "failed", "nan"), ("3", "none", "unsupported", "nan"))])
        self.assertEqual(self.report()[0], 0)
        self.assertIn("2 of them above the tolerance", (folder / "index.html").read_text())

    def test_a_row_torn_by_a_kill_is_left_out(self):
        good = self.ROW.format("1", 4, "none", "converged", "1e-7")
        folder = self.plain([good])
        with (folder / "runs.csv").open("a") as file:
            file.write(good[:40])
        self.assertEqual(len(data.read_experiment(folder).runs), 1)

    def test_types_come_from_the_schema_and_what_it_does_not_name_is_text(self):
        folder = self.plain([self.ROW.format("1", 4, "none", "converged", "1e-7")])
        header, row = (folder / "runs.csv").read_text().splitlines()
        (folder / "runs.csv").write_text(f"{header},memory,speed\n{row},12,0.5\n")
        self.assertEqual(data.read_experiment(folder).runs.loc[0, "memory"], "12")
        schema = json.loads((folder / "runs.schema.json").read_text())
        schema["runs.csv"] += [{"name": "memory", "type": "integer", "unit": "byte", "meaning": "m", "key": False},
                               {"name": "speed", "type": "real", "unit": "1", "meaning": "m", "key": False}]
        (folder / "runs.schema.json").write_text(json.dumps(schema))
        experiment = data.read_experiment(folder)
        self.assertEqual((experiment.runs["memory"].dtype, experiment.runs.loc[0, "speed"]), ("int64", 0.5))
        self.assertIn("memory", experiment.counters)
        schema["runs.csv"][0]["type"] = "word"
        (folder / "runs.schema.json").write_text(json.dumps(schema))
        self.assertIn("column experiment: type 'word' (known: text, integer, real)", self.report()[2])

    def test_results_of_an_earlier_program_are_to_be_run_again(self):
        folder = self.plain([self.ROW.format("1", 4, "none", "converged", "1e-7")])
        (folder / "runs.schema.json").unlink()
        status, _, err = self.report()
        self.assertEqual(status, 3)
        self.assertIn("made by an earlier program; run the experiment again with --force", err)

    def test_without_its_folder_an_experiment_is_drawn_and_not_judged(self):
        folder = self.plain([self.ROW.format("1", 4, "none", "converged", "1e-7")])
        status, text, err = self.report()
        self.assertEqual((status, json.loads((folder / "claims.json").read_text())), (0, []))
        self.assertIn("drawn without claims", err)
        self.assertIn("The folder of this experiment was not found", (folder / "index.html").read_text())

    def test_the_definition_is_the_one_asked_for_then_the_one_that_was_run(self):
        claim = '[[claims]]\nid = "{0}"\ntext = "t"\nfraction = "solved"\nmin = 0.5\nbound = "paper"\n'
        folder = self.plain([self.ROW.format("1", 4, "none", "converged", "1e-7")], "paper_a", claim.format("run"))
        configs = Path(self.directory.name) / "configs"
        make_results.define(configs / "experiments" / "paper" / "a", claim.format("asked"))
        for arguments, name in (((), "run"), (("--configs", str(configs)), "asked")):
            self.assertEqual(self.report(*arguments)[0], 0)
            self.assertEqual([one["id"] for one in json.loads((folder / "claims.json").read_text())], [name])

    def test_judging_again_touches_no_row_and_draws_nothing(self):
        folder = make_results.make(self.out / "invented", steps=5, laws=("cone",))
        self.assertEqual(self.report()[0], 0)
        definition = Path(json.loads((folder / "env.json").read_text())["definition"])
        kept = [path for path in folder.iterdir() if path.suffix in (".csv", ".h5", ".svg", ".png") or path.name in ("run.toml", "env.json", "runs.schema.json")
                if path.name != "summary.csv"]
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kept}
        self.assertGreater(len(before), 15)
        claims = (definition / "claims.toml").read_text()
        (definition / "claims.toml").write_text(claims.replace("max = 0.2", "max = 20.0").replace('"slope"\ntext', '"steep"\ntext'))
        self.assertEqual(self.report("invented")[0], 0)
        self.assertEqual({path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kept}, before)
        found = {one["id"]: one["verdict"] for one in json.loads((folder / "claims.json").read_text())}
        self.assertEqual((found["steep"], found.get("slope")), ("holds", None))
        (folder / "profile.svg").write_text("<svg/>")
        (definition / "figures.toml").write_text('figures = ["profile"]\n')
        self.assertEqual(self.report("invented")[0], 0)
        self.assertEqual((folder / "profile.svg").read_bytes(), before[folder / "profile.svg"][0], "other wishes are drawn")
        self.assertFalse((folder / "contacts.svg").exists())

    def test_wrong_input_is_one_line_and_exit_3(self):
        self.assertEqual(self.report()[0], 3)
        self.assertEqual(self.report("absent")[0], 3)
        folder = self.plain([self.ROW.format("1", 4, "none", "converged", "1e-7")])
        for name, content in (("env.json", b"{"), ("run.toml", b"artefact = "), ("trace.h5", b"no HDF5"),
                              ("runs.csv", b"a,b\n1,2\n"), ("runs.csv", b"")):
            kept = (folder / name).read_bytes() if (folder / name).exists() else None
            (folder / name).write_bytes(content)
            status, _, err = self.report()
            self.assertEqual(status, 3, name)
            self.assertIn(name, err)
            self.assertEqual(len([line for line in err.splitlines() if line.startswith("error")]), 1)
            (folder / name).unlink() if kept is None else (folder / name).write_bytes(kept)
        (folder / "runs.csv").write_text((folder / "runs.csv").read_text().replace("0.001,0.001", "0.001,soon"))
        status, _, err = self.report()
        self.assertEqual(status, 3)
        self.assertIn("solve_seconds", err)

    def test_the_script_itself_starts_and_teaches(self):
        done = subprocess.run([SOURCE / "scripts" / "report", "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("examples:", done.stdout)
        self.assertEqual(subprocess.run([SOURCE / "scripts" / "report", "--bogus"], capture_output=True, timeout=60).returncode, 2)


if __name__ == "__main__":
    unittest.main()
