"""When the bound of a claim was set: the commit at which what is judged of it was last changed, from the history of its files.

What is judged is every key but the words (text, source, because) and the origin of the bound (bound, why). Before the folder of an
experiment there was one file, configs/experiments/ID.toml, with [[expect]]: what it judged counts as the same claim.
"""

import datetime
import math
import os
import re
import subprocess
from pathlib import Path

from signorini_report import definition as definitions
from signorini_report.rows import flatten
from signorini_report.strict import ReportError

WORDS = ("id", "claim", "source", "reason", "bound", "why")
SHARE = 4e-3  # bounds from the paper's numbers are rounded to three digits


def judged(claim):
    """The part of a claim that decides its verdict, in one form: tables flat, values as lists."""
    part = {("sizes" if key == "size" else key): value for key, value in claim.items() if key not in WORDS}
    return {key: value if isinstance(value, list) else [value] for key, value in flatten(part)}


def same(first, second):
    """Whether two claims are judged alike."""
    if set(first) != set(second):
        return False
    bounds = [key for key in ("min", "max") if key in first]
    return all(first[key] == second[key] or (key in bounds and math.isclose(first[key][0], second[key][0], rel_tol=SHARE)) for key in first)


def without_reasons(content):
    """Tables without `because`: a reason that was not written yet makes no other bound."""
    if isinstance(content, dict):
        return {key: without_reasons(value) for key, value in content.items() if key != "because"}
    return [without_reasons(value) for value in content] if isinstance(content, list) else content


class Repository:
    """What git tells of a folder; nothing outside a repository."""

    def __init__(self, folder):
        self.root = None
        top = self.run("-C", str(folder), "rev-parse", "--show-toplevel")
        self.root = Path(top.strip()) if top else None

    def run(self, *words):
        where = ["-C", str(self.root)] if self.root else []
        try:
            done = subprocess.run(["git", *where, *words], capture_output=True, text=True, check=False)
        except OSError:
            return None
        return done.stdout if done.returncode == 0 else None

    def revisions(self, paths):
        """Commits that touch one of the paths, the newest first."""
        return (self.run("log", "--format=%H", "--", *map(str, paths)) or "").split()

    def reader(self, revision):
        """(path) → table of the file at a revision, empty where it is not there."""
        def read(path):
            text = self.run("show", f"{revision}:{os.path.relpath(path, self.root)}")
            return {} if text is None else without_reasons(definitions.parsed(text, f"{revision[:12]}:{path}"))
        return read

    def is_ancestor(self, first, second):
        """Whether one commit comes before (or is) another; None where one of them is not known here."""
        if not first or not re.fullmatch(r"[0-9a-f]{7,40}", second or "") or self.run("cat-file", "-e", f"{second}^{{commit}}") is None:
            return None
        return self.run("merge-base", "--is-ancestor", first, second) is not None

    def is_before(self, commit, time):
        """Whether a commit was made at a time, 2026-11-28T02:20:22Z, or before; None where one of them is not known."""
        made = self.run("show", "-s", "--format=%ct", commit) if commit and time else None
        return None if made is None else int(made) <= datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def claims_at(folder, old, read):
    """{id: what is judged} at a revision: of the folder, before it of the one file."""
    try:
        if read(folder / "claims.toml"):
            claims = definitions.claims_of(folder, read).claims
        else:
            claims = read(old).get("expect", [])
        return {str(claim["id"]): judged(claim) for claim in claims}
    except (ReportError, KeyError, TypeError):
        return {}  # a revision that cannot be read says nothing


def commits(definition):
    """{id: commit at which its bound was set, 12 digits}; "" for a claim that is not committed as it is, nothing at all outside git."""
    folder = definition.folder.resolve()
    repository = Repository(folder)
    if repository.root is None:
        return {}
    old = folder.parent.parent / f"{definitions.identifier(folder)}.toml"
    numbers = [folder / "paper.toml", *definitions.same_as(folder)]
    open_claims = {str(claim["id"]): judged(claim) for claim in definition.claims}
    found = dict.fromkeys(open_claims, "")
    for revision in repository.revisions([folder / "claims.toml", *numbers, old]):
        known = claims_at(folder, old, repository.reader(revision))
        open_claims = {name: claim for name, claim in open_claims.items() if name in known and same(claim, known[name])}
        found |= dict.fromkeys(open_claims, revision[:12])
        if not open_claims:
            break
    return found


def stamped(verdicts, definition, result, started=""):
    """The verdicts with the commit of each bound, and whether it comes before `result`, the commit of the program that made the rows, or was
    made before `started`, the time at which this program began to make them: an older program may be run on a claim of today."""
    known, repository = commits(definition), Repository(definition.folder.resolve())
    order = {commit: repository.is_ancestor(commit, str(result).split("-")[0]) for commit in set(known.values())}
    order |= {commit: True for commit, first in order.items() if first is False and repository.is_before(commit, started)}
    for verdict in verdicts:
        if verdict.id in known:
            verdict.bound_set, verdict.bound_first = known[verdict.id], order[known[verdict.id]]
    return verdicts
