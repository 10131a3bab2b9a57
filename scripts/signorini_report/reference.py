"""The command line of scripts/reference: what is committed below results/reference."""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pandas as pd

from signorini_report import accuracy, bounds, committed, data, definition, docs_pages, figures, machine, quick_inputs, shown, style, verdicts as judged, whole_files
from signorini_report.strict import ReportError

DESCRIPTION = """Keeps what is committed below results/reference.

  scripts/reference promote ID
                     shows what would be copied from results/out and how
                     verdicts change
  scripts/reference promote ID --yes
                     copies summary.csv, claims.json, run.toml, env.json,
                     tables, and the figure of its page with the rows
                     behind it (shown_steps.csv or shown_runs.csv)
  scripts/reference promote ID FILE... [--yes]
                     copies these files (and env.json) instead
  scripts/reference page ID
                     copies the figure of the page of ID alone, or the page
                     that it makes (printed rules); where ID has not run here,
                     draws it from the committed tables or rows, if these
                     are enough for it
  scripts/reference compare DIR [ID...]
                     compares counts and verdicts of `signorini run --size
                     quick --out DIR`; status 1 where they differ
  scripts/reference compare DIR [ID...] --write
                     makes them the reference
  scripts/reference stale
                     names experiments that were changed since their quick
                     counts and verdicts were made; status 1
  scripts/reference bounds [ID...]
                     notes in claims.json at which commit each bound was set,
                     and gives them the texts and reasons of the definitions as
                     they are now (promote does this)"""
NOTES = """A file above 1 MB is refused, and so are times of a busy machine
(docs/protocols.md, "A quiet machine"); --counts-only takes them where nobody
uses them. When a reference result changes, CHANGELOG.md must say why.

Compared are iterations, solved problems, contacts, regions, and verdicts on
claims that are not about time, with quick_counts.csv and quick_verdicts.csv.
Sums over all problems of a family are compared: another processor rounds
differently, which moves a solve by an iteration and, in a scene that goes on
for thousands of steps, single contacts. Allowed are 10 % of a sum, and one
problem in twenty that is solved or not. Iterations of runs that the rule of
5 % let go on to a residual below 1e-12 do not count: roundings end them."""
LIMIT = 1_000_000  # bytes of a file
PROMOTED, IF_THERE = ["summary.csv", "claims.json", "run.toml"], ["methods.md", "iterations.md", "errors.md", "families.csv", "failures.csv", "dependence.csv", "problems.csv"]


def results():
    return Path(os.environ.get("SIGNORINI_RESULTS", docs_pages.ROOT / "results"))


class Refused(Exception):
    """What must not become the reference: exit code 1."""


class Usage(Exception):
    """Exit code 2."""


# --- promote --------------------------------------------------------------------------------------------------------------------

def chosen_files(folder, names):
    names = names or PROMOTED + [name for name in IF_THERE if (folder / name).is_file()]
    for name in [*names, "env.json"]:
        if "/" in name:
            raise Usage(f"'{name}': name files of {folder} without a folder")
        path = folder / name
        if not path.is_file():
            raise ReportError(f"{path} does not exist; run the experiment and scripts/report first")
        if path.stat().st_size > LIMIT:
            raise Refused(f"{path} has {path.stat().st_size} bytes; reference results stay below 1 MB")
    return [*names, "env.json"]


def busy(folder):
    """Why the times of a result cannot be used, or nothing."""
    env = data.read_env(folder)
    if (folder / "runs.csv").is_file():
        reasons = machine.of_tables(folder, env, data.read_runs(folder / "runs.csv"), data.read_steps(folder), data.read_follow(folder),
                                    accuracy.read(folder, data.CLOCKS))
    else:
        reasons = {"files": machine.busy_sessions(env)}
    return next((reason for reason in reasons.values() if reason), "")


def without_places(text):
    """Where the program, its inputs and the definition lay on this machine says nothing to others."""
    return re.sub(r'"(/[^"/]+)+/([^"/]+)"', r'"\2"', text)


