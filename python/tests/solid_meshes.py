"""Meshes of tetrahedra, pyramids, prisms and hexahedra for tests: a box cut in cubes, and these in solids."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

#: VTK's type of a cell by its corners.
VTK = {4: 10, 5: 14, 6: 13, 8: 12}
#: A cube's corners in VTK's order: bits x, y, z of each.
CUBE = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
#: Its sides, as bases of pyramids with the top inside.
SIDES = ((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0))
PRISMS = ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))
#: Five tetrahedra; in every second cube the mirror image, so that neighbours share diagonals.
EVEN = ((0, 1, 3, 4), (1, 2, 3, 6), (1, 6, 4, 5), (3, 4, 6, 7), (1, 3, 4, 6))
ODD = ((0, 1, 2, 5), (0, 2, 3, 7), (0, 5, 7, 4), (2, 7, 5, 6), (0, 2, 7, 5))


@dataclass
class Mesh:
    points: np.ndarray  #: (points, 3)
    cells: list[tuple[int, ...]]  #: points of each cell, in VTK's order
    at_points: dict[str, np.ndarray] = field(default_factory=dict)  #: (points,), or (steps, points)
    in_cells: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def corners(self) -> np.ndarray:
        return np.array([len(cell) for cell in self.cells], np.uint8)

    @property
    def connectivity(self) -> np.ndarray:
        return np.array([point for cell in self.cells for point in cell], np.int64)

    def centres(self) -> np.ndarray:
        """The mean of each cell's corners, of shape (cells, 3)."""
        return np.array([self.points[list(cell)].mean(axis=0) for cell in self.cells])


def _cut(shape: str, cube: list[int], middle: int, parity: int) -> list[tuple[int, ...]]:
    if shape == "hexahedra":
        return [tuple(cube)]
    if shape == "prisms":
        return [tuple(cube[k] for k in prism) for prism in PRISMS]
    if shape == "tetrahedra":
        return [tuple(cube[k] for k in one) for one in (ODD if parity else EVEN)]
    return [(*(cube[k] for k in side), middle) for side in SIDES]


def box(
    n: tuple[int, int, int] = (3, 2, 2), shape: str = "mixed", lo: tuple[float, float, float] = (0, 0, 0),
    hi: tuple[float, float, float] = (1, 1, 1),
) -> Mesh:  # fmt: skip
    """A box of n cubes along the axes, each cut in solids of one shape: "hexahedra", "prisms" (2), "pyramids" (6 around a
    point in the middle) or "tetrahedra" (5). "mixed": columns of hexahedra and of prisms in turn, every second hexahedron
    as pyramids, of which those that stand on x = lo become 2 tetrahedra each. Cells share whole sides in all of them."""
    axes = [np.linspace(lo[a], hi[a], n[a] + 1) for a in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    added: list[np.ndarray] = []
    cells: list[tuple[int, ...]] = []
    for i, j, k in np.ndindex(*n):
        cube = [int(np.ravel_multi_index((i + x, j + y, k + z), [m + 1 for m in n])) for x, y, z in CUBE]
        parity = (i + j + k) % 2
        mixed = "prisms" if (i + j) % 2 else "pyramids" if k % 2 else "hexahedra"
        middle = len(points) + len(added)
        here = _cut(mixed if shape == "mixed" else shape, cube, middle, parity)
        if len(here[0]) == 5:
            added.append(points[cube].mean(axis=0))
            if shape == "mixed" and i == 0:
                a, b, c, d, top = here.pop()  # the side on x = lo
                here += [(a, b, c, top), (a, c, d, top)]
        cells += here
    return Mesh(np.concatenate([points, *(p[None] for p in added)]), cells)


def write_vtkhdf(
    path: Path, mesh: Mesh, times: list[float] | None = None, extra: list[tuple[int, tuple[int, ...]]] = ()
) -> Path:  # type: ignore[assignment]
    """The mesh as a VTKHDF file of version 2.0, by VTK's specification. With `times` arrays have a row of each step.
    `extra`: more cells (VTK's type, points) before the mesh's own."""
    import h5py

    types = [kind for kind, _ in extra] + [VTK[len(cell)] for cell in mesh.cells]
    cells = [points for _, points in extra] + mesh.cells
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([2, 0], np.int64)
        root.attrs.create("Type", b"UnstructuredGrid", dtype=h5py.string_dtype("ascii", len("UnstructuredGrid")))
        connectivity = np.array([point for cell in cells for point in cell], np.int64)
        for name, count in (
            ("Points", len(mesh.points)),
            ("Cells", len(cells)),
            ("ConnectivityIds", len(connectivity)),
        ):
            root[f"NumberOf{name}"] = np.array([count], np.int64)
        root["Points"], root["Connectivity"] = mesh.points, connectivity
        root["Offsets"] = np.cumsum([0] + [len(cell) for cell in cells])
        root["Types"] = np.array(types, np.uint8)
        for group, arrays, count in (
            ("PointData", mesh.at_points, len(mesh.points)),
            ("CellData", mesh.in_cells, len(cells)),
        ):
            made = root.create_group(group)
            for name, values in arrays.items():
                made[name] = values.reshape(-1) if times is not None else values
            if times is not None:
                offsets = root.create_group(f"Steps/{group}Offsets")
                for name in arrays:
                    offsets[name] = np.arange(len(times)) * count
        if times is not None:
            steps = root["Steps"]
            steps.attrs["NSteps"] = len(times)
            steps["Values"] = np.array(times)
            for name in ("PartOffsets", "PointOffsets"):
                steps[name] = np.zeros(len(times), np.int64)
            steps["NumberOfParts"] = np.ones(len(times), np.int64)
            for name in ("CellOffsets", "ConnectivityIdOffsets"):
                steps[name] = np.zeros((len(times), 1), np.int64)
    return path
