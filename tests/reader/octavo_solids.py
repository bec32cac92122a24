"""Meshes of solids in a store, from docs/format.md alone ("Solids"): the mesh, and values at points and in cells by number."""

from collections import namedtuple

import numpy as np
import octavo_reader
from octavo_reader import expect, text

Mesh = namedtuple("Mesh", "points corners connectivity part")
CORNERS = np.array([4, 5, 6, 8])


def read_arrays(step, kind):
    """The values of all parts of each of `arrays` or `fields`; None where there are none."""
    joined = []
    for number in range(len(step.parts)):
        _index, segment, row = step.parts[number]
        commit, table = step.segments[segment]
        described = table["solids"]["arrays"] if kind == octavo_reader.MESH else table["header"]["fields"]
        joined = joined or [[] for _ in described]
        for stream in (stream for stream in row.streams if stream.kind == kind):
            dtype = octavo_reader.type_of(described[stream.index])
            data = octavo_reader.read_stream(commit.path, stream)
            values, taken = octavo_reader.decode(data, 0, dtype, stream.raw // dtype.itemsize)
            octavo_reader.check_raw(stream, values.tobytes(), taken)
            joined[stream.index].append(values)
    return [np.concatenate(pieces) if pieces else None for pieces in joined]


def mesh_of(step):
    expect(step.solids is not None and step.solids["origin"] is None, "the mesh is not there")
    rows, shapes = [row for _, _, row in step.parts], np.array(step.solids["shapes"])
    expect([row.index for row in rows] == list(range(len(rows))), "a part is missing")
    counted = {"points": step.solids["points"], "cells": shapes.sum(), "corners": shapes @ CORNERS}
    for name, count in counted.items():
        expect(sum(getattr(row, name) for row in rows) == count, f"the {name} are not as many as the table says")
    names = [f"{text(info['of'])}/{text(info['name'])}" for info in step.solids["arrays"]]
    arrays = dict(zip(names, read_arrays(step, octavo_reader.MESH), strict=True))
    corners = arrays["cells/corners"]
    expect(np.array_equal([(corners == n).sum() for n in CORNERS], shapes), "cells are not those that the table counts")
    steps = arrays["corners/point"].astype("i8")
    first = np.concatenate([[0], np.cumsum(corners, dtype="i8")[:-1]])
    connectivity = steps + np.repeat(steps[first], corners)
    connectivity[first] = steps[first]
    expect(((connectivity >= 0) & (connectivity < counted["points"])).all(), "cells of points that are not there")
    points = np.stack([arrays[f"points/{axis}"].astype("f8") for axis in "xyz"], axis=1)
    expect(np.isfinite(points).all(), "a point at no place")
    return Mesh(points, corners, connectivity, arrays.get("cells/part"))


def checksum(mesh):
    arrays = [*mesh.points.T.astype("<f8"), mesh.corners, mesh.connectivity.astype("<i8")]
    whole = octavo_reader.xxh3(b"".join(array.tobytes() for array in arrays))
    return whole - 2**64 if whole >= 2**63 else whole


def read(steps, step):
    """The mesh, and {field: values}; `steps` are all of the store."""
    origin = step.solids["origin"]
    if origin is None:
        mesh = mesh_of(step)
    else:
        mesh = mesh_of(next(s for s in steps if s.flow == step.flow and s.step == origin["step"]))
        expect(checksum(mesh) == origin["checksum"], "the mesh is another one")
    fields = {}
    for info, values in zip(step.header["fields"], read_arrays(step, octavo_reader.FIELD), strict=True):
        expect(text(info["centring"]) in ("node", "cell") and info["components"] == 1, "values at other places")
        places = len(mesh.points) if text(info["centring"]) == "node" else len(mesh.corners)
        expect(len(values) == places, "there is not a value at each place")
        fields[text(info["name"])] = values
    return mesh, fields
