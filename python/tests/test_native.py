"""FLASH and AMReX outputs written by all ranks from Python: what native_cases.py promises, on several ranks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import native_cases
import numpy as np
import pytest

import octavo

pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def case(name: str, directory: Path, ranks: int) -> None:
    """Runs a case; a rank that fails ends all of them."""
    pytest.importorskip("mpi4py")
    words = [sys.executable, "-m", "mpi4py", str(Path(__file__).with_name("native_cases.py")), name, str(directory)]
    done = subprocess.run(["mpirun", "-n", str(ranks), *words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_boxes_of_all_ranks_become_every_format(tmp_path, ranks):
    case("patches", tmp_path, ranks)
    for dim in (2, 3):
        expected = native_cases.leaves(dim)
        for path in tmp_path.glob(f"*_{dim}d_?"):
            output = octavo.open(path)
            checkpoint = path.name.startswith("amrex_checkpoint")
            assert output.time == 0.5 and len(output.fields) == 2
            cells = output.arrays()
            assert np.array_equal(np.sort(cells["dens"]), expected), path
            assert np.array_equal(np.sort(-cells["temp"]), expected), path
            # Where the values are: a cell of level l has its corner at x 2^(l-3).
            if not checkpoint:
                scale = 8.0 * 2 ** (cells["level"] - cells["level"].min())
                x, y = np.floor(cells["x"] * scale), np.floor(cells["y"] * scale)
                z = np.floor(cells["z"] * scale) if dim == 3 else 0
                level = cells["level"] - cells["level"].min()
                assert np.array_equal(cells["dens"], native_cases.value_at(level, x, y, z)), path
            if not path.name.startswith("flash"):
                assert len(output.particles("stars")["mass"]) == 30


@pytest.mark.parametrize("ranks", [1, 3])
def test_blocks_of_a_tree_become_a_flash_file_and_a_plotfile(tmp_path, ranks):
    case("tree", tmp_path, ranks)
    first = octavo.open(tmp_path / "flash_background")
    assert first.fields == ["dens"] and first.attributes["real scalars/dt"] == 0.125
    assert len(first.particles()["position_x"]) == 3
    cells = first.arrays()["dens"]
    for name in ("flash_sync", "amrex_plotfile_background"):
        output = octavo.open(tmp_path / name)
        assert np.array_equal(np.sort(output.arrays()[output.fields[0]]), np.sort(cells))
    assert len(cells) == 7 * native_cases.BOX**2 and len(np.unique(cells)) == len(cells)


@pytest.mark.parametrize("ranks", [1, 2])
def test_face_variables_stand_in_the_file_as_the_solver_has_them(tmp_path, ranks):
    h5py = pytest.importorskip("h5py")
    case("faces", tmp_path, ranks)
    assert [path.name for path in tmp_path.iterdir()] == ["chk"]
    with h5py.File(tmp_path / "chk") as file:
        for name, shape in (("bx  ", (2, 4, 2, 4)), ("by  ", (2, 4, 3, 3)), ("bz  ", (2, 5, 2, 3))):
            assert file[name].dtype == np.float32
            assert np.array_equal(file[name], np.arange(np.prod(shape)).reshape(shape)), name
        assert file["unknown names"][...].ravel().tolist() == [b"dens"]


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("store", 1), ("store", 3), ("large", 1), ("large", 2), ("errors", 1), ("errors", 3), ("leaving", 2)],
)
def test_case(tmp_path, name, ranks):
    case(name, tmp_path, ranks)


def test_boxes_that_cannot_be_are_refused():
    whole = [((0, 0), (8, 8))]
    with pytest.raises(octavo.UsageError, match="overlap"):
        octavo.Patches(whole, [[((0, 0), (8, 4)), ((0, 2), (8, 8))]], dim=2)
    with pytest.raises(octavo.UsageError, match="expected 3 entries"):
        octavo.Patches(whole, [whole])
    patches = octavo.Patches(whole, [[((0, 0), (8, 4))]], dim=2)
    assert (patches.dim, patches.ratio, patches.domain.tolist()) == (2, [], [[[0, 0], [8, 8]]])
    assert patches.boxes[0].tolist() == [[[0, 0], [8, 4]]]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_flash_file_is_replaced_if_asked(tmp_path, ranks):
    case("replace", tmp_path, ranks)
