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
import os
import re
import tomllib
from pathlib import Path

from signorini_report import figures, kinds, strict
from signorini_report.strict import ReportError

TREE = Path(__file__).resolve().parents[2] / "configs"
FILES = ("run.toml", "claims.toml", "figures.toml", "paper.toml")
WRITTEN_OUT = ("claim", "kind", "column", "column_of", "reason", "bound", "why")  # claims.toml has other words for them
PLAIN = tuple(key for key in kinds.KEYS if key not in WRITTEN_OUT)
SIDES = {"of": "numerator", "to": "denominator"}  # short forms
SHORT = ("text", "because", "bound", "why", "paper", "within")
TEMPLATE = ("grid", "each")
BOUNDS = ("paper", "ours")
MERGED = ("where", "at_least", "at_most")  # tables: keys of a claim join those of [defaults]
ANY_WORDS = strict.either(strict.TEXT, strict.TEXTS)
CONTENT = {"says": strict.TEXT, "source": strict.TEXT, "same_as": strict.TEXT, "defaults": strict.TABLE, "grids": strict.TABLE,
           "because": strict.either(strict.TEXT, strict.TEXTS, strict.TABLE), "claims": strict.TABLES,
           "figures": strict.TEXTS, "scenes": strict.TABLE}  # of claims.toml, figures.toml, paper.toml
SHAPES = {"each": strict.TABLES, "because": CONTENT["because"], "paper": strict.TEXT,
          **dict.fromkeys(("where", "at_least", "at_most", "above", "below"), strict.TABLE)}  # of a template
FILLED = {**SHAPES, **dict.fromkeys(("id", "source", "why", "bound", "rows", "unit", "statistic", "against", "denominator_column", "over", "reached"), strict.TEXT),
          **dict.fromkeys(("min", "max", "lower", "upper", "level", "factor", "window_s"), strict.NUMBER), "match": strict.TEXTS, "sizes": ANY_WORDS,
          **dict.fromkeys(("of", "to"), strict.either(strict.TEXT, strict.TEXTS, strict.TABLE)), "comparable": strict.FLAG,
          **dict.fromkeys(kinds.known(), ANY_WORDS)}  # of a claim, variables filled in
PLACE = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


def claim_keys():
    """Every key that a claim of some kind may have."""
    own = {key for kind in kinds.known().values() for key in kind.keys} - set(SIDES.values())
    return {*kinds.known(), *PLAIN, *own, *SIDES, *SHORT, *TEMPLATE}


def figure_keys():
    """What figures.toml may hold."""
    from signorini_report import rules, tables  # they read results, which come with a definition
    return strict.merged({"figures": None, "page": {"figure": None, "caption": None}}, figures.keys(), tables.KEYS, rules.KEYS)


@dataclasses.dataclass
class Definition:
    folder: Path
    run: dict
    says: str = ""
    source: str = ""
    claims: list = dataclasses.field(default_factory=list)   # of tables for verdicts.evaluate
    templates: set = dataclasses.field(default_factory=set)  # ids of the claims that come from a grid or a list
    figures: dict = dataclasses.field(default_factory=dict)
    numbers: dict = dataclasses.field(default_factory=dict)  # paper.toml
    names: dict = dataclasses.field(default_factory=dict)

    @property
    def config(self):
        """One table with everything, for figures and tables."""
        return self.with_run(self.run)

    def with_run(self, run):
        """The same with what was run as a result tells it."""
        config = {**run, **{key: value for key, value in self.figures.items() if key != "series"}}
        if "series" in self.figures:
            config["series"] = {"columns": run.get("series", []), **self.figures["series"]}
        config |= {"claim": self.says, "source": self.source, "expect": self.claims}
        if "methods" in config and self.numbers:
            config["methods"] = {**config["methods"], "paper": {key: value for key, value in self.numbers.items() if is_scene(key, value)}}
        if "table" in config and "numbers" in self.numbers:
            config["table"] = {**config["table"], "numbers": self.numbers["numbers"]}
        return config


def is_scene(key, value):
    """Whether a table of paper.toml is one of [methods]: scene → method → numbers."""
    return key != "numbers" and isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())


def identifier(folder):
    """experiments/lazarevych2010/fig1 → lazarevych2010_fig1; elsewhere the folder's name."""
    folder = Path(folder).resolve()
    return f"{folder.parent.name}_{folder.name}" if folder.parent.parent.name == "experiments" else folder.name


def parsed(text, where):
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ReportError(f"{where}: {error}") from error


