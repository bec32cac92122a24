"""Meshes of tetrahedra, pyramids, prisms and hexahedra (octavo/mesh/solids.hpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.errors import Unsupported

if TYPE_CHECKING:
    import numpy as np

#: In the order of `Dataset.solids`.
SHAPES = ("tetrahedra", "pyramids", "prisms", "hexahedra")
FOR_PARAVIEW = "octavo convert IN OUT.vtkhdf writes it for ParaView; docs/solids.md lists what takes solids"
#: VTK's types of cells with 4, 5, 6 and 8 corners.
VTK_TYPES = {4: 10, 5: 14, 6: 13, 8: 12}


def refuse_solids(data: Any, what: str, hint: str = FOR_PARAVIEW) -> None:
    """Raises Unsupported for a step of solids: `what` says who does not take them."""
    if data.solids:
        raise Unsupported(f"{what}: this mesh is of solids", [data.path], hint)


def vtk_cells(corners: np.ndarray, connectivity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells as VTK lists them (a count and the points of each), and their types."""
    import numpy as np

    counts = corners.astype(np.int64)
    ends = np.cumsum(counts + 1)
    counted = np.zeros(len(connectivity) + len(counts), bool)
    counted[ends - counts - 1] = True
    cells = np.empty(len(counted), np.int64)
    cells[counted], cells[~counted] = counts, connectivity
    types = np.zeros(9, np.uint8)
    types[list(VTK_TYPES)] = list(VTK_TYPES.values())
    return cells, types[corners]
