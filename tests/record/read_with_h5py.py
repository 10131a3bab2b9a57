"""usage: read_with_h5py.py PROBLEM.hdf5 RECORDING.h5 TRACE.h5

Reads what Signorini writes with nothing but h5py and numpy, and checks the solution by FCLib's definitions alone:
M v = H r + f, u = H' v + w, K ∋ r ⟂ u + mu |u_T| n ∈ K*. Prints one JSON object.
"""
import json
import sys

import h5py
import numpy as np


def dense(group):
    matrix = np.zeros((group["m"][0], group["n"][0]))
    assert group["nz"][0] >= 0, "triplets expected"
    np.add.at(matrix, (group["i"][:], group["p"][:]), group["x"][:])
    return matrix


def natural_map(r, u, mu):
    """max |r - P_K(r - û)| over the contacts."""
    worst = 0.0
    for k, m in enumerate(mu):
        rk, uk = r[3 * k : 3 * k + 3], u[3 * k : 3 * k + 3]
        z = rk - uk - np.array([m * np.linalg.norm(uk[1:]), 0, 0])
        zt = np.linalg.norm(z[1:])
        if m * zt <= -z[0]:
            p = np.zeros(3)
        elif zt <= m * z[0]:
            p = z
        else:
            n = (m * zt + z[0]) / (m * m + 1)
            p = np.concatenate([[n], m * n * z[1:] / zt])
        worst = max(worst, np.abs(rk - p).max())
    return worst


def check_problem(path):
    with h5py.File(path, "r") as f:
        g = f["fclib_global"]
        for name in ("spacedim", "M/m", "M/n", "M/nz", "M/nzmax", "M/p", "M/i", "H/m", "H/n", "H/nz", "H/p", "H/i"):
            assert g[name].dtype == np.int32 and g[name].ndim == 1, name
        for name in ("spacedim", "M/m", "M/n", "M/nz", "M/nzmax"):
            assert g[name].shape == (1,), name
        assert g["spacedim"][0] == 3
        assert g["info/title"].dtype.kind == "S" and g["info/title"][()] == b"planted"
        M, H = dense(g["M"]), dense(g["H"])
        rows = g["M/i"][:]
        assert (np.diff(rows) >= 0).all(), "triplets in row order"
        f_, w, mu = g["vectors/f"][:], g["vectors/w"][:], g["vectors/mu"][:]
        r, u, v = f["solution/r"][:], f["solution/u"][:], f["solution/v"][:]
    v_mine = np.linalg.solve(M, H @ r + f_)
    u_mine = H.T @ v_mine + w
    return {
        "natural_map": natural_map(r, u_mine, mu) / np.abs(u_mine).max(),
        "u_difference": np.abs(u - u_mine).max(),
        "v_difference": np.abs(v - v_mine).max(),
        "contacts": len(mu),
    }


def check_recording(path):
    with h5py.File(path, "r") as f:
        assert f.attrs["signorini_schema"] == 2
        assert "upper_blocks" in f.attrs["fields"].decode()
        step = f["steps/000001"]
        n, begin, column = int(step.attrs["dofs"]), step["M/row_begin"][:], step["M/column"][:]
        M = np.zeros((n, n))
        for i in range(n // 3):
            for b in range(begin[i], begin[i + 1]):
                j, block = column[b], step["M/upper_blocks"][b].reshape(3, 3)
                assert j >= i, "upper triangle"
                M[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
                M[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.T
        m = int(step.attrs["contacts"])
        assert step["v_minus"].shape == (n,) and step["start_bounds"].shape == (m,)
        assert step["start_states"][:].tolist() == [k % 4 - 1 for k in range(m)]
        H = np.zeros((n, 3 * m))
        begin, row = step["H/column_begin"][:], step["H/row"][:]
        for k in range(m):
            for b in range(begin[k], begin[k + 1]):
                H[3 * row[b] : 3 * row[b] + 3, 3 * k : 3 * k + 3] = step["H/blocks"][b].reshape(3, 3)
        table = f["statistics"]
        units = dict(zip(table.attrs["columns"].decode().split(","), table.attrs["units"].decode().split(",")))
        assert set(table) == set(units) and all(table[name].shape == (table.attrs["rows"],) for name in table)
        return M, H, table["kinetic_energy"][:].tolist(), units["kinetic_energy"]


def main():
    problem, recording, trace = sys.argv[1:]
    result = check_problem(problem)
    M, H, result["kinetic_energy"], result["kinetic_energy_unit"] = check_recording(recording)
    with h5py.File(problem, "r") as f:
        result["M_difference"] = np.abs(M - dense(f["fclib_global/M"])).max()
        result["H_difference"] = np.abs(H - dense(f["fclib_global/H"])).max()
    with h5py.File(trace, "r") as f:
        run = f["runs/000000"]
        result["solver"] = run.attrs["solver"].decode()
        result["last_residual"] = run["residual"][-1]
    print(json.dumps(result))


main()
