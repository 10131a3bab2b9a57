"""What Sphinx is taught: anchors as on git hosts, formulas by KaTeX, docstrings that are plain text."""

import hashlib
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from .markdown import numbered, slug


class Anchors(SphinxTransform):
    """Headings get the anchors of git hosts first, so that links of the tree lead to them."""

    default_priority = 870  # before 880, at which Sphinx takes the table of contents

    def apply(self, **kwargs):
        sections = list(self.document.findall(nodes.section))
        names = numbered([slug(section.next_node(nodes.title).astext()) for section in sections])
        for section, name in zip(sections, names):
            if name:
                section["ids"] = list(dict.fromkeys([name, *self._own(section)]))

    def _own(self, section):
        """Anchors that the page itself gives a heading, as it spells them: docutils would write a_b as a-b, and its own anchors differ from those
        of git hosts, so nothing links to them."""
        return [name for name, place in self.document.nameids.items() if place in section["ids"] and self.document.nametypes.get(name)]


def visit_math(self, node):
    self.body.append(self.starttag(node, "span", "", CLASS="formula notranslate nohighlight") + self.encode(node.astext()) + "</span>")
    raise nodes.SkipNode


def visit_display(self, node):
    self.body.append(self.starttag(node, "div", "", CLASS="formula display notranslate nohighlight") + self.encode(node.astext()) + "</div>")
    raise nodes.SkipNode


def plain_docstring(app, what, name, obj, options, lines):
    """Bars and stars of formulas are no markup; blocks of code and tables stay."""
    code = False
    for place, line in enumerate(lines):
        code = line.startswith(" ") and (code or place and lines[place - 1].strip() == "" and "::" in "".join(lines[max(0, place - 3):place])) if line.strip() else code
        if not code and not line.lstrip().startswith(("::", ":")):
            lines[place] = "".join(part if part.startswith("``") else re.sub(r"(?<!\\)([|*])", r"\\\1", part) for part in re.split(r"(``.*?``)", line))


def setup(app):
    # Sphinx keeps the pages that it has read until a value like this changes.
    app.add_config_value("signorini_site", hashlib.sha256(Path(__file__).read_bytes()).hexdigest(), "env")
    app.add_transform(Anchors)
    app.add_html_math_renderer("katex", (visit_math, None), (visit_display, None))
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)
