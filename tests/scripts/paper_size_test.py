"""scripts/paper_size: which stop counts, what a step is, how memory is measured."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import pandas as pd

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
_loader = importlib.machinery.SourceFileLoader("paper_size", str(SOURCE / "scripts" / "paper_size"))
paper_size = importlib.util.module_from_spec(importlib.util.spec_from_loader("paper_size", _loader))
_loader.exec_module(paper_size)

CONFIG = {"solvers": [{"name": "cr-full", "label": "CR (Full)"}],
          "methods": {"tables": [{"target": 1e-4}],
                      "paper": {"rings_first20": {"CR (Full)": {"resolution": [0.52, 0.44], "iterations": [97, 76], "constraints": [2280, 2466]}}}}}


def runs(*rows):
    """step, tolerance, residual, iterations, seconds"""
    frame = pd.DataFrame(rows, columns=["step", "tolerance", "residual", "iterations", "solve_seconds"])
    return frame.assign(file="rings_first20-paper.h5", scene="rings_first20", label="CR (Full)", setup_seconds=0.0, contacts=30, dofs=3456)


class PaperSize(unittest.TestCase):
    def test_the_first_stop_that_is_accurate_counts(self):
        table = runs(("1", 1e-4, 2e-4, 10, 1.0), ("1", 1e-6, 1e-6, 25, 2.0), ("2", 1e-4, 5e-5, 12, 1.0), ("2", 1e-6, 1e-6, 30, 3.0))
        counted = paper_size.counted(table, 1e-4)
        self.assertEqual(list(counted["iterations"]), [25, 12])
        self.assertEqual(list(counted["reached"]), [1, 1])

    def test_where_no_stop_is_accurate_the_strictest_counts_as_not_solved(self):
        counted = paper_size.counted(runs(("1", 1e-6, 3e-3, 40, 2.0), ("1", 1e-4, 1e-2, 10, 1.0)), 1e-4)
        self.assertEqual((list(counted["iterations"]), list(counted["reached"])), ([40], [0]))

    def test_a_missing_residual_is_not_accurate(self):
        counted = paper_size.counted(runs(("1", 1e-4, float("nan"), 40, 2.0)), 1e-4)
        self.assertEqual(list(counted["reached"]), [0])

    def test_a_step_is_all_its_linearisations(self):
        table = runs(("000010", 1e-4, 1e-5, 10, 1.0), ("000010.2", 1e-4, 1e-5, 20, 2.0), ("000011", 1e-4, 1e-2, 3, 0.5))
        peaks = pd.DataFrame([["rings_first20", "CR (Full)", "000010", 50e6]], columns=paper_size.COLUMNS)
        (line,) = paper_size.rows_of(CONFIG, table, peaks, {"rings_first20": {"000010": 17, "000011": 20}})
        self.assertEqual(line, ["rings", "CR (Full)", "2", "2 of 3", "3,456", "30", "18", "760", "1.75 s (1.75 s)", "0.52 (0.44) s", "16 (16)", "97 (76)",
                                "50 MB", "380 MB"])

    def test_pressed_contacts_are_those_with_an_impulse(self):
        table = runs(("000010", 1e-4, 1e-5, 10, 1.0), ("000010.2", 1e-4, 1e-5, 20, 2.0), ("000011", 1e-4, 1e-2, 3, 0.5))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.h5"
            with h5py.File(path, "w") as file:
                for step, normal in (("000010", [1, 0, 2]), ("000010.2", [1, 3, 2]), ("000011", [0, 0, 0])):
                    file[f"steps/{step}/impulse"] = [x for n in normal for x in (n, 0.1, 0.0)]
            self.assertEqual(paper_size.pressed(path, table), {"000010": 3, "000011": 0})
            with h5py.File(path, "a") as file:
                del file["steps/000011/impulse"]
            self.assertEqual(paper_size.pressed(path, table), {})
            self.assertEqual(paper_size.pressed(Path(folder) / "gone.h5", table), {})

    def test_results_of_an_earlier_program_are_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "runs.csv").write_text("x\n1\n")
            with self.assertRaisesRegex(SystemExit, "runs.schema.json: made by an earlier program"):
                paper_size.read(Path(folder))

    def test_memory_is_that_of_the_command_and_not_of_this_process(self):
        ballast = bytearray(200_000_000)
        small = paper_size.peak_of(["/bin/true"])
        large = paper_size.peak_of([sys.executable, "-I", "-S", "-c", "x = bytearray(150_000_000)"])
        self.assertEqual(len(ballast), 200_000_000)
        self.assertLess(small, 60e6)
        self.assertGreater(large, 150e6)

    def test_a_command_that_fails_is_one_line(self):
        with self.assertRaises(SystemExit) as failure:
            paper_size.peak_of(["/bin/sh", "-c", "echo no such step >&2; exit 3"])
        self.assertEqual(str(failure.exception), "paper_size: /bin/sh -c echo no such step >&2; exit 3: no such step")


if __name__ == "__main__":
    unittest.main()
