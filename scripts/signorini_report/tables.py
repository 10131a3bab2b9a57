"""The summary table: one row per solver variant, law, region mode, thread count and protocol."""

import numpy as np
import pandas as pd

from signorini_report import style

COLUMNS = [  # name in the .csv, heading in the .md and .html
    ("variant", "solver"), ("law", "law"), ("region_mode", "regions"), ("threads", "threads"), ("protocol", "protocol"), ("tolerance", "tolerance"),
    ("snapshots", "snapshots"), ("solved_percent", "solved [%]"), ("unsupported", "unsupported"),
    ("iterations_median", "iterations, median"), ("iterations_max", "max"),
    ("residual_median", "residual, median"), ("residual_max", "max"),
    ("setup_us_median", "setup [µs], median"), ("solve_us_median", "solve [µs], median"),
    ("ratio_to_best_median", "solve ÷ best, median"),
]
GROUP = ["variant", "law", "region_mode", "threads", "protocol", "tolerance"]


def summary(runs):
    """Times and ratios are over solved snapshots only; the ratio compares with the fastest row that solved the same
    snapshot under the same law and protocol, over all solvers, region modes and thread counts."""
    if runs.empty:
        return pd.DataFrame(columns=[name for name, _ in COLUMNS])
    snapshot = ["file", "step", "law", "protocol", "tolerance"]
    merged = runs.groupby(GROUP + ["solver", "file", "step", "status"], as_index=False).agg(
        iterations=("iterations", "median"), residual=("residual", "max"), solved=("solved", "min"),
        setup_seconds=("setup_seconds", "median"), solve_seconds=("solve_seconds", "median"))
    good = merged[merged["solved"] == 1]
    best = good.groupby(snapshot)["solve_seconds"].min().rename("best")
    merged = merged.join(best, on=snapshot)
    rows = []
    for key, group in merged.groupby(GROUP + ["solver"], sort=True):
        counted = group[group["status"] != "unsupported"]
        solved = counted[counted["solved"] == 1]
        ratios = (solved["solve_seconds"] / solved["best"]).replace([np.inf, -np.inf], np.nan).dropna()
        rows.append(dict(zip(GROUP + ["solver"], key)) | {
            "snapshots": len(counted),
            "solved_percent": 100.0 * counted["solved"].mean() if len(counted) else np.nan,
            "unsupported": len(group) - len(counted),
            "iterations_median": solved["iterations"].median(), "iterations_max": solved["iterations"].max(),
            "residual_median": counted["residual"].median(), "residual_max": counted["residual"].max(),
            "setup_us_median": 1e6 * solved["setup_seconds"].median(),
            "solve_us_median": 1e6 * solved["solve_seconds"].median(),
            "ratio_to_best_median": ratios.median() if len(ratios) else np.nan})
    table = pd.DataFrame(rows)
    solvers, regions = style.sorted_solvers(set(table["solver"])), style.sorted_regions(set(table["region_mode"]))
    table["_solver"] = table["solver"].map(solvers.index)
    table["_region"] = table["region_mode"].map(regions.index)
    table = table.sort_values(["tolerance", "protocol", "law", "_solver", "variant", "_region", "threads"], kind="stable",
                              key=lambda c: c.map({"time": "0", "self-stopped": "1"}).fillna(c) if c.name == "protocol" else c)
    return table[[name for name, _ in COLUMNS]].reset_index(drop=True)


def cell(name, value):
    """A number as a reader wants it: three digits, a dash where there is none."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if name in ("threads", "snapshots", "unsupported"):
        return f"{int(value)}"
    if name == "solved_percent":
        return f"{value:.0f}" if value in (0.0, 100.0) else f"{value:.1f}"
    if name == "tolerance":
        return f"{value:.0e}"
    if name.startswith("residual"):
        return f"{value:.1e}" if np.isfinite(value) else "∞"
    if name.startswith("iterations"):
        return f"{value:g}"
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{value:.0f}"


def to_rows(table, columns):
    names = [name for name, _ in columns]
    return [[cell(name, value) for name, value in zip(names, row)] for row in table[names].itertuples(index=False)]


def markdown(header, rows, numeric):
    """A table whose source is aligned as well."""
    clean = [[str(text).replace("|", "\\|").replace("\n", " ") for text in row] for row in [header] + rows]
    widths = [max(3, *(len(row[i]) for row in clean)) for i in range(len(header))]

    def line(row):
        cells = [text.rjust(w) if i in numeric else text.ljust(w) for i, (text, w) in enumerate(zip(row, widths))]
        return "| " + " | ".join(cells) + " |"

    rule = "|" + "|".join("-" * (w + 1) + (":" if i in numeric else "-") for i, w in enumerate(widths)) + "|"
    return "\n".join([line(clean[0]), rule] + [line(row) for row in clean[1:]]) + "\n"


def summary_markdown(table):
    header = [heading for _, heading in COLUMNS]
    return markdown(header, to_rows(table, COLUMNS), set(range(3, len(header))) - {4})


def write_summary(table, folder):
    table.to_csv(folder / "summary.csv", index=False, float_format="%.9g")
    (folder / "summary.md").write_text(
        "Times and ratios are medians over the snapshots that were solved to the tolerance, judged by the referee; "
        "setup and solve are timed apart.\n\n" + summary_markdown(table), encoding="utf-8")
