"""Values at places over outputs and steps: of cells those of the leaf around each place, of triangles and solids linear."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.regions import point_text, with_extremes
from octavo.snapshots import Snapshot, found, paths_of
from octavo.units import in_fractions


def series_at(
    paths: Sequence[str], places: Sequence[Any], fields: list[str] | None, *, plane: int = -1, flow: str | None = None,
    ranks: Any = None, progress: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """What probe() gives. Collective over `ranks`, of cells alone."""
    names = paths_of(paths)
    first = _core.open(names[0], flow, None, ranks)
    if not first.unstructured:
        return _of_cells(found(names, flow=flow).snapshots, places, fields, ranks, progress)
    if len(names) > 1:
        raise UsageError(
            "places in triangles or solids are of one file with its steps, and there are several", names, ""
        )
    if ranks is not None:
        from octavo.errors import Unsupported

        raise Unsupported("places in triangles and solids are read by one process", names, "run it without mpirun")
    axes = 3 if first.solids else 2
    corners = [(*_corner(place, axes), 0.0)[:3] for place in places]
    return _core.probe(names[0], corners, fields=fields, plane=plane, flow=flow)


def _corner(place: Any, axes: int) -> tuple[float, ...]:
    """A place in a mesh of triangles or solids [code length]."""
    try:
        corner = tuple(float(word) for word in (place.split(",") if isinstance(place, str) else place))
    except ValueError:
        corner = ()
    if len(corner) != axes:
        raise UsageError(
            f"'{place}': expected {'three' if axes == 3 else 'two'} numbers", [], "4500,4350" + ",12" * (axes - 2)
        )
    return corner


def _of_cells(
    snapshots: Sequence[Snapshot], places: Sequence[Any], fields: list[str] | None, ranks: Any, progress: Any
) -> dict[str, Any]:
    rows: list[Any] = []
    units: list[str] = []
    at: list[Any] = []
    for number, snapshot in enumerate(snapshots):
        data = snapshot.open(ranks)
        fields = fields or [row["name"] for row in data.fields if row["centring"] == "cell" and row["components"] == 1]
        points = [_point(data, place, ranks) for place in places]
        read = [_leaf(data, fields, point, ranks) for point in points]
        units = next((units for _, units in read if units), units)
        rows.append([values for values, _ in read])
        at.append([[lo + x * _unit(data) for x, lo in zip(point, data.lo, strict=True)] for point in points])
        if progress is not None:
            progress(number + 1, len(snapshots))
    values = np.array(rows).transpose(1, 2, 0)
    return {
        "times": np.array([snapshot.time for snapshot in snapshots]), "values": values, "fields": fields,
        "units": units or [""] * len(fields or []), "inside": ~np.isnan(values).all(axis=(1, 2)),
        "at": np.array(at).transpose(1, 0, 2),
    }  # fmt: skip


def _unit(data: Any) -> float:
    """The box length along x [code length], of which places are fractions."""
    return data.hi[0] - data.lo[0]


def _point(data: Any, place: Any, ranks: Any) -> tuple[float, ...]:
    """A place as fractions of the box length; the cell of an extreme is looked for in this step."""
    words = in_fractions(point_text(place), data)
    if words in ("center", "centre"):
        return tuple((hi - lo) / 2 / _unit(data) for lo, hi in zip(data.lo, data.hi, strict=True))
    if words.startswith(("max:", "min:")):
        everything: dict[str, Any] = {"region": None, "max_level": None, "where": None, "definitions": []}
        words = with_extremes(f":{words}:", data, everything, ranks).strip(":")
    try:
        numbers = tuple(float(word) for word in words.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != data.dim:
        expected = ["", "one number", "two numbers", "three numbers"][data.dim]
        raise UsageError(
            f"'{place}': expected {expected}", [data.path],
            f"{','.join(['0.5'] * data.dim)} (fractions of the box length), center, max:FIELD or min:FIELD",
        )  # fmt: skip
    return numbers


def _leaf(data: Any, fields: list[str], point: tuple[float, ...], ranks: Any) -> tuple[list[float], list[str]]:
    """Values of the leaf in which a point lies, and their units; NaN outside of the domain. On a side between two cells it is
    the one with the larger coordinate. The leaf is the first on a short line from there along x."""
    sides = [(hi - lo) / _unit(data) for lo, hi in zip(data.lo, data.hi, strict=True)]
    if not all(0 <= x <= side for x, side in zip(point, sides, strict=True)):
        return [np.nan] * len(fields), []
    short = data.cell_sizes[-1][0] / _unit(data) / 2
    way = -short if point[0] + short > sides[0] else short
    chords = _core.line(
        data, fields=fields, start=_text(point), end=_text((point[0] + way, *point[1:])), threads=0, ranks=ranks,
        progress=None, region=None, max_level=None, where=None, definitions=[],
    )  # fmt: skip
    return [float(chords["values"][name][0]) for name in fields], list(chords["units"])


def _text(point: Sequence[float]) -> str:
    return ",".join(map(repr, point))


def listed(paths: Any) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
