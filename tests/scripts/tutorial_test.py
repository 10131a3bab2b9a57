"""docs/tutorial.md as it stands: its files are written, its commands typed in their order, and what they print has the form that the page shows.

Numbers are not compared: times are those of a machine, counts may differ with a compiler. Names, units, words and the layout must agree."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "tests" / "scripts")]

from slow import slow  # noqa: E402

PAGE = SOURCE / "docs" / "tutorial.md"
PROGRAM = Path(os.environ.get("SIGNORINI_PROGRAM", str(SOURCE / "build" / "release" / "experiments" / "signorini")))
TREE = PROGRAM.resolve().parents[3] if len(PROGRAM.resolve().parts) > 4 else SOURCE  # that it was built in: the page takes scripts and package from there
BLOCK = re.compile(r"^```(sh|text|python)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"`([\w-]+\.py)`[^\n]*:\n\n$")


def blocks(text):
    """(kind, body, name of the file that a block of Python is, or "")."""
    found = []
    for match in BLOCK.finditer(text):
        named = NAMED.search(text[:match.start()])
        found.append((match[1], match[2], named[1] if named and match[1] == "python" else ""))
    return found


def form(text):
    """Lines without numbers, units of time, folders and widths of columns, in no order: a faster solver may stand above."""
    text = re.sub(r"\S*/(?=cmp/)", "", text)
    text = re.sub(r"[-−+]?\d[\d,.]*(e[-+]?\d+)?", "#", text)
    text = re.sub(r"# [mµn]?s\b", "# s", text)
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    return sorted(line for line in lines if line)


class Parts(unittest.TestCase):
    def test_blocks_of_the_page_are_found(self):
        self.assertEqual(blocks("`a.py`, a file:\n\n```python\nx\n```\n```sh\nls\n```\n\n```text\nb 1\n```\n"),
                         [("python", "x\n", "a.py"), ("sh", "ls\n", ""), ("text", "b 1\n", "")])
        kinds = [kind for kind, _, _ in blocks(PAGE.read_text(encoding="utf-8"))]
        self.assertGreaterEqual(kinds.count("sh"), 6)
        self.assertGreaterEqual(kinds.count("text"), 5)

    def test_forms(self):
        self.assertEqual(form("a  1.5e-3 ms\n\nb /x/cmp/y -2"), form("b cmp/y 7,000\na 12 s\n"))
        self.assertNotEqual(form("a 1 m"), form("a 1 mm"))
        self.assertNotEqual(form("a converged"), form("a diverged"))


class Typed(unittest.TestCase):
    def run_block(self, body, folder):
        environment = os.environ | {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "SIGNORINI": str(TREE), "COLUMNS": "80"}
        done = subprocess.run(["bash", "-euc", body], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=600)
        self.assertEqual(done.returncode, 0, f"{body}\n{done.stdout}")
        return done.stdout

    @slow
    def test_slow_what_the_page_shows_is_what_comes_out(self):
        if not PROGRAM.is_file():
            self.skipTest(f"no program {PROGRAM}")
        if not (TREE / "build" / "release" / "python" / "signorini").is_dir():
            self.skipTest(f"the Python package is not built in {TREE}/build/release/python")
        with tempfile.TemporaryDirectory() as folder:
            printed = ""
            for kind, body, name in blocks(PAGE.read_text(encoding="utf-8")):
                if name:
                    (Path(folder) / name).write_text(body, encoding="utf-8")
                elif kind == "sh":
                    printed = self.run_block(body, folder)
                elif kind == "text":
                    self.assertEqual(form(printed), form(body), printed)


if __name__ == "__main__":
    unittest.main()
