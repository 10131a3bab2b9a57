"""Whatever arrays are given, the interpreter lives on: every attack runs in a process of its own and must end in an exception of ours or of
Python's, never in a signal."""

import json
import subprocess
import sys

import pytest
from conftest import run_python

PREAMBLE = """
import numpy as np, scipy.sparse as sp, signorini
n, m = 6, 2
M, H = np.eye(n), np.hstack([np.eye(6)])
good = dict(M=M, H=H, f=np.ones(n), w=-np.ones(3 * m), mu=np.full(m, 0.5))
def matrix(kind=sp.csr_matrix, **parts):
    a = kind(np.eye(6) + np.diag(np.ones(5), 1))
    for name, value in parts.items():
        setattr(a, name, value)
    return a
def attack(**change):
    problem = signorini.Problem(**{**good, **change})
    signorini.solve(problem, "pgs"), signorini.solve(problem, "ica"), problem.W, problem.islands
    return problem
"""

# What must be refused …
REFUSED = {
    "an index too large": "attack(H=matrix(indices=np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 99], dtype=np.int32)))",
    "a negative index": "attack(H=matrix(indices=np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, -1], dtype=np.int32)))",
    "an index of 64 bits": "attack(H=matrix(indices=np.full(11, 2**40)))",
    "indices that are fractions": "attack(H=matrix(indices=np.full(11, 0.5)))",
    "indices of two dimensions": "attack(H=matrix(indices=np.zeros((11, 1), dtype=np.int32)))",
    "pointers beyond the entries": "attack(H=matrix(indptr=np.array([0, 2, 4, 6, 8, 10, 10**6], dtype=np.int32)))",
    "pointers that run backwards": "attack(H=matrix(indptr=np.array([0, 9, 4, 6, 8, 10, 11], dtype=np.int32)))",
    "negative pointers": "attack(H=matrix(indptr=np.array([0, -5, 4, 6, 8, 10, 11], dtype=np.int32)))",
    "pointers that start late": "attack(H=matrix(indptr=np.array([1, 2, 4, 6, 8, 10, 11], dtype=np.int32)))",
    "no pointers": "attack(H=matrix(indptr=np.zeros(0, dtype=np.int32)))",
    "too few numbers": "attack(H=matrix(data=np.ones(3)))",
    "a shape that lies": "attack(H=matrix(_shape=(600, 6)))",
    "a negative shape": "attack(H=matrix(_shape=(-6, 6)))",
    "a huge shape": "attack(H=matrix(_shape=(2**62, 6)))",
    "no shape": "attack(H=matrix(_shape=()))",
    "columns that lie": "attack(H=matrix(sp.csc_matrix, indices=np.full(11, 77, dtype=np.int32)))",
    "triplets out of range": "attack(H=matrix(sp.coo_matrix, row=np.full(11, 10**6, dtype=np.int32)))",
    "negative triplets": "attack(H=matrix(sp.coo_matrix, col=np.full(11, -3, dtype=np.int32)))",
    "triplets of other lengths": "attack(H=matrix(sp.coo_matrix, row=np.zeros(2, dtype=np.int32)))",
    "triplets with a huge shape": "attack(H=matrix(sp.coo_matrix, _shape=(2**40, 6)))",
    "blocks out of range": "attack(H=matrix(lambda a: sp.bsr_matrix(a, blocksize=(3, 3)), indices=np.full(3, 50, dtype=np.int32)))",
    "blocks without pointers": "attack(H=matrix(lambda a: sp.bsr_matrix(a, blocksize=(3, 3)), indptr=np.array([0, 2, 900], dtype=np.int32)))",
    "sparse complex": "attack(H=matrix(data=np.ones(11, dtype=complex)))",
    "sparse objects": "attack(H=matrix(data=np.array([object()] * 11)))",
    "NaN in H": "attack(H=matrix(data=np.full(11, np.nan)))",
    "infinite masses": "attack(M=np.diag(np.full(6, np.inf)))",
    "a huge shape of no memory": "attack(M=np.broadcast_to(1.0, (10**9, 10**9)))",
    "a huge vector of no memory": "attack(f=np.broadcast_to(1.0, (10**12,)))",
    "huge friction": "attack(mu=np.broadcast_to(0.5, (2**31,)))",
    "no contacts but forces": "attack(mu=np.zeros(0))",
    "a number for everything": "signorini.Problem(**{key: 1.0 for key in good})",
    "structured": "attack(w=np.zeros(6, dtype=[('a', float)]))",
    "itself": "attack(w=good)",
    "a recursive list": "a = []; a.append(a); attack(w=a)",
    "bytes": "attack(mu=b'ab')",
    "an object whose array lies": "class Liar:\n  def __array__(self, *a, **k): raise RuntimeError('no')\nattack(w=Liar())",
    "a generator": "attack(w=(x for x in range(6)))",
    "points out of range": "attack(points=np.full((2, 4), 10**8))",
    "body numbers out of range": "attack(bodies=np.full((2, 2), -7))",
    "offsets that run backwards": "attack(body_dofs=[0, 6, 3])",
    "frames of nonsense": "attack(frame=np.ones((2, 9)))",
    "start states of nonsense": "attack(start_states=[99, -99], start_bounds=np.zeros(2))",
    "an indefinite M": "attack(M=np.eye(6) + 5 * (np.eye(6, k=1) + np.eye(6, k=-1)))",
    "no arguments": "signorini.Problem()",
    "the core without problem": "signorini.solve(signorini.Problem.__new__(signorini.Problem), 'pgs')",
    "core: not converted": "signorini._core.problem_from({'mu': np.zeros(2, dtype=complex)}, 'x', 'symmetric')",
    "core: three dimensions": "signorini._core.problem_from({'mu': np.zeros((2, 2, 2)), 'W': np.eye(24), 'q': np.zeros(24)}, 'x', 'symmetric')",
    "core: names of nonsense": "signorini._core.problem_from({3: np.zeros(2)}, 'x', 'symmetric')",
    "core: no class": "signorini._core.Problem()",
    "core: no tuple": "signorini._core.write_file('x', signorini.Problem(**good)._core, (1,), ('', '', ''), 'npz', False)",
}

