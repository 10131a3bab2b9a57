"""tests/summary.py names every single test that failed or was skipped, of GoogleTest's files and of what unittest prints."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
GOOGLETEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4"><testsuite name="Cone">
<testcase name="Projects" status="run" result="completed" classname="Cone" />
<testcase name="Fails" status="run" result="completed" classname="Cone"><failure message="Expected"/></testcase>
<testcase name="Skips" status="run" result="skipped" classname="Cone"><skipped message="cone_test.cpp:7&#x0A;no data in /nowhere"/></testcase>
<testcase name="OfAnotherPart" status="notrun" result="suppressed" classname="Cone" />
</testsuite></testsuites>"""
UNITTEST = """test_good (__main__.Report.test_good) ... ok
test_bad (__main__.Report.test_bad) ... FAIL
test_away (__main__.Report.test_away) ... skipped 'VTK is not installed'
======================================================================
FAIL: test_bad (__main__.Report.test_bad)
Ran 3 tests in 0.5s
"""


class Summary(unittest.TestCase):
    def test_names_what_failed_and_what_was_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            build = Path(folder)
            (build / "test-results").mkdir()
            (build / "test-results" / "contact.1of1.xml").write_text(GOOGLETEST)
            (build / "Testing" / "Temporary").mkdir(parents=True)
            (build / "Testing" / "Temporary" / "LastTest.log").write_text(UNITTEST)
            ran = subprocess.run([sys.executable, "-B", SOURCE / "tests" / "summary.py", build], capture_output=True, text=True, timeout=60)
        self.assertEqual(ran.stderr, "")
        self.assertEqual(ran.stdout.splitlines(), [
            "single tests: 6 ran, 2 failed, 2 skipped",
            "  failed   contact: Cone.Fails",
            "  failed   scripts: Report.test_bad",
            "  skipped  contact: Cone.Skips: no data in /nowhere",
            "  skipped  scripts: Report.test_away: VTK is not installed"])


if __name__ == "__main__":
    unittest.main()
