"""The whole test suite under sanitizers: `scripts/harden --suite asan,tsan`.

A preset is built first; then every entry of its ctest runs once. What is wrong: an entry that fails, with the first lines that say why."""

import json
import re
import subprocess
import sys

from .commands import ROOT

COLUMNS = ("preset", "entry", "seconds", "wrong")
PRESETS = {"asan": "addresses and undefined behaviour", "tsan": "threads"}
TELLING = re.compile(r"ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer|SUMMARY: |: Failure$|AssertionError|\*\*\*(Timeout|Failed|Exception)|^#0 ")


def asked(text):
    """The presets that --suite names."""
    names = text.split(",")
    unknown = sorted(set(names) - set(PRESETS))
    if unknown:
        sys.exit(f"harden: --suite: no preset '{unknown[0]}' ({', '.join(PRESETS)})")
    return names


def build(preset):
    if preset == "tsan":  # with a oneTBB that is not reported as full of races
        subprocess.run([ROOT / "scripts" / "build_tbb_tsan"], check=True)
    for step in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
        if subprocess.run(step, cwd=ROOT, check=False, stdout=sys.stderr).returncode != 0:
            sys.exit(f"harden: {' '.join(step)} failed")


def entries(preset):
    listed = subprocess.run(["ctest", "--preset", preset, "-N", "--show-only=json-v1"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [test["name"] for test in json.loads(listed.stdout)["tests"]]


def telling_lines(output):
    """What was wrong, in at most 600 characters: lines that sanitizers and test programs write, else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = [line for line in lines if TELLING.search(line)]
    return " | ".join((found or lines[-1:])[:6])[:600]


def check(preset, entry):
    """What was wrong, or ""."""
    done = subprocess.run(["ctest", "--preset", preset, "-R", f"^{re.escape(entry)}$"], cwd=ROOT, check=False, capture_output=True, text=True, errors="replace")
    return "" if done.returncode == 0 else telling_lines(done.stdout + done.stderr) or f"ctest ended with {done.returncode}"
