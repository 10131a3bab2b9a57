"""From the command line to tables."""

import json
import shutil
import signal

from signorini_dataset import difficulty, gallery, layout, options, parts, problems, provenance, recordings
from signorini_dataset.choice import candidates, choose
from signorini_dataset.program import Failed, say
from signorini_dataset.tables import write_table


def make_scene(asked, scene, folder):
    """(row of the scene, rows of its facts, rows of its problems, {file: SHA-256})."""
    recording = folder / "recordings" / f"{scene}.h5"
    row, snapshots, facts = recordings.scene_row(asked, scene, recording.parent)
    facts = [{"scene": scene} | {name: "" if fact[name] is None else fact[name] for name in layout.FACTS[1:]} for fact in facts]
    if asked.record_only or row["status"] == "failed":
        return row, facts, [], {}
    pool = candidates(snapshots, asked.most, asked.contacts, asked.stride)
    digest = recordings.scene_digest(asked, scene)
    difficulty.add(asked, recording, digest, pool)
    chosen = choose(pool, asked.most)
    return row, facts, *problems.problem_rows(asked, recording, scene, digest, chosen, folder / "problems")


def make_all(asked):
    folder = asked.out
    for name in ("recordings", "problems"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for left in (folder / "problems").glob(f"{problems.UNFINISHED}*"):  # of a run that was killed
        shutil.rmtree(left)
    made, settings, made_by = layout.Made(), options.settings_of(asked), provenance.text(asked.program)
    for number, scene in enumerate(asked.scenes):
        say(f"{scene} ({number + 1} of {len(asked.scenes)})")
        row, facts, rows, digests = make_scene(asked, scene, folder)
        made.add(row, facts, rows, digests)
        # After every scene: what is finished is listed even when the next one is interrupted.
        if asked.record_only:
            write_table(folder / "scenes.csv", recordings.FIELDS, made.scenes)
            write_table(folder / "facts.csv", layout.FACTS, made.facts)
        else:
            layout.write(folder, made, settings, made_by)
    if not asked.record_only:
        say_what_was_made(asked, folder, made)
    return any(row["status"] == "failed" for row in made.scenes)


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
            failed = make_all(asked)
        if asked.gallery:
            gallery.write(asked.gallery, asked.out)
    except (Failed, OSError, json.JSONDecodeError) as error:
        say(f"make_dataset: error: {error}")
        return 1
    except KeyboardInterrupt:
        say("make_dataset: interrupted; the same command goes on from here")
        return 130
    return 1 if failed else 0
