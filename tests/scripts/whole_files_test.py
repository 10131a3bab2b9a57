"""What Python scripts write is the old or the new file where writing fails: scripts/signorini_report/whole_files.py, figures, tables of datasets."""

import errno
import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
from signorini_dataset import tables as dataset_tables  # noqa: E402
from signorini_report import figures, whole_files  # noqa: E402

FULL = OSError(errno.ENOSPC, "No space left on device")  # as write(2) fails: without the name of a file


def half_written(path, text, **_):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:3])
    raise FULL


class WholeFiles(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def files(self):
        return {path.name: path.read_text(encoding="utf-8") for path in self.folder.iterdir()}

    def test_a_failing_write_leaves_the_old_file_and_names_it(self):
        path = self.folder / "claims.json"
        path.write_text("old", encoding="utf-8")
        for write in (whole_files.write_text, dataset_tables.write_text):
            with mock.patch.object(Path, "write_text", half_written), self.assertRaises(OSError) as caught:
                write(path, "the new one")
            self.assertEqual((caught.exception.filename, caught.exception.strerror), (str(path), FULL.strerror))
            self.assertEqual(self.files(), {"claims.json": "old"})
        whole_files.write_text(path, "new")
        self.assertEqual(self.files(), {"claims.json": "new"})

    def test_pictures_stay_where_drawing_fails_and_go_where_it_has_none(self):
        def draw(_, folder):
            (folder / "one.svg").write_text("new", encoding="utf-8")
            if self.full:
                raise FULL

        known = {name: figures.Figure(name, draw if name == "one" else lambda *_: False, name, 0) for name in ("one", "two")}
        for name in known:
            (self.folder / f"{name}.svg").write_text("old", encoding="utf-8")
        with mock.patch.object(figures, "known", lambda: known):
            self.full = True
            with self.assertRaises(OSError):
                figures.draw_all(SimpleNamespace(config={}), self.folder)
            self.assertEqual(self.files(), {"one.svg": "old", "two.svg": "old"})
            self.full = False
            figures.draw_all(SimpleNamespace(config={}), self.folder)
            self.assertEqual(self.files(), {"one.svg": "new"})
            known["two"] = figures.Figure("two", lambda *_: os.kill(os.getpid(), signal.SIGKILL), "two", 0)
            with self.assertRaisesRegex(RuntimeError, "was killed"):
                figures.draw_all(SimpleNamespace(config={}), self.folder)
            self.assertEqual(self.files(), {"one.svg": "new"})


if __name__ == "__main__":
    unittest.main()
