"""hist, phase and profile: numpy's own sums over leaves that were read by another way, on every kind of input."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
FLASH = "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002"


@pytest.fixture(scope="module")
def flash(data):
    """The leaves of a real file, read by h5py: dict of columns, and the file's path."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(data / FLASH) as file:
        leaf = file["node type"][:] == 1
        box = file["bounding box"][:][leaf]
        shape = file["dens"].shape[1:]  # (1, ny, nx)
        columns = {name: file[name][:][leaf].ravel() for name in ("dens", "pres", "velx", "temp")}
    step = (box[:, :, 1] - box[:, :, 0]) / [shape[2], shape[1], 1]
    x = box[:, 0, 0, None] + (np.arange(shape[2]) + 0.5) * step[:, 0, None]
    y = box[:, 1, 0, None] + (np.arange(shape[1]) + 0.5) * step[:, 1, None]
    columns["x"] = np.broadcast_to(x[:, None, :], (len(x), *shape[1:])).ravel()
    columns["y"] = np.broadcast_to(y[:, :, None], (len(y), *shape[1:])).ravel()
    columns["volume"] = np.repeat(step[:, 0] * step[:, 1], shape[1] * shape[2])
    return data / FLASH, columns


def test_hist_is_numpys(flash):
    path, cells = flash
    found = octavo.open(path).hist("dens", bins=37)
    expected, edges = np.histogram(cells["dens"], bins=37, weights=cells["volume"])
    assert np.allclose(found.edges, edges, rtol=1e-15) and found.edges[0] == edges[0]
    counts, _ = np.histogram(cells["dens"], bins=found.edges)
    assert (found.cells == counts).all() and counts.sum() == found.facts["all"]["cells"]
    expected, _ = np.histogram(cells["dens"], bins=found.edges, weights=cells["volume"])
    assert np.allclose(found.weights, expected, rtol=1e-12)
    total = octavo.open(path).hist("dens", bins=37, cumulative=True)
    assert np.allclose(total.weights[-1], cells["volume"].sum(), rtol=1e-13)


def test_log_bins_and_weights_are_numpys(flash):
    path, cells = flash
    for weight, values in (("mass", cells["dens"] * cells["volume"]), ("none", None), ("pres", cells["pres"])):
        found = octavo.open(path).hist("pres", bins=50, log=True, range=(1e-4, 1), weight=weight)
        assert np.allclose(found.edges, np.geomspace(1e-4, 1, 51), rtol=1e-13)
        expected, _ = np.histogram(cells["pres"], bins=found.edges, weights=values)
        assert np.allclose(found.weights, expected, rtol=1e-12)
        total = len(cells["pres"]) if values is None else values.sum()
        assert np.isclose(found.weights.sum() + found.facts["beyond"]["weight"], total, rtol=1e-13)


def test_a_field_that_differs_by_rounding_alone_has_bins(sample):
    """As one with a single value: a uniform medium after some steps of a solver."""
    ds = octavo.open(sample)
    nearly = "where(x < 0.5, 1, 1.0000000000000002)"
    for bins, more in ((64, {}), (64, {"log": True}), (65536, {})):
        found = ds.hist(nearly, bins=bins, **more)
        assert found.edges[0] < 1 and found.edges[-1] > 1.0000000000000002
        assert found.cells.sum() == found.facts["all"]["cells"] == found.cells.max()
    assert ds.phase(nearly, "density").cells.sum() == found.facts["all"]["cells"]


def test_a_table_says_how_many_cells_are_outside_of_its_bins(sample, run):
    count = octavo.open(sample).hist("density").facts["all"]["cells"]
    text = run("hist", sample, "--field", "density", "--range", "1e6,2e6", "--bins", 3).stdout.replace("\u00a0", " ")
    assert f"{count:,} of {count:,} lie outside of the bins".replace(",", " ") in text
    assert "outside" not in run("hist", sample, "--field", "density", "--bins", 3).stdout
    assert "outside" in run("profile", sample, "--field", "density", "--range", "0.1,0.2").stdout


