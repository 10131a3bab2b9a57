"""Configuration of Sphinx for scripts/docs; it is read where it is, the pages are in the folder that main.py stages."""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT / "lib" / "python")]

from signorini_site import sphinx_parts  # noqa: E402

project = "Signorini"
author = "The Signorini authors"
copyright = author  # noqa: A001
version = release = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)[1].strip()

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
root_doc = "index"
language = "en"
highlight_language = "text"

# Links are those of the finished site (staging.py), checked by check.py.
myst_all_links_external = True
myst_enable_extensions = []
# A page of the tree may skip a level of headings; a block may be a part of a file, which no lexer knows.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

breathe_projects = {"signorini": os.environ["SIGNORINI_SITE_XML"]}
breathe_default_project = "signorini"
breathe_default_members = ("members",)
breathe_show_include = False

autodoc_mock_imports = ["signorini._core"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"Signorini {version}"
html_static_path = [str(HERE / "static")]  # KaTeX and the colours of listings come after the build (assets.py)
html_css_files = ["site.css", "katex.css"]
html_js_files = ["katex.js", "formulas.js", "site.js"]
html_math_renderer = "katex"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses for files
html_theme_options = {"navigation_with_keys": False}
html_domain_indices = False
pygments_style = "default"
pygments_dark_style = "github-dark"


def setup(app):
    sphinx_parts.setup(app)
