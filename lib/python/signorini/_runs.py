"""Tables of runs: runs.csv as pandas reads it, with the types of its schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _core
from ._errors import FileError

if TYPE_CHECKING:
    import pandas

_TYPES = {"text": "str", "integer": "int64", "real": "float64"}


def _schema_of(table: Path) -> list[dict[str, Any]]:
    """Of runs.schema.json beside runs.csv; without that file, the columns of this version."""
    path = table.with_name(table.stem + ".schema.json")
    text = path.read_text(encoding="utf-8") if path.exists() else _core.run_schema_json()
    try:
        told = json.loads(text)
        columns = told if isinstance(told, list) else next(iter(told.values()))
        return [dict(column) for column in columns if column["name"] and column["type"] in _TYPES]
    except (ValueError, TypeError, KeyError, StopIteration, AttributeError) as error:
        raise FileError(f"{path}: is no list of columns with name and type ({error!r})") from error


def read_runs(path: Union[str, "os.PathLike[str]"]) -> "pandas.DataFrame":
    """A table of runs (``signorini solve --csv``, OUT/<id>/runs.csv, :func:`compare`) with the types of runs.schema.json beside it.

    Texts stay texts (an empty one is ""), counts are int64, numbers float64. ``attrs`` of the table hold "units" and "meanings" by column.
    Columns beyond the schema are texts.

    Raises:
        FileError: the table is missing, lacks a column of its schema, or a cell is no number; the message names it.
    """
    import pandas

    table = Path(path)
    schema = _schema_of(table)
    try:
        rows = pandas.read_csv(table, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError as error:
        raise FileError(f"{table}: no such file") from error
    except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
        raise FileError(f"{table}: is no table of runs ({error})") from error
    missing = [column["name"] for column in schema if column["name"] not in rows]
    if missing:
        raise FileError(f"{table}: lacks columns that its schema names: {', '.join(missing)}")
    for column in schema:
        name, kind = column["name"], column["type"]
        try:
            rows[name] = rows[name].astype(_TYPES[kind])
        except (ValueError, OverflowError) as error:
            raise FileError(f"{table}: column '{name}' must hold numbers ({kind}): {error}") from error
    rows.attrs["units"] = {column["name"]: column.get("unit", "") for column in schema}
    rows.attrs["meanings"] = {column["name"]: column.get("meaning", "") for column in schema}
    return rows
