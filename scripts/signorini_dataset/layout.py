"""What a dataset, or a part of one, consists of besides recordings: files by their names, written into a folder or into an archive."""

import csv
import dataclasses
import io
import json
from pathlib import Path

from signorini_dataset import datasheet, problems, recordings, zenodo
from signorini_dataset.options import SOURCE
from signorini_dataset.tables import checksum_lines, digest_of, table_text
from signorini_report.whole_files import write_text

FACTS = ("scene", "fact", "reached", "holds", "says", "quantity", "over", "value", "unit", "at_least", "at_most")
LOADER = Path(__file__).parent / "shipped" / "contact_problems.py"
MADE_BY = "made_by.json"
LOADED = (("scenes", "scenes.csv"), ("facts", "facts.csv"), ("problems", "problems.csv"))


@dataclasses.dataclass
class Made:
    scenes: list = dataclasses.field(default_factory=list)    # rows of scenes.csv
    facts: list = dataclasses.field(default_factory=list)
    problems: list = dataclasses.field(default_factory=list)
    digests: dict = dataclasses.field(default_factory=dict)   # {file in problems/: SHA-256}

    def add(self, scene, facts, rows, digests):
        self.scenes.append(scene)
        self.facts += facts
        self.problems += rows
        self.digests |= digests


def texts(made, settings):
    """{name: text} of everything but the problems themselves and the list of checksums; the same input gives the same bytes."""
    return {
        "problems.csv": table_text(problems.FIELDS, made.problems),
        "scenes.csv": table_text(recordings.FIELDS, made.scenes),
        "facts.csv": table_text(FACTS, made.facts),
        "settings.json": json.dumps(settings, indent=1) + "\n",
        "DATASHEET.md": datasheet.text(made, settings),
        ".zenodo.json": zenodo.text(made, settings),
        "LICENSE": (SOURCE / "LICENSE").read_text(encoding="utf-8"),
        "contact_problems.py": LOADER.read_text(encoding="utf-8"),
    }


def with_checksums(content, digests):
    """The same, and SHA256SUMS of all of it and of the problems."""
    of_texts = {name: digest_of(text) for name, text in content.items()}
    return content | {"SHA256SUMS": checksum_lines(of_texts | {f"problems/{name}": digest for name, digest in digests.items()})}


def write(folder, made, settings, made_by):
    """Everything but the problems, which are there. `made_by`: JSON of program and machine, which no checksum covers."""
    for name, text in (with_checksums(texts(made, settings), made.digests) | {MADE_BY: made_by}).items():
        write_text(folder / name, text)


def read(folder):
    """(what was made, its settings) of a finished dataset."""
    tables = {}
    for key, name in LOADED:
        tables[key] = list(csv.DictReader(io.StringIO((folder / name).read_text(encoding="utf-8"))))
    digests = {}
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        if name.startswith("problems/"):
            digests[name.removeprefix("problems/")] = digest
    return Made(**tables, digests=digests), json.loads((folder / "settings.json").read_text(encoding="utf-8"))
