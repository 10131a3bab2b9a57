"""Verdicts on the claims of an experiment, as claims.toml states them (docs/experiments.md)."""

import dataclasses
import json
import math

from signorini_report import groups, kinds, machine
from signorini_report.data import is_time
from signorini_report.definition import file_stem
from signorini_report.rows import Absent, Impossible, digits, flatten, numbers, quotient_columns, select, within, windows

HOLDS, DIFFERS, NOT_COMPARABLE = "holds", "differs", "not comparable"
PAPER, OURS = "paper", "ours"  # where a bound comes from; "" is not known
SIDES = ("numerator", "denominator", "above", "below")  # tables of columns that choose rows
OUTCOMES = ("first_to_reach", "solved", "unsolved", "status")  # columns that tell how a run ended, not what was run


@dataclasses.dataclass
class Verdict:
    experiment: str
    id: str
    claim: str
    source: str
    kind: str
    expected: str
    value: float | None
    unit: str
    samples: int
    verdict: str
    reason: str
    bound: str = ""
    why: str = ""             # of a bound of ours
    absent: bool = False      # one of a template that has nothing to judge at this size: no row, no count
    bound_set: str = ""       # commit at which what is judged was last changed (scripts/reference)
    bound_first: bool | None = None  # whether the program that made the rows, or its run, came after it

    @property
    def measured(self):
        if self.value is None:
            return "–"
        kind = kinds.known().get(self.kind)
        if kind and kind.percent:
            return f"{100 * self.value:.4g} % of {self.samples}"
        of = kind.of if kind else "row"
        return f"{digits(self.value)}{' ' + self.unit if self.unit else ''} ({self.samples} {of if self.samples == 1 else of + 's'})"


def shown(verdicts):
    """Those that stand in tables and counts."""
    return [verdict for verdict in verdicts if not verdict.absent]


def absent_line(verdicts):
    """How many claims have nothing to judge at this size, and which; empty where there are none."""
    names = [verdict.id for verdict in verdicts if verdict.absent]
    words = "1 claim" if len(names) == 1 else f"{len(names)} claims"
    return f"Without rows at this size, and not counted: {words} ({', '.join(names)})." if names else ""


def by_bound(verdicts):
    """{"paper": verdicts, "ours": …, "": those of unknown origin}, without empty ones and without what is absent."""
    found = {bound: [verdict for verdict in shown(verdicts) if verdict.bound == bound] for bound in (PAPER, OURS, "")}
    return {bound: part for bound, part in found.items() if part}


def counts(verdicts):
    """How many hold, differ, cannot be compared."""
    return [sum(verdict.verdict == word for verdict in verdicts) for word in (HOLDS, DIFFERS, NOT_COMPARABLE)]


def expected_text(expect):
    low, high = expect.get("min"), expect.get("max")
    kind = kinds.known().get(expect.get("kind"))
    scale, unit = (100, " %") if kind and kind.percent else (1, f" {expect['unit']}" if "unit" in expect else "")
    if low is not None and high is not None:
        return f"{low * scale:g} … {high * scale:g}{unit}" if low != high else f"{low * scale:g}{unit}"
    if low is not None:
        return f"≥ {low * scale:g}{unit}"
    return f"≤ {high * scale:g}{unit}" if high is not None else ""


def columns_used(expect):
    """Every column that the value of a claim depends on."""
    names = {expect[key] for key in ("column", "denominator_column", "against", "over") if isinstance(expect.get(key), str)}
    names |= set(expect["column_of"]) if isinstance(expect.get("column_of"), list) else set()
    for key in ("where", *SIDES, "at_least", "at_most"):
        names |= {name for name, _ in flatten(expect[key])} if isinstance(expect.get(key), dict) else set()
    return names


def is_about_time(expect):
    """Whether the clock measured one of the columns that the claim is about."""
    return any(is_time(column) for column in columns_used(expect))


def on_this_machine(runs):
    """Without the rows that ask for more threads than the program could use: they say nothing about a claim."""
    if not {"status", "message"} <= set(runs.columns):
        return runs
    refused = (runs["status"] == "unsupported") & runs["message"].astype(str).str.contains("threads, this process may use", regex=False)
    return runs[~refused]


