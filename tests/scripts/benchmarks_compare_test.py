"""scripts/benchmarks --compare: intervals of hand, verdicts of invented times, tables that repeat to the byte, rounds that go on."""

import contextlib
import io
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

from signorini_benchmarks import checkout, compare, main, options, runs  # noqa: E402
from signorini_benchmarks.programs import BY_NAME  # noqa: E402
from signorini_benchmarks.verdict import judge, median_interval, rank_sum_tail  # noqa: E402

BUILDS = {"old": "aaaaaaaaaaaa", "new": "bbbbbbbbbbbb"}


def scattered(centre, spread, rounds, seed=1):
    """Pairs whose new time is `centre` times the old one, while the machine drifts by a factor of two."""
    numbers = random.Random(seed)
    drift = [math.exp(0.7 * i / rounds) for i in range(rounds)]
    return [(d, d * centre * math.exp(numbers.gauss(0.0, spread))) for d in drift]


class Interval(unittest.TestCase):
    def test_the_distribution_is_that_of_all_signs(self):
        for rounds in range(1, 9):
            sums = [sum(rank for rank, sign in zip(range(1, rounds + 1), signs) if sign) for signs in itertools.product((0, 1), repeat=rounds)]
            for bound, tail in enumerate(rank_sum_tail(rounds)):
                self.assertAlmostEqual(tail, sum(total <= bound for total in sums) / len(sums), places=15)

    def test_eight_rounds_give_their_extremes_and_seven_give_nothing(self):
        values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
        estimate, low, high = median_interval(values)
        self.assertAlmostEqual(estimate, 0.45, places=15)
        self.assertEqual((low, high), (0.1, 0.8))
        self.assertTrue(math.isinf(median_interval(values[:7])[2]))

    def test_it_holds_as_often_as_it_says(self):
        # 1,000 samples of 10 at level 0.9: 900 ± 28 (three standard deviations) hold the true centre, or more as the level is discrete
        numbers = random.Random(5)
        held = 0
        for _ in range(1000):
            _, low, high = median_interval([numbers.gauss(0.0, 1.0) for _ in range(10)], 0.9)
            held += low <= 0.0 <= high
        self.assertGreater(held, 872)
        self.assertLess(held, 960)


class Verdict(unittest.TestCase):
    def test_changes_are_seen_through_the_drift_of_the_machine(self):
        self.assertEqual(judge(scattered(1.1, 0.01, 10)).verdict, "slower")
        self.assertEqual(judge(scattered(0.9, 0.01, 10)).verdict, "faster")
        self.assertEqual(judge(scattered(1.0, 0.003, 10)).verdict, "same")
        self.assertEqual(judge(scattered(1.0, 0.2, 10)).verdict, "open")
        self.assertEqual(judge(scattered(1.1, 0.01, 7)).verdict, "not judged")

    def test_a_difference_that_is_sure_but_small_is_none(self):
        change = judge([(1.0, 1.01)] * 8)
        self.assertEqual(change.verdict, "same")
        self.assertAlmostEqual(change.ratio, 1.01, places=12)


