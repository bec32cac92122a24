"""A solver that writes a checkpoint in the background every few steps, and starts again where it stopped.
mpirun -n 4 python write.py run.octavo 20     then, on any number of ranks:     mpirun -n 3 python write.py run.octavo 40
"""

import json
import sys

import numpy as np
from mpi4py import MPI

import octavo

EDGE = 16


def slab(rank: int, size: int) -> octavo.Octree:
    """A first start: the cells of one level, a slab of them for each rank."""
    cells = np.arange(EDGE**3)
    return octavo.Octree([np.zeros(EDGE**3, bool)], [cells * size // EDGE**3 == rank], roots=(EDGE, EDGE, EDGE))


def main(store: str, last: int) -> None:
    comm = MPI.COMM_WORLD
    start = octavo.restart(comm, store)
    if start:
        tree = start.mesh
        density = start.fields["density"].astype(float)  # float32 where the option single_precision is on
    else:
        tree = slab(comm.rank, comm.size)
        density = np.ones(tree.cells)

    header = octavo.Header(code="example", roots=tree.roots)
    resumed_from = start.id if start else None
    with octavo.Writer(comm, store, header, resumed_from=resumed_from) as writer:
        for step in range((start.step if start else 0) + 1, last + 1):
            density *= 1.01  # the physics
            if step % 5 != 0:
                continue
            writer.begin_step("checkpoint", step, 0.1 * step)
            writer.put_mesh(tree)
            writer.put_field("density", density, "g/cm^3")
            writer.end_step()  # the solver goes on; the step is written behind its back
    if comm.rank == 0:
        print(json.dumps(writer.statistics()))


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except octavo.Error as error:  # the same on all ranks
        if MPI.COMM_WORLD.rank == 0:
            print(error, file=sys.stderr)
        MPI.COMM_WORLD.Abort(error.exit_code)
