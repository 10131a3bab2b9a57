"""What the figures and the page take from the results of bench_detection and bench_engine."""

from dataclasses import dataclass

from signorini_benchmarks.growth import fit_growth

PHASES = [("detection", "detection"), ("assembly", "assembly"), ("free", "free motion"), ("solve", "contact solve"), ("other", "other")]
SERIES = [("bvh", "box tree"), ("hash", "spatial hash"), ("bvh_small_floor", "box tree, floor of small faces"),
          ("hash_small_floor", "spatial hash, floor of small faces")]


@dataclass(frozen=True)
class DetectionPoint:
    faces: float
    seconds: float  # one thread
    seconds_two: float  # two threads
    parts: tuple  # candidates, tolerance pairs, crossings; s, one thread
    pairs: float  # candidates per face


def detection_points(results, series):
    """Ascending by faces; empty where bench_detection did not measure the series."""
    if "detection" not in results:
        return []
    points = [DetectionPoint(row["faces"], 1e-3 * row["ms"], 1e-3 * row["ms_2threads"],
                             tuple(1e-3 * row[f"ms_{part}"] for part in ("candidates", "proximity", "crossings")),
                             row["pairs_per_face"])
              for row in results["detection"].under(f"detect/{series}").values()]
    return sorted(points, key=lambda point: point.faces)


def detection_growth(results, series):
    return fit_growth([(point.faces, point.seconds) for point in detection_points(results, series)])


def growth_per_pair(results, series):
    """The same of t over the candidates per face. A small pile has more of its rings at its surface, where they have fewer neighbours:
    candidates per face grow with the pile, whatever finds them."""
    return fit_growth([(point.faces, point.seconds / point.pairs) for point in detection_points(results, series)])


@dataclass(frozen=True)
class Step:
    solver: str
    rings: int
    row: dict

    def seconds(self, phase, threads):
        """Per step; phase "step" is the sum."""
        return self.row[f"t{threads}_{phase}_s"]

    def resolution(self, threads):
        """All but detection: what the paper's column "resolution" has beside its column "collision"."""
        return self.seconds("step", threads) - self.seconds("detection", threads)

    def ratio(self, phase):
        return self.row[f"x2_{phase}"]


def steps(results):
    """Largest pile first, then as the file has them."""
    if "engine" not in results:
        return []
    found = []
    for key, row in results["engine"].under("rings_step").items():
        solver, _, rings = key.partition("/rings:")
        found.append(Step(solver, int(rings), row))
    return sorted(found, key=lambda step: -step.rings)


def main_step(results):
    """The pile of the paper where it was measured, else the largest one; None without bench_engine."""
    return next(iter(steps(results)), None)
