"""Writes a small results folder of invented runs in the exact layout of `signorini run`, for the tests of scripts/report."""

import json
from pathlib import Path

import h5py
import numpy as np

COLUMNS = {  # of runs.csv, as `signorini list columns` tells them: (type, unit); those that tell runs apart are in KEYS
    "experiment": ("text", ""), "file": ("text", ""), "step": ("text", ""), "contacts": ("integer", "1"), "dofs": ("integer", "1"),
    "regions": ("integer", "1"), "largest_region": ("integer", "1"), "solver": ("text", ""), "options": ("text", ""), "law": ("text", ""),
    "region_mode": ("text", ""), "threads": ("integer", "1"), "repetition": ("integer", "1"), "status": ("text", ""), "iterations": ("integer", "1"),
    "residual": ("real", "1"), "natural_map": ("real", "1"), "siconos_error": ("real", "1"), "fischer_burmeister": ("real", "m/s"),
    "penetration": ("real", "m"), "cone_violation": ("real", "1"), "dissipation_angle": ("real", "deg"), "equation": ("real", "1"),
    "setup_seconds": ("real", "s"), "solve_seconds": ("real", "s"), "tolerance": ("real", "1"), "protocol": ("text", ""),
    "phases": ("text", ""), "products": ("integer", "1"), "message": ("text", ""), "label": ("text", ""),
    **dict.fromkeys(("mass_products", "direction_products", "contact_sweeps", "triangular_solves", "evaluations", "state_changes", "restarts", "guards",
                     "relinearisations"), ("integer", "1")),
    **dict.fromkeys(("fb_normal", "fb_static", "fb_kinetic"), ("real", "m")), "cpu_share": ("real", "1"), "waited_share": ("real", "1"),
    "involuntary_switches": ("integer", "1"), "solver_bytes": ("integer", "B"), "factorisations": ("integer", "1"),
    "island_residual": ("real", "1"), **dict.fromkeys(("speedup_8", "speedup_64", "speedup_256"), ("real", "1")),
    "threads_used": ("integer", "1")}
KEYS = ("experiment", "file", "step", "solver", "options", "region_mode", "threads", "repetition", "tolerance", "protocol")
CONTRACT = list(COLUMNS)[:26]  # up to the tolerance
DEFAULTS = {"text": "", "integer": "0", "real": "nan"}
HEADER = list(COLUMNS)[:30]  # up to the message
VARIANTS = [("pgs", "law={law};form=scalar", 22, 1.0), ("pcg", "law={law};beta=fr;form=robust", 30, 1.6),
            ("pcg", "law={law};beta=pr;form=robust", 20, 1.5), ("pcg-pgs", "law={law};beta=pr", 24, 1.1),
            ("ca", "law={law}", 22, 0.8), ("reference", "law={law}", 300, 6.0)]
QUOTED = "\"stopped, at the limit\""
RUN = 'artefact = "Invented data"\n'
CLAIMS = '''
says = "Splitting into regions saves time."
[defaults]
bound = "paper"
[[claims]]
id = "all_solved"
text = "every self-stopped run meets the tolerance"
fraction = "residual"
where = { protocol = "self-stopped", solver = ["pgs", "ca"] }
upper = 1e-6
min = 1.0
[[claims]]
id = "regions_faster"
text = "split is faster than whole"
source = "Lazarevych 2010, section 5"
ratio = "solve_seconds"
where = { protocol = "time", threads = 1 }
of = { region_mode = "none" }
to = { region_mode = "points" }
min = 1.0
[[claims]]
id = "slope"
text = "time grows almost linearly when separated"
slope = "solve_seconds"
against = "contacts"
where = { region_mode = "points", solver = "pgs", protocol = "time", threads = 1 }
max = 0.2
bound = "ours"
why = "far below one"
[[claims]]
id = "hardware"
text = "2.5 to 3 times faster on the paper's machine"
ratio = "solve_seconds"
comparable = false
because = "no_hardware"
'''
REASONS = 'no_hardware = "the paper names no hardware"\n'


