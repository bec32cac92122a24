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
    layout: str = "concat",
    also: Mapping[str, Path] | None = None,
    sections: Path | None = None,
    zones: Path | None = None,
    weirs: Path | None = None,
    concat_sides: bool = False,
    overwrite: bool = False,
    ranks: Any = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Cuts a mesh of triangles into the pieces that TELEMAC reads. `method`: metis (None, of one process), scotch, inertial
    (None, of several) or hilbert; `layout`: concat, files, med or octavo; `also`: results on the mesh by the name that PREFIX
    gets. `parts` None: `mesh` is a store that was cut (layout octavo), whose cut and boundary are taken. Sections,
    zones and weirs become numbered files, as TELEMAC opens them, unless `concat_sides`.
    Pieces that are there are replaced, other files with `overwrite` only. `ranks`: octavo.ranks.world(), collective."""
    from octavo import _core
    from octavo.ranks import scotch

    return _core.partition(
        mesh,
        prefix,
        parts=parts or 0,
        method=method or ("metis" if ranks is None else "inertial"),
        layout=layout,
        boundary=boundary,
        also=list((also or {}).items()),
        sections=sections,
        zones=zones,
        weirs=weirs,
        concat_sides=concat_sides,
        overwrite=overwrite,
        progress=progress,
        ranks=ranks,
        scotch=scotch() if ranks is not None and method == "scotch" else None,
    )


def merge(
    pieces: Path | Sequence[Path],
    out: Path,
    *,
    mesh: Path | None = None,
    boundary: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Puts SERAFIN pieces together: a prefix, a -CONCAT file, or all the pieces. `mesh`: the whole geometry, for the order of
    elements and the ranks on the boundary."""
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
    """Cuts a SERAFIN result as pieces that are there. What has the new ones' names is replaced where it is a piece, else with
    `overwrite` only."""
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
