"""The interactive pages of scripts/report in a browser: they load without an error, filters count as they must, the profile's numbers are those of
runs.csv, names do no harm, ten thousand rows make a small page, paper loses nothing, and readers without a mouse reach everything."""

import contextlib
import csv
import io
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import types
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import browser  # noqa: E402
import make_results  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from browser import By, Keys  # noqa: E402
from signorini_report import data, front, interactive, main, page, replays  # noqa: E402

TITLE = "Invented data with a title that is as long as the longest of our own experiments: every solver on every snapshot of all scenes"
BYTES = 6_000_000     # of a page of 10 000 rows without pictures
HOSTILE = ["<script>window.broken = 1</script>", "</script><img src=x onerror=window.broken=2>", "\"quoted\" 'twice' `thrice`", "=1+1", "a&amp;b", "</style>{{ 7 * 7 }}",
           "ü ∞ \u2028 line"]


def reference_profile(runs, names, measure, factor=1.0):
    """{series: (reached, asked, share within `factor` of the best [%], geometric mean of the ratios)} from runs.csv alone."""
    cost = runs.assign(cost=measure(runs).where(runs["residual"] <= runs["tolerance"] * (1 + 1e-9), math.inf))
    table = cost[cost["name"].isin(names)].pivot_table(index=["file", "step"], columns="name", values="cost", aggfunc="median")
    ratios = table.div(table.min(axis=1), axis=0)
    found = {}
    for name in names:
        finite = ratios[name][np.isfinite(ratios[name])]
        found[name] = (len(finite), int(table[name].notna().sum()), 100 * (finite <= factor).sum() / len(table), float(np.exp(np.log(finite).mean())), sorted(finite))
    return found