class Folder(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.out = Path(self.held.name) / "compare"

    def write(self, number, side, rows, git=None, program="ccd", quick=False, cpu="Processor", command="bench_ccd"):
        folder = compare.round_folder(self.out, number, side)
        folder.mkdir(parents=True, exist_ok=True)
        facts = {"program": program, "quick": quick, "command": command, "started": "2026-11-21T10:00:00Z", "finished": "2026-11-21T10:01:00Z",
                 "load_before": 0.1, "other_cores": 0.0, "machine": {"cpu": cpu, "cores": 2}, "build": {"git": git or BUILDS[side], "compiler": "GNU 12.2.0", "flags": "-O3"}}
        rows = [{"name": name, "run_type": "iteration", "time_unit": "ms", **row} for name, row in rows.items()]
        (folder / f"bench_{program}.json").write_text(json.dumps({"context": {"signorini": facts}, "benchmarks": rows}))

    def write_rounds(self, count=8):
        for number in range(1, count + 1):
            machine_speed = 1.0 + 0.1 * number
            self.write(number, "old", {"pair/one/manual_time": {"real_time": 2.0 * machine_speed}, "pair/two": {"real_time": 5.0 * machine_speed},
                                       "gone": {"real_time": 1.0}})
            self.write(number, "new", {"pair/one/manual_time": {"real_time": 1.0 * machine_speed}, "pair/two": {"real_time": 5.0 * machine_speed},
                                       "broken": {"error_occurred": True, "error_message": "no memory"}})

    def run_main(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main.main([*words, "-o", str(self.out)])
        return status, out.getvalue(), err.getvalue()

    def test_tables_hold_ratios_verdicts_and_what_one_side_lacks(self):
        self.write_rounds()
        status, said, _ = self.run_main("--compare", "old", "--draw", "--only", "ccd")
        self.assertEqual(status, 0)
        self.assertIn("1 faster, 1 same", said)
        lines = (self.out / "comparison.csv").read_text().splitlines()
        self.assertEqual(lines[0], "program,row,old_seconds,new_seconds,ratio,low,high,rounds,verdict")
        self.assertEqual(lines[1], "ccd,pair/one,0.0029,0.00145,0.5,0.5,0.5,8,faster")
        self.assertEqual(lines[2], "ccd,pair/two,0.00725,0.00725,1,1,1,8,same")
        page = (self.out / "comparison.md").read_text()
        self.assertIn("# bbbbbbbbbbbb beside aaaaaaaaaaaa", page)
        self.assertIn("## ccd\n\n`bench_ccd`\n\n| row |", page)
        self.assertIn("| `pair/one` | 2.9 ms | 1.45 ms | 0.500 | 0.500 to 0.500 | 8 | faster |", page)
        self.assertIn("- `ccd`: `broken`: new failed: no memory", page)
        self.assertIn("- `ccd`: `gone`: old only", page)
        self.assertIn("| `ccd` | 2 | 0.707 |", page)  # the geometric mean of 1/2 and 1
        self.assertIn("Machine: Processor, 2 cores. Other work kept up to 0.0 cores busy.\n", page)
        self.assertIn("- Times beside aaaaaaaaaaaa, new over old, mean over all rows of a program: `ccd` 0.707 (1 faster, 1 same).\n", page)
        first = {name: (self.out / name).read_bytes() for name in ("comparison.csv", "comparison.md")}
        self.run_main("--compare", "old", "--draw", "--only", "ccd")
        for name, before in first.items():
            self.assertEqual((self.out / name).read_bytes(), before)

    def test_few_rounds_are_not_judged_and_half_a_round_does_not_count(self):
        self.write_rounds(3)
        self.write(4, "old", {"pair/two": {"real_time": 99.0}})
        self.run_main("--compare", "old", "--draw", "--only", "ccd")
        self.assertIn("ccd,pair/two,0.006,0.006,1,,,3,not judged", (self.out / "comparison.csv").read_text())

    def test_rounds_of_two_revisions_are_refused(self):
        self.write_rounds(2)
        self.write(3, "old", {"pair/two": {"real_time": 1.0}}, git="cccccccccccc")
        self.write(3, "new", {"pair/two": {"real_time": 1.0}})
        status, _, err = self.run_main("--compare", "old", "--draw", "--only", "ccd")
        self.assertEqual(status, 3)
        self.assertIn("cccccccccccc", err)

    def test_rounds_of_two_machines_or_sizes_are_refused(self):
        for told, other in (("on two machines", {"cpu": "Another"}),
                            ("rounds of `bench_ccd` and of `bench_ccd --benchmark_min_time=0.1`;", {"command": "bench_ccd --benchmark_min_time=0.1"})):
            self.write_rounds(2)
            self.write(3, "old", {"pair/two": {"real_time": 1.0}}, **other)
            self.write(3, "new", {"pair/two": {"real_time": 1.0}}, **other)
            status, _, error = self.run_main("--compare", "old", "--draw", "--only", "ccd")
            self.assertEqual(status, 3)
            self.assertIn(told, error)

    def test_quick_rounds_say_that_they_are_not_to_be_quoted(self):
        for side in compare.SIDES:
            self.write(1, side, {"pair/two": {"real_time": 1.0}}, quick=True)
        self.run_main("--compare", "old", "--draw", "--only", "ccd")
        self.assertIn("not to be quoted", (self.out / "comparison.md").read_text())

    def test_nothing_to_compare_is_one_line(self):
        self.out.mkdir()
        status, _, err = self.run_main("--compare", "old", "--draw")
        self.assertEqual((status, err.count("\n")), (3, 1))

    def test_sides_take_turns_at_going_first_and_what_is_there_is_kept(self):
        ran = []
        asked = options.parse(["--compare", "old", "--rounds", "3", "--only", "ccd", "-o", str(self.out)])
        self.write(1, "old", {"pair/two": {"real_time": 1.0}})
        builds = {side: compare.Build(name, Path("/nowhere"), {}) for side, name in BUILDS.items()}
        with mock.patch.object(runs, "run_program", side_effect=lambda program, binaries, target, sizes, facts: ran.append((target.parent.name, target.name))):
            compare.measure(self.out, builds, [BY_NAME["ccd"]], asked, lambda text: None)
        self.assertEqual(ran, [("round_01", "new"), ("round_02", "new"), ("round_02", "old"), ("round_03", "old"), ("round_03", "new")])


class Sizes(unittest.TestCase):
    def command(self, name, *words):
        return " ".join(BY_NAME[name].command(options.parse(list(words)).sizes))

    def test_comparing_takes_its_own_sizes_unless_all_are_asked_for(self):
        compared = self.command("gauss_seidel", "--compare", "old")
        self.assertEqual(compared, "bench_gauss_seidel --benchmark_min_time=0.1 --benchmark_filter=/(1000|10000)(/|$)")
        self.assertEqual(self.command("gauss_seidel", "--compare", "old", "--full"), "bench_gauss_seidel")
        self.assertEqual(self.command("gauss_seidel"), "bench_gauss_seidel")
        quick = "bench_gauss_seidel --benchmark_min_time=0.02 --benchmark_filter=in_cache"
        self.assertEqual(self.command("gauss_seidel", "--quick"), quick)
        self.assertEqual(self.command("gauss_seidel", "--quick", "--compare", "old"), quick)


class Commits(unittest.TestCase):
    def test_a_commit_that_is_none_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            with self.assertRaisesRegex(runs.BenchmarkError, "--compare nothing: no such commit"):
                checkout.commit_of(Path(folder), "nothing")

    def test_words_that_make_no_sense_are_refused(self):
        for words in (["--compare", "a", "--publish"], ["--rounds", "0"], ["--compare"], ["--full"], ["--compare", "a", "--full", "--quick"]):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                options.parse(words)


if __name__ == "__main__":
    unittest.main()
