"""Streamlines of a step, and ways of particles over all steps, on a mesh of triangles."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.errors import UsageError
from octavo.triangles.outlines import Line, line_of

if TYPE_CHECKING:
    from octavo.dataset import Path

#: How a way ends, in words.
ENDS = {
    "time": "at the time asked for", "border": "at the border of the mesh", "standing": "where nothing moves",
    "length": "at the longest way", "steps": "after the most steps",
}  # fmt: skip
ENDINGS = (".geojson", ".csv", ".png", ".pdf", ".svg")


@dataclass(frozen=True)
class Ways:
    """Ways of particles, one a seed. Iterating gives an array of shape (places, 3) for each: x, y and time."""

    x: np.ndarray  #: of all places, way after way [code length]
    y: np.ndarray
    times: np.ndarray  #: at each place [code time]; of a streamline 0 at its seed
    first: np.ndarray  #: the place in these at which each way begins, and their length
    ends: list[str]  #: how each ends: a key of ENDS
    time: float  #: of the step, or at which particles start [code time]
    notes: list[str]

    def __repr__(self) -> str:
        return f"<octavo.Ways: {len(self)} ways of {len(self.x)} places>"

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[np.ndarray]:
        for begin, end in zip(self.first[:-1], self.first[1:], strict=True):
            yield np.stack([self.x[begin:end], self.y[begin:end], self.times[begin:end]], axis=1)

    @property
    def lengths(self) -> np.ndarray:
        """The length of each way [code length]."""
        return np.array([np.hypot(*np.diff(way[:, :2], axis=0).T).sum() for way in self])

    def save(self, path: str, background: Any = None) -> None:
        """Writes .geojson (a line each, with its times), .csv, or a picture: .png, .pdf, .svg, over a map."""
        if path.endswith(".geojson"):
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"type": "FeatureCollection", "features": self._features()}, file)
        elif path.endswith(".csv"):
            with open(path, "w", encoding="utf-8") as file:
                file.write("way,time,x,y\n")
                for number, way in enumerate(self):
                    file.writelines(f"{number},{t:.17g},{x:.17g},{y:.17g}\n" for x, y, t in way)
        elif path.endswith(ENDINGS):
            self.draw(background).savefig(path, dpi=150, bbox_inches="tight")
        else:
            raise UsageError(f"the output must end in {', '.join(ENDINGS)}", [path], "-o lines.geojson")

    def _features(self) -> list[dict[str, Any]]:
        rows = []
        for number, (way, end, length) in enumerate(zip(self, self.ends, self.lengths, strict=True)):
            places = way[:, :2].tolist()
            # A line has two places or more.
            geometry = {"type": "LineString", "coordinates": places if len(places) > 1 else places * 2}
            properties = {"way": number, "end": end, "length": float(length), "times": way[:, 2].tolist()}
            rows.append({"type": "Feature", "geometry": geometry, "properties": properties})
        return rows

    def draw(self, background: Any = None) -> Any:
        """A matplotlib figure, without a display: the ways with an arrow in the middle of each, over a Picture, whose unit of
        length the axes take."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from octavo.pictures.picture import labelled, length_unit, when

        figure = Figure(figsize=(8.0, 6.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        size, unit = 1.0, "code length"
        if background is not None:
            size, unit = length_unit(background)
            extent = tuple(size * side for side in background.extent)
            shown = axes.imshow(background.values, origin="lower", extent=extent, cmap="viridis")
            figure.colorbar(shown, ax=axes, label=labelled(background.label, background.unit))
            axes.set_title(when(background), fontsize=10, loc="left")
        colour = "black" if background is None else "white"
        for way in self:
            places = size * way[:, :2]
            axes.plot(places[:, 0], places[:, 1], color=colour, linewidth=0.8)
            if len(way) > 2:
                middle = len(way) // 2
                tip, tail = tuple(places[middle]), tuple(places[middle - 1])
                style = {"arrowstyle": "->", "color": colour, "linewidth": 0.8}
                axes.annotate("", xy=tip, xytext=tail, arrowprops=style)
        axes.set_aspect("equal")
        axes.set_xlabel(f"x [{unit}]")
        axes.set_ylabel(f"y [{unit}]")
        return figure


def _ways(path: Path, at: Line | None, options: dict[str, Any]) -> Ways:
    seeds = [] if at is None else line_of(at)
    if at is not None and not seeds:
        raise UsageError("no seed: expected points (x, y)", [os.fspath(path)], "at=[(4500, 4350)]")
    return Ways(**_core.ways(os.fspath(path), seeds=seeds, **options))


def streamlines(
    path: Path, at: Line | None = None, *, count: int = 100, velocity: str = "velocity", direction: str = "forward",
    duration: float = 0, length: float = 0, step: int | None = None, plane: int = -1, flow: str | None = None,
) -> Ways:  # fmt: skip
    """Lines along the velocity at a step (default: the last), as if it did not change, from seeds: points (x, y) [code
    length], the path of a file of them, or about `count` on a square grid over the mesh. `direction`: "forward", "backward"
    or "both" ways from the seed. A way goes on for `duration` [code time], or until it is `length` long [code length; default: twice
    the longer side of the mesh's box], or to the border. Velocities (the fields of this name with _x and _y) are linear in
    triangles; those in cells are brought to points, weighted by area. `plane` of prisms is as in probe. Raises UsageError
    for a seed outside of the mesh. Releases the GIL."""
    options = {"count": count, "velocity": velocity, "direction": direction, "duration": float(duration),
               "length": float(length), "step": step, "plane": plane, "flow": flow}  # fmt: skip
    return _ways(path, at, options)


def pathlines(
    path: Path, at: Line | None = None, *, count: int = 100, velocity: str = "velocity",
    start: float | None = None, until: float | None = None, plane: int = -1, flow: str | None = None,
    progress: Any = None,
) -> Ways:  # fmt: skip
    """The ways of particles that start together (`start`; default: at the first step) and are carried until a time (default: the
    last step) by velocities that are linear in time between steps. Seeds and velocities are those of streamlines(). Two steps
    are in memory. Raises UsageError for times outside of the steps. Releases the GIL."""
    options = {"count": count, "velocity": velocity, "start": start, "until": until, "plane": plane, "flow": flow,
               "over_time": True, "progress": progress}  # fmt: skip
    return _ways(path, at, options)
