"""What stands beside the page of an experiment: its data, its definition, its recordings and their replays, as addresses relative to it."""

import json
import os
import re
import urllib.parse
from pathlib import Path

from signorini_report.interactive import Links

FILES = ("runs.csv", "runs.schema.json", "trace.h5", "env.json", "run.toml", "summary.csv", "regions.csv", "steps.csv", "follow.csv",
         "accuracy.csv", "series.csv", "recordings.csv", "rules.md", "claims.json")
DEFINITION = ("run.toml", "claims.toml", "figures.toml", "paper.toml")
HEAD_LETTERS = 200_000  # in which the head of a replay ends
REPLAY = ".replay.html"  # bucket-quick.h5 is replayed by bucket-quick.replay.html beside it


def address(path, folder):
    """Of a file, for a link on a page in the folder."""
    return urllib.parse.quote(os.path.relpath(path, folder).replace(os.sep, "/"))


def recording_paths(experiment):
    """{file as the rows name it: path} of recordings that are there; env.json names what was read."""
    found = {}
    inputs = [Path(str(one.get("path", ""))) for one in experiment.env.get("inputs", []) if isinstance(one, dict)]
    for file in dict.fromkeys(experiment.runs["file"]):
        named = [path for path in inputs if path.name == Path(file).name]
        places = [experiment.folder.parent / path for path in named] + [experiment.folder.parent / "recordings" / Path(file).name]
        there = next((path for path in places if path.is_file()), None)
        if there is not None:
            found[file] = there
    return found


def schema_of(folder):
    """The columns of runs.csv with units and meanings; it was checked when the rows were read."""
    path = folder / "runs.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))["runs.csv"] if path.is_file() else []


def replay_steps(path):
    """The steps whose frames a replay holds, as its head names them; none where it names none."""
    with open(path, encoding="utf-8", errors="replace") as file:
        head = file.read(HEAD_LETTERS)
    found = re.search(r'<meta name="signorini-steps" content="([0-9. ]*)">', head)
    return found[1].split() if found else []


def links_of(experiment):
    folder = experiment.folder
    files = [(name, address(folder / name, folder)) for name in FILES if (folder / name).is_file()]
    if experiment.definition:
        files += [(f"definition: {name}", address(experiment.definition.folder / name, folder)) for name in DEFINITION
                  if (experiment.definition.folder / name).is_file()]
    paths = recording_paths(experiment)
    replays = {file: path.with_name(path.name.removesuffix(path.suffix) + REPLAY) for file, path in paths.items()}
    return Links(files=files, recordings={file: os.path.relpath(path, folder.parent) for file, path in paths.items()},
                 replays={file: {"address": address(path, folder), "steps": replay_steps(path)} for file, path in replays.items() if path.is_file()})
