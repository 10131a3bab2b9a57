"""What a run of ctest did, test by test: how many, which failed, which were skipped and why.

  tests/summary.py BUILD      reads BUILD/test-results/*.xml (one file per part of a folder) and ctest's own log

ctest's entries are parts of folders with dozens of tests each; this names the single ones.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def of_googletest(folder):
    """(number of tests, names of failed ones, {name: reason} of skipped ones)"""
    number, failed, skipped = 0, [], {}
    for path in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            if case.get("status") == "notrun":
                continue
            name = f"{path.name.split('.')[0]}: {case.get('classname')}.{case.get('name')}"
            number += 1
            if case.find("failure") is not None:
                failed.append(name)
            elif (reason := case.find("skipped")) is not None:
                skipped[name] = (reason.get("message") or "no reason given").split("\n", 1)[-1].strip()
    return number, failed, skipped


def of_unittest(log):
    """The same of the Python tests, from what they printed."""
    number, failed, skipped = 0, [], {}
    for line in log.splitlines():
        if found := re.match(r"Ran (\d+) tests? in", line):
            number += int(found[1])
        elif found := re.match(r"(?:FAIL|ERROR): (\w+) \((.+)\)$", line):
            failed.append(f"scripts: {found[2].removeprefix('__main__.')}")
        elif found := re.match(r"(\w+) \((.+?)\).* skipped ['\"](.*)['\"]$", line):
            skipped[f"scripts: {found[2].removeprefix('__main__.')}"] = found[3]
    return number, failed, skipped


def main(build):
    log = build / "Testing" / "Temporary" / "LastTest.log"
    parts = [of_googletest(build / "test-results")]
    if log.is_file():
        parts.append(of_unittest(log.read_text(encoding="utf-8", errors="replace")))
    failed = [name for part in parts for name in part[1]]
    skipped = {name: reason for part in parts for name, reason in part[2].items()}
    print(f"single tests: {sum(part[0] for part in parts)} ran, {len(failed)} failed, {len(skipped)} skipped")
    for name in failed:
        print(f"  failed   {name}")
    for name, reason in skipped.items():
        print(f"  skipped  {name}: {' '.join(reason.split())}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
