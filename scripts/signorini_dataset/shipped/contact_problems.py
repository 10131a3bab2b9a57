"""The contact problems of this folder for Python: numpy and scipy; h5py only where the .hdf5 file is read instead of the .npz.

    import contact_problems as cp
    for row, problem in cp.problems():                       # one by one, in the order of problems.csv
        r = my_solver(problem.M, problem.H, problem.f, problem.w, problem.mu)
        print(row["name"], cp.residual(problem, r), "reference:", cp.residual(problem, problem.r))

A problem: find velocities v (n) and impulses r (3m, N s) with

    M v = H r + f,   u = Hᵀ v + w,   contact k:  0 ≤ u_N ⊥ r_N ≥ 0,  ‖r_T‖ ≤ μ r_N, friction against the slip u_T.

Rows of a contact stand together: normal, tangent 1, tangent 2. SI units.

    python3 contact_problems.py [FOLDER]    compares checksums, and the residual of every solution with problems.csv; exit 1 where one differs
"""

import csv
import dataclasses
import functools
import hashlib
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

HERE = Path(__file__).resolve().parent
COLUMNS = 192  # of M⁻¹ H at a time


@dataclasses.dataclass
class Problem:
    M: sparse.csr_matrix          # n×n, kg
    H: sparse.csr_matrix          # n×3m
    f: np.ndarray                 # n, N s
    w: np.ndarray                 # 3m, m/s
    mu: np.ndarray                # m
    r: np.ndarray | None = None   # 3m, N s: the reference solution, with u (3m, m/s) and v (n, m/s); None where none is known
    u: np.ndarray | None = None
    v: np.ndarray | None = None
    more: dict = dataclasses.field(default_factory=dict)  # other arrays of the file: v_minus, gap, frame, position, start_states, …

    @property
    def contacts(self):
        return len(self.mu)

    @functools.cached_property
    def parts(self):
        """[(dofs, x ↦ M⁻¹ x)] of the parts of M that do not couple: one for each body, or a single one where M is diagonal."""
        diagonal = self.M.diagonal()
        if self.M.nnz == np.count_nonzero(diagonal):
            return [(np.arange(len(diagonal)), lambda x: (x.T / diagonal).T)]
        _, part = connected_components(self.M, directed=False)
        order = np.argsort(part, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
        return [(dofs, splu(self.M[dofs][:, dofs].tocsc()).solve) for dofs in groups]

    def velocity(self, r):
        """v = M⁻¹ (H r + f)"""
        force, v = self.H @ r + self.f, np.empty(len(self.f))
        for dofs, solve in self.parts:
            v[dofs] = solve(force[dofs])
        return v

    def relative_velocity(self, r):
        """u = Hᵀ v + w"""
        return self.H.T @ self.velocity(r) + self.w

    @functools.cached_property
    def q(self):
        """The relative velocity without impulses, 3m, m/s."""
        return self.relative_velocity(np.zeros(len(self.w)))

    @functools.cached_property
    def diagonal_blocks(self):
        """m×3×3: the blocks on the diagonal of W = Hᵀ M⁻¹ H, 1/kg."""
        blocks = np.zeros((self.contacts, 3, 3))
        for dofs, solve in self.parts:
            H = self.H[dofs].tocsc()
            touching = np.unique(np.flatnonzero(np.diff(H.indptr)) // 3)
            for begin in range(0, len(touching), COLUMNS // 3):
                some = touching[begin:begin + COLUMNS // 3]
                dense = H[:, (3 * some[:, None] + np.arange(3)).ravel()].toarray()
                shape = len(dofs), len(some), 3
                blocks[some] += np.einsum("nki,nkj->kij", dense.reshape(shape), solve(dense).reshape(shape))
        return blocks


def residual(problem, r):
    """The error that tables of Signorini show: law-aware, relative to U = max |q|, without a unit. With ρ_N = 1/W_NN, ρ_T = 1/λmax(W_TT),

        p_N = max(0, r_N − ρ_N u_N),   e_N = (r_N − p_N)/ρ_N,   e_T = (r_T − P(r_T − ρ_T u_T))/ρ_T,   P: onto the disc of radius μ p_N

    it is the largest √(e_N² + ‖e_T‖²) of a contact over U; u comes from r through M. Infinite where r is not finite.
    """
    r = np.asarray(r, dtype=float)
    if problem.contacts == 0:
        return 0.0
    if not np.isfinite(r).all():
        return float("inf")
    U = np.abs(problem.q).max() or 1.0
    u, W, r = problem.relative_velocity(r).reshape(-1, 3), problem.diagonal_blocks, r.reshape(-1, 3)
    normal, fixed = W[:, 0, 0], W[:, 0, 0] <= 0.0
    tangential = 0.5 * (W[:, 1, 1] + W[:, 2, 2]) + np.hypot(0.5 * (W[:, 1, 1] - W[:, 2, 2]), 0.5 * (W[:, 1, 2] + W[:, 2, 1]))
    p_N = np.maximum(0.0, r[:, 0] - u[:, 0] / np.where(fixed, 1.0, normal))
    e_N = np.minimum(normal * r[:, 0], u[:, 0])
    pushed, radius = tangential[:, None] * r[:, 1:] - u[:, 1:], tangential * problem.mu * p_N
    length = np.linalg.norm(pushed, axis=1)
    projected = pushed * np.where(length > radius, radius / np.where(length > 0.0, length, 1.0), 1.0)[:, None]
    e_T = np.linalg.norm(tangential[:, None] * r[:, 1:] - projected, axis=1)
    return float(np.where(fixed, np.maximum(0.0, -u[:, 0]), np.hypot(e_N, e_T)).max() / U)


def load(path):
    """A problem from NAME.npz, or from NAME.hdf5 (FCLib's layout). ValueError: the file holds no problem with M, H, f, w and mu in space."""
    path = Path(path)
    arrays = from_npz(path) if path.suffix == ".npz" else from_hdf5(path)
    absent = {"M", "H", "f", "w", "mu"} - set(arrays)
    if absent or int(np.ravel(arrays.get("spacedim", 3))[0]) != 3:
        raise ValueError(f"{path}: no problem in space with M, H, f, w and mu" + (f" (absent: {', '.join(sorted(absent))})" if absent else ""))
    own = {field.name for field in dataclasses.fields(Problem)} - {"more"}
    return Problem(**{name: value for name, value in arrays.items() if name in own}, more={name: value for name, value in arrays.items() if name not in own})


def from_npz(path):
    with np.load(path) as file:
        arrays = dict(file)
    for name, columns in (("M", None), ("H", 3 * len(arrays["mu"]))):
        if f"{name}_data" in arrays:
            parts = tuple(arrays.pop(f"{name}_{part}") for part in ("data", "indices", "indptr"))
            shape = arrays.pop(f"{name}_shape", (len(parts[2]) - 1, columns or len(parts[2]) - 1))
            arrays[name] = sparse.csr_matrix(parts, shape=tuple(map(int, shape)))
        elif f"{name}_diagonal" in arrays:
            arrays[name] = sparse.diags(arrays.pop(f"{name}_diagonal")).tocsr()
        elif name in arrays:
            arrays[name] = sparse.csr_matrix(arrays[name])
    return arrays


def matrix(group):
    """A matrix of an FCLib file: triplets (nz ≥ 0: i rows, p columns), CSC (nz = -1) or CSR (nz = -2)."""
    rows, columns, kind = (int(group[name][0]) for name in ("m", "n", "nz"))
    i, p, x = (group[name][:] for name in ("i", "p", "x"))
    if kind >= 0:
        return sparse.coo_matrix((x, (i, p)), shape=(rows, columns)).tocsr()
    return (sparse.csc_matrix if kind == -1 else sparse.csr_matrix)((x, i, p), shape=(rows, columns)).tocsr()


def from_hdf5(path):
    import h5py
    with h5py.File(path, "r") as file:
        if "fclib_global" not in file:
            return {}
        group, arrays = file["fclib_global"], {}
        for place in ("signorini", "solution"):
            arrays |= {name: value[()] for name, value in file.get(place, {}).items() if hasattr(value, "shape")}
        if "guesses/1/r" in file:
            arrays["warm_start"] = file["guesses/1/r"][:]
        arrays |= {name: float(value) for name, value in file.get("signorini", group).attrs.items() if name in ("dt", "time")}
        arrays |= {name: group[f"vectors/{name}"][:] for name in ("f", "w", "mu")} | {name: matrix(group[name]) for name in "MH"}
        arrays["spacedim"] = group["spacedim"][()] if "spacedim" in group else 3
    return arrays


def table(folder=HERE):
    """The rows of problems.csv as dicts of text."""
    with open(Path(folder) / "problems.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def problems(folder=HERE):
    """(row of problems.csv, problem) of all problems; one is in memory at a time."""
    for row in table(folder):
        yield row, load(Path(folder) / "problems" / f"{row['name']}.npz")


def check(folder):
    """What is wrong in the folder, one line each."""
    folder, found = Path(folder), []
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(f"{name}: {'another content than SHA256SUMS says' if path.is_file() else 'is missing'}")
    for row, problem in problems(folder):
        if row["residual"]:
            error, told = residual(problem, problem.r), float(row["residual"])
            if not error <= 1.01 * told + 1e-11:  # three digits in the table; 1e-11: roundings of another way to solve with M
                found.append(f"{row['name']}: residual {error:.2e}, problems.csv says {row['residual']}")
    return found


def main(arguments):
    folder = Path(arguments[0]) if arguments else HERE
    wrong = check(folder)
    print("\n".join(wrong) if wrong else f"{len(table(folder))} problems: checksums and residuals are those of the tables")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
