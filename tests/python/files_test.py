"""Files: one `open` for recordings, FCLib files and npz archives; writing; what cannot be read."""

import shutil

import numpy as np
import pytest
from conftest import same_matrix

import signorini


def test_a_recording_is_a_sequence_of_frames(recording):
    with signorini.open(recording) as file:
        assert file.kind == "recording" and file.title == "test_scene" and len(file) == 2
        assert file.steps == ["000001", "000001.2"]
        assert [frame.step for frame in file] == file.steps
        assert file[-1].step == file["1.2"].step == "000001.2" and file[1:].steps == ["000001.2"]
        frame = file[0]
    assert frame.contacts == len(frame.mu) and frame.dt > 0 and frame.kind in ("explicit", "implicit")
    assert frame.geometry.positions.shape == (frame.contacts, 3) and frame.geometry.frames.shape == (frame.contacts, 3, 3)
    assert frame.geometry.gaps.shape == (frame.contacts,) and frame.islands.shape == (frame.contacts,)
    # rows of a frame are orthonormal to 1e-8, the bound of the reader
    product = frame.geometry.frames @ np.transpose(frame.geometry.frames, (0, 2, 1))
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(3), product.shape), atol=1e-8)
    assert frame.solution is None and frame.path == str(recording)
    with pytest.raises(signorini.UsageError, match="closed"):
        file[0]
    with pytest.raises(IndexError):
        signorini.open(recording)[2]
    with pytest.raises(signorini.UsageError, match="no step '7'"):
        signorini.open(recording)["7"]


def test_the_numbers_are_those_in_the_file(reference):
    h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
    frame = signorini.open(reference / "net0.hdf5")[0]
    with h5py.File(reference / "net0.hdf5", "r") as file:
        group = file["fclib_global"]
        for name in ("f", "w", "mu"):
            assert np.array_equal(getattr(frame, name), group["vectors"][name][()].ravel())
        assert np.array_equal(frame.solution.r, file["solution/r"][()].ravel())
    assert signorini.open(reference / "net0.hdf5").kind == "fclib_global"
    # the stored solution has a residual below 1e-13 (configs/problems/README.md)
    assert signorini.referee(frame, frame.solution.r, v=frame.solution.v).residual < 1e-13


@pytest.mark.parametrize("write", ["write_fclib", "write_npz"])
@pytest.mark.parametrize("name", ["net3", "expl"])
def test_what_is_written_is_read_again_to_the_last_bit(reference, tmp_path, write, name):
    frame = signorini.open(reference / f"{name}.hdf5")[0]
    path = tmp_path / "problem"
    getattr(signorini, write)(path, frame, frame.solution, title="a title")
    file = signorini.open(path)
    again = file[0]
    assert file.kind == ("npz" if write == "write_npz" else "fclib_global") and file.title == "a title"
    assert same_matrix(again.M, frame.M) and same_matrix(again.H, frame.H)
    for array in ("f", "w", "mu"):
        assert np.array_equal(getattr(again, array), getattr(frame, array))
    for part in ("r", "u", "v"):
        assert np.array_equal(getattr(again.solution, part), getattr(frame.solution, part))


def test_a_solution_is_completed_from_r(problem, tmp_path):
    result = signorini.solve(problem, "nsgs", tolerance=1e-12)
    signorini.write_npz(tmp_path / "a.npz", problem, result.r)
    signorini.write_npz(tmp_path / "b.npz", problem, result)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    answer = np.load(tmp_path / "a.npz")
    np.testing.assert_allclose(answer["u"], problem.H.T @ answer["v"] + problem.w, atol=1e-12)
    assert np.array_equal(answer["r"], result.r)


def test_npz_of_numpy_and_a_problem_from_its_arrays_are_the_same(arrays, tmp_path):
    np.savez(tmp_path / "p.npz", **arrays)
    from_file, made = signorini.open(tmp_path / "p.npz")[0], signorini.Problem(**arrays)
    assert same_matrix(from_file.M, made.M) and same_matrix(from_file.H, made.H) and np.array_equal(from_file.f, made.f)


def test_files_are_replaced_only_when_asked(problem, tmp_path):
    path = tmp_path / "p.hdf5"
    signorini.write_fclib(path, problem)
    before = path.read_bytes()
    with pytest.raises(signorini.FileError, match="exists already; replace=True"):
        signorini.write_fclib(path, problem, title="other")
    assert path.read_bytes() == before
    signorini.write_fclib(path, problem, title="other", replace=True)
    assert signorini.open(path).title == "other"
    with pytest.raises(signorini.Error, match="no-such-folder"):
        signorini.write_fclib(tmp_path / "no-such-folder" / "p.hdf5", problem)
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.endswith(".lock")) == ["p.hdf5"]


@pytest.mark.parametrize("solution, message", [
    (np.zeros(5), r"r: has shape \(5,\); it must have 12 numbers"), (np.full(12, np.nan), "not finite"),
    (np.zeros((4, 3)), r"r: has shape \(4, 3\)"), ((np.zeros(12), np.zeros(3)), "u: has shape"),
    ((np.zeros(12), None, np.zeros(4)), "v: has shape"), (["a"], "'r'"), ((None, None), "no impulses")])
def test_a_solution_of_another_shape_is_refused(problem, tmp_path, solution, message):
    with pytest.raises(signorini.UsageError, match=message):
        signorini.write_fclib(tmp_path / "p.hdf5", problem, solution)
    assert not (tmp_path / "p.hdf5").exists()


def test_files_that_cannot_be_read_are_os_errors(tmp_path, reference):
    with pytest.raises(OSError, match="missing.h5: no such file") as caught:
        signorini.open(tmp_path / "missing.h5")
    assert isinstance(caught.value, signorini.FileError)
    for name, content in {"empty.h5": b"", "text.h5": b"hello", "zip.npz": b"PK\3\4 but no archive"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(signorini.FileError, match=name):
            signorini.open(tmp_path / name)
    with pytest.raises(signorini.FileError, match=str(tmp_path)):
        signorini.open(tmp_path)
    damaged = bytearray((reference / "net0.hdf5").read_bytes())
    damaged[200:4000] = bytes(3800)
    (tmp_path / "damaged.hdf5").write_bytes(damaged)
    with pytest.raises(signorini.FileError, match="damaged.hdf5"):
        signorini.open(tmp_path / "damaged.hdf5")
    with pytest.raises(signorini.UsageError, match="as-stored"):
        signorini.open(reference / "net0.hdf5", matrix="odd")


def test_h5py_and_the_library_read_at_the_same_time(reference, tmp_path):
    h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed")
    import threading

    ours, theirs, errors = reference / "f4.hdf5", shutil.copy(reference / "f4.hdf5", tmp_path), []

    def work(read):
        try:
            for _ in range(20):
                read()
        except Exception as error:  # noqa: BLE001 - told below
            errors.append(error)

    def by_h5py():
        with h5py.File(theirs, "r") as file:
            file["fclib_global/M/x"][()]

    threads = [threading.Thread(target=work, args=(read,)) for read in (by_h5py, lambda: signorini.open(ours)[0]) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    # the same file at the same time: HDF5 wants both to have opened it alike
    with h5py.File(ours, "r"):
        with pytest.raises(signorini.FileError, match="f4.hdf5"):
            signorini.open(ours)
    assert signorini.open(ours)[0].contacts == 43
