"""The page of scenes: what they are, what they took, whether they show what they say."""

import json
import statistics

from signorini_dataset.options import SIZES, SOURCE
from signorini_dataset.recordings import UNFINISHED, read_steps, steps_file
from signorini_dataset.tables import read_table
from signorini_report import committed
from signorini_report.whole_files import write_text

HEAD = "<!-- Written by scripts/make_dataset --gallery; the text before the first table is kept. -->"


def bytes_text(number):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def seconds_text(seconds):
    if seconds >= 1000.0:
        return f"{seconds:,.0f} s"
    return f"{seconds:.3g} s" if seconds >= 1.0 else f"{1e3 * seconds:.3g} ms"


def facts_text(row):
    if row["facts"] == "0/0":
        return "none stated"
    if row["differing"]:
        return f"{row['facts']} hold; {', '.join(f'`{name}`' for name in row['differing'].split())} not"
    if not int(row.get("open") or 0):
        return "all hold"
    held = int(row["facts"].split("/")[0])
    return (f"{held} hold{'s' if held == 1 else ''}, " if held else "") + f"{row['open']} not reached"


def steps_text(row):
    return row["message"].removesuffix(" steps") if row["status"] == UNFINISHED else row["steps"]


def scene_line(row, took):
    if row["status"] == "failed":
        return f"| `{row['scene']}` |" + " – |" * 10 + f" not recorded: {row['message']} |"
    unfinished = row["status"] == UNFINISHED
    steps, facts = int(row["steps"]), "not finished" if unfinished else facts_text(row)
    whole, cpu = (took or {}).get("seconds"), (took or {}).get("cpu_seconds")
    each = cpu / steps if steps and cpu is not None else None
    whole, cpu, each = ("–" if seconds is None else seconds_text(seconds) for seconds in (whole, cpu, each))
    peak = bytes_text(took["peak_bytes"]) if took and took["peak_bytes"] else "–"
    per_contact = bytes_text(float(row["bytes_per_contact"])) if row["bytes_per_contact"] else "–"
    dofs = row["dofs"] if int(row["snapshots"]) and row["dofs"] else "–"
    cells = (f"`{row['scene']}`", steps_text(row), dofs, row["contacts"], row["regions"], row["unresolved"], whole, cpu, each, peak, per_contact, facts)
    return "| " + " | ".join(map(str, cells)) + " |"


def size_table(folder, size):
    rows = read_table(folder / "scenes.csv")
    cut = any(int(row.get("open") or 0) for row in rows)
    lines = [f"## Size {size}" + (", the first steps with contact" if cut else ""), "",
             "| scene | steps | dofs ≤ | contacts ≤ | regions ≤ | unresolved | wall time | CPU time | CPU per step | peak memory | bytes per contact | facts |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"]
    total = cpu = 0.0
    for row in rows:
        took = took_of(folder, row["scene"])
        total += (took or {}).get("seconds") or 0.0
        cpu += (took or {}).get("cpu_seconds") or 0.0
        lines.append(scene_line(row, took))
    timed = sum(bool((took_of(folder, row["scene"]) or {}).get("seconds")) for row in rows)
    whose = f"All {len(rows)} scenes" if timed == len(rows) else f"The {timed} timed of {len(rows)} scenes"
    return lines + ["", f"{whose} of this size: {seconds_text(total)} by the clock, {seconds_text(cpu)} of CPU time.", ""]


PAPERS = {  # contacts and seconds per step (means), peak memory: Verschoor and Jalba 2019, CR (Full), Table 1 and section 6.2.6
    "rings": (760, 1.46, 380e6), "rings_stiff": (633, 1.6, None), "pyramid": (2855, 6.0, 1.8e9), "bunnies": (233, 36.2, 2.2e9),
    "armadillo": (1450, 10.71, None), "bearing": (1348, 22.9, None),
}
HOURS = {"dress": 15.0, "letters": 1.5, "cloth": 8.0 / 60.0}  # Otaduy et al. 2009: what the whole scene took
LEAST = 10  # contacts of a step with contact
CLOCKS = ("detection_seconds", "assembly_seconds", "free_seconds", "solve_seconds", "other_seconds")


