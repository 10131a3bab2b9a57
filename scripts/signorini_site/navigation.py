"""The order of the pages: docs/README.md sorts them, and the README of a folder those of the folder."""

import posixpath
import re
from dataclasses import dataclass, field

from .markdown import ELSEWHERE, FENCE

WORDED = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
SECTION = re.compile(r"^## (.+)$", re.M)


@dataclass
class Section:
    caption: str
    pages: dict = field(default_factory=dict)  # path below the root → its name in the sidebar, in their order


def linked_pages(path, text):
    """Pages that a page links to, by their paths below the root, in the order of the text: path → words of the first link."""
    found = {}
    for words, target in WORDED.findall(FENCE.sub("", text)):
        name = target.partition("#")[0]
        if name.endswith(".md") and not ELSEWHERE.match(target):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            found.setdefault(place, words.replace("`", ""))
    return found


def sections(root):
    """The sections of docs/README.md with the pages that each names first."""
    text = (root / "docs" / "README.md").read_text(encoding="utf-8")
    parts, seen, found = SECTION.split(text), set(), []
    for caption, body in zip(parts[1::2], parts[2::2]):
        named = {page: words[0].upper() + words[1:] for page, words in linked_pages("docs/README.md", body).items() if page not in seen}
        seen.update(named)
        found.append(Section(caption.strip(), named))
    return found


def below(path, pages, taken):
    """Pages under the folder of a README that nothing in `taken` has, in the order in which it links to them."""
    folder = posixpath.dirname(path) + "/"
    inside = [page for page in pages if page.startswith(folder) and page != path and page not in taken]
    order = {page: place for place, page in enumerate(linked_pages(path, pages[path]))}
    return sorted(inside, key=lambda page: (order.get(page, len(order)), page))
