"""References in comments, messages, configurations and pages resolve inside the repository; header comments stay short.

A code is a letter and a number that names a rule, a hand-computed answer or an observation (C08, T14, H3b, O13, V22). It
has an anchor <a id="c08"></a> in a page below docs/, mostly docs/theory.md. Codes count in comments and strings of
program text and anywhere in TOML and Markdown. The papers' own numbers (eq. 12, section 5.5, Algorithm 2) are no codes.
"""

import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "experiments", "tests", "scripts", "configs", "cmake", "docs")
PAGES = ("README.md", "CHANGELOG.md", "CMakeLists.txt")
CPP = {".h", ".hpp", ".cpp", ".cc"}
HASH = {".py", ".cmake", ".txt", ".sh", ""}
WHOLE = {".toml", ".md"}

# Tangents T1, T2, caches L1 … L3 and options such as -O3 have one digit; of the codes only hand answers H1 … H9 do.
CODE = re.compile(r"(?<![\w./+#-])(?:[A-Z]\d{2}|H\d)[a-z]?(?![\w\\])")
# Pages that are no part of the repository, by the names they would be called by.
OUTSIDE = re.compile(
    r"\b(?:[Ss]pec|[Ss]pecification|[Dd]igest)(?:\.md)?,?\s+(?:section\s+)?(?:[A-Z]?\d|[A-Z]-[A-Z])"
    r"|\b[Ss]pec\s+(?:identity|statement|section|table)\b"
    r"|\b(?:of|in|by|from)\s+the\s+(?:spec|specification)\b"
    r"|\b[A-Z]\d{2}\s+of\s+the\s+\w+"
    r"|(?<![\w-])E-[A-Z]{2,}\b")
PAGE = re.compile(r"(?<![\w/.<>*-])((?:[\w-]+/)*[\w-]+\.md)(?:#([\w-]+))?")
SOURCE = re.compile(r"(?<![\w/.<>*-])((?:(?:lib|tests|experiments|%s)/(?:[\w-]+/)*)?[\w-]+\.(?:h|cpp))(?!\w)"
                    % "|".join(("base", "linalg", "geometry", "bodies", "collision", "contact", "regions", "krylov", "solvers",
                                "record", "scene", "harness")))
COMMENT = re.compile(r"//[^\n]*")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')

STRINGS_AND_COMMENTS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
HASH_TEXT = re.compile(r'"""(?:.*?)"""|#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
LINE_START = re.compile(r"\n[ \t]*(?:///?<?|#|\*)?")

LONGEST_HEADER_COMMENT = 40  # lines


def talk(path, text):
    """The text with everything blanked that is neither comment nor string; every character keeps its place."""
    if path.suffix in WHOLE:
        return text
    pattern = STRINGS_AND_COMMENTS if path.suffix in CPP else HASH_TEXT
    blank = list(re.sub(r"[^\n]", " ", text))
    for match in pattern.finditer(text):
        blank[match.start():match.end()] = text[match.start():match.end()]
    return "".join(blank)


def one_line(text):
    """Sentences that go over several lines of a comment, in one line; every character keeps its place."""
    return LINE_START.sub(lambda match: " " * len(match.group()), text)


def files(root):
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*"))
                    if path.is_file() and "__pycache__" not in path.parts and path != Path(__file__).resolve())
    yield from (root / page for page in PAGES if (root / page).is_file())