def contact_steps(path):
    """[(contacts, seconds)] of the steps with contact in a .steps.csv, recording left out; with any contact where none has many."""
    rows = read_steps(path)
    least = LEAST if any(int(row["contacts"]) >= LEAST for row in rows) else 1
    rows = [row for row in rows if int(row["contacts"]) >= least]
    return [(int(row["contacts"]), sum(float(row[name]) for name in CLOCKS)) for row in rows if row[CLOCKS[-1]]]


FIRST = 20  # steps with contact that a recording of size paper holds


def measured_steps(path, took):
    """contact_steps without those that took longer by the clock than the whole recording by the processor: it was paused in them; and the
    share of a core that the rest had."""
    found, cpu, clock = contact_steps(path), (took or {}).get("cpu_seconds"), (took or {}).get("seconds")
    if not cpu or not clock:
        return found, 1.0
    paused = sum(seconds for _, seconds in found if seconds > cpu)
    return [step for step in found if step[1] <= cpu], min(1.0, cpu / max(clock - paused, cpu))


def growth(folder, scene):
    """How much longer a step with contact takes in a whole recording than in its first ones, in the mean; None where there is none."""
    steps = folder / "recordings" / f"{scene}.steps.csv"
    if not steps.exists():
        return None
    found = [seconds for _, seconds in measured_steps(steps, took_of(folder, scene))[0]]
    return statistics.fmean(found) / statistics.fmean(found[:FIRST]) if len(found) > FIRST else None


def planned_steps(path):
    """Of the scene, however early the recording ends."""
    import h5py
    import tomllib
    with h5py.File(path, "r") as file:
        config = file.attrs["config"]
    return tomllib.loads(config.decode() if isinstance(config, bytes) else str(config))["time"]["steps"]


def hours_text(hours):
    if hours >= 1.0:
        return f"{hours:.3g} h"
    return f"{60.0 * hours:.2g} min" if 60.0 * hours >= 1.0 else seconds_text(3600.0 * hours)


def paper_line(row, folder, took, whole):
    """Steps with contact, what they took in CPU time, and what the paper prints; `whole` holds recordings of size medium."""
    path = folder / "recordings" / f"{row['scene']}.h5"
    found, share = measured_steps(path.with_suffix(".steps.csv"), took) if path.with_suffix(".steps.csv").exists() else ([], 1.0)
    name, (many, printed, memory) = row["scene"], PAPERS.get(row["scene"], (None, None, None))
    peak = bytes_text(took["peak_bytes"]) if took else "–"
    memory = bytes_text(memory) if memory else "–"
    planned = planned_steps(path)
    if not found:
        return f"| `{name}` | {row['steps']} | 0 | {row['contacts']} | {many or '–'} | – | {printed or '–'} | {peak} | {memory} | {planned} | – | – | – |"
    each = share * statistics.fmean(seconds for _, seconds in found)
    hours = hours_text(HOURS[name]) if name in HOURS else hours_text(printed * planned / 3600.0) if printed else "–"
    factor = growth(whole, name)
    grown = hours_text(factor * each * planned / 3600.0) if factor else "–"
    cells = (f"`{name}`", row["steps"], len(found), round(statistics.fmean(contacts for contacts, _ in found)), many or "–", seconds_text(each),
             f"{printed:g} s" if printed else "–", peak, memory, planned, hours_text(each * planned / 3600.0), grown, hours)
    return "| " + " | ".join(map(str, cells)) + " |"


