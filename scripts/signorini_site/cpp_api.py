"""Pages of the C++ headers: the head comment as text, what the header declares by doxygen and breathe."""

import posixpath
import re
import subprocess
from dataclasses import dataclass

from .header_text import lines_of, markdown, namespace_of, summary
from .staging import toctree, write
from .tree import address, listing_name, page_name

PACKAGE = "scripts/signorini_site"


@dataclass
class Group:
    name: str
    title: str
    words: str
    first: list     # headers to read first, in this order
    folder: str = ""  # all other headers of it follow


GROUPS = [
    Group("problem", "The contact problem", "What a solver is given: matrices, friction, geometry, as plain data.",
          ["contact/contact_problem.h", "contact/friction_law.h", "linalg/types.h", "contact/delassus_operator.h", "contact/friction_state.h",
           "contact/planar_problem.h"], "contact"),
    Group("referee", "The referee", "What measures every answer with one error.", ["contact/residuals.h"]),
    Group("solvers", "The solver contract", "What every solver promises, how one is made by its name, and the bases that a new one derives from. "
          "The methods themselves: [families](../../../lib/solvers/index.md).",
          ["solvers/registry.h", "solvers/solver.h", "base/options.h", "solvers/delassus_solver.h", "solvers/mass_solver.h",
           "solvers/iterative_solver.h", "solvers/registered_solver.h", "solvers/stop_test.h"], "solvers"),
    Group("plugin", "Solvers from outside", "The one header of a solver in a shared library; it needs nothing but the standard library.",
          ["signorini/solver_plugin.h"]),
    Group("regions", "Regions and islands", "Which contacts can be solved apart, and their problems.",
          ["regions/region_partition.h", "regions/region_extractor.h", "regions/contact_elements.h", "solvers/region_solver.h",
           "regions/incremental_partition.h"], "regions"),
    Group("record", "Files", "Recordings, FCLib files and npz archives.",
          ["record/problem_file.h", "record/recording_file.h", "record/fclib_file.h", "record/npz_file.h", "record/trace_file.h"], "record"),
    Group("harness", "Experiments", "What runs solvers on problems, by which protocol, and the rows that come out.",
          ["harness/solve_files.h", "harness/comparison.h", "harness/experiment.h", "harness/experiment_run.h", "harness/protocols.h",
           "harness/run_record.h"], "harness"),
]

CONFIGURATION = """
PROJECT_NAME = signorini
OUTPUT_DIRECTORY = {work}
INPUT = {headers}
INPUT_FILTER = "/usr/bin/python3 -B {root}/{package}/header_filter.py"
STRIP_FROM_PATH = {root}/lib {root}/include
FULL_PATH_NAMES = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
HIDE_UNDOC_MEMBERS = NO
EXCLUDE_SYMBOLS = EnumNames detail detail::* *::detail *::detail::* std std::*
MAX_INITIALIZER_LINES = 1
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
MULTILINE_CPP_IS_BRIEF = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = "__attribute__(x)="
SORT_MEMBER_DOCS = NO
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = NO
QUIET = YES
"""


def file_of(header):
    """Below the root of the tree; "contact/residuals.h" is how it is included."""
    return f"include/{header}" if header.startswith("signorini/") else f"lib/{header}"


def headers_of(root, group, taken):
    rest = sorted(path.relative_to(root / "lib").as_posix() for path in (root / "lib" / group.folder).glob("*.h")) if group.folder else []
    return group.first, [header for header in rest if header not in group.first and header not in taken]


def all_headers(root):
    taken = {header for group in GROUPS for header in group.first}
    return {group.name: headers_of(root, group, taken) for group in GROUPS}


def page_of(header):
    return f"api/cpp/{header.removesuffix('.h')}"


