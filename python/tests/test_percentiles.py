"""Percentiles of all cells and of a profile's bins: those of numpy, of leaves that were read as arrays."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
ASKED = [0, 1, 5, 25, 50, 75, 95, 99.9, 100]
REAL = [
    ("ramses/sedov3d_4ranks/output_00002", "density", "mass"),
    ("amrex/multi3d_r4/plt00007", None, "volume"),
    ("flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002", "dens", "mass"),
]


def by_sorting(values, weights, asked):
    """The definition, by sorting all values. Integer weights make the sums exact."""
    taken = np.isfinite(values) & np.isfinite(weights) & (weights > 0)
    order = np.argsort(values[taken], kind="stable")
    values, summed = values[taken][order] + 0.0, np.cumsum(weights[taken][order])
    return np.array([values[np.searchsorted(summed, summed[-1] * q / 100)] for q in asked])


@pytest.fixture(scope="module")
def stored(run, sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("percentiles") / "run.octavo"
    run("convert", sample, path)
    return path


@pytest.mark.parametrize("place, field, weight", REAL)
def test_percentiles_are_numpys_on_real_leaves(data, place, field, weight):
    ds = octavo.open(data / place)
    field = field or ds.fields[0]
    cells = ds.arrays([field, "cell_volume"])
    for name, weights in (
        ("none", None),
        ("volume", cells["cell_volume"]),
        ("mass", cells[field] * cells["cell_volume"]),
    ):
        if name == "mass" and weight != "mass":
            continue
        found = ds.percentile(field, ASKED, weight=name)
        expected = np.percentile(cells[field], ASKED, method="inverted_cdf", weights=weights)
        # numpy adds the weights in an order of its own: its sum may pass a share one cell before or after.
        ranks = np.searchsorted(np.unique(cells[field]), np.stack([found, expected]))
        assert (np.abs(ranks[0] - ranks[1]) <= (0 if name == "none" else 1)).all(), (found, expected)
        assert np.isin(found, cells[field] + 0.0).all()
        assert (found[0], found[-1]) == (cells[field].min(), cells[field].max())


def test_ties_zeros_and_values_that_are_not_finite(stored):
    ds = octavo.open(stored)
    level = ds.arrays("level")["level"].astype(float)
    assert (ds.percentile("level", ASKED, weight="none") == by_sorting(level, np.ones_like(level), ASKED)).all()
    assert (ds.percentile("level", ASKED, weight="level") == by_sorting(level, level, ASKED)).all()
    signed = "velocity_x * (abs(velocity_x) > 1e-3)"  # many zeros, of both signs
    values = ds.arrays([signed])[signed]
    assert (np.signbit(values) & (values == 0)).any()
    assert (ds.percentile(signed, ASKED, weight="none") == by_sorting(values, np.ones_like(values), ASKED)).all()
    assert not np.signbit(ds.percentile("velocity_x * 0", 50))
    holes = "sqrt(velocity_x) + 1/(level - 4)"  # NaN and infinities
    values = ds.arrays([holes])[holes]
    assert np.isnan(values).any() and np.isinf(values).any()
    assert (ds.percentile(holes, ASKED, weight="none") == by_sorting(values, np.ones_like(values), ASKED)).all()
    assert np.isnan(ds.percentile("sqrt(0 - density)", 50))


def test_weights_of_zero_do_not_count_and_negative_ones_are_refused(stored):
    ds = octavo.open(stored)
    cells = ds.arrays(["density", "level"])
    weights = np.maximum(cells["level"] - 4.0, 0)
    found = ds.percentile("density", ASKED, weight="(level - 4) * (level > 4)")
    assert (found == by_sorting(cells["density"], weights, ASKED)).all()
    assert np.isnan(ds.percentile("density", 50, weight="level * 0"))
    with pytest.raises(octavo.UsageError, match="weight below 0"):
        ds.percentile("density", 50, weight="0 - level")


def test_one_cell_no_cell_and_wrong_percentages(stored):
    ds = octavo.open(stored)
    cells = ds.arrays(["density", "x", "y", "z", "dx"])
    k = int(np.argmax(cells["density"]))
    one = ds.sphere(tuple(float(cells[axis][k]) for axis in "xyz"), float(cells["dx"][k]) / 4)
    assert len(one.arrays("density")["density"]) == 1
    assert (one.percentile("density", ASKED) == cells["density"][k]).all()
    with pytest.raises(octavo.UsageError, match="holds no cell"):
        ds.sphere((0.5, 0.5, 0.5), 1e-9).percentile("density", 50)
    for wrong in (-1, 101, float("nan")):
        with pytest.raises(octavo.UsageError, match="0 to 100"):
            ds.percentile("density", wrong)
    assert isinstance(ds.percentile("density", 50), float)


def test_percentiles_in_the_bins_of_a_profile_are_numpys(stored):
    ds = octavo.open(stored)
    found = ds.profile(["density", "pressure"], axis="x", bins=11, weight="level", percentiles=[16, 50, 84])
    cells = ds.arrays(["density", "pressure", "x", "level"])
    bins = np.clip(np.searchsorted(found.edges, cells["x"], side="right") - 1, 0, 10)
    for name in ("density", "pressure"):
        for b in range(11):
            expected = by_sorting(cells[name][bins == b], cells["level"][bins == b].astype(float), [16, 50, 84])
            assert [found.fields[name][key][b] for key in ("p16", "p50", "p84")] == expected.tolist()
    assert "density p50" in found.columns()


WORDS = [
    ["stats", "--field", "density,velocity_x", "--percentiles", "5,50,95", "--weight", "mass"],
    ["profile", "--field", "pressure", "--percentiles", "16,50,84", "--roi", "sphere:0.9,0.5,0.5:0.3"],
    ["hist", "--field", "density", "--percentiles", "50", "--level", 5],
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_any_threads_and_memory_give_the_same_bits(run_json, stored, words):
    """With little memory nothing is kept for the next pass."""
    verb, *rest = words
    one = run_json(verb, stored, *rest, "-j", 1)
    assert "p50" in str(one)
    for more in (["-j", 3], ["-j", 2, "--memory", "120MB"]):
        assert run_json(verb, stored, *rest, *more) == one


@needs_mpi
@pytest.mark.parametrize("words", WORDS, ids=lambda words: words[0])
def test_any_ranks_give_the_same_bits(few, run_json, stored, words):
    verb, *rest = words
    one = run_json(verb, stored, *rest, "-j", 1)
    for ranks in few(2, 3):
        assert run_json(verb, stored, *rest, ranks=ranks) == one


def test_points_of_triangles_have_percentiles(data):
    path = data / "serafin" / "f2d_gouttedo.slf"
    if not path.exists():
        pytest.skip("no SERAFIN files")
    ds = octavo.open(path)
    values = np.asarray(ds.part(0).fields[ds.fields[0]], dtype=float)
    expected = by_sorting(values, np.ones_like(values), ASKED)
    assert (ds.percentile(ds.fields[0], ASKED, weight="none") == expected).all()


def test_tables_and_pictures_show_percentiles(run, stored, tmp_path):
    ds = octavo.open(stored)
    row = ds.stats(["density"], percentiles=[50])["fields"]["density"]
    assert row["percentiles"] == {"p50": ds.percentile("density", 50)}
    assert "p95" in run("stats", stored, "--field", "density", "--percentiles", "5,95").stdout
    for words in WORDS[1:]:
        run(words[0], stored, *words[1:], "-o", tmp_path / f"{words[0]}.png")
        assert (tmp_path / f"{words[0]}.png").stat().st_size > 10000
    done = run("stats", stored, "--percentiles", "5,200", check=False)
    assert done.returncode == 2 and "0 to 100" in done.stderr
