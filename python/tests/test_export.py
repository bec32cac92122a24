"""Files for other programs, read back by these: each cell, value, level and mask as NumPy finds them on the leaves."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import OCTAVO

import octavo

needs_vtk = pytest.mark.skipif(
    not importlib.util.find_spec("vtkmodules"), reason="VTK is not installed: pip install vtk"
)
needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def vtk_reads(tmp_path, *files):
    """What VTK makes of the files: a dict of arrays each."""
    out = tmp_path / "read.npz"
    script = Path(__file__).with_name("vtk_reads.py")
    done = subprocess.run([sys.executable, script, out, *files], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "ERR" not in done.stderr, done.stderr
    arrays = np.load(out)
    return [
        {name.split("/", 1)[1]: arrays[name] for name in arrays.files if name.split("/", 1)[0] == str(i)}
        for i in range(len(files))
    ]


def in_order(places, *columns):
    """The columns, sorted by place."""
    order = np.lexsort(np.round(np.asarray(places).T, 12))
    return [np.asarray(column)[order] for column in columns]


def same_cells(found, selection, fields):
    """The cells that a program found are those of the selection: centres, sizes and values."""
    cells = selection.arrays(fields)
    axes = [axis for axis in "xyz" if axis in cells]
    expected = np.stack([cells[axis] for axis in axes], axis=1)
    centres = ((found["lo"] + found["hi"]) / 2)[:, : len(axes)]
    assert len(centres) == len(expected)
    here, size, *values = in_order(
        centres, centres, (found["hi"] - found["lo"])[:, 0], *(found[f"field:{f}"] for f in fields)
    )
    there, dx, *wanted = in_order(expected, expected, cells["dx"], *(cells[f] for f in fields))
    assert np.allclose(here, there, rtol=0, atol=1e-12) and np.allclose(size, dx, rtol=1e-12)
    for value, want in zip(values, wanted, strict=True):
        assert value.dtype == want.dtype and np.array_equal(value, want)


@needs_vtk
def test_a_hyper_tree_grid_has_the_leaves_of_every_selection(sample, run, tmp_path):
    ds = octavo.open(sample)
    selections = {
        (): ds,
        ("--roi", "sphere:center:0.21"): ds.sphere("center", 0.21),
        ("--roi", "box:-0.1,0.2,0:0.3,0.9,0.5"): ds.box((-0.1, 0.2, 0), (0.3, 0.9, 0.5)),
        ("--level", "5"): ds.level(5),
        ("--level", "4", "--roi", "sphere:0.3,0.3,0.3:0.25"): ds.sphere((0.3, 0.3, 0.3), 0.25).level(4),
        ("--where", "x + y < 0.7 & velocity_x > 0"): ds.where("x + y < 0.7 & velocity_x > 0"),
    }
    files = [tmp_path / f"{i}.vtkhdf" for i in range(len(selections))]
    for file, words in zip(files, selections, strict=True):
        run("export", sample, file, "--field", "density,velocity_x,level,mass", *words)
    for found, selection in zip(vtk_reads(tmp_path, *files), selections.values(), strict=True):
        assert found["class"] == "vtkHyperTreeGrid" and found["time"] == ds.time
        same_cells(found, selection, ["density", "velocity_x", "level", "mass"])
        volume = (found["hi"] - found["lo"]).prod(axis=1)
        assert np.isclose(
            (found["field:density"] * volume).sum(), selection.sum("density", weight="volume"), rtol=1e-12
        )


@needs_vtk
def test_refined_cells_have_the_stored_value_and_hidden_ones_none(sample, run, tmp_path):
    whole, some = tmp_path / "whole.vtkhdf", tmp_path / "some.vtkhdf"
    run("export", sample, whole, "--field", "density,level")
    run("export", sample, some, "--field", "density", "--where", "x < 0.3")
    found, part = vtk_reads(tmp_path, whole, some)
    ds = octavo.open(sample)
    assert found["numbers"][1] == len(ds.arrays("level")["level"])
    for level in (3, 4, 5):
        cells = ds.level(level).arrays("density")
        there = np.sort(cells["density"][cells["level"] == level])
        assert np.array_equal(np.sort(found["all:density"][found["all:level"] == level]), there)
    assert part["numbers"][0] > part["numbers"][1]
    leaves, hidden = len(ds.where("x < 0.3").arrays("level")["level"]), np.isnan(part["all:density"]).sum()
    assert len(part["lo"]) == leaves and part["numbers"][1] == leaves + hidden


@needs_vtk
@pytest.mark.parametrize(
    "name",
    [
        "ramses/sedov3d_4ranks",
        "ramses/implosion2d_2ranks",
        "flash/sedov2d_pm4_par4",
        "flash/sedov3d_octant_par3",
        "amrex/adv2d_core_r4",
        "amrex/adv3d_amrlevel_r2",
    ],
)
def test_hyper_tree_grids_of_real_outputs(data, run, tmp_path, name):
    folder = data / name
    paths = [p for p in sorted(folder.rglob("*")) if recognised(p)]
    assert paths
    path = paths[-1]
    ds = octavo.open(path)
    fields = [f for f in ds.fields if "left" not in f and "right" not in f][:2]
    run("export", path, tmp_path / "a.vtkhdf", "--field", ",".join(fields))
    run(
        "export",
        path,
        tmp_path / "b.vtkhdf",
        "--field",
        ",".join(fields),
        "--roi",
        "sphere:" + ",".join(["0.4"] * ds._data.dim) + ":0.23",
    )
    whole, some = vtk_reads(tmp_path, tmp_path / "a.vtkhdf", tmp_path / "b.vtkhdf")
    same_cells(whole, ds, fields)
    same_cells(some, ds.sphere((0.4,) * ds._data.dim, 0.23), fields)
    assert not np.isnan(whole[f"all:{fields[0]}"]).any()


def recognised(path):
    try:
        octavo.open(path)
    except octavo.Error:
        return False
    return True


@needs_vtk
@needs_mpi
def test_ranks_threads_and_stores_make_the_same_file(sample, run, tmp_path):
    octavo.convert(sample, tmp_path / "run.octavo")
    words = ["--field", "density,pressure", "--roi", "sphere:0.4,0.5,0.6:0.3"]
    one, three, store = (tmp_path / f"{name}.vtkhdf" for name in ("one", "three", "store"))
    run("export", sample, one, *words, "-j", "1")
    run("export", sample, three, *words, "-j", "2", ranks=3)
    run("export", tmp_path / "run.octavo", store, *words)
    assert one.read_bytes() == three.read_bytes() == store.read_bytes()


def test_an_export_holds_one_part_and_few_bits_a_cell(run, run_json, tmp_path):
    """The file of 25 MB takes less than a third of itself."""

    def peak(*words):
        code = (
            "import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)"
        )
        return int(
            subprocess.run(
                [sys.executable, "-c", code, OCTAVO, *map(str, words)], capture_output=True, check=True
            ).stdout
        )

    step = tmp_path / "output_00001"
    run("sample", step, "--domains", 32, "--levels", "6-8", "-q")
    size = run_json("export", step, tmp_path / "a.vtkhdf", "-q")["bytes"]
    assert size > 25e6
    held = peak("export", step, tmp_path / "b.vtkhdf", "-q", "-j", "1") - peak("info", step)
    assert held < size / 3


def test_an_export_of_nothing_is_refused_and_leaves_nothing(sample, run, tmp_path):
    out = tmp_path / "a.vtkhdf"
    done = run("export", sample, out, "--where", "density < -1", check=False)
    assert done.returncode == 2 and "no cell is selected" in done.stderr and not list(tmp_path.iterdir())
    done = run("export", sample, out, "--field", "densty", check=False)
    assert done.returncode == 2 and "density" in done.stderr
    assert OCTAVO.exists()
