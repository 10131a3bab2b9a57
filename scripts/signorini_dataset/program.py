"""Runs signorini and measures what that takes."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

INHERITED = []  # descriptors that every program keeps open (folder_lock)
STOPPING = threading.Event()  # set: every program that was started is told to end, and no other one starts


class Failed(Exception):
    """signorini ended with an error; the text is its last line, without folders."""


class EndedFromOutside(Exception):
    """Someone ended signorini, by Ctrl-C or `kill`: this says nothing about what it was asked, and must not be noted as its answer."""


INTERRUPTED = 130
ASKED_TO_END = {INTERRUPTED, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP}


class Stopped(BaseException):
    """Ends a thread whose program was stopped: no failure of that program."""


class Run:
    def __init__(self, out, code, cpu, peak):
        self.out, self.code, self.cpu, self.peak = out, code, cpu, peak  # s, bytes


def resident_peak(pid):
    """Largest resident memory of a process so far, bytes. (What wait4 reports counts the interpreter that started it.)"""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            return next((1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def stop():
    """Ends the programs of all threads; `run` raises Stopped there."""
    STOPPING.set()


def watch(pid, may_stop=True):
    """Waits for the process, looking 50 times a second at its memory: (status, resources, peak in bytes)."""
    peak = 0
    while True:
        if may_stop and STOPPING.is_set():
            raise Stopped
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage, peak
        peak = max(peak, resident_peak(pid))
        time.sleep(0.02)


def run(program, *words, may_end_with=(0,)):
    """Starts the program and waits; its stderr goes to the terminal's log unless it fails."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(program), *map(str, words)], stdout=out, stderr=err, stdin=subprocess.DEVNULL, pass_fds=INHERITED)
        try:
            status, usage, peak = watch(process.pid)
        except BaseException as error:
            process.terminate()
            status, usage, error.peak = watch(process.pid, may_stop=False)
            process.returncode, error.cpu = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
            raise
        process.returncode = code = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if code in ASKED_TO_END:
            raise EndedFromOutside("signorini was ended from outside; the same command goes on from here")
        if code not in may_end_with:
            lines = [line for line in err.read().splitlines() if line.strip()]
            raise Failed(lines[-1].removeprefix("signorini: error: ") if lines else f"ended with code {code}")
        return Run(out.read(), code, usage.ru_utime + usage.ru_stime, peak)


def read_json(program, *words, may_end_with=(0,)):
    return json.loads(run(program, "--json", *words, may_end_with=may_end_with).out)


def say(text):
    print(text, file=sys.stderr, flush=True)
