"""What the writers of steps have in common, whatever they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from octavo._core import Octree, Patches
from octavo.errors import Error, UsageError, kind_of


class StepWriter:
    """Ends, statistics, and errors that wait for the other ranks. `_writer` is the engine's."""

    _writer: Any

    def wait(self) -> None:
        """Returns once every step so far is on disk on all ranks, and native outputs have their names; raises where one
        is not."""
        self._writer.wait()

    def close(self) -> None:
        """As wait; then the writer is closed, also where it raises."""
        self._writer.close()

    def statistics(self) -> dict[str, Any]:
        """The cost of writing on this rank so far: docs/measuring.md."""
        return json.loads(self._writer.statistics())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._writer.abandon()

    def _begin(self, work: Callable[[], None]) -> None:
        # What is wrong with an argument is kept as that of a put is. A step that cannot be begun now, such as after
        # close(), is the program's order of calls, the same on all ranks.
        try:
            work()
        except Error:
            raise
        except REFUSALS as error:
            self._writer.begin_error(problem_of(error, "begin_step"))

    def _put(self, place: str, work: Callable[[], None]) -> None:
        # Kept until all ranks can raise it: one that left now would leave the others waiting in end_step().
        try:
            work()
        except REFUSALS as error:
            self._writer.put_error(problem_of(error, place))

    def _put_each(self, place: str, values: Mapping[str, Any], put: Callable[[str, Any], None]) -> None:
        def each() -> None:
            for name, value in values.items():
                self._put(f"{place}/{name}", lambda name=name, value=value: put(name, value))

        self._put(place, each)


# Whatever a caller's array or mapping may raise, memory that is short included.
REFUSALS = (Exception,)
Problem = tuple[int, str, list[str], str]


def problem_of(error: Exception, place: str) -> Problem:
    """Kind, message, places and hint, of which the compiled library makes the error for all ranks."""
    if isinstance(error, Error):
        return kind_of(error), error.message, [*error.places, place], error.hint
    text = str(error) if 0 < len(str(error)) < 200 else type(error).__name__
    return kind_of(UsageError("")), text, [place], ""


class MeshWriter(StepWriter):
    """Of trees and boxes."""

    _dim: int
    _boxes = False

    def put_mesh(self, mesh: Octree | Patches) -> None:
        """This rank's tree, with what it owns, or its boxes; before its fields. Copied at once. In a store, and in a FLASH
        file, boxes are cut into the header's blocks, and are made of whole ones; in AMReX's outputs the cells or blocks of a
        tree are merged to boxes."""
        self._boxes = isinstance(mesh, Patches)

        def put() -> None:
            if not isinstance(mesh, (Octree, Patches)):
                raise UsageError(f"expected an Octree or Patches, found {type(mesh).__name__}")
            self._writer.put_mesh(mesh)

        self._put("mesh", put)

    def _put_boxes(self, name: str, arrays: list[np.ndarray], unit: str, centring: str) -> None:
        """An array a box, axes (z, y, x) as far as there are dimensions."""
        for box in arrays:
            if box.ndim != self._dim:
                raise UsageError(f"expected a box of {self._dim} axes, found shape {box.shape}")
        shaped = [box[(None, *[None] * (3 - self._dim), ..., None)] for box in arrays]
        self._writer.put_boxes(name, shaped, [box.dtype.name for box in arrays], unit, centring)
