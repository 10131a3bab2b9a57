"""Which files of the tree become pages, under which names, and where links between them lead."""

import os
from pathlib import Path

SKIPPED = {".git", "build", "out"}  # the last one: results/out
ALWAYS = ("docs", "lib", "README.md", "CHANGELOG.md")  # other pages are there where one of these links to them
NAMES = {"README.md": "overview", "CHANGELOG.md": "changelog", "docs/README.md": "index"}


def markdown_files(root):
    return sorted(path for path in root.rglob("*.md") if not SKIPPED & set(path.relative_to(root).parts[:-1]))


def first_pages(root):
    """Pages that are there whether or not anything links to them, by their paths below `root`."""
    files = [path.relative_to(root) for path in markdown_files(root)]
    return [path.as_posix() for path in files if path.parts[0] in ALWAYS]


def page_name(path):
    """The name of a page without .html: docs/ is the root, README is the index of its folder."""
    if path in NAMES:
        return NAMES[path]
    path = Path(path.removeprefix("docs/"))
    return (path.parent / ("index" if path.name == "README.md" else path.stem)).as_posix()


def picture_name(path):
    return path.removeprefix("docs/")


def listing_name(path, is_folder):
    """The page that shows a file, or what is in a folder."""
    return f"files/{path}/index" if is_folder else f"files/{path}"


def address(page, other, suffix=".html"):
    """Of another page, as seen from a page; both by name."""
    return os.path.relpath(f"{other}{suffix}", os.path.dirname(page) or ".")
