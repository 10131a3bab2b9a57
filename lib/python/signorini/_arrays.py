"""Arrays of numpy and scipy as the library takes them: float64 or int32, row by row.

Nothing here trusts what it is given: whatever numpy holds is either converted or refused with a line that names the array and its shape.
Sparse matrices are taken apart and never handed to code of scipy that assumes valid indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ._errors import ProblemError, UsageError

# As for npz archives: what unpacks to more is given as a sparse matrix.
MOST_BYTES = 1 << 30
_INT32 = np.iinfo(np.int32)


def described(array: np.ndarray) -> str:
    """dtype and shape, for messages."""
    return f"{array.dtype}, shape {array.shape}"


def _plain(name: str, value: Any, where: str) -> np.ndarray:
    if scipy.sparse.issparse(value):
        raise ProblemError(f"{where}: array '{name}': is a sparse matrix; give an array of numbers")
    if np.ma.isMaskedArray(value):
        raise ProblemError(f"{where}: array '{name}': is masked; fill it, for example {name}.filled(0.0)")
    try:
        array = np.asarray(value)
    except Exception as error:  # whatever an object's own conversion raises
        raise ProblemError(f"{where}: array '{name}': is no array ({error})") from error
    if array.ndim > 2:
        raise ProblemError(f"{where}: array '{name}' ({described(array)}): has {array.ndim} dimensions; give a vector or a matrix")
    if array.size * 8 > MOST_BYTES:
        raise ProblemError(f"{where}: array '{name}' ({described(array)}): is too large; give large matrices as scipy's csr_matrix")
    return array


def reals(name: str, value: Any, where: str) -> np.ndarray:
    """float64, row by row."""
    array = _plain(name, value, where)
    if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8)):
        raise ProblemError(f"{where}: array '{name}' ({described(array)}): its dtype cannot be read; give real numbers, "
                           f"for example np.asarray({name}, dtype=float)")
    return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def whole(name: str, value: Any, where: str) -> np.ndarray:
    """int32, row by row."""
    array = _plain(name, value, where)
    if array.dtype.kind not in "iu":
        raise ProblemError(f"{where}: array '{name}' ({described(array)}): must hold whole numbers, for example "
                           f"np.asarray({name}, dtype='int32')")
    if array.size and (int(array.min()) < _INT32.min or int(array.max()) > _INT32.max):
        raise ProblemError(f"{where}: array '{name}' ({described(array)}): a number does not fit 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32).reshape(array.shape)


def _from_coo(name: str, matrix: Any, where: str) -> dict[str, Any]:
    rows, columns = whole(f"{name}.row", matrix.row, where), whole(f"{name}.col", matrix.col, where)
    data = reals(f"{name}.data", matrix.data, where)
    count = int(matrix.shape[0])
    if not rows.ndim == columns.ndim == data.ndim == 1 or not rows.size == columns.size == data.size:
        raise ProblemError(f"{where}: array '{name}': its row, col and data differ in length ({rows.shape}, {columns.shape}, {data.shape})")
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < count:
        raise ProblemError(f"{where}: array '{name}': a row index is out of range 0..{count - 1}")
    order = np.argsort(rows, kind="stable")
    indptr = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=indptr[1:])
    return {f"{name}_data": data[order], f"{name}_indices": columns[order], f"{name}_indptr": whole(f"{name}.indptr", indptr, where)}


def _compressed(name: str, matrix: Any, where: str) -> dict[str, Any]:
    parts = {f"{name}_data": reals(f"{name}.data", matrix.data, where),
             f"{name}_indices": whole(f"{name}.indices", matrix.indices, where),
             f"{name}_indptr": whole(f"{name}.indptr", matrix.indptr, where)}
    for key, part in parts.items():
        if part.ndim != 1:
            raise ProblemError(f"{where}: array '{key}' ({described(part)}): must have one dimension")
    return parts


def _expanded(name: str, matrix: Any, where: str) -> Any:
    """Other forms of scipy's as CSR, by scipy itself once their indices are known to be good."""
    try:
        if matrix.format == "bsr":
            matrix.check_format(full_check=True)
        return matrix.tocsr()
    except Exception as error:
        raise ProblemError(f"{where}: array '{name}': no valid {matrix.format}_matrix ({error})") from error


def matrix(name: str, value: Any, where: str) -> dict[str, Any]:
    """The arrays of one matrix under the names that npz archives have for them: dense, diagonal (of a vector) or sparse."""
    if not scipy.sparse.issparse(value):
        array = reals(name, value, where)
        return {f"{name}_diagonal" if array.ndim == 1 else name: array}
    if value.format == "coo":
        parts = _from_coo(name, value, where)
    else:
        if value.format not in ("csr", "csc"):
            value = _expanded(name, value, where)
        parts = _compressed(name, value, where)
    if value.format == "csc":
        parts[f"{name}_format"] = "csc"
    parts[f"{name}_shape"] = whole(f"{name}.shape", np.asarray(value.shape, dtype=object).astype(np.int64), where)
    return parts


def vector(name: str, value: Any) -> np.ndarray:
    """A vector of float64 for an answer (r, u, v); its length is checked by those who know it."""
    try:
        return reals(name, value, "solution")
    except ProblemError as error:
        raise UsageError(str(error)) from error
