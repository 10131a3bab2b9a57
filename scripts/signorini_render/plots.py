"""Small plots over time under a contact sheet: contacts and regions, energies; from the recording's statistics of every step."""

import dataclasses

import numpy as np

from signorini_render.fonts import INK, PALE, font

GRID = "#D0D4D8"


@dataclasses.dataclass
class Curve:
    label: str
    values: np.ndarray
    colour: str


def round_up(value):
    """The next 1, 2, 5 × 10^k."""
    if not value > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return next(float(step * power) for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-12))


def envelope(x, y, count):
    """Lowest and highest y within each of `count` columns of pixels: (column, low, high) of those that have a value."""
    good = np.isfinite(y)
    column, y = np.clip(x[good], 0, count - 1).astype(int), y[good]
    if len(column) == 0:
        return np.zeros((3, 0))
    order = np.argsort(column, kind="stable")
    column, y = column[order], y[order]
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    return np.array([column[starts], np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)])


def plot(draw, box, size, time, curves, unit, marks):
    """Curves over time in s within box (left, top, right, bottom); `marks`: the times of the frames above."""
    left, top, right, bottom = box
    label = font(0.85 * size)
    peak = max((float(np.nanmax(c.values, initial=0.0)) for c in curves), default=0.0)
    high = round_up(peak)
    begin, end = float(time[0]), max(float(time[-1]), float(time[0]) + 1e-12)

    def x_of(t):
        return left + (np.asarray(t) - begin) / (end - begin) * (right - left)

    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        draw.line([(left, y), (right, y)], fill=GRID)
        draw.text((left - 0.4 * size, y), f"{share * high:g}", fill=PALE, font=label, anchor="rm")
    for mark in np.clip(x_of(marks), left, right):
        draw.line([(mark, top), (mark, bottom)], fill=GRID)
    for t, anchor in ((begin, "la"), (end, "ra")):
        draw.text((x_of(t), bottom + 0.35 * size), f"{t:.3g} s", fill=PALE, font=label, anchor=anchor)
    names = [f"{curve.label}{f' ({unit})' if unit and curve is curves[-1] else ''}" for curve in curves]
    wanted = sum(2.6 * size + draw.textlength(name, font=label) for name in names)
    fit = min(1.0, (right - left + 1.5 * size) / wanted)  # of the legend, in the narrow plots of a sheet with one panel
    small, cursor = font(0.85 * size * fit), left
    for number, (curve, name) in enumerate(zip(curves, names)):
        column, low, highest = envelope(x_of(time) - left, np.clip(curve.values, 0.0, high), int(right - left))
        points = [(left + c, bottom - v / high * (bottom - top)) for c, a, b in zip(column, low, highest) for v in ((a, b) if a < b else (a,))]
        if len(points) > 1:
            draw.line(points, fill=curve.colour, width=max(1, round(size / 8)) + len(curves) - 1 - number)
        draw.line([(cursor, top - 0.9 * size), (cursor + 1.1 * fit * size, top - 0.9 * size)], fill=curve.colour, width=max(2, round(size / 5)))
        draw.text((cursor + 1.5 * fit * size, top - 0.9 * size), name, fill=INK, font=small, anchor="lm")
        cursor += 2.6 * fit * size + draw.textlength(name, font=small)


def curves_of(statistics):
    """[(curves, unit)] of what the statistics hold; energies above their lowest value, since heights have no natural zero."""
    counts = [Curve(name, statistics[name], colour) for name, colour in (("contacts", "#1F66C4"), ("regions", "#D62728"), ("islands", "#1E9E2E"))
              if name in statistics]
    energies = [Curve(label, statistics[name], colour) for name, label, colour in
                (("kinetic_energy", "kinetic", "#D62728"), ("elastic_energy", "elastic", "#8E44C9")) if name in statistics]
    if "potential_energy" in statistics:
        potential = statistics["potential_energy"]
        if np.isfinite(potential).any():
            energies.append(Curve("potential", potential - np.nanmin(potential), "#1F66C4"))
    if len(energies) == 3:
        energies.append(Curve("sum", sum(curve.values for curve in energies), INK))
    return [(curves, unit) for curves, unit in ((counts, ""), (energies, "J")) if curves]


def strip(draw, box, size, statistics, marks):
    """All plots side by side in the box."""
    place(draw, box, size, statistics, marks, 1, 0)


def column(draw, box, size, statistics, marks):
    """The same plots one below the other."""
    place(draw, box, size, statistics, marks, 0, 1)


def place(draw, box, size, statistics, marks, beside, below):
    """The plots in equal parts of the box, the next one `beside` and `below` the last (0 or 1)."""
    groups = curves_of(statistics)
    left, top, right, bottom = box
    count = max(1, len(groups))
    width, height = (right - left) / (count if beside else 1), (bottom - top) / (count if below else 1)
    for number, (curves, unit) in enumerate(groups):
        x, y = left + beside * number * width, top + below * number * height
        plot(draw, (x + 4.5 * size, y + 2.2 * size, x + width - 1.5 * size, y + height - 1.6 * size), size, statistics["time"],
             curves, unit, marks)
