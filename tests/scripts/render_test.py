"""scripts/render: pictures show what the recording holds, equal input gives equal bytes, hostile files give one clear line."""

import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import h5py
import numpy as np
from PIL import Image

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")

from signorini_render import camera, colours, main, plots, raster, recording, regions, surface  # noqa: E402


def run_main(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main.main([str(word) for word in arguments])
    return status, out.getvalue(), err.getvalue()


def near(image, code):
    """Share of the pixels whose hue direction is that of the colour."""
    pixels = np.asarray(image.convert("RGB"), float).reshape(-1, 3) - 128.0
    wanted = 255.0 * colours.rgb(code) - 128.0
    return float((np.abs(pixels - wanted).max(axis=1) < 24.0).mean())


def write_recording(path, frames, scene="a scene", config=""):
    """A recording by the documented layout, with the fields that pictures need; `frames`: id -> dict of datasets and attributes."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"signorini_schema": 1, "scene": np.bytes_(scene.encode()), "config": np.bytes_(config.encode())})
        for id, content in frames.items():
            group = file.create_group(f"steps/{id}")
            for name, value in content.items():
                if name in ("contacts", "dofs", "time"):
                    group.attrs[name] = value
                else:
                    group[name] = value


def box(centre, half):
    """Vertices and outward triangles of a cube."""
    vertices = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * half + centre
    triangles = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
                          [1, 5, 7], [1, 7, 3]])
    return vertices, triangles


def two_boxes_on_a_floor(**changes):
    """Two boxes, bodies 0 and 1, a floor, and three contacts: one region of two contacts and another of one."""
    vertices = np.concatenate([box([-0.6, 0, 0.5], 0.5)[0], box([0.6, 0, 0.5], 0.5)[0], [[-5, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]]])
    triangles = np.concatenate([box(0, 1)[1], box(0, 1)[1] + 8, [[16, 17, 18], [16, 18, 19]]])
    content = {"contacts": 3, "dofs": 12, "time": 0.25, "geometry/vertices": vertices, "geometry/triangles": triangles.astype(np.int32),
               "geometry/triangle_body": np.repeat([0, 1, -1], [12, 12, 2]).astype(np.int32),
               "position": np.array([[-0.6, -0.5, 0.0], [0.6, -0.5, 0.0], [-0.6, -0.4, 0.0]]),
               "frame": np.tile([0, 0, 1, 1, 0, 0, 0, 1, 0.0], (3, 1)), "warm_start": np.array([1.0, 0, 0, 2, 0, 0, 0, 0, 0]),
               "H/column_begin": np.array([0, 2, 3, 5], np.int32), "H/row": np.array([0, 1, 3, 1, 2], np.int32),
               "H/blocks": np.ones((5, 9)), "M/diagonal": np.ones(12)}
    return content | changes


class Raster(unittest.TestCase):
    def test_the_nearest_triangle_wins_at_every_pixel(self):
        """Against the definition, evaluated for every pixel and triangle; the depth ramps differ, so order changes inside them."""
        rng = np.random.default_rng(5)
        width, height, count = 61, 47, 80
        xy = rng.uniform(-20, 80, (count, 3, 2))
        xy[:10] = np.round(xy[:10])  # vertices and edges that pass through pixel centres
        depth = rng.uniform(0.1, 2.0, (count, 3))
        buffer = raster.Buffer(width, height)
        raster.draw(buffer, xy, depth)
        x, y = np.meshgrid(np.arange(width), np.arange(height))
        best, winner, unclear = np.full((height, width), -np.inf), np.full((height, width), -1), np.zeros((height, width), bool)
        for t in range(count):
            matrix = np.vstack([xy[t].T, np.ones(3)])
            bary = np.einsum("ij,jyx->iyx", np.linalg.inv(matrix), np.stack([x, y, np.ones_like(x)]).astype(float))
            z = np.einsum("i,iyx->yx", depth[t], bary)
            inside = bary.min(axis=0) >= 0
            unclear |= np.abs(bary).min(axis=0) < 1e-6  # rounding may decide on an edge
            unclear |= inside & (np.abs(z - best) < 1e-9)
            nearer = inside & (z > best)
            best[nearer], winner[nearer] = z[nearer], t
        self.assertGreater((winner >= 0).mean(), 0.5)
        self.assertLess(unclear.mean(), 0.1)
        index = buffer.index.reshape(height, width)
        np.testing.assert_array_equal(index[~unclear], winner[~unclear])
        hit = ~unclear & (winner >= 0)
        # inverse of a 3×3 matrix with entries up to 80: about 1e4 ε relative
        np.testing.assert_allclose(buffer.depth.reshape(height, width)[hit], best[hit], rtol=1e-9)

    def test_neighbours_leave_no_gap(self):
        rng = np.random.default_rng(1)
        centre = np.array([40.0, 30.0])
        angle = np.sort(rng.uniform(0, 2 * np.pi, 60))
        rim = centre + 25 * np.stack([np.cos(angle), np.sin(angle)], 1)
        xy = np.stack([np.broadcast_to(centre, rim.shape), rim, np.roll(rim, -1, axis=0)], 1)
        buffer = raster.Buffer(80, 60)
        raster.draw(buffer, xy, np.ones((60, 3)))
        y, x = np.mgrid[0:60, 0:80]
        inside = np.hypot(x - centre[0], y - centre[1]) < 23  # the polygon's gaps between chords are thinner than 2
        self.assertTrue((buffer.index.reshape(60, 80)[inside] >= 0).all())

    def test_clipping_keeps_what_lies_in_front(self):
        corners = np.random.default_rng(3).uniform(-1, 1, (200, 3, 3))
        cut, source, weights = surface.clip_near(corners, 0.1)
        self.assertTrue((cut[..., 2] >= 0.1 - 1e-12).all())
        np.testing.assert_allclose(np.einsum("tij,tjk->tik", weights, corners[source]), cut, atol=1e-15)
        for t in range(len(corners)):  # the area in front, by sampling the barycentric triangle: 80 points, share to 1/20
            n = 40
            grid = np.array([[i, j, n - i - j] for i in range(n + 1) for j in range(n + 1 - i)], float) / n
            share = ((grid @ corners[t])[:, 2] > 0.1).mean()
            parts = weights[source == t]
            area = sum(abs(np.linalg.det(part)) for part in parts)
            self.assertAlmostEqual(area, share, delta=0.05)


class Geometry(unittest.TestCase):
    def test_the_camera_shows_all_points_and_none_is_lost_in_the_distance(self):
        rng = np.random.default_rng(2)
        for azimuth, elevation in ((0, 0), (-60, 28), (130, 89), (10, -40)):
            points = rng.normal(size=(300, 3)) * [1e-3, 3e-3, 1e-2] + [5, -2, 1]
            view = camera.frame_points(points, np.array([0.0, 0, 1]), azimuth, elevation, 1.0, 640, 360)
            np.testing.assert_allclose(view.axes @ view.axes.T, np.eye(3), atol=1e-12)
            xy, q = view.screen(view.view(points))
            self.assertTrue((q > 0).all())
            np.testing.assert_allclose(view.place(*xy.T, q), points, rtol=1e-12, atol=1e-12)
            share = np.ptp(xy, axis=0) / [639, 359]
            self.assertLess(share.max(), 0.9)
            self.assertGreater(share.max(), 0.7)
            self.assertTrue((xy > 0).all() and (xy < [639, 359]).all())

    def test_closed_bodies_are_told_from_open_ones(self):
        triangles = np.concatenate([box(0, 1)[1], box(0, 1)[1][:-1] + 8])
        body = np.repeat([4, 7], [12, 11])
        np.testing.assert_array_equal(surface.closed_bodies(triangles, body), body == 4)

    def test_mass_points_without_surface_become_balls(self):
        vertices, triangles = box([0, 0, 0], 1.0)
        loose = np.array([[5.0, 0, 0], [0, 7.0, 0]])
        all_vertices, all_triangles, body = surface.with_particles(np.concatenate([vertices, loose]), triangles, np.full(12, 4), 0.5)
        np.testing.assert_array_equal(np.unique(body), [4, 5, 6])
        self.assertTrue(surface.closed_bodies(all_triangles, body).all())
        for number, centre in ((5, loose[0]), (6, loose[1])):
            faces = all_vertices[all_triangles[body == number]]
            np.testing.assert_allclose(np.linalg.norm(faces - centre, axis=2), 0.5, rtol=1e-12)
            volume = np.einsum("ti,ti->t", faces[:, 0], np.cross(faces[:, 1], faces[:, 2])).sum() / 6
            self.assertGreater(volume, 0.8 * 4 / 3 * np.pi * 0.5**3)  # outward; 80 triangles lose 12 % of the ball

    def test_springs_of_chains_become_rods(self):
        vertices, triangles = box([0, 0, 0], 1.0)
        loose = np.array([[5.0, 0, 0], [5.0, 2.0, 0], [5.0, 2.0, 3.0], [9.0, 0, 0], [9.0, 1.0, 0], [9.0, 1.0, 1.0]])
        frame = recording.Frame("1", 0.0, np.concatenate([vertices, loose]), triangles, np.full(12, 4), np.zeros((0, 3)),
                                np.zeros(0, int), np.zeros(0, int), None, False)
        chain = '[bodies.a]\nshape = "chain"\nnodes = 3\ncount = 2\n'
        nodes = recording.chain_of(chain)
        self.assertEqual(nodes, 3)
        rods = recording.rods_of(frame, nodes)
        np.testing.assert_array_equal(rods - 8, [[0, 1], [1, 2], [3, 4], [4, 5]])
        for other in (chain + '[bodies.b]\nshape = "chain"\nnodes = 4\n', '[bodies.a]\nshape = "ball"\n', "", "["):
            self.assertEqual(len(recording.rods_of(frame, recording.chain_of(other))), 0, other)
        all_vertices, all_triangles, body = surface.with_rods(frame.vertices, triangles, frame.body, rods, 0.1)
        faces = all_vertices[all_triangles[body == 5]][:12]  # of the first, along y at x = 5
        np.testing.assert_allclose(np.hypot(faces[..., 0] - 5.0, faces[..., 2]), 0.1, rtol=1e-12)
        self.assertEqual((faces[..., 1].min(), faces[..., 1].max()), (0.0, 2.0))
        normals, _ = surface.face_normals(all_vertices, all_triangles[body == 5][:12])
        outward = faces.mean(axis=1) - [5.0, 0, 0]
        self.assertTrue(((normals * outward * [1, 0, 1]).sum(axis=1) > 0).all())

    def test_sheets_leave_few_places_empty(self):
        from signorini_render import page
        for count in range(1, 60):
            columns, rows = page.grid_of(count)
            self.assertTrue(columns >= rows or count == 1)
            self.assertTrue(count <= columns * rows <= count + max(2, columns // 2), count)

    def test_regions_are_connected_components(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            n = int(rng.integers(1, 40))
            a, b = rng.integers(0, n, (2, int(rng.integers(0, 50))))
            label = np.arange(n)
            for _ in range(n):  # the definition: spread the smallest label along every edge
                for i, j in zip(a, b):
                    label[[i, j]] = min(label[i], label[j])
            np.testing.assert_array_equal(regions.components(n, a, b), label)

    def test_a_region_keeps_its_colour_when_another_comes(self):
        before = colours.region_colours(np.array([3, 50, 17]), np.array([4, 3, 2]))
        after = colours.region_colours(np.array([3, 8, 50, 17]), np.array([4, 1, 3, 2]))
        np.testing.assert_array_equal(before, after[[0, 2, 3]])
        many = colours.region_colours(np.arange(36) * 5, np.ones(36, int))
        self.assertEqual(len(np.unique(many, axis=0)), 36)
        self.assertEqual(colours.region_colours(np.arange(100), np.ones(100, int)).shape, (100, 3))


class Pictures(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.folder = Path(self.directory.name)
        self.file = self.folder / "r.h5"

    def tearDown(self):
        self.directory.cleanup()

    def test_bodies_floor_and_visible_contacts_are_in_the_picture(self):
        write_recording(self.file, {"000001": two_boxes_on_a_floor()})
        status, out, err = run_main(self.file, "--size", "600x450")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.strip(), str(self.folder / "r.png"))
        image = Image.open(self.folder / "r.png")
        self.assertEqual((image.size, image.mode), ((600, 450), "RGB"))
        pixels = np.asarray(image, float)
        self.assertGreater(pixels.std(), 10.0)
        # body 0 left of body 1 from the default side: bluish and tan by the palette
        left, right = pixels[150:300, 130:290], pixels[150:300, 310:470]
        self.assertGreater((left[..., 2] - left[..., 0] > 10).mean(), 0.3)
        self.assertGreater((right[..., 0] - right[..., 2] > 10).mean(), 0.3)
        # the two regions have points 0 and 3: colours 0 and 21 mod 12 = 9; the contact at −0.4 lies under the box
        self.assertGreater(near(image, colours.REGIONS[0]), 1e-4)
        self.assertGreater(near(image, colours.REGIONS[9]), 1e-4)

    def test_turning_the_camera_by_half_a_turn_swaps_the_bodies(self):
        write_recording(self.file, {"000001": two_boxes_on_a_floor()})
        for azimuth, sign in ((-90, 1), (90, -1)):
            run_main(self.file, "--size", "400x300", "--azimuth", azimuth, "--solid", "-o", self.folder / "t.png")
            pixels = np.asarray(Image.open(self.folder / "t.png"), float)[60:200]
            warm = (pixels[..., 0] - pixels[..., 2]).sum(axis=0)
            self.assertGreater(sign * (warm[200:].sum() - warm[:200].sum()), 0)

    def test_equal_input_gives_equal_bytes(self):
        write_recording(self.file, {"000001": two_boxes_on_a_floor(), "000002": two_boxes_on_a_floor(time=0.5)})
        for options in (["--size", "300x200"], ["--sheet", "--size", "120x90", "--mesh", "--impulses"]):
            outputs = []
            for name in ("a.png", "b.png"):
                done = subprocess.run([str(SOURCE / "scripts" / "render"), str(self.file), *options, "-o", str(self.folder / name)],
                                      capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                outputs.append((self.folder / name).read_bytes())
            self.assertEqual(outputs[0], outputs[1])
            self.assertTrue(outputs[0].startswith(b"\x89PNG"))

    def test_a_folder_gives_a_sheet_of_every_recording_and_a_montage_shows_the_fullest_frames(self):
        folder = self.folder / "several"
        folder.mkdir()
        alone = two_boxes_on_a_floor()
        few = {"contacts": 1, "position": alone["position"][:1], "frame": alone["frame"][:1], "warm_start": alone["warm_start"][:3],
               "H/column_begin": np.array([0, 2], np.int32), "H/row": np.array([0, 1], np.int32), "H/blocks": np.ones((2, 9))}
        for name in "ab":
            write_recording(folder / f"{name}.h5", {"000001": two_boxes_on_a_floor(), "000002": two_boxes_on_a_floor(**few)}, scene=f"scene {name}")
        status, out, err = run_main(folder, "--sheet", "--size", "120x90")
        self.assertEqual((status, out.split()), (0, [str(folder / "a.sheet.png"), str(folder / "b.sheet.png")]), err)
        self.assertEqual(recording.fullest(folder / "a.h5", ["000001", "000002"]), "000001")
        path = self.folder / "montage.png"
        status, out, err = run_main(folder, "--montage", "--size", "160x120", "-o", path)
        self.assertEqual(status, 0, err)
        image = Image.open(path)
        self.assertEqual(image.width, 2 * 160)
        first = path.read_bytes()
        run_main(folder, "--montage", "--size", "160x120", "-o", path)
        self.assertEqual(path.read_bytes(), first)
        self.expect_error(2, "--montage needs -o", folder, "--montage")
        self.expect_error(2, "exclude each other", folder, "--montage", "--sheet")
        self.expect_error(2, "these are several", folder, "-o", path)

    def test_a_sheet_shows_evenly_spaced_frames_and_the_last_solve_of_a_step(self):
        frames = {f"{step:06}": two_boxes_on_a_floor(time=0.1 * step) for step in range(1, 12)} | {"000011.2": two_boxes_on_a_floor()}
        write_recording(self.file, frames)
        options = main.parse([str(self.file), "--sheet", "--frames", "3"])
        self.assertEqual(main.chooser(options, "s.h5")(sorted(frames, key=recording.key_of)), ["000001", "000006", "000011.2"])
        status, out, err = run_main(self.file, "--sheet", "--frames", "3", "--size", "160x120")
        self.assertEqual((status, err), (0, ""))
        image = Image.open(self.folder / "r.sheet.png")
        self.assertGreater(image.size[0], 320)
        self.assertGreater(np.asarray(image, float).std(), 10.0)

    def test_a_story_shows_contacts_once_and_behind_see_through_obstacles(self):
        """Two boxes under a lid: they are seen through it, and contacts are drawn in the fifth picture alone."""
        bare = two_boxes_on_a_floor()
        lid = np.array([[-5, -5, 1.5], [5, -5, 1.5], [5, 5, 1.5], [-5, 5, 1.5]])
        vertices = np.concatenate([bare["geometry/vertices"], lid])
        n = len(bare["geometry/vertices"])
        triangles = np.concatenate([bare["geometry/triangles"], [[n, n + 1, n + 2], [n, n + 2, n + 3]]]).astype(np.int32)
        covered = bare | {"geometry/vertices": vertices, "geometry/triangles": triangles,
                          "geometry/triangle_body": np.append(bare["geometry/triangle_body"], [-1, -1]).astype(np.int32)}
        write_recording(self.file, {f"{step:06}": covered | {"time": 0.1 * step} for step in range(1, 6)})
        status, out, err = run_main(self.file, "--story", "--size", "300x210")
        self.assertEqual((status, out.strip(), err), (0, str(self.folder / "r.story.png"), ""))
        image = Image.open(self.folder / "r.story.png").convert("RGB")
        self.assertEqual(image.width, 600)
        panel = [image.crop((300 * (i % 2), (image.height // 3) * (i // 2), 300 * (i % 2) + 300, (image.height // 3) * (i // 2) + 200))
                 for i in range(5)]
        strong = [int((np.ptp(np.asarray(p, int), axis=2) > 110).sum()) for p in panel]  # bodies are muted, contacts are not
        self.assertEqual(strong[:4], [0] * 4)
        self.assertGreater(strong[4], 10)
        shot = self.folder / "one.png"
        coloured = {}
        for options in ((), ("--glass",)):
            run_main(self.file, "--no-contacts", *options, "--elevation", "60", "--size", "300x210", "-o", shot)
            pixels = np.asarray(Image.open(shot).convert("RGB"), int)
            coloured[options] = int((np.ptp(pixels, axis=2) > 12).sum())  # bodies are coloured, obstacles are grey
        self.assertLess(coloured[()], 60)  # under the lid: the captions alone
        self.assertGreater(coloured[("--glass",)], 600)
        self.expect_error(2, "--step excludes --story", self.file, "--story", "--step", "1")

    def test_statistics_become_plots_under_the_sheet(self):
        write_recording(self.file, {"000001": two_boxes_on_a_floor()})
        run_main(self.file, "--sheet", "--size", "200x150", "-o", self.folder / "bare.png")
        time = np.linspace(0.0, 1.0, 5000)
        with h5py.File(self.file, "a") as file:
            file["statistics/time"] = time
            file["statistics/contacts"] = np.where(time < 0.5, np.nan, 30.0)
            file["statistics/kinetic_energy"] = 1 - time
            file["statistics/elastic_energy"] = 0.5 * time
            file["statistics/potential_energy"] = -3 + 0.2 * time
        self.assertEqual(run_main(self.file, "--sheet", "--size", "200x150")[0], 0)
        bare, image = (Image.open(self.folder / name).copy() for name in ("bare.png", "r.sheet.png"))
        self.assertEqual(image.width, bare.width)
        self.assertGreater(image.height, bare.height + 60)
        plots_part = image.crop((0, bare.height, image.width, image.height))
        for colour in ("#1F66C4", "#D62728", "#8E44C9"):  # contacts and potential, kinetic, elastic
            self.assertGreater(near(plots_part, colour), 5e-4, colour)
        with h5py.File(self.file, "a") as file:
            del file["statistics/contacts"]
            file["statistics/contacts"] = np.zeros(7)
        self.expect_error(3, "statistics/contacts", self.file, "--sheet")

    def test_curves_of_many_steps_keep_their_peaks(self):
        contacts = np.full(10000, 1.0)
        contacts[1234], contacts[5000:5010] = 7.0, np.nan
        statistics = {"time": np.arange(10000) / 1e4, "contacts": contacts}
        images = [np.asarray(plots.curves(400, 120, 10, statistics, [0.5], True), int) for _ in range(2)]
        np.testing.assert_array_equal(*images)
        blue = (np.abs(images[0] - [0x1F, 0x66, 0xC4]).sum(axis=2) < 160)[30:]  # below the legend
        columns = np.flatnonzero(blue[:40].any(axis=0))  # only the peak of a single step reaches the upper third
        self.assertTrue(0 < len(columns) < 6, columns)
        self.assertAlmostEqual(columns.mean() / 400, 0.1234, delta=0.06)

    def test_a_frame_without_contacts_or_bodies_is_still_a_picture(self):
        empty = {"contacts": 0, "dofs": 0, "time": 0.0, "position": np.zeros((0, 3)), "geometry/triangle_body": np.full(26, -1)}
        for changes in (empty, empty | {"geometry/vertices": np.zeros((0, 3)), "geometry/triangles": np.zeros((0, 3), int),
                                        "geometry/triangle_body": np.zeros(0, int)},
                        {"geometry/vertices": np.ones((20, 3))}):
            write_recording(self.file, {"000001": two_boxes_on_a_floor(**changes)})
            self.assertEqual(run_main(self.file, "--size", "200x150"), (0, f"{self.folder / 'r.png'}\n", ""))

    def test_up_is_against_gravity(self):
        np.testing.assert_array_equal(recording.up_of("[time]\ngravity_m_s2 = [0.0, -9.81, 0.0]\n"), [0, 1, 0])
        tilted = recording.up_of("[time]\ngravity_m_s2 = [0, 0, -9.81]\ngravity_tilt_deg = 30\n")
        np.testing.assert_allclose(tilted, [0.5, 0, np.sqrt(0.75)], atol=1e-15)  # gravity leans towards -x
        for config in ("", "not toml [", "time = 3", "[time]\ngravity_m_s2 = [0, 0, 0]\n", "[time]\ngravity_m_s2 = 'down'\n"):
            np.testing.assert_array_equal(recording.up_of(config), [0, 0, 1])

    def expect_error(self, code, part, *arguments):
        status, out, err = run_main(*arguments)
        self.assertEqual((status, out), (code, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith("error: ") and part in err, err)

    def test_wrong_use_is_exit_2(self):
        write_recording(self.file, {"000001": two_boxes_on_a_floor()})
        for part, arguments in (("no step '7'", ["--step", "7"]), ("no step 'x'", ["--step", "x"]), ("exclude", ["--step", "1", "--sheet"]),
                                ("1200x900", ["--size", "big"]), ("64", ["--size", "1x1"]), ("whole number", ["--frames", "0"]),
                                ("number from", ["--zoom", "nan"]), ("is a folder", ["-o", self.folder]), ("unrecognized", ["--bogus"])):
            self.expect_error(2, part, self.file, *arguments)
        self.expect_error(2, "FILE.h5")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["r.h5"])

    def test_what_cannot_be_read_or_written_is_exit_3(self):
        self.expect_error(3, "no such file", self.folder / "absent.h5")
        (self.folder / "u.h5.parts").mkdir()
        self.expect_error(3, "not finished", self.folder / "u.h5")
        empty = self.folder / "empty"
        empty.mkdir()
        self.expect_error(2, "holds no recordings", empty)
        self.file.write_bytes(b"no HDF5")
        self.expect_error(3, "not an HDF5 file", self.file)
        with h5py.File(self.file, "w") as file:
            file["fclib_local/spacedim"] = 3
        self.expect_error(3, "not a recording", self.file)
        write_recording(self.file, {})
        self.expect_error(3, "/steps is missing", self.file)
        write_recording(self.file, {"000001": two_boxes_on_a_floor()})
        self.expect_error(3, "No such file or directory", self.file, "-o", self.folder / "absent" / "x.png")
        with h5py.File(self.file, "a") as file:
            file.attrs["signorini_schema"] = 3
        self.expect_error(3, "newer", self.file)

    def test_hostile_frames_are_one_line_naming_the_dataset(self):
        good = two_boxes_on_a_floor()
        nan = good["geometry/vertices"].copy()
        nan[3, 1] = np.nan
        cases = [
            ("geometry/vertices", {"geometry/vertices": nan}), ("geometry/vertices", {"geometry/vertices": nan[:, :2]}),
            ("geometry/vertices", {"geometry/vertices": np.full((20, 3), 1e300)}),
            ("geometry/triangles", {"geometry/triangles": np.full((26, 3), 20)}),
            ("geometry/triangles", {"geometry/triangles": np.full((26, 3), -1)}),
            ("geometry/triangles", {"geometry/triangles": np.zeros((26, 3))}),
            ("geometry/triangle_body", {"geometry/triangle_body": np.zeros(3, int)}),
            ("position", {"contacts": 4}), ("contacts", {"contacts": np.inf}), ("time", {"time": np.nan}),
            ("H", {"H/row": np.array([0, 1, 99, 1, 2])}), ("H", {"H/row": np.array([0, 1, -3, 1, 2])}),
            ("H/column_begin", {"H/column_begin": np.array([0, 4, 3, 5])}), ("H/column_begin", {"H/column_begin": np.array([1, 2, 3, 9])}),
            ("H", {"H/column_begin": np.array([0, 1, 2, 3, 5])}), ("warm_start", {"warm_start": np.ones(2)}),
            ("frame", {"frame": np.ones((3, 8))}), ("position", {"position": h5py.SoftLink("/elsewhere")}),
            ("geometry/vertices", {"geometry/vertices": h5py.ExternalLink(str(self.folder / "other.h5"), "/x")}),
        ]
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["x"] = good["geometry/vertices"]
        for name, changes in cases:
            write_recording(self.file, {"000001": good | changes})
            self.expect_error(3, f"step 000001: ", self.file)
            self.assertIn(name, run_main(self.file)[2])
        for missing in ("geometry/vertices", "position", "H/row"):
            write_recording(self.file, {"000001": {key: value for key, value in good.items() if key != missing}})
            self.expect_error(3, missing, self.file)
        bare = {key: value for key, value in good.items() if not key.startswith("geometry")}
        write_recording(self.file, {"000001": bare})
        self.expect_error(3, "--set geometry=true", self.file)
        write_recording(self.file, {"000001": {"contacts": 0, "dofs": 0, "time": 0.0}})
        with h5py.File(self.file, "a") as file:  # a tebibyte that was never written
            file.create_dataset("steps/000001/geometry/vertices", (1 << 36, 3), "f8")
            file["steps/000001/geometry/triangles"] = np.zeros((0, 3), int)
            file["steps/000001/geometry/triangle_body"] = np.zeros(0, int)
        self.expect_error(3, "larger than the file", self.file)

    def test_torn_and_damaged_files_never_end_in_a_traceback(self):
        write_recording(self.file, {"000001": two_boxes_on_a_floor()})
        whole = self.file.read_bytes()
        rng = np.random.default_rng(11)
        damaged = [whole[:len(whole) * part // 8] for part in range(8)]
        for _ in range(40):
            content = np.frombuffer(whole, np.uint8).copy()
            content[rng.integers(0, len(content), 12)] = rng.integers(0, 256, 12)
            damaged.append(content.tobytes())
        failed = 0
        for content in damaged:
            self.file.write_bytes(content)
            status, _, err = run_main(self.file, "--size", "64x64")
            self.assertIn(status, (0, 3), err)  # 0: the damage lies where pictures do not look
            self.assertEqual(err.count("\n"), 1 if status else 0, err)
            failed += status == 3
        self.assertGreaterEqual(failed, 8)

    def test_a_missing_package_is_named_with_the_command_that_installs_it(self):
        kept = sys.modules["h5py"]
        sys.modules["h5py"] = None
        err = io.StringIO()
        try:
            with redirect_stderr(err), self.assertRaises(SystemExit) as end:
                runpy.run_path(str(SOURCE / "scripts" / "render"), run_name="__main__")
        finally:
            sys.modules["h5py"] = kept
        self.assertEqual(end.exception.code, 1)
        self.assertIn("apt-get install", err.getvalue())
        self.assertIn("python3-h5py", err.getvalue())

    def test_a_recorded_scene_has_the_regions_that_the_program_counts(self):
        if not PROGRAM:
            self.skipTest("SIGNORINI_PROGRAM does not name the program; ctest sets it")

        def program(*words):
            done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        program("record", SOURCE / "configs/scenes/bucket.toml", "-o", self.file, "--steps", "1120", "--set", "time.record_every=80")
        steps = json.loads(program("info", self.file, "--json"))[0]["steps"]
        self.assertGreater(max(step["contacts"] - step["regions"] for step in steps), 0, "no region with two contacts: record more")
        for mode in ("points", "islands"):
            opened = recording.read_safely(str(self.file), lambda ids: ids, mode)
            word = "regions" if mode == "points" else "islands"
            self.assertEqual([(frame.contacts, frame.regions) for frame in opened.frames.values()],
                             [(step["contacts"], step[word]) for step in steps])
        self.assertEqual(run_main(self.file, "--size", "400x300")[0], 0)
        self.assertGreater(np.asarray(Image.open(self.folder / "r.png"), float).std(), 10.0)
        status, _, err = run_main(self.file, "--sheet", "--size", "160x120")
        self.assertEqual(status, 0, err)
        shutil.copy(self.file, self.folder / "copy.h5")
        os.truncate(self.folder / "copy.h5", self.file.stat().st_size // 2)
        self.expect_error(3, "copy.h5", self.folder / "copy.h5")


if __name__ == "__main__":
    unittest.main()
