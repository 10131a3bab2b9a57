"""The dataset as archives for publication: a standard part of at most 200 MB, and a further part with what did not fit.

An archive is a .tar.xz whose pieces are compressed one by one and put behind each other, which xz allows: so the size of a part is known to the byte
while it is chosen, and nothing is compressed twice. The two files of a problem share one piece and, in it, their numbers.
"""

import lzma
import shutil
import tarfile
import tempfile
from pathlib import Path

from signorini_dataset import layout
from signorini_dataset.program import Failed, say
from signorini_report import whole_files

SUFFIXES = (".hdf5", ".npz")
ROOM = 1_000_000  # bytes kept for tables, datasheet and loader
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 26}]  # 64 MB: as far as equal numbers of the two files are found
END = bytes(2 * tarfile.BLOCKSIZE)


def by_preference(rows):
    """The smallest problem of every scene, then all others from small to large."""
    by_size = sorted(rows, key=lambda row: (int(row["bytes"]), row["name"]))
    firsts = {}
    for row in by_size:
        firsts.setdefault(row["scene"], row)
    chosen = {row["name"] for row in firsts.values()}
    return [*firsts.values(), *(row for row in by_size if row["name"] not in chosen)]


def entry(name, content):
    """A file of a tar archive without owner and date: equal content gives equal bytes."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o644
    return info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


def pressed(content):
    return lzma.compress(content, format=lzma.FORMAT_XZ, filters=FILTERS)


def root_of(settings, part):
    return f"contact-problems-{settings['size']}-{part}"


def split(rows, folder, budget, place, settings):
    """Names of the problems of both parts; their pieces are left in the folder `place`. Each goes into the standard part while it fits."""
    left, parts = budget - ROOM, {"standard": [], "further": []}
    for row in by_preference(rows):
        contents = {suffix: (folder / "problems" / f"{row['name']}{suffix}").read_bytes() for suffix in SUFFIXES}
        for part in parts:
            piece = pressed(b"".join(entry(f"{root_of(settings, part)}/problems/{row['name']}{suffix}", contents[suffix]) for suffix in SUFFIXES))
            if part == "further" or len(piece) <= left:
                break
        left -= len(piece) if part == "standard" else 0
        parts[part].append(row["name"])
        (place / row["name"]).write_bytes(piece)
    return parts


def part_of(made, names):
    """What belongs to one part; scenes and facts are in both."""
    files = {f"{name}{suffix}" for name in names for suffix in SUFFIXES}
    rows = [row for row in made.problems if row["name"] in names]
    return layout.Made(made.scenes, made.facts, rows, {file: digest for file, digest in made.digests.items() if file in files})


def write_archive(path, root, texts, names, place):
    with whole_files.replacing(path) as temporary, open(temporary, "wb") as out:
        out.write(pressed(b"".join(entry(f"{root}/{name}", text.encode()) for name, text in sorted(texts.items()))))
        for name in sorted(names):
            with open(place / name, "rb") as piece:
                shutil.copyfileobj(piece, out)
        out.write(pressed(END))


def write(folder, budget):
    """FOLDER_standard.tar.xz and, where something did not fit, FOLDER_further.tar.xz, beside the folder of a finished dataset."""
    if not (folder / "settings.json").is_file():
        raise Failed(f"{folder}: has no settings.json; make the dataset first, with the same command without --pack")
    made, settings = layout.read(folder)
    with tempfile.TemporaryDirectory(prefix=".packing-", dir=folder.parent) as place:
        for part, names in split(made.problems, folder, budget, Path(place), settings).items():
            path = folder.with_name(f"{folder.name}_{part}.tar.xz")
            if not names:
                path.unlink(missing_ok=True)
                continue
            own = part_of(made, set(names))
            texts = layout.with_checksums(layout.texts(own, settings | {"part": part, "problems_of_all_parts": len(made.problems)}), own.digests)
            texts[layout.MADE_BY] = (folder / layout.MADE_BY).read_text(encoding="utf-8")
            write_archive(path, root_of(settings, part), texts, names, Path(place))
            say(f"{path}: {len(names)} of {len(made.problems)} problems of {len({row['scene'] for row in own.problems})} scenes, "
                f"{path.stat().st_size / 1e6:.1f} MB, unpacked {sum(int(row['bytes']) for row in own.problems) / 1e6:.1f} MB")
