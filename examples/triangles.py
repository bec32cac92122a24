"""A solver on triangles that writes checkpoints into a store in the background, and goes on from the newest on any number
of ranks with the cut that it likes.     mpirun -n 3 python triangles.py channel.octavo 10; mpirun -n 2 ... 20"""

import sys

import numpy as np
from mpi4py import MPI

import octavo

COLUMNS, ROWS = 60, 12


def columns_of(rank: int, ranks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A channel of squares, each of two triangles; a rank has some columns of them, and the points on their borders: x, y,
    triangles, and the points' numbers in the whole mesh."""
    first, last = COLUMNS * rank // ranks, COLUMNS * (rank + 1) // ranks
    i, j = (a.ravel() for a in np.meshgrid(np.arange(first, last + 1), np.arange(ROWS + 1), indexing="ij"))
    a = (np.arange(last - first)[:, None] * (ROWS + 1) + np.arange(ROWS)).ravel()
    b = a + ROWS + 1
    triangles = np.concatenate([np.stack([a, b, b + 1], axis=1), np.stack([a, b + 1, a + 1], axis=1)])
    return 5.0 * i, 5.0 * j, triangles, i * (ROWS + 1) + j


def main(store: str, last: int) -> None:
    comm = MPI.COMM_WORLD
    x, y, triangles, number = columns_of(comm.rank, comm.size)
    start = octavo.restart(comm, store, points=number)  # None: a first start
    depth = start.fields["WATER DEPTH"].astype(float) if start else np.full(x.size, 2.0)
    header = octavo.Header(code="channel", dim=2)
    with octavo.Writer(comm, store, header, resumed_from=start.id if start else None) as writer:
        for step in range((start.step if start else 0) + 1, last + 1):
            depth += x / 1024  # the physics
            writer.begin_step("checkpoint", step, 0.5 * step)
            writer.put_triangles(x, y, triangles, number)
            writer.put_field("WATER DEPTH", depth, "m")
            writer.end_step()  # the solver goes on; the step is written behind its back
    deepest = comm.allreduce(depth.max(), MPI.MAX)
    if comm.rank == 0:
        print(f"step {last}, deepest {deepest:.9f}")


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except octavo.Error as error:  # the same on all ranks
        if MPI.COMM_WORLD.rank == 0:
            print(error, file=sys.stderr)
        MPI.COMM_WORLD.Abort(error.exit_code)
