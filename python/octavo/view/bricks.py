"""Bricks: their definition, and how they are made.

The domain lies in a cube as wide as its longest side, from its lower corner: the one brick of zoom 0. At zoom z there are up
to 8^z, each with EDGE^3 voxels. A brick holds the values of the leaves at the voxels' centres, and of leaves that are finer
than the voxels the value that the step holds for the cell of the voxel's size. So the bricks that a view of a volume shows
read the levels that it shows, as tiles do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo import _core
from octavo.errors import Interrupted, Unsupported, UsageError
from octavo.printable import valid
from octavo.view.damage import Damage
from octavo.view.tiles import Look, level_of, packed
from octavo.view.work import Progress

#: Voxels along the edge of a brick.
EDGE = 32
DEEPEST_ZOOM = 24
#: Cells that are read at once: of a mesh without coarse levels a brick is put together from smaller ones.
MOST_CELLS = 1 << 21

Index3 = tuple[int, int, int]
Point3 = tuple[float, float, float]


@dataclass(frozen=True)
class Block:
    """A cube of voxels [code length]."""

    lo: Point3
    edge: float
    voxels: int  #: along the edge

    def halves(self) -> list[tuple[Index3, Block]]:
        half, (x, y, z) = self.edge / 2, self.lo
        return [
            ((i, j, k), Block((x + i * half, y + j * half, z + k * half), half, self.voxels // 2))
            for k in (0, 1)
            for j in (0, 1)
            for i in (0, 1)
        ]


def block_of(data: Any, zoom: int, place: Index3) -> Block:
    """Raises UsageError where that is nothing of the domain, Unsupported for data without volume."""
    if data.unstructured or data.dim != 3:
        raise Unsupported("only cells in 3-D are shown as a volume", [data.path], "slices and maps show other data")
    edge = math.ldexp(max(hi - lo for lo, hi in zip(data.lo, data.hi, strict=True)), -zoom)
    lo = tuple(lo + i * edge for lo, i in zip(data.lo, place, strict=True))
    if not all(i >= 0 and a < hi for i, a, hi in zip(place, lo, data.hi, strict=True)):
        raise UsageError(f"there is no brick {', '.join(map(str, place))} at zoom {zoom}", [data.path], "")
    return Block((lo[0], lo[1], lo[2]), edge, EDGE)


def region_of(data: Any, block: Block, margin: float = 0.0) -> str | None:
    """The part of the domain in a block, and `margin` around it, in the words of regions. None: there is none."""
    unit = data.hi[0] - data.lo[0]
    lo, hi = [], []
    for a in range(3):
        lo.append(max(0.0, (block.lo[a] - margin - data.lo[a]) / unit))
        hi.append(min(data.hi[a] - data.lo[a], block.lo[a] + block.edge + margin - data.lo[a]) / unit)
    if not all(a < b for a, b in zip(lo, hi, strict=True)):
        return None
    return "box:" + ",".join(map(repr, lo)) + ":" + ",".join(map(repr, hi))


def voxels(
    data: Any,
    fields: list[str],
    where: str | None,
    level: int,
    block: Block,
    progress: Progress,
    definitions: Sequence[tuple[str, str]] = (),
) -> tuple[np.ndarray, dict[str, str]]:
    """Values of shape (fields, z, y, x), and units: of the cell of the level, or of the coarser leaf, in which each voxel's
    centre is; where cells of the level are smaller than voxels, the mean of those whose centre is in the voxel. NaN outside
    of the domain. At most MOST_CELLS are read at once."""
    if not progress(0, 1):
        raise Interrupted("stopped")
    out = np.full((len(fields), block.voxels, block.voxels, block.voxels), np.nan)
    cell = _cell_of(data, level)
    units: dict[str, str] = {}
    if math.prod(block.edge / size + 1 for size in cell) > MOST_CELLS and block.voxels > 1:
        half = block.voxels // 2
        for (i, j, k), part in block.halves():
            if region_of(data, part) is not None:
                at = np.s_[:, k * half : (k + 1) * half, j * half : (j + 1) * half, i * half : (i + 1) * half]
                out[at], units = voxels(data, fields, where, level, part, progress, definitions)
        return out, units
    if (region := region_of(data, block, max(cell) / 2)) is not None:
        found = _core.cube(data, fields, region=region, max_level=level, where=where,
                           definitions=list(definitions))  # fmt: skip
        rows = [_rows(found, axis, block) for axis in (2, 1, 0)]
        for number, name in enumerate(fields):
            out[number] = _resampled(found["fields"][name], rows)
        units = found["units"]
    return out, units


def unit_of(data: Any, field: str, definitions: Sequence[tuple[str, str]] = ()) -> str:
    """The unit of a field or formula; "" where the data do not say. Reads a cell at the domain's lower corner."""
    finest = data.levels[-1]["level"]
    corner = Block(tuple(data.lo), min(_cell_of(data, finest)), 1)
    return voxels(data, [field], None, finest, corner, lambda _done, _total: True, definitions)[1][field]


