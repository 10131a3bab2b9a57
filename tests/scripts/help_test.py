"""Every script explains itself: its --help fits a terminal of 80 columns and names the options that the script takes."""

import functools
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SCRIPTS = [path for path in sorted((SOURCE / "scripts").iterdir()) if path.is_file() and os.access(path, os.X_OK)] + [SOURCE / ".ci" / "run"]
COLUMNS = 80
# Shell scripts print their header comment as help; where their options are read by argparse as well.
READ_BY = {"benchmarks": "signorini_benchmarks/options.py", "compare_siconos": "siconos_rows.py", "convert_mesh": "mesh_conversion.py",
           "docs": "signorini_site/main.py", "harden": "signorini_harden/main.py", "make_dataset": "signorini_dataset/options.py"}


def is_shell(script):
    return script.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash")


@functools.cache
def help_of(script):
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "HOME": "/home/user", "XDG_CACHE_HOME": ""}  # defaults may name the home
    done = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=120, env=environment, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else ""


def options_of(script):
    """Options that a shell script takes, each as the list of its names: branches of a `case`, arguments of argparse."""
    branches = re.findall(r"^ *(-[-\w |=*.]*)\)", script.read_text(encoding="utf-8"), re.M)
    options = [re.findall(r"(?:^|\| )(-[\w-]+)(?= |$)", branch) for branch in branches]
    if script.name in READ_BY:
        text = (SOURCE / "scripts" / READ_BY[script.name]).read_text(encoding="utf-8")
        calls = re.findall(r'add_argument\(((?:"-[\w-]+"(?:, )?)+)(.*)', text)
        options += [re.findall(r'"(-[\w-]+)"', names) for names, rest in calls if "SUPPRESS" not in rest]
    return [names for names in options if names and "--help" not in names and names != ["--"]]


class Help(unittest.TestCase):
    def test_every_help_fits_the_terminal(self):
        self.assertGreater(len(SCRIPTS), 20)
        for script in SCRIPTS:
            with self.subTest(script.name):
                # A shell script that does not know the word would start its work.
                self.assertIn("--help", script.read_text(encoding="utf-8") if is_shell(script) else "--help", "takes no --help")
                text = help_of(script)
                self.assertTrue(text.strip(), "no help")
                wide = [f"{script.relative_to(SOURCE)}, line {number}: {len(line)} columns: {line}"
                        for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]
                self.assertEqual(wide, [])

    def test_help_of_shell_scripts_names_every_option(self):
        found = 0
        for script in filter(is_shell, SCRIPTS):
            text = help_of(script)
            for names in options_of(script):
                found += 1
                shown = any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in names)
                self.assertTrue(shown, f"{script.relative_to(SOURCE)} --help does not name {' or '.join(names)}")
        self.assertGreater(found, 50)


if __name__ == "__main__":
    sys.exit(unittest.main())