class Report(browser.BrowserTest):
    """One folder of results for all tests: the invented experiment and one of solvers that differ by scene."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if reason := interactive.unavailable():
            raise unittest.SkipTest(reason)
        cls.out = Path(cls.home.name) / "out"
        make_results.make(cls.out / "invented")
        make_results.make(cls.out / "later", steps=5, seed=3, laws=("cone",))
        (cls.out / "invented" / "run.toml").write_text(f'artefact = "{TITLE}"\n')
        (cls.out / "invented_definition" / "run.toml").write_text(f'artefact = "{TITLE}"\n')
        (cls.out / "recordings").mkdir()
        (cls.out / "recordings" / "bucket.h5").write_text("")
        (cls.out / "recordings" / "bucket.replay.html").write_text("<!DOCTYPE html><title>r</title><p id=at></p><script>at.textContent = location.hash</script>")
        with contextlib.redirect_stderr(io.StringIO()):
            main.report(cls.out, [])
        cls.page, cls.index = cls.out / "invented" / "index.html", cls.out / "report.html"

    def setUp(self):
        self.resize(1300, 950)
        self.prefer(prefers_color_scheme="light")

    def runs(self, folder="invented", **where):
        table = data.read_runs(self.out / folder / "runs.csv")
        data.add_columns(table)
        table["name"] = table["variant"]
        for column, value in ({"protocol": "time", "law": "cone", "region_mode": "points", "threads": 1} | where).items():
            table = table[table[column].isin(value if isinstance(value, list) else [value])]
        return table

    def counts(self):
        """(runs shown, snapshots, series shown, pairs that failed, pairs)"""
        numbers = list(map(int, re.findall(r"\d+", self.find("#counts").text)))
        return numbers[0], numbers[2], numbers[3], numbers[5], numbers[6]

    def expected(self, rows):
        names = rows.groupby(["name", "law", "region_mode", "threads"]).ngroups
        failed = rows["residual"] > rows["tolerance"] * (1 + 1e-9)
        return len(rows), rows.groupby(["file", "step"]).ngroups, names, int(failed.sum()), len(rows)

    def check(self, filter_name, value):
        """Clicks one box of a filter, opening its group."""
        group = self.find(f"[data-filter='{filter_name}']")
        if group.get_attribute("open") is None:
            group.find_element(By.TAG_NAME, "summary").click()
        self.find(f"[data-filter='{filter_name}'] input[value='{value}']").click()

    def choose(self, name, value):
        self.run_js("const s = document.getElementById(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))", name, value)

    # --- the page of an experiment ---

    def test_pages_load_without_an_error_and_without_the_network(self):
        for path in (self.page, self.index, self.out / "later" / "index.html"):
            self.open(path)
            self.assertNoErrors()
            outside = self.run_js("return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('data:'))")
            self.assertEqual(outside, [], "everything is inside the page")

    def test_filters_count_the_rows_of_runs_csv(self):
        self.open(self.page)
        self.assertEqual(self.counts(), self.expected(self.runs()), "the first view: timed, cone, regions by points, one thread")
        self.check("law", "pyramid")
        self.assertEqual(self.counts(), self.expected(self.runs(law=["cone", "pyramid"])))
        self.check("law", "cone")
        self.assertEqual(self.counts(), self.expected(self.runs(law="pyramid")))
        self.check("region_mode", "islands")
        self.check("threads", "2")
        wanted = self.runs(law="pyramid", region_mode=["points", "islands"], threads=[1, 2])
        self.assertEqual(self.counts(), self.expected(wanted))
        self.check("solver", "pcg")
        self.assertEqual(self.counts(), self.expected(wanted[wanted["solver"] != "pcg"]))
        self.find("[data-filter='solver'] button[aria-label^='None']").click()
        self.assertEqual(self.counts()[:4], (0, 0, 0, 0))
        self.find("#reset").click()
        self.assertEqual(self.counts(), self.expected(self.runs()))
        self.choose("protocol", "self-stopped")
        self.assertEqual(self.counts(), self.expected(self.runs(protocol="self-stopped")))
        self.assertNoErrors()

    def profile_now(self):
        return self.run_js("return Object.fromEntries([...window.signorini.profile.series].map(([name, own]) => [name, own.ratios]))")

    def test_the_profile_is_that_of_runs_csv_and_is_taken_again_over_what_is_shown(self):
        self.open(self.page)
        rows = self.runs()
        measures = {"total": lambda part: part["setup_seconds"] + part["solve_seconds"], "solve": lambda part: part["solve_seconds"],
                    "iterations": lambda part: part["iterations"].astype(float)}
        names = sorted(set(rows["name"]))
        best = min(names, key=lambda name: rows.loc[rows["name"] == name, "solve_seconds"].median())
        for shown in (names, [name for name in names if name != best]):
            if shown != names:
                self.find(f"#series-table input[data-series='{best}']").click()
            for measure, of in measures.items():
                self.choose("measure", measure)
                expected, drawn = reference_profile(rows, shown, of), self.profile_now()
                self.assertEqual(set(drawn), set(shown))
                for name in shown:
                    np.testing.assert_allclose(drawn[name], expected[name][4], rtol=1e-12, err_msg=f"{measure}, {name}")
                self.assert_table(rows, shown, of)
        self.assertNoErrors()

    def assert_table(self, rows, shown, measure):
        """The cells that a reader sees, to the digits that they show."""
        one, two = reference_profile(rows, shown, measure), reference_profile(rows, shown, measure, 2.0)
        cells = self.run_js("return [...document.querySelectorAll('#series-table tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))")
        self.assertEqual(len(cells), rows["name"].nunique())
        for line in cells:
            if line[0] not in shown:
                self.assertEqual(line[3], "–", "a hidden series has no share")
                continue
            reached, asked, share, mean, _ = one[line[0]]
            self.assertEqual(line[1:3], [str(asked), f"{reached} of {asked}"])
            self.assertAlmostEqual(float(line[3]), share, delta=0.0501)
            self.assertAlmostEqual(float(line[4]), two[line[0]][2], delta=0.0501)
            self.assertAlmostEqual(float(line[6]), mean, delta=0.0051 * mean)

    def test_a_view_is_kept_in_the_address(self):
        self.open(self.page)
        self.check("law", "pyramid")
        self.choose("measure", "iterations")
        self.choose("x-scale", "linear")
        self.find("#series-table input[type=checkbox]").click()
        before, state = self.counts(), self.run_js("return location.hash.slice(1)")
        self.assertLess(len(state), 200)
        self.open(self.page, state)
        self.assertEqual(self.counts(), before)
        self.assertEqual(self.find("#measure").get_attribute("value"), "iterations")
        self.assertEqual(self.find("#x-scale").get_attribute("value"), "linear")
        self.assertFalse(self.find("#series-table input[type=checkbox]").is_selected())
        self.open(self.page, "law=nonsense&measure=none&target=99&off=%3Cb%3E&file=x&step=y&__proto__=1")
        self.assertEqual(self.counts()[0], 0, "a law that is not here leaves nothing")
        self.assertNoErrors()

    def test_a_run_opens_by_keys_with_its_curves_and_its_command(self):
        self.open(self.page, "region_mode=none")  # the regions that were traced
        self.find("#scatter svg").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        tip = self.find("#tip").text
        self.assertRegex(tip, r"recordings/bucket.h5, step 000100 \(\d+ contacts\)")
        self.find("#scatter svg").send_keys(Keys.ENTER)
        self.wait(lambda: self.find_all("#curves-plot svg"), "curves are drawn")
        self.assertEqual(self.find("#details-title").text, "recordings/bucket.h5, step 000100")
        self.assertEqual(self.run_js("return document.activeElement.id"), "details")
        command = shlex.split(self.find("#command").text)
        self.assertEqual(command[:4], ["signorini", "solve", "recordings/bucket.h5", "--step"])
        self.assertEqual(command[command.index("--regions") + 1], "none")
        self.assertEqual(float(command[command.index("--tolerance") + 1]), 1e-6)
        listed = [row.text for row in self.find_all("#snapshot-table tbody tr")]
        self.assertEqual(len(listed), self.runs(region_mode="none")["name"].nunique())
        self.find("#details-close").click()
        self.assertFalse(self.find("#details").is_displayed())
        self.assertNoErrors()

    def test_the_replay_of_the_recording_opens_at_the_step(self):
        self.open(self.page, "file=recordings%2Fbucket.h5&step=000160")
        self.assertIn("recordings/bucket.replay.html#step=000160", self.find("#replay a").get_attribute("href"))
        self.find("#replay button").click()
        self.driver.switch_to.frame(self.find("#replay iframe"))
        self.assertIn("#step=000160", self.find("#at").text)
        self.driver.switch_to.default_content()
        self.assertNoErrors()

    def test_curves_are_those_of_trace_h5(self):
        self.open(self.page, "region_mode=none&" + "file=recordings%2Fbucket.h5&step=000160")
        self.wait(lambda: self.find_all("#curves-plot svg"), "curves are drawn")
        import h5py
        with h5py.File(self.out / "invented" / "trace.h5") as file:
            mine = [group for group in file["runs"].values() if group.attrs["step"] == "000160" and group.attrs["law"] == "cone"]
            ends = sorted((float(group["residual"][0]), float(group["residual"][-1]), int(group["iteration"][-1])) for group in mine)
        drawn = self.driver.execute_async_script("""const done = arguments[0]; allCurves().then(all => done(all["recordings/bucket.h5"]["000160"].filter(curve => curve[1] === "cone")
            .map(curve => [JSON.parse(curve[7])[0], JSON.parse(curve[7]).at(-1), JSON.parse(curve[5]).at(-1)])))""")
        self.assertEqual(len(drawn), len(ends))
        np.testing.assert_allclose(sorted(map(tuple, drawn)), ends, rtol=1e-3)
        self.assertEqual(self.run_js("return document.querySelectorAll('#curves-plot path[stroke-width=\"1.7\"], #curves-plot path[stroke-width=\"3\"]').length"), len(ends))

    def test_tables_sort_and_rows_are_saved_as_csv_and_plots_as_svg(self):
        self.open(self.page)
        heading = next(button for button in self.find_all("#series-table th button") if button.text.startswith("solve"))
        heading.click()
        names = [cell.text for cell in self.find_all("#series-table tbody td:first-child")]
        medians = self.runs().query("solved == 1").groupby("name")["solve_seconds"].median().sort_values()
        self.assertEqual(names, list(medians.index))
        self.assertEqual(self.find("#series-table th[aria-sort=ascending]").text.split(" ▲")[0], "solve")
        saved = list(csv.DictReader(io.StringIO(self.run_js("return window.signorini.csv()"))))
        rows = self.runs()
        self.assertEqual(len(saved), len(rows))
        self.assertEqual(sorted(float(row["solve_seconds"]) for row in saved), sorted(rows["solve_seconds"]), "with all digits")
        self.find("[data-save=profile]").click()
        target = Path(self.home.name) / "profile" / "downloads" / "profile.svg"
        self.wait(target.is_file, "the picture is saved")
        root = ElementTree.parse(target).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("best on the snapshot", "".join(root.itertext()))

    def paper(self, path):
        """The words of the printed page; none of them lies outside of its sheet."""
        if not shutil.which("pdftotext"):
            self.skipTest("nothing is read from paper here: the package poppler-utils is not installed")
        self.open(path)
        paper = Path(self.home.name) / "page.pdf"
        self.print_pdf(paper)
        boxes = subprocess.run(["pdftotext", "-bbox", paper, "-"], capture_output=True, text=True, timeout=60, check=True).stdout
        width = 0.0
        for line in boxes.splitlines():
            if match := re.search(r'<page width="([\d.]+)"', line):
                width = float(match[1])
            if match := re.search(r'xMin="([-\d.]+)".*xMax="([\d.]+)"', line):
                self.assertTrue(-0.5 <= float(match[1]) and float(match[2]) <= width + 0.5, line)
        return subprocess.run(["pdftotext", "-layout", paper, "-"], capture_output=True, text=True, timeout=60, check=True).stdout

    def test_paper_keeps_every_run_that_is_shown_and_cuts_no_word(self):
        text = self.paper(self.page)
        for heading in ("snapshots", "reached", "recording", "tolerance", "residual", "iterations", "status"):
            self.assertIn(heading, text)
        self.assertGreaterEqual(text.count("bucket.h5"), len(self.runs()), "every run that is shown has a line")

    def test_paper_keeps_every_cell_of_the_map(self):
        text = self.paper(self.index)
        cells = [cell.get_attribute("textContent") for cell in self.find_all("#map tbody button.ratio")]
        self.assertEqual(len(cells), self.runs()["name"].nunique())
        line = next(line for line in text.splitlines() if all(cell in line.split() for cell in cells))
        self.assertGreaterEqual(len(line.split()), len(cells))

    def test_readers_with_keyboard_or_screen_reader_are_not_hindered(self):
        for scheme in ("light", "dark"):
            self.prefer(prefers_color_scheme=scheme)
            for path, state in ((self.page, ""), (self.page, "file=recordings%2Fbucket.h5&step=000160"), (self.index, ""), (self.index, "scene=bucket")):
                self.open(path, state)
                self.assertEqual(self.accessibility(), [], f"{path.name}#{state}, {scheme}")

    def test_nothing_is_wider_than_a_phone(self):
        self.resize(390, 844, phone=True)
        for path, state in ((self.page, ""), (self.page, "file=recordings%2Fbucket.h5&step=000160"), (self.index, "scene=bucket")):
            self.open(path, state)
            self.screenshot(f"phone-{path.parent.name}.png")
            self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth"), 390, path)

    # --- the front page ---

    def test_the_map_of_winners_is_that_of_runs_csv(self):
        self.open(self.index)
        self.assertEqual(self.find_all("#experiment option")[0].get_attribute("value"), "invented", "the one with most scenes and solvers comes first")
        rows = self.runs()
        names = sorted(set(rows["name"]))
        expected = reference_profile(rows, names, lambda part: part["setup_seconds"] + part["solve_seconds"])
        heads = [head.text.strip() for head in self.find_all("#map thead th")]
        cells = [cell.get_attribute("textContent").strip() for cell in self.find_all("#map tbody tr")[0].find_elements(By.TAG_NAME, "td")]
        self.assertEqual(len(self.find_all("#map tbody tr")), 1)
        for name in names:
            reached, asked, _, mean, _ = expected[name]
            shown = cells[heads.index(name)]
            if reached < asked:
                self.assertEqual(shown, f"{reached}/{asked}")
            else:
                self.assertAlmostEqual(float(shown), mean, delta=max(0.0501, 0.0051 * mean))
        whole = {name: own[3] for name, own in expected.items() if own[0] == own[1]}
        self.assertTrue(cells[heads.index("take")].startswith(min(whole, key=whole.get)))
        self.choose("law", "pyramid")
        self.wait(lambda: "law=pyramid" in self.run_js("return location.hash"))
        self.find("#map button.scene").click()
        self.wait(lambda: self.find("#scene").is_displayed())
        self.find("#scene-link").click()
        self.wait(lambda: self.run_js("return document.documentElement.dataset.ready && document.getElementById('scatter') !== null"))
        self.assertEqual(self.counts(), self.expected(self.runs(law="pyramid")), "the link keeps what was chosen")
        self.assertNoErrors()

    def test_counts_of_neighbours_on_the_map_stay_apart(self):
        self.open(self.index)
        over = self.run_js("""return [...document.querySelectorAll('#map button.ratio')].filter(cell => { const range = document.createRange(); range.selectNodeContents(cell);
            const words = range.getBoundingClientRect(), own = cell.getBoundingClientRect(); return words.left < own.left - 0.5 || words.right > own.right + 0.5; }).map(cell => cell.textContent)""")
        self.assertEqual(over, [])
        self.assertTrue(any("/24" in cell.get_attribute("textContent") for cell in self.find_all("#map button.ratio")), "there is a count of five signs")


class Steps(browser.BrowserTest):
    """Pages of experiments that have a line per step and no runs, and one that has both."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if reason := interactive.unavailable():
            raise unittest.SkipTest(reason)
        cls.out = Path(cls.home.name) / "out"
        make_results.make_steps(cls.out / "driven")
        make_results.make(cls.out / "both", steps=3, laws=("cone",))
        for name in ("steps.csv", "recordings.csv"):
            shutil.copy(cls.out / "driven" / name, cls.out / "both" / name)
        make_results.make_steps(cls.out / "strange", steps=5, drivers=[name.replace(",", ";").replace('"', "'") for name in HOSTILE if "/" not in name])
        with contextlib.redirect_stderr(io.StringIO()):
            main.report(cls.out, [])
        cls.page, cls.both = (cls.out / name / "index.html" for name in ("driven", "both"))
        cls.table = pd.read_csv(cls.out / "driven" / "steps.csv")
        cls.table["seconds"] = cls.table[[name for name in cls.table if name.endswith("_seconds")]].sum(axis=1)
        cls.table[["scene", "driver"]] = cls.table["file"].str.extract(r"(\w+)_by_(\w+)-quick")

    def setUp(self):
        self.resize(1300, 950)
        self.prefer(prefers_color_scheme="light")

    def choose(self, name, value):
        self.run_js("const s = document.getElementById(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))", name, value)

    def numbers(self):
        """{series: [steps, median, mean, 90 %, largest, sum, ÷ least]} as the page has them."""
        return self.run_js("return Object.fromEntries(signorini.seriesRows().map(row => [row.name, [row.count, row.median, row.mean, row.high, row.most, row.sum, row.ratio]]))")

    def expected(self, rows, by, column):
        """The same by pandas."""
        values = rows.dropna(subset=[column])
        means = values.groupby([by, "scene"])[column].mean().unstack()
        ratios = means.div(means.min())
        part = values.groupby(by)[column]
        table = pd.DataFrame({"count": part.size(), "median": part.median(), "mean": part.mean(), "high": part.quantile(0.9), "most": part.max(), "sum": part.sum(),
                              "ratio": np.exp(np.log(ratios).mean(axis=1))})
        return {name: list(row) for name, row in zip(table.index, table.to_numpy())}

    def assert_numbers(self, rows, by, column):
        expected, shown = self.expected(rows, by, column), self.numbers()
        self.assertEqual(set(shown), set(expected))
        for name in shown:
            np.testing.assert_allclose(shown[name], expected[name], rtol=2e-4, err_msg=f"{name}, {column}: five digits travel")

    def test_the_first_view_is_that_of_the_figure_and_counts_what_steps_csv_holds(self):
        self.open(self.page)
        self.assertNoErrors()
        self.assertIn("240 steps of 240 in 6 recordings, 6 of 6 series; 240 have a value of time of a step", self.find("#t-counts").text)
        self.assert_numbers(self.table.assign(name=self.table["file"].str.removesuffix("-quick.h5")), "name", "seconds")
        self.assertEqual(self.run_js("return signorini.marks.marks.length"), 240)

    def test_series_by_solver_and_filters_give_the_numbers_of_pandas(self):
        self.open(self.page, "t.by=setting.solver.name")
        self.assert_numbers(self.table, "driver", "seconds")
        self.choose("t-ordinate", "iterations")
        self.assert_numbers(self.table, "driver", "iterations")
        self.choose("t-ordinate", "residual")
        with_contacts = self.table[self.table["contacts"] > 0]
        self.assertIn(f"{len(with_contacts)} have a value of residual", self.find("#t-counts").text)
        self.find("[data-filter='recording.scene'] summary").click()
        self.find("[data-filter='recording.scene'] input[value='rings']").click()
        self.assert_numbers(self.table[self.table["scene"] == "cubes"], "driver", "residual")
        self.choose("t-ordinate", "step_seconds")
        self.find("#t-series-table input[data-series='auto']").click()
        shown = self.numbers()
        self.assertIsNone(shown["auto"][-1])
        self.assertAlmostEqual(min(row[-1] for name, row in shown.items() if name != "auto"), 1.0, msg="÷ least is taken again over what is shown")
        self.assertIn("80 steps of 240 in 2 recordings, 2 of 3 series", self.find("#t-counts").text)
        self.assertNoErrors()

    def test_the_distribution_is_that_of_the_values(self):
        self.open(self.page, "t.by=setting.solver.name&t.show=contacts&t.share=linear")
        drawn = self.run_js("""const path = [...document.querySelectorAll('#t-shares path[stroke-width="1.7"]')].map(one => one.querySelector('title').textContent); return path""")
        self.assertEqual(sorted(drawn), ["auto", "ica", "pgs"])
        self.choose("t-share-scale", "log")
        self.assertEqual(len(self.find_all("#t-shares path[stroke-width='1.7']")), 3, "steps without contacts count below the first mark")
        self.assertNoErrors()

    def test_a_step_opens_by_keys_with_the_command_that_records_it(self):
        self.open(self.page)
        self.find("#t-scatter svg").send_keys(Keys.ARROW_RIGHT)
        self.assertRegex(self.find("#t-tip").text, r"_by_\w+-quick.h5, step 1: ")
        self.find("#t-scatter svg").send_keys(Keys.ENTER)
        title = self.find("#t-details-title").text
        command = shlex.split(self.find("#t-command").text)
        self.assertEqual(command[:2], ["signorini", "record"])
        self.assertIn(f"solver.name={re.search('_by_(.+)-quick', title)[1]}", command)
        self.assertEqual(command[command.index("--size") + 1], "quick")
        state = self.run_js("return location.hash.slice(1)")
        self.open(self.page, state)
        self.assertEqual(self.find("#t-details-title").text, title, "the address holds what is open")
        self.find("#t-details-close").click()
        self.assertFalse(self.find("#t-details").is_displayed())

    def test_what_is_shown_is_saved(self):
        self.open(self.page, "t.setting.solver.name=ica")
        saved = list(csv.DictReader(io.StringIO(self.run_js("return signorini.csv()"))))
        rows = self.table[self.table["driver"] == "ica"]
        self.assertEqual(len(saved), len(rows))
        np.testing.assert_allclose([float(row["solve_seconds"]) for row in saved], rows["solve_seconds"], rtol=1e-8)
        self.find("#t-explorer [data-save=scatter]").click()
        target = Path(self.home.name) / "profile" / "downloads" / "scatter.svg"
        self.wait(target.is_file, "the picture is saved")
        self.assertIn("time of a step", "".join(ElementTree.parse(target).getroot().itertext()))

    def test_tables_sort(self):
        self.open(self.page)
        next(button for button in self.find_all("#t-series-table th button") if button.text.startswith("median")).click()
        names = [cell.text for cell in self.find_all("#t-series-table tbody td:first-child")]
        medians = self.table.groupby("file")["seconds"].median().sort_values()
        self.assertEqual(names, [name.removesuffix("-quick.h5") for name in medians.index])

    def test_two_parts_on_a_page_leave_each_others_address_alone(self):
        self.open(self.both)
        self.assertNoErrors()
        self.choose("x-scale", "linear")
        self.choose("t-y-scale", "linear")
        self.assertEqual(set(self.run_js("return location.hash.slice(1)").split("&")), {"x=linear", "t.y=linear"})
        self.open(self.both, "x=linear&t.y=linear")
        self.assertEqual([self.find(one).get_attribute("value") for one in ("#x-scale", "#t-y-scale", "#y-scale")], ["linear", "linear", "log"])
        self.find("#reset").click()
        self.assertEqual(self.run_js("return location.hash"), "#t.y=linear")

    def test_strange_addresses_and_names_do_no_harm(self):
        self.open(self.page, "t.show=none&t.by=%3Cb%3E&t.line=x&t.against=__proto__&t.file=x&t.step=y&t.setting.solver.name=none")
        self.assertIn("0 steps of 240", self.find("#t-counts").text, "a solver that is not here leaves nothing")
        self.assertNoErrors()
        self.open(self.out / "strange" / "index.html", "t.by=setting.solver.name")
        self.assertNoErrors()
        self.assertIsNone(self.run_js("return window.broken ?? null"))
        self.run_js("signorini.open(signorini.rows[0])")
        shlex.split(self.find("#t-command").text)
        self.assertEqual(self.run_js("return document.querySelectorAll('#t-explorer img, #t-explorer script').length"), 0)

    def test_readers_on_paper_on_phones_and_with_keys_alone_lose_nothing(self):
        for scheme in ("light", "dark"):
            self.prefer(prefers_color_scheme=scheme)
            for path in (self.page, self.both):
                self.open(path, "t.file=rings_by_ica-quick.h5&t.step=10")
                self.assertEqual(self.accessibility(), [], f"{path}, {scheme}")
        self.resize(390, 844, phone=True)
        self.open(self.page, "t.file=rings_by_ica-quick.h5&t.step=10")
        self.screenshot("phone-steps.png")
        self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth"), 390)
        self.resize(1300, 950)
        self.prefer(prefers_color_scheme="light")
        text = Report.paper(self, self.page)
        self.assertGreaterEqual(text.count("rings_by_ica"), 40, "every step that is shown has a line")


