"""Viewer, data and page. Libraries are taken from Debian's packages when a page is made; nothing of them is in the tree."""

import base64
import gzip
import html
import json
import re
from pathlib import Path

WEB = Path(__file__).resolve().parent / "web"
THREE = Path("/usr/share/javascript/three")
LIBRARIES = ("build/three.min.js", "examples/js/controls/OrbitControls.js")
PARTS = ("data.js", "colours.js", "glyphs.js", "stage.js", "curves.js", "facts.js", "viewer.js")
HEAD = re.compile(rb"signorini-replay 1 ([0-9]{1,12})\n")


class ReplayError(Exception):
    """One line for the user."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def library(name):
    try:
        return (THREE / name).read_text(encoding="utf-8")
    except OSError:
        raise ReplayError(f"{THREE / name} is missing: replay needs three.js; install it with "
                          "'sudo apt-get install --no-install-recommends libjs-three', or run scripts/setup", 1) from None


def read_data(path):
    """The description and the arrays that `signorini replay` wrote."""
    raw = Path(path).read_bytes()
    head = HEAD.match(raw)
    if not head:
        raise ReplayError(f"{path}: not written by signorini replay", 3)
    begin, length = head.end(), int(head[1])
    try:
        description = json.loads(raw[begin:begin + length])
    except ValueError:
        raise ReplayError(f"{path}: damaged (its description cannot be read)", 3) from None
    return description, raw[begin + length:]


def in_script(text):
    """Inside a script element: no text ends it, and none begins a comment."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def code_in_script(text):
    """The same for a library: '</script' occurs in strings only, where the backslash changes nothing."""
    return re.sub(r"</(?=script)", r"<\\/", text, flags=re.IGNORECASE)


def data_script(data, name):
    """SignoriniReplay.add(name, description, base64 of the compressed arrays)."""
    description, arrays = data
    packed = base64.b64encode(gzip.compress(arrays, 9, mtime=0)).decode("ascii")
    return ("(self.SignoriniReplayData = self.SignoriniReplayData || {})"
            f"[{in_script(json.dumps(name))}] = {{description: {in_script(json.dumps(description, separators=(',', ':')))}, "
            f'arrays: "{packed}"}};\n')


def viewer_script():
    style = in_script(json.dumps((WEB / "viewer.css").read_text(encoding="utf-8")))
    own = "\n".join((WEB / name).read_text(encoding="utf-8") for name in PARTS)
    libraries = "\n".join(library(name) for name in LIBRARIES)
    return f"{libraries}\n(function () {{\n\"use strict\";\nconst STYLE = {style};\n{own}}})();\n"


def steps_of(description):
    """"000120 000160.2": of the frames, for pages that lead to one of them."""
    return " ".join(step for frame in description.get("frames", []) if re.fullmatch(r"[0-9.]+", step := str(frame.get("step", ""))))


def whole_page(data, name):
    title = html.escape(f"{data[0].get('scene', '')}: {data[0].get('file', '')}")
    return ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            f"<meta name=\"signorini-steps\" content=\"{steps_of(data[0])}\">\n"
            f"<title>{title}</title>\n<style>html, body {{ margin: 0; height: 100%; }} #replay {{ height: 100%; }}</style>\n"
            "</head>\n<body>\n<main id=\"replay\"></main>\n"
            f"<script>{code_in_script(viewer_script())}</script>\n<script>{data_script(data, name)}</script>\n"
            f"<script>SignoriniReplay.mount(document.getElementById('replay'), SignoriniReplayData[{in_script(json.dumps(name))}], "
            "{address: true, heading: 'h1'}).then((viewer) => { document.documentElement.dataset[viewer ? 'ready' : 'failed'] = '1'; });</script>\n</body>\n</html>\n")
