"""Tiles: their definition, and how they are made.

The picture across an axis is cut into squares: one at zoom 0, as wide as the longer side of the domain, from the domain's
lower corner, and 4^z at zoom z. A tile shows the part of the domain in one of them. It holds values, not colours: the page
colours them, so that another scale, other limits or another colour map need no request.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo import _core
from octavo.damage import NothingLeft, without
from octavo.errors import UsageError
from octavo.printable import valid
from octavo.view.damage import Damage, gaps
from octavo.view.work import Progress

#: Pixels along the longer side of a tile.
PIXELS = 256
#: Zooms beyond this are finer than the numbers of places.
DEEPEST_ZOOM = 40
KINDS = ("slice", "integral", "mean", "max", "min")
AXES = "xyz"
#: How messages begin that say that a window shows nothing: an empty tile, no error.
_NOTHING = ("the selection holds no cell", "the region holds no cell", "no cell of the selection is at the plane")


@dataclass(frozen=True)
class Look:
    """A way to show a step: a field, the kind of picture, and the axis."""

    field: str
    kind: str = "slice"
    axis: str = "z"
    at: float = 0.5  #: of slices: the plane, in fractions of the domain's extent along the axis
    weight: str | None = None  #: of means; None: volume
    where: str | None = None
    unit: str | None = None
    max_level: int | None = None
    definitions: tuple[tuple[str, str], ...] = ()  #: names and formulas of the user


@dataclass(frozen=True)
class Window:
    """A rectangle across an axis [code length], along the other two axes in ascending order."""

    axis: str
    lo: tuple[float, float]
    hi: tuple[float, float]


def across(axis: str) -> tuple[int, int]:
    """The numbers of the picture's axes: to the right, and up."""
    return {"x": (1, 2), "y": (0, 2), "z": (0, 1)}[axis]


def domain(data: Any, axis: str) -> Window:
    """All of the domain."""
    right, up = across(axis)
    if max(right, up) >= data.dim:
        raise UsageError(f"{data.dim}-D data is not seen along {axis}", [data.path], "2-D data is seen along z")
    return Window(axis, (data.lo[right], data.lo[up]), (data.hi[right], data.hi[up]))


def window_of(data: Any, axis: str, zoom: int, column: int, row: int) -> Window:
    """The part of the domain in a square. Raises UsageError where that is nothing."""
    if not 0 <= zoom <= DEEPEST_ZOOM:
        raise UsageError(f"there is no zoom {zoom}", [], f"zooms are 0 to {DEEPEST_ZOOM}")
    whole = domain(data, axis)
    side = math.ldexp(max(whole.hi[0] - whole.lo[0], whole.hi[1] - whole.lo[1]), -zoom)
    lo = tuple(whole.lo[i] + (column, row)[i] * side for i in (0, 1))
    hi = tuple(min(whole.lo[i] + ((column, row)[i] + 1) * side, whole.hi[i]) for i in (0, 1))
    if not all(whole.lo[i] <= lo[i] < hi[i] for i in (0, 1)):
        raise UsageError(f"there is no tile {column}, {row} at zoom {zoom}", [data.path], "")
    return Window(axis, (lo[0], lo[1]), (hi[0], hi[1]))


def level_for(data: Any, pixel: float) -> int | None:
    """The coarsest level whose cells are no larger than a pixel [code length], by the code's number. None: all levels."""
    if data.unstructured:
        return None
    for row, size in zip(data.levels, data.cell_sizes, strict=True):
        if max(size) <= pixel * (1 + 1e-9):
            return row["level"] if row != data.levels[-1] else None
    return None


def region_of(data: Any, window: Window) -> str:
    """The window, through all of the domain along its axis, in the words of regions."""
    unit = data.hi[0] - data.lo[0]
    lo = [0.0] * data.dim
    hi = [(data.hi[a] - data.lo[a]) / unit for a in range(data.dim)]
    for side, a in enumerate(across(window.axis)):
        lo[a] = (window.lo[side] - data.lo[a]) / unit
        hi[a] = (window.hi[side] - data.lo[a]) / unit
    return "box:" + ",".join(map(repr, lo)) + ":" + ",".join(map(repr, hi))


def place_of(data: Any, window: Window, at: float) -> str:
    """The middle of the window on the plane of a slice, in the words of places."""
    unit = data.hi[0] - data.lo[0]
    point = [0.0] * data.dim
    for side, a in enumerate(across(window.axis)):
        point[a] = ((window.lo[side] + window.hi[side]) / 2 - data.lo[a]) / unit
    depth = AXES.index(window.axis)
    if depth < data.dim:
        point[depth] = at * (data.hi[depth] - data.lo[depth]) / unit
    return ",".join(map(repr, point))


def kind_of(data: Any, kind: str) -> str:
    """Data without depth has one value at a place: its slice is its map. Triangles have no slice."""
    return "integral" if kind == "slice" and data.unstructured and not data.solids else kind


def image(data: Any, look: Look, window: Window, max_level: int | None, pixels: int, progress: Any) -> Any:
    """The compiled image of a window."""
    chosen: dict[str, Any] = {
        "region": region_of(data, window),
        "max_level": max_level,
        "where": look.where,
        "definitions": list(look.definitions),
    }
    kind = kind_of(data, look.kind)
    if kind == "slice":
        return _core.slice(
            data, look.field, normal=look.axis, up=None, at=place_of(data, window, look.at), pixels=pixels, threads=1,
            ranks=None, progress=progress, **chosen,
        )  # fmt: skip
    weight = (look.weight or "volume") if kind == "mean" else None
    return _core.map(
        data, look.field, axis=look.axis, camera=None, up=None, kind=kind, weight=weight, pixels=pixels, threads=1,
        ranks=None, progress=progress, mask=None, above=0.0, blank_too=look.where is None, **chosen,
    )  # fmt: skip


