"""A box of cells, or of points, as an array: Dataset.read_box and points_in_box against the whole mesh."""

from __future__ import annotations

import numpy as np
import pytest

import octavo


@pytest.fixture(scope="module", params=["native", "store", "raw"])
def ds(request, sample, tmp_path_factory):
    if request.param == "native":
        return octavo.open(sample)
    path = tmp_path_factory.mktemp("box") / "run.octavo"
    octavo.convert(sample, path, **({"method": "raw"} if request.param == "raw" else {}))
    return octavo.open(path)


def whole(ds, level):
    """All cells of the level, as the cells that a selection gives say."""
    cells = ds.level(level).arrays("density")
    n = 2**level
    out = np.full((n, n, n), np.nan)
    for x, y, z, dx, value in zip(*(cells[name] for name in ("x", "y", "z", "dx", "density")), strict=True):
        i, j, k, width = (round(v * n) for v in (x - dx / 2, y - dx / 2, z - dx / 2, dx))
        out[k : k + width, j : j + width, i : i + width] = value
    return out


@pytest.mark.parametrize("level", [2, 4, 5])
def test_boxes_are_those_of_the_whole_mesh(ds, level):
    expected = whole(ds, level)
    assert not np.isnan(expected).any()
    n = 2**level
    random = np.random.default_rng(level)
    for _ in range(6):
        lower = random.integers(0, n, 3)
        upper = np.minimum(n, lower + random.integers(1, n + 1, 3))
        found = ds.read_box("density", level, lower.tolist(), upper.tolist())
        (i, j, k), (a, b, c) = lower, upper
        assert np.array_equal(found, expected[k:c, j:b, i:a])
    out = np.full((n, 2 * n, n), -1.0)[:, ::-2, :]
    assert ds.read_box("density", level, (0, 0, 0), (n, n, n), out=out) is out
    assert np.array_equal(out, expected)


def test_what_cannot_be_is_refused(ds):
    with pytest.raises(octavo.UsageError, match="which level 2 has"):
        ds.read_box("density", 2, (0, 0, 0), (5, 4, 4))
    with pytest.raises(octavo.UsageError, match="density"):
        ds.read_box("densty", 2, (0, 0, 0), (4, 4, 4))
    with pytest.raises(octavo.UsageError, match=r"expected the shape \(4, 4, 2\), found \(2, 4, 4\)"):
        ds.read_box("density", 2, (0, 0, 0), (2, 4, 4), out=np.empty((2, 4, 4)))
    with pytest.raises(octavo.UsageError, match="expected values of float64, found int32"):
        ds.read_box("density", 2, (0, 0, 0), (2, 2, 2), out=np.empty((2, 2, 2), dtype=np.int32))
    with pytest.raises(octavo.UsageError, match="lower: expected 3 entries"):
        ds.read_box("density", 2, (0, 0), (2, 2), out=np.empty((2, 2)))
    with pytest.raises(octavo.Unsupported):
        ds.points_in_box((0, 0), (1, 1))


def test_points_are_those_of_the_whole_mesh(data):
    ds = octavo.open(data / "serafin" / "f2d_gouttedo.slf")
    part = ds.part(0)
    lo, hi = np.quantile(part.x, [0.2, 0.7]), np.quantile(part.y, [0.3, 0.9])
    found = ds.points_in_box((lo[0], hi[0]), (lo[1], hi[1]), "WATER DEPTH")
    inside = (part.x >= lo[0]) & (part.x < lo[1]) & (part.y >= hi[0]) & (part.y < hi[1])
    assert 0 < inside.sum() < len(inside)
    assert np.array_equal(found["point"], np.flatnonzero(inside))
    assert np.array_equal(found["x"], part.x[inside]) and np.array_equal(found["y"], part.y[inside])
    assert np.array_equal(found["fields"]["WATER DEPTH"][0], part.fields["WATER DEPTH"][inside])
    kept = np.flatnonzero(inside[part.triangles].all(1))
    assert np.array_equal(found["triangle"], kept)
    assert np.array_equal(found["point"][found["corners"]], part.triangles[kept])
    with pytest.raises(octavo.UsageError):
        ds.points_in_box((1, 1), (1, 2))
    with pytest.raises(octavo.Unsupported):
        ds.read_box("WATER DEPTH", 1, (0, 0), (1, 1))


@pytest.mark.parametrize(
    "output",
    [
        "flash/sedov2d_pm4_serial/sedov2d_hdf5_chk_0002",
        "flash/sedov3d_octant_par3/sedov3do_hdf5_chk_0001",
        "amrex/adv2d_core_r4/chk00020",
        "amrex/multi3d_r4/plt00007",
        "ramses/sedov3d_4ranks/output_00002",
    ],
)
def test_a_box_of_a_code_s_output_holds_the_leaves_that_cover_it(data, output):
    ds = octavo.open(data / output)
    field = ds.fields[0]
    leaves = ds.arrays([field])
    axes = [axis for axis in "xyz" if axis in leaves]
    level, size = int(leaves["level"].max()), leaves["dx"].min()
    corners = np.stack([leaves[axis] - leaves["dx"] / 2 for axis in axes], axis=1)
    first = np.rint((corners - corners.min(axis=0)) / size).astype(int)
    width = np.rint(leaves["dx"] / size).astype(int)[:, None]
    cells = (first + width).max(axis=0)
    lower, upper = cells // 4, np.minimum(cells // 4 + 40, cells)
    box = ds.read_box(field, level, lower.tolist(), upper.tolist())
    expected = np.full(box.shape, np.nan)
    for k in np.flatnonzero(((first < upper) & (first + width > lower)).all(axis=1)):
        begin, end = np.maximum(first[k] - lower, 0), np.minimum(first[k] + width[k], upper) - lower
        expected[tuple(slice(a, b) for a, b in zip(begin, end, strict=True))[::-1]] = leaves[field][k]
    assert np.array_equal(box, expected)
