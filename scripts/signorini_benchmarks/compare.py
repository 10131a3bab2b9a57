"""scripts/benchmarks --compare OLD: two builds in turns, a ratio with its interval and a verdict for every row.

    OUT/round_01/old/bench_NAME.json, OUT/round_01/new/…   what Google Benchmark wrote, kept: an interrupted comparison goes on
    OUT/comparison.csv, OUT/comparison.md                   made from these alone
"""

import csv
import io
import math
import statistics
from collections import Counter
from dataclasses import dataclass

from signorini_benchmarks import checkout, machine, runs
from signorini_benchmarks.options import ROOT, chosen_programs
from signorini_benchmarks.runs import BenchmarkError
from signorini_benchmarks.verdict import CHANGE, LEVEL, Change, judge

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
SIDES = ("old", "new")
VERDICTS = ("faster", "slower", "same", "open", "not judged")
FIELDS = ("program", "row", "old_seconds", "new_seconds", "ratio", "low", "high", "rounds", "verdict")


@dataclass(frozen=True)
class Row:
    program: str
    key: str
    old: float  # median over the rounds, s
    new: float
    change: Change


@dataclass(frozen=True)
class Build:
    name: str  # revision
    binaries: object
    facts: dict


def round_folder(folder, number, side):
    return folder / f"round_{number:02d}" / side


def seconds_of(result, key):
    """The time of one iteration as the program measures it."""
    row = result.values[key]
    return float(row["real_time"]) * UNITS[row.get("time_unit", "ns")]


def read_rounds(folder, program):
    """[(old, new)] of the rounds in which both sides have run."""
    pairs = []
    for number in range(1, 1000):
        paths = [round_folder(folder, number, side) / f"{program.binary}.json" for side in SIDES]
        if not paths[0].parent.parent.is_dir():
            return pairs
        if all(path.is_file() for path in paths):
            pairs.append(tuple(runs.read_result(path) for path in paths))
    return pairs


def rows_of(program, rounds):
    """Rows that every round has on both sides, in the order of the file."""
    everywhere = set.intersection(*(set(result.values) for pair in rounds for result in pair)) if rounds else set()
    rows = []
    for key in (rounds[0][1].values if rounds else ()):
        if key in everywhere:
            pairs = [(seconds_of(old, key), seconds_of(new, key)) for old, new in rounds]
            if all(old > 0.0 and new > 0.0 for old, new in pairs):
                rows.append(Row(program.name, key, statistics.median(old for old, _ in pairs), statistics.median(new for _, new in pairs), judge(pairs)))
    return rows


def one_sided(rounds):
    """{row: which side alone has it, or what failed}"""
    found = {}
    for old, new in rounds:
        for key in set(old.values) ^ set(new.values):
            found[key] = "old only" if key in old.values else "new only"
        for side, result in zip(SIDES, (old, new)):
            for key, message in result.errors.items():
                found[key] = f"{side} failed: {message}"
    return found


def number_text(value):
    return "" if math.isinf(value) else f"{value:.4g}"


