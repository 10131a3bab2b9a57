"""One page per experiment, OUT/<id>/index.html, self-contained with its figures inlined; OUT/report.html leads to all of them."""

import base64
import dataclasses
import html
import re
from pathlib import Path

from signorini_report import front, interactive, machine, neighbours, notes, step_tables, table_methods, tables, verdicts as judged

CSS = (Path(__file__).parent / "web" / "page.css").read_text(encoding="utf-8")
# a page loads nothing but replays beside it
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-src 'self' file:"
# a browser that does not know ::details-content prints closed what is closed
OPEN_FOR_PRINTING = ("addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(part => "
                     "{ part.dataset.was = part.open; part.open = true; }));"
                     "addEventListener('afterprint', () => document.querySelectorAll('details').forEach(part => "
                     "{ part.open = part.dataset.was === 'true'; }));")
WIDE = 12  # columns that still fit an upright page
PAGE_HEADINGS = {"iterations_median": "iterations", "residual_max": "residual, max", "setup_us_median": "setup [µs]",
                 "solve_us_median": "solve [µs]", "ratio_to_best_median": "solve ÷ best"}
TIMED = {"runs": "runs", "steps": "steps of the recordings", "follow": "updates of regions", "accuracy": "steps of the recordings"}  # kinds of rows
SIGNS = {judged.HOLDS: "✓", judged.DIFFERS: "✗", judged.NOT_COMPARABLE: "–"}


def text(value):
    return html.escape(str(value))


def table_element(head, rows, kind=""):
    """A table that scrolls on a screen; on paper its letters shrink with the number of columns, and one with many lies across the page."""
    columns = head.count("<th")
    return (f"<div class='scroll{' wide' if columns > WIDE else ''}'><table class='{kind}' style='--columns: {columns}'><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div>")


def claims_rows(verdicts, with_experiment, reasons, whys):
    rows = []
    for verdict in judged.shown(verdicts):
        kind = verdict.verdict.replace(" ", "-")
        source = f' <span class="soft">({text(verdict.source)})</span>' if verdict.source else ""
        first = f"<td><a href='{text(verdict.experiment)}/index.html'>{text(verdict.experiment)}</a></td>" if with_experiment else ""
        rows.append(f"<tr>{first}<td>{text(verdict.claim or verdict.id)}{source}</td><td>{text(verdict.expected)}</td>"
                    f"<td>{text(verdict.bound)}{whys.mark(verdict.why)}</td>"
                    f"<td>{text(verdict.measured)}</td><td class='{kind}'><span class='word'>{SIGNS[verdict.verdict]} {text(verdict.verdict)}</span>"
                    f"{reasons.mark(verdict.reason)}</td></tr>")
    return rows


def claims_table(verdicts, with_experiment=False):
    head = ("<th>experiment</th>" if with_experiment else "") + "<th>claim</th><th>expected</th><th>bound</th><th>measured</th><th>verdict</th>"
    absent = "" if with_experiment else judged.absent_line(verdicts)
    reasons, whys = notes.numbered(), notes.lettered()
    table = table_element(head, claims_rows(verdicts, with_experiment, reasons, whys))
    below = [f"({mark}) {text(sentence)}" for mark, sentence in reasons.entries() + whys.entries()]
    return table + "".join(f"<p class='soft'>{line}</p>" for line in ([text(absent)] if absent else []) + below)


def summary_table(table):
    left = {"variant", "region_mode"}
    hidden = {"protocol", "law", "tolerance", "residual_median", "memory_kb_median"} | ({"unsupported"} if not table["unsupported"].any() else set())
    columns = [(name, PAGE_HEADINGS.get(name, heading)) for name, heading in tables.COLUMNS if name not in hidden]
    head = "".join(f"<th class='{'' if name in left else 'number'}'>{text(heading)}</th>" for name, heading in columns)
    rows = []
    for row in tables.to_rows(table, columns):
        cells = "".join(f"<td class='{'' if name in left else 'number'}'>{text(value)}</td>"
                        for (name, _), value in zip(columns, row))
        rows.append(f"<tr>{cells}</tr>")
    return table_element(head, rows, "summary")


