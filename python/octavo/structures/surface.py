"""Surfaces and lines on which a field has one value, and the files that hold them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.printable import printable


@dataclass(frozen=True)
class Surface:
    """The surface of one value in 3-D, or its lines in 2-D.

    `points` of shape (points, axes) are in code lengths. `triangles` of shape (triangles, 3) turn counter-clockwise as seen
    from lower values; in 2-D it has shape (lines, 2), with the higher values at the left of each line. Triangles that touch
    share their points.
    """

    points: np.ndarray
    triangles: np.ndarray
    #: field, unit, at, selection, time, parts_read ...
    facts: dict[str, Any]

    @classmethod
    def of(cls, found: dict[str, Any]) -> Surface:
        """That of the compiled verb's result."""
        facts = dict(found)
        return cls(points=facts.pop("points"), triangles=facts.pop("triangles"), facts=facts)

    def __repr__(self) -> str:
        return printable(f"<octavo.Surface: {self._said()}>")

    def _repr_html_(self) -> str:
        from octavo import shown

        size = ("area" if self.dim == 3 else "length", self.area)
        return shown.facts(self._said(), [size, ("closed", self.closed), ("time", self.facts["time"])])

    def _said(self) -> str:
        kind = "triangles" if self.dim == 3 else "lines"
        count = f"{len(self.points)} points, {len(self.triangles)} {kind}"
        return f"{self.facts['field']} = {self.facts['at']:g}, {count}"

    @property
    def dim(self) -> int:
        return self.points.shape[1]

    @property
    def area(self) -> float:
        """The sum of the triangles' areas, or of the lines' lengths [code length]."""
        return float(sum(_areas(corners).sum() for corners in self._corners()))

    @property
    def volume(self) -> float:
        """The volume (in 2-D the area) of higher values that a closed surface has around itself [code length]; meaningless
        for an open one."""
        return float(sum(_enclosed(corners).sum() for corners in self._corners()))

    def _corners(self) -> Iterator[list[np.ndarray]]:
        """The coordinates of the corners, each of shape (axes, triangles), some thousand triangles at a time."""
        for first in range(0, len(self.triangles), _AT_ONCE):
            some = self.triangles[first : first + _AT_ONCE]
            yield [np.ascontiguousarray(self.points[some[:, k]].T) for k in range(self.dim)]

    @property
    def closed(self) -> bool:
        """Whether each side of a triangle belongs to two of them, that pass it in opposite directions; in 2-D, whether
        each point ends one line and begins another."""
        if self.dim == 2:
            return bool((np.sort(self.triangles[:, 0]) == np.sort(self.triangles[:, 1])).all())
        count = np.int64(len(self.points))
        sides = []
        for i in range(3):
            a, b = self.triangles[:, i].astype(np.int64), self.triangles[:, (i + 1) % 3].astype(np.int64)
            sides.append((np.minimum(a, b) * count + np.maximum(a, b)) * 2 + (a < b))  # the last bit: which way
        passed = np.sort(np.concatenate(sides))
        return len(passed) % 2 == 0 and bool((passed[::2] % 2 == 0).all() and (passed[1::2] == passed[::2] + 1).all())

    def chains(self) -> list[np.ndarray]:
        """In 2-D: the lines put together, each an array of the numbers of its points; of a closed one the last is the
        first."""
        after = dict(self.triangles.tolist())
        begun = set(after) - set(after.values())
        chains = []
        for start in [*sorted(begun), *sorted(after)]:
            chain = [start]
            while chain[-1] in after:
                chain.append(after.pop(chain[-1]))
            if len(chain) > 1:
                chains.append(np.array(chain))
        return chains

    def save(self, path: str) -> None:
        """Writes .ply or .vtp (VTK's PolyData), or in 2-D .geojson or .vtp."""
        if path.endswith(".vtp"):
            write = _vtp
        elif path.endswith(".ply") and self.dim == 3:
            write = _ply
        elif path.endswith(".geojson") and self.dim == 2:
            write = _geojson
        else:
            endings = ".ply or .vtp" if self.dim == 3 else ".geojson or .vtp"
            raise UsageError(f"the output must end in {endings}", [path], f"{self.dim}-D data")
        with open(path, "wb") as file:
            file.write(write(self))


#: Triangles whose corners are gathered together: they stay in the cache.
_AT_ONCE = 1 << 14


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _areas(corners: list[np.ndarray]) -> np.ndarray:
    """Areas of triangles, or lengths of lines."""
    if len(corners) == 2:
        return np.sqrt(((corners[1] - corners[0]) ** 2).sum(axis=0))
    normal = _cross(corners[1] - corners[0], corners[2] - corners[0])
    return np.sqrt((normal * normal).sum(axis=0)) / 2


def _enclosed(corners: list[np.ndarray]) -> np.ndarray:
    """The volume (in 2-D the area) between each triangle (line) and the origin, with a sign."""
    if len(corners) == 2:
        return (corners[0][0] * corners[1][1] - corners[0][1] * corners[1][0]) / 2
    return (corners[0] * _cross(corners[1], corners[2])).sum(axis=0) / 6


def _title(surface: Surface) -> str:
    from octavo.printable import printable

    facts = surface.facts
    return printable(f"{facts['field']} = {facts['at']!r} {facts['unit']}".strip()).replace("\n", " ")


def _ply(surface: Surface) -> bytes:
    count = len(surface.triangles)
    head = (
        f"ply\nformat binary_little_endian 1.0\ncomment {_title(surface)}\nelement vertex {len(surface.points)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {count}\nproperty list uchar uint vertex_indices\nend_header\n"
    )
    faces = np.empty(count, dtype=[("corners", "u1"), ("corner", "<u4", 3)])
    faces["corners"], faces["corner"] = 3, surface.triangles
    return head.encode("ascii", "replace") + surface.points.astype("<f8").tobytes() + faces.tobytes()


def _vtp(surface: Surface) -> bytes:
    cells, corners = surface.triangles.shape
    kind = "Polys" if surface.dim == 3 else "Lines"
    places = np.zeros((len(surface.points), 3))
    places[:, : surface.dim] = surface.points
    places_text = _vtk_array(places.astype("<f8"), "Float64", 'NumberOfComponents="3"')
    ends = _vtk_array(surface.triangles.astype("<i8"), "Int64", 'Name="connectivity"')
    offsets = _vtk_array(corners * np.arange(1, cells + 1, dtype="<i8"), "Int64", 'Name="offsets"')
    value = _vtk_array(np.array([surface.facts["at"]], "<f8"), "Float64", 'Name="value" NumberOfTuples="1"')
    return (
        '<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
        f'<PolyData><FieldData>{value}</FieldData><Piece NumberOfPoints="{len(places)}" NumberOf{kind}="{cells}">\n'
        f"<Points>{places_text}</Points>\n<{kind}>{ends}{offsets}</{kind}>\n</Piece></PolyData></VTKFile>\n"
    ).encode()


def _vtk_array(values: np.ndarray, kind: str, more: str) -> str:
    data = np.uint64(values.nbytes).tobytes() + values.tobytes()
    return f'<DataArray type="{kind}" {more} format="binary">{base64.b64encode(data).decode()}</DataArray>'


def _geojson(surface: Surface) -> bytes:
    facts = surface.facts
    about = {"field": facts["field"], "value": facts["at"], "unit": facts["unit"], "time": facts["time"]}
    features = [
        {
            "type": "Feature",
            "properties": about,
            "geometry": {"type": "LineString", "coordinates": surface.points[chain].tolist()},
        }
        for chain in surface.chains()
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()
