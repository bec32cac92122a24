"""One writer of a simulation's steps, whose target is data.

    with octavo.Writer(comm, "run.octavo", header) as writer:                     # a store
        writer.begin_step("checkpoint", step, time)
        ...
    with octavo.Writer(comm, octavo.Target("amrex_plotfile"), header) as writer:  # an output a step
        writer.begin_step("plt00010", 10, time)
        writer.put_mesh(octavo.Patches(domain, boxes, dim=2))
        writer.put_field("density", [box[2:-2, 2:-2] for box in my_boxes])        # an array a box, ghosts sliced away
        writer.end_step()                                                         # the solver goes on

docs/writing.md says what happens when.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

import numpy as np

from octavo import _core
from octavo._core import Header, Octree, Patches
from octavo.device import on_device
from octavo.errors import Error, UsageError
from octavo.parallel import _handle, _texts, problem_of
from octavo.ranks import engine

__all__ = ["Header", "Octree", "Patches", "Target", "Writer"]

Path = str | os.PathLike[str]
Attribute = int | float | str | np.ndarray | Sequence[int] | Sequence[float] | Sequence[str]

_TYPES = {
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint8", "bool"
}  # fmt: skip
_THREAD = ("mode", "sync", "bound_thread")
_OUTPUT = (*_THREAD, "checksums", "staging_bytes")
_FILE = (*_THREAD, "variables", "title", "precision", "little_endian", "writers", "alignment", "origin", "date", "resume",
         "ranks_per_node")  # fmt: skip
_PIECE = ("x", "y", "triangles", "global_point", "planes", "global_triangle", "boundary", "geometry")


class Target:
    """The target of a Writer and its options. Names are those of octavo_target in octavo.h.

    `kind`: "store" (`path`; the Writer's keywords are its options); "flash", one HDF5 checkpoint per step;
    "amrex_plotfile" and "amrex_checkpoint", one directory per step; "serafin" and "med", one file of all steps
    (`path`).

    All but a store: `mode`, "background" or "sync"; `sync`, a step is on disk before it gets its name or the file shows
    it; `bound_thread`, the background thread stays on the cores that its rank is bound to. FLASH and AMReX:
    `checksums`, copies of arrays are compared with the arrays' checksums before they are written; `staging_bytes`,
    memory for the copy of a step (end_step() itself writes a larger step). FLASH: `collect`, rank 0 alone writes in
    end_step(); `replace`, a file of the step's name stays until the step is complete, and is then replaced; `names`,
    {name: its own}. AMReX: `files` a level (0: one a GiB); `max_box`, the longest box that a tree
    is cut into [cells]; of a checkpoint also `title` and `multifab`.

    SERAFIN and MED: `variables`, {name: unit}, or names; at most 16 characters each. The mesh is this rank's piece,
    maybe without points: places of its points `x`, `y` (points,), `triangles` (triangles, 3) of its points from 0,
    `global_point` (points,) their numbers in the file from 0 (without: the same). Several ranks may hold a point or a
    triangle; each number is held by one at least. `global_triangle` (triangles,): numbers in the file, on all ranks or
    none (then they stand by their lowest point). `boundary` (points,): IPOBO, place on the boundary from 1, 0 inside.
    `geometry`: a file of the whole mesh (SERAFIN, MED ...), whose triangles, IPOBO, origin and groups (of MED) are taken.
    `planes`: of points, with prisms between them. `title`: 72 characters; `date`: a datetime, or year, month, day,
    hour, minute, second; `origin` [m]: readers add it to x and y; `precision`: "single" or "double"; `little_endian`:
    SERAFIN; `writers`: ranks that write, 0: one a host; `alignment`: no two of them touch one such unit of the file
    [bytes]; `ranks_per_node`: hosts are imitated, this many ranks each. `resume`: the file is there, with this mesh and
    these variables: True, the run goes on behind its last step; a time, behind the last step that is no later.
    Otherwise the file must not exist.
    """

    def __init__(self, kind: str, path: Path | None = None, **words: Any) -> None:
        self.kind, self.path, self.words = kind, path, words
        row: dict[str, Any] = next((row for row in _core.formats() if kind in row["outputs"]), {})
        #: Whether it is one file of all steps, on triangles.
        self.series = bool(row and row["triangles"])
        own = (*_OUTPUT, *(row["outputs"][kind] if row else ()))
        self._known = () if kind == "store" else (*_FILE, *_PIECE) if self.series else own

    def _fill(self, filled: Any, place: Callable[[str], None]) -> None:
        """Calls `place` with the name of the word that comes next."""
        place("kind")
        filled.kind = self.kind
        place("path")
        if self.path is not None:
            filled.path = os.fspath(self.path)
        for name, word in self.words.items():
            place(name)
            if name not in self._known:
                there = ", ".join(self._known) or "none"
                raise UsageError(f"no word '{name}' of a target {self.kind!r}: there are {there}")
            if name not in _PIECE:
                setattr(filled, name, _WORDS.get(name, lambda word: word)(word))
        if self.series:
            place("mesh")
            filled.mesh = _triangles(**{name: self.words[name] for name in _PIECE if name in self.words})


class Writer:
    """Writes the steps of a simulation to a target: a Target, or the path of a store. Collective: this, `end_step`,
    `finished`, `wait`, `close` and `total_statistics`; they release the GIL. All calls belong to the thread that
    initialised MPI.

    `header` has the properties that all steps share; SERAFIN and MED have none. Further keywords are a store's options
    of docs/options.md by name, those of a flow as a dict: mode="sync", staging_bytes="64M", checkpoint={"codec":
    "lossless", "field_codec": {"density": "abs:1e-6"}}. They are what the program asks for; `options`, a TOML file
    (default: the one that OCTAVO_OPTIONS names), overrides them, and variables (OCTAVO_MODE ...) override both.
    `resumed_from`: the `id` of the restart that this run continues.

    No put raises: what is wrong is raised by the next collective call, on every rank, as is what goes wrong in the
    background. The writer can be used further; the failed step does not exist, those before it are whole. Until a FLASH
    or AMReX output is complete on all ranks it is called NAME.partial; it gets its name in the next collective call
    after that. For those, and for SERAFIN and MED, every rank puts the same fields.

    As a context manager it is closed at the end. Where an exception ends the block the others may not know of it, so
    that nothing collective is called: this rank's work is finished, and the writer gone.
    """

    def __init__(
        self, comm: Any, target: Target | Path, header: Header | None = None, *, options: Path | None = None,
        resumed_from: Any = None, **settings: Any,
    ) -> None:  # fmt: skip
        words, problem, at = engine().TargetWords(), None, ["target"]
        self._dim: int = header.dim if header else 1
        self._block: tuple[int, ...] = tuple(header.block) if header else (1,)
        self._planes, self._points, self._boxes, self._is_store = 1, None, False, False
        try:  # a rank that left now would leave the others waiting
            to = target if isinstance(target, Target) else Target("store", target)
            self._is_store = to.kind == "store"
            if not self._is_store and (settings or options or resumed_from):
                raise UsageError("options, resumed_from and further keywords are a store's")
            if not to.series and not isinstance(header, Header):
                raise UsageError(f"header: expected a Header, found {type(header).__name__}")
            to._fill(words, lambda name: at.append(name))
            words.options, words.settings, words.resumed_from = os.fspath(options or ""), _texts(settings), resumed_from
            if to.series:
                self._points = (to.words.get("planes", 1), len(to.words["x"]))
        except REFUSALS as error:
            problem = problem_of(error, at[-1])
        self._writer = engine().Writer(_handle(comm), words, header or Header(), problem)

    def begin_step(self, name: str | Path | None, step: int, time: float) -> None:
        """Begins a step. `name`: for a store the flow, "checkpoint" or "analysis"; for FLASH and AMReX the step's path,
        which must not exist; for SERAFIN and MED None. `time` is in code time, for SERAFIN and MED in [s]. Waits for
        lent arrays. As with a put, end_step() raises the error of a bad argument. Inside a step or after close() it
        raises a UsageError."""
        # A wrong order of calls is the program's mistake, and the same on all ranks.
        try:
            self._writer.begin_step(name if name is None else os.fspath(name), step, time)
        except REFUSALS as error:
            self._writer.begin_error(problem_of(error, "begin_step"))
            if isinstance(error, Error):
                raise
        self._boxes = False

    def due(self, flow: str, step: int, time: float) -> bool:
        """Whether to write this step: a store's options checkpoint.every and analysis.every decide. Call it at every
        step of the simulation. It is collective if the options count wall time."""
        return self._writer.due(flow, step, time)

    def put_attribute(self, name: str, value: Attribute) -> None:
        """Adds a number, a text, or a one-dimensional array or list of either to the step; the same on all ranks.
        FLASH: an entry of its lists ("real scalars/dt"); AMReX: "level_steps", "level_dt". An AMReX checkpoint needs
        "level_dt": a list with the time step of each level, or with one for all."""
        self._put(f"attribute {name}", lambda: self._writer.put_attribute(name, _plain(value)))

    def put_attributes(self, values: Mapping[str, Attribute]) -> None:
        """Adds several attributes."""

        def put() -> None:
            for name, value in values.items():
                self.put_attribute(name, value)

        self._put("attributes", put)

    def put_list(self, name: str, values: Mapping[str, Attribute]) -> None:
        """Adds a list of named values, as FLASH has them: the attribute `name` holds the names, NAME/ENTRY the value of
        each. All values are integers, all are real numbers, or all are texts; the same on all ranks."""
        self._put(f"list {name}", lambda: self._writer.put_list(name, list(values), _plain(list(values.values()))))

    def put_units(self, length: float, density: float, time: float) -> None:
        """Gives the units of this step [cgs], if they are not the header's: those of a comoving box change with time."""
        self._put("the units", lambda: self._writer.put_units(length, density, time))

    def put_bytes(self, name: str, data: bytes) -> None:
        """Adds bytes of this rank alone, such as the state of its random numbers, to a store. `restart(...,
        opaque=True)` gives them back."""
        self._put(f"bytes {name}", lambda: self._writer.put_bytes(name, bytes(data)))

    def put_mesh(self, mesh: Octree | Patches) -> None:
        """Gives this rank's tree, with the cells it owns, or its boxes; before its fields. Copies it at once. A store
        or a FLASH file cuts boxes into the header's blocks: boxes must be made of whole blocks. AMReX's outputs merge
        the cells or blocks of a tree into boxes."""
        self._boxes = isinstance(mesh, Patches)

        def put() -> None:
            if not isinstance(mesh, (Octree, Patches)):
                raise UsageError(f"expected an Octree or Patches, found {type(mesh).__name__}")
            self._writer.put_mesh(mesh)

        self._put("mesh", put)

    def put_blocks(self, level: np.ndarray, position: np.ndarray, refined: np.ndarray) -> None:
        """Gives this rank's blocks of a tree, refined ones too, in any order, in place of put_mesh. The library finds the
        tree. `level` (blocks,): the code's own numbers. `position` (blocks, dim): x first, in blocks of the level, from
        0. `refined` (blocks,): the block has children, on this rank or another. Fields then have their values in this
        order, and no `order` of their own. Copies it at once."""
        self._boxes = False

        def put() -> None:
            places = np.asarray(position, "int64")
            levels, flags = np.ascontiguousarray(level, "int32"), np.ascontiguousarray(refined, bool)
            if places.shape != (len(levels), self._dim) or flags.shape != levels.shape:
                raise UsageError(
                    f"expected a position ({len(levels)}, {self._dim}) and flags ({len(levels)},), "
                    f"found {places.shape} and {flags.shape}"
                )
            wide = np.zeros((len(levels), 3), "int64")
            wide[:, : self._dim] = places
            self._writer.put_blocks(levels, wide, flags.view("uint8"))

        self._put("blocks", put)

    def put_triangles(
        self, x: np.ndarray, y: np.ndarray, triangles: np.ndarray, global_point: np.ndarray | None = None, *,
        planes: int = 1, global_triangle: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Gives this rank's piece of a mesh of triangles, in place of put_mesh. Every rank calls it; a piece may have
        no points. `x`, `y`: places of its points. `triangles`: shape (triangles, 3), its points from 0. `global_point`
        and `global_triangle`: numbers in the whole mesh, where at least one rank has each number from 0 up; by default
        points keep their numbers, and triangles are numbered by their lowest point. Fields then have shape (points,) or
        (planes, points); the lowest rank's value counts. Copies it at once."""

        self._planes, self._boxes = planes, False
        self._put(
            "mesh",
            lambda: self._writer.put_mesh(
                _triangles(x, y, triangles, global_point, planes=planes, global_triangle=global_triangle)
            ),
        )

    def put_field(
        self, name: str, array: np.ndarray | Sequence[np.ndarray], unit: str = "", *, centring: str = "cell",
        order: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Gives a field. Tree: a value on every cell, breadth first, with shape (cells,) or (cells, components); if the
        header has blocks, (cells, z, y, x) or (cells, z, y, x, components), with as many block axes as dimensions.
        Patches: a list of arrays, one per box, level after level, with axes (z, y, x); or one array (cells,) of all
        boxes, x fastest.

        Any strides will do: a view without its ghosts, one variable of many, components first. Such views are not
        copied here; they are read in end_step(), and must stay as they are until then, or with the option lend until
        the next begin_step, wait or close. The writer keeps them alive. Only what cannot be read in place is copied
        now: foreign byte order, broadcast axes, unaligned elements. Arrays in device memory (CuPy, Numba, PyTorch, JAX)
        are put in the same way, each in its own memory: docs/devices.md. `order`: where each tree cell's values are in
        `array`; -1: nowhere, as of another rank's roots, which cost a store no bytes. `centring`: cell, face_x, face_y,
        face_z or node. A face variable of blocks has one value more along its axis: it is the fields NAME_left and
        NAME_right, which may be put instead, with a value a cell.

        SERAFIN and MED: a variable's values at this rank's points, shape (points,), or (planes, points), float64 or
        float32, any strides; copied: the array may change right away. If several ranks hold a point, the
        lowest one's value is taken.
        """

        def put() -> None:
            if self._boxes and isinstance(array, (list, tuple)):
                return self._put_boxes(name, [_given(box, self._is_store) for box in array], unit, centring)
            values, stream = _given(array, self._is_store)
            places = None if order is None else _order(order, len(values))
            shaped = self._shaped(name, values, centring, stream is not None)
            self._writer.put_field(name, shaped, values.dtype.name, unit, centring, places, stream)

        self._put(f"field {name}", put)

    def _shaped(self, name: str, values: np.ndarray, centring: str, on_device: bool) -> np.ndarray:
        """The values with axes (cells, z, y, x, components)."""
        if self._points and values.shape not in (self._points, (math.prod(self._points),)):
            raise UsageError(f"expected shape {self._points[self._points[0] == 1 :]}, found {values.shape}")
        if self._points or (self._planes > 1 and values.ndim == 2):
            if on_device and not values.flags.c_contiguous:  # NumPy would copy it
                raise UsageError("expected planes that follow one another in device memory")
            values = values.reshape(-1)
        if self._boxes or self._points:
            return _with_block(values, 1, (1,))
        is_face = centring in ("face_x", "face_y", "face_z") and "_left" not in name and "_right" not in name
        faces = tuple(n + (is_face and centring[-1] == axis) for n, axis in zip(self._block, "xyz", strict=False))
        if self._is_store and values.shape[1 : 1 + self._dim] != faces[: self._dim][::-1]:
            faces = self._block
        return _with_block(values, self._dim, faces)

    def _put_boxes(self, name: str, given: list[tuple[np.ndarray, int | None]], unit: str, centring: str) -> None:
        """Puts one array per box, with axes (z, y, x), of which those beyond dim are left out."""
        arrays, streams = [box for box, _ in given], [stream for _, stream in given]
        for box in arrays:
            if box.ndim != self._dim:
                raise UsageError(f"expected a box of {self._dim} axes, found shape {box.shape}")
        shaped = [box[(None, *[None] * (3 - self._dim), ..., None)] for box in arrays]
        self._writer.put_boxes(name, shaped, [box.dtype.name for box in arrays], unit, centring, streams)

    def put_particles(
        self, species: str, attributes: Mapping[str, np.ndarray], units: Mapping[str, str] | None = None
    ) -> None:
        """Gives the particles of a species: arrays (count,) or (count, components) by attribute. Positions are
        position_x, position_y and position_z [code length]. The writer reads, keeps and lends them as it does
        fields."""

        def put(name: str, array: np.ndarray) -> None:
            values, stream = _given(array, self._is_store)
            shaped = _with_block(values, 1, (1,))
            self._writer.put_particles(species, name, shaped, values.dtype.name, (units or {}).get(name, ""), stream)

        self._put_each(f"particles {species}", attributes, put)

    def end_step(self) -> None:
        """Takes the step: writes it inside this call, stages or lends it.

        Raises on all ranks if something is wrong with the step, which is then not taken. Also raises, once, if an
        earlier step has failed in the meantime. The error names that step, and this step is still taken.
        """
        self._writer.end_step()

    def finished(self) -> bool:
        """Whether all ranks have written all steps. Does not wait. A step that is complete gets its name, or the file
        shows it."""
        return self._writer.finished()

    def wait(self) -> None:
        """Waits until every step so far is on disk on all ranks, and native outputs have their names. Raises if a step
        has failed."""
        self._writer.wait()

    def close(self) -> None:
        """Waits as wait() does, then closes the writer, even if it raises."""
        self._writer.close()

    @property
    def steps(self) -> int:
        """Steps that are durable, and those that a SERAFIN or MED file had when it was opened."""
        return self._writer.steps()

    def newest_durable(self, flow: str = "checkpoint") -> Any:
        """The newest step of a store's flow that all ranks know to be on disk; its number is `.step`. None: there is
        none."""
        return self._writer.newest_durable(flow)

    def newest_drained(self, flow: str = "checkpoint") -> Any:
        """The same for steps in the store itself. Without a staging_directory it is newest_durable()."""
        return self._writer.newest_drained(flow)

    def newest_safe(self, flow: str = "checkpoint", safety: str = "partner") -> Any:
        """The newest step of a store's flow that all ranks know to survive at least what `safety` says: "local" (the end
        of the job: newest_durable()), "partner" or "xor" (the loss of a node), "rs" (of two nodes of a group), "store"
        (of all nodes: newest_drained()). Analysis steps survive the loss of a node only in the store. None: there is
        none. Not collective."""
        return self._writer.newest_safe(flow, safety)

    def mode_of(self, flow: str) -> str:
        """The mode in which a store's next steps of the flow are written: sync, background, or auto (not decided
        yet)."""
        return self._writer.mode_of(flow)

    def statistics(self) -> dict[str, Any]:
        """The cost of writing on this rank so far: docs/measuring.md."""
        return json.loads(self._writer.statistics())

    def total_statistics(self) -> dict[str, Any]:
        """The sums over all ranks."""
        return json.loads(self._writer.total_statistics())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._writer.abandon()

    def _put(self, place: str, work: Callable[[], None]) -> None:
        # Kept until all ranks can raise it: one that left now would leave the others waiting in end_step().
        try:
            work()
        except REFUSALS as error:
            self._writer.put_error(problem_of(error, place))

    def _put_each(self, place: str, values: Mapping[str, Any], put: Callable[[str, Any], None]) -> None:
        def each() -> None:
            for name, value in values.items():
                self._put(f"{place}/{name}", functools.partial(put, name, value))

        self._put(place, each)


# A caller's array or mapping may raise anything, also that memory is short.
REFUSALS = (Exception,)


# ------------------------------------------------------------------------------------------------------ arguments


def _plain(value: Any) -> Any:
    """Turns NumPy values into Python's numbers and lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (list, tuple)):
        flat = [_plain(item) for item in value]
        return [float(item) for item in flat] if any(isinstance(item, float) for item in flat) else flat
    return value


def _given(array: Any, store: bool) -> tuple[np.ndarray, int | None]:
    """The array, and the stream that one in device memory waits for."""
    there = on_device(array)
    return (_readable(array, store), None) if there is None else (_readable(there.values, store, True), there.stream)


def _readable(array: Any, store: bool = False, device: bool = False) -> np.ndarray:
    """The array itself if it can be read in place, else a copy. Stores hold booleans; other formats hold bytes."""
    values = np.asarray(array)
    if values.dtype == bool and not store:
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
        if device:
            raise UsageError("expected native, aligned values without broadcast axes in device memory")
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    return values


def _triangles(
    x: Any, y: Any, triangles: Any, global_point: Any = None, *, planes: int = 1, global_triangle: Any = None,
    boundary: Any = None, geometry: Path | None = None,
) -> Any:  # fmt: skip
    """A piece of a mesh of triangles as the compiled library takes it."""
    mesh, numbers = engine().Triangles(), _list(global_point, "int64")
    places = [np.ascontiguousarray(values, "float64") for values in (x, y)]
    mesh.set_piece(*places, np.ascontiguousarray(triangles, "int64").reshape(-1, 3), numbers, planes)
    mesh.set_numbers(_list(global_triangle, "int64"), _list(boundary, "int32"))
    mesh.geometry = None if geometry is None else os.fspath(geometry)
    return mesh


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


def _units(variables: Mapping[str, str] | Sequence[str]) -> list[tuple[str, str]]:
    if isinstance(variables, str):
        raise UsageError(f"variables: expected {{name: unit}} or a list of names, found {variables!r}")
    pairs = list(variables.items() if isinstance(variables, Mapping) else ((name, "") for name in variables))
    for name, unit in pairs:
        if max(len(name), len(unit)) > 16:
            raise UsageError(f"name and unit: expected at most 16 characters each, found {name!r}, {unit!r}")
    return pairs


def _date(date: datetime | Sequence[int] | None) -> tuple[int, ...] | None:
    if date is None:
        return None
    numbers = tuple(date.timetuple()[:6]) if isinstance(date, datetime) else tuple(date)
    try:
        year, month, day, hour, minute, second = (operator.index(number) for number in numbers)
        datetime(year, month, day, hour, minute, second)
        return numbers
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"date: expected year, month, day, hour, minute, second, found {numbers}")


def _resumed(resume: bool | float) -> float | None:
    if isinstance(resume, bool | np.bool_):
        return math.inf if resume else None
    return float(resume)


def _list(numbers: Any, kind: str) -> np.ndarray | None:
    return None if numbers is None else np.ascontiguousarray(numbers, kind)


# Words of a Target that are more than they look.
_WORDS: dict[str, Callable[[Any], Any]] = {
    "variables": _units,
    "date": _date,
    "resume": _resumed,
    "origin": tuple,
    "names": lambda names: dict(names or {}),
}
