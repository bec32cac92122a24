"""A solver for test_engine_faults.py to hurt:     mpirun -n 2 python engine_faults.py STORE RUN FROM LAST OPTIONS

Writes checkpoints FROM + 1 ... LAST, after a restart from step FROM where that is not 0 (-1: the newest there is, if there
is one, on whatever disk), and tells in STORE.log, a line
each, the steps that are durable, and in STORE.RANK.pid who it is. Values follow from place, step and run. An error that
the engine raises is told in STORE.RANK.error, and the solver goes on, as a simulation may.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
from engine_cases import everyone

import octavo

EDGE = 24


def tree_of(rank: int, size: int) -> octavo.Octree:
    cells = np.arange(EDGE**3)
    return octavo.Octree([np.zeros(EDGE**3, bool)], [cells * size // EDGE**3 == rank], roots=(EDGE, EDGE, EDGE))


def values(places: np.ndarray, step: int, run: int) -> np.ndarray:
    """The density at integer places (cells, 3)."""
    return np.sin(places @ np.array([0.1, 3.0, 90.0]) + step) + run


def places_of(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return np.floor(np.stack([x, y, z], axis=1) * EDGE).astype(int)


def all_places() -> np.ndarray:
    z, y, x = np.meshgrid(*[np.arange(EDGE)] * 3, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)


def tell(path: str, text: str) -> None:
    with open(path, "a") as log:
        log.write(text + "\n")


def main(store: str, run: int, first: int, last: int, options: dict) -> None:
    comm = everyone()
    os.makedirs(os.path.dirname(store), exist_ok=True)
    Path(f"{store}.{comm.rank}.pid.new").write_text(str(os.getpid()))
    os.rename(f"{store}.{comm.rank}.pid.new", f"{store}.{comm.rank}.pid")
    staging = {"staging_directory": options["staging_directory"]} if "staging_directory" in options else {}
    start = octavo.restart(comm, store, step=first if first > 0 else None, **staging) if first else None
    first = start.step if start else 0
    tree, places = tree_of(comm.rank, comm.size), all_places()
    if start:
        before = start.attributes["run"]
        owned = np.concatenate(start.mesh.owned)
        held = np.concatenate([np.arange(begin, end) for begin, end in start.mesh.held] + [np.arange(0)])
        assert np.array_equal(start.fields["density"][owned], values(places[held], first, before)[owned])
        assert comm.allreduce(int(owned.sum())) == EDGE**3
    told = None
    options = {"staging_bytes": "4M"} | options  # a step is 220 kB
    roots = octavo.Header(code="test", roots=tree.roots)
    with octavo.Writer(comm, store, roots, resumed_from=start and start.id, **options) as writer:
        for step in range(first + 1, last + 1):
            writer.begin_step("checkpoint", step, 0.5 * step)
            writer.put_attribute("run", run)
            writer.put_mesh(tree)
            writer.put_field("density", values(places, step, run))
            # The error of end_step() may be of an earlier step: this one is on its way all the same, and we wait for it.
            for call in (writer.end_step, writer.wait) if step % 3 == 0 or step == last else (writer.end_step,):
                try:
                    call()
                except octavo.Error as error:
                    told_by = error.message.replace("\n", " ")
                    tell(f"{store}.{comm.rank}.error", f"{type(error).__name__} {told_by}")
            durable = writer.newest_durable()
            if comm.rank == 0 and durable and durable.step != told:
                told = durable.step
                tell(store + ".log", f"{run} {told}")


if __name__ == "__main__":
    store, run, first, last, options = sys.argv[1:]
    main(store, int(run), int(first), int(last), json.loads(options))
