"""Copies the pages of the tree to where Sphinx reads them. Links become those of the site, formulas those of MyST; no other word changes."""

import html
import posixpath
import re
import shutil
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from .markdown import ELSEWHERE, HEADING, masked, with_targets
from .navigation import Section, below, sections
from .tree import address, first_pages, listing_name, page_name, picture_name

FORMULA = re.compile(r"\$`([^`]+)`\$")
FORMULAS = re.compile(r"^```math$", re.M)
ANCHORED = re.compile(r"^(#{1,6} )<a id=\"([^\"]+)\"></a>[ ]*", re.M)
TITLE = re.compile(r"\A# .*\n")


@dataclass
class Extra:
    """A page that is made, not copied."""
    section: str
    name: str
    title: str
    words: str  # of its line on the front page


@dataclass
class Staged:
    pages: dict = field(default_factory=dict)  # path → text as it is in the tree
    pictures: set = field(default_factory=set)
    listings: set = field(default_factory=set)  # files and folders that pages link to


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def one_title(text):
    """From the second heading of the first level on, headings stand one level lower: a page has one title."""
    found = list(HEADING.finditer(masked(text)))
    second = next((place for place, match in enumerate(found) if place and len(match[1]) == 1), len(found))
    for match in reversed(found[second:]):
        text = text[:match.start(1)] + "#" + text[match.start(1):]
    return text


class Links:
    """Targets in the pages of the tree → targets in the site; keeps what has to be there for it."""

    def __init__(self, root, staged):
        self.root, self.staged = root, staged

    def place(self, path, target):
        """The path below the root that a target names; an error names the page and what it links to."""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if place.startswith("..") or not (self.root / place).exists():
            raise ValueError(f"{path}: ({target}): there is no such file in the tree")
        return place

    def of(self, path, name, target, is_picture):
        if ELSEWHERE.match(target) or target.startswith("#"):
            return target
        file, _, anchor = unquote(html.unescape(target)).partition("#")
        place = self.place(path, file)
        if is_picture:
            self.staged.pictures.add(place)
            return posixpath.relpath(picture_name(place), posixpath.dirname(name) or ".")
        if place.endswith(".md"):
            self.staged.pages.setdefault(place, None)
            return quote(address(name, page_name(place))) + (f"#{anchor}" if anchor else "")
        self.staged.listings.add(place)
        return quote(address(name, listing_name(place, (self.root / place).is_dir())))

    def rewritten(self, path, name, text):
        """The text of the page at `path`, to stand in the page `name` of the site."""
        text = with_targets(text, lambda target, is_picture: self.of(path, name, target, is_picture))
        text = ANCHORED.sub(r"(\2)=\n\1", text)
        return one_title(FORMULAS.sub("```{math}", FORMULA.sub(r"{math}`\1`", text)))


def toctree(names, caption=None):
    lines = [f":caption: {caption}"] if caption else []
    return "\n```{toctree}\n" + "\n".join([*lines, ":hidden:", "", *names]) + "\n```\n"


def lead(text):
    """What the README says before its first section."""
    return text.partition("\n## ")[0].rstrip() + "\n"


def front_page(links, root, extras):
    """The README's lead, then the sorted list of docs/README.md with the lines of pages that are made."""
    opening = links.rewritten("README.md", "index", lead((root / "README.md").read_text(encoding="utf-8")))
    listed = links.rewritten("docs/README.md", "index", TITLE.sub("", (root / "docs" / "README.md").read_text(encoding="utf-8")))
    parts = re.split(r"^(?=## )", listed, flags=re.M)
    for place, part in enumerate(parts):
        lines = [f"- [{extra.title}]({extra.name}.html): {extra.words}\n" for extra in extras if part.startswith(f"## {extra.section}\n")]
        parts[place] = part.rstrip() + "\n" + "".join(lines) + "\n" if lines else part
    return opening + "\n" + "".join(parts).lstrip()


def read_pages(root, staged, extras):
    """Writes all pages but their toctrees; pages that others link to come in on the way. Gives the texts for the site by path."""
    links, texts, waiting = Links(root, staged), {}, first_pages(root)
    while waiting:
        path = waiting.pop(0)
        if path in texts:
            continue
        staged.pages[path] = (root / path).read_text(encoding="utf-8")
        texts[path] = front_page(links, root, extras) if path == "docs/README.md" else links.rewritten(path, page_name(path), staged.pages[path])
        waiting += [page for page, text in staged.pages.items() if text is None and page not in waiting]
    return texts


def with_toctrees(root, staged, texts, extras):
    """Adds what makes the sidebar. Pages that no list has are marked as such."""
    listed = sections(root)
    for extra in extras:
        if extra.section not in [section.caption for section in listed]:
            listed.append(Section(extra.section))
    taken = {page for section in listed for page in section.pages} | {"docs/README.md"}
    for section in listed:
        names = [f"{words} <{page_name(page)}>" for page, words in section.pages.items()]
        names += [f"{extra.title} <{extra.name}>" for extra in extras if extra.section == section.caption]
        texts["docs/README.md"] += toctree(names, section.caption)
    for path in [page for section in listed for page in section.pages if page.endswith("/README.md")]:
        inside = below(path, staged.pages, taken)
        taken.update(inside)
        if inside:
            texts[path] += toctree([posixpath.relpath(page_name(page), posixpath.dirname(page_name(path)) or ".") for page in inside])
    for path in set(texts) - taken:
        texts[path] = "---\norphan: true\n---\n\n" + texts[path]
    return sorted(path for path in set(texts) - taken if path.startswith("docs/"))


def stage_pages(root, stage, extras=()):
    """Returns what was staged. Raises where a link leads nowhere or a page of docs/ is in no list."""
    staged = Staged()
    texts = read_pages(root, staged, extras)
    forgotten = with_toctrees(root, staged, texts, extras)
    if forgotten:
        raise ValueError(f"docs/README.md and the README of their folders name no link to {', '.join(forgotten)}")
    for path, text in texts.items():
        write(stage / f"{page_name(path)}.md", text)
    for path in staged.pictures:
        place = stage / picture_name(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, place)
    return staged

