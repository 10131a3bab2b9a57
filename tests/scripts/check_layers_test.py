"""The layer check finds every kind of planted violation and passes a clean tree."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
_spec = importlib.util.spec_from_file_location("check_layers", SOURCE / "scripts" / "check_layers.py")
check_layers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_layers)

CLEAN = {
    "lib/base/check.h": "#include <string>\n",
    "lib/base/parallel.h": '#include "base/check.h"\n',
    "lib/base/parallel.cpp": '#include "base/parallel.h"\n#include <tbb/task_arena.h>\n',
    "lib/contact/contact_problem.h": '#include "base/check.h"\n',
    "lib/geometry/mesh.h": '#include "base/check.h"\n',
    "lib/record/h5.h": "#include <hdf5.h>\n",
    "lib/record/fclib_file.h": '#include "contact/contact_problem.h"\n',
    "lib/record/fclib_file.cpp": '#include "record/h5.h"\n#include "record/fclib_file.h"\n',
    "lib/scene/scene.cpp": '#include "geometry/mesh.h"\n#include <toml++/toml.h>\n',
    "lib/solvers/pgs.cpp": '#include "contact/contact_problem.h"\n',
    "experiments/main.cpp": '#include "record/fclib_file.h"\n#include "commands.h"\n',
    "experiments/commands.h": "",
}


class CheckLayers(unittest.TestCase):
    def found(self, extra):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **extra}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.violations(Path(folder))

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.found({}), [])

    def test_a_solver_that_includes_physics_is_found(self):
        found = self.found({"lib/solvers/pgs.cpp": '#include "geometry/mesh.h"\n'})
        self.assertEqual(found, ["lib/solvers/pgs.cpp: solvers/ may not include geometry/ (geometry/mesh.h)"])

    def test_physics_behind_another_header_is_found(self):
        found = self.found({"lib/contact/contact_problem.h": '#include "geometry/mesh.h"\n'})
        self.assertIn("lib/solvers/pgs.cpp: reaches the physics through contact/contact_problem.h -> geometry/mesh.h",
                      found)

    def test_hdf5_outside_record_is_found_directly_and_behind_a_header(self):
        found = self.found({"lib/solvers/pgs.cpp": "#include <hdf5_hl.h>\n"})
        self.assertEqual(found, ["lib/solvers/pgs.cpp: may not see HDF5 (hdf5_hl.h)"])
        found = self.found({"lib/record/fclib_file.h": '#include "record/h5.h"\n'})
        self.assertEqual(found, ["experiments/main.cpp: may not see HDF5 (record/fclib_file.h -> record/h5.h -> hdf5.h)"])

    def test_toml_in_a_solver_is_found(self):
        found = self.found({"lib/solvers/pgs.cpp": "#include <toml++/toml.h>\n"})
        self.assertEqual(found, ["lib/solvers/pgs.cpp: may not see TOML (toml++/toml.h)"])

    def test_tbb_in_a_header_is_found(self):
        found = self.found({"lib/contact/contact_problem.h": "#include <tbb/parallel_for.h>\n"})
        self.assertEqual(found, ["lib/contact/contact_problem.h: oneTBB in a header (tbb/parallel_for.h); "
                                 "only base/parallel.h may"])

    def test_a_law_compared_outside_its_header_is_found(self):
        compared = ["law == FrictionLaw::cone", "law.frame != PyramidFrame::aligned", "FrictionLaw::pyramid == law",
                    "case FrictionLaw::cone:", "using enum FrictionLaw;", "law ==\n    signorini::FrictionLaw::cone"]
        for words in compared:
            with self.subTest(words):
                found = self.found({"lib/solvers/pgs.cpp": f'#include "contact/contact_problem.h"\n{words}\n'})
                self.assertEqual(found, ["lib/solvers/pgs.cpp:2: compares the contact law; use with_law, is_cone, is_turned, is_aligned, "
                                         "project_tangent or Law::tangent_size of contact/friction_law.h"])
        self.assertEqual(self.found({"lib/contact/friction_law.h": "return law == FrictionLaw::cone;\n"}), [])
        for words in ("make(FrictionLaw::cone)", "FrictionLaw law = FrictionLaw::cone;", "in_case FrictionLaw::cone"):
            self.assertEqual(self.found({"experiments/main.cpp": words + "\n"}), [], words)

    def test_roots_of_the_c_library_are_found(self):
        for words in ("return std::hypot(x, y);", "std::cbrt(x)", "r.stableNorm()"):
            found = self.found({"lib/solvers/pgs.cpp": f'#include "contact/contact_problem.h"\n{words}\n'})
            self.assertEqual(found, ["lib/solvers/pgs.cpp:2: other last bits on other platforms; use hypotenuse or cube_root of "
                                     "base/roots.h, or norm()"], words)
        for words in ("hypotenuse(x, y)", "r.norm()", "std::sqrt(x)"):
            self.assertEqual(self.found({"lib/solvers/pgs.cpp": f'#include "contact/contact_problem.h"\n{words}\n'}), [], words)
        self.assertEqual(self.found({"experiments/main.cpp": "std::cbrt(x)\n"}), [])

    def test_a_missing_header_and_an_unknown_folder_are_found(self):
        found = self.found({"lib/utils/tools.h": "", "lib/solvers/pgs.cpp": '#include "pgs.h"\n'})
        self.assertEqual(len(found), 2, found)

    def test_the_tree_of_this_project_is_clean(self):
        self.assertEqual(check_layers.violations(SOURCE), [])


if __name__ == "__main__":
    unittest.main()