def promoted_text(folder, name):
    """What is committed of a file."""
    text = (folder / name).read_text(encoding="utf-8")
    if name == "claims.json":
        env = data.read_env(folder)
        found = definition.find(folder.name, env)
        return judged.to_json(stamped_claims(folder, found, env)) if found else text
    return without_places(text) if name == "env.json" else text


def stamped_claims(folder, found, env):
    known = {str(claim["id"]): claim for claim in found.claims}
    verdicts = [judged.with_origin(verdict, known.get(verdict.id)) for verdict in judged.read_claims(folder / "claims.json")]
    return bounds.stamped(verdicts, found, env.get("build", {}).get("git"), env.get("started", ""))


def changed_verdicts(before, after):
    """Lines on verdicts that are not the same in two claims.json."""
    was, now = ({verdict.id: verdict.verdict for verdict in judged.read_claims(path)} for path in (before, after))
    changed = [name for name in sorted(set(was) | set(now)) if was.get(name) != now.get(name)]
    return [f"  {name}: {was.get(name, 'not there')} → {now.get(name, 'not there')}" for name in changed]


def promote(identifier, names, yes, counts_only):
    if not re.fullmatch(r"[A-Za-z0-9_]+", identifier):
        raise Usage(f"'{identifier}' is no experiment id")
    folder, target = results() / "out" / identifier, results() / "reference" / identifier
    files = chosen_files(folder, names)
    reason = busy(folder)
    if reason and not counts_only:
        raise Refused(f"{identifier}: {reason}. Run it again while nothing else runs, or give --counts-only where nobody uses its times")
    texts = {name: promoted_text(folder, name) for name in files} | ({} if names else shown_rows(identifier, folder))
    for name, text in texts.items():
        there = (target / name).read_text(encoding="utf-8") if (target / name).is_file() else None
        state = "new" if there is None else "unchanged" if there == text else "changed"
        print(f"{state:<10} {len(text.encode()):8d} bytes  {target / name}")
    if "claims.json" in files and (target / "claims.json").is_file():
        changed = changed_verdicts(target / "claims.json", folder / "claims.json")
        print("\n".join(["verdicts changed:", *changed]) if changed else "verdicts: unchanged")
    if not yes:
        print("nothing copied; repeat with --yes when these results are to be the reference")
        return
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        whole_files.write_text(target / name, text)
    if not names:
        page(identifier)
    print(f"copied; run scripts/pages, commit {target} and say in CHANGELOG.md why the reference changed")


def shown_rows(identifier, folder):
    """{file name: text} of the rows behind the figure of the page; nothing where it is drawn from tables, or the file were too large."""
    figure = docs_pages.page_figures().get(identifier, {}).get("figure")
    if figure is None or not (folder / "runs.csv").is_file():
        return {}
    found = shown.table(data.read_experiment(folder), figure)
    return dict([found]) if found and len(found[1].encode()) <= LIMIT else {}


def page(identifier):
    """The figure that the page of an experiment shows, or the page that it makes."""
    folder, places = results() / "out" / identifier, docs_pages.shown_files(identifier)
    if not places:
        print(f"{identifier}: its page shows no figure")
    for name, target in places:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, target)
            print(f"copied     {target.relative_to(docs_pages.ROOT)}")
        elif folder.is_dir() or not drawn_from_tables(identifier, name, target):
            raise ReportError(f"{folder / name} does not exist; run the experiment and scripts/report first")


def drawn_from_tables(identifier, name, target):
    """Draws a figure of a committed result where nothing was run here; False where it needs rows that are not kept."""
    committed_folder, stem = results() / "reference" / identifier, Path(name).stem
    figure = next((one for one in figures.known().values() if stem == one.name or (one.several and stem.startswith(f"{one.name}_"))), None)
    if figure is None or not figure.from_tables or not committed_folder.is_dir():
        return False
    style.apply()
    with tempfile.TemporaryDirectory() as place:
        if not figure.draw(shown.only(committed.experiment(committed_folder), figure.name, stem), Path(place)):
            return False
        shutil.copyfile(Path(place) / name, target)
    print(f"drawn      {target}, from what is kept in {committed_folder}")
    return True


