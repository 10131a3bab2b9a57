"""DATASHEET.md from its template in shipped/: every number comes from the rows of problems.csv and scenes.csv and from the settings."""

import string
from collections import Counter
from pathlib import Path

from signorini_dataset import difficulty, problems, zenodo

TEMPLATE = Path(__file__).parent / "shipped" / "DATASHEET.md"
STATISTICS = (("contacts", "contacts m"), ("dofs", "degrees of freedom n"), ("regions", "regions by mass points"), ("islands", "islands by bodies"),
              ("mu_max", "friction, largest of the problem"), ("diagonal_ratio", "largest over smallest diagonal entry of M"), ("rank", "rank of W"),
              ("condition", "condition of W on its range"), ("pgs_sweeps", "difficulty: sweeps"), ("iterations", "iterations of the reference"),
              ("residual", "residual of the reference"), ("bytes", "bytes of both files"))


def numbers(rows, field):
    return sorted(float(row[field]) for row in rows if row[field] != "")


def short(value):
    return f"{value:,.0f}" if abs(value) >= 100 and abs(value) < 1e7 else f"{value:.3g}"


def plural(count, word):
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def span(rows, field):
    """'10 – 1,137', one number where all agree, – where there is none."""
    values = numbers(rows, field)
    if not values:
        return "–"
    low, high = short(values[0]), short(values[-1])
    return low if low == high else f"{low} – {high}"


def middle(values):
    half = len(values) // 2
    return values[half] if len(values) % 2 else 0.5 * (values[half - 1] + values[half])


def table(header, rows, left=1):
    rule = ["---"] * left + ["--:"] * (len(header) - left)
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [header, rule, *rows])


def scene_table(rows):
    body = []
    for scene in dict.fromkeys(row["scene"] for row in rows):
        own = [row for row in rows if row["scene"] == scene]
        good = sum(row["status"] in ("reached", "accurate") for row in own)
        body.append([f"`{scene}`", own[0]["kind"], len(own), span(own, "contacts"), span(own, "dofs"), span(own, "mu_max"), span(own, "pgs_sweeps"), f"{good} of {len(own)}",
                     span(own, "residual")])
    return table(["scene", "step", "problems", "contacts", "dofs", "μ", "difficulty", f"reference ≤ {problems.ACCURATE:g}", "residual"], body, left=2)


def statistics_table(rows):
    body = []
    for field, words in STATISTICS:
        values = numbers(rows, field)
        cells = [short(value) for value in (values[0], middle(values), values[-1])] if values else ["–"] * 3
        body.append([words, f"`{field}`", *cells, len(values)])
    return table(["quantity", "column", "least", "median", "largest", "problems that have it"], body, left=2)


def accuracy_table(rows, tolerance):
    limits = sorted({float(tolerance), problems.ACCURATE, 1e-8, 1e-6})
    residuals = numbers(rows, "residual")
    body = [[f"≤ {limit:g}", sum(value <= limit for value in residuals)] for limit in limits]
    body += [[f"> {limits[-1]:g}", sum(value > limits[-1] for value in residuals)], ["no solution", sum(row["residual"] == "" for row in rows)]]
    return table(["residual of the reference", f"of {len(rows)} problems"], body)


def listed(rows, words):
    return ", ".join(f"`{row['name']}` ({words(row)})" for row in rows)


def poor_references(rows):
    poor = [row for row in rows if row["status"] not in ("reached", "accurate")]
    if not poor:
        return f"- Every problem has a reference with residual ≤ {problems.ACCURATE:g}."
    named = listed(poor, lambda row: f"{row['residual'] or 'none'}, {row['status'].replace('_', ' ')}")
    return f"- References with a residual above {problems.ACCURATE:g}, the best of all solvers tried ({len(poor)} of {len(rows)}): {named}."


def redundant(rows):
    measured = [row for row in rows if row["rank"] != ""]
    short_of = [row for row in measured if int(row["rank"]) < 3 * int(row["contacts"])]
    unknown = len(rows) - len(measured)
    text = f"- Redundant contacts (rank of W below 3m), where impulses r are not unique but velocities are: {len(short_of)} of {len(measured)} problems."
    return text + (f" The rank was not measured on {plural(unknown, 'larger problem')}." if unknown else "")


