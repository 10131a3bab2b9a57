"""The shell scripts parse, explain themselves, and refuse wrong use."""

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
        for script in ("setup", "test", "format", "reference", "report", "migrate_experiment", "benchmarks", "docs"):
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


if __name__ == "__main__":
    sys.exit(unittest.main())
