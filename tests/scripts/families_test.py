"""Families of problems: groups of scenes, what is counted by family, and which claims files that are absent concern."""

import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(Path(__file__).resolve().parent)]

import make_results  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from signorini_report import data, families, groups, verdicts, which_solver  # noqa: E402
from signorini_report.figures import profiles  # noqa: E402
from signorini_report.strict import ReportError  # noqa: E402

GROUPS = {"soft": ["rings"], "FCLib": ["Capsules*"]}


def rows(times, statuses=None, scene="rings", tolerance=1e-6):
    """Rows of several labels, {label: seconds on the snapshots}; infinite: not solved."""
    found = []
    for label, seconds in times.items():
        for step, value in enumerate(seconds):
            solved = np.isfinite(value)
            found.append({"file": f"{scene}-quick.h5", "scene": scene, "step": str(step), "label": label, "solver": label, "tolerance": tolerance, "group": "soft",
                          "solved": int(solved), "status": "converged" if solved else (statuses or {}).get(label, "time_limit"), "contacts": 10 * (step + 1),
                          "solve_seconds": value if solved else 9.0, "total_seconds": (value if solved else 9.0) + 1.0, "problem.condition": 2.0 ** step})
    return pd.DataFrame(found)


class Groups(unittest.TestCase):
    def test_scenes_and_patterns_give_rows_their_group(self):
        runs = pd.DataFrame({"scene": ["rings", "Capsules-i97-269", "cloth"]})
        groups.add(runs, {"groups": GROUPS}, {}, "figures.toml")
        self.assertEqual(list(runs["group"]), ["soft", "FCLib", groups.OTHERS])

    def test_a_word_that_fits_nothing_is_named_with_the_nearest(self):
        runs = pd.DataFrame({"scene": ["rings"]})
        with self.assertRaisesRegex(ReportError, r"figures.toml: \[groups\] soft = .*no scene or file 'ring' \(did you mean 'rings'"):
            groups.add(runs, {"groups": {"soft": ["ring"]}}, {}, "figures.toml")
        with self.assertRaisesRegex(ReportError, "soft = 'rings': must be a list of texts"):
            groups.add(runs, {"groups": {"soft": "rings"}}, {}, "figures.toml")

    def test_what_is_wanted_but_was_not_run_is_known(self):
        runs = pd.DataFrame({"scene": ["rings"]})
        groups.add(runs, {"groups": GROUPS}, {"optional_files": ["fclib/local/Capsules-i97-269.hdf5"]}, "figures.toml")
        self.assertEqual(list(runs["group"]), ["soft"])

    def test_problems_that_a_size_leaves_out_are_known(self):
        runs = pd.DataFrame({"scene": ["even_005"]})
        wanted = {"problems": [{"name": "even_005"}, {"name": "slope_005"}]}
        groups.add(runs, {"groups": {"even": ["even_*"], "slope": ["slope_*"]}}, wanted, "figures.toml")
        self.assertEqual(list(runs["group"]), ["even"])

    def test_a_file_that_was_left_out_concerns_claims_about_its_group_only(self):
        absent = ["fclib/local/Capsules-i97-269.hdf5"]
        self.assertTrue(verdicts.concerned({}, absent, GROUPS))
        self.assertTrue(verdicts.concerned({"group": ["soft", "FCLib"]}, absent, GROUPS))
        self.assertFalse(verdicts.concerned({"group": "soft"}, absent, GROUPS))
        self.assertFalse(verdicts.concerned({"group": "FCLib"}, [], GROUPS))


class Profiles(unittest.TestCase):
    def test_heights_are_the_area_below_the_curve(self):
        table = rows({"a": [1.0, 1.0], "b": [10.0, np.inf]})
        heights = profiles.heights(profiles.factors(table, "solve_seconds"))
        self.assertAlmostEqual(heights["a"], 1.0, places=14)
        self.assertAlmostEqual(heights["b"], 0.25, places=14)  # half way to 100 on one of two snapshots

    def test_a_snapshot_that_nobody_solves_counts_for_all(self):
        ratio = profiles.factors(rows({"a": [1.0, np.inf], "b": [2.0, np.inf]}), "solve_seconds")
        self.assertEqual(ratio["a"].tolist(), [1.0, np.inf])
        self.assertEqual(ratio["b"].tolist(), [2.0, np.inf])

    def test_a_label_without_rows_on_a_snapshot_did_not_solve_it(self):
        table = rows({"a": [1.0, 1.0], "b": [2.0, 2.0]})
        ratio = profiles.factors(table[~((table["label"] == "b") & (table["step"] == "1"))], "solve_seconds")
        self.assertEqual(ratio["b"].tolist(), [2.0, np.inf])


