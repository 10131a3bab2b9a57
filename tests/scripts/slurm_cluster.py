#!/usr/bin/python3
"""A Slurm cluster of two virtual nodes on this machine, and a campaign on it that loses a node in the midst.

    tests/scripts/slurm_cluster.py EXPERIMENT... [--size quick] -o DIR [--engine slurm|snakemake] [--shards 8] [--end-after 30] [--recordings DIR]

makes DIR/campaign by scripts/campaign-slurm (or by configs/Snakefile in its Slurm mode), ends node n2 with all that runs on it as soon as --end-after
groups of runs are done, waits for the end, runs the same experiments as one process (DIR/single, with the campaign's recordings), and compares every
table and curve of both. Exit 0: equal, 1: not. It goes on where it was when it is called again. `all` stands for all experiments. --recordings: a folder of earlier ones.

Debian: apt-get install slurm-wlm munge snakemake. Needs root: each node is a process id namespace of its own, so that a node ends as if its plug was pulled.
"""

import argparse
import contextlib
import csv
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "unshare")
TIMES = ("cpu_share", "waited_share", "involuntary_switches", "solver_bytes", "threads_used")

CONF = """ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket,cred_expire=20
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool/%n
SlurmdPidFile={place}/%n.pid
SlurmctldPidFile={place}/control.pid
SlurmctldLogFile={place}/control.log
SlurmdLogFile={place}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
ReturnToService=2
SlurmdTimeout=20
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=100000
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs={processors} State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs={processors} State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """What keeps a cluster from starting here; empty when nothing does."""
    missing = [name for name in NEEDED if not (shutil.which(name) or Path("/usr/sbin", name).exists())]
    if missing:
        return f"no {', '.join(missing)} (apt-get install slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "needs root"


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Cluster:
    """Runs while the `with` block does. `environment` lets sbatch, squeue and scontrol find it."""

    def __init__(self):
        self.place = Path(tempfile.mkdtemp(prefix="slurm_"))  # short: paths of sockets end at 107 characters
        self.daemons, self.nodes = [], {}
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        self.environment = {**os.environ, "PATH": path, "SLURM_CONF": str(self.place / "slurm.conf"), "USER": os.environ.get("USER", "root")}

    def start(self, *words):
        with open(self.place / "daemons.log", "ab") as log:
            return subprocess.Popen([*map(str, words)], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_all(self):
        place = self.place
        place.chmod(0o755)
        for name in ("munge", "state", "spool/n1", "spool/n2"):
            (place / name).mkdir(parents=True)
        (place / "munge").chmod(0o755)
        (place / "munge.key").write_bytes(os.urandom(128))
        (place / "munge.key").chmod(0o400)
        control, first, second = free_ports(3)
        processors = len(os.sched_getaffinity(0))
        (place / "slurm.conf").write_text(CONF.format(place=place, host=socket.gethostname(), control=control, first=first, second=second,
                                                      processors=os.cpu_count()))
        self.daemons.append(self.start("munged", "--foreground", "--force", "--key-file", place / "munge.key", "--socket", place / "munge/socket", "--pid-file",
                                       place / "munge.pid", "--log-file", place / "munge.log", "--seed-file", place / "munge.seed"))
        self.wait_for((place / "munge/socket").exists, 20, "munged")
        self.daemons.append(self.start("slurmctld", "-D", "-f", place / "slurm.conf"))
        for name in ("n1", "n2"):
            self.start_node(name)
        self.wait_for(lambda: self.ask("sinfo", "-h", "-o", "%D %T").split() == ["2", "idle"], 60, "the nodes")
        print(f"a cluster of two nodes, {processors} processors of this machine in all", flush=True)

    def start_node(self, name):
        self.nodes[name] = self.start("unshare", "--pid", "--uts", "--mount-proc", "--fork", "--kill-child", "sh", "-c",
                                      f"hostname {name}; exec slurmd -D -N {name} -f {self.place}/slurm.conf")

    def end_node(self, name):
        """All its processes are gone at once."""
        node = self.nodes.pop(name)
        node.kill()
        node.wait()

    def wait_for(self, true, seconds, what):
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline:
                logs = "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in sorted(self.place.glob("*.log")))
                raise RuntimeError(f"{what} did not come up within {seconds} s\n{logs}")
            time.sleep(0.2)

    def ask(self, *words):
        return subprocess.run([*map(str, words)], env=self.environment, capture_output=True, text=True).stdout

    def jobs(self):
        """[(job, state, why)] of all that are not done."""
        return [tuple(line.split("|")) for line in self.ask("squeue", "-h", "-o", "%i|%T|%r").splitlines()]

    def requeued(self):
        """Lines of the controller's log about jobs that a lost node took with it."""
        return [line for line in (self.place / "control.log").read_text(errors="replace").splitlines() if "equeue job" in line]

    def __exit__(self, *_):
        for process in [*self.nodes.values(), *reversed(self.daemons)]:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM if process in self.daemons else signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=10)
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.place, ignore_errors=True)


