"""The reduced form u = W r + q of an FCLib file, W = Hᵀ M⁻¹ H (1/kg) as a sparse matrix, contacts ordered N, T1, T2."""

import dataclasses

import h5py
import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu


@dataclasses.dataclass
class Reduced:
    W: sparse.csr_matrix
    q: np.ndarray
    mu: np.ndarray
    M: sparse.csc_matrix | None = None  # None: the file holds W alone
    H: sparse.csc_matrix | None = None

    @property
    def contacts(self):
        return len(self.mu)


def read_matrix(group):
    """Triplets (nz ≥ 0: p columns, i rows), CSC (-1) or CSR (-2)."""
    rows, columns, kind = (int(group[name][0]) for name in ("m", "n", "nz"))
    p, i, x = (group[name][:] for name in ("p", "i", "x"))
    if kind >= 0:
        return sparse.coo_matrix((x[:kind], (i[:kind], p[:kind])), shape=(rows, columns)).tocsc()
    make = sparse.csc_matrix if kind == -1 else sparse.csr_matrix
    return make((x[:p[-1]], i[:p[-1]], p), shape=(rows, columns)).tocsc()


def filled(M):
    """M, filled up by symmetry where one triangle of it is stored (docs/fclib.md)."""
    above, below = sparse.triu(M, 1), sparse.tril(M, -1)
    return M if bool(above.count_nonzero()) == bool(below.count_nonzero()) else (M + above.T + below.T).tocsc()


def product(M, H, f):
    """(Hᵀ M⁻¹ H, Hᵀ M⁻¹ f), one connected part of M after the other, which keeps W sparse."""
    off_diagonal = M - sparse.diags(M.diagonal())
    off_diagonal.eliminate_zeros()
    if off_diagonal.nnz == 0:
        scaled = sparse.diags(1.0 / M.diagonal()) @ H
        return (H.T @ scaled).tocsr(), scaled.T @ f
    _, part = connected_components(M, directed=False)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(part.max() + 2))
    touched = np.unique(part[H.indices])
    rows, blocks, q = H.tocsr(), [], np.zeros(H.shape[1])
    for number in touched:
        own = order[ends[number]:ends[number + 1]]
        Hb = rows[own].tocsc()
        columns = np.flatnonzero(np.diff(Hb.indptr))
        Hb = Hb[:, columns].toarray()
        X = splu(M[own][:, own].tocsc()).solve(Hb)
        Wb = Hb.T @ X
        q[columns] += X.T @ f[own]
        place = np.repeat(columns, len(columns)), np.tile(columns, len(columns))
        blocks.append((0.5 * (Wb + Wb.T).ravel(), *place))
    values, first, second = (np.concatenate(each) for each in zip(*blocks))
    return sparse.coo_matrix((values, (first, second)), shape=(H.shape[1],) * 2).tocsr(), q


def dimensions(path):
    """3, or 2 for a problem in the plane."""
    with h5py.File(path, "r") as file:
        return int(file["fclib_local" if "fclib_local" in file else "fclib_global"]["spacedim"][0])


def to_space(W, q):
    """(W, q) of a problem in the plane, two rows per contact, with the third row that the program's reader gives every contact (docs/fclib.md): W_T2T2 = W_TT,
    where it is positive, coupled with nothing, and q_T2 = 0. r_T2 = 0 in every solution."""
    W = W.tocoo()
    contacts, place = W.shape[0] // 2, lambda row: 3 * (row // 2) + row % 2
    tangential = W.diagonal()[1::2]
    own = np.flatnonzero(tangential > 0)
    entries = np.concatenate([W.data, tangential[own]]), tuple(np.concatenate([place(rows), 3 * own + 2]) for rows in (W.row, W.col))
    wide = np.zeros((contacts, 3))
    wide[:, :2] = q.reshape(-1, 2)
    return sparse.coo_matrix(entries, shape=(3 * contacts,) * 2).tocsr(), wide.ravel()


def to_plane(r):
    """Impulses (N, T, T2) → (N, T)."""
    return r.reshape(-1, 3)[:, :2].ravel()


def stored_entries(path):
    """How many entries W will have, at least the dense blocks of its bodies; what tells whether it can be formed at all."""
    with h5py.File(path, "r") as file:
        if "fclib_local" in file:
            return int(file["fclib_local/W/x"].shape[0])
        M, H = (read_matrix(file[f"fclib_global/{name}"]) for name in "MH")
    _, part = connected_components(M, directed=False)
    pairs = np.unique(np.stack([part[H.indices], np.repeat(np.arange(H.shape[1]), np.diff(H.indptr))]), axis=1)
    return int((np.bincount(pairs[0]).astype(np.int64) ** 2).sum())


def read(path):
    with h5py.File(path, "r") as file:
        if "fclib_local" in file:
            group = file["fclib_local"]
            W, M, H = read_matrix(group["W"]).tocsr(), None, None
            q = group["vectors/q"][:]
        else:
            group = file["fclib_global"]
            M, H = filled(read_matrix(group["M"])), read_matrix(group["H"])
            W, q = product(M, H, group["vectors/f"][:])
            q = q + group["vectors/w"][:]
        mu = group["vectors/mu"][:]
    W.sum_duplicates()
    W.sort_indices()
    return Reduced(W, q, mu, M, H)
