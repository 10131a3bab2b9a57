"""HDF5 serves one thread at a time. h5py guards it by a lock of its own; where h5py is loaded, we take that lock too."""

from __future__ import annotations

import contextlib
import sys
from typing import Iterator


@contextlib.contextmanager
def hdf5() -> Iterator[None]:
    """Around calls that read or write files."""
    objects = sys.modules.get("h5py._objects")
    lock = getattr(objects, "phil", None)
    with lock if lock is not None else contextlib.nullcontext():
        yield
