"""The page of rules that fail as printed: [[rules]] of figures.toml with the numbers of its runs."""

import re
import textwrap
from pathlib import Path

import pandas

from signorini_report import data, tables, whole_files

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"
RULE = dict.fromkeys(("id", "source", "printed", "wrong", "change", "as_printed", "corrected", "problems", "note", "judge",
                      "theory", "options", "elsewhere"))
KEYS = {"rules": RULE}  # of figures.toml


def option_text(solver):
    """`pgs` with `form = printed`, as `signorini solve --set` takes it."""
    settings = [f"{solver['name']}.{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in solver.items()
                if key not in ("name", "label")]
    return f"`{solver['name']}`" + "".join(f" `--set {setting}`" for setting in settings)


def solvers_by_label(experiment):
    return dict(zip(tables.config_labels(experiment), experiment.config.get("solvers", [])))


def measured_cell(rows, least, label, file):
    """What one form did on one problem; of a self-stopped run also whether it says the truth."""
    part = rows[(rows["label"] == label) & (rows["file"] == file)]
    if part.empty:
        return "–"
    row = part.iloc[0]
    if row["protocol"] == "converge":
        return tables.outcome(part, least, label)
    words = {"converged": "stops as converged", "stalled": "stops", "diverged": "diverges",
             "iteration_limit": "runs to the limit"}.get(row["status"], row["status"])
    return f"{words} after {row['iterations']:g}, residual {tables.reached_text(row['residual'])}"


def effect(experiment, rule):
    """(header, body): problems × forms."""
    protocol = rule.get("judge", "converge")
    rows, least = tables.rows_for(experiment, protocol), tables.least_residuals(experiment)
    files = {data.scene_of(file): file for file, _ in tables.ordered(experiment, rows)}
    labels = rule.get("as_printed", []) + rule.get("corrected", [])
    body = []
    for name in rule.get("problems", list(files)):
        if name in files:
            body.append([name] + [measured_cell(rows, least, label, files[name]) for label in labels])
    return ["problem"] + labels, body


def theory(rule):
    """Links to the sections of docs/theory.md, or those that the rule names."""
    return rule.get("theory") or ", ".join(f"[{code}](theory.md#{code.lower()})" for code in re.findall(r"C\d+", rule["id"]))


def committed(rule):
    """(header, body, counts by form) of a rule that another experiment has measured: what its committed summary.csv says."""
    other = rule["elsewhere"]
    table = pandas.read_csv(REFERENCE / other["experiment"] / "summary.csv")
    table = table[(table["tolerance"] == other["tolerance"]) & (table["threads"] == 1) & (table["protocol"] == "self-stopped")]
    table = table.set_index("variant")
    body, counts = [], {}
    for word, key in (("as printed", "printed"), ("corrected", "corrected")):
        for variant in other[key]:
            row = table.loc[variant]
            solved = f"{round(row['solved_percent'] * row['snapshots'] / 100)} of {row['snapshots']}"
            counts.setdefault(key, []).append(solved)
            median = row["iterations_median"]
            body.append([f"`{variant}`, {word}", solved, "–" if pandas.isna(median) else tables.count_text(median)])
    return ["form", f"snapshots solved to {tables.reached_text(other['tolerance'])}", "iterations of those, median"], body, counts


def section(experiment, rule):
    solvers = solvers_by_label(experiment)
    lines = [f"## {rule['id']}: {rule['source']}", "", f"The mathematics: {theory(rule)}.", ""]
    for heading, key in (("Printed", "printed"), ("What goes wrong", "wrong"), ("Changed", "change")):
        lines += textwrap.wrap(f"**{heading}.** {rule[key]}", 118) + [""]
    forms = [f"{option_text(solvers[label])} ({word})" for word, key in (("as printed", "as_printed"), ("corrected", "corrected"))
             for label in rule.get(key, [])]
    if forms:
        lines += ["**Options.** " + "; ".join(forms), ""]
        header, body = effect(experiment, rule)
        lines += [tables.markdown(header, body, set())]
    if rule.get("options"):
        lines += [f"**Options.** {rule['options']}", ""]
    if rule.get("elsewhere"):
        header, body, _ = committed(rule)
        name = rule["elsewhere"]["experiment"]
        lines += [f"Counted by `{name}` ([committed results](../results/reference/{name}/summary.csv)):", ""]
        lines += [tables.markdown(header, body, set())]
    if rule.get("note"):
        lines += textwrap.wrap(rule["note"], 118) + [""]
    return "\n".join(lines)


def first_effect(experiment, rule):
    """The problem on which the two forms differ most visibly: the first one listed."""
    if rule.get("elsewhere"):
        counts = committed(rule)[2]
        return [f"{rule['elsewhere']['experiment']}, solved", "; ".join(counts["printed"]), "; ".join(counts["corrected"])]
    header, body = effect(experiment, rule)
    if not body or len(header) == 1:
        return ["–", "–", "–"]
    row, split = body[0], len(rule.get("as_printed", []))
    return [row[0], "; ".join(row[1:1 + split]) or "–", "; ".join(row[1 + split:]) or "–"]


def page(experiment):
    rules = experiment.config.get("rules", [])
    overview = []
    for rule in rules:
        overview.append([f"[{rule['id']}](#{anchor(rule)})", rule["source"], *first_effect(experiment, rule)])
    text = [f"# {experiment.title}", "",
            *textwrap.wrap(experiment.claim, 118), "",
            *textwrap.wrap(f"This page comes from the runs of `{experiment.id}`: `scripts/reproduce {experiment.id}`, then "
                           f"`scripts/reference page {experiment.id}`. All problems are made by the program or recorded by it in seconds; "
                           "nothing else is needed.", 118), "",
            *textwrap.wrap(f"A number is the first iteration at which the referee's residual is at most {experiment.tolerance:.0e}. "
                           "`> n, at x` means that it was not met within n iterations; x is the least residual on the way. Where a rule is "
                           "about stopping, the entry says where the solver stopped, and with which residual by the referee.", 118), "",
            tables.markdown(["rule", "source", "problem", "as printed", "corrected"], overview, set()),
            *[section(experiment, rule) for rule in rules]]
    return "\n".join(text).rstrip() + "\n"


def anchor(rule):
    """GitHub's anchor of the section's heading."""
    heading = f"{rule['id']}: {rule['source']}".lower()
    return "".join(c if c.isalnum() or c in "-_" else "-" if c == " " else "" for c in heading)


def write(experiment, folder):
    if experiment.config.get("rules"):
        whole_files.write_text(folder / "rules.md", page(experiment))
