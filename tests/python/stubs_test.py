"""The stub of the extension module says what the module has; everything public is annotated and documented."""

import ast
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import signorini
from conftest import ROOT
from signorini import _core

PACKAGE = Path(signorini.__file__).parent
STUB = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))


def told_arguments(function):
    """Names of the arguments that pybind11's docstring tells, without self."""
    signature = function.__doc__.split("\n")[0]
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    names = re.findall(r"(?:^|, )(\w+): ", re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", inside)))
    return [name for name in names if name != "self"]


def stub_arguments(node):
    return [argument.arg for argument in node.args.args if argument.arg != "self"]


def public(members):
    return {name for name in members if not name.startswith("_")}


def test_the_stub_names_what_the_module_has():
    stubbed = {node.name if hasattr(node, "name") else node.target.id for node in STUB.body if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
    assert stubbed == public(vars(_core))


@pytest.mark.parametrize("node", [n for n in STUB.body if isinstance(n, ast.FunctionDef)], ids=lambda n: n.name)
def test_functions_take_what_the_stub_says(node):
    assert told_arguments(getattr(_core, node.name)) == stub_arguments(node)


@pytest.mark.parametrize("node", [n for n in STUB.body if isinstance(n, ast.ClassDef)], ids=lambda n: n.name)
def test_classes_have_what_the_stub_says(node):
    methods = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
    kind = getattr(_core, node.name)
    assert set(methods) == public(vars(kind))
    for name, method in methods.items():
        assert told_arguments(getattr(kind, name)) == stub_arguments(method), name


def functions():
    for name in signorini.__all__:
        thing = getattr(signorini, name)
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                function = value.fget if isinstance(value, property) else getattr(value, "func", value)
                if not member.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{member}", function
        else:
            yield name, thing


@pytest.mark.parametrize("name, function", functions(), ids=lambda x: x if isinstance(x, str) else "")
def test_public_functions_are_annotated_and_documented(name, function):
    assert inspect.getdoc(function), name
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty, name
    for parameter in signature.parameters.values():
        assert parameter.name in ("self", "cls") or parameter.annotation is not inspect.Parameter.empty, f"{name}: {parameter.name}"


def test_everything_public_is_listed_and_typed():
    assert (PACKAGE / "py.typed").is_file() and all(inspect.getdoc(getattr(signorini, name)) for name in signorini.__all__)
    assert public(name for name, value in vars(signorini).items() if not inspect.ismodule(value)) == set(signorini.__all__)
    assert re.match(r"\d+\.\d+", signorini.__version__)


def test_the_docs_name_what_there_is():
    for page in (ROOT / "docs" / "python.md", ROOT / "README.md"):
        named = set(re.findall(r"\bsignorini\.(\w+)(?=\()", page.read_text(encoding="utf-8")))
        assert named and named <= set(signorini.__all__), page


def test_mypy_agrees(tmp_path):
    if shutil.which("mypy") is None or subprocess.run([sys.executable, "-c", "import mypy"], check=False, capture_output=True).returncode:
        pytest.skip("mypy is not installed")
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--no-error-summary", "--cache-dir", tmp_path / "cache",
                           *sorted(Path(PACKAGE).resolve().glob("*.py"))], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
