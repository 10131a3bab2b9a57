"""One frame as an image: bodies with shadows and outlines, obstacles cut open toward the viewer, contacts coloured by region."""

import dataclasses

import numpy as np

from signorini_render import camera as cameras
from signorini_render import colours, raster, surface

SAMPLES = 2           # per pixel and direction
SHADOW_MAP = 1400     # pixels along a side
BAND = 400_000        # samples shaded at a time
PARTICLE = 0.04       # radius of a mass point without surface, share of the scene's
ROD = 0.3             # radius of the springs of a chain, share of that of its mass points
GLASS = 0.10          # opacity of obstacle faces seen from behind
PANE = 0.30           # of those seen from the front, in front of a body, where obstacles are see-through
BACKGROUND = 0.55     # of those with no body behind or before them


@dataclasses.dataclass
class Style:
    width: int = 1200
    height: int = 900
    azimuth: float = -60.0   # degrees around the upward axis
    elevation: float = 28.0  # degrees above the horizon
    zoom: float = 1.0
    mesh: bool = False       # draw the edges of the triangles
    solid: bool = False      # contacts behind a surface are hidden
    impulses: bool = False   # draw an arrow per impulse
    contacts: bool = True    # draw the contacts
    glass: bool = False      # obstacles are see-through


@dataclasses.dataclass
class Layer:
    """Rasterised triangles with what shading interpolates."""
    buffer: raster.Buffer
    bary: np.ndarray     # t×3×3 (function, corner): barycentric coordinates times 1/depth as affine functions of x, y, 1
    corner: np.ndarray   # t×3×6: position relative to the camera's centre (m) and normal
    face: np.ndarray     # t×3, unit normals
    body: np.ndarray     # t


def movable_points(frame):
    """What the camera looks at: the vertices of bodies, or everything where there are none, with the contacts."""
    used = np.concatenate([np.unique(frame.triangles[frame.body >= 0]), surface.loose_vertices(frame.vertices, frame.triangles)])
    if len(used) == 0:
        used = np.unique(frame.triangles)
    return np.concatenate([frame.vertices[used], frame.position])


def fit_camera(frames, up, style):
    points = np.concatenate([movable_points(frame) for frame in frames])
    if len(points) == 0:
        points = np.zeros((1, 3))
    return cameras.frame_points(points, up, style.azimuth, style.elevation, style.zoom, style.width, style.height)


def rasterise(frame, view, chosen, normals, corners):
    """The triangles `chosen` of the frame as a layer."""
    points = frame.vertices[frame.triangles[chosen]]
    seen, source, weights = surface.clip_near(view.view(points), view.near)
    xy, q = view.screen(seen)
    corner = np.concatenate([points - view.centre, corners[chosen]], axis=2)
    corner = np.einsum("tij,tjk->tik", weights, corner[source]).astype(np.float32)
    bary = np.moveaxis(raster.Planes(xy).a * q, 0, 1)
    layer = Layer(raster.Buffer(view.width, view.height), bary, corner, normals[chosen][source].astype(np.float32),
                  frame.body[chosen][source])
    raster.draw(layer.buffer, xy, q)
    return layer


class Sun:
    """A parallel light with a shadow map of the bodies."""

    def __init__(self, frame, view, up):
        right, _, backward = view.axes
        self.direction = 0.95 * up - 0.55 * right + 0.55 * (backward - up * (backward @ up))  # from behind the viewer's left
        self.direction /= np.linalg.norm(self.direction)
        across = np.cross(self.direction, right)
        across /= np.linalg.norm(across)
        self.axes = np.stack([across, np.cross(self.direction, across)])
        points = frame.vertices[frame.triangles[frame.body >= 0]] - view.centre
        flat = points.reshape(-1, 3) @ self.axes.T if len(points) else np.zeros((1, 2))
        self.low = flat.min(axis=0)
        self.texel = max(float((flat.max(axis=0) - self.low).max()), 1e-9) / (SHADOW_MAP - 8)
        self.map = raster.Buffer(SHADOW_MAP, SHADOW_MAP)
        if len(points):
            raster.draw(self.map, (points @ self.axes.T - self.low) / self.texel + 4.0, points @ self.direction)

    def lit(self, points, normals):
        """Share of the light that reaches each point (relative to the centre): 3×3 look-ups, four texels off along the normal."""
        lifted = points + normals * (4.0 * self.texel)
        at = (lifted @ self.axes.T - self.low) / self.texel + 4.0
        height = lifted @ self.direction
        column, row = np.rint(at[:, 0]).astype(np.int64), np.rint(at[:, 1]).astype(np.int64)
        shade = np.zeros(len(points), np.float32)
        for dx in (-2, 0, 2):
            for dy in (-2, 0, 2):
                x, y = column + dx, row + dy
                inside = (x >= 0) & (x < SHADOW_MAP) & (y >= 0) & (y < SHADOW_MAP)
                pixel = np.where(inside, y * SHADOW_MAP + x, 0)
                shade += inside & (self.map.depth[pixel] > height + 2.0 * self.texel)
        return 1.0 - shade / 9.0


