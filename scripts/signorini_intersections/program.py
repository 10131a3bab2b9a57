"""The program that asks CGAL (intersections.cpp): built once into a cache folder, then asked surface by surface."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parent / "intersections.cpp"
FLAGS = ["-std=c++17", "-O2", "-frounding-math"]  # CGAL's intervals change the rounding mode
LIBRARIES = ["-lgmp", "-lmpfr"]


class MissingError(Exception):
    """The program cannot be built or run, mostly as a package is missing: lines for the user."""


def default_cache():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "signorini" / "intersections"


def why_missing(compiler):
    if shutil.which(compiler) is None:
        return f"no C++ compiler '{compiler}':\n  sudo apt-get install --no-install-recommends g++"
    asked = subprocess.run([compiler, "-E", "-x", "c++", "-", "-o", os.devnull], input="#include <CGAL/version.h>\n", text=True,
                           capture_output=True)
    return "" if asked.returncode == 0 else "CGAL is missing:\n  sudo apt-get install --no-install-recommends libcgal-dev"


def build(cache, compiler):
    """Path of the program; its name tells the source and the compiler, so that a change of either builds anew."""
    missing = why_missing(compiler)
    if missing:
        raise MissingError(missing)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    headers = subprocess.run([compiler, "-E", "-x", "c++", "-"], input="#include <CGAL/version.h>\nCGAL_VERSION_NR\n", text=True,
                             capture_output=True).stdout.strip().splitlines()[-1]
    digest = hashlib.sha256("\n".join([SOURCE.read_text(encoding="utf-8"), version, headers, *FLAGS]).encode()).hexdigest()[:16]
    program = Path(cache) / digest / "intersections"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_name(f"intersections.{os.getpid()}")
    made = subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(unfinished), *LIBRARIES], capture_output=True, text=True)
    if made.returncode != 0:
        raise MissingError(f"{SOURCE.name} does not build with this compiler and CGAL:\n{made.stderr[-2000:]}")
    unfinished.rename(program)
    return program


class Checker:
    """A running program; `check` asks about one set of surfaces."""

    def __init__(self, program):
        self.version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def check(self, vertices, triangles, body):
        """pairs, neighbours, flat triangles, depth (m) and the two bodies of the deepest pair: see intersections.cpp."""
        try:
            for values, kind in ((np.array([len(vertices), len(triangles)]), "i8"), (vertices, "f8"), (triangles, "i8"), (body, "i8")):
                self.process.stdin.write(np.ascontiguousarray(values, kind).tobytes())
            self.process.stdin.flush()
            words = self.process.stdout.readline().split()
        except BrokenPipeError:
            words = []
        if len(words) != 6:
            raise MissingError(f"the program that asks CGAL ended without an answer (exit code {self.process.wait()}); delete its folder "
                               f"{Path(self.process.args[0]).parent} and try again")
        pairs, neighbours, flat, depth, a, b = words
        return int(pairs), int(neighbours), int(flat), float(depth), (int(a), int(b))

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended; `check` has said so
        self.process.wait()
        self.process.stdout.close()
