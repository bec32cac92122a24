"""Meshes of triangles in a store, from docs/format.md alone ("Triangles"): the mesh, and values by number of the point."""

from collections import namedtuple

import numpy as np
import octavo_reader
from octavo_reader import expect, text

Mesh = namedtuple("Mesh", "x y triangles planes beside")
CURVE_BITS = 20


def hilbert(x, y):
    """Places on the curve of cells (x, y): a square's quarters are visited (0, 0), (0, 1), (1, 1), (1, 0); in the first its
    axes change places, in the last one they do and both run backwards."""
    x, y, key = x.astype("u8"), y.astype("u8"), np.zeros(x.size, "u8")
    for bit in reversed(range(CURVE_BITS)):
        size = np.uint64(1 << bit)
        right, up = (x & size) > 0, (y & size) > 0
        key = key << np.uint64(2) | np.where(right, np.where(up, 2, 3), np.where(up, 1, 0)).astype("u8")
        x, y = x & (size - np.uint64(1)), y & (size - np.uint64(1))
        back = right & ~up
        x, y = np.where(back, size - np.uint64(1) - x, x), np.where(back, size - np.uint64(1) - y, y)
        x, y = np.where(up, x, y), np.where(up, y, x)
    return key


def cells(values):
    low, high = values.min(), values.max()
    scaled = (values - low) / (high - low) * 2.0**CURVE_BITS if high > low else np.zeros(values.size)
    return np.clip(scaled, 0, 2**CURVE_BITS - 1).astype("u8")


def along_curve(x, y):
    """Numbers of points in the order in which values stand."""
    return np.argsort(hilbert(cells(x), cells(y)), kind="stable")


def around(triangles, points):
    """For each point the two other points of each of its triangles."""
    others = [[] for _ in range(points)]
    for a, b, c in triangles:
        for p, u, v in ((a, b, c), (b, c, a), (c, a, b)):
            others[p].append((min(u, v), max(u, v)))
    return others


def breadth_first(others):
    order, seen = [], [False] * len(others)
    for root in range(len(others)):
        if seen[root]:
            continue
        seen[root], at = True, len(order)
        order.append(root)
        while at < len(order):
            for q in sorted({q for pair in others[order[at]] for q in pair}):
                if not seen[q]:
                    seen[q] = True
                    order.append(q)
            at += 1
    return order


def neighbours(mesh, along):
    """The neighbours that values are predicted from, by place along the curve: the order of visit, and three places for each visit."""
    place = np.empty(along.size, "i8")
    place[along] = np.arange(along.size)
    x, y = mesh.x[along].tolist(), mesh.y[along].tolist()
    others = around(place[mesh.triangles].tolist(), along.size)
    order = breadth_first(others)
    visit = [0] * len(order)
    for k, p in enumerate(order):
        visit[p] = k

    def square(p, q):
        return (x[p] - x[q]) * (x[p] - x[q]) + (y[p] - y[q]) * (y[p] - y[q])

    def miss(p, u, v, w):
        dx, dy = x[u] + x[v] - x[w] - x[p], y[u] + y[v] - y[w] - y[p]
        return dx * dx + dy * dy

    near = []
    for k, p in enumerate(order):
        found = [
            (miss(p, u, v, w), u, v, w)
            for u, v in others[p]
            for pair in others[u]
            if v in pair
            for w in [pair[0] + pair[1] - v]
            if max(visit[u], visit[v], visit[w]) < k
        ]
        if found:
            _, a, b, c = min(found)
            near.append((b, a, c) if square(p, b) < square(p, a) else (a, b, c))
            continue
        before = [(square(p, q), q) for pair in others[p] for q in pair if visit[q] < k]
        near.append((min(before)[1] if before else order[max(k - 1, 0)],) * 3)
    return order, near


def joined(parts, species, attribute, planes):
    """The attribute of all parts: by number, and in each plane."""
    pieces = [part.particles[species][attribute].ravel().reshape(planes, -1) for part in parts]
    return np.concatenate(pieces, axis=1)


def mesh_of(step, parts):
    planes = step.header["attributes"]["planes"]
    x, y = (joined(parts, "mesh points", axis, 1)[0].astype("f8") for axis in "xy")
    nodes = np.concatenate([part.particles["mesh triangles"]["points"] for part in parts]).astype("i8")
    nodes[:, 1:] += nodes[:, :1]
    expect(len(nodes) == step.header["attributes"]["triangles"], "the triangles are not as many as the header says")
    names = [text(attribute["name"]) for attribute in step.species["mesh points"]]
    beside = {name: joined(parts, "mesh points", name, planes) for name in names if name not in ("x", "y")}
    return Mesh(x, y, nodes, planes, beside)


def checksum(mesh):
    arrays = [mesh.x.astype("<f8"), mesh.y.astype("<f8"), mesh.triangles.astype("<i8"), np.array([mesh.planes], "<i8")]
    whole = octavo_reader.xxh3(b"".join(array.tobytes() for array in arrays))
    return whole - 2**64 if whole >= 2**63 else whole


def read(steps, step):
    """The mesh, and {field: array of shape (planes, points)}; `steps` are all of the store."""
    attributes = step.header["attributes"]
    parts = [octavo_reader.read_part(step, number, with_fields=False) for number in range(len(step.parts))]
    if "mesh_step" in attributes:
        other = next(s for s in steps if s.flow == step.flow and s.step == attributes["mesh_step"])
        others = [octavo_reader.read_part(other, number, with_fields=False) for number in range(len(other.parts))]
        mesh = mesh_of(other, others)
        expect(checksum(mesh) == attributes["mesh_checksum"], "the mesh is another one")
    else:
        mesh = mesh_of(step, parts)
    order, points = along_curve(mesh.x, mesh.y), mesh.x.size
    near = neighbours(mesh, order) if len(parts) == 1 else None
    parts = [octavo_reader.read_part(step, number, near) for number in range(len(step.parts))]
    stretch = -(-points // len(parts))
    fields = dict(mesh.beside)
    for name in parts[0].fields:
        values = np.concatenate([part.fields[name][0].reshape(mesh.planes, stretch) for part in parts], axis=1)
        fields[name] = np.empty_like(values[:, :points])
        fields[name][:, order] = values[:, :points]
    return mesh, fields
