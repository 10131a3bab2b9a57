"""A z-buffer for triangles in numpy. Pixel centres have integer coordinates; depth is any quantity that is affine on the screen
over each triangle (1/w of a perspective, the distance of a parallel projection), larger is nearer.

Why not a library: matplotlib's 3-D axes sort whole triangles and have no depth buffer, so that bodies in contact cut into each other on the
picture; VTK (python3-vtk9) refuses to draw without an X server, and with one is 250 MB of packages. trimesh, pyrender and PyVista are not in
Debian 12. This draws the same bytes everywhere."""

import numpy as np

FRAGMENTS = 2_000_000  # worked on at a time


class Buffer:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.depth = np.full(width * height, -np.inf)
        self.index = np.full(width * height, -1, np.int32)  # triangle, −1 = none


class Planes:
    """Per triangle the affine functions of the screen that are its barycentric coordinates: b = x·a[0] + y·a[1] + a[2]."""

    def __init__(self, xy):
        x, y = xy[..., 0], xy[..., 1]
        i, j = [1, 2, 0], [2, 0, 1]
        area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
        self.usable = np.isfinite(area) & (np.abs(area) > 1e-12)
        scale = 1.0 / np.where(self.usable, area, 1.0)[:, None]
        self.a = np.stack([(y[:, i] - y[:, j]) * scale, (x[:, j] - x[:, i]) * scale, (x[:, i] * y[:, j] - x[:, j] * y[:, i]) * scale])

    def affine(self, values):
        """Coefficients (3×t) of the affine function with the given values (t×3) at the corners."""
        return (self.a * values[None]).sum(axis=2)


def spans(planes, xy, width, height):
    """Every (triangle, row) with the first and last pixel inside it."""
    low, high = xy[..., 1].min(axis=1), xy[..., 1].max(axis=1)
    top = np.clip(np.ceil(np.where(planes.usable, low, 1.0)), 0, height).astype(np.int64)
    bottom = np.clip(np.floor(np.where(planes.usable, high, 0.0)), -1, height - 1).astype(np.int64)
    rows = np.maximum(bottom - top + 1, 0)
    triangle = np.repeat(np.arange(len(xy)), rows)
    y = np.arange(len(triangle)) - np.repeat(np.cumsum(rows) - rows, rows) + top[triangle]
    first, last = np.zeros(len(y)), np.full(len(y), width - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for corner in range(3):
            slope = planes.a[0, triangle, corner]
            rest = planes.a[1, triangle, corner] * y + planes.a[2, triangle, corner]
            cut = -rest / slope  # the coordinate of this corner is zero here
            first = np.where(slope > 0, np.fmax(first, cut), first)
            last = np.where(slope < 0, np.fmin(last, cut), last)
            last = np.where((slope == 0) & (rest < 0), -1.0, last)
    slack = 1e-7  # pixels; shared edges leave no gaps
    first, last = np.ceil(first - slack).astype(np.int64), np.floor(last + slack).astype(np.int64)
    inside = last >= first
    return triangle[inside], y[inside], first[inside], last[inside]


def draw(buffer, xy, depth):
    """Triangles xy (t×3×2 in pixels) with depth (t×3) into the buffer; the nearest wins, on a tie the first."""
    if len(xy) == 0:
        return
    planes = Planes(xy)
    order = np.argsort(-depth.max(axis=1), kind="stable")  # front to back: most hidden fragments never enter the loop
    triangle, y, first, last = spans(planes, xy, buffer.width, buffer.height)
    rank = np.empty(len(xy), np.int64)
    rank[order] = np.arange(len(xy))
    by_rank = np.argsort(rank[triangle], kind="stable")
    triangle, y, first, last = triangle[by_rank], y[by_rank], first[by_rank], last[by_rank]
    plane = planes.affine(depth)
    length = last - first + 1
    ends = np.cumsum(length)
    begin = 0
    while begin < len(triangle):
        base = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, base + FRAGMENTS, side="right")))
        n = length[begin:end]
        of = np.repeat(triangle[begin:end], n)
        row = np.repeat(y[begin:end], n)
        x = np.arange(len(of)) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first[begin:end], n)
        z = plane[0, of] * x + plane[1, of] * row + plane[2, of]
        settle(buffer, (row * buffer.width + x)[::-1], z[::-1], of[::-1])
        begin = end


def settle(buffer, pixel, z, triangle):
    """Repeats 'write what is nearer than the buffer' until nothing is: numpy keeps the last of several writes to a pixel. Fragments
    come roughly back to front, so that the last write is mostly the one that stays."""
    while True:
        nearer = z > buffer.depth[pixel]
        if not nearer.any():
            return
        pixel, z, triangle = pixel[nearer], z[nearer], triangle[nearer]
        buffer.depth[pixel] = z
        won = buffer.depth[pixel] == z
        buffer.index[pixel[won]] = triangle[won]
