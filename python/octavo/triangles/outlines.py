"""Lines and polygons in the mesh's own coordinates, from words or from files of text and GeoJSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

from octavo.errors import Unreadable, UsageError

Point = tuple[float, float]
#: Points, or the path of a file that holds them.
Line = str | os.PathLike[str] | Sequence[Sequence[float]]
#: The points of a ring, or the path of a file with a polygon, which may have holes.
Polygon = str | os.PathLike[str] | Sequence[Sequence[float]]

_LINES = ("LineString", "MultiLineString")
_POLYGONS = ("Polygon", "MultiPolygon")


def line_of(line: Line) -> list[Point]:
    """The points of a line. Raises Unreadable for a file that holds no line, UsageError for points that are none."""
    if isinstance(line, (str, os.PathLike)):
        rings = _read(os.fspath(line), _LINES)
        if len(rings) != 1:
            raise Unreadable(f"{len(rings)} lines in the file: expected 1", [os.fspath(line)], "one line a file")
        return rings[0]
    return [_point(point) for point in line]


def polygon_of(polygon: Polygon) -> list[list[Point]]:
    """The rings of a polygon, without a last point that repeats the first. A place is inside if a way out crosses the
    rings an odd number of times, so a ring in a ring is a hole. Raises as line_of()."""
    if isinstance(polygon, (str, os.PathLike)):
        rings, where = _read(os.fspath(polygon), _POLYGONS), [os.fspath(polygon)]
    else:
        rings, where = [[_point(point) for point in polygon]], []
    closed = [ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring for ring in rings]
    for ring in closed:
        if len(ring) < 3:
            raise UsageError(f"a polygon of {len(ring)} points: expected three or more", where, "")
    return closed


def words_of(words: Sequence[str], form: str) -> Any:
    """Points of a command's words, "X,Y X,Y" in one word or many, or the path of a file if that is the only word."""
    if len(words) == 1 and os.path.isfile(words[0]):
        return words[0]
    points = []
    for word in " ".join(words).split():
        try:
            x, y = (float(number) for number in word.split(","))
        except ValueError:
            raise UsageError(f"'{word}': expected two numbers or the name of a file", [], form) from None
        points.append((x, y))
    return points


def _point(point: Sequence[float]) -> Point:
    try:
        x, y = (float(number) for number in point)
    except (TypeError, ValueError):
        raise UsageError(f"{point!r}: expected two numbers", [], "[(0, 0), (1, 0)]") from None
    return x, y


def _read(path: str, kinds: tuple[str, str]) -> list[list[Point]]:
    """The lines or rings of a file, one after another."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"cannot be read: {error}", [path], "") from None
    found = _of_geojson(path, text, kinds) if text.lstrip().startswith("{") else [_of_text(path, text)]
    for points in found:
        for x, y in points:
            if not (math.isfinite(x) and math.isfinite(y)):
                raise Unreadable("a coordinate is not finite", [path], "")
    return found


def _of_text(path: str, text: str) -> list[Point]:
    """Two numbers a row, between blanks, commas or semicolons; rows that begin with # are remarks."""
    points = []
    for number, row in enumerate(text.splitlines(), 1):
        words = row.replace(",", " ").replace(";", " ").split()
        if not words or words[0].startswith("#"):
            continue
        try:
            points.append((float(words[0]), float(words[1])))
        except (ValueError, IndexError):
            raise Unreadable(f"row {number}: expected two numbers, found '{row[:40]}'", [path], "") from None
    if not points:
        raise Unreadable("the file holds no points", [path], "")
    return points


def _of_geojson(path: str, text: str, kinds: tuple[str, str]) -> list[list[Point]]:
    try:
        data = json.loads(text)
        found = [ring for geometry in _geometries(data) for ring in _rings(geometry, kinds)]
        rings = [[(float(point[0]), float(point[1])) for point in ring] for ring in found]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise Unreadable(f"no GeoJSON: {error}", [path], "") from None
    if not rings:
        raise Unreadable(f"the file holds no {kinds[0]}", [path], "")
    return rings


def _geometries(data: Any) -> list[Any]:
    if data["type"] == "FeatureCollection":
        return [geometry for feature in data["features"] for geometry in _geometries(feature)]
    if data["type"] == "Feature":
        return [data["geometry"]]
    if data["type"] == "GeometryCollection":
        return data["geometries"]
    return [data]


def _rings(geometry: Any, kinds: tuple[str, str]) -> list[Any]:
    one, many = kinds
    if geometry["type"] == one:
        return [geometry["coordinates"]] if one == "LineString" else geometry["coordinates"]
    if geometry["type"] == many:
        parts = geometry["coordinates"]
        return parts if many == "MultiLineString" else [ring for part in parts for ring in part]
    return []
