"""Light-travel stacks: a map through several snapshots, of which each gives the slab that the light left at its time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo.cosmology import is_cosmological
from octavo.dataset import Dataset, Selection
from octavo.errors import Unsupported, UsageError
from octavo.pictures.picture import Picture
from octavo.ranks import agreed
from octavo.units import code_units, facts_of

_LIGHT = 2.99792458e10  # [cm/s]


@dataclass(frozen=True)
class Slab:
    """What one snapshot shows: the cells between two distances from the viewer's side of the domain [code length]."""

    snapshot: int
    near: float
    far: float


def slabs_of(times: Sequence[float], depth: float, speed: float) -> list[Slab]:
    """Cuts [0, depth] so that each place is shown by the snapshot nearest in time to that at which light left it, the nearest
    slab first. `times` ascend [code time]; light reaches the viewer's side at the last. Beyond the first time the first
    snapshot stands for all. Snapshots without a place of their own have no slab."""
    between = [(times[-1] - (early + late) / 2) * speed for early, late in itertools.pairwise(times)]
    ends = [0.0, *(min(depth, distance) for distance in reversed(between)), depth]
    numbers = reversed(range(len(times)))
    return [
        Slab(number, near, far) for number, near, far in zip(numbers, ends[:-1], ends[1:], strict=True) if near < far
    ]


class _InSlab(Selection):
    """A slab may have no cell where a condition holds: others have."""

    _blank_too = True

    def image(self, field: str, *, ranks: Any, **options: Any) -> tuple[dict[str, Any], np.ndarray]:
        """The map's facts, and its pixels: on other ranks than the first none. Collective over `ranks`."""
        image = self._map(field, ranks=ranks, **options)
        facts = self._marked(facts_of(image, self._data))
        rows = image.rows(ranks, 0, facts["pixels"][1])
        return facts, np.empty((0, 0)) if rows is None else rows


def light_speed(data: Any) -> float:
    """[code length / code time]. Raises UsageError where the data set does not say what its units are."""
    units = code_units(data)
    if units is None:
        raise UsageError(
            "the data set does not say what its code units are, so the speed of light is not known", [data.path],
            "give it in code units: light_speed=..., or --light-speed",
        )  # fmt: skip
    return _LIGHT * units["code_time"] / units["code_length"]


def stack(
    series: Any, field: str, *, axis: str, kind: str, weight: str | None, depth: float | None, speed: float | None,
    pixels: int, blur: float, unit: str | None, select: Callable[[Dataset], Selection] | None, threads: int,
    progress: Callable[[int, int], Any] | None = None, ranks: Any = None,
) -> Picture | None:  # fmt: skip
    """As Series.stack says. Collective over `ranks`, which share each snapshot: the first one gets the picture, others None."""
    if not len(series):
        raise UsageError("there is no snapshot to stack", [], "name some")
    data, along = _opened(series, -1, ranks)._data, "xyz".index(axis)
    _check(data, along, depth, speed)
    unit_length = data.hi[0] - data.lo[0]
    box = [(hi - lo) / unit_length for lo, hi in zip(data.lo, data.hi, strict=True)]
    whole = box[along] if depth is None else float(depth)
    speed = light_speed(data) if speed is None else float(speed)
    slabs = slabs_of(series.times, whole * unit_length, speed)
    total, weights = None, None
    all_facts: list[dict[str, Any]] = []
    for done, slab in enumerate(slabs):
        chosen = _in_slab(_opened(series, slab.snapshot, ranks), select, data, along, box, slab)
        options: dict[str, Any] = {"axis": axis, "pixels": pixels, "blur": blur, "threads": threads, "ranks": ranks}
        facts, values = chosen.image(field, kind=kind, weight=weight, **options)
        all_facts.append(facts)
        weighed = None
        if kind == "mean":
            by = "1" if weight in (None, "volume") else weight
            weighed = np.nan_to_num(chosen.image(by, kind="integral", weight=None, **options)[1])
            weights = weighed if weights is None else weights + weighed
        total = _joined(kind, total, values, weighed)
        if progress is not None:
            progress(done + 1, len(slabs))
    assert total is not None
    if kind == "mean":
        with np.errstate(invalid="ignore", divide="ignore"):
            total = total / weights

    def drawn() -> Picture | None:
        if ranks is not None and ranks.rank > 0:
            return None
        if np.isnan(total).all():
            raise UsageError("the selection holds no cell in any slab", [data.path], "")
        found = _described(total, series, slabs, speed, all_facts)
        return found if unit is None else found.in_unit(unit, data)

    return agreed(ranks, drawn)


