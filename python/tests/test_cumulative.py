"""Cumulative profiles, angles, and distances in histograms, against NumPy on all leaves."""

from __future__ import annotations

import numpy as np
import pytest

import octavo


@pytest.fixture(scope="module")
def leaves(sample):
    ds = octavo.open(sample)
    cells = ds.arrays(["density", "pressure"])
    at = np.stack([cells[axis] for axis in "xyz"], axis=1)
    return ds, cells, at


CENTRE = (0.4, 0.55, 0.5)


def away(ds, at, centre=CENTRE):
    d = at - np.array(centre)
    wraps = np.array(ds._data.periodic)
    return np.where(wraps, d - np.round(d), d)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("axis", ["radius", "cylinder"])
def test_sums_within_a_radius(leaves, axis, log):
    """Also of the cells below the first edge, where that is above 0."""
    ds, cells, at = leaves
    d = away(ds, at)
    r = np.sqrt((d**2).sum(axis=1)) if axis == "radius" else np.hypot(d[:, 0], d[:, 1])
    found = ds.profile(
        ["density", "pressure"], axis=axis, centre=CENTRE, log=log, range=(0.1, 0.4), bins=11, cumulative=True
    )
    volume = cells["dx"] ** 3
    for i, edge in enumerate(found.edges[1:]):
        inside = r <= edge if i == 10 else r < edge
        assert found.cells[i] == inside.sum()
        assert found.weights[i] == pytest.approx(volume[inside].sum(), rel=1e-13)
        for name in ("density", "pressure"):
            values, row = cells[name][inside], found.fields[name]
            mean = np.average(values, weights=volume[inside])
            assert row["sum"][i] == pytest.approx((values * volume[inside]).sum(), rel=1e-12)
            assert row["mean"][i] == pytest.approx(mean, rel=1e-12)
            spread = np.sqrt(np.average((values - mean) ** 2, weights=volume[inside]))
            assert row["std"][i] == pytest.approx(spread, rel=1e-9)
            assert (row["min"][i], row["max"][i]) == (values.min(), values.max())


def test_heights_and_fields_begin_at_the_first_edge(leaves):
    ds, cells, at = leaves
    found = ds.profile("density", axis="x", range=(0.25, 0.75), bins=4, cumulative=True, weight="none")
    inside = (at[:, 0] >= 0.25) & (at[:, 0] <= 0.75)
    assert found.cells[-1] == inside.sum()
    assert found.fields["density"]["sum"][-1] == pytest.approx(cells["density"][inside].sum(), rel=1e-12)


def test_an_empty_centre_has_no_mean(leaves):
    ds, _, _ = leaves
    found = ds.profile("density", centre=(0.5, 0.5, 0.5), range=(1e-6, 0.2), bins=40, cumulative=True, log=True)
    assert found.cells[0] == 0 and np.isnan(found["density"][0]) and found.fields["density"]["sum"][0] == 0
    assert np.isfinite(found["density"][-1])
    assert (np.diff(found.cells) >= 0).all()


def test_the_command_and_units(leaves, sample, run_json, tmp_path):
    ds, _, _ = leaves
    words = [
        "profile",
        sample,
        "--field",
        "density",
        "--cumulative",
        "--centre",
        "0.4,0.55,0.5",
        "--log",
        "--range",
        "0.05,0.4",
    ]
    right = ds.profile("density", centre=CENTRE, log=True, range=(0.05, 0.4), cumulative=True)
    for ranks in (0, 3):
        found = run_json(*words, ranks=ranks)
        assert found["fields"]["density"]["sum"] == right.fields["density"]["sum"].tolist()
    found = ds.profile(
        "density",
        centre=CENTRE,
        log=True,
        range=(0.05, 0.4),
        cumulative=True,
        units={"density": "code_mass/code_length**3"},
    )
    np.testing.assert_allclose(found.fields["density"]["sum"], right.fields["density"]["sum"])
    right.save(str(tmp_path / "mass.png"))
    assert "density sum" in next(right.csv())


def test_percentiles_are_of_bins(leaves, run, sample):
    with pytest.raises(octavo.UsageError, match="cumulative"):
        leaves[0].profile("density", cumulative=True, percentiles=[50])
    assert (
        run("profile", sample, "--field", "density", "--cumulative", "--percentiles", "50", check=False).returncode == 2
    )


@pytest.mark.parametrize(("normal", "right", "up"), [("z", 0, 1), ("x", 1, 2)])
def test_angles_are_those_of_numpy(leaves, normal, right, up):
    ds, cells, at = leaves
    d = away(ds, at)
    angle = np.degrees(np.arctan2(d[:, up], d[:, right])) % 360
    found = ds.profile("density", axis="angle", centre=CENTRE, normal=normal, bins=12)
    assert (found.edges[0], found.edges[-1], found.axes[0].unit) == (0, 360, "degree")
    volume = cells["dx"] ** 3
    # An angle that is a multiple of 30 but for rounding may be in either bin: there are none off the centre's planes.
    weights, _ = np.histogram(angle, found.edges, weights=volume)
    sums, _ = np.histogram(angle, found.edges, weights=volume * cells["density"])
    np.testing.assert_allclose(found.weights, weights, rtol=1e-12)
    np.testing.assert_allclose(found["density"], sums / weights, rtol=1e-12)


def test_histograms_and_phase_diagrams_of_a_distance(leaves, sample, run_json):
    ds, cells, at = leaves
    r = np.sqrt((away(ds, at) ** 2).sum(axis=1))
    found = ds.hist("radius", centre=CENTRE, range=(0, 0.5), bins=8)
    np.testing.assert_allclose(found.weights, np.histogram(r, found.edges, weights=cells["dx"] ** 3)[0], rtol=1e-12)
    words = ["hist", sample, "--field", "radius", "--centre", "0.4,0.55,0.5", "--range", "0,0.5", "--bins", 8]
    assert run_json(*words)["weights"] == found.weights.tolist()
    both = ds.phase("radius", "pressure", centre=CENTRE, x_range=(0, 0.5), bins=6, log=False, weight="volume")
    expected, _, _ = np.histogram2d(r, cells["pressure"], [both.x.edges, both.y.edges], weights=cells["dx"] ** 3)
    np.testing.assert_allclose(both.weights, expected.T, rtol=1e-12)
    words = ["phase", sample, "--x", "radius", "--y", "pressure", "--centre", "0.4,0.55,0.5", "--x-range", "0,0.5",
             "--bins", 6, "--log", "none", "--weight", "volume"]  # fmt: skip
    assert run_json(*words)["weights"] == both.weights.tolist()
