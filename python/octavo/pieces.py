"""Unstructured meshes in pieces: what `octavo partition`, `split`, `merge` and `refine` do.

    from octavo import pieces

    report = pieces.partition("geo.slf", "run/T2D", 64, boundary="geo.cli", also={"PRE": "previous.slf"})
    pieces.merge("run/T2DRES", "result.slf", mesh="geo.slf")

Every function writes files, gives a dict of what it wrote and counted, and raises octavo.Error. All but partition(ranks=)
are for one process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

Path = str | PathLike[str]
Progress = Callable[[int, int], bool] | None


def partition(
    mesh: Path,
    prefix: Path,
    parts: int | None,
    *,
    boundary: Path | None = None,
    method: str | None = None,
    layout: str | None = None,
    also: Mapping[str, Path] | None = None,
    sections: Path | None = None,
    zones: Path | None = None,
    weirs: Path | None = None,
    cut: Any = None,
    write_cut: Path | None = None,
    concat_sides: bool = False,
    overwrite: bool = False,
    ranks: Any = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Cuts a mesh of triangles into the pieces that TELEMAC reads. `method`: metis (None, of one process), scotch, inertial
    (None, of several) or hilbert; `layout`: concat (None), files, med or octavo; `also`: results on the mesh by the name
    that PREFIX gets. `cut`: the part of each element, from 0, in place of a method: an array of integers, shape (elements,), whole
    on every rank, or a file of them, text or .npy. `write_cut`: the file that the cut is written to, .npy or text.
    `parts` None: the number of parts of `cut`. Without `cut`, `mesh` must be a store that was cut (layout octavo): its cut
    and boundary are taken. Sections, zones and weirs become numbered files, as TELEMAC opens them, unless `concat_sides`.
    A mesh of solids becomes a store that keeps the part of each cell (layout octavo or None), in one process.
    Pieces that are there are replaced, other files with `overwrite` only. `ranks`: octavo.ranks.world(), collective."""
    from octavo import _core
    from octavo.errors import UsageError
    from octavo.ranks import scotch

    if cut is not None and method is not None:
        raise UsageError("a cut that is given is not made by a method: take one of the two", [])
    in_file = isinstance(cut, (str, PathLike))
    return _core.partition(
        mesh,
        prefix,
        parts=parts or 0,
        method=method or ("metis" if ranks is None else "inertial"),
        layout=layout or "concat",
        any_layout=layout is None,
        boundary=boundary,
        also=list((also or {}).items()),
        sections=sections,
        zones=zones,
        weirs=weirs,
        cut=cut if in_file else None,
        part_of=None if in_file or cut is None else part_numbers(cut),
        write_cut=write_cut,
        concat_sides=concat_sides,
        overwrite=overwrite,
        progress=progress,
        ranks=ranks,
        scotch=scotch() if ranks is not None and method == "scotch" else None,
    )


def part_numbers(cut: Any) -> Any:
    """Integers of any kind as those of 4 bytes; raises octavo.UsageError for others, and for more than one axis."""
    import numpy as np

    from octavo.errors import UsageError

    given = np.asarray(cut)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        found = f"{given.dtype} of shape {given.shape}"
        raise UsageError(f"cut: expected integers, one an element, found {found}", [])
    if given.size and not 0 <= given.min() <= given.max() < 2**31 - 1:
        raise UsageError(f"cut: expected parts from 0, found {given.min()} to {given.max()}", [])
    return np.ascontiguousarray(given, dtype=np.int32)


def merge(
    pieces: Path | Sequence[Path],
    out: Path,
    *,
    mesh: Path | None = None,
    boundary: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Puts pieces together, SERAFIN or MED: a prefix, a -CONCAT file, PREFIX.med, or all the pieces. `out` becomes MED where
    its suffix is .med. `mesh`: the whole geometry, for the order of elements and the ranks on the boundary; `boundary`: the
    .cli, for the ranks where the geometry has none, and for MED's groups."""
    from octavo import _core

    paths = [pieces] if isinstance(pieces, (str, PathLike)) else list(pieces)
    return _core.merge(paths, out, mesh=mesh, boundary=boundary, overwrite=overwrite, progress=progress)


def split(
    path: Path,
    like: Path | Sequence[Path],
    prefix: Path,
    *,
    layout: str = "concat",
    overwrite: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Cuts a SERAFIN result by existing pieces. A file with the name of a new piece is replaced if it is a piece, otherwise
    only with `overwrite`."""
    from octavo import _core

    paths = [like] if isinstance(like, (str, PathLike)) else list(like)
    return _core.split(path, paths, prefix, layout=layout, overwrite=overwrite, progress=progress)


def refine(
    mesh: Path,
    out: Path,
    *,
    times: int = 1,
    boundary: Path | None = None,
    boundary_out: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Cuts each triangle of a 2-D SERAFIN file into four, `times` times, with all its steps."""
    from octavo import _core

    return _core.refine(
        mesh,
        out,
        times=times,
        boundary=boundary,
        boundary_out=boundary_out,
        overwrite=overwrite,
        progress=progress,
    )
