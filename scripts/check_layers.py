#!/usr/bin/python3
"""Checks who includes whom in lib/ and experiments/, the wall between the
solvers and the physics, and that the contact law is told apart in one place.

Rules
  1. A folder includes only the folders that ALLOWED names for it. In
     particular contact, regions, solvers, record and harness never reach
     geometry, bodies, collision or scene, not even through another header.
  2. HDF5 is seen by record/ only, TOML by base/options*, scene/, harness/ and
     campaign/ only; again not even through a header.
  3. oneTBB is included by .cpp files and base/parallel.h only.
  4. Project headers are included as "folder/file.h" and exist; lib/ has no
     folder that ALLOWED does not know.
  5. contact/friction_law.h alone compares a FrictionLaw or PyramidFrame;
     others call its helpers (LAW_HELPERS).
  6. lib/ calls no function of the C library whose last bits differ among
     platforms (ROOTS): base/roots.h has its own.

Exit codes: 0 every rule holds, 1 with one line per violation, 2 usage.
"""

import argparse
import re
import sys
from pathlib import Path

ALLOWED = {
    "base": set(),
    "linalg": {"base"},
    "geometry": {"base", "linalg"},
    "bodies": {"base", "linalg", "geometry"},
    "collision": {"base", "linalg", "geometry", "bodies", "contact"},
    "contact": {"base", "linalg"},
    "regions": {"base", "linalg", "contact"},
    "krylov": {"base", "linalg"},
    "solvers": {"base", "linalg", "contact", "regions", "krylov"},
    "record": {"base", "linalg", "contact"},
    "harness": {"base", "linalg", "contact", "regions", "krylov", "solvers", "record"},
    "campaign": {"base", "linalg", "contact", "regions", "krylov", "solvers", "record", "harness"},
    "python": {"base", "linalg", "contact", "regions", "krylov", "solvers", "record", "harness"},
    "scene": {"base", "linalg", "geometry", "bodies", "collision", "contact", "regions", "krylov", "solvers", "record"},
}
REPLAY = {"contact", "regions", "krylov", "solvers", "record", "harness", "campaign", "python"}
PHYSICS = {"geometry", "bodies", "collision", "scene"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
HDF5 = re.compile(r"^(hdf5(_hl)?\.h|H5\w*\.h(pp)?|highfive/.*)$")
TOML = re.compile(r"^toml(\+\+|plusplus)?(/.*|\.hpp|\.h)$")
TBB = re.compile(r"^(oneapi/)?tbb(/.*|\.h)$")

LAW_HEADER = "contact/friction_law.h"
LAW_HELPERS = "with_law, is_cone, is_turned, is_aligned, project_tangent or Law::tangent_size"
LAW_NAME = r"(?:FrictionLaw|PyramidFrame)\b"
LAW_COMPARED = re.compile(rf"(?:[=!]=|\bcase|\busing\s+enum)\s*(?:signorini::)?{LAW_NAME}|{LAW_NAME}::\w+\s*[=!]=")

ROOTS_HEADER = "base/roots.h"
ROOTS = re.compile(r"\bstd::(hypot|cbrt)\(|\.(?:stableNorm|blueNorm|hypotNorm)\(")


def may_see_hdf5(path):
    return path.startswith("record/")


def may_see_toml(path):
    return path.startswith(("base/options", "scene/", "harness/", "campaign/"))


class Tree:
    """The include graph of lib/ (names relative to lib/) and experiments/ (names with that prefix)."""

    def __init__(self, root):
        self.includes, self.comparisons, self.roots = {}, {}, {}
        for top in ("lib", "experiments"):
            for path in sorted((root / top).rglob("*")):
                if path.suffix in (".h", ".hpp", ".cpp", ".cc", ".inl") and path.is_file():
                    name = path.relative_to(root / "lib" if top == "lib" else root).as_posix()
                    text = path.read_text(encoding="utf-8", errors="replace")
                    self.includes[name] = [match.groups() for match in INCLUDE.finditer(text)]
                    self.comparisons[name] = [text.count("\n", 0, match.start()) + 1 for match in LAW_COMPARED.finditer(text)]
                    self.roots[name] = [] if top != "lib" else [text.count("\n", 0, match.start()) + 1 for match in ROOTS.finditer(text)]

    def chain(self, start, wanted):
        """The shortest include path from `start` to an include for which wanted(kind, target) holds, or None."""
        queue, seen = [(start, [start])], {start}
        while queue:
            name, path = queue.pop(0)
            for kind, target in self.includes.get(name, []):
                if wanted(kind, target):
                    return path + [target]
                if kind == '"' and target in self.includes and target not in seen:
                    seen.add(target)
                    queue.append((target, path + [target]))
        return None


def folder(name):
    return name.split("/", 1)[0] if "/" in name else ""


def violations(root):
    tree = Tree(root)
    found = []
    library = [name for name in tree.includes if not name.startswith("experiments/")]
    for name in library:
        if folder(name) not in ALLOWED:
            found.append(f"lib/{name}: folder '{folder(name)}' has no entry in ALLOWED of scripts/check_layers.py")
    for name in tree.includes:
        shown = name if name.startswith("experiments/") else "lib/" + name
        own = folder(name)
        for kind, target in tree.includes[name]:
            if kind != '"':
                continue
            if target not in tree.includes:
                local = (Path(name).parent / target).as_posix()
                if own == "experiments" and (local in tree.includes or f"experiments/{target}" in tree.includes):
                    continue
                found.append(f'{shown}: "{target}" is no header of the project; write "folder/file.h"')
            elif own in ALLOWED and folder(target) != own and folder(target) not in ALLOWED[own]:
                found.append(f"{shown}: {own}/ may not include {folder(target)}/ ({target})")
        if own in REPLAY:
            chain = tree.chain(name, lambda kind, target: kind == '"' and folder(target) in PHYSICS)
            if chain and len(chain) > 2:
                found.append(f"{shown}: reaches the physics through {' -> '.join(chain[1:])}")
        for what, pattern, may_see in (("HDF5", HDF5, may_see_hdf5), ("TOML", TOML, may_see_toml)):
            if not may_see(name):
                chain = tree.chain(name, lambda kind, target: bool(pattern.match(target)))
                if chain:
                    found.append(f"{shown}: may not see {what} ({' -> '.join(chain[1:])})")
        if not name.endswith((".cpp", ".cc")) and name != "base/parallel.h":
            for kind, target in tree.includes[name]:
                if TBB.match(target):
                    found.append(f"{shown}: oneTBB in a header ({target}); only base/parallel.h may")
        if name != LAW_HEADER:
            for line in tree.comparisons[name]:
                found.append(f"{shown}:{line}: compares the contact law; use {LAW_HELPERS} of {LAW_HEADER}")
        for line in tree.roots[name]:
            found.append(f"{shown}:{line}: other last bits on other platforms; use hypotenuse or cube_root of {ROOTS_HEADER}, or norm()")
    return sorted(set(found))


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/check_layers.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", metavar="ROOT", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="folder with lib/ and experiments/ (default: this tree)")
    root = parser.parse_args(arguments).root
    if not (root / "lib").is_dir():
        print(f"check_layers: {root} has no lib/ folder", file=sys.stderr)
        return 2
    found = violations(root)
    for line in found:
        print(line)
    files = len(Tree(root).includes)
    print(f"check_layers: {files} files, {len(found)} violation{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
