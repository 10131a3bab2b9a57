"""scripts/benchmarks: fits of invented times are those of hand, results name no host, runs resume, pages repeat to the byte."""

import contextlib
import io
import json
import math
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

from signorini_benchmarks import machine, main, measured, options, page, rows, runs  # noqa: E402
from signorini_benchmarks.growth import fit_growth  # noqa: E402
from signorini_benchmarks.programs import PROGRAMS  # noqa: E402

SIZES = [1008, 3168, 10080, 31680, 100080, 316800, 1000080]
HOST, FOLDER = "somebodys-laptop", "/home/somebody/build"


def content(benchmarks, quick=False):
    """A file as `run_program` leaves it."""
    facts = {"machine": {"cpu": "Some CPU", "cores": 2, "instruction_sets": ["avx2"], "system": "Linux x86_64, Debian"},
             "build": {"git": "0123456789ab", "compiler": "GNU 12.2.0", "flags": "-O3"}}
    return {"context": {"mhz_per_cpu": 2600, "caches": [{"type": "Data", "level": 1, "size": 49152}],
                        "signorini": {"program": "x", "quick": quick, "command": "bench_x", "started": "2026-11-21T10:00:00Z",
                                      "finished": "2026-11-21T10:01:00Z", "load_before": 0.1, "other_cores": 0.01, **facts}},
            "benchmarks": benchmarks}


def row(name, **counters):
    return {"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "real_time": 2.0, "cpu_time": 2.0, "time_unit": "ms",
            **counters}


def detection_rows(seconds, series="bvh"):
    return [row(f"detect/{series}/{n}/min_time:2.000/manual_time", faces=n + 2, ms=1e3 * seconds(n + 2), ms_2threads=500.0 * seconds(n + 2),
                ms_candidates=500.0 * seconds(n + 2), ms_proximity=300.0 * seconds(n + 2), ms_crossings=200.0 * seconds(n + 2),
                pairs_per_face=6.0 * (n + 2) ** 0.01) for n in SIZES]


def engine_rows(rings=120):
    one, two = (0.030, 0.010, 0.080, 0.270, 0.010), (0.020, 0.008, 0.050, 0.160, 0.012)
    counters = {"contacts": 1740.0, "solves": 5.2, "iterations": 160.0, "rounds": 5.2, "bodies": rings, "tets": 12960, "faces": 17280, "dofs": 25920,
                "t1_step_s": sum(one), "t2_step_s": sum(two), "x2_step": sum(one) / sum(two)}
    for i, (phase, _) in enumerate(measured.PHASES):
        counters |= {f"t1_{phase}_s": one[i], f"t2_{phase}_s": two[i], f"x2_{phase}": one[i] / two[i]}
    return [row(f"rings_step/ica/rings:{rings}/iterations:6/manual_time", **counters)]


def n_log_n(n):
    return 70e-9 * n * math.log2(n)


class Growth(unittest.TestCase):
    def test_exact_n_log_n_has_exponent_zero_and_its_own_coefficient(self):
        growth = fit_growth([(n, n_log_n(n)) for n in SIZES])
        self.assertEqual(growth.verdict, "holds")
        self.assertAlmostEqual(growth.exponent, 0.0, places=12)  # logarithms and sums of seven numbers: some eps
        self.assertAlmostEqual(growth.coefficient / 70e-9, 1.0, places=12)
        self.assertAlmostEqual(growth.seconds(5000) / n_log_n(5000), 1.0, places=12)

    def test_faster_growth_differs_and_slower_growth_holds(self):
        for power, verdict in ((0.02, "differs"), (1.0, "differs"), (-0.05, "holds")):
            growth = fit_growth([(n, n_log_n(n) * n**power) for n in SIZES])
            self.assertEqual(growth.verdict, verdict)
            self.assertAlmostEqual(growth.exponent, power, places=12)

    def test_scatter_widens_the_doubt_and_much_of_it_is_not_judged(self):
        # alternating factors e^±d: the fitted slope of the alternation is known, the rest is of size d
        little = fit_growth([(n, n_log_n(n) * math.exp(0.02 * (-1) ** i)) for i, n in enumerate(SIZES)])
        self.assertEqual(little.verdict, "holds")
        self.assertGreater(little.doubt, abs(little.exponent))
        much = fit_growth([(n, n_log_n(n) * math.exp(1.0 * (-1) ** i)) for i, n in enumerate(SIZES)])
        self.assertEqual(much.verdict, "not judged")
        self.assertAlmostEqual(much.doubt / little.doubt, 50.0, places=6)

    def test_too_few_or_too_near_sizes_are_not_judged(self):
        for sizes in ([1000], [1000, 1000], [1000, 10000], [10, 1000, 100000], [1000, 2000, 4000, 8000]):
            self.assertEqual(fit_growth([(n, n_log_n(n)) for n in sizes]).verdict, "not judged")


