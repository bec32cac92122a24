"""The package as type checkers see it."""

import shutil
import subprocess
from pathlib import Path

import pytest

import octavo

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"


def test_a_wheel_and_an_installation_hold_the_types_of_the_compiled_modules(tmp_path):
    """Both are made of CMake's component `python`."""
    if shutil.which("cmake") is None or not (BUILD / "cmake_install.cmake").exists():
        pytest.skip("no build/release, or no cmake")
    command = ["cmake", "--install", BUILD, "--component", "python", "--prefix", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    for module, names in (("_core", ("Octree", "Dataset")), ("_mpi", ("Writer", "TargetWords"))):
        assert list(tmp_path.glob(f"{module}.*.so"))
        stub = (tmp_path / f"{module}.pyi").read_text()
        assert all(f"class {name}" in stub for name in names)


def test_the_package_says_that_it_has_types():
    assert (Path(octavo.__file__).parent / "py.typed").exists()
