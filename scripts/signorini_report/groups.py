"""Families of problems: [groups] of figures.toml gives every scene or file a group, the column `group` of claims and figures."""

import fnmatch

from signorini_report import strict
from signorini_report.definition import file_stem, recordings_of
from signorini_report.strict import ReportError

KEYS = {"groups": None}
OTHERS = ""  # group of what none of them names


def group_of(scene, groups):
    """The first group that names the scene, or has a pattern for it: Capsules*."""
    return next((name for name, members in groups.items() if any(fnmatch.fnmatchcase(scene, member) for member in members)), OTHERS)


def names_in(run):
    """Scenes, recordings, files and problems of a run.toml: a size may run some of them only."""
    paths = [name for key in ("scenes", "files", "optional_files") for name in run.get(key, [])] + [name for name, _, _ in recordings_of(run)]
    paths += [problem["name"] for problem in run.get("problems", [])]
    return {file_stem(name).removesuffix(".toml") for name in paths}


def add(runs, config, run, where):
    """The column `group`; `run`: the run.toml of today. A word that fits none of the scenes that were run or are wanted is an error."""
    groups = config.get("groups")
    if groups is None:
        return
    strict.typed({"groups": groups}, {"groups": strict.TABLE}, where)
    strict.typed(groups, dict.fromkeys(groups, strict.TEXTS), f"{where}: [groups]")
    if OTHERS in groups:
        raise ReportError(f"{where}: [groups] has a group without a name")
    known = sorted(set(runs["scene"]) | names_in(config) | names_in(run))
    for name, members in groups.items():
        stranger = next((member for member in members if not fnmatch.filter(known, member)), None)
        if stranger is not None:
            raise ReportError(f"{where}: [groups] {name} = {members!r}: there is no scene or file '{stranger}' ({strict.nearest(stranger, known)})")
    found = {scene: group_of(scene, groups) for scene in set(runs["scene"])}
    runs["group"] = runs["scene"].map(found)