class Reading(unittest.TestCase):
    def test_names_lose_how_they_were_timed(self):
        self.assertEqual(runs.key_of("sweep/cone/1000/iterations:20/manual_time"), "sweep/cone/1000")
        self.assertEqual(runs.key_of("threads/pgs/regions:24/contacts:5/threads:1/real_time"), "threads/pgs/regions:24/contacts:5/threads:1")
        self.assertEqual(runs.key_of("detect/bvh/1008/min_time:2.000/manual_time"), "detect/bvh/1008")

    def test_machine_names_tell_the_processor_and_nothing_else(self):
        self.assertEqual(machine.machine_name("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", 8), "intel_xeon_gold_6148_cpu_2_40ghz_8_cores")
        self.assertRegex(machine.machine_name(machine.cpu_model(), 2), r"^[a-z0-9_]+$")  # a file name


class Folder(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        self.out = self.root / "results" / "out" / "speed_test"
        self.out.mkdir(parents=True)

    def tearDown(self):
        self.directory.cleanup()

    def write(self, name, benchmarks, **keys):
        (self.out / f"bench_{name}.json").write_text(json.dumps(content(benchmarks, **keys)))

    def run_main(self, *arguments, pictures=False):
        """Drawing takes most of the time: tests that do not look at the pictures leave it out."""
        out, err = io.StringIO(), io.StringIO()
        drawing = contextlib.nullcontext() if pictures else mock.patch.object(main.figures, "draw_all", return_value=[])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), drawing:
            status = main.main([*arguments, "-o", str(self.out)])
        return status, out.getvalue(), err.getvalue()


