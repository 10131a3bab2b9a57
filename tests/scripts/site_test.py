"""The website of the documentation (scripts/docs): pages are staged without loss, links become those of the site, and what is broken is found.

The slow test builds all of it: Sphinx and doxygen may not warn, no link or picture may be broken, and nothing may be fetched from a network. Then
tests/browser/site_test.py opens it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", str(SOURCE / "build" / "release" / "experiments" / "signorini"))
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

from signorini_site import assets, catalogue, check, cpp_api, main, python_api  # noqa: E402
from signorini_site.header_text import first_sentence, for_doxygen, lines_of, markdown, summary  # noqa: E402
from signorini_site.markdown import with_targets  # noqa: E402
from signorini_site.staging import Extra, stage_pages  # noqa: E402
from slow import slow  # noqa: E402

README = "# Tool\n\nWhat it is ([how](docs/a.md)).\n\n![p](docs/p.svg)\n\n## More\n\nno lead\n"
FRONT = "# Documentation\n\nWords.\n\n## Start\n\n- [the `first`](a.md): words; [again](a.md#b)\n- [All](../README.md)\n\n## Papers\n\n- [Paper](papers/x/README.md)\n"
TREE = {"README.md": README, "docs/README.md": FRONT, "docs/p.svg": "<svg/>",
        "docs/a.md": "# A\n\n### <a id=\"c01\"></a>C01: rows\n\n[top](../README.md#more) [own](#c01) [file](../lib/x.h) [folder](../lib) `[code](gone.md)` "
                     "[site](https://x.org) $`a_b`$\n\n```math\nx\n```\n",
        "docs/papers/x/README.md": "# X\n\n[two](two.md) [one](one.md)\n", "docs/papers/x/one.md": "# One\n\n[![q](../../p.svg)](two.md)\n",
        "docs/papers/x/two.md": "# Two\n\n[data](../../../results/r.md)\n", "results/r.md": "# R\n", "lib/x.h": "int x;\n"}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root, self.stage = Path(self.folder.name) / "tree", Path(self.folder.name) / "stage"
        self.put(TREE)

    def put(self, files):
        for name, text in files.items():
            place = self.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    def staged(self, name):
        return (self.stage / f"{name}.md").read_text(encoding="utf-8")


class Staging(Folder):
    def test_links_become_those_of_the_site(self):
        found = stage_pages(self.root, self.stage)
        text = self.staged("a")
        for part in ("[top](overview.html#more)", "[own](#c01)", "[file](files/lib/x.h.html)", "[folder](files/lib/index.html)", "`[code](gone.md)`",
                     "[site](https://x.org)", "{math}`a_b`", "```{math}\nx", "(c01)=\n### C01: rows"):
            self.assertIn(part, text)
        self.assertEqual(self.staged("papers/x/one").splitlines()[2], "[![q](../../p.svg)](two.html)")
        self.assertEqual(found.listings, {"lib/x.h", "lib"})
        self.assertTrue((self.stage / "p.svg").is_file())

    def test_the_front_page_is_the_lead_and_the_lists(self):
        stage_pages(self.root, self.stage, [Extra("Start", "made", "Made", "by the program")])
        text = self.staged("index")
        self.assertTrue(text.startswith("# Tool\n\nWhat it is ([how](a.html)).\n\n![p](p.svg)\n\nWords.\n\n## Start\n"), text[:200])
        self.assertNotIn("no lead", text)
        self.assertIn("- [Made](made.html): by the program\n", text)
        self.assertIn(":caption: Start\n:hidden:\n\nThe first <a>\nAll <overview>\nMade <made>\n", text)

    def test_a_folder_has_its_pages_in_the_order_of_its_readme(self):
        stage_pages(self.root, self.stage)
        self.assertTrue(self.staged("papers/x/index").endswith("```{toctree}\n:hidden:\n\ntwo\none\n```\n"))
        self.assertTrue(self.staged("results/r").startswith("---\norphan: true\n---\n"), "a page that only another one links to")

    def test_what_leads_nowhere_is_an_error_that_names_it(self):
        self.put({"docs/papers/x/one.md": "# One\n\n[gone](../gone.md)\n"})
        with self.assertRaisesRegex(ValueError, r"docs/papers/x/one.md: \(../gone.md\)"):
            stage_pages(self.root, self.stage)

    def test_a_page_has_one_title(self):
        self.put({"docs/a.md": "# A\n\n## a\n\n```sh\n# no title\n```\n\n# B\n\n## b\n"})
        stage_pages(self.root, self.stage)
        self.assertEqual(self.staged("a"), "# A\n\n## a\n\n```sh\n# no title\n```\n\n## B\n\n### b\n")

    def test_a_page_that_no_list_has_is_an_error(self):
        self.put({"docs/new.md": "# New\n"})
        with self.assertRaisesRegex(ValueError, "docs/new.md"):
            stage_pages(self.root, self.stage)

    def test_pictures_and_links_around_them_are_told_apart(self):
        seen = {}
        with_targets("[![a](1.svg)](2.md) ![b](3.png) [c](4.md) <img src=\"5.png\"> <a href='6.md'>x</a>\n[r]: 7.md\n", lambda t, p: seen.setdefault(t, p) and t or t)
        self.assertEqual(seen, {"1.svg": True, "2.md": False, "3.png": True, "4.md": False, "5.png": True, "6.md": False, "7.md": False})


class Tree(unittest.TestCase):
    """The pages of this tree."""

    def test_every_page_has_its_place_and_no_word_is_lost(self):
        with tempfile.TemporaryDirectory() as name:
            stage = Path(name)
            found = stage_pages(SOURCE, stage, main.EXTRAS)
            self.assertGreater(len(found.pages), 100)
            text = (stage / "theory.md").read_text(encoding="utf-8")

            def words(page):
                return re.sub(r"\]\([^)]*\)|<a id=\"[\w-]+\"></a>|^\([\w-]+\)=$|\$|\{math\}|math|\s", "", page, flags=re.M)

            self.assertEqual(words(text), words((SOURCE / "docs" / "theory.md").read_text(encoding="utf-8")))

    def test_the_python_page_names_all_that_the_package_exports(self):
        text = python_api.page(SOURCE)
        for name in python_api.exported(SOURCE):
            self.assertRegex(text, rf"auto\w+:: {name}\n")

    @unittest.skipUnless(Path(PROGRAM).is_file(), f"no program {PROGRAM}")
    def test_every_option_of_every_solver_is_told(self):
        solvers = catalogue.ask(PROGRAM, "solvers")
        self.assertGreater(len(solvers), 20)
        parts = re.split(r"^## ", catalogue.options_page(solvers, catalogue.families(SOURCE)), flags=re.M)
        shared = next(part for part in parts if part.startswith("Options that all have"))
        self.assertIn("| `law` |", shared)
        for solver in solvers:
            [own] = [part for part in parts if part.startswith(f"`{solver['name']}`\n")]
            for option in solver["options"]:
                self.assertIn(f"| `{option['key']}` |", own + shared, solver["name"])

    def test_every_header_of_a_page_can_be_read(self):
        groups = cpp_api.all_headers(SOURCE)
        listed = [header for first, rest in groups.values() for header in [*first, *rest]]
        self.assertEqual(len(listed), len(set(listed)), "a header has one page")
        for header in listed:
            self.assertTrue(summary((SOURCE / cpp_api.file_of(header)).read_text(encoding="utf-8")), f"{header}: has no comment")


class Again(unittest.TestCase):
    def test_a_second_run_keeps_what_is_the_same_and_drops_what_is_gone(self):
        with tempfile.TemporaryDirectory() as name:
            out = Path(name)
            stage, new = out / ".build" / "source", out / ".build" / "new"
            for place, text in ((stage / "same.md", "a"), (stage / "other.md", "b"), (stage / "gone.md", "c"), (new / "same.md", "a"), (new / "other.md", "B"),
                                (new / "x" / "more.md", "d"), (out / "same.html", ""), (out / "gone.html", ""), (out / "search.html", ""), (out / "files" / "f.html", "")):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
            os.utime(stage / "same.md", (1, 1))
            main.bring_up_to_date(stage, new)
            main.remove_old_pages(out, stage)
            self.assertEqual(sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*.md")), ["other.md", "same.md", "x/more.md"])
            self.assertEqual(((stage / "same.md").stat().st_mtime, (stage / "other.md").read_text()), (1, "B"))
            self.assertEqual(sorted(path.name for path in out.glob("*.html")), ["same.html", "search.html"])
            self.assertFalse((out / "files").exists() or new.exists())

    def test_a_folder_of_somebody_elses_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "mine.txt").write_text("x")
            with self.assertRaisesRegex(main.Failure, "no site that scripts/docs made"):
                main.folder_for(name)


class Headers(unittest.TestCase):
    HEAD = ["The *law* of r_N, see `a_b|c`.", "", "  r  ≥ 0", "     |x| < 1", "", "- first", "  goes on", "- second"]

    def test_the_head_of_a_header_as_markdown(self):
        self.assertEqual(markdown(self.HEAD), "The \\*law\\* of r\\_N, see `a_b|c`.\n\n```text\nr  ≥ 0\n   |x| < 1\n```\n\n- first\n  goes on\n\n- second\n")
        self.assertEqual(first_sentence(["One thing. Another."]), "One thing.")

    def test_a_header_as_doxygen_reads_it(self):
        text = for_doxygen("#pragma once\n\n/// Of the file.\nnamespace signorini {\n\n/// A `B<C>` & 50 % #1 @ \\d\nstruct A {\n  A(A&&) noexcept;\n  ~A();\n"
                           "  int x;  ///< <0\n};\n\n}  // namespace signorini\n")
        self.assertNotIn("Of the file", text)
        self.assertIn("/// A <tt>B\\<C\\></tt> \\& 50 \\% \\#1 \\@ \\\\d\nstruct A {\n  int x;  ///< \\<0\n};\n", text)
        self.assertNotIn("namespace", text)

    def test_comments_of_a_declaration_are_not_the_head(self):
        self.assertEqual(lines_of("#pragma once\n/// Of x.\nint x;\n")[1], [])


class Anchored(unittest.TestCase):
    def test_a_heading_keeps_the_anchor_of_its_page_as_it_is_spelt(self):
        try:
            from docutils import frontend, nodes, utils
            from docutils.parsers import rst
            from signorini_site.sphinx_parts import Anchors
        except ImportError as error:
            self.skipTest(f"{error}: sudo apt-get install --no-install-recommends python3-sphinx")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the parser of options, in newer versions of docutils
            document = utils.new_document("page", frontend.OptionParser(components=(rst.Parser,)).get_default_values())
        section = nodes.section(names=["large_stall"])
        section += nodes.title("", "Problems that stall")
        document += section
        document.note_explicit_target(section)
        self.assertEqual(section["ids"], ["large-stall"])
        Anchors(document).apply()
        self.assertEqual(section["ids"], ["problems-that-stall", "large_stall"])


class Mended(unittest.TestCase):
    def test_ids_stand_once_and_the_search_has_a_heading(self):
        with tempfile.TemporaryDirectory() as name:
            site = Path(name)
            (site / "api" / "cpp" / "x").mkdir(parents=True)
            twice = '<p id="breathe-section-title-public-members"></p><p id="other"></p>'
            (site / "api" / "cpp" / "x" / "a.html").write_text(twice + twice)
            (site / "search.html").write_text('<article role="main">\n<noscript></noscript></article>')
            for _ in range(2):  # a second run changes nothing
                assets.mend_pages(site)
                self.assertEqual((site / "api" / "cpp" / "x" / "a.html").read_text(), twice + twice.replace('members"', 'members-2"'))
                self.assertEqual((site / "search.html").read_text(), '<article role="main">\n<h1>Search</h1>\n<noscript></noscript></article>')


class Check(unittest.TestCase):
    def test_everything_broken_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            site = Path(name)
            (site / "b.html").write_text("<h1 id='x'>B</h1>")
            (site / "a.html").write_text("<a href='b.html#x'></a><a href='https://x.org'></a><a href='#y'></a><p id='y'></p><a href='b%2Ehtml?q=1'></a>")
            self.assertEqual(check.broken(site), [])
            for text, words in (("<a href='c.html'>", "no such file"), ("<img src='c.png'>", "no such file"), ("<a href='b.html#z'>", "no such place"),
                                ("<a href='#z'>", "no such place"), ("<script src='https://x.org/a.js'>", "from the network"),
                                ("<link href='//x.org/a.css'>", "from the network"), ("<object data='c.svg'>", "no such file"), ("<a href='.'>", "no such file")):
                (site / "a.html").write_text(text)
                found = check.broken(site)
                self.assertEqual(len(found), 1, text)
                self.assertIn(words, found[0])
            (site / "a.html").write_text("")
            (site / "a.css").write_text("@import url(/x.css); a { b: url(data:x) url(a.css) }")
            self.assertEqual(check.broken(site), ["a.css: /x.css: there is no such file"])


class Built(unittest.TestCase):
    @slow
    def test_slow_the_site_is_built_without_a_warning_or_a_broken_link(self):
        missing = [name for name in ("sphinx", "furo", "breathe", "myst_parser", "numpy", "scipy") if importlib.util.find_spec(name) is None]
        missing += [] if shutil.which("doxygen") else ["doxygen"]
        missing += [] if Path("/usr/share/javascript/katex").is_dir() else ["libjs-katex"]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)} (scripts/docs installs them)")
        with tempfile.TemporaryDirectory() as name:
            done = subprocess.run([sys.executable, "-B", "-m", "signorini_site", "-o", f"{name}/site", "--program", PROGRAM], capture_output=True, text=True,
                                  check=False, env=os.environ | {"PYTHONPATH": str(SOURCE / "scripts")})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no broken link", done.stdout)
            for page in ("index", "tutorial", "options", "api/cpp/contact/contact_problem", "api/python", "papers/verschoor2019/table1"):
                self.assertTrue((Path(name) / "site" / f"{page}.html").is_file(), page)
            opened = subprocess.run([sys.executable, "-B", str(SOURCE / "tests" / "browser" / "site_test.py")], capture_output=True, text=True, check=False,
                                    env=os.environ | {"SIGNORINI_SITE": f"{name}/site"})
            self.assertEqual(opened.returncode, 0, opened.stderr)


if __name__ == "__main__":
    unittest.main()
