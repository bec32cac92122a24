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


def joined(parts, species, attribute, planes):
    """Of all parts: by number, and in each plane."""
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
    parts = [octavo_reader.read_part(step, number) for number in range(len(step.parts))]
    if "mesh_step" in attributes:
        other = next(s for s in steps if s.flow == step.flow and s.step == attributes["mesh_step"])
        mesh = mesh_of(other, [octavo_reader.read_part(other, number) for number in range(len(other.parts))])
        expect(checksum(mesh) == attributes["mesh_checksum"], "the mesh is another one")
    else:
        mesh = mesh_of(step, parts)
    order, points = along_curve(mesh.x, mesh.y), mesh.x.size
    stretch = -(-points // len(parts))
    fields = dict(mesh.beside)
    for name in parts[0].fields:
        values = np.concatenate([part.fields[name][0].reshape(mesh.planes, stretch) for part in parts], axis=1)
        fields[name] = np.empty_like(values[:, :points])
        fields[name][:, order] = values[:, :points]
    return mesh, fields
