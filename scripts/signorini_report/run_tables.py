"""Tables of runs that the program wrote anywhere (`signorini compare`, `solve --report`, `solve --csv`), as one experiment without claims:
scripts/report --runs FILE.csv."""

import dataclasses

import pandas as pd

from signorini_report import data, definition
from signorini_report.strict import ReportError


def names_of(tables):
    """A short name for each: the folder of a runs.csv, else the stem; as many folders above as are needed to tell them apart."""
    parts = [[*path.resolve().parent.parts[1:], *([] if path.name == "runs.csv" else [path.stem])] or ["runs"] for path in tables]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(words[-depth:]) for words in parts]
        if len(set(names)) == len(names):
            return names
    raise ReportError(f"{tables[0]}: a table is given twice; give each once")


def env_of(table):
    """FILE.csv.env.json of `solve`, env.json beside the runs.csv of an experiment."""
    own = table.with_name(table.name + ".env.json")
    return data.read_env_file(own if own.is_file() or table.name != "runs.csv" else table.with_name("env.json"))


def traces_beside(table, variants, labels):
    path = table.with_name("trace.h5")
    if table.name != "runs.csv" or not path.is_file():
        return []
    try:
        return data.read_traces(path, variants, labels)
    except (OSError, KeyError) as error:
        raise ReportError(f"{path}: {error}") from error


def read_one(table):
    """(runs, traces) of a table; its rows have the columns that figures need."""
    if not table.is_file():
        raise ReportError(f"{table}: no such file")
    runs = data.read_runs(table)
    if table.name == "runs.csv":
        runs = data.with_siconos(runs, table.parent, table.parent)
    try:
        variants = data.add_columns(runs)
    except KeyError as error:
        raise ReportError(f"{table}: has no column {error}; run it again with --force") from error
    if runs.empty:
        raise ReportError(f"{table}: holds no rows; nothing was run")
    return runs, traces_beside(table, variants, data.own_labels(runs))


def marked(runs, traces, name):
    """The rows of one of several tables: what tells variants apart names the table, so that equal runs of two tables stay two."""
    option = f";table={name.replace(';', ',').replace('=', '-')}"

    def named(text):
        return f"{text} ({name})" if text else text

    runs = runs.assign(options=runs["options"] + option, variant=runs["variant"].map(named), label=runs["label"].map(named))
    traces = [dataclasses.replace(one, options=one.options + option, variant=named(one.variant), label=named(one.label)) for one in traces]
    return runs, traces


def read_tables(tables, folder):
    """The rows of all tables as one experiment whose pictures go into `folder`."""
    names, found, traces = names_of(tables), [], []
    for table, name in zip(tables, names):
        runs, curves = read_one(table)
        runs, curves = (runs, curves) if len(tables) == 1 else marked(runs, curves, name)
        found.append(runs)
        traces += curves
    runs = pd.concat(found, ignore_index=True) if len(found) > 1 else found[0]
    data.add_inner_sweeps(runs, traces)
    data.add_starts(runs, traces)
    environments = [env_of(table) for table in tables]
    alone = len(tables) == 1
    config = definition.config_of(None, tables[0].parent) if alone and tables[0].name == "runs.csv" else {}
    config.setdefault("artefact", f"Runs of {', '.join(names)}")
    return data.Experiment(folder.resolve().name, folder, runs, traces, environments[0] if alone else dict(zip(names, environments)), config, None,
                           counters=data.counters_of(data.read_schema(tables[0])))
