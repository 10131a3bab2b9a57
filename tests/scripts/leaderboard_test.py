"""scripts/report --leaderboard: entries are ranked by the rules that the page prints, machine by machine, on all problems of the dataset."""

import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

import make_results  # noqa: E402
from signorini_report import leaderboard, main  # noqa: E402

NAMES = [f"bucket-{100 + 20 * number:06d}" for number in range(7)]  # invented runs are of the first ones
MACHINE = {"cpu": "fast", "instruction_sets": "avx2", "cores": 2, "usable_threads": 2, "caches": ["L1"]}


def report(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main.main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


class Leaderboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="signorini_board_"))
        cls.dataset = cls.root / "dataset"
        cls.dataset.mkdir()
        (cls.dataset / "problems.csv").write_text("name,kind\n" + "".join(f"{name},explicit\n" for name in NAMES))
        cls.one = cls.runs("one", steps=6, laws=("cone", "pyramid"), machine=MACHINE)
        cls.two = cls.runs("two", steps=5, laws=("cone",), machine=MACHINE | {"cpu": "slow"})
        cls.kinds = leaderboard.problem_kinds(cls.dataset)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    @classmethod
    def runs(cls, name, machine, **keys):
        """Invented runs on the files of the dataset."""
        folder = make_results.make(cls.root / name, **keys)
        table = folder / "runs.csv"
        table.write_text(re.sub(r"recordings/bucket.h5,(\d+)", r"problems/bucket-\1.npz,\1", table.read_text()))
        (folder / "env.json").write_text(json.dumps({"machine": machine}))
        return table

    def rows(self, table):
        boards, left = leaderboard.read_boards([table], self.kinds, self.root / "board")
        return leaderboard.times(boards[0].experiment.runs), left

    def test_rows_against_the_rules_are_left_out_and_counted(self):
        rows, left = self.rows(self.one)
        self.assertEqual((set(rows["threads"]), set(rows["law"]), set(rows["protocol"])), ({1}, {"cone"}, {"time"}))
        # 6 snapshots × 6 variants × 2 protocols: with two threads in both laws and 2 region modes; with the pyramid in 3.
        self.assertEqual(dict(left), {"more than one thread": 6 * 6 * 2 * 2 * 2, "another law than the cone": 6 * 6 * 2 * 3})

    def test_other_problems_and_tolerances_do_not_count(self):
        table = self.runs("other", steps=6, laws=("cone",), machine=MACHINE)
        table.write_text(table.read_text().replace("bucket-000100.npz", "mine.npz").replace(",1e-06,", ",1e-05,", 5))
        left = dict(self.rows(table)[1])
        self.assertEqual(left["not a problem of the dataset"], 6 * 2 * 5)
        self.assertNotIn("another tolerance", left)  # those five are of mine.npz
        table.write_text(table.read_text().replace(",1e-06,", ",1e-05,"))
        code, _, err = report("--runs", table, "--leaderboard", self.dataset, "-o", self.root / "none")
        self.assertEqual((code, err.count("\n")), (3, 1), err)
        self.assertIn("another tolerance", err)

    def test_the_second_solve_of_a_step_is_a_problem_of_its_own(self):
        self.assertEqual([leaderboard.problem_name(file) for file in ("rings-000120.2", "a/rings-000120.2.npz", "rings-000120.hdf5", "rings-000120")],
                         ["rings-000120.2", "rings-000120.2", "rings-000120", "rings-000120"])

    def test_ranks_follow_the_profile_and_what_was_not_run_is_not_solved(self):
        rows, _ = self.rows(self.one)
        header, body = leaderboard.ranking(rows, NAMES)
        place = {name: header.index(name) for name in header}
        found = {row[place["entry"]]: row for row in body}
        self.assertEqual(len(body), 18)  # six variants in three region modes
        scores = [float(row[place["score"]]) for row in body]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(found["pgs"][place["solved"]], "6 of 7")
        self.assertEqual(found["pcg fr"][place["solved"]], "5 of 7")
        self.assertEqual(found["pcg fr"][place["not solved"]], "1 iteration limit")
        self.assertEqual(sum(int(row[place["fastest on"]]) for row in body), 6)
        # One entry alone is the fastest wherever it solves: its score is the share that it solves.
        alone = leaderboard.ranking(rows[rows["label"] == "pcg fr"], NAMES)[1]
        self.assertEqual([row[place["score"]] for row in alone], [f"{5 / 7:.3f}"])

    def test_set_up_counts(self):
        rows, _ = self.rows(self.one)
        quick = rows[rows["label"].isin(["pgs", "ca"])]
        best = leaderboard.ranking(quick, NAMES)[1][0][1]
        slow = quick.assign(total_seconds=quick["total_seconds"] + 1e3 * (quick["label"] == best))
        self.assertNotEqual(leaderboard.ranking(slow, NAMES)[1][0][1], best)

    def test_machines_are_not_mixed(self):
        code, told, err = report("--runs", self.one, "--runs", self.two, "--leaderboard", self.dataset, "-o", self.root / "page")
        self.assertEqual(code, 0, err)
        page = (self.root / "page/index.html").read_text()
        self.assertIn("fast; 2 of 2 cores", page)
        self.assertIn("slow; 2 of 2 cores", page)
        first, second = (page.split("<h2>Machine ")[number] for number in (1, 2))
        self.assertIn("6 of 7", first)
        self.assertNotIn("6 of 7", second.split("What each entry solves")[0])
        for number in (1, 2):
            self.assertTrue((self.root / f"page/machine-{number}/index.html").is_file())
        text = (self.root / "page/leaderboard.md").read_text()
        for rule in leaderboard.RULES:
            self.assertIn(rule, page)
            self.assertIn(rule, text)
        for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
            self.assertTrue((self.root / "page" / name).is_file(), name)
        rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| 1 |")]
        self.assertEqual(len(rows), 2 * 1)  # machines × tolerances
        for row in rows:
            self.assertTrue(f">{row[1]}</td>" in page, row[1])

    def test_two_tables_of_one_machine_stand_in_one_ranking(self):
        again = self.runs("again", steps=6, seed=9, laws=("cone",), machine=MACHINE)
        boards, _ = leaderboard.read_boards([self.one, again], self.kinds, self.root / "board")
        self.assertEqual(len(boards), 1)
        entries = {row[1] for row in leaderboard.ranking(leaderboard.times(boards[0].experiment.runs), NAMES)[1]}
        self.assertTrue({"pgs (one)", "pgs (again)"} <= entries, entries)

    def test_tables_without_a_machine_are_not_taken_for_one(self):
        for name in ("bare", "bare2"):
            (self.runs(name, steps=3, laws=("cone",), machine=MACHINE).parent / "env.json").unlink()
        self.assertEqual(len(leaderboard.by_machine([self.root / "bare/runs.csv", self.root / "bare2/runs.csv"])), 2)

    def test_wrong_use_is_one_line(self):
        code, _, err = report("--runs", self.one, "--leaderboard", self.root / "absent")
        self.assertEqual((code, err.count("\n")), (3, 1), err)
        self.assertIn("no table of a dataset", err)
        self.assertEqual(report("--leaderboard", self.dataset)[0], 2)


if __name__ == "__main__":
    unittest.main()
