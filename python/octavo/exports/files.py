"""Files for other programs: which kinds there are, which endings of names each has, and who writes them."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from octavo import _core
from octavo.errors import Error, Unsupported, UsageError
from octavo.printable import printable

if TYPE_CHECKING:
    from octavo.dataset import Selection

#: A selection as compiled functions take it: region, max_level, where, definitions.
Chosen = dict[str, Any]

#: Kind -> the endings that its files may have. The first kind that has an ending is that ending's default.
KINDS = {
    "htg": (".vtkhdf",),
    "amr": (".vtkhdf",),
    "ug": (".vtkhdf",),
    "cube": (".npy", ".npz", ".fits", ".vtkhdf"),
    "cells": (".csv", ".npz"),
    "particles": (".vtkhdf", ".csv", ".npz"),
    "points": (".geojson", ".shp", ".gpkg", ".csv", ".npz"),
    "triangles": (".geojson", ".shp", ".gpkg"),
}
#: Compiled code writes these; many ranks may share the work.
_SHARED = {("htg", ".vtkhdf"), ("amr", ".vtkhdf"), ("ug", ".vtkhdf"), ("particles", ".vtkhdf")}


def kind_of(path: str, kind: str | None) -> str:
    """The kind of file that a name and a wish select."""
    ending = os.path.splitext(path)[1].lower()
    if kind is None:
        for name, endings in KINDS.items():
            if ending in endings:
                return name
    elif kind not in KINDS:
        raise UsageError(f"no kind of export '{printable(kind)}'", [], "there are: " + ", ".join(KINDS))
    elif ending in KINDS[kind]:
        return kind
    known = KINDS[kind] if kind else sorted({end for ends in KINDS.values() for end in ends})
    raise UsageError(f"'{printable(ending)}' is no ending of an export" + (f" as {kind}" if kind else ""), [path],
                     "name the file *" + ", *".join(known))  # fmt: skip


def write(
    data: Any, chosen: Chosen, path: str, kind: str | None, *, fields: Sequence[str] | None = None,
    species: Sequence[str] | None = None, single_precision: bool = False, overwrite: bool = False, threads: int = 0,
    ranks: Any = None, progress: Any = None, crs: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Writes a selection of an opened step, and returns what was written. Collective over `ranks`. NumPy is imported for
    files that it writes alone."""
    ending = os.path.splitext(path)[1].lower()
    if data.unstructured and (kind == "ug" or (kind is None and ending not in KINDS["points"])):
        return _write_mesh(data, chosen, path, fields, single_precision, overwrite)
    tables = data.unstructured and ending in KINDS["cells"]
    taken = kind_of(path, kind or ("cells" if tables else None))
    if taken == "points" and not data.unstructured:
        raise Unsupported("points are of meshes of triangles and solids", [data.path], "--as cells writes a table")
    if species is not None and taken != "particles":
        raise UsageError(f"species are of particles, and this is an export as {taken}", [path], "--as particles")
    if crs is not None and ending not in KINDS["triangles"]:
        raise UsageError(f"coordinate systems are of points and triangles, not of {ending}", [path], "name it *.gpkg")
    if (taken, ending) in _SHARED:
        report = _core.export_as(
            taken, data, path, fields=fields, species=species, single_precision=single_precision, overwrite=overwrite,
            threads=threads, ranks=ranks, progress=progress, **chosen,
        )  # fmt: skip
        return {"output": path, "as": taken, **report}
    if ranks is not None and ranks.size > 1:
        raise Unsupported(f"a file {ending} is written by one process", [path], "run it without mpirun")
    with _new_file(path, overwrite) as partial:
        from octavo.exports import geo

        if ending in geo.DRIVERS:
            report = geo.save_features(taken, _selection(data, chosen), partial, fields, crs)
        elif tables and taken in ("points", "cells"):
            taken, report = _write_places(data, chosen, partial, kind, fields, single_precision)
        else:
            report = _WRITERS[taken](_selection(data, chosen), partial, fields, species, single_precision)
    return {"output": path, "as": taken, **report, "bytes": os.path.getsize(path), "notes": data.notes}


