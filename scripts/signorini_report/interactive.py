"""Interactive pages: rows of runs that a reader filters, compares and opens, in one file that works from disk without a network.

    interactive.rows_page(rows, title)                  a whole page of any rows (read_runs and add_columns of data.py)
    interactive.explorer(rows, ...)                     the part of a page, for page.document
    interactive.scripts("", "t")                        what makes the parts with these keys work, once on a page
    interactive.unavailable()                           why there is none here: what to install; empty where there is nothing to install

The scripts stand in web/, the markup in templates/; D3 is Debian's (node-d3) and comes into a page when it is made. Rows travel as columns:
JSON, deflated, in base64, so that 10 000 rows take less than a megabyte and no name in them is ever read as markup. What a row has
reached is decided here, by the definitions of data.py; the scripts select, count and divide.
"""

import base64
import dataclasses
import json
import math
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from signorini_report import style
from signorini_report.data import PROTOCOLS, protocols_to_compare

try:
    import jinja2
except ImportError:
    jinja2 = None

HERE = Path(__file__).parent
D3 = Path("/usr/share/nodejs/d3/dist/d3.min.js")  # of node-d3; libjs-d3 is D3 of 2016, other plot libraries of Debian 12 draw on canvas, which is no SVG
FILTERS = [("scene", "Scene"), ("solver", "Solver"), ("law", "Law"), ("region_mode", "Regions"), ("threads", "Threads")]
TAKEN = {"protocol", "target", "measure", "file", "step", "run", "off", "sort", "over", "x", "y"}  # words of an address, beside the filters
KEY = ["file", "step", "scene", "contacts", "dofs", "regions", "largest_region", "solver", "options", "name", "law", "region_mode", "threads",
       "protocol", "tolerance"]
EXACT = ("tolerance", "setup_seconds", "solve_seconds")  # with all digits; others with five
LEFT_OUT = ("experiment", "label", "variant", "repetition", "unsolved", "family", "total_seconds", "iteration_seconds", "seconds_per_contact",
            "contact_sweep_seconds", "largest_share", "bytes_per_contact")  # said otherwise, or made from others
CURVE_POINTS = 32  # of one convergence curve
CURVE_BYTES = 2_500_000  # of all curves of a page, packed; more are thinned


@dataclasses.dataclass
class Links:
    """What stands beside a page: (words, relative address) of files, the address of every recording and of its replay."""
    files: list = dataclasses.field(default_factory=list)
    recordings: dict = dataclasses.field(default_factory=dict)
    replays: dict = dataclasses.field(default_factory=dict)  # recording: {address, steps} of a page that shows the step of its #step=…; steps: of its frames, [] unknown
    frameless: dict = dataclasses.field(default_factory=dict)  # recording: why no frame of it can be replayed


def unavailable():
    absent = [package for package, there in (("node-d3", D3.is_file()), ("python3-jinja2", jinja2 is not None)) if not there]
    return f"pages are static: {' and '.join(absent)} not installed (sudo apt-get install --no-install-recommends {' '.join(absent)})" if absent else ""


def packed(value):
    """Text that web/data.js unpacks: JSON, deflated, base64."""
    return base64.b64encode(zlib.compress(as_json(value).encode(), 9)).decode()


def as_json(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def for_script(value):
    """JSON that may stand inside <script>."""
    return as_json(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def number(value, digits):
    """JSON has neither: null is no number, ±1e999 is read as infinite."""
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value)) if digits is None else f"{value:.{digits}g}"


def number_column(values, digits=5):
    texts = [number(float(value), digits) for value in values]
    return {"one": texts[0]} if len(set(texts)) == 1 else {"numbers": "[" + ",".join(texts) + "]"}


def text_column(values):
    words = list(dict.fromkeys(map(str, values)))
    place = {word: index for index, word in enumerate(words)}
    return {"words": words} | ({} if len(words) == 1 else {"at": [place[str(value)] for value in values]})


