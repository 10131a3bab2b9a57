"""Reads frames of a recording for pictures (docs/recording-format.md). The file is not trusted: it is first read in a child
process, links that are not hard are refused, sizes are compared with the file, and what the numbers mean is checked."""

import contextlib
import dataclasses
import os
import re
import resource
import tomllib

import h5py
import numpy as np

from signorini_render import regions, surface

FRAME_ID = re.compile(r"^[0-9]{1,18}(\.[0-9]{1,18})?$")


class RenderError(Exception):
    """Wrong input: one line for the user."""


@dataclasses.dataclass
class Frame:
    id: str
    time: float                # s
    vertices: np.ndarray       # v×3, m
    triangles: np.ndarray      # t×3
    body: np.ndarray           # t, −1 = obstacle
    position: np.ndarray       # m×3 contact points, m
    region: np.ndarray         # m, 0 … regions − 1 by smallest contact
    region_point: np.ndarray   # regions: smallest mass point, −1 without one
    impulse: np.ndarray | None  # m×3, N·s, world axes
    impulse_is_of_step: bool    # the driving solver's answer; else that of the step before
    rods: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 2), np.int64))  # r×2 vertices: springs of chains

    @property
    def contacts(self):
        return len(self.position)

    @property
    def regions(self):
        return len(self.region_point)

    @property
    def region_sizes(self):
        return np.bincount(self.region, minlength=self.regions)


@dataclasses.dataclass
class Recording:
    path: str
    scene: str
    up: np.ndarray  # unit vector against gravity
    ids: list       # of all frames, ascending
    frames: dict    # id -> Frame, those that were asked for
    statistics: dict  # quantity -> a number per step, or empty; with "time" where not


def printable(text, limit=80):
    return "".join(c if c.isprintable() else "?" for c in text.splitlines()[0] if text)[:limit] if text else ""


def text_attribute(node, name):
    value = node.attrs[name]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def key_of(id):
    step, _, solve = id.partition(".")
    return int(step), int(solve or 0)


def up_of(config):
    """Against gravity where the scene file says which way it points; z otherwise. A tilt turns gravity about y toward −x."""
    try:
        time = tomllib.loads(config)["time"]
        gravity, tilt = np.array(time["gravity_m_s2"], float), np.radians(float(time.get("gravity_tilt_deg", 0.0)))
        length = np.linalg.norm(gravity)
        if gravity.shape == (3,) and np.isfinite(length) and length > 0 and np.isfinite(tilt):
            x, y, z = -gravity / length
            return np.array([x * np.cos(tilt) + z * np.sin(tilt), y, z * np.cos(tilt) - x * np.sin(tilt)])
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError):
        pass
    return np.array([0.0, 0.0, 1.0])


def chain_of(config):
    """Mass points of a chain, where all chains of the scene have the same number; else 0."""
    try:
        bodies = tomllib.loads(config)["bodies"]
        nodes = {int(body["nodes"]) for body in bodies.values() if body.get("shape") == "chain"}
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return 0
    return nodes.pop() if len(nodes) == 1 else 0


def rods_of(frame, nodes):
    """Springs between the mass points of chains: the vertices without a surface, chain after chain."""
    loose = surface.loose_vertices(frame.vertices, frame.triangles)
    if nodes < 2 or len(loose) == 0 or len(loose) % nodes:
        return frame.rods
    chains = loose.reshape(-1, nodes)
    return np.stack([chains[:, :-1].ravel(), chains[:, 1:].ravel()], axis=1)


class FrameReader:
    """Typed and checked access to the datasets of one frame."""

    def __init__(self, group, where):
        self.group, self.where = group, where

    def fail(self, name, reason):
        raise RenderError(f"{self.where}: {name}: {reason}")

    def has(self, name):
        node = self.group
        for part in name.split("/"):
            link = node.get(part, getlink=True)
            if link is None:
                return False
            if not isinstance(link, h5py.HardLink):
                self.fail(name, "is a link to elsewhere")
            node = node[part]
        return True

    def array(self, name, kind, columns=None, gaps=False):
        """An array, n or n×columns. kind: 'f' reals, 'i' integers. With `gaps` a real may be NaN, else all are finite."""
        if not self.has(name):
            self.fail(name, "is missing")
        data = self.group[name]
        if not isinstance(data, h5py.Dataset) or data.ndim != (1 if columns is None else 2):
            self.fail(name, "is not an array of the right shape")
        if data.external or data.is_virtual or data.chunks or data.dtype.kind not in ("f" if kind == "f" else "iu"):
            self.fail(name, "is not a plain array of " + ("reals" if kind == "f" else "integers"))
        if columns is not None and data.shape[1] != columns:
            self.fail(name, f"has {data.shape[1]} columns instead of {columns}")
        if data.size * data.dtype.itemsize > os.path.getsize(self.group.file.filename):
            self.fail(name, "is larger than the file")
        values = data[()].astype(np.float64 if kind == "f" else np.int64)
        if kind == "f" and not (np.isfinite(values) | (gaps & np.isnan(values))).all():
            self.fail(name, "holds a number that is not finite")
        return values

    def real_attribute(self, name):
        try:
            value = float(self.group.attrs[name])
        except (KeyError, TypeError, ValueError):
            self.fail(f"attribute {name}", "is missing or no number")
        if not np.isfinite(value):
            self.fail(f"attribute {name}", "is not finite")
        return value


