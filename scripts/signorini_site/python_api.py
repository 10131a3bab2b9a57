"""The page of the Python package, by autodoc from its sources; the extension module need not be built."""

import re

from .staging import write
from .tree import address

PARTS = [
    ("Files and problems", ["open", "File", "Frame", "Solution", "Problem", "Geometry", "write_fclib", "write_npz"]),
    ("Solving and judging", ["solve", "Result", "Report", "Residuals", "Curve", "referee", "contact_errors", "velocities"]),
    ("Solvers", ["solvers", "SolverInfo", "Option", "register_solver", "SolverProblem", "load_plugin"]),
    ("Comparisons and tables", ["compare", "run", "read_runs"]),
    ("Errors", ["Error", "UsageError", "ProblemError", "FileError", "InternalError", "Unsupported"]),
]


def exported(root):
    """The names of __all__."""
    text = (root / "lib" / "python" / "signorini" / "__init__.py").read_text(encoding="utf-8")
    return set(re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", text, re.S)[1]))


def page(root):
    named = {name for _, names in PARTS for name in names}
    if named != exported(root):
        raise ValueError(f"scripts/signorini_site/python_api.py and __all__ of lib/python/signorini differ: {sorted(named ^ exported(root))}")
    text = (f"# Python\n\nThe package `signorini`, name by name. How to build it, and what it is for: [Python]({address('api/python', 'python')}).\n\n"
            "m contacts, n degrees of freedom, SI units, three rows per contact in the order normal, tangent 1, tangent 2.\n")
    for title, names in PARTS:
        text += f"\n## {title}\n\n```{{eval-rst}}\n.. currentmodule:: signorini\n\n"
        for name in names:
            kind = "class" if name[0].isupper() else "function"
            if title == "Errors":
                text += f".. autoexception:: {name}\n   :show-inheritance:\n\n"
            else:
                text += f".. auto{kind}:: {name}\n" + ("   :members:\n\n" if kind == "class" else "\n")
        text += "```\n"
    return text


def write_page(root, stage):
    write(stage / "api" / "python.md", page(root))
