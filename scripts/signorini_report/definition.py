"""Reads what stands beside an experiment's run.toml: claims, figures, the paper's numbers (docs/experiments.md has the form of each file).

    configs/experiments/PAPER/ARTEFACT/run.toml       what makes rows; the program reads it
                                      claims.toml     what is claimed and checked
                                      figures.toml    what is drawn
                                      paper.toml      the paper's numbers
    configs/experiments/PAPER/reasons.toml            sentences that claims refer to by name: why one differs
                              names.toml              names for reading: rings_stiff = "Rings*"

A claim may be a template over a grid of scenes, methods or whatever it names in braces; a bound may be computed from a number of the paper.
"""

import copy
import dataclasses
import fnmatch
import itertools
import re
import tomllib
from pathlib import Path

from signorini_report.data import ReportError

FILES = ("run.toml", "claims.toml", "figures.toml", "paper.toml")
KINDS = ("ratio", "fraction", "quantity", "slope", "slope_ratio", "ratio_growth", "spread")
PAIRED = ("ratio", "ratio_growth", "slope_ratio", "spread")  # with `match` and `statistic`
PLAIN = ("id", "text", "source", "where", "at_least", "at_most", "above", "below", "match", "statistic", "against", "lower", "upper", "min", "max", "unit",
         "rows", "sizes", "comparable", "denominator_column")  # as the evaluation knows them
SHORT = ("of", "to", "because", "bound", "why", "paper", "within")
TEMPLATE = ("grid", "each")
KEYS = KINDS + PLAIN + SHORT + TEMPLATE
BOUNDS = ("paper", "ours")
MERGED = ("where", "at_least", "at_most")  # tables: keys of a claim join those of [defaults]
PLACE = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


@dataclasses.dataclass
class Definition:
    folder: Path
    run: dict
    says: str = ""
    source: str = ""
    claims: list = dataclasses.field(default_factory=list)   # of tables for expect.evaluate
    figures: dict = dataclasses.field(default_factory=dict)
    numbers: dict = dataclasses.field(default_factory=dict)  # paper.toml
    names: dict = dataclasses.field(default_factory=dict)

    @property
    def config(self):
        """One table with everything, for figures and tables."""
        config = {**self.run, **{key: value for key, value in self.figures.items() if key != "series"}}
        if "series" in self.figures:
            config["series"] = {"columns": self.run.get("series", []), **self.figures["series"]}
        config |= {"claim": self.says, "source": self.source, "expect": self.claims}
        if "methods" in config and self.numbers:
            config["methods"] = {**config["methods"], "paper": {key: value for key, value in self.numbers.items() if isinstance(value, dict)}}
        if "table" in config and "numbers" in self.numbers:
            config["table"] = {**config["table"], "numbers": self.numbers["numbers"]}
        return config


def identifier(folder):
    """experiments/lazarevych2010/fig1 → lazarevych2010_fig1; elsewhere the folder's name."""
    folder = Path(folder).resolve()
    return f"{folder.parent.name}_{folder.name}" if folder.parent.parent.name == "experiments" else folder.name


