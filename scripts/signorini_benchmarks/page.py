"""docs/speed.md: every number in it comes from the JSON of one results folder, none is typed."""

from signorini_benchmarks import machine, measured, paper, rows
from signorini_benchmarks.programs import BY_NAME, PROGRAMS
from signorini_report.tables import markdown

BUILT = "build/release/experiments/bench"


def page(results, folder_name, pictures=""):
    """`pictures`: what stands before detection.svg and step.svg in the links."""
    parts = [f"<!-- Written by scripts/benchmarks from {folder_name}; do not edit. -->", "# Speed", "", introduction(results), "",
             detection_section(results, pictures), step_section(results, pictures)]
    parts += [section(results, name, title) for name, title in rows.TITLES.items()]
    if results.siconos:
        parts.append(siconos_section(results))
    parts.append(runs_section(results))
    return "\n".join(parts).rstrip("\n") + "\n"


def introduction(results):
    first = next(iter(results.values()))
    facts, context = first.facts, first.context
    sets = ", ".join(facts["machine"]["instruction_sets"])
    caches = ", ".join(f"L{cache['level']} {size_text(cache['size'])}" for cache in context.get("caches", []) if cache["type"] != "Instruction")
    words = (f"Machine: {facts['machine']['cpu']}, {facts['machine']['cores']} cores at {context.get('mhz_per_cpu', 0) / 1000:.1f} GHz"
             f"{' with ' + sets if sets else ''}; {caches}; {facts['machine']['system']}. Compiler: {facts['build']['compiler']}, "
             f"`{facts['build']['flags']}`.")
    quick = "\n\n**Measured with `--quick`: sizes and times are too small to be quoted.**" if any(r.quick for r in results.values()) else ""
    return ("One command measures every number on this page:\n\n    scripts/benchmarks\n\nIt installs what is missing, builds the Google "
            "Benchmark programs in release, runs them, draws the figures and writes this page. Times are those of this machine, the least of several "
            "repetitions. Ratios compare times from one run of one program, and hold better on other machines.\n\n“The time of its "
            "bytes” is the time to read, at the measured bandwidth, what an iteration must read at least: every stored number of M, ten numbers for each "
            "degree of freedom, and the rows of the contacts. Symmetric blocks are read once for both triangles, so a ratio below 1 is possible.\n\n" +
            words + quick)


def size_text(count):
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"


def command_text(results, name):
    """How to get the numbers of one program again."""
    return f"    scripts/benchmarks --only {name}      # {BUILT}/{results[name].facts['command']}\n"


def missing(name):
    return f"Not measured: `scripts/benchmarks --only {name}`.\n"


def detection_section(results, pictures):
    head = "## Detection\n\n"
    if not measured.detection_points(results, "bvh"):
        return head + missing("detection")
    text = head + command_text(results, "detection")
    text += f"\n![Time of one detection over the number of faces]({pictures}detection.svg)\n\n"
    text += ("Piles of rings of 144 faces, each in motion, over a floor. One detection is what a step with one collision check needs: new candidates from boxes "
             "extended by the motion, the pairs closer than the tolerance, and one continuous pass.\n\n")
    table = [[f"{p.faces:,.0f}", number(1e3 * p.seconds), number(1e3 * p.seconds_two), f"{p.seconds / p.seconds_two:.2f}",
              number(1e9 * p.seconds / p.faces), f"{p.pairs:.1f}", *(number(1e3 * part) for part in p.parts)] for p in measured.detection_points(results, "bvh")]
    text += markdown(["faces", "one thread [ms]", "two threads [ms]", "ratio", "per face [ns]", "candidates per face", "candidates [ms]", "tolerance pairs [ms]",
                      "crossings [ms]"], table, set(range(9)))
    text += ("\nDoes the time grow faster than n log n? The exponent is that of t / (n log₂ n) as a power of n, fitted by least squares; above zero by more "
             "than two standard errors it means faster growth. Small piles have more rings at their surface and so fewer neighbours. The rows “per "
             "candidate” divide by the candidates per face: they show the growth of the work per pair that has to be tested.\n\n")
    table = []
    for series, words in measured.SERIES:
        if not measured.detection_points(results, series):
            continue
        for kind, growth in ((words, measured.detection_growth(results, series)),
                             (f"{words}, per candidate", measured.growth_per_pair(results, series))):
            table.append([kind, f"{growth.sizes}", number(1e9 * growth.coefficient), f"{growth.exponent:+.3f} ± {growth.doubt:.3f}", growth.verdict,
                          growth.reason])
    text += markdown(["broad phase, one thread", "sizes", "t / (n log₂ n) [ns]", "exponent", "“no faster than n log n”", "because"], table, {1, 2, 3})
    extra = rows.table(results, "detection")
    return text + ("\n" + extra if extra else "")