def read_geometry(raw):
    if not raw.has("geometry"):
        raw.fail("geometry", "no surfaces were recorded; record the scene with --set geometry=true")
    vertices = raw.array("geometry/vertices", "f", 3)
    triangles = raw.array("geometry/triangles", "i", 3)
    body = raw.array("geometry/triangle_body", "i")
    if len(body) != len(triangles):
        raw.fail("geometry/triangle_body", f"has {len(body)} entries for {len(triangles)} triangles")
    if triangles.size and (triangles.min() < 0 or triangles.max() >= len(vertices)):
        raw.fail("geometry/triangles", f"names a vertex outside 0..{len(vertices) - 1}")
    if np.abs(vertices).max(initial=0.0) > 1e12:
        raw.fail("geometry/vertices", "holds a coordinate beyond 1e12 m")
    return vertices, triangles, body


def read_frame(group, id, mode, where):
    raw = FrameReader(group, where)
    vertices, triangles, body = read_geometry(raw)
    contacts = int(raw.real_attribute("contacts"))
    position = raw.array("position", "f", 3) if contacts else np.zeros((0, 3))
    if len(position) != contacts:
        raw.fail("position", f"has {len(position)} rows for {contacts} contacts")
    label, points = regions.partition(raw, contacts, mode)
    impulse, answered = None, raw.has("impulse")
    if contacts and raw.has("frame"):
        axes = raw.array("frame", "f", 9).reshape(-1, 3, 3)
        name = "impulse" if answered else "warm_start"
        if raw.has(name):
            r = raw.array(name, "f")
            if len(axes) != contacts or len(r) != 3 * contacts:
                raw.fail(name, "does not fit the contacts")
            impulse = np.einsum("kra,kr->ka", axes, r.reshape(-1, 3))
    return Frame(id, raw.real_attribute("time"), vertices, triangles, body, position, label, points, impulse, answered)


STATISTICS = ("contacts", "regions", "islands", "kinetic_energy", "elastic_energy", "potential_energy")


def read_statistics(file, where):
    raw = FrameReader(file, where)
    if not raw.has("statistics") or not raw.has("statistics/time"):
        return {}
    table = {"time": raw.array("statistics/time", "f")}
    if len(table["time"]) < 2 or (np.diff(table["time"]) <= 0).any():
        return {}
    for name in STATISTICS:
        if raw.has(f"statistics/{name}"):
            table[name] = raw.array(f"statistics/{name}", "f", gaps=True)
            if len(table[name]) != len(table["time"]):
                raw.fail(f"statistics/{name}", f"has {len(table[name])} entries for {len(table['time'])} steps")
    return table


def fullest(path, ids):
    """The snapshot with most contacts, the last of them."""
    with h5py.File(path, "r") as file:
        return max(ids, key=lambda id: (int(file[f"steps/{id}"].attrs["contacts"]), key_of(id)))


@contextlib.contextmanager
def opened(path):
    """The scene's name, the group of all frames and their ids in order."""
    if os.path.isdir(path):
        raise RenderError(f"{path}: is a folder, not a recording")
    if not os.path.exists(path):
        hint = f"; the recording is not finished ('signorini info {path}' packs what is there)" if os.path.isdir(f"{path}.parts") else ""
        raise RenderError(f"{path}: no such file{hint}")
    try:
        file = h5py.File(path, "r")
    except OSError:
        open(path, "rb").close()  # a plain reason, where there is one
        raise RenderError(f"{path}: not an HDF5 file, or a damaged one") from None
    with file:
        if "signorini_schema" not in file.attrs:
            raise RenderError(f"{path}: not a recording made by signorini")
        if int(file.attrs["signorini_schema"]) > 2:
            raise RenderError(f"{path}: schema {file.attrs['signorini_schema']} is newer than this script; update it")
        link = file.get("steps", getlink=True)
        steps = file["steps"] if isinstance(link, h5py.HardLink) else None
        if not isinstance(steps, h5py.Group):
            raise RenderError(f"{path}: /steps is missing")
        ids = sorted((name for name in steps if FRAME_ID.match(name)), key=key_of)
        if not ids:
            raise RenderError(f"{path}: holds no snapshots")
        for id in ids:
            if not isinstance(steps.get(id, getlink=True), h5py.HardLink) or not isinstance(steps[id], h5py.Group):
                raise RenderError(f"{path}: step {id}: is not a frame")
        yield printable(text_attribute(file, "scene")), steps, ids


def read(path, choose, mode):
    """`choose`: all ids -> the ids to read."""
    with opened(path) as (scene, steps, ids):
        config = text_attribute(steps.file, "config")
        recording = Recording(path, scene, up_of(config), ids, {}, read_statistics(steps.file, path))
        for id in choose(ids):
            frame = read_frame(steps[id], id, mode, f"{path}: step {id}")
            frame.rods = rods_of(frame, chain_of(config))
            recording.frames[id] = frame
        return recording


def rehearse(path, reader):
    """Calls `reader` in a child process first: HDF5 can crash or spin on a malformed file."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # HDF5's own talk
            try:
                reader()
            except Exception:  # the parent meets the same and says it
                pass
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise RenderError(f"{path}: damaged file (reading it crashed or did not end)")


@contextlib.contextmanager
def errors_named(path):
    """What goes wrong while `path` is read is said as one line that names it."""
    try:
        yield
    except MemoryError:
        raise RenderError(f"{path}: reading it takes more memory than there is") from None
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise RenderError(f"{path}: damaged file ({printable(str(error), 120)})") from None


def read_safely(path, choose, mode):
    """The same as `read` after a rehearsal."""
    rehearse(path, lambda: read(path, choose, mode))
    with errors_named(path):
        return read(path, choose, mode)
