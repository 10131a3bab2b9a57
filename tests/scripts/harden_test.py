"""scripts/harden on a few calls of each kind: what a failing system leaves behind, and that the judge sees what is wrong."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts"))
from signorini_harden import commands, faults, main  # noqa: E402

PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
SHIM = os.environ.get("SIGNORINI_FAULT_SHIM", "")


@unittest.skipUnless(PROGRAM and SHIM, "SIGNORINI_PROGRAM or SIGNORINI_FAULT_SHIM names nothing")
class Harden(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = Path(self.held.name)

    def run_harden(self, *words):
        return main.main(["--program", PROGRAM, "--shim", SHIM, "--table", str(self.folder / "t.csv"), *words])

    def test_a_few_failing_calls_leave_old_or_new_or_resumable(self):
        self.assertEqual(self.run_harden("--commands", "record,solve_over,export", "--most", "3", "--calls", "write,fsync,rename,open,read,malloc"), 0)
        rows = main.read_table(self.folder / "t.csv")
        self.assertGreater(len(rows), 40)
        self.assertEqual({row["call"] for row in rows}, {"write", "fsync", "rename", "open", "read", "malloc"})

    def test_a_failing_close_is_no_crash_and_an_unfinished_merge_is_made_again(self):
        # a file whose close failed stays in HDF5's tables; a merge that ends before env.json is complete is still a merge
        self.assertEqual(self.run_harden("--commands", "info,merge", "--most", "4", "--calls", "close,rename"), 0)
        self.assertEqual({row["call"] for row in main.read_table(self.folder / "t.csv")}, {"close", "rename"})

    def test_finished_tries_are_not_repeated(self):
        words = ("--commands", "export", "--most", "3", "--calls", "rename,fsync", "--page", str(self.folder / "p.md"))
        self.run_harden(*words)
        before = (self.folder / "t.csv").read_bytes()
        self.run_harden(*words)
        self.assertEqual((self.folder / "t.csv").read_bytes(), before)
        self.assertIn("| `export` |", (self.folder / "p.md").read_text(encoding="utf-8"))

    def test_the_shim_fails_the_call_that_it_counts(self):
        command = next(c for c in commands.COMMANDS if c.name == "export")
        start = self.folder / "start"
        commands.make_inputs(PROGRAM, command, start)
        case = faults.Case(PROGRAM, SHIM, command, start, start)
        count = case.calls("rename", self.folder / "work")
        self.assertGreaterEqual(count, 1)
        done = case.run(self.folder / "work", command.again, CALL="rename", AT=1, ERRNO=28)
        self.assertEqual(done.returncode, 3)
        self.assertIn("No space left on device", done.stderr)


class Judge(unittest.TestCase):
    """Against outcomes that are made up."""

    def judged(self, code=0, err="", files=()):
        with tempfile.TemporaryDirectory() as place:
            folder, start, clean = (Path(place) / name for name in ("work", "start", "clean"))
            for where in (folder, start, clean):
                where.mkdir()
            (start / "in").write_text("input")
            (folder / "in").write_text("input")
            (clean / "out").write_text("new")
            before = faults.digests(("in",), folder)
            for name, text in files:
                (folder / name).write_text(text)
            case = faults.Case("", "", SimpleNamespace(inputs=("in",), outputs=("out",), again=(), grows=""), start, clean)
            case.run = lambda where, words: (where / "out").write_text("new") and SimpleNamespace(returncode=0, stderr="")
            return list(case.judge(folder, SimpleNamespace(returncode=code, stderr=err), before))

    def test_good_outcomes(self):
        self.assertEqual(self.judged(3, "signorini: error: out: writing failed\n"), [])
        self.assertEqual(self.judged(0, "", [("out", "new")]), [])

    def test_bad_outcomes(self):
        for words, part in (((-11, ""), "exit code -11"), ((3, ""), "0 error lines"), ((3, "signorini: error: a\nsignorini: error: b\n"), "2 error lines"),
                            ((1, "signorini: error: filesystem error: x\n"), "'filesystem error'"), ((0, ""), "missing after exit code 0"),
                            ((3, "signorini: error: x\n", [("out", "half")]), "neither the old nor the new"),
                            ((3, "signorini: error: x\n", [("in", "other")]), "an input changed")):
            self.assertTrue(any(part in line for line in self.judged(*words)), (words, self.judged(*words)))

    def test_samples_hold_both_ends(self):
        self.assertEqual(faults.sample(5, 10), [1, 2, 3, 4, 5])
        some = faults.sample(1000, 30)
        self.assertTrue(some[0] == 1 and some[-1] == 1000 and len(some) <= 30)


if __name__ == "__main__":
    unittest.main()
