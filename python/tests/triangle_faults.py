"""A solver on triangles for test_triangle_faults.py to hurt:     mpirun -n 2 python triangle_faults.py PATH LAST

Writes steps up to LAST, behind those that are there: checkpoints into a store, or a MED series where PATH ends in .med.
It tells in PATH.log, a line each, the steps of which all ranks know that they are on disk.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from engine_cases import everyone, strip

import octavo

POINTS = 40


def values(step: int) -> np.ndarray:
    return np.sin(np.arange(POINTS) + 100.0 * step)


def tell(comm, path: str, step: int) -> None:
    if comm.rank == 0:
        with open(path + ".log", "a") as log:
            log.write(f"{step}\n")


def into_a_store(comm, path: str, last: int, mesh: tuple, number: np.ndarray) -> None:
    start = octavo.restart(comm, path)
    if start:
        assert np.array_equal(start.fields["depth"], values(start.step)[start.global_point])
    header = octavo.Header(code="test", dim=2)
    with octavo.Writer(comm, path, header, resumed_from=start and start.id, contributors_per_file=1) as writer:
        for step in range(start.step + 1 if start else 1, last + 1):
            writer.begin_step("checkpoint", step, 0.5 * step)
            writer.put_triangles(*mesh)
            writer.put_field("depth", values(step)[number], "m")
            writer.end_step()
            writer.wait()
            tell(comm, path, step)


def into_a_series(comm, path: str, last: int, mesh: tuple, number: np.ndarray) -> None:
    there = comm.bcast(Path(path).exists())
    words = {"precision": "double", "writers": 2, "alignment": 8, "resume": there}
    words |= dict(zip(("x", "y", "triangles", "global_point"), mesh, strict=True))
    target = octavo.Target("med" if path.endswith(".med") else "serafin", path, variables={"depth": "M"}, **words)
    with octavo.Writer(comm, target) as writer:
        for step in range(writer.steps + 1, last + 1):
            writer.begin_step(None, step, 0.5 * step)
            writer.put_field("depth", values(step)[number])
            writer.end_step()
            writer.wait()
            tell(comm, path, step)


def main(path: str, last: int) -> None:
    comm = everyone()
    x, y, whole, mine, number = strip(comm, POINTS)
    mesh = (x[number], y[number], np.searchsorted(number, whole[mine]), number)
    (into_a_series if path.endswith(".med") else into_a_store)(comm, path, last, mesh, number)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
