"""Files whose content is wrong while their containers are right: `scripts/harden --damaged N`.

Every number is a file of its own, the same in every run: arrays of FCLib files, npz archives, recordings and curves with other values, lengths, shapes
and types, or without one, written by h5py and numpy, so that all checksums are those of the wrong content; scenes, experiments, meshes and the tables of
results and campaigns with another value, a line twice, or none. The program reads it: exit code 0 to 3, one line of error, within `PATIENCE`. (Bytes that
are damaged: tests/record/mutation.)"""

import random
import re
import shutil
import subprocess

import h5py
import numpy as np

from . import commands, recording_tree

PATIENCE = 120  # s
CODES = (0, 1, 2, 3)
NUMBERS = (float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e300, 1e-300, 2.0**31 - 1, -(2.0**31), 2.0**40, 3.0)
TYPES = ("<f4", ">f8", "<i8", "<i4", ">i4", "<u8", "|b1", "<c16", "|i1", "<f2")
WORDS = ("nan", "inf", "-1", "0", "1e300", "1e-300", "-1e9", "99999999999999999999", '"x"', '""', "[]", "[[]]", "{}", "true", "[1.0]", "[1.0, 2.0, 3.0]", "1979-05-27",
         '"../../etc/passwd"', '"a\\u001b[31mb"')
#: Files of a folder are damaged in a copy of the folder.
KINDS = {"npz": ("p.npz", "l.npz"), "fclib": ("p.hdf5", "l.hdf5"), "scene": ("ball.toml",), "experiment": ("trial.toml",), "recording": ("r.h5",),
         "trace": ("out/trial/trace.h5",), "table": ("out/trial/runs.csv",), "plan": ("camp/plan.toml", "camp/cells.csv", "camp/recordings.csv"),
         "mesh": ("stone.msh", "stone.vtk", "stone.obj", "stone.ply")}
#: The scene of the other trials with a body of a mesh file in the place of the ball.
MESH_SCENE = commands.SCENE.partition("[bodies.balls]")[0] + """[bodies.stone]
position_m = [0.0, 0.0, 1.5]
"""
CORNERS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
FACES = ((0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5))


def make_bases(program, folder):
    """Whole files of every kind."""
    commands.make_inputs(program, commands.Command("damaged", (), (), (), (), (
        ("export", "p.npz", "-o", "p.hdf5"), ("export", "p.npz", "--local", "-o", "l.npz"), ("export", "p.npz", "--local", "-o", "l.hdf5"),
        ("record", "ball.toml", "-o", "r.h5"), commands.RUN, ("plan", "trial.toml", "-o", "camp"), ("run", "--plan", "camp", "--shard", "1/1"))), folder)
    make_meshes(folder)


def make_meshes(folder):
    """An octahedron, as tetrahedra around its centre and as a surface."""
    corners = [" ".join(map(str, corner)) for corner in (*CORNERS, (0, 0, 0))]
    cells = [(*face, 6) for face in FACES]
    (folder / "stone.msh").write_text("\n".join((
        "$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", "7", *(f"{i + 1} {c}" for i, c in enumerate(corners)), "$EndNodes", "$Elements", "8",
        *(f"{i + 1} 4 0 {' '.join(str(k + 1) for k in cell)}" for i, cell in enumerate(cells)), "$EndElements", "")), encoding="utf-8")
    (folder / "stone.vtk").write_text("\n".join((
        "# vtk DataFile Version 3.0", "stone", "ASCII", "DATASET UNSTRUCTURED_GRID", "POINTS 7 double", *corners, "CELLS 8 40",
        *(f"4 {' '.join(map(str, cell))}" for cell in cells), "CELL_TYPES 8", *["10"] * 8, "")), encoding="utf-8")
    (folder / "stone.obj").write_text("\n".join((*(f"v {c}" for c in corners[:6]), *("f " + " ".join(str(k + 1) for k in face) for face in FACES), "")),
                                      encoding="utf-8")
    (folder / "stone.ply").write_text("\n".join((
        "ply", "format ascii 1.0", "element vertex 6", "property double x", "property double y", "property double z", "element face 8",
        "property list uchar int vertex_indices", "end_header", *corners[:6], *(f"3 {' '.join(map(str, face))}" for face in FACES), "")), encoding="utf-8")
    for suffix in ("msh", "vtk", "obj", "ply"):
        (folder / f"stone_{suffix}.toml").write_text(mesh_scene(f"stone.{suffix}"), encoding="utf-8")


