"""The command line of scripts/migrate_experiment: an experiment's one file of the earlier form becomes a folder."""

import argparse
import os
import re
import sys
import tomllib
from pathlib import Path

from signorini_report import definition
from signorini_report.strict import ReportError

JUDGED = ("claim", "source", "expect")
DEFAULT_WHY = "taken over from the old form"
FOLLOWING = re.compile(r"[A-Za-z0-9_-]+")


# --- TOML ---------------------------------------------------------------------------------------------------------------------

def key_text(key):
    return key if FOLLOWING.fullmatch(key) else value_text(key)


def value_text(value):
    """A value on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(f"\\u{ord(one):04X}" if ord(one) < 32 else one for one in escaped) + '"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key_text(key)} = {value_text(one)}" for key, one in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return repr(value)


def lines_of(table):
    """Keys of a table, those with plain values first; lists of tables with an entry on each line."""
    lines = []
    for key, value in sorted(table.items(), key=lambda item: isinstance(item[1], dict) or is_tables(item[1])):
        if is_tables(value):
            lines += [f"{key_text(key)} = [", *(f"  {value_text(one)}," for one in value), "]"]
        else:
            lines.append(f"{key_text(key)} = {value_text(value)}")
    return lines


def is_tables(value):
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def text_of(lines):
    return "\n".join(lines) + "\n" if lines else ""


# --- the parts ------------------------------------------------------------------------------------------------------------------

def about_steps(old):
    """Whether a claim or a figure asks for the steps of recordings."""
    return any(one.get("rows") == "steps" for one in old.get("expect", []) + old.get("methods", {}).get("tables", [])) or \
        any(key in old for key in ("histogram", "over_time", "against", "shares"))


def run_part(old):
    """What the program reads."""
    drawn = set(definition.figure_keys())
    run = {key: value for key, value in old.items() if key not in (*JUDGED, "series", "follow") and key not in drawn}
    series, follow = old.get("series"), old.get("follow")
    run |= {"series": series["columns"] if isinstance(series, dict) else series} if series else {}
    run |= {"follow": follow["regions"] if isinstance(follow, dict) else follow} if follow else {}
    return run | ({"steps": True} if about_steps(old) and "steps" not in old else {})


def figures_part(old):
    """What is drawn, without the paper's numbers."""
    figures = {key: value for key, value in old.items() if key in definition.figure_keys() and key != "series"}
    if isinstance(old.get("series"), dict):
        figures["series"] = {key: value for key, value in old["series"].items() if key != "columns"}
    for table, key in (("methods", "paper"), ("table", "numbers")):
        if table in figures:
            figures[table] = {name: value for name, value in figures[table].items() if name != key}
    return figures


def paper_part(old):
    numbers = old.get("table", {}).get("numbers")
    return {**old.get("methods", {}).get("paper", {}), **({"numbers": numbers} if numbers else {})}


def claim_part(expect, reasons):
    """One [[claims]] for one [[expect]]; its reason gets a name in `reasons`."""
    claim, kind = dict(expect), expect.get("kind", "quantity")
    column = claim.pop("column_of", None) or claim.pop("column", "solved")
    for key in ("kind", "column"):
        claim.pop(key, None)
    claim = {"id": claim.pop("id"), "text": claim.pop("claim", ""), kind: column} | claim
    for short, long in definition.SIDES.items():
        if long in claim:
            side = claim.pop(long)
            claim[short] = side["label"] if isinstance(side, dict) and set(side) == {"label"} else side
    if "size" in claim:
        claim["sizes"] = claim.pop("size")
    if "reason" in claim:
        text = claim.pop("reason")
        claim["because"] = next((name for name, known in reasons.items() if known == text), claim["id"])
        reasons[claim["because"]] = text
    return claim


def claims_text(old, reasons):
    if "expect" not in old and "claim" not in old:
        return ""
    lines = [f"{name} = {value_text(old[key])}" for name, key in (("says", "claim"), ("source", "source")) if key in old]
    lines += ["", "[defaults]  # say of each claim whether the paper states its bound, and why ours are what they are", 'bound = "ours"',
              f"why = {value_text(DEFAULT_WHY)}"]
    for expect in old.get("expect", []):
        lines += ["", "[[claims]]", *(f"{key_text(key)} = {value_text(value)}" for key, value in claim_part(expect, reasons).items())]
    return text_of(lines)


def head_comment(text):
    """The comments at the top of a file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    return lines


def migrate(old_path, folder):
    """Writes the files of a folder; returns their names."""
    text = old_path.read_text(encoding="utf-8")
    old, reasons = definition.parsed(text, old_path), {}
    run = run_part(old)
    if "files" in run:  # they are relative to the file that names them
        run["files"] = [os.path.relpath(old_path.parent / name, folder) for name in run["files"]]
    parts = {"run.toml": text_of([*head_comment(text), *lines_of(run)]), "claims.toml": claims_text(old, reasons),
             "figures.toml": text_of(lines_of(figures_part(old))), "paper.toml": text_of(lines_of(paper_part(old))),
             "reasons.toml": text_of(lines_of(reasons))}
    there = [name for name in parts if (folder / name).exists()]
    if there:
        raise ReportError(f"{folder / there[0]}: is there already; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in parts.items():
        if content:
            (folder / name).write_text(content, encoding="utf-8")
    definition.read_definition(folder)  # says what a person has to mend
    return [name for name, content in parts.items() if content]


def migrate_results(folder):
    """config.toml of a result becomes run.toml, with its head."""
    path = folder / "config.toml"
    if not path.is_file():
        raise ReportError(f"{path}: no such file")
    text = path.read_text(encoding="utf-8")
    (folder / "run.toml").write_text(text_of([*head_comment(text), *lines_of(run_part(definition.parsed(text, path)))]), encoding="utf-8")
    path.unlink()


DESCRIPTION = """Writes an experiment of the earlier form, one file with [[expect]], as a
folder: run.toml, claims.toml, figures.toml, paper.toml and reasons.toml
(docs/experiments.md). Every bound is taken for ours; say where it is the
paper's."""
EXAMPLES = """examples:
  scripts/migrate_experiment mine.toml mine    the folder mine
  scripts/migrate_experiment --results results/out/mine
                                               config.toml of a result becomes
                                               run.toml

exit codes: 0 written, 2 usage, 3 a file that cannot be read or is there
already"""


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="scripts/migrate_experiment", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=DESCRIPTION, epilog=EXAMPLES)
    parser.add_argument("old", metavar="OLD.toml", type=Path, nargs="?", help="the earlier form")
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="the folder to write")
    parser.add_argument("--results", metavar="FOLDER", type=Path, nargs="+", help="folders of results instead")
    asked = parser.parse_args(arguments)
    if bool(asked.results) == bool(asked.folder):
        parser.error("name OLD.toml and FOLDER, or --results FOLDER")
    try:
        if asked.results:
            for folder in asked.results:
                migrate_results(folder)
            return 0
        names = migrate(asked.old, asked.folder)
    except (ReportError, OSError, tomllib.TOMLDecodeError) as error:
        print(f"migrate_experiment: {error}", file=sys.stderr)
        return 3
    print(f"{asked.folder}: {', '.join(names)}; bounds read \"ours\", {DEFAULT_WHY}: say which are the paper's, and why the others are "
          "what they are")
    return 0
