"""Numbers that are typed in a page beside words are those of the committed results that it names."""

import csv
import re
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# | `nsgs` | [exact sweeps](#nsgs) | r, with W | a sweep | 74 of 88 | 66 | 27.5 |
ROW = re.compile(r"^\| `([\w-]+)` \|(?: [^|]+ \|){3} (\d+) of (\d+) \| (\d+) \| ([\d.]+) \|$", re.M)


def counts(summary):
    """{solver: (solved to 1e-6, of, solved to 1e-9, median of iterations to 1e-6)}; of: snapshots that the solver can take."""
    found = {}
    for row in csv.DictReader(summary.open(encoding="utf-8")):
        taken = int(row["snapshots"])  # those that it refuses are not among them
        solved = round(float(row["solved_percent"]) / 100 * taken)
        found.setdefault(row["variant"], {})[float(row["tolerance"])] = (solved, taken, float(row["iterations_median"] or "nan"))
    return {solver: (at[1e-6][0], at[1e-6][1], at[1e-9][0], at[1e-6][2]) for solver, at in found.items()}


class TheoryToday(unittest.TestCase):
    def test_the_table_of_solvers_has_the_counts_of_signorini_today(self):
        expected = counts(SOURCE / "results" / "reference" / "signorini_today" / "summary.csv")
        rows = ROW.findall((SOURCE / "docs" / "theory-today.md").read_text(encoding="utf-8"))
        self.assertGreater(len(rows), 12)
        for solver, *numbers in rows:
            with self.subTest(solver):
                self.assertEqual(tuple(map(float, numbers)), expected[solver])


if __name__ == "__main__":
    unittest.main()
