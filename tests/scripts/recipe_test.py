"""docs/adding-a-solver.md is true: its files and its lines, added as they stand, make a solver that passes the tests over all solvers.

The library is not built again. A copy of it gets what the page's list of sources adds, and the page's table of solvers; the test program and
the program are linked against the copy from the objects that are there.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
PAGE = SOURCE / "docs" / "adding-a-solver.md"
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
BUILD = Path(PROGRAM).resolve().parents[1] if PROGRAM else None
LIST, TABLE = "lib/solvers/CMakeLists.txt", "lib/solvers/registry.cpp"
LIBRARY = "libsignorini.a"
SOLVER = "jacobi"
# of test_solvers: those of one solver each, and those that go over the table
TESTS = {"test_solvers": f"*{SOLVER}*:StopRules.*:Registry.*:RegionTasks.*:InnerRegions.*:HostileProblem.*:AlignedPyramid.*",
         "test_harness": "Protocols.*:Catalogue.*"}
# sources that target_sources() names, one a line
SOURCES = 'function(target_sources target scope)\n  foreach(source ${ARGN})\n    message("${source}")\n  endforeach()\nendfunction()\ninclude(${LIST})\n'


def blocks(page):
    """[(the path named last before the block, the block)] of the first part of the page."""
    found, path = [], None
    part = page[page.index("\n## In the tree"):]
    part = part[:part.index("\n## ", 1)] if "\n## " in part[1:] else part
    for line, kind, text in re.findall(r"^([^\n]*`lib/[\w/.]+`[^\n]*:)$|^```(cpp|cmake)\n(.*?)^```$", part, re.M | re.S):
        if line:
            path = re.findall(r"`(lib/[\w/.]+)`", line)[-1]
        else:
            found.append((path, text))
    return found


def with_line(text, anchor, line):
    """`line` after the line that `anchor` matches."""
    places = [match.end() for match in re.finditer(anchor, text, re.M)]
    assert len(places) == 1, f"{anchor} stands {len(places)} times"
    return text[:places[0]] + "\n" + line.rstrip("\n") + text[places[0]:]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(str(word) for word in command)[-500:]}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


class Recipe:
    """The page's solver beside the tree: overlay/lib/... holds its files and the two that it changes."""

    def __init__(self, folder):
        self.overlay = folder
        self.files, lines = {}, {LIST: [], TABLE: []}
        for path, text in blocks(PAGE.read_text(encoding="utf-8")):
            if path in lines:
                lines[path].append(text)
            else:
                self.files[path] = text
        self.lines = lines
        (listed,), (header, entry) = lines[LIST], lines[TABLE]
        changed = {
            LIST: with_line((SOURCE / LIST).read_text(encoding="utf-8"), r"^target_sources\(signorini_core PRIVATE$", listed),
            TABLE: with_line(with_line((SOURCE / TABLE).read_text(encoding="utf-8"), r'^#include "solvers/turned_frame.h"$', header),
                             r"^.* solvers\{$", entry)}
        for path, text in {**self.files, **changed}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")

    def added_sources(self):
        script = self.overlay / "sources.cmake"
        script.write_text(SOURCES, encoding="utf-8")

        def of(root):
            done = subprocess.run(["cmake", f"-DLIST={root / LIST}", "-P", str(script)], capture_output=True, text=True, check=True)
            return done.stderr.split()

        return sorted(set(of(self.overlay)) - set(of(SOURCE)))

    def build(self, *targets):
        """{target: program}"""
        commands = run("ninja", "-C", BUILD, "-t", "commands", *targets).splitlines()
        compile_table = next(line for line in commands if line.endswith("/" + TABLE))
        shutil.copy(BUILD / LIBRARY, self.overlay)
        for source in [f"lib/solvers/{name}" for name in self.added_sources()] + [TABLE]:
            (self.overlay / Path(source).with_suffix("")).mkdir(exist_ok=True)
            out = self.overlay / Path(source).with_suffix("") / (Path(source).name + ".o")
            words = shlex.split(compile_table)
            words = words[:words.index("-MD")] + ["-o", str(out), "-c", str(self.overlay / source)]
            words.insert(next(i for i, word in enumerate(words) if word.startswith("-I")), f"-I{self.overlay}/lib")
            run(*words, cwd=BUILD)
            run("ar", "r", self.overlay / LIBRARY, out)
        programs = {}
        for target in targets:
            link = next(line for line in commands if re.search(rf" -o \S*\b{target} ", line)).removeprefix(": && ").removesuffix(" && :")
            words = shlex.split(link)
            programs[target] = words[words.index("-o") + 1] = str(self.overlay / target)
            run(*[str(self.overlay / LIBRARY) if word.endswith(LIBRARY) else word for word in words], cwd=BUILD)
        return programs


def code_lines(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def why_not():
    """Empty, or what is missing to link against."""
    if not PROGRAM:
        return "SIGNORINI_PROGRAM is not set"
    if not (BUILD / "build.ninja").is_file() or not shutil.which("ninja"):
        return "not built by ninja, whose commands it takes over"
    missing = [name for name in TESTS if not (BUILD / "tests" / name).is_file()]
    return f"{', '.join(missing)}: not built" if missing else ""


class Page(unittest.TestCase):
    def test_the_recipe_is_a_pair_of_files_and_three_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            recipe = Recipe(Path(folder))
            self.assertEqual([Path(path).suffix for path in recipe.files], [".h", ".cpp"])
            self.assertEqual([len(text.splitlines()) for texts in recipe.lines.values() for text in texts], [1, 1, 1])
            self.assertLessEqual(sum(code_lines(text) for text in recipe.files.values()), 80)
            self.assertEqual([f"lib/solvers/{name}" for name in recipe.added_sources()], [path for path in recipe.files if path.endswith(".cpp")])

    @unittest.skipIf(why_not(), why_not())
    def test_its_solver_passes_the_tests_over_all_solvers_and_solves(self):
        with tempfile.TemporaryDirectory() as name:
            programs = Recipe(Path(name)).build("signorini", *TESTS)
            for test, chosen in TESTS.items():
                said = run(programs[test], f"--gtest_filter={chosen}", "--gtest_brief=1", timeout=600)
                self.assertGreater(int(re.search(r"(\d+) tests? from", said)[1]), 10, said)
            names = run(programs["test_solvers"], "--gtest_list_tests", f"--gtest_filter=*{SOLVER}*")
            for suite in ("SoundSolver.", "AnySolver.", "Determinism.", "HostileProblems.", "PrepareAgain.", "Identities."):
                self.assertIn(suite, names, "no test of this suite runs on a new solver")
            self.assertRegex(run(programs["signorini"], "list", "solvers"), rf"(?m)^{SOLVER}  ")
            for omega in ("1", "1.9"):
                solve = ["solve", SOURCE / "configs/problems/reference/net0.hdf5", "--solver", f"pgs,{SOLVER}", "--regions", "none,islands",
                         "--set", f"{SOLVER}.omega={omega}", "--tolerance", "1e-8", "--require-converged"]
                self.assertEqual(len(re.findall(rf"(?m)^{SOLVER} ", run(programs["signorini"], *solve))), 2)


if __name__ == "__main__":
    unittest.main()
