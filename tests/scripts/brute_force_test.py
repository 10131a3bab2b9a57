"""No surface passes through another one or itself: every edge against every triangle, on recorded steps of the scenes of Otaduy 2009.

The program checks this in every recorded step with lib/collision/intersection.cpp (statistic `intersects`). Here it is checked again with
nothing of the program's: surfaces are read from the recordings, and the point where an edge meets a plane is solved for.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from slow import slow  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
CHUNK = 256  # edges at a time


def edges_of(triangles):
    pairs = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    edges, first = np.unique(pairs, axis=0, return_index=True)
    return edges, first % len(triangles)


def crossings(vertices, triangles, body, moves):
    """[(edge's vertices, triangle)] of the edges that pass through the inside of a triangle without a vertex of theirs."""
    edges, owner = edges_of(triangles)
    corner = vertices[triangles[:, 0]]
    first, second = vertices[triangles[:, 1]] - corner, vertices[triangles[:, 2]] - corner
    normal = np.cross(first, second)
    area = np.einsum("tj,tj->t", normal, normal)
    found = []
    for begin in range(0, len(edges), CHUNK):
        a, b = edges[begin:begin + CHUNK].T
        start, direction = vertices[a][:, None], (vertices[b] - vertices[a])[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.einsum("etj,tj->et", corner - start, normal) / np.einsum("eij,tj->et", direction, normal)
            point = start + along[..., None] * direction - corner
            u = np.einsum("etj,tj->et", np.cross(point, second), normal) / area
            v = np.einsum("etj,tj->et", np.cross(first, point), normal) / area
        through = (along > 0) & (along < 1) & (u > 0) & (v > 0) & (u + v < 1)
        through &= ~(triangles[None] == a[:, None, None]).any(2) & ~(triangles[None] == b[:, None, None]).any(2)
        through &= moves[body[owner[begin:begin + CHUNK]]][:, None] | moves[body][None]
        found += [((int(a[e]), int(b[e])), int(t)) for e, t in np.argwhere(through)]
    return found


class Recording:
    def __init__(self, path):
        with h5py.File(path) as file:
            ids = sorted(file["steps"])
            geometry = file[f"steps/{ids[0]}/geometry"]
            self.triangles, body = geometry["triangles"][()].astype(int), geometry["triangle_body"][()].astype(int)
            self.body = body + 1  # 0: obstacles, which may pass through each other
            self.steps = {id: file[f"steps/{id}/geometry/vertices"][()] for id in ids}
        self.moves = np.arange(self.body.max() + 1) > 0

    def crossings(self, vertices):
        return crossings(vertices, self.triangles, self.body, self.moves)


class BruteForce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def record(self, scene, *settings):
        out = Path(self.folder.name) / f"{scene}.h5"
        done = subprocess.run([PROGRAM, "record", scene, "--size", "quick", "-o", out, *settings], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Recording(out)

    def expect_apart(self, recording, steps):
        ids = list(recording.steps)
        for id in ids[:-1:max(1, len(ids) // steps)][:steps - 1] + ids[-1:]:
            self.assertEqual(recording.crossings(recording.steps[id]), [], id)

    def test_two_triangles(self):
        vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1], [0.3, 0.2, 1], [5, 5, 1]], float)
        triangles, body = np.array([[0, 1, 2], [3, 4, 5]]), np.array([0, 1])
        self.assertEqual(crossings(vertices, triangles, body, np.array([True, True])), [((1, 2), 1), ((3, 4), 0)])
        self.assertEqual(crossings(vertices, triangles, body, np.array([False, False])), [])
        self.assertEqual(crossings(vertices + [[0], [0], [0], [1], [1], [1]], triangles, body, np.array([True, True])), [])

    def test_letters(self):
        recording = self.record("letters")
        self.expect_apart(recording, 4)
        # pushed through the floor by a millimetre it is seen: the check can fail
        vertices = recording.steps[list(recording.steps)[-1]].copy()
        part = np.unique(recording.triangles[recording.moves[recording.body]])
        lowest = vertices[part, 2].min()
        vertices[part, 2] -= lowest + 1e-3
        self.assertNotEqual(recording.crossings(vertices), [])

    def test_cloth_over_itself_and_the_floor(self):
        self.expect_apart(self.record("cloth"), 3)

    @slow
    def test_slow_layers_of_the_dress(self):
        self.expect_apart(self.record("dress"), 1)

    @slow
    def test_slow_cloth_between_boxes_and_balls(self):
        self.expect_apart(self.record("unified"), 3)


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit("SIGNORINI_PROGRAM names no program")
    unittest.main()
