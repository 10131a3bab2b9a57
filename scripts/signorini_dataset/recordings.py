"""Records scenes and describes the recordings."""

import csv
import hashlib
import json
import time
import tomllib

from signorini_dataset.choice import POOL
from signorini_dataset.program import Failed, Stopped, read_json, run, say
from signorini_report.whole_files import write_text

FIELDS = ("scene", "size", "status", "steps", "snapshots", "dofs", "contacts", "regions", "islands", "unresolved", "residual",
          "bytes", "bytes_per_contact", "facts", "differing", "open", "message")


CONTACTS = 10  # that make a step count as one with contact


def effective(asked, words):
    """The effective scene that the words choose, as text."""
    return run(asked.program, *words, "--check").out


def scene_words(asked, scene):
    """What chooses the effective scene on the command line. Steps with contact are recorded so often that there is a choice of snapshots."""
    words = ["record", scene, "--size", asked.size]
    if asked.steps:
        words += ["--steps", asked.steps]
    if asked.contact_steps:
        every = min(max(1, asked.contact_steps // (POOL * asked.most)), tomllib.loads(effective(asked, words))["time"]["record_every"])
        for key, value in (("contact_steps", asked.contact_steps), ("record_min_contacts", CONTACTS), ("record_every", every)):
            words += ["--set", f"time.{key}={value}"]
    return words


def scene_digest(asked, scene):
    """Of the effective scene: what a recording, and all that is made from it, belongs to."""
    return hashlib.sha256(effective(asked, scene_words(asked, scene)).encode()).hexdigest()


def record(asked, scene, path):
    """Records what is missing; what that took, or what an earlier run wrote down."""
    clock = path.with_suffix(".took.json")
    words = scene_words(asked, scene) + ["-o", path, "--threads", asked.threads, "--resume"]
    if path.exists():
        run(asked.program, *words)
        return
    took = {"seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0, "threads": asked.threads}
    if clock.exists():
        took = json.loads(clock.read_text())
    started, done = time.monotonic(), None
    try:
        done = run(asked.program, *words)
    except (KeyboardInterrupt, Stopped) as interruption:  # its time counts too
        done = interruption
        raise
    finally:
        took["seconds"] += time.monotonic() - started
        took["cpu_seconds"] += getattr(done, "cpu", 0.0)
        took["peak_bytes"] = max(took["peak_bytes"], getattr(done, "peak", 0))
        write_text(clock, json.dumps(took) + "\n")


def describe(asked, scene, path):
    """The scene's row of scenes.csv, and its snapshots."""
    info = read_json(asked.program, "info", path)[0]
    columns = info["statistics"]["columns"]
    snapshots = info["steps"]
    facts = read_json(asked.program, "info", "--facts", path, may_end_with=(0, 1))
    reached = [fact for fact in facts if fact.setdefault("reached", True)]  # recordings by earlier programs say nothing of it
    contacts = sum(snapshot["contacts"] for snapshot in snapshots)
    row = {"scene": scene, "size": asked.size, "status": "recorded", "steps": info["statistics"]["rows"], "snapshots": len(snapshots),
           "dofs": max((snapshot["dofs"] for snapshot in snapshots), default=0),
           "contacts": int(columns["contacts"]["most"]), "regions": int(columns["regions"]["most"]), "islands": int(columns["islands"]["most"]),
           "unresolved": round(columns["unresolved"]["mean"] * info["statistics"]["rows"]), "residual": f"{columns['residual']['most']:.1e}",
           "bytes": info["bytes"], "bytes_per_contact": round(info["bytes"] / contacts) if contacts else "",
           "facts": f"{sum(fact['holds'] for fact in reached)}/{len(facts)}",
           "differing": " ".join(fact["fact"] for fact in reached if not fact["holds"]), "open": len(facts) - len(reached), "message": ""}
    return row, snapshots, facts


UNFINISHED = "unfinished"  # status of a scene whose recording was interrupted


def steps_file(folder, scene):
    """Where the statistics of a scene's steps are: beside the recording, or among its parts where it is not finished."""
    finished = folder / f"{scene}.steps.csv"
    return finished if finished.exists() else folder / f"{scene}.h5.parts" / "steps.csv"


def read_steps(path):
    """Rows of a .steps.csv. The last line of one that is being written may be cut; it is left out."""
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if None not in row.values()]


def describe_unfinished(asked, scene, path):
    """The row of a scene whose recording was interrupted: how far it is, and of how many steps (message)."""
    rows, parts = read_steps(steps_file(path.parent, scene)), list(path.with_name(path.name + ".parts").glob("*.h5"))
    planned = tomllib.loads(effective(asked, scene_words(asked, scene)))["time"]["steps"]
    most = {name: max((int(row[name]) for row in rows), default=0) for name in ("contacts", "regions", "islands")}
    return dict.fromkeys(FIELDS, "") | most | {
        "scene": scene, "size": asked.size, "status": UNFINISHED, "steps": len(rows), "snapshots": len(parts),
        "unresolved": sum(int(row["unresolved"]) for row in rows), "bytes": sum(part.stat().st_size for part in parts),
        "facts": "0/0", "open": 0, "message": f"{len(rows)} of {planned} steps"}


def scene_row(asked, scene, folder):
    """Row, snapshots and facts of a scene, recorded now or earlier. A scene that cannot be recorded is a row that says why."""
    path = folder / f"{scene}.h5"
    try:
        if not asked.tables:
            record(asked, scene, path)
        elif not path.exists() and steps_file(folder, scene).exists():
            return describe_unfinished(asked, scene, path), [], []
        return describe(asked, scene, path)
    except Failed as failure:
        say(f"{scene}: {failure}")
        return dict.fromkeys(FIELDS, "") | {"scene": scene, "size": asked.size, "status": "failed",
                                            "message": str(failure).replace(str(folder) + "/", "")}, [], []
