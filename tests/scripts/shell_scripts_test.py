"""The shell scripts parse, explain themselves, refuse wrong use, and promote copies what it says and nothing else."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SCRIPTS = [path for path in sorted((SOURCE / "scripts").iterdir()) if path.is_file()
           and path.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash")] + [SOURCE / ".ci" / "run"]


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


class Scripts(unittest.TestCase):
    def test_every_shell_script_parses_and_is_executable(self):
        self.assertGreaterEqual(len(SCRIPTS), 5)
        for script in SCRIPTS:
            self.assertEqual(run("bash", "-n", script).returncode, 0, script)
            self.assertTrue(os.access(script, os.X_OK), script)

    def test_unknown_arguments_are_usage_errors(self):
        for script in ("setup", "test", "promote", "benchmarks"):
            self.assertEqual(run(SOURCE / "scripts" / script, "--bogus").returncode, 2, script)

    def test_benchmarks_explains_itself_and_knows_its_programs(self):
        text = run(SOURCE / "scripts" / "benchmarks", "--help").stdout
        sources = {path.stem.removeprefix("bench_") for path in (SOURCE / "experiments" / "bench").glob("bench_*.cpp")}
        for name in sources:
            self.assertIn(name, text)  # none is forgotten when one is added
        refused = run(SOURCE / "scripts" / "benchmarks", "--only", "nothing")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("detection", refused.stderr)

    def test_setup_lists_packages_and_the_tests_need_more(self):
        program = run(SOURCE / "scripts" / "setup", "--list").stdout.split()
        tests = run(SOURCE / "scripts" / "setup", "--list", "--tests").stdout.split()
        self.assertIn("libtbb-dev", program)
        self.assertGreater(set(tests), set(program))

    def test_setup_on_a_complete_system_is_quick(self):
        complete = run("dpkg-query", "-W", *run(SOURCE / "scripts" / "setup", "--list").stdout.split()).returncode == 0
        if not complete:
            self.skipTest("the required packages are not installed here")
        started = time.monotonic()
        self.assertEqual(run(SOURCE / "scripts" / "setup").returncode, 0)
        self.assertLess(time.monotonic() - started, 5.0)  # 0.05 s measured on an idle machine

    def test_readme_says_what_the_reference_results_hold(self):
        checked = run(SOURCE / "scripts" / "readme_tables", "--check")
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        self.assertEqual(run(SOURCE / "scripts" / "readme_tables", "--bogus").returncode, 2)


class Promote(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        self.out = self.root / "out" / "demo"
        self.out.mkdir(parents=True)
        for name in ("summary.csv", "claims.json", "config.toml", "env.json", "runs.csv"):
            (self.out / name).write_text(f"{name}\n")

    def tearDown(self):
        self.directory.cleanup()

    def promote(self, *arguments):
        return run(SOURCE / "scripts" / "promote", *arguments, SIGNORINI_RESULTS=str(self.root))

    def test_nothing_is_copied_before_a_person_says_yes(self):
        self.assertEqual(self.promote("demo").returncode, 0)
        self.assertFalse((self.root / "reference").exists())
        self.assertEqual(self.promote("demo", "--yes").returncode, 0)
        self.assertEqual({path.name for path in (self.root / "reference" / "demo").iterdir()},
                         {"summary.csv", "claims.json", "config.toml", "env.json"})

    def test_large_absent_and_foreign_files_are_refused(self):
        (self.out / "runs.csv").write_bytes(b"x" * 1_000_001)
        self.assertEqual(self.promote("demo", "runs.csv", "--yes").returncode, 1)
        self.assertEqual(self.promote("demo", "absent.csv", "--yes").returncode, 3)
        self.assertEqual(self.promote("demo", "../demo/env.json", "--yes").returncode, 2)
        self.assertEqual(self.promote("../out", "--yes").returncode, 2)
        self.assertFalse((self.root / "reference").exists())


if __name__ == "__main__":
    sys.exit(unittest.main())
