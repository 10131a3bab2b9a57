"""docs/scenes.md names every key that a scene file can have."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class SceneKeys(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
        headers = sorted((ROOT / "lib" / "scene").rglob("*.h"))
        self.keys = {key for header in headers for key in re.findall(r'\bv\("(\w+)",', header.read_text(encoding="utf-8"))}

    def test_every_key_is_documented(self):
        self.assertGreater(len(self.keys), 80)
        missing = sorted(key for key in self.keys if f"`{key}`" not in self.page)
        self.assertEqual(missing, [])

    def test_no_key_is_documented_that_does_not_exist(self):
        rows = set(re.findall(r"^\| (?:\| )?`(\w+)` \|", self.page[self.page.index("# All keys"):], re.MULTILINE))
        self.assertGreater(len(rows), 80)
        files = {file + suffix for file in ("mesh", "surface") for suffix in ("", "_xxh3", "_scale")}
        self.assertEqual(sorted(rows - self.keys - files), [])


if __name__ == "__main__":
    unittest.main()
