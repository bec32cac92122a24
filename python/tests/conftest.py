"""Fixtures that the Python tests share: the command, real data, samples."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import forked_command
import pytest

import octavo

ROOT = Path(__file__).resolve().parents[2]
# Open MPI refuses root, and more ranks than cores, unless told otherwise: the tests run both.
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # a rank that waits gives up its core
os.environ.setdefault("OMPI_MCA_pml", "ob1")  # what it takes on one machine; else each start looks for networks, 0.2 s
os.environ.setdefault("OMPI_MCA_odls_base_sigkill_timeout", "0")  # no pause of 1 or 2 s where a rank fails
MPI_FOLDER = "OMPI_MCA_orte_tmpdir_base"
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
BOUND = 600  # [s] of anything that is waited for: a busy machine is slow, and a disk may stand still for minutes


def until(condition, seconds=BOUND):
    """Waits until the condition is true; returns its value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)
    return found


def mostly_long(*cases, short) -> list:
    """Cases of parametrize: all with --long, else those of `short`."""
    short = list(short)
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [
        pytest.param(*value, marks=() if case in short else pytest.mark.long)
        for case, value in zip(cases, values, strict=True)
    ]


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run the long tests")


# A file's tests run one after another: those that take longest begin first, so that no worker is left alone with one.
LONGEST = ("test_docs_run.py", "test_view_page.py", "test_view.py", "test_view_solid.py", "test_engine_preload.py")


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="long: make test-long runs it"))


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; run by make test-long")


@pytest.fixture(scope="session")
def few(pytestconfig):
    """few(2, 3, 9): all of these with --long, else the one in the middle. For results that are the same for each."""
    return lambda *cases: cases if pytestconfig.getoption("--long") else cases[len(cases) // 2 :][:1]


@pytest.fixture(autouse=True, scope="module")
def own_mpi_folder():
    """Open MPI's notes of running jobs, a folder for each file of tests: what killed jobs leave, and take away later, is
    nobody else's."""
    folder = tempfile.mkdtemp(prefix="octavo-mpi-")
    before = os.environ.get(MPI_FOLDER)
    os.environ[MPI_FOLDER] = folder
    yield
    if before is None:
        del os.environ[MPI_FOLDER]
    else:
        os.environ[MPI_FOLDER] = before
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def environment_of_python():
    """Takes out of the process's environment what Python does not know of. A test that initialises MPI in this process
    leaves variables there, with which no later mpirun starts."""
    yield
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    names = []
    for entry in environ:
        if entry is None:
            break
        names.append(entry.split(b"=", 1)[0])
    for name in names:
        if name not in os.environb:
            os.unsetenv(name)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real outputs; tests that need it skip where it is missing."""
    path = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data"))
    if not (path / "ramses").is_dir():
        pytest.skip(f"no real data at {path}: set OCTAVO_DATA")
    return path


@pytest.fixture(scope="session")
def files(data):
    """The folder of real SERAFIN files."""
    folder = data / "serafin"
    if not folder.is_dir():
        pytest.skip(f"no SERAFIN files at {folder}")
    return folder


@pytest.fixture(scope="session")
def run():
    """run("info", path, ...) -> CompletedProcess of the command; check=False to look at failures."""

    def call(*words, check=True, ranks=0, **options):
        command = [str(OCTAVO), *map(str, words)]
        if not ranks and not options.keys() - {"cwd"}:
            done = forked_command.run(command, BOUND, **options)
        else:
            command = ["mpirun", "-n", str(ranks), *command] if ranks else command
            done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, **options)
        assert not check or done.returncode == 0, done.stderr
        return done

    return call


#: Starts a command, and leaves its largest resident memory [bytes] in a file. A child's peak counts that of the process it was
#: forked from: so this one is an interpreter without any module of others, and never the tests' own.
_STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(os.path.join(sys.argv[1], str(child)), "w") as out:
    out.write(str(usage.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measured(folder, words) -> list[str]:
    """`octavo` with these words as a command that leaves a file with its peak [bytes] in a folder: behind mpirun, one a rank."""
    return [sys.executable, "-I", "-S", "-c", _STARTER, str(folder), str(OCTAVO), *map(str, words)]


def peak_of(words, **options) -> tuple[int, str, int]:
    """Exit code, text and the largest resident memory [bytes] of `octavo` with these words."""
    with tempfile.TemporaryDirectory(prefix="octavo-peak-") as folder:
        done = subprocess.run(measured(folder, words), capture_output=True, text=True, timeout=BOUND, **options)
        (file,) = Path(folder).iterdir()
        return done.returncode, done.stdout + done.stderr, int(file.read_text())


@pytest.fixture(scope="session")
def run_json(run):
    """The parsed --json output of a verb."""
    return lambda *words, **options: json.loads(run(*words, "--json", **options).stdout)


@pytest.fixture(scope="session")
def sample(run, tmp_path_factory) -> Path:
    """A 3-D sample of 8 domains with particles, as a RAMSES output."""
    path = tmp_path_factory.mktemp("sample") / "output_00007"
    run("sample", path, "--domains", 8, "--levels", "4-6", "--particles", 2000, "-q")
    return path


def open_as(kind, run, output, *codec):
    """A RAMSES output opened as it is, or as a "store", "flash" or "amrex" file that the command makes of it beside it."""
    made = {
        "store": ("run.octavo", codec),
        "flash": ("a_hdf5_chk_0001", ("--to", "flash", "--block", 4, "--fill")),
        "amrex": ("plt00001", ("--to", "amrex", "--kind", "plotfile")),
    }
    if kind not in made:
        return octavo.open(output)
    name, words = made[kind]
    run("convert", output, output.parent / name, *words, "-q")
    return octavo.open(output.parent / name)
