"""The website of the documentation (scripts/docs) in a browser, opened from disk: pages load without an error and without the network, fit a phone, can be
read with a keyboard and a screen reader in both colour schemes, formulas are set, the search finds, and the navigation leads through all of it.

SIGNORINI_SITE names a site that scripts/docs made; the slow test of tests/scripts/site_test.py builds one and runs this file on it."""

import os
import sys
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

import browser  # noqa: E402
from browser import Keys  # noqa: E402

SITE = os.environ.get("SIGNORINI_SITE", "")
# One of every kind: front page, prose, formulas, wide tables, tables made from the program, Python, C++, a paper, an experiment, listings.
PAGES = ("index.html", "overview.html", "tutorial.html", "theory.html", "which-solver.html", "options.html", "command-line.html", "gallery.html", "changelog.html",
         "api/python.html", "api/cpp/index.html", "api/cpp/contact/contact_problem.html", "papers/verschoor2019/index.html", "papers/verschoor2019/table1.html",
         "files/lib/contact/residuals.h.html", "files/configs/experiments/signorini/tbb/index.html", "search.html")
PHONE = (390, 844)  # of a usual telephone, in CSS pixels


class Site(browser.BrowserTest):
    @classmethod
    def setUpClass(cls):
        if not SITE:
            raise unittest.SkipTest("no site to open: build one with scripts/docs -o DIR and set SIGNORINI_SITE=DIR")
        cls.site = Path(SITE).resolve()
        if not (cls.site / "index.html").is_file():
            raise AssertionError(f"SIGNORINI_SITE={SITE}: there is no index.html in it")
        super().setUpClass()

    def setUp(self):
        self.resize(1300, 950)
        self.prefer(prefers_color_scheme="light")

    def show(self, page):
        self.open(self.site / page, ready=False)
        self.wait(lambda: self.run_js("return document.readyState") == "complete", page)

    def test_pages_load_without_an_error_and_without_the_network(self):
        for page in PAGES:
            with self.subTest(page):
                self.show(page)
                self.assertNoErrors()
                outside = self.run_js("return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !/^(file|data|blob):/.test(name))")
                self.assertEqual(outside, [])
                self.assertEqual(self.run_js("return document.querySelectorAll('main h1, article h1').length"), 1)
                broken = self.run_js("return [...document.images].filter(image => image.loading !== 'lazy' && !(image.complete && image.naturalWidth)).map(image => image.src)")
                self.assertEqual(broken, [])

    def test_formulas_are_set(self):
        self.show("theory.html")
        asked, made, wrong = self.run_js("return ['.formula', '.formula > .katex, .formula > .katex-display', '.katex-error'].map(s => document.querySelectorAll(s).length)")
        self.assertGreater(asked, 10)
        self.assertEqual((made, wrong), (asked, 0))

    def test_pages_fit_a_phone(self):
        self.resize(*PHONE, phone=True)
        for page in PAGES:
            with self.subTest(page):
                self.show(page)
                self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth"), PHONE[0])

    def test_pages_can_be_read_with_a_keyboard_and_a_screen_reader(self):
        for scheme in ("light", "dark"):
            self.prefer(prefers_color_scheme=scheme)
            for page in PAGES:
                with self.subTest(page=page, scheme=scheme):
                    self.show(page)
                    self.assertEqual(self.accessibility(), [])

    def test_the_navigation_leads_through_the_site(self):
        self.show("index.html")
        entries = self.run_js("return [...document.querySelectorAll('.sidebar-tree li.toctree-l1 > a')].map(a => a.href)")
        self.assertGreater(len(entries), 30)
        self.assertEqual(len(entries), len(set(entries)), "every page stands there once")
        for entry in entries:
            with self.subTest(entry):
                self.driver.get(entry)
                self.assertTrue(Path(unquote(urlsplit(entry).path)).is_relative_to(self.site))
                current = self.find_all(".sidebar-tree li.toctree-l1.current-page > a, .sidebar-tree li.toctree-l1.current > a")
                self.assertEqual(len(current), 1, "the navigation shows where the reader is")
                self.assertTrue(self.find("article h1").text.strip())
        self.assertNoErrors()

    def test_the_search_finds(self):
        for words, page in (("coulomb", None), ("fclib", "fclib.html"), ("delassus", "api/cpp/contact/delassus_operator.html")):
            with self.subTest(words):
                self.show("index.html")
                box = self.find(".sidebar-search")
                box.send_keys(words, Keys.ENTER)
                self.wait(lambda: self.find_all("#search-results ul.search li a"), f"nothing is found for {words}")
                found = [link.get_attribute("href").split("?")[0].split("#")[0] for link in self.find_all("#search-results ul.search li a")]
                if page:
                    self.assertIn((self.site / page).as_uri(), found)
                self.find("#search-results ul.search li a").click()
                self.wait(lambda: self.find_all("article h1"), "the first hit opens")
                self.assertNoErrors()
        self.show("index.html")
        self.find(".sidebar-search").send_keys("nosuchwordanywhere", Keys.ENTER)
        self.wait(lambda: "did not match any documents" in self.find("#search-results").text, "a word that is nowhere")

    def test_the_colours_can_be_switched(self):
        self.show("tutorial.html")
        ground = "return getComputedStyle(document.body).backgroundColor"
        seen = {self.run_js(ground)}
        for _ in range(3):
            next(button for button in self.find_all("button.theme-toggle") if button.is_displayed()).send_keys(Keys.ENTER)
            seen.add(self.run_js(ground))
        self.assertEqual(len(seen), 2, "a light and a dark ground")

    def test_a_phone_opens_the_navigation(self):
        self.resize(*PHONE, phone=True)
        self.show("tutorial.html")
        drawer = self.find(".sidebar-drawer")
        self.assertLess(drawer.rect["x"] + drawer.rect["width"], 1)
        self.find("label.nav-overlay-icon").click()
        self.wait(lambda: self.find(".sidebar-drawer").rect["x"] >= 0, "the drawer comes in")


if __name__ == "__main__":
    unittest.main()
