"""The verbs on SERAFIN files as TELEMAC writes them; the oracle's figures were made by another reader."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import octavo_reader
import octavo_triangles
import pytest

import octavo

FILES = [
    "f2d_gouttedo.slf",
    "f3d_gouttedo.slf",
    "r2d_bowl_vf_gb_DoublePrecision_LittleEndian.slf",
    "r3d_stratification.slf",
]


@pytest.mark.parametrize("name", FILES)
def test_info_and_stats_agree_with_the_oracle(files, run_json, name):
    oracle = json.loads((files / "oracle.json").read_text())[name]
    facts = run_json("info", files / name)
    assert facts["cells"] == oracle["nelem"]
    assert facts["series"]["steps"] == oracle["nstep"] and facts["file_bytes"] == (files / name).stat().st_size
    assert facts["fields"][:-1] == [
        {"name": field, "unit": unit, "dtype": f"float{8 * oracle['real_bytes']}"}
        for field, unit in oracle["variables"]
    ]
    assert facts["fields"][-1]["name"] == "IPOBO"
    last = oracle["nstep"] - 1
    stats = run_json("stats", files / name, "--step", last)["fields"]
    for (field, _), (lo, hi, total) in zip(oracle["variables"], oracle["steps"][last]["stats"], strict=True):
        found = stats[field]
        assert (found["min"], found["max"]) == (lo, hi)
        assert found["sum"] == pytest.approx(total, rel=1e-12, abs=1e-9)


def test_people_are_told_of_points_and_metres_not_of_leaves_and_levels(files, run):
    path = files / "r2d_malpasset-small_5steps.slf"
    info, stats = run("info", path).stdout, run("stats", path).stdout
    assert "elements  26 000" in info and "17226.6 x 9181.33 m" in info and "time      800 s" in info
    assert "steps     5, from 0 to 800 s" in info and "of which" in info
    assert stats.startswith("13 541 points, area 51854366")
    for text in (info, stats):
        assert "leaves" not in text and "level" not in text and " cm" not in text


def test_a_flood_drawn_masked_and_over_time(files, run, tmp_path):
    path = files / "r2d_malpasset-small_5steps.slf"
    depth = ["map", path, "--field", "WATER DEPTH", "--pixels", 300]
    run(*depth, "--step", 0, "--mask", "WATER DEPTH>0.01", "-o", tmp_path / "first.npy")
    run(*depth, "--over-time", "max", "--mask", "WATER DEPTH>0.01", "-o", tmp_path / "flood.npy")
    run(*depth, "--step", 0, "-o", tmp_path / "all.npy")
    first, flood, whole = (np.load(tmp_path / f"{name}.npy") for name in ("first", "flood", "all"))
    wet = np.isfinite(first)
    assert np.all(np.isfinite(flood[wet])) and np.isfinite(flood).sum() > wet.sum()
    assert np.all(flood[wet] >= first[wet])
    assert np.all(np.isfinite(whole[np.isfinite(flood)])) and np.nanmin(whole) == 0  # dry land is in the mesh
    run(*depth, "-o", tmp_path / "flood.png")
    assert (tmp_path / "flood.png").stat().st_size > 1000


def test_time_series_as_a_table_csv_json_and_in_python(files, run, run_json):
    path = files / "r2d_malpasset-small_5steps.slf"
    words = ["probe", path, "--at", "4500,4350", "--at", "0,0", "--field", "WATER DEPTH"]
    facts = run_json(*words)
    assert facts["times"] == [0, 200, 400, 600, 800]
    assert [place["inside"] for place in facts["places"]] == [True, False]
    assert facts["places"][1]["fields"]["WATER DEPTH"] == [None] * 5
    rows = run(*words, "--csv").stdout.splitlines()
    assert rows[0] == 'time,"WATER DEPTH at 4500,4350","WATER DEPTH at 0,0"' and len(rows) == 6
    assert "WATER DEPTH at" in run(*words).stdout
    found = octavo.probe(path, [(4500, 4350)], ["WATER DEPTH"])
    assert found["values"][0, 0].tolist() == facts["places"][0]["fields"]["WATER DEPTH"]
    part = octavo.open(path, step=3).part(0)
    nearest = np.argmin((part.x - 4500) ** 2 + (part.y - 4350) ** 2)
    triangles = part.triangles[np.any(part.triangles == nearest, axis=1)]
    around = part.fields["WATER DEPTH"][triangles]
    assert around.min() <= found["values"][0, 0, 3] <= around.max()


def test_a_store_has_every_step_and_a_bound_holds(files, run, run_json, tmp_path):
    path, store = files / "r2d_malpasset-small_5steps.slf", tmp_path / "r2d.octavo"
    run("convert", path, store, "-q")
    for step in range(5):
        assert run_json("diff", path, store, *(["--ignore", "step"] if step < 0 else []))["equal"]
        assert octavo.diff(octavo.open(path, step=step), octavo.open(store, step=step))["equal"]
    assert "good" in run("verify", store).stdout + run("verify", path).stdout
    lossy = tmp_path / "lossy.octavo"
    report = run_json("convert", path, lossy, "--codec", "abs:1e-3")
    assert report["input_bytes"] > 3 * report["stored_bytes"]
    assert octavo.diff(octavo.open(path), octavo.open(lossy), absolute=1e-3)["equal"]
    run("convert", path, lossy, "--append", "--flow", "checkpoint", "-q")
    run("convert", lossy, tmp_path / "again.slf", "--flow", "checkpoint")
    assert (tmp_path / "again.slf").read_bytes() == path.read_bytes()
    assert run("convert", store, tmp_path / "one.slf", "--step", 3, check=False).returncode == 2
    run("map", store, "--field", "WATER DEPTH", "-o", tmp_path / "map.npy", "--pixels", 50)


def test_time_series_of_a_med_file_and_of_a_store_are_those_of_the_serafin_file(files, run, run_json, tmp_path):
    path, store, med = files / "r2d_malpasset-small_5steps.slf", tmp_path / "r2d.octavo", tmp_path / "r2d.med"
    words = ["--at", "4500,4350", "--at", "0,0"]
    expected = run_json("probe", path, *words)
    run("convert", path, store, "-q")
    assert run_json("probe", store, *words) | {"path": ""} == expected | {"path": ""}
    if run("convert", path, med, "-q", check=False).returncode != 4:  # no libmedC here
        assert run_json("probe", med, *words) | {"path": ""} == expected | {"path": ""}


@pytest.mark.parametrize("name", ["r2d_bowl_vf_gb_DoublePrecision_LittleEndian.slf", "f3d_gouttedo.slf"])
def test_the_independent_reader_finds_the_same_bits_in_a_store(files, run, tmp_path, name):
    run("convert", files / name, tmp_path / "a.octavo", "-q")
    steps = octavo_reader.read_store(tmp_path / "a.octavo")
    for step in [*steps[:1], *steps[1:][-1:]]:  # the last one's mesh is the first one's
        mesh, fields = octavo_triangles.read(steps, step)
        part = octavo.open(files / name, step=step.step).part(0)
        assert np.array_equal(mesh.x, part.x) and np.array_equal(mesh.y, part.y)
        assert np.array_equal(mesh.triangles, part.triangles) and mesh.planes == part.planes
        assert list(fields) == [*mesh.beside, *(field for field in part.fields if field not in mesh.beside)]
        for field, values in part.fields.items():
            assert fields[field].tobytes() == np.ascontiguousarray(values).tobytes()


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
def test_the_independent_reader_puts_together_what_three_ranks_wrote(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "triangles.py"
    words = ["mpirun", "-n", "3", sys.executable, example, tmp_path / "channel.octavo", "2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    steps = octavo_reader.read_store(tmp_path / "channel.octavo")
    assert [(step.step, len(step.parts)) for step in steps] == [(1, 3), (2, 3)]
    for step in steps:
        mesh, fields = octavo_triangles.read(steps, step)
        number = np.arange(61 * 13)
        assert np.array_equal(mesh.x, 5.0 * (number // 13)) and np.array_equal(mesh.y, 5.0 * (number % 13))
        assert mesh.triangles.shape == (1440, 3) and np.array_equal(np.unique(mesh.triangles), number)
        assert np.array_equal(fields["WATER DEPTH"], [2 + step.step * mesh.x / 1024])


def test_wrong_wishes_are_told(files, run):
    path = files / "f2d_gouttedo.slf"
    for words, text, code in [
        (["map", path, "--field", "WATER DEPTH", "--mask", "DEPTH", "-o", "x.npy"], "expected FIELD>VALUE", 2),
        (["map", path, "--field", "DEPTH", "-o", "x.npy"], "WATER DEPTH", 2),
        (["map", path, "--field", "WATER DEPTH", "--axis", "x", "-o", "x.npy"], "along z", 4),
        (["stats", path, "--step", 99], "step 99 is not there", 2),
        (["stats", path, "--step", 1, "--over-time", "max"], "takes all steps", 2),
        (["probe", path, "--at", "1"], "expected two numbers", 2),
        (["probe", path, "--at", "1,1", "--plane", 3], "plane: expected 0 to 0", 2),
    ]:
        done = run(*words, check=False)
        assert done.returncode == code and text in done.stderr, done.stderr


def changed(path, out, at, to):
    """A copy with other bytes at a place."""
    contents = bytearray(path.read_bytes())
    contents[at : at + len(to)] = to
    out.write_bytes(contents)
    return out


def test_verify_tells_its_notes(files, run, run_json, tmp_path):
    path = tmp_path / "cut.slf"
    path.write_bytes((files / "r2d_malpasset-small_5steps.slf").read_bytes()[:-100])
    done, report = run("verify", path), run_json("verify", path)
    assert "note: " in done.stderr and "a step cut short" in done.stderr and "4 steps" in done.stdout
    assert any("a step cut short" in note for note in report["notes"]) and report["findings"] == []


def test_all_steps_are_compared(files, run, run_json, tmp_path):
    path = files / "r2d_malpasset-small_5steps.slf"
    size = path.stat().st_size
    other = changed(path, tmp_path / "other.slf", size // 2, b"\x41\x41\x41\x41")
    assert run("diff", path, path).stdout.endswith("equal: all 5 steps\n")
    done = run("diff", path, other, check=False)
    assert done.returncode == 1 and done.stdout.endswith("different: 1 of 5 steps compared\n")
    report = run_json("diff", path, other, check=False)
    assert [step["equal"] for step in report["steps"]].count(False) == 1 and not report["equal"]
    step = next(row["a"] for row in report["steps"] if not row["equal"])
    assert f"step {step}, time " in done.stdout and any(not v["within"] for v in report["variables"].values())
    assert run("diff", path, other, "--step", (step + 1) % 5).returncode == 0
    short = tmp_path / "short.slf"
    short.write_bytes(path.read_bytes()[:-100])
    done = run("diff", path, short, check=False)
    assert done.returncode == 1 and "A has 5 steps, B has 4" in done.stdout
    run("convert", path, tmp_path / "all.octavo", "-q")
    assert "equal: all 5 steps" in run("diff", path, tmp_path / "all.octavo").stdout


def test_a_map_is_in_metres_and_seconds_or_over_time(files):
    from octavo.pictures import picture

    path = files / "r2d_malpasset-small_5steps.slf"
    for data, title in ((octavo.open(path), "t = 800 s"), (octavo.over_time(path, "max"), "maximum over time")):
        axes = picture.draw(data.map("WATER DEPTH", pixels=20)).axes[0]
        assert axes.get_xlabel() == "x [m]" and axes.get_ylabel() == "y [m]"
        assert axes.get_title(loc="left").endswith("   " + title)


@pytest.mark.parametrize(
    "words",
    [
        ["partition", "x.slf", "-o", "T", "--parts", "99999999999999999999"],
        ["info", "x.slf", "--step", "99999999999999999999"],
        ["stats", "x.slf", "-j", "3000000000"],
        ["probe", "x.slf", "--at", "1,1", "--plane", "3000000000"],
        ["map", "x.slf", "--field", "F", "-o", "m.png", "--pixels", "99999999999999999999"],
    ],
)
def test_a_number_that_is_too_large_is_told(run, words):
    done = run(*words, check=False)
    assert done.returncode == 2 and "expected a whole number below" in done.stderr


def test_a_map_shows_the_triangles_of_its_region_alone(files):
    bowl = octavo.open(files / "r2d_bowl_vf_gb_DoublePrecision_LittleEndian.slf")
    layers = octavo.open(files / "r3d_stratification.slf")
    for ds, field, kind in ((bowl, "BOTTOM", "integral"), (layers, "SALINITE", "mean"), (layers, "SALINITE", "max")):
        size, lo = ds._data.hi[0] - ds._data.lo[0], ds._data.lo
        radius = 0.3 * min(1.0, (ds._data.hi[1] - lo[1]) / size)
        picture = ds.sphere("center", radius).map(field, kind=kind, pixels=64)
        ny, nx = picture.values.shape
        x0, x1, y0, y1 = picture.extent
        x = x0 + (np.arange(nx) + 0.5) * (x1 - x0) / nx - (x0 + x1) / 2
        y = y0 + (np.arange(ny) + 0.5) * (y1 - y0) / ny - (y0 + y1) / 2
        outside = np.hypot(x[None, :], y[:, None]) >= radius * size
        assert 0.2 < outside.mean() < 0.23 and np.array_equal(np.isnan(picture.values), outside)
    valley = octavo.open(files / "f2d_malpasset-small_pos.slf")
    with pytest.raises(octavo.UsageError, match="the selection holds no cell: sphere"):
        valley.sphere((0.01, 0.005), 0.003).map("BOTTOM", pixels=16)


# ------------------------------------------------------------------ steps


@pytest.mark.parametrize("ending", ["med", "vtkhdf", "nc", "msh"])
def test_a_mesh_without_steps_is_step_0_and_no_other(files, run, tmp_path, ending):
    path = tmp_path / f"mesh.{ending}"
    if run("convert", files / "geo_gouttedo.slf", path, "-q", check=False).returncode != 0:
        pytest.skip(f"no {ending} here")
    assert octavo.open(path, step=0).levels == octavo.open(path).levels
    for step in (1, -1):
        with pytest.raises(octavo.UsageError, match=f"step {step} is not there: the file has [01], numbered from 0"):
            octavo.open(path, step=step)


# ------------------------------------------------------------------ units of lengths


def test_a_length_has_the_unit_that_the_file_names_and_none_else(files, run, tmp_path):
    golden = Path(__file__).parents[2] / "tests" / "golden" / "med" / "cells.med"  # its axes have no unit
    for source, length in ((golden, 1), (files / "geo_gouttedo.med", 100), (files / "geo_gouttedo.slf", 100)):
        assert octavo.open(source).units["length"] == length, source
        for name in ("again.med", "again.nc", "again.vtkhdf"):
            run("convert", source, tmp_path / name, "-fq")
            assert octavo.open(tmp_path / name).units["length"] == length, (source, name)
    run("convert", golden, tmp_path / "again.msh", "-fq")
    assert octavo.open(tmp_path / "again.msh").units["length"] == 1
    assert "the unit is not in the file" in run("info", golden).stdout
    assert "length [code length]" not in run("info", files / "geo_gouttedo.med").stdout
    run("convert", golden, tmp_path / "again.vtkhdf", "-fq")
    for source in (golden, tmp_path / "again.vtkhdf"):
        with pytest.raises(octavo.UsageError, match="does not say what its code units are"):
            octavo.open(source).sphere("center", "20 m")


def test_a_vtkhdf_file_of_another_program_has_no_unit_of_length(files, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "r2d.vtkhdf"
    run("convert", files / "r2d_malpasset-small_5steps.slf", path, "-q")
    assert octavo.open(path).units["length"] == 100
    with h5py.File(path, "r+") as file:
        del file["Octavo"]
    assert octavo.open(path).units["length"] == 1
    assert "the unit is not in the file" in run("info", path).stdout


def test_axes_of_a_picture_name_no_unit_that_the_file_does_not_name(files):
    from octavo.pictures.picture import length_unit

    golden = Path(__file__).parents[2] / "tests" / "golden" / "med" / "cells.med"
    ds = octavo.open(golden)
    field = ds.fields[0]
    assert length_unit(ds.map(field, pixels=16)) == (1.0, "code length")
    ds = octavo.open(files / "geo_gouttedo.med")
    assert length_unit(ds.map("MAILLAGE", pixels=16)) == (1.0, "m")
