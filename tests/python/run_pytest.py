"""Runs pytest on one file of tests: run_pytest.py BUILT FILE RESULTS.xml. Exit status 77, with the reason: skipped."""

import importlib
import sys
from pathlib import Path


def reason_to_skip(built):
    if built != "ON":
        return "the Python package is not built (pybind11-dev and python3-dev; cmake says why)"
    for module, package in (("pytest", "python3-pytest"), ("numpy", "python3-numpy"), ("scipy", "python3-scipy"), ("pandas", "python3-pandas")):
        try:
            importlib.import_module(module)
        except ImportError:
            return f"{package} is not installed"
    return None


def main(built, file, results):
    reason = reason_to_skip(built)
    if reason:
        print(f"{Path(file).stem} (python) ... skipped '{reason}'")
        return 77
    import pytest

    return pytest.main(["-p", "no:cacheprovider", "-v", "--tb=short", f"--junitxml={results}", file])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
