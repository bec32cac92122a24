"""Whether this process is one of several that mpirun started, told from the environment without loading MPI."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# (rank, size) as Open MPI, MPICH/Intel (PMI) and Slurm's PMIx name them.
_NAMES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS"),
)


def launched() -> tuple[int, int]:
    """(rank, number of ranks) of this process; (0, 1) without mpirun."""
    for rank, size in _NAMES:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def is_root() -> bool:
    """Whether this rank does the talking."""
    return launched()[0] == 0


def world() -> Any:
    """The ranks that share the work of compiled verbs: all under mpirun, else None. Collective under mpirun."""
    if launched()[1] == 1:
        return None
    from octavo import _mpi

    ranks = _mpi.world()
    if ranks.size == 1:
        from octavo.errors import Unsupported

        raise Unsupported(
            f"{launched()[1]} processes were started, and octavo's MPI knows of one: {_mpi.library_version()}",
            [],
            "start it by that library's mpirun, or by none: it uses threads (-j)",
        )
    return ranks


def gathered(ranks: Any, work: Callable[[], T]) -> list[T]:
    """Collective. The value of `work()` on each rank, by rank; without ranks, of this process. If it raises an Error on
    some ranks, all raise that of the lowest."""
    if ranks is None:
        return [work()]
    import pickle

    from octavo.errors import Error, kind_of, make

    try:
        mine: tuple[Any, Any] = (work(), None)
    except Error as error:
        mine = (None, (kind_of(error), error.message, error.places, error.hint))
    all_of_them = [pickle.loads(some) for some in ranks.gather(pickle.dumps(mine))]
    for _, failure in all_of_them:
        if failure is not None:
            raise make(*failure)
    return [value for value, _ in all_of_them]


def scotch() -> Any:
    """Cuts a mesh that all ranks share by PT-Scotch; None without mpirun, or if the build lacks it."""
    if launched()[1] == 1:
        return None
    from octavo import _mpi

    return _mpi.scotch()
