"""What a figure shows, read from matplotlib's objects: for tests that notice blank, cut or wrong figures."""

import contextlib
from unittest import mock

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.patches import Rectangle

from signorini_report import style

PRECISION = 1e-9  # relative: coordinates are the data times a unit, a few roundings apart


@contextlib.contextmanager
def captured():
    """[(name, figure)] of what is saved meanwhile; nothing is written."""
    found = []

    def keep(figure, _folder, name):
        figure.canvas.draw()
        found.append((name, figure))

    with mock.patch.object(style, "save", keep):
        try:
            style.apply()
            yield found
        finally:
            for _, figure in found:
                plt.close(figure)


def panels(figure):
    """Axes that a reader sees."""
    return [axes for axes in figure.axes if axes.get_visible()]


def data_lines(axes):
    """Lines in the coordinates of the data, without those that span the panel (a limit, a tolerance)."""
    return [line for line in axes.lines if line.get_visible() and line.get_transform() == axes.transData and len(line.get_xdata())]


def vertices(line):
    points = np.column_stack([np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)])
    return points[np.isfinite(points).all(axis=1)]


def has_marks(line):
    return line.get_marker() not in (None, "None", "", " ")


def marks(axes):
    """(n, 2) positions of all marks."""
    found = [vertices(line) for line in data_lines(axes) if has_marks(line)]
    return np.concatenate(found) if found else np.empty((0, 2))


def bars(axes):
    """(n, 4): left, bottom, width, height."""
    return np.array([[*bar.get_xy(), bar.get_width(), bar.get_height()] for bar in axes.patches if isinstance(bar, Rectangle)]).reshape(-1, 4)


def ticks(axes):
    """Single strokes of the rugs."""
    return sum(len(one.get_segments()) for one in axes.collections if isinstance(one, LineCollection))


def legends(figure):
    """{label: handle} of all legends of a figure."""
    found = {}
    for legend in [*figure.legends, *(axes.get_legend() for axes in panels(figure))]:
        if legend is not None:
            found |= dict(zip((text.get_text() for text in legend.get_texts()), legend.legend_handles if hasattr(legend, "legend_handles")
                              else legend.legendHandles))
    return found


def close(first, second):
    return np.isclose(first, second, rtol=PRECISION, atol=0.0)


def contains(points, wanted):
    """Whether every wanted point (None: any value) is there, as often as it is wanted."""
    left = list(map(tuple, points))
    for one in wanted:
        place = next((number for number, point in enumerate(left) if all(value is None or close(value, have) for value, have in zip(one, point))), None)
        if place is None:
            return False
        del left[place]
    return True


def problems(figure):
    """What is wrong with any figure whatever it shows."""
    found = []
    renderer = figure.canvas.get_renderer()
    for number, axes in enumerate(panels(figure)):
        name = f"panel {number} ({axes.get_title()})"
        lines = data_lines(axes)
        meshes = [one for one in axes.collections if isinstance(one, QuadMesh)]  # of a colour bar, with newer versions of matplotlib
        if not (sum(len(vertices(line)) for line in lines) or len(bars(axes)) or len(axes.images) or len(axes.patches) or meshes):
            found.append(f"{name}: nothing is drawn")
        for line in lines:
            points = vertices(line)
            low = np.array([min(axes.get_xlim()), min(axes.get_ylim())])
            high = np.array([max(axes.get_xlim()), max(axes.get_ylim())])
            slack = 1e-9 * np.abs(high - low)
            outside = ((points < low - slack) | (points > high + slack)).any(axis=1)
            if has_marks(line) and line.get_clip_on() and outside.any():
                found.append(f"{name}: {outside.sum()} of {len(points)} marks lie outside the axes, the first at {points[outside][0]}")
            elif len(points) and outside.all():
                found.append(f"{name}: a line lies outside the axes")
        if not axes.axison:
            continue
        if not names(axes.xaxis) and not is_colour_bar(axes) and not any(other.get_xlabel() and (other is axes or in_line(axes, other, 0)) for other in panels(figure)):
            found.append(f"{name}: the horizontal axis has no label")
        if not any((other.get_ylabel() or names(other.yaxis)) and (other is axes or in_line(axes, other, 1)) for other in panels(figure)):
            found.append(f"{name}: the vertical axis has neither a label nor names")
    room = figure.get_tightbbox(renderer).padded(0.03)  # of an inch: half of what style.save leaves around
    for text in texts(figure):
        box = text.get_window_extent(renderer)
        box = [value / figure.dpi for value in (box.x0, box.y0, box.x1, box.y1)]
        if box[0] < room.x0 or box[1] < room.y0 or box[2] > room.x1 or box[3] > room.y1:
            found.append(f"the text '{text.get_text()}' lies outside the picture")
        if text.get_clip_on() and text.get_clip_box() is not None and text.axes is not None:
            frame = text.axes.get_window_extent(renderer)
            inside = text.get_window_extent(renderer)
            if inside.x0 < frame.x0 or inside.x1 > frame.x1 or inside.y0 < frame.y0 or inside.y1 > frame.y1:
                found.append(f"the text '{text.get_text()}' is cut at its panel")
    return found


def in_line(axes, other, direction):
    """Whether two panels stand one above the other (0), or beside each other with the same limits (1): one label serves both."""
    if direction == 0:
        return np.isclose(axes.get_position().x0, other.get_position().x0)
    return np.isclose(axes.get_position().y0, other.get_position().y0) and axes.get_ylim() == other.get_ylim()


def is_colour_bar(axes):
    """Its other direction is the colour."""
    return getattr(axes, "_colorbar", None) is not None


def names(axis):
    """Words at the ticks of an axis."""
    texts = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
    return [text for text in texts if any(letter.isalpha() for letter in text.replace("mathdefault", "").replace("times", ""))]


def texts(figure):
    """Titles, labels, notes and legends; not the numbers at the ticks."""
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in panels(figure):
        found += [*axes.texts, axes.title, axes._left_title, axes._right_title]
        found += [axes.xaxis.label, axes.yaxis.label] if axes.axison else []
        found += axes.get_legend().get_texts() if axes.get_legend() else []
    return [text for text in found if text.get_visible() and text.get_text()]
