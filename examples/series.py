"""A solver on triangles whose ranks write one SERAFIN file together, in the background: the same bytes on any number of
ranks, no pieces and no merging. A name that ends in .med: one MED file.     mpirun -n 4 python series.py channel.slf 10"""

import sys

from mpi4py import MPI
from triangles import columns_of  # the mesh: a channel, of which a rank has some columns

import octavo


def main(path: str, steps: int) -> None:
    comm = MPI.COMM_WORLD
    x, y, triangles, number = columns_of(comm.rank, comm.size)
    variables = {"WATER DEPTH": "M", "VELOCITY U": "M/S"}
    target = octavo.Target(
        "med" if path.endswith(".med") else "serafin", path, title="A CHANNEL",
        variables=variables, x=x, y=y, triangles=triangles, global_point=number,
    )  # fmt: skip
    with octavo.Writer(comm, target) as writer:
        for step in range(steps):
            writer.begin_step(None, step, 0.5 * step)
            writer.put_field("WATER DEPTH", 2 + x / 1024 + step / 64)  # the physics
            writer.put_field("VELOCITY U", y / 256 - step / 32)
            writer.end_step()  # the solver goes on; the step is written behind its back


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except octavo.Error as error:  # the same on all ranks
        if MPI.COMM_WORLD.rank == 0:
            print(error, file=sys.stderr)
        MPI.COMM_WORLD.Abort(error.exit_code)
