"""The tables of single numbers: per program, a row is (what, measured, beside it), each made from its JSON.

A row whose benchmark was not run (--quick leaves some out) is left out; a row never falls back on another number.
"""

import csv

from signorini_report.tables import markdown

TITLES = {
    "block_product": "Products with 3×3 blocks",
    "gauss_seidel": "Gauss–Seidel sweeps",
    "newton": "Newton steps on impulses",
    "few_contacts": "`auto` on few contacts",
    "dense_factors": "Dense factors",
    "admm": "Iterations of `admm`",
    "conjugate_residuals": "Solvers on velocities",
    "regions": "Separating contacts into regions",
    "region_tasks": "Regions as tasks",
    "ccd": "Continuous detection, pair by pair",
    "delassus": "The Delassus operator",
    "recording": "Recordings",
}


NNCG_BOUND = 1.3  # an iteration of `nncg` is a sweep of `pgs` and one pass over three vectors
KINDS = {"net": "mass points in a net", "rings": "elastic rings"}


def times(seconds):
    """1.23 ms and so on, three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1.0:
            break
    else:
        unit, scale = "ns", 1e9
    value = seconds * scale
    return f"{value:,.0f} {unit}" if value >= 99.95 else f"{value:.3g} {unit}"


def seconds_of(row, counter="real_time"):
    return float(row[counter]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[row["time_unit"]]


def count_text(count):
    return f"{int(count):,}"


def detection(result):
    for faces, row in result.under("ratios").items():
        yield (f"{count_text(faces)} faces, in turn within one run", f"two threads {row['two_threads_faster']:.2f}×",
               f"candidates that can be kept {row['kept_faster']:.2f}×, spatial hash {row['hash_faster']:.2f}× the speed of new candidates from the tree")


def block_product(result):
    for key, words in (("full_in_cache", "all blocks stored, in cache"), ("symmetric_in_cache", "upper triangle stored, in cache"),
                       ("full_from_memory", "all blocks stored, from memory"), ("symmetric_from_memory", "upper triangle stored, from memory")):
        for size, row in result.under(f"block_product/{key}").items():
            yield (f"{words}, {count_text(size)} rows", f"{row['ns_per_block']:.2f} ns per block, {row['GB_per_s']:.1f} GB/s",
                   f"{row['x_eigen']:.2f}× Eigen's CSR product" +
                   (f", {100 * row['of_read']:.0f} % of the measured read bandwidth" if "memory" in key else ""))


def gauss_seidel(result):
    orders = (("chain_in_cache", "every contact waits for the one before, in cache"), ("scattered_in_cache", "scattered neighbours, in cache"),
              ("scattered_from_memory", "scattered neighbours, from memory"))
    for key, words in orders:
        for law in ("cone", "pyramid"):
            for size, row in result.under(f"sweep/{law}_{key}").items():
                yield (f"{law}, {words}, {count_text(size)} contacts of 9 blocks", f"{row['ns_per_contact']:.1f} ns per contact",
                       f"{100 * row['of_read']:.0f} % of the measured read bandwidth" if "memory" in key else "")
    for key, words in orders:
        for law in ("cone", "pyramid"):
            for size, row in result.under(f"methods/{law}_{key}").items():
                others = ", ".join(f"`{name}` {row[f'x_{name}']:.2f}×" for name in ("nncg", "nsgs", "anderson"))
                yield (f"one iteration of `pgs`, {law}, {words}, {count_text(size)} contacts of 9 blocks",
                       f"{row['ns_per_contact']:.1f} ns per contact", f"{others} its time")
                yield (f"one iteration of `nncg`, {law}, {words}, {count_text(size)} contacts of 9 blocks",
                       f"{row['x_nncg']:.2f}× one of `pgs`", f"at most {NNCG_BOUND}×: {'holds' if row['x_nncg'] <= NNCG_BOUND else 'differs'}")


def newton(result):
    for method in ("newton", "prox-newton"):
        for kind, words in KINDS.items():
            for size, row in result.under(f"{method.replace('-', '_')}/{kind}").items():
                yield (f"step of `{method}`, {words}, {count_text(size)} contacts", f"{times(row['step_s'])}, its factorisation {100 * row['share']:.0f} %",
                       f"order {count_text(row['order'])}, {count_text(row['fill'])} numbers in the factor for {count_text(row['entries'])} entries; "
                       f"with the analysis of a new pattern {row['analysed']:.2f}× the factorisation")


def few_contacts(result):
    for size, row in result.under("few_contacts").items():
        others = ", ".join(f"`{name}` {row[f'x_{name}']:.2f}×" for name in ("pgs", "nncg", "anderson"))
        yield f"set-up and solve to 1e-6, {count_text(size)} contacts", times(row["auto_s"]), f"{others} its time"


def dense_factors(result):
    names = {"cholesky": "Cholesky factor", "lu": "LU factor", "lu_sparse": "LU factor, 70 % zeros"}
    for name, words in names.items():
        for order, row in result.under(name).items():
            yield f"{words}, order {count_text(order)}", f"{times(row['ours_s'])}, {row['GFlop_s']:.3g} GFlop/s", f"Eigen {row['x_eigen']:.2f}× its time"


def admm(result):
    for kind, words in KINDS.items():
        for size, row in result.under(f"iteration/{kind}").items():
            yield (f"one iteration, {words}, {count_text(size)} contacts", f"{times(row['iteration_s'])}, {row['GB_per_s']:.1f} GB/s",
                   f"{100 * row['of_read']:.0f} % of the measured read bandwidth; {row['bytes'] / 1e6:.3g} MB per iteration (W: {row['bytes_W'] / 1e6:.3g} MB); "
                   f"the solve with the factor {100 * row['solve']:.0f} %")
    for size, row in result.under("read").items():
        yield f"reading {count_text(size)} MB", f"{row['GB_per_s']:.1f} GB/s", "the fastest of several plain sums"


def conjugate_residuals(result):
    for key, row in result.under("iteration").items():
        yield (f"`{key.replace('_', '-')}`, one iteration on an island of 98,304 dofs", f"{row['ms']:.2f} ms, {row['of_floor']:.2f}× the time of its bytes",
               f"two threads {row['two_threads']:.2f}×; read bandwidth {row['read_GB_per_s']:.1f} GB/s")
    for key, row in result.under("block").items():
        kind, solver, digits = key.split("/")[:3]
        yield (f"`{solver}`, {kind} block of 972 dofs, cold start to residual 1e-{digits.removeprefix('digits:')}", f"{row['fastest_ms']:.3g} ms",
               f"{count_text(row['iterations'])} iterations, {count_text(row['products'])} products with M")


def regions(result):
    for mode in ("points", "islands"):
        for size, row in result.under(f"separate/{mode}").items():
            yield f"`{mode}`, {count_text(size)} contacts", f"{times(row['per_contact'])} per contact", ""
    for size, row in result.under("printed_algorithm").items():
        ours = result.get(f"separate/points/{size}", "per_contact")
        yield (f"Algorithm 1 as printed, {count_text(size)} contacts", f"{times(row['per_contact'])} per contact",
               f"{row['per_contact'] / ours:,.0f}× ours" if ours else "grows with the number of contacts")
    rebuild = result.get("rebuild/5", "per_contact")
    for churn, row in result.under("follow/local_churn_percent").items():
        yield (f"following 100,000 contacts over a frame, {churn} % new in whole regions", f"{times(row['per_contact'])} per contact",
               f"from scratch: {times(rebuild)}" if rebuild else "")


def region_tasks(result):
    rows = result.under("threads/pgs")
    for key, row in rows.items():
        if not key.endswith("threads:1"):
            continue
        two = rows.get(key.replace("threads:1", "threads:2"))
        if two:
            parts = dict(part.split(":") for part in key.split("/"))
            yield (f"two threads, {count_text(parts['regions'])} regions of {count_text(parts['contacts'])} contacts",
                   f"{row['fastest'] / two['fastest']:.2f}× one thread (fastest solves)",
                   f"{seconds_of(row) / seconds_of(two):.2f}× in the average; one thread: {times(row['fastest'])}")
    for kind, words in (("dense", "dense kernel"), ("pgs", "sparse kernel"), ("ca", "`ca`")):
        for key, whole in result.under(f"split/{kind}_whole").items():
            split = result.values.get(f"split/{kind}_regions/{key}")
            if split:
                parts = dict(part.split(":") for part in key.split("/"))
                yield (f"{words}, one thread, {count_text(parts['regions'])} regions of {parts['contacts']} contacts",
                       f"{whole['fastest'] / split['fastest']:.3g}× by splitting", f"whole: {times(whole['fastest'])}")


def ccd(result):
    for key, row in result.under("impact").items():
        kind, _, family = key.rpartition("_") if not key.endswith("in_plane") else (key[:-9], "", "in_plane")
        yield f"{kind.replace('_', '–')}, {family.replace('_', ' ')}", f"{times(row['per_pair'])} per pair", f"{100 * row['hits']:.0f} % touch"
    for key, row in result.under("proximity").items():
        yield f"proximity, {key.replace('_', '–')}", f"{times(row['per_pair'])} per pair", ""


def delassus(result):
    names = {"assemble": "assembly of W", "product_assembled": "product with W", "product_matrix_free": "product Hᵀ M⁻¹ H r without W",
             "referee_setup": "set-up of the referee"}
    for name, words in names.items():
        for key, row in result.under(name).items():
            contacts, implicit = key.split("/")
            yield (f"{words}, {'implicit' if implicit == '1' else 'explicit'}, {count_text(contacts)} contacts",
                   times(seconds_of(row)), f"{times(seconds_of(row) / int(contacts))} per contact")


def recording(result):
    names = {"EncodeFrame": "encoding a frame", "OpenRecording": "opening a recording, with the check in a child process",
             "ReadFrame": "reading a frame, with its checks"}
    for name, words in names.items():
        for key, row in result.under(name).items():
            contacts, implicit = key.split("/")
            size = row.get("packed_bytes_per_contact", row.get("bytes_per_contact"))
            yield (f"{words}, {'implicit' if implicit == '1' else 'explicit'}, {count_text(contacts)} contacts", times(seconds_of(row)),
                   f"{size:,.0f} bytes per contact" if size else "")


ROWS = {"detection": detection, "block_product": block_product, "gauss_seidel": gauss_seidel, "newton": newton, "few_contacts": few_contacts,
        "dense_factors": dense_factors, "admm": admm, "conjugate_residuals": conjugate_residuals, "regions": regions, "region_tasks": region_tasks,
        "ccd": ccd, "delassus": delassus, "recording": recording}


def table(results, name):
    """Markdown; "" where the program has no rows."""
    if name not in results:
        return ""
    result = results[name]
    rows = [list(row) for row in ROWS[name](result)]
    text = markdown(["what", "measured", "beside it"], rows, set()) if rows else ""
    for key, message in result.errors.items():
        text += f"\n`{key}` failed: {message}\n"
    return text


# --- Siconos: rows of scripts/compare_siconos, not a Google Benchmark program -------------------------------------------------------

NSGS = ["NSGS", "NSGS, projection", "NSGS, Newton", "NSGS, damped Newton", "NSGS, quartic"]
SICONOS_COLUMNS = ["file", "contacts", "sweeps", "solve_seconds", "setup_seconds", "residual", "siconos_error",
                   "siconos", "siconos_sweeps", "siconos_solve_seconds", "siconos_residual", "siconos_siconos_error"]


def solved_rows(path, **wanted):
    """{file: rows} of a table of runs that were solved and have these values."""
    found = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if float(row["residual"]) <= float(row["tolerance"]) and all(row[name] == value for name, value in wanted.items()):
                found.setdefault(row["file"], []).append(row)
    return found


def write_siconos(folder, path):
    """A row for each file: `pgs` as it stops itself, and the fastest of Siconos' NSGS, both to the residual that was asked for."""
    ours, theirs = (solved_rows(folder / name, protocol="self-stopped") for name in ("runs.csv", "siconos.csv"))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, SICONOS_COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in sorted(ours):
            row, peer = (min(rows.get(name, [None]), key=lambda one: float(one["solve_seconds"]) if one else 0.0) for rows in (ours, theirs))
            line = {"file": name, "contacts": row["contacts"], "sweeps": row["iterations"]} | {key: row[key] for key in SICONOS_COLUMNS[3:7]}
            if peer:
                line |= {"siconos": peer["label"].removeprefix("Siconos "), "siconos_sweeps": peer["iterations"]}
                line |= {f"siconos_{key}": peer[key] for key in ("solve_seconds", "residual", "siconos_error")}
            writer.writerow(line)


def siconos_table(results):
    rows = []
    for row in results.siconos:
        own, peer = float(row["solve_seconds"]), float(row["siconos_solve_seconds"] or "nan")
        beside = f"{row['siconos']}: {1e3 * peer:.3g} ms, {row['siconos_sweeps']} sweeps" if row["siconos"] else "not solved"
        ratios = [f"{peer / time:.2f}×" if row["siconos"] else "–" for time in (own, own + float(row["setup_seconds"]))]
        rows.append([row["file"], count_text(row["contacts"]), f"{1e3 * own:.3g} ms, {row['sweeps']} sweeps", beside, *ratios])
    return markdown(["file", "contacts", "`pgs`", "Siconos' fastest NSGS", "faster than Siconos", "with our set-up"], rows, {1, 4, 5})
