"""The shell scripts parse, explain themselves, refuse wrong use, and promote copies what it says and nothing else."""

import os
import subprocess
import sys
import tempfile
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
        for script in ("setup", "test", "format", "promote", "benchmarks"):
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

    def test_setup_on_a_complete_system_does_not_call_apt(self):
        complete = run("dpkg-query", "-W", *run(SOURCE / "scripts" / "setup", "--list").stdout.split()).returncode == 0
        if not complete:
            self.skipTest("the required packages are not installed here")
        with tempfile.TemporaryDirectory() as folder:
            called = Path(folder) / "called"
            for name in ("apt-get", "apt-cache", "sudo"):
                stub = Path(folder) / name
                stub.write_text(f"#!/bin/sh\necho {name} >> {called}\nexit 1\n")
                stub.chmod(0o755)
            found = run(SOURCE / "scripts" / "setup", PATH=folder + ":" + os.environ["PATH"])
            self.assertEqual((found.returncode, called.exists()), (0, False))


class Promote(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        self.out = self.root / "out" / "demo"
        self.out.mkdir(parents=True)
        for name in ("summary.csv", "claims.json", "config.toml", "env.json", "runs.csv"):
            (self.out / name).write_text(f"{name}\n")
        (self.out / "env.json").write_text('{"load_at_start": "0.10 0.10 0.10", "machine": {"cores": 2}}')
        self.rows([0.0] * 10)

    def rows(self, waited):
        """runs.csv of timed runs that waited for a processor this share of their time."""
        sys.path.insert(0, str(SOURCE / "scripts"))
        from signorini_report.data import CONTRACT
        row = "e,f.h5,{},4,12,1,4,pgs,,cone,none,1,0,converged,5,1e-7,0,0,0,0,0,0,0,0.001,0.001,1e-6,time,{},{}"
        (self.out / "runs.csv").write_text("\n".join([",".join([*CONTRACT, "protocol", "cpu_share", "waited_share"])] + [
            row.format(place, 1 - share, share) for place, share in enumerate(waited)]) + "\n")

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

    def test_times_of_a_busy_machine_are_refused(self):
        self.rows([0.4] * 2 + [0.0] * 8)
        refused = self.promote("demo", "--yes")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("promote: demo: the machine was busy: 20 % of the timed runs waited", refused.stderr)
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


if __name__ == "__main__":
    sys.exit(unittest.main())
