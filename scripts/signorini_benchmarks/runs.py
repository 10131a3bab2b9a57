"""Runs one program and keeps what Google Benchmark wrote, without host name and paths; reads such files."""

import csv
import json
import os
import re
import subprocess
from pathlib import Path

from signorini_benchmarks import machine
from signorini_report import whole_files


class BenchmarkError(Exception):
    """One line for the person at the terminal."""


SICONOS = "compare_siconos.csv"

# What Google Benchmark appends to a name to say how it was timed.
MODIFIER = re.compile(r"^(manual_time|real_time|process_time|(iterations|min_time|min_warmup_time|repeats|threads_per_cpu):.*)$")


def key_of(run_name):
    """sweep/cone/1000/iterations:20/manual_time -> sweep/cone/1000"""
    return "/".join(part for part in run_name.split("/") if not MODIFIER.match(part))


class Result:
    """One program's JSON: `values` maps the key of a benchmark to its counters and times."""

    def __init__(self, path, content):
        self.path = path
        self.facts = content["context"]["signorini"]
        self.context = content["context"]
        self.values, self.errors = {}, {}
        for row in content["benchmarks"]:
            if row.get("run_type", "iteration") != "iteration":
                continue  # Google Benchmark's own fits
            key = key_of(row.get("run_name", row["name"]))
            if row.get("error_occurred"):
                self.errors[key] = row.get("error_message", "")
            else:
                self.values[key] = row

    @property
    def quick(self):
        return self.facts["quick"]

    def get(self, key, counter):
        """None where the program did not measure it."""
        value = self.values.get(key, {}).get(counter)
        return float(value) if value is not None else None

    def under(self, prefix):
        """{rest of the key: row} of all keys `prefix`/rest, in the order of the file."""
        return {key[len(prefix) + 1:]: row for key, row in self.values.items() if key.startswith(prefix + "/")}


def read_result(path):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Result(path, content)
    except OSError as error:
        raise BenchmarkError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchmarkError(f"{path}: not a result of scripts/benchmarks ({type(error).__name__}: {error}); "
                             "delete it or run with --again") from error


class Results(dict):
    """{program name: Result} of a folder; `siconos`: the rows of the table of scripts/compare_siconos, where it was run."""

    siconos = ()


def read_results(folder):
    results = Results((path.stem.removeprefix("bench_"), read_result(path)) for path in sorted(folder.glob("bench_*.json")))
    if (folder / SICONOS).is_file():
        with open(folder / SICONOS, newline="", encoding="utf-8") as file:
            results.siconos = list(csv.DictReader(file))
    return results


def without_private_facts(context, binary):
    """Google Benchmark's context without the host name, with the program's name in place of its path."""
    kept = {key: value for key, value in context.items() if key not in ("host_name", "executable")}
    return kept | {"executable": binary}


def run_program(program, binaries, folder, sizes, facts):
    """Runs to the end or raises; a killed run leaves no result behind."""
    binary = binaries / program.binary
    if not os.access(binary, os.X_OK):
        raise BenchmarkError(f"{binary}: no such program; build it with `cmake --build --preset release`")
    raw, path = folder / f".{program.binary}.raw.json", folder / f"{program.binary}.json"
    command = program.command(sizes)
    work = machine.OtherWork()
    load, started = os.getloadavg()[0], machine.utc_now()
    done = subprocess.run([str(binary), *command[1:], f"--benchmark_out={raw}", "--benchmark_out_format=json"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raw.unlink(missing_ok=True)
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BenchmarkError(f"{program.binary} ended with code {done.returncode}: {last}")
    try:
        content = json.loads(raw.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{program.binary} wrote no JSON: {error}") from error
    content["context"] = without_private_facts(content["context"], program.binary) | {
        "signorini": {"program": program.name, "quick": sizes == "quick", "command": " ".join(command), "started": started,
                      "finished": machine.utc_now(), "load_before": round(load, 2), "other_cores": round(work.cores(), 3), **facts}}
    whole_files.write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    raw.unlink()
    return read_result(path)


def binaries_of(build):
    return Path(build) / "experiments" / "bench"
