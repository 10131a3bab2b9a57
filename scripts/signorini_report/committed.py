"""Tables that a report wrote as Markdown, read again: a committed result (results/reference/ID) has its tables but not its rows, and figures that
need no more than a table, or the rows that were kept for the figure of its page (shown.py), are drawn from it (`scripts/reference page ID`)."""

import re

from signorini_report import data, definition, shown
from signorini_report.strict import ReportError


def experiment(folder):
    """A committed result as data.Experiment, with the rows that it keeps, or None: only figures that say `from_tables` can draw it."""
    env = data.read_env(folder)
    found = definition.find(folder.name, env)
    if found is None:
        raise ReportError(f"{folder}: configs/experiments has no such experiment")
    runs, steps = shown.read(folder)
    return data.Experiment(folder.name, folder, runs, [], env, definition.config_of(found, folder), None, steps=steps, definition=found)


def cells(line):
    """What stands between the bars of a line; tables.markdown writes a bar within a cell as \\|."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def tables(path):
    """[(title, header, rows of text)]: every table of a file under the last heading before it."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise ReportError(f"{path} does not exist: the committed result has no such table; run the experiment and scripts/report") from error
    found, title, inside = [], "", False
    for line in lines:
        if line.startswith("#"):
            title = line.lstrip("#").strip()
        if not line.startswith("|"):
            inside = False
        elif not inside:
            found.append((title, cells(line), []))
            inside = True
        elif not set(line) <= set("|-: "):
            found[-1][2].append(cells(line))
    return found
