"""scripts/convert_mesh: meshes that meshio itself writes, as scenes read them."""

import contextlib
import importlib.util
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SIGNORINI_PROGRAM") or SOURCE / "build/release/experiments/signorini")
HAS_MESHIO = importlib.util.find_spec("meshio") is not None

sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "scripts")]

if HAS_MESHIO:
    import meshio
    import numpy as np
    import mesh_conversion

SCENE = """
[time]
integrator = "explicit"
step_s = 1e-4
duration_s = 0.03
[materials.rubber]
young_modulus_pa = 1e5
poisson_ratio = 0.2
density_kg_m3 = 1000.0
[obstacles.floor]
shape = "ground"
[bodies.stone]
material = "rubber"
mesh = "stone.msh"
mesh_scale = 0.1
position_m = [0.0, 0.0, 0.135]
"""


@unittest.skipUnless(HAS_MESHIO, "Debian's python3-meshio is not installed (scripts/convert_mesh installs it)")
class ConvertMesh(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        # the cube [-1, 1]³ as six tetrahedra around a diagonal, every second one inside out; a vertex that nothing uses in front
        corners = list(itertools.product((-1.0, 1.0), repeat=3))
        self.points = np.array([(9.0, 9.0, 9.0), *corners]) * [1.0, 1.0, 1.0 + 1e-16 + 1 / 3]
        walks = [np.cumsum([0, *(1 << axis for axis in order)]) + 1 for order in itertools.permutations(range(3))]
        self.tets = np.array(walks)

    def write(self, name, cells, points=None, **options):
        path = self.folder / name
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):  # warnings
            meshio.write(path, meshio.Mesh(self.points if points is None else points, cells), **options)
        return path

    def convert(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = mesh_conversion.main([str(word) for word in words])
            except SystemExit as end:
                code = end.code
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def refused(self, words, part, code=3):
        done = self.convert(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(part, done.stderr)
        if code == 3:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("convert_mesh: "), done.stderr)

    def cube(self, name, **options):
        return self.write(name, [("triangle", self.tets[:, :3]), ("tetra", self.tets)], **options)

    def test_vtu_and_binary_gmsh_become_the_same_tetrahedra(self):
        texts = []
        tets = [("tetra", self.tets)]  # meshio writes Gmsh 4.1 with one kind of elements only
        for path, left in ((self.cube("a.vtu"), "; left out: 6 triangles"), (self.write("b.msh", tets, file_format="gmsh", binary=True), ""),
                           (self.cube("c.msh", file_format="gmsh22", binary=True), "; left out: 6 triangles")):
            done = self.convert(path, self.folder / "stone.msh", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"8 vertices, 6 tetrahedra, volume 10.67; 3 turned inside out; 1 unused vertices dropped{left}; 2 x 2 x 2.667 in the file's unit, mesh_scale "
                          "makes metres of it", done.stdout)
            texts.append((self.folder / "stone.msh").read_text())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])
        back = meshio.read(self.folder / "stone.msh")
        np.testing.assert_array_equal(back.points, self.points[1:])  # every bit
        a, b, c, d = (back.points[back.cells_dict["tetra"][:, k]] for k in range(4))
        self.assertTrue((np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) > 0).all())

    @unittest.skipUnless(PROGRAM.is_file(), "the program is not built")
    def test_a_scene_records_with_the_converted_mesh(self):
        subprocess.run([SOURCE / "scripts/convert_mesh", self.cube("a.vtu"), self.folder / "stone.msh"], stdout=subprocess.DEVNULL, check=True)
        (self.folder / "scene.toml").write_text(SCENE)
        done = subprocess.run([PROGRAM, "record", self.folder / "scene.toml", "-o", self.folder / "stone.h5"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = json.loads(subprocess.run([PROGRAM, "info", self.folder / "stone.h5", "--steps", "--json"], capture_output=True, text=True, check=True).stdout)[0]["steps"]
        self.assertTrue(steps)
        self.assertEqual({step["dofs"] for step in steps}, {12})  # of the points that touch
        self.assertEqual(max(step["contacts"] for step in steps), 4)  # it lands on its lower face

    def test_surfaces_are_turned_outside(self):
        faces = np.array([(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)])
        for order, words in (([0, 3, 2, 1], "closed, volume 10.67, turned outside; 1 unused"), ([0, 1, 2, 3], "closed, volume 10.67; 1 unused")):
            done = self.convert(self.write("box.vtu", [("quad", faces[:, order])]), self.folder / "box.obj", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(words, done.stdout)
            back = meshio.read(self.folder / "box.obj")
            a, b, c = (back.points[back.cells_dict["triangle"][:, k]] for k in range(3))
            self.assertAlmostEqual(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0, 32.0 / 3.0, places=12)
        self.assertIn("open, 4 edges", self.convert(self.write("sheet.ply", [("triangle", np.array([(1, 2, 4), (1, 4, 3)]))]), self.folder / "sheet.obj").stdout)
        twisted = self.write("twisted.ply", [("triangle", np.array([(1, 2, 4), (1, 3, 4)]))])
        self.assertIn("oriented differently", self.convert(twisted, self.folder / "twisted.obj").stdout)

    def test_second_order_is_taken_by_its_corners_when_asked(self):
        edges = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
        points = np.vstack([self.points[[1, 5, 3, 2]], [(self.points[[1, 5, 3, 2]][list(edge)]).mean(axis=0) for edge in edges]])
        path = self.write("ten.vtu", [("tetra10", np.arange(10)[None, :])], points)
        self.refused([path, self.folder / "ten.msh"], "ten.vtu: holds 1 tetrahedra of second order; scenes read elements of first order: save it so, or give --corners")
        done = self.convert(path, self.folder / "ten.msh", "--corners")
        self.assertIn("4 vertices, 1 tetrahedra", done.stdout, done.stderr)

    def test_what_no_scene_reads_is_one_line(self):
        out = self.folder / "out.msh"
        cube = self.cube("a.vtu")
        hexahedra = self.write("hex.vtu", [("hexahedron", np.array([[1, 2, 4, 3, 5, 6, 8, 7]])), ("tetra", self.tets)])
        self.refused([hexahedra, out], "hex.vtu: holds 1 hexahedra, 6 tetrahedra; scenes read tetrahedra only")
        surface = self.write("surface.ply", [("triangle", self.tets[:, :3])])
        self.refused([surface, out], "surface.ply: holds 6 triangles, no tetrahedra; for these name an OUT that ends in .obj")
        tets = self.write("tets.vtu", [("tetra", self.tets)])
        self.refused([tets, self.folder / "out.obj"], "tets.vtu: holds 6 tetrahedra, no triangles; for these name an OUT that ends in .msh")
        flat = self.write("flat.vtu", [("tetra", np.array([[1, 2, 3, 4]]))])
        self.refused([flat, out], "flat.vtu: 1 tetrahedra are flat, the first is number 0")
        points = self.points.copy()
        points[3, 1] = np.nan
        self.refused([self.write("nan.vtk", [("tetra", self.tets)], points), out], "nan.vtk: vertex 3 has a coordinate that is not finite")
        (self.folder / "broken.vtu").write_text("<VTKFile")
        self.refused([self.folder / "broken.vtu", out], "broken.vtu: meshio cannot read it")
        (self.folder / "empty.msh").write_text("")
        self.refused([self.folder / "empty.msh", out], "empty.msh: meshio cannot read it")
        (self.folder / "mesh.docx").write_text("x")
        self.refused([self.folder / "mesh.docx", out], "meshio reads no '.docx' files; it reads ")
        self.refused([self.folder / "absent.vtu", out], "absent.vtu: no such file")
        self.refused([cube, self.folder / "nowhere" / "out.msh"], "nowhere")
        self.refused([cube, self.folder / "out.stl"], "name OUT.msh for tetrahedra or OUT.obj for a surface", 2)
        self.assertFalse(out.exists())
        out.write_text("mine")
        self.refused([cube, out], "out.msh: exists; --force replaces it")
        self.assertEqual(out.read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
