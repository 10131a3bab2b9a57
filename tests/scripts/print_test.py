"""A printed page of an experiment keeps every column of its tables, and what is folded on the screen is open on paper."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

from signorini_report import page  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def wide_table(name, columns, rows):
    """Every cell a word of its own, as long as the numbers of our tables; headings as long as those of the tables of iterations."""
    return page.plain_table([f"head{name}{column:02d} (24 steps, medium)" for column in range(columns)],
                            [cells_of(name, row, columns) for row in range(rows)])


def cells_of(name, row, columns):
    return [f"{name}{row:02d}c{column:02d}" for column in range(columns)]


class Printed(unittest.TestCase):
    def printed(self, body):
        for program, package in ((BROWSER, "chromium"), (shutil.which("pdftotext"), "poppler-utils")):
            if not program:
                self.skipTest(f"nothing is printed here: the package {package} is not installed")
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "index.html").write_text(page.document("Printed", body), encoding="utf-8")
            paper = Path(name) / "page.pdf"
            done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={name}/profile", "--no-pdf-header-footer",
                                   f"--print-to-pdf={paper}", f"file://{name}/index.html"], capture_output=True, text=True, timeout=240)
            self.assertTrue(paper.is_file(), done.stderr[-500:])
            text = subprocess.run(["pdftotext", "-layout", paper, "-"], capture_output=True, text=True, timeout=60, check=True).stdout
            shapes = subprocess.run(["pdfinfo", "-l", "99", paper], capture_output=True, text=True, timeout=60, check=True).stdout
            boxes = subprocess.run(["pdftotext", "-bbox", paper, "-"], capture_output=True, text=True, timeout=60, check=True).stdout
        return text, re.findall(r"size: +([\d.]+) x ([\d.]+)", shapes), boxes

    def test_every_column_is_on_paper_within_its_page_and_folded_tables_are_open(self):
        tables = {"N": (6, 3), "S": (page.WIDE, 4), "A": (18, 70)}  # 18: signs, problems and a label of the widest table that we have
        body = "".join(f"<details><summary>Table {name}</summary>{wide_table(name, *shape)}</details>" for name, shape in tables.items())
        text, shapes, boxes = self.printed(body)
        for name, (columns, rows) in tables.items():
            absent = {cell for row in range(rows) for cell in cells_of(name, row, columns)} - set(text.split())
            self.assertEqual(absent, set())
        self.assertEqual({(round(float(width)), round(float(height))) for width, height in shapes}, {(595, 842), (842, 595)}, "A4, wide tables lie across")
        pages = text.split("\f")
        start = next(number for number, words in enumerate(pages) if "headA00" in words)
        self.assertRegex(pages[start], r"Table A\n", "the title stands on the page of its table")
        self.assertGreater(len(re.findall("headA17", text)), 1, "the headings stand on every page of a long table")
        width = 0.0
        for line in boxes.splitlines():
            if match := re.search(r'<page width="([\d.]+)"', line):
                width = float(match[1])
            if match := re.search(r'xMin="([-\d.]+)".*xMax="([\d.]+)"', line):
                self.assertTrue(0 <= float(match[1]) and float(match[2]) <= width, line)

    def test_the_page_says_how_it_is_printed_where_there_is_no_browser(self):
        text = page.document("t", wide_table("wide", page.WIDE + 1, 1) + wide_table("narrow", page.WIDE, 1))
        self.assertEqual(text.count("class='scroll wide'"), 1)
        printed = text[text.index("@media print"):]
        for rule in (".scroll { overflow: visible; }", "details::details-content { content-visibility: visible;", ".scroll.wide, :is(details, section):has(> .scroll.wide) { page: wide; }"):
            self.assertIn(rule, printed)
        self.assertIn("beforeprint", printed)


if __name__ == "__main__":
    unittest.main()