class Page(Folder):
    def test_numbers_figures_and_verdicts_come_from_the_results_and_repeat_to_the_byte(self):
        self.write("detection", detection_rows(n_log_n))
        self.write("engine", engine_rows())
        status, text, _ = self.run_main("--draw", pictures=True)
        self.assertEqual(status, 0)
        self.assertIn("holds", text)
        self.assertIn("400.0 ms, two threads 1.60x", text)
        names = ["speed.md", "env.json", "detection.svg", "detection.png", "step.svg", "step.png"]
        first = {name: (self.out / name).read_bytes() for name in names}
        self.assertTrue(first["detection.png"].startswith(b"\x89PNG"))
        words = first["speed.md"].decode()
        self.assertIn("| 1,000,082 |", words)
        self.assertIn(f"{1e3 * n_log_n(1000082):,.0f} |", words)
        self.assertIn("| 2.00 |", words)  # two threads
        self.assertIn("1.60×", words)  # 400 / 250 ms
        self.assertIn("31× in collision, 1.4× in resolution", words)  # 0.94 / 0.030, 0.52 / 0.370
        self.assertIn("Not measured: `scripts/benchmarks --only regions`", words)
        self.assertNotIn("--quick", words)
        self.run_main("--draw", pictures=True)
        for name, bytes_before in first.items():
            self.assertEqual((self.out / name).read_bytes(), bytes_before, name)

    def test_methods_are_rows_of_ratios_measured_in_one_run(self):
        self.write("gauss_seidel", [row("methods/cone_chain_in_cache/1000/manual_time", ns_per_contact=20.0, x_nncg=1.25, x_nsgs=3.0, x_anderson=2.0),
                                    row("methods/pyramid_chain_in_cache/1000/manual_time", ns_per_contact=20.0, x_nncg=1.41, x_nsgs=3.0, x_anderson=2.0)])
        self.write("newton", [row("prox_newton/rings/1000/manual_time", step_s=4e-3, factor_s=3e-3, share=0.75, analysed=1.5, order=2400, entries=90000,
                                  fill=250000)])
        self.write("admm", [row("iteration/net/1000/manual_time", iteration_s=2e-4, bytes=4e6, bytes_W=1e6, GB_per_s=20.0, of_read=0.8, solve=0.9),
                            row("read/800/manual_time", GB_per_s=25.0)])
        self.run_main("--draw")
        words = (self.out / "speed.md").read_text()
        self.assertIn("| one iteration of `nncg`, cone, every contact waits for the one before, in cache, 1,000 contacts of 9 blocks | 1.25× one of `pgs` | "
                      "at most 1.3×: holds |", words)
        self.assertIn("| 1.41× one of `pgs` | at most 1.3×: differs |", words)
        self.assertIn("| step of `prox-newton`, elastic rings, 1,000 contacts | 4 ms, its factorisation 75 % | order 2,400, 250,000 numbers in the factor for "
                      "90,000 entries; with the analysis of a new pattern 1.50× the factorisation |", words)
        self.assertIn("| one iteration, mass points in a net, 1,000 contacts | 200 µs, 20.0 GB/s | 80 % of the measured read bandwidth; 4 MB per iteration "
                      "(W: 1 MB); the solve with the factor 90 % |", words)
        self.assertIn("| reading 800 MB | 25.0 GB/s |", words)

    def test_growth_above_n_log_n_is_said(self):
        self.write("detection", detection_rows(lambda n: 1e-9 * n**1.5))
        self.assertIn("differs", self.run_main("--draw")[1])
        self.assertIn("| differs", (self.out / "speed.md").read_text())

    def test_growth_per_candidate_takes_the_growth_of_the_candidates_away(self):
        self.write("detection", detection_rows(lambda n: n_log_n(n) * n**0.01))  # as the candidates per face
        text = self.run_main("--draw")[1]
        self.assertIn("box tree: no faster than n log n from 1,010 to 1,000,082 faces: differs (exponent of t/(n log n) +0.010", text)
        self.assertIn("box tree, per candidate: no faster than n log n from 1,010 to 1,000,082 faces: holds", text)

    def test_a_smaller_pile_stands_beside_no_paper(self):
        self.write("engine", engine_rows(24), quick=True)
        self.assertEqual(self.run_main("--draw", "--quick")[0], 0)
        words = (self.out / "speed.md").read_text()
        self.assertNotIn("FX-8350", words)
        self.assertIn("too small to be quoted", words)

    def test_pictures_of_earlier_results_do_not_stay(self):
        self.write("detection", detection_rows(n_log_n))
        self.run_main("--draw", pictures=True)
        (self.out / "bench_detection.json").unlink()
        self.write("engine", engine_rows())
        self.run_main("--draw", pictures=True)
        self.assertFalse((self.out / "detection.png").exists())

    def test_a_failed_benchmark_is_named(self):
        rows = detection_rows(n_log_n) + [{"name": "ratios/17280", "run_type": "iteration", "error_occurred": True, "error_message": "no memory"}]
        self.write("detection", rows)
        self.run_main("--draw")
        self.assertIn("`ratios/17280` failed: no memory", (self.out / "speed.md").read_text())

    def test_damaged_and_absent_results_are_one_line_and_exit_3(self):
        status, _, err = self.run_main("--draw")
        self.assertEqual((status, err.count("error")), (3, 1))
        for text in ("{", "[]", '{"context": {}}'):
            (self.out / "bench_detection.json").write_text(text)
            status, _, err = self.run_main("--draw")
            self.assertEqual(status, 3, text)
            self.assertIn("bench_detection.json", err)

    def test_the_table_of_siconos_is_shown_where_it_was_made(self):
        self.write("engine", engine_rows())
        made = self.out / "made"
        made.mkdir()
        header = "file,contacts,iterations,solve_seconds,setup_seconds,residual,siconos_error,tolerance,protocol,label\n"
        (made / "runs.csv").write_text(header + "K,1200,369,7.5e-3,5e-4,9e-5,2e-4,1e-4,self-stopped,\nK,1200,360,7.0e-3,5e-4,9e-5,2e-4,1e-4,time,\n"
                                       "L,40,10,1e-3,0,5e-5,1e-5,1e-4,self-stopped,\nM,40,10,1e-3,0,5e-4,1e-5,1e-4,self-stopped,\n")
        (made / "siconos.csv").write_text(header + 'K,1200,246,3.0e-2,5e-4,8e-5,1e-4,1e-4,self-stopped,"Siconos NSGS, quartic"\n'
                                          "K,1200,20,1e-3,5e-4,3e-3,1e-4,1e-4,self-stopped,Siconos NSGS\nK,1200,246,4e-2,5e-4,8e-5,1e-4,1e-4,self-stopped,Siconos NSGS\n")
        rows.write_siconos(made, self.out / runs.SICONOS)
        self.run_main("--draw")
        page = (self.out / "speed.md").read_text()
        self.assertRegex(page, r"\| K \| +1,200 \| 7\.5 ms, 369 sweeps \| NSGS, quartic: 30 ms, 246 sweeps \| +4\.00× \| +3\.75× \|")
        self.assertRegex(page, r"\| L \| +40 \| 1 ms, 10 sweeps \| not solved \| +– \| +– \|")
        self.assertNotIn("| M |", page)  # our answer misses the residual