def _cell_of(data: Any, level: int) -> list[float]:
    return next(list(size) for row, size in zip(data.levels, data.cell_sizes, strict=True) if row["level"] == level)


def _rows(found: dict[str, Any], axis: int, block: Block) -> np.ndarray:
    """For each voxel along an axis of the data the cells that it shows, first and one past the last; both 0 outside."""
    cells = found["fields"][next(iter(found["fields"]))].shape[2 - axis]
    size, corner, voxel = found["cell"][axis], found["corner"][axis], block.edge / block.voxels
    sides = (block.lo[axis] - corner + np.arange(block.voxels + 1) * voxel) / size
    middle = np.floor((sides[:-1] + sides[1:]) / 2 + 1e-9).astype(int)
    if voxel > size * (1 + 1e-9):  # the cells whose centres are in the voxel
        ends = np.ceil(sides - 0.5 - 1e-9).astype(int)
        rows = np.stack([ends[:-1], ends[1:]], axis=1)
        rows = np.where(rows[:, :1] < rows[:, 1:], rows, np.stack([middle, middle + 1], axis=1))
    else:
        rows = np.stack([middle, middle + 1], axis=1)
    outside = (middle < 0) | (middle >= cells)
    return np.where(outside[:, None], 0, rows.clip(0, cells))


def _resampled(values: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
    """Means along each axis in turn, without cells that have no value."""
    known = np.isfinite(values)
    sums, counts = np.where(known, values, 0.0), known.astype(float)
    for axis, ends in enumerate(rows):
        sums, counts = (_over(array, axis, ends) for array in (sums, counts))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, np.nan)


def _over(values: np.ndarray, axis: int, ends: np.ndarray) -> np.ndarray:
    """Sums of rows of an array along an axis."""
    if (ends[:, 1] - ends[:, 0] <= 1).all():
        taken = np.take(values, np.minimum(ends[:, 0], values.shape[axis] - 1), axis=axis)
        shape = [-1 if a == axis else 1 for a in range(3)]
        return taken * (ends[:, 0] < ends[:, 1]).reshape(shape)
    return np.stack([np.take(values, range(*pair), axis=axis).sum(axis=axis) for pair in ends.tolist()], axis=axis)


def brick(ds: Any, look: Look, zoom: int, place: Index3, progress: Progress, damage: Damage) -> bytes:
    """The bytes of a brick: as a tile's (tiles.packed), x fastest, then y, then z. `extent` has six numbers, and `finer` says
    whether bricks of the next zoom may show more. Reads no level that is finer than its voxels, and no domain outside of
    it. Raises as tiles.tile does."""
    data = ds._data
    block = block_of(data, zoom, place)
    finest = data.levels[-1]["level"]
    level = level_of(data, look, block.edge / EDGE)
    level = finest if level is None else level
    region = region_of(data, block)
    key = (look.field, look.where, "brick")

    def read(of: Any) -> tuple[np.ndarray, dict[str, str]]:
        return voxels(of, [look.field, "level"], look.where, level, block, progress, look.definitions)

    parts = data.parts_of(region, level)
    values, units = damage.read(key, data, read)
    deepest = finest if look.max_level is None else min(look.max_level, finest)
    facts = {
        "extent": [side for a in range(3) for side in (block.lo[a], block.lo[a] + block.edge)],
        "level": level,
        "finer": bool(level < deepest and np.nanmax(values[1], initial=-np.inf) >= level),
        "damaged": [damage.of(key)[part] for part in parts if part in damage.of(key)],
        "parts_read": len(parts),
        "bytes_read": _core.plan(data, fields=[look.field], threads=1, region=region, max_level=level,
                                 where=look.where, definitions=list(look.definitions))["bytes"],
    }  # fmt: skip
    return _packed(facts, values[0], units[look.field], data, look)


def _packed(facts: dict[str, Any], values: np.ndarray, unit: str, data: Any, look: Look) -> bytes:
    from octavo.units import factor

    by = factor(unit, look.unit, data, look.field) if look.unit else 1.0
    described = facts | {"label": valid(look.field), "unit": valid(look.unit or unit)}
    return packed(described, (values * by).reshape(EDGE * EDGE, EDGE))
