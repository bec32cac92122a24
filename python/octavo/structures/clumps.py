"""Clumps: connected sets of cells above a threshold, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.exports.columns import array_of, saved
from octavo.printable import printable

if TYPE_CHECKING:
    from octavo.dataset import Dataset


@dataclass(frozen=True)
class Clumps:
    """Clumps, the heaviest first; `label` counts them from 1. Arrays have shape (clumps,), places (clumps, axes).

    A clump that crosses a periodic side is in one piece: `lo` and `hi` may reach beyond the domain, and `centre` is inside.
    One that goes around an axis and meets itself has the domain's bounds there.
    """

    label: np.ndarray
    cells: np.ndarray
    volume: np.ndarray
    #: None where the data has no density.
    mass: np.ndarray | None
    #: Centre of mass, or of volume where there is no density.
    centre: np.ndarray
    #: The smallest box around the cells.
    lo: np.ndarray
    hi: np.ndarray
    #: The largest value of the field, and the centre of its cell.
    peak: np.ndarray
    peak_at: np.ndarray
    #: The code's own number of the finest level in it.
    level: np.ndarray
    #: By column: "volume", "mass", "peak" and "length" (of places).
    units: dict[str, str]
    #: field, above, selection, time, parts_read ..., and how many clumps and cells there are of any size.
    facts: dict[str, Any]
    #: The places of each domain's clumps, and the selection in which they were found.
    _places: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, found: dict[str, Any], data: Any, min_cells: int = 1, chosen: dict[str, Any] | None = None) -> Clumps:
        """The clumps of at least `min_cells` cells that the compiled verb found in `data`, or in the selection `chosen`."""
        facts, dim = dict(found), data.dim
        places = {name: facts.pop(name) for name in ("parts", "part_clumps")} | {"data": data, "chosen": chosen}
        names = ("cells", "volume", "mass", "centre", "lo", "hi", "peak", "peak_at", "level")
        columns = {name: facts.pop(name) for name in names}
        facts |= {"clumps": len(columns["cells"]), "cells": int(columns["cells"].sum()), "min_cells": min_cells}
        large = columns["cells"] >= min_cells
        places["labels"] = (np.cumsum(large) * large).tolist()
        columns = {name: None if values is None else values[large] for name, values in columns.items()}
        units = {"volume": f"code_length**{dim}", "mass": facts.pop("mass_unit"), "length": "code_length"}
        return cls(
            label=np.arange(1, large.sum() + 1),
            units=units | {"peak": facts["unit"]},
            facts=facts,
            _places=places,
            **columns,
        )

    def __repr__(self) -> str:
        return printable(f"<octavo.Clumps: {self._said()}>")

    def _repr_html_(self) -> str:
        from octavo import shown

        units = [(name, unit or "no unit") for name, unit in self.units.items()]
        return shown.facts(self._said(), units, shown.table(self.columns()))

    def _said(self) -> str:
        return f"{len(self)} clump{'' if len(self) == 1 else 's'}, {self.facts['cells']} cells with {self.facts['field']} above {self.facts['above']:g}"

    def __len__(self) -> int:
        return len(self.label)

    @property
    def labels(self) -> Dataset:
        """The data set with one more field, "clump": the label of the clump that each cell is in, 0 of all others. It may be
        mapped, exported and stored as any field: found.labels.export("clumps.vtkhdf", fields=["density", "clump"]). Clumps
        of each domain are found again when it is read."""
        from octavo.dataset import Dataset

        places = dict(self._places)
        data, chosen = places.pop("data"), places.pop("chosen")
        facts = {name: self.facts[name] for name in ("field", "above")}
        return Dataset(_core.with_labels(data, **facts, **places, **chosen))

    def in_units(self, units: dict[str, str] | None, data: Any) -> Clumps:
        """The same with "mass", "volume", "length" (all places) or the field in other units."""
        from octavo.units import factor

        chosen: dict[str, Any] = {}
        new = dict(self.units)
        for name, unit in (units or {}).items():
            key = "peak" if name == self.facts["field"] else name
            if key not in new or (key == "mass" and self.mass is None):
                known = ", ".join(["mass", "volume", "length", self.facts["field"]])
                raise UsageError(f"a unit for '{name}', which is not computed", [], "there are: " + known)
            by = factor(new[key], unit, data, name)
            new[key] = unit
            for column in ("centre", "lo", "hi", "peak_at") if key == "length" else (key,):
                chosen[column] = getattr(self, column) * by
        return replace(self, units=new, **chosen)

    def columns(self) -> dict[str, np.ndarray]:
        """All as columns of equal length: places as "x", "y", "z", "lo x" ..."""
        columns = {"label": self.label, "cells": self.cells, "volume": self.volume}
        if self.mass is not None:
            columns["mass"] = self.mass
        columns["peak"] = self.peak
        for head, places in (("", self.centre), ("lo ", self.lo), ("hi ", self.hi), ("peak ", self.peak_at)):
            columns |= {head + axis: values for axis, values in zip("xyz", places.T, strict=False)}
        return columns | {"level": self.level}

    def array(self) -> np.ndarray:
        """A structured array with the columns, as `.npy` files hold it."""
        return array_of(self.columns())

    def csv(self) -> Iterator[str]:
        """Lines of a table with one row a clump; numbers read back to the same bits."""
        columns = self.columns()
        yield ",".join(columns)
        for row in zip(*(values.tolist() for values in columns.values()), strict=True):
            yield ",".join("" if value != value else repr(value) for value in row)

    def save(self, path: str) -> None:
        """Writes .csv or .npy."""
        if not saved(path, self.array(), self.csv()):
            raise UsageError("the output must end in .csv or .npy", [path], "-o clumps.csv")

    def table(self) -> dict[str, Any]:
        """Everything as plain values, as `--json` prints it."""
        columns = {name: values.tolist() for name, values in self.columns().items()}
        return {**self.facts, "units": self.units, "columns": columns}
