"""One make_dataset in a folder: of two, each would take the other's unfinished files for those of a run that was killed."""

import contextlib
import fcntl
import os
import socket

from signorini_dataset import program

NAME = ".making.lock"


class Busy(Exception):
    """Another process holds the folder."""


@contextlib.contextmanager
def held(folder):
    """Holds the folder. Programs that are started meanwhile hold it too: they may outlive a make_dataset that is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    lock = taken(path, folder)
    try:
        os.ftruncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
        program.INHERITED.append(lock)
        yield
    finally:
        if lock in program.INHERITED:
            program.INHERITED.remove(lock)
        path.unlink(missing_ok=True)
        os.close(lock)


def taken(path, folder):
    """The open lock file. One that its holder removed meanwhile is no lock any more."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 200).decode(errors="replace").strip()
            os.close(lock)
            raise Busy(f"{folder}: is being made{f' by {holder}' if holder else ''} or a program that it started; wait for it to end") from None
        try:
            if os.fstat(lock).st_ino == os.stat(path).st_ino:
                return lock
        except FileNotFoundError:
            pass
        os.close(lock)
