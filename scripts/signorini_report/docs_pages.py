"""The command line of scripts/pages: pages of the experiments, docs/papers/PAPER/ARTEFACT.md, and tables between markers in other pages,
from results/reference and the definitions of the experiments; the table of columns in docs/experiments.md from the program."""

import argparse
import dataclasses
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd

from signorini_report import data, definition as definitions, notes, tables, verdicts as judged, which_solver

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = """Writes the pages of the experiments, docs/papers/PAPER/ARTEFACT.md, and the
tables between markers in the index pages, README.md and docs, from
results/reference alone.

  scripts/pages            writes what is out of date and names it
  scripts/pages --check    writes nothing; status 1 where a page is out of
                           date, too long or its figure is missing

`scripts/reference page ID` copies the figure that the page of ID shows. The
table of the columns of runs.csv comes from the program (SIGNORINI_PROGRAM,
else build/release/experiments/signorini) and stays as it is where that is not
built."""
NOTE = "<!-- Written by scripts/pages from results/reference; do not edit. -->\n"
MARKED = re.compile(r"(<!-- (verdicts|experiments|differences(?: (?:of|but) [\w ]+)?|columns|which-solver \w+) -->\n)(.*?)(<!-- /\2 -->)", re.S)
PAPERS = {"lazarevych2010": "Lazarevych, Szekely and Harders 2010", "otaduy2009": "Otaduy, Tamstorf, Steinemann and Gross 2009",
          "verschoor2019": "Verschoor and Jalba 2019"}
OURS = "signorini"
PRINTED_RULES = "signorini_printed_rules"
SHORT = {"lazarevych2010": "Lazarevych 2010, ", "otaduy2009": "Otaduy 2009, ", "verschoor2019": "Verschoor and Jalba 2019, "}  # in sources
PAGE_BYTES, README_BYTES, README_LINES = 60_000, 12_000, 200
TABLE_LETTERS = 40_000  # of a table on the page of an experiment
SIZES = ("quick", "medium", "paper")
BOUNDS = {judged.PAPER: "of the paper", judged.OURS: "of ours", "": "of unknown origin"}
PARTS = {"points": "by regions", "islands": "by islands"}


# --- reading ----------------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Experiment:
    """What results/reference/ID holds."""
    id: str
    paper: str
    folder: Path
    config: dict
    env: dict
    claims: list  # of verdicts.Verdict, without those that have no rows at this size
    absent: str   # which those are
    says: str = ""
    source: str = ""
    caption: str = ""  # of the figure on its page

    @property
    def page(self):
        return f"{self.id.removeprefix(self.paper + '_')}.md"

    @property
    def artefact(self):
        return self.config["artefact"]

    @property
    def words(self):
        """The artefact without the name of the paper."""
        return without_paper(self.artefact, self.paper)

    @property
    def size(self):
        return self.env.get("size") or self.config.get("size", "")

    @property
    def extent(self):
        """How far it ran: the size, and where every recording ends early, after how many steps with contact."""
        steps = {settings.get("time.contact_steps") for _, _, settings in definitions.recordings_of(self.config)}
        return f"{self.size}, first {steps.pop()} steps with contact" if len(steps) == 1 and None not in steps else self.size

    def count(self, verdict):
        return sum(claim.verdict == verdict for claim in self.claims)


def defined_in_tree(identifier):
    folder = definitions.folder_of(identifier, ROOT / "configs")
    return definitions.read_definition(folder) if folder else None


def of_paper(paper):
    """The experiments of a paper: figures and tables first, in their order, then what the text claims; ours by name."""
    found = []
    for path in (ROOT / "results" / "reference").glob(f"{paper}_*/claims.json"):
        folder = path.parent
        env, defined = data.read_env(folder), defined_in_tree(folder.name)
        verdicts = judged.read_reference(folder, defined.claims if defined else [], env)
        found.append(Experiment(folder.name, paper, folder, definitions.read_toml(folder / "run.toml"), env, judged.shown(verdicts),
                                judged.absent_line(verdicts), defined.says if defined else "", defined.source if defined else "",
                                defined.figures.get("page", {}).get("caption", "") if defined else ""))
    if paper == OURS:
        return sorted(found, key=lambda one: one.id)
    return sorted(found, key=lambda one: (not one.words.startswith(("Fig", "Table")), natural(one.words.replace("Figs", "Fig").replace(":", " ")), one.id))


