"""Every link and picture of every page resolves inside the repository, anchors included; figures show the solvers that the experiments and
the registry have today."""

import html
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

from signorini_report import definition  # noqa: E402
from signorini_site.markdown import ELSEWHERE, anchors, targets  # noqa: E402
from signorini_site.tree import markdown_files as pages  # noqa: E402


def broken(root):
    """One line for every link that leads nowhere."""
    lines, known = [], {}
    for page in pages(root):
        for target in targets(page.read_text(encoding="utf-8")):
            if ELSEWHERE.match(target):
                continue  # another site
            name, _, anchor = unquote(html.unescape(target)).partition("#")
            file = (page.parent / name).resolve() if name else page
            where = f"{page.relative_to(root)}: ({target})"
            if not file.is_relative_to(root.resolve()):
                lines.append(f"{where} leads out of the repository")
            elif not file.exists():
                lines.append(f"{where}: there is no such file")
            elif anchor and file.suffix == ".md":
                if file not in known:
                    known[file] = anchors(file.read_text(encoding="utf-8"))
                if anchor not in known[file]:
                    lines.append(f"{where}: the page has no heading '{anchor}'")
    return lines


def registered():
    """Names of the registry's entries: its source lists classes, whose headers have the names."""
    classes = re.findall(r"^ +entry<(\w+)>\(", (SOURCE / "lib" / "solvers" / "registry.cpp").read_text(encoding="utf-8"), re.M)
    headers = "\n".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / "lib" / "solvers").rglob("*.h")))
    parts = re.split(r"^class (\w+)[^;{]*\{", headers, flags=re.M)
    found = {name: re.search(r'kName = "([^"]+)"', body) for name, body in zip(parts[1::2], parts[2::2])}
    return [found[name][1] for name in classes]


def words_of(picture):
    """Matplotlib writes every text of a picture as a comment before its outlines."""
    return [html.unescape(words) for words in re.findall(r"<!-- (.*?) -->", picture.read_text(encoding="utf-8"), re.S)]


def series_of(config):
    """What the figures of an experiment tell apart: one set of words for each figure that its configuration asks for."""
    def listed(key):
        found = config.get(key, [])
        return found if isinstance(found, list) else [found]

    solvers = config.get("solvers", [])
    sets = [{one.get("label", one["name"]) for one in solvers}, {one["name"] for one in solvers}]
    sets += [{one.get("words", one["label"]) for one in figure["series"]} for figure in listed("scatter")]
    sets += [set(figure.get("words", [])) for key in ("over_time", "histogram", "against", "shares") for figure in listed(key)]
    sets += [{line["words"] for panel in figure["panels"] for line in panel["lines"]} for figure in listed("over_contacts")]
    sets += [{line["words"] for line in figure["lines"]} for key in ("factors", "over_option") for figure in listed(key)]
    sets += [set(figure["variants"]) for key in ("histories", "growth") for figure in listed(key) if "variants" in figure]
    sets += [{line["words"] for line in figure["lines"]} for figure in listed("errors")]
    sets += [{"stays", "slides"} for _ in listed("incline")]
    sets += [set(figure.get("words", figure.get("columns", []))) for figure in listed("series")]
    sets += [{figure["beside"][0].split(",")[0]} for figure in listed("ladder")]
    sets += [set(figure["methods"]) - {figure["reference"]} for figure in listed("methods") if "reference" in figure]
    sets += [set(figure.get("methods", [])) for figure in listed("methods")]
    return [one for one in sets if one]


class Links(unittest.TestCase):
    def test_every_link_of_every_page_resolves(self):
        self.assertGreater(len(pages(SOURCE)), 10)
        self.assertEqual(broken(SOURCE), [])

    def test_pages_are_those_that_git_has(self):
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "*.md"], capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            self.skipTest("no git repository")
        self.assertLessEqual({line for line in listed.stdout.splitlines() if (SOURCE / line).is_file()},
                             {str(path.relative_to(SOURCE)) for path in pages(SOURCE)})

    def test_broken_links_of_every_kind_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "docs").mkdir()
            (root / "docs" / "b.md").write_text("# One `code` & two\n## Same\n## Same\n<a id='own'></a>\n### [Link](../a.md): 3×3, it's\n```\n# no heading\n```\n")
            (root / "a.md").write_text("[b](docs/b.md#one-code--two) [b](docs/b.md#same-1) [b](docs/b.md#own) [b](docs/b.md#link-33-its) [c](https://x.org/#y)\n"
                                       "`[x](gone.md)` [here](#top)\n\n# Top\n```\n[x](gone.md)\n```\n")
            self.assertEqual(broken(root), [])
            for link, words in (("[b](gone.md)", "no such file"), ("![b](gone.svg)", "no such file"), ("[b](docs/b.md#no-heading)", "no heading 'no-heading'"),
                                ("[b](#gone)", "no heading 'gone'"), ("[b](docs/b.md#same-2)", "no heading 'same-2'"), ("<img src='gone.png'>", "no such file"),
                                ("[b]\n\n[b]: gone.md", "no such file"), ("[![b](gone.svg)](docs/b.md)", "no such file"), ("[b](../b.md)", "out of the repository"),
                                ("[b](gone.md \"words\")", "no such file"), ("[a [b] c](gone.md)", "no such file")):
                (root / "a.md").write_text(link + "\n")
                self.assertEqual(len(broken(root)), 1, link)
                self.assertIn(words, broken(root)[0])


class Figures(unittest.TestCase):
    def test_the_example_figure_has_every_registered_solver(self):
        self.assertGreaterEqual(len(registered()), 12)
        experiment = definition.find("signorini_all").run
        self.assertEqual(set(registered()) - {one["name"] for one in experiment["solvers"]}, set(), "signorini_all runs every solver")
        shown = {words.split(" ")[0] for words in words_of(SOURCE / "docs" / "example.svg")}
        self.assertEqual(set(registered()) - shown, set(),
                         "docs/example.svg is older than the registry: scripts/reproduce, then copy results/out/signorini_all/times_and_iterations.svg")

    def test_figures_of_experiments_show_all_series_of_one_figure(self):
        pictures = [path for path in sorted((SOURCE / "docs").rglob("*.svg")) if (SOURCE / "results" / "reference" / path.stem / "run.toml").is_file()]
        self.assertGreater(len(pictures), 15)
        for picture in pictures:
            config = definition.config_of(definition.find(picture.stem), SOURCE / "results" / "reference" / picture.stem)
            wanted = series_of(config)
            words = "\n".join(words_of(picture))
            missing = [sorted(word for word in one if word not in words) for one in wanted]
            self.assertTrue(not wanted or [] in missing, f"{picture.relative_to(SOURCE)} lacks {min(missing, key=len, default=[])}: draw it again with "
                                                         f"scripts/reproduce {picture.stem} --size medium")

    def test_an_older_figure_is_noticed(self):
        config = {"solvers": [{"name": "a", "label": "A"}, {"name": "b", "label": "B"}], "scatter": {"series": [{"label": "A"}, {"label": "B", "words": "two"}]}}
        self.assertEqual(series_of(config), [{"A", "B"}, {"a", "b"}, {"A", "two"}])


if __name__ == "__main__":
    unittest.main()