def level_of(data: Any, look: Look, pixel: float) -> int | None:
    """The finest level that a picture reads whose pixels are so wide [code length]. None: all levels."""
    level = level_for(data, pixel)
    if look.max_level is not None and (level is None or look.max_level < level):
        level = look.max_level
    return level


def tile(ds: Any, look: Look, zoom: int, column: int, row: int, progress: Progress, damage: Damage) -> bytes:
    """The bytes of a tile (packed). Reads no level that is finer than its pixels, and no domain outside of it. Where a
    domain is damaged, it has no value, and `damaged` says so; `damage` belongs to `ds`. Raises UsageError for a tile that there is not, and what maps
    and slices raise; Interrupted where `progress` says so."""
    data = ds._data
    window = window_of(data, look.axis, zoom, column, row)
    extent = [window.lo[0], window.hi[0], window.lo[1], window.hi[1]]
    facts: dict[str, Any] = {"extent": extent, "level": level_of(data, look, pixel_of(window, PIXELS))}
    try:
        shown, lacking, damaged = seen(data, look, window, PIXELS, progress, damage)
    except (UsageError, NothingLeft) as error:
        damaged = list(error.parts.values()) if isinstance(error, NothingLeft) else []
        if not damaged and not error.message.startswith(_NOTHING):
            raise
        facts |= {"unit": "", "label": look.field, "bytes_read": 0, "parts_read": 0}
        return packed(facts | ({"damaged": damaged} if damaged else {}), np.full((1, 1), np.nan))
    described = facts | _described(shown, data, look) | {"damaged": damaged}  # which gives the values their unit
    return packed(described, shown.values if lacking is None else np.where(lacking, np.nan, shown.values))


def pixel_of(window: Window, pixels: int) -> float:
    """The side of a pixel [code length], if the window's longer side has `pixels` of them."""
    return max(window.hi[0] - window.lo[0], window.hi[1] - window.lo[1]) / pixels


def seen(
    data: Any, look: Look, window: Window, pixels: int, progress: Progress, damage: Damage
) -> tuple[Any, np.ndarray | None, list[str]]:
    """The compiled image of a window without damaged domains; the pixels that lack one, if there is one; and sentences that
    name them. Reads no level that is finer than the pixels."""
    level = level_of(data, look, pixel_of(window, pixels))

    def drawn(of: Any, look: Look = look) -> Any:
        return image(of, look, window, level, pixels, progress)

    def parts() -> list[int]:
        return data.parts_of(region_of(data, window), level)

    return _whole(data, look, drawn, parts, damage)


def _whole(
    data: Any, look: Look, drawn: Callable[..., Any], parts: Callable[[], list[int]], damage: Damage
) -> tuple[Any, np.ndarray | None, list[str]]:
    """The result of seen(). `drawn` makes the image of a data set, `parts` lists the domains that it needs."""
    key = (look.field, look.weight, look.where)
    shown = damage.read(key, data, drawn)
    known = damage.of(key)
    here = [known[part] for part in parts() if part in known] if known else []
    if not here or kind_of(data, look.kind) == "slice":
        return shown, None, here
    return shown, gaps(drawn(without(data, known), Look("1", "integral", look.axis))), here


def _described(drawn: Any, data: Any, look: Look) -> dict[str, Any]:
    from octavo.units import facts_of

    facts = facts_of(drawn, data, look.unit)
    flat = data.dim < 3 and look.kind == "slice"  # its plane is the only one
    return {
        "extent": facts["extent"],
        "label": valid(look.field if flat else facts["label"]),
        "unit": valid(facts["unit"]),
        "bytes_read": facts["bytes_read"],
        "parts_read": facts["parts_read"],
    }


def packed(facts: dict[str, Any], values: np.ndarray) -> bytes:
    """A tile: the length of a JSON text (4 bytes, little-endian), the text, padded to a multiple of 4 bytes, and the values
    over `scale` as little-endian float32, lowest row first; NaN where there is none. `scale` is a power of 2, and 1 unless
    values are too large or too small for float32. `low`, `high` and `positive` are the extremes of finite values, and the
    smallest of those above 0; null where there is none."""
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    scale = 1.0 if largest == 0 or 1e-30 < largest < 1e30 else math.ldexp(1.0, math.frexp(largest)[1])
    positive = finite[finite > 0]
    head = facts | {
        "pixels": [values.shape[1], values.shape[0]],
        "scale": scale,
        "low": float(finite.min()) if finite.size else None,
        "high": float(finite.max()) if finite.size else None,
        "positive": float(positive.min()) if positive.size else None,
    }
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    with np.errstate(over="ignore"):
        return struct.pack("<I", len(text)) + text + np.ascontiguousarray(values / scale, "<f4").tobytes()


def unpacked(data: bytes) -> tuple[dict[str, Any], np.ndarray]:
    """The inverse of packed()."""
    (length,) = struct.unpack_from("<I", data)
    facts = json.loads(data[4 : 4 + length])
    nx, ny = facts["pixels"]
    return facts, np.frombuffer(data, "<f4", offset=4 + length).reshape(ny, nx).astype(float) * facts["scale"]
