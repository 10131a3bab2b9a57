"""scripts/check_intersections: planted surfaces that cross are found, others are not; the counts are those of a definition in fractions."""

import io
import itertools
import os
import stat
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path

import h5py
import numpy as np

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

from signorini_intersections import main, program  # noqa: E402

COMPILER = os.environ.get("CXX", "g++")
MISSING = program.why_missing(COMPILER)


def box(centre, half=0.5):
    """Vertices and outward triangles of a cube."""
    vertices = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * half + centre
    triangles = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
                          [1, 5, 7], [1, 7, 3]])
    return vertices, triangles


def joined(*parts):
    """(vertices, triangles, body) of several (body, (vertices, triangles))."""
    vertices, triangles, bodies, offset = [], [], [], 0
    for body, (v, t) in parts:
        vertices.append(v)
        triangles.append(np.asarray(t) + offset)
        bodies.append(np.full(len(t), body))
        offset += len(v)
    return np.concatenate(vertices), np.concatenate(triangles), np.concatenate(bodies)


CROSSED = joined((0, box([0, 0, 0])), (1, box([0.3, 0.2, 0.9])))  # share a layer of 0.1
APART = joined((0, box([0, 0, 0])), (1, box([0.3, 0.2, 1.0 + 1e-12])))


def write_recording(path, frames, kind="implicit"):
    """By docs/recording-format.md, with what the check reads; `frames`: id -> surfaces."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"signorini_schema": 2, "scene": np.bytes_(b"planted"), "config": np.bytes_(b"")})
        for id, (vertices, triangles, body) in frames.items():
            group = file.create_group(f"steps/{id}")
            group.attrs["kind"] = np.bytes_(kind.encode())
            group["geometry/vertices"] = vertices
            group["geometry/triangles"] = triangles.astype(np.int32)
            group["geometry/triangle_body"] = body.astype(np.int32)


def run_main(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main.main([str(word) for word in arguments])
    return status, out.getvalue(), err.getvalue()


def fractions_cross(s, t):
    """Whether triangles in general position cross: an edge of one passes through the other. Signs of determinants in fractions."""
    def side(a, b, c, d):
        rows = [[Fraction(x) - Fraction(y) for x, y in zip(p, a)] for p in (b, c, d)]
        (p, q, r), (u, v, w), (x, y, z) = rows
        return p * (v * z - w * y) - q * (u * z - w * x) + r * (u * y - v * x)

    def pierces(a, b, triangle):
        if side(*triangle, a) * side(*triangle, b) >= 0:
            return False
        signs = [side(a, b, triangle[k], triangle[(k + 1) % 3]) > 0 for k in range(3)]
        return all(signs) or not any(signs)

    return any(pierces(one[k], one[(k + 1) % 3], other) for one, other in ((s, t), (t, s)) for k in range(3))


class Missing(unittest.TestCase):
    def test_a_missing_package_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = Path(folder) / "a.h5"
            write_recording(recording, {"000001": APART})
            status, _, err = run_main(recording, "--compiler", "no_such_compiler", "--cache", folder)
            self.assertEqual((status, "install --no-install-recommends g++" in err), (4, True))
            stub = Path(folder) / "without_cgal"  # a compiler that does not find the header
            stub.write_text("#!/bin/sh\nexit 1\n")
            stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
            status, _, err = run_main(recording, "--compiler", stub, "--cache", folder)
            self.assertEqual((status, "libcgal-dev" in err), (4, True))


@unittest.skipIf(MISSING, MISSING.replace("\n", " "))
class Surfaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.cache = Path(cls.folder.name) / "cache"
        cls.checker = program.Checker(program.build(cls.cache, COMPILER))
        cls.addClassCleanup(cls.checker.close)

    def pairs(self, surfaces):
        return self.checker.check(*surfaces)[0]

    def test_crossed_boxes_are_found_and_boxes_apart_are_not(self):
        self.assertGreater(self.pairs(CROSSED), 0)
        self.assertEqual(self.pairs(APART), 0)  # 1e-12 m apart: there is no tolerance

    def test_touching_counts(self):
        self.assertGreater(self.pairs(joined((0, box([0, 0, 0])), (1, box([0.3, 0.2, 1.0])))), 0)

    def test_obstacles_count_but_not_against_each_other(self):
        vertices, triangles, body = CROSSED
        self.assertGreater(self.pairs((vertices, triangles, np.where(body == 0, -1, body))), 0)
        self.assertEqual(self.pairs((vertices, triangles, np.full_like(body, -1))), 0)

    def test_a_body_that_crosses_itself_is_found(self):
        vertices, triangles, body = CROSSED
        self.assertEqual(self.pairs((vertices, triangles, np.zeros_like(body))), self.pairs(CROSSED))

    def test_neighbours_are_no_pairs_and_are_counted_where_they_meet_elsewhere_too(self):
        self.assertEqual(self.checker.check(*joined((0, box([0, 0, 0]))))[:2], (0, 0))
        triangles = np.array([[0, 1, 2], [1, 0, 3]])  # share the edge 0–1

        def edge(apex):
            return self.checker.check(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], apex], float), triangles, np.zeros(2))[:2]
        self.assertEqual(edge([0.2, -1, 0]), (0, 0))     # flat, opened
        self.assertEqual(edge([0.2, 1, 1e-9]), (0, 0))   # almost closed
        self.assertEqual(edge([0.2, 1, 0]), (0, 1))      # on one another

        def vertex(*others):
            return self.checker.check(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], *others], float), np.array([[0, 1, 2], [0, 3, 4]]),
                                      np.zeros(2))[:2]
        self.assertEqual(vertex([0.3, 0.3, 0.1], [0.3, 0.3, 1]), (0, 0))
        self.assertEqual(vertex([0.3, 0.3, -1], [0.3, 0.3, 1]), (0, 1))  # the far edge of one passes through the other

    def test_triangles_without_area_are_named(self):
        vertices = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], float)
        self.assertEqual(self.checker.check(vertices, np.array([[0, 1, 2]]), np.zeros(1))[:3], (0, 0, 1))

    def test_depth_is_that_of_a_tip_below_a_plate(self):
        """The tip of an upright triangle is 1/64 m below a plate of 2 m; all other ways out are longer. Binary numbers: no rounding."""
        vertices = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0], [0, 0, -0.015625], [0.25, 0, 0.5], [-0.25, 0, 0.5]])
        pairs, _, _, depth, bodies = self.checker.check(vertices, np.array([[0, 1, 2], [3, 4, 5]]), np.array([-1, 7]))
        self.assertEqual((pairs, depth, bodies), (1, 0.015625, (-1, 7)))

    def test_counts_are_those_of_the_definition(self):
        """60 random triangles, each a body of its own; every pair of them decided in fractions."""
        rng = np.random.default_rng(3)
        corners = rng.uniform(-0.4, 0.4, (60, 3, 3)) + rng.uniform(-0.5, 0.5, (60, 1, 3))
        crossing = sum(fractions_cross(s, t) for s, t in itertools.combinations(corners.tolist(), 2))
        self.assertGreater(crossing, 50)
        self.assertEqual(self.pairs((corners.reshape(-1, 3), np.arange(180).reshape(60, 3), np.arange(60))), crossing)

    def check_files(self, frames, *options, kind="implicit"):
        path = Path(self.folder.name) / "planted.h5"
        write_recording(path, frames, kind)
        status, out, err = run_main(path, "--cache", self.cache, *options)
        return status, out.splitlines()[1].split(), err

    def test_an_implicit_recording_with_a_pair_fails_and_an_explicit_one_is_counted(self):
        pairs = str(self.pairs(CROSSED))
        status, words, _ = self.check_files({"000001": APART, "000002": CROSSED})
        self.assertEqual((status, words[:5]), (1, ["planted", "implicit", "2", "1", pairs]))
        self.assertIn("step 000002, body 0 and body 1", " ".join(words))
        status, words, _ = self.check_files({"000001": APART, "000002": CROSSED}, kind="explicit")
        self.assertEqual((status, words[:5]), (0, ["planted", "explicit", "2", "1", pairs]))

    def test_frames_are_sampled_evenly_and_equal_surfaces_count_once(self):
        moved = [joined((0, box([0, 0, 0])), (1, box([0.3, 0.2, 2.0 + k]))) for k in range(4)]
        frames = {"000001": moved[0], "000001.2": moved[0], "000002": moved[1], "000003": CROSSED, "000004": moved[2], "000005": moved[3]}
        self.assertEqual(self.check_files(frames)[1][2:4], ["5", "1"])
        self.assertEqual(self.check_files(frames, "--frames", "2")[1][2:4], ["2", "0"])   # first and last
        self.assertEqual(self.check_files(frames, "--frames", "3")[1][2:4], ["3", "1"])   # and the middle one

    def test_files_that_are_no_recordings_are_errors(self):
        path = Path(self.folder.name) / "text.h5"
        path.write_text("no HDF5")
        status, _, err = run_main(path, "--cache", self.cache)
        self.assertEqual((status, str(path) in err), (3, True))
        path = Path(self.folder.name) / "planted.h5"
        write_recording(path, {"000001": APART}, kind="unknown")
        self.assertEqual(run_main(path, "--cache", self.cache)[0], 3)
        vertices, triangles, body = APART
        write_recording(path, {"000001": (vertices, triangles + 100, body)})
        status, _, err = run_main(path, "--cache", self.cache)
        self.assertEqual((status, "step 000001: geometry/triangles: names a vertex outside 0..15" in err), (3, True))

    def test_a_program_that_ends_early_is_an_error(self):
        checker = program.Checker(program.build(self.cache, COMPILER))
        checker.process.kill()
        checker.process.wait()
        with self.assertRaisesRegex(program.MissingError, "without an answer"):
            checker.check(*APART)
        checker.close()


if __name__ == "__main__":
    unittest.main()