def rows_for(expect, tables):
    """The table that a claim is about, cut down to its bounds, with the column `quotient` where it asks for one."""
    kind = expect.get("rows", "runs")
    if kind not in ("runs", "steps", "follow", "accuracy"):
        raise Impossible(f"unknown rows '{kind}' (known: accuracy, follow, runs, steps)")
    if tables.get(kind) is None:
        raise Impossible(f"there is no {kind}.csv")
    rows = on_this_machine(tables[kind]) if kind == "runs" else tables[kind]
    if "window_s" in expect:
        if kind != "steps":
            raise Impossible("'window_s' is about rows = \"steps\"")
        rows = windows(rows, expect["window_s"])
    rows = within(rows, expect)
    names = quotient_columns(expect)
    if names:
        below = numbers(rows, names[1])
        rows = rows.assign(quotient=numbers(rows, names[0]) / below.where(below != 0))
    return rows


def measured_value(expect, tables):
    """(value, samples) of a claim, whose keys are checked first."""
    kind, known = expect.get("kind", ""), kinds.known()
    if expect.get("comparable", True) is False:
        raise Impossible(expect.get("reason", "declared not comparable"))
    if kind not in known:
        raise Impossible(f"unknown kind '{kind}' (known: {', '.join(known)})")
    unknown = sorted(set(expect) - {*kinds.KEYS, *known[kind].keys})
    if unknown:
        raise Impossible(f"unknown key '{unknown[0]}'")
    if "column_of" in expect:
        expect = {"column": "quotient"} | expect
    if "column" not in expect:
        raise Impossible("'column' is missing")
    if "min" not in expect and "max" not in expect:
        raise Impossible("neither 'min' nor 'max' is given")
    value, samples = known[kind].value(rows_for(expect, tables), expect)
    if math.isnan(value):
        raise Impossible("the measured value is not a number")
    return value, samples


def ended_early(expect, tables):
    """Why steps cannot be compared: recordings among them that ended before their time; "" where none did. Pairs of steps are of what both have."""
    kind = expect.get("rows")
    if kind not in ("steps", "accuracy") or (kind == "steps" and expect["kind"] == "ratio") or "status.failed" not in tables[kind].columns:
        return ""
    if any(column.startswith("status.") for column in columns_used(expect)):
        return ""
    rows = select(tables[kind], expect.get("where"))
    rows = within(rows, expect) if kind == "accuracy" else rows  # a row is a recording there
    sides = [select(rows, expect[side]) for side in SIDES if isinstance(expect.get(side), dict)] or [rows]
    names = sorted({scene for part in sides for scene in part.loc[part["status.failed"] == 1, "scene"]})
    return f"ended early: {', '.join(names)}" if names else ""


def was_run(expect, tables):
    """Whether there are rows for every side of a claim, however they ended."""
    planned = lambda where: {column: value for column, value in flatten(where) if column.split(".")[0] not in OUTCOMES}  # noqa: E731
    rows = tables.get(expect.get("rows", "runs"))
    try:
        rows = select(rows, planned(expect.get("where") or {}))
        return all(len(select(rows, planned(expect.get(side) or {}))) for side in SIDES)
    except Impossible:
        return False


def evaluate(runs, expect, experiment="", size="", steps=None, follow=None, busy=None, template=False,
             accuracy=None):
    """`busy`: for each kind of rows why their times are not comparable, "" where they are (machine.busy). `template`: one of several claims
    of a grid, which is absent where nothing was run for it."""
    tables = {"runs": runs, "steps": steps, "follow": follow, "accuracy": accuracy}
    value, samples, reason, absent = None, 0, "", False
    sizes = expect.get("sizes", [])
    sizes = sizes if isinstance(sizes, list) else [sizes]
    elsewhere = f"asked at size {' or '.join(sizes)}; this run is {size}" if sizes and size and size not in sizes else ""
    try:
        value, samples = measured_value(expect, tables)
        if elsewhere:
            raise Impossible(elsewhere)
        early = ended_early(expect, tables)
        if early:
            raise Impossible(early)
        disturbed = (busy or {}).get(expect.get("rows", "runs"), "")
        if disturbed and is_about_time(expect):
            raise Impossible(disturbed)
        verdict = HOLDS if expect.get("min", -math.inf) <= value <= expect.get("max", math.inf) else DIFFERS
    except Impossible as impossible:
        missing = isinstance(impossible, Absent)
        absent = template and missing and not was_run(expect, tables)
        verdict, reason = NOT_COMPARABLE, elsewhere if elsewhere and missing else str(impossible)
    text = {key: str(expect.get(key, "")) for key in ("id", "claim", "source", "kind", "unit", "bound", "why")}
    return Verdict(experiment=experiment, expected=expected_text(expect), value=value, samples=samples, verdict=verdict,
                   reason=reason or (str(expect.get("reason", "")) if verdict == DIFFERS else ""), absent=absent, **text)


