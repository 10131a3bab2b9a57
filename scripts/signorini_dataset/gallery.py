"""The page of scenes: what they are, what they took, whether they show what they say."""

import json

from signorini_dataset.options import SIZES
from signorini_dataset.tables import read_table, write_text

HEAD = "<!-- Written by scripts/make_dataset --gallery; the text before the first table is kept. -->"


def bytes_text(number):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def seconds_text(seconds):
    return f"{seconds:.3g} s" if seconds >= 1.0 else f"{1e3 * seconds:.3g} ms"


def scene_line(row, took):
    if row["status"] == "failed":
        return f"| `{row['scene']}` |" + " – |" * 10 + f" not recorded: {row['message']} |"
    steps = int(row["steps"])
    facts = "all hold" if not row["differing"] else f"{row['facts']} hold; {', '.join(f'`{name}`' for name in row['differing'].split())} not"
    if row["facts"] in ("", "0/0"):
        facts = "none stated" if row["facts"] else "cut short"
    whole, cpu = (took or {}).get("seconds"), (took or {}).get("cpu_seconds")
    each = cpu / steps if cpu is not None else None
    whole, cpu, each = ("–" if seconds is None else seconds_text(seconds) for seconds in (whole, cpu, each))
    peak = bytes_text(took["peak_bytes"]) if took else "–"
    per_contact = bytes_text(float(row["bytes_per_contact"])) if row["bytes_per_contact"] else "–"
    dofs = row["dofs"] if int(row["snapshots"]) else "–"
    cells = (f"`{row['scene']}`", steps, dofs, row["contacts"], row["regions"], row["unresolved"], whole, cpu, each, peak, per_contact, facts)
    return "| " + " | ".join(map(str, cells)) + " |"


def size_table(folder, size):
    rows = read_table(folder / "scenes.csv")
    cut = all(row["facts"] == "" for row in rows)
    lines = [f"## Size {size}" + (f", the first {rows[0]['steps']} steps" if cut and rows else ""), "",
             "| scene | steps | dofs ≤ | contacts ≤ | regions ≤ | unresolved | wall time | CPU time | CPU per step | peak memory | bytes per contact | facts |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"]
    total = cpu = 0.0
    for row in rows:
        clock = folder / "recordings" / f"{row['scene']}.took.json"
        took = json.loads(clock.read_text()) if clock.exists() else None
        total += (took or {}).get("seconds") or 0.0
        cpu += (took or {}).get("cpu_seconds") or 0.0
        lines.append(scene_line(row, took))
    return lines + ["", f"All {len(rows)} scenes of this size: {seconds_text(total)} by the clock, {seconds_text(cpu)} of CPU time.", ""]


def fact_lines(folder):
    lines = ["## Facts", "", "Bounds and values at the smallest size recorded here; `signorini info FILE.h5 --facts` checks any recording.", "",
             "| scene | what it shows | quantity | value | asked for |", "|---|---|---|--:|---|"]
    for fact in read_table(folder / "facts.csv"):
        low, high = fact["at_least"], fact["at_most"]
        bounds = f"{low} … {high}" if low and high else f"≥ {low}" if low else f"≤ {high}"
        unit = "" if fact["unit"] in ("", "1") else " " + fact["unit"]
        verdict = "" if fact["holds"] == "yes" else " **differs**"
        lines.append(f"| `{fact['scene']}` | {fact['says']} | `{fact['quantity']}` {fact['over']} | {fact['value']}{unit}{verdict} | {bounds} |")
    return lines


def write(page, folder):
    """Rewrites everything after the marker in the page from the tables of `folder` and its neighbours of other sizes."""
    text = page.read_text(encoding="utf-8") if page.exists() else f"# Scenes\n\n{HEAD}\n"
    head = text[:text.index(HEAD)] if HEAD in text else text.rstrip("\n") + "\n\n"
    stem = folder.name.removesuffix(next((size for size in SIZES if folder.name.endswith(size)), ""))
    found = [(size, folder.with_name(stem + size)) for size in SIZES if (folder.with_name(stem + size) / "scenes.csv").exists()]
    if not found:
        found = [("", folder)]
    lines = [HEAD, ""]
    for size, tables in found:
        lines += size_table(tables, size)
    lines += fact_lines(found[0][1])
    write_text(page, head + "\n".join(lines) + "\n")
