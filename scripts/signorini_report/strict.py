"""Tables of TOML files with known keys: a key that nobody reads is an error that names the file, the key and the nearest known one.

What is known is a table itself: {key: None} for any value, {key: {…}} for a table, or a list of tables, with these keys.
"""

import difflib


class ReportError(Exception):
    """Wrong input: one line for the user."""


TABLES_EVERYWHERE = ("where", "numerator", "denominator", "at_least", "at_most")  # choices of rows


def merged(*specs):
    """Several statements of what is known, as one."""
    result = {}
    for spec in specs:
        for key, inner in spec.items():
            result[key] = merged(result.get(key) or {}, inner) if isinstance(inner, dict) else result.get(key)
    return result


def typed(content, types, where):
    """Values of the types that keys ask for: {key: (what it must be, test)}."""
    for key, value in content.items():
        what, good = types.get(key, ("", lambda item: True))
        if not good(value):
            raise ReportError(f"{where}: {key} = {value!r}: must be {what}")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_tables(value):
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


TEXT = ("a text", lambda value: isinstance(value, str))
NUMBER = ("a number", is_number)
TABLE = ("a table", lambda value: isinstance(value, dict))
TEXTS = ("a list of texts", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value))
TABLES = ("a list of tables", is_tables)
FLAG = ("true or false", lambda value: isinstance(value, bool))


def either(*types):
    """A type that is one of several."""
    return " or ".join(what for what, _ in types), lambda value: any(good(value) for _, good in types)


def nearest(word, known):
    """', did you mean …?' or the list of what is known."""
    close = difflib.get_close_matches(word, [str(one) for one in known], 1, 0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(map(str, known))) or 'none'}"


def check(table, known, where):
    """Raises for the first key of `table` that is not known; `where` names the file and the place in it."""
    for key, value in table.items():
        if key not in known:
            raise ReportError(f"{where}: unknown key '{key}' ({nearest(key, known)})")
        if key in TABLES_EVERYWHERE and not isinstance(value, dict):
            raise ReportError(f"{where}: {key} = {value!r}: must be a table of columns: {{ threads = 1 }}")
        if known[key] is None:
            continue
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                raise ReportError(f"{where}: '{key}' must be a table")
            check(one, known[key], f"{where}: [{key}]")
