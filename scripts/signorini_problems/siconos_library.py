"""Siconos' C library through python3-siconos: its storage of a problem, its silence, and one solve in a process of its own."""

import dataclasses
import os
import pickle
import select
import signal
import sys
import tempfile
import time

import numpy as np
import siconos.numerics as sn

SHORT = 0.05  # s: solves shorter than this are timed REPETITIONS times, the median counts
REPETITIONS = 3
TOLD = 2e-3     # s: shorter solves say nothing of how busy the machine is, reading the clocks takes too large a share
GRACE = 0.2   # s beyond the limit: start of the process and the way of the answer


class Silence:
    """Siconos' C code prints to stdout."""

    def __enter__(self):
        sys.stdout.flush()
        self.saved = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)

    def __exit__(self, *_):
        os.dup2(self.saved, 1)
        os.close(self.saved)


def native(W, q, mu):
    """u = W r + q in Siconos' storage 1, sparse 3×3 blocks, which it reads from a text file only."""
    blocks = W.tobsr((3, 3))
    blocks.sort_indices()
    n = len(mu)
    ends = " ".join(str(3 * (k + 1)) for k in range(n))
    with tempfile.NamedTemporaryFile("w", suffix=".dat") as file:
        file.write(f"3\n{n}\n1\n{3 * n} {3 * n}\n{len(blocks.indices)} {n} {n}\n{ends}\n{ends}\n")
        file.write(f"{n + 1} {len(blocks.indices)}\n")
        file.write(" ".join(map(str, blocks.indptr)) + "\n" + " ".join(map(str, blocks.indices)) + "\n")
        for number, block in enumerate(blocks.data):
            file.write(f"{number}\n" + "\n".join(f"{v:.17g}" for v in block.T.ravel()) + "\n")
        file.write("\n".join(f"{v:.17g}" for v in np.concatenate([q, mu])) + "\n")
        file.flush()
        with Silence():
            return sn.frictionContact_new_from_filename(file.name)


@dataclasses.dataclass
class Answer:
    """`ended`: "", "time_limit", or what went wrong."""
    ended: str
    info: int = -1          # Siconos' own word: 0 it believes to be done
    iterations: int = 0
    seconds: float = float("nan")
    cpu_share: float = float("nan")
    r: np.ndarray | None = None
    error: float = float("nan")  # Siconos' own, of r


def own_error(problem, r):
    """Siconos' error of an answer (fc3d_compute_error), with the full test that its solvers end with."""
    u, options = np.zeros_like(r), sn.SolverOptions(sn.SICONOS_FRICTION_3D_NSGS)
    _, error = sn.fc3d_compute_error(problem, r.copy(), u, 1e-16, options, float(np.linalg.norm(problem.q)))
    return float(error)


def solve_here(problem, code, local, tolerance, max_iterations):
    contacts = problem.numberOfContacts
    options = sn.SolverOptions(code)
    options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = max_iterations
    if local is not None:
        sn.solver_options_update_internal(options, 0, local)
    r, u = np.zeros(3 * contacts), np.zeros(3 * contacts)
    clock, cpu = time.perf_counter(), time.process_time()
    info = sn.fc3d_driver(problem, r, u, options)
    seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
    share = min(1.0, cpu / seconds) if seconds >= TOLD else float("nan")
    return Answer("", int(info), int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]), seconds, share, r)


def repeated(*arguments):
    answer = solve_here(*arguments)
    if answer.seconds < SHORT:
        seconds = [answer.seconds] + [solve_here(*arguments).seconds for _ in range(REPETITIONS - 1)]
        answer.seconds = float(np.median(seconds))
    answer.error = own_error(arguments[0], answer.r) if np.isfinite(answer.r).all() else float("nan")
    return answer


def in_child(pipe, arguments):
    """Never returns."""
    with Silence():
        os.dup2(1, 2)
        try:
            answer = repeated(*arguments)
        except BaseException as error:  # SWIG wraps what the C library throws in various types
            answer = Answer(" ".join(str(error).split())[:200] or type(error).__name__)
    with os.fdopen(pipe, "wb") as file:
        pickle.dump(answer, file)
    os._exit(0)


def received(pipe, seconds):
    """What the child sent until it closed the pipe; None where it is not done in time."""
    data, end = b"", time.perf_counter() + seconds
    while True:
        left = end - time.perf_counter()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return None
        part = os.read(pipe, 1 << 20)
        if not part:
            return data
        data += part


def solve(problem, code, local, tolerance, max_iterations, time_limit):
    """One solve from r = 0 in a child process: Siconos knows no time limit, and some of its solvers end the process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        in_child(writing, (problem, code, local, tolerance, max_iterations))
    os.close(writing)
    data = received(reading, time_limit + GRACE)
    os.close(reading)
    if data is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if data is None:
        return Answer("time_limit")
    if not data:
        return Answer(f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"ended the process with code {os.WEXITSTATUS(status)}")
    answer = pickle.loads(data)
    return dataclasses.replace(answer, ended="time_limit") if answer.seconds > time_limit else answer
