"""Octavo: input and output for large mesh simulations.

    import octavo

    ds = octavo.open("output_00080")          # a RAMSES output or a store: headers only
    core = ds.sphere("center", 0.1).level(9)   # a lazy selection: nothing is read
    core.map("density", axis="z").save("core.png")
    core.sum("density", weight="volume")       # the mass
    for cells in core.chunks(["density"], memory="256 MiB"):
        ...                                    # dicts of NumPy arrays

Names are imported when first used, so that the command starts as fast as the interpreter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octavo.dataset import Dataset, Selection
    from octavo.definition_files import definitions
    from octavo.delayed import dask
    from octavo.errors import Damaged, Error, NoSpace, Unreadable, Unsupported, UsageError
    from octavo.parallel import (
        forget_failed_restarts,
        neighbours,
        restart,
        restart_failed,
        restart_write,
    )
    from octavo.snapshots import Series
    from octavo.writer import Header, Octree, Patches, Target, Writer

__all__ = [
    "Damaged",
    "Dataset",
    "Error",
    "Header",
    "NoSpace",
    "Octree",
    "Patches",
    "Selection",
    "Series",
    "Target",
    "Unreadable",
    "Unsupported",
    "UsageError",
    "Writer",
    "convert",
    "dask",
    "definitions",
    "diff",
    "discharge",
    "forget_failed_restarts",
    "neighbours",
    "open",
    "over_time",
    "pathlines",
    "probe",
    "repack",
    "restart",
    "restart_failed",
    "restart_write",
    "series",
    "steps",
    "streamlines",
    "verify",
    "volume",
]

_HOMES = {
    "Dataset": "dataset",
    "Selection": "dataset",
    "open": "dataset",
    "over_time": "dataset",
    "probe": "dataset",
    "discharge": "triangles.steps_of_triangles",
    "volume": "triangles.steps_of_triangles",
    "streamlines": "triangles.ways",
    "pathlines": "triangles.ways",
    "definitions": "definition_files",
    "series": "snapshots",
    "Series": "snapshots",
    "dask": "delayed",
    "steps": "dataset",
    "convert": "dataset",
    "repack": "dataset",
    "diff": "dataset",
    "verify": "dataset",
    "Header": "writer",
    "Octree": "writer",
    "Patches": "writer",
    "Target": "writer",
    "Writer": "writer",
    "restart": "parallel",
    "restart_failed": "parallel",
    "restart_write": "parallel",
    "forget_failed_restarts": "parallel",
    "neighbours": "parallel",
    "Error": "errors",
    "UsageError": "errors",
    "Unreadable": "errors",
    "Damaged": "errors",
    "Unsupported": "errors",
    "NoSpace": "errors",
    "Interrupted": "errors",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "__version__":
        from octavo import _core

        return _core.version
    if name not in _HOMES:
        raise AttributeError(f"module 'octavo' has no attribute {name!r}")
    return getattr(importlib.import_module(f"octavo.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
