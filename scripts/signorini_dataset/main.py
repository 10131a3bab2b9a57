"""From the command line to tables."""

import collections
import contextlib
import dataclasses
import functools
import json
import shutil
import signal

from signorini_dataset import difficulty, folder_lock, gallery, layout, options, parts, problems, provenance, recordings, side_by_side
from signorini_dataset.choice import candidates, choose
from signorini_dataset.program import EndedFromOutside, Failed, say
from signorini_dataset.tables import write_table


@dataclasses.dataclass
class Scene:
    """A recorded scene and the problems that become of it."""

    name: str
    row: dict
    facts: list
    digest: str = ""
    chosen: list = dataclasses.field(default_factory=list)  # snapshots
    made: dict = dataclasses.field(default_factory=dict)    # {step: row and checksums of the problem}

    @property
    def complete(self):
        return len(self.made) == len(self.chosen)


def recorded(asked, name):
    """The scene with the snapshots that are chosen, none of them made into a problem."""
    say(f"{name} ({asked.scenes.index(name) + 1} of {len(asked.scenes)})")
    recording = asked.out / "recordings" / f"{name}.h5"
    row, snapshots, facts = recordings.scene_row(asked, name, recording.parent)
    scene = Scene(name, row, [{"scene": name} | {key: "" if fact[key] is None else fact[key] for key in layout.FACTS[1:]} for fact in facts])
    if not asked.record_only and row["status"] != "failed":
        scene.digest = recordings.scene_digest(asked, name)
        pool = candidates(snapshots, asked.most, asked.contacts, asked.stride)
        difficulty.add(asked, recording, scene.digest, pool)
        scene.chosen = choose(pool, asked.most)
    return scene


def with_problem(asked, scene, snapshot):
    """The scene, with one more of its problems made."""
    folder = asked.out
    recording = folder / "recordings" / f"{scene.name}.h5"
    scene.made[snapshot["step"]] = problems.problem(asked, recording, scene.name, scene.digest, snapshot, folder / "problems")
    return scene


def made_of(scenes):
    """All scenes that are complete, in the order given."""
    made = layout.Made()
    for scene in (scene for scene in scenes if scene.complete):
        of_scene = [scene.made[snapshot["step"]] for snapshot in scene.chosen]
        digests = {file: digest for known in of_scene for file, digest in known["sha256"].items()}
        made.add(scene.row, scene.facts, [known["row"] for known in of_scene], digests)
    return made


def make_all(asked):
    folder, settings, made_by = asked.out, options.settings_of(asked), provenance.text(asked.program)
    for name in ("recordings", "problems"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for left in (folder / "problems").glob(f"{problems.UNFINISHED}*"):  # of a run that was killed
        shutil.rmtree(left)
    scenes, made = {}, layout.Made()
    waiting = collections.deque(functools.partial(recorded, asked, name) for name in asked.scenes)
    with contextlib.closing(side_by_side.results(waiting, asked.jobs)) as results:
        for scene in results:
            if scene.name not in scenes:
                scenes[scene.name] = scene
                waiting.extendleft(functools.partial(with_problem, asked, scene, snapshot) for snapshot in reversed(scene.chosen))
            if scene.complete:  # what is finished is listed even when the next one is interrupted
                made = made_of([scenes[name] for name in asked.scenes if name in scenes])
                write(asked, made, settings, made_by)
    if not asked.record_only:
        say_what_was_made(asked, folder, made)
    return any(row["status"] == "failed" for row in made.scenes)


def write(asked, made, settings, made_by):
    if not asked.record_only:
        layout.write(asked.out, made, settings, made_by)
        return
    write_table(asked.out / "scenes.csv", recordings.FIELDS, made.scenes)
    write_table(asked.out / "facts.csv", layout.FACTS, made.facts)


def say_what_was_made(asked, folder, made):
    counts = {status: sum(row["status"] == status for row in made.problems) for status in ("reached", "accurate")}
    short = len(made.problems) - sum(counts.values())
    say(f"{folder}: {len(made.problems)} problems of {len(made.scenes)} scenes, {sum(int(row['bytes']) for row in made.problems) / 1e6:.1f} MB; "
        f"residual ≤ {asked.tolerance:g}: {counts['reached']}, ≤ {problems.ACCURATE:g}: {counts['accurate']}, larger or no solution: {short}")


def interrupt(*_):
    raise KeyboardInterrupt


def main(arguments=None):
    asked = options.parse(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        failed = False
        if asked.pack:
            parts.write(asked.out, asked.part_bytes)
        elif not asked.draw:
            with folder_lock.held(asked.out):
                failed = make_all(asked)
        if asked.gallery:
            gallery.write(asked.gallery, asked.out)
    except folder_lock.Busy as error:
        say(f"make_dataset: error: {error}")
        return 2
    except (Failed, EndedFromOutside, OSError, json.JSONDecodeError) as error:
        say(f"make_dataset: error: {error}")
        return 1
    except KeyboardInterrupt:
        say("make_dataset: interrupted; the same command goes on from here")
        return 130
    return 1 if failed else 0