def read_toml(path):
    """The table of a file; empty where there is none."""
    try:
        return parsed(path.read_text(encoding="utf-8"), path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: {error}") from error
    except IsADirectoryError as error:
        raise ReportError(f"{path}: is a folder, not a file") from error


def file_stem(path):
    """bucket-quick.h5 → bucket-quick, block.hdf5 and block.npz → block, block.1 → block.1"""
    path = Path(path)
    return path.stem if path.suffix in (".h5", ".hdf5", ".npz") else path.name


def recordings_of(run):
    """[(name, scene, set)] of [[recordings]], scenes and settings filled in, without what `vary` adds to names."""
    found = []
    for one in run.get("recordings", []):
        scenes = one["scene"] if isinstance(one.get("scene"), list) else [one.get("scene", "")]
        lists = one.get("settings", [""])
        lists = lists if isinstance(lists[0], list) else [lists]
        for scene, *names in itertools.product(scenes, *lists):
            name = one["name"].replace("{scene}", scene).replace("{settings}", "_".join(names))
            settings = {key: value for each in names for key, value in run.get("settings", {}).get(each, {}).items()}
            found.append((name, scene, {**one.get("set", {}), **settings}))
    return found


# --- templates ----------------------------------------------------------------------------------------------------------------

class Words:
    """The variables of one cell of a template, and which of them were used."""

    def __init__(self, variables, names, where):
        self.variables, self.names, self.where, self.used = variables, names, where, set()

    def value(self, name, part):
        if name not in self.variables:
            raise ReportError(f"{self.where}: unknown name '{{{name}}}' ({strict.nearest(name, self.variables)})")
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
                raise ReportError(f"{where}: grid.{name} = \"{values}\": no such entry in [grids] ({strict.nearest(values, shared)})")
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
    """(what all cells have, what this one has, variables) of every cell, the first variable of the grid slowest, `each` fastest."""
    known = claim_keys()
    plain = {key: value for key, value in claim.items() if key not in TEMPLATE}
    grid, entries = axes(claim.get("grid", {}), shared, where), claim.get("each", [{}])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ReportError(f"{where}: 'each' must be a list of tables")
    for chosen in itertools.product(*(values for _, values in grid)):
        variables = {name: pair for (name, _), pair in zip(grid, chosen)}
        for entry in entries:
            own = {key: (value, value) for key, value in entry.items() if key not in known}
            yield plain, {key: value for key, value in entry.items() if key in known}, {**variables, **own}


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


def read_numbers(folder, read):
    """paper.toml; same_as = "../table1/paper.toml" takes the numbers of another one, [scenes] some of its scenes under names of this
    experiment: rings_first20 = "rings"."""
    path = folder / "paper.toml"
    numbers = dict(read(path))
    strict.typed(numbers, CONTENT, path)
    same_as, scenes = numbers.pop("same_as", None), numbers.pop("scenes", {})
    if same_as is None:
        return numbers
    other = read(Path(os.path.normpath(folder / same_as)))
    if not other:
        raise ReportError(f"{path}: same_as = \"{same_as}\": no such file")
    missing = [there for there in scenes.values() if there not in other]
    if missing:
        raise ReportError(f"{path}: scenes: '{missing[0]}' is not in {same_as} ({strict.nearest(missing[0], other)})")
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


# --- claims -------------------------------------------------------------------------------------------------------------------

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
        raise ReportError(f"{where}: because = \"{missing[0]}\": no such reason in reasons.toml ({strict.nearest(missing[0], reasons)})")
    return "; ".join(reasons[name] for name in names)


def kind_of(claim, where):
    found = [kind for kind in kinds.known() if kind in claim]
    if len(found) != 1:
        raise ReportError(f"{where}: needs exactly one of {', '.join(kinds.known())}" + (f", has {' and '.join(found)}" if found else ""))
    return kinds.known()[found[0]]


def about(kind, table):
    """Of what several claims share, that which says something about a kind."""
    foreign = {key for other in kinds.known().values() for key in other.keys} - set(kind.keys)
    return {key: value for key, value in table.items() if SIDES.get(key, key) not in foreign}


def whole(defaults, shared, own, where):
    """A claim with what it shares with others of its template and with the [defaults]; `match` names columns of runs.csv, no other rows'."""
    kind = kind_of({**shared, **own}, where)
    base = about(kind, {key: value for key, value in defaults.items() if not (key == "match" and "rows" in {**shared, **own})})
    one_kind = kind.name in shared  # then a key that the kind does not know is a slip
    return joined(joined(base, shared if one_kind else about(kind, shared)), own)


def check(claim, where):
    strict.typed(claim, FILLED, where)
    kind = kind_of(claim, where)
    known = {kind.name, *PLAIN, *SHORT, *kind.keys, *(short for short, long in SIDES.items() if long in kind.keys)} - set(SIDES.values())
    unknown = sorted(set(claim) - known)
    if unknown:
        raise ReportError(f"{where}: unknown key '{unknown[0]}' of a {kind.name} ({strict.nearest(unknown[0], known)})")
    for key in ("id", "text", "bound"):
        if not claim.get(key):
            raise ReportError(f"{where}: '{key}' is missing")
    if claim["bound"] not in BOUNDS:
        raise ReportError(f"{where}: bound = \"{claim['bound']}\": must be paper (quoted) or ours (with why)")
    if claim["bound"] == "ours" and not claim.get("why"):
        raise ReportError(f"{where}: a bound of ours needs 'why'")


def evaluated(claim, reasons, where):
    """The claim in the words of verdicts.evaluate."""
    kind = kind_of(claim, where)
    result = {key: claim[key] for key in (*PLAIN, *kind.keys) if key in claim}
    column = claim[kind.name]
    result |= {"claim": claim["text"], "kind": kind.name, **({"column_of": column} if isinstance(column, list) else {"column": column})}
    if kind.name == "fraction" and column == "solved" and not {"lower", "upper"} & set(claim):
        result["lower"] = 1.0
    result |= {long: side(claim[short]) for short, long in SIDES.items() if short in claim}
    reason = reason_of(claim["because"], claim["id"], reasons, where) if "because" in claim else ""
    result |= {"reason": reason} if reason else {}
    result["bound"] = claim["bound"]
    return result | ({"why": reasons.get(claim["why"], claim["why"])} if claim["bound"] == "ours" else {})


def bounds_of_paper(claim, words, definition, where):
    """The claim with the bounds that its `paper` and `within` ask for; None where the paper has no number."""
    text = words.fill(claim["paper"])
    value = paper_value(definition.numbers, text, where)
    if value is None:
        if not words.variables:
            raise ReportError(f"{where}: paper = \"{text}\": no such number in paper.toml")
        return None
    words.variables["paper"] = (f"{value:.3g}", value)
    if "within" not in claim:
        return claim
    if not isinstance(claim["within"], list) or len(claim["within"]) != 2:
        raise ReportError(f"{where}: within = {claim['within']}: must be two factors, [0.5, 2.0]")
    low, high = claim["within"]
    return claim | {"min": rounded(low * value), "max": rounded(high * value)}


def expand(claim, defaults, definition, shared, reasons, where):
    """The claims that a template makes, one for each cell; a cell without a number of the paper makes none."""
    found, used, known = [], set(), set()
    for common, own, variables in cells(claim, shared, where):
        words = Words(dict(variables), definition.names, where)
        plain = whole(defaults, common, own, where)
        if "paper" in plain:
            plain = bounds_of_paper(plain, words, definition, where)
        elif "within" in plain:
            raise ReportError(f"{where}: 'within' needs 'paper', the number that it is about")
        if plain is not None:
            filled = words.fill({key: value for key, value in plain.items() if key not in ("paper", "within")})
            place = f"{where} '{filled['id']}'" if variables and filled.get("id") else where
            check(filled, place)
            found.append(evaluated(filled, reasons, place))
        used |= words.used
        known |= set(variables)
    idle = sorted(known - used)
    if idle:
        raise ReportError(f"{where}: no text has a place for '{{{idle[0]}}}' ({strict.nearest(idle[0], claim_keys())})")
    return found


def shared_content(folder, name, read=read_toml):
    """A file of the folder; same_as = "../first20/claims.toml" takes what another one says, where this one does not say it itself. Tables are
    joined key by key; claims of this file come after those of the other, and its [because] is its own."""
    path = folder / name
    content = dict(read(path))
    strict.typed(content, CONTENT, path)
    other = content.pop("same_as", None)
    if other is None:
        return content
    base = dict(read(Path(os.path.normpath(folder / other))))
    if not base or "same_as" in base:
        raise ReportError(f"{path}: same_as = \"{other}\": " + ("is the same as another one; name that" if base else "no such file"))
    base.pop("because", None)
    claims = [*base.get("claims", []), *content.get("claims", [])]
    return over(base, content) | ({"claims": claims} if claims else {})


def over(base, own):
    """`base` with what `own` says, tables key by key."""
    return {**base, **{key: over(base[key], value) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
                       for key, value in own.items()}}


def read_claims(content, path, definition, reasons):
    strict.check(content, dict.fromkeys(("says", "source", "defaults", "grids", "because", "claims")), path)
    definition.says, definition.source = content.get("says", ""), content.get("source", "")
    defaults, ids = content.get("defaults", {}), set()
    strict.typed(defaults, SHAPES, f"{path}: [defaults]")
    strict.check(defaults, dict.fromkeys(claim_keys() - set(TEMPLATE) - set(kinds.known())), f"{path}: [defaults]")
    for place, claim in enumerate(content.get("claims", []), 1):
        where = f"{path}: claim {claim.get('id') or place}"
        for one in (claim, *(claim["each"] if strict.is_tables(claim.get("each")) else [])):
            strict.typed(one, SHAPES, where)
        made = expand(claim, defaults, definition, content.get("grids", {}), reasons, where)
        for one in made:
            reason = reason_of(content.get("because", {}), one["id"], reasons, path)
            one |= {"reason": reason} if reason and "reason" not in one else {}
            if one["id"] in ids:
                raise ReportError(f"{where}: id '{one['id']}' is used twice")
            ids.add(one["id"])
        definition.claims += made
        if set(TEMPLATE) & set(claim):
            definition.templates |= {one["id"] for one in made}


def check_figures(content, path):
    strict.check(content, figure_keys(), path)
    wanted, known = content.get("figures", []), figures.known()
    unknown = next((name for name in wanted if name not in known), None)
    if unknown:
        raise ReportError(f"{path}: unknown figure '{unknown}' ({strict.nearest(unknown, known)})")


# --- a folder -----------------------------------------------------------------------------------------------------------------

def same_as(folder):
    """The files that the claims and the paper's numbers of a folder are taken from."""
    others = [read_toml(folder / name).get("same_as") for name in ("claims.toml", "paper.toml")]
    return [Path(os.path.normpath(folder / other)) for other in others if other]


def claims_of(folder, read=read_toml, run=None):
    """What is claimed in a folder; `read` gives the table of a path, empty where there is none."""
    definition = Definition(folder, run or {})
    definition.names = read(folder.parent / "names.toml")
    definition.numbers = read_numbers(folder, read)
    reasons = {**read(folder.parent / "reasons.toml"), **read(folder / "reasons.toml")}
    read_claims(shared_content(folder, "claims.toml", read), folder / "claims.toml", definition, reasons)
    return definition


def read_definition(folder):
    """What the folder of an experiment says; files that are not there say nothing."""
    folder = Path(folder)
    if not (folder / "run.toml").is_file():
        raise ReportError(f"{folder}: no run.toml; the folder of an experiment holds one")
    definition = claims_of(folder, run=read_toml(folder / "run.toml"))
    definition.figures = shared_content(folder, "figures.toml")
    check_figures(definition.figures, folder / "figures.toml")
    return definition


def folder_of(identifier, configs):
    """configs/experiments/PAPER/ARTEFACT for PAPER_ARTEFACT; None where there is none."""
    paper, _, artefact = identifier.partition("_")
    folder = Path(configs) / "experiments" / paper / artefact
    return folder if artefact and (folder / "run.toml").is_file() else None


def find(identifier, env=None, configs=None):
    """The definition of an experiment: below `configs` (or SIGNORINI_CONFIGS), where env.json of its result says, else in this tree; None
    where it is nowhere."""
    asked, told = configs or os.environ.get("SIGNORINI_CONFIGS"), (env or {}).get("definition", "")
    places = [folder_of(identifier, asked) if asked else None, Path(told) if os.path.isabs(told) and (Path(told) / "run.toml").is_file() else None,
              folder_of(identifier, TREE)]
    folder = next((place for place in places if place), None)
    return read_definition(folder) if folder else None


def config_of(definition, result):
    """One table with what was run, as the result says it, and what is claimed and drawn."""
    run = read_toml(result / "run.toml")
    owned = {key for key in figure_keys() if not (key == "series" and isinstance(run.get(key), list))} | {"expect", "claim", "source"}
    run = {key: value for key, value in run.items() if key not in owned}
    if definition is None:
        return run | ({"series": {"columns": run["series"]}} if "series" in run else {})
    return definition.with_run(run or definition.run)