def flat(value, prefix=""):
    """(key, text) of nested provenance."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and any(isinstance(inner, (dict, list)) for inner in value):
        for number, inner in enumerate(value):
            yield from flat(inner, f"{prefix}[{number}]")
    else:
        yield prefix, " ".join(map(str, value)) if isinstance(value, list) else str(value)


def picture(path, caption):
    """An inlined figure; all figures at one scale, so that their letters have one size."""
    content = path.read_bytes()
    points = re.search(rb'<svg[^>]*?\bwidth="([0-9.]+)pt"', content)
    width = f" width='{float(points.group(1)) * 1.6:.0f}'" if points else ""
    return f"<img alt='{text(caption)}'{width} src='data:image/svg+xml;base64,{base64.b64encode(content).decode()}'>"


def numbers(table):
    """The summary in parts that fit a screen: the timed rows of the first law open, the others folded."""
    parts = []
    for number, (key, part) in enumerate(table.groupby(["protocol", "law", "tolerance"], sort=False)):
        protocol, law, tolerance = key
        parts.append(f"<details{' open' if number == 0 else ''}><summary>protocol {text(protocol)}, law {text(law)}, tolerance "
                     f"{tolerance:.0e} ({len(part)} rows)</summary>{summary_table(part)}</details>")
    return "\n".join(parts)


def plain_table(header, body):
    """Cells as they are; all but the first two columns hold numbers."""
    place = ["", "", *["number"] * (len(header) - 2)]
    head = "".join(f"<th class='{kind}'>{text(name)}</th>" for kind, name in zip(place, header))
    rows = ["<tr>" + "".join(f"<td class='{kind}'>{text(cell)}</td>" for kind, cell in zip(place, row)) + "</tr>" for row in body]
    return table_element(head, rows, "summary")


def titled(title, note, table):
    """One section, so that title and table stay on one page of paper."""
    return f"<section><h2>{text(title)}</h2><p>{text(note)}</p>{table}</section>"


def provenance(env):
    rows = [f"<tr><td>{text(key)}</td><td>{text(value)}</td></tr>" for key, value in flat(env)]
    return f"<details><summary>Provenance</summary>{table_element('<th>key</th><th>value</th>', rows)}</details>" if rows else \
        "<p class='soft'>No env.json: where these numbers come from is unknown.</p>"


def document(title, body):
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{text(title)}</title><style>{CSS}</style><script>{OPEN_FOR_PRINTING}</script></head><body><main>
{body}
</main></body></html>
"""


def what_was_run(experiment):
    runs = experiment.runs
    words = []
    if len(runs):
        failures = int(((runs["solved"] == 0) & (runs["status"] != "unsupported")).sum())
        words.append(f"{runs.groupby(['file', 'step']).ngroups} snapshots, {len(runs)} runs, {failures} of them above the tolerance")
    if experiment.steps is not None:
        words.append(f"{experiment.steps['file'].nunique()} recordings, {len(experiment.steps)} steps")
    if experiment.accuracy is not None:
        words.append(f"{len(experiment.accuracy)} recordings beside the finest of their kind")
    if experiment.follow is not None:
        words.append(f"{experiment.follow['file'].nunique()} recordings, {len(experiment.follow)} updates of regions")
    size = experiment.env.get("size")
    return "; ".join(words) + (f"; size {size}" if size else "")


def explorer_of(experiment):
    """The interactive parts; nothing where what they need is not installed, which main.py says once."""
    if interactive.unavailable():
        return ""
    links, keys, parts = neighbours.links_of(experiment), [], []
    if len(experiment.runs):
        keys.append("")
        parts.append(interactive.explorer(experiment.runs, traces=experiment.traces, config=experiment.config, links=links, schema=neighbours.schema_of(experiment.folder)))
    for table in step_tables.tables_of(experiment):
        keys.append(table.key)
        parts.append(step_tables.explorer(table, experiment, links if len(keys) == 1 else dataclasses.replace(links, files=[])))
    return "\n".join([*parts, interactive.scripts(*keys)]) if parts else ""


