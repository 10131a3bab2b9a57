"""The dataset as archives for publication: the standard part of at most 200 MB, and a further part with the larger problems."""

import io
import tarfile

from signorini_dataset import layout
from signorini_dataset.program import Failed, say

ROOM = 2_000_000   # bytes kept for tables, datasheet and loader
ROUNDING = 2048    # bytes that an archive adds to the two files of a problem, at most


def standard(rows, budget):
    """Names of the problems of the standard part: the smallest of every scene, then the smallest of all others, each while it fits."""
    left, chosen = budget - ROOM, set()
    by_size = sorted(rows, key=lambda row: (int(row["bytes"]), row["name"]))
    firsts = list({row["scene"]: row for row in reversed(by_size)}.values())
    for row in sorted(firsts, key=by_size.index) + by_size:
        size = int(row["bytes"]) + 2 * ROUNDING
        if row["name"] not in chosen and size <= left:
            left -= size
            chosen.add(row["name"])
    return chosen


def part_of(made, name, budget):
    """What belongs to one part; scenes and facts are in both."""
    chosen = standard(made.problems, budget)
    rows = [row for row in made.problems if (row["name"] in chosen) == (name == "standard")]
    files = {f"{row['name']}{suffix}" for row in rows for suffix in (".hdf5", ".npz")}
    return layout.Made(made.scenes, made.facts, rows, {file: digest for file, digest in made.digests.items() if file in files})


def member(name, size):
    """An entry without owner and date: equal content gives equal archives."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info


def write_tar(path, root, folder, texts, files):
    temporary = path.with_name(f".{path.name}.new")
    with tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted(texts.items()):
            content = text.encode()
            archive.addfile(member(f"{root}/{name}", len(content)), io.BytesIO(content))
        for name in sorted(files):
            source = folder / "problems" / name
            with open(source, "rb") as file:
                archive.addfile(member(f"{root}/problems/{name}", source.stat().st_size), file)
    temporary.replace(path)


def write(asked):
    """OUT_standard.tar or OUT_further.tar beside the folder of a finished dataset."""
    folder = asked.out
    if not (folder / "settings.json").is_file():
        raise Failed(f"{folder}: has no settings.json; make the dataset first, with the same command without --part")
    made, settings = layout.read(folder)
    part = part_of(made, asked.part, asked.part_bytes)
    if not part.problems:
        say(f"{folder}: no problem is left for the part '{asked.part}': the standard part holds all {len(made.problems)}")
        return
    root = f"contact-problems-{settings['size']}-{asked.part}"
    texts = layout.with_checksums(layout.texts(part, settings | {"part": asked.part, "problems_of_all_parts": len(made.problems)}), part.digests)
    texts[layout.MADE_BY] = (folder / layout.MADE_BY).read_text(encoding="utf-8")
    path = folder.with_name(f"{folder.name}_{asked.part}.tar")
    write_tar(path, root, folder, texts, part.digests)
    say(f"{path}: {len(part.problems)} of {len(made.problems)} problems of {len({row['scene'] for row in part.problems})} scenes, "
        f"{path.stat().st_size / 1e6:.1f} MB")
