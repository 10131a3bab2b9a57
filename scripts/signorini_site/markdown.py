"""What a page in Markdown links to and what can be linked to in it, by the rules of git hosts."""

import html
import re

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*\]\(\s*<?([^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
INNER = re.compile(r"!\[[^\[\]]*\]\(\s*<?([^()\s>]+)")  # a picture, also inside the words of a link
DEFINED = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)", re.M)
ELEMENT = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=[\"']([^\"']+)", re.I)
HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$", re.M)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)  # https:, mailto:


def prose(text):
    """Without blocks and spans of code."""
    return CODE_SPAN.sub("", FENCE.sub("", text))


def masked(text):
    """As `prose`, but what is taken out becomes as many blanks: positions are those of the text."""
    blanks = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    return CODE_SPAN.sub(blanks, FENCE.sub(blanks, text))


def targets(text):
    """All that a page links to, in the order of the page, each once."""
    text = prose(text)
    found = sorted((match.start(1), match[1]) for pattern in (LINK, INNER, DEFINED, ELEMENT) for match in pattern.finditer(text) if match[1])
    return list(dict.fromkeys(target for _, target in found))


def with_targets(text, replaced):
    """The text with every target changed by replaced(target, is_picture). Links in code stay as they are."""
    seen, spans = masked(text), {}
    for pattern in (LINK, INNER, DEFINED, ELEMENT):
        for match in pattern.finditer(seen):
            if match[1]:
                spans[match.span(1)] = pattern is INNER or (pattern is LINK and seen[match.start() - 1:match.start()] == "!") or \
                    (pattern is ELEMENT and not match[0].lower().startswith("<a"))
    # a link around a picture: LINK has the outer target, INNER the picture's
    for begin, end in sorted(spans, reverse=True):
        text = text[:begin] + replaced(text[begin:end], spans[begin, end]) + text[end:]
    return text


def slug(heading):
    """The anchor that git hosts give a heading."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", html.unescape(re.sub(r"<[^>]+>", "", heading)))
    words = re.sub(r"\*+|(?<!\w)_|_(?!\w)|`", "", words).strip().lower()
    return "".join(c if c.isalnum() or c in "-_" else "-" if c == " " else "" for c in words)


def numbered(names):
    """The second heading of a name is name-1, the third name-2."""
    counts, found = {}, []
    for name in names:
        found.append(name if name not in counts else f"{name}-{counts[name]}")
        counts[name] = counts.get(name, 0) + 1
    return found


def headings(text):
    """(level, words) of every heading."""
    return [(len(match[1]), match[2]) for match in HEADING.finditer(FENCE.sub("", text))]


def anchors(text):
    """All that can stand behind the # of a link to the page."""
    return set(re.findall(r"<[^>]+\b(?:id|name)=[\"']([^\"']+)", text)) | set(numbered(slug(words) for _, words in headings(text)))
