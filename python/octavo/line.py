"""The leaves on a straight line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.exports.columns import array_of
from octavo.printable import printable
from octavo.units import factor, length_word


@dataclass(frozen=True)
class Line:
    """The chords of a straight line through the leaves, ascending. All arrays have shape (cells)."""

    #: Distance from `start` at which the line enters and leaves each leaf [code length], float64.
    entry: np.ndarray
    exit: np.ndarray
    #: The code's own number of each leaf's level, int32.
    level: np.ndarray
    #: By field, float64. `units` has theirs, in this order ("" where the data has none).
    values: dict[str, np.ndarray]
    units: list[str]
    #: The ends [code length], as many numbers as axes, and the distance between them.
    start: tuple[float, ...]
    end: tuple[float, ...]
    length: float
    #: Region and level as text ("" for everything), and the time [code time].
    selection: str
    time: float
    parts_read: int = 0
    #: Damaged domains that it lacks (open(..., skip_damaged=True)).
    incomplete: dict[str, Any] | None = None
    length_unit: str = "code length"  #: a code length in words: "cm" or "m" where it is one

    @classmethod
    def of(cls, found: dict[str, Any]) -> Line:
        """The line of a compiled table."""
        return cls(
            entry=found["entry"], exit=found["exit"], level=found["level"], values=found["values"],
            units=found["units"], start=tuple(found["from"]), end=tuple(found["to"]), length=found["length"],
            selection=found["selection"], time=found["time"], parts_read=found["parts_read"],
            incomplete=found.get("incomplete"),
        )  # fmt: skip

    def in_units(self, units: dict[str, str] | None, data: Any) -> Line:
        """The same with some fields in other units, by name."""
        values, names = converted(self.values, self.units, units, data)
        return replace(self, values=values, units=names, length_unit=length_word(data))

    def __repr__(self) -> str:
        return printable(f"<octavo.Line: {len(self)} cells, length {self.length:.6g}, fields {', '.join(self.values)}>")

    def _repr_html_(self) -> str:
        from octavo import shown

        ends = [("from", self.start), ("to", self.end)]
        rows = [(name, ", ".join(f"{x:.6g}" for x in place)) for name, place in ends]
        heads = [f"{name} [{unit}]" if unit else name for name, unit in zip(self.values, self.units, strict=True)]
        columns = {"entry": self.entry, "exit": self.exit, "level": self.level}
        columns |= dict(zip(heads, self.values.values(), strict=True))
        return shown.facts(f"{len(self)} cells, {self.length:.6g} [{self.length_unit}]", rows, shown.table(columns))

    def __len__(self) -> int:
        return len(self.entry)

    def __getitem__(self, field: str) -> np.ndarray:
        return self.values[field]

    def integral(self, field: str) -> float:
        """Sum of value times chord: the integral along the line [unit of the field * code length]."""
        return float(np.sum(self.values[field] * (self.exit - self.entry)))

    def facts(self) -> dict[str, Any]:
        """Everything but the rows."""
        return {
            "from": list(self.start),
            "to": list(self.end),
            "length": self.length,
            "cells": len(self),
            "units": dict(zip(self.values, self.units, strict=True)),
            "selection": self.selection,
            "time": self.time,
            "parts_read": self.parts_read,
            **({"incomplete": self.incomplete} if self.incomplete else {}),
        }

    def rows(self) -> dict[str, Any]:
        """The columns as lists."""
        return {
            "entry": self.entry.tolist(),
            "exit": self.exit.tolist(),
            "level": self.level.tolist(),
            "fields": {name: values.tolist() for name, values in self.values.items()},
        }

    def save(self, path: str) -> None:
        """Writes .csv (a row a leaf, 17 digits) or .npy (a structured array with the same columns)."""
        columns: list[tuple[str, np.ndarray]] = [("entry", self.entry), ("exit", self.exit), ("level", self.level)]
        columns += list(self.values.items())
        if path.endswith(".csv"):
            self._save_csv(path, columns)
        elif path.endswith(".npy"):
            names = [_unused(name, place, columns) for place, (name, _) in enumerate(columns)]
            np.save(path, array_of({name: values for name, (_, values) in zip(names, columns, strict=True)}))
        else:
            raise UsageError("the output must end in .csv or .npy", [path], "line.save('line.csv')")

    def _save_csv(self, path: str, columns: list[tuple[str, np.ndarray]]) -> None:
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(printable(name) for name, _ in columns)
            for entry, leave, level, *values in zip(*(column.tolist() for _, column in columns), strict=True):
                writer.writerow([f"{entry:.17g}", f"{leave:.17g}", level, *(f"{value:.17g}" for value in values)])


def converted(
    values: dict[str, np.ndarray], units: list[str], wanted: dict[str, str] | None, data: Any
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The columns with those that are named in other units, and the units of all. Raises UsageError for a name that is
    not there, and for a unit of another kind."""
    have = dict(zip(values, units, strict=True))
    for name in wanted or {}:
        if name not in have:
            raise UsageError(f"a unit for '{name}', which is not listed", [], "there are: " + ", ".join(have))
    by = {name: factor(have[name], unit, data, name) for name, unit in (wanted or {}).items()}
    changed = {name: column * by[name] if name in by else column for name, column in values.items()}
    return changed, [(wanted or {}).get(name, unit) for name, unit in have.items()]


def _unused(name: str, place: int, columns: list[tuple[str, np.ndarray]]) -> str:
    """The name of a column; a field with the name of an earlier column gets a dash behind it."""
    return name + "_" * sum(other == name for other, _ in columns[:place])
