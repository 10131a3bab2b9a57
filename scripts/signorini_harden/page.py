"""The tables as one page."""

import datetime
import subprocess

from signorini_report.whole_files import write_text

from . import faults, memcheck, soak, stories, suite
from .commands import ROOT
from .results import read_table


def groups(table, column):
    """(value, its rows) for every value of a column, in the order of the table."""
    found = {}
    for row in table:
        found.setdefault(row[column], []).append(row)
    return found.items()


def wrong_of(table):
    return [row for row in table if row["wrong"]]


def wrong_lines(table, name):
    """A line for every row that says what was wrong; `name`: of a row."""
    lines = [f"- {name(row)}: {row['wrong']}" for row in wrong_of(table)]
    return ["", *lines] if lines else []


def meetings_lines(options):
    table = read_table(options.meetings)
    if not table:
        return []
    names = list(dict.fromkeys(name for row in table for name in (row["first"], row["second"])))
    lines = ["", "## Two commands at once", "",
             "Every two commands meet in one folder: the second begins at a random moment, and none, one or both are killed (`SIGKILL`) at random moments. Inputs stay",
             "as they were, a refusal is one line, and going on with both ends with the exit codes and the outputs that one after the other makes.", "",
             f"{len(table)} meetings of {len({(row['first'], row['second']) for row in table})} pairs of {len(names)} commands, {len(wrong_of(table))} wrong"
             " (`scripts/harden --pairs N`)."]
    return lines + wrong_lines(table, lambda row: f"`{row['first']}` beside `{row['second']}`, seed {row['seed']}")


def stories_lines(options):
    table = read_table(options.told)
    if not table:
        return []
    return ["", "## Random stories", "",
            "A story is a row of random acts in one folder: record, record and be killed, resume, record again, run, run and be killed, resume the table, solve, export,",
            "replay, info, report, plan a campaign, run a shard of it, merge, make a dataset, most of them killed at times, delete, damage a recording. A model says after every act what the exit",
            "code must be and what must lie there, down to the bytes of what is whole; a merged table must be that of one run.", "",
            f"{len(table)} stories of {stories.ACTS_OF_A_STORY} acts, {len(wrong_of(table))} wrong (`scripts/harden --stories SECONDS`).",
            *wrong_lines(table, lambda row: f"seed {row['seed']}")]


def damaged_lines(options):
    table = read_table(options.read)
    if not table:
        return []
    kinds = ", ".join(f"{sum(1 for row in table if row['kind'] == kind)} {word}" for kind, word in (
        ("npz", "npz archives"), ("fclib", "FCLib files"), ("recording", "recordings"), ("trace", "files of curves"), ("table", "tables of runs"),
        ("plan", "files of campaigns"), ("scene", "scenes"), ("experiment", "experiments"), ("mesh", "meshes")))
    return ["", "## Wrong files", "",
            "Files whose content is wrong while their containers, checksums included, are right: other values, lengths, shapes and types, arrays that are missing,",
            "keys with other values. The program ends with a documented exit code, one line and no crash.", "",
            f"{len(table)} files ({kinds}), {len(wrong_of(table))} wrong (`scripts/harden --damaged N`).",
            *wrong_lines(table, lambda row: f"number {row['number']}, {row['kind']}")]


def fuzzed_lines(options):
    table = read_table(options.fuzzed)
    if not table:
        return []
    lines = ["", "## Fuzzing", "",
             "Executions of the fuzz targets (`scripts/fuzz`, clang's libFuzzer, address and undefined behaviour checks on):", "",
             "| target | executions | seconds | crashes |", "|---|--:|--:|--:|"]
    for name, own in groups(table, "target"):
        lines.append(f"| `{name}` | " + " | ".join(f"{sum(int(row[key]) for row in own):,}" for key in ("executions", "seconds", "crashes")) + " |")
    return lines


def soak_lines(options):
    table = read_table(options.soaked)
    if not table:
        return []
    lines = ["", "## Long runs", "",
             "Memory (resident) and open files of every process, read five times a second. Memory of a recording grows with its steps: it keeps the statistics of all",
             "of them to its end (0.4 kB a step), and every checkpoint holds them a second time while it is written. The recording of a body at rest, whose steps are all",
             f"alike, is judged from the middle of its time to the end: memory may grow by {soak.SHARE:.0%}, {soak.ROOM_KB // 1024} MiB and {soak.KB_OF_A_STEP:g} kB for every step, open files not at all. "
             "A command that is run",
             f"again may use {soak.SHARE:.0%} and {soak.ROOM_KB // 1024} MiB more than in its first round, and no more open files.", "",
             f"{sum(float(row['seconds']) for row in table) / 3600:.2f} hours, {len(table)} processes, {len(wrong_of(table))} wrong (`scripts/harden --soak SECONDS`).", "",
             "| command | rounds | seconds | memory in the middle, at the end, at most [MB] | open files at most |", "|---|--:|--:|--:|--:|"]
    for name, own in groups(table, "command"):
        memory = ", ".join(f"{max(int(row[key]) for row in own) / 1024:.0f}" for key in ("middle_kb", "end_kb", "peak_kb"))
        lines.append(f"| {name} | {len(own)} | {sum(float(row['seconds']) for row in own):.0f} | {memory} | {max(int(row['files']) for row in own)} |")
    return lines + wrong_lines(table, lambda row: f"{row['command']}, {row['began']}")


