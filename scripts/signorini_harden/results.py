"""Tables of finished tries."""

import csv


def read_table(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Results:
    """A table of finished tries that grows row by row and is gone on with: its last column says what was wrong."""

    def __init__(self, path, columns):
        done = read_table(path)
        self.known = {tuple(row[c] for c in columns[:-1]) for row in done}
        self.wrong = sum(1 for row in done if row["wrong"])
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("a", encoding="utf-8", newline="")
        if not done:
            csv.writer(self.file).writerow(columns)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def add(self, key, text, name):
        """1 where something was wrong, which is printed."""
        csv.writer(self.file).writerow((*key, text))
        self.file.flush()
        if text:
            print(f"{name}: {text}")
        self.wrong += bool(text)
        return int(bool(text))
