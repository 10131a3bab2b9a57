"""How well-posed a problem is: the spectrum of its Delassus operator W = Hᵀ M⁻¹ H."""

import h5py
import numpy as np

MOST_ROWS = 1500  # of W, which is dense here: 18 MB, some seconds
MOST_DOFS = 3000  # of one body, whose block of M is dense here: 72 MB
RANK = 1e-10      # eigenvalues below this share of the largest count as zero


class Triplets:
    """A matrix of an FCLib file: p columns, i rows."""

    def __init__(self, group):
        self.shape = int(group["m"][0]), int(group["n"][0])
        self.row, self.column, self.value = group["i"][:], group["p"][:], group["x"][:]

    def rows(self, begin, end, first_column=0, columns=None):
        """Rows [begin, end) as a dense matrix of `columns` columns from `first_column` on."""
        columns = self.shape[1] if columns is None else columns
        inside = (self.row >= begin) & (self.row < end)
        column = self.column[inside] - first_column
        if inside.any() and (column.min() < 0 or column.max() >= columns):
            raise ValueError("the matrix couples bodies that body_dofs separates")
        dense = np.zeros((end - begin, columns))
        np.add.at(dense, (self.row[inside] - begin, column), self.value[inside])
        return dense


def delassus(path):
    """W of an FCLib file with a global problem, body by body; nothing where it would be too large."""
    with h5py.File(path, "r") as file:
        problem = file["fclib_global"]
        M, H = Triplets(problem["M"]), Triplets(problem["H"])
        ends = file["signorini/body_dofs"][:] if "signorini/body_dofs" in file else np.array([0, M.shape[0]])
    if H.shape[1] > MOST_ROWS or np.diff(ends).max() > MOST_DOFS:
        return None
    W = np.zeros((H.shape[1], H.shape[1]))
    for begin, end in zip(ends, ends[1:]):
        if end > begin:
            rows = H.rows(begin, end)
            W += rows.T @ np.linalg.solve(M.rows(begin, end, begin, end - begin), rows)
    return 0.5 * (W + W.T)


def spectrum(path):
    """{rank, condition}: largest over smallest eigenvalue of W above RANK of the largest; empty where W is too large."""
    W = delassus(path)
    if W is None:
        return {"rank": "", "condition": ""}
    values = np.linalg.eigvalsh(W)
    kept = values[values > RANK * values[-1]]
    return {"rank": str(len(kept)), "condition": f"{kept[-1] / kept[0]:.1e}"}
