"""Values of a mesh of triangles along a polyline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.exports.columns import array_of
from octavo.line import converted
from octavo.printable import printable
from octavo.units import length_word


@dataclass(frozen=True)
class Transect:
    """Values where a polyline crosses the edges of a mesh, and at its own points, ascending; they are linear in between.
    Where the line leaves the mesh and enters it again, a row with values of NaN stands between."""

    #: Along the polyline, and the places, of shape (rows) [code length].
    distance: np.ndarray
    x: np.ndarray
    y: np.ndarray
    #: By field: shape (rows), of prisms (rows, planes), from the bottom. `units` has theirs, in this order.
    values: dict[str, np.ndarray]
    units: list[str]
    #: Heights of the planes, of shape (rows, planes); None in 2-D.
    z: np.ndarray | None
    #: Length of the whole polyline [code length].
    length: float
    #: The condition as text ("" for everything), and the time [code time].
    selection: str
    time: float
    length_unit: str = "code length"  #: a code length in words: "m" where it is one

    def __repr__(self) -> str:
        said = f"{len(self.distance)} places, length {self.length:.6g}, fields {', '.join(self.values)}"
        return printable(f"<octavo.Transect: {said}>")

    @classmethod
    def of(cls, found: dict[str, Any]) -> Transect:
        """The transect of a compiled table."""
        return cls(**{key: found[key] for key in cls.__dataclass_fields__ if key in found})

    def in_units(self, units: dict[str, str] | None, data: Any) -> Transect:
        """The same with some fields in other units, by name."""
        values, names = converted(self.values, self.units, units, data)
        return replace(self, values=values, units=names, length_unit=length_word(data))

    def __len__(self) -> int:
        return len(self.distance)

    def __getitem__(self, field: str) -> np.ndarray:
        return self.values[field]

    def integral(self, field: str) -> float:
        """The integral along the line [unit of the field * code length], of prisms over the height of the cut as well.
        Exact for the linear functions; what lies outside of the mesh does not count."""
        step, values = np.diff(self.distance), self.values[field]
        if self.z is None:
            return float(np.nansum(step * (values[1:] + values[:-1]) / 2))
        # Linear thickness times linear mean of two planes: Simpson's rule is exact.
        thick, mean = np.diff(self.z, axis=1), (values[:, 1:] + values[:, :-1]) / 2
        ends = thick * mean
        middle = (thick[1:] + thick[:-1]) / 2 * (mean[1:] + mean[:-1]) / 2
        return float(np.nansum(step[:, None] * (ends[1:] + 4 * middle + ends[:-1]) / 6))

    def facts(self) -> dict[str, Any]:
        """Everything but the rows."""
        return {
            "length": self.length,
            "rows": len(self),
            "planes": 1 if self.z is None else self.z.shape[1],
            "units": dict(zip(self.values, self.units, strict=True)),
            "selection": self.selection,
            "time": self.time,
        }

    def rows(self) -> dict[str, Any]:
        """The columns as lists; NaN is None."""
        return {
            "distance": self.distance.tolist(),
            "x": self.x.tolist(),
            "y": self.y.tolist(),
            **({} if self.z is None else {"z": self.z.tolist()}),
            "fields": {name: _without_nan(values) for name, values in self.values.items()},
        }

    def columns(self) -> dict[str, np.ndarray]:
        """The table, a row a place, of prisms a row a place and plane, from the bottom."""
        planes = 1 if self.z is None else self.z.shape[1]
        out = {name: np.repeat(getattr(self, name), planes) for name in ("distance", "x", "y")}
        if self.z is not None:
            out["plane"] = np.tile(np.arange(planes), len(self))
            out["z"] = self.z.ravel()
        return out | {_unused(name, out): values.ravel() for name, values in self.values.items()}

    def save(self, path: str) -> None:
        """Writes .csv (17 digits) or .npy (a structured array), the rows of columns(); or a picture of the values along
        the line: .png, .pdf, .svg."""
        columns = self.columns()
        if path.endswith(".csv"):
            import csv

            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(printable(name) for name in columns)
                for row in zip(*(column.tolist() for column in columns.values()), strict=True):
                    writer.writerow(f"{value:.17g}" for value in row)
        elif path.endswith(".npy"):
            np.save(path, array_of(columns))
        elif path.endswith((".png", ".pdf", ".svg")):
            self.draw().savefig(path, dpi=150, bbox_inches="tight")
        else:
            raise UsageError("the output must end in .csv, .npy, .png, .pdf or .svg", [path], "line.save('line.csv')")

    def _repr_png_(self) -> bytes:
        from octavo.pictures.picture import png_of

        return png_of(self.draw())

    def draw(self) -> Any:
        """A matplotlib figure, without a display: a panel a field, over the distance; of a column over the height. Of
        prisms a line a plane."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from octavo.pictures.picture import labelled

        figure = Figure(figsize=(8.0, 0.6 + 2.4 * len(self.values)), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(self.values), squeeze=False)[:, 0]
        for axes, (name, values), unit in zip(panels, self.values.items(), self.units, strict=True):
            axes.grid(alpha=0.3)
            if self.z is not None and len(self) == 1:
                axes.plot(values[0], self.z[0], ".-", linewidth=1)
                axes.set_xlabel(labelled(name, unit))
                axes.set_ylabel(f"z [{self.length_unit}]")
            else:
                axes.plot(self.distance, values, linewidth=1)
                axes.set_ylabel(labelled(name, unit), fontsize=8)
                axes.set_xlabel(f"distance [{self.length_unit}]")
        return figure


def _unused(name: str, taken: dict[str, Any]) -> str:
    """The name of a column; a field with the name of an earlier one gets a dash behind it."""
    return name if name not in taken else _unused(name + "_", taken)


def _without_nan(values: np.ndarray) -> list[Any]:
    listed = values.astype(object)
    listed[np.isnan(values)] = None
    return listed.tolist()
