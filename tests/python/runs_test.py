"""runs.csv as a table of pandas with the types of its schema."""

import json

import numpy as np
import pytest

import signorini


@pytest.fixture
def table(reference, tmp_path):
    signorini.compare(reference / "net0.hdf5", ["pgs", "ica"], out=tmp_path / "cmp", repetitions=1, tolerance=1e-4, options={"ica": {"law": "pyramid"}})
    return tmp_path / "cmp" / "runs.csv"


def test_columns_have_the_types_of_the_schema(table):
    runs = signorini.read_runs(table)
    schema = {column["name"]: column for column in json.loads(table.with_name("runs.schema.json").read_text())["runs.csv"]}
    kinds = {"text": "O", "integer": "i", "real": "f"}
    assert list(runs.columns) == list(schema)
    for name, column in schema.items():
        assert runs[name].dtype.kind == kinds[column["type"]], name
    assert runs.attrs["units"]["solve_seconds"] == "s" and "referee" in runs.attrs["meanings"]["residual"] or runs.attrs["meanings"]["residual"]
    # measures that the pyramid does not have are NaN, texts without content are empty
    assert np.isnan(runs[runs.law == "pyramid"].natural_map).all() and not runs.message.isna().any() and (runs.step == "0").all()


def test_a_table_without_schema_is_read_by_our_own(table):
    expected = signorini.read_runs(table)
    table.with_name("runs.schema.json").unlink()
    assert signorini.read_runs(table).equals(expected)


@pytest.mark.parametrize("damage, message", [
    (lambda text: text.replace("iterations", "iterationen"), "lacks columns.*iterations"),
    (lambda text: text.replace(",converged,", ",converged,many", 1), "iterations.*integer"),
    (lambda text: "", "no table of runs"), (lambda text: "\0\0\0", "runs.csv")])
def test_damaged_tables_are_named(table, damage, message):
    table.write_text(damage(table.read_text()))
    with pytest.raises(signorini.FileError, match=message):
        signorini.read_runs(table)


def test_other_files(tmp_path, table):
    with pytest.raises(signorini.FileError, match="missing.csv: no such file"):
        signorini.read_runs(tmp_path / "missing.csv")
    for schema in ("not json", "3", "{}", '{"runs.csv": [{"type": "text"}]}'):
        table.with_name("runs.schema.json").write_text(schema)
        with pytest.raises(signorini.FileError, match="runs.schema.json"):
            signorini.read_runs(table)