def read_toml(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReportError(f"{path}: {error}") from error


# --- templates ----------------------------------------------------------------------------------------------------------------

class Words:
    """The variables of one cell of a template, and which of them were used."""

    def __init__(self, variables, names, where):
        self.variables, self.names, self.where, self.used = variables, names, where, set()

    def value(self, name, part):
        if name not in self.variables:
            raise ReportError(f"{self.where}: unknown name '{{{name}}}' (known: {', '.join(self.variables) or 'none'})")
        self.used.add(name)
        key, value = self.variables[name]
        if part is None:
            return key
        if part == "name":
            return self.names.get(key, key)
        if part == "value" and not isinstance(value, dict):
            return value
        if isinstance(value, dict) and part in value:
            return value[part]
        raise ReportError(f"{self.where}: '{{{name}.{part}}}': '{key}' has no '{part}'")

    def fill(self, item):
        """Strings, tables and lists with their places filled. A string that is one place alone becomes its value, of whatever type."""
        if isinstance(item, str):
            alone = PLACE.fullmatch(item)
            return self.value(*alone.groups()) if alone else PLACE.sub(lambda match: str(self.value(*match.groups())), item)
        if isinstance(item, dict):
            return {self.fill(key): self.fill(value) for key, value in item.items()}
        return [self.fill(one) for one in item] if isinstance(item, list) else item


def axes(grid, shared, where):
    """[(variable, [(key, value), …]), …] of a grid; a word in the place of the values names an entry of [grids]."""
    if not isinstance(grid, dict):
        raise ReportError(f"{where}: 'grid' must be a table of lists: {{ scene = [\"rings\"] }}")
    found = []
    for name, values in grid.items():
        if isinstance(values, str):
            if values not in shared:
                raise ReportError(f"{where}: grid.{name} = \"{values}\": no such entry in [grids] (known: {', '.join(shared) or 'none'})")
            values = shared[values]
        if isinstance(values, dict):
            found.append((name, list(values.items())))
        elif isinstance(values, list) and values:
            found.append((name, [(value, value) for value in values]))
        else:
            raise ReportError(f"{where}: grid.{name} must be a list or a table with at least one entry")
    return found


def joined(base, more):
    """`base` with the keys of `more`; tables of MERGED key by key."""
    result = copy.deepcopy(base)
    for key, value in more.items():
        result[key] = {**result[key], **value} if key in MERGED and isinstance(result.get(key), dict) and isinstance(value, dict) else copy.deepcopy(value)
    return result


def cells(claim, shared, where):
    """(claim without grid and each, variables) of every cell, the first variable of the grid slowest, `each` fastest."""
    plain = {key: value for key, value in claim.items() if key not in TEMPLATE}
    grid, entries = axes(claim.get("grid", {}), shared, where), claim.get("each", [{}])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ReportError(f"{where}: 'each' must be a list of tables")
    for chosen in itertools.product(*(values for _, values in grid)):
        variables = {name: pair for (name, _), pair in zip(grid, chosen)}
        for entry in entries:
            own = {key: (value, value) for key, value in entry.items() if key not in KEYS}
            yield joined(plain, {key: value for key, value in entry.items() if key in KEYS}), {**variables, **own}


# --- the paper's numbers --------------------------------------------------------------------------------------------------------

def path_keys(text):
    """rings."SP (active set)".resolution → three keys."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^".]+)', text)]


def number_of(numbers, text):
    """A value of paper.toml; of a list [mean, median] the mean. None where the paper has none."""
    item = numbers
    for key in path_keys(text.strip()):
        if not isinstance(item, dict) or key not in item:
            return None
        item = item[key]
    if isinstance(item, list) and item:
        item = item[0]
    return float(item) if isinstance(item, (int, float)) and not isinstance(item, bool) else None


def read_numbers(folder):
    """paper.toml; same_as = "../table1/paper.toml" takes the numbers of another one, [scenes] some of its scenes under names of this
    experiment: rings_first20 = "rings"."""
    path = folder / "paper.toml"
    numbers = read_toml(path)
    same_as, scenes = numbers.pop("same_as", None), numbers.pop("scenes", {})
    if same_as is None:
        return numbers
    if not (folder / same_as).is_file():
        raise ReportError(f"{path}: same_as = \"{same_as}\": no such file")
    other = read_toml(folder / same_as)
    missing = [there for there in scenes.values() if there not in other]
    if missing:
        raise ReportError(f"{path}: scenes: '{missing[0]}' is not in {same_as} (known: {', '.join(other)})")
    return ({here: other[there] for here, there in scenes.items()} if scenes else other) | numbers


def paper_value(numbers, text, where):
    parts = [number_of(numbers, part) for part in text.split(" / ")]
    if None in parts:
        return None
    if len(parts) > 2 or (len(parts) == 2 and parts[1] == 0):
        raise ReportError(f"{where}: paper = \"{text}\": one number, or one divided by another that is not 0")
    return parts[0] / parts[1] if len(parts) == 2 else parts[0]


def rounded(value):
    """To three digits: the paper's numbers have no more."""
    return float(f"{value:.3g}")


# --- claims -------------------------------------------------------------------------------------------------------------------------

def side(value):
    """of, to: the label of a solver, several of them, or a table of columns."""
    return value if isinstance(value, dict) else {"label": value}


def reason_of(because, identifier, reasons, where):
    """because: a name, a list of names, or a table of patterns of ids that have names; the first pattern that fits counts."""
    if isinstance(because, dict):
        because = next((name for pattern, name in because.items() if fnmatch.fnmatchcase(identifier, pattern)), [])
    names = because if isinstance(because, list) else [because]
    missing = [name for name in names if name not in reasons]
    if missing:
        raise ReportError(f"{where}: because = \"{missing[0]}\": no such reason in reasons.toml")
    return "; ".join(reasons[name] for name in names)


def evaluated(claim, reasons, where):
    """The claim in the words of expect.evaluate."""
    kinds = [kind for kind in KINDS if kind in claim]
    if len(kinds) != 1:
        raise ReportError(f"{where}: needs exactly one of {', '.join(KINDS)}")
    result = {key: claim[key] for key in PLAIN if key in claim and key != "text"}
    for key in () if kinds[0] in PAIRED else ("match",):  # a default that says nothing about this kind
        result.pop(key, None)
    if kinds[0] not in (*PAIRED, "quantity"):
        result.pop("statistic", None)
    column = claim[kinds[0]]
    result |= {"claim": claim["text"], "kind": kinds[0], **({"column_of": column} if isinstance(column, list) else {"column": column})}
    if kinds[0] == "fraction" and column == "solved" and not {"lower", "upper"} & set(claim):
        result["lower"] = 1.0
    result |= {long: side(claim[short]) for short, long in (("of", "numerator"), ("to", "denominator")) if short in claim}
    reason = reason_of(claim["because"], claim["id"], reasons, where) if "because" in claim else ""
    result |= {"reason": reason} if reason else {}
    return result | {key: claim[key] for key in ("bound", "why") if key in claim}


def check(claim, where):
    unknown = sorted(set(claim) - set(KEYS))
    if unknown:
        raise ReportError(f"{where}: unknown key '{unknown[0]}' (known: {', '.join(sorted(KEYS))})")
    for key in ("id", "text", "bound"):
        if not claim.get(key):
            raise ReportError(f"{where}: '{key}' is missing")
    if claim["bound"] not in BOUNDS:
        raise ReportError(f"{where}: bound = \"{claim['bound']}\": must be paper (quoted) or ours (with why)")
    if claim["bound"] == "ours" and not claim.get("why"):
        raise ReportError(f"{where}: a bound of ours needs 'why'")


def expand(claim, definition, shared, reasons, where):
    """The claims that a template makes, one for each cell; a cell without a number of the paper makes none."""
    found, used, known = [], set(), set()
    for plain, variables in cells(claim, shared, where):
        words = Words(variables, definition.names, where)
        if "paper" in plain:
            text = words.fill(plain["paper"])
            value = paper_value(definition.numbers, text, where)
            if value is None and not variables:
                raise ReportError(f"{where}: paper = \"{text}\": no such number in paper.toml")
            if value is None:
                used |= words.used
                continue
            words.variables["paper"] = (f"{value:.3g}", value)
            if "within" in plain:
                low, high = plain["within"]
                plain |= {"min": rounded(low * value), "max": rounded(high * value)}
        filled = words.fill({key: value for key, value in plain.items() if key not in ("paper", "within")})
        check(filled, f"{where} '{filled.get('id', '')}'")
        found.append(evaluated(filled, reasons, f"{where} '{filled['id']}'"))
        used |= words.used
        known |= set(variables)
    idle = sorted(known - used)
    if idle:
        raise ReportError(f"{where}: no text has a place for '{{{idle[0]}}}'")
    return found


def defaults_for(defaults, claim):
    """`match` names columns of runs.csv: it is no default for claims about other rows."""
    other = "rows" in claim or any("rows" in entry for entry in claim.get("each", []) if isinstance(entry, dict))
    return {key: value for key, value in defaults.items() if not (other and key == "match")}


def read_claims(path, definition, reasons):
    content = read_toml(path)
    unknown = sorted(set(content) - {"says", "source", "defaults", "grids", "claims"})
    if unknown:
        raise ReportError(f"{path}: unknown key '{unknown[0]}' (known: says, source, defaults, grids, claims)")
    definition.says, definition.source = content.get("says", ""), content.get("source", "")
    defaults, ids = content.get("defaults", {}), set()
    for place, claim in enumerate(content.get("claims", []), 1):
        where = f"{path}: claim {claim.get('id') or place}"
        for one in expand(joined(defaults_for(defaults, claim), claim), definition, content.get("grids", {}), reasons, where):
            if one["id"] in ids:
                raise ReportError(f"{where}: id '{one['id']}' is used twice")
            ids.add(one["id"])
            definition.claims.append(one)


def read_definition(folder):
    """What the folder of an experiment says; files that are not there say nothing."""
    folder = Path(folder)
    if not (folder / "run.toml").is_file():
        raise ReportError(f"{folder}: no run.toml; the folder of an experiment holds one")
    definition = Definition(folder, read_toml(folder / "run.toml"))
    definition.names = read_toml(folder.parent / "names.toml")
    definition.numbers, definition.figures = read_numbers(folder), read_toml(folder / "figures.toml")
    own, shared = read_toml(folder / "reasons.toml"), read_toml(folder.parent / "reasons.toml")
    read_claims(folder / "claims.toml", definition, {**shared, **own})
    return definition
