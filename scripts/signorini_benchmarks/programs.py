"""The benchmark programs, in the order in which they run: what each measures, and what stands for it with --quick and --compare."""

from dataclasses import dataclass, field

#: How much of a program runs: everything; what two commits are compared by, in 40 instead of 270 minutes for all programs and eight rounds; a trial.
SIZES = ("full", "compared", "quick")
MIN_TIME = {"compared": 0.1, "quick": 0.02}  # s of a row; rows with a fixed number of repetitions keep it


@dataclass(frozen=True)
class Program:
    name: str  # build/release/experiments/bench/bench_<name>
    what: str
    quick_filter: str = ""  # of Google Benchmark; "" takes all
    arguments: list = field(default_factory=list)
    compared_filter: str = ""

    @property
    def binary(self):
        return f"bench_{self.name}"

    def command(self, sizes):
        """Without the path and without --benchmark_out: what a person would type."""
        words = [self.binary, *self.arguments]
        if sizes in MIN_TIME:
            words.append(f"--benchmark_min_time={MIN_TIME[sizes]}")
        chosen = {"compared": self.compared_filter, "quick": self.quick_filter}.get(sizes)
        if chosen:
            words.append(f"--benchmark_filter={chosen}")
        return words


PROGRAMS = [
    Program("detection", "detection in piles of rings, 10^3 to 10^6 faces",
            "^(detect/(bvh|hash)/(1008|3168|10080|17280)|ratios/17280)(/|$)",
            compared_filter="^(detect/(bvh|hash)(_small_floor)?/(1008|17280)|ratios/17280)(/|$)"),
    Program("engine", "steps of 120 rings in a bin, split by phase", "^rings_step/ica/rings:24(/|$)",
            compared_filter="^rings_step/ica/rings:24(/|$)"),
    Program("block_product", "products with 3x3 blocks", "in_cache"),
    Program("gauss_seidel", "projected Gauss-Seidel sweeps", "in_cache",
            compared_filter="/(1000|10000)(/|$)"),
    Program("newton", "Newton steps on impulses beside their factorisations", "/1000(/|$)"),
    Program("few_contacts", "`auto` beside the solvers that it consists of, on few contacts"),
    Program("dense_factors", "dense factors whose bits depend on the matrix alone, beside Eigen's", "/(8|64|240)(/|$)"),
    Program("admm", "iterations of admm beside the bytes that they stream", "^(iteration/.*/1000|read/8)(/|$)"),
    Program("conjugate_residuals", "iterations on one large island; solvers on velocities on two recorded blocks", "^iteration/cr_full"),
    Program("regions", "separating contacts into regions", "^(separate/(points|islands)/(1000|10000)|printed_algorithm/(1000|3000))(/|$)"),
    Program("region_tasks", "regions as tasks: threads, splitting", "^(threads/pgs/regions:24/contacts:(20|50)|split/dense)"),
    Program("ccd", "continuous detection, one pair at a time"),
    Program("delassus", "the Delassus operator against the number of contacts", "/(10|100|1000)(/|$)"),
    Program("recording", "encoding, opening and reading recordings", "/100(0)?(/|$)"),
]
BY_NAME = {program.name: program for program in PROGRAMS}