# … and what means something, however odd.
ACCEPTED = {
    "no contacts": "p = attack(mu=np.zeros(0), H=np.zeros((6, 0)), w=np.zeros(0)); assert signorini.solve(p, 'pgs').r.size == 0",
    "nothing at all": "signorini.Problem(**{key: np.zeros(0) for key in good})",
    "repeated entries": "attack(M=sp.csr_matrix((np.ones(12), np.repeat(np.arange(6), 2), np.arange(0, 13, 2)), shape=(6, 6)))",
    "friction of zero": "attack(mu=np.zeros(2))",
    "huge friction": "attack(mu=np.full(2, 1e200))",
    "tiny numbers": "attack(M=np.eye(6) * 5e-324)",
    "huge numbers": "attack(f=np.full(6, 1e308))",
    "Fortran order": "attack(M=np.asfortranarray(M), H=np.asfortranarray(H))",
    "negative strides": "attack(H=H[::-1, ::-1], w=-np.ones(12)[::-2])",
    "read-only": "H.setflags(write=False); attack(H=H)",
    "subclasses": "attack(H=np.asmatrix(H), f=np.ones(6).view(np.memmap))",
    "an M of many islands": "attack(M=sp.identity(6, format='dia'))",
    "a contact that nothing moves": "attack(H=np.zeros((6, 6)))",
    "changed after it was read": "h = matrix(); p = attack(H=h); h.indices[:] = 10**8; signorini.solve(p, 'pgs')",
    "frames that outlive everything": "f = attack().f; M = attack().M; import gc; gc.collect(); assert f.sum() == 6 and (M @ f).sum() == 6",
    "many views": "p = attack(); views = [p.array('f') for _ in range(100000)]; del p; assert views[-1][0] == 1",
}

# One process imports everything; each attack has a fork of it to itself. Lines: number, "REFUSED" or "ACCEPTED" or the signal, message.
ARENA = """
import os, sys, json
ALLOWED = (signorini.Error, ValueError, TypeError, MemoryError, IndexError, AttributeError, OverflowError, RuntimeError)
for number, attack_code in enumerate(json.load(sys.stdin)):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            exec(attack_code)
            answer = "ACCEPTED"
        except ALLOWED as error:
            answer = f"REFUSED {type(error).__name__}: {error}"
        except BaseException as error:
            answer = f"BROKEN {type(error).__name__}: {error}"
        os.write(writing, answer.encode("utf-8", "replace")[:4000])
        os._exit(0)
    os.close(writing)
    answer = b""
    while part := os.read(reading, 4096):
        answer += part
    os.close(reading)
    _, status = os.waitpid(child, 0)
    print(json.dumps([number, answer.decode() if status == 0 else f"SIGNAL {status}"]), flush=True)
"""


@pytest.fixture(scope="module")
def outcomes():
    """What became of every attack, by its code."""
    attacks = [*REFUSED.values(), *ACCEPTED.values()]
    done = subprocess.run([sys.executable, "-B", "-c", PREAMBLE + ARENA], input=json.dumps(attacks), capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 0, done.stderr
    return {attacks[number]: answer for number, answer in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("case", REFUSED)
def test_nonsense_is_refused(outcomes, case):
    assert outcomes[REFUSED[case]].startswith("REFUSED"), outcomes[REFUSED[case]]


@pytest.mark.parametrize("case", ACCEPTED)
def test_oddities_do_no_harm(outcomes, case):
    assert outcomes[ACCEPTED[case]] == "ACCEPTED", outcomes[ACCEPTED[case]]


def test_an_end_in_the_midst_of_things():
    # daemon threads that solve while the interpreter ends, with a solver of Python
    code = PREAMBLE + """
import threading, time
signorini.register_solver("slow", lambda p: time.sleep(0.01) or np.zeros(6))
p = attack()
def work():
    while True:
        signorini.solve(p, "pgs")
        signorini.solve(p, "slow")
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
print("END", flush=True)
"""
    status, output = run_python(code)
    assert status == 0 and "END" in output, output


def test_a_solve_after_the_end_has_begun():
    # functions for the end run last in, first out: this one after the package's own
    code = """
import atexit
def late():
    try:
        signorini.solve(good_problem, "pgs")
    except SystemExit:
        print("SystemExit", flush=True)
atexit.register(late)
""" + PREAMBLE + """
good_problem = attack()
"""
    status, output = run_python(code)
    assert status == 0 and "SystemExit" in output, output
