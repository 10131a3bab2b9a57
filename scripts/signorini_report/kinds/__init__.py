"""The kinds of claims. Every module of this folder states one as KIND; there is no other list."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable

KEYS = ("id", "claim", "source", "kind", "column", "column_of", "where", "at_least", "at_most", "min", "max", "comparable", "reason", "sizes", "unit",
        "rows", "bound", "why", "window_s")  # of every claim


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    value: Callable         # (rows, claim): (the number that is judged, how many samples it stands on)
    keys: tuple             # that claims of this kind have besides KEYS
    percent: bool = False   # how the number is written
    of: str = "row"         # what the samples are


def known():
    """{name: Kind} of all modules in this folder."""
    found = [importlib.import_module(f"{__name__}.{module.name}").KIND for module in pkgutil.iter_modules(__path__)]
    return {one.name: one for one in found}
