"""scripts/campaign-slurm and configs/Snakefile on a real Slurm cluster of two nodes, one of which ends in the midst."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

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
        self.assertEqual(self.told(), (["trial"], 1, []))

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
        experiments, count, told = slurm_cluster.compare(campaign, folder / "single")
        self.assertEqual((experiments, told), (["trial"], []))
        self.assertGreater(count, 100)

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
