"""The command line of scripts/replay_page."""

import argparse
import os
import sys

from signorini_replay import page
from signorini_replay.page import ReplayError


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/replay_page", description="Makes what a browser shows of a recording: docs/replay.md.",
        epilog="exit codes: 0 written, 1 a package is missing, 2 usage, 3 a file that cannot be read or written")
    parser.add_argument("data", metavar="DATA", nargs="?", help="what signorini replay wrote of a recording")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--page", action="store_true", help="viewer and data as one HTML file")
    what.add_argument("--data", dest="script", action="store_true", help="the data alone, as a script")
    what.add_argument("--viewer", action="store_true", help="the viewer alone, as a script; takes no DATA")
    parser.add_argument("--name", default="replay", help="what the data are called in a page that embeds them (default: replay)")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="file to write")
    options = parser.parse_args(arguments)
    if options.viewer == (options.data is not None):
        parser.error("--viewer takes no DATA" if options.viewer else "DATA is missing")
    return options


def made(options):
    if options.viewer:
        return page.viewer_script()
    data = page.read_data(options.data)
    return page.data_script(data, options.name) if options.script else page.whole_page(data, options.name)


def main(arguments=None):
    options = parse(arguments)
    try:
        text = made(options)
        temporary = f"{options.output}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, options.output)
    except ReplayError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code
    except OSError as error:
        print(f"error: {error.filename or options.output}: {error.strerror}", file=sys.stderr)
        return 3
    return 0
