"""Drawn over a picture: outlines of levels, arrows of a vector, dots of particles, a bar of a round length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from octavo.errors import UsageError

#: Arrows along the longer side of a picture.
ARROWS = 24


@dataclass(frozen=True)
class Overlays:
    """`levels`: at each drawn pixel the level of its finest leaf, of the shape of the picture; NaN without a leaf.
    `arrows`: the components of the vector `vector` along the two axes of the picture, both of shape (rows, columns), on a
    coarse raster over the same window. `dots`: on another raster the density of the particles `family`; NaN where there
    are none."""

    levels: np.ndarray | None = None
    arrows: tuple[np.ndarray, np.ndarray] | None = None
    vector: str = ""
    unit: str = ""
    dots: np.ndarray | None = None
    family: str = ""


def require_levels(data: Any, grid: bool) -> None:
    """Raises UsageError for `grid` of a mesh without levels."""
    if grid and data.unstructured:
        raise UsageError("a grid shows the levels of cells, and this mesh has none", [data.path], "leave it away")


def gather(
    drawn: Callable[..., Any], facts: dict[str, Any], grid: bool, vector: str | None, largest: bool,
    dots: Callable[[], Any] | None = None,
) -> Overlays | None:  # fmt: skip
    """Reads what is drawn over the picture with `facts`. `drawn(field, kind=, pixels=)` gives another picture (anything with
    `values` and `unit`) of the same window, or None on ranks that draw nothing; `kind` and `pixels` None are those of
    the picture. `largest`: whether a pixel may show many leaves, of which the finest counts. `dots()` gives a picture of the
    particles, or None likewise. Collective as `drawn` is."""
    if not grid and vector is None and dots is None:
        return None
    levels = drawn("level", kind="max" if largest else None, pixels=None) if grid else None
    arrows, unit = None, ""
    if vector is not None:
        kind = "mean" if largest else None
        both = [drawn(along(vector, facts, side), kind=kind, pixels=ARROWS) for side in (0, 1)]
        if both[0] is not None:
            arrows, unit = (both[0].values, both[1].values), both[0].unit
    seen = None if dots is None else dots()
    return Overlays(
        None if levels is None else levels.values, arrows, vector or "", unit,
        None if seen is None else seen.values, "" if seen is None else seen.label,
    )  # fmt: skip


def along(vector: str, facts: dict[str, Any], side: int) -> str:
    """The formula of a vector's component along the picture's right (0) or up (1)."""
    direction = facts.get(("right", "up")[side])
    if direction is None:
        return f"{vector}_{facts['axes'][side]}"
    words = [f"({weight!r})*{vector}_{axis}" for axis, weight in zip("xyz", direction, strict=False) if weight]
    return "+".join(words)


def draw_levels(axes: Any, extent: tuple[float, float, float, float], levels: np.ndarray) -> None:
    """Lines where the level changes from pixel to pixel, exactly along the sides of the pixels."""
    from matplotlib.collections import LineCollection

    rows, columns = levels.shape
    x = np.linspace(extent[0], extent[1], columns + 1)
    y = np.linspace(extent[2], extent[3], rows + 1)
    lines = []
    row, column = np.nonzero(_differ(levels[:, :-1], levels[:, 1:]))
    lines += _runs(column, row, lambda at, low, high: ((x[at + 1], y[low]), (x[at + 1], y[high])))
    row, column = np.nonzero(_differ(levels[:-1], levels[1:]))
    lines += _runs(row, column, lambda at, low, high: ((x[low], y[at + 1]), (x[high], y[at + 1])))
    axes.add_collection(LineCollection(lines, colors="white", linewidths=0.5, alpha=0.6))


def draw_dots(axes: Any, extent: tuple[float, float, float, float], dots: np.ndarray, family: str) -> None:
    """A dot in each pixel of the raster with particles, more opaque where there are more. Few dots are large, and have an edge
    that shows on any colour. The family's name is below the picture."""
    axes.annotate(
        f"dots: {family}", (1, 0), xycoords="axes fraction", xytext=(0, -24), textcoords="offset points", ha="right",
        va="top", fontsize=9,
    )  # fmt: skip
    row, column = np.nonzero(np.isfinite(dots))
    if not len(row):
        return
    rows, columns = dots.shape
    x = extent[0] + (column + 0.5) * (extent[1] - extent[0]) / columns
    y = extent[2] + (row + 0.5) * (extent[3] - extent[2]) / rows
    number = dots[row, column] / np.nanmin(dots)
    opaque = 0.35 + 0.65 * np.log1p(number) / np.log1p(number.max())
    size = float(np.clip(4000 / len(row), 1.0, 30.0))
    axes.scatter(
        x, y, s=size, c="white", alpha=opaque, edgecolors="black" if size > 5 else "none", linewidths=0.5, marker="o",
        rasterized=True, zorder=3,
    )  # fmt: skip


