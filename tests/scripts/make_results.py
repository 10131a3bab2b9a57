"""Writes a small results folder of invented runs in the exact layout of `signorini run`, for the tests of scripts/report."""

import json
from pathlib import Path

import h5py
import numpy as np

HEADER = ("experiment,file,step,contacts,dofs,regions,largest_region,solver,options,law,region_mode,threads,repetition,status,"
          "iterations,residual,natural_map,siconos_error,fischer_burmeister,penetration,cone_violation,dissipation_angle,"
          "equation,setup_seconds,solve_seconds,tolerance,protocol,first_phase,products,message")
VARIANTS = [("pgs", "law={law};form=scalar", 22, 1.0), ("pcg", "law={law};beta=fr;form=robust", 30, 1.6),
            ("pcg", "law={law};beta=pr;form=robust", 20, 1.5), ("pcg-pgs", "law={law};beta=pr", 24, 1.1),
            ("ca", "law={law}", 22, 0.8), ("reference", "law={law}", 300, 6.0)]
QUOTED = "\"stopped, at the limit\""
CONFIG = '''
artefact = "Invented data"
claim = "Splitting into regions saves time."
[[expect]]
id = "all_solved"
claim = "every self-stopped run meets the tolerance"
kind = "fraction"
column = "residual"
where = { protocol = "self-stopped", solver = ["pgs", "ca"] }
upper = 1e-6
min = 1.0
[[expect]]
id = "regions_faster"
claim = "split is faster than whole"
source = "Lazarevych 2010, section 5"
kind = "ratio"
column = "solve_seconds"
where = { protocol = "time", threads = 1 }
numerator = { region_mode = "none" }
denominator = { region_mode = "points" }
min = 1.0
[[expect]]
id = "slope"
claim = "time grows almost linearly when separated"
kind = "slope"
column = "solve_seconds"
against = "contacts"
where = { region_mode = "points", solver = "pgs", protocol = "time", threads = 1 }
max = 0.2
[[expect]]
id = "hardware"
claim = "2.5 to 3 times faster on the paper's machine"
kind = "ratio"
column = "solve_seconds"
comparable = false
reason = "the paper names no hardware"
'''


def make(folder, steps=24, seed=7, laws=("cone", "pyramid")):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    rows, traces, sizes = [], [], []
    tolerance = 1e-6
    for number in range(steps):
        step = f"{100 + 20 * number:06d}"
        contacts = 4 + int(3 * number + random.integers(0, 6))
        regions = 1 + contacts // 9
        for mode, parts in (("points", regions), ("islands", max(1, regions - 1))):
            sizes += [f"recordings/bucket.h5,{step},{mode},{max(1, contacts // parts)},{parts}"]
        hard = random.lognormal(0.0, 0.35)
        for law in laws:
            for solver, options, base, cost in VARIANTS:
                fails = solver == "pcg" and "fr" in options and number % 5 == 3
                note = QUOTED if fails else ""
                own = max(2, int(base * hard * random.lognormal(0, 0.15) * (1.2 if law == "pyramid" else 1.0)))
                for mode, parts in (("none", 1), ("points", regions), ("islands", max(1, regions - 1))):
                    for threads in (1, 2):
                        if mode == "none" and threads > 1:
                            continue
                        gain = 1.0 if threads == 1 else 1.0 + 0.8 * min(1.0, contacts / 60)
                        seconds = 2e-7 * cost * own * contacts**1.3 / parts**0.25 / gain * random.lognormal(0, 0.05)
                        residual = 3e-3 if fails else tolerance * random.uniform(0.3, 1.0)
                        for protocol in ("time", "self-stopped"):
                            status = "iteration_limit" if fails else "converged"
                            rows.append(
                                f"invented,recordings/bucket.h5,{step},{contacts},900,{parts},{contacts // parts},{solver},"
                                f"{options.format(law=law)},{law},{mode},{threads},0,{status},{1000 if fails else own},"
                                f"{residual:.17g},nan,nan,1e-7,1e-9,0,1,nan,{seconds * 0.6:.9g},{seconds:.9g},{tolerance},"
                                f"{protocol},0,{own},{note}")
                        if threads == 1 and mode == "none":
                            length = 60 if fails else own
                            k = np.arange(0, length + 1)
                            decay = 3e-3 ** (k / length) if fails else (tolerance * 0.9) ** (k / length)
                            traces.append((step, solver, options.format(law=law), law, mode, k, k * seconds / length, decay))
    (folder / "runs.csv").write_text("\n".join([HEADER] + rows) + "\n")
    (folder / "regions.csv").write_text("\n".join(["file,step,region_mode,size,count"] + sizes) + "\n")
    (folder / "config.toml").write_text(CONFIG)
    (folder / "env.json").write_text(json.dumps({"git": "0123abc", "compiler": "g++ 12.2", "cpu": {"model": "invented",
                                                                                                    "cores": 2}}))
    with h5py.File(folder / "trace.h5", "w") as file:
        for number, (step, solver, options, law, mode, k, seconds, residual) in enumerate(traces):
            group = file.create_group(f"runs/{number}")
            for key, value in (("file", "recordings/bucket.h5"), ("step", step), ("solver", solver), ("options", options),
                               ("law", law), ("region_mode", mode), ("threads", 1), ("tolerance", tolerance)):
                group.attrs[key] = value
            group["iteration"], group["seconds"], group["residual"] = k.astype("i4"), seconds, residual
    return folder


if __name__ == "__main__":
    import sys
    print(make(sys.argv[1]))