class Hostile(browser.BrowserTest):
    """Rows with names that are markup, in a page of ten thousand of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if reason := interactive.unavailable():
            raise unittest.SkipTest(reason)
        cls.folder = Path(cls.home.name) / "hostile"
        random, lines = np.random.default_rng(5), []
        for number in range(10_000):
            name = HOSTILE[number % len(HOSTILE)].replace('"', '""')
            solver = ("pgs", "pcg", "ca", "ica")[number // len(HOSTILE) % 4]
            step = number // (4 * len(HOSTILE))
            lines.append(f'x,"{name}",{step:06d},{3 + step},90,1,3,{solver},"law=cone;note={name}",cone,none,1,0,converged,{random.integers(2, 90)},{random.uniform(1e-9, 1e-6):.17g},'
                         f'nan,nan,0,0,0,1,nan,{random.lognormal(-9):.9g},{random.lognormal(-8):.9g},1e-6,time,0,7,"{name}"')
        make_results.write_runs(cls.folder, make_results.HEADER, lines)
        cls.rows = data.read_runs(cls.folder / "runs.csv")
        data.add_columns(cls.rows)
        cls.page = cls.folder / "index.html"
        schema = json.loads((cls.folder / "runs.schema.json").read_text())["runs.csv"]
        links = interactive.Links(files=[(name, "runs.csv") for name in HOSTILE], recordings={name: name for name in HOSTILE}, replays={name: {"address": "x.html", "steps": []} for name in HOSTILE})
        cls.page.write_text(interactive.rows_page(cls.rows, HOSTILE[0], HOSTILE[1], schema=schema, links=links), encoding="utf-8")

    def test_names_are_words_and_nothing_else(self):
        self.open(self.page)
        for state in ("", *(f"file={name}&step=000001" for name in map(browser_quoted, HOSTILE))):
            self.open(self.page, state)
            self.assertIsNone(self.run_js("return window.broken ?? null"))
            self.assertEqual(self.run_js("return document.querySelectorAll('main img, main style, body script:not(#settings, #rows, #curves)').length"), 1, "its own script")
            if state:
                self.assertIn(self.run_js("return window.signorini.state.file"), self.find("#details-title").get_attribute("textContent"))
                command = shlex.split(self.find("#command").get_attribute("textContent"))
                self.assertEqual(command[2], self.run_js("return window.signorini.state.file"), "the shell reads the name as it is")
        self.assertNoErrors()
        for row in csv.reader(io.StringIO(self.run_js("return window.signorini.csv()"))):
            self.assertNotEqual(row[0][:1], "=", "no formula for a spreadsheet")

    def test_names_on_the_map_are_words_and_nothing_else(self):
        folder = Path(self.home.name) / "map"
        folder.mkdir()
        front.write_map(types.SimpleNamespace(folder=folder, runs=self.rows, config={}, env={"size": HOSTILE[0]}))
        maps = {name: front.read_map(folder) for name in HOSTILE[:3]}
        path = folder / "report.html"
        path.write_text(page.document("t", "<h1>t</h1>" + front.section(maps, {HOSTILE[0]: HOSTILE[1]})), encoding="utf-8")
        self.open(path)
        scenes = {data.scene_of(name) for name in HOSTILE}
        self.assertEqual(len(self.find_all("#map tbody tr")), len(scenes))
        for place in range(len(scenes)):
            self.run_js("document.querySelectorAll('#map button.scene')[arguments[0]].click()", place)
            self.wait(lambda: self.find("#scene").is_displayed())
            self.assertIn(self.run_js("return window.signorini.state.scene").replace("_", " "), self.find("#scene-title").get_attribute("textContent"))
        self.assertIsNone(self.run_js("return window.broken ?? null"))
        self.assertEqual(self.run_js("return document.querySelectorAll('#map img, main style, #ranking img').length"), 0)
        self.assertEqual(self.accessibility(), [])
        self.assertNoErrors()

    def test_ten_thousand_rows_are_small_and_make_few_elements(self):
        """What a browser has to do before the page is ready does not grow with the rows: a hundred lines of the table, one path per series and kind of mark."""
        self.assertLess(self.page.stat().st_size, BYTES)
        self.open(self.page)
        self.assertIn("10000 runs of 10000", self.find("#counts").text)
        series = len(self.find_all("#series-table tbody tr"))
        self.assertEqual(series, 4 * len(HOSTILE))
        self.assertEqual(self.run_js("return document.querySelectorAll('#runs-table tbody tr').length"), 100)
        self.assertLessEqual(self.run_js("return document.querySelectorAll('#scatter path:not(.domain)').length"), 2 * series)
        self.assertLess(self.run_js("return document.getElementsByTagName('*').length"), 4000)
        print(f"10,000 rows: {self.page.stat().st_size} bytes, ready after {self.run_js('return Math.round(performance.now())')} ms", file=sys.stderr)


PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM names no program")
class Repeated(browser.BrowserTest):
    """The command that a page prints for a run makes that run again."""

    def test_every_command_repeats_its_run(self):
        if reason := interactive.unavailable():
            self.skipTest(reason)
        folder = Path(self.home.name) / "runs"
        folder.mkdir()
        problems = browser.SOURCE / "configs" / "problems" / "reference"
        subprocess.run([PROGRAM, "solve", problems / "f3.hdf5", problems / "net1.hdf5", "--solver", "pgs,pcg,newton,admm", "--set", "pcg.beta=fr", "--tolerance", "1e-7", "--csv", folder / "runs.csv"],
                       check=True, capture_output=True, timeout=300)
        columns = subprocess.run([PROGRAM, "list", "columns", "--json"], check=True, capture_output=True, text=True, timeout=60).stdout
        (folder / "runs.schema.json").write_text(json.dumps({"runs.csv": json.loads(columns)}))
        rows = data.read_runs(folder / "runs.csv")
        data.add_columns(rows)
        (folder / "index.html").write_text(interactive.rows_page(rows, "Runs"), encoding="utf-8")
        self.open(folder / "index.html")
        shown = self.run_js("""const e = window.signorini, t = e.table; return Array.from({length: t.count}, (_, row) => [commandOf(t, e.settings, row), t.numbers.iterations[row], valueOf(t, "status", row),
            t.numbers.residual[row]])""")
        self.assertEqual(len(shown), 8)
        for command, iterations, status, residual in shown:
            words = shlex.split(command)
            self.assertEqual(words[0], "signorini")
            again = json.loads(subprocess.run([PROGRAM, *words[1:], "--json"], check=True, capture_output=True, text=True, timeout=300).stdout)
            self.assertEqual((len(again), again[0]["iterations"], again[0]["status"]), (1, iterations, status), command)
            self.assertAlmostEqual(again[0]["residual"], residual, delta=1e-4 * residual, msg=command)

    def test_the_command_of_a_step_records_the_same_steps_and_its_frame_opens_in_3d(self):
        if reason := interactive.unavailable():
            self.skipTest(reason)
        folder = Path(self.home.name) / "driven"
        folder.mkdir()
        (folder / "trial.toml").write_text("""artefact = "Driven"
