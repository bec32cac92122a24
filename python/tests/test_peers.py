"""Readers of other codes read our files: yt and osyris give the same leaves and values. Long: make test-long installs
them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import native_cases
import numpy as np
import pytest

pytestmark = pytest.mark.long

YT = """
import sys, json, numpy as np, yt
yt.set_log_level(50)
ds = yt.load(sys.argv[1]); ad = ds.all_data()
rho = ad["gas", "density"].to("code_mass/code_length**3").to_ndarray()
volume = (ad["index", "dx"].to("code_length").to_ndarray()) ** 3
print(json.dumps([len(rho), rho.min(), rho.max(), float((rho * volume).sum() / volume.sum())]))
"""

OSYRIS = """
import sys, json, osyris
from pathlib import Path
path = Path(sys.argv[1])
data = osyris.RamsesDataset(int(path.name[-5:]), path=str(path.parent)).load()["mesh"]
rho = data["density"].values
print(json.dumps([len(rho), float(rho.min()), float(rho.max())]))
"""

# Leaves: value, index on their level along each axis.
YT_CELLS = """
import sys, numpy as np, yt
yt.set_log_level(50)
ds = yt.load(sys.argv[1]); ad = ds.all_data()
level = ad["index", "grid_level"].to_ndarray()
edge = ds.domain_width.to("code_length").to_ndarray() / 16
at = [(ad["index", a].to("code_length").to_ndarray() / edge[i] * 2**level) // 1 for i, a in enumerate("xyz"[: ds.dimensionality])]
kind = "flash" if ds.dataset_type.startswith("flash") else "boxlib"
np.save(sys.argv[2], np.stack([ad[kind, "dens"].to_ndarray(), ad[kind, "temp"].to_ndarray(), level, *at]))
print(ds.current_time.to("code_time").item())
"""

# All cells of all blocks, those under finer ones too, as VTK has them: value and centre.
VTK_CELLS = """
import sys, numpy as np
from vtkmodules.vtkIOAMR import vtkAMReXGridReader, vtkAMRFlashReader
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkAMReXGridReader() if sys.argv[3] == "amrex" else vtkAMRFlashReader()
reader.SetFileName(sys.argv[1])
reader.SetMaxLevel(9)
reader.SetCellArrayStatus("dens", 1)
reader.Update()
output = reader.GetOutput()
rows = []
for level in range(output.GetNumberOfLevels()):
    for block in range(output.GetNumberOfDataSets(level) if hasattr(output, "GetNumberOfDataSets") else output.GetNumberOfBlocks(level)):
        grid = output.GetDataSet(level, block) if hasattr(output, "GetDataSet") else output.GetDataSetAsImageData(level, block)
        values = vtk_to_numpy(grid.GetCellData().GetArray("dens"))
        # Not GetCell: cells under finer ones are blanked.
        n, origin, spacing = np.array(grid.GetDimensions()) - 1, grid.GetOrigin(), grid.GetSpacing()
        z, y, x = (axis.ravel() for axis in np.indices(n[::-1]))
        centre = [origin[a] + (i + 0.5) * spacing[a] for a, i in enumerate((x, y, z))]
        rows.append(np.stack([values, np.full(len(values), level), *centre]))
np.save(sys.argv[2], np.concatenate(rows, axis=1))
print(0)
"""


def peer(code, path, *words):
    import json

    done = subprocess.run(
        [sys.executable, "-c", code, str(path), *map(str, words)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module", params=[[], ["--domains", 7]])
def rewritten(request, data, run, tmp_path_factory):
    """A real output, and what we make of it."""
    real = data / "ramses" / "sedov3d_4ranks" / "output_00002"
    out = tmp_path_factory.mktemp("peers") / "output_00002"
    run("convert", real, out, "--to", "ramses", *request.param)
    return real, out


def test_yt_reads_a_sample(sample, run_json):
    pytest.importorskip("yt")
    stats = run_json("stats", sample)
    leaves, low, high, mean = peer(YT, sample)
    density = stats["fields"]["density"]
    assert (leaves, low, high) == (stats["leaves"], density["min"], density["max"])
    assert mean == pytest.approx(density["volume_mean"], rel=1e-10)


def test_yt_finds_what_it_found_in_the_real_output(rewritten):
    """yt rescales by boxlen, so a box that is not 1 is compared with yt itself."""
    pytest.importorskip("yt")
    real, out = rewritten
    assert peer(YT, out) == peer(YT, real)


def test_osyris_reads_what_we_write(sample, rewritten, run_json):
    pytest.importorskip("osyris")
    for path in (sample, rewritten[1]):
        density = run_json("stats", path)["fields"]["density"]
        leaves, low, high = peer(OSYRIS, path)
        assert leaves == run_json("stats", path)["leaves"]
        assert (low, high) == pytest.approx((density["min"], density["max"]), rel=1e-12)


# ------------------------------------------------------------------------------- what Writer writes on three ranks


@pytest.fixture(scope="module")
def natives(tmp_path_factory) -> Path:
    """FLASH files and AMReX plotfiles of two levels of boxes: FORMAT_DIMd_a."""
    pytest.importorskip("mpi4py")
    directory = tmp_path_factory.mktemp("natives")
    script = Path(native_cases.__file__)
    words = ["mpirun", "-n", "3", sys.executable, "-m", "mpi4py", str(script), "patches", str(directory)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("format", ["flash", "amrex_plotfile"])
def test_yt_finds_every_leaf_of_a_native_output_in_its_place(natives, tmp_path, format, dim):
    pytest.importorskip("yt")
    path = natives / f"{format}_{dim}d_a"
    if format == "flash":  # yt goes by the name
        (tmp_path / "run_hdf5_chk_0001").hardlink_to(path)
        path = tmp_path / "run_hdf5_chk_0001"
    assert peer(YT_CELLS, path, tmp_path / "cells.npy") == 0.5
    dens, temp, level, *at = np.load(tmp_path / "cells.npy")
    assert np.array_equal(np.sort(dens), native_cases.leaves(dim))
    assert np.array_equal(dens, native_cases.value_at(level, *at))
    assert np.array_equal(temp, -dens)


@pytest.mark.parametrize("dim", [2, 3])
def test_h5py_finds_every_block_of_a_native_flash_file_in_its_place(natives, dim):
    h5py = pytest.importorskip("h5py")
    with h5py.File(natives / f"flash_{dim}d_a") as file:
        level, box = file["refine level"][:], file["bounding box"][:]
        for number, values in enumerate(file["dens"][:]):
            scale = 8 << (level[number] - 1)
            lo, hi = np.rint(box[number, :dim] * scale).astype(int).T
            expected = native_cases.values_of(level[number] - 1, lo, hi)
            assert np.array_equal(values.reshape(expected.shape), expected)
            assert np.array_equal(file["temp"][number], -values)
        whole = native_cases.leaves(dim)
        assert (file["dens"].attrs["minimum"], file["dens"].attrs["maximum"]) == (whole.min(), whole.max())


@pytest.mark.parametrize("format", ["flash", "amrex_plotfile"])
def test_vtk_finds_every_cell_of_a_native_output_in_its_place(natives, tmp_path, format):
    """3-D only: VTK's reader crashes on real 2-D plotfiles."""
    if not importlib.util.find_spec("vtkmodules"):
        pytest.skip("no vtk")
    peer(VTK_CELLS, natives / f"{format}_3d_a", tmp_path / "cells.npy", format.split("_")[0])
    dens, level, *centre = np.load(tmp_path / "cells.npy")
    index = [np.floor(c * 8 * 2**level) for c in centre]
    assert np.array_equal(dens, native_cases.value_at(level, *index))
    assert np.isin(native_cases.leaves(3), dens).all()
