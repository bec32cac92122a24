"""Mass, histogram and map of a step on a cluster of processes without MPI: a task reads one domain."""

import sys

import dask
import numpy as np
from dask.distributed import Client

import octavo

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1):
        domains = octavo.dask(octavo.open(sys.argv[1]))
        edges = np.logspace(-4, 4, 33)
        counts = [dask.delayed(lambda d: np.histogram(d.arrays("density")["density"], edges)[0])(d) for d in domains]
        masses = [d.sum("density", weight="volume") for d in domains]
        maps = [dask.delayed(np.nan_to_num)(d.map("density", pixels=256).values) for d in domains]
        mass, histogram, image = dask.compute(
            dask.delayed(sum)(masses), dask.delayed(sum)(counts), dask.delayed(sum)(maps)
        )
    print(f"mass {mass:.12g}, {histogram.sum()} leaves, map of {image.shape}, largest {image.max():.6g}")