def note_bounds(identifiers):
    """Every claims.json of results/reference has the words of today's definitions, and says at which commit its bounds were set."""
    for path in sorted((results() / "reference").glob("*/claims.json")):
        found = definition.find(path.parent.name) if not identifiers or path.parent.name in identifiers else None
        if found is None:
            continue
        text = judged.to_json(stamped_claims(path.parent, found, data.read_env(path.parent)))
        if text != path.read_text(encoding="utf-8"):
            whole_files.write_text(path, text)
            print(f"written    {path}")


# --- compare --------------------------------------------------------------------------------------------------------------------

KEYS = ["experiment", "family", "label", "region_mode", "protocol"]
SHARE = 0.10  # of a sum
FEW = 0.05    # of the problems
ROUNDING = 1e-12  # a residual at which changes are roundings; a stop that asks for small changes ends there by chance


def counts(experiment):
    runs = experiment.runs
    rows = runs[(runs["threads"] == runs["threads"].min()) & (runs["repetition"] == 0)]
    stop = rows["options.stop"] if "options.stop" in rows.columns else ""
    by_chance = (rows["protocol"] == "self-stopped") & (stop == "paper5") & (rows["residual"] < ROUNDING)
    rows = rows.assign(iterations=rows["iterations"].where((rows["solved"] == 1) & ~by_chance, 0))
    table = rows.groupby(KEYS, as_index=False).agg(problems=("solved", "size"), solved=("solved", "sum"), contacts=("contacts", "sum"),
                                                   regions=("regions", "sum"), iterations=("iterations", "sum"))
    return table.sort_values(KEYS, kind="stable").reset_index(drop=True)


def verdicts(experiment):
    timed = {str(claim.get("id")) for claim in experiment.claims if judged.is_about_time(claim)}
    return pd.DataFrame([(v.experiment, v.id, v.verdict) for v in judged.evaluate_all(experiment) if v.id not in timed],
                        columns=["experiment", "id", "verdict"])


def side_by_side(found, wanted, keys):
    """Rows of both tables; the keys are text, also in a table without rows, whose columns have no type."""
    tables = [table.astype(dict.fromkeys(keys, str)) for table in (wanted, found)]
    return tables[0].merge(tables[1], on=keys, how="outer", suffixes=("_was", ""), indicator=True)


def differences(found, wanted):
    """One line for every count that is further off than rounding explains."""
    lines = []
    for row in side_by_side(found, wanted, KEYS).to_dict("records"):
        name = ", ".join(str(row[key]) for key in KEYS)
        if row["_merge"] != "both":
            lines.append(f"{name}: {'no longer there' if row['_merge'] == 'left_only' else 'not in the reference'}")
            continue
        if row["problems"] != row["problems_was"] and abs(row["problems"] - row["problems_was"]) > FEW * row["problems_was"]:
            lines.append(f"{name}: {row['problems']} problems, {row['problems_was']} in the reference")
        if abs(row["solved"] - row["solved_was"]) > max(1.0, FEW * row["problems_was"]):
            lines.append(f"{name}: {row['solved']} solved, {row['solved_was']} in the reference")
        for column in ("contacts", "regions", "iterations"):
            if abs(row[column] - row[f"{column}_was"]) > max(2.0, SHARE * row[f"{column}_was"]):
                lines.append(f"{name}: {row[column]} {column}, {row[f'{column}_was']} in the reference")
    return lines


def other_verdicts(found, wanted):
    return [f"{row['experiment']}, claim {row['id']}: " + ("no longer there" if row["_merge"] == "left_only" else
            f"{row['verdict']}, {'not' if row['_merge'] == 'right_only' else row['verdict_was']} in the reference")
            for row in side_by_side(found, wanted, ["experiment", "id"]).to_dict("records") if row["verdict"] != row["verdict_was"]]