def concerned(where, left_out, families):
    """Whether a choice of rows has to do with files that were left out: unless it names other files, or groups without them."""
    stems = {file_stem(file) for file in left_out}
    for column, absent in (("file", stems), ("group", {groups.group_of(stem, families) for stem in stems})):
        named = where.get(column)
        if named and not set(named if isinstance(named, list) else [named]) & absent:
            return False
    return bool(left_out)


def judged_without(verdict, expect, left_out, families):
    """A claim about all problems is none about some of them: what `optional_files` left out (docs/experiments.md) makes it not comparable."""
    if not concerned(expect.get("where") or {}, left_out, families):
        return verdict
    if verdict.verdict == NOT_COMPARABLE:
        return verdict
    return dataclasses.replace(verdict, verdict=NOT_COMPARABLE, reason=f"input not in the clone: {', '.join(left_out)} (SIGNORINI_DATA)")


def evaluate_all(experiment):
    """A verdict on every claim of the experiment's definition."""
    size, busy = str(experiment.env.get("size") or ""), machine.of_experiment(experiment)
    left_out = [file for file in str(experiment.env.get("inputs_left_out", "")).split(", ") if file]
    templates = experiment.definition.templates if experiment.definition else set()
    found = [evaluate(experiment.runs, claim, experiment.id, size, experiment.steps, experiment.follow, busy, claim.get("id") in templates, experiment.accuracy)
             for claim in experiment.claims]
    return [judged_without(verdict, claim, left_out, experiment.config.get("groups", {})) for verdict, claim in zip(found, experiment.claims)]


# --- claims.json --------------------------------------------------------------------------------------------------------------

def to_json(verdicts):
    records = []
    for verdict in verdicts:
        record = dataclasses.asdict(verdict)
        if record["value"] is not None and not math.isfinite(record["value"]):
            record["value"] = str(record["value"])  # JSON has no infinity
        records.append(record)
    return json.dumps(records, indent=2, ensure_ascii=False) + "\n"


def read_claims(path):
    """The verdicts of a claims.json, as an earlier report wrote them."""
    verdicts = [Verdict(**record) for record in json.loads(path.read_text(encoding="utf-8"))]
    for verdict in verdicts:
        verdict.value = None if verdict.value is None else float(verdict.value)  # JSON has no infinity: a text
    return verdicts


def with_origin(verdict, claim):
    """A verdict in the words of the definition of today: its text and source, whose bound it is and why, and why it differs. Where the bound is
    another one today, the words are those of the bound that was judged."""
    if claim is None:
        return verdict
    same = verdict.expected == expected_text(claim)
    words = {key: str(claim.get(key, "")) for key in ("claim", "source", "bound", "why")} if same or not verdict.bound else {}
    words |= {"reason": str(claim["reason"])} if verdict.verdict == DIFFERS and claim.get("reason") else {}
    return dataclasses.replace(verdict, **words)


def read_reference(folder, claims, env):
    """The verdicts of a committed result; `claims` of its definition of today. Programs that noted the load alone judged times whatever it
    was: on a busy machine these are not comparable either."""
    known = {str(claim.get("id")): claim for claim in claims}
    busy = machine.busy_without_waiting_times(env)
    timed = {name for name, claim in known.items() if is_about_time(claim)} if busy else set()
    found = [with_origin(verdict, known.get(verdict.id)) for verdict in read_claims(folder / "claims.json")]
    return [dataclasses.replace(verdict, verdict=NOT_COMPARABLE, reason=busy) if verdict.id in timed and verdict.verdict != NOT_COMPARABLE
            else verdict for verdict in found]
