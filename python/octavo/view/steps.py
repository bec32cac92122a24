"""The steps that a view shows: what there is, and the few that are open."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from octavo.cosmology import cosmic_facts
from octavo.errors import Error, UsageError
from octavo.particles import names_of
from octavo.printable import valid
from octavo.snapshots import Snapshot, by_path
from octavo.units import LENGTHS, code_units
from octavo.view.changes import Files, state_of_store
from octavo.view.damage import Damage

#: Steps that stay open. Headers and tables of a step can be large.
OPEN = 4


@dataclass(frozen=True)
class Shown:
    """A step as the list of steps has it."""

    snapshot: Snapshot
    name: str  #: of its output
    alone: bool  #: whether the path holds no other step


@dataclass(frozen=True)
class Held:
    """A step that is open, and the damage that was met in it, as long as its files are as they were."""

    ds: Any  #: octavo.Dataset
    state: str
    damage: Damage = field(default_factory=Damage)


def listed(paths: Sequence[str], flow: str | None) -> tuple[list[Shown], tuple[Error, ...]]:
    """The steps of each path in turn, in the order of time; and why paths are left out. Raises as by_path()."""
    every, skipped = by_path(paths, flow)
    out = []
    for path, snapshots in every.items():
        name = os.path.basename(os.path.normpath(path))
        ordered = sorted(snapshots, key=lambda snapshot: (snapshot.time, snapshot.step))
        out += [Shown(snapshot, name, len(snapshots) == 1) for snapshot in ordered]
    return out, skipped


def _name(shown: Shown) -> tuple[str, int]:
    """What stays when another run's output comes in the place of one."""
    return shown.snapshot.path, shown.snapshot.step


class Steps:
    """Opens steps when they are asked for, and keeps the definitions that fields of all of them may use. May be used from
    several threads."""

    def __init__(
        self, paths: Sequence[str], flow: str | None = None, definitions: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._paths, self._flow, self.definitions = paths, flow, tuple(definitions)
        self._shown, self.skipped = listed(paths, flow)
        self._open: OrderedDict[int, Held] = OrderedDict()
        self._files = Files()
        self._damaged: set[str] = set()  # stores in which damage was met
        self._known: set[int] = set()  # steps that were open
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
            shown, self.skipped = listed(self._paths, self._flow)
        except Error:
            return  # a request for a step that has vanished raises the error
        now = {_name(one): one for one in shown}
        with self._lock:
            known = [now.pop(_name(old), old) for old in self._shown]
            self._shown = known + list(now.values())

    def state(self, number: int) -> str:
        """A word that changes when the step's files do."""
        snapshot, held = self[number].snapshot, self._open.get(number)
        if snapshot.attempt and held and held.damage:
            self._damaged.add(snapshot.path)  # from now on each change of a file counts: it may be mended
        if snapshot.attempt and snapshot.path not in self._damaged:
            return state_of_store(snapshot.path, snapshot.attempt)
        return self._files.state(snapshot.path)

    def held(self, number: int) -> Held:
        """The step, opened anew if its files changed. Raises as octavo.open does."""
        from octavo import dataset

        snapshot, state = self[number].snapshot, self.state(number)
        with self._lock:
            if number in self._open and self._open[number].state == state:
                self._open.move_to_end(number)
                return self._open[number]
        held = Held(dataset.open(snapshot.path, flow=snapshot.flow, step=snapshot.step), state)
        with self._lock:
            self._open[number] = held
            self._known.add(number)
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
        return held

    def opened(self, number: int) -> Any:
        """The octavo.Dataset of held()."""
        return self.held(number).ds

    def forget(self, number: int) -> None:
        """The step is opened anew when it is asked for next: its files are not as they were."""
        with self._lock:
            self._open.pop(number, None)
        self._files.forget(self[number].snapshot.path)

    def table(self) -> list[dict[str, Any]]:
        return [
            {"name": valid(shown.name), "step": shown.snapshot.step, "time": shown.snapshot.time}
            for shown in self._shown
        ]

    def states(self) -> list[str | None]:
        """The state() of each step; None of those that nobody has seen."""
        return [self.state(number) if number in self._known else None for number in range(len(self))]

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
            "triangles": data.unstructured and not data.solids,
            "domains": data.num_parts,
            "fields": [{"name": valid(field["name"]), "unit": valid(field["unit"])} for field in data.fields],
            "derived": derived_of(data, self.definitions),
            "levels": levels_of(data),
            "particles": [valid(name) for name in names_of(data)],
            "species": [{"name": valid(row["name"]), "count": row["count"]} for row in data.species],
            "lengths": lengths,
            "notes": [valid(note) for note in data.notes],
        }


def derived_of(data: Any, definitions: Sequence[tuple[str, str]]) -> list[str]:
    """The names that are offered beside stored fields: the user's, and those of the library that lack no constant."""
    own = [name for name, _ in definitions]
    library = [row["name"] for row in data.derived if not row["define"] or row["define"] in own]
    return [valid(name) for name in dict.fromkeys([*own, *library])]


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
            "code_length_cm": known["code_length"] if known else None, **cosmic_facts(data),
        }  # fmt: skip


def time_text(data: Any) -> str:
    """The time as pictures show it: "t = 1.5 Myr"."""
    from octavo.pictures.picture import when

    return when(_OfTime(data))
