"""What stands beside the page of an experiment: its data, its definition, its recordings and their replays, as addresses relative to it."""

import json
import os
import re
import urllib.parse
from pathlib import Path

from signorini_report import recorded_frames
from signorini_report.interactive import Links

FILES = ("runs.csv", "runs.schema.json", "siconos.csv", "trace.h5", "env.json", "run.toml", "summary.csv", "regions.csv", "steps.csv", "follow.csv",
         "accuracy.csv", "series.csv", "recordings.csv", "rules.md", "claims.json")
DEFINITION = ("run.toml", "claims.toml", "figures.toml", "paper.toml")
HEAD_LETTERS = 200_000  # in which the head of a replay ends
REPLAY = ".replay.html"  # bucket-quick.h5 is replayed by bucket-quick.replay.html beside it


def address(path, folder):
    """Of a file, for a link on a page in the folder."""
    return urllib.parse.quote(os.path.relpath(path, folder).replace(os.sep, "/"))


def names_of(experiment):
    """Recordings and problem files as rows name them."""
    tables = [table for table in (experiment.runs, experiment.steps, experiment.accuracy, experiment.follow) if table is not None]
    return list(dict.fromkeys(str(file) for table in tables for file in table["file"]))


def inputs_of(experiment):
    """Paths that may be inputs of a result: run.toml of a comparison names them, env.json too, seen from OUT or from where the program ran."""
    named = [Path(os.path.normpath(experiment.folder / str(path))) for path in experiment.config.get("files", [])]
    read = [Path(str(one.get("path", ""))) for one in experiment.env.get("inputs", []) if isinstance(one, dict)]
    return named + [experiment.folder.parent / path for path in read] + read


def is_named(path, name):
    """Whether rows call the file so: a recording by its name, a problem by its stem, with folders where names are alike."""
    own = path if path.suffix == ".h5" else path.with_suffix("")
    return own.parts[-len(Path(name).parts):] == Path(name).parts


def recording_paths(experiment):
    """{file as the rows name it: path} of recordings and problem files that are there."""
    found, inputs = {}, inputs_of(experiment)
    for file in names_of(experiment):
        places = [path for path in inputs if is_named(path, file)] + [experiment.folder.parent / "recordings" / Path(file).name]
        there = next((path for path in places if path.is_file()), None)
        if there is not None:
            found[file] = there
    return found


def schema_of(folder):
    """The columns of runs.csv with units and meanings; it was checked when the rows were read."""
    path = folder / "runs.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))["runs.csv"] if path.is_file() else []


def head_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(HEAD_LETTERS)


def replay_steps(path):
    """The steps whose frames a replay holds, as its head names them; none where it names none."""
    found = re.search(r'<meta name="signorini-steps" content="([0-9. ]*)">', head_of(path))
    return found[1].split() if found else []


def replay_of(path, file, folder=None):
    """Where the replay of a recording is looked for: beside it, or in `folder`, which is not the recording's."""
    return path.with_name(path.stem + REPLAY) if folder is None else folder / (file.removesuffix(".h5").replace("/", "_") + REPLAY)


def links_of(experiment, replay_folder=None):
    """`replay_folder`: where replays lie that are not beside their recordings; both are looked for."""
    folder = experiment.folder
    files = [(name, address(folder / name, folder)) for name in FILES if (folder / name).is_file()]
    if experiment.definition:
        files += [(f"definition: {name}", address(experiment.definition.folder / name, folder)) for name in DEFINITION
                  if (experiment.definition.folder / name).is_file()]
    paths, replays = recording_paths(experiment), {}
    for file, path in paths.items():
        places = [replay_of(path, file), *([replay_of(path, file, replay_folder)] if replay_folder else [])]
        there = next((place for place in places if place.is_file()), None)
        if there is not None:
            replays[file] = {"address": address(there, folder), "steps": replay_steps(there)}
    return Links(files=files, recordings={file: os.path.relpath(path, folder.parent) for file, path in paths.items()}, replays=replays,
                 frameless={file: reason for file, path in paths.items() if file not in replays and (reason := recorded_frames.why_none(path))})
