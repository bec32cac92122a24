"""Light-travel stacks: NumPy clips the leaves of each snapshot at its slab; equal snapshots give the map of one."""

from __future__ import annotations

import json
import shutil
import struct

import numpy as np
import pytest
from conftest import mostly_long
from octavo.pictures.stack import Slab, slabs_of
from octavo.snapshots import Series, Snapshot

import octavo


@pytest.fixture(scope="module")
def other(run, tmp_path_factory):
    """A sample with the mesh of another seed."""
    path = tmp_path_factory.mktemp("other") / "output_00009"
    run("sample", path, "--domains", 3, "--levels", "4-6", "--seed", 77, "-q")
    return path


def at_times(*paths_and_times):
    return Series(
        tuple(Snapshot(str(path), None, octavo.steps(path)[0]["step"], time) for path, time in paths_and_times)
    )


def test_a_place_is_shown_by_the_snapshot_nearest_to_the_time_at_which_its_light_left():
    assert slabs_of([1.0], 2.0, 5.0) == [Slab(0, 0.0, 2.0)]
    assert slabs_of([0.0, 1.0, 3.0], 1.0, 0.25) == [Slab(2, 0.0, 0.25), Slab(1, 0.25, 0.625), Slab(0, 0.625, 1.0)]
    assert slabs_of([0.0, 1.0, 3.0], 0.5, 0.25) == [Slab(2, 0.0, 0.25), Slab(1, 0.25, 0.5)]
    assert slabs_of([0.0, 1.0], 1.0, 1e9) == [Slab(1, 0.0, 1.0)]
    assert slabs_of([1.0, 1.0], 1.0, 1.0) == [
        Slab(0, 0.0, 1.0)
    ]  # light of both left the viewer's side: one stands for it
    for slabs in (slabs_of(sorted(np.random.default_rng(n).random(n)), 0.7, 1.3) for n in range(1, 9)):
        assert slabs[0].near == 0 and slabs[-1].far == 0.7
        assert [slab.far for slab in slabs[:-1]] == [slab.near for slab in slabs[1:]]


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize(
    "options", [{}, {"weight": "density"}, {"weight": "volume"}, {"kind": "max"}, {"kind": "min"}, {"blur": 0.5}]
)
def test_equal_snapshots_give_the_map_of_one(sample, axis, options):
    series = at_times((sample, 0.0), (sample, 0.35), (sample, 0.5), (sample, 1.0))
    field = "pressure" if "weight" in options else "density"
    stacked = series.stack(field, axis=axis, light_speed=0.9, pixels=40, **options)
    alone = octavo.open(sample).map(field, axis=axis, pixels=40, **options)
    np.testing.assert_allclose(stacked.values, alone.values, rtol=1e-12)
    assert stacked.extent == alone.extent and stacked.unit == alone.unit
    assert len(stacked.facts["slabs"]["time"]) == 4 and "stack of 4" in stacked.label


def columns(path, field, near, far, axis, pixels):
    """Sums of value times path and of paths, of leaves no smaller than a pixel, between two distances from the viewer."""
    cells = octavo.open(path).arrays([field, "density"])
    u, v = ("xyz"[i] for i in range(3) if "xyz"[i] != axis)
    lo, hi = cells[axis] - cells["dx"] / 2, cells[axis] + cells["dx"] / 2
    a, b = (near, far) if axis == "y" else (1 - far, 1 - near)
    length = np.zeros(len(lo))
    for shift in (-2, -1, 0, 1, 2):  # the domain repeats
        length += np.clip(np.minimum(hi + shift, b) - np.maximum(lo + shift, a), 0, None)
    image, weights = np.zeros((pixels, pixels)), np.zeros((pixels, pixels))
    width = np.rint(cells["dx"] * pixels).astype(int)
    first = [np.rint((cells[name] - cells["dx"] / 2) * pixels).astype(int) for name in (u, v)]
    for i, j, n, value, weight, path_length in zip(*first, width, cells[field], cells["density"], length, strict=True):
        image[j : j + n, i : i + n] += value * weight * path_length
        weights[j : j + n, i : i + n] += weight * path_length
    return image, weights