def columns_of(table):
    """{name: column}: numbers as JSON text inside the JSON, so that infinite ones survive."""
    return {name: number_column(table[name], None if name in EXACT else 5) if pd.api.types.is_numeric_dtype(table[name]) else text_column(table[name])
            for name in table.columns}


def named(rows):
    """The name of a series: the experiment's own label where it tells (solver, options) apart, else the variant."""
    labels = rows.groupby("label")[["solver", "options"]].nunique().max(axis=1) if "label" in rows else pd.Series(dtype=int)
    usable = {label for label, count in labels.items() if label and count == 1}
    return rows.assign(name=[row_label if row_label in usable else variant for row_label, variant in
                             zip(rows["label"] if "label" in rows else rows["variant"], rows["variant"])])


def reached_column(tolerance):
    return f"first_to_reach.{tolerance:.0e}"


def runs_once(rows, more=()):
    """One row for each run: repetitions by the median of their numbers; it has reached a residual where all of them have."""
    rows = named(rows)
    targets = sorted(set(rows["tolerance"]))
    for place, target in enumerate(targets):
        judged = rows["solved"].where(rows["tolerance"] == target, 0)  # a traced run goes on: its status says what it reached
        rows[f"reached.{place}"] = rows[reached_column(target)].where(rows["protocol"] != "converge", judged)
    keys = KEY + [name for name in more if name not in KEY]
    left = {name for name in rows.columns if name.startswith("first_to_reach.")} | set(LEFT_OUT)
    how = {}
    for name in rows.columns:
        if name in keys or name in left or (name.startswith("options.")):
            continue
        numeric = pd.api.types.is_numeric_dtype(rows[name])
        how[name] = ("min" if name == "solved" or name.startswith("reached.") else "max" if name == "residual" else "median") if numeric else "first"
    if "repetition" not in rows or rows["repetition"].nunique() < 2:
        once = rows[keys + list(how)].reset_index(drop=True)
    else:
        once = rows.groupby(keys, sort=False, dropna=False, as_index=False).agg(how)
    once["repetitions"] = rows.groupby(keys, sort=False, dropna=False).size().to_numpy() if len(once) != len(rows) else 1
    return once, targets


def svg_dashes(rank):
    """The line of the rank-th variant, as a stroke-dasharray."""
    dashes = style.LINES[rank % len(style.LINES)]
    return "" if isinstance(dashes, str) else " ".join(f"{1.6 * length:g}" for length in dashes[1])


def looks_of(once):
    """{name of a series: [colour, dashes]}: the colour says the solver, dashes its variants, as in the figures."""
    pairs = once[["solver", "name"]].drop_duplicates()
    solvers, ranks, found = style.sorted_solvers(set(pairs["solver"])), {}, {}
    for solver, name in sorted(pairs.itertuples(index=False), key=lambda pair: (solvers.index(pair[0]), pair[1])):
        rank = ranks[solver] = ranks.get(solver, -1) + 1
        found[name] = [style.solver_colour(solver, solvers), svg_dashes(rank)]
    return found


def protocols_of(once):
    """In the order in which figures prefer them."""
    return [name for name in protocols_to_compare(once) if name in set(once["protocol"])] + sorted(set(once["protocol"]) - set(PROTOCOLS))


def first_target(targets, config):
    """The place of the residual that pages show first: the first one of the config, else the strictest."""
    return next((place for place, target in enumerate(targets) if target in config.get("tolerances", [])[:1]), 0)