def round_length(width: float) -> float:
    """The largest of 1, 2, 5, 10 ... that is at most a quarter of the width of a picture."""
    power = 10.0 ** np.floor(np.log10(width / 4))
    return float(max(power * step for step in (1, 2, 5) if power * step <= width / 4 * (1 + 1e-12)))


def draw_scale_bar(axes: Any, extent: tuple[float, float, float, float], unit: str) -> None:
    """A bar of a round length in the lower left corner, in the unit of the axes. A dark edge shows it on any colour."""
    from matplotlib.patheffects import withStroke

    width, height = extent[1] - extent[0], extent[3] - extent[2]
    length = round_length(width)
    x, y = extent[0] + 0.04 * width, extent[2] + 0.05 * height
    edge = [withStroke(linewidth=4, foreground="black")]
    (bar,) = axes.plot([x, x + length], [y, y], color="white", lw=2.5, solid_capstyle="butt", path_effects=edge)
    bar.set_gid("scale bar")
    edge = [withStroke(linewidth=2, foreground="black")]
    axes.annotate(
        f"{length:g} {unit}", (x + length / 2, y), xytext=(0, 4), textcoords="offset points", ha="center", va="bottom",
        fontsize=9, color="white", path_effects=edge,
    )  # fmt: skip
    axes.set_xlim(extent[0], extent[1])
    axes.set_ylim(extent[2], extent[3])


def _differ(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return (first != second) & ~(np.isnan(first) & np.isnan(second))


def _runs(at: np.ndarray, along: np.ndarray, line: Callable[[int, int, int], Any]) -> list[Any]:
    """One line for each run of neighbouring positions `along` with the same `at`."""
    order = np.lexsort((along, at))
    at, along = at[order], along[order]
    first = np.ones(len(at), bool)
    first[1:] = (at[1:] != at[:-1]) | (along[1:] != along[:-1] + 1)
    starts = np.flatnonzero(first)
    lasts = np.flatnonzero(np.roll(first, -1))
    return [line(int(at[a]), int(along[a]), int(along[b]) + 1) for a, b in zip(starts, lasts, strict=True)]


def draw_arrows(axes: Any, extent: tuple[float, float, float, float], overlays: Overlays, unit: str) -> None:
    """Arrows from the middle of each cell of the raster; the longest is as long as a cell and a half, those below
    a hundredth of it are left out. Its key is above."""
    assert overlays.arrows is not None
    u, v = overlays.arrows
    rows, columns = u.shape
    width, height = (extent[1] - extent[0]) / columns, (extent[3] - extent[2]) / rows
    speed = np.hypot(u, v)
    longest = float(np.nanmax(speed, initial=0.0))
    if not longest > 0:
        return
    seen = speed > 0.01 * longest
    u, v = np.where(seen, u, np.nan), np.where(seen, v, np.nan)
    x = extent[0] + (np.arange(columns) + 0.5) * width
    y = extent[2] + (np.arange(rows) + 0.5) * height
    arrows = axes.quiver(
        x, y, u, v, angles="xy", scale_units="xy", scale=longest / (1.5 * min(width, height)), color="white", edgecolor="black",
        linewidth=0.3, width=0.003, pivot="tail",
    )  # fmt: skip
    axes.quiverkey(
        arrows, 0.9, 1.03, longest, f"{overlays.vector} {longest:.3g}{' ' + unit if unit else ''}", labelpos="W",
        coordinates="axes", color="black", fontproperties={"size": 8},
    )  # fmt: skip
