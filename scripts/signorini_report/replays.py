"""Replays of the recordings that pages lead to, made by `signorini replay` before the pages are: of at most FRAMES frames, within BYTES.

    maker = replays.Maker(replays.find_program(), out)
    maker.make(maker.of_experiment(experiment))     one line on standard error for each that is made or cannot be

First come the frames that rows name, so that a snapshot opens at its own; others fill up, evenly spread. A replay that is newer than its
recording and holds the frames of now is kept. One that this module did not make is the user's: it is kept as long as it is newer."""

import concurrent.futures
import csv
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from signorini_report import neighbours, recorded_frames
from signorini_replay.page import THREE

FRAMES = 40
BYTES = 15_000_000
TRIES = 4          # times that a page which is too large is made again of fewer frames
SECONDS = 900      # of one attempt
MARK = "signorini-report"
SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = SOURCE / "build" / "release" / "experiments" / "signorini"


@dataclasses.dataclass
class Wanted:
    recording: Path
    target: Path
    steps: set  # frames that rows name


def find_program(given=None):
    """The path of `signorini`; None where there is none."""
    for path in (given, os.environ.get("SIGNORINI_PROGRAM"), PROGRAM if PROGRAM.is_file() else None, shutil.which("signorini")):
        if path:
            return Path(path)
    return None


def unavailable(program):
    """Why no replay can be made; empty where all is there."""
    if program is None:
        return "no program 'signorini' is found (build it, or name it with --program)"
    if not THREE.is_dir():
        return "libjs-three is not installed (sudo apt-get install --no-install-recommends libjs-three)"
    return ""


def spread(items, count):
    """At most `count` of them, evenly, with the first and the last."""
    if len(items) <= count:
        return list(items)
    return [items[round(place * (len(items) - 1) / max(1, count - 1))] for place in range(count)]


def chosen(frames, steps, count=FRAMES):
    """Of a recording's frames those that rows name and others between them, `count` at most, in their order."""
    named = spread([frame for frame in frames if frame in steps], count)
    others = spread([frame for frame in frames if frame not in set(named)], count - len(named)) if count > len(named) else []
    return sorted({*named, *others}, key=recorded_frames.number)


def digest_of(frames):
    return hashlib.sha256(" ".join(frames).encode()).hexdigest()[:16]


def is_current(wanted, frames):
    if not wanted.target.is_file() or wanted.target.stat().st_mtime < wanted.recording.stat().st_mtime:
        return False
    mark = re.search(rf'<meta name="{MARK}" content="([0-9a-f]*)">', neighbours.head_of(wanted.target))
    return mark is None or mark[1] == digest_of(frames)


def attempt(program, recording, frames, page):
    """The text of `signorini replay`; the reason where it fails."""
    command = [str(program), "replay", str(recording), "--steps", ",".join(f"{step}.{round}" for step, round in map(recorded_frames.number, frames)), "--time-limit", "5", "-o", str(page), "--force"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"takes longer than {SECONDS} s"
    except OSError as error:
        return f"{program}: {error.strerror}"
    if page.is_file():  # code 1 with a page: a run failed, and the page says which
        return ""
    lines = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
    return lines[-1].removeprefix("signorini: error: ")


def fewer(frames, bytes_made):
    """How many frames to try next, after a page of `bytes_made` (None: it was refused)."""
    share = 0.5 if bytes_made is None else min(0.9, 0.9 * BYTES / bytes_made)
    return max(1, int(share * len(frames)))


def published(page, target, frames):
    text = page.read_text(encoding="utf-8").replace("<head>\n", f'<head>\n<meta name="{MARK}" content="{digest_of(frames)}">\n', 1)
    page.write_text(text, encoding="utf-8")
    os.replace(page, target)


def make_one(program, wanted, frames, count):
    """What is said of it. `count`: frames of the recording; `frames`: those that are wanted."""
    taken, reason = frames, ""
    with tempfile.TemporaryDirectory(prefix=".replay-", dir=wanted.target.parent) as home:
        page = Path(home) / wanted.target.name
        for _ in range(TRIES):
            page.unlink(missing_ok=True)
            reason = attempt(program, wanted.recording, taken, page)
            size = page.stat().st_size if page.is_file() else None
            too_large = size is not None and size > BYTES or size is None and "more than the" in reason
            if not too_large or len(taken) == 1:
                break
            taken = chosen(taken, wanted.steps, fewer(taken, size))
        if size is None or size > BYTES:
            return f"no replay of {wanted.recording}: {reason or f'one frame takes more than {BYTES / 1e6:.0f} MB'}"
        published(page, wanted.target, frames)
    return f"{wanted.target}: {len(taken)} of {count} frames, {size / 1e6:.1f} MB"


def named_steps(folder):
    """{file: frames that rows name} of a result; empty where it cannot be read, which the report says later."""
    found = {}
    for name in ("runs.csv", "follow.csv"):
        try:
            with open(folder / name, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    found.setdefault(row["file"], set()).add(row["step"])
        except (OSError, KeyError, ValueError, csv.Error):
            continue
    return found


class Maker:
    """Makes the replays that pages lead to; says once why it cannot."""

    def __init__(self, program, out):
        self.program, self.out, self.steps, self.told = program, out, None, False

    def of_experiment(self, experiment):
        """[Wanted] beside the recordings, with the frames that any result of OUT names."""
        if self.steps is None:
            self.steps = {}
            for folder in sorted(path.parent for path in self.out.glob("*/runs.csv")):
                for file, own in named_steps(folder).items():
                    self.steps.setdefault(Path(file).name, set()).update(own)
        paths = {path: file for file, path in neighbours.recording_paths(experiment).items() if path.suffix == ".h5"}
        return [Wanted(path, neighbours.replay_of(path, file), self.steps.get(path.name, set())) for path, file in paths.items()]

    def of_tables(self, experiment):
        """[Wanted] of the recordings of tables of runs, in the folder of their page; a replay beside a recording is taken as it is."""
        found = []
        for file, path in neighbours.recording_paths(experiment).items():
            if path.suffix == ".h5" and not neighbours.replay_of(path, file).is_file():
                rows = experiment.runs[experiment.runs["file"] == file]
                found.append(Wanted(path, neighbours.replay_of(path, file, experiment.folder), set(rows["step"])))
        return found

    def make(self, wanted):
        """What is missing or old; several at once."""
        work = []
        for one in wanted:
            frames = recorded_frames.names(one.recording)
            now = chosen(frames, one.steps)
            if now and not is_current(one, now):
                work.append((one, now, len(frames)))
        if not work:
            return
        if reason := unavailable(self.program):
            if not self.told:
                print(f"report: no replays for the 3D links: {reason}", file=sys.stderr)
            self.told = True
            return
        print(f"report: replays of {len(work)} recordings", file=sys.stderr, flush=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for said in pool.map(lambda job: make_one(self.program, *job), work):
                print(f"  {said}", file=sys.stderr, flush=True)
