"""A random story of use in one folder against a model of what must lie there: `scripts/harden --stories SECONDS`.

The model knows four things that grow and may be interrupted, a recording, a table of runs, a campaign in two shards and a dataset, and what is made from them. Every act says what the
program must answer and what must be there afterwards; a story is repeated by its seed."""

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from . import commands, faults

RECORD = ("record", "ball.toml", "-o", "r.h5", "--checkpoint-seconds", "0")
RUN = ("run", "trial.toml", "--out", "out")
SOLVE = ("solve", "r.h5", "--solver", "pgs", "--csv", "s.csv", "--force")
EXPORT = ("export", "r.h5", "--step", "30", "-o", "e.npz", "--force")
REPLAY = ("replay", "r.h5", "--solver", "pgs", "-o", "f.html", "--force")
REPORT, DATASET = commands.REPORT, commands.DATASET
PLAN, MERGE = ("plan", "trial.toml", "-o", "camp"), ("merge", "camp")
SHARDS = ("1/2", "2/2")
TABLE, MERGED, RECORDING = "out/trial/runs.csv", "camp/trial/runs.csv", "r.h5"
PROBLEMS = ("ds/problems.csv", "ds/scenes.csv")
#: Of an act.
ACTS_OF_A_STORY = 30


class Story:
    """States: 'absent', 'partial' (an act was killed), 'whole', and 'damaged' for the recording."""

    def __init__(self, program, clean, folder, seed):
        self.program, self.clean, self.folder = program, clean, folder
        self.dice = random.Random(seed)
        self.recording = self.table = "absent"
        self.planned, self.shards = False, set()
        self.dataset = "absent"
        self.told = []

    def run(self, words, kill=False):
        """The exit code; None where the process was killed before it ended."""
        argv, own = commands.call(self.program, words)
        process = subprocess.Popen(argv, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", env={**os.environ, **own})
        if kill:
            time.sleep(self.dice.uniform(0.0, 0.15 if words[0] not in commands.SCRIPTS else 5.0))
            process.kill()
        self.said = process.communicate(timeout=120)[1]
        return None if process.returncode == -9 else process.returncode

    def play(self):
        """What went wrong first, with all acts until then; empty where nothing did."""
        acts = (self.record, self.record_killed, self.resume, self.force, self.run_table, self.run_killed, self.resume_table, self.solve, self.export,
                self.inform, self.delete_recording, self.delete_table, self.damage, self.plan, self.plan_killed, self.shard, self.shard_killed, self.merge,
                self.merge_killed, self.delete_campaign, self.replay, self.report, self.report_killed, self.make_dataset, self.dataset_killed, self.delete_dataset)
        for _ in range(ACTS_OF_A_STORY):
            act = self.dice.choice(acts)
            campaign = f"{len(self.shards)} shards" if self.planned else "absent"
            self.told.append(f"{act.__name__}[{self.recording},{self.table},{campaign},{self.dataset}]")
            wrong = act() or self.look()
            if wrong:
                return f"{' '.join(self.told)}: {wrong}"
        return ""

    def expect(self, code, *allowed):
        lines = [line for line in self.said.splitlines() if "error:" in line]
        if code not in allowed:
            return f"exit code {code}, not {allowed}: {self.said.strip()[-300:]}"
        if code != 0 and len(lines) != 1:
            return f"exit code {code} with {len(lines)} error lines: {self.said.strip()[-300:]}"
        return ""

    def look(self):
        """What the model knows of the files."""
        here = self.folder / RECORDING
        if self.recording == "whole" and not faults.same(here, self.clean / RECORDING):
            return "the whole recording is another one"
        if self.recording == "absent" and here.exists():
            return "a recording that nobody made"
        table = self.folder / TABLE
        if self.table == "whole" and not faults.same(table, self.clean / TABLE):
            return "the whole table is another one"
        if self.table == "absent" and table.exists():
            return "a table that nobody made"
        return ""

    # --- the recording ---------------------------------------------------------------------------------------------------
    def record(self):
        if self.recording == "absent":
            code = self.run(RECORD)
            self.recording = "whole"
            return self.expect(code, 0)
        before = faults.digests((RECORDING,), self.folder)
        return self.expect(self.run(RECORD), 2, 3) or ("a refused record changed the file" if faults.digests((RECORDING,), self.folder) != before else "")

    def record_killed(self):
        if self.recording != "absent":
            return ""
        code = self.run(RECORD, kill=True)
        self.recording = "whole" if code == 0 else "partial"
        if self.recording == "partial" and not any((self.folder / name).exists() for name in ("r.h5", "r.h5.parts")):
            self.recording = "absent"  # killed before it began, perhaps with the lock taken, which ends with its process
        return "" if code in (None, 0) else f"exit code {code}"

    def resume(self):
        if self.recording == "damaged":
            return self.expect(self.run((*RECORD, "--resume")), 2, 3)
        code = self.run((*RECORD, "--resume"))
        if self.recording == "absent" and code != 0:  # nothing to go on with
            return self.expect(code, 2, 3)
        self.recording = "whole"
        return self.expect(code, 0)

    def force(self):
        code = self.run((*RECORD, "--force"))
        self.recording = "whole"
        return self.expect(code, 0)

    def damage(self):
        path = self.folder / RECORDING
        if self.recording != "whole":
            return ""
        data = bytearray(path.read_bytes())
        for _ in range(20):
            data[self.dice.randrange(len(data))] ^= 1 << self.dice.randrange(8)
        path.write_bytes(bytes(data))
        self.recording = "damaged"
        return ""

    def delete_recording(self):
        for path in self.folder.glob("r.*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.recording = "absent"
        return ""

    # --- what reads it ---------------------------------------------------------------------------------------------------
    def read(self, words, output):
        (self.folder / output).unlink(missing_ok=True)
        code = self.run(words)
        if self.recording == "whole":
            return self.expect(code, 0) or ("" if faults.same(self.folder / output, self.clean / output) else f"{output} is another one")
        if self.recording == "absent":
            return self.expect(code, 2, 3)
        # a partial or damaged file may still have what is asked for; then the answer is the right one
        if code == 0 and self.recording == "damaged" and (self.folder / output).exists() and output == "e.npz":
            return "" if faults.same(self.folder / output, self.clean / output) else "a damaged recording gave another problem, without a word"
        return self.expect(code, 0, 1, 2, 3)

    def solve(self):
        return self.read(SOLVE, "s.csv")

    def export(self):
        return self.read(EXPORT, "e.npz")

    def replay(self):
        return self.read(REPLAY, "f.html")

    def inform(self):
        code = self.run(("info", "r.h5"))
        return self.expect(code, 0) if self.recording == "whole" else self.expect(code, 3) if self.recording == "absent" else self.expect(code, 0, 1, 3)

    # --- the table -------------------------------------------------------------------------------------------------------
    def run_table(self):
        if self.table == "absent":
            code = self.run(RUN)
            self.table = "whole"
            return self.expect(code, 0)
        before = faults.digests(("out/trial",), self.folder)
        wrong = self.expect(self.run(RUN), 2, 3)
        after = faults.digests(("out/trial",), self.folder)
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        return wrong or (f"a refused run changed {', '.join(changed)}" if changed else "")

    def run_killed(self):
        if self.table != "absent":
            return ""
        code = self.run(RUN, kill=True)
        begun = any(path.suffix != ".tmp" for path in (self.folder / TABLE).parent.glob("*"))  # the first file is the experiment's run.toml
        self.table = "whole" if code == 0 else "partial" if begun else "absent"
        return "" if code in (None, 0) else f"exit code {code}"

    def resume_table(self):
        code = self.run((*RUN, "--resume"))
        if self.table == "absent" and code != 0:
            return self.expect(code, 2, 3)
        self.table = "whole"
        return self.expect(code, 0)

    def delete_table(self):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.table = "absent"
        return ""

    def report(self, kill=False):
        """Of what the table has so far; nothing of it changes."""
        before = faults.digests(("out/trial/runs.csv", "out/trial/trace.h5"), self.folder)
        code = self.run(REPORT, kill=kill)
        if faults.digests(("out/trial/runs.csv", "out/trial/trace.h5"), self.folder) != before:
            return "a report changed what it is about"
        if kill and code is None:
            return ""
        allowed = {"whole": (0,), "partial": (0, 1, 2, 3), "absent": (1, 2, 3)}[self.table]
        wrong = self.expect(code, *allowed)
        page = self.folder / "out/report.html"
        return wrong or ("no report after exit code 0" if code == 0 and not page.exists() else "")

    def report_killed(self):
        return self.report(kill=True)

    # --- the dataset -----------------------------------------------------------------------------------------------------
    def make_dataset(self, kill=False):
        code = self.run(DATASET, kill=kill)
        if kill and code is None:
            self.dataset = "partial" if self.dataset != "whole" else "whole"
            return ""
        if code == 2 and self.dataset == "partial" and "is being made" in self.said:  # a program that the killed one started
            return self.expect(code, 2)
        self.dataset = "whole"
        return self.expect(code, 0) or next((f"{name} is another one" for name in PROBLEMS if not faults.same(self.folder / name, self.clean / name)), "")

    def dataset_killed(self):
        return self.make_dataset(kill=True)

    def delete_dataset(self):
        shutil.rmtree(self.folder / "ds", ignore_errors=True)
        self.dataset = "absent"
        return ""

    # --- the campaign ----------------------------------------------------------------------------------------------------
    def plan(self):
        code = self.run(PLAN)
        self.planned = True
        return self.expect(code, 0)

    def plan_killed(self):
        if self.planned:
            return ""
        code = self.run(PLAN, kill=True)
        self.planned = code == 0
        return "" if code in (None, 0) else f"exit code {code}"

    def shard(self, kill=False):
        part = self.dice.choice(SHARDS)
        begun = (self.folder / "camp/plan.toml").exists()  # or a killed `plan` wrote it
        code = self.run(("run", "--plan", "camp", "--shard", part), kill=kill)
        if kill and code is None:
            return ""
        if not self.planned and not (begun and code == 0):
            return self.expect(code, 2, 3)
        self.planned, self.shards = True, self.shards | {part}
        return self.expect(code, 0)

    def shard_killed(self):
        return self.shard(kill=True)

    def merge(self, kill=False):
        code = self.run(MERGE, kill=kill)
        if kill and code is None:
            return ""
        if not self.planned:
            return self.expect(code, 0, 2, 3) if (self.folder / "camp").exists() else self.expect(code, 2, 3)
        if self.shards != set(SHARDS):  # a killed shard may have made all of its groups
            wrong = self.expect(code, 0, 2)
        else:
            wrong = self.expect(code, 0)
        if wrong or code != 0:
            return wrong
        return "" if faults.same(self.folder / MERGED, self.clean / TABLE) else "the merged table is not that of one run"

    def merge_killed(self):
        return self.merge(kill=True)

    def delete_campaign(self):
        shutil.rmtree(self.folder / "camp", ignore_errors=True)
        self.planned, self.shards = False, set()
        return ""


def make_clean(program, folder):
    """What the files look like when nothing goes wrong."""
    commands.make_inputs(program, commands.Command("story", (), (), ()), folder)
    for words in (RECORD, RUN, SOLVE, EXPORT, REPLAY, REPORT, DATASET):
        argv, own = commands.call(program, words)
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **own})
        if done.returncode != 0:
            raise RuntimeError(f"signorini {' '.join(words)}: {done.stderr.strip()}")


def play(program, clean, place, seed):
    folder = Path(place) / "story"
    shutil.rmtree(folder, ignore_errors=True)
    commands.make_inputs(program, commands.Command("story", (), (), ()), folder)
    return Story(program, clean, folder, seed).play()
