"""Selections as objects of other libraries, each imported where it is used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo import _core
from octavo.errors import Unsupported, UsageError
from octavo.extras import source_of
from octavo.triangles.polygons import by_corners, fields_in_cells, first_triangles, vtk_cells
from octavo.triangles.solids import refuse_solids
from octavo.triangles.solids import vtk_cells as cells_of_solids

if TYPE_CHECKING:
    from octavo.dataset import Selection

_VTK_TRIANGLE, _VTK_CELLS = 5, {1: 3, 2: 8, 3: 11}  # line, pixel, voxel


def needed(name: str) -> Any:
    """The module of a library that only some calls need. Raises Unsupported if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        raise Unsupported(
            f"this needs the Python package {package}, which is not installed", [], source_of(package)
        ) from None


def _points(ds: Selection, fields: list[str] | None) -> Any:
    """The mesh of triangles of a selection, with fields."""
    if ds.region or ds.max_level is not None or ds.condition:
        raise Unsupported("a mesh of triangles is handed over whole, without a selection", [ds._data.path], "")
    part = ds._data.read(0, fields)
    if part.planes > 1:
        raise Unsupported("a mesh of triangles with planes is not handed over", [ds._data.path],
                          "octavo convert IN OUT.vtkhdf writes it for VTK")  # fmt: skip
    return part


def pandas_table(ds: Selection, fields: list[str] | None) -> Any:
    """One row a cell, or a point of triangles or solids."""
    return needed("pandas").DataFrame(ds.arrays(fields))


def dask_table(ds: Selection, fields: list[str] | None) -> Any:
    """The table in partitions, a domain each, that are read where they are computed."""
    from octavo.delayed import dask

    frames, delayed = needed("dask.dataframe"), needed("dask").delayed
    if ds._data.unstructured:
        raise Unsupported(
            "a mesh of triangles or solids has no domains", [ds._data.path], "to_pandas() gives its points, or cells"
        )
    names = [info["name"] for info in ds._data.fields] if fields is None else fields
    first = pandas_table(ds.where("0"), names)  # no cell: names and types alone; it meets damaged domains
    domains = dask(ds)
    if not domains:
        raise UsageError("the selection reads no domain", [ds._data.path], "")
    return frames.from_delayed([delayed(pandas_table)(domain, names) for domain in domains], meta=first)


def edges(data: Any) -> np.ndarray:
    """The edges of a cell along x, y, z in units of that along x; 0 along axes that the data lack."""
    cells = np.array(data.roots[: data.dim]) * np.array(data.block)
    size = (np.array(data.hi) - np.array(data.lo)) / cells
    return np.pad(size / size[0], (0, 3 - data.dim))


def pyvista_grid(ds: Selection, fields: list[str] | None) -> Any:
    """A pyvista.UnstructuredGrid of voxels, pixels, lines, triangles or solids."""
    pyvista = needed("pyvista")
    if ds._data.solids:
        return _solids_grid(ds, fields)
    if ds._data.unstructured:
        part = _points(ds, fields)
        points = np.stack([part.x, part.y, np.zeros_like(part.x)], axis=1)
        own = fields_in_cells(ds._data)
        if by_corners(ds._data):
            grid = pyvista.UnstructuredGrid(*vtk_cells(part.triangles, first_triangles(part.triangles)), points)
        else:
            grid = pyvista.UnstructuredGrid({_VTK_TRIANGLE: part.triangles}, points)
        grid.point_data.update({name: values for name, values in part.fields.items() if name not in own})
        grid.cell_data.update({name: values for name, values in part.fields.items() if name in own})
        return grid
    cells, dim = ds.arrays(fields), ds._data.dim
    count = len(cells["dx"])
    centres = np.stack([cells.get(axis, np.zeros(count)) for axis in "xyz"], axis=1)
    corner = (np.arange(1 << dim)[:, None] >> np.arange(3) & 1) - 0.5
    corner[:, dim:] = 0
    points = centres[:, None, :] + corner * (cells["dx"][:, None] * edges(ds._data))[:, None, :]
    numbers = np.arange(count << dim).reshape(count, 1 << dim)
    grid = pyvista.UnstructuredGrid({_VTK_CELLS[dim]: numbers}, points.reshape(-1, 3))
    grid.cell_data.update({name: values for name, values in cells.items() if name not in ("x", "y", "z", "dx")})
    return grid


