"""Every link, picture, script and sheet of a built site is there, anchors included."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

from .markdown import ELSEWHERE


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.targets, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        for key in ("href", "src", "data"):
            if given.get(key) is not None and not (key == "data" and tag != "object"):
                self.targets.append((tag, given[key]))


def outside(tag, target):
    """Something that a page without a network would fetch: a link that a reader may follow is none."""
    return tag != "a" and re.match(r"(https?:)?//", target) is not None


def broken_sheets(site):
    """The same of what sheets want; an address that begins with / is none on a disk."""
    lines = []
    for path in sorted(path for path in site.rglob("*.css") if ".build" not in path.parts):
        for target in re.findall(r"""url\(\s*["']?(?!data:)([^"')]+)""", path.read_text(encoding="utf-8")):
            if target.startswith(("/", "http")) or not (path.parent / target.partition("?")[0].partition("#")[0]).is_file():
                lines.append(f"{path.relative_to(site)}: {target}: there is no such file")
    return lines


def broken(site):
    """One line for every target that does not exist, and for everything that would be fetched from elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html")) if ".build" not in path.parts}
    lines = broken_sheets(site)
    for path, page in pages.items():
        where = path.relative_to(site)
        for tag, target in dict.fromkeys(page.targets):
            if outside(tag, target):
                lines.append(f"{where}: <{tag}> fetches {target} from the network")
            if ELSEWHERE.match(target) or target.startswith("//"):
                continue
            name, _, anchor = target.partition("#")
            name = unquote(name.partition("?")[0])
            file = (path.parent / name).resolve() if name else path
            if not file.is_file():
                lines.append(f"{where}: <{tag}> {target}: there is no such file")
            elif anchor and file in pages and unquote(anchor) not in pages[file].ids:
                lines.append(f"{where}: <{tag}> {target}: the page has no such place")
    return lines
