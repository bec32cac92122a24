"""`import octavo`: data sets, lazy selections, arrays, chunks, maps."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import octavo


@pytest.fixture(scope="module", params=["native", "store"])
def ds(request, sample, tmp_path_factory):
    if request.param == "native":
        return octavo.open(sample)
    path = tmp_path_factory.mktemp("api") / "run.octavo"
    octavo.convert(sample, path)
    return octavo.open(path)


def test_headers_are_plain_values(ds):
    assert ds.fields[0] == "density"
    assert ds.levels == sorted(ds.levels) and ds.levels[0] == 1
    assert isinstance(ds.time, float) and ds.domains == 8
    assert "density" in repr(ds) and "<table>" in ds._repr_html_()


def test_arrays_hold_every_leaf_once(ds):
    cells = ds.arrays("density")
    leaves = sum(level["leaves"] for level in ds.level_counts)
    assert all(len(values) == leaves for values in cells.values())
    assert np.isclose((cells["dx"] ** 3).sum(), 1.0, rtol=1e-12)
    assert np.isclose((cells["density"] * cells["dx"] ** 3).sum(), ds.sum("density", weight="volume"), rtol=1e-12)
    centres = np.stack([cells[axis] for axis in "xyz"], axis=1)
    assert len(np.unique(centres, axis=0)) == leaves


@pytest.mark.parametrize(
    "choose, inside",
    [
        (lambda ds: ds.sphere((0.5, 0.5, 0.5), 0.2), lambda x: ((x - 0.5) ** 2).sum(1) < 0.2**2),
        (lambda ds: ds.sphere("center", 0.2), lambda x: ((x - 0.5) ** 2).sum(1) < 0.2**2),
        (lambda ds: ds.box((0.1, 0.2, 0.3), (0.6, 0.5, 0.9)), lambda x: ((x >= [0.1, 0.2, 0.3]) & (x < [0.6, 0.5, 0.9])).all(1)),
        (lambda ds: ds.box((0.9, 0, 0), (1.1, 1, 1)), lambda x: (x[:, 0] >= 0.9) | (x[:, 0] < 0.1)),
    ],
)  # fmt: skip
def test_a_region_is_the_filter_of_all(ds, choose, inside):
    everything, chosen = ds.arrays("density"), choose(ds).arrays("density")
    keep = inside(np.stack([everything[axis] for axis in "xyz"], axis=1))
    assert 0 < keep.sum() < len(keep)
    assert sorted(chosen["density"]) == sorted(everything["density"][keep])
    assert choose(ds).stats(["density"])["leaves"] == keep.sum()


def test_a_level_keeps_sums(ds):
    for level in ds.levels:
        coarse = ds.level(level)
        assert coarse.arrays("density")["level"].max() <= level
        assert np.isclose(coarse.sum("density", weight="volume"), ds.sum("density", weight="volume"), rtol=1e-12)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_region_of_a_coarse_level_is_the_filter_of_all(ds, level):
    """Levels above every leaf too, whose cells can belong to other domains than the leaves in them."""
    everything = ds.level(level).arrays("density")
    centres = np.stack([everything[axis] for axis in "xyz"], axis=1)
    for corner in np.ndindex(4, 4, 4):
        lo = np.array(corner) / 4
        chosen = ds.level(level).box(lo, lo + 0.25).arrays("density")["density"]
        assert sorted(chosen) == sorted(everything["density"][((centres >= lo) & (centres < lo + 0.25)).all(1)])


def test_chunks_are_the_whole_in_pieces(ds):
    whole = ds.arrays(["density", "pressure"])
    pieces = list(ds.chunks(["density", "pressure"], memory="1 kB"))
    assert len(pieces) == ds.domains
    for name, values in whole.items():
        assert np.array_equal(np.concatenate([piece[name] for piece in pieces]), values)
    assert len(list(ds.chunks("density", memory="1 GiB"))) == 1


def test_selections_are_values_and_refuse_nonsense(ds):
    assert ds.box((0, 0, 0), (1, 1, 1)) == ds.box((0, 0, 0), (1, 1, 1))
    assert ds.sphere("center", 0.1).box((0, 0, 0), (1, 1, 1)) == ds.sphere("center", 0.1) & ds.box((0, 0, 0), (1, 1, 1))
    with pytest.raises(octavo.UsageError):
        ds.sphere((0.5, 0.5), 0.1)
    with pytest.raises(octavo.UsageError, match="density"):
        ds.arrays("densty")
    with pytest.raises(ValueError):
        ds.map("density", axis="w")


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("pixels", [16, 100])
def test_maps_conserve(ds, axis, pixels):
    picture = ds.map("density", axis=axis, pixels=pixels)
    assert np.isclose(picture.sum(), ds.sum("density", weight="volume"), rtol=1e-12)
    mean = ds.map("density", axis=axis, pixels=pixels, weight="volume")
    assert np.allclose(mean.values, picture.values, rtol=1e-12)  # the box length is 1
    top = ds.map("density", axis=axis, pixels=pixels, kind="max")
    assert top.values.max() == ds.stats(["density"])["fields"]["density"]["max"]


def test_parts_are_views_that_outlive_their_data_set(ds):
    density = octavo.open(ds.path).part(3, "density").fields["density"]
    assert density.base is not None and not density.flags.writeable
    assert np.isfinite(density).all()


def test_particles(ds):
    particles = ds.particles()
    assert len(np.unique(particles["identity"])) == 2000
    assert ds.stats(["density"])["particles"]["mass"]["sum"] == pytest.approx(particles["mass"].sum(), rel=1e-12)


def test_a_region_opens_only_the_domains_it_touches(ds):
    corner = ds.box((0, 0, 0), (0.1, 0.1, 0.1))
    assert corner.domains < ds.domains
    assert corner.arrays("density")["density"].size > 0


def test_the_gil_is_released(ds):
    import threading
    import time

    turns = 0
    stop = threading.Event()

    def count():
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    for _ in range(100):  # of which a busy machine may take many
        before = turns
        ds.map("density", pixels=2048, threads=1)
        if turns > before + 1:
            break
    stop.set()
    thread.join()
    assert turns > before + 1


def test_import_is_light():
    code = "import sys, octavo; print(any(m in sys.modules for m in ('numpy', 'matplotlib', 'rich')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