def csv_text(rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for row in rows:
        c = row.change
        writer.writerow([row.program, row.key, f"{row.old:.6g}", f"{row.new:.6g}", number_text(c.ratio), number_text(c.low) if not math.isinf(c.high) else "",
                         number_text(c.high), c.rounds, c.verdict])
    return out.getvalue()


def time_text(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def interval_text(change):
    return "–" if math.isinf(change.high) else f"{change.low:.3f} to {change.high:.3f}"


def mean_ratio(rows):
    return math.exp(statistics.fmean(math.log(row.change.ratio) for row in rows))


def summary_line(program, rows):
    counts = Counter(row.change.verdict for row in rows)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"| `{program}` | {len(rows)} | {mean_ratio(rows):.3f} | {words} |"


def conditions_text(facts):
    """Where and beside what the rounds ran. `facts`: those of every run."""
    machines = sorted({f"{one['machine'].get('cpu', 'unknown processor')}, {one['machine'].get('cores', '?')} cores" for one in facts})
    text = f"Machine: {'; '.join(machines)}. Other work kept up to {max(one['other_cores'] for one in facts):.1f} cores busy."
    return text + (" Small sizes and short times (`--quick`): not to be quoted." if any(one["quick"] for one in facts) else "")


def changelog_line(rows, builds):
    """What goes to the top of CHANGELOG.md before a release."""
    parts = []
    for name in dict.fromkeys(row.program for row in rows):
        of_program = [row for row in rows if row.program == name]
        counts = Counter(row.change.verdict for row in of_program)
        words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
        parts.append(f"`{name}` {mean_ratio(of_program):.3f} ({words})")
    return f"- Times beside {builds['old']['git']}, new over old, mean over all rows of a program: {'; '.join(parts)}."


def markdown_text(rows, asides, builds, facts):
    """`builds`: {side: facts of its build}; `asides`: {program: {row: remark}}; `facts`: of every run"""
    lines = [f"# {builds['new']['git']} beside {builds['old']['git']}", "",
             f"Both builds in turns on one machine. Ratio: time of the new over the old one; its interval holds with probability {LEVEL:.0%}. *Faster* and "
             f"*slower*: the interval excludes 1 and the ratio is at least {CHANGE:.0%} away from it; *same*: the interval lies within {CHANGE:.0%}; "
             "*open*: neither.", "", conditions_text(facts), "", "| program | rows | mean ratio | verdicts |", "|---|--:|--:|---|"]
    programs = list(dict.fromkeys(row.program for row in rows))
    lines += [summary_line(name, [row for row in rows if row.program == name]) for name in programs]
    commands = {one["program"]: one["command"] for one in facts}
    for name in programs:
        lines += ["", f"## {name}", "", f"`{commands[name]}`", "", "| row | old | new | ratio | interval | rounds | verdict |", "|---|--:|--:|--:|---|--:|---|"]
        lines += [f"| `{row.key}` | {time_text(row.old)} | {time_text(row.new)} | {row.change.ratio:.3f} | {interval_text(row.change)} | {row.change.rounds} | "
                  f"{row.change.verdict} |" for row in rows if row.program == name]
    remarks = [f"- `{name}`: `{key}`: {remark}" for name, found in asides.items() for key, remark in sorted(found.items())]
    if remarks:
        lines += ["", "## Not compared", "", *remarks]
    lines += ["", "## For CHANGELOG.md", "", changelog_line(rows, builds)]
    lines += ["", f"Old: {build_text(builds['old'])}. New: {build_text(builds['new'])}.", ""]
    return "\n".join(lines)


def build_text(facts):
    return f"{facts['git']}, {facts['compiler']}, {facts['flags']}"


def write_tables(folder, programs):
    rows, asides, builds, facts = [], {}, None, []
    for program in programs:
        rounds = read_rounds(folder, program)
        rows += rows_of(program, rounds)
        found = one_sided(rounds)
        if found:
            asides[program.name] = found
        for old, new in rounds:
            builds = check_same_builds(folder, builds, {"old": old.facts["build"], "new": new.facts["build"]})
            facts += [check_same_place(folder, facts, side.facts) for side in (old, new)]
    if not rows:
        raise BenchmarkError(f"{folder}: no round in which both sides have run a row in common")
    (folder / "comparison.csv").write_text(csv_text(rows), encoding="utf-8")
    (folder / "comparison.md").write_text(markdown_text(rows, asides, builds, facts), encoding="utf-8")
    return rows


def check_same_builds(folder, before, now):
    """Rounds of other revisions are another comparison."""
    for side in SIDES:
        if before and before[side]["git"] != now[side]["git"]:
            raise BenchmarkError(f"{folder}: rounds of {before[side]['git']} and of {now[side]['git']} as the {side} side; choose another folder with -o, or --again")
    return now


def check_same_place(folder, before, now):
    """Rounds of another machine, or of other sizes, are another comparison."""
    if before and before[0]["machine"] != now["machine"]:
        raise BenchmarkError(f"{folder}: rounds on two machines; choose another folder with -o, or --again")
    earlier = next((one["command"] for one in before if one["program"] == now["program"]), now["command"])
    if earlier != now["command"]:
        raise BenchmarkError(f"{folder}: rounds of `{earlier}` and of `{now['command']}`; choose another folder with -o, or --again")
    return now


def measure(folder, builds, programs, options, say):
    """All rounds that are missing. Programs run in pairs, old and new by turns first."""
    for number in range(1, options.rounds + 1):
        order = SIDES if number % 2 == 1 else SIDES[::-1]
        for program in programs:
            for side in order:
                target = round_folder(folder, number, side)
                if (target / f"{program.binary}.json").is_file() and not options.again:
                    continue
                target.mkdir(parents=True, exist_ok=True)
                say(f"round {number}/{options.rounds}, {program.name}, {side} ({builds[side].name})")
                runs.run_program(program, builds[side].binaries, target, options.sizes, builds[side].facts)


def builds_of(options, programs, say):
    """The two builds; without `..NEW` the new one is this tree, which the calling script has built."""
    old, _, new = options.compare.partition("..")
    facts = machine.machine_facts()

    def described(source, build):
        told = machine.build_facts(source, build)
        return Build(told["git"], build / "experiments" / "bench", {"machine": facts, "build": told})

    found = {"old": described(*checkout.build_commit(ROOT, checkout.commit_of(ROOT, old), programs, say))}
    found["new"] = described(*checkout.build_commit(ROOT, checkout.commit_of(ROOT, new), programs, say)) if new else described(ROOT, options.build)
    return found


def folder_name(builds):
    return "compare_" + "_".join(builds[side].name.replace(" with changes", "+") for side in SIDES)


def common_programs(programs, builds, say):
    common = []
    for program in programs:
        lacking = [side for side in SIDES if not (builds[side].binaries / program.binary).is_file()]
        if lacking:
            say(f"{program.name}: left out, the {' and the '.join(lacking)} build has no such program")
        else:
            common.append(program)
    return common


def run(options, say):
    programs = chosen_programs(options)
    if options.draw:
        if options.out is None:
            raise BenchmarkError("--compare with --draw: name the folder with the rounds by -o DIR")
        folder = options.out.resolve()
    else:
        builds = builds_of(options, programs, say)
        programs = common_programs(programs, builds, say)
        folder = (options.out or ROOT / "results" / "out" / folder_name(builds)).resolve()
        measure(folder, builds, programs, options, say)
    rows = write_tables(folder, programs)
    for name in dict.fromkeys(row.program for row in rows):
        print(summary_line(name, [row for row in rows if row.program == name]))
    print(f"comparison.md, comparison.csv  {folder}/")
    return 0
