"""Files that the built site takes along: KaTeX with its fonts inside, sheets of code, furo's own in a form that works from disk."""

import base64
import re
from pathlib import Path

from . import listings
from .staging import write

JAVASCRIPT = Path("/usr/share/javascript")
KATEX = JAVASCRIPT / "katex"
WANTED = 'import Gumshoe from "./gumshoe-patched.js";'


def katex_sheet(folder=KATEX):
    """With the fonts as data: browsers do not load fonts from beside a page that is opened from disk."""
    text = (folder / "katex.min.css").read_text(encoding="utf-8")

    def font(match):
        woff = re.search(r"url\(([^)]+\.woff2)\)", match[0])
        data = base64.b64encode((folder / woff[1].strip("\"'")).read_bytes()).decode("ascii")
        return f"src:url(data:font/woff2;base64,{data}) format(\"woff2\")"

    return re.sub(r"src:[^;}]*", font, text)


def mend_furo(static):
    """Debian's furo imports a module and a sheet of the web server; both go into the files that want them."""
    script, sheet = static / "scripts" / "furo.js", static / "styles" / "furo.css"
    text = script.read_text(encoding="utf-8")
    if WANTED in text:
        write(script, (script.parent / "gumshoe-patched.js").read_text(encoding="utf-8") + text.replace(WANTED, ""))
    text = sheet.read_text(encoding="utf-8")
    write(sheet, re.sub(r"@import url\(/javascript/([\w./-]+)\);", lambda match: (JAVASCRIPT / match[1]).read_text(encoding="utf-8"), text))


def with_own_ids(page):
    """Breathe gives the section of every class of a page the same id: later ones get a number."""
    seen = {}

    def numbered(match):
        count = seen[match[1]] = seen.get(match[1], 0) + 1
        return match[0] if count == 1 else f' id="{match[1]}-{count}"'

    return re.sub(r' id="(breathe-section-title-[\w-]+)"', numbered, page)


def mend_pages(site):
    """What readers with a screen reader need and themes leave out: ids that stand once, a heading of the page of the search."""
    for path in (site / "api" / "cpp").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        write(path, with_own_ids(text))
    search = site / "search.html"
    text = search.read_text(encoding="utf-8")
    if "<h1>" not in text:
        write(search, text.replace('<article role="main">', '<article role="main">\n<h1>Search</h1>', 1))


def write_assets(static):
    write(static / "katex.css", katex_sheet())
    write(static / "katex.js", (KATEX / "katex.min.js").read_text(encoding="utf-8"))
    write(static / "listing-code.css", listings.sheet())
    mend_furo(static)
