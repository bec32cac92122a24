"""The steps that a view shows: what there is, and the few that are open."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from octavo.errors import Error, UsageError
from octavo.printable import valid
from octavo.snapshots import Snapshot, found, paths_of
from octavo.units import LENGTHS, code_units

#: Steps that stay open. Headers and tables of a step can be large.
OPEN = 4


@dataclass(frozen=True)
class Shown:
    """A step as the list of steps has it."""

    snapshot: Snapshot
    name: str  #: of its output
    alone: bool  #: whether the path holds no other step


def listed(paths: Sequence[str], flow: str | None) -> list[Shown]:
    """The steps of each path in turn, in the order of time. Raises Unreadable or UsageError where there is none."""
    out = []
    for path in paths_of(paths):
        snapshots = found([path], flow=flow)
        name = os.path.basename(os.path.normpath(path))
        out += [Shown(snapshot, name, len(snapshots) == 1) for snapshot in snapshots]
    return out


class Steps:
    """Opens steps when they are asked for. May be used from several threads."""

    def __init__(self, paths: Sequence[str], flow: str | None = None) -> None:
        self._paths, self._flow = paths, flow
        self._shown = listed(paths, flow)
        self._open: OrderedDict[int, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._shown)

    def __getitem__(self, number: int) -> Shown:
        if not 0 <= number < len(self._shown):
            raise UsageError(f"there is no step {number}", [], f"steps are numbered 0 to {len(self._shown) - 1}")
        return self._shown[number]

    def refresh(self) -> None:
        """Looks for new steps and adds them behind the known ones, so that each step keeps its number."""
        try:
            now = {shown.snapshot: shown for shown in listed(self._paths, self._flow)}
        except Error:
            return  # a request for a step that has vanished raises the error
        with self._lock:
            known = [now.pop(old.snapshot, old) for old in self._shown]
            self._shown = known + list(now.values())

    def opened(self, number: int) -> Any:
        """The octavo.Dataset of a step. Raises as octavo.open does."""
        from octavo import dataset

        shown = self[number]
        with self._lock:
            if number in self._open:
                self._open.move_to_end(number)
                return self._open[number]
        snapshot = shown.snapshot
        ds = dataset.open(snapshot.path, flow=snapshot.flow, step=snapshot.step)
        with self._lock:
            self._open[number] = ds
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
        return ds

    def forget(self, number: int) -> None:
        """The step is opened anew when it is asked for next: its files are not as they were."""
        with self._lock:
            self._open.pop(number, None)

    def table(self) -> list[dict[str, Any]]:
        return [
            {"name": valid(shown.name), "step": shown.snapshot.step, "time": shown.snapshot.time}
            for shown in self._shown
        ]

    def described(self, number: int) -> dict[str, Any]:
        """The facts of a step that the page needs."""
        ds = self.opened(number)
        data = ds._data
        known = code_units(data)
        lengths = [(name, size / known["code_length"]) for name, size in LENGTHS] if known else []
        return {
            "name": valid(self[number].name),
            "code": data.code,
            "format": data.format,
            "time": data.time,
            "time_text": time_text(data),
            "dim": data.dim,
            "lo": data.lo,
            "hi": data.hi,
            "triangles": data.unstructured,
            "domains": data.num_parts,
            "fields": [{"name": valid(field["name"]), "unit": valid(field["unit"])} for field in data.fields],
            "levels": levels_of(data),
            "species": [{"name": valid(row["name"]), "count": row["count"]} for row in data.species],
            "lengths": lengths,
            "notes": [valid(note) for note in data.notes],
        }


def levels_of(data: Any) -> list[dict[str, Any]]:
    """Number, longest edge of a cell [code length] and count of leaves of each level."""
    if data.unstructured:
        return []
    sizes = data.cell_sizes
    return [
        {"level": row["level"], "edge": max(size), "leaves": row["leaves"]}
        for row, size in zip(data.levels, sizes, strict=True)
    ]


class _OfTime:
    """The header of a step as picture.when takes it."""

    def __init__(self, data: Any) -> None:
        known = code_units(data)
        self.time = data.time
        self.facts = {
            "unit_length": data.units["length"], "unit_time": data.units["time"],
            "code_length_cm": known["code_length"] if known else None,
        }  # fmt: skip


def time_text(data: Any) -> str:
    """The time as pictures show it: "t = 1.5 Myr"."""
    from octavo.pictures.picture import when

    return when(_OfTime(data))