def read(path):
    if path.suffix not in CPP | HASH | WHOLE:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def slug(heading):
    """The anchor that a Markdown heading gets."""
    words = re.sub(r"<[^>]*>|[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(page):
    """Anchors of a page, each as often as it is set."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return Counter(ANCHOR.findall(text)) + Counter(slug(line) for line in re.findall(r"^#+ (.+)$", prose, re.MULTILINE))


def codes(root):
    """Every code that is defined: {anchor: page}."""
    return {name: page for page in sorted((root / "docs").rglob("*.md"))
            for name in ANCHOR.findall(page.read_text(encoding="utf-8"))}


def references(root):
    """All codes in the tree: (path, line, code)."""
    for path in files(root):
        text = read(path)
        if text is None:
            continue
        said = talk(path, text)
        for match in CODE.finditer(said):
            yield path, text.count("\n", 0, match.start()) + 1, match.group()


def defects(root):
    """One line per reference that leads nowhere."""
    known = codes(root)
    found = []
    for path, line, code in references(root):
        if code.lower() not in known:
            found.append(f"{path.relative_to(root)}:{line}: {code} is explained in no page below docs/ (docs/theory.md)")
    for path in files(root):
        text = read(path)
        if text is None:
            continue
        said = one_line(talk(path, text))
        place = lambda match: f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
        found += [f"{place(match)}: '{' '.join(match.group().split())}' names a page outside the repository"
                  for match in OUTSIDE.finditer(said)]
        for match in PAGE.finditer(said):
            name, anchor = match.groups()
            page = next((folder / name for folder in (path.parent, root, root / "docs") if (folder / name).is_file()), None)
            made_up = path.is_relative_to(root / "tests") or re.search(r"[A-Z]", name.replace("README", ""))
            if page is None and path.suffix in CPP | HASH and name.startswith("docs/") and not made_up:
                found.append(f"{place(match)}: there is no page {name}")
            if page is not None and anchor and anchor not in anchors(page):
                found.append(f"{place(match)}: {name} has no anchor #{anchor}")
    return found


def missing_sources(root):
    """Files of program text that comments of program text name and that do not exist."""
    sources = [path.relative_to(root).as_posix() for path in files(root) if path.suffix in CPP]
    known = {name[begin:] for name in sources for begin in [0] + [match.end() for match in re.finditer("/", name)]}
    for path in (root / name for name in sources):
        text = read(path)
        for comment in COMMENT.finditer(text):
            for match in SOURCE.finditer(comment.group()):
                if match.group(1) not in known:
                    yield f"{path.relative_to(root)}:{text.count(chr(10), 0, comment.start()) + 1}: there is no file {match.group(1)}"


def long_comments(root):
    """Header comments of more than LONGEST_HEADER_COMMENT lines."""
    for path in sorted((root / "lib").rglob("*.h")):
        begin = length = 0
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() + [""], 1):
            if line.lstrip().startswith("//"):
                begin, length = (begin, length + 1) if length else (number, 1)
                continue
            if length > LONGEST_HEADER_COMMENT:
                yield f"{path.relative_to(root)}:{begin}: a comment of {length} lines; at most {LONGEST_HEADER_COMMENT}"
            length = 0


class Tree(unittest.TestCase):
    def test_every_reference_leads_somewhere(self):
        found = defects(ROOT)
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_files_that_comments_name_exist(self):
        found = list(missing_sources(ROOT))
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_no_anchor_is_set_twice(self):
        twice = [f"{page.relative_to(ROOT)}: #{name} is set {count} times"
                 for page in sorted((ROOT / "docs").rglob("*.md"))
                 for name, count in Counter(ANCHOR.findall(page.read_text(encoding="utf-8"))).items() if count > 1]
        everywhere = Counter(name for page in (ROOT / "docs").rglob("*.md")
                             for name in set(ANCHOR.findall(page.read_text(encoding="utf-8"))))
        twice += [f"#{name} is set in {count} pages" for name, count in everywhere.items() if count > 1]
        self.assertFalse(twice, "\n".join(twice))

    def test_codes_of_the_theory_carry_their_label(self):
        text = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
        for name, label in re.findall(r'<a id="([a-z]\d+[a-z]?)"></a>\W*(\w+)', text):
            self.assertEqual(name, label.lower())

    def test_header_comments_fit_a_screen(self):
        found = list(long_comments(ROOT))
        self.assertFalse(found, "\n" + "\n".join(found))


class Mutations(unittest.TestCase):
    """Planted defects are found where they are, and only those."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("docs/theory.md", '# Theory\n\n## Regions and islands\n\n### <a id="c08"></a>C08: a rule\n\n- <a id="h3b"></a>**H3b** an answer\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def expect(self, *starts):
        found = defects(self.root)
        self.assertEqual(len(found), len(starts), found)
        for line, start in zip(sorted(found), sorted(starts)):
            self.assertTrue(line.startswith(start), line)

    def test_known_codes_and_papers_numbers(self):
        self.write("lib/solvers/a.h", "/// C08 as in eq. 12 of section 5.5; rows N, T1, T2; docs/theory.md, C08.\nint C99 = K0;\n")
        self.write("configs/experiments/x.toml", '# H3b\nid = "C08"\n')
        self.write("docs/other.md", "[C08](theory.md#c08), [regions](theory.md#regions-and-islands), built with -O3\n")
        self.expect()

    def test_unknown_codes_by_file_and_line(self):
        self.write("lib/a.h", "int a;\n/// As corrected by C99.\n")
        self.write("lib/a.cpp", 'void f() { say("mend it (C98)"); }\n')
        self.write("scripts/tool", "#!/bin/sh\n# see T77\n")
        self.write("scripts/tool.py", '"""As in\nT78."""\nH7 = 3\n')
        self.write("configs/scenes/s.toml", "# C97\n")
        self.write("docs/page.md", "\nV96\n")
        self.expect("lib/a.h:2: C99", "lib/a.cpp:1: C98", "scripts/tool:2: T77", "scripts/tool.py:2: T78",
                    "configs/scenes/s.toml:1: C97", "docs/page.md:2: V96")

    def test_pages_outside_the_repository(self):
        self.write("lib/a.h", "/// What the loop does (spec 2.1.2), with C08 of the\n/// digest.\n")
        self.write("lib/c.h", "/// Spec identity (a): both agree.\n")
        self.write("lib/b.h", "/// See docs/nowhere.md.\n/// E-KTIME\n/// docs/theory.md#c09\n")
        self.expect("lib/c.h:1: 'Spec identity'", "lib/a.h:1: 'spec 2", "lib/a.h:1: 'C08 of the digest'", "lib/b.h:1: there is no page docs/nowhere.md",
                    "lib/b.h:2: 'E-KTIME'", "lib/b.h:3: docs/theory.md has no anchor #c09")

    def test_a_digest_may_be_a_checksum(self):
        self.write("lib/a.h", "/// The digest of 2 files; kernels specialised at compile time; common().spec() of the law.\n")
        self.expect()

    def test_files_that_do_not_exist(self):
        self.write("lib/solvers/a.h", "/// a.h, solvers/a.h; SCS test/problem_utils.h\n\n/// b.h\n/// contact/a.h\n")
        self.assertEqual(list(missing_sources(self.root)), ["lib/solvers/a.h:3: there is no file b.h",
                                                            "lib/solvers/a.h:4: there is no file contact/a.h"])

    def test_long_header_comments(self):
        self.write("lib/a.h", "/// line\n" * 40 + "int a;\n" + "  // line\n" * 41)
        self.assertEqual(list(long_comments(self.root)), ["lib/a.h:42: a comment of 41 lines; at most 40"])


if __name__ == "__main__":
    unittest.main()