def defects(made, rows):
    lines = [poor_references(rows), redundant(rows)]
    failed = [row for row in made.scenes if row["status"] == "failed"]
    lines += [f"- Scene `{row['scene']}` could not be recorded: {row['message']}." for row in failed]
    halved = [row for row in made.scenes if row["status"] != "failed" and int(row["unresolved"])]
    lines += [f"- Scene `{row['scene']}`: {row['unresolved']} of {row['steps']} steps of the simulation ended with a contact problem unsolved; snapshots of "
              "such steps are problems like others." for row in halved]
    differing = [row for row in made.scenes if row["differing"]]
    lines += [f"- Scene `{row['scene']}` does not show {row['differing'].replace(' ', ', ')} (`facts.csv`)." for row in differing]
    clocked = [row for row in rows if row["status"] == "time_limit"]
    if clocked:
        lines.append(f"- The clock ended the solve of {listed(clocked, lambda row: row['residual'])}: another machine may find another reference.")
    return "\n".join(lines)


def missing(made):
    without = [row["scene"] for row in made.scenes if row["scene"] not in {problem["scene"] for problem in made.problems}]
    sentence = "Nothing of an instance; `rank` and `condition` are empty where W is too large to be decomposed."
    return sentence + (f" No snapshot here: {', '.join(f'`{name}`' for name in without)}." if without else "")


def count_sentence(rows, settings):
    scenes, solvers = len({row["scene"] for row in rows}), Counter(row["solver"] for row in rows if row["solver"])
    part = f" of {settings['problems_of_all_parts']} in all parts" if "part" in settings else ""
    by = ", ".join(f"{name} {count}" for name, count in solvers.most_common())
    size = sum(int(row["bytes"]) for row in rows) / 1e6
    return f"{plural(len(rows), 'problem')}{part} of {plural(scenes, 'scene')}, {size:,.1f} MB. References by solver: {by or 'none'}."


def command_of(settings):
    words = [f"--size {settings['size']}", f"--most {settings['most']}", f"--contacts {settings['contacts']}"]
    words += [f"--{name.replace('_', '-')} {settings[name]}" for name in ("steps", "contact_steps") if settings[name]]
    words += [f"--stride {settings['stride']}"] if settings["stride"] > 1 else []
    return " ".join(words + [f"--scenes {','.join(settings['scenes'])}"])


def recorded_sentence(settings):
    ends = [f"after {settings['contact_steps']} steps with at least 10 contacts"] if settings["contact_steps"] else []
    ends += [f"after {settings['steps']} steps"] if settings["steps"] else []
    until = " or ".join(ends) or "to their ends"
    return f"Simulations of {len(settings['scenes'])} scenes at size {settings['size']} ran {until}."


def text(made, settings):
    rows, (authors, version, licence, _) = made.problems, zenodo.cited()
    friction = span(rows, "mu_max")
    values = {
        "size": settings["size"], "part_title": f", {settings['part']} part" if "part" in settings else "", "creators": ", ".join(authors), "version": version,
        "made_by": "`made_by.json`", "count_sentence": count_sentence(rows, settings), "scene_table": scene_table(rows), "most": settings["most"],
        "stride": f" of every {settings['stride']}-th recorded one" if settings["stride"] > 1 else "", "least": f"at least {plural(settings['contacts'], 'contact')}",
        "cheap_residual": f"{difficulty.RESIDUAL:g}", "cheap_sweeps": difficulty.SWEEPS, "accuracy_table": accuracy_table(rows, settings["tolerance"]),
        "missing": missing(made), "defects": defects(made, rows), "recorded": recorded_sentence(settings), "solvers": ", ".join(f"`{name}`" for name in settings["solvers"]),
        "max_iterations": f"{settings['max_iterations']:,}", "time_limit": f" and {settings['time_limit']:g} s", "tolerance": f"{settings['tolerance']:g}",
        "statistics_table": statistics_table(rows), "mu_sentence": f"friction coefficients lie at {friction}." if rows else "", "licence": licence,
        "command": command_of(settings),
    }
    return string.Template(TEMPLATE.read_text(encoding="utf-8")).substitute(values)
