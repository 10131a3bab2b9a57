"""Which definitions the quick counts and verdicts were made from: results/reference/quick_inputs.csv, a row for each experiment.

A row holds digests of what decides the numbers at size quick: `run` (run.toml), `scenes` (the scene files that it names) and `claims` (what is
judged of the claims that are not about time). Titles, reasons and what only other sizes use do not count. A row that is not that of the tree
as it is names counts or verdicts that are stale: they would come out otherwise, or nobody has looked.
"""

import hashlib
import json

import pandas as pd

from signorini_report import bounds, definition as definitions, verdicts

NAME, SIZE, OTHERS = "quick_inputs.csv", "quick", ("medium", "paper")
COLUMNS = ["experiment", "run", "scenes", "claims"]
WORDS = {"run": "run.toml", "scenes": "a scene file that it names", "claims": "claims.toml or paper.toml"}


def digest(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:12]


def of_this_size(table):
    """A run.toml or a scene without its title and without what only other sizes use."""
    kept = {key: value for key, value in table.items() if key not in ("artefact", "title")}
    for key in ("sizes", "size"):  # of run.toml, of a scene
        if key in kept:
            kept[key] = {size: value for size, value in kept[key].items() if size not in OTHERS}
    for key in ("recordings", "problems"):
        if key in table:
            kept[key] = [one for one in table[key] if SIZE in one.get("sizes", [SIZE])]
    return kept


def scene_names(run):
    """Names of the scenes that are recorded at this size."""
    named = [scene for one in run.get("recordings", []) for scene in ([one["scene"]] if isinstance(one["scene"], str) else one["scene"])]
    return sorted({*run.get("scenes", []), *named})


def of(definition):
    """{column: digest} of an experiment as its folder says it now."""
    folder = definition.folder.resolve()
    run, scenes = of_this_size(definition.run), folder.parents[2] / "scenes"
    claims = {str(claim["id"]): bounds.judged(claim) for claim in definition.claims if not verdicts.is_about_time(claim)}
    asked = {name: part if SIZE in part.get("sizes", [SIZE]) else "at other sizes" for name, part in claims.items()}
    read = {name: of_this_size(definitions.read_toml(scenes / f"{name}.toml")) for name in scene_names(run)}
    return {"run": digest(run), "scenes": digest(read), "claims": digest(asked)}


def table(experiments):
    """Rows of results whose definition is known."""
    return pd.DataFrame([{"experiment": one.id, **of(one.definition)} for one in experiments if one.definition], columns=COLUMNS)


def experiments_in(reference):
    """The experiments that have counts or verdicts."""
    tables = [pd.read_csv(reference / name, usecols=["experiment"], dtype=str) for name in ("quick_counts.csv", "quick_verdicts.csv")]
    return sorted(set(pd.concat(tables)["experiment"]))


def stale(reference):
    """A line for every experiment whose counts or verdicts were made from another definition than the tree's."""
    path, counted = reference / NAME, experiments_in(reference)
    known = pd.read_csv(path, dtype=str).set_index("experiment") if path.is_file() else pd.DataFrame(columns=COLUMNS[1:])
    lines = []
    for name in sorted({*counted, *known.index}):
        found = definitions.find(name)
        if name not in counted:
            lines.append(f"{name}: {NAME} has it, but no count and no verdict")
        elif found is None:
            lines.append(f"{name}: configs/experiments has it no longer; take its rows out")
        elif name not in known.index:
            lines.append(f"{name}: {NAME} does not say what its rows were made from")
        else:
            changed = [WORDS[column] for column, now in of(found).items() if known.loc[name, column] != now]
            lines += [f"{name}: its rows are stale, {' and '.join(changed)} changed"] if changed else []
    return lines