def shade(layer, pixels, view, sun, up, mesh):
    """Linear colours (p×3) of the samples `pixels` of a layer."""
    t = layer.buffer.index[pixels]
    x, y = pixels % layer.buffer.width, pixels // layer.buffer.width
    bary = layer.bary[t]
    flat = bary[:, 0] * x[:, None] + bary[:, 1] * y[:, None] + bary[:, 2]
    weights = (flat / flat.sum(axis=1, keepdims=True)).astype(np.float32)
    mixed = np.einsum("pi,pij->pj", weights, layer.corner[t])
    point, normal = mixed[:, :3], unit(mixed[:, 3:])
    toward = unit((view.eye - view.centre).astype(np.float32) - point)
    face, body = layer.face[t], layer.body[t]
    behind = dot(face, toward) < 0
    normal[behind] *= -1.0
    face[behind] *= -1.0
    colour = colours.body_colours(body)
    colour[behind & (body >= 0)] *= 0.72  # the inner side of a shell

    light = sun.lit(point, face)
    lambert = np.clip(normal @ sun.direction, 0.0, 1.0) * light
    grazing = (1.0 - np.clip(dot(normal, toward), 0.0, 1.0)) ** 3
    gloss = np.where(body >= 0, 0.06, 0.0) * np.clip(dot(normal, unit(sun.direction + toward)), 0.0, 1.0) ** 24 * light
    colour *= (0.27 + 0.30 * (0.5 + 0.5 * (normal @ up)) + 0.74 * lambert - 0.10 * grazing)[:, None]
    colour += gloss[:, None]
    if mesh:
        steepness = np.linalg.norm(bary[:, :2], axis=1)  # of the three functions, per sample
        edge = flat < 0.3 * SAMPLES * steepness
        colour[edge.any(axis=1) & (body >= 0)] *= 0.6
    far = np.where(body < 0, haze(point, view), 0.0)[:, None]
    return colour * (1 - far) + far


def dot(a, b):
    return np.einsum("pi,pi->p", a, b)


def unit(vectors):
    return vectors / (np.sqrt(dot(vectors, vectors)) + 1e-30)[:, None]