def done_groups(campaign):
    """Lines of the parts' lists: groups of runs that are on disk."""
    return sum(max(len(part.read_bytes().splitlines()) - 1, 0) for part in campaign.glob("parts/*/cells.csv"))


def submit(cluster, program, campaign, shards, beside):
    """scripts/campaign-slurm returns at once; the jobs are known by the queue."""
    words = [HOUSE / "scripts/campaign-slurm", campaign, "--shards", shards, *(["--beside"] if beside else [])]
    done = subprocess.run([*map(str, words)], env={**cluster.environment, "SIGNORINI_PROGRAM": str(program)}, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    print(done.stdout, end="", flush=True)
    return None


def snake(cluster, program, campaign, shards, beside):
    """Snakemake stays beside its jobs until the last is done."""
    words = ["snakemake", "-s", HOUSE / "configs/Snakefile", "--slurm", "-j", 4, "--max-status-checks-per-second", 1, "--latency-wait", 30,
             "--directory", campaign.parent, "--config", f"campaign={campaign}", f"shards={shards}", f"program={program}",
             f"beside={beside}", "--default-resources", "slurm_partition=main", "runtime=600", "mem_mb=0", "disk_mb=0"]
    with open(campaign.parent / "snakemake.log", "w", encoding="utf-8") as log:
        return subprocess.Popen([*map(str, words)], env=cluster.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


ENGINES = {"slurm": submit, "snakemake": snake}


def run_campaign(cluster, program, campaign, engine, shards, end_after, beside=False):
    """Runs it to its end. Node n2 ends when so many groups are done, and comes back when its jobs have been requeued. What happened, as lines."""
    process, ended, back, story, started = ENGINES[engine](cluster, program, campaign, shards, beside), 0.0, False, [], time.monotonic()

    def tell(text):
        story.append(f"{time.monotonic() - started:.0f} s: {text}")
        print(story[-1], flush=True)

    while True:
        jobs = cluster.jobs()
        groups = done_groups(campaign)
        on_second = cluster.ask("squeue", "-h", "-w", "n2", "-t", "R", "-o", "%i").split()
        if not ended and groups >= end_after and on_second:
            cluster.end_node("n2")
            ended = time.monotonic()
            tell(f"node n2 ended with job {', '.join(on_second)} on it, {groups} groups done")
        if ended and not back and cluster.requeued():
            back = True
            tell(cluster.requeued()[0].split("] ", 1)[-1])
            cluster.start_node("n2")
        if any("DependencyNeverSatisfied" in why for _, _, why in jobs):
            raise RuntimeError(f"a step failed: {jobs}; logs in {campaign}/logs")
        if not jobs and (process is None or process.poll() is not None):
            break
        time.sleep(0.3)
    if process is not None and process.returncode != 0:
        raise RuntimeError((campaign.parent / "snakemake.log").read_text(encoding="utf-8")[-3000:])
    tell(f"all jobs are done, {done_groups(campaign)} groups")
    return story


def is_time(column):
    return column in TIMES or column.endswith("_seconds")


def rows(table):
    """Without times."""
    with open(table, newline="", encoding="utf-8") as lines:
        return [{name: value for name, value in row.items() if not is_time(name)} for row in csv.DictReader(lines)]


def run_of(row):
    """What a row and its curve have in common."""
    return row["file"], row["step"], row["solver"], row["options"], row["region_mode"], float(row["tolerance"])


def curves(path):
    """{(run, name): bytes} of everything in a file of curves but its times."""
    import h5py
    with h5py.File(path, "r") as file:
        return {(run_of(run.attrs), name): things[()].tobytes() for run in file.get("runs", {}).values() for name, things in run.items() if name != "seconds"}


def is_of_the_report(name):
    """The campaign's last job writes a report beside the results; the single run has none."""
    return Path(name).suffix in (".svg", ".png", ".html", ".md", ".sha256") or name in ("claims.json", "map.json", "summary.csv")


def differences(merged, single):
    """(what one experiment's folder has that the other has not, as lines; rows that met the time limit in either: where a solve was when its time was up
    is no count, so these rows and their curves may differ). A limited row: (experiment, number, both statuses, what differs)."""
    told, limited, excused = [], [], set()
    names = {path.name for path in single.iterdir()} | {path.name for path in merged.iterdir()}
    for name in sorted(name for name in names - {"env.json"} if not is_of_the_report(name)):  # runs.csv stands before trace.h5
        a, b = merged / name, single / name
        if not a.exists() or not b.exists():
            told.append(f"{merged.name}/{name}: only in {(a if a.exists() else b).parent.parent.name}")
        elif name == "runs.csv":
            ours, theirs = rows(a), rows(b)
            if len(ours) != len(theirs):
                told.append(f"{merged.name}/runs.csv: {len(ours)} rows and {len(theirs)}")
            for number, (one, other) in enumerate(zip(ours, theirs), 1):
                columns = {key: (one.get(key), other.get(key)) for key in one if one.get(key) != other.get(key)}
                statuses = one.get("status"), other.get("status")
                if "time_limit" in statuses and (run_of(one), one["threads"]) == (run_of(other), other["threads"]):
                    limited.append((merged.name, number, statuses, columns))
                    excused.add(run_of(one))
                elif columns:
                    told.append(f"{merged.name}/runs.csv, row {number} ({one['solver']} on {one['file']}, step {one['step']}): {columns}")
        elif name == "trace.h5":
            ours, theirs = curves(a), curves(b)
            told += [f"{merged.name}/trace.h5: {key}" for key in sorted(ours.keys() | theirs.keys()) if key[0] not in excused and ours.get(key) != theirs.get(key)]
        elif a.suffix == ".csv":
            if rows(a) != rows(b):
                told.append(f"{merged.name}/{name}: other rows")
        elif a.is_file() and a.read_bytes() != b.read_bytes():
            told.append(f"{merged.name}/{name}: other bytes")
    return told, limited


def compare(campaign, single):
    """(experiments, rows, differences, rows that met the time limit) of a merged campaign and what one process made."""
    told, limited, count = [], [], 0
    experiments = sorted(path.parent.name for path in single.glob("*/run.toml"))
    for name in experiments:
        more, timed = differences(campaign / name, single / name)
        told += more
        limited += timed
        count += len(rows(campaign / name / "runs.csv")) if (campaign / name / "runs.csv").exists() else 0
    return experiments, count, told, limited


def interrupt(*_):
    """A kill takes the daemons and the nodes along, as Ctrl-C does."""
    raise KeyboardInterrupt


def main(arguments=None):
    signal.signal(signal.SIGTERM, interrupt)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="+")
    parser.add_argument("--size", default="quick")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--engine", choices=ENGINES, default="slurm")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--end-after", type=int, default=30)
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--recordings", type=Path, default=None)
    parser.add_argument("--program", type=Path, default=HOUSE / "build/release/experiments/signorini")
    asked = parser.parse_args(arguments)
    if why_not():
        parser.error(f"no cluster here: {why_not()}")
    campaign, single = asked.out.resolve() / "campaign", asked.out.resolve() / "single"
    for folder in (campaign, single):
        (folder / "recordings").mkdir(parents=True, exist_ok=True)
    if asked.recordings:
        shutil.copytree(asked.recordings, campaign / "recordings", dirs_exist_ok=True)
    subprocess.run([asked.program, "plan", *asked.experiments, "--size", asked.size, "-o", campaign], check=True)
    with Cluster() as cluster:
        run_campaign(cluster, asked.program, campaign, asked.engine, asked.shards, asked.end_after, asked.beside)
    shutil.copytree(campaign / "recordings", single / "recordings", dirs_exist_ok=True)
    names = [path.name for path in sorted((campaign / "plan").iterdir())] if asked.experiments == ["all"] else asked.experiments
    done = subprocess.run([asked.program, "run", *names, "--size", asked.size, "--out", single, "--resume"])
    if done.returncode not in (0, 1):  # 1: a row says failed, which is a result
        return 1
    experiments, count, told, limited = compare(campaign, single)
    print(*told[:50], f"{len(experiments)} experiments, {count} rows, {len(told)} differences",
          f"{len(limited)} of the rows met the time limit in either, {sum(1 for *_, columns in limited if columns)} of them with other counts", sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
