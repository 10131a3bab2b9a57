"""Pages of what `signorini list … --json` tells: solvers with their options, scenes, experiments, columns and measures."""

import json
import re
import subprocess

from .staging import Extra, write
from .tree import address, listing_name, page_name

EXTRAS = [
    Extra("Reference", "options", "Options of every solver", "type, default and meaning, as `signorini list solvers` tells them"),
    Extra("Reference", "scenes-list", "Scenes and shapes", "what comes with the program, with the file of each scene"),
    Extra("Reference", "experiments-list", "Experiments", "all of them, with page, settings and committed results"),
    Extra("Reference", "columns", "Columns and measures", "what stands in `runs.csv`, and by which errors answers are judged"),
]
FAMILIES = "lib/solvers"


def ask(program, what):
    """The list as the program tells it."""
    done = subprocess.run([program, "list", what, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{program} list {what} --json ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def cell(text):
    """Words in a cell of a table, safe from Markdown."""
    return re.sub(r"([\\|*_<>\[\]`$])", r"\\\1", str(text)).replace("\n", " ")


def table(heads, rows):
    return "| " + " | ".join(heads) + " |\n|" + "---|" * len(heads) + "\n" + "".join("| " + " | ".join(row) + " |\n" for row in rows)


def type_words(told):
    """The values of a choice one by one, so that a cell can wrap."""
    return " · ".join(f"`{value}`" for value in told.split("|")) if "|" in told else cell(told)


def families(root):
    """Solver → page of its family: the README that names it in its title."""
    found = {}
    for page in sorted((root / FAMILIES).glob("*/README.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0]
        found.update(dict.fromkeys(re.findall(r"`([\w-]+)`", title), page.relative_to(root).as_posix()))
    return found


def options_page(solvers, family):
    """Options that every solver has with the same default and meaning are told once."""
    rows = [{(o["key"], o["type"], o["default"], o["help"]) for o in solver["options"]} for solver in solvers]
    shared = set.intersection(*rows) if rows else set()

    def listed(options):
        return table(["option", "values", "default", "meaning"],
                     [[f"`{o['key']}`", type_words(o["type"]), f"`{o['default']}`" if o["default"] else "", cell(o["help"])] for o in options])

    def is_shared(o):
        return (o["key"], o["type"], o["default"], o["help"]) in shared

    text = ("# Options of every solver\n\nMade from `signorini list solvers --json`. `--set NAME.KEY=VALUE` of `solve`, `compare` and `replay` sets an option "
            "([command line](command-line.html)); experiments give them as keys of a solver ([experiment files](experiments.html)). The methods are on "
            "[the solvers](solvers.html).\n\n## Options that all have\n\n" + listed([o for o in solvers[0]["options"] if is_shared(o)]) + "\n")
    for solver in solvers:
        own = [o for o in solver["options"] if not is_shared(o)]
        page = family.get(solver["name"])
        more = f" [Equations and code]({address('options', page_name(page))})." if page else ""
        text += (f"## `{solver['name']}`\n\n{cell(solver['summary'][:1].upper() + solver['summary'][1:])}. From: {cell(solver['source'])}.{more}\n\n"
                 + (listed(own) if own else "No options of its own.\n") + "\n")
    return text


def scenes_page(root, scenes, shapes, staged):
    rows = []
    for scene in scenes:
        file = f"configs/scenes/{scene['name']}.toml"
        staged.listings.add(file)
        rows.append([f"[`{scene['name']}`]({address('scenes-list', listing_name(file, False))})", cell(scene["summary"])])
    return ("# Scenes and shapes\n\nMade from `signorini list scenes --json`. `signorini record NAME` records one; [the gallery](gallery.html) has pictures, sizes and "
            "times, [scene files](scenes.html) every key.\n\n" + table(["scene", "what"], rows)
            + "\n## Shapes\n\nOf bodies and obstacles of a scene (`signorini list shapes --json`).\n\n"
            + table(["shape", "of", "what"], [[f"`{shape['name']}`", cell(shape["body"]), cell(shape["summary"])] for shape in shapes]))


def experiments_page(root, experiments, staged):
    papers = {}
    for experiment in experiments:
        paper, _, name = experiment["name"].partition("_")
        papers.setdefault(paper, []).append((name, experiment))
    text = ("# Experiments\n\nMade from `signorini list experiments --json`. `scripts/reproduce NAME --size quick` repeats one. "
            "[What holds and what differs](results.html); [how to write one](experiments.html).\n")
    for paper, listed in papers.items():
        rows = [[f"`{experiment['name']}`", cell(experiment["artefact"]), _links(root, staged, paper, name, experiment["name"])] for name, experiment in listed]
        text += f"\n## {paper}\n\n" + table(["name", "what", ""], rows)
    return text


def _links(root, staged, paper, name, full):
    here, links = "experiments-list", []
    if f"docs/papers/{paper}/{name}.md" in staged.pages:
        links.append(f"[page]({address(here, f'papers/{paper}/{name}')})")
    for words, folder in (("settings", f"configs/experiments/{paper}/{name}"), ("results", f"results/reference/{full}")):
        if (root / folder).is_dir():
            staged.listings.add(folder)
            links.append(f"[{words}]({address(here, listing_name(folder, True))})")
    return " · ".join(links)


def columns_page(columns, measures):
    return ("# Columns and measures\n\n## Columns of runs.csv\n\nMade from `signorini list columns --json`. One row per run; failed runs are rows too "
            "([protocols](protocols.html)).\n\n"
            + table(["column", "type", "unit", "meaning"], [[f"`{c['name']}`", cell(c["type"]), cell(c["unit"]), cell(c["meaning"])] for c in columns])
            + "\n## Measures\n\nThe columns that judge an answer ([formulas](theory.html#the-referees-measures)).\n\n"
            + table(["measure", "unit", "meaning"], [[f"`{m['name']}`", cell(m["unit"]), cell(m["meaning"])] for m in measures]))


def write_pages(root, stage, staged, program):
    solvers = ask(program, "solvers")
    write(stage / "options.md", options_page(solvers, families(root)))
    write(stage / "scenes-list.md", scenes_page(root, ask(program, "scenes"), ask(program, "shapes"), staged))
    write(stage / "experiments-list.md", experiments_page(root, ask(program, "experiments"), staged))
    write(stage / "columns.md", columns_page(ask(program, "columns"), ask(program, "measures")))