def write_rows(table, path, identifiers):
    """The rows of these experiments; those of others stay."""
    if path.is_file():
        before = pd.read_csv(path, keep_default_na=False)
        table = pd.concat([before[~before["experiment"].isin(identifiers)], table], ignore_index=True)
    table.sort_values("experiment", kind="stable").to_csv(path, index=False)


def name_stale(reference):
    lines = quick_inputs.stale(reference)
    print("".join(f"{line}\n" for line in lines), end="")
    if lines:
        print("reference: make them again: signorini run ID --size quick --out DIR, then scripts/reference compare DIR ID, and with --write "
              "where what differs is meant", file=sys.stderr)
    return int(bool(lines))


def compare(folder, identifiers, write, reference):
    identifiers = identifiers or sorted(path.parent.name for path in folder.glob("lazarevych2010_*/runs.csv"))
    experiments = [data.read_experiment(folder / name) for name in identifiers]
    if not experiments:
        raise ReportError(f"no runs under {folder}; start with signorini run ID --size quick --out {folder}")
    files = [reference / name for name in ("quick_counts.csv", "quick_verdicts.csv")]
    found = [pd.concat([make(e) for e in experiments], ignore_index=True) for make in (counts, verdicts)]
    if write:
        for table, path in [*zip(found, files), (quick_inputs.table(experiments), reference / quick_inputs.NAME)]:
            write_rows(table, path, [e.id for e in experiments])
        return 0
    wanted = [pd.read_csv(path, keep_default_na=False) for path in files]
    wanted = [table[table["experiment"].isin(identifiers)] for table in wanted]
    lines = differences(found[0], wanted[0]) + other_verdicts(found[1], wanted[1])
    print("".join(f"{line}\n" for line in lines), end="")
    print(f"reference: {len(found[0])} counts and {len(found[1])} verdicts compared, {len(lines)} differ", file=sys.stderr)
    return int(bool(lines))


# --- command line -----------------------------------------------------------------------------------------------------------------

def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/reference", description=DESCRIPTION, epilog=NOTES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("promote", help="make a result the reference")
    one.add_argument("id", metavar="ID")
    one.add_argument("files", metavar="FILE", nargs="*")
    one.add_argument("--yes", action="store_true", help="copy")
    one.add_argument("--counts-only", action="store_true", help="also where the machine was busy: for results whose times nobody uses")
    commands.add_parser("page", help="copy what the page of an experiment shows").add_argument("id", metavar="ID")
    two = commands.add_parser("compare", help="compare counts and verdicts of size quick")
    two.add_argument("dir", metavar="DIR", type=Path)
    two.add_argument("ids", metavar="ID", nargs="*")
    two.add_argument("--write", action="store_true", help="make them the reference")
    two.add_argument("--reference", type=Path, metavar="FOLDER", help="instead of results/reference")
    commands.add_parser("stale", help="name quick counts and verdicts that are older than their experiment")
    commands.add_parser("bounds", help="note when each bound was set").add_argument("ids", metavar="ID", nargs="*")
    return parser.parse_args(arguments)


def dispatch(asked):
    if asked.command == "promote":
        promote(asked.id, asked.files, asked.yes, asked.counts_only)
    elif asked.command == "page":
        page(asked.id)
    elif asked.command == "stale":
        return name_stale(results() / "reference")
    elif asked.command == "bounds":
        note_bounds(asked.ids)
    else:
        return compare(asked.dir, asked.ids, asked.write, asked.reference or results() / "reference")
    return 0


def main(arguments=None):
    try:
        return dispatch(parse(arguments))
    except (Refused, Usage, ReportError) as error:
        print(f"reference: {error}", file=sys.stderr)
        return {Refused: 1, Usage: 2}.get(type(error), 3)
    except (OSError, json.JSONDecodeError) as error:
        print(f"reference: {error}", file=sys.stderr)
        return 3
