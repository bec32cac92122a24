"""Files for geographic systems: maps as GeoTIFF (rasterio), points and triangles as GeoJSON, shapefile or GeoPackage (pyogrio)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo.errors import Unsupported, UsageError
from octavo.extras import source_of
from octavo.triangles.polygons import fields_in_cells, first_triangles

if TYPE_CHECKING:
    from octavo.dataset import Selection

#: Endings of files of points and triangles, and GDAL's drivers.
DRIVERS = {".geojson": "GeoJSON", ".shp": "ESRI Shapefile", ".gpkg": "GPKG"}
_POINT, _POLYGON = 1, 3  # in well-known binary


def library(name: str, path: str) -> Any:
    """rasterio or pyogrio. Raises Unsupported that says what to install."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise Unsupported(f"this file needs {name}", [path], source_of(name)) from None


def save_raster(
    facts: dict[str, Any], shape: tuple[int, ...], bands: Iterable[np.ndarray], path: str, crs: str | None = None
) -> None:
    """Writes a map whose rows come in bands from the lowest: float64, NaN for no value, north up. One band is in memory.
    `crs` as rasterio takes it: "EPSG:2154"."""
    rasterio = library("rasterio", path)
    if list(facts["axes"]) != ["x", "y"]:
        raise UsageError("a GeoTIFF shows x and y", [path], "a map or slice along z")
    if crs is not None:
        try:
            rasterio.crs.CRS.from_user_input(crs)
        except (rasterio.errors.CRSError, ValueError) as error:
            raise UsageError(f"no coordinate system '{crs}': {error}", [], "--crs EPSG:2154") from None
    rows, columns = shape
    x0, x1, y0, y1 = facts["extent"]
    with rasterio.open(
        path, "w", driver="GTiff", height=rows, width=columns, count=1, dtype="float64", nodata=np.nan, crs=crs,
        transform=rasterio.transform.from_bounds(x0, y0, x1, y1, columns, rows), compress="deflate",
    ) as file:  # fmt: skip
        row = rows
        for band in bands:
            row -= len(band)
            file.write(band[::-1], 1, window=rasterio.windows.Window(0, row, columns, len(band)))
        file.set_band_description(1, facts["label"])
        file.units = [facts["unit"] or ""]
        file.update_tags(**{name: str(value) for name, value in facts.items() if value is not None})


def save_features(kind: str, selection: Selection, path: str, fields: Any, crs: str | None) -> dict[str, Any]:
    """A feature for each point of a mesh of triangles, with the values there, or for each of its triangles, with the
    values at its middle: the means of those at its points. All of the mesh is in memory, with these fields."""
    data = selection._data
    if not data.unstructured:
        raise Unsupported("points and triangles are of meshes of triangles", [data.path], "--as cells writes a table")
    if data.dim == 3:
        raise Unsupported("a mesh of planes has no place in this file", [path], "octavo slice --plane N -o out.tif")
    if selection.region is not None or selection.condition is not None or selection.definitions:
        raise Unsupported("a mesh of triangles is exported whole, without a selection", [data.path], "")
    reals = [info["name"] for info in data.fields if info["dtype"].startswith("float")]
    own = fields_in_cells(data)
    names = [name for name in reals if kind != "points" or name not in own] if fields is None else list(fields)
    if kind == "points" and (wrong := own.intersection(names)):
        raise Unsupported(f"values in cells are not at points: {', '.join(sorted(wrong))}", [path], "--as triangles")
    part = data.read(0, names)
    if kind == "points":
        columns, geometry = {name: part.fields[name] for name in names}, _points(part.x, part.y)
        _write(path, geometry, "Point", columns, crs)
    else:
        corners = part.triangles
        first = first_triangles(corners) if own else np.arange(len(corners) + 1)
        cell = np.repeat(np.arange(len(first) - 1), np.diff(first))
        columns = {
            name: part.fields[name][cell] if name in own else part.fields[name][corners].mean(axis=1, dtype="f8")
            for name in names
        }
        geometry = _polygons(part.x[corners], part.y[corners])
        _write(path, geometry, "Polygon", columns, crs)
    return {"cells": len(geometry), "fields": list(columns)}


def _points(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rows = np.empty(len(x), dtype=[("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
    rows["order"], rows["kind"], rows["x"], rows["y"] = 1, _POINT, x, y
    return _objects(rows)


def _polygons(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kinds = [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("corners", "<u4"), ("at", "<f8", (4, 2))]
    rows = np.empty(len(x), dtype=kinds)
    rows["order"], rows["kind"], rows["rings"], rows["corners"] = 1, _POLYGON, 1, 4
    rows["at"] = np.stack([x[:, [0, 1, 2, 0]], y[:, [0, 1, 2, 0]]], axis=2)
    return _objects(rows)


def _objects(rows: np.ndarray) -> np.ndarray:
    out = np.empty(len(rows), object)
    out[:] = [row.tobytes() for row in rows]
    return out


def _write(path: str, geometry: np.ndarray, kind: str, columns: dict[str, np.ndarray], crs: str | None) -> None:
    import os
    import warnings

    library("pyogrio", path)
    from pyogrio import errors, raw

    driver = DRIVERS[os.path.splitext(path)[1].lower()]
    options = {"COORDINATE_PRECISION": "15", "RFC7946": "NO"} if driver == "GeoJSON" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a missing crs, and of names that a shapefile shortens
            raw.write(
                path, geometry, [np.asarray(values, "f8") for values in columns.values()], list(columns), geometry_type=kind,
                crs=crs, driver=driver, **options,
            )  # fmt: skip
    except (errors.CRSError, ValueError) as error:
        if crs is None:
            raise
        raise UsageError(f"no coordinate system '{crs}': {error}", [], "--crs EPSG:2154") from None
