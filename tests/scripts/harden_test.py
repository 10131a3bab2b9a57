"""scripts/harden on a few calls of each kind: what a failing system leaves behind, and that the judge sees what is wrong."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock
from pathlib import Path
from types import SimpleNamespace

import h5py

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]
from signorini_harden import commands, damaged, faults, main, memcheck, page, pairs, recording_tree, results, soak, stories, suite  # noqa: E402
from slow import slow  # noqa: E402

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
        rows = results.read_table(self.folder / "t.csv")
        self.assertGreater(len(rows), 40)
        self.assertEqual({row["call"] for row in rows}, {"write", "fsync", "rename", "open", "read", "malloc"})

    def test_a_failing_close_is_no_crash_and_an_unfinished_merge_is_made_again(self):
        # a file whose close failed stays in HDF5's tables; a merge that ends before env.json is complete is still a merge
        self.assertEqual(self.run_harden("--commands", "info,merge", "--most", "4", "--calls", "close,rename"), 0)
        self.assertEqual({row["call"] for row in results.read_table(self.folder / "t.csv")}, {"close", "rename"})

    def try_memory(self, name, first, last, tries):
        """Allocations between two shares of all of a command, evenly."""
        command = next(c for c in commands.COMMANDS if c.name == name)
        start, clean = self.folder / name, self.folder / f"{name}_clean"
        commands.make_inputs(PROGRAM, command, start)
        case = faults.Case(PROGRAM, SHIM, command, start, clean)
        count = case.calls("malloc", clean)
        for place in range(tries):
            number = round(count * (first + (last - first) * place / (tries - 1)))
            self.assertEqual(case.try_fault(self.folder / "work", "malloc", number, 12), [], (name, number))

    def test_memory_that_runs_out_inside_hdf5_ends_with_a_documented_code(self):
        # HDF5 1.10 overflows the stack where errors cannot be reported yet, calls exit(-1) where an identifier cannot be registered, and reads and
        # frees memory that it did not get
        self.try_memory("export", 0.478, 0.5, 6)  # while the library sets itself up
        self.try_memory("info", 0.49, 0.51, 6)
        self.try_memory("export_vtk", 0.53, 0.58, 24)  # a file is opened and read

    def test_memory_that_runs_out_where_nothing_may_be_thrown_ends_with_a_documented_code(self):
        self.try_memory("solve", 0.9945, 1.0, 24)  # destructors of JSON values allocate
        self.try_memory("export_vtk", 0.988, 1.0, 24)  # so do functions of std::filesystem that take an error code

    def test_no_failing_read_leaves_wrong_provenance(self):
        self.assertEqual(self.run_harden("--commands", "run", "--most", "400", "--calls", "read"), 0)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_memcheck_finds_nothing_in_a_command_and_a_read_of_nothing_in_another_program(self):
        info = next(one for one in memcheck.samples() if one.name == "info")
        self.assertEqual(memcheck.check(PROGRAM, info, self.folder / "info"), "")
        source = "int main(int n, char**) { int* p = new int[4]; int q = p[n]; delete[] p; return q == 5 ? 1 : 0; }"
        wrong = self.folder / "wrong"
        subprocess.run(["g++", "-O0", "-g", "-x", "c++", "-", "-o", wrong], input=source, text=True, check=True)
        self.assertIn("uninitialised", memcheck.check(str(wrong), memcheck.Sample("wrong", ()), self.folder / "wrong_run"))

    def test_finished_tries_are_not_repeated(self):
        words = ("--commands", "export", "--most", "3", "--calls", "rename,fsync", "--page", str(self.folder / "p.md"))
        self.run_harden(*words)
        before = (self.folder / "t.csv").read_bytes()
        self.run_harden(*words)
        self.assertEqual((self.folder / "t.csv").read_bytes(), before)
        self.assertIn("| `export` |", (self.folder / "p.md").read_text(encoding="utf-8"))

    def test_a_section_without_a_table_stays_on_the_page(self):
        path = self.folder / "p.md"
        path.write_text("# Hardening\n\n## Fuzzing\n\nA thousand executions.\n\n## Random stories\n\nOld.\n", encoding="utf-8")
        (self.folder / "told.csv").write_text("seed,wrong\n0,\n1,torn\n", encoding="utf-8")
        nothing = self.folder / "nothing.csv"
        page.write(SimpleNamespace(page=path, told=self.folder / "told.csv", table=nothing, meetings=nothing, read=nothing, fuzzed=nothing, checked=nothing,
                                   soaked=nothing, tested=nothing))
        text = path.read_text(encoding="utf-8")
        self.assertIn("## Fuzzing\n\nA thousand executions.\n\n## Random stories\n", text)
        self.assertNotIn("Old.", text)
        self.assertIn(f"2 stories of {stories.ACTS_OF_A_STORY} acts, 1 wrong", text)
        self.assertIn("- seed 1: torn", text)

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


class Suite(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(small CXX)\nenable_testing()\n"
                                                    "add_executable(sums sums.cpp)\nadd_test(NAME sums.right COMMAND sums 1)\n"
                                                    "add_test(NAME sums.over COMMAND sums 2147483647)\n", encoding="utf-8")
        (self.folder / "sums.cpp").write_text("#include <cstdlib>\nint main(int, char** words) { return std::atoi(words[1]) + 1 == 5; }\n", encoding="utf-8")
        (self.folder / "CMakePresets.json").write_text(
            '{"version": 6, "configurePresets": [{"name": "asan", "generator": "Ninja", "binaryDir": "${sourceDir}/build", '
            '"cacheVariables": {"CMAKE_CXX_FLAGS": "-O0 -fsanitize=undefined -fno-sanitize-recover=all"}}], '
            '"buildPresets": [{"name": "asan", "configurePreset": "asan"}], '
            '"testPresets": [{"name": "asan", "configurePreset": "asan", "output": {"outputOnFailure": true}}]}', encoding="utf-8")
        root, suite.ROOT = suite.ROOT, self.folder
        self.addCleanup(setattr, suite, "ROOT", root)

    def test_what_a_sanitizer_finds_is_a_row_and_what_ran_is_not_repeated(self):
        table, page_file = self.folder / "s.csv", self.folder / "p.md"
        words = ["--suite", "asan", "--tested", str(table), "--page", str(page_file)]
        self.assertEqual(main.main(words), 1)
        rows = {row["entry"]: row["wrong"] for row in results.read_table(table)}
        self.assertEqual(rows["sums.right"], "")
        self.assertIn("signed integer overflow", rows["sums.over"])
        before = table.read_bytes()
        self.assertEqual(main.main(words), 1)
        self.assertEqual(table.read_bytes(), before)
        text = page_file.read_text(encoding="utf-8")
        self.assertRegex(text, r"\| `asan` \| addresses and undefined behaviour \| 2 \| [0-9]+ \| 1 \|")
        self.assertIn("- `asan`, sums.over: ", text)

    def test_an_unknown_preset_is_named(self):
        with self.assertRaises(SystemExit) as ended:
            main.main(["--suite", "asan,msan"])
        self.assertIn("no preset 'msan'", str(ended.exception))


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names nothing")
class Pairs(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    @slow
    def test_slow_two_commands_in_one_folder_lose_nothing(self):
        words = ["--program", PROGRAM, "--shim", PROGRAM, "--meetings", str(self.folder / "m.csv"), "--pairs", "2", "--commands", "record,run,solve"]
        self.assertEqual(main.main([*words, "--page", str(self.folder / "p.md")]), 0)
        rows = results.read_table(self.folder / "m.csv")
        self.assertEqual(len(rows), 12)  # three pairs of two commands and three of a command with itself
        self.assertIn("12 meetings of 6 pairs of 3 commands, 0 wrong", (self.folder / "p.md").read_text(encoding="utf-8"))

    def test_the_judge_sees_what_is_torn(self):
        known = {command.name: command for command in commands.COMMANDS}
        pair = pairs.Pair(PROGRAM, known["export"], known["export"], self.folder / "pair")
        self.assertEqual(pair.meet(1), [])
        for end, _ in pair.ends[1:]:
            (end / "e.hdf5").unlink()
        (pair.ends[0][0] / "e.hdf5").write_bytes(b"torn")
        self.assertEqual(pair.meet(1), ["e.hdf5 differs from what one after the other makes"])
        (pair.start / "p.npz").write_bytes(b"no archive")
        self.assertTrue(any(text.startswith("going on ends with") for text in pair.meet(1)))


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names nothing")
class Stories(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        stories.make_clean(PROGRAM, self.folder / "clean")

    @slow
    def test_slow_a_story_ends_well(self):
        self.assertEqual(stories.play(PROGRAM, self.folder / "clean", self.folder, 3), "")

    def test_the_model_sees_what_is_wrong(self):
        (self.folder / "clean/r.h5").write_bytes(b"another one")
        story = stories.Story(PROGRAM, self.folder / "clean", self.folder / "story", 1)
        commands.make_inputs(PROGRAM, commands.Command("story", (), (), ()), story.folder)
        self.assertEqual(story.record() or story.look(), "the whole recording is another one")
        story.delete_recording()
        story.recording = "whole"
        self.assertIn("exit code 3, not (0,)", story.inform())


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names nothing")
class Damaged(unittest.TestCase):
    def test_wrong_files_are_refused_or_read_and_the_same_in_every_run(self):
        with tempfile.TemporaryDirectory() as place:
            words = ["--program", PROGRAM, "--shim", PROGRAM, "--read", f"{place}/d.csv", "--damaged"]
            self.assertEqual(main.main([*words, "70", "--page", f"{place}/p.md"]), 0)
            rows = results.read_table(Path(place) / "d.csv")
            self.assertEqual({row["kind"] for row in rows}, set(damaged.KINDS))
            self.assertIn("70 files (", (Path(place) / "p.md").read_text(encoding="utf-8"))
            bases, folders = Path(place) / "bases", [Path(place) / name for name in "ab"]
            damaged.make_bases(PROGRAM, bases)
            for folder in folders:
                folder.mkdir()
            for number in range(12):
                made = [damaged.make(number, bases, folder)[1] for folder in folders]
                self.assertEqual(*([path.read_bytes() for path in sorted(one.rglob("*")) if path.is_file()] if one.is_dir() else one.read_bytes() for one in made))

    def test_checksums_of_changed_recordings_are_those_that_the_program_writes(self):
        with tempfile.TemporaryDirectory() as place:
            bases = Path(place) / "bases"
            damaged.make_bases(PROGRAM, bases)
            with h5py.File(bases / "r.h5") as file:
                for name in recording_tree.checked_groups(file):
                    attributes = recording_tree.attributes_of(file[name])
                    self.assertEqual(recording_tree.checksum(attributes, recording_tree.arrays_of(file[name])), attributes["xxh3"])
            for suffix in ("msh", "vtk", "obj", "ply"):
                self.assertEqual(damaged.judge(PROGRAM, bases, "mesh", bases / f"stone_{suffix}"), "")
                self.assertTrue((bases / f"made_stone_{suffix}.h5").exists(), suffix)

    def test_the_judge_sees_a_crash(self):
        with tempfile.TemporaryDirectory() as place:
            program = Path(place) / "crash"
            program.write_text("#!/bin/sh\nkill -SEGV $$\n", encoding="utf-8")
            program.chmod(0o755)
            self.assertIn("exit code -11", damaged.judge(str(program), place, "npz", Path("x.npz")))


class Soak(unittest.TestCase):
    def watched(self, code, seconds):
        with tempfile.TemporaryDirectory() as place:
            return soak.watch([sys.executable, "-c", code], Path(place), time.monotonic() + seconds)

    def test_a_process_that_grows_is_told_from_one_that_does_not(self):
        flat = [100_000] * 200
        leaking = [100_000 + 200 * number for number in range(200)]
        self.assertEqual(list(soak.growing(flat, [7] * 200, soak.ROOM_KB)), [])
        self.assertEqual(list(soak.growing([50_000] * 20 + flat, [5] * 20 + [7] * 200, soak.ROOM_KB)), [])  # set-up
        self.assertIn("memory grows", "".join(soak.growing(leaking, [7] * 200, soak.ROOM_KB)))
        self.assertIn("open files grow", "".join(soak.growing(flat, list(range(200)), soak.ROOM_KB)))
        self.assertEqual(list(soak.grown(soak.Life([100], [7]), soak.Life([100], [7]))), [])
        self.assertEqual(len(list(soak.grown(soak.Life([100_000], [8]), soak.Life([50_000], [7])))), 2)
        # open for a moment: in one sample of the later round, in none of the first
        self.assertEqual(list(soak.grown(soak.Life([100] * 5, [5, 5, 6, 5, 5]), soak.Life([100] * 5, [5] * 5))), [])

    def test_rounds_of_few_samples_are_not_compared(self):
        """The first sample of a short process may be of one that has only begun to load the program: 4 kB."""
        lives = [soak.Life([size] * samples, [4] * samples, 1.0, 0) for size, samples in ((4, 1), (23_616, 4), (23_616, 12), (90_000, 12))]
        rounds = soak.Soak.__new__(soak.Soak)
        rounds.program, rounds.folder, rounds.environment, rounds.first, rounds.results = "", Path(), {}, {}, mock.Mock()
        with mock.patch.object(soak, "watch", side_effect=lives):
            for _ in lives:
                rounds.turn(("record", "stone"), "record stone", 0.0)
        told = [call.args[1] for call in rounds.results.add.call_args_list]
        self.assertEqual(told[:3], ["", "", ""])
        self.assertIn("memory of 90000 kB, in the first round 23616", told[3])

    def test_memory_and_files_of_a_process_are_read_while_it_lives(self):
        grows = "import time\nheld, files = [], []\nfor _ in range(9):\n held.append(bytearray(8 << 20)); files.append(open('/dev/null')); time.sleep(0.15)"
        life = self.watched(grows + "\ntime.sleep(1.5)", 30)
        self.assertEqual(life.code, 0)
        # Of 72 MB and 9 files, with samples at any moment: the last one may see a process that is being taken down.
        self.assertGreater(max(life.memory), min(life.memory) + 20_000)
        self.assertGreater(max(life.files), min(life.files) + 2)
        ended = self.watched("import time; time.sleep(60)", 1)
        self.assertTrue(ended.code is None and ended.seconds < 30)


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
            case = faults.Case("", "", SimpleNamespace(inputs=("in",), outputs=("out",), again=(), grows="", says="signorini: error: "), start, clean)
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
