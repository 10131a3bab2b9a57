"""scripts/campaign-slurm and configs/Snakefile on a real Slurm cluster of two nodes, one of which ends in the midst."""

import contextlib
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import slurm_cluster  # noqa: E402
from slow import slow  # noqa: E402

PROGRAM = Path(os.environ.get("SIGNORINI_PROGRAM") or slurm_cluster.HOUSE / "build/release/experiments/signorini")

# Two recordings and 156 groups of runs of 0.1 s or so each: a node can end in the midst of them.
EXPERIMENT = """artefact = "A trial"
scenes = ["stiffcubes", "rigidstack"]
protocols = ["self-stopped"]
max_steps = 12
max_iterations = 4000
tolerances = [1e-4, 1e-6, 1e-9, 1e-12]
threads = [1, 2]
[[solvers]]
name = "pgs"
[[solvers]]
name = "nsgs"
[[solvers]]
name = "nncg"
"""


def processes_with(path):
    """How many processes have the path in their command line."""
    count = 0
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # ended meanwhile
            count += str(path).encode() in line.read_bytes()
    return count


class Comparing(unittest.TestCase):
    """The comparison finds what it is there to find."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="signorini_slurm_"))
        self.addCleanup(shutil.rmtree, self.folder)
        for place in ("campaign", "single"):
            (self.folder / place / "trial").mkdir(parents=True)
            (self.folder / place / "trial/run.toml").write_text("size = 'quick'\n")
            (self.folder / place / "trial/runs.csv").write_text(f"solver,file,step,iterations,solve_seconds\npgs,a.h5,1,12,0.{len(place)}\n")

    def told(self):
        return slurm_cluster.compare(self.folder / "campaign", self.folder / "single")

    def test_times_may_differ(self):
        self.assertEqual(self.told(), (["trial"], 1, [], []))

    def test_times_of_other_tables_may_differ_and_their_counts_not(self):
        for place, seconds in (("campaign", 0.1), ("single", 0.2)):
            (self.folder / place / "trial/follow.csv").write_text(f"step,kept,update_seconds\n1,3,{seconds}\n")
        self.assertEqual(self.told(), (["trial"], 1, [], []))
        (self.folder / "single/trial/follow.csv").write_text("step,kept,update_seconds\n1,4,0.1\n")
        self.assertEqual(self.told()[2], ["trial/follow.csv: other rows"])

    def write(self, place, *lines):
        head = "solver,options,file,step,region_mode,threads,tolerance,status,iterations,solve_seconds"
        (self.folder / place / "trial/runs.csv").write_text("\n".join([head, *lines]) + "\n")

    def curves(self, place, **residuals):
        with h5py.File(self.folder / place / "trial/trace.h5", "w") as file:
            for number, (solver, residual) in enumerate(residuals.items()):
                run = file.create_group(f"runs/{number:06}")
                run.attrs.update({"solver": solver, "options": "", "file": "a.h5", "step": "1", "region_mode": "none", "tolerance": 0.1})
                run["residual"], run["seconds"] = residual, [len(place)]

    def test_rows_that_met_the_time_limit_are_counted_apart(self):
        self.write("campaign", "pgs,,a.h5,1,none,1,0.1,time_limit,70,1", "ica,,a.h5,1,none,1,0.1,time_limit,8,1", "sap,,a.h5,1,none,1,0.1,converged,3,1")
        self.write("single", "pgs,,a.h5,1,none,1,0.1,converged,90,1", "ica,,a.h5,1,none,1,0.1,time_limit,8,1", "sap,,a.h5,1,none,1,0.1,converged,4,1")
        self.curves("campaign", pgs=[0.5, 0.25], sap=[0.5])
        self.curves("single", pgs=[0.5, 0.25, 0.0625], sap=[0.5])
        experiments, count, told, limited = self.told()
        self.assertEqual((experiments, count), (["trial"], 3))
        self.assertEqual(len(told), 1, told)
        self.assertIn("row 3 (sap", told[0])
        self.assertEqual([(number, status) for _, number, status, _ in limited], [(1, ("time_limit", "converged")), (2, ("time_limit", "time_limit"))])
        self.assertEqual([sorted(columns) for *_, columns in limited], [["iterations", "status"], []])

    def test_the_time_limit_excuses_no_other_run_in_the_place_of_one(self):
        self.write("campaign", "pgs,,a.h5,1,none,1,0.1,time_limit,70,1")
        self.write("single", "pgs,,a.h5,2,none,1,0.1,time_limit,70,1")
        self.assertEqual((len(self.told()[2]), self.told()[3]), (1, []))

    def test_curves_of_other_runs_are_found(self):
        for place, residual in (("campaign", 0.5), ("single", 0.75)):
            self.write(place, "pgs,,a.h5,1,none,1,0.1,converged,70,1")
            self.curves(place, pgs=[residual])
        self.assertEqual(len(self.told()[2]), 1)
        self.curves("single")
        self.assertIn("trace.h5", "\n".join(self.told()[2]))

    def test_counts_rows_and_files_may_not(self):
        merged = self.folder / "campaign/trial"
        (merged / "runs.csv").write_text("solver,file,step,iterations,solve_seconds\npgs,a.h5,1,13,0.1\npgs,a.h5,2,1,0.1\n")
        (merged / "run.toml").write_text("size = 'medium'\n")
        (merged / "machines.csv").write_text("file\n")
        told = "\n".join(self.told()[2])
        for words in ("2 rows and 1", "'iterations': ('13', '12')", "run.toml: other bytes", "machines.csv: only in campaign"):
            self.assertIn(words, told)


@unittest.skipIf(slurm_cluster.why_not(), slurm_cluster.why_not())
@unittest.skipUnless(PROGRAM.is_file(), f"{PROGRAM} is not built")
class OnACluster(unittest.TestCase):
    def campaign(self, engine):
        folder = Path(tempfile.mkdtemp(prefix="signorini_slurm_"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "trial.toml").write_text(EXPERIMENT, encoding="utf-8")
        campaign = folder / "campaign"
        subprocess.run([PROGRAM, "plan", folder / "trial.toml", "-o", campaign], check=True, capture_output=True)
        with slurm_cluster.Cluster() as cluster:
            story = "\n".join(slurm_cluster.run_campaign(cluster, PROGRAM, campaign, engine, 4, 5))
        self.assertIn("node n2 ended", story)
        self.assertIn("equeue job", story)
        subprocess.run([PROGRAM, "run", folder / "trial.toml", "--out", folder / "single"], capture_output=True)
        experiments, count, told, _ = slurm_cluster.compare(campaign, folder / "single")
        self.assertEqual((experiments, told), (["trial"], []))
        self.assertGreater(count, 100)
        # Slurm binds a task to the processors that it asked for: runs on two threads had two
        with open(campaign / "trial/runs.csv", newline="", encoding="utf-8") as table:
            self.assertEqual({row["threads"]: row["status"] == "unsupported" for row in csv.DictReader(table)}, {"1": False, "2": False})
        self.assertIn("A trial", (campaign / "report.html").read_text(encoding="utf-8"))

    @slow
    def test_slow_a_kill_takes_the_daemons_and_the_nodes_along(self):
        folder = Path(tempfile.mkdtemp(prefix="signorini_slurm_"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "trial.toml").write_text(EXPERIMENT, encoding="utf-8")
        words = [sys.executable, slurm_cluster.__file__, folder / "trial.toml", "-o", folder, "--program", PROGRAM]
        with subprocess.Popen(words, env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.PIPE, text=True) as script:
            lines = iter(script.stdout.readline, "")
            next(line for line in lines if line.startswith("how far it is"))  # the jobs are in the queue
            place = next(folder.glob("slurm_*"))
            self.assertGreaterEqual(processes_with(place), 4)  # munged, slurmctld, two nodes
            script.terminate()
            script.wait(timeout=60)
        self.assertEqual(processes_with(folder), 0)  # neither daemons nor tasks
        self.assertFalse(place.exists())

    @slow
    def test_slow_an_array_loses_a_node_and_its_merged_rows_are_those_of_one_process(self):
        self.campaign("slurm")

    @slow
    @unittest.skipUnless(shutil.which("snakemake"), "Snakemake is not installed (apt-get install snakemake)")
    def test_slow_snakemake_loses_a_node_and_its_merged_rows_are_those_of_one_process(self):
        self.campaign("snakemake")


if __name__ == "__main__":
    sys.exit(unittest.main())
