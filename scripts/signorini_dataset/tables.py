"""CSV files and the list of checksums: equal content gives equal bytes."""

import csv
import hashlib
import io

from signorini_report.whole_files import write_text


def text_of(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table_text(fields, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([text_of(row[field]) for field in fields])
    return out.getvalue()


def write_table(path, fields, rows):
    write_text(path, table_text(fields, rows))


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def checksum_lines(digests):
    """{file: SHA-256} as `sha256sum -c` reads it."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
