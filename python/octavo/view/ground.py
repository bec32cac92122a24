"""The map under triangles: squares of a tile server that the user names, in the coordinate system of the mesh."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo.errors import UsageError

#: Squares under a window.
MOST_SQUARES = 64
DEEPEST_ZOOM = 19
#: Half of the side of the square that the Web Mercator projection shows the earth in [m], and pixels along a tile.
HALF, PIXELS = 20037508.342789244, 256
_MERCATOR = "EPSG:3857"


@dataclass(frozen=True)
class Ground:
    template: str  #: of addresses, with {z}, {x} and {y}
    crs: str  #: of the mesh

    @property
    def origin(self) -> str:
        """The server, as rules for the browser name it."""
        return "/".join(self.template.split("/")[:3])


def ground_of(template: str, crs: str | None) -> Ground:
    """Checks what the user gave. Raises UsageError for what is none, Unsupported without rasterio."""
    from octavo.exports.geo import library

    if crs is None:
        raise UsageError("a map needs the coordinate system of the mesh", [template], "--crs EPSG:2154")
    if not re.match(r"https?://[A-Za-z0-9.-]+(:\d+)?/", template) or not all(f"{{{n}}}" in template for n in "zxy"):
        raise UsageError("this is no address of map tiles", [template], "https://tiles.example.org/{z}/{x}/{y}.png")
    rasterio = library("rasterio", template)
    try:
        rasterio.crs.CRS.from_user_input(crs)
    except (rasterio.errors.CRSError, ValueError) as error:
        raise UsageError(f"no coordinate system '{crs}': {error}", [], "--crs EPSG:2154") from None
    return Ground(template, crs)


def squares(ground: Ground, lo: tuple[float, float], hi: tuple[float, float], pixels: int) -> list[dict[str, Any]]:
    """The squares of the map under a window, with the places of their corners in the mesh [code length]: upper left, upper right,
    lower left. There are at most MOST_SQUARES, no finer than `pixels` pixels along the window's longer side. The list is empty if the
    projection has no place for the window."""
    side = np.linspace(0, 1, 9)
    x, y = np.meshgrid(lo[0] + side * (hi[0] - lo[0]), lo[1] + side * (hi[1] - lo[1]))
    east, north = _moved(ground.crs, _MERCATOR, x.ravel(), y.ravel())
    if not (np.isfinite(east).all() and np.isfinite(north).all()):
        return []
    ends = [min(max(value, -HALF), HALF) for value in (east.min(), east.max(), north.min(), north.max())]
    wide = max(ends[1] - ends[0], ends[3] - ends[2], 1e-3)
    zoom = min(DEEPEST_ZOOM, max(0, math.ceil(math.log2(2 * HALF * pixels / (PIXELS * wide)))))
    while zoom and math.prod(len(rows) for rows in _rows(ends, zoom)) > MOST_SQUARES:
        zoom -= 1
    columns, rows = _rows(ends, zoom)
    places = [(column, row) for column in columns for row in rows]
    size = 2 * HALF / 2**zoom
    corners = np.array([[(c, r), (c + 1, r), (c, r + 1)] for c, r in places], float).reshape(-1, 2)
    found = np.stack(_moved(_MERCATOR, ground.crs, corners[:, 0] * size - HALF, HALF - corners[:, 1] * size), axis=1)
    return [
        {"z": zoom, "x": column, "y": row, "corners": three.tolist()}
        for (column, row), three in zip(places, found.reshape(-1, 3, 2), strict=True)
        if np.isfinite(three).all()
    ]


def _rows(ends: list[float], zoom: int) -> tuple[range, range]:
    """Columns, and rows from the north, of the squares between ends in the west, east, south and north."""
    n = 2**zoom
    west, east, south, north = ((end + HALF) / (2 * HALF) * n for end in ends)
    first = [max(0, math.floor(west)), max(0, math.floor(n - north))]
    last = [min(n - 1, math.floor(east)), min(n - 1, math.floor(n - south))]
    return range(first[0], last[0] + 1), range(first[1], last[1] + 1)


def _moved(of: str, to: str, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from rasterio.warp import transform

    found = transform(of, to, x.tolist(), y.tolist())
    return np.array(found[0]), np.array(found[1])