class Published(Folder):
    def test_published_pages_are_made_from_the_copy(self):
        for program in PROGRAMS:
            self.write(program.name, {"detection": detection_rows(n_log_n), "engine": engine_rows()}.get(program.name, []))
        self.assertEqual(self.run_main("--draw")[0], 0)
        with contextlib.redirect_stderr(io.StringIO()):
            main.publish(self.out, self.root)
        reference = self.root / "results" / "reference" / "speed_test"
        self.assertEqual({path.name for path in reference.iterdir()}, {f"bench_{p.name}.json" for p in PROGRAMS} | {"env.json"})
        words = (self.root / "docs" / "speed.md").read_text()
        self.assertIn("results/reference/speed_test", words)
        self.assertEqual({path.name for path in (self.root / "docs").iterdir()}, {"speed.md", "speed_detection.svg", "speed_step.svg"})

    def test_quick_and_incomplete_measurements_are_not_published(self):
        self.write("detection", detection_rows(n_log_n))
        with self.assertRaisesRegex(runs.BenchmarkError, "not measured yet: engine"):
            main.publish(self.out, self.root)
        for program in PROGRAMS:
            self.write(program.name, [], quick=program.name == "regions")
        with self.assertRaisesRegex(runs.BenchmarkError, "--quick"):
            main.publish(self.out, self.root)

    def test_the_committed_page_is_what_its_results_say(self):
        committed = SOURCE / "docs" / "speed.md"
        if not committed.is_file():
            self.skipTest("docs/speed.md is not there")
        folder = committed.read_text().split("from ", 1)[1].split(";", 1)[0]
        results = runs.read_results(SOURCE / folder)
        self.assertEqual(page.page(results, folder, "speed_"), committed.read_text(), "run scripts/benchmarks --publish; never edit the page")


FAKE = """#!/usr/bin/python3
import json, sys
count = open({count!r}, "a"); count.write("x"); count.close()
if {fails}: sys.exit("bad\\nno memory")
out = [w for w in sys.argv if w.startswith("--benchmark_out=")][0].partition("=")[2]
json.dump({{"context": {{"host_name": {host!r}, "executable": {folder!r}, "mhz_per_cpu": 2600}}, "benchmarks": {rows}}}, open(out, "w"))
"""


class Running(Folder):
    def setUp(self):
        super().setUp()
        self.bench = self.root / "experiments" / "bench"
        self.bench.mkdir(parents=True)
        self.count = self.root / "count"

    def fake(self, name="bench_detection", fails=False):
        path = self.bench / name
        path.write_text(FAKE.format(count=str(self.count), fails=fails, host=HOST, folder=FOLDER, rows=json.dumps(detection_rows(n_log_n))))
        path.chmod(0o755)

    def measure(self, *more):
        return self.run_main("--only", "detection", "--build", str(self.root), *more)

    def test_results_are_kept_until_asked_again_and_name_neither_host_nor_folder(self):
        self.fake()
        self.assertEqual(self.measure()[0], 0)
        status, _, err = self.measure()
        self.assertEqual((status, self.count.read_text()), (0, "x"))
        self.assertIn("kept from", err)
        self.measure("--again")
        self.assertEqual(self.count.read_text(), "xx")
        self.measure("--quick")  # another kind of result: measured anew
        self.assertEqual(self.count.read_text(), "xxx")
        for path in self.out.iterdir():
            text = path.read_bytes()
            for private in (HOST.encode(), FOLDER.encode(), str(self.root).encode()):
                self.assertNotIn(private, text, path.name)
        facts = json.loads((self.out / "bench_detection.json").read_text())["context"]["signorini"]
        self.assertLess(facts["other_cores"], 1024)
        self.assertEqual(facts["command"].split()[0], "bench_detection")

    def test_a_failing_program_leaves_no_result_and_exit_1(self):
        self.fake()
        self.measure()
        self.fake(fails=True)
        before = (self.out / "bench_detection.json").read_bytes()
        status, _, err = self.measure("--again")
        self.assertEqual(status, 1)
        self.assertIn("bench_detection ended with code 1: no memory", err)
        self.assertEqual((self.out / "bench_detection.json").read_bytes(), before, "the earlier result stays")
        self.assertEqual([path.name for path in self.out.iterdir() if path.name.startswith(".")], [])

    def test_a_program_that_is_not_built_says_how(self):
        status, _, err = self.measure()
        self.assertEqual(status, 3)  # nothing to draw either
        self.assertIn("cmake --build --preset release", err)

    def test_programs_are_all_there_and_named_once(self):
        sources = {path.stem for path in (SOURCE / "experiments" / "bench").glob("bench_*.cpp")}
        self.assertEqual({program.binary for program in PROGRAMS}, sources)
        self.assertEqual([p.name for p in options.chosen_programs(options.parse(["--only", "bench_ccd"]))], ["ccd"])


if __name__ == "__main__":
    sys.exit(unittest.main())
