"""The installed tree, moved to another place and used from an empty folder: the program finds its configs and scripts, the library is linked by
find_package and by pkg-config, pages and their links are there, and nothing leads back to the source or the build."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "tests" / "scripts")]

import links_test  # noqa: E402

BUILD = Path(os.environ.get("SIGNORINI_BUILD", SOURCE / "build" / "release"))
CXX = os.environ.get("CXX", "c++")
EXPERIMENT = "signorini_split"  # the smallest that records a scene


def environment(**more):
    return {name: value for name, value in os.environ.items() if not name.startswith("SIGNORINI_")} | more


def run(*command, code=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, **{"env": environment(), **options})
    assert done.returncode == code, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.folder = Path(directory.name)
        cls.first, cls.prefix, cls.empty = cls.folder / "first", cls.folder / "moved" / "here", cls.folder / "empty"
        run("cmake", "--install", BUILD, "--prefix", cls.first)
        cls.prefix.parent.mkdir()
        cls.first.rename(cls.prefix)
        cls.empty.mkdir()
        cls.program = cls.prefix / "bin" / "signorini"
        cls.share = cls.prefix / "share" / "signorini"

    def signorini(self, *words, **options):
        return run(self.program, *words, **{"cwd": self.empty, **options})

    # --- the program ---------------------------------------------------------------------------------------------------------

    def test_it_has_the_blas_of_the_build(self):
        version = run(BUILD / "experiments" / "signorini", "--version").stdout
        self.assertIn("\n  BLAS ", version)
        self.assertEqual(self.signorini("--version").stdout, version)

    def test_it_lists_every_scene_and_experiment(self):
        scenes = self.signorini("list", "scenes", "--names").stdout.split()
        self.assertEqual(scenes, sorted(path.stem for path in (SOURCE / "configs" / "scenes").glob("*.toml")))
        experiments = self.signorini("list", "experiments", "--names").stdout.split()
        self.assertEqual(len(experiments), len(list((SOURCE / "configs" / "experiments").glob("*/*/run.toml"))))

    def test_it_records_and_solves_and_reports(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            self.signorini("record", "springtoy", "--size", "quick", "--steps", "40", "-o", "toy.h5", cwd=folder)
            self.signorini("solve", "toy.h5", "--solver", "pgs,ica", "--report", "page", cwd=folder)
            self.assertIn("<html", (Path(folder) / "page" / "index.html").read_text(encoding="utf-8"))

    def test_scripts_are_commands(self):
        for name in ("report", "render", "campaign-slurm", "compare-siconos", "convert-mesh", "make-dataset"):
            self.assertRegex(run(self.prefix / "bin" / f"signorini-{name}", "--help", cwd=self.empty).stdout, r"(?i)usage|scripts/")

    def test_it_makes_a_dataset_in_the_current_folder(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            run(self.prefix / "bin" / "signorini-make-dataset", "--scenes", "springtoy", "--contacts", "1", "--most", "1", cwd=folder)
            made = Path(folder) / "results" / "out" / "dataset_quick"
            with open(made / "problems.csv", newline="", encoding="utf-8") as file:
                self.assertEqual([row["scene"] for row in csv.DictReader(file)], ["springtoy"])
            self.assertEqual((made / "LICENSE").read_bytes(), (SOURCE / "LICENSE").read_bytes())
            run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=made)

    def test_it_reproduces_where_the_source_tree_is_gone(self):
        hidden = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c",
                  'mount -t tmpfs none "$1" && shift && exec "$@"', "sh", SOURCE]
        if subprocess.run([*map(str, hidden), "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this system lets no process hide a folder (unshare --mount)")
        out = self.folder / "out"
        run(*hidden, self.program, "reproduce", EXPERIMENT, "--size", "quick", "--no-report", "--out", out, cwd=self.empty)
        with open(out / EXPERIMENT / "runs.csv", newline="", encoding="utf-8") as file:
            self.assertGreater(len(list(csv.DictReader(file))), 0)
        facts = json.loads((out / EXPERIMENT / "env.json").read_text(encoding="utf-8"))
        self.assertNotIn(str(SOURCE), json.dumps({key: value for key, value in facts.items() if key != "build"}))
        self.assertEqual(list(self.empty.iterdir()), [])

    def test_the_python_package_finds_the_program_and_its_experiments(self):
        package = self.prefix / "lib" / "python3" / "dist-packages"
        if not (package / "signorini").is_dir():
            self.skipTest("built without the Python package")
        code = ("import signorini\n"
                "signorini.register_solver('nothing', lambda problem: 0.0 * problem.q)\n"
                f"runs = signorini.run('{EXPERIMENT}', 'nothing', out='out')\n"
                "print(sorted(set(runs.solver)), (runs.solver == 'nothing').sum() == (runs.solver == 'pgs').sum() > 0)\n")
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            said = run(sys.executable, "-B", "-c", code, cwd=folder, env=environment(PYTHONPATH=str(package))).stdout
        self.assertEqual(said, "['nothing', 'pgs'] True\n")

    # --- files -----------------------------------------------------------------------------------------------------------------

    def test_no_text_names_the_source_the_build_or_the_first_place(self):
        places = [str(place).encode() for place in (SOURCE, BUILD.resolve(), self.first)]
        texts = [path for path in self.prefix.rglob("*") if path.is_file() and path.suffix not in (".a", ".so", ".png", ".hdf5") and path != self.program]
        self.assertGreater(len(texts), 500)
        self.assertEqual([str(path) for path in texts if any(place in path.read_bytes() for place in places)], [])

    def test_links_of_the_pages_hold(self):
        pages = self.prefix / "share" / "doc" / "signorini"
        for line in links_test.broken(pages):  # those that lead through a symbolic link to another folder of the prefix do hold
            page, target, why = re.fullmatch(r"(.+?): \((.+?)\):? (.+)", line).groups()
            place = (pages / page).parent / target.partition("#")[0]
            self.assertTrue(why.startswith("leads out") and place.exists() and place.resolve().is_relative_to(self.prefix), line)

    def test_symbolic_links_stay_inside(self):
        links = [path for path in self.prefix.rglob("*") if path.is_symlink()]
        self.assertGreater(len(links), 4)
        for link in links:
            self.assertFalse(Path(os.readlink(link)).is_absolute(), link)
            self.assertTrue(link.resolve(strict=True).is_relative_to(self.prefix), link)

    def test_every_command_has_a_manual_page(self):
        commands = re.findall(r"^  (\w+) ", self.signorini("--help").stdout.split("Commands:")[1].split("Examples:")[0], re.M)
        self.assertGreater(len(commands), 10)
        pages = {path.name for path in (self.prefix / "share" / "man" / "man1").iterdir()}
        self.assertEqual(pages, {"signorini.1", *(f"signorini-{command}.1" for command in commands)})

    # --- the library -----------------------------------------------------------------------------------------------------------

    def flags(self, *words):
        return run("pkg-config", *words, "signorini", env=environment(PKG_CONFIG_PATH=str(self.prefix / "lib" / "pkgconfig"))).stdout.split()

    def solved(self, program):
        """The hand-made problem, and one from a file of the installed tree."""
        problem = self.share / "configs" / "problems" / "reference" / "net0.hdf5"
        for words in ([], [problem]):
            self.assertRegex(run(program, *words, cwd=self.empty).stdout, r"(?s)pgs +converged.*cr-full +converged.*velocities differ by")

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_find_package(self):
        example = self.prefix / "share" / "doc" / "signorini" / "examples" / "library"
        build = self.folder / "consumer"
        run("cmake", "-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={CXX}")
        run("cmake", "--build", build)
        self.solved(build / "two_solvers")

    def test_a_project_without_c_is_told_what_to_write(self):
        folder = self.folder / "only_cxx"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(mine LANGUAGES CXX)\nfind_package(Signorini REQUIRED)\n")
        said = run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", code=1).stderr
        self.assertIn("project(NAME LANGUAGES C CXX)", said)

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_pkg_config_for_a_processor_with_longer_vectors(self):
        # memory of the library's matrices is freed by code that is compiled for other alignments
        flags = [] if " avx2 " not in Path("/proc/cpuinfo").read_text(encoding="utf-8") else ["-mavx2"]
        program = self.folder / "by_pkg_config"
        source = self.prefix / "share" / "doc" / "signorini" / "examples" / "library" / "two_solvers.cpp"
        run(CXX, "-std=c++20", *flags, source, *self.flags("--cflags", "--libs"), "-o", program)
        self.solved(program)

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config")
    def test_every_header_compiles(self):
        headers = sorted((self.prefix / "include" / "signorini").rglob("*.h"))
        self.assertGreater(len(headers), 150)
        text = "".join(f"#include <signorini/{header.relative_to(self.prefix / 'include' / 'signorini')}>\n" for header in headers)
        run(CXX, "-std=c++20", "-fsyntax-only", "-x", "c++", *self.flags("--cflags"), "-", input=text)

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_a_solver_from_outside(self):
        build = self.folder / "plugin"
        run("cmake", "-S", self.prefix / "share" / "doc" / "signorini" / "examples" / "plugin", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={CXX}")
        run("cmake", "--build", build)
        self.assertIn("example", self.signorini("list", "solvers", "--names", "--plugin", build / "libexample.so").stdout.split())


if __name__ == "__main__":
    sys.exit(unittest.main())
