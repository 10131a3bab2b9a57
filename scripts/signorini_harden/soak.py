"""Long runs with memory and open files watched: `scripts/harden --soak SECONDS`.

A third of the time each, over and over: a long recording of a body at rest, whose steps are all alike; recordings of all scenes; `reproduce all`.
/proc/PID/status and /proc/PID/fd are read five times a second.

Flat is judged twice. Within a process of at least `JUDGED` samples, the last tenth is held against the tenth after the middle: memory may be
higher by `SHARE` and `ROOM_KB`, open files not at all (medians). Memory of scenes whose contacts still become more grows with them, so that is
judged only where the steps are alike. Between rounds of at least `COMPARED` samples, the highest memory of a command and its median of open files
are held against those of its first such round, with the same allowance."""

import itertools
import os
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import commands

PERIOD = 0.2   # s between samples
JUDGED = 40    # samples
COMPARED = 10  # samples; the first one may be of a process that has only begun to load the program
SHARE = 0.05
ROOM_KB = 4096
#: Every step keeps two rows of statistics until the end (0.4 kB measured), and a checkpoint copies all of them for a moment.
KB_OF_A_STEP = 1.0
COLUMNS = ("began", "command", "seconds", "samples", "middle_kb", "end_kb", "peak_kb", "files", "wrong")
#: As many steps as a scene may have, of a mesh so fine that they take half an hour.
REST = ("record", "ball.toml", "-o", "rest.h5", "--force", "--set", "time.duration_s=499", "--set", "time.record_every=1000000",
        "--set", "bodies.balls.level=3", "--set", "materials.soft.young_modulus_pa=2e4")


@dataclass
class Life:
    """What a process used while it lived, and how it ended (None: with the time)."""
    memory: list = field(default_factory=list)  # kB
    files: list = field(default_factory=list)
    seconds: float = 0.0
    code: int | None = None
    said: str = ""


def sample(pid, life):
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        files = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # it has ended
        return
    memory = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    if memory:
        life.memory.append(int(memory[0]))
        life.files.append(files)


def watch(argv, folder, end, environment=None):
    """A process from its start to its end, or to the time `end`, where SIGTERM ends it."""
    life, began = Life(), time.monotonic()
    with open(folder / "said", "w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        while process.poll() is None and time.monotonic() < end:
            sample(process.pid, life)
            time.sleep(PERIOD)
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=120)
        else:
            life.code = process.returncode
        said.seek(0)
        life.said = said.read()
    life.seconds = time.monotonic() - began
    return life


def middle_and_end(values):
    """Medians of the tenth after the middle and of the last one; the same number twice of few values."""
    tenth, half = max(1, len(values) // 10), len(values) // 2
    return statistics.median(values[half:half + tenth]), statistics.median(values[-tenth:])


def growing(memory, files, allowed_kb):
    """What became more within a process; empty where nothing did."""
    if len(memory) < JUDGED:
        return
    before, after = middle_and_end(memory)
    if after > (1.0 + SHARE) * before + allowed_kb:
        yield f"memory grows from {before:.0f} to {after:.0f} kB"
    before, after = middle_and_end(files)
    if after > before:
        yield f"open files grow from {before:.0f} to {after:.0f}"


def grown(life, first):
    """What a later round of the same command used more of."""
    if max(life.memory, default=0) > (1.0 + SHARE) * max(first.memory, default=0) + ROOM_KB:
        yield f"memory of {max(life.memory)} kB, in the first round {max(first.memory, default=0)}"
    now, then = (statistics.median(one.files or [0]) for one in (life, first))
    if now > then:  # a file that is open for a moment is in a sample of one round and not of another
        yield f"{now:.0f} open files, in the first round {then:.0f}"


class Soak:
    def __init__(self, program, folder, results):
        self.program, self.folder, self.results, self.first = program, folder, results, {}
        commands.make_inputs(program, commands.Command("soak", (), (), ()), folder)
        self.environment = {"SIGNORINI_CONFIGS": str(commands.ROOT / "configs"), **os.environ}  # of the program, where the user names them

    def turn(self, words, name, end, alike_steps=False):
        """One process; its row."""
        began = time.strftime("%Y-%m-%dT%H:%M:%S")
        life = watch([self.program, *words], self.folder, end, self.environment)
        wrong = [] if life.code in (None, 0) else [f"exit code {life.code}: {life.said.strip()[-300:]}"]
        if alike_steps:
            wrong += growing(life.memory, life.files, ROOM_KB + KB_OF_A_STEP * self.steps_after_middle())
        if life.code == 0 and len(life.memory) >= COMPARED:
            wrong += grown(life, self.first.setdefault(name, life))
        middle, last = middle_and_end(life.memory) if life.memory else (0, 0)
        self.results.add((began, name, f"{life.seconds:.1f}", len(life.memory), f"{middle:.0f}", f"{last:.0f}", max(life.memory, default=0), max(life.files, default=0)),
                         "; ".join(wrong), name)

    def steps_after_middle(self):
        """Of the recording at rest: half of the rows of its statistics."""
        tables = [self.folder / name for name in ("rest.h5.parts/steps.csv", "rest.steps.csv")]  # of an ended one, of a whole one
        table = next((path for path in tables if path.exists()), None)
        if table is None:
            return 0
        with table.open(encoding="utf-8") as file:
            return sum(1 for _ in file) / 2

    def run(self, seconds):
        began = time.monotonic()
        while time.monotonic() < began + seconds / 3:
            self.turn(REST, "record of a body at rest", began + seconds / 3, alike_steps=True)
        scenes = sorted(path.stem for path in (commands.ROOT / "configs/scenes").glob("*.toml"))
        for scene in itertools.cycle(scenes):
            if time.monotonic() > began + 2 * seconds / 3:
                break
            self.turn(("record", scene, "-o", "scene.h5", "--force"), f"record {scene}", began + 2 * seconds / 3)
        while time.monotonic() < began + seconds:
            shutil.rmtree(self.folder / "all", ignore_errors=True)
            self.turn(("reproduce", "all", "--out", "all", "--no-report"), "reproduce all", began + seconds, alike_steps=False)


def run(program, folder, results, seconds):
    """The rows of a soak of so many seconds go to `results`."""
    Soak(program, Path(folder), results).run(seconds)
