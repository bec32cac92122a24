"""Cross restart on real outputs: what goes from one code to another and back is the same data."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from conftest import mostly_long

FLASH = [
    "flash/sedov2d_pm4_serial/sedov2d_hdf5_chk_0002",
    "flash/sedov2d_pm4_par4/sedov2dp_hdf5_part_0001",
    "flash/sedov3d_octant_par3/sedov3do_hdf5_chk_0001",
    "flash/sedov3d_octant_par3/sedov3do_hdf5_plt_cnt_0001",
]
AMREX = [
    "amrex/adv2d_core_r4/plt00020",
    "amrex/adv2d_core_r4/chk00020",
    "amrex/adv3d_amrlevel_r2/plt00004",
    "amrex/multi3d_r4/plt00007",
    "amrex/multi3d_r4/chk00007",
    "amrex/parts2d_bigid_r4/chk00007",
]
RAMSES = ["ramses/implosion2d_2ranks/output_00002", "ramses/sedov3d_4ranks/output_00002"]
# Parents, particles by block and tree arrays are made anew; these sets must come back as they were.
MESH_SETS = [
    "dens",
    "pres",
    "velx",
    "ener",
    "refine level",
    "node type",
    "which child",
    "gid",
    "gsurr_blks",
    "bounding box",
]


def sets_of(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path) as file:
        return {name: (file[name].dtype, file[name].shape, file[name][()].tobytes()) for name in file}


def statistics(run_json, path):
    """Leaves, and the range of the fields that every code has, in one code's words."""
    words = {"dens": "density", "pres": "pressure", "velx": "velocity_x", "x_velocity": "velocity_x", "phi": "phi"}
    stats = run_json("stats", path, "-q")
    fields = {words.get(name, name): (f["min"], f["max"]) for name, f in stats["fields"].items()}
    return stats["leaves"], {name: fields[name] for name in words.values() if name in fields}


