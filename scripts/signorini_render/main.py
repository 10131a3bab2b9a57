"""The command line of scripts/render."""

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from signorini_render import page, picture, recording
from signorini_render.recording import RenderError
from signorini_report import whole_files

SINGLE, PANEL, SMALL, STORY = (1200, 900), (480, 360), (300, 225), (600, 420)
LARGEST = 8192


class UsageError(Exception):
    """A wrong option: one line for the user."""


def size_of(text):
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' must look like 1200x900") from None
    if not (64 <= width <= LARGEST and 64 <= height <= LARGEST):
        raise argparse.ArgumentTypeError(f"'{text}': width and height must be 64 … {LARGEST}")
    return width, height


def finite(text, low, high):
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from {low:g} to {high:g}")
    return value


def count(text):
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 200:
        raise argparse.ArgumentTypeError(f"'{text}' must be a whole number from 1 to 200")
    return value


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message} (see scripts/render --help)")


DESCRIPTION = """Draws a frame of a recording, or a contact sheet of all of it, as PNG. Needs
no display."""
EXAMPLES = """examples:
  scripts/render bucket.h5               the last frame, as bucket.png
  scripts/render bucket.h5 --step 440 -o impact.png
  scripts/render bucket.h5 --sheet --frames 12
                                         12 evenly spaced frames, as
                                         bucket.sheet.png
  scripts/render recordings/ --sheet     a sheet of every recording of a
                                         folder, beside it
  scripts/render bucket.h5 --story       four frames, contacts and curves, as
                                         bucket.story.png
  scripts/render a.h5 b.h5 c.h5 --montage -o abc.png
                                         one small picture of each, where it
                                         has most contacts

Contacts are dots in the colour of their region; pale ones lie behind a
surface. Equal input gives equal bytes.

exit codes: 0 written, 1 something is missing or failed, 2 usage, 3 a file
that cannot be read or written"""


def parse(arguments):
    parser = Parser(prog="scripts/render", formatter_class=argparse.RawDescriptionHelpFormatter, description=DESCRIPTION, epilog=EXAMPLES)
    parser.add_argument("files", metavar="FILE.h5", nargs="+", help="recordings made by signorini record, or folders of them")
    parser.add_argument("-o", "--output", metavar="PNG", help="picture to write (default: beside the recording)")
    parser.add_argument("--step", metavar="K", help="frame, e.g. 440 or 440.2 (default: the last)")
    parser.add_argument("--sheet", action="store_true", help="evenly spaced frames of the whole recording on one page")
    parser.add_argument("--montage", action="store_true", help="all recordings on one small picture, with their names")
    parser.add_argument("--story", action="store_true",
                        help="a page 1200 pixels wide: four frames without contacts, the one with most contacts with them, curves")
    parser.add_argument("--columns", type=count, default=4, metavar="N", help="pictures side by side in a montage (default 4)")
    parser.add_argument("--frames", type=count, default=12, metavar="N", help="frames on a sheet (default 12)")
    parser.add_argument("--regions", choices=("points", "islands"), default="points",
                        help="colours of contacts: by shared mass points, or through whole bodies")
    parser.add_argument("--size", type=size_of, metavar="WxH", help="pixels of the picture, or of one panel of a sheet")
    parser.add_argument("--azimuth", type=lambda t: finite(t, -360, 360), default=picture.Style.azimuth, metavar="DEG",
                        help="where the viewer stands around the vertical (default %(default)g)")
    parser.add_argument("--elevation", type=lambda t: finite(t, -89, 89), default=picture.Style.elevation, metavar="DEG",
                        help="above the horizon (default %(default)g)")
    parser.add_argument("--zoom", type=lambda t: finite(t, 0.05, 50), default=1.0, metavar="F", help="closer by this factor")
    parser.add_argument("--mesh", action="store_true", help="draw the edges of the triangles")
    parser.add_argument("--impulses", action="store_true", help="draw the contact impulses as bars")
    parser.add_argument("--no-contacts", action="store_true", help="leave the contacts out")
    parser.add_argument("--glass", action="store_true", help="draw obstacles see-through")
    parser.add_argument("--solid", action="store_true", help="hide contacts behind surfaces")
    options = parser.parse_args(arguments)
    kinds = [name for name in ("sheet", "montage", "story") if getattr(options, name)]
    if options.step and kinds:
        raise UsageError(f"--step excludes --{kinds[0]}")
    if len(kinds) > 1:
        raise UsageError(f"--{kinds[0]} and --{kinds[1]} exclude each other")
    options.files = recordings_of(options.files)
    if options.montage and not options.output:
        raise UsageError("--montage needs -o PNG")
    if len(options.files) > 1 and options.output and not options.montage:
        raise UsageError("-o names one picture; these are several recordings")
    return options


