"""DejaVu, from wherever Debian keeps it, and the colours of text."""

from PIL import ImageFont

from signorini_render.recording import RenderError

FILES = ("/usr/share/fonts/truetype/dejavu/DejaVuSans{}.ttf", "/usr/share/matplotlib/mpl-data/fonts/ttf/DejaVuSans{}.ttf")
INK, PALE = "#24292E", "#6A737D"


def font(size, bold=False):
    for pattern in FILES:
        try:
            return ImageFont.truetype(pattern.format("-Bold" if bold else ""), round(size))
        except OSError:
            continue
    raise RenderError("the DejaVu fonts are missing (sudo apt-get install fonts-dejavu-core)")
