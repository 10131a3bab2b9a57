"""The command line of scripts/check_intersections."""

import argparse
import dataclasses
import os
import sys

import numpy as np

from signorini_intersections import program
from signorini_render import recording
from signorini_render.recording import RenderError

FOUND, USAGE, BAD_FILE, MISSING = 1, 2, 3, 4


@dataclasses.dataclass
class Verdict:
    """What one recording shows."""
    scene: str
    integrator: str
    frames: int = 0        # tested
    intersecting: int = 0  # of these, with a pair
    pairs: int = 0
    neighbours: int = 0
    flat: int = 0
    depth: float = 0.0     # m, of the deepest pair
    where: str = ""        # of the deepest pair


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be at least 1")
    return value


DESCRIPTION = """Asks CGAL, in exact arithmetic, whether surfaces of recorded frames intersect
each other or themselves."""
NOTES = """A frame shows the surfaces at the beginning of its step (or part of a halved
step). Frames with equal surfaces count once. A pair is two triangles that
share no vertex and have a point in common, of one body, two bodies, or a body
and an obstacle. Two obstacles are no pair. 'neighbours' are triangles that
share a vertex or an edge and meet elsewhere too. 'depth' is the largest over
all pairs of the shortest translation that separates the two triangles.

exit codes: 0 no implicit recording has a pair, 1 one has, 2 usage, 3 a file
cannot be read, 4 a package is missing (explicit steps push penetrations out
after they happen, so their pairs are only counted)"""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/check_intersections", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=DESCRIPTION, epilog=NOTES)
    parser.add_argument("files", metavar="FILE.h5", nargs="+", help="recordings made by signorini record")
    parser.add_argument("--frames", type=count, metavar="N", help="at most N frames of each, evenly spaced (default: all)")
    parser.add_argument("--markdown", action="store_true", help="print a table for a page")
    parser.add_argument("--cache", metavar="DIR", default=program.default_cache(),
                        help="where the program that calls CGAL is built once (default: %(default)s)")
    parser.add_argument("--compiler", metavar="NAME", default=os.environ.get("CXX", "g++"), help="default: $CXX, else g++")
    return parser.parse_args(arguments)


def integrator_of(group, where):
    kind = group.attrs.get("kind", b"")
    kind = kind.decode("utf-8", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in ("implicit", "explicit"):
        raise RenderError(f"{where}: attribute kind is '{recording.printable(kind)}' instead of implicit or explicit")
    return kind


def distinct(steps, ids, path):
    """Frames whose surfaces differ from those of the frame before: several solves of a step start from the same ones."""
    before, names = None, []
    for id in ids:
        vertices = recording.read_geometry(recording.FrameReader(steps[id], f"{path}: step {id}"))[0]
        if before is None or not np.array_equal(vertices, before):
            names.append(id)
        before = vertices
    return names


def evenly(names, most):
    if not most:
        return names
    return [names[i] for i in np.unique(np.rint(np.linspace(0, len(names) - 1, min(most, len(names)))).astype(int))]


def check(path, most, checker):
    with recording.opened(path) as (scene, steps, ids):
        verdict = Verdict(scene, integrator_of(steps[ids[0]], f"{path}: step {ids[0]}"))
        for id in evenly(distinct(steps, ids, path), most):
            surfaces = recording.read_geometry(recording.FrameReader(steps[id], f"{path}: step {id}"))
            pairs, neighbours, flat, depth, bodies = checker.check(*surfaces)
            verdict.frames += 1
            verdict.intersecting += pairs > 0
            verdict.pairs += pairs
            verdict.neighbours += neighbours
            verdict.flat += flat
            if pairs and (not verdict.where or depth > verdict.depth):
                verdict.depth = depth
                verdict.where = f"step {id}, " + " and ".join("an obstacle" if b < 0 else f"body {b}" for b in bodies)
    return verdict


def checked(path, most, checker):
    with recording.errors_named(path):
        return check(path, most, checker)


COLUMNS = ("scene", "integrator", "frames", "with pairs", "pairs", "neighbours", "depth (m)", "deepest pair")


def row(verdict):
    return [verdict.scene, verdict.integrator, *map(str, (verdict.frames, verdict.intersecting, verdict.pairs, verdict.neighbours)),
            f"{verdict.depth:.3g}" if verdict.pairs else "–", verdict.where or "–"]


def print_row(words, markdown):
    widths = (12, 10, 7, 10, 7, 10, 10, 0)
    print("| " + " | ".join(words) + " |" if markdown else "  ".join(w.ljust(n) for w, n in zip(words, widths)).rstrip(), flush=True)


def run(options):
    checker = program.Checker(program.build(options.cache, options.compiler))
    try:
        print_row(COLUMNS, options.markdown)
        if options.markdown:
            print("|---|---" + "|--:" * 5 + "|---|")
        wrong = False
        for path in options.files:
            recording.rehearse(path, lambda path=path: check_readable(path))
            verdict = checked(path, options.frames, checker)
            print_row(row(verdict), options.markdown)
            if verdict.flat:
                print(f"warning: {path}: {verdict.flat} triangles without area were left out", file=sys.stderr)
            wrong |= verdict.pairs > 0 and verdict.integrator == "implicit"
        print(f"{checker.version}, exact predicates" if not options.markdown else f"\n{checker.version}, exact predicates.")
        return FOUND if wrong else 0
    finally:
        checker.close()


def check_readable(path):
    with recording.opened(path) as (_, steps, ids):
        for id in ids:
            recording.read_geometry(recording.FrameReader(steps[id], f"{path}: step {id}"))


def main(arguments=None):
    options = parse(arguments)
    try:
        return run(options)
    except RenderError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_FILE
    except program.MissingError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISSING
