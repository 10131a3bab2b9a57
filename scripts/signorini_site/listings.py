"""Files of the tree that pages link to, as pages that need no Sphinx: a text with numbered lines, or what is in a folder."""

import html
import posixpath

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.lexers.shell import BashLexer
from pygments.lexers.python import PythonLexer
from pygments.util import ClassNotFound

from .tree import listing_name, page_name

MOST_BYTES = 400_000  # longer ones are named, not shown
SHEET = "_static/listing.css"

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{up}{sheet}"><script src="{up}_static/listing.js"></script><script src="{up}_static/site.js"></script></head>
<body><nav><a href="{up}index.html">Signorini</a> {trail}</nav>
<main><h1>{title}</h1>
{body}</main></body></html>
"""


def lexer_of(name, text):
    if text.startswith("#!") and "python" in text.split("\n", 1)[0]:
        return PythonLexer()
    if text.startswith("#!"):
        return BashLexer()
    try:
        return get_lexer_for_filename({"CMakeLists.txt": "a.cmake", "CITATION.cff": "a.yaml", "Snakefile": "a.py"}.get(name, name))
    except ClassNotFound:
        return TextLexer()


def text_of(path):
    """None: no text, or too long to show."""
    if path.stat().st_size > MOST_BYTES:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


class Listings:
    def __init__(self, root, out, staged):
        self.root, self.out, self.staged = root, out, staged
        self.shown = set()

    def files_in(self, folder):
        return sorted((path for path in folder.iterdir() if not path.name.startswith((".", "__pycache__"))), key=lambda path: (path.is_file(), path.name))

    def all(self):
        """What pages link to, and the files of the folders among them."""
        found = set()
        for path in self.staged.listings:
            found.add(path)
            if (self.root / path).is_dir():
                found |= {child.relative_to(self.root).as_posix() for child in self.files_in(self.root / path) if child.is_file() and text_of(child) is not None}
        return {path for path in found if path not in self.staged.pages}

    def write(self):
        self.shown = self.all()
        for path in sorted(self.shown):
            folder = (self.root / path).is_dir()
            name = listing_name(path, folder)
            body = self.folder_body(path, name) if folder else self.file_body(path)
            up = "../" * name.count("/")
            page = PAGE.format(title=html.escape(path + ("/" if folder else "")), up=up, sheet=SHEET, trail=self.trail(path, name), body=body)
            place = self.out / f"{name}.html"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(page, encoding="utf-8")

    def address(self, here, path):
        """Of a file or folder as seen from the listing `here`; None where it has no page."""
        if path in self.staged.pages:
            name = page_name(path)
        elif path in self.shown:
            name = listing_name(path, (self.root / path).is_dir())
        else:
            return None
        return posixpath.relpath(f"{name}.html", posixpath.dirname(here))

    def trail(self, path, here):
        parts, links = path.split("/"), []
        for count, part in enumerate(parts, 1):
            target = self.address(here, "/".join(parts[:count])) if count < len(parts) else None
            links.append(f'<a href="{html.escape(target)}">{html.escape(part)}</a>' if target else html.escape(part))
        return "/ " + " / ".join(links)

    def file_body(self, path):
        text = text_of(self.root / path)
        if text is None:
            return f"<p>{html.escape(path)}: {(self.root / path).stat().st_size:,} bytes, not shown here.</p>"
        formatter = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="line")
        return highlight(text, lexer_of(path.rsplit("/", 1)[-1], text), formatter)

    def folder_body(self, path, here):
        rows = []
        for child in self.files_in(self.root / path):
            below = child.relative_to(self.root).as_posix()
            target, words = self.address(here, below), html.escape(child.name + ("/" if child.is_dir() else ""))
            size = f"{child.stat().st_size:,}" if child.is_file() else ""
            linked = f'<a href="{html.escape(target)}">{words}</a>' if target else words
            rows.append(f"<tr><td>{linked}</td><td class=size>{size}</td></tr>")
        return f"<table class=folder><tr><th>name</th><th class=size>bytes</th></tr>{''.join(rows)}</table>"


def sheet():
    """Colours of code by light and dark."""
    light, dark = HtmlFormatter(style="default"), HtmlFormatter(style="github-dark")
    return light.get_style_defs("html:not([data-theme=dark]) .highlight") + "\n" + dark.get_style_defs("html[data-theme=dark] .highlight") + "\n"
