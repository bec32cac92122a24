"""One SERAFIN or MED file of a run on triangles, written by all ranks behind the simulation's back.

    with octavo.SeriesWriter(comm, "r2d.slf", {"WATER DEPTH": "M"}, x, y, triangles, global_point) as writer:
        writer.begin_step(time)
        writer.put_field("WATER DEPTH", depth)
        writer.end_step()                            # the solver goes on

docs/engine.md, "One SERAFIN file from all ranks", says what happens when.
"""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from octavo.errors import UsageError
from octavo.parallel import Path, _handle, _mpi, _piece, _readable, _with_block
from octavo.step_writer import REFUSALS, StepWriter, problem_of

__all__ = ["SeriesWriter"]


class SeriesWriter(StepWriter):
    """Writes the steps of a run on a distributed mesh of triangles into one SERAFIN file, or into one MED file where `path`
    ends in ".med": the same bytes whatever the number of ranks. Collective: this, `end_step`, `finished`, `wait`, `close`
    and `total_statistics`; they release the GIL. All calls belong to the thread that initialised MPI.

    `variables`: {name: unit}, or names; at most 16 characters each. The mesh is this rank's piece, maybe without points:
    places of its points (points,), triangles (triangles, 3) of its points from 0, `global_point` (points,) their numbers
    in the file from 0 (without: the same). Several ranks may hold a point or a triangle; each number is held by one at
    least. `global_triangle` (triangles,): numbers in the file, on all ranks or none (then they stand by their lowest
    point). `boundary` (points,): IPOBO, place on the boundary from 1, 0 inside. `geometry`: a SERAFIN file of the whole
    mesh, whose coordinates, triangles and IPOBO are taken as they are. `planes`: of points, with prisms between them.

    `title`: 72 characters; `date`: a datetime, or year, month, day, hour, minute, second; `origin` [m]: what readers add
    to x and y; `precision`: "single" or "double"; `little_endian`: SERAFIN only. `mode`: "background" or "sync";
    `sync`: a step is on disk before the file shows it; `writers`: ranks that write, 0: one a host; `alignment`: no two
    of them touch one such unit of the file [bytes]; `ranks_per_node`: hosts are imitated, so many ranks each;
    `bound_thread`: the background thread stays on the cores that its rank is bound to.

    `resume`: the file is there, with this mesh and these variables, and is gone on with: True, behind its last step; a
    time, behind the last step that is no later. Otherwise it must not exist.

    No put raises: what is wrong, on any rank, is raised by `end_step` on every rank, or by `close`, as is that a step was
    begun and not ended; what goes wrong in the background is raised by the next collective call. The writer can be used further; a step that failed is not in the file, the next takes its place.

    As a context manager it is closed at the end. Where an exception ends the block nothing collective is called, and the
    step in flight is not in the file.
    """

    def __init__(
        self, comm: Any, path: Path, variables: Mapping[str, str] | Sequence[str], x: np.ndarray, y: np.ndarray,
        triangles: np.ndarray, global_point: np.ndarray | None = None, *, planes: int = 1,
        global_triangle: np.ndarray | None = None, boundary: np.ndarray | None = None, geometry: Path | None = None,
        title: str = "", date: datetime | Sequence[int] | None = None, origin: Sequence[int] = (0, 0),
        precision: str = "single", little_endian: bool = False, mode: str = "background", sync: bool = True,
        writers: int = 0, alignment: int = 4096, resume: bool | float = False, ranks_per_node: int = 0,
        bound_thread: bool = False,
    ) -> None:  # fmt: skip
        words, mesh, problem, place = _mpi().SeriesWords(), _mpi().SeriesMesh(), None, "variables"
        try:  # a rank that left now would leave the others waiting
            words.variables = _units(variables)
            for place, word in (
                ("title", title), ("precision", precision), ("little_endian", little_endian), ("mode", mode),
                ("sync", sync), ("writers", writers), ("alignment", alignment), ("origin", tuple(origin)),
                ("date", _date(date)), ("resume", _resumed(resume)), ("ranks_per_node", ranks_per_node),
                ("bound_thread", bound_thread),
            ):  # fmt: skip
                setattr(words, place, word)
            place = "mesh"
            mesh.set_piece(*_piece(x, y, triangles, global_point), planes)
            mesh.set_numbers(_list(global_triangle, "int64"), _list(boundary, "int32"))
            mesh.geometry = None if geometry is None else os.fspath(geometry)
            self._shape = (planes, len(x))
        except REFUSALS as error:
            problem = problem_of(error, place)
        self._writer = _mpi().SeriesWriter(_handle(comm), os.fspath(path), words, mesh, problem)

    def begin_step(self, time: float) -> None:
        """Begins the next step; `time` in seconds, the same on all ranks. What is wrong with it end_step() raises."""
        self._put("begin_step", lambda: self._writer.begin_step(time))

    def put_field(self, name: str, array: np.ndarray) -> None:
        """A variable's values at this rank's points: shape (points,), or (planes, points), float64 or float32, any strides.
        Copied: the array may change right away. Of a point that several ranks hold the lowest one's value is taken."""

        def put() -> None:
            values = _readable(array)
            if values.shape not in (self._shape, (math.prod(self._shape),)):
                raise UsageError(f"expected shape {self._shape[self._shape[0] == 1 :]}, found {values.shape}")
            self._writer.put_field(name, _with_block(values.reshape(-1), 1, (1,)), values.dtype.name)

        self._put(f"field {name}", put)

    def end_step(self) -> None:
        """Values go to the ranks that write; these write while the solver goes on. Waits for the step before.
        Where that failed, its error is raised here, by its time, and this step is written all the same, in its place."""
        self._writer.end_step()

    def finished(self) -> bool:
        """Whether nothing is in flight any more, on any rank. Does not wait; a step that is complete is shown."""
        return self._writer.finished()

    @property
    def steps(self) -> int:
        """Whole ones in the file, those found when resuming too."""
        return self._writer.steps()

    def total_statistics(self) -> dict[str, Any]:
        """The sums over all ranks."""
        return json.loads(self._writer.total_statistics())


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
        datetime(*(operator.index(number) for number in numbers))
        if len(numbers) == 6:
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
