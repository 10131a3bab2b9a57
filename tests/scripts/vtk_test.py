"""signorini export --vtk: what VTK's files say is what the recording holds, to the last bit, read as plain XML and by VTK and
meshio where they are installed."""

import base64
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
SOURCE = Path(__file__).resolve().parents[2]
TYPES = {"Float64": "<f8", "Int64": "<i8", "Int32": "<i4", "UInt8": "<u1"}


def decode(element):
    """A DataArray by VTK's own definition: base64 of [UInt64 byte count][values]."""
    data = base64.b64decode(element.text, validate=True)
    count = int(np.frombuffer(data[:8], "<u8")[0])
    assert count == len(data) - 8, "the byte count does not match"
    values = np.frombuffer(data[8:], TYPES[element.get("type")])
    components = int(element.get("NumberOfComponents"))
    return values.reshape(-1, components) if components > 1 else values


def read_grid(path):
    root = xml.parse(path).getroot()
    assert (root.get("type"), root.get("byte_order"), root.get("header_type")) == ("UnstructuredGrid", "LittleEndian", "UInt64")
    piece = root.find("UnstructuredGrid/Piece")
    grid = {section: {array.get("Name"): decode(array) for array in piece.find(section)}
            for section in ("Points", "Cells", "PointData", "CellData")}
    assert len(grid["Points"]["Points"]) == int(piece.get("NumberOfPoints"))
    assert len(grid["Cells"]["offsets"]) == int(piece.get("NumberOfCells"))
    return grid


