"""Facts about the machine and the build that a number needs beside it; never a host name, a user or a path."""

import datetime
import os
import re
import resource
import subprocess
import time
from pathlib import Path

QUIET_CORES = 0.1  # other work, in cores: above it a run is said to be disturbed


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def instruction_sets():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.partition(":")[2].split())
            return [name for name in ("avx", "avx2", "fma", "avx512f") if name in flags]
    return []


def machine_name(cpu, cores):
    """A folder name that tells machines apart and names none: intel_xeon_processor_2_cores."""
    words = re.sub(r"\((r|tm|c)\)", " ", cpu.lower())
    words = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    return f"{words}_{cores}_cores"


def usable_cores():
    return len(os.sched_getaffinity(0))


def machine_facts():
    return {"cpu": cpu_model(), "cores": usable_cores(), "instruction_sets": instruction_sets(),
            "system": f"{os.uname().sysname} {os.uname().machine}, {distribution()}"}


def distribution():
    try:
        lines = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    except OSError:
        return "unknown distribution"
    return lines.get("PRETTY_NAME", "unknown distribution").strip('"')


def build_facts(source, build):
    """Revision of the sources, compiler and flags of a CMake build folder."""
    facts = {"git": revision(source), "compiler": "unknown", "flags": "unknown"}
    for file in sorted(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")):
        text = file.read_text()
        found = [re.search(rf'^set\({key} "([^"]*)"\)', text, re.MULTILINE)
                 for key in ("CMAKE_CXX_COMPILER_ID", "CMAKE_CXX_COMPILER_VERSION")]
        if all(found):
            facts["compiler"] = " ".join(match.group(1) for match in found)
    facts["flags"] = optimisation_flags(build / "build.ninja") or facts["flags"]
    return facts


def optimisation_flags(ninja):
    """Those of the library's first object that change its code, not its warnings; "" where Ninja did not build it."""
    if not ninja.is_file():
        return ""
    found = re.search(r"^build CMakeFiles/signorini_core\.dir/lib/.*?^  FLAGS = (.*?)$", ninja.read_text(), re.MULTILINE | re.DOTALL)
    return " ".join(word for word in found.group(1).split() if re.match(r"-(O|D|f|m|std=)", word)) if found else ""


def revision(source):
    def git(*words):
        return subprocess.run(["git", "-C", str(source), *words], capture_output=True, text=True, check=False)
    head = git("rev-parse", "--short=12", "HEAD")
    if head.returncode != 0:
        return "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "lib", "experiments", "CMakeLists.txt", "cmake").stdout.strip()
    return head.stdout.strip() + (" with changes" if changed else "")


def busy_seconds():
    """CPU seconds that all processes of the machine, and others on its host (steal), have used so far."""
    user, nice, system, _idle, _wait, irq, soft, steal = (int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


class OtherWork:
    """How many cores other processes keep busy from the construction to `cores()`; children count once they have ended."""

    def __init__(self):
        self.start = time.monotonic(), busy_seconds(), own_seconds()

    def cores(self):
        elapsed = time.monotonic() - self.start[0]
        others = (busy_seconds() - self.start[1]) - (own_seconds() - self.start[2])
        return max(0.0, others / elapsed) if elapsed > 0 else 0.0


def other_work_now(seconds=1.0):
    watch = OtherWork()
    time.sleep(seconds)
    return watch.cores()


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