def natural(text):
    """Sorts Fig. 2 before Fig. 10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def without_paper(text, paper):
    return text.removeprefix(SHORT[paper]) if paper in SHORT else text


# --- parts of pages -----------------------------------------------------------------------------------------------------------

def sentence(text):
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def counted(number, word, several=None):
    return f"{number} {word if number == 1 else several or word + 's'}"


def linked(text):
    """Names of experiments and pages of docs as links, for a page in docs/papers/PAPER/."""
    def link(match):
        if match[1]:
            return f"[{match[1]}](../../{match[1]}{match[2] or ''})" if (ROOT / "docs" / match[1]).is_file() else match[0]
        paper, _, name = match[3].partition("_")
        known = (ROOT / "results" / "reference" / match[3] / "claims.json").is_file()
        return f"[{match[3]}](../{paper}/{name}.md)" if known else match[0]
    return re.sub(rf"docs/((?:notes/)?[\w-]+\.md)(#[\w-]+)?|\b((?:{'|'.join([*PAPERS, OURS])})_\w+)", link, text)


def summary(experiment):
    """'4 of 7 claims hold, 2 differ and 1 cannot be compared.', apart for bounds of the paper and ours."""
    parts = judged.by_bound(experiment.claims)
    if len(parts) < 2:
        return summary_of(experiment.claims)
    return " ".join(f"Bounds {BOUNDS[bound]}: {summary_of(part, first_word=False)}" for bound, part in parts.items())


def summary_of(claims, first_word=True):
    holds, differs, others = judged.counts(claims)
    total = len(claims)
    if holds == total:
        text = "The claim holds." if total == 1 else f"All {total} claims hold."
        return text if first_word else text[0].lower() + text[1:]
    parts = [f"{holds} of {total} claims {'holds' if holds == 1 else 'hold'}"]
    parts += [f"{differs} {'differs' if differs == 1 else 'differ'}"] if differs else []
    parts += [f"{others} cannot be compared"] if others else []
    return (", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]) + "."


def origin(claim, result):
    """Why a bound is ours, and when it was set: before or after the program that made the rows."""
    text = linked(sentence(claim.why)) if claim.why else ""
    if claim.bound_set:
        order = {True: ".", False: ": not before the result.", None: "; which came first is unknown."}[claim.bound_first]
        text += f" Bound set `{claim.bound_set[:7]}`, result `{result[:7]}`{order}"
    return text.strip()


def section(title, entries):
    return f"\n## {title}\n\n" + "".join(f"{mark} {text}\n" for mark, text in entries) if entries else ""


def claims_table(experiment):
    """The claims; below, as lists, the reasons of those that do not hold, and why bounds are ours. Claims that share one share its mark."""
    reasons, whys, rows, result = notes.numbered(), notes.lettered(), [], str(experiment.env.get("build", {}).get("git", ""))
    for claim in experiment.claims:
        verdict = claim.verdict + reasons.mark(claim.reason if claim.verdict != judged.HOLDS else "")
        bound = (claim.bound or "–") + whys.mark(origin(claim, result) if claim.bound == judged.OURS else "")
        source = f" ({without_paper(claim.source, experiment.paper)})" if claim.source else ""
        rows.append([linked(claim.claim + source), claim.expected, bound, claim.measured, verdict])
    text = "## Claims and verdicts\n\n" + tables.markdown(["claim", "expected", "bound", "measured", "verdict"], rows, set())
    text += f"\n{experiment.absent}\n" if experiment.absent else ""
    text += section("What differs or cannot be compared, and why", [(f"{place}.", linked(sentence(reason))) for place, reason in reasons.entries()])
    return text + section("Why bounds are ours", [(f"- ({place})", why) for place, why in whys.entries()])


def number(value):
    return "–" if value is None or math.isnan(value) else tables.cell("solve_us_median", float(value))


def power(value):
    """1e-6, where Python says 1e-06."""
    return re.sub(r"e-0(?=\d)", "e-", f"{value:g}")


def solver_table(experiment):
    """Every solver on whole problems and by regions, for experiments that compare all of them."""
    rows = pd.read_csv(experiment.folder / "summary.csv")
    rows = rows[(rows["threads"] == 1) & (rows["protocol"] == "time")]
    mode = next(mode for mode in PARTS if mode in set(rows["region_mode"]))
    sides = [rows[rows["region_mode"] == name].set_index(["variant", "law"]) for name in ("none", mode)]
    header = ["solver", "law"] + [f"{what}, {where}" for what in ("solved [%]", "iterations", "set-up [µs]", "solve [µs]")
                                  for where in ("whole", PARTS[mode])]
    lines = []
    for key in sides[0].index:
        pair = [side.loc[key] if key in side.index else None for side in sides]
        cells = [f"`{key[0].split(' ')[0]}`{' ' + key[0].split(' ', 1)[1] if ' ' in key[0] else ''}", key[1]]
        for column in ("solved_percent", "iterations_median", "setup_us_median", "solve_us_median"):
            for row in pair:
                value = math.nan if row is None else row[column]
                cells.append(number(value) if column.endswith("us_median") else tables.cell(column, value))
        lines.append(cells)
    intro = (f"{int(rows['snapshots'].max())} snapshots of {scenes(experiment)}; the referee's residual is at most {power(experiment.config['tolerances'][0])}. "
             "Times and iterations are medians over the snapshots that were solved, on one thread.")
    return f"## Every solver\n\n{intro}\n\n{tables.markdown(header, lines, set(range(2, len(header))))}"


def tables_of(experiment):
    """The tables that the report wrote beside the claims, with their headings one level down where there are several; a link to what is too
    long for a page."""
    parts = []
    for name in ("methods.md", "iterations.md", "errors.md"):
        path = experiment.folder / name
        if path.is_file():
            title, text = path.read_text(encoding="utf-8").split("\n", 1)
            if len(text) > TABLE_LETTERS:
                parts.append(f"#{title}\n\nLine by line: [{name}](../../../results/reference/{experiment.id}/{name}).")
                continue
            text = linked(text)
            parts.append(text.strip() if name != "iterations.md" else f"#{title}\n\n{text.strip()}")
    return parts


def scenes(experiment):
    names = [*experiment.config.get("scenes", []), *(scene for _, scene, _ in definitions.recordings_of(experiment.config))]
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def command_of(experiment):
    """How to run it again, and what stands behind the numbers."""
    up, size = "../../..", f" --size {experiment.size}" if experiment.size else ""
    machine, load = experiment.env["machine"], experiment.env["load_at_start"].split()[0]
    text = f"## Run it again\n\n```\nscripts/reproduce {experiment.id}{size}\n```\n\n"
    text += f"Scenes: {scenes(experiment)} ([pictures and sizes](../../gallery.md)). " if scenes(experiment) else ""
    folder = f"configs/experiments/{experiment.paper}/{experiment.page.removesuffix('.md')}"
    return text + (f"Settings and claims: [`{folder}`]({up}/{folder}). "
                   f"Results: [`results/reference/{experiment.id}`]({up}/results/reference/{experiment.id}). The numbers above are of size "
                   f"{experiment.extent}, program revision `{experiment.env['build']['git']}`, on {counted(machine['cores'], 'core')} "
                   f"({machine['cpu']}) with a load of {load} at the start.\n")


def shown_files(identifier):
    """[(file of its result, where it is committed)] of what the page of an experiment shows, or what it makes."""
    if identifier == PRINTED_RULES:
        return [("rules.md", ROOT / "docs" / "printed-rules.md")]
    shown = page_figures().get(identifier)
    return [(f"{shown['figure']}.svg", figure_path(identifier))] if shown else []


def page_figures():
    """{experiment: { figure, caption }} of the experiments that name the figure of their page (`page` of figures.toml)."""
    folders = sorted(path.parent for path in (ROOT / "configs" / "experiments").glob("*/*/figures.toml"))
    tables_of_pages = {definitions.identifier(folder): definitions.shared_content(folder, "figures.toml").get("page") for folder in folders}
    return {name: table for name, table in tables_of_pages.items() if table}


def figure_path(identifier):
    return ROOT / "docs" / "papers" / identifier.split("_")[0] / f"{identifier}.svg"


def experiment_page(experiment):
    claim = linked(sentence(experiment.says))
    source = f" ({experiment.source})" if experiment.source else ""
    parts = [NOTE + f"# {experiment.artefact}\n",
             f"**{'The question' if claim.endswith('?') else 'What we expect' if experiment.paper == OURS else 'The paper says'}:** {claim}{source}\n",
             f"**Result** (size {experiment.extent}): {summary(experiment)}\n"]
    if experiment.caption:
        caption = experiment.caption
        parts.append(f"![{caption.removesuffix('.')}]({experiment.id}.svg)\n\n*{linked(caption)}*\n")
    parts.append(claims_table(experiment))
    if {"all", "implicit"} & {experiment.page.removesuffix(".md")} and experiment.paper == OURS:
        parts.append(solver_table(experiment))
    parts += [f"{text}\n" for text in tables_of(experiment)]
    parts += [command_of(experiment), f"[All experiments of this {'group' if experiment.paper == OURS else 'paper'}](README.md) · "
                                      "[The methods](../../solvers.md) · [How to read figures](../../reading-figures.md) · [How accuracy and time are measured](../../protocols.md)\n"]
    return "\n".join(parts)


# --- tables between markers ---------------------------------------------------------------------------------------------------

#: What a claim expects that asks which of two is larger, or for a sign, and for no number.
ORDERS = ("≥ 1", "≤ 1", "≥ 0", "≤ 0")


def origins(claims):
    """[(words, claims)]: by the origin of bounds, those of the paper apart by what they ask for."""
    parts = []
    for bound, own in judged.by_bound(claims).items():
        if bound == "paper":
            parts += [("the paper, an order", [one for one in own if one.expected in ORDERS]), ("the paper, a number", [one for one in own if one.expected not in ORDERS])]
        else:
            parts.append((BOUNDS[bound].removeprefix("of "), own))
    return [(words, own) for words, own in parts if own]


def verdicts_table(folder):
    """How many claims of each paper hold, by the origin of their bounds, for a page in `folder`."""
    rows = []
    for paper, name in PAPERS.items():
        found = of_paper(paper)
        extents = Counter(experiment.extent for experiment in found)
        ran = [f"{extent} ({count})" if len(extents) > 1 else extent for extent, count in
               sorted(extents.items(), key=lambda item: (SIZES.index(item[0].split(",")[0]), item[0]))]
        link = os.path.relpath(ROOT / "docs" / "papers" / paper / "README.md", folder)
        first = [f"[{name}]({link})", str(len(found)), "; ".join(ran)]
        for words, claims in origins([claim for one in found for claim in one.claims]):
            rows.append([*first, words, str(len(claims)), *map(str, judged.counts(claims))])
            first = ["", "", ""]
    return tables.markdown(["paper", "experiments", "sizes run", "bounds", "claims", "hold", "differ", "not comparable"], rows, {1, 4, 5, 6, 7})


def experiments_table(paper):
    """A row for each experiment; hold, differ and not comparable apart for each origin of bounds that the paper's experiments have."""
    found = of_paper(paper)
    present = list(judged.by_bound([claim for one in found for claim in one.claims]))
    rows = []
    for experiment in found:
        parts = judged.by_bound(experiment.claims)
        counts = [str(count) for bound in present for count in (judged.counts(parts[bound]) if bound in parts else ("", "", ""))]
        rows.append([f"[{experiment.words[:1].upper() + experiment.words[1:]}]({experiment.page})", experiment.extent, *counts])
    heads = [head for bound in present for head in (f"hold, bounds {BOUNDS[bound]}", "differ", "not comparable")]
    return tables.markdown(["experiment", "size run", *heads], rows, set(range(2, 2 + len(heads))))


