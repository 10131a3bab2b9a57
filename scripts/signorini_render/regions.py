"""Detached contact regions of a frame, as lib/regions defines them: connected components of contacts and the mass points that
their columns of H touch, and for islands also the mass points that M couples."""

import numpy as np


def components(count, a, b):
    """The smallest element connected with each of 0 … count − 1 through the edges (a_i, b_i)."""
    parent = np.arange(count)
    while True:
        low, high = np.minimum(parent[a], parent[b]), np.maximum(parent[a], parent[b])
        if (low == high).all():
            return parent
        np.minimum.at(parent, high, low)
        while (parent[parent] != parent).any():
            parent = parent[parent]


def expand(begin, raw, name, entries):
    """Row number of each entry of a compressed matrix, checked."""
    if len(begin) < 1 or begin[0] != 0 or (np.diff(begin) < 0).any() or begin[-1] != entries:
        raw.fail(name, "are no row offsets")
    return np.repeat(np.arange(len(begin) - 1), np.diff(begin))


def contact_edges(raw, contacts, dofs):
    """(contact, mass point) wherever H has a non-zero block."""
    size = 3 if dofs % 3 == 0 else 1
    if raw.has("H/column_begin"):
        begin, row, blocks = raw.array("H/column_begin", "i"), raw.array("H/row", "i"), raw.array("H/blocks", "f", 9)
        nonzero = blocks.any(axis=1)
        column = expand(begin, raw, "H/column_begin", len(row))
    else:
        begin, row = raw.array("H/indptr", "i"), raw.array("H/indices", "i") // size
        nonzero = raw.array("H/data", "f") != 0.0
        column = expand(begin, raw, "H/indptr", len(row)) // 3
    if len(nonzero) != len(row) or (len(column) and column[-1] >= contacts) or (len(row) and (row.min() < 0 or row.max() >= dofs)):
        raw.fail("H", "has an index out of range")
    return column[nonzero], row[nonzero]


def mass_edges(raw, dofs):
    """(mass point, mass point) wherever M couples two of them."""
    size = 3 if dofs % 3 == 0 else 1
    if raw.has("M/diagonal"):
        return np.zeros((2, 0), int)
    if raw.has("M/row_begin"):
        column = raw.array("M/column", "i")
        blocks = raw.array("M/upper_blocks" if raw.has("M/upper_blocks") else "M/blocks", "f", 9)
        row = expand(raw.array("M/row_begin", "i"), raw, "M/row_begin", len(column))
        nonzero = blocks.any(axis=1)
    else:
        column = raw.array("M/indices", "i")
        row = expand(raw.array("M/indptr", "i"), raw, "M/indptr", len(column)) // size
        column, nonzero = column // size, raw.array("M/data", "f") != 0.0
    if len(nonzero) != len(column) or (len(column) and (min(row.min(), column.min()) < 0 or max(row.max(), column.max()) >= dofs)):
        raw.fail("M", "has an index out of range")
    return np.array([row[nonzero], column[nonzero]])


def partition(raw, contacts, mode):
    """(region of each contact, smallest mass point of each region)."""
    dofs = int(raw.real_attribute("dofs"))
    if contacts == 0:
        return np.zeros(0, int), np.zeros(0, int)
    if dofs == 0:  # a problem with W only: mass points are not known
        return np.arange(contacts), np.full(contacts, -1)
    contact, point = contact_edges(raw, contacts, dofs)
    a, b = contact, contacts + point
    if mode == "islands":
        coupled = mass_edges(raw, dofs)
        a, b = np.concatenate([a, contacts + coupled[0]]), np.concatenate([b, contacts + coupled[1]])
    root = components(contacts + dofs, a, b)[:contacts]  # the smallest element of a component with contacts is a contact
    first, label = np.unique(root, return_inverse=True)
    smallest = np.full(len(first), dofs)
    np.minimum.at(smallest, label[contact], point)
    return label, np.where(smallest < dofs, smallest, -1)