def _solids_grid(ds: Selection, fields: list[str] | None) -> Any:
    if ds.region or ds.max_level is not None or ds.condition or ds._data.num_parts != 1:
        raise Unsupported(
            "a mesh of solids is handed over whole, in one part, without a selection", [ds._data.path], ""
        )
    part = ds._data.read(0, fields)
    points = np.stack([part.x, part.y, part.z], axis=1)
    grid = needed("pyvista").UnstructuredGrid(*cells_of_solids(part.corners, part.connectivity), points)
    own = fields_in_cells(ds._data)
    grid.point_data.update({name: values for name, values in part.fields.items() if name not in own})
    grid.cell_data.update({name: values for name, values in part.fields.items() if name in own})
    return grid


def _within_parents(boxes: list[dict[str, Any]], dim: int) -> list[dict[str, Any]]:
    """The boxes, each cut so that it lies in one box of the level above: yt hides the cells of one parent a box. Values
    get axes (x, y, z)."""
    out: list[dict[str, Any]] = []
    factor = np.where(np.arange(3) < dim, 2, 1)
    for level in range(1 + max(box["level"] for box in boxes)):
        above = [box for box in out if box["level"] == level - 1]
        for box in (box for box in boxes if box["level"] == level):
            lower, upper = np.array(box["lower"]), np.array(box["upper"])
            fields = {name: values.reshape((upper - lower)[::-1]).T for name, values in box["fields"].items()}
            low, high = lower[None, :], upper[None, :]
            if level > 0:
                low = np.maximum(lower, [factor * parent["lower"] for parent in above])
                high = np.minimum(upper, [factor * parent["upper"] for parent in above])
            for some in np.flatnonzero((low < high).all(axis=1)):
                at = tuple(slice(a, b) for a, b in zip(low[some] - lower, high[some] - lower, strict=True))
                own = {name: values[at] for name, values in fields.items()}
                out.append({"level": level, "lower": low[some], "upper": high[some], "fields": own})
    return out


def yt_dataset(ds: Selection, fields: list[str] | None) -> Any:
    """A data set of yt made of boxes. yt selects by itself, and wants every cell of the domain."""
    yt, data = needed("yt"), ds._data
    if ds.region or ds.condition:
        raise Unsupported("yt takes a whole step, without a region or a condition", [data.path],
                          "yt's own regions select; .level(L) may stay")  # fmt: skip
    refuse_solids(data, "yt takes boxes here", "to_pyvista() hands it over")
    if data.unstructured:
        raise Unsupported("yt takes no mesh of triangles here", [data.path], "to_pyvista() hands it over")
    names = [info["name"] for info in data.fields] if fields is None else fields
    deepest = data.levels[-1]["level"] if ds.max_level is None else ds.max_level
    coarsest = min([row["level"] for row in data.levels if row["leaves"]] + [deepest])
    cells = np.ones(3, dtype=np.int64)
    cells[: data.dim] = np.array(data.roots[: data.dim]) * np.array(data.block) << (coarsest - data.level_origin)
    low, high = np.zeros(3), np.ones(3)
    low[: data.dim], high[: data.dim] = data.lo, data.hi
    boxes = [box for part in ds.parts for box in _core.boxes(data, part, coarsest, names, **ds._chosen())]
    grids: list[dict[Any, Any]] = []
    for box in _within_parents(boxes, data.dim):
        edge = (high - low) / cells / np.where(np.arange(3) < data.dim, 2.0 ** box["level"], 1)
        grid: dict[Any, Any] = {("stream", name): values for name, values in box["fields"].items()}
        grid.update(left_edge=low + box["lower"] * edge, right_edge=low + box["upper"] * edge, level=box["level"],
                    dimensions=box["upper"] - box["lower"])  # fmt: skip
        grids.append(grid)
    units = data.units
    return yt.load_amr_grids(
        grids, cells, bbox=np.stack([low, high], axis=1), sim_time=data.time, refine_by=2,
        length_unit=(units["length"], "cm"), time_unit=(units["time"], "s"),
        mass_unit=(units["density"] * units["length"] ** 3, "g"), periodicity=(*data.periodic, True, True)[:3],
    )  # fmt: skip
