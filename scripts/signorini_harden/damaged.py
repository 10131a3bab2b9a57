"""Files whose content is wrong while their containers are right: `scripts/harden --damaged N`.

Every number is a file of its own, the same in every run: arrays of FCLib files and npz archives with other values, lengths, shapes and types, or
without one, written by h5py and numpy, so that all checksums of the container are those of the wrong content; scenes and experiments with
another value, a line twice, or none. The program reads it: exit code 0 to 3, one line of error, within `PATIENCE`. (Bytes that are damaged,
recordings among them: tests/record/mutation.)"""

import random
import re
import subprocess

import h5py
import numpy as np

from . import commands

PATIENCE = 120  # s
CODES = (0, 1, 2, 3)
NUMBERS = (float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e300, 1e-300, 2.0**31 - 1, -(2.0**31), 2.0**40, 3.0)
TYPES = ("<f4", ">f8", "<i8", "<i4", ">i4", "<u8", "|b1", "<c16", "|i1", "<f2")
WORDS = ("nan", "inf", "-1", "0", "1e300", "1e-300", "-1e9", "99999999999999999999", '"x"', '""', "[]", "[[]]", "{}", "true", "[1.0]", "[1.0, 2.0, 3.0]", "1979-05-27",
         '"../../etc/passwd"', '"a\\u001b[31mb"')
KINDS = {"npz": ("p.npz", "l.npz"), "fclib": ("p.hdf5", "l.hdf5"), "scene": ("ball.toml",), "experiment": ("trial.toml",)}


def make_bases(program, folder):
    """Whole files of every kind."""
    commands.make_inputs(program, commands.Command("damaged", (), (), (), (), (
        ("export", "p.npz", "-o", "p.hdf5"), ("export", "p.npz", "--local", "-o", "l.npz"), ("export", "p.npz", "--local", "-o", "l.hdf5"))), folder)


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


def make(number, bases, folder):
    """(kind, path) of damaged file number `number`."""
    dice = random.Random(f"damaged {number}")
    kind = dice.choice(("npz", "npz", "fclib", "fclib", "scene", "experiment"))
    base = bases / dice.choice(KINDS[kind])
    path = folder / f"{number:06d}{base.suffix}"
    if kind == "npz":
        with np.load(base) as arrays:
            np.savez(path, **damage_arrays(dice, arrays))
    elif kind == "fclib":
        write_hdf5(path, damage_arrays(dice, read_hdf5(base)))
    else:
        path.write_text(damage_text(dice, base.read_text(encoding="utf-8")), encoding="utf-8")
    return kind, path


def words_of(kind, path):
    if kind == "scene":
        return "record", path.name, "-o", "made.h5", "--steps", "2", "--force"
    if kind == "experiment":
        return "plan", path.name, "-o", f"made_{path.stem}"
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
