"""Clumps: those of a flood over the uniform cube of the same data."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def flood(above, periodic):
    """Labels of the cells of a cube that hang together by sides; the number of the first cell of each set."""
    labels = np.where(above, np.arange(above.size).reshape(above.shape), -1)
    while True:
        before = labels.copy()
        for axis, wraps in enumerate(periodic):
            for step in (1, -1):
                beside = np.roll(labels, step, axis)
                if not wraps:
                    edge = [slice(None)] * labels.ndim
                    edge[axis] = 0 if step == 1 else -1
                    beside[tuple(edge)] = -1
                labels = np.where(above & (beside >= 0) & (beside < labels), beside, labels)
        if (labels == before).all():
            return labels


def expected_of(cube, labels):
    """(volume, mass, peak) of each label."""
    density, size = cube["density"], float(np.prod(cube.cell))
    rows = []
    for label in np.unique(labels[labels >= 0]):
        inside = density[labels == label]
        rows.append((inside.size * size, inside.sum() * size, inside.max()))
    return sorted(rows, reverse=True)


def rows_of(found):
    return sorted(zip(found.volume, found.mass, found.peak, strict=True), reverse=True)


@pytest.fixture(scope="module")
def blobs(run, tmp_path_factory):
    """A periodic box, refined, in 7 domains whose borders cut clumps."""
    path = tmp_path_factory.mktemp("clumps") / "run.octavo"
    run("sample", path, "--to", "octavo", "--levels", "3-6", "--domains", 7, "-q")
    return octavo.open(path)


@pytest.mark.parametrize("share", [50, 80, 95, 99])
def test_clumps_are_those_of_a_flood(blobs, share):
    above = blobs.percentile("density", share)
    cube = blobs.cube(["density"])
    labels = flood(cube["density"] > above, blobs._data.periodic[::-1])
    found = blobs.clumps(above)
    assert np.allclose(rows_of(found), expected_of(cube, labels), rtol=1e-11)
    cells = blobs.arrays(["density", "cell_volume"])
    inside = cells["density"] > above
    assert found.cells.sum() == inside.sum()
    assert np.isclose(found.volume.sum(), cells["cell_volume"][inside].sum(), rtol=1e-13)
    assert (np.diff(found.mass) <= 0).all() and found.label.tolist() == list(range(1, len(found) + 1))


@pytest.mark.parametrize(
    "place", ["flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002", "ramses/sedov3d_4ranks/output_00002"]
)
def test_clumps_of_real_data_are_those_of_a_flood(data, place):
    ds = octavo.open(data / place)
    cube = ds.cube(["density"])
    for share in (60, 90):
        above = ds.percentile("density", share)
        labels = flood(cube["density"] > above, ds._data.periodic[::-1])
        assert np.allclose(rows_of(ds.clumps(above)), expected_of(cube, labels), rtol=1e-11)


def test_clumps_of_real_data_are_those_of_scipy(data):
    """Of blocks, without periodic sides."""
    ndimage = pytest.importorskip("scipy.ndimage")
    ds = octavo.open(data / "amrex" / "multi3d_r4" / "plt00007")
    field = ds.fields[0]
    cube = ds.cube([field])
    for share in (70, 95):
        above = ds.percentile(field, share)
        assert not any(ds._data.periodic)
        labels, count = ndimage.label(cube[field] > above)
        found = ds.clumps(above, field=field)
        sizes = np.bincount(labels.ravel())[1:] * np.prod(cube.cell)
        assert len(found) == count and np.allclose(np.sort(found.volume), np.sort(sizes), rtol=1e-12)


def ball(centre, radius):
    """A formula for the distance below which a periodic ball is, minus the distance."""
    away = (f"({axis} - {c} - floor({axis} - {c} + 0.5))" for axis, c in zip("xyz", centre, strict=True))
    return f"{radius} - sqrt(" + " + ".join(f"{one}**2" for one in away) + ")"


def test_a_clump_across_periodic_sides_is_in_one_piece(blobs):
    (box,) = {tuple(blobs._data.periodic)}
    assert box == (True, True, True)
    found = blobs.clumps(0, field=ball((0.98, 0.01, 0.5), 0.15))
    assert len(found) == 1
    size = blobs.arrays(["dx"])["dx"].max()
    away = found.centre[0] - [0.98, 0.01, 0.5]
    assert (np.abs(away - np.round(away)) < size).all() and (found.centre >= 0).all() and (found.centre < 1).all()
    assert np.allclose(found.hi[0] - found.lo[0], 0.3, atol=2 * size)
    assert (found.lo[0] < found.centre[0]).all() and (found.centre[0] < found.hi[0]).all()
    assert (found.lo[0, :2] < 0).any() or (found.hi[0, :2] > 1).any()
    assert ((found.peak_at >= 0) & (found.peak_at <= 1)).all()
    whole = blobs.clumps(-1, field="density")
    assert len(whole) == 1 and whole.lo[0].tolist() == [0, 0, 0] and whole.hi[0].tolist() == [1, 1, 1]


def test_levels_regions_and_conditions_choose_the_cells(blobs):
    above = blobs.percentile("density", 80)
    coarse = blobs.level(4)
    cube = coarse.cube(["density"])
    labels = flood(cube["density"] > above, blobs._data.periodic[::-1])
    assert np.allclose(rows_of(coarse.clumps(above)), expected_of(cube, labels), rtol=1e-11)
    half = blobs.box((0, 0, 0), (0.5, 1, 1))
    cells = half.arrays(["density"])
    assert half.clumps(above).cells.sum() == (cells["density"] > above).sum()
    assert (half.clumps(above).hi[:, 0] <= 0.5).all()
    both = blobs.where(f"density > {above!r}").clumps(-1)
    assert np.array_equal(both.cells, blobs.clumps(above).cells)
    large = blobs.clumps(above, min_cells=50)
    assert (large.cells >= 50).all() and large.facts["clumps"] == len(blobs.clumps(above))


def test_none_above_is_an_empty_table(run, blobs):
    assert len(blobs.clumps(1e99)) == 0
    assert "0 clumps" in run("clumps", blobs.path, "--above", "1e99").stdout


def test_any_threads_give_the_same_bits(run_json, blobs):
    words = ["clumps", blobs.path, "--above", blobs.percentile("density", 80)]
    one = run_json(*words, "-j", 1)
    assert one["clumps"] > 3
    assert run_json(*words, "-j", 4) == one


@needs_mpi
def test_any_ranks_give_the_same_bits(few, run_json, blobs):
    words = ["clumps", blobs.path, "--above", blobs.percentile("density", 80)]
    one = run_json(*words, "-j", 1)
    for ranks in few(2, 3, 9):
        assert run_json(*words, ranks=ranks) == one


def test_tables_units_and_bad_requests(run, blobs, tmp_path):
    above = blobs.percentile("density", 80)
    run("clumps", blobs.path, "--above", above, "-o", tmp_path / "c.csv")
    run("clumps", blobs.path, "--above", above, "-o", tmp_path / "c.npy")
    array, text = np.load(tmp_path / "c.npy"), np.genfromtxt(tmp_path / "c.csv", delimiter=",", names=True)
    found = blobs.clumps(above)
    assert np.array_equal(array["mass"], found.mass) and np.array_equal(text["mass"], found.mass)
    assert np.array_equal(array["hi y"], found.hi[:, 1])
    with pytest.raises(octavo.UsageError, match="there are: mass, volume, length, density"):
        blobs.clumps(above, units={"pressure": "Pa"})
    for words, code in (
        (["--field", "densty", "--above", 1], 2),
        (["--above", "nan"], 2),
        (["--above", 1, "-o", "x.txt"], 2),
    ):
        assert run("clumps", blobs.path, *words, check=False).returncode == code


def test_labels_of_cells_are_those_of_a_flood_and_add_up(blobs, run, tmp_path):
    above = blobs.percentile("density", 90)
    for chosen, least in ((blobs, 1), (blobs, 20), (blobs.box((0, 0, 0), (0.7, 1, 1)), 1), (blobs.level(5), 1)):
        found = chosen.clumps(above, min_cells=least)
        labelled = found.labels
        again = labelled._with(**chosen._choices())
        cells = again.arrays(["density", "clump", "cell_volume"])
        assert cells["clump"].dtype == np.int64 and cells["clump"].max() == len(found) > 1
        counts = np.bincount(cells["clump"], minlength=len(found) + 1)
        assert np.array_equal(counts[1:], found.cells)
        assert (cells["density"][cells["clump"] > 0] > above).all()
        mass = np.bincount(cells["clump"], cells["density"] * cells["cell_volume"])
        assert np.allclose(mass[1:], found.mass, rtol=1e-12)
        if least == 1:
            assert ((cells["density"] > above) == (cells["clump"] > 0)).all()
    # Cells have one label where they hang together, and only there.
    cube = blobs.clumps(above).labels.cube(["density", "clump"])
    labels = flood(cube["density"] > above, blobs._data.periodic[::-1])
    pairs = np.unique(np.stack([labels.ravel(), cube["clump"].ravel()]), axis=1)
    assert len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1] > 3
    labelled = blobs.clumps(above).labels
    assert "clump" in labelled.fields
    picture = labelled.map("clump", kind="max", pixels=32)
    assert np.nanmax(picture.values) == len(blobs.clumps(above))


def test_labels_go_into_files_and_stores(blobs, run, run_json, tmp_path):
    above = blobs.percentile("density", 90)
    found = blobs.clumps(above, min_cells=4)
    expected = found.labels.arrays(["density", "clump"])
    run(
        "clumps",
        blobs.path,
        "--above",
        above,
        "--min-cells",
        4,
        "--labels",
        tmp_path / "c.npz",
        "-o",
        tmp_path / "c.csv",
    )
    table = np.load(tmp_path / "c.npz")
    assert np.array_equal(table["clump"], expected["clump"]) and np.array_equal(table["density"], expected["density"])
    run("clumps", blobs.path, "--above", above, "--min-cells", 4, "--labels", tmp_path / "c.octavo")
    stored = octavo.open(tmp_path / "c.octavo")
    assert np.array_equal(stored.arrays(["clump"])["clump"], expected["clump"])
    assert set(stored.fields) == {*blobs.fields, "clump"}
    report = run_json("clumps", blobs.path, "--above", above, "--labels", tmp_path / "c.vtkhdf")
    assert report["labels"] == str(tmp_path / "c.vtkhdf")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "c.vtkhdf") as file:
        values = file["VTKHDF/CellData/clump"][:]
    assert values.dtype == np.int64 and values.max() == len(blobs.clumps(above))
    with pytest.raises(octavo.UsageError, match="has a field clump already"):
        _ = stored.clumps(above).labels.fields
    done = run("clumps", blobs.path, "--above", above, "--labels", tmp_path / "c.png", check=False)
    assert done.returncode == 2 and "no ending of an export" in done.stderr


@needs_mpi
def test_ranks_write_the_same_labels(blobs, run, tmp_path):
    above = blobs.percentile("density", 90)
    for ending in ("vtkhdf", "octavo"):
        for name, ranks in (("one", 0), ("all", 3)):
            run("clumps", blobs.path, "--above", above, "--labels", tmp_path / f"{name}.{ending}", ranks=ranks)
    assert (tmp_path / "one.vtkhdf").read_bytes() == (tmp_path / "all.vtkhdf").read_bytes()
    one, every = (octavo.open(tmp_path / f"{name}.octavo").arrays(["clump"])["clump"] for name in ("one", "all"))
    assert np.array_equal(one, every) and one.max() > 1
