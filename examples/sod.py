"""Sod's shock tube on patches, on a GPU (CuPy), or on the CPU where there is none: a dense stretch of a periodic tube, whose boxes
have device arrays of their own. Checkpoints are written in the background, out of these arrays as they lie.
mpirun -n 2 python sod.py run.octavo 40      then, on any number of ranks:     mpirun -n 3 python sod.py run.octavo 80
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

CELLS, ROWS, RATIO = 128, 16, 0.4  # RATIO: of a time step to a cell's width
NAMES = ("density", "momentum", "energy")


def first(boxes: list) -> dict[str, list[np.ndarray]]:
    """The gas at rest, dense and hot in the middle half of the tube."""
    x = (np.arange(CELLS) + 0.5) / CELLS
    inside = np.abs(x - 0.5) < 0.25
    start = {"density": np.where(inside, 1.0, 0.125), "momentum": 0 * x, "energy": np.where(inside, 1.0, 0.1) / 0.4}
    return {name: [np.tile(row, (hi[1] - lo[1], 1)) for lo, hi in boxes] for name, row in start.items()}


def step_box(gas: list, arrays) -> None:
    """A step of Rusanov's scheme along x; boxes reach over the whole tube."""
    density, momentum, energy = gas
    speed = momentum / density
    pressure = (energy - momentum * speed * 0.5) * 0.4
    fastest = abs(speed) + arrays.sqrt(pressure / density * 1.4)
    fastest = arrays.maximum(fastest, arrays.roll(fastest, -1, 1))
    fluxes = (momentum, momentum * speed + pressure, (energy + pressure) * speed)
    changes = []
    for values, flux in zip(gas, fluxes, strict=True):
        right = (flux + arrays.roll(flux, -1, 1) - fastest * (arrays.roll(values, -1, 1) - values)) * 0.5
        changes.append((right - arrays.roll(right, 1, 1)) * RATIO)
    for values, change in zip(gas, changes, strict=True):
        values[...] = values - change


def main(store: str, last: int, arrays=ARRAYS):
    """Runs to step `last`, and returns the newest checkpoint."""
    comm = MPI.COMM_WORLD
    start = octavo.restart(comm, store, as_patches=True, max_box=CELLS)
    if start:
        patches, found = start.mesh, start.fields
    else:
        rows = [ROWS * n // comm.size for n in (comm.rank, comm.rank + 1)]
        mine = [((0, rows[0]), (CELLS, rows[1]))] if rows[0] < rows[1] else []
        patches = octavo.Patches([((0, 0), (CELLS, ROWS))], [mine], dim=2)
        found = first(mine)
    gas = {name: [arrays.asarray(box) for box in found[name]] for name in NAMES}
    # Blocks of a row each: boxes of a restart are whole rows.
    header = octavo.Header(code="sod", dim=2, roots=(1, ROWS), block=(CELLS, 1), hi=(1.0, ROWS / CELLS))
    with octavo.Writer(comm, store, header, resumed_from=start.id if start else None) as writer:
        for step in range((start.step if start else 0) + 1, last + 1):
            for box in zip(*gas.values(), strict=True):
                step_box(box, arrays)
            if step % 20 == 0:
                writer.begin_step("checkpoint", step, RATIO * step / CELLS)
                writer.put_mesh(patches)
                for name in NAMES:
                    writer.put_field(name, gas[name])
                writer.end_step()  # the device goes on; its arrays may change from here on
    return octavo.restart(comm, store, as_patches=True, max_box=CELLS)


if __name__ == "__main__":
    end = main(sys.argv[1], int(sys.argv[2]))
    total = MPI.COMM_WORLD.allreduce(sum(float(box.sum()) for box in end.fields["density"]))
    if MPI.COMM_WORLD.rank == 0:
        print(f"with {ARRAYS.__name__}: step {end.step}, density {total / CELLS / ROWS:.6f} in the mean")