def mesh_scene(name):
    """Rigid where it is a surface: a program without TetGen cannot fill it."""
    body = f'shape = "mesh"\nmaterial = "soft"\nmesh = "{name}"\n' if name.endswith((".msh", ".vtk")) else f'shape = "surface"\nmaterial = "stiff"\nsurface = "{name}"\n'
    return MESH_SCENE + body + '[materials.stiff]\nmodel = "rigid"\ndensity_kg_m3 = 1000.0\n'


def other_value(dice, array):
    flat = array.copy().reshape(-1)
    if not flat.size:
        return np.append(flat, 1).astype(array.dtype)
    value, place = dice.choice(NUMBERS), dice.randrange(flat.size)
    if array.dtype.kind in "iu":
        bounds = np.iinfo(array.dtype)
        value = min(max(int(np.nan_to_num(value)), int(bounds.min)), int(bounds.max))
    elif array.dtype.kind not in "fc":
        return flat[:0]
    flat[place] = value
    return flat.reshape(array.shape)


def other_length(dice, array):
    flat = array.reshape(-1)
    return dice.choice((flat[:-1], flat[:0], flat[1:], np.concatenate([flat, flat]), np.append(flat, flat[-1:])))


def other_shape(dice, array):
    return dice.choice((array.reshape(1, -1), array.reshape(-1, 1), array.reshape(1, -1, 1), array.T, array.reshape(-1)))


def other_type(dice, array):
    with np.errstate(all="ignore"):
        return array.astype(dice.choice(TYPES)) if array.dtype.kind in "iufb" else np.zeros(3)


def other_order(dice, array):
    flat = array.copy().reshape(-1)
    places = list(range(flat.size))
    dice.shuffle(places)
    return flat[places].reshape(array.shape)


CHANGES = (other_value, other_value, other_value, other_length, other_shape, other_type, other_order)


def damage_arrays(dice, arrays):
    """One to three changes of a {name: array}."""
    arrays = dict(arrays)
    for _ in range(dice.randint(1, 3)):
        name = dice.choice(sorted(arrays)) if arrays else None
        if name is None:
            break
        if dice.random() < 0.1:
            del arrays[name]
        elif dice.random() < 0.1:
            arrays[name] = arrays[dice.choice(sorted(arrays))]
        else:
            arrays[name] = dice.choice(CHANGES)(dice, np.asarray(arrays[name]))
    return arrays


def read_hdf5(path):
    arrays = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: arrays.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
    return arrays


