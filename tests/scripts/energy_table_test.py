"""scripts/energy_table: which rise counts, when something moves by a script, what is recorded, against values worked out by hand."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
_loader = importlib.machinery.SourceFileLoader("energy_table", str(SOURCE / "scripts" / "energy_table"))
_spec = importlib.util.spec_from_loader("energy_table", _loader)
energy_table = importlib.util.module_from_spec(_spec)
sys.modules["energy_table"] = energy_table
_loader.exec_module(energy_table)


def rise(energies, moved=None):
    found = energy_table.largest_rise(range(1, len(energies) + 1), energies, moved or [False] * len(energies))
    return found.joule, found.time


class Rise(unittest.TestCase):
    def test_it_is_the_largest_above_any_earlier_step(self):
        self.assertEqual(rise([5, 3, 4, 2, 3.5, 1]), (1.5, 5))
        self.assertEqual(rise([2, 3, 4]), (2, 3))  # over several steps
        self.assertEqual(rise([3, 2, 1])[0], 0)

    def test_steps_in_which_something_moves_are_left_out(self):
        self.assertEqual(rise([1, 5, 9, 9.5], [False, True, True, False]), (0.5, 4))  # above the end of the motion, not its beginning
        self.assertEqual(rise([1, 5, 9], [True] * 3)[0], 0)

    def test_the_first_step_after_a_motion_counts_from_the_end_of_the_motion(self):
        self.assertEqual(rise([1, 2, 4], [False, True, False]), (2, 3))


class Script(unittest.TestCase):
    def times(self, **keys):
        return energy_table.moving_times(keys)

    def test_only_keys_that_move_count(self):
        self.assertEqual(self.times(velocity_m_s=[0, 0, 0], spin_rad_s=0, amplitude_m=[0, 0, 0], key_time_s=[], key_angle_deg=[]), [])
        self.assertEqual(self.times(amplitude_m=[0, 0, 0.1], frequency_hz=0), [])
        self.assertEqual(self.times(velocity_m_s=[1, 0, 0], start_s=0.5, stop_s=2.0), [(0.5, 2.0)])
        self.assertEqual(self.times(spin_rad_s=-3.0, start_s=0.0, stop_s=1e30), [(0.0, 1e30)])
        self.assertEqual(self.times(key_time_s=[0, 2, 5, 6], key_displacement_m=[[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0]]), [(2, 5)])
        self.assertEqual(self.times(key_time_s=[0, 1], key_angle_deg=[0, 12]), [(0, 1)])

    def test_pins_and_obstacles_count(self):
        scene = {"obstacles": {"wall": {"spin_rad_s": 1.0, "start_s": 0.0, "stop_s": 1.0}}, "pins": {"end": {"key_time_s": [2, 3], "key_angle_deg": [0, 9]}}}
        self.assertEqual(energy_table.script_of(scene), [(0.0, 1.0), (2, 3)])

    def test_a_step_that_ends_where_a_motion_begins_is_at_rest(self):
        script = [(0.15, 0.45)]
        self.assertFalse(energy_table.moves(0.12, 5 * 0.03, script))
        self.assertTrue(energy_table.moves(5 * 0.03, 0.18, script))
        self.assertFalse(energy_table.moves(15 * 0.03, 0.48, script))


class Table(unittest.TestCase):
    def test_a_row_says_what_was_turned_over_and_what_walls_may_have_done(self):
        table = {"time": [1, 2, 3, 4], "kinetic_energy": [4, 1, 0, 0], "elastic_energy": [0, 1, 3, 2], "potential_energy": [1, 1, 1, 1],
                 "total_energy": [5, 3, 4, 3]}
        self.assertEqual(energy_table.row("a", [], 1.0, table)[3:], ["4", "0 %", "1", "0.25", "3", "–"])
        self.assertEqual(energy_table.row("a", [(2.0, 3.0)], 1.0, table)[3:], ["4", "25 %", "0", "0", "–", "1"])
        self.assertEqual(energy_table.row("a", [(0.0, 9.0)], 1.0, table)[3:], ["4", "100 %", "–", "–", "–", "1"])

    @unittest.skipUnless(PROGRAM, "needs the program: SIGNORINI_PROGRAM")
    def test_a_divided_step_takes_more_steps_to_the_same_time_and_is_recorded_once(self):
        with tempfile.TemporaryDirectory() as folder:
            def table():
                out = io.StringIO()
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(energy_table.main([folder, "springtoy", "--divide", "1,2", "--program", PROGRAM]), 0)
                return out.getvalue()
            first = table()
            full, half = (energy_table.statistics(Path(folder) / f"springtoy-quick-{part}.steps.csv")["time"] for part in (1, 2))
            self.assertEqual(2 * len(full), len(half))
            self.assertAlmostEqual(full[-1], half[-1], places=12)  # sums of 20 and 40 equal numbers
            written = (Path(folder) / "springtoy-quick-2.h5").stat().st_mtime_ns
            self.assertEqual(table(), first)
            self.assertEqual((Path(folder) / "springtoy-quick-2.h5").stat().st_mtime_ns, written)


if __name__ == "__main__":
    unittest.main()
