"""The tables of docs/which-solver.md, from results/reference/signorini_today: families.csv, failures.csv, dependence.csv, problems.csv."""

import tomllib

import pandas as pd

from signorini_report import data, definition, groups, tables
from signorini_report.figures import profiles

ID = "signorini_today"
NOT_THERE = "*Not in results/reference yet: `scripts/which_solver` makes it.*\n"
SHOWN = 3       # solvers named per family
MOST_TOLD = 14  # solvers in the table of dependence
ENDS = {"time_limit": "out of time", "iteration_limit": "out of iterations", "unsupported": "needs M", "residual missed": "believes to be done"}


def table_of(folder, name):
    path = folder / name
    return pd.read_csv(path, dtype={"step": str}) if path.is_file() else None


def span(values, digits=3):
    """'0.0066 – 0.41', one number where they agree; – where there are none."""
    values = pd.to_numeric(values, errors="coerce").dropna()
    if values.empty:
        return "–"
    low, high = (f"{value:.{digits}g}" for value in (values.min(), values.max()))
    return low if low == high else f"{low} – {high}"


def family_order(config):
    return [profiles.ALL, *config.get("groups", {})]


def problems_table(folder, config):
    """What the problems of every family are like."""
    facts = table_of(folder, "problems.csv")
    if facts is None:
        return NOT_THERE
    facts["family"] = [groups.group_of(data.scene_of(file), config["groups"]) for file in facts["file"]]
    facts["rows_per_rank"] = 3 * facts["contacts"] / facts["rank"]
    rows = []
    for family in config["groups"]:
        part = facts[facts["family"] == family]
        if len(part):
            scenes = sorted({data.scene_of(file) for file in part["file"]})
            names = ", ".join(f"`{name}`" for name in scenes) if len(scenes) < 8 else f"{len(scenes)} files"
            rows.append([family, names, str(len(part)), span(part["contacts"], 4), span(part["dofs"].where(part["dofs"] > 0), 5), span(part["rank_ratio"]),
                         span(part["rows_per_rank"]), span(part["condition"], 2), span(part["mass_condition"], 2), span(pd.concat([part["mu_min"], part["mu_max"]]))])
    return tables.markdown(["family", "scenes", "problems", "contacts", "dofs", "rows ÷ dofs", "rows ÷ rank of W", "condition of W", "condition of D⁻¹M", "μ"],
                           rows, set(range(2, 10)))


def named(row, suffix=""):
    """NNCG 1.03 (9 of 9)"""
    factor = row[f"factor{suffix}"]
    return f"{row['label']} {'–' if pd.isna(factor) else f'{factor:.2g}'}" + ("" if row["solved"] == row["problems"] else f" ({row['solved']} of {row['problems']})")


def winners_table(folder, config):
    """The highest profiles of every family at every tolerance, set-up counted in and not; auto; the best of Siconos."""
    table = table_of(folder, "families.csv")
    if table is None:
        return NOT_THERE
    rows = []
    for family in family_order(config):
        first = family
        for tolerance in sorted(set(table["tolerance"]), reverse=True):
            part = table[(table["family"] == family) & (table["tolerance"] == tolerance)]
            if part.empty:
                continue
            by, alone = (part.sort_values(column, ascending=False, kind="stable") for column in ("height", "height_alone"))
            siconos = by[by["solver"].str.startswith("siconos") & (by["solved"] > 0)]
            auto = by[by["label"] == "auto"]
            rows.append([first, tables.tolerance_text(tolerance), ", ".join(named(row) for _, row in by.head(SHOWN).iterrows()),
                         ", ".join(named(row, "_alone") for _, row in alone.head(SHOWN).iterrows()),
                         named(auto.iloc[0]).removeprefix("auto ") if len(auto) else "–",
                         named(siconos.iloc[0]).removeprefix("Siconos ") if len(siconos) else "–"])
            first = ""
    return tables.markdown(["family", "residual", "best, set-up counted in", "best, without set-up", "auto", "best of Siconos"], rows, set())


def end_words(label, end):
    """What the page calls an end; Siconos takes no M, and no W that is too large to hand over."""
    return "W too large" if end == "unsupported" and label.startswith("Siconos ") else ENDS.get(end, end)