class Linker:
    """In head comments: docs/theory.md, contact/residuals.h and C11 become links."""

    FILE = re.compile(r"\b(?:docs|lib)/[\w./-]+?\.md\b")
    HEADER = re.compile(r"(?<![\w/])[a-z_]+(?:/?[a-z_\\])*\.h\b")
    CORRECTION = re.compile(r"(?<![\w\[])C\d\d\b(?! \()")

    def __init__(self, root, staged, header, known):
        self.root, self.staged, self.own, self.here, self.known = root, staged, header, page_of(header), known

    def __call__(self, text):
        text = self.FILE.sub(self.file, text)
        text = self.HEADER.sub(self.header, text)
        return self.CORRECTION.sub(lambda match: f"[{match[0]}]({address(self.here, 'theory')}#{match[0].lower()})", text)

    def file(self, match):
        return f"[{match[0]}]({address(self.here, page_name(match[0]))})" if match[0] in self.staged.pages else match[0]

    def header(self, match):
        name = match[0].replace("\\", "")
        beside = f"{posixpath.dirname(self.own)}/{name}"  # without a folder: the one of this header
        name = beside if beside in self.known or (self.root / file_of(beside)).exists() else name
        if name in self.known:
            return f"[{match[0]}]({address(self.here, page_of(name))})"
        if (self.root / file_of(name)).exists():
            self.staged.listings.add(file_of(name))
            return f"[{match[0]}]({address(self.here, listing_name(file_of(name), False))})"
        return match[0]


def header_page(root, staged, header, known):
    text = (root / file_of(header)).read_text(encoding="utf-8")
    _, head, _ = lines_of(text)
    staged.listings.add(file_of(header))
    source = address(page_of(header), listing_name(file_of(header), False))
    return (f"# `{header}`\n\n```cpp\n#include \"{header}\"\n```\n\n" + markdown(head, Linker(root, staged, header, known))
            + f"\nEverything is in namespace `{namespace_of(text)}`. [Source]({source}).\n\n```{{doxygenfile}} {header}\n:project: signorini\n```\n")


def group_page(root, group, first, rest):
    here = f"api/cpp/{group.name}"

    def rows(headers):
        lines = []
        for header in headers:
            words = markdown([summary((root / file_of(header)).read_text(encoding="utf-8"))]).strip()
            lines.append(f"| [`{header}`]({address(here, page_of(header))}) | {words} |")
        return "| header | |\n|---|---|\n" + "\n".join(lines) + "\n"

    text = f"# {group.title}\n\n{group.words.replace('../../../lib/solvers/index.md', address(here, 'lib/solvers/index'))}\n\n{rows(first)}"
    if rest:
        text += f"\n## Others of `lib/{group.folder}`\n\n{rows(rest)}"
    return text + toctree([f"/{page_of(header)}" for header in first])


def index_page():
    rows = "\n".join(f"| [{group.title}]({group.name}.html) | {group.words.split(' The methods')[0]} |" for group in GROUPS)
    here = "api/cpp/index"
    return (f"# C++\n\nHeaders of the library by what they are for. How to link it: [installing]({address(here, 'installing')}#the-library); a whole program: "
            f"[`two_solvers.cpp`]({address(here, listing_name('examples/library/two_solvers.cpp', False))}); a solver of your own: "
            f"[adding a solver]({address(here, 'adding-a-solver')}). The layers and who includes whom: [how it is built]({address(here, 'architecture')}).\n\n"
            f"m contacts, n degrees of freedom, SI units, three rows per contact in the order normal, tangent 1, tangent 2 ([notation]({address(here, 'theory')}#notation)).\n\n"
            f"| | |\n|---|---|\n{rows}\n" + toctree([f"/api/cpp/{group.name}" for group in GROUPS]))


def run_doxygen(root, headers, work):
    """Writes work/xml. Its warnings are errors of ours: they are returned as lines."""
    work.mkdir(parents=True, exist_ok=True)
    files = " ".join(f'"{root / file_of(header)}"' for header in headers)
    (work / "Doxyfile").write_text(CONFIGURATION.format(work=work, headers=files, root=root, package=PACKAGE), encoding="utf-8")
    done = subprocess.run(["doxygen", str(work / "Doxyfile")], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"doxygen ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return [line for line in done.stderr.splitlines() if "warning:" in line or "error:" in line]


def write_pages(root, stage, staged):
    """Returns the headers that have a page."""
    groups = all_headers(root)
    known = {header for first, rest in groups.values() for header in [*first, *rest]}
    for group in GROUPS:
        first, rest = groups[group.name]
        write(stage / "api" / "cpp" / f"{group.name}.md", group_page(root, group, first, rest))
        for header in first:
            write(stage / f"{page_of(header)}.md", header_page(root, staged, header, known))
        for header in rest:  # the sidebar stays short: these are found by the page of their group
            write(stage / f"{page_of(header)}.md", "---\norphan: true\n---\n\n" + header_page(root, staged, header, known))
    staged.listings.add("examples/library/two_solvers.cpp")
    write(stage / "api" / "cpp" / "index.md", index_page())
    return sorted(known)
