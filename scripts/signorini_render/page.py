"""Captions, legends and scale bars on rendered frames, and contact sheets."""

import dataclasses

import numpy as np
from PIL import Image, ImageDraw

from signorini_render import colours, picture, plots
from signorini_render.fonts import INK, PALE, font

def counted(number, word):
    return f"{number} {word}{'' if number == 1 else 's'}"


def step_text(id):
    step, _, solve = id.partition(".")
    return f"step {int(step)}" + (f", solve {int(solve)}" if solve else "")


def clipped(text, length):
    return text if len(text) <= length else text[:length - 1] + "…"


def contacts_text(frame, mode):
    word = "island" if mode == "islands" else "region"
    text = f"{counted(frame.contacts, 'contact')} in {counted(frame.regions, word)}"
    if frame.regions > 1:
        text += f" (largest {frame.region_sizes.max()})"
    return text


def impulses_text(frame):
    largest = 0.0 if frame.impulse is None else np.linalg.norm(frame.impulse, axis=1).max(initial=0.0)
    return f"; longest bar {largest:.3g} N s{'' if frame.impulse_is_of_step else ' (step before)'}" if largest > 0 else "; no impulses"


def to_image(array):
    return Image.fromarray(np.rint(np.clip(array, 0.0, 1.0) * 255.0).astype(np.uint8), "RGB")


def scale_bar(draw, view, size, right, bottom):
    """A bar of a round length in m, true at the depth of the camera's centre."""
    per_metre = view.focal / float(np.linalg.norm(view.eye - view.centre))
    wanted = 0.2 * view.width / per_metre
    power = 10.0 ** np.floor(np.log10(wanted))
    length = max(step * power for step in (1, 2, 5) if step * power <= wanted * 1.0000001)
    pixels, thick = length * per_metre, max(2, round(size / 7))
    draw.rectangle([right - pixels, bottom - thick, right, bottom], fill=INK)
    draw.text((right - pixels / 2, bottom - thick - size * 0.25), f"{length:g} m", fill=INK, font=font(size), anchor="ms")


def axis_cross(draw, view, size, x, y):
    """The directions of the world axes on the screen."""
    for axis in np.argsort(view.axes[2]):  # the one toward the viewer last
        right, up = view.axes[0, axis], view.axes[1, axis]
        tip = (x + 2.1 * size * right, y - 2.1 * size * up)
        draw.line([(x, y), tip], fill=PALE, width=max(1, round(size / 9)))
        if np.hypot(right, up) > 0.2:
            draw.text((x + 2.75 * size * right, y - 2.75 * size * up), "xyz"[axis], fill=PALE, font=font(size * 0.9), anchor="mm")


def region_legend(draw, frame, size, right, y, room):
    """Dots in the colours of the largest regions, ending at `right`."""
    order = np.argsort(-frame.region_sizes, kind="stable")
    palette = colours.region_colours(frame.region_point, frame.region_sizes)
    step = size * 0.95
    shown = order[:max(0, min(len(order), int(room / step) - 1))]
    x = right - (len(shown) + (len(shown) < len(order))) * step
    for number, region in enumerate(shown):
        colour = tuple(int(round(255 * c)) for c in palette[region])
        centre = x + (number + 0.5) * step
        draw.ellipse([centre - size * 0.32, y - size * 0.32, centre + size * 0.32, y + size * 0.32], fill=colour, outline=INK)
    if len(shown) < len(order):
        draw.text((right, y), "…", fill=PALE, font=font(size), anchor="rm")


def single(recording, frame, style, mode):
    """The picture above a caption; style.width and height are those of the whole."""
    size = min(style.width, style.height) / 42
    band, margin = round(4.2 * size), 1.2 * size
    inner = dataclasses.replace(style, height=style.height - band)
    view = picture.fit_camera([frame], recording.up, inner)
    image = Image.new("RGB", (style.width, style.height), "white")
    image.paste(to_image(picture.render(frame, view, recording.up, inner)), (0, 0))
    draw = ImageDraw.Draw(image)
    scale_bar(draw, view, size, style.width - margin, inner.height - margin)
    axis_cross(draw, view, size, margin + 2.2 * size, inner.height - margin - 2.2 * size)
    first, second = inner.height + 1.3 * size, inner.height + 2.9 * size
    draw.line([(0, inner.height), (style.width, inner.height)], fill="#D0D4D8")
    draw.text((margin, first), clipped(recording.scene, 40), fill=INK, font=font(1.15 * size, bold=True), anchor="lm")
    draw.text((margin, second), f"t = {frame.time:.4f} s, {step_text(frame.id)}", fill=INK, font=font(size), anchor="lm")
    counts = contacts_text(frame, mode) + (impulses_text(frame) if style.impulses else "")
    draw.text((style.width - margin, first), counts, fill=INK, font=font(size), anchor="rm")
    if frame.contacts:
        region_legend(draw, frame, size, style.width - margin, second, 0.5 * style.width)
    return image


