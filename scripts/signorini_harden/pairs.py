"""Two commands at once in one folder, one of them or both killed at a random moment, and what must hold afterwards."""

import itertools
import os
import random
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import commands, faults

#: A refusal, such as that of a file that another process writes, ends with 2.
CODES = (*faults.CODES, 2)
#: Seconds that a command may take beside another one.
PATIENCE = 120


def all_pairs(names):
    known = {command.name: command for command in (*commands.COMMANDS, *commands.SCRIPT_COMMANDS)}
    return [(known[a], known[b]) for a, b in itertools.combinations_with_replacement(names, 2)]


@dataclass
class Pair:
    """Both commands, the folder that they meet in, and where it ends when they come one after the other, in either order, or where one or both were
    refused or killed before they did anything."""
    program: str
    first: object
    second: object
    place: Path
    ends: list = field(default_factory=list)
    seconds: float = 0.1

    def __post_init__(self):
        self.start, self.folder = self.place / "start", self.place / "work"
        shutil.rmtree(self.place, ignore_errors=True)
        commands.make_inputs(self.program, self.first, self.start)
        for words in self.second.before:
            if words not in self.first.before:
                self.run(self.start, words)
        for number, order in enumerate(((self.first, self.second), (self.second, self.first), (self.first,), (self.second,), ())):
            end = self.place / f"end{number}"
            shutil.copytree(self.start, end)
            began = time.monotonic()
            for command in order:
                self.run(end, command.words)
            self.seconds = max(self.seconds, (time.monotonic() - began) / max(1, len(order)))
            self.ends.append((end, self.go_on(end)))

    def run(self, folder, words):
        argv, own = commands.call(self.program, words)
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False, env={**os.environ, **own})

    def go_on(self, folder):
        """Exit codes of what finishes the work of both."""
        return [self.run(folder, command.again).returncode for command in (self.first, self.second)]

    def outputs(self):
        return list(dict.fromkeys((*self.first.outputs, *self.second.outputs)))

    def inputs(self):
        """Of both, without what either makes."""
        made = self.outputs()
        return [name for name in dict.fromkeys((*self.first.inputs, *self.second.inputs)) if not any(m == name or m.startswith(name + "/") for m in made)
                and name != "camp/parts"]

    def meet(self, seed):
        """What is wrong after one meeting; the seed says when the second begins and which of them is killed when."""
        dice = random.Random(f"{self.first.name} {self.second.name} {seed}")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.start, self.folder)
        before = faults.digests(self.inputs(), self.folder)
        lag, killed = dice.uniform(0.0, self.seconds), dice.choice([(), (0,), (1,), (0, 1)])
        moments = {number: dice.uniform(0.0, 2.0 * self.seconds) for number in killed}
        running = [self.begin(self.first)]
        time.sleep(lag)
        running.append(self.begin(self.second))
        for number, moment in sorted(moments.items(), key=lambda item: item[1]):
            time.sleep(moment / 2)
            running[number].kill()
        return list(self.judge(running, moments, before))

    def begin(self, command):
        argv, own = commands.call(self.program, command.words)
        return subprocess.Popen(argv, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", env={**os.environ, **own})

    def judge(self, running, killed, before):
        for number, process in enumerate(running):
            try:
                said = [line for line in process.communicate(timeout=PATIENCE)[1].splitlines() if "error:" in line]
            except subprocess.TimeoutExpired:
                process.kill()
                yield f"command {number + 1} does not end"
                continue
            code = process.returncode
            if code == -9 and number in killed:
                continue
            if code not in CODES:
                yield f"command {number + 1}: exit code {code}: {' '.join(said)[-300:]}"
            elif code != 0 and (len(said) != 1 or not said[0].startswith((self.first, self.second)[number].says)):
                yield f"command {number + 1}: exit code {code} with {len(said)} error lines"
        if faults.digests(self.inputs(), self.folder) != before:
            yield "an input changed"
        codes = self.go_on(self.folder)
        if not any(codes == end_codes and self.differing(end) is None for end, end_codes in self.ends):
            end, end_codes = self.ends[0]
            yield f"going on ends with {codes} instead of {end_codes}" if codes != end_codes else f"{self.differing(end)} differs from what one after the other makes"

    def differing(self, end):
        for name in self.outputs():
            here, there = self.folder / name, end / name
            if here.exists() != there.exists() or (here.exists() and not faults.same(here, there)):
                return name
        return None