def test_phase_is_numpys(flash):
    path, cells = flash
    found = octavo.open(path).phase("dens", "pres", bins=(20, 30))
    assert found.weight == "mass" and found.weights.shape == (30, 20)
    expected, _, _ = np.histogram2d(
        cells["pres"], cells["dens"], bins=(found.y.edges, found.x.edges), weights=cells["dens"] * cells["volume"]
    )
    assert np.allclose(found.weights, expected, rtol=1e-12)
    mass = octavo.open(path).sum("dens", weight="volume")
    assert np.isclose(found.weights.sum(), mass, rtol=1e-13)
    assert (np.isnan(found.values) == (expected == 0)).all()


@pytest.mark.parametrize("axis", ["radius", "x", "height", "cylinder"])
def test_profile_is_that_of_its_definition(flash, axis):
    path, cells = flash
    at = {"axis": axis, "centre": (0.3, 0.6), "normal": "x" if axis != "height" else (1, 1, 0)}
    found = octavo.open(path).profile(["dens", "velx"], bins=25, weight="mass", **at)
    x, y = cells["x"] - 0.3, cells["y"] - 0.6
    over = {"radius": np.hypot(x, y), "x": cells["x"], "height": (x + y) / np.sqrt(2), "cylinder": np.abs(y)}[axis]
    weight = cells["dens"] * cells["volume"]
    bins = np.clip(np.searchsorted(found.edges, over, side="right") - 1, 0, 24)
    for b in range(25):
        inside = bins == b
        # A cell whose distance is an edge but for rounding may be on either side.
        near = np.abs(over[:, None] - found.edges[b : b + 2]).min() < 1e-14
        if near or not inside.any():
            continue
        assert found.cells[b] == inside.sum()
        for name in ("dens", "velx"):
            row, values = found.fields[name], cells[name][inside]
            mean = np.average(values, weights=weight[inside])
            assert np.isclose(row["mean"][b], mean, rtol=1e-12, atol=1e-15)
            spread = np.sqrt(np.average((values - mean) ** 2, weights=weight[inside]))
            assert np.isclose(row["std"][b], spread, rtol=1e-7, atol=1e-12)
            assert (row["min"][b], row["max"][b]) == (values.min(), values.max())
    total = np.nansum(found["dens"] * found.weights)
    assert found.facts["beyond"]["cells"] == 0
    assert np.isclose(total, (cells["dens"] * weight).sum(), rtol=1e-12)


def test_profiles_over_places_are_exact(run, tmp_path):
    """The mean of x over x is the middle of each bin; a centre at a periodic corner sees all of the box."""
    path = tmp_path / "run.octavo"
    run("sample", path, "--to", "octavo", "--kind", "sedov", "--dim", 3, "--levels", "3-5", "--domains", 4, "-q")
    ds = octavo.open(path)
    found = ds.profile("x", axis="x", bins=8, range=(0, 1))
    assert np.allclose(found["x"], (np.arange(8) + 0.5) / 8, rtol=1e-14)
    assert np.allclose(found.weights, 1 / 8, rtol=1e-14)
    corner = ds.profile("density", centre=(0, 0, 0), bins=10)
    middle = ds.profile("density", centre=(0.5, 0.5, 0.5), bins=10)
    assert corner.edges[-1] == pytest.approx(np.sqrt(0.75)) and middle.edges[-1] == corner.edges[-1]
    assert corner.weights.sum() == pytest.approx(1, abs=1e-14)


FORMATS = [
    ("ramses/sedov3d_4ranks/output_00002", "density", "pressure"),
    ("amrex/multi3d_r4/plt00007", None, None),
    ("flash/sedov3d_octant_par3/sedov3do_hdf5_chk_0001", "dens", "pres"),
]