def number(value):
    """Three digits, no exponent between a thousandth and a million."""
    if value >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 1e-3 else f"{value:#.3g}".rstrip(".")


def step_section(results, pictures):
    head = "## A step of 120 rings\n\n"
    ours = measured.main_step(results)
    if ours is None:
        return head + missing("engine")
    text = head + command_text(results, "engine") + f"\n![Time of a step by phase]({pictures}step.svg)\n\n"
    row = ours.row
    text += (f"{ours.rings} deformable rings thrown into a bin ({row['tets']:,.0f} tets, {row['faces']:,.0f} faces, {row['dofs']:,.0f} dofs, dt = 1 ms, "
             f"E = 0.5 MPa, μ = 0.5), 220 steps after the start: {row['contacts']:,.0f} contacts and {row['solves']:.1f} linearised solves per step, "
             "solved to a residual of 1e-4. Detection is all collision checks of the step. Free motion is the assembly of the implicit matrix, the velocities "
             "without contact and the response to the impulses. Contact solve is set-up and iterations.\n\n")
    table = []
    for step in measured.steps(results):
        for threads in (1, 2):
            table.append([f"{step.rings} rings, {step.solver}", f"{threads}"] + [number(1e3 * step.seconds(p, threads)) for p, _ in measured.PHASES]
                         + [number(1e3 * step.seconds("step", threads))])
        table.append(["one thread over two", ""] + [f"{step.ratio(p):.2f}×" for p, _ in measured.PHASES] + [f"{step.ratio('step'):.2f}×"])
    text += markdown(["per step [ms]", "threads"] + [words for _, words in measured.PHASES] + ["whole step"], table, set(range(1, 8)))
    if ours.rings == 120:
        text += "\n" + paper_table(ours)
    return text


def paper_table(ours):
    row = ours.row
    table = [[f"`{ours.solver}`, {threads} thread{'s' if threads > 1 else ''}, this machine", f"{ours.seconds('detection', threads):.3f}",
              f"{ours.resolution(threads):.3f}", f"{ours.seconds('step', threads):.3f}", f"{row['iterations']:.0f}", f"{row['contacts']:,.0f}"]
             for threads in (1, 2)]
    table += [[f"{p.method}, {paper.CORE}", f"{p.collision:.2f}", f"{p.resolution:.2f}", f"{p.total:.2f}", f"{p.iterations:.0f}", f"{p.contacts:,.0f}"]
              for p in paper.RINGS]
    text = markdown(["per step", "collision [s]", "resolution [s]", "total [s]", "iterations", "contacts"], table, {1, 2, 3, 4, 5})
    best = paper.RINGS[0]
    return (f"The next table compares with the paper's columns ({paper.SCENE}; means over its run; contacts: its constraints over three). In our rows "
            "resolution is everything but detection. The processors are ten years apart and the piles differ: compare orders of magnitude only.\n\n" + text +
            f"\nSpeed-up over {best.method} on one thread: {best.collision / ours.seconds('detection', 1):.0f}× in collision, "
            f"{best.resolution / ours.resolution(1):.1f}× in resolution with {row['contacts'] / best.contacts:.1f} times the contacts.\n")


def section(results, name, title):
    head = f"## {title}\n\n"
    return head + (command_text(results, name) + "\n" + rows.table(results, name) if name in results else missing(name))


def siconos_section(results):
    return ("## Beside Siconos\n\n    scripts/benchmarks --siconos DATA      # scripts/compare_siconos on its Capsules-* and KaplasTower*\n\n"
            "Solve times without set-up on FCLib's problems, on one thread from zero impulses, to a residual of 1e-4 by our referee; each code stops by its "
            "own test. Siconos 4.4 is its NSGS with the fastest local solver.\n\n" + rows.siconos_table(results))


def runs_section(results):
    table = []
    for program in PROGRAMS:
        if program.name in results:
            facts = results[program.name].facts
            others = facts["other_cores"]
            table.append([f"`{program.binary}`", facts["started"][:10], f"`{facts['build']['git']}`", f"{others:.2f}",
                          "quiet" if others <= machine.QUIET_CORES else "**disturbed: repeat**"])
    unknown = sorted(set(results) - set(BY_NAME))
    return ("## When and how quietly\n\nOther work is the number of cores that other processes, or other guests of the host, kept busy on average during the "
            "run.\n\n" +
            markdown(["program", "date", "revision", "other work [cores]", ""], table, {3}) +
            (f"\nNot shown: {', '.join(unknown)}.\n" if unknown else ""))