def asked_for(experiment, marker):
    """Of a marker `differences`, `differences of A B` or `differences but A B`, which names experiments of the paper."""
    names = marker.split()
    return len(names) < 2 or (experiment.page.removesuffix(".md") in names[2:]) == (names[1] == "of")


def differences_table(paper, marker):
    """Claims that do not hold; those of one experiment that share a reason and an origin of bounds share a row. A reason is said once."""
    rows, told = [], {}
    for experiment in (one for one in of_paper(paper) if asked_for(one, marker)):
        shared = {}
        for claim in experiment.claims:
            if claim.verdict != judged.HOLDS:
                shared.setdefault((claim.bound, claim.verdict, claim.reason or f"({claim.id})"), []).append(claim)
        for (bound, verdict, reason), claims in shared.items():
            words = "<br>".join(sentence(claim.claim) + (f" Expected {claim.expected}, measured {claim.measured}." if claim.value is not None else "")
                                for claim in claims)
            place = f"[{experiment.page.removesuffix('.md')}]({experiment.page})"
            why = "–" if not claims[0].reason else f"As for {told[reason]}, above." if reason in told else linked(sentence(reason))
            told.setdefault(reason, place)
            rows.append([place, verdict, bound or "–", linked(words), why])
    return tables.markdown(["experiment", "verdict", "bound", "claim", "why"], rows, set())


