"""Files that the built site takes along: KaTeX with its fonts inside, sheets of code."""

import base64
import re
from pathlib import Path

from . import listings
from .staging import write

KATEX = Path("/usr/share/javascript/katex")


def katex_sheet(folder=KATEX):
    """With the fonts as data: browsers do not load fonts from beside a page that is opened from disk."""
    text = (folder / "katex.min.css").read_text(encoding="utf-8")

    def font(match):
        woff = re.search(r"url\(([^)]+\.woff2)\)", match[0])
        data = base64.b64encode((folder / woff[1].strip("\"'")).read_bytes()).decode("ascii")
        return f"src:url(data:font/woff2;base64,{data}) format(\"woff2\")"

    return re.sub(r"src:[^;}]*", font, text)


def write_assets(folder):
    write(folder / "katex.css", katex_sheet())
    write(folder / "katex.js", (KATEX / "katex.min.js").read_text(encoding="utf-8"))
    write(folder / "listing-code.css", listings.sheet())
