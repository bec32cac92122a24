"""The streaming sine wave on a GPU (CuPy), or on the CPU where there is none: rows of cells along which radiation of several
wavelengths streams. Checkpoints are written in the background, out of the device's memory as it lies.
mpirun -n 2 python sine_wave.py run.octavo 40      then, on any number of ranks:     mpirun -n 3 python sine_wave.py run.octavo 80
"""

import sys

import numpy as np
from mpi4py import MPI

import octavo

ARRAYS = np
try:
    import cupy

    if cupy.cuda.is_available():
        ARRAYS = cupy
except ImportError:
    pass

CELLS, ROWS, COURANT = 64, (8, 8), 0.5


def exact(tree: octavo.Octree, step: int) -> np.ndarray:
    """(rows, 1, 1, cells) after so many steps. The places of rows are those of the tree's cells."""
    row = np.concatenate([np.arange(begin, end) for begin, end in tree.held]).reshape(-1, 1, 1, 1)
    x = (np.arange(CELLS) + 0.5 - COURANT * step) / CELLS
    return 2 + np.sin(2 * np.pi * (1 + row % 4) * x)


def stream(u, arrays):
    """A step of Lax and Wendroff."""
    left, right = arrays.roll(u, 1, 3), arrays.roll(u, -1, 3)
    return u - (right - left) * (COURANT / 2) + (right - u * 2 + left) * (COURANT**2 / 2)


def main(store: str, last: int, arrays=ARRAYS) -> float:
    comm = MPI.COMM_WORLD
    start = octavo.restart(comm, store)
    if start:
        tree, u = start.mesh, arrays.asarray(start.fields["intensity"])
    else:
        mine = np.arange(np.prod(ROWS)) * comm.size // np.prod(ROWS) == comm.rank
        tree = octavo.Octree([np.zeros(len(mine), bool)], [mine], roots=(1, *ROWS), block=(CELLS, 1, 1))
        u = arrays.asarray(exact(tree, 0))
    header = octavo.Header(code="wave", roots=tree.roots, block=tree.block)
    with octavo.Writer(comm, store, header, resumed_from=start.id if start else None) as writer:
        for step in range((start.step if start else 0) + 1, last + 1):
            u[...] = stream(u, arrays)
            if step % 10 == 0:
                writer.begin_step("checkpoint", step, COURANT * step / CELLS)
                writer.put_mesh(tree)
                writer.put_field("intensity", u)
                writer.end_step()  # the device goes on; u may change from here on
    end = octavo.restart(comm, store)
    owned = np.concatenate(end.mesh.owned)
    error = np.abs(end.fields["intensity"] - exact(end.mesh, end.step))[owned].max(initial=0)
    return comm.allreduce(float(error), MPI.MAX)


if __name__ == "__main__":
    difference = main(sys.argv[1], int(sys.argv[2]))
    if MPI.COMM_WORLD.rank == 0:
        print(f"with {ARRAYS.__name__}: within {difference:.4f} of the exact wave")
