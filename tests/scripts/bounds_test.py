"""When a bound was set is what the history of its files says: words, reasons and the move to a folder change nothing, numbers do."""

import datetime
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

from signorini_report import bounds, definition, verdicts  # noqa: E402

OLD = """artefact = "Fig. 1"
claim = "c"
[[expect]]
id = "kept"
claim = "kept all along"
kind = "ratio"
column = "iterations"
numerator = { label = "A" }
denominator = { label = "B" }
where = { solver.name = "x", threads = 1 }
size = "medium"
min = {MIN}
[[expect]]
id = "moved"
claim = "bound moved later"
kind = "quantity"
column = "iterations"
max = 5
"""
RUN = 'artefact = "Fig. 1"\n'
CLAIMS = """[defaults]
bound = "ours"
why = "w"
[[claims]]
id = "kept"
text = "other words"
ratio = "iterations"
of = "A"
to = "B"
where = { "solver.name" = "x", threads = [1] }
sizes = ["medium"]
min = {MIN}
because = "r"
[[claims]]
id = "moved"
text = "t"
quantity = "iterations"
max = {MAX}
[[claims]]
grid = { scene = ["rings"] }
id = "of_{scene}"
text = "t"
quantity = "iterations"
where = { scene = "{scene}" }
paper = "{scene}.iterations"
within = [0.5, 2.0]
"""


class Bounds(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.experiments = self.root / "configs" / "experiments"
        self.folder = self.experiments / "paper" / "fig1"
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        return subprocess.run(["git", "-C", str(self.root), "-c", "user.name=t", "-c", "user.email=t@example.org", *words], capture_output=True, text=True,
                              check=True).stdout.strip()

    def commit(self, **files):
        for name, text in files.items():
            path = {"old": self.experiments / "paper_fig1.toml", "reasons": self.folder.parent / "reasons.toml"}.get(name, self.folder / f"{name}.toml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "c")
        return self.git("rev-parse", "HEAD")[:12]

    def folder_form(self, minimum="1.5", maximum="5", iterations=100, reason="slow"):
        return {"run": RUN, "claims": CLAIMS.replace("{MIN}", minimum).replace("{MAX}", maximum), "paper": f"[rings]\niterations = {iterations}\n",
                "reasons": f'r = "{reason}"\n'}

    def found(self):
        return bounds.commits(definition.read_definition(self.folder))

    def test_the_history_is_followed_into_the_old_form(self):
        self.commit(old=OLD.replace("{MIN}", "1.0"))
        first = self.commit(old=OLD.replace("{MIN}", "1.5"))
        self.commit(old=OLD.replace("{MIN}", "1.5").replace("kept all along", "said better"))
        moved = self.commit(old=None, **self.folder_form())
        self.commit(**self.folder_form(reason="because of the scene"))
        self.assertEqual(self.found()["kept"], first)
        self.assertEqual(self.found()["of_rings"], moved)
        later = self.commit(**self.folder_form(maximum="6"))
        self.assertEqual((self.found()["kept"], self.found()["moved"]), (first, later))
        paper = self.commit(**self.folder_form(maximum="6", iterations=120))
        self.assertEqual(self.found(), {"kept": first, "moved": later, "of_rings": paper}, "a number of the paper is part of the bound")

    def test_what_is_not_committed_has_no_commit(self):
        first = self.commit(**self.folder_form())
        (self.folder / "claims.toml").write_text(CLAIMS.replace("{MIN}", "1.6").replace("{MAX}", "5"), encoding="utf-8")
        self.assertEqual((self.found()["kept"], self.found()["moved"]), ("", first))

    def test_a_revision_that_cannot_be_read_ends_the_history(self):
        self.commit(**self.folder_form())
        self.commit(claims="says = ")
        again = self.commit(**self.folder_form())
        self.assertEqual(self.found()["kept"], again)

    def test_a_reason_that_was_not_written_yet_does_not_end_it(self):
        first = self.commit(**self.folder_form())
        self.commit(**self.folder_form() | {"claims": self.folder_form()["claims"].replace('because = "r"', 'because = "nowhere"')})
        self.commit(**self.folder_form())
        self.assertEqual(self.found()["kept"], first)

    def test_verdicts_say_whether_the_bound_came_before_the_program(self):
        first = self.commit(**self.folder_form())
        later = self.commit(**self.folder_form(maximum="6"))
        read = definition.read_definition(self.folder)
        for result, order in ((first, {"kept": True, "moved": False}), (f"{later}-dirty", {"kept": True, "moved": True}), ("0123456789ab", {"kept": None, "moved": None}),
                              (None, {"kept": None, "moved": None})):
            found = bounds.stamped([verdicts.evaluate(None, {"id": name}) for name in order], read, result)
            self.assertEqual({one.id: one.bound_first for one in found}, order, result)
            self.assertEqual([one.bound_set for one in found], [first, later])
        made = int(self.git("show", "-s", "--format=%ct", later))
        for seconds, before in ((0, True), (-1, False)):
            started = datetime.datetime.fromtimestamp(made + seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            found = bounds.stamped([verdicts.evaluate(None, {"id": "moved"})], read, first, started)
            self.assertEqual(found[0].bound_first, before, "an older program that began after the bound was committed")

    def test_outside_git_nothing_is_known(self):
        self.commit(**self.folder_form())
        (self.root / ".git").rename(self.root / "gone")
        self.assertEqual(self.found(), {})


if __name__ == "__main__":
    unittest.main()