def recordings_of(names):
    """Folders give the recordings in them."""
    files = []
    for name in names:
        if os.path.isdir(name):
            found = sorted(str(path) for path in Path(name).glob("*.h5"))
            if not found:
                raise UsageError(f"{name}: holds no recordings (*.h5)")
            files += found
        else:
            files.append(name)
    return files


def same_frame(id, asked):
    try:
        return recording.FRAME_ID.match(asked) and recording.key_of(id) == recording.key_of(asked)
    except ValueError:
        return False


def evenly(ids, count):
    """Frames of `count` evenly spaced steps; of several solves in a step, the last."""
    last = {recording.key_of(id)[0]: id for id in ids}
    names = list(last.values())
    return [names[i] for i in np.unique(np.rint(np.linspace(0, len(names) - 1, min(count, len(names)))).astype(int))]


def chooser(options, file):
    def one(ids):
        if not options.step:
            return [ids[-1]]
        found = [id for id in ids if same_frame(id, options.step)]
        if not found:
            raise UsageError(f"{file}: no step '{options.step}' (it has {len(ids)} frames, {ids[0]} to {ids[-1]})")
        return found

    return (lambda ids: evenly(ids, options.frames)) if options.sheet else one


def style_of(options):
    width, height = options.size or (PANEL if options.sheet else SMALL if options.montage else STORY if options.story else SINGLE)
    return picture.Style(width, height, options.azimuth, options.elevation, options.zoom, options.mesh, options.solid, options.impulses,
                         not options.no_contacts, options.glass)


def write_png(image, path):
    """Under a temporary name first: a picture is there completely or not at all."""
    with whole_files.replacing(path) as temporary:
        image.save(temporary, format="PNG")


def run(options):
    if options.montage:
        return save(page.montage([fullest(file, options) for file in options.files], style_of(options), options.columns), Path(options.output))
    if options.story:
        for file in options.files:
            save(story_of(file, options), Path(options.output) if options.output else Path(file).with_suffix(".story.png"))
        return None
    for file in options.files:
        opened = recording.read_safely(file, chooser(options, file), options.regions)
        frames, style = list(opened.frames.values()), style_of(options)
        draw = page.sheet if options.sheet else page.single
        image = draw(opened, frames if options.sheet else frames[0], style, options.regions)
        save(image, Path(options.output) if options.output else Path(file).with_suffix(".sheet.png" if options.sheet else ".png"))
    return None


def story_of(file, options):
    def chosen(ids):
        return [*evenly(ids, 4), recording.fullest(file, ids)]

    opened = recording.read_safely(file, lambda ids: sorted(set(chosen(ids)), key=recording.key_of), options.regions)
    *spread, fullest = (opened.frames[id] for id in chosen(opened.ids))
    return page.story(opened, spread, fullest, style_of(options))


def fullest(file, options):
    """(name, up, frame) of the snapshot with most contacts."""
    opened = recording.read_safely(file, lambda ids: [recording.fullest(file, ids)], options.regions)
    return opened.scene, opened.up, next(iter(opened.frames.values()))


def save(image, path):
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; -o names a file")
    write_png(image, path)
    print(path)


def main(arguments=None):
    try:
        run(parse(arguments))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except RenderError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"error: {error.filename or 'picture'}: {error.strerror or error}", file=sys.stderr)
        return 3
    except MemoryError:
        print("error: out of memory; ask for a smaller picture with --size", file=sys.stderr)
        return 1
    return 0
