"""The comment at the head of a C++ header, which is plain text, as Markdown; and headers as doxygen reads them.

In the plain text lines that are set in by two blanks or more are formulas or tables and keep their form; "- " begins an entry of a list,
whose further lines are set in; `x` is code.
"""

import itertools
import re

COMMENT = re.compile(r"^[ \t]*///(?!/)(<?) ?(.*)$")
CODE = re.compile(r"(`[^`]+`)")


def lines_of(source):
    """(lines before, lines of the head comment without ///, lines after): the first comment that speaks of the whole file."""
    lines = source.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("///")), None)
    if first is None:
        return lines, [], []
    last = first
    while last < len(lines) and lines[last].startswith("///"):
        last += 1
    follows = next((line for line in lines[last:] if line.strip()), "")
    if not follows.startswith(("namespace ", "#")):
        return lines, [], []
    return lines[:first], [COMMENT.match(line)[2] for line in lines[first:last]], lines[last:]


def blocks(lines):
    """("text" | "list" | "form", lines) of plain text."""
    found, kind = [], None
    for line in lines:
        inset = len(line) - len(line.lstrip())
        if not line.strip():
            if kind == "form":
                found[-1][1].append("")
            else:
                kind = None
        elif line.lstrip().startswith("- ") and inset < 2:
            found.append(("list", [line.strip()]))
            kind = "list"
        elif kind == "list" and inset >= 2:
            found[-1][1].append(line.strip())
        elif inset >= 2:
            if kind != "form":
                found.append(("form", []))
            found[-1][1].append(line)
            kind = "form"
        else:
            if kind != "text":
                found.append(("text", []))
            found[-1][1].append(line.strip())
            kind = "text"
    return [(kind, _trimmed(body) if kind == "form" else body) for kind, body in found]


def _trimmed(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    inset = min(len(line) - len(line.lstrip()) for line in lines if line)
    return [line[inset:] for line in lines]


def _outside_code(text, change):
    return "".join(part if part.startswith("`") and len(part) > 1 else change(part) for part in CODE.split(text))


def markdown(lines, linked=lambda text: text):
    """`linked` is given the words between pieces of code, and the code, after they were made safe."""
    def words(text):
        text = _outside_code(text, lambda part: re.sub(r"([\\*_<\[\]#|$])", r"\\\1", re.sub(r"\*\*(.+?)\*\*", r"\1", part)))
        return linked(text)

    parts = []
    for kind, body in blocks(lines):
        if kind == "form":
            parts.append("```text\n" + "\n".join(body) + "\n```")
        else:
            parts.append(words("\n".join(body) if kind == "text" else "- " + "\n  ".join(body)[2:]))
    return "\n\n".join(parts) + "\n"


def first_sentence(lines):
    """Of a comment; the whole first paragraph where it has no full stop."""
    text = next((" ".join(body) for kind, body in blocks(lines) if kind == "text"), "")
    return re.split(r"(?<=\.) (?=[A-Z`])", text)[0].rstrip(":")


def summary(source):
    """The first sentence of the head comment; of the first comment that there is, where a header has none."""
    _, head, rest = lines_of(source)
    first = next((i for i, line in enumerate(rest or source.splitlines()) if COMMENT.match(line)), 0)
    declared = (rest or source.splitlines())[first:]
    comment = [COMMENT.match(line)[2] for line in itertools.takewhile(COMMENT.match, declared)]
    return first_sentence(head or comment)


# --- for doxygen --------------------------------------------------------------------------------------------

HIDDEN = re.compile(r"^\s*(virtual )?~\w+\(\).*;$|^\s*(?:explicit )?(\w+)\(\2(?:&&|\s*const&|const \2&)?\s*\w*\)[^;{]*;$|^\s*\w+& operator=\((?:const )?\w+&&?\s*\w*\)[^;]*;$|"
                    r"^\s*(struct|class) Impl;$")
NAMESPACE = re.compile(r"^(namespace signorini(::\w+)? \{|\}  // namespace signorini(::\w+)?)$")


def namespace_of(source):
    """signorini, or the one within it that the header opens."""
    return re.search(r"^namespace ([\w:]+) \{$", source, re.M)[1]


def for_doxygen(source):
    """The header with comments that doxygen prints as they read: no commands, no emphasis, forms kept. Left out: the head comment and the
    namespace, which the page tells; moves, copies and destructors. Of signorini::plugin its own name stays, since it has a Solver too."""
    source = re.sub(r"^(namespace |\}  // namespace )signorini::plugin", r"\1plugin", source, flags=re.M)
    before, head, after = lines_of(source)
    lines = before + after if head else before
    out, comment = [], []
    for line in [*lines, ""]:
        match = COMMENT.match(line)
        if match and not match[1]:
            comment.append(match[2])
            continue
        if HIDDEN.match(line) or NAMESPACE.match(line):
            comment = []
            continue
        out += ["/// " + text for text in _doxygen(comment)]
        comment = []
        out.append(re.sub(r"///< ?(.*)$", lambda found: "///< " + _safe(found[1]), line))
    return "\n".join(out) + "\n"


def _doxygen(lines):
    out = []
    for kind, body in blocks(lines):
        out += [""] if out else []
        out += ["\\verbatim", *body, "\\endverbatim"] if kind == "form" else [_safe(line) for line in body]
    return out


def _safe(text):
    """Backquoted code as <tt>, everything that doxygen would take for a command escaped."""
    def quiet(part):
        return re.sub(r"([\\@&$#<>%])", r"\\\1", part)

    return "".join(f"<tt>{quiet(part[1:-1])}</tt>" if part.startswith("`") and len(part) > 1 else quiet(part) for part in CODE.split(text))
