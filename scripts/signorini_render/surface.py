"""The triangles of a frame as the picture needs them: who is closed, smooth corner normals, clipping at the near plane."""

import numpy as np

CREASE = np.cos(np.radians(32.0))  # corners whose face turns further than this from the mean normal stay sharp


def face_normals(vertices, triangles):
    """Unit normals (t×3) and twice the areas."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    return cross / np.where(length > 0, length, 1.0)[:, None], length


def corner_normals(vertices, triangles, normals, areas):
    """t×3×3: area-weighted mean of the faces around each vertex, or the face's own normal at a crease."""
    mean = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(mean, triangles[:, corner], normals * areas[:, None])
    length = np.linalg.norm(mean, axis=1)
    mean /= np.where(length > 0, length, 1.0)[:, None]
    corners = mean[triangles]
    sharp = (corners * normals[:, None]).sum(axis=2) < CREASE
    corners[sharp] = np.broadcast_to(normals[:, None], corners.shape)[sharp]
    return corners


def closed_bodies(triangles, body):
    """t bools: the triangle's body is a closed, oriented surface (every edge runs once in each direction)."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    owner = np.tile(body, 3)
    count = int(triangles.max(initial=0)) + 1
    forth, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    keys, times = np.unique(forth, return_counts=True)
    spot = np.searchsorted(keys, back).clip(max=len(keys) - 1)
    paired = (keys[spot] == back) & (times[np.searchsorted(keys, forth)] == 1) & (times[spot] == 1)
    return ~np.isin(body, np.unique(owner[~paired]))


def ball():
    """A unit sphere of 80 triangles."""
    golden = (1 + 5**0.5) / 2
    vertices = [np.roll([0.0, s, t * golden], k) for k in range(3) for s in (-1, 1) for t in (-1, 1)]
    vertices = [v / np.linalg.norm(v) for v in vertices]
    near = [[j for j in range(12) if 0.9 < np.linalg.norm(vertices[i] - vertices[j]) < 1.2] for i in range(12)]
    coarse = [(i, j, k) for i in range(12) for j in near[i] for k in near[i] if i < j < k and k in near[j]]
    middle, triangles = {}, []

    def between(i, j):
        key = (min(i, j), max(i, j))
        if key not in middle:
            middle[key] = len(vertices)
            point = vertices[i] + vertices[j]
            vertices.append(point / np.linalg.norm(point))
        return middle[key]

    for i, j, k in coarse:
        if np.dot(np.cross(vertices[i], vertices[j]), vertices[k]) < 0:
            j, k = k, j
        a, b, c = between(i, j), between(j, k), between(k, i)
        triangles += [(i, a, c), (a, j, b), (c, b, k), (a, b, c)]
    return np.array(vertices), np.array(triangles)


def loose_vertices(vertices, triangles):
    """Mass points that belong to no surface."""
    return np.setdiff1d(np.arange(len(vertices)), triangles)


def with_particles(vertices, triangles, body, radius):
    """The surfaces with a ball of the given radius around every loose vertex, each a body of its own."""
    loose = loose_vertices(vertices, triangles)
    if len(loose) == 0:
        return vertices, triangles, body
    shape, faces = ball()
    centres = vertices[loose][:, None] + radius * shape
    first = len(vertices) + len(shape) * np.arange(len(loose))
    return (np.concatenate([vertices, centres.reshape(-1, 3)]),
            np.concatenate([triangles, (first[:, None, None] + faces).reshape(-1, 3)]),
            np.concatenate([body, np.repeat(body.max(initial=-1) + 1 + np.arange(len(loose)), len(faces))]))


def with_rods(vertices, triangles, body, rods, radius):
    """The surfaces with a six-sided rod of the given radius along every pair of vertices in `rods` (r×2), all of one body."""
    if len(rods) == 0:
        return vertices, triangles, body
    start, end = vertices[rods[:, 0]], vertices[rods[:, 1]]
    along = end - start
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.divide(along, length, out=np.tile([0.0, 0.0, 1.0], (len(rods), 1)), where=length > 0)
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angle = 2 * np.pi / 6 * np.arange(6)
    circle = radius * (np.cos(angle)[None, :, None] * across[:, None] + np.sin(angle)[None, :, None] * np.cross(along, across)[:, None])
    side = [(i, (i + 1) % 6) for i in range(6)]
    faces = np.array([triangle for i, j in side for triangle in ((i, j, 6 + j), (i, 6 + j, 6 + i))])
    first = len(vertices) + 12 * np.arange(len(rods))
    rings = np.concatenate([start[:, None] + circle, end[:, None] + circle], axis=1)
    return (np.concatenate([vertices, rings.reshape(-1, 3)]),
            np.concatenate([triangles, (first[:, None, None] + faces).reshape(-1, 3)]),
            np.concatenate([body, np.full(len(rods) * len(faces), body.max(initial=-1) + 1)]))


def clip_near(corners, near):
    """View triangles (t×3×3, depth last) cut at depth `near`. Returns the triangles in front, where each came from, and the
    barycentric coordinates of its corners there (t'×3×3)."""
    front = corners[..., 2] > near
    count = front.sum(axis=1)
    whole = np.flatnonzero(count == 3)
    identity = np.eye(3)
    pieces, source = [np.broadcast_to(identity, (len(whole), 3, 3))], [whole]
    for inside in (1, 2):
        for lone in range(3):  # the corner that is alone on its side
            chosen = np.flatnonzero((count == inside) & (front[:, lone] == (inside == 1)))
            if not len(chosen):
                continue
            i, j = (lone + 1) % 3, (lone + 2) % 3
            depth = corners[chosen][..., 2]

            def cut(other, lone=lone, depth=depth):
                share = ((near - depth[:, lone]) / (depth[:, other] - depth[:, lone]))[:, None]
                return (1 - share) * identity[lone] + share * identity[other]

            at_i, at_j = cut(i), cut(j)
            corner = [np.broadcast_to(identity[k], at_i.shape) for k in range(3)]
            if inside == 1:
                parts = [(corner[lone], at_i, at_j)]
            else:
                parts = [(at_i, corner[i], corner[j]), (at_i, corner[j], at_j)]
            for part in parts:
                pieces.append(np.stack(part, axis=1))
                source.append(chosen)
    source, weights = np.concatenate(source), np.concatenate(pieces)
    return np.einsum("tij,tjk->tik", weights, corners[source]), source, weights
