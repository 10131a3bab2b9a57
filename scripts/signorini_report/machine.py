"""Whether times were measured on a quiet machine, from what the rows and env.json tell; docs/protocols.md has the measurements
behind the limits."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

WAITED = 0.05  # of the time of a timed section, spent waiting for a processor: the time is that much too long
ROWS = 0.10    # of the timed rows that may have waited longer: medians over repetitions and snapshots do not notice

SESSION = 0.10  # of the whole time of a session, with reading files and starting threads: 3 to 4 % on a quiet machine


def waited(runs):
    """Share of the timed section that a row waited for a processor; NaN where nothing was timed or nothing was noted. Where the kernel does
    not tell, what one thread did not run, it waited."""
    share = runs["waited_share"] if "waited_share" in runs.columns else pd.Series(np.nan, index=runs.index)
    if "cpu_share" in runs.columns:
        share = share.fillna((1.0 - runs["cpu_share"]).where(runs["threads"] == 1))
    return share.astype(float)


def percent(share):
    return f"{100 * share:.0f} %"


def busy_rows(runs):
    """(whether the rows tell, reason or "")."""
    told = waited(runs).dropna()
    if told.empty:
        return False, ""
    disturbed = float((told > WAITED).mean())
    if disturbed <= ROWS:
        return True, ""
    return True, (f"the machine was busy: {percent(disturbed)} of the timed runs waited more than {percent(WAITED)} of their time for a processor "
                  f"(allowed are {percent(ROWS)})")


def waiting(session):
    """(waited, wall-clock) seconds of a session; None where they were not noted."""
    use = session.get("use")
    if not isinstance(use, dict) or use.get("waited_seconds") is None or use.get("wall_seconds") is None:
        return None
    return float(use["waited_seconds"]), float(use["wall_seconds"])


def loaded(session):
    """The load at the start of a session against the number of processors: all that earlier programs noted."""
    try:
        load, cores = float(str(session["load_at_start"]).split()[0]), int(session["machine"]["cores"])
    except (KeyError, ValueError, IndexError, TypeError):
        return ""  # nothing is known
    return f"the machine was busy: load {load:g} on {cores} processors at the start" if load > cores else ""


def busy_sessions(env):
    """Of a session with those before it that it resumed: their waiting times together where they were noted, else the first load."""
    sessions = [env, *env.get("earlier", [])]
    noted = [pair for pair in map(waiting, sessions) if pair is not None]
    waited_seconds, wall_seconds = (sum(pair[place] for pair in noted) for place in (0, 1))
    if waited_seconds > SESSION * wall_seconds:
        return f"the machine was busy: the program waited {percent(waited_seconds / wall_seconds)} of its time for a processor"
    return next((reason for session in sessions if waiting(session) is None and (reason := loaded(session))), "")


def busy_without_waiting_times(env):
    """Of a result whose program noted no waiting times: the first load above the number of processors."""
    sessions = [env, *env.get("earlier", [])]
    return "" if any(map(waiting, sessions)) else next((reason for session in sessions if (reason := loaded(session))), "")


def busy(runs, env, recorded=()):
    """{kind of rows: why their times are not comparable, "" where they are}; `recorded`: env.json of the recordings that steps come from."""
    told, reason = busy_rows(runs)
    session = busy_sessions(env)
    steps = session or next((found for one in recorded if (found := busy_sessions(one))), "")
    return {"runs": reason if told else session, "steps": steps, "follow": session, "accuracy": steps}


def read_json(path):
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def recorded_in(folder, files):
    """env.json of recordings, which stand beside the folder of the experiment."""
    recordings = Path(folder).resolve().parent / "recordings"
    return [read_json(recordings / (Path(file).stem + ".env.json")) for file in files]


def unlike(folder):
    """Of a campaign that was merged by machine, which wrote machines.csv."""
    if not (Path(folder) / "machines.csv").is_file():
        return ""
    return "times come from unlike machines, one for each snapshot (machines.csv): those of different snapshots cannot be compared"


def of_tables(folder, env, runs, steps, follow, accuracy=None):
    """`busy` of the kinds of rows that are there."""
    files = {file for table in (steps, accuracy) if table is not None for file in table["file"]}
    reasons = busy(runs, env, recorded_in(folder, sorted(files)))
    reasons["runs"] = reasons["runs"] or unlike(folder)
    present = {"runs": len(runs) > 0, "steps": steps is not None, "follow": follow is not None, "accuracy": accuracy is not None}
    return {kind: reason for kind, reason in reasons.items() if present[kind]}


def of_experiment(experiment):
    return of_tables(experiment.folder, experiment.env, experiment.runs, experiment.steps, experiment.follow, experiment.accuracy)
