"""What scripts/report --runs writes: solvers.md, summary.csv and summary.md, figures and index.html of tables of runs. Nothing is claimed,
so nothing is judged; for the rest the parts are those of an experiment's page."""

from signorini_report import figures, machine, page, tables

try:
    from signorini_report import interactive
except ImportError:
    interactive = None


def solver_rows(experiment):
    """One line for each variant: snapshots that it solved, on how many it was the fastest, medians over those that it solved."""
    runs = experiment.runs
    protocol = next((name for name in ("time", "self-stopped", "converge") if name in set(runs["protocol"])))
    keys = ["variant", "law", "region_mode", "threads"]
    rows = runs[(runs["protocol"] == protocol) & (runs["tolerance"] == experiment.tolerance)]
    once = rows.groupby([*keys, "file", "step"], as_index=False).agg(seconds=("total_seconds", "median"), iterations=("iterations", "median"),
                                                                     solved=("solved", "min"), status=("status", "first"))
    good = once[once["solved"] == 1]
    best = good.groupby(["law", "file", "step"])["seconds"].min().rename("best")
    once = once.join(best, on=["law", "file", "step"])
    found = []
    for key, part in once.groupby(keys, sort=False):
        solved = part[part["solved"] == 1]
        others = part[part["solved"] == 0]["status"].value_counts().sort_index()
        found.append((dict(zip(keys, key)), len(part), len(solved), int((solved["seconds"] == solved["best"]).sum()), solved["iterations"].median(),
                      (solved["seconds"] / solved["best"]).median(), ", ".join(f"{count} {status}" for status, count in others.items())))
    return sorted(found, key=lambda one: (-one[2], -one[3], one[5], one[0]["variant"]))


def solver_table(experiment):
    """(header, body): the columns that do not vary are left out."""
    rows = solver_rows(experiment)
    varying = [key for key in ("law", "region_mode", "threads") if len({row[0][key] for row in rows}) > 1]
    header = ["solver", *varying, "solved", "fastest on", "iterations, median", "time ÷ fastest, median", "not solved"]
    body = [[key["variant"], *(str(key[name]) for name in varying), f"{solved} of {count}", str(fastest), tables.cell("iterations_median", iterations),
             tables.cell("ratio", ratio), other] for key, count, solved, fastest, iterations, ratio, other in rows]
    return header, body


def html_of(experiment, table):
    header, body = solver_table(experiment)
    parts = [f"<h1>{page.text(experiment.title)}</h1>", f"<p class='soft'>{page.what_was_run(experiment)}.</p>"]
    reason = machine.of_experiment(experiment).get("runs", "")
    if reason:
        parts.append(f"<p class='not-comparable'>{page.text(reason[0].upper() + reason[1:])}. Times are not comparable; counts are.</p>")
    parts.append(page.titled("Solvers", "Solved by the referee's residual. Times are with set-up, medians over the snapshots that a solver solved.",
                             page.plain_table(header, body)))
    if interactive is not None and not interactive.unavailable():
        parts.append("<h3>Explore</h3>" + interactive.explorer(experiment.runs, traces=experiment.traces, config=experiment.config))
    for name, caption in figures.pictures_in(experiment.folder):
        parts.append(f"<figure>{page.picture(experiment.folder / f'{name}.svg', caption)}<figcaption>{page.text(caption)} "
                     f"<a href='{name}.svg'>svg</a> <a href='{name}.png'>png</a></figcaption></figure>")
    parts += ["<h3>Numbers</h3><p>Times and ratios are medians over the snapshots solved to the tolerance, judged by the referee. "
              "<a href='summary.csv'>summary.csv</a></p>", page.numbers(table), page.provenance(experiment.env)]
    return page.document(f"{experiment.title}, Signorini", "\n".join(parts))


def write(experiment):
    """Everything into the experiment's folder, the page last."""
    experiment.folder.mkdir(parents=True, exist_ok=True)
    figures.draw_all(experiment, experiment.folder)
    table = tables.summary(experiment.runs)
    tables.write_summary(table, experiment.folder)
    header, body = solver_table(experiment)
    (experiment.folder / "solvers.md").write_text(tables.markdown(header, body, set(range(1, len(header) - 1))), encoding="utf-8")
    return html_of(experiment, table)