def write_runs(folder, names, rows, schema=True):
    """runs.csv with the columns of the program, rows given by some of them; and its schema."""
    more = [name for name in COLUMNS if name not in names]
    rest = "".join("," + ("time" if name == "protocol" else DEFAULTS[COLUMNS[name][0]]) for name in more)
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / "runs.csv").write_text("\n".join([",".join([*names, *more])] + [row + rest for row in rows]) + "\n")
    if schema:
        columns = [{"name": name, "type": kind, "unit": unit, "meaning": f"meaning of {name}", "key": name in KEYS} for name, (kind, unit) in COLUMNS.items()]
        (Path(folder) / "runs.schema.json").write_text(json.dumps({"runs.csv": columns}))


def define(folder, claims=CLAIMS, figures="", run=RUN, reasons=REASONS):
    """The folder of an experiment; returns it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("run.toml", run), ("claims.toml", claims), ("figures.toml", figures), ("reasons.toml", reasons)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


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
    write_runs(folder, HEADER, rows)
    (folder / "regions.csv").write_text("\n".join(["file,step,region_mode,size,count"] + sizes) + "\n")
    (folder / "run.toml").write_text(RUN)
    definition = define(folder.with_name(folder.name + "_definition"))
    (folder / "env.json").write_text(json.dumps({"git": "0123abc", "definition": str(definition), "compiler": "g++ 12.2", "cpu": {"model": "invented",
                                                                                                    "cores": 2}}))
    with h5py.File(folder / "trace.h5", "w") as file:
        for number, (step, solver, options, law, mode, k, seconds, residual) in enumerate(traces):
            group = file.create_group(f"runs/{number}")
            for key, value in (("file", "recordings/bucket.h5"), ("step", step), ("solver", solver), ("options", options),
                               ("law", law), ("region_mode", mode), ("threads", 1), ("tolerance", tolerance)):
                group.attrs[key] = value
            group["iteration"], group["seconds"], group["residual"] = k.astype("i4"), seconds, residual
    return folder


STEP_COLUMNS = ["file", "step", "time", "contacts", "iterations", "residual", "total_energy", "detection_seconds", "assembly_seconds", "free_seconds", "solve_seconds",
                "other_seconds"]
DRIVEN = {"rings": 1.0, "cubes": 3.0}
DRIVERS = {"pgs": 2.0, "ica": 1.0, "auto": 0.7}


def make_steps(folder, steps=40, seed=11, drivers=tuple(DRIVERS)):
    """An experiment of driven scenes: no runs, a line per step of every scene by every driver; the first steps are without contacts."""
    folder, random = Path(folder), np.random.default_rng(seed)
    write_runs(folder, HEADER, [])
    lines, recorded = [",".join(STEP_COLUMNS)], ["file,kind,key,value"]
    for scene, cost in DRIVEN.items():
        for driver in drivers:
            file = f"{scene}_by_{driver}-quick.h5"
            recorded += [f"{file},recording,scene,{scene}", f"{file},setting,solver.name,{driver}", f"{file},setting,time.step_s,0.002", f"{file},status,failed,0"]
            for step in range(1, steps + 1):
                contacts = max(0, 3 * (step - 4))
                clocks = [cost * (1e-4 + factor * contacts * random.uniform(1e-5, 2e-5)) for factor in (0.1, 0.2, 0.1, DRIVERS.get(driver, 1.0), 0.05)]
                row = [file, step, f"{0.002 * step:.9g}", contacts, contacts and int(random.integers(2, 40)), f"{random.uniform(1e-6, 1e-4):.9g}" if contacts else "",
                       f"{10 * cost - 0.01 * step:.9g}", *(f"{one:.9g}" for one in clocks)]
                lines.append(",".join(map(str, row)))
    (folder / "steps.csv").write_text("\n".join(lines) + "\n")
    (folder / "recordings.csv").write_text("\n".join(recorded) + "\n")
    run = 'artefact = "Invented steps"\nprotocols = []\nsteps = true\n'
    (folder / "run.toml").write_text(run)
    definition = define(folder.with_name(folder.name + "_definition"), claims="", figures='over_time = [{ name = "all", column = "step_seconds", log = true }]\n', run=run)
    (folder / "env.json").write_text(json.dumps({"git": "0123abc", "size": "quick", "definition": str(definition)}))
    return folder


if __name__ == "__main__":
    import sys
    print(make(sys.argv[1]))
