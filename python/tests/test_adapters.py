"""The adapters compile against Octavo as it is. The names of the foreign codes are declared in tests/adapters; none of their code
is here. Whether an adapter works is for `make try-NAME-adapter`; amr.hpp, for codes on AmrLevel, is compiled there alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_engine import ENVIRONMENT, ROOT

ADAPTERS, NAMES = ROOT / "adapters", ROOT / "tests/adapters"
MODULES = ROOT / "build/release/capi/modules"
RAMSES = ["ramses/octavo_ramses.f90", "ramses/octavo_calls.f90"]
DOUBLE = ["-fdefault-real-8", "-fdefault-double-8"]
FLASH_X = [f"-I{NAMES / 'flashx'}", "-DOCTAVO_PARTICLES"]
# An adapter: the names it needs, its sources, options, and a name of Octavo's interface that it uses.
FORTRAN = {
    "ramses": ("ramses/ramses.f90", RAMSES, ["-DNDIM=2"], "put_tree"),
    "ramses-mhd-rt": ("ramses/ramses.f90", RAMSES, ["-DNDIM=3", "-DSOLVERmhd", "-DRT", "-DUSE_TURB=1"], "get_attribute"),
    "flashx": ("flashx/flashx.F90", ["flashx/Octavo/octavo_flashx.F90"], [*DOUBLE, *FLASH_X, "-DIO_HDF5_PARALLEL"], "put_blocks"),
    "telemac": (None, [f"telemac/octavo_telemac{part}.f90" for part in ("_mpi", "", "_groups")], [], "double_precision"),
}  # fmt: skip


def compiled(words: list[object], folder: Path) -> str:
    """The errors of a compiler; empty if there are none."""
    words = [str(word) for word in words]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    return "" if done.returncode == 0 else done.stdout + done.stderr or "it failed"


def spoiled(source: Path, word: str, folder: Path) -> Path:
    """A copy of the source in which one name of Octavo's interface is another."""
    copy = folder / source.name
    copy.write_text(re.sub(rf"\b{word}\b", "no_such_name", source.read_text()))
    return copy


def need(program: str) -> str:
    if not shutil.which(program):
        pytest.skip(f"no {program} on this machine")
    return program


@pytest.mark.parametrize("name", FORTRAN)
def test_fortran_adapters_compile_and_a_changed_interface_is_an_error(name, tmp_path):
    compiler = need("mpif90")
    if not (MODULES / "octavo.mod").exists():
        pytest.skip("Octavo's Fortran module is not built")
    names, sources, options, word = FORTRAN[name]
    words = [compiler, "-cpp", "-fsyntax-only", "-ffree-line-length-none", f"-I{MODULES}", "-J.", *options]
    if names:
        assert compiled([*words, NAMES / names], tmp_path) == ""
    failed = []
    for source in sources:
        assert compiled([*words, ADAPTERS / source], tmp_path) == ""
        failed.append(compiled([*words, spoiled(ADAPTERS / source, word, tmp_path)], tmp_path))
        compiled([*words, ADAPTERS / source], tmp_path)  # its module again, for the next source
    assert any("no_such_name" in errors for errors in failed), word


@pytest.mark.parametrize("options", [FLASH_X, FLASH_X[:1]])
def test_the_calls_of_flash_x_compile(options, tmp_path):
    words = [need("mpicc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *options]
    assert compiled([*words, ADAPTERS / "flashx/Octavo/octavo_calls.c"], tmp_path) == ""


def test_the_headers_for_amrex_compile_and_a_changed_interface_is_an_error(tmp_path):
    for header in ("MultiFab", "ParallelDescriptor", "Version"):
        (tmp_path / f"AMReX_{header}.H").write_text('#include "AMReX.H"\n')
    code = tmp_path / "code.cpp"
    code.write_text("""#include "octavo_amrex.hpp"
void plot(const amrex::Vector<const amrex::MultiFab*>& mf, const amrex::Vector<amrex::Geometry>& geom) {
  octavo::amrex::WritePlotfile("plt", 1, mf, {"phi"}, geom, 0.5, {1}, {});
  octavo::amrex::WritePlotfile("plt", 1, mf, {"phi"}, geom, 0.5, {1}, {}, "HyperCLaw-V1.1", "Level_", "Cell", {"extra"});
}
""")
    words = [need("mpicxx"), "-std=c++20", "-fsyntax-only", f"-I{tmp_path}", f"-I{NAMES / 'amrex'}", f"-I{ROOT}"]
    assert compiled([*words, f"-I{ADAPTERS / 'amrex'}", code], tmp_path) == ""
    for header in (ADAPTERS / "amrex").glob("*.hpp"):
        shutil.copy(header, tmp_path)
    spoiled(ADAPTERS / "amrex/write.hpp", "put_bytes", tmp_path)
    assert "no_such_name" in compiled([*words, code], tmp_path)


@pytest.mark.parametrize("code", ["ramses", "flashx", "telemac"])
def test_an_unknown_version_of_a_code_is_an_error_that_names_it(code, tmp_path):
    tree, here = tmp_path / "tree", tmp_path / "tree/bin"
    for folder in (here, tree / "sources/utils"):
        folder.mkdir(parents=True)
    for name in ("octavo_flashx.F90", "IO_data.F90"):
        (here / name).touch()
    words = {
        "ramses": ["-f", ADAPTERS / "ramses/Makefile", "MPI=1"],
        "flashx": ["-f", ADAPTERS / "flashx/Octavo/Makefile"],
        "telemac": ["-C", ADAPTERS / "telemac", f"TELEMAC={tree}"],
    }[code]
    errors = compiled([need("make"), *words], here)
    assert re.search(r"is a version that the adapter was not tried with \(.*sum [0-9a-f]{16} of", errors), errors
    assert str(tmp_path) in errors


def test_link_gives_flash_x_its_unit_and_its_shortcut_once(tmp_path):
    link, shortcuts = ADAPTERS / "flashx/link", tmp_path / "bin/setup_shortcuts.txt"
    assert "is no tree of Flash-X" in compiled([link, tmp_path], tmp_path)
    for folder in (tmp_path / "source/IO/IOMain/hdf5", shortcuts.parent):
        folder.mkdir(parents=True)
    shortcuts.write_text("parallelio:--unit=IO/IOMain/hdf5/parallel")  # without a line's end
    for _ in range(2):
        assert compiled([link, tmp_path], tmp_path) == ""
    lines = shortcuts.read_text().split()
    assert lines == ["parallelio:--unit=IO/IOMain/hdf5/parallel", "octavo:-unit=IO/IOMain/hdf5/Octavo"]
    assert (tmp_path / "source/IO/IOMain/hdf5/Octavo/Config").exists()