@pytest.mark.parametrize("name", FLASH)
def test_flash_by_way_of_a_store_is_the_same_file(data, run, tmp_path, name):
    flow = "checkpoint" if "chk" in name else "analysis"
    run("convert", data / name, tmp_path / "run.octavo", "--flow", flow, "-q")
    run("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "flash", "--flow", flow, "-q")
    assert sets_of(tmp_path / "again") == sets_of(data / name)


@pytest.mark.parametrize("name", [FLASH[0], FLASH[2]])
def test_flash_by_way_of_amrex_has_the_same_mesh_and_particles(data, run, tmp_path, name):
    run("convert", data / name, tmp_path / "chk", "--to", "amrex", "--max-box", 16, "-q")
    run("convert", tmp_path / "chk", tmp_path / "again", "--to", "flash", "--block", 8, "-q")
    before, after = sets_of(data / name), sets_of(tmp_path / "again")
    for name in before.keys() & set(MESH_SETS):
        if name in ("gid", "gsurr_blks"):
            continue  # they know boundary conditions, which a plotfile does not
        assert after[name] == before[name], name


def test_flash_by_way_of_ramses_has_the_same_leaves(data, run, run_json, tmp_path):
    name = FLASH[2]
    run("convert", data / name, tmp_path / "output_00003", "--to", "ramses", "-q")
    run("convert", tmp_path / "output_00003", tmp_path / "again", "--to", "flash", "--block", 8, "-q")
    expected = statistics(run_json, data / name)
    assert statistics(run_json, tmp_path / "output_00003") == expected
    assert statistics(run_json, tmp_path / "again") == expected


@pytest.mark.parametrize("name", mostly_long(*AMREX, short=AMREX[1:5:2]))
def test_amrex_by_way_of_a_store_is_the_same_data_in_the_same_boxes(data, run, run_json, tmp_path, name):
    run("convert", data / name, tmp_path / "run.octavo", "-q")
    run("convert", tmp_path / "run.octavo", tmp_path / "again", "--to", "amrex", "-q")
    same = [run_json("stats", path, "-q") for path in (data / name, tmp_path / "again")]
    for key in ("leaves", "fields", "particles"):
        assert same[0].get(key) == same[1].get(key)
    headers = [boxes_of(path) for path in (data / name, tmp_path / "again")]
    assert headers[0] == headers[1]
    assert run("verify", tmp_path / "again", check=False).returncode == 0


def boxes_of(output):
    """The boxes of each level's first cell-centred values."""
    found = {}
    for level in sorted(output.glob("Level_*")):
        for header in sorted(level.glob("*_H")):
            lines = [line for line in header.read_text().splitlines() if line.startswith("((")]
            if lines and lines[0].rstrip(")").endswith("(0,0" if lines[0].count(",") < 5 else "(0,0,0"):
                found.setdefault(level.name, lines)
    return found


@pytest.mark.parametrize("name", ["amrex/adv2d_core_r4/plt00020", "amrex/adv2d_amrlevel_r4/plt00010"])
def test_amrex_by_way_of_flash_has_the_same_leaves_and_particles(data, run, run_json, tmp_path, name):
    run("convert", data / name, tmp_path / "chk", "--to", "flash", "-q")
    run("convert", tmp_path / "chk", tmp_path / "again", "--to", "amrex", "-q")
    assert statistics(run_json, tmp_path / "again") == statistics(run_json, data / name)
    before, after = (run_json("stats", p, "-q")["particles"] for p in (data / name, tmp_path / "again"))
    for key in ("position_x", "position_y", "id", "cpu"):
        assert {w: after[key][w] for w in ("count", "min", "max")} == {
            w: before[key][w] for w in ("count", "min", "max")
        }


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
def test_ranks_share_a_conversion_and_write_the_same_bytes(data, run, tmp_path):
    name = data / "amrex/multi3d_r4/plt00007"
    rename = ["--rename", "xy_plus_z=xypz,gauss=gaus,levelmark=levl"]
    for out, words in {"one": {}, "three": {"ranks": 3}}.items():
        run("convert", name, tmp_path / f"{out}_hdf5_chk_0000", "--to", "flash", *rename, "-j", 1, **words)
        run("convert", data / FLASH[0], tmp_path / f"{out}_plt", "--to", "amrex", "-j", 1, **words)
    assert (tmp_path / "one_hdf5_chk_0000").read_bytes() == (tmp_path / "three_hdf5_chk_0000").read_bytes()
    files = [p.relative_to(tmp_path / "one_plt") for p in sorted((tmp_path / "one_plt").rglob("*")) if p.is_file()]
    assert len(files) > 3
    for file in files:
        assert (tmp_path / "one_plt" / file).read_bytes() == (tmp_path / "three_plt" / file).read_bytes(), file
    refused = run("convert", name, tmp_path / "output_00001", "--to", "ramses", ranks=2, check=False)
    assert refused.returncode == 2 and "without mpirun" in refused.stderr


def test_a_finer_mesh_and_other_blocks_keep_what_there_was(data, run, run_json, tmp_path):
    real = data / FLASH[2]
    before = run_json("stats", real, "-q")
    run("convert", real, tmp_path / "finer.octavo", "--flow", "checkpoint", "--refine", 1, "-q")
    run("convert", real, tmp_path / "blocks.octavo", "--flow", "checkpoint", "--block", 4, "-q")
    report = run_json("convert", real, tmp_path / "finer_hdf5_chk_0001", "--to", "flash", "--refine", 1)
    assert any("refined once" in note for note in report["notes"])
    finer, native, blocks = (
        run_json("stats", tmp_path / name, "-q") for name in ("finer.octavo", "finer_hdf5_chk_0001", "blocks.octavo")
    )
    # Amounts per mass keep their mean over the mass. Internal energy falls by the kinetic energy that is new.
    for other in (finer, native, blocks):
        for name, field in before["fields"].items():
            if name in ("eint", "pres") and other is not blocks:
                mean = "mass_mean" if name == "eint" else "integral"
                assert 0.9 * field[mean] < other["fields"][name][mean] < field[mean], name
                continue
            mean = "mass_mean" if name in ("velx", "vely", "velz", "ener") else "integral"
            assert other["fields"][name][mean] == pytest.approx(field[mean], rel=1e-12, abs=1e-12), name
    assert finer["leaves"] > before["leaves"] and blocks["leaves"] == before["leaves"]
    assert run("verify", tmp_path / "finer_hdf5_chk_0001").returncode == 0


def test_a_flash_name_that_yt_does_not_know_is_noted(data, run, tmp_path):
    said = run("convert", data / FLASH[0], tmp_path / "chk", "--to", "flash")
    assert "hdf5_chk" in said.stdout + said.stderr
    said = run("convert", data / FLASH[0], tmp_path / "a_hdf5_chk_0000", "--to", "flash")
    assert "look for names" not in said.stdout + said.stderr


@pytest.mark.parametrize("name", RAMSES)
def test_ramses_cells_become_boxes(data, run, run_json, tmp_path, name):
    run("convert", data / name, tmp_path / "plt", "--to", "amrex", "-q")
    assert statistics(run_json, tmp_path / "plt") == statistics(run_json, data / name)


@pytest.mark.parametrize("fill", [["--fill"], ["--fill", "linear"], ["--fill", "constant"]])
def test_incomplete_blocks_are_exit_4_and_fill_completes_them(data, run, run_json, tmp_path, fill):
    real = data / RAMSES[0]
    refused = run("convert", real, tmp_path / "chk", "--to", "flash", check=False)
    assert refused.returncode == 4
    assert "blocks are missing" in refused.stderr
    assert "--fill" in refused.stderr
    assert not (tmp_path / "chk").exists()
    report = run_json("convert", real, tmp_path / "chk", "--to", "flash", *fill)
    assert report["fills"] > 0
    assert any("limited slopes" in note for note in report["notes"]) == ("constant" not in fill)
    before, after = (run_json("stats", p, "-q")["fields"] for p in (real, tmp_path / "chk"))
    assert after["dens"]["integral"] == pytest.approx(before["density"]["integral"], rel=1e-13)
    assert (after["dens"]["min"], after["dens"]["max"]) == (before["density"]["min"], before["density"]["max"])


def test_a_name_that_flash_cannot_have_is_a_usage_error_that_says_what_to_do(data, run, tmp_path):
    plt = data / "amrex/multi3d_r4/plt00007"
    refused = run("convert", plt, tmp_path / "chk", "--to", "flash", check=False)
    assert refused.returncode == 2
    assert "--rename" in refused.stderr
    run("convert", plt, tmp_path / "chk", "--to", "flash", "--rename", "xy_plus_z=xypz,gauss=gaus,levelmark=levl", "-q")


def test_mass_means_know_the_density_of_flash(data, run_json):
    fields = run_json("stats", data / FLASH[0], "-q")["fields"]
    assert fields["dens"]["mass_mean"] > fields["dens"]["volume_mean"]


# ------------------------------------------------------------------------------------------------------------- peers

YT = """
import sys, json, yt
yt.set_log_level(50)
ds = yt.load(sys.argv[1]); ad = ds.all_data()
rho = ad[sys.argv[2], sys.argv[3]].to_ndarray()
volume = ad["index", "cell_volume"].to("code_length**3").to_ndarray()
print(json.dumps([len(rho), rho.min(), rho.max(), float((rho * volume).sum() / volume.sum())]))
"""

VTK = """
import sys, json
from vtkmodules.vtkIOAMR import vtkAMReXGridReader, vtkAMRFlashReader
reader = (vtkAMReXGridReader if sys.argv[2] == "amrex" else vtkAMRFlashReader)()
reader.SetFileName(sys.argv[1])
reader.SetMaxLevel(20)
reader.UpdateInformation()
reader.SetCellArrayStatus(sys.argv[3], 1)
reader.Update()
out = reader.GetOutput()
from vtkmodules.vtkCommonDataModel import vtkDataObjectTreeIterator
low, high, n = float("inf"), -float("inf"), 0
iterator = out.NewIterator()
while not iterator.IsDoneWithTraversal():
    array = iterator.GetCurrentDataObject().GetCellData().GetArray(sys.argv[3])
    lo, hi = array.GetRange()
    low, high, n = min(low, lo), max(high, hi), n + array.GetNumberOfTuples()
    iterator.GoToNextItem()
print(json.dumps([n, low, high]))
"""


def child(code, *words):
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def check_yt(run_json, out, word, name, theirs):
    stats = run_json("stats", out, "-q")
    leaves, low, high, mean = child(YT, out, word, theirs)
    field = stats["fields"][name]
    assert (leaves, low, high) == (stats["leaves"], field["min"], field["max"])
    assert mean == pytest.approx(field["volume_mean"], rel=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("source", [FLASH[0], FLASH[2], RAMSES[1]])
@pytest.mark.parametrize("to", ["amrex", "flash"])
def test_yt_reads_what_crossed(data, run, run_json, tmp_path, source, to):
    pytest.importorskip("yt")
    out = tmp_path / ("plt00002" if to == "amrex" else "x_hdf5_chk_0002")
    run("convert", data / source, out, "--to", to, "--fill", "-q")
    name = "density" if to == "amrex" else "dens"
    check_yt(run_json, out, "boxlib" if to == "amrex" else "flash", name, name)


@pytest.mark.long
def test_yt_reads_a_ramses_output_of_amrex_patches(data, run, run_json, tmp_path):
    """On a periodic box, since yt does not read RAMSES' own outputs with walls either."""
    pytest.importorskip("yt")
    out = tmp_path / "output_00002"
    run("convert", data / RAMSES[1], tmp_path / "plt00002", "--to", "amrex", "--fill", "-q")
    run("convert", tmp_path / "plt00002", out, "--to", "ramses", "--periodic", "xyz", "--fill", "-q")
    check_yt(run_json, out, "ramses", "density", "Density")


@pytest.mark.long
@pytest.mark.parametrize("to", ["amrex", "flash"])
def test_vtk_reads_what_crossed(data, run, run_json, tmp_path, to):
    pytest.importorskip("vtk")
    out = tmp_path / {"amrex": "plt00002", "flash": "x_hdf5_chk_0002"}[to]
    run("convert", data / RAMSES[1], out, "--to", to, "--fill", "-q")
    name = "dens" if to == "flash" else "density"
    density = run_json("stats", out, "-q")["fields"][name]
    cells, low, high = child(VTK, out, to, name)
    assert cells > 0
    assert (low, high) == (density["min"], density["max"])