def _opened(series: Any, number: int, ranks: Any) -> Dataset:
    """A snapshot of the series. Collective over `ranks`."""
    return series[number] if ranks is None else Dataset(series.snapshots[number].open(ranks))


def _check(data: Any, along: int, depth: float | None, speed: float | None) -> None:
    if data.unstructured or data.dim <= along:
        raise Unsupported(
            "a stack is along an axis of an adaptive mesh",
            [data.path],
            "octavo map shows one output, octavo movie many",
        )
    if is_cosmological(data):
        raise Unsupported(
            "a stack of a cosmological run: its clock is conformal time, and light crosses a box that grows", [data.path],
            "octavo map shows one snapshot",
        )  # fmt: skip
    extent = (data.hi[along] - data.lo[along]) / (data.hi[0] - data.lo[0])
    if depth is not None and not 0 < depth < float("inf"):
        raise UsageError(f"depth of a stack: expected a number above 0, found {depth}", [], "")
    if depth is not None and depth > extent and not data.periodic[along]:
        raise UsageError(
            f"depth of a stack: {depth:g} is more than the domain's {extent:g}, which does not repeat along "
            + "xyz"[along], [data.path], f"at most {extent:g}",
        )  # fmt: skip
    if speed is not None and not 0 < speed < float("inf"):
        raise UsageError(f"speed of light: expected a number above 0, found {speed}", [], "")


def _in_slab(
    ds: Dataset, select: Callable[[Dataset], Selection] | None, like: Any, along: int, box: Sequence[float], slab: Slab
) -> _InSlab:
    """The cells of a snapshot in its slab. The viewer of a picture is at the upper side along x and z, at the lower along y."""
    chosen = select(ds) if select else ds
    if chosen.region is not None:
        raise UsageError("a stack shows whole cross-sections", [chosen.region], "select by level, where and derive")
    if (list(ds._data.lo), list(ds._data.hi)) != (list(like.lo), list(like.hi)):
        raise UsageError("the snapshots have other domains", [ds._data.path, like.path], "stack those of one run")
    unit = like.hi[0] - like.lo[0]
    near, far = slab.near / unit, slab.far / unit
    lo, hi = [0.0] * len(box), list(box)
    lo[along], hi[along] = (near, far) if along == 1 else (box[along] - far, box[along] - near)
    region = chosen.box(lo[: like.dim], hi[: like.dim]).region
    return _InSlab(chosen._data, **(chosen._choices() | {"region": region}))


def _joined(kind: str, total: np.ndarray | None, values: np.ndarray, weighed: np.ndarray | None) -> np.ndarray:
    """The pixels with another slab's. NaN where neither has a cell."""
    if kind == "mean":
        values = np.where(np.isnan(values), np.nan, values * weighed)
    if total is None:
        return values
    if kind == "max":
        return np.fmax(total, values)
    if kind == "min":
        return np.fmin(total, values)
    both = np.nan_to_num(total) + np.nan_to_num(values)
    return np.where(np.isnan(total) & np.isnan(values), np.nan, both)


def _described(
    values: np.ndarray, series: Any, slabs: Sequence[Slab], speed: float, all_facts: Sequence[dict[str, Any]]
) -> Picture:
    shown = [series.snapshots[slab.snapshot] for slab in slabs]
    label = f"{all_facts[0]['label']}, light-travel stack of {len(slabs)}"
    facts = all_facts[0] | {
        "label": label, "title": label, "selection": "", "light_speed": speed, "depth": [0.0, slabs[-1].far],
        "slabs": {
            "path": [snapshot.path for snapshot in shown], "step": [snapshot.step for snapshot in shown],
            "time": [snapshot.time for snapshot in shown], "near": [slab.near for slab in slabs],
            "far": [slab.far for slab in slabs],
        },
    }  # fmt: skip
    lacking = [one["incomplete"] for one in all_facts if one.get("incomplete")]
    if lacking:
        facts["incomplete"] = lacking[0]
    return Picture.described(facts, values)