def program():
    """The program, where it is built."""
    path = Path(os.environ.get("SIGNORINI_PROGRAM") or ROOT / "build" / "release" / "experiments" / "signorini")
    return path if path.is_file() else None


def columns_table():
    """What the program says of the columns of runs.csv; None where it is not built or is one that does not say."""
    if program() is None:
        return None
    done = subprocess.run([program(), "list", "columns", "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    rows = [[f"`{one['name']}`", one["type"], one["unit"], one["meaning"]] for one in column_list(json.loads(done.stdout))]
    return tables.markdown(["column", "type", "unit", "meaning"], rows, set())


def column_list(found):
    """The list alone, or under the name of its table as in runs.schema.json."""
    return found["runs.csv"] if isinstance(found, dict) else found


def filled(path):
    """A page with its marked tables written again."""
    def table(match):
        paper = path.parent.name
        if match[2].startswith("which-solver "):
            return f"{match[1]}\n{which_solver.marked(match[2].split()[1], ROOT)}\n{match[4]}"
        found = {"verdicts": lambda: verdicts_table(path.parent), "experiments": lambda: experiments_table(paper),
                 "differences": lambda: differences_table(paper, match[2]), "columns": columns_table}[match[2].split()[0]]()
        if found is None:
            return match[0]
        return f"{match[1]}\n{found}\n{match[4]}"
    return MARKED.sub(table, path.read_text(encoding="utf-8"))


# --- writing and checking -----------------------------------------------------------------------------------------------------

def fresh_pages():
    """{path: text} of every page that this script writes."""
    docs = ROOT / "docs"
    marked = [ROOT / "README.md", docs / "results.md", docs / "experiments.md", docs / "which-solver.md", *sorted((docs / "papers").glob("*/README.md")),
              *sorted((docs / "papers").glob("*/differences*.md"))]
    pages = {path: filled(path) for path in marked if path.is_file()}
    for paper in [*PAPERS, OURS]:
        pages |= {docs / "papers" / paper / experiment.page: experiment_page(experiment) for experiment in of_paper(paper)}
    return pages


def left_over(fresh):
    """Pages of experiments that results/reference holds no longer."""
    return [path for path in sorted((ROOT / "docs" / "papers").glob("*/*.md"))
            if path not in fresh and path.read_text(encoding="utf-8").startswith(NOTE)]


def complaints():
    fresh = fresh_pages()
    name = lambda path: path.relative_to(ROOT)  # noqa: E731
    found = [f"{name(path)}: does not say what results/reference holds; run scripts/pages" for path, text in fresh.items()
             if not path.is_file() or path.read_text(encoding="utf-8") != text]
    found += [f"{name(path)}: results/reference has no such experiment; run scripts/pages" for path in left_over(fresh)]
    found += [f"{name(figure_path(one))}: the page of {one} shows this figure and it is missing; run it, then scripts/reference page {one}"
              for one in page_figures() if (ROOT / "results" / "reference" / one).is_dir() and not figure_path(one).is_file()]
    found += [f"{name(path)}: belongs to {name(figure_path(path.stem))}" for path in sorted((ROOT / "docs").glob("*.svg")) if path.stem in page_figures()]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.stat().st_size > PAGE_BYTES:
            found.append(f"{name(path)}: {path.stat().st_size:,} bytes, at most {PAGE_BYTES:,}; divide it")
    readme = (ROOT / "README.md").read_bytes()
    if len(readme) > README_BYTES:
        found.append(f"README.md: {len(readme):,} bytes, at most {README_BYTES:,}; move something to docs")
    lines = len(readme.splitlines())
    if lines > README_LINES:
        found.append(f"README.md: {lines} lines, at most {README_LINES}; move something to docs")
    return found


def write():
    fresh = fresh_pages()
    for path, text in fresh.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written    {path.relative_to(ROOT)}")
    for path in left_over(fresh):
        path.unlink()
        print(f"removed    {path.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/pages", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    options = parser.parse_args()
    try:
        found = complaints() if options.check else write()
    except data.ReportError as error:
        print(f"pages: {error}", file=sys.stderr)
        return 3
    print("".join(f"{line}\n" for line in found or []), end="", file=sys.stderr)
    return int(bool(found))