def kept_points(count, most):
    """Places of a curve's points that are kept: the first, the last, the others evenly in the logarithm of their number."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.concatenate([[0], np.round(np.geomspace(1, count - 1, most - 1)).astype(int)]))


def curves_of(traces, names, most):
    """{file: {step: [[name, law, regions, threads, tolerance, iterations, seconds, residuals]]}}"""
    found = {}
    for trace in traces:
        keep = kept_points(len(trace.iteration), most)
        points = [[number(float(value), 4) for value in np.asarray(values, dtype=float)[keep]] for values in (trace.iteration, trace.seconds, trace.residual)]
        found.setdefault(trace.file, {}).setdefault(trace.step, []).append(
            [names.get((trace.solver, trace.options), trace.label or trace.variant), trace.law, trace.region_mode, trace.threads, trace.tolerance,
             *("[" + ",".join(part) + "]" for part in points)])
    return found


def packed_curves(traces, names):
    """The convergence curves within CURVE_BYTES; empty where there are none."""
    for most in (CURVE_POINTS, 16, 8):
        text = packed(curves_of(traces, names, most)) if traces else ""
        if len(text) <= CURVE_BYTES:
            break
    return text


def limits_of(config):
    """Options of `signorini solve` that hold for all runs of an experiment."""
    words = {"max_iterations": "--max-iterations", "time_limit": "--time-limit"}
    return [f"{option} {config[key]:g}" for key, option in words.items() if isinstance(config.get(key), (int, float))]


def environment():
    return jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                              undefined=jinja2.StrictUndefined)


def script(*names):
    """Scripts of web/ in their order, after D3."""
    return "\n".join(["/* D3, Copyright Mike Bostock, ISC licence; from Debian's node-d3 */", D3.read_text(encoding="utf-8"), *((HERE / "web" / name).read_text(encoding="utf-8") for name in names)])


def explorer_data(rows, traces=(), config=None, links=None, filters=None, schema=()):
    """(settings, rows, curves) of a page; `filters`: further columns to filter by, [(column, title)]."""
    links, filters = links or Links(), [*FILTERS, *(filters or [])]
    if taken := TAKEN & {name for name, _ in filters}:
        raise ValueError(f"no filter by {', '.join(sorted(taken))}: an address has the word already")
    once, targets = runs_once(rows, [name for name, _ in filters if name in rows])
    names = dict(zip(zip(once["solver"], once["options"]), once["name"]))
    settings = {"target": first_target(targets, config or {}), "filters": [[name, title] for name, title in filters if name in once], "targets": targets, "protocols": protocols_of(once),
                "looks": looks_of(once), "limits": limits_of(config or {}), "what": "runs", "recordings": links.recordings, "replays": links.replays, "frameless": links.frameless,
                "rows": len(once), "meanings": {column["name"]: [column.get("unit", ""), column.get("meaning", "")] for column in schema}}
    return settings, packed({"count": len(once), "columns": columns_of(once)}), packed_curves(list(traces), names)


def explorer(rows, **more):
    """The interactive part of a page; keys as explorer_data."""
    settings, data, curves = explorer_data(rows, **more)
    links = more.get("links") or Links()
    return environment().get_template("explorer.html.j2").render(
        settings=for_script(settings), data=data, curves=curves, links=links.files)


def scripts(*keys):
    """The element with all scripts of a page whose parts have these keys; "" are the runs, letters are tables of steps."""
    names = ["data.js", "measure.js", "plot.js", "table.js", "controls.js", "replay.js", "details.js", "view.js"]
    names += (["explorer.js"] if "" in keys else []) + (["steps.js"] if any(keys) else [])
    makes = ", ".join(f'["{key}", (table, settings) => new {"Steps" if key else "Explorer"}(table, settings, "{key}")]' for key in keys)
    return f"<script>{script(*names)}\nstartViews([{makes}]);</script>"


def rows_page(rows, title, intro="", **more):
    """A whole page of any rows: those of data.read_runs with data.add_columns. Keys as explorer_data."""
    from signorini_report import page
    head = f"<h1>{page.text(title)}</h1>" + (f"<p>{page.text(intro)}</p>" if intro else "")
    return page.document(title, head + explorer(rows, **more) + scripts(""))
