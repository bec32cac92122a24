"""Writes a simulation's steps in the background, and starts again from them on any number of ranks.

    from mpi4py import MPI

    start = octavo.restart(MPI.COMM_WORLD, "run.octavo")        # None: a first start
    with octavo.Writer(MPI.COMM_WORLD, "run.octavo", header, resumed_from=start and start.id) as writer:
        writer.begin_step("checkpoint", step, time)
        writer.put_mesh(tree)
        writer.put_field("density", density, unit="g/cm^3")     # a NumPy array, read in end_step()
        writer.end_step()                                       # the solver goes on; the step is written meanwhile

Every rank writes one part, its own, or none. `comm` is an mpi4py communicator, a Fortran handle (comm.py2f()), or None:
all processes that mpirun started, for which mpi4py is not needed. docs/engine.md says what happens when.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.ranks import engine

__all__ = ["neighbours", "restart"]

Path = str | os.PathLike[str]


def restart(
    comm: Any, path: Path, *, flow: str = "checkpoint", step: int | None = None, fields: Sequence[str] | None = None,
    particles: bool = True, opaque: bool = False, keep_parts: bool = True, refine: int = 0, block: Sequence[int] | None = None,
    fill: bool | str = False, per_mass: Sequence[str] = (), as_patches: bool = False, max_box: int = 64,
    points: Sequence[int] | np.ndarray | None = None, options: Path | None = None, **settings: Any,
) -> Any:  # fmt: skip
    """The state that this rank starts from: its share of a step, whatever number of ranks wrote it. Collective;
    releases the GIL.

    Returns None if there is no step yet (a first start). Raises if a store had a durable step and has lost it.
    Otherwise returns an object with `step`, `time`, `header`, `attributes`, `mesh`, `fields` ({name: array}, shaped as
    put_field takes them), `particles` ({species: {attribute: array}}), `notes`, and `id` for the Writer of the run that
    goes on. Arrays are writable views. Shares have equal numbers of leaves along the Hilbert curve. With as many ranks
    as parts, rank i gets part i, unless `keep_parts` is false. Without `step` it takes the newest step that is complete
    and undamaged; `notes` name the steps it skipped.

    `opaque`: `opaque` of the result is {rank: {name: bytes}}, as put_bytes took them, by rank of the run that wrote the
    step. With as many ranks now, it has only the bytes of this rank's own number, else those of all ranks.

    `refine`: so many levels more, to go on with a finer mesh; the leaves of the finest level are refined, and vectors
    on faces keep their divergence. `block`: blocks of other cells than the stored ones, (1, 1, 1) for cells; the header
    is that of the new tree, and with `fill` cells that the step does not hold are made of the coarser ones: True or
    "linear" with limited slopes, "constant" with their value. `refine` and `fill` weight velocities and FLASH's
    energies by density, and the fields in `per_mass`. `as_patches`: `mesh` is Patches, boxes at most `max_box` cells
    long, and `fields` has a list of arrays, box after box and level after level, as put_field of boxes takes them.

    Further keywords and `options` are the Writer's: of those it uses staging_directory (a step that lies on the disks of
    the nodes is read there, or drained first), ranks_per_node and remember_failed_restarts; variables override them.

    `path` may also be an output of a code: a FLASH checkpoint, an AMReX or RAMSES directory. Shares are equal then.

    A step of triangles has `x`, `y`, `triangles`, `global_point`, `global_triangle` and `planes` in place of `mesh`:
    equal numbers of triangles along the Hilbert curve, with their points; or, where `points` gives numbers (on all
    ranks), those points in that order.
    """
    if isinstance(fill, str) and fill not in ("linear", "constant"):
        raise UsageError(f'expected fill to be True, "linear" or "constant", found "{fill}"', ["fill"])
    longer = None if block is None else [*block, *[1] * (3 - len(block))]
    names = [fields] if isinstance(fields, str) else fields
    return engine().restart(
        _handle(comm), os.fspath(path), flow, step, None if names is None else list(names), particles, opaque, keep_parts,
        refine, longer, bool(fill), fill if isinstance(fill, str) else "linear", list(per_mass),
        max_box if as_patches else None,
        None if points is None else [int(point) for point in points], _texts(settings), os.fspath(options or ""),
    )  # fmt: skip


def neighbours(comm: Any, start: Any) -> dict[str, np.ndarray]:
    """The surroundings of this rank's share of a step of triangles, as `restart` gave it, with the contents of
    TELEMAC's PAR and CLI files. Collective. Points and triangles are the share's own, from 0; ranks are those of
    `comm`.

    `shared`: points that other ranks have, too, by ascending number in the whole mesh; those of shared[i] are
    ranks[first[i]:first[i + 1]]. `halo_triangle`: triangles with an edge to another rank's; `behind_rank` and
    `behind_triangle` (n, 3): what lies behind their edges (points 0-1, 1-2, 2-0), -1: nothing.

    Where the store holds the boundary (octavo partition --layout octavo --boundary), along it: `boundary_point`;
    `place` along the whole boundary, from 0; `liquid`, the number of the liquid boundary, 0: a wall; `next` and
    `previous`, numbers in the whole mesh of the points beside it where the edge to them is another rank's, else -1;
    `codes` (n, 4), `values` (n, 7) and `colour`: the boundary file's.
    """
    return engine().neighbours(_handle(comm), start)


# ---------------------------------------------------------------------------------------------------------- MPI


def _handle(comm: Any) -> int | None:
    """The Fortran handle of a communicator; None for None."""
    if comm is None or isinstance(comm, int):
        return comm
    if not hasattr(comm, "py2f"):
        raise UsageError(
            f"expected a communicator of mpi4py, a Fortran handle or None, found {type(comm).__name__}", ["comm"]
        )
    theirs, ours = sys.modules["mpi4py.MPI"].Get_library_version(), engine().library_version()
    if theirs.rstrip("\0 ") != ours.rstrip("\0 "):
        raise UsageError(
            f"mpi4py uses another MPI library than octavo: {theirs.strip()}, not {ours.strip()}",
            ["comm"],
            "MPI4PY_MPIABI and MPI4PY_LIBMPI choose the library of mpi4py's wheels; or build it: "
            "pip install --no-binary mpi4py mpi4py",
        )
    return comm.py2f()


# ------------------------------------------------------------------------------------------------------ arguments


def _texts(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """{"checkpoint": {"codec": "raw"}, "lend": True} -> [("checkpoint.codec", "raw"), ("lend", "true")]."""
    texts: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            texts += _texts(value, f"{prefix}{name}.")
        else:
            texts.append((prefix + name, str(value).lower() if isinstance(value, bool) else str(value)))
    return texts