class Tables(unittest.TestCase):
    def test_every_family_counts_its_own(self):
        table = families.families(pd.concat([rows({"a": [1.0, 1.0], "b": [4.0, np.inf]}), rows({"a": [3.0], "b": [1.0]}, scene="cloth").assign(group="cloth")]))
        found = table.set_index(["family", "label"])
        self.assertEqual(found.loc[("soft", "a"), ["problems", "solved", "fastest"]].tolist(), [2, 2, 2])
        self.assertEqual(found.loc[("soft", "b"), ["problems", "solved", "fastest"]].tolist(), [2, 1, 0])
        self.assertAlmostEqual(found.loc[("soft", "b"), "factor"], 2.5)        # (4 + 1) over (1 + 1): set-up is 1 s
        self.assertAlmostEqual(found.loc[("soft", "b"), "factor_alone"], 4.0)
        self.assertEqual(found.loc[("cloth", "b"), "fastest"], 1)
        self.assertEqual(found.loc[(profiles.ALL, "a"), ["problems", "fastest"]].tolist(), [3, 2])

    def test_failures_are_counted_by_how_they_end(self):
        table = rows({"a": [1.0, np.inf, np.inf], "b": [np.inf, 1.0, 1.0]}, {"a": "stalled", "b": "converged"})
        found = families.failures(table).set_index(["label", "end"])["runs"].to_dict()
        self.assertEqual(found, {("a", "stalled"): 2, ("b", "residual missed"): 1})

    def test_dependence_is_one_where_the_factor_grows_with_the_number(self):
        steps = 10
        table = rows({"best": [1.0] * steps, "worse": [2.0 + step for step in range(steps - 1)] + [np.inf], "better": [50.0 - step for step in range(steps)]})
        found = families.dependence(table).set_index(["label", "number"])["correlation"]
        self.assertAlmostEqual(found[("worse", "condition")], 1.0, places=12)
        self.assertAlmostEqual(found[("better", "contacts")], -1.0, places=12)
        self.assertTrue(np.isnan(found[("best", "condition")]), "it is the best everywhere")


class Joined(unittest.TestCase):
    """siconos.csv and problems.csv beside runs.csv."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.folder = Path(self.directory.name) / "invented"
        make_results.make(self.folder, steps=3)

    def siconos(self, change=lambda line: line):
        lines = (self.folder / "runs.csv").read_text().splitlines()
        (self.folder / "siconos.csv").write_text("\n".join([lines[0], change(lines[1])]) + "\n")
        (self.folder / "siconos.schema.json").write_text((self.folder / "runs.schema.json").read_text())

    def test_rows_of_siconos_are_rows_of_the_experiment(self):
        before = len(data.read_experiment(self.folder).runs)
        self.siconos(lambda line: line.replace("pgs", "siconos-nsgs"))
        runs = data.read_experiment(self.folder).runs
        self.assertEqual(len(runs), before + 1)
        self.assertEqual((runs["solver"] == "siconos-nsgs").sum(), 1)

    def test_rows_for_another_run_are_refused(self):
        step = data.read_runs(self.folder / "runs.csv")["step"].iloc[0]
        self.siconos(lambda line: line.replace(step, "999999"))
        with self.assertRaisesRegex(ReportError, "siconos.csv: has rows of .*999999.*made for another run; scripts/compare_siconos --experiment invented"):
            data.read_experiment(self.folder)

    def test_numbers_of_problems_become_columns(self):
        first = data.read_runs(self.folder / "runs.csv").iloc[0]
        (self.folder / "problems.csv").write_text(f"file,step,contacts,dofs,rank,condition\n{first['file']},{first['step']},10,60,20,1e3\n")
        runs = data.read_experiment(self.folder).runs
        told = runs[runs["problem.condition"].notna()]
        self.assertEqual(set(zip(told["file"], told["step"])), {(first["file"], first["step"])})
        self.assertEqual(set(told["problem.rows_per_rank"]), {1.5})


class Page(unittest.TestCase):
    def test_without_results_every_table_says_what_makes_it(self):
        config = {"groups": GROUPS}
        with tempfile.TemporaryDirectory() as name:
            for table in ("problems", "winners", "failures", "dependence"):
                self.assertIn("scripts/which_solver", which_solver.TABLES[table](Path(name), config))

    def test_tables_tell_the_best_of_every_family(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            table = rows({"slow": [4.0, np.inf], "fast": [1.0, 1.0]})
            families.families(table).to_csv(folder / "families.csv")
            families.failures(table).rename(columns={"group": "family"}).to_csv(folder / "failures.csv")
            lines = which_solver.winners_table(folder, {"groups": GROUPS}).splitlines()
            self.assertEqual([line.split("|")[1].strip() for line in lines[2:]], [profiles.ALL, "soft"])
            self.assertIn("fast 1, slow 2.5 (1 of 2)", lines[3])
            failed = next(line for line in which_solver.failures_table(folder, {"groups": GROUPS}).splitlines() if line.startswith("| slow"))
            self.assertIn("1 of 2: 1 out of time", failed)


if __name__ == "__main__":
    unittest.main()