def write_hdf5(path, arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            if isinstance(array, np.ndarray) and array.dtype.kind in "OSU":
                array = array.astype("S")
            file.create_dataset(name, data=array)


def damage_text(dice, text):
    lines = text.splitlines()
    for _ in range(dice.randint(1, 2)):
        place = dice.randrange(len(lines))
        kind = dice.random()
        if kind < 0.7:
            lines[place] = re.sub(r"=.*", lambda _: "= " + dice.choice(WORDS), lines[place], count=1)
        elif kind < 0.8:
            lines.insert(place, lines[place])
        elif kind < 0.9 and len(lines) > 1:
            del lines[place]
        else:
            lines[place] = lines[place].replace("_", "-", 1) or "x"
    return "\n".join(lines) + "\n"


def damage_fields(dice, text, separator):
    """Tables and meshes: another field, a line twice, or none."""
    lines = text.splitlines()
    for _ in range(dice.randint(1, 2)):
        place = dice.randrange(len(lines))
        kind = dice.random()
        if kind < 0.7:
            fields = lines[place].split(separator)
            fields[dice.randrange(len(fields))] = dice.choice((*WORDS, "", "7", "1e400", "-0.0"))
            lines[place] = separator.join(fields)
        elif kind < 0.8:
            lines.insert(place, lines[place])
        elif kind < 0.9 and len(lines) > 1:
            del lines[place]
        else:
            lines[place] = lines[place][:dice.randrange(len(lines[place]) + 1)]
    return "\n".join(lines) + "\n"


def damage_recording(dice, path):
    """One of its checked groups; the checksum is that of the wrong content."""
    with h5py.File(path, "r+") as file:
        group = file[dice.choice(recording_tree.checked_groups(file))]
        attributes, arrays = recording_tree.attributes_of(group), recording_tree.arrays_of(group)
        if dice.random() < 0.2:
            name = dice.choice(sorted(attributes))
            attributes[name] = dice.choice((0, 1, -1, 3, 2**31, 2**40, 0.5, float("nan"), "x", ""))
        else:
            arrays = damage_arrays(dice, arrays)
        recording_tree.write(group, attributes, arrays)


def damage_curves(dice, path):
    with h5py.File(path, "r+") as file:
        runs = file["runs"]
        name = dice.choice(sorted(runs))
        attributes, arrays = dict(runs[name].attrs), damage_arrays(dice, recording_tree.arrays_of(runs[name]))
        del runs[name]
        group = runs.create_group(name)
        for key, value in attributes.items():
            group.attrs[key] = value
        for key, array in arrays.items():
            group.create_dataset(key, data=array)


def make(number, bases, folder):
    """(kind, path) of damaged file number `number`, or of the folder that holds it."""
    dice = random.Random(f"damaged {number}")
    kind = dice.choice(("npz", "npz", "fclib", "fclib", "scene", "experiment", "recording", "recording", "trace", "table", "plan", "mesh"))
    name = dice.choice(KINDS[kind])
    base = bases / name
    if "/" in name:
        place, inside = folder / f"{number:06d}", name.split("/", 1)[1]
        shutil.copytree(bases / name.split("/", 1)[0], place)
        path = place / inside
    else:
        place = path = folder / f"{number:06d}{base.suffix}"
        shutil.copy(base, path)
    if kind == "npz":
        with np.load(base) as arrays:
            np.savez(path, **damage_arrays(dice, arrays))
    elif kind == "fclib":
        write_hdf5(path, damage_arrays(dice, read_hdf5(base)))
    elif kind == "recording":
        damage_recording(dice, path)
    elif kind == "trace":
        damage_curves(dice, path)
    elif kind == "mesh":
        path.write_text(damage_fields(dice, base.read_text(encoding="utf-8"), " "), encoding="utf-8")
        path.with_suffix(".toml").write_text(mesh_scene(path.name), encoding="utf-8")
    elif path.suffix == ".csv":
        path.write_text(damage_fields(dice, base.read_text(encoding="utf-8"), ","), encoding="utf-8")
    else:
        path.write_text(damage_text(dice, base.read_text(encoding="utf-8")), encoding="utf-8")
    return kind, place


def remove(path):
    """What `make` made, and what the program made of it."""
    for found in path.parent.glob(f"*{path.stem}*"):
        shutil.rmtree(found) if found.is_dir() else found.unlink()


def words_of(kind, path):
    made = f"made_{path.stem}"
    if kind in ("scene", "mesh"):
        return "record", f"{path.stem}.toml", "-o", f"{made}.h5", "--steps", "2", "--force"
    if kind == "experiment":
        return "plan", path.name, "-o", made
    if kind in ("trace", "table"):
        return "run", "trial.toml", "--out", path.name, "--resume"
    if kind == "plan":
        return random.Random(path.stem).choice((("status", path.name), ("merge", path.name), ("run", "--plan", path.name, "--shard", "1/1")))
    if kind == "recording":
        return random.Random(path.stem).choice((
            ("info", path.name), ("info", path.name, "--facts"), ("export", path.name, "--vtk", made), ("export", path.name, "--step", "30", "-o", f"{made}.npz"),
            ("replay", path.name, "--solver", "pgs", "-o", f"{made}.html"), ("solve", path.name, "--solver", "pgs,prox-newton", "--max-iterations", "50", "--time-limit", "2")))
    return "solve", path.name, "--solver", "pgs,prox-newton", "--max-iterations", "50", "--time-limit", "2"


def judge(program, folder, kind, path):
    """What is wrong with what the program says of it; empty where nothing is."""
    try:
        done = subprocess.run([program, *words_of(kind, path)], cwd=folder, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    said = [line for line in done.stderr.splitlines() if "error:" in line]
    if done.returncode not in CODES:
        return f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"
    if done.returncode in (2, 3) and (len(said) != 1 or not said[0].startswith("signorini: error: ")):
        return f"exit code {done.returncode} with {len(said)} error lines: {done.stderr.strip()[-300:]}"
    for words in ("filesystem error", "buf = 0x", "std::", "\x1b"):
        if words in done.stderr:
            return f"the error says {words!r}: {done.stderr.strip()[-300:]}"
    return ""
