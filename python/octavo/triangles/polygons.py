"""Cells of more than three corners in a mesh of triangles: fans of consecutive triangles (octavo/mesh/triangles/cells.hpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

NAMES = ("triangles", "quadrangles", "pentagons", "hexagons")


def by_corners(data: Any) -> list[int]:
    """How many cells have 3 corners, 4, 5 ...; empty where each triangle is a cell and all values stand at points."""
    return list(data.attributes.get("cells", []))


def described(counts: list[int]) -> str:
    """ "3 triangles, 2 quadrangles"."""
    words = [NAMES[k] if k < len(NAMES) else f"of {k + 3} corners" for k in range(len(counts))]
    return ", ".join(f"{count:,} {word}" for count, word in zip(counts, words, strict=True) if count)


def fields_in_cells(data: Any) -> set[str]:
    """The stored fields with a value in each cell, and not at each point; of solids too."""
    if not by_corners(data) and not data.solids:
        return set()
    return {info["name"] for info in data.fields if info["centring"] == "cell"}


def first_triangles(triangles: np.ndarray) -> np.ndarray:
    """The first triangle of each cell, and the number of triangles as a last entry."""
    import numpy as np

    before, after = triangles[:-1], triangles[1:]
    goes_on = (before[:, 0] == after[:, 0]) & (before[:, 2] == after[:, 1])
    begins = np.concatenate([np.ones(min(len(triangles), 1), bool), ~goes_on])
    return np.append(np.flatnonzero(begins), len(triangles))


def vtk_cells(triangles: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells as VTK lists them (a count and the points of each), and their types: triangle, quadrangle, polygon."""
    import numpy as np

    corners = np.diff(first) + 2
    ends = np.cumsum(corners + 1)
    begins = ends - corners - 1
    cells = np.empty(ends[-1] if len(ends) else 0, np.int64)
    cells[begins] = corners
    cells[begins + 1], cells[begins + 2] = triangles[first[:-1], 0], triangles[first[:-1], 1]
    cell_of = np.repeat(np.arange(len(corners)), np.diff(first))
    cells[begins[cell_of] + 3 + np.arange(len(triangles)) - first[cell_of]] = triangles[:, 2]
    types = np.where(corners == 3, 5, np.where(corners == 4, 9, 7)).astype(np.uint8)
    return cells, types
