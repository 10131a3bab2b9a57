"""Files that are the old one or the new one, whatever fails while they are written (a full disk, a kill)."""

import contextlib
import os


@contextlib.contextmanager
def replacing(path):
    """A path beside `path` to write to, which becomes `path` when the block ends well."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a failing write does not know its file
        raise


def write_text(path, text):
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_table(table, path, number_format):
    """A table of pandas as CSV."""
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, float_format=number_format)