@contextmanager
def _new_file(path: str, overwrite: bool) -> Iterator[str]:
    """A file that gets its name once it is whole, and the files that a shapefile has beside it."""
    if os.path.exists(path) and not overwrite:
        raise UsageError("the output exists already", [path], "-f replaces it")
    _core.require_replaceable(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UsageError("the folder of the output does not exist", [folder], f"mkdir -p {folder}")
    stem, ending = os.path.splitext(path)
    partial = f"{stem}.{os.getpid()}.partial"
    try:
        yield partial + ending
        for made in sorted(glob.glob(glob.escape(partial) + ".*"), key=lambda made: made == partial + ending):
            os.replace(made, stem + made.removeprefix(partial))
    except Error as error:
        error.places = [path if place == partial + ending else place for place in error.places]
        raise
    finally:
        for made in glob.glob(glob.escape(partial) + ".*"):
            os.remove(made)


def _selection(data: Any, chosen: Chosen) -> Selection:
    from octavo.dataset import Selection

    return Selection(
        data, region=chosen["region"], max_level=chosen["max_level"], condition=chosen["where"],
        definitions=tuple(chosen["definitions"]),
    )  # fmt: skip


def _write_mesh(
    data: Any, chosen: Chosen, path: str, fields: Sequence[str] | None, single_precision: bool, overwrite: bool
) -> dict[str, Any]:
    """A mesh of triangles or solids, with all its steps, as `octavo convert` writes it for VTK."""
    if any(value not in (None, []) for value in chosen.values()):
        raise Unsupported(
            "a mesh of triangles or solids is exported whole, without a selection", [data.path],
            "a table (*.csv, *.npz) has the selected points or cells",
        )  # fmt: skip
    kind_of(path, "ug")
    report = _core.convert(
        [data.path], path, to="vtkhdf", fields=fields, single_precision=single_precision,
        overwrite=overwrite,
    )  # fmt: skip
    return {"output": path, "as": "ug", **report, "notes": report.get("notes", [])}


def _write_places(
    data: Any, chosen: Chosen, path: str, kind: str | None, fields: Any, single_precision: bool
) -> tuple[str, dict[str, Any]]:
    """A table of points or cells of triangles or solids; without a kind, of the places where the fields stand."""
    from octavo.exports import tables
    from octavo.triangles.table import table_of

    columns, cells = table_of(data, chosen, fields, cells=None if kind is None else kind == "cells")
    kind = "cells" if cells else "points"
    rows, names = tables.save([tables.narrowed(columns) if single_precision else columns], path)
    if rows == 0:
        raise UsageError(f"no {kind[:-1]} is selected", [data.path], "")
    return kind, {"cells": rows, "fields": names}


def _write_cube(selection: Selection, path: str, fields: Any, species: Any, single_precision: bool) -> dict[str, Any]:
    from octavo.exports import cube

    made = cube.cube_of(selection._data, selection._chosen(), fields, single_precision)
    cube.save(made, path)
    facts = {name: getattr(made, name) for name in ("level", "shape", "corner", "cell", "first")}
    return {"cells": int(made.fields[next(iter(made.fields))].size), "fields": list(made.fields), **facts}


def _write_cells(selection: Selection, path: str, fields: Any, species: Any, single_precision: bool) -> dict[str, Any]:
    from octavo.exports import tables

    pieces = selection.chunks(fields, memory="64 MiB")
    rows, names = tables.save(map(tables.narrowed, pieces) if single_precision else pieces, path)
    if rows == 0:
        raise UsageError("no cell is selected", [selection._data.path], "")
    return {"cells": rows, "leaves": rows, "fields": names}


def _write_particles(
    selection: Selection, path: str, fields: Any, species: Any, single_precision: bool
) -> dict[str, Any]:
    from octavo.exports import tables

    names = [row["name"] for row in selection._data.species] if species is None else list(species)
    if len(names) != 1:
        raise UsageError(f"a table holds one species of particles, and there are {len(names)}", [path],
                         "--species " + (names[0] if names else "NAME"))  # fmt: skip
    columns = selection.particles(names[0])
    if fields is None:
        columns.pop("age", None)  # computed, not stored
    if fields is not None:
        unknown = [name for name in fields if name not in columns]
        if unknown:
            raise UsageError(f'no particle has an attribute "{unknown[0]}"', [], "there are: " + ", ".join(columns))
        columns = {name: columns[name] for name in fields}
    if single_precision:
        columns = tables.narrowed(columns)
    rows, written = tables.save([columns] if columns else [], path)
    if rows == 0:
        raise UsageError("no particle is selected", [selection._data.path], "")
    return {"cells": rows, "species": names, "fields": written}


_WRITERS: dict[str, Callable[..., dict[str, Any]]] = {
    "cube": _write_cube,
    "cells": _write_cells,
    "particles": _write_particles,
}
