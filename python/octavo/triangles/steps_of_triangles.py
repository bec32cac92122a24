"""Through lines and in polygons over all steps of a mesh of triangles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.printable import printable
from octavo.triangles.outlines import Line, Polygon, line_of, polygon_of

if TYPE_CHECKING:
    from octavo.dataset import Path


@dataclass(frozen=True)
class StepSeries:
    """One number a line or polygon, and step."""

    times: np.ndarray  #: shape (steps) [code time]
    values: np.ndarray  #: shape (lines or polygons, steps)
    sizes: np.ndarray  #: how much of each lies on the mesh: length, or area [code length]
    names: tuple[str, ...]  #: of the lines or polygons
    what: str  #: the quantity

    def __repr__(self) -> str:
        return printable(f"<octavo.StepSeries: {self.what} at {len(self.times)} steps: {', '.join(self.names)}>")

    def heads(self) -> list[str]:
        """The names of the columns of rows()."""
        return ["time", *self.names]

    def rows(self) -> list[list[float]]:
        """One list a step."""
        return [[float(time), *map(float, some)] for time, some in zip(self.times, self.values.T, strict=True)]

    def save(self, path: str) -> None:
        """Writes .csv (17 digits), or a picture over time: .png, .pdf, .svg."""
        if path.endswith(".csv"):
            import csv

            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(printable(head) for head in self.heads())
                writer.writerows([f"{value:.17g}" for value in row] for row in self.rows())
        elif path.endswith((".png", ".pdf", ".svg")):
            self.draw().savefig(path, dpi=150, bbox_inches="tight")
        else:
            raise UsageError("the output must end in .csv, .png, .pdf or .svg", [path], "series.save('series.csv')")

    def _repr_png_(self) -> bytes:
        from octavo.pictures.picture import png_of

        return png_of(self.draw())

    def draw(self) -> Any:
        """A matplotlib figure, without a display: a line each, over time."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from octavo.pictures.picture import plain

        figure = Figure(figsize=(8.0, 3.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for name, values in zip(self.names, self.values, strict=True):
            axes.plot(self.times, values, ".-", linewidth=1, label=plain(name))
        axes.set_xlabel("time [code time]")
        axes.set_ylabel(plain(self.what))
        axes.grid(alpha=0.3)
        if len(self.names) > 1:
            axes.legend(fontsize=8)
        return figure


def discharge(
    path: Path,
    through: Line | Sequence[Line],
    *,
    depth: str = "water_depth",
    flow: str | None = None,
    ranks: Any = None,
) -> StepSeries:
    """The discharge through a line, or through each of several, at every step: the integral of depth times the velocity across
    it, positive from the line's left to its right. A line has points (x, y) [code length], or is the path of a file of
    text or GeoJSON. `depth` is a field or a formula ('"FREE SURFACE" - BOTTOM'); of prisms heights take its place. Exact
    for depths and velocities that are linear in triangles. `flow` of a store is as in over_time. Raises UsageError for
    an unknown field, and for a line that is none or meets no triangle. Releases the GIL. Collective where `ranks` is
    given: they share the steps."""
    lines = [line_of(line) for line in _several(through)]
    return _series(
        _core.discharge(os.fspath(path), lines, depth=depth, flow=flow, ranks=ranks),
        _names(through, "discharge"),
        "discharge",
    )


def volume(
    path: Path,
    polygon: Polygon | Sequence[Polygon] | None = None,
    *,
    field: str = "water_depth",
    flow: str | None = None,
    ranks: Any = None,
) -> StepSeries:
    """A field's integral over a polygon, over each of several, or over the mesh, at every step: of the depth the volume of
    water. Triangles are cut at the polygon's sides exactly; of prisms it is the integral over the height as well. A
    polygon has corners (x, y) [code length], or is the path of a file of text or GeoJSON, whose polygon may have holes.
    `field` is a name or a formula. Raises UsageError for an unknown field, and for a polygon that crosses itself or
    holds nothing of the mesh. Releases the GIL. Collective where `ranks` is given: they share the steps."""
    polygons = [] if polygon is None else [polygon_of(one) for one in _several(polygon)]
    names = _names(polygon, "volume") if polygon is not None else ("volume",)
    found = _core.volume(os.fspath(path), polygons, field=field, flow=flow, ranks=ranks)
    return _series(found, names, f"integral of {field}")


def _several(outlines: Any) -> list[Any]:
    """A list of lines or polygons, of one or of many."""
    if isinstance(outlines, (str, os.PathLike)):
        return [outlines]
    first = next(iter(outlines), None)
    if first is None:
        raise UsageError("no points", [], "[(0, 0), (1, 0)]")
    one = not isinstance(first, (str, os.PathLike)) and all(
        isinstance(number, (int, float, np.number)) for number in first
    )
    return [outlines] if one else list(outlines)


def _names(outlines: Any, what: str) -> tuple[str, ...]:
    several = _several(outlines)
    if len(several) == 1:
        return (what,)
    return tuple(
        os.path.splitext(os.path.basename(one))[0] if isinstance(one, (str, os.PathLike)) else f"{what} {number}"
        for number, one in enumerate(several, 1)
    )


def _series(found: dict[str, Any], names: tuple[str, ...], what: str) -> StepSeries:
    return StepSeries(found["times"], found["values"], found["sizes"], names, what)