def experiment_page(experiment, figures, verdicts, table):
    parts = [f"<nav><a href='../report.html'>all experiments</a></nav><h1>{text(experiment.title)}</h1>",
             f"<p class='soft'>Experiment <code>{text(experiment.id)}</code>: {what_was_run(experiment)}.</p>"]
    disturbed = {}
    for kind, reason in machine.of_experiment(experiment).items():
        disturbed.setdefault(reason, []).append(kind)
    for reason, kinds in disturbed.items():
        if reason:
            parts.append(f"<p class='not-comparable'>{text(reason[0].upper() + reason[1:])}. Times of {' and '.join(TIMED[kind] for kind in kinds)} are not "
                         "comparable; counts are.</p>")
    if experiment.definition is None:
        parts.append("<p class='soft'>The folder of this experiment was not found: figures are drawn, nothing is judged.</p>")
    if experiment.claim:
        parts.append(f"<blockquote>{text(experiment.claim)}</blockquote>")
    parts.append(explorer_of(experiment))
    if verdicts:
        parts.append("<h2>Claims</h2>" + claims_table(verdicts))
    parts.append("<h2>Figures</h2>" if figures else "")
    for name, caption in figures:
        parts.append(f"<figure>{picture(experiment.folder / f'{name}.svg', caption)}"
                     f"<figcaption>{text(caption)} <a href='{name}.svg'>svg</a> "
                     f"<a href='{name}.png'>png</a></figcaption></figure>")
    iterations = tables.iteration_table(experiment)
    if iterations:
        title, note, header, body = iterations
        head = "".join(f"<th>{text(name)}</th>" for name in header)
        rows = ["<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in body]
        parts.append(titled(title, note, table_element(head, rows, "summary")))
    for title, note, header, body in table_methods.methods_tables(experiment):
        parts.append(titled(title, note, plain_table(header, body)))
    if (experiment.folder / "rules.md").is_file():
        parts.append("<p>The rules one by one: <a href='rules.md'>rules.md</a></p>")
    if len(table):
        parts.append("<h2>Numbers</h2><p>Times and ratios are medians over the snapshots solved to the tolerance, judged by the "
                     "referee; setup and solve are timed apart. The residual is the referee's Alart–Curnier error: largest error of a "
                     "contact in velocity units, divided by the largest relative velocity that would occur without contact impulses; it "
                     "has no unit. <a href='summary.csv'>summary.csv</a></p>")
        parts.append(numbers(table))
    parts.append(provenance(experiment.env))
    return document(f"{experiment.title}, Signorini", "\n".join(parts))


PAPERS = {"lazarevych2010": "Lazarevych, Szekely and Harders 2010", "otaduy2009": "Otaduy, Tamstorf, Steinemann and Gross 2009",
          "verschoor2019": "Verschoor and Jalba 2019"}


DATA = ("runs.csv", "steps.csv", "trace.h5", "env.json", "summary.csv")
WORDS = {judged.PAPER: "of the paper", judged.OURS: "ours", "": "unknown"}


def data_links(identifier, folder):
    """Links to the files of an experiment, beside report.html."""
    there = [name for name in DATA if (folder / identifier / name).is_file()]
    return " ".join(f"<a href='{text(identifier)}/{name}' aria-label='{name} of {text(identifier)}'>{name.split('.')[0]}</a>" for name in there)


def overview(entries, folder):
    """One line per experiment and origin of bounds, by paper."""
    groups = {}
    for identifier, title, verdicts in entries:
        groups.setdefault(PAPERS.get(identifier.split("_")[0], "Our own"), []).append((identifier, title, verdicts))
    rows = []
    for paper in [*PAPERS.values(), "Our own"]:
        for identifier, title, verdicts in groups.get(paper, []):
            first = f"<td><a href='{text(identifier)}/index.html'>{text(identifier)}</a></td><td>{text(title)}</td>"
            for bound, part in (judged.by_bound(verdicts) or {None: []}).items():
                cells = "".join(f"<td class='number'>{count or ''}</td>" for count in judged.counts(part))
                data = data_links(identifier, folder) if not first.startswith("<td></td>") else ""
                rows.append(f"<tr>{first}<td>{WORDS.get(bound, '')}</td>{cells}<td>{data}</td></tr>")
                first = "<td></td><td></td>"
    head = ("<th>experiment</th><th>of</th><th>bounds</th><th class='number'>holds</th><th class='number'>differs</th>"
            "<th class='number'>not comparable</th><th>data</th>")
    return table_element(head, rows)


def count_lines(verdicts):
    """How many claims hold, differ or cannot be compared, apart for bounds of the paper and of ours."""
    lines = []
    for bound, part in judged.by_bound(verdicts).items():
        counts = ", ".join(f"{word}: {count}" for word, count in zip((judged.HOLDS, judged.DIFFERS, judged.NOT_COMPARABLE), judged.counts(part)))
        lines.append(f"<p>Claims, bounds {WORDS[bound]}: {counts}.</p>")
    return "\n".join(lines) or "<p>No claims are stated.</p>"


def winners_map(entries, folder):
    maps = {identifier: found for identifier, _, _ in entries if (found := front.read_map(folder / identifier))}
    return front.section(maps, {identifier: title for identifier, title, _ in entries})


def index_page(entries, folder):
    """entries: (id, title, verdicts) of every experiment of the folder of results."""
    verdicts = judged.shown([verdict for _, _, found in entries for verdict in found])
    others = [verdict for verdict in verdicts if verdict.verdict != judged.HOLDS]
    claims = f"<h2>What differs or cannot be compared</h2>{claims_table(others, True)}" if others else ""
    claims += f"<details><summary>All claims ({len(verdicts)})</summary>{claims_table(verdicts, True)}</details>" if verdicts else ""
    return document("Signorini: results", f"""<h1>Signorini: results</h1>
<p>Every solver on identical recorded contact problems, judged by one referee. One page per experiment: what the source says, what was
measured, the verdict, and what explains a difference. A bound is the paper's where the paper states it, else ours.</p>
{winners_map(entries, folder)}
<h2>Verdicts by paper</h2>
{count_lines(verdicts)}
{overview(entries, folder)}
{claims}""")