@pytest.mark.parametrize("place, x, y", FORMATS)
def test_every_format_and_its_store_give_the_same(data, tmp_path, place, x, y):
    native = octavo.open(data / place)
    x, y = x or native.fields[0], y or native.fields[-1]
    octavo.convert(data / place, tmp_path / "run.octavo")
    stored = octavo.open(tmp_path / "run.octavo")
    cells = native.arrays([x, y])
    volume = cells["dx"] ** native._data.dim
    for ds in (native, stored):
        found = ds.phase(x, y, bins=16, weight="volume", log=False)
        expected, _, _ = np.histogram2d(cells[y], cells[x], bins=(found.y.edges, found.x.edges), weights=volume)
        assert np.allclose(found.weights, expected, rtol=1e-11, atol=1e-14 * volume.sum())
        profile = ds.profile([x, y])
        assert np.isclose(np.nansum(profile[x] * profile.weights), (cells[x] * volume).sum(), rtol=1e-11)


def test_points_of_triangles_are_binned_by_their_area(data):
    path = data / "serafin" / "f2d_gouttedo.slf"
    if not path.exists():
        pytest.skip("no SERAFIN files")
    ds = octavo.open(path)
    part, name = ds.part(0), ds.fields[0]
    x, y, corners = part.x, part.y, part.triangles
    sides = [(x[corners[:, i]] - x[corners[:, 0]], y[corners[:, i]] - y[corners[:, 0]]) for i in (1, 2)]
    area = np.abs(sides[0][0] * sides[1][1] - sides[0][1] * sides[1][0]) / 2
    share = np.bincount(corners.ravel(), np.repeat(area / 3, 3), len(x))
    values = np.asarray(part.fields[name], dtype=float)
    found = ds.hist(name, bins=20)
    expected, _ = np.histogram(values, bins=found.edges, weights=share)
    assert np.allclose(found.weights, expected, rtol=1e-9)
    assert np.isclose(found.weights.sum(), area.sum(), rtol=1e-9)
    profile = ds.box((0.2, 0.2), (0.8, 0.8)).profile(name, bins=5)
    assert 0 < profile.facts["all"]["cells"] < len(x)
    with pytest.raises(octavo.UsageError, match="no density"):
        ds.hist(name, weight="mass")


