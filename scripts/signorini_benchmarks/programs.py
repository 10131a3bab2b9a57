"""The benchmark programs, in the order in which they run: what each measures and what stands for it with --quick."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    name: str  # build/release/experiments/bench/bench_<name>
    what: str
    quick_filter: str = ""  # of Google Benchmark; "" takes all
    arguments: list = field(default_factory=list)

    @property
    def binary(self):
        return f"bench_{self.name}"

    def command(self, quick):
        """Without the path and without --benchmark_out: what a person would type."""
        words = [self.binary, *self.arguments]
        if quick:
            words.append("--benchmark_min_time=0.02")
            if self.quick_filter:
                words.append(f"--benchmark_filter={self.quick_filter}")
        return words


PROGRAMS = [
    Program("detection", "detection in piles of rings, 10^3 to 10^6 faces",
            "^(detect/(bvh|hash)/(1008|3168|10080|17280)|ratios/17280)(/|$)"),
    Program("engine", "steps of 120 rings in a bin, split by phase", "^rings_step/ica/rings:24(/|$)"),
    Program("block_product", "products with 3x3 blocks", "in_cache"),
    Program("gauss_seidel", "projected Gauss-Seidel sweeps", "in_cache"),
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
