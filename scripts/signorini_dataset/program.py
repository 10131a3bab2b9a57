"""Runs signorini and measures what it took."""

import json
import os
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    """signorini ended with an error; the text is its last line, without folders."""


class Run:
    def __init__(self, out, code, seconds, peak):
        self.out, self.code, self.seconds, self.peak = out, code, seconds, peak  # peak in bytes


def run(program, *words, may_end_with=(0,)):
    """Starts the program and waits; its stderr goes to the terminal's log unless it fails."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started = time.monotonic()
        process = subprocess.Popen([str(program), *map(str, words)], stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        process.returncode = code = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - started
        out.seek(0)
        err.seek(0)
        if code not in may_end_with:
            lines = [line for line in err.read().splitlines() if line.strip()]
            raise Failed(lines[-1].removeprefix("signorini: error: ") if lines else f"ended with code {code}")
        return Run(out.read(), code, seconds, usage.ru_maxrss * 1024)


def read_json(program, *words, may_end_with=(0,)):
    return json.loads(run(program, "--json", *words, may_end_with=may_end_with).out)


def say(text):
    print(text, file=sys.stderr, flush=True)
