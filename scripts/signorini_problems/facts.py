"""problems.csv: what a problem is like, in numbers that tell solvers apart."""

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from signorini_problems import delassus
from signorini_problems.snapshots import export, say, snapshots, write_table

FIELDS = ("file", "step", "contacts", "dofs", "touched_dofs", "islands", "largest_island", "most_neighbours", "rank_ratio", "rank", "condition",
          "mass_condition", "mu_min", "mu_max")
MEANING = {
    "touched_dofs": "velocity components of the bodies that have contacts; 0 where the file holds W alone",
    "islands": "parts of W that do not couple",
    "largest_island": "contacts in the largest of them",
    "most_neighbours": "contacts that one contact is coupled with by W, at most",
    "rank_ratio": "rows of H, three per contact, over touched_dofs; above 1 impulses are not unique",
    "rank": "eigenvalues of W above 1e-10 of the largest",
    "condition": "largest over smallest of these",
    "mass_condition": "condition of D⁻¹M, D the 3×3 diagonal blocks of M; 1 where M is diagonal by mass points",
}
RANK = 1e-10           # eigenvalues below this share of the largest count as zero
MOST_ROWS = 2400       # of one island: its W is dense here
MOST_ENTRIES = 2.5e7   # of W: 200 MB


def islands_of(W):
    """(number of islands, island of every contact), contacts coupled with each contact."""
    blocks = W.tobsr((3, 3))
    graph = sparse.csr_matrix((np.abs(blocks.data).max(axis=(1, 2)), blocks.indices, blocks.indptr))
    graph.eliminate_zeros()
    count, island = connected_components(graph, directed=False)
    loops = graph.diagonal() != 0
    return count, island, np.diff(graph.indptr) - loops


def spectrum(W, count, island):
    """{rank, condition} of the symmetric part of W, island by island; empty where one is too large."""
    if 3 * np.bincount(island).max() > MOST_ROWS:
        return {"rank": "", "condition": ""}
    values, order = [], np.argsort(island, kind="stable")
    ends = np.searchsorted(island[order], np.arange(count + 1))
    for number in range(count):
        rows = (3 * order[ends[number]:ends[number + 1], None] + np.arange(3)).ravel()
        part = W[rows][:, rows].toarray()
        values.append(np.linalg.eigvalsh(0.5 * (part + part.T)))
    values = np.concatenate(values)
    kept = values[values > RANK * values.max()]
    return {"rank": len(kept), "condition": f"{kept.max() / kept.min():.2e}"}


def mass_condition(M):
    """Of D⁻¹M by Lanczos' method on both ends of L⁻¹ M L⁻ᵀ, D = L Lᵀ."""
    n = M.shape[0]
    if n % 3:
        return ""
    blocks = M.tobsr((3, 3))
    D = np.zeros((n // 3, 3, 3))
    for k in range(n // 3):
        here = blocks.indices[blocks.indptr[k]:blocks.indptr[k + 1]] == k
        if here.any():
            D[k] = blocks.data[blocks.indptr[k]:blocks.indptr[k + 1]][here][0]
    try:
        inverse = sparse.block_diag(list(np.linalg.inv(np.linalg.cholesky(D))), format="csc")
        scaled = (inverse @ M @ inverse.T).tocsc()
        if abs(scaled - sparse.identity(n)).max() < 1e-12:
            return "1.00"
        factor = splu(scaled)
        least = 1.0 / eigsh(LinearOperator((n, n), factor.solve), k=1, which="LM", tol=1e-3, return_eigenvectors=False, v0=np.ones(n))[0]
        most = eigsh(scaled, k=1, which="LM", tol=1e-3, return_eigenvectors=False, v0=np.ones(n))[0]
    except (np.linalg.LinAlgError, ArpackError, RuntimeError):
        return ""
    return f"{most / least:.3g}"


def facts_of(path, eigenvalues=True):
    """The fields of one FCLib file besides its name and sizes; without eigenvalues rank and conditions stay empty."""
    if delassus.dimensions(path) != 3 or delassus.stored_entries(path) > MOST_ENTRIES:  # the numbers count three rows per contact
        return dict.fromkeys(FIELDS[4:], "")
    problem = delassus.read(path)
    count, island, neighbours = islands_of(problem.W)
    found = {"touched_dofs": 0, "islands": count, "largest_island": np.bincount(island).max(), "most_neighbours": neighbours.max(),
             "rank_ratio": "", "mass_condition": "", "mu_min": f"{problem.mu.min():g}", "mu_max": f"{problem.mu.max():g}"}
    if problem.M is not None:
        _, part = connected_components(problem.M, directed=False)
        touched = int(np.isin(part, part[problem.H.indices]).sum())
        found |= {"touched_dofs": touched, "rank_ratio": f"{3 * problem.contacts / touched:.3g}", "mass_condition": mass_condition(problem.M) if eigenvalues else ""}
    return found | (spectrum(problem.W, count, island) if eigenvalues else {"rank": "", "condition": ""})


def write(folder, eigenvalues=True):
    """problems.csv beside runs.csv."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for snapshot in snapshots(folder):
            say(f"{snapshot.file} {snapshot.step}: {snapshot.contacts} contacts")
            path = export(snapshot, Path(place) / "problem.hdf5")
            rows.append({"file": snapshot.file, "step": snapshot.step, "contacts": snapshot.contacts, "dofs": snapshot.dofs, **facts_of(path, eigenvalues)})
    write_table(folder / "problems.csv", FIELDS, rows)
    say(f"{folder / 'problems.csv'}: {len(rows)} problems")
