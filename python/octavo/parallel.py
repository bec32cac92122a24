"""Writing a simulation's steps behind its back, and starting again from them on any number of ranks.

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

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from octavo._core import Header, Octree, Patches
from octavo.errors import Unsupported, UsageError
from octavo.step_writer import MeshWriter

__all__ = ["Header", "Octree", "Patches", "Writer", "neighbours", "restart"]

Path = str | os.PathLike[str]
Attribute = int | float | str | np.ndarray | Sequence[int] | Sequence[float] | Sequence[str]

_TYPES = {"float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint8"}


class Writer(MeshWriter):
    """Writes the steps of a simulation. Collective: this, `end_step`, `wait`, `close` and `total_statistics`; they release
    the GIL. All calls belong to the thread that initialised MPI.

    `header` is what all steps have in common. Further keywords are the options of docs/engine.md by name, those of a flow
    as a dict: mode="sync", staging_bytes="64M", checkpoint={"codec": "lossless", "field_codec": {"density": "abs:1e-6"}}.
    They are what the program asks for; `options`, a TOML file (default: the one that OCTAVO_OPTIONS names), overrides
    them, and variables (OCTAVO_MODE ...) override both. `resumed_from`: the `id` of the restart that this run continues.

    No put raises: what is wrong is raised by the next collective call, on every rank, as is what goes wrong in the
    background. The writer can be used further; the failed step does not exist, those before it are whole.

    As a context manager it is closed at the end. Where an exception ends the block the others may not know of it, so
    that nothing collective is called: this rank's work is finished, and the writer gone.
    """

    def __init__(
        self, comm: Any, path: Path, header: Header, *, options: Path | None = None, resumed_from: Any = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        self._dim, self._block, self._planes = header.dim, tuple(header.block), 1
        self._writer = _mpi().Writer(
            _handle(comm), os.fspath(path), header, _texts(settings), os.fspath(options or ""), resumed_from
        )

    def begin_step(self, flow: str, step: int, time: float) -> None:
        """Begins a step of the flow "checkpoint" or "analysis"; `time` in code time. Waits for lent arrays. An argument
        that cannot be is an error of end_step(), as in a put; a UsageError inside a step or after close()."""
        self._begin(lambda: self._writer.begin_step(flow, step, time))
        self._boxes = False

    def put_attribute(self, name: str, value: Attribute) -> None:
        """A number, a text, or a one-dimensional array or list of either; the same on all ranks."""
        self._put(f"attribute {name}", lambda: self._writer.put_attribute(name, _plain(value)))

    def put_attributes(self, values: Mapping[str, Attribute]) -> None:
        """Several attributes."""
        self._put("attributes", lambda: [self.put_attribute(name, value) for name, value in values.items()])

    def put_triangles(
        self, x: np.ndarray, y: np.ndarray, triangles: np.ndarray, global_point: np.ndarray | None = None, *,
        planes: int = 1, global_triangle: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """This rank's piece of a mesh of triangles, maybe without points, on every rank, in place of put_mesh: places of
        its points, shape (triangles, 3) of its points from 0, the numbers of points and triangles in the whole mesh
        (every one from 0 up on one rank at least; without: points the same, triangles by their lowest point). Fields
        then have shape (points,), or (planes, points); the lowest rank's value counts. Copied at once."""

        def put() -> None:
            numbers = None if global_triangle is None else np.ascontiguousarray(global_triangle, "int64")
            self._planes = planes
            self._writer.put_triangles(*_piece(x, y, triangles, global_point), planes, numbers)

        self._put("mesh", put)

    def put_field(
        self, name: str, array: np.ndarray | Sequence[np.ndarray], unit: str = "", *, centring: str = "cell",
        order: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """A value on every tree cell, breadth first: shape (cells,) or (cells, components), and where the header has
        blocks (cells, z, y, x) or (cells, z, y, x, components), with as many block axes as dimensions. Of Patches a list of
        arrays, one a box, level after level, with axes (z, y, x); or one array (cells,) of all boxes, x fastest.

        Any strides will do: a view without its ghosts, one variable of many, components first. Such views are not
        copied here; they are read in end_step(), and must stay as they are until then, or with the option lend until
        the next begin_step, wait or close. The writer keeps them alive. Only what cannot be read in place is copied now:
        foreign byte order, broadcast axes, unaligned elements. `order`: where each tree cell's values are in `array`;
        -1: nowhere, as of another rank's roots, which cost a store no bytes.
        `centring`: cell, face_x, face_y, face_z or node.
        """

        def put() -> None:
            if self._boxes and isinstance(array, (list, tuple)):
                return self._put_boxes(name, [_readable(box) for box in array], unit, centring)
            values, places = _readable(array), order
            if self._planes > 1 and values.ndim == 2:
                values = values.reshape(-1)
            if places is not None:
                places = _order(places, len(values))
            shaped = _with_block(values, 1, (1,)) if self._boxes else _with_block(values, self._dim, self._block)
            self._writer.put_field(name, shaped, values.dtype.name, unit, centring, places)

        self._put(f"field {name}", put)

    def put_particles(
        self, species: str, attributes: Mapping[str, np.ndarray], units: Mapping[str, str] | None = None
    ) -> None:
        """The particles of a species: arrays (count,) or (count, components) by attribute; positions are position_x,
        position_y and position_z [code length]. Read, kept and lent as fields are."""

        def put(name: str, array: np.ndarray) -> None:
            values = _readable(array)
            shaped = _with_block(values, 1, (1,))
            self._writer.put_particles(species, name, shaped, values.dtype.name, (units or {}).get(name, ""))

        self._put_each(f"particles {species}", attributes, put)

    def end_step(self) -> None:
        """The step is on its way: written in sync mode, staged or lent otherwise.

        Raises, on all ranks, where something is wrong with the step: then it is not taken. Raises too where an earlier
        step has failed in the meantime, which the error names, once: this step is taken all the same.
        """
        self._writer.end_step()

    def newest_durable(self, flow: str = "checkpoint") -> Any:
        """The newest step of a flow of which all ranks know that it is on disk: its `.step`, or None."""
        return self._writer.newest_durable(flow)

    def mode_of(self, flow: str) -> str:
        """How steps of the flow are written from now on: sync, background, or auto where that is not decided."""
        return self._writer.mode_of(flow)

    def total_statistics(self) -> dict[str, Any]:
        """The sums over all ranks."""
        return json.loads(self._writer.total_statistics())


def restart(
    comm: Any, path: Path, *, flow: str = "checkpoint", step: int | None = None, fields: Sequence[str] | None = None,
    particles: bool = True, keep_parts: bool = True, refine: int = 0, block: Sequence[int] | None = None,
    fill: bool | str = False, per_mass: Sequence[str] = (), as_patches: bool = False, max_box: int = 64,
    points: Sequence[int] | np.ndarray | None = None, options: Path | None = None, **settings: Any,
) -> Any:  # fmt: skip
    """The state that this rank starts from: its share of a step, whatever number of ranks wrote it. Collective; releases the GIL.

    None where there is no step yet: a first start; a store that had a durable step and has lost it raises. Else an
    object with `step`, `time`, `header`, `attributes`, `mesh`,
    `fields` ({name: array}, shaped as put_field takes them), `particles` ({species: {attribute: array}}), `notes`, and
    `id` for the Writer of the run that goes on. Arrays are views that can be written. Shares have equal numbers of
    leaves along the Hilbert curve; as many ranks as parts, and each gets the part of its number, unless `keep_parts` is
    false. Without `step` it is the newest that is complete and undamaged; what was passed over is in `notes`.

    `refine`: so many levels more, to go on with a finer mesh; the leaves of the finest level are refined, and vectors on
    faces keep their divergence. `block`: blocks of other cells than the stored ones, (1, 1, 1) for cells; the header is
    that of the new tree, and with `fill` cells that the step does not hold are made of the coarser ones: True or
    "linear" with limited slopes, "constant" with their value. `refine` and `fill` weight velocities and FLASH's energies by
    density, and the fields in `per_mass`. `as_patches`: `mesh` is Patches, boxes at most `max_box`
    cells long, and `fields` has a list of arrays, box after box and level after level, as put_field of boxes takes them.

    Further keywords and `options` are the Writer's: of those it uses staging_directory (steps that are on local disks
    only are drained first), ranks_per_node and remember_failed_restarts; variables override them.

    `path` may also be an output of a code: a FLASH checkpoint, an AMReX or RAMSES directory. Shares are equal then.

    A step of triangles has `x`, `y`, `triangles`, `global_point`, `global_triangle` and `planes` in place of `mesh`: equal
    numbers of triangles along the Hilbert curve, with their points; or, where `points` gives numbers (on all ranks), those
    points in that order.
    """
    if isinstance(fill, str) and fill not in ("linear", "constant"):
        raise UsageError(f'expected fill to be True, "linear" or "constant", found "{fill}"', ["fill"])
    longer = None if block is None else [*block, *[1] * (3 - len(block))]
    names = [fields] if isinstance(fields, str) else fields
    return _mpi().restart(
        _handle(comm), os.fspath(path), flow, step, None if names is None else list(names), particles, keep_parts,
        refine, longer, bool(fill), fill if isinstance(fill, str) else "linear", list(per_mass),
        max_box if as_patches else None,
        None if points is None else [int(point) for point in points], _texts(settings), os.fspath(options or ""),
    )  # fmt: skip


def neighbours(comm: Any, start: Any) -> dict[str, np.ndarray]:
    """The surroundings of this rank's share of a step of triangles, as `restart` gave it, with the contents of TELEMAC's PAR
    and CLI files. Collective. Points and triangles are the share's own, from 0; ranks are those of `comm`.

    `shared`: points that other ranks have, too, by ascending number in the whole mesh; those of shared[i] are
    ranks[first[i]:first[i + 1]]. `halo_triangle`: triangles with an edge to another rank's; `behind_rank` and
    `behind_triangle` (n, 3): what lies behind their edges (points 0-1, 1-2, 2-0), -1: nothing.

    Where the store holds the boundary (octavo partition --layout octavo --boundary), along it: `boundary_point`;
    `place` along the whole boundary, from 0; `liquid`, the number of the liquid boundary, 0: a wall; `next` and
    `previous`, numbers in the whole mesh of the points beside it where the edge to them is another rank's, else -1;
    `codes` (n, 4), `values` (n, 7) and `colour`: the boundary file's.
    """
    return _mpi().neighbours(_handle(comm), start)


# ---------------------------------------------------------------------------------------------------------- MPI


def _mpi() -> Any:
    try:
        from octavo import _mpi
    except ImportError as error:
        raise Unsupported(
            "this build of octavo has no MPI", [str(error)], "install an MPI library and build octavo again"
        ) from None
    return _mpi


def _handle(comm: Any) -> int | None:
    """The Fortran handle of a communicator; None for None."""
    if comm is None or isinstance(comm, int):
        return comm
    if not hasattr(comm, "py2f"):
        raise UsageError(
            f"expected a communicator of mpi4py, a Fortran handle or None, found {type(comm).__name__}", ["comm"]
        )
    theirs, ours = sys.modules["mpi4py.MPI"].Get_library_version(), _mpi().library_version()
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


def _plain(value: Any) -> Any:
    """Numbers and lists as Python has them."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (list, tuple)):
        flat = [_plain(item) for item in value]
        return [float(item) for item in flat] if any(isinstance(item, float) for item in flat) else flat
    return value


def _readable(array: Any) -> np.ndarray:
    """The array itself where it can be read in place, else a copy."""
    values = np.asarray(array)
    if values.dtype == bool:
        values = values.view("uint8")
    if values.dtype.name not in _TYPES:
        raise UsageError(f"no values of type {values.dtype}", [], "there are " + ", ".join(sorted(_TYPES)))
    repeats = any(stride == 0 and size > 1 for stride, size in zip(values.strides, values.shape, strict=True))
    if (
        repeats
        or not values.dtype.isnative
        or not values.flags.aligned
        or any(s % values.itemsize for s in values.strides)
    ):
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    return values


def _piece(x: Any, y: Any, triangles: Any, global_point: Any) -> tuple[Any, Any, Any, Any]:
    """A piece of a mesh of triangles as the compiled library takes it."""
    numbers = None if global_point is None else np.ascontiguousarray(global_point, "int64")
    places = [np.ascontiguousarray(values, "float64") for values in (x, y)]
    return *places, np.ascontiguousarray(triangles, "int64").reshape(-1, 3), numbers


def _order(order: Any, cells: int) -> np.ndarray:
    places = np.asarray(order)
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise UsageError("order: expected a one-dimensional array of integers")
    if places.size and (places.min() < -1 or places.max() >= cells):
        raise UsageError(
            f"order: expected entries from 0 to {cells - 1}, or -1, found {places.min()} to {places.max()}"
        )
    return np.ascontiguousarray(places.astype("int64"), dtype="uint32")


def _with_block(values: np.ndarray, dim: int, block: tuple[int, ...]) -> np.ndarray:
    """The same values with axes (cells, z, y, x, components)."""
    inner = tuple(reversed(block))
    if values.ndim in (1 + dim, 2 + dim) and values.shape[1 : 1 + dim] == inner:
        rest = values.shape[1 + dim :]
    elif values.ndim in (1, 2) and all(size == 1 for size in block):
        rest = values.shape[1:]
    else:
        expected = ("cells", *inner) if any(size > 1 for size in block) else ("cells",)
        raise UsageError(f"expected shape ({', '.join(map(str, expected))}[, components]), found {values.shape}")
    axes = (slice(None), *[None] * (3 - dim), *[slice(None)] * dim)
    if values.ndim - len(rest) == 1:
        axes = (slice(None), None, None, None)
    return values[(*axes, slice(None) if rest else None)]
