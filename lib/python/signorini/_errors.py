"""What goes wrong, as exceptions. Messages are those of the program: one line that names file, key and value and says what to do."""


class Error(Exception):
    """Base of all exceptions of this package."""


class UsageError(Error, ValueError):
    """A solver, option, region mode or number that does not exist or makes no sense."""


class ProblemError(Error, ValueError):
    """Arrays that are no contact problem; the message names the array and what it has."""


class FileError(Error, OSError):
    """A file that is missing, damaged or foreign, or that cannot be written."""


class InternalError(Error, RuntimeError):
    """A defect of the library itself."""


class Unsupported(Error):
    """Raised by a solver written in Python: it cannot take this problem. The run becomes a row with status ``unsupported``."""