@pytest.fixture(scope="module")
def reference(run, sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("bins") / "run.octavo"
    run("convert", sample, path)
    return path


WORDS = [
    ["hist", "--field", "density", "--log", "--weight", "mass"],
    ["phase", "--x", "density", "--y", "pressure", "--level", 5],
    ["profile", "--field", "density,pressure", "--centre", "max:density", "--roi", "sphere:0.9,0.5,0.5:0.3"],
    ["profile", "--field", "pressure", "--log"],
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_sums_have_the_same_bits_for_any_threads(run_json, reference, words):
    verb, *rest = words
    one = run_json(verb, reference, *rest, "-j", 1)
    assert one["all"]["cells"] > 1000
    for threads in (2, 5):
        assert run_json(verb, reference, *rest, "-j", threads) == one


@needs_mpi
@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_sums_have_the_same_bits_for_any_ranks(few, run_json, sample, reference, words):
    verb, *rest = words
    for path in (reference, sample):
        one = run_json(verb, path, *rest, "-j", 1)
        for ranks in few(2, 3):
            assert run_json(verb, path, *rest, ranks=ranks) == one


def test_outputs_read_back(run, run_json, reference, tmp_path):
    words = ["profile", reference, "--field", "density", "--bins", 9]
    facts = run_json(*words)
    run(*words, "-o", tmp_path / "p.csv")
    with open(tmp_path / "p.csv", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:4] == ["radius from", "radius to", "cells", "weight"]
    assert [float(row[3]) for row in rows] == facts["weights"]
    assert [float(row[4]) for row in rows if row[4]] == [m for m in facts["fields"]["density"]["mean"] if m is not None]
    run(*words, "-o", tmp_path / "p.npy")
    array = np.load(tmp_path / "p.npy")
    assert list(array["weight"]) == facts["weights"] and "density std" in array.dtype.names
    run("phase", reference, "--x", "density", "--y", "pressure", "--bins", "7,5", "-o", tmp_path / "f.npy")
    assert np.load(tmp_path / "f.npy").shape == (5, 7)
    run("phase", reference, "--x", "density", "--y", "pressure", "--bins", "7,5", "-o", tmp_path / "f.csv")
    with open(tmp_path / "f.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(float(row["weight"]) for row in rows) == pytest.approx(np.load(tmp_path / "f.npy").sum())
    assert all(int(row["cells"]) > 0 for row in rows)
    assert "density mean" in run(*words).stdout


def test_pictures_are_drawn_and_say_what_they_show(run, reference, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    for words in WORDS[:3]:
        path = tmp_path / f"{words[0]}.png"
        run(words[0], reference, *words[1:], "-o", path)
        pixels = image.imread(path)
        assert pixels.shape[0] > 300 and pixels[..., :3].std() > 0.05
    from PIL import Image

    facts = json.loads(Image.open(tmp_path / "phase.png").text["octavo"])
    assert facts["selection"] == "level <= 5" and facts["all"]["cells"] > 0


def test_bad_requests_draw_nothing_and_say_why(run, reference, tmp_path):
    out = tmp_path / "x.png"
    for words, message in (
        (["hist", "--field", "densty"], "did you mean density"),
        (["hist", "--field", "density", "--range", "2,1"], "limits of bins"),
        (["hist", "--field", "density", "--range", "2;1"], "expected two numbers"),
        (["hist", "--field", "velocity_x", "--log", "--range=-1,1"], "above 0"),
        (["hist", "--field", "density", "--roi", "sphere:0.5,0.5,0.5:1e-9"], "holds no cell"),
        (["hist", "--field", "density", "--weight", "pressur"], "did you mean pressure"),
        (["phase", "--x", "density", "--y", "pressure", "--bins", "0"], "numbers of bins"),
        (["phase", "--x", "density", "--y", "pressure", "--bins", "60000,60000"], "2^24"),
        (["profile", "--field", "density", "--centre", "1,2"], 'no place "1,2"'),
        (["profile", "--field", "density", "--centre", "max:densty"], "did you mean density"),
        (["profile", "--field", "density", "--axis", "cylinder", "--normal", "0,0,0"], "normal"),
        (["profile", "--field", "density", "--axis", "cylinder", "--normal", "up"], "no direction"),
    ):
        done = run(words[0], reference, *words[1:], "-o", out, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr
        assert not out.exists() and not list(tmp_path.iterdir())
    (tmp_path / "x.png").touch()
    assert run("hist", reference, "--field", "density", "-o", out, check=False).returncode == 2
    run("hist", reference, "--field", "density", "-o", out, "-f")
    assert run("hist", reference, "--field", "density", "-o", tmp_path / "x.txt", check=False).returncode == 2


@pytest.mark.parametrize("memory", ["1MB", "6MB"])
def test_what_is_not_kept_of_the_first_reading_is_read_again(run_json, reference, memory):
    """An eighth of the limit is for keeping: of some parts or of none. The sums are the same bits."""
    words = ["phase", reference, "--x", "density", "--y", "pressure", "--bins", 8, "-j", 2]
    assert run_json(*words, "--memory", memory) == run_json(*words)


def test_memory_is_asked_for_before_it_is_taken(run, reference):
    words = ["phase", reference, "--x", "density", "--y", "pressure", "--bins", 4000, "-o", "never.csv", "-j", 2]
    done = run(*words, "--memory", "100MB", check=False)
    assert done.returncode == 5 and "the sums of 16000000 bins" in done.stderr
