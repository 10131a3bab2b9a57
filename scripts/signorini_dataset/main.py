"""From the command line to tables."""

import json
import signal

import h5py

from signorini_dataset import gallery, options, problems, recordings
from signorini_dataset.choice import choose
from signorini_dataset.program import Failed, say
from signorini_dataset.tables import write_checksums, write_table


def time_step(recording, step):
    with h5py.File(recording, "r") as file:
        return float(file[f"steps/{step}"].attrs["dt"])


def make_scene(asked, scene, folder):
    """Rows of a scene: of itself, of its facts, of its problems."""
    recording = folder / "recordings" / f"{scene}.h5"
    row, snapshots, facts = recordings.scene_row(asked, scene, recording.parent)
    facts = [{"scene": scene} | {name: "" if fact[name] is None else fact[name] for name in FACTS[1:]} for fact in facts]
    if asked.record_only or row["status"] == "failed":
        return row, facts, []
    chosen = choose(snapshots, asked.most, asked.contacts, asked.stride)
    dt = time_step(recording, chosen[0]["step"]) if chosen else ""
    digest = recordings.scene_digest(asked, scene)
    return row, facts, problems.problem_rows(asked, recording, scene, digest, chosen, dt, folder / "problems")


FACTS = ("scene", "fact", "reached", "holds", "says", "quantity", "over", "value", "unit", "at_least", "at_most")


def make_all(asked):
    folder = asked.out
    for name in ("recordings", "problems"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    scene_rows, fact_rows, problem_rows = [], [], []
    for number, scene in enumerate(asked.scenes):
        say(f"{scene} ({number + 1} of {len(asked.scenes)})")
        row, facts, made = make_scene(asked, scene, folder)
        scene_rows.append(row)
        fact_rows += facts
        problem_rows += made
        # After every scene: what is finished is listed even when the next one is interrupted.
        write_table(folder / "scenes.csv", recordings.FIELDS, scene_rows)
        write_table(folder / "facts.csv", FACTS, fact_rows)
        write_table(folder / "problems.csv", problems.FIELDS, problem_rows)
        files = [folder / "problems" / made["file"] for made in problem_rows]
        write_checksums(folder / "SHA256SUMS", files + [folder / "problems.csv"])
    unreached = sum(row["status"] != "reached" for row in problem_rows)
    say(f"{folder}: {len(problem_rows)} problems of {len(scene_rows)} scenes, {unreached} without a solution to {asked.tolerance:g}")
    return any(row["status"] == "failed" for row in scene_rows)


def interrupt(*_):
    raise KeyboardInterrupt


def main(arguments=None):
    asked = options.parse(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        failed = False if asked.draw else make_all(asked)
        if asked.gallery:
            gallery.write(asked.gallery, asked.out)
    except (Failed, OSError, json.JSONDecodeError) as error:
        say(f"make_dataset: error: {error}")
        return 1
    except KeyboardInterrupt:
        say("make_dataset: interrupted; the same command goes on from here")
        return 130
    return 1 if failed else 0