def fill(image, layer, view, sun, up, mesh, chosen, opacity=1.0):
    """Shades the samples `chosen` (bools): once per pixel where one body covers all samples of it, else one by one."""
    shape = (view.height // SAMPLES, SAMPLES, view.width // SAMPLES, SAMPLES)
    body = np.where(chosen, layer.body[layer.buffer.index] if len(layer.body) else 0, -2).reshape(shape)
    first = body[:, 0, :, 0]
    uniform = first > -2
    for i in range(SAMPLES):
        for j in range(SAMPLES):
            uniform &= body[:, i, :, j] == first
    uniform &= not mesh  # thin lines need every sample
    single = (body > -2) & ~uniform[:, None, :, None]
    corner = (np.arange(shape[0])[:, None] * SAMPLES * view.width + np.arange(shape[2]) * SAMPLES)[uniform]
    block = [i * view.width + j for i in range(SAMPLES) for j in range(SAMPLES)]
    for where, spread in ((corner, block), (np.flatnonzero(single.reshape(-1)), [0])):
        for begin in range(0, len(where), BAND):
            pixels = where[begin:begin + BAND]
            colour = shade(layer, pixels, view, sun, up, mesh)
            for step in spread:
                image[pixels + step] = colour if opacity == 1.0 else image[pixels + step] * (1 - opacity) + colour * opacity


def haze(points, view):
    """Obstacles fade into the paper far from the action: 0 near, 1 far; points relative to the camera's centre."""
    share = np.clip((np.linalg.norm(points, axis=1) / view.radius - 2.2) / 3.8, 0.0, 1.0)
    return share * share * (3 - 2 * share)


def outline(image, layer, view, strength):
    """Darkens samples where the body, the depth or the face of an obstacle changes."""
    width = layer.buffer.width
    index, depth = layer.buffer.index, layer.buffer.depth
    ink = np.zeros(len(index), np.float32)
    for step in (1, width):
        differs = index[:-step] != index[step:]
        if step == 1:
            differs[width - 1::width] = False  # the end of one row and the start of the next
        a = np.flatnonzero(differs)
        b = a + step
        both = (index[a] >= 0) & (index[b] >= 0)
        found = ~both
        one, other = index[a[both]], index[b[both]]
        jump = np.abs(depth[a[both]] - depth[b[both]]) > 0.02 * np.maximum(depth[a[both]], depth[b[both]])
        fold = (layer.body[one] < 0) & (dot(layer.face[one], layer.face[other]) < 0.985)
        found[both] = (layer.body[one] != layer.body[other]) | jump | fold
        a, b = a[found], b[found]
        nearer = np.where(depth[a] >= depth[b], a, b)
        line = np.full(len(a), strength, np.float32)
        obstacle = layer.body[index[nearer]] < 0
        at = nearer[obstacle]
        line[obstacle] *= 1.0 - haze(view.place(at % width, at // width, depth[at]) - view.centre, view)
        ink[a] = np.maximum(ink[a], line)
        ink[b] = np.maximum(ink[b], line)
    where = np.flatnonzero(ink)
    image[where] += (colours.linear(colours.rgb(colours.INK)) - image[where]) * ink[where, None]


def cover(image, layer, behind, faces, view, sun, up, opacity, line):
    """Draws a see-through layer where it is in front of what lies behind it: outlines everywhere, faces at the samples `faces`."""
    in_front = (layer.buffer.index >= 0) & (layer.buffer.depth > behind.buffer.depth)
    fill(image, layer, view, sun, up, False, in_front & faces, opacity)
    layer.buffer.index[~in_front] = -1
    outline(image, layer, view, line)


def blend_disc(image, centre, radius, colour, opacity):
    """An anti-aliased disc on an image of rows×columns×3, sRGB."""
    height, width = image.shape[:2]
    x0, x1 = max(0, int(centre[0] - radius - 1)), min(width, int(centre[0] + radius + 3))
    y0, y1 = max(0, int(centre[1] - radius - 1)), min(height, int(centre[1] + radius + 3))
    if x0 >= x1 or y0 >= y1:
        return
    y, x = np.mgrid[y0:y1, x0:x1]
    cover = opacity * np.clip(radius + 0.5 - np.hypot(x - centre[0], y - centre[1]), 0.0, 1.0)[..., None]
    image[y0:y1, x0:x1] = image[y0:y1, x0:x1] * (1 - cover) + colour * cover


def blend_line(image, a, b, width, colour):
    """An anti-aliased line with round ends."""
    x0, y0 = np.maximum(np.floor(np.minimum(a, b) - width - 1), 0).astype(int)
    x1, y1 = np.minimum(np.ceil(np.maximum(a, b) + width + 2), image.shape[1::-1]).astype(int)
    if x0 >= x1 or y0 >= y1:
        return
    y, x = np.mgrid[y0:y1, x0:x1]
    direction = b - a
    along = np.clip(((x - a[0]) * direction[0] + (y - a[1]) * direction[1]) / max(direction @ direction, 1e-12), 0.0, 1.0)
    away = np.hypot(x - a[0] - along * direction[0], y - a[1] - along * direction[1])
    cover = np.clip(0.5 * width + 0.5 - away, 0.0, 1.0)[..., None]
    image[y0:y1, x0:x1] = image[y0:y1, x0:x1] * (1 - cover) + colour * cover


def draw_contacts(image, frame, view, nearest, style):
    """Dots on an image of the final size; `nearest`: depth of the opaque surface at every pixel."""
    if frame.contacts == 0:
        return
    seen = view.view(frame.position)
    in_front = seen[:, 2] > view.near
    xy, q = view.screen(np.where(in_front[:, None], seen, [0.0, 0.0, 1.0]))
    colour = colours.region_colours(frame.region_point, frame.region_sizes)[frame.region]
    radius = max(2.6, min(view.width, view.height) / 150 * min(1.0, (200 / frame.contacts) ** 0.33))
    column, row = np.rint(xy).astype(int).T.clip(-1, max(view.width, view.height))
    on_screen = in_front & (column >= 0) & (column < view.width) & (row >= 0) & (row < view.height)
    cover = np.zeros(frame.contacts)
    cover[on_screen] = nearest[row[on_screen], column[on_screen]]
    visible = 1.0 / q < 1.0 / np.maximum(cover, 1e-300) + 0.01 * view.radius
    order = np.argsort(q, kind="stable")
    order = order[on_screen[order]]
    if style.impulses and frame.impulse is not None:
        draw_impulses(image, frame, view, order, colour, radius)
    ink = colours.rgb(colours.INK)
    for k in order:
        if visible[k]:
            blend_disc(image, xy[k], radius + 1.0, ink, 0.9)
            blend_disc(image, xy[k], radius, colour[k], 1.0)
        elif not style.solid:
            blend_disc(image, xy[k], radius * 0.85, 0.8 * colour[k] + 0.2, 0.8)


def draw_impulses(image, frame, view, order, colour, radius):
    """Bars from each contact along the impulse on the contact's first body; the largest is a seventh of the picture."""
    largest = np.linalg.norm(frame.impulse, axis=1).max(initial=0.0)
    if largest <= 0:
        return
    length = 2.0 * np.tan(cameras.HALF_ANGLE) * np.linalg.norm(view.eye - view.centre) / 7 / largest
    tips = view.view(frame.position + length * frame.impulse)
    for k in order:
        if tips[k, 2] > view.near:
            a, b = view.screen(np.stack([view.view(frame.position[k][None])[0], tips[k]]))[0]
            blend_line(image, a, b, 0.8 * radius, 0.8 * colour[k])


def render(frame, view, up, style):
    """The frame as height×width×3 sRGB in 0 … 1."""
    fine = view.scaled(SAMPLES)
    vertices, triangles, body = surface.with_particles(frame.vertices, frame.triangles, frame.body, PARTICLE * view.radius)
    vertices, triangles, body = surface.with_rods(vertices, triangles, body, frame.rods, ROD * PARTICLE * view.radius)
    frame = dataclasses.replace(frame, vertices=vertices, triangles=triangles, body=body)
    normals, areas = surface.face_normals(frame.vertices, frame.triangles)
    corners = surface.corner_normals(frame.vertices, frame.triangles, normals, areas)
    centre = frame.vertices[frame.triangles].mean(axis=1) if len(frame.triangles) else np.zeros((0, 3))
    turned_away = (normals * (view.eye - centre)).sum(axis=1) < 0
    obstacle = frame.body < 0
    closed = surface.closed_bodies(frame.triangles, frame.body) if len(frame.triangles) else np.zeros(0, bool)
    front = (areas > 0) & ~(turned_away & (obstacle | closed))
    solid = rasterise(frame, fine, np.flatnonzero(front & ~(obstacle & style.glass)), normals, corners)
    glass = rasterise(frame, fine, np.flatnonzero((areas > 0) & turned_away & obstacle & ~closed), normals, corners)

    sun = Sun(frame, fine, up)
    image = np.ones((fine.width * fine.height, 3), np.float32)
    panes = rasterise(frame, fine, np.flatnonzero(front & obstacle), normals, corners) if style.glass else None
    if panes is not None:
        fill(image, panes, fine, sun, up, False, (panes.buffer.index >= 0) & (solid.buffer.index < 0), BACKGROUND)
    bodies = solid.buffer.index >= 0
    fill(image, solid, fine, sun, up, style.mesh, bodies)
    outline(image, solid, fine, 0.55)
    if panes is not None:
        cover(image, panes, solid, bodies, fine, sun, up, PANE, 0.25)
    cover(image, glass, solid, True, fine, sun, up, GLASS, 0.10)

    image = image.reshape(view.height, SAMPLES, view.width, SAMPLES, 3).mean(axis=(1, 3))
    nearest = solid.buffer.depth.reshape(view.height, SAMPLES, view.width, SAMPLES)[:, 0, :, 0]
    nearest = np.where(np.isfinite(nearest), nearest, 0.0)
    image = colours.srgb(image)
    if style.contacts:
        draw_contacts(image, frame, view, nearest, style)
    return image
