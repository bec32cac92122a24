"""Say what works on this machine, and why the rest does not: the build, MPI, Python packages, programs, memory."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from importlib import metadata, util
from typing import Any

import octavo
from octavo.cli import options
from octavo.extras import PACKAGES, source_of

EXAMPLES = ["octavo doctor", "octavo doctor --json", "mpirun -n 2 octavo doctor"]

#: Program, what needs it, what brings it.
PROGRAMS = [
    ("mpirun", "verbs over ranks", "Debian's openmpi-bin, or load a module of MPI"),
    ("ffmpeg", "movies as .mp4", "Debian's ffmpeg; .gif needs none"),
]
_DISTRIBUTIONS = {"PIL": "pillow"}


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console

    rows = [_core(), *_left_out(), _mpi(), _device(), *map(_package, PACKAGES), *map(_program, PROGRAMS), _machine()]
    if arguments.json:
        console.print_json({"checks": rows})
    else:
        console.table("", ["", "", "for", ""], ([_sign(row), row["name"], row["for"], row["says"]] for row in rows))
    return 0 if all(row["works"] for row in rows if row["needed"]) else 1


def _sign(row: dict[str, Any]) -> str:
    return "yes" if row["works"] else "NO" if row["needed"] else "no"


def _row(name: str, what: str, works: bool, says: str, needed: bool = False) -> dict[str, Any]:
    return {"name": name, "for": what, "works": works, "says": says, "needed": needed}


def _core() -> dict[str, Any]:
    try:
        from octavo import _core
    except ImportError as error:
        return _row("compiled part", "all verbs", False, f"{error}; install octavo again", needed=True)
    formats = ", ".join(["octavo", *(row["name"] for row in _core.formats())])
    return _row("compiled part", "all verbs", True, f"version {_core.version}; reads and writes {formats}", needed=True)


def _left_out() -> list[dict[str, Any]]:
    """The libraries that this build lacks, as its configuration noted them."""
    path = os.path.join(os.path.dirname(octavo.__file__), "without.txt")
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.strip()]
    except FileNotFoundError:
        return []
    rows = []
    for text in lines:
        name, _, effect = text.partition(": ")
        says = "not found when octavo was built; install it and build again"
        rows.append(_row(name, effect or "see docs/linking.md", False, says))
    return rows


def _mpi() -> dict[str, Any]:
    from octavo.errors import Unsupported
    from octavo.ranks import launched, library_version

    try:
        says = library_version()
    except (ImportError, Unsupported) as error:
        return _row("MPI", "writers and verbs over ranks", False, str(error))
    ranks = launched()[1]
    if ranks > 1:
        from octavo.ranks import world

        world()  # raises where mpirun is of another library
        says += f"; {ranks} ranks meet"
    elif shutil.which("mpirun"):
        theirs = _first_line(["mpirun", "--version"])
        says += f"; mpirun is {theirs}; try: mpirun -n 2 octavo doctor"
    return _row("MPI", "writers and verbs over ranks", True, says)


def _device() -> dict[str, Any]:
    from octavo.errors import Error
    from octavo.ranks import engine

    what = "arrays in the memory of a GPU"
    try:
        return _row("GPU driver", what, True, engine().device_driver())
    except Error as error:
        return _row("GPU driver", what, False, error.message)
    except ImportError as error:
        return _row("GPU driver", what, False, str(error))


def _package(entry: tuple[str, str, str]) -> dict[str, Any]:
    name, what, extra = entry
    if util.find_spec(name) is None:
        return _row(name, what, False, source_of(name), needed=not extra)
    try:
        version = metadata.version(_DISTRIBUTIONS.get(name, name))
    except metadata.PackageNotFoundError:
        version = "there, of unknown version"
    return _row(name, what, True, version, needed=not extra)


def _program(entry: tuple[str, str, str]) -> dict[str, Any]:
    name, what, source = entry
    path = shutil.which(name)
    return _row(name, what, path is not None, path or f"not found; {source}")


def _machine() -> dict[str, Any]:
    from octavo import _core
    from octavo.cli.console import size

    cores = len(os.sched_getaffinity(0))
    return _row("machine", "-j, --memory", True, f"{cores} cores; reads at most {size(_core.memory_limit())} at once")


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stdout or done.stderr).strip().split("\n")[0]
