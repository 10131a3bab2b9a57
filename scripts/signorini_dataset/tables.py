"""CSV files and the list of checksums: equal content gives equal bytes, a file is there whole or not at all."""

import csv
import hashlib
import io


def write_text(path, text):
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def text_of(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_table(path, fields, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([text_of(row[field]) for field in fields])
    write_text(path, out.getvalue())


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_checksums(path, files):
    """As sha256sum reads them: `sha256sum -c SHA256SUMS` in the folder of `path`."""
    lines = []
    for file in sorted(files):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        lines.append(f"{digest}  {file.relative_to(path.parent).as_posix()}\n")
    write_text(path, "".join(lines))
