"""Python packages that only some calls need: which extra of octavo brings each."""

from __future__ import annotations

#: Package, what needs it, and the extra that brings it (none: always needed).
PACKAGES = [
    ("numpy", "all verbs", ""),
    ("rich", "tables and progress bars", "tables"),
    ("matplotlib", "pictures", "plot"),
    ("PIL", "movies (.gif, folders)", "plot"),
    ("h5py", "images as .h5", "hdf5"),
    ("dask", "octavo.dask", "dask"),
    ("starlette", "octavo view", "view"),
    ("uvicorn", "octavo view", "view"),
    ("rasterio", "GeoTIFF, maps under triangles", "geo"),
    ("pyogrio", "shapefiles, GeoJSON, GeoPackages", "geo"),
    ("pandas", "to_pandas, to_dask", "analysis"),
    ("xarray", "to_xarray", "analysis"),
    ("pyvista", "to_pyvista", "analysis"),
]


def source_of(package: str) -> str:
    """The command that installs a package that only some calls need."""
    extra = next((extra for name, _, extra in PACKAGES if name == package), "")
    return f"pip install 'octavo[{extra}]'" if extra else f"pip install {package}"