def failures_table(folder, config):
    """How many problems each solver does not solve, how those runs end, and where."""
    table, whole = table_of(folder, "failures.csv"), table_of(folder, "families.csv")
    if table is None or whole is None:
        return NOT_THERE
    whole = whole[whole["family"] == profiles.ALL]
    tolerances = sorted(set(whole["tolerance"]), reverse=True)
    rows = []
    for label in dict.fromkeys(whole.sort_values(["solved"], ascending=False, kind="stable")["label"]):
        own = table[table["label"] == label]
        cells = [label]
        for tolerance in tolerances:
            here = whole[(whole["label"] == label) & (whole["tolerance"] == tolerance)]
            ends = own[own["tolerance"] == tolerance].groupby("end")["runs"].sum()
            told = ", ".join(f"{count} {end_words(label, end)}" for end, count in ends.items())
            cells.append(f"{int(here['problems'].sum() - here['solved'].sum())} of {int(here['problems'].sum())}" + (f": {told}" if told else ""))
        missed = own[(own["tolerance"] == tolerances[1 if len(tolerances) > 2 else 0]) & (own["end"] != "unsupported")]
        counts = missed.groupby("family")["runs"].sum()
        cells.append(", ".join(f"{name} {counts[name]}" for name in [*config["groups"], "others"] if name in counts) or "–")
        rows.append(cells)
    middle = tables.tolerance_text(tolerances[1 if len(tolerances) > 2 else 0])
    return tables.markdown(["solver", *(f"not solved to {tables.tolerance_text(tolerance)}" for tolerance in tolerances), f"families missed at {middle}"], rows, set())


WORDS = {"contacts": "contacts", "rank_ratio": "rows ÷ dofs", "rows_per_rank": "rows ÷ rank of W", "condition": "condition of W",
         "mass_condition": "condition of D⁻¹M", "most_neighbours": "neighbours of a contact", "mu_max": "μ"}


def dependence_table(folder, config):
    """Correlation of rank of a problem's numbers with the time over the best, at the middle tolerance."""
    table, whole = table_of(folder, "dependence.csv"), table_of(folder, "families.csv")
    if table is None or whole is None:
        return NOT_THERE
    tolerances = sorted(set(table["tolerance"]), reverse=True)
    middle = tolerances[1 if len(tolerances) > 2 else 0]
    best = whole[(whole["family"] == profiles.ALL) & (whole["tolerance"] == middle)].sort_values("height", ascending=False, kind="stable")
    table = table[table["tolerance"] == middle].pivot_table(index="label", columns="number", values="correlation", dropna=False)
    rows = []
    for label in [label for label in best["label"] if label in table.index][:MOST_TOLD]:
        values = [table.loc[label, name] if name in table.columns else float("nan") for name in WORDS]
        rows.append([label, *("–" if pd.isna(value) else f"**{value:+.1f}**" if abs(value) >= 0.5 else f"{value:+.1f}" for value in values)])
    return tables.markdown(["solver", *WORDS.values()], rows, set(range(1, 1 + len(WORDS))))


def source_line(folder, config):
    """What stands behind the tables."""
    env, run = data.read_env(folder), tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
    limits = run | run.get("sizes", {}).get(env.get("size", ""), {})
    whole = table_of(folder, "families.csv")
    count = "" if whole is None else f", {int(whole[whole['family'] == profiles.ALL]['problems'].max())} problems"
    left_out = env.get("inputs_left_out", "")
    siconos = whole is not None and whole["solver"].str.startswith("siconos").any()
    return (f"Size {env.get('size', '')}{count}, one thread, from zero, friction cone, {limits['time_limit']:g} s per solve; program revision "
            f"`{env['build']['git']}`, {env['machine']['cpu']}.{' Files that were not there: ' + left_out + '.' if left_out else ''}"
            f"{'' if siconos else ' Without rows of Siconos.'}\n")


TABLES = {"source": source_line, "problems": problems_table, "winners": winners_table, "failures": failures_table, "dependence": dependence_table}


def marked(name, root):
    """The text between the markers `which-solver NAME`."""
    folder = root / "results" / "reference" / ID
    defined = definition.folder_of(ID, root / "configs")
    return TABLES[name](folder, definition.read_definition(defined).config)
