"""Meshes of other programs as the files that scenes read; called by scripts/convert_mesh, which says how.

meshio reads; what is written here is plain text with all digits: Gmsh 2.2 (tetrahedra) and Wavefront (triangles).
"""

import argparse
import contextlib
import io
import sys
from pathlib import Path

import meshio
import numpy as np

from signorini_report.whole_files import write_text

WORDS = {"vertex": "points", "line": "lines", "triangle": "triangles", "quad": "quadrangles", "tetra": "tetrahedra", "hexahedron": "hexahedra", "wedge": "prisms",
         "pyramid": "pyramids", "polygon": "polygons", "line3": "lines of second order", "triangle6": "triangles of second order", "quad8": "quadrangles of second order",
         "quad9": "quadrangles of second order", "tetra10": "tetrahedra of second order", "hexahedron20": "hexahedra of second order"}
VOLUMES = ("tetra", "hexahedron", "wedge", "pyramid", "polyhedron", "penta")
CORNERS = {"tetra10": ("tetra", 4), "triangle6": ("triangle", 3), "triangle7": ("triangle", 3)}
FANS = ("quad", "polygon")  # cut around their first vertex, as the readers of scenes do
WANTED = {".msh": "tetra", ".obj": "triangle"}
OTHER = {"tetra": ".msh", "triangle": ".obj"}


class MeshError(Exception):
    """One line for the user."""


def read(path):
    """(points n×3, {kind: elements}) of a file."""
    if not path.is_file():
        raise MeshError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio's readers let anything through, and end the process where no reader fits
        known = path.suffix.lower() in meshio.extension_to_filetypes
        words = " ".join((str(error) if not isinstance(error, SystemExit) else said.getvalue()).split())[:200] or type(error).__name__
        raise MeshError(f"{path}: meshio cannot read it: {words}" if known else f"{path}: meshio reads no '{path.suffix}' files; it reads "
                        + " ".join(sorted(meshio.extension_to_filetypes))) from error
    points = np.asarray(mesh.points, dtype=float)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise MeshError(f"{path}: its points have no two or three coordinates")
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    cells = {}
    for block in mesh.cells:
        data = block.data if block.type.startswith("polyhedron") else np.asarray(block.data)
        cells.setdefault(block.type, []).append(data)
    return points, cells


def counted(cells):
    """'24 tetrahedra, 12 triangles'"""
    return ", ".join(f"{sum(map(len, blocks))} {WORDS.get(kind, kind)}" for kind, blocks in cells.items()) or "no elements"


def chosen(path, cells, wanted, corners):
    """The elements of the wanted kind, m×4 or m×3."""
    found = list(cells.get(wanted, []))
    for kind, (simple, count) in CORNERS.items():
        if simple != wanted or kind not in cells:
            continue
        if not corners:
            raise MeshError(f"{path}: holds {counted(cells)}; scenes read elements of first order: save it so, or give --corners to leave the middle nodes out")
        found += [block[:, :count] for block in cells[kind]]
    if wanted == "triangle":
        for block in (block for kind in FANS for block in cells.get(kind, [])):
            found += [block[:, [0, k, k + 1]] for k in range(1, block.shape[1] - 1)]
    else:
        strangers = {kind: blocks for kind, blocks in cells.items() if kind.startswith(VOLUMES) and kind != "tetra" and kind not in CORNERS}
        if strangers:
            raise MeshError(f"{path}: holds {counted(cells)}; scenes read tetrahedra only: mesh the volume with tetrahedra")
    if not sum(map(len, found)):
        other = next((kind for kind in OTHER if kind != wanted and any(name in cells for name in (kind, *(k for k, v in CORNERS.items() if v[0] == kind)))), None)
        hint = f"; for these name an OUT that ends in {OTHER[other]}" if other else ""
        raise MeshError(f"{path}: holds {counted(cells)}, no {WORDS[wanted]}{hint}")
    return np.concatenate(found).astype(np.int64)


def checked(path, points, elements):
    """Without vertices that nothing uses: (points, elements, how many were left out)."""
    if elements.min() < 0 or elements.max() >= len(points):
        raise MeshError(f"{path}: an element names vertex {elements.max() if elements.max() >= len(points) else elements.min()}, the file has {len(points)}")
    used, numbers = np.unique(elements, return_inverse=True)
    elements = numbers.reshape(elements.shape)
    left = len(points) - len(used)
    points = points[used]
    if not np.isfinite(points).all():
        row = used[np.flatnonzero(~np.isfinite(points).all(axis=1))[0]]
        raise MeshError(f"{path}: vertex {row} has a coordinate that is not finite")
    return points, elements, left


