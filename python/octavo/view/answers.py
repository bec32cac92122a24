"""Answers that are no tiles: statistics, profiles and phase diagrams of a region, particles, edges of triangles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.triangles.polygons import fields_in_cells
from octavo.units import in_fractions, stats_in
from octavo.view.tiles import Look, Window, across, level_of, packed, region_of
from octavo.view.work import Progress

#: Particles, and edges of triangles, that a view gets at most.
MOST_PARTICLES = 20_000
MOST_EDGES = 60_000
#: Cells along a line, of the finest level that is read.
LINE_CELLS = 1000
#: A place in the words of regions.
_PLACE = r"(?:(?:max|min)\s*:)?[^:|&()]+?"


def selection(ds: Any, look: Look, region: str | None) -> Any:
    chosen = ds if region is None else ds.inside(region)
    chosen = chosen.derive(look.definitions) if look.definitions else chosen
    chosen = chosen if look.where is None else chosen.where(look.where)
    return chosen if look.max_level is None else chosen.level(look.max_level)


def stats(ds: Any, look: Look, region: str | None, progress: Progress) -> dict[str, Any]:
    """The numbers of `octavo stats` for the field."""
    chosen = selection(ds, look, region)._chosen()
    found = _core.stats(
        ds._data, fields=[look.field], particles=False, threads=1, ranks=None, progress=progress, **chosen
    )  # fmt: skip
    stats_in(found, _unit(look), ds._data)
    return found | {"field": found["fields"][look.field], "fields": None, "name": look.field}


def _unit(look: Look) -> dict[str, str]:
    return {look.field: look.unit} if look.unit else {}


def centre_of(region: str | None, data: Any) -> str:
    """The place from which the profile of a region starts, in the words of `octavo profile --centre`: the middle of its first
    shape; of what has none that of the domain."""
    words = rf"[\s(]*(box|sphere|shell|cylinder|sector)\s*:\s*({_PLACE})\s*:\s*({_PLACE})\s*(?:[:|&()]|\s-|$)"
    shape = re.match(words, region or "")
    if shape is None:
        return "center"
    kind, first, second = shape.groups()
    if kind != "box":
        return first
    try:
        ends = [[float(word) for word in in_fractions(place, data).split(",")] for place in (first, second)]
    except ValueError:
        return "center"
    return ",".join(repr((a + b) / 2) for a, b in zip(*ends, strict=True))


def profile(
    ds: Any, look: Look, region: str | None, over: str, centre: str, log: bool, progress: Progress
) -> dict[str, Any]:
    """The mean of the field over the distance from a centre, or over another field: `octavo profile --json`."""
    from octavo.binned import Profile, bin_by

    axis = bin_by(over, 64, log=log, centre=in_fractions(centre, ds._data))
    sums = _bins(ds, look, region, [axis], [look.field], "volume", progress)
    return Profile.of(sums).in_units(_unit(look), ds._data).table() | {"centre": centre}


def phase(ds: Any, look: Look, region: str | None, other: str, progress: Progress) -> dict[str, Any]:
    """The mass (or volume) in bins of the field and another: `octavo phase --json`."""
    from octavo.binned import Phase, bin_by

    axes = [bin_by(name, 96, log=None) for name in (look.field, other)]
    return Phase.of(_bins(ds, look, region, axes, [], "", progress)).in_units(_unit(look), ds._data).table()


def _bins(
    ds: Any, look: Look, region: str | None, axes: list[Any], fields: list[str], weight: str, progress: Progress
) -> dict[str, Any]:
    chosen = selection(ds, look, region)._chosen()
    return _core.bins(
        ds._data, axes=axes, fields=fields, weight=weight, threads=1, ranks=None, progress=progress, **chosen
    )  # fmt: skip


def line(ds: Any, look: Look, region: str | None, start: str, end: str) -> dict[str, Any]:
    """The values on the straight line between two places, in the words of `octavo line`: `at` ascends along it [code length].
    Cells have values between their two `at`, of shape (cells, 2); points of triangles a value at each, of prisms one for
    each plane. Reads no level of which it would cross far more than LINE_CELLS cells."""
    chosen = selection(ds, look, region)
    units = _unit(look)
    if ds._data.unstructured and not ds._data.solids:
        found = chosen.line([look.field], start, end, threads=1, units=units)
        values = found[look.field].T.tolist()
        return {"at": found.distance.tolist(), "values": values, "unit": found.units[0], "length": found.length}
    level = level_of(ds._data, look, _distance(ds._data, start, end) / LINE_CELLS)
    chosen = chosen if level is None else chosen.level(level)
    found = chosen.line([look.field], start, end, threads=1, units=units)
    return {
        "at": np.stack([found.entry, found.exit], axis=1).tolist(), "values": found[look.field].tolist(), "unit": found.units[0],
        "length": found.length, "parts_read": found.parts_read,
    }  # fmt: skip


def _distance(data: Any, start: str, end: str) -> float:
    """Between two places in fractions [code length]; 0 where they are in other words."""
    try:
        ends = [np.array([float(word) for word in place.split(",")]) for place in (start, end)]
        return float(np.linalg.norm(ends[1] - ends[0])) * (data.hi[0] - data.lo[0])
    except ValueError:
        return 0.0


def particles(ds: Any, window: Window, name: str, depth: tuple[float, float], progress: Progress) -> bytes:
    """Places in the window of particles of a species or family, as a tile's bytes (tiles.packed) of rows x, y [code length,
    from the window's lower corner]: at most MOST_PARTICLES, evenly chosen of `count`. `depth`: fractions along the axis
    between which they are. One domain is in memory. Raises as octavo.particles.each."""
    from octavo.particles import each

    data = ds._data
    region = _between(data, region_of(data, window), window.axis, depth)
    kept, every, passed = np.empty((0, 2)), 1, 0
    for found in each(ds.inside(region), name, progress):
        points = places(found, across(window.axis)) - np.array(window.lo)
        kept = np.concatenate([kept, points[-passed % every :: every]])
        passed += len(points)
        while len(kept) > MOST_PARTICLES:
            kept, every = kept[::2], 2 * every
    return packed({"count": passed} | _read(data, region), kept)


def _read(data: Any, region: str) -> dict[str, int]:
    """The domains of a region, and all their bytes: at most so many are read."""
    parts = data.parts_of(region, None)
    return {"parts_read": len(parts), "bytes_read": sum(data.part_bytes(part) for part in parts)}


def places(attributes: dict[str, np.ndarray], axes: tuple[int, int]) -> np.ndarray:
    """Coordinates along two axes, of shape (particles, 2)."""
    names = [f"position_{'xyz'[axis]}" for axis in axes]
    if not all(name in attributes for name in names):
        return np.empty((0, 2))
    return np.stack([np.asarray(attributes[name], float) for name in names], axis=1)


def _between(data: Any, region: str, axis: str, depth: tuple[float, float]) -> str:
    """A box with another extent along an axis of the data."""
    along = "xyz".index(axis)
    if along >= data.dim:
        return region
    stretch = (data.hi[along] - data.lo[along]) / (data.hi[0] - data.lo[0])
    ends = []
    for corner, fraction in zip(region.removeprefix("box:").split(":"), depth, strict=True):
        numbers = corner.split(",")
        numbers[along] = repr(fraction * stretch)
        ends.append(",".join(numbers))
    return "box:" + ":".join(ends)


def edges(ds: Any, window: Window) -> bytes:
    """The edges of the triangles in a window, as a tile's bytes of rows x, y, x, y [code length, from its lower corner]; none
    where `count` is more than MOST_EDGES."""
    data = ds._data
    if not data.unstructured:
        raise UsageError("cells have no edges: ask for the field level", [ds.path], "")
    own = fields_in_cells(data)
    found = ds.points_in_box(window.lo, window.hi, [name for name in ds.fields if name not in own][:1])
    pairs = np.concatenate([found["corners"][:, [0, 1]], found["corners"][:, [1, 2]], found["corners"][:, [2, 0]]])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    points = np.stack([found["x"], found["y"]], axis=1) - np.array(window.lo)
    shown = pairs if len(pairs) <= MOST_EDGES else pairs[:0]
    facts = {"count": len(pairs)} | _read(data, region_of(data, window))
    return packed(facts, points[shown].reshape(-1, 4))