def paper_table(folder, whole):
    """Size paper beside the papers' numbers."""
    lines = ["### Beside the papers", "",
             f"Steps with contact are those that end with at least {LEAST} contacts (any, where no step has that many). Their CPU time per step is what the clock says of them, "
             "times the share of a core that the whole recording had. These are a scene's first contacts: where the paper has many more, the time does "
             "not compare. The last three columns: that time for all steps of the scene; the same times the factor by which the mean over all steps with "
             f"contact exceeds that over the first {FIRST} at size medium, where scenes run to their end and contacts become as many as they do; and what "
             "the paper says (its own number of hours, or its seconds per step for the same number of steps). Both are extrapolations.", "",
             "| scene | steps | with contact | contacts, mean | paper | CPU per step with contact | paper, per step | peak memory | paper | steps of the scene "
             "| all of them | grown as at medium | paper |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in read_table(folder / "scenes.csv"):
        if row["status"] != "failed":
            lines.append(paper_line(row, folder, took_of(folder, row["scene"]), whole))
    return lines + [""]


WHOLE = "paper_whole"  # end of the name of a folder with recordings of size paper that run to the end


def pressed_mean(path):
    """Of the contacts that push, over the steps with contact in a .steps.csv."""
    rows = read_steps(path)
    least = LEAST if any(int(row["contacts"]) >= LEAST for row in rows) else 1
    pressed = [int(row["pressed"]) for row in rows if int(row["contacts"]) >= least]
    return statistics.fmean(pressed) if pressed else 0.0


def whole_line(row, folder):
    """A whole scene beside the paper's means."""
    took, steps = took_of(folder, row["scene"]), steps_file(folder / "recordings", row["scene"])
    found, share = measured_steps(steps, took) if steps.exists() else ([], 1.0)
    name, (many, printed, memory) = row["scene"], PAPERS.get(row["scene"], (None, None, None))
    cpu, peak = (took or {}).get("cpu_seconds"), (took or {}).get("peak_bytes")
    planned = int(steps_text(row).split()[-1])
    paper = hours_text(HOURS[name]) if name in HOURS else hours_text(printed * planned / 3600.0) if printed else "–"
    cells = (f"`{name}`", steps_text(row), len(found), round(statistics.fmean(contacts for contacts, _ in found)) if found else 0,
             round(pressed_mean(steps)) if found else 0, many or "–", seconds_text(share * statistics.fmean(seconds for _, seconds in found)) if found and cpu else "–",
             f"{printed:g} s" if printed else "–", bytes_text(peak) if peak else "–", bytes_text(memory) if memory else "–",
             hours_text(cpu / 3600.0) if cpu is not None else "–", paper)
    return "| " + " | ".join(map(str, cells)) + " |"


def whole_table(folder):
    """Whole scenes of size paper beside the papers' numbers."""
    rows = [row for row in read_table(folder / "scenes.csv") if row["status"] != "failed"]
    lines = ["## Beside the papers", "",
             f"Means over the steps that end with at least {LEAST} contacts (any, where no step has that many): contacts within the tolerance; those that push, which is what the paper "
             "counts; CPU time of a step, recording left out. The last two columns: CPU time of the whole recording, and the paper's own number of hours or its seconds per step "
             "for the same number of steps, on its processor.", "",
             "| scene | steps | with contact | contacts | pressed | paper | CPU per step with contact | paper, per step | peak memory | paper | CPU, whole scene | paper |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    lines += [whole_line(row, folder) for row in rows]
    return lines + [""]


def took_of(folder, scene):
    """Seconds and peak memory of a recording; no seconds where its steps took longer than they say, since a killed
    run wrote none for its part, nor of one that is not finished."""
    clock, steps = folder / "recordings" / f"{scene}.took.json", steps_file(folder / "recordings", scene)
    if not clock.exists():
        return None
    took = json.loads(clock.read_text())
    if steps.exists():
        spent = sum(float(row[name] or 0.0) for row in read_steps(steps) for name in CLOCKS)
        if spent > 1.01 * took["seconds"] or steps.parent.suffix == ".parts":
            took |= {"seconds": None, "cpu_seconds": None}
    return took


def fact_lines(folder, at="at the smallest size recorded here"):
    lines = ["## Facts", "", f"Bounds and values {at}; `signorini info FILE.h5 --facts` checks any recording.", "",
             "| scene | what it shows | quantity | value | asked for |", "|---|---|---|--:|---|"]
    for fact in read_table(folder / "facts.csv"):
        low, high = fact["at_least"], fact["at_most"]
        bounds = f"{low} … {high}" if low and high else f"≥ {low}" if low else f"≤ {high}"
        unit = "" if fact["unit"] in ("", "1") else " " + fact["unit"]
        verdict = "" if fact["holds"] == "yes" else " **differs**" if fact.get("reached", "yes") == "yes" else " (not reached)"
        lines.append(f"| `{fact['scene']}` | {fact['says']} | `{fact['quantity']}` {fact['over']} | {fact['value']}{unit}{verdict} | {bounds} |")
    return lines


def rows_of_scenes(lines):
    """{heading: [(scene, line)]} of the tables of a page whose rows begin with a scene."""
    found, heading = {}, ""
    for line in lines:
        if line.startswith("#"):
            heading = line
        elif line.startswith("| `"):
            found.setdefault(heading, []).append((line.split("`")[1], line))
    return found


def with_rows_of_others(lines, before, present):
    """The lines of a page, and in each table the rows that the page had `before` of scenes that are not `present`, in the order of scenes."""
    kept = {heading: [row for row in rows if row[0] not in present] for heading, rows in rows_of_scenes(before).items()}
    now = rows_of_scenes(lines)
    merged, heading = [], ""
    for line in lines:
        if line.startswith("#"):
            heading = line
        if not line.startswith("| `"):
            merged.append(line)
        if line.startswith("|-"):
            rows = now.get(heading, []) + kept.get(heading, [])
            merged += [line for _, line in sorted(rows, key=lambda row: row[0])]
    return merged


def seconds_of(text):
    """22.5 s, 5,658 s, 143 ms; None for –"""
    if text == "–":
        return None
    number, unit = text.replace(",", "").split()
    return float(number) * {"s": 1.0, "ms": 1e-3}[unit]


def timed_line(rows):
    """What the scenes of a table took in all."""
    table = [committed.cells(line) for _, line in rows]
    took = [(seconds_of(row[6]), seconds_of(row[7])) for row in table if row[6] != "–"]
    whose = f"All {len(table)} scenes" if len(took) == len(table) else f"The {len(took)} timed of {len(table)} scenes"
    return f"{whose} of this size: {seconds_text(sum(wall for wall, _ in took))} by the clock, {seconds_text(sum(cpu or 0.0 for _, cpu in took))} of CPU time."


def whole_lines(folder, before):
    """The page of whole scenes; rows of scenes that are not in the folder stay."""
    present = {row["scene"] for row in read_table(folder / "scenes.csv")}
    first, second = (with_rows_of_others(table, before, present) for table in (size_table(folder, "paper, whole scenes"), whole_table(folder)))
    rows = rows_of_scenes(first).get(first[0], [])
    first = [timed_line(rows) if " of this size: " in line else line for line in first]
    if any(" of " in line for _, line in rows):
        second += ["\"n of m\" steps: not finished; what is said of such a scene is of its first n steps.", ""]
    left = sorted({path.stem for path in (SOURCE / "configs/scenes").glob("*.toml")} - {scene for scene, _ in rows})
    if left:
        second += ["Not among them yet: " + ", ".join(f"`{name}`" for name in left) + ".", ""]
    return first + second + with_rows_of_others(fact_lines(folder, "of these recordings"), before, present)


def write(page, folder):
    """Rewrites everything after the marker in the page from the tables of `folder` and its neighbours of other sizes."""
    text = page.read_text(encoding="utf-8") if page.exists() else f"# Scenes\n\n{HEAD}\n"
    head, _, before = text.partition(HEAD) if HEAD in text else (text.rstrip("\n") + "\n\n", "", "")
    if folder.name.endswith(WHOLE):
        write_text(page, head + "\n".join([HEAD, ""] + whole_lines(folder, before.splitlines())) + "\n")
        return
    stem = folder.name.removesuffix(next((size for size in SIZES if folder.name.endswith(size)), ""))
    found = [(size, folder.with_name(stem + size)) for size in SIZES if (folder.with_name(stem + size) / "scenes.csv").exists()]
    if not found:
        found = [("", folder)]
    lines = [HEAD, ""]
    for size, tables in found:
        lines += size_table(tables, size)
        if size == "paper":
            lines += paper_table(tables, folder.with_name(stem + "medium"))
    lines += fact_lines(found[0][1])
    write_text(page, head + "\n".join(lines) + "\n")