def turned_tets(path, points, tets):
    """All of positive volume; and how many were not."""
    a, b, c, d = (points[tets[:, k]] for k in range(4))
    volume = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0
    size = np.ptp(points, axis=0).max()
    flat = np.flatnonzero(np.abs(volume) <= 1e-15 * size**3)
    if len(flat):
        raise MeshError(f"{path}: {len(flat)} tetrahedra are flat, the first is number {flat[0]} (counted from 0); remove degenerate elements from the mesh")
    wrong = volume < 0
    tets[wrong] = tets[wrong][:, [0, 1, 3, 2]]
    return tets, int(wrong.sum()), float(np.abs(volume).sum())


def turned_surface(path, points, triangles):
    """(triangles, words): outward where the surface is closed and its triangles agree."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, sides = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    if (sides > 2).any():
        return triangles, f"{(sides > 2).sum()} edges have more than two triangles: neither a body nor cloth"
    agree = len(np.unique(edges, axis=0)) == len(edges)
    if not agree:
        return triangles, "neighbours are oriented differently: make the orientation consistent in the program that wrote the mesh"
    if (sides == 1).any():
        return triangles, f"open, {(sides == 1).sum()} edges of its rim"
    a, b, c = (points[triangles[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a - points[0], np.cross(b - points[0], c - points[0]))) / 6.0
    if volume < 0:
        return triangles[:, [0, 2, 1]], f"closed, volume {-volume:.4g}, turned outside"
    return triangles, f"closed, volume {volume:.4g}"


def text_of(points, elements):
    """Gmsh 2.2 for tetrahedra, Wavefront for triangles; repr gives every bit of a coordinate back."""
    rows = [f"{x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    if elements.shape[1] == 3:
        return "\n".join([f"v {row}" for row in rows] + ["f {} {} {}".format(*(v + 1 for v in face)) for face in elements.tolist()]) + "\n"
    tets = ["{} 4 0 {} {} {} {}".format(number, *(v + 1 for v in tet)) for number, tet in enumerate(elements.tolist(), 1)]
    nodes = [f"{number} {row}" for number, row in enumerate(rows, 1)]
    return "\n".join(["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(nodes)), *nodes, "$EndNodes", "$Elements", str(len(tets)), *tets, "$EndElements"]) + "\n"


def write(path, text, force):
    if path.exists() and not force:
        raise MeshError(f"{path}: exists; --force replaces it")
    write_text(path, text)


def convert(source, target, corners, force):
    """What was done, one line."""
    wanted = WANTED[target.suffix.lower()]
    points, cells = read(source)
    elements = chosen(source, cells, wanted, corners)
    points, elements, unused = checked(source, points, elements)
    if wanted == "tetra":
        elements, turned, volume = turned_tets(source, points, elements)
        facts = [f"volume {volume:.4g}"] + ([f"{turned} turned inside out"] if turned else [])
    else:
        elements, words = turned_surface(source, points, elements)
        facts = [words]
    facts += [f"{unused} unused vertices dropped"] if unused else []
    taken = {wanted, *(kind for kind, (simple, _) in CORNERS.items() if simple == wanted), *(FANS if wanted == "triangle" else ())}
    passed = {kind: blocks for kind, blocks in cells.items() if kind not in taken}
    facts += [f"left out: {counted(passed)}"] if passed else []
    write(target, text_of(points, elements), force)
    size = " x ".join(f"{extent:.4g}" for extent in np.ptp(points, axis=0))
    key = "mesh_scale" if wanted == "tetra" else "surface_scale"
    return f"{target}: {len(points)} vertices, {len(elements)} {WORDS[wanted]}, {'; '.join(facts)}; {size} in the file's unit, {key} makes metres of it"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="scripts/convert_mesh", description="Meshes of other programs as files that scenes read, through meshio.")
    parser.add_argument("source", type=Path, metavar="IN")
    parser.add_argument("target", type=Path, metavar="OUT")
    parser.add_argument("--corners", action="store_true", help="take the corners of elements of second order")
    parser.add_argument("--force", action="store_true", help="replace OUT")
    options = parser.parse_args(arguments)
    if options.target.suffix.lower() not in WANTED:
        parser.error(f"{options.target}: name OUT.msh for tetrahedra or OUT.obj for a surface")
    if options.target.resolve() == options.source.resolve():
        parser.error(f"{options.target}: is IN itself")
    try:
        print(convert(options.source, options.target, options.corners, options.force))
    except (MeshError, OSError) as error:
        print(f"convert_mesh: {' '.join(str(error).split())}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
