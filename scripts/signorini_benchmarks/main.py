"""The command line of scripts/benchmarks, after the set-up and the build."""

import json
import os
import shutil
import subprocess
import sys

from signorini_benchmarks import compare, figures, machine, measured, page, rows, runs
from signorini_benchmarks.options import ROOT, chosen_programs, parse
from signorini_benchmarks.programs import PROGRAMS
from signorini_benchmarks.runs import BenchmarkError

def say(text):
    print(f"benchmarks: {text}", file=sys.stderr, flush=True)


def default_folder(facts, quick):
    name = "speed_" + machine.machine_name(facts["cpu"], facts["cores"])
    return ROOT / "results" / "out" / (name + ("_quick" if quick else ""))


def warn_if_busy():
    """Warns, never refuses: whether a disturbed number is good enough is the reader's choice."""
    load, others = os.getloadavg()[0], machine.other_work_now()
    if others > machine.QUIET_CORES:
        say(f"warning: the machine is busy: other work keeps {others:.2f} cores occupied (load average {load:.2f}); times will be too long and "
            "ratios between threads too small. End it, or repeat later with --again")
    return others


def measure(options, folder, facts):
    """Runs what has no result yet; returns the names of the programs that failed."""
    failed, chosen = [], chosen_programs(options)
    warned = False
    for place, program in enumerate(chosen, start=1):
        path = folder / f"{program.binary}.json"
        if path.is_file() and not options.again:
            known = runs.read_result(path)
            if known.quick == options.quick:
                git = known.facts["build"]["git"]
                say(f"{place}/{len(chosen)} {program.name}: kept from {known.facts['started']}, revision {git}"
                    + ("" if git == facts["build"]["git"] else "; the sources have changed since, --again measures anew"))
                continue
        if not warned:
            warned = warn_if_busy() > machine.QUIET_CORES
        say(f"{place}/{len(chosen)} {program.name}: {program.what}")
        try:
            result = runs.run_program(program, runs.binaries_of(options.build), folder, options.sizes, facts)
        except BenchmarkError as error:
            say(f"error: {error}")
            failed.append(program.name)
            continue
        for key, message in result.errors.items():
            say(f"error: {program.binary}, {key}: {message}")
            failed.append(program.name)
        if result.facts["other_cores"] > machine.QUIET_CORES:
            say(f"warning: other work kept {result.facts['other_cores']:.2f} cores occupied while {program.name} ran")
    return failed


def compare_siconos(data, folder):
    files = sorted(data.rglob("Capsules-*.hdf5")) + sorted(data.rglob("KaplasTower*.hdf5"))
    if not files:
        raise BenchmarkError(f"{data}: no Capsules-*.hdf5 or KaplasTower*.hdf5 in it")
    out = folder / "siconos"
    words = ["--solver", "pgs", "--tolerance", "1e-4", "--max-iterations", "20000", "--siconos", ";".join(rows.NSGS), "--no-report", "--force"]
    done = subprocess.run([ROOT / "scripts" / "compare_siconos", *files, "-o", out, *words], check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"scripts/compare_siconos {data} ended with code {done.returncode}")
    rows.write_siconos(out, folder / runs.SICONOS)
    shutil.rmtree(out)


def write_environment(results, folder):
    """env.json: machine and build of every program, as all results of the project have it."""
    programs = {name: {key: result.facts[key] for key in ("command", "started", "finished", "load_before", "other_cores", "quick")}
                | {"git": result.facts["build"]["git"]} for name, result in results.items()}
    first = next(iter(results.values()))
    text = json.dumps({"program": "scripts/benchmarks", "build": first.facts["build"], "machine": first.facts["machine"],
                       "programs": programs}, indent=2, ensure_ascii=False)
    (folder / "env.json").write_text(text + "\n", encoding="utf-8")


def write_all(folder, say_growth=True):
    """Figures, table and page of a folder with results."""
    results = runs.read_results(folder)
    if not results:
        raise BenchmarkError(f"{folder}: holds no bench_*.json; run scripts/benchmarks first")
    write_environment(results, folder)
    figures.draw_all(results, folder)
    (folder / "speed.md").write_text(page.page(results, f"results/out/{folder.name}"), encoding="utf-8")
    if say_growth:
        print_verdicts(results)
    return results


def print_verdicts(results):
    for series, words in measured.SERIES:
        points = measured.detection_points(results, series)
        if points:
            for kind, growth in (("", measured.detection_growth(results, series)), (", per candidate", measured.growth_per_pair(results, series))):
                print(f"detection, {words}{kind}: no faster than n log n from {points[0].faces:,.0f} to {points[-1].faces:,.0f} faces: "
                      f"{growth.verdict} (exponent of t/(n log n) {growth.exponent:+.3f} ± {growth.doubt:.3f}: {growth.reason})")
    step = measured.main_step(results)
    if step:
        phases = ", ".join(f"{words} {1e3 * step.seconds(p, 1):.1f} ({step.ratio(p):.2f}x)" for p, words in measured.PHASES)
        print(f"step of {step.rings} rings, {step.solver}: {1e3 * step.seconds('step', 1):.1f} ms, two threads {step.ratio('step'):.2f}x; {phases}")


def publish(folder, root=ROOT):
    """Copies the JSON to results/reference and writes docs/speed.md with its figures from the copy."""
    results = runs.read_results(folder)
    lacking = [program.name for program in PROGRAMS if program.name not in results]
    if lacking:
        raise BenchmarkError(f"{folder}: not measured yet: {', '.join(lacking)}")
    if any(result.quick for result in results.values()):
        raise BenchmarkError(f"{folder}: holds measurements with --quick; only full ones are published")
    names = sorted(path.name for path in folder.glob("bench_*.json")) + ([runs.SICONOS] if results.siconos else [])
    environment = os.environ | {"SIGNORINI_RESULTS": str(folder.parents[1])}
    done = subprocess.run([str(ROOT / "scripts" / "reference"), "promote", folder.name, *names, "--yes"], env=environment, capture_output=True, text=True,
                          check=False)
    say(done.stdout.strip() or done.stderr.strip())
    if done.returncode != 0:
        raise BenchmarkError(f"scripts/reference ended with code {done.returncode}")
    write_docs(folder.parents[1] / "reference" / folder.name, root / "docs")


def write_docs(reference, docs):
    results = runs.read_results(reference)
    docs.mkdir(parents=True, exist_ok=True)
    for name in figures.draw_all(results, docs):
        (docs / f"{name}.png").unlink()
        os.replace(docs / f"{name}.svg", docs / f"speed_{name}.svg")
    (docs / "speed.md").write_text(page.page(results, f"results/reference/{reference.name}", "speed_"), encoding="utf-8")


def run(options):
    if options.compare:
        return compare.run(options, say)
    facts = {"machine": machine.machine_facts(), "build": machine.build_facts(ROOT, options.build)}
    folder = (options.out or default_folder(facts["machine"], options.quick)).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = [] if options.draw else measure(options, folder, facts)
    if options.siconos:
        compare_siconos(options.siconos.resolve(), folder)
    write_all(folder)
    print(f"results, figures, speed.md  {folder}/")
    if options.publish and not failed:
        publish(folder)
        print("published                   docs/speed.md")
    return 1 if failed else 0


def main(arguments=None):
    options = parse(arguments)
    try:
        return run(options)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"error: {error.filename or options.out}: {error.strerror or error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("benchmarks: interrupted; what was measured is kept, the same command goes on from there", file=sys.stderr)
        return 130
