"""Meshes of triangles in a store, from docs/format.md alone ("Triangles"): the mesh, and values by number of the point."""

from collections import namedtuple

import numpy as np
import octavo_reader
from octavo_reader import expect, text

Mesh = namedtuple("Mesh", "x y triangles planes beside others")
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
    """The numbers of points in the order of the stored values."""
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


def read_share(step, number, kind, near=None):
    """Values of a part's streams of one kind, one array a row of `fields` or `arrays`; None where there is none."""
    _index, segment, row = step.parts[number]
    commit, table = step.segments[segment]
    described = table["triangles"]["arrays"] if kind == octavo_reader.MESH else table["header"]["fields"]
    arrays = [None] * len(described)
    for stream in row.streams:
        if stream.kind == kind:
            field, data = described[stream.index], octavo_reader.read_stream(commit.path, stream)
            dtype = octavo_reader.type_of(field)
            values, taken = octavo_reader.decode(data, 0, dtype, stream.raw // dtype.itemsize, neighbours=near)
            octavo_reader.check_raw(stream, values.tobytes(), taken)
            arrays[stream.index] = values
    return arrays


def joined(pieces, planes):
    """The values of all parts, in each plane."""
    return np.concatenate([piece.reshape(planes, -1) for piece in pieces if piece is not None], axis=1)


def mesh_of(step):
    expect(step.triangles["origin"] is None, "the mesh is not there")
    rows = [row for _, _, row in step.parts]
    expect([row.index for row in rows] == list(range(len(rows))), "a part is missing")
    for name in ("points", "triangles"):
        found = sum(getattr(row, name) for row in rows)
        expect(found == step.triangles[name], f"the {name} are not as many as the table says")
    parts = [read_share(step, number, octavo_reader.MESH) for number in range(len(rows))]
    planes, arrays, beside = step.triangles["planes"], {}, {}
    for info, *pieces in zip(step.triangles["arrays"], *parts, strict=True):
        of, name = text(info["of"]), text(info["name"])
        if of == "points" and name not in ("x", "y"):
            beside[name] = joined(pieces, planes)
        elif any(piece is not None for piece in pieces):
            arrays[of, name] = joined(pieces, 1)[0].reshape(-1, info["components"])
    nodes = arrays.pop(("triangles", "connectivity"), np.zeros((0, 3))).astype("i8")
    nodes[:, 1:] += nodes[:, :1]
    points = step.triangles["points"]
    expect(((nodes >= 0) & (nodes < points)).all(), "triangles of points that are not there")
    line = arrays.get(("boundary", "point"), np.zeros(1))
    expect(((line >= 0) & (line < points)).all(), "a boundary of points that are not there")
    x, y = (arrays.pop(("points", axis)).ravel().astype("f8") for axis in "xy")
    return Mesh(x, y, nodes, planes, beside, {"/".join(key): values for key, values in arrays.items()})


def checksum(mesh):
    arrays = [mesh.x.astype("<f8"), mesh.y.astype("<f8"), mesh.triangles.astype("<i8"), np.array([mesh.planes], "<i8")]
    whole = octavo_reader.xxh3(b"".join(array.tobytes() for array in arrays))
    return whole - 2**64 if whole >= 2**63 else whole


def read(steps, step):
    """The mesh, and {field: array of shape (planes, points)}; `steps` are all of the store."""
    origin = step.triangles["origin"]
    if origin is None:
        mesh = mesh_of(step)
    else:
        mesh = mesh_of(next(s for s in steps if s.flow == step.flow and s.step == origin["step"]))
        expect(checksum(mesh) == origin["checksum"], "the mesh is another one")
    order = along_curve(mesh.x, mesh.y)
    expect(sum(row.places for _, _, row in step.parts) == order.size, "there is not a value for each point")
    near = neighbours(mesh, order) if len(step.parts) == 1 else None
    parts = [read_share(step, number, octavo_reader.FIELD, near) for number in range(len(step.parts))]
    fields = dict(mesh.beside)
    for info, *pieces in zip(step.header["fields"], *parts, strict=True):
        values = joined(pieces, mesh.planes)
        fields[text(info["name"])] = field = np.empty_like(values)
        field[:, order] = values
    return mesh, fields
