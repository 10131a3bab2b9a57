"""scripts/report --runs: tables, profile and page of any table of runs, of several apart, and one clear line for a damaged one."""

import contextlib
import io
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(SOURCE / "tests" / "scripts")]

import make_results  # noqa: E402
from signorini_report import data, main, run_tables, runs_page  # noqa: E402


def report(*words):
    """(exit code, stdout, stderr)"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main.main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


class ReportOfRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="signorini_runs_"))
        cls.made = make_results.make(cls.folder / "made", steps=6, laws=("cone",))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def place(self, name):
        """A copy of runs.csv alone, under another name."""
        for suffix in (".csv", ".schema.json"):
            shutil.copy(self.made / f"runs{suffix}", self.folder / f"{name}{suffix}")
        return self.folder / f"{name}.csv"

    def test_a_table_with_curves_becomes_tables_profile_and_page(self):
        out = self.folder / "page"
        code, told, err = report("--runs", self.made / "runs.csv", "-o", out)
        self.assertEqual(code, 0, err)
        self.assertIn(str(out / "index.html"), told)
        for name in ("index.html", "solvers.md", "summary.csv", "summary.md", "profile.svg", "convergence_iterations_cone.svg"):
            self.assertTrue((out / name).is_file(), name)
        page = (out / "index.html").read_text()
        self.assertIn("Invented data", page)
        self.assertIn("0123abc", page)  # provenance
        self.assertNotIn("Claims", page)
        self.assertNotIn("report.html", page)

    def test_the_solver_table_counts_as_its_rows_do(self):
        experiment = run_tables.read_tables([self.made / "runs.csv"], self.folder)
        rows = runs_page.solver_rows(experiment)
        alone = {key["variant"]: rest for key, *rest in rows if (key["region_mode"], key["threads"]) == ("none", 1)}
        self.assertEqual(alone["pgs"][:2], [6, 6])
        self.assertEqual(alone["pcg fr"][:2], [6, 5])  # one of six is made to fail
        self.assertEqual(alone["pcg fr"][-1], "1 iteration_limit")
        self.assertEqual(sum(fastest for _, _, _, fastest, *_ in rows), 6)
        self.assertTrue(all(ratio >= 1.0 for *_, ratio, _ in rows))
        self.assertEqual([row[2] for row in rows], sorted((row[2] for row in rows), reverse=True))

    def test_siconos_beside_ours_is_compared_by_own_stops(self):
        folder = self.folder / "joined"
        shutil.copytree(self.made, folder)
        lines = (folder / "runs.csv").read_text().splitlines()
        own = [line for line in lines[1:] if ",pgs," in line and ",self-stopped," in line]
        self.assertTrue(own)
        (folder / "siconos.csv").write_text("\n".join([lines[0], *(line.replace(",pgs,", ",siconos-nsgs,") for line in own)]) + "\n")
        shutil.copy(folder / "runs.schema.json", folder / "siconos.schema.json")
        experiment = run_tables.read_tables([folder / "runs.csv"], folder)
        self.assertEqual(set(data.measured(experiment)["solver"]) & {"pgs", "siconos-nsgs"}, {"pgs", "siconos-nsgs"})
        self.assertEqual(data.protocols_to_compare(experiment.runs)[0], "self-stopped")
        self.assertEqual(data.protocols_to_compare(run_tables.read_tables([self.made / "runs.csv"], folder).runs)[0], "time")
        (folder / "siconos.csv").write_text((folder / "siconos.csv").read_text().replace(experiment.runs["step"].iloc[0], "999999"))
        code, _, err = report("--runs", folder / "runs.csv", "-o", folder)
        self.assertEqual(code, 3)
        self.assertIn(f"scripts/compare_siconos {folder} makes it again", err)

    def test_equal_rows_of_two_tables_stay_two_and_carry_their_names(self):
        code, _, err = report("--runs", self.place("before"), "--runs", self.place("after"), "-o", self.folder / "both")
        self.assertEqual(code, 0, err)
        table = (self.folder / "both" / "solvers.md").read_text()
        for name in ("pgs (before)", "pgs (after)"):
            self.assertIn(name, table)
        experiment = run_tables.read_tables([self.place("before"), self.made / "runs.csv"], self.folder)
        one = run_tables.read_tables([self.made / "runs.csv"], self.folder)
        self.assertEqual(len(experiment.runs), 2 * len(one.runs))
        self.assertEqual({trace.variant.split("(")[1] for trace in experiment.traces}, {"made)"})
        self.assertEqual(experiment.runs["start_residual"].notna().sum(), one.runs["start_residual"].notna().sum())

    def test_tables_of_other_protocols_and_tolerances_stand_beside_each_other(self):
        table = self.place("loose")
        table.write_text(table.read_text().replace(",1e-06,", ",0.0001,").replace(",time,", ",self-stopped,"))
        experiment = run_tables.read_tables([table, self.made / "runs.csv"], self.folder)
        header, body = runs_page.solver_table(experiment)
        place = header.index("tolerance")
        self.assertEqual({(row[0].split("(")[1], row[place]) for row in body}, {("loose)", "1e-04"), ("made)", "1e-06")})

    def test_names_are_as_long_as_they_must_be(self):
        names = run_tables.names_of([Path("/x/a/runs.csv"), Path("/x/b/runs.csv"), Path("/y/a/runs.csv")])
        self.assertEqual(names, ["x/a", "x/b", "y/a"])
        self.assertEqual(run_tables.names_of([Path("/x/one.csv"), Path("/x/two.csv")]), ["one", "two"])

    def test_damaged_tables_give_one_line(self):
        table = self.place("hostile")
        header = table.read_text().split("\n")[0]
        for content, words in ((b"", "empty"), (b"\xff\xfe\x00", "no table of runs"), ((header + "\n").encode(), "holds no rows"), (b"a,b\n1,2\n", "lacks columns")):
            table.write_bytes(content)
            code, _, err = report("--runs", table, "-o", self.folder / "hostile")
            self.assertEqual(code, 3, err)
            self.assertIn("hostile.csv", err)
            self.assertIn(words, err)
            self.assertEqual(err.count("\n"), 1, err)
        self.assertFalse((self.folder / "hostile").exists())
        for words, part in ((("--runs", self.folder / "absent.csv"), "no such file"),
                            (("--runs", self.made / "runs.csv", "--runs", self.made / "runs.csv"), "given twice")):
            code, _, err = report(*words)
            self.assertEqual((code, err.count("\n")), (3, 1), err)
            self.assertIn(part, err)
        self.assertEqual(report("--runs", table, "some_experiment")[0], 2)
        self.assertEqual(report("-o", "x")[0], 2)


if __name__ == "__main__":
    unittest.main()
