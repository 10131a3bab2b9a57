"""The groups of a recording that have a checksum of their own (docs/recording-format.md), read, changed and written with the checksum that their
content has then: XXH3 over names, types, shapes and bytes."""

import ctypes
import ctypes.util
import struct

import h5py
import numpy as np

CHECKSUM = "xxh3"


def xxh3(data):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    return f"{library.XXH3_64bits(data, len(data)):016x}"


def number(value):
    return struct.pack("<Q", value)


def text(value):
    return number(len(value)) + value


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode()


def scalar_bytes(value):
    if isinstance(value, (bytes, str)):
        return number(2) + text(as_bytes(value))
    if np.issubdtype(np.asarray(value).dtype, np.integer):
        return number(0) + struct.pack("<Q", int(value) % 2**64)
    return number(1) + struct.pack("<d", float(value))


def array_bytes(array):
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        return number(2) + number(0) + as_bytes(array.reshape(-1)[0] if array.size else b"")
    kind, values = (0, array.astype("<i4")) if array.dtype.kind in "iu" else (1, array.real.astype("<f8"))
    return number(kind) + number(array.ndim) + b"".join(map(number, array.shape)) + values.tobytes()


def arrays_of(group, above=""):
    """{path below the group: array}; equal datasets may be links to one."""
    found = {}
    for name, item in group.items():
        found |= {above + name: item[()]} if isinstance(item, h5py.Dataset) else arrays_of(item, f"{above}{name}/")
    return found


def checksum(attributes, arrays):
    tree = b"".join(text(name.encode()) + scalar_bytes(value) for name, value in sorted(attributes.items()) if name != CHECKSUM)
    return xxh3(tree + b"".join(text(path.encode()) + array_bytes(array) for path, array in sorted(arrays.items())))


def checked_groups(file):
    """Frames and statistics."""
    return [*(f"steps/{name}" for name in file["steps"]), "statistics"]


def attributes_of(group):
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in group.attrs.items()}


def write(group, attributes, arrays):
    """In the place of what it has, its checksum right."""
    for name in list(group):
        del group[name]
    for path, array in arrays.items():
        array = np.asarray(array)
        group.create_dataset(path, data=array.astype("S") if array.dtype.kind in "OSU" else array)
    for name in list(group.attrs):
        if name not in attributes:
            del group.attrs[name]
    for name, value in attributes.items():
        if name != CHECKSUM:
            group.attrs[name] = np.bytes_(value) if isinstance(value, str) else value
    group.attrs[CHECKSUM] = np.bytes_(checksum(attributes, arrays))
