"""What the tests share: files of the tree and small problems made here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import signorini

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "configs" / "problems" / "reference"


@pytest.fixture
def reference():
    """Folder with eight problems and their solutions."""
    return REFERENCE


@pytest.fixture
def recording(tmp_path):
    """A recording of two frames with everything in it; a copy, since opening may leave files beside it."""
    return Path(shutil.copy(ROOT / "tests" / "record" / "schema1_last.h5", tmp_path / "recording.h5"))


@pytest.fixture
def program():
    """The program, for comparisons with it."""
    path = os.environ.get("SIGNORINI_PROGRAM", "")
    if not path:
        pytest.skip("SIGNORINI_PROGRAM names no program")
    return path


def chain_arrays(contacts=4, mu=0.5, seed=1):
    """A random problem of `contacts` contacts between `contacts + 1` mass points in a row, coupled by M: one island. Dense arrays by name."""
    rng = np.random.default_rng(seed)
    n = 3 * (contacts + 1)
    A = rng.standard_normal((n, n))
    H = np.zeros((n, 3 * contacts))
    for k in range(contacts):
        turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        H[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = turn
        H[3 * k + 3 : 3 * k + 6, 3 * k : 3 * k + 3] = -turn
    return dict(M=A @ A.T + n * np.eye(n), H=H, f=10 * rng.standard_normal(n), w=rng.standard_normal(3 * contacts), mu=np.full(contacts, mu))


@pytest.fixture
def arrays():
    return chain_arrays()


@pytest.fixture
def problem(arrays):
    return signorini.Problem(**arrays)


class Descent:
    """projected gradients"""

    def __init__(self, problem):
        self.problem = problem
        self.step = 1.0 / abs(problem.W).sum(axis=1).max()

    def iterate(self, r):
        r = (r - self.step * (self.problem.W @ r + self.problem.q)).reshape(-1, 3)
        r[:, 0] = np.maximum(r[:, 0], 0.0)
        length = np.maximum(np.linalg.norm(r[:, 1:], axis=1), 1e-300)
        r[:, 1:] *= np.minimum(1.0, self.problem.mu * r[:, 0] / length)[:, None]
        return r.ravel()


def broken(problem):
    raise RuntimeError("cannot go on")


@pytest.fixture
def own_solvers():
    signorini.register_solver("descent", Descent)
    signorini.register_solver("broken", broken)


def run_python(code, *arguments, timeout=300):
    """A piece of Python in a process of its own: (exit status, output). A crash is a negative status."""
    done = subprocess.run([sys.executable, "-B", "-c", code, *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout + done.stderr


def same_matrix(a, b):
    """Whether two matrices are equal to the last bit."""
    return np.array_equal(scipy.sparse.csr_matrix(a).toarray(), scipy.sparse.csr_matrix(b).toarray())
