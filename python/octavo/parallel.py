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

from octavo.errors import Error, UsageError, kind_of
from octavo.ranks import engine

__all__ = [
    "forget_failed_restarts",
    "neighbours",
    "restart",
    "restart_failed",
    "restart_write",
]

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

    `refine`: the number of levels to add, to go on with a finer mesh; each refines the leaves of the finest level, and
    vectors on faces keep their divergence. `block`: the cells of a block, if they are to differ from the stored ones;
    (1, 1, 1) for single cells. The header is that of the new tree. With `fill`, cells that the step does not hold are
    made from coarser ones: True or "linear" with limited slopes, "constant" with their value. `refine` and `fill`
    weight velocities, FLASH's energies and the fields in `per_mass` by density. `as_patches`: `mesh` is Patches, with
    boxes at most `max_box` cells long, and `fields` has a list of arrays, box after box and level after level, as put_field of boxes takes them.

    Further keywords and `options` are the Writer's: of those it uses staging_directory (a step that lies on the disks of
    the nodes is read there, or drained first), ranks_per_node and remember_failed_restarts; variables override them.

    `path` may also be an output of a code: a FLASH checkpoint, an AMReX or RAMSES directory. Shares are equal then.

    A step of triangles has `x`, `y`, `triangles`, `global_point`, `global_triangle` and `planes` in place of `mesh`:
    equal numbers of triangles along the Hilbert curve, with their points; or, where `points` gives numbers (on all
    ranks), those points in that order.
    """
    words, problem = engine().RestartWords(), None
    try:  # a rank that left now would leave the others waiting
        words.flow, words.step, words.particles, words.opaque = flow, step, particles, opaque
        words.fields = None if fields is None else [fields] if isinstance(fields, str) else list(fields)
        words.keep_parts, words.refine, words.per_mass = keep_parts, refine, list(per_mass)
        words.block = None if block is None else (*block, *[1] * (3 - len(block)))
        words.fill, words.fill_by = bool(fill), fill if isinstance(fill, str) else "linear"
        words.as_patches, words.max_box = as_patches, max_box
        words.points = None if points is None else [int(point) for point in points]
        words.settings, words.options = _texts(settings), os.fspath(options or "")
    except Exception as error:
        problem = problem_of(error, "restart")
    return engine().restart(_handle(comm), os.fspath(path), words, problem)


def restart_failed(comm: Any, store: Path, start: Any) -> None:
    """Records that the run cannot go on from the step that `restart` gave. With the option remember_failed_restarts, the
    next restart takes an older one. Collective; raises the same error on all ranks."""
    engine().restart_failed(_handle(comm), os.fspath(store), start)


def forget_failed_restarts(store: Path) -> int:
    """Forgets the steps that restart_failed recorded, so that restarts may take them again, and returns how many there
    were. One process calls it."""
    return engine().forget_failed_restarts(os.fspath(store))


def restart_write(comm: Any, store: Path, start: Any, format: str, path: Path) -> Any:
    """Makes files of the store's step that `restart` found, for a code that starts from files of its own. Collective;
    raises the same error on all ranks: UsageError for a step that was stored with a loss.

    "ramses": an output for as many ranks as there are: rank i writes the files of domain i + 1 to the folder `path`,
    which has the same name on all nodes (/dev/shm, a local disk). output_NNNNN in the current directory is then a link
    to the output; NNNNN is the step's attribute output_number. The result's remove(), or the end of its `with` block,
    removes the files and the link: on all ranks, once RAMSES has read them.

    Any other format of cells ("flash", "amrex"): the checkpoint `path`, which all ranks write and see, and which must not
    exist, with the bytes of `octavo convert --to`. It stays."""
    return engine().CodeFiles(_handle(comm), os.fspath(store), start, format, os.fspath(path))


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

Problem = tuple[int, str, list[str], str]


def problem_of(error: Exception, place: str) -> Problem:
    """The kind, message, places and hint, from which the compiled library makes the error for all ranks."""
    if isinstance(error, Error):
        return kind_of(error), error.message, [*error.places, place], error.hint
    text = str(error) if 0 < len(str(error)) < 200 else type(error).__name__
    return kind_of(UsageError("")), text, [place], ""


def _texts(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """{"checkpoint": {"codec": "raw"}, "lend": True} -> [("checkpoint.codec", "raw"), ("lend", "true")]."""
    texts: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            texts += _texts(value, f"{prefix}{name}.")
        else:
            texts.append((prefix + name, str(value).lower() if isinstance(value, bool) else str(value)))
    return texts
