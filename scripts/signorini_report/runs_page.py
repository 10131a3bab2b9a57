"""What scripts/report --runs writes: solvers.md, summary.csv and summary.md, figures and index.html of tables of runs. Nothing is claimed,
so nothing is judged; for the rest the parts are those of an experiment's page."""

import sys

from signorini_report import data, figures, interactive, machine, neighbours, page, tables, whole_files

KEYS = ["variant", "law", "region_mode", "threads", "tolerance"]
SAME = ["law", "tolerance", "file", "step"]  # what the fastest is the fastest on


def outcomes(runs):
    """One row for each variant and snapshot, of the first protocol that the variant has: repetitions by their median."""
    rank = data.protocol_ranks(runs)
    rows = runs[rank == rank.groupby([runs[key] for key in KEYS]).transform("min")]
    return rows.groupby([*KEYS, "file", "step"], as_index=False).agg(seconds=("total_seconds", "median"), iterations=("iterations", "median"),
                                                                     solved=("solved", "min"), status=("status", "first"))


def solver_rows(experiment):
    """One line for each variant: its keys, snapshots, those that it solved, on how many it was the fastest, medians over those that it solved:
    iterations, time over that of the fastest; and why it did not solve the others."""
    once = outcomes(experiment.runs)
    best = once[once["solved"] == 1].groupby(SAME)["seconds"].min().rename("best")
    once, found = once.join(best, on=SAME), []
    for key, part in once.groupby(KEYS, sort=False):
        solved = part[part["solved"] == 1]
        others = part[part["solved"] == 0]["status"].value_counts().sort_index()
        found.append((dict(zip(KEYS, key)), len(part), len(solved), int((solved["seconds"] == solved["best"]).sum()), solved["iterations"].median(),
                      (solved["seconds"] / solved["best"]).median(), ", ".join(f"{count} {status}" for status, count in others.items())))
    return sorted(found, key=lambda one: (-one[2], -one[3], one[5], one[0]["variant"]))


def solver_table(experiment):
    """(header, body): the columns that do not vary are left out."""
    rows = solver_rows(experiment)
    varying = [key for key in KEYS[1:] if len({row[0][key] for row in rows}) > 1]
    header = ["solver", *varying, "solved", "fastest on", "iterations, median", "time ÷ fastest, median", "not solved"]
    body = [[key["variant"], *(tables.cell(name, key[name]) for name in varying), f"{solved} of {count}", str(fastest), tables.cell("iterations_median", iterations),
             tables.cell("ratio", ratio), other] for key, count, solved, fastest, iterations, ratio, other in rows]
    return header, body


def explorer_of(experiment, schema):
    """The interactive part; nothing where what it needs is not installed, which is said."""
    if interactive.unavailable():
        print(f"report: {interactive.unavailable()}", file=sys.stderr)
        return []
    return [interactive.explorer(experiment.runs, traces=experiment.traces, config=experiment.config, links=neighbours.links_of(experiment, experiment.folder), schema=schema),
            interactive.scripts("")]


def html_of(experiment, schema):
    """The page, after draw(). `schema`: data.read_schema of the rows."""
    header, body = solver_table(experiment)
    parts = [f"<h1>{page.text(experiment.title)}</h1>", f"<p class='soft'>{page.what_was_run(experiment)}.</p>"]
    reason = machine.of_experiment(experiment).get("runs", "")
    if reason:
        parts.append(f"<p class='not-comparable'>{page.text(reason[0].upper() + reason[1:])}. Times are not comparable; counts are.</p>")
    parts.append(page.titled("Solvers", "Solved by the referee's residual. Times are with set-up, medians over the snapshots that a solver solved.",
                             page.plain_table(header, body)))
    parts += explorer_of(experiment, schema)
    for name, caption in figures.pictures_in(experiment.folder):
        parts.append(f"<figure>{page.picture(experiment.folder / f'{name}.svg', caption)}<figcaption>{page.text(caption)} "
                     f"<a href='{name}.svg'>svg</a> <a href='{name}.png'>png</a></figcaption></figure>")
    parts += ["<h3>Numbers</h3><p>Times and ratios are medians over the snapshots solved to the tolerance, judged by the referee. "
              "<a href='summary.csv'>summary.csv</a></p>", page.numbers(tables.summary(experiment.runs)), page.provenance(experiment.env)]
    return page.document(f"{experiment.title}, Signorini", "\n".join(parts))


def draw(experiment):
    """Everything into the experiment's folder but the page."""
    experiment.folder.mkdir(parents=True, exist_ok=True)
    figures.draw_all(experiment, experiment.folder)
    tables.write_summary(tables.summary(experiment.runs), experiment.folder)
    header, body = solver_table(experiment)
    whole_files.write_text(experiment.folder / "solvers.md", tables.markdown(header, body, set(range(1, len(header) - 1))))
