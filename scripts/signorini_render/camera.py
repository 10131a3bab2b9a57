"""A perspective camera that frames a cloud of points by itself."""

import dataclasses

import numpy as np

HALF_ANGLE = np.radians(12.0)  # of the shorter side: a mild perspective


def axes_of(up, azimuth, elevation):
    """(right, up, backward) of a viewer who looks at the scene from `azimuth` around and `elevation` above the horizon."""
    helper = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    east = helper - up * (helper @ up)
    east /= np.linalg.norm(east)
    north = np.cross(up, east)
    a, e = np.radians(azimuth), np.radians(elevation)
    backward = np.cos(e) * (np.cos(a) * east + np.sin(a) * north) + np.sin(e) * up
    right = -np.sin(a) * east + np.cos(a) * north
    return np.stack([right, np.cross(backward, right), backward])


@dataclasses.dataclass
class Camera:
    axes: np.ndarray    # 3×3, rows right, up, backward
    eye: np.ndarray     # m
    centre: np.ndarray  # m, what it looks at
    radius: float       # m, of what it frames
    width: int
    height: int

    @property
    def focal(self):
        """Pixels per unit of tangent."""
        return 0.5 * min(self.width, self.height) / np.tan(HALF_ANGLE)

    @property
    def near(self):
        return 0.05 * float(np.linalg.norm(self.eye - self.centre))

    def view(self, points):
        """Coordinates (right, up, depth in front of the eye), m."""
        seen = (points - self.eye) @ self.axes.T
        seen[..., 2] *= -1.0
        return seen

    def screen(self, seen):
        """Pixels (x to the right, y down) and 1/depth of view coordinates with positive depth."""
        q = 1.0 / seen[..., 2]
        x = 0.5 * (self.width - 1) + self.focal * seen[..., 0] * q
        y = 0.5 * (self.height - 1) - self.focal * seen[..., 1] * q
        return np.stack([x, y], axis=-1), q

    def place(self, x, y, q):
        """World points of pixels with 1/depth q: the inverse of `screen` and `view`."""
        seen = np.stack([x - 0.5 * (self.width - 1), 0.5 * (self.height - 1) - y, np.full(len(x), -self.focal)], axis=1)
        return self.eye + seen / (self.focal * q)[:, None] @ self.axes

    def scaled(self, factor):
        return dataclasses.replace(self, width=self.width * factor, height=self.height * factor)


def frame_points(points, up, azimuth, elevation, zoom, width, height, margin=0.80):
    """The nearest camera in the given direction that shows all points within `margin` of the picture."""
    axes = axes_of(up, azimuth, elevation)
    low, high = points.min(axis=0), points.max(axis=0)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-9)
    local = (points - 0.5 * (low + high)) @ axes.T
    tangent = np.tan(HALF_ANGLE) / min(width, height) * np.array([width, height]) * margin
    shift = np.zeros(2)
    for _ in range(8):  # centre, then back off as far as needed; converges at once for a mild perspective
        distance = max(local[:, 2].max() + 1e-3 * radius,
                       float((local[:, 2, None] + np.abs(local[:, :2] - shift) / tangent).max()))
        ratio = (local[:, :2] - shift) / (distance - local[:, 2, None])
        shift = shift + 0.5 * (ratio.max(axis=0) + ratio.min(axis=0)) * distance
    centre = 0.5 * (low + high) + shift @ axes[:2]
    return Camera(axes, centre + axes[2] * distance / zoom, centre, radius, width, height)
