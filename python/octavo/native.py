"""FLASH and AMReX outputs written by all ranks behind the simulation's back.

    with octavo.NativeWriter(comm, header, format="amrex_plotfile") as writer:
        writer.begin_step("plt00010", 10, time)
        writer.put_mesh(octavo.Patches(domain, boxes, dim=2))
        writer.put_field("density", [box[2:-2, 2:-2] for box in my_boxes])     # an array a box, ghosts sliced away
        writer.end_step()                                                      # the solver goes on

docs/engine.md, "FLASH and AMReX, written by all ranks", says what happens when.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from octavo._core import Header, Patches
from octavo.parallel import Attribute, Path, _handle, _mpi, _plain, _readable, _with_block
from octavo.step_writer import MeshWriter

__all__ = ["NativeWriter", "Patches"]


class NativeWriter(MeshWriter):
    """Writes steps as files of their own. Collective: this, `end_step`, `finished`, `wait` and `close`; they release the
    GIL. All calls belong to the thread that initialised MPI.

    `format`: "flash", one HDF5 checkpoint, or "amrex_plotfile", "amrex_checkpoint", a directory. `mode`: "background" or
    "sync". `sync`: a step is on disk when it has its name. `checksums`: arrays are compared with what they were when they
    were copied. FLASH: `collect`, rank 0 alone writes in end_step(); `names`, its names of fields. AMReX: `files` a level
    (0: one a GiB); `max_box`, the longest box that a tree is cut into [cells]; `title` and `multifab` of a checkpoint.
    `bound_thread`: the background thread stays on the cores that its rank is bound to.

    Until a step is complete on all ranks it is called NAME.partial; it gets its name in the next collective call after
    that. Every rank puts a mesh, and the same fields and attributes of particles. No put raises: what is wrong is raised
    by the next collective call, on every rank. The writer can be used further; of a failed step nothing is left.

    As a context manager it is closed at the end; where an exception ends the block, nothing collective is called.
    """

    def __init__(
        self, comm: Any, header: Header, *, format: str = "flash", mode: str = "background", sync: bool = True,
        checksums: bool = True, collect: bool = False, names: Mapping[str, str] | None = None, files: int = 0,
        max_box: int = 64, title: str = "Checkpoint file for AmrCore", multifab: str = "phi", bound_thread: bool = False,
    ) -> None:  # fmt: skip
        self._dim, self._block = header.dim, tuple(header.block)
        self._writer = _mpi().NativeWriter(
            _handle(comm), header, format, mode, sync, checksums, collect, dict(names or {}), files, max_box, title,
            multifab, bound_thread,
        )  # fmt: skip

    def begin_step(self, path: Path, step: int, time: float) -> None:
        """Begins the step that is to be `path`, which must not exist; `time` in code time. An argument that cannot be is
        an error of end_step(), as in a put; a UsageError inside a step or after close()."""
        self._begin(lambda: self._writer.begin_step(os.fspath(path), step, time))
        self._boxes = False

    def put_attribute(self, name: str, value: Attribute) -> None:
        """Puts an attribute of the step, the same on all ranks: FLASH's lists ("real scalars/dt"), AMReX's "level_steps",
        "level_dt". An AMReX checkpoint needs "level_dt": a list with the time step of each level, or one for all."""
        self._put(f"attribute {name}", lambda: self._writer.put_attribute(name, _plain(value)))

    def put_attributes(self, values: Mapping[str, Attribute]) -> None:
        """Several attributes."""
        self._put("attributes", lambda: [self.put_attribute(name, value) for name, value in values.items()])

    def put_field(
        self, name: str, array: np.ndarray | Sequence[np.ndarray], unit: str = "", *, centring: str = "cell"
    ) -> None:
        """Cell-centred values, float64 or float32. Of a tree as Writer.put_field has them. Of patches either a list of
        arrays, one a box, level after level, with axes (z, y, x) as far as there are dimensions; or one array (cells,)
        of all boxes, box after box, x fastest. Any strides; read in end_step(), and kept alive until then.

        `centring`: cell, or of a tree in a FLASH file face_x, face_y or face_z: a face variable, with one value more along
        that axis of a block. It is the fields NAME_left and NAME_right, which may be put instead."""

        def put() -> None:
            if isinstance(array, (list, tuple)):
                return self._put_boxes(name, [_readable(box) for box in array], unit, centring)
            values = _readable(array)
            shaped = _with_block(values, 1, (1,)) if self._boxes else self._shaped(name, values, centring)
            self._writer.put_field(name, shaped, values.dtype.name, unit, centring)

        self._put(f"field {name}", put)

    def _shaped(self, name: str, values: np.ndarray, centring: str) -> np.ndarray:
        halves = name.endswith(("_left", "_right"))
        block = [n + (centring == f"face_{axis}" and not halves) for n, axis in zip(self._block, "xyz", strict=False)]
        return _with_block(values, self._dim, tuple(block))

    def put_particles(self, species: str, attributes: Mapping[str, np.ndarray]) -> None:
        """The particles of a species: arrays (count,) by attribute; positions are position_x, position_y and position_z
        [code length]. FLASH: one species, in leaf blocks that this rank owns. AMReX: wherever a box of any rank is."""

        def put(name: str, array: np.ndarray) -> None:
            values = _readable(array)
            self._writer.put_particles(species, name, _with_block(values, 1, (1,)), values.dtype.name)

        self._put_each(f"particles {species}", attributes, put)

    def end_step(self) -> None:
        """The step is on its way, after the one before has its name. Arrays may change from here on.
        Where that one failed, its error is raised here, by its name, and this step is written all the same."""
        self._writer.end_step()

    def finished(self) -> bool:
        """Whether nothing is in flight any more, on any rank. Does not wait; a step that is complete gets its name."""
        return self._writer.finished()
