"""The mass in the newest checkpoint of a run, on any number of ranks.     mpirun -n 2 python read.py run.octavo"""

import sys

import numpy as np
from mpi4py import MPI

import octavo


def main(store: str) -> None:
    comm = MPI.COMM_WORLD
    start = octavo.restart(comm, store, fields=["density"])
    if start is None:
        raise octavo.UsageError("there is no checkpoint yet", [store])

    # Owned leaves count; each rank has an equal share of them.
    tree, density, mass, first = start.mesh, start.fields["density"].astype(float), 0.0, 0
    extent = np.subtract(start.header.hi, start.header.lo)
    for level, (refined, owned) in enumerate(zip(tree.refined, tree.owned, strict=True)):
        volume = np.prod(extent / tree.roots) / 8**level
        mass += volume * density[first : first + len(refined)][owned & ~refined].sum()
        first += len(refined)
    mass = comm.allreduce(mass)
    if comm.rank == 0:
        print(f"step {start.step}, mass {mass:.9f}")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except octavo.Error as error:  # the same on all ranks
        if MPI.COMM_WORLD.rank == 0:
            print(error, file=sys.stderr)
        MPI.COMM_WORLD.Abort(error.exit_code)