def sample_lines(table):
    """How many of the calls were tried. The last call of a kind is in every sample, so the largest number is that of all calls."""
    tried, last = {}, {}
    for row in table:
        tried.setdefault((row["command"], row["call"]), set()).add(row["number"])
        last[row["call"]] = max(last.get(row["call"], 0), int(row["number"]))
    if not table:
        return []
    most = ", ".join(f"{last[kind]:,} `{kind}`" for kind in faults.KINDS if kind in last)
    twice = ", ".join(f"`{kind}`" for kind, errors in faults.KINDS.items() if len(errors) > 1)
    return [f"Not every call is tried: of each kind the first calls of a command fail, the last ones and some evenly between, here at most {max(map(len, tried.values()))}.",
            f"Of kinds with few calls all are tried. The most calls that one command makes: {most}.",
            f"The table counts tries: calls with two possible errors ({twice}) fail once with each.", ""]


def memcheck_lines(options):
    table = read_table(options.checked)
    if not table:
        return []
    solved, scenes = (sum(1 for row in table if row["sample"].startswith(f"{word} ")) for word in ("solve", "record"))
    return ["", "## Memory that is not there", "",
            "Commands under valgrind's memcheck: reads of memory that nobody wrote or that is not the program's, writes beyond it, memory that is freed twice.", "",
            f"{len(table)} runs: {len(table) - scenes - solved} commands, all solvers on {solved} problems, the first {memcheck.STEPS} steps of {scenes} scenes; {len(wrong_of(table))} wrong"
            " (`scripts/harden --memcheck`).",
            *wrong_lines(table, lambda row: row["sample"])]


def suite_lines(options):
    table = read_table(options.tested)
    if not table:
        return []
    lines = ["", "## The test suite under sanitizers", "",
             "Every test of the suite but the slow ones, with the checks of the compiler for addresses and undefined behaviour, or for threads (`scripts/harden --suite PRESETS`; for threads without the label `one-thread`).", "",
             "| preset | checks | entries | seconds | wrong |", "|---|---|--:|--:|--:|"]
    for preset, own in groups(table, "preset"):
        lines.append(f"| `{preset}` | {suite.PRESETS[preset]} | {len(own)} | {sum(float(row['seconds']) for row in own):,.0f} | {len(wrong_of(own))} |")
    return lines + wrong_lines(table, lambda row: f"`{row['preset']}`, {row['entry']}")


def calls_lines(options):
    table = read_table(options.table)
    if not table:
        return []
    kinds = list(faults.KINDS)
    lines = ["", "## Calls that fail", "",
             "What the commands leave behind when a call of the system fails: in every run one call fails, once. Afterwards inputs are as they were, every output is",
             "the old one, the new one or to be resumed, the exit code is a [documented one](command-line.md#exit-codes), and one line says why; then the command",
             "goes on and ends with the result of a run without failures.", "",
             f"{len(table):,} failing calls, {len(wrong_of(table))} wrong (`scripts/harden`).", "",
             *sample_lines(table),
             "| command | " + " | ".join(kinds) + " | wrong |", "|---|" + "--:|" * (len(kinds) + 1)]
    for name, own in groups(table, "command"):
        counts = [sum(1 for row in own if row["call"] == kind) for kind in kinds]
        lines.append(f"| `{name}` | " + " | ".join(map(str, counts)) + f" | {len(wrong_of(own))} |")
    return lines


PARTS = (calls_lines, meetings_lines, stories_lines, damaged_lines, fuzzed_lines, suite_lines, memcheck_lines, soak_lines)


def sections(text):
    """{heading: lines from it on} of a page, in its order."""
    found, own = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            own = found.setdefault(line, [])
        if own is not None:
            own.append(line)
    return found


def write(options):
    """Sections whose table is there are new and say when they were made; the others stay as they are."""
    revision = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    made = f"*Made by `scripts/harden --page` on {datetime.date.today()} at {revision}.*"
    kept = sections(options.page.read_text(encoding="utf-8") if options.page.exists() else "")
    for part in PARTS:
        if lines := part(options):
            heading, *rest = lines[1:]
            kept[heading] = [heading, "", made, *rest]
    text = "\n\n".join("\n".join(lines).strip() for lines in kept.values())
    write_text(options.page, f"# Hardening\n\n{text}\n")