def grid_of(count):
    """(columns, rows) with few empty places, wider than high."""
    rows = min(range(1, count + 1), key=lambda rows: (0.5 * (-(-count // rows) * rows - count) + abs(np.log(count / rows**2 / 1.4)), rows))
    return -(-count // rows), rows


def sheet(recording, frames, style, mode):
    """All frames under one camera; style.width and height are those of one panel."""
    view = picture.fit_camera(frames, recording.up, style)
    columns, rows = grid_of(len(frames))
    size = max(11.0, min(style.width, style.height) / 26)
    margin, head, caption = round(size), round(3.4 * size), round(3.9 * size)
    strip = round(13 * size) if recording.statistics else 0
    panels = head + rows * (style.height + caption)
    image = Image.new("RGB", (columns * style.width + 2 * margin, panels + strip + margin), "white")
    draw = ImageDraw.Draw(image)
    draw.text((2 * margin, 0.5 * head), clipped(recording.scene, 60), fill=INK, font=font(1.5 * size, bold=True), anchor="lm")
    draw.text((image.width - 2 * margin, 0.5 * head), f"{len(frames)} of {counted(len(recording.ids), 'snapshot')}", fill=PALE,
              font=font(size), anchor="rm")
    for number, frame in enumerate(frames):
        left, top = margin + number % columns * style.width, head + number // columns * (style.height + caption)
        image.paste(to_image(picture.render(frame, view, recording.up, style)), (left, top))
        middle, below = left + style.width / 2, top + style.height
        draw.text((middle, below + 0.6 * size), f"t = {frame.time:.4f} s   {step_text(frame.id)}", fill=INK, font=font(size, bold=True),
                  anchor="ma")
        draw.text((middle, below + 1.9 * size), contacts_text(frame, mode), fill=PALE, font=font(0.9 * size), anchor="ma")
        if number == len(frames) - 1:
            scale_bar(draw, view, size, left + style.width - size, below - 0.4 * size)
    if strip:
        times = [frame.time for frame in frames]
        image.paste(plots.curves(image.width - 2 * margin, strip, size, recording.statistics, times, beside=True), (margin, panels))
    return image


def story(recording, frames, fullest, style):
    """Four frames without contacts, the one with most contacts with them, and the curves of every step, on a page for documents."""
    view = picture.fit_camera(frames + [fullest], recording.up, style)
    size = style.width / 36
    gap, caption = round(0.4 * size), round(1.6 * size)
    panels = len(frames) + 1 + (1 if recording.statistics else 0)
    image = Image.new("RGB", (2 * style.width, (panels + 1) // 2 * (style.height + caption)), "white")
    draw = ImageDraw.Draw(image)
    for number, frame in enumerate(frames + [fullest]):
        left, top = number % 2 * style.width, number // 2 * (style.height + caption)
        shown = dataclasses.replace(style, contacts=number == len(frames), glass=True)
        image.paste(to_image(picture.render(frame, view, recording.up, shown)), (left, top))
        text = f"t = {frame.time:.4g} s" + (f"   {contacts_text(frame, 'points')}" if shown.contacts else "")
        draw.text((left + style.width / 2, top + style.height + gap), text, fill=INK, font=font(size), anchor="ma")
        if number == 0:
            scale_bar(draw, view, size, style.width - size, style.height - gap)
    if recording.statistics:
        left, top = (len(frames) + 1) % 2 * style.width, (len(frames) + 1) // 2 * (style.height + caption)
        times = [frame.time for frame in frames]
        image.paste(plots.curves(style.width, style.height, 0.75 * size, recording.statistics, times, beside=False), (left, top))
    return image.quantize(colors=160, dither=Image.Dither.NONE)


def montage(pictures, style, columns):
    """Small pictures with names: (name, up, frame) each, style.width and height are those of one."""
    size = max(11.0, min(style.width, style.height) / 17)
    columns, band = min(columns, len(pictures)), round(1.7 * size)
    rows = -(-len(pictures) // columns)
    image = Image.new("RGB", (columns * style.width, rows * (style.height + band)), "white")
    draw = ImageDraw.Draw(image)
    for number, (name, up, frame) in enumerate(pictures):
        left, top = number % columns * style.width, number // columns * (style.height + band)
        view = picture.fit_camera([frame], up, style)
        image.paste(to_image(picture.render(frame, view, up, style)), (left, top))
        draw.text((left + style.width / 2, top + style.height + 0.3 * size), clipped(name, 40), fill=INK, font=font(size), anchor="ma")
    return image.quantize(colors=192, dither=Image.Dither.NONE)
