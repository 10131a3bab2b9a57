"""scripts/campaign-slurm against an sbatch that runs its jobs at once, and configs/Snakefile where Snakemake is installed."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SIGNORINI_PROGRAM") or str(HOUSE / "build/release/experiments/signorini")
TIMES = ("setup_seconds", "solve_seconds", "cpu_share", "waited_share", "involuntary_switches", "solver_bytes", "threads_used")

# Runs every task of a job when it is submitted, and says so in $JOBS; a job whose dependency failed is not run.
SBATCH = """#!/usr/bin/env python3
import os, re, subprocess, sys
words = sys.argv[1:]
given = {word.split("=", 1)[0]: word.split("=", 1)[1] for word in words if word.startswith("--") and "=" in word}
place = os.environ["JOBS"]
number = len(os.listdir(place)) + 1
after = given.get("--dependency", "").removeprefix("afterok:")
ended = 0
if after and open(os.path.join(place, after)).read().splitlines()[0] != "0":
    ended = 1
else:
    first, last = (given.get("--array", "0-0").split("-") + ["0"])[:2]
    for task in range(int(first), int(last) + 1):
        done = subprocess.run(["bash", "-c", given["--wrap"]], cwd=given["--chdir"], env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        ended = ended or done.returncode
with open(os.path.join(place, str(number)), "w") as job:
    job.write(f"{ended}\\n" + "\\n".join(words) + "\\n")
print(f"{number};cluster")
"""

EXPERIMENT = """artefact = "A trial"
scenes = ["stiffcubes", "springtoy"]
protocols = ["self-stopped"]
max_steps = 2
tolerances = [1e-4, 1e-6]
threads = [1, 2]
[[solvers]]
name = "pgs"
[[solvers]]
name = "pcg"
"""


def rows(table):
    with open(table, newline="", encoding="utf-8") as lines:
        return [[value for name, value in row.items() if name not in TIMES] for row in csv.DictReader(lines)]


@unittest.skipUnless(Path(PROGRAM).is_file(), f"{PROGRAM} is not built")
class CampaignScripts(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="signorini_campaign_"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "trial.toml").write_text(EXPERIMENT, encoding="utf-8")
        self.campaign = self.folder / "a campaign"  # names with spaces are names
        self.run_program("plan", self.folder / "trial.toml", "-o", self.campaign)
        (self.folder / "bin").mkdir()
        (self.folder / "jobs").mkdir()
        sbatch = self.folder / "bin" / "sbatch"
        sbatch.write_text(SBATCH, encoding="utf-8")
        sbatch.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "JOBS": str(self.folder / "jobs"), "SIGNORINI_PROGRAM": PROGRAM}

    def run_program(self, *words):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def submit(self, *words):
        return subprocess.run([HOUSE / "scripts/campaign-slurm", *map(str, words)], env=self.environment, capture_output=True, text=True)

    def job(self, number):
        return (self.folder / "jobs" / str(number)).read_text(encoding="utf-8").splitlines()

    def expect_like_single(self):
        single = self.folder / "single"
        self.run_program("run", self.folder / "trial.toml", "--out", single)
        self.assertEqual(rows(self.campaign / "trial/runs.csv"), rows(single / "trial/runs.csv"))

    def expect_report(self):
        self.assertIn("A trial", (self.campaign / "report.html").read_text(encoding="utf-8"))
        self.assertTrue((self.campaign / "trial/summary.csv").is_file())

    def test_jobs_follow_each_other_from_recordings_to_the_report(self):
        done = self.submit(self.campaign, "--shards", 3, "--", "--partition=compute", "--time=1:00:00")
        self.assertEqual(done.returncode, 0, done.stderr)
        record, plan, run, merge, report = (self.job(number) for number in (1, 2, 3, 4, 5))
        for before, job in ((None, record), (1, plan), (2, run), (3, merge), (4, report)):
            self.assertEqual(job[0], "0", job)
            self.assertIn("--requeue", job)
            self.assertIn("--partition=compute", job)
            self.assertIn("--time=1:00:00", job)
            dependency = [word for word in job if word.startswith("--dependency")]
            self.assertEqual(dependency, [] if before is None else [f"--dependency=afterok:{before}"])
        self.assertIn("--array=1-2", record, "there are two recordings")
        self.assertIn("--array=1-3", run)
        self.assertIn("--cpus-per-task=2", run, "runs have up to two threads")
        self.assertIn("--exclusive", run)
        self.assertNotIn("--exclusive", merge)
        self.assertNotIn("--exclusive", report)
        self.expect_like_single()
        self.expect_report()

    def test_what_is_recorded_already_is_not_submitted_and_nodes_are_shared_when_asked(self):
        self.run_program("plan", "-o", self.campaign, "--record")
        done = self.submit(self.campaign, "--shards", 2, "--beside", "--threads", 1, "--no-report")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.folder / "jobs").iterdir())), 2)
        self.assertNotIn("--exclusive", self.job(1))
        self.assertIn("--beside", self.job(1)[-1])
        self.expect_like_single()

    def test_a_step_that_fails_stops_the_chain_and_the_same_again_goes_on(self):
        self.run_program("plan", "-o", self.campaign, "--record")
        plan = self.campaign / "plan/trial/run.toml"
        good = plan.read_text(encoding="utf-8")
        plan.write_text(good.replace("# experiment: ", "# experiment: x"), encoding="utf-8")
        self.submit(self.campaign, "--shards", 2, "--no-report")
        self.assertNotEqual(self.job(1)[0], "0")
        self.assertNotEqual(self.job(2)[0], "0")
        self.assertFalse((self.campaign / "trial").exists())
        plan.write_text(good, encoding="utf-8")
        self.submit(self.campaign, "--shards", 2, "--no-report")
        self.assertEqual(self.job(4)[0], "0")
        self.expect_like_single()

    def test_shards_take_ten_minutes_each_where_the_runs_are_known(self):
        self.assertIn("--array=1-8", self.submit(self.campaign, "--dry-run").stderr, "no runs are known yet")
        self.run_program("plan", "-o", self.campaign, "--record")
        cells = self.campaign / "cells.csv"
        lines = cells.read_text(encoding="utf-8").splitlines()
        for seconds, shards in ((0.1, 1), (601.0, len(lines)), (1e6, 1000)):
            changed = [",".join([*line.split(",")[:-2], f"{seconds}", "measured"]) for line in lines[1:]]
            cells.write_text("\n".join([lines[0], *changed]) + "\n", encoding="utf-8")
            self.assertIn(f"--array=1-{shards} ", self.submit(self.campaign, "--dry-run").stderr)

    def test_a_dry_run_shows_the_commands_and_submits_nothing(self):
        done = self.submit(self.campaign, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sum(line.startswith("sbatch ") for line in done.stderr.splitlines()), 5)
        self.assertEqual(list((self.folder / "jobs").iterdir()), [])

    def test_mistakes_are_one_line_that_says_what_to_do(self):
        for words, told in (((), "which campaign?"), ((self.folder,), "holds no plan.toml"), ((self.campaign, "--shards", "0"), "--shards needs a number"),
                            ((self.campaign, "--shards"), "--shards needs a number"), ((self.campaign, "--fast"), "unknown option '--fast'"),
                            ((self.campaign, "b"), "one campaign at a time")):
            done = self.submit(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(told, done.stderr)
        self.assertIn("scripts/campaign-slurm DIR", self.submit("--help").stdout)

    @unittest.skipUnless(shutil.which("snakemake"), "Snakemake is not installed (apt-get install snakemake)")
    def test_snakemake_runs_the_same_plan(self):
        done = subprocess.run(["snakemake", "-s", HOUSE / "configs/Snakefile", "--cores", "2", "--directory", self.folder, "--config",
                               f"campaign={self.campaign}", "shards=3", f"program={PROGRAM}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"rule run_shard:[^:]*(?:\n.*)*?threads: 2", "as many as the plan's runs have")
        self.expect_like_single()
        self.expect_report()


if __name__ == "__main__":
    sys.exit(unittest.main())
