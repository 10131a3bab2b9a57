"""The definition of an experiment: templates, bounds from the paper, and every error message."""

import contextlib
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts"), str(Path(__file__).resolve().parent)]

from signorini_report import definition, groups, kinds  # noqa: E402
from signorini_report.strict import ReportError  # noqa: E402

CLAIM = 'id = "a"\ntext = "t"\nratio = "iterations"\nof = "A"\nto = "B"\nmin = 1\nbound = "paper"\n'


class Folder(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name) / "experiments" / "paper" / "fig1"
        self.folder.mkdir(parents=True)
        self.put("run.toml", 'artefact = "Fig. 1"\n')
        self.put("../names.toml", 'rings_stiff = "Rings*"\n')
        self.put("../reasons.toml", 'slow = "it is slow"\nsmall = "it is small"\n')
        self.put("paper.toml", '[rings."SP (as)"]\niterations = [180, 134]\n[rings.CR]\niterations = [97, 76]\n[rings_stiff.CR]\niterations = 154\n')

    def put(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def claims(self, text):
        self.put("claims.toml", text)
        self.read = definition.read_definition(self.folder)
        return self.read.claims

    def one(self, text):
        (claim,) = self.claims("[[claims]]\n" + text)
        return claim


class Claims(Folder):
    def test_short_forms_are_written_out(self):
        self.assertEqual(self.one(CLAIM), {"id": "a", "claim": "t", "kind": "ratio", "column": "iterations", "min": 1, "numerator": {"label": "A"},
                                           "denominator": {"label": "B"}, "bound": "paper"})
        found = self.one('id = "a"\ntext = "t"\nratio = ["x", "y"]\nof = { law = "cone" }\nto = ["B", "C"]\nmin = 1\nbound = "ours"\nwhy = "w"\nbecause = ["slow", "small"]\n')
        self.assertEqual((found["column_of"], found["numerator"], found["denominator"], found["reason"], found["why"]),
                         (["x", "y"], {"law": "cone"}, {"label": ["B", "C"]}, "it is slow; it is small", "w"))
        self.assertEqual(self.one('id = "a"\ntext = "t"\nfraction = "solved"\nmin = 1\nbound = "paper"\n')["lower"], 1.0)
        self.assertNotIn("lower", self.one('id = "a"\ntext = "t"\nfraction = "solved"\nupper = 0\nmin = 1\nbound = "paper"\n'))

    def test_defaults_go_to_the_claims_that_they_say_something_about(self):
        found = self.claims('[defaults]\nbound = "paper"\nmatch = ["file"]\nstatistic = "total"\nwhere = { law = "cone" }\n'
                            '[[claims]]\nid = "r"\ntext = "t"\nratio = "x"\nof = "A"\nto = "B"\nmin = 1\nwhere = { threads = 1 }\n'
                            '[[claims]]\nid = "f"\ntext = "t"\nfraction = "x"\nmin = 1\n[[claims]]\nid = "q"\ntext = "t"\nquantity = "x"\nmin = 1\n'
                            '[[claims]]\nid = "s"\ntext = "t"\nratio = "x"\nof = "A"\nto = "B"\nmin = 1\nrows = "steps"\n')
        self.assertEqual([(one.get("match"), one.get("statistic")) for one in found],
                         [(["file"], "total"), (None, None), (None, "total"), (None, "total")])
        self.assertEqual(found[0]["where"], {"law": "cone", "threads": 1})
        self.assertEqual(self.read.templates, set())

    def test_a_grid_makes_a_claim_for_each_cell_the_first_variable_slowest(self):
        found = self.claims('[grids]\nscenes = ["rings", "rings_stiff"]\n[[claims]]\ngrid = { scene = "scenes", m = { as = { label = "SP (as)" }, cr = { label = "CR" } }, tol = { "1e-3" = "x.1e-03" } }\n'
                            'id = "{m}_{scene}"\ntext = "{scene.name}, {m.label}, {tol}"\nwhere = { "{tol.value}" = 1, scene = "{scene}" }\nquantity = "iterations"\nmin = 1\nbound = "paper"\n'
                            'because = { "as_*" = "slow", "cr_rings" = [] }\n')
        self.assertEqual([one["id"] for one in found], ["as_rings", "cr_rings", "as_rings_stiff", "cr_rings_stiff"])
        self.assertEqual((found[2]["claim"], found[2]["where"]), ("Rings*, SP (as), 1e-3", {"x.1e-03": 1, "scene": "rings_stiff"}))
        self.assertEqual([one.get("reason") for one in found], ["it is slow", None, "it is slow", None])
        self.assertEqual(self.read.templates, {one["id"] for one in found})

    def test_entries_of_each_hold_keys_and_variables_and_may_be_of_several_kinds(self):
        found = self.claims('[[claims]]\nmatch = ["file"]\nbound = "paper"\ntext = "{what}"\neach = [ { id = "a", what = "w", fraction = "x", min = 1 }, '
                            '{ id = "b", what = 3, ratio = "x", of = "A", to = "B", max = 2 } ]\n')
        self.assertEqual([(one["kind"], one.get("match"), one["claim"]) for one in found], [("fraction", None, "w"), ("ratio", ["file"], 3)])

    def test_bounds_come_from_the_paper_where_it_has_a_number(self):
        text = ('grid = { scene = ["rings", "rings_stiff"] }\nid = "{scene}"\ntext = "the paper\'s {paper}"\npaper = "{scene}.SP (as).iterations / {scene}.CR.iterations"\n'
                'within = [0.5, 2.0]\nquantity = "iterations"\nbound = "ours"\nwhy = "w"\n')
        found = self.one(text)
        self.assertEqual((found["id"], found["min"], found["max"], found["claim"]), ("rings", 0.928, 3.71, "the paper's 1.86"))
        found = self.one('id = "a"\ntext = "t"\npaper = \'rings_stiff."CR".iterations\'\nwithin = [1, 1]\nquantity = "x"\nbound = "paper"\n')
        self.assertEqual((found["min"], found["max"]), (154.0, 154.0))

    def test_another_paper_toml_may_hold_the_numbers(self):
        (self.folder.parent / "fig2").mkdir()
        self.put("../fig2/paper.toml", "[rings.CR]\niterations = 7\n")
        self.put("paper.toml", 'same_as = "../fig2/paper.toml"\n[scenes]\nrings20 = "rings"\n')
        self.claims("")
        self.assertEqual(self.read.numbers, {"rings20": {"CR": {"iterations": 7}}})
        for text, words in (('same_as = "../fig3/paper.toml"\n', "no such file"), ('same_as = "../fig2/paper.toml"\n[scenes]\na = "ring"\n', "did you mean 'rings'")):
            self.put("paper.toml", text)
            with self.assertRaisesRegex(ReportError, words):
                self.claims("")

    def test_another_file_may_hold_claims_and_figures(self):
        (self.folder.parent / "fig2").mkdir()
        self.put("../fig2/claims.toml", 'says = "theirs"\nsource = "there"\ndefaults = { sizes = ["paper"], source = "page 1" }\nbecause = { a = "slow" }\n[[claims]]\n'
                 + CLAIM + '[[claims]]\n' + CLAIM.replace('"a"', '"b"').replace('"paper"', '"ours"') + 'why = "slow"\n')
        found = self.claims('same_as = "../fig2/claims.toml"\nsays = "ours"\ndefaults = { source = "page 2" }\nbecause = { b = "slow" }\n')
        self.assertEqual((self.read.says, self.read.source), ("ours", "there"))
        self.assertEqual([(one["id"], one["sizes"], one["source"], one.get("reason"), one.get("why")) for one in found],
                         [("a", ["paper"], "page 2", None, None), ("b", ["paper"], "page 2", "it is slow", "it is slow")])
        self.put("../fig2/figures.toml", 'figures = ["methods"]\n[methods]\nreference = "CR"\nscenes = ["rings"]\n')
        self.put("figures.toml", 'same_as = "../fig2/figures.toml"\n[methods]\nscenes = ["cloth"]\n')
        self.assertEqual(definition.shared_content(self.folder, "figures.toml"), {"figures": ["methods"], "methods": {"reference": "CR", "scenes": ["cloth"]}})
        (self.folder.parent / "fig3").mkdir()
        self.put("../fig3/claims.toml", 'same_as = "../fig2/claims.toml"\n')
        for other, words in (("../fig4/claims.toml", "no such file"), ("../fig3/claims.toml", "name that")):
            with self.assertRaisesRegex(ReportError, words):
                self.claims(f'same_as = "{other}"\n')


class Errors(Folder):
    CASES = [
        ("[[claims]]\n" + CLAIM + "minn = 2\n", "claims.toml: claim a: unknown key 'minn' of a ratio \\(did you mean 'min'"),
        ("[[claims]]\n" + CLAIM + 'against = "x"\n', "unknown key 'against' of a ratio"),
        ("[[claims]]\n" + CLAIM + 'numerator = "x"\n', "unknown key 'numerator' of a ratio"),
        ("[[claims]]\n" + CLAIM + 'spread = "x"\n', "needs exactly one of .*, has ratio and spread"),
        ('[[claims]]\nid = "a"\ntext = "t"\nbound = "paper"\n', "claim a: needs exactly one of fraction, "),
        ("[[claims]]\n" + CLAIM.replace('id = "a"', ""), "claim 1: 'id' is missing"),
        ("[[claims]]\n" + CLAIM.replace('text = "t"', ""), "claim a: 'text' is missing"),
        ("[[claims]]\n" + CLAIM.replace('bound = "paper"', ""), "'bound' is missing"),
        ("[[claims]]\n" + CLAIM.replace('"paper"', '"mine"'), 'bound = "mine": must be paper'),
        ("[[claims]]\n" + CLAIM.replace('"paper"', '"ours"'), "a bound of ours needs 'why'"),
        ("[[claims]]\n" + CLAIM + "[[claims]]\n" + CLAIM, "id 'a' is used twice"),
        ("says = 3\n", "claims.toml: says = 3: must be a text"),
        ('claims = "x"\n', "must be a list of tables"),
        ("defaults = 3\n", "defaults = 3: must be a table"),
        ("same_as = 3\n", "same_as = 3: must be a text"),
        ("[[claims]]\n" + CLAIM.replace("min = 1", 'min = "one"'), "claim a: min = 'one': must be a number"),
        ("[[claims]]\n" + CLAIM.replace('of = "A"', "of = 4"), "claim a: of = 4: must be a text or a list of texts or a table"),
        ("[[claims]]\n" + CLAIM + 'where = "x"\n', "claim a: where = 'x': must be a table"),
        ("[[claims]]\n" + CLAIM + "each = [3]\n", r"each = \[3\]: must be a list of tables"),
        ("[[claims]]\n" + CLAIM + 'because = "slwo"\n', "because = \"slwo\": no such reason in reasons.toml \\(did you mean 'slow'"),
        ("[[claims]]\n" + CLAIM + "within = [1, 2]\n", "'within' needs 'paper'"),
        ("[[claims]]\n" + CLAIM + 'paper = "rings.CR.iterations"\nwithin = 3\n', "within = 3: must be two factors"),
        ("[[claims]]\n" + CLAIM + 'paper = "rings.XY.iterations"\n', 'paper = "rings.XY.iterations": no such number'),
        ("[[claims]]\n" + CLAIM + 'paper = "rings.CR.iterations / rings.CR.iterations / rings.CR.iterations"\n', "one number, or one divided by another"),
        ("[[claims]]\n" + CLAIM.replace('"t"', '"{scen}"') + 'grid = { scene = ["a"] }\n', "unknown name '{scen}' \\(did you mean 'scene'"),
        ("[[claims]]\n" + CLAIM.replace('"t"', '"{m.lable}"') + "grid = { m = { x = { label = 1 } } }\n", "'{m.lable}': 'x' has no 'lable'"),
        ("[[claims]]\n" + CLAIM + 'grid = { scene = ["a"] }\n', "no text has a place for '{scene}'"),
        ("[[claims]]\n" + CLAIM + 'each = [{ mim = 3 }]\n', "no text has a place for '{mim}' \\(did you mean 'min'"),
        ("[[claims]]\n" + CLAIM + 'grid = { scene = "scenes" }\n', "grid.scene = \"scenes\": no such entry in \\[grids\\]"),
        ("[[claims]]\n" + CLAIM + "grid = { scene = [] }\n", "grid.scene must be a list or a table with at least one entry"),
        ("[[claims]]\n" + CLAIM + 'grid = "scenes"\n', "'grid' must be a table of lists"),
        ("[[claims]]\n" + CLAIM + "each = []\n", "'each' must be a list of tables"),
        ('claim = "x"\n', "claims.toml: unknown key 'claim' \\(did you mean 'claims'"),
        ('[defaults]\nbuond = "ours"\n', "\\[defaults\\]: unknown key 'buond' \\(did you mean 'bound'"),
        ("says = 'x\n", "claims.toml: "),
    ]

    def test_each_names_the_file_the_claim_and_what_is_wrong(self):
        for text, words in self.CASES:
            with self.subTest(words), self.assertRaisesRegex(ReportError, words) as found:
                self.claims(text)
            self.assertIn("claims.toml", str(found.exception))

    def test_wishes_for_figures_are_checked_too(self):
        for text, words in (('figures = ["scater"]\n', "figures.toml: unknown figure 'scater' \\(did you mean 'scatter'"),
                            ("[scater]\n", "figures.toml: unknown key 'scater' \\(did you mean 'scatter'"),
                            ('[[scatter]]\nseries = [{ label = "a", colunm = "x" }]\n', "figures.toml: \\[scatter\\]: \\[series\\]: unknown key 'colunm' \\(did you mean 'column'"),
                            ("histogram = 3\n", "'histogram' must be a table")):
            self.put("figures.toml", text)
            with self.subTest(words), self.assertRaisesRegex(ReportError, words):
                self.claims("")

    def test_a_folder_holds_a_run_toml(self):
        with self.assertRaisesRegex(ReportError, "fig2: no run.toml"):
            definition.read_definition(self.folder.parent / "fig2")


class Tree(Folder):
    def test_every_experiment_of_the_tree_can_be_read(self):
        folders = [path.parent for path in sorted((SOURCE / "configs" / "experiments").glob("*/*/run.toml"))]
        self.assertGreaterEqual(len(folders), 45)
        claims = [claim for folder in folders for claim in definition.read_definition(folder).claims]
        self.assertGreater(len(claims), 350)
        self.assertEqual({claim["bound"] for claim in claims}, {"paper", "ours"})

    def test_a_definition_is_found_by_the_folder_asked_for_the_result_and_the_tree(self):
        configs = self.folder.parents[2]
        self.assertEqual(definition.find("paper_fig1", {}, configs).folder, self.folder)
        with mock.patch.dict("os.environ", SIGNORINI_CONFIGS=str(configs)):
            self.assertEqual(definition.find("paper_fig1").folder, self.folder)
        self.assertEqual(definition.find("any", {"definition": str(self.folder)}).folder, self.folder)
        self.assertEqual(definition.find("otaduy2009_fig2", {"definition": "/gone"}, configs).folder.name, "fig2")
        self.assertIsNone(definition.find("paper_fig9", {"definition": "/gone"}, configs))
        with contextlib.chdir(self.folder.parent):
            self.assertIsNone(definition.find("any", {"definition": "fig1"}), "of a committed result, where the folder's place is not told")

    def test_recordings_are_named_by_scene_and_settings(self):
        run = {"settings": {"a": {"x": 1}, "b": {}}, "recordings": [{"name": "{scene}_by_{settings}", "scene": ["r", "s"], "settings": ["a", "b"], "set": {"y": 2}},
                                                                 {"name": "plain", "scene": "r"}]}
        self.assertEqual(definition.recordings_of(run), [("r_by_a", "r", {"y": 2, "x": 1}), ("r_by_b", "r", {"y": 2}), ("s_by_a", "s", {"y": 2, "x": 1}),
                                                         ("s_by_b", "s", {"y": 2}), ("plain", "r", {})])

    def test_lists_of_settings_are_combined(self):
        run = {"settings": {"a": {"x": 1}, "b": {"x": 2}, "c": {"z": 3}},
               "recordings": [{"name": "{scene}_{settings}", "scene": "r", "settings": [["a", "b"], ["c"]]}]}
        self.assertEqual(definition.recordings_of(run), [("r_a_c", "r", {"x": 1, "z": 3}), ("r_b_c", "r", {"x": 2, "z": 3})])


class NewKind(Folder):
    """A kind of claim, or of figure, is one file in its folder."""

    def test_a_kind_of_claim_is_known_when_its_file_is_there(self):
        place = self.folder / "extra"
        place.mkdir()
        (place / "span.py").write_text("from signorini_report.kinds import Kind\nfrom signorini_report.rows import numbers, select\n\n\n"
                                       "def span(rows, claim):\n    values = numbers(select(rows, claim.get('where')), claim['column'])\n"
                                       "    return float(values.max() - values.min()) * claim.get('times', 1), len(values)\n\n\n"
                                       "KIND = Kind('span', span, keys=('times',))\n")
        import pandas as pd
        from signorini_report import verdicts
        with mock.patch.object(kinds, "__path__", [*kinds.__path__, str(place)]):
            claim = self.one('id = "a"\ntext = "t"\nspan = "x"\ntimes = 2\nmax = 10\nbound = "paper"\n')
            result = verdicts.evaluate(pd.DataFrame({"x": [1.0, 5.0]}), claim)
            self.assertEqual((result.value, result.verdict, result.measured), (8.0, "holds", "8 (2 rows)"))
            with self.assertRaisesRegex(ReportError, "unknown key 'time' of a span \\(did you mean 'times'"):
                self.one('id = "a"\ntext = "t"\nspan = "x"\ntime = 2\nmax = 10\nbound = "paper"\n')
        with self.assertRaisesRegex(ReportError, "needs exactly one of"):
            self.one('id = "a"\ntext = "t"\nspan = "x"\nmax = 10\nbound = "paper"\n')

    def test_files_are_known_by_their_stems_whatever_their_form(self):
        names = {"bucket-quick.h5": "bucket-quick", "a/block.hdf5": "block", "block.npz": "block", "block.1": "block.1"}
        self.assertEqual({name: definition.file_stem(name) for name in names}, names)
        run = {"scenes": ["x/bucket.toml"], "files": ["a/block.npz"], "optional_files": ["b/net.hdf5"], "problems": [{"name": "made.1"}]}
        self.assertEqual(groups.names_in(run), {"bucket", "block", "net", "made.1"})

    def test_a_kind_of_figure_is_known_when_its_file_is_there(self):
        import make_results
        from signorini_report import data, figures
        place = self.folder / "extra"
        place.mkdir()
        (place / "bars.py").write_text("from matplotlib import pyplot as plt\n\nfrom signorini_report import style\nfrom signorini_report.figures import Figure\n\n\n"
                                       "def bars(experiment, folder):\n    figure, axes = plt.subplots()\n"
                                       "    axes.bar(['rows'], [len(experiment.runs)], color=experiment.config['bars']['colour'])\n"
                                       "    style.save(figure, folder, 'bars')\n    return True\n\n\n"
                                       "FIGURES = [Figure('bars', bars, order=500, caption='How many rows.', keys={'bars': {'colour': None}})]\n")
        out = make_results.make(self.folder.parents[2] / "out" / "paper_fig1", steps=2, laws=("cone",))
        with mock.patch.object(figures, "__path__", [*figures.__path__, str(place)]):
            self.put("figures.toml", 'figures = ["bars"]\n[bars]\ncolour = "black"\n')
            figures.draw_all(data.read_experiment(out, self.folder.parents[2]), out)
            self.assertEqual(figures.pictures_in(out), [("bars", "How many rows.")])
            self.put("figures.toml", '[bars]\ncolor = "black"\n')
            with self.assertRaisesRegex(ReportError, "unknown key 'color' \\(did you mean 'colour'"):
                data.read_experiment(out, self.folder.parents[2])


if __name__ == "__main__":
    unittest.main()
