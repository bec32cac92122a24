"""Points and cells of meshes of triangles and solids as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from octavo import _core

if TYPE_CHECKING:
    import numpy as np

_AXES = ("x", "y", "z")


def table_of(
    data: Any, chosen: dict[str, Any], fields: Sequence[str] | None, *, cells: bool | None = None
) -> tuple[dict[str, np.ndarray], bool]:
    """The selected points or `cells` (None: where the fields stand), and whether they are cells. Columns are the fields in their own
    types, the place x, y, z (of cells the centroid) [code length], and the area or volume that each stands for, unless a field
    has that name. Raises as the compiled table does."""
    types = {info["name"]: info["dtype"] for info in data.fields}
    names = None if fields is None else [name for name in fields if name in types or name not in _AXES]
    found = _core.places(data, fields=names, in_cells=cells, **chosen)
    columns = {name: values.astype(types.get(name, "f8"), copy=False) for name, values in found["fields"].items()}
    size = "volume" if data.dim == 3 else "area"
    for name in (*_AXES[: data.dim], size):
        columns.setdefault(name, found["size" if name == size else name])
    return columns, found["in_cells"]