protocols = []
steps = true
[settings]
pgs = { "solver.name" = "pgs" }
nsgs = { "solver.name" = "nsgs" }
[[recordings]]
name = "{scene}_by_{settings}"
scene = "incline"
settings = ["pgs", "nsgs"]
set = { "time.duration_s" = 0.02, "time.record_every" = 10 }
""", encoding="utf-8")
        subprocess.run([PROGRAM, "reproduce", folder / "trial.toml", "--size", "quick", "--out", folder / "out"], check=True, capture_output=True, timeout=300)
        self.open(folder / "out" / "trial" / "index.html")
        self.run_js("signorini.open(signorini.rows[12])")
        command = shlex.split(self.find("#t-command").text)
        self.assertEqual(command[0], "signorini")
        subprocess.run([PROGRAM, *command[1:-1], folder / "again.h5"], check=True, capture_output=True, timeout=300, cwd=folder)
        file = self.run_js("return signorini.state.file")
        first, again = (pd.read_csv(path) for path in (folder / "out" / "recordings" / file.replace(".h5", ".steps.csv"), folder / "again.steps.csv"))
        counted = [name for name in first if not name.endswith("_seconds")]
        pd.testing.assert_frame_equal(first[counted], again[counted])
        if "libjs-three" in replays.unavailable(PROGRAM):
            self.skipTest(f"no replays: {replays.unavailable(PROGRAM)}")
        self.find("#t-replay button").click()
        self.driver.switch_to.frame(self.find("#t-replay iframe"))
        self.wait(lambda: self.run_js("return document.documentElement.dataset.ready"), "the replay that the report made opens")
        shown = self.run_js("return document.querySelector('[data-part=frame-text]').textContent")
        self.driver.switch_to.default_content()
        wanted = self.run_js("return frameNear(signorini.settings.replays[signorini.state.file].steps, signorini.state.step).step")
        self.assertIn(wanted, shown)
        self.assertNoErrors()


def browser_quoted(text):
    from urllib.parse import quote
    return quote(text, safe="")


if __name__ == "__main__":
    unittest.main()