def components(columns):
    """Labels of contacts that share a point, by smallest contact: plain graph search."""
    contacts_of = {}
    for k, touched in enumerate(columns):
        for point in touched:
            contacts_of.setdefault(point, []).append(k)
    label = [-1] * len(columns)
    number = 0
    for start in range(len(columns)):
        if label[start] >= 0:
            continue
        queue = [start]
        label[start] = number
        while queue:
            for point in columns[queue.pop()]:
                for k in contacts_of[point]:
                    if label[k] < 0:
                        label[k] = number
                        queue.append(k)
        number += 1
    return label


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not PROGRAM:
            raise unittest.SkipTest("SIGNORINI_PROGRAM does not name the program; ctest sets it")
        cls.directory = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.directory.name)
        cls.file = cls.folder / "b.h5"
        cls.run_program("record", SOURCE / "configs/scenes/bucket.toml", "-o", cls.file, "--steps", "360", "--set",
                        "bodies.balls.level=1", "--set", "time.record_every=60")
        cls.run_program("export", cls.file, "--vtk", cls.folder / "vtk")
        with h5py.File(cls.file) as file:
            cls.frames = {name: {key: group[key][()] for key in ("frame", "position", "gap", "mu", "bodies", "warm_start",
                                                                 "geometry/vertices", "geometry/triangles", "geometry/triangle_body",
                                                                 "H/column_begin", "H/row", "H/blocks", "v_minus", "start_states",
                                                                 "start_bounds")
                                 if key in group} | {"time": group.attrs["time"]}
                          | ({"rest": group["geometry/rest"][()]} if "geometry/rest" in group else {})
                          | ({"impulse": group["impulse"][()]} if "impulse" in group else {})
                          for name, group in file["steps"].items()}
        if max(len(frame["mu"]) for frame in cls.frames.values()) < 4:
            raise AssertionError("the balls hardly touch: the test needs more steps")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def run_program(cls, *words):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=250)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def test_series_name_every_frame_at_its_time(self):
        for kind in ("surface", "contacts"):
            sets = xml.parse(self.folder / "vtk" / f"{kind}.pvd").getroot().findall("Collection/DataSet")
            self.assertEqual([(float(s.get("timestep")), s.get("file")) for s in sets],
                             [(frame["time"], f"{kind}_{name}.vtu") for name, frame in sorted(self.frames.items())])

    def test_surfaces_are_the_recorded_ones(self):
        for name, frame in self.frames.items():
            grid = read_grid(self.folder / "vtk" / f"surface_{name}.vtu")
            np.testing.assert_array_equal(grid["Points"]["Points"], frame["geometry/vertices"])
            np.testing.assert_array_equal(grid["Cells"]["connectivity"], frame["geometry/triangles"].ravel())
            np.testing.assert_array_equal(grid["Cells"]["offsets"], 3 * np.arange(1, len(frame["geometry/triangles"]) + 1))
            self.assertEqual(set(grid["Cells"]["types"]), {5})
            np.testing.assert_array_equal(grid["CellData"]["body"], frame["geometry/triangle_body"])
            self.assertEqual("displacement" in grid["PointData"], "rest" in frame)
            if "rest" in frame:
                np.testing.assert_array_equal(grid["PointData"]["displacement"], frame["geometry/vertices"] - frame["rest"])

    def test_contacts_are_the_recorded_ones(self):
        for name, frame in self.frames.items():
            grid = read_grid(self.folder / "vtk" / f"contacts_{name}.vtu")
            data, m = grid["PointData"], len(frame["mu"])
            np.testing.assert_array_equal(grid["Points"]["Points"], frame["position"])
            np.testing.assert_array_equal(data["normal"], frame["frame"][:, :3])
            np.testing.assert_array_equal(data["gap"], frame["gap"])
            np.testing.assert_array_equal(data["friction"], frame["mu"])
            np.testing.assert_array_equal(np.stack([data["body_a"], data["body_b"]], 1), frame["bodies"])
            if m > 0:  # a frame without contacts holds no starts
                np.testing.assert_array_equal(data["start_state"], frame["start_states"])
                np.testing.assert_array_equal(data["start_bound"], frame["start_bounds"])
                self.check_start_velocity(data["start_velocity"], frame)
            for key, recorded in (("warm_start", frame.get("warm_start")), ("impulse", frame.get("impulse"))):
                self.assertEqual(key in data, recorded is not None, key)
                if recorded is None:
                    continue
                axes, r = frame["frame"].reshape(m, 3, 3), recorded.reshape(m, 3)
                world = np.einsum("kra,kr->ka", axes, r)  # three products and two sums each: 5 ε of the largest term
                np.testing.assert_allclose(data[key], world, rtol=0, atol=5 * np.finfo(float).eps * (np.abs(r).max() + 1e-300))

    def check_start_velocity(self, found, frame):
        """Hᵀ v_minus in world axes, from the recorded blocks of H (row: mass point, column: axis of the contact's frame)."""
        begin, row, v = frame["H/column_begin"], frame["H/row"], frame["v_minus"].reshape(-1, 3)
        for k, axes in enumerate(frame["frame"].reshape(-1, 3, 3)):
            u = sum((frame["H/blocks"][e].reshape(3, 3).T @ v[row[e]] for e in range(begin[k], begin[k + 1])), np.zeros(3))
            # at most four mass points: 12 products for u and 3 for the turn, with their sums 30 ε of the largest term
            np.testing.assert_allclose(found[k], axes.T @ u, rtol=0, atol=30 * np.finfo(float).eps * np.abs(v).max())

    def test_regions_and_islands_are_connected_components(self):
        for name, frame in self.frames.items():
            data = read_grid(self.folder / "vtk" / f"contacts_{name}.vtu")["PointData"]
            begin, row, blocks = frame["H/column_begin"], frame["H/row"], frame["H/blocks"]
            columns = [[row[e] for e in range(begin[k], begin[k + 1]) if blocks[e].any()] for k in range(len(begin) - 1)]
            label = components(columns)
            self.assertEqual(list(data["region"]), label)
            smallest = {}
            for k, touched in enumerate(columns):
                smallest[label[k]] = min([smallest.get(label[k], 1 << 30), *touched])
            self.assertEqual(list(data["region_point"]), [smallest[number] for number in label])
            self.assertEqual(list(data["island"]), label)  # explicit steps: M couples nothing

    def test_vtk_reads_them(self):
        try:
            from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
        except ImportError:
            self.skipTest("VTK for Python is not installed (apt-get install python3-vtk9)")
        for name, frame in self.frames.items():
            reader = vtkXMLUnstructuredGridReader()
            for kind, points, cells in (("surface", "geometry/vertices", "geometry/triangles"), ("contacts", "position", "position")):
                reader.SetFileName(str(self.folder / "vtk" / f"{kind}_{name}.vtu"))
                reader.Update()
                grid = reader.GetOutput()
                self.assertEqual(reader.GetErrorCode(), 0)
                self.assertEqual(grid.GetNumberOfCells(), len(frame[cells]))
                read = np.array([grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())])
                np.testing.assert_array_equal(read, frame[points])

    def test_meshio_reads_them(self):
        try:
            import meshio
        except ImportError:
            self.skipTest("meshio is not installed (apt-get install python3-meshio)")
        for name, frame in self.frames.items():
            mesh = meshio.read(self.folder / "vtk" / f"surface_{name}.vtu")
            np.testing.assert_array_equal(mesh.points, frame["geometry/vertices"])
            np.testing.assert_array_equal(mesh.cells_dict["triangle"], frame["geometry/triangles"])
            mesh = meshio.read(self.folder / "vtk" / f"contacts_{name}.vtu")
            np.testing.assert_array_equal(mesh.point_data["normal"], frame["frame"][:, :3])


if __name__ == "__main__":
    unittest.main()