@pytest.mark.parametrize("axis, depth", [("z", 1.0), ("y", 0.8), ("x", 1.7)])
def test_each_snapshot_gives_its_slab(sample, other, axis, depth):
    series = at_times((sample, 0.0), (other, 0.4), (sample, 1.0))
    slabs = slabs_of([0.0, 0.4, 1.0], depth, 1.5)
    assert len(slabs) == 3 or depth < 1.2
    both = [columns((sample, other, sample)[s.snapshot], "pressure", s.near, s.far, axis, 64) for s in slabs]
    weights = sum(weight for _, weight in both)
    options = {"axis": axis, "depth": depth, "light_speed": 1.5, "pixels": 64}
    np.testing.assert_allclose(series.stack("density", **options).values, weights, rtol=1e-11)
    expected = sum(image for image, _ in both) / weights
    np.testing.assert_allclose(series.stack("pressure", weight="density", **options).values, expected, rtol=1e-11)


def test_conditions_and_levels_choose_cells_of_every_slab(sample):
    series = at_times((sample, 0.0), (sample, 1.0))
    select = lambda ds: ds.level(5).where("x < 0.5 & z > 0.8")  # noqa: E731
    stacked = series.stack("density", weight="volume", light_speed=1.0, pixels=32, select=select)
    expected = select(octavo.open(sample)).map("density", weight="volume", pixels=32)
    np.testing.assert_allclose(stacked.values, expected.values, rtol=1e-12)
    with pytest.raises(octavo.UsageError, match="no cell in any slab"):
        series.stack("density", weight="volume", light_speed=1.0, select=lambda ds: ds.where("x < -1"))


def test_the_verb_makes_the_same(sample, other, run, tmp_path):
    words = ["stack", sample, other, "--field", "density", "--light-speed", 0.5, "--pixels", 32]
    found = json.loads(run(*words, "-o", tmp_path / "a.npy", "--json").stdout)
    series = octavo.series([sample, other])
    assert np.array_equal(np.load(tmp_path / "a.npy"), series.stack("density", light_speed=0.5, pixels=32).values)
    assert found["slabs"]["time"] == sorted(found["slabs"]["time"], reverse=True)
    run(*words, "--blur", 0.5, "-o", tmp_path / "a.png")
    run(*words, "-o", tmp_path / "a.fits")


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
@pytest.mark.parametrize("ranks", mostly_long(1, 2, 3, 4, short=(3,)))
def test_the_same_bits_from_any_number_of_ranks(sample, other, run, tmp_path, ranks):
    """Of outputs, and of stores, of which other ranks than the first know their parts alone."""
    outputs = [shutil.copytree(other, tmp_path / other.name), sample]
    for path in outputs[0].glob("amr_*"):  # each says the time, once
        path.write_bytes(
            path.read_bytes().replace(struct.pack("<d", octavo.open(sample).time), struct.pack("<d", 0.01))
        )
    stores = [tmp_path / "a.octavo", tmp_path / "b.octavo"]
    for path, store in zip(outputs, stores, strict=True):
        run("convert", path, store, "-q")
    for paths, words in (
        (outputs, []),
        (outputs, ["--weight", "pressure", "--axis", "y", "--where", "density > 1"]),
        (stores, ["--kind", "max", "--depth", "1.7", "--level", "5"]),
    ):
        command = ["stack", *paths, "--field", "density", "--light-speed", 30, "--pixels", 50, *words, "-f", "-o"]
        run(*command, tmp_path / "one.npy", "-j", 1)
        found = json.loads(run(*command, tmp_path / "all.npy", "-j", 1, "--json", ranks=ranks).stdout)
        assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "all.npy").read_bytes()
        assert len(found["slabs"]["time"]) == 2
    nothing = ["--where", "x < -1", "-o", tmp_path / "none.npy"]
    refused = run(*command[:7], "--weight", "volume", *nothing, ranks=ranks, check=False)
    assert refused.returncode == 2 and refused.stderr.count("no cell in any slab") == 1


def test_a_stack_that_cannot_be_is_refused(sample, run, tmp_path):
    series = at_times((sample, 0.0), (sample, 1.0))
    for options, why in (
        ({"light_speed": -1}, "speed of light"),
        ({"light_speed": 1, "depth": 0}, "depth of a stack"),
        ({"light_speed": 1, "select": lambda ds: ds.sphere("center", 0.1)}, "whole cross-sections"),
    ):
        with pytest.raises(octavo.UsageError, match=why):
            series.stack("density", **options)
    with pytest.raises(octavo.UsageError, match="no snapshot"):
        Series(()).stack("density", light_speed=1)


def test_flat_and_cosmological_data_are_refused(data):
    flat = octavo.series(data / "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002")
    with pytest.raises(octavo.Unsupported, match="along an axis of an adaptive mesh"):
        flat.stack("dens", light_speed=1.0)
