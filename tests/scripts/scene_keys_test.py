"""docs/scenes.md names every key that a scene file can have."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("scene_config.h", "scene_bodies.h", "probe_config.h", "facts.h")


class SceneKeys(unittest.TestCase):
    def test_every_key_is_documented(self):
        page = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
        source = "".join((ROOT / "lib" / "scene" / name).read_text(encoding="utf-8") for name in HEADERS)
        keys = set(re.findall(r'\bv\("(\w+)",', source))
        self.assertGreater(len(keys), 80)
        missing = sorted(key for key in keys if f"`{key}`" not in page)
        self.assertEqual(missing, [])

    def test_no_key_is_documented_that_does_not_exist(self):
        page = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
        source = "".join((ROOT / "lib" / "scene" / name).read_text(encoding="utf-8") for name in HEADERS)
        keys = set(re.findall(r'\bv\("(\w+)",', source))
        rows = set(re.findall(r"^\| `(\w+)` \|", page[page.index("# All keys"):], re.MULTILINE))
        self.assertEqual(sorted(rows - keys), [])


if __name__ == "__main__":
    unittest.main()
