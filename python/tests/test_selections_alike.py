"""Selections mean the same in every verb, on any number of ranks, and in Python: empty ones, levels, conditions."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import octavo

#: A sphere around a corner of cells: no centre of a cell of level 6 is in it.
NOTHING = "sphere:0.5,0.5,0.5:0.0005"
RANKS = [0, pytest.param(3, marks=pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun"))]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    "words",
    [
        ["map", "--field", "density"],
        ["map", "--field", "density", "--weight", "volume"],
        ["map", "--field", "density", "--kind", "max"],
        ["map", "--field", "density", "--camera", "1,1,1"],
        ["map", "--field", "density", "--camera=0,0,-1"],
        ["map", "--particles", "dm"],
        ["hist", "--field", "density"],
        ["hist", "--particles", "dm", "--field", "mass"],
        ["phase", "--x", "density", "--y", "pressure"],
        ["profile", "--field", "density"],
        ["profile", "--field", "density", "--range", "0,1"],
        ["export"],
    ],
    ids=" ".join,
)
def test_an_empty_selection_says_so_and_writes_nothing(sample, run, tmp_path, words, ranks):
    out = tmp_path / ("out.vtkhdf" if words == ["export"] else "out.png")
    region = "sphere:0.01,0.013,0.017:0.00001" if "--particles" in words else NOTHING
    target = [out] if words == ["export"] else ["-o", out]
    done = run(words[0], sample, *target, *words[1:], "--roi", region, check=False, ranks=ranks)
    assert done.returncode == 2, done.stdout
    said = [line for line in done.stderr.splitlines() if "no cell" in line or "no particle" in line]
    assert len(said) == 1 and not list(tmp_path.iterdir())


def test_maps_of_nothing_are_refused_in_python_and_of_little_are_drawn(sample):
    ds = octavo.open(sample)
    for more in ({}, {"camera": (1, 1, 1)}, {"kind": "min"}, {"weight": "density"}):
        with pytest.raises(octavo.UsageError, match="the selection holds no cell: sphere"):
            ds.inside(NOTHING).map("density", pixels=8, **more)
    tiny = ds.box((0.501, 0.501, 0.501), (0.502, 0.502, 0.502)).map("density", pixels=8)  # a part of one cell
    assert np.isfinite(tiny.values).all()
    zero = ds.derive("nil", "0*density").map("nil", pixels=8)
    assert (zero.values == 0).all()


def test_a_domain_alone_may_have_an_empty_map(sample):
    pytest.importorskip("dask")
    ds = octavo.open(sample)
    ball = ds.sphere((0.1, 0.1, 0.1), 0.09)
    whole = ball.map("density", pixels=16)
    images = [domain.compute(scheduler="synchronous").map("density", pixels=16).values for domain in octavo.dask(ds)]
    assert len(images) == 8
    images = [
        domain.compute(scheduler="synchronous").inside(ball.region).map("density", pixels=16).values
        for domain in octavo.dask(ds)
    ]
    assert any(np.isnan(image).all() for image in images)
    assert np.allclose(np.nansum(images, axis=0), np.nan_to_num(whole.values), rtol=1e-12)


# ------------------------------------------------------------------------------------------------------------- levels

VERBS = {
    "map": ["--field", "density", "-o", "out.npy"],
    "slice": ["--field", "density", "-o", "out.npy"],
    "line": ["--field", "density", "--from", "0.1,0.2,0.3", "--to", "0.9,0.8,0.7", "-o", "out.csv"],
    "stats": [],
    "hist": ["--field", "density", "-o", "out.csv"],
    "phase": ["--x", "density", "--y", "pressure", "-o", "out.csv"],
    "profile": ["--field", "density", "-o", "out.csv"],
    "clumps": ["--field", "density", "--above", "1"],
    "contour": ["--field", "density", "--at", "1", "-o", "out.ply"],
    "spectrum": ["--field", "density", "-o", "out.csv"],
    "export": ["out.vtkhdf"],
    "export cube": ["out.npz", "--as", "cube"],
    "export ug": ["out.vtkhdf", "--as", "ug"],
    "convert": ["out.octavo"],
    "series": [],
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_level_above_the_coarsest_is_refused_by_every_verb(sample, run, tmp_path, verb):
    words = [verb.split()[0], sample, *VERBS[verb]]
    for ranks in (0, 3) if verb in ("map", "stats") and shutil.which("mpirun") else (0,):
        done = run(*words, "--level", -5, check=False, ranks=ranks, cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.count("no level -5: there are 1 to 6") == 1, done.stderr
        assert not list(tmp_path.iterdir())
    run(*words, "--level", 6, cwd=tmp_path)


def test_levels_mean_the_same_in_python(sample):
    ds = octavo.open(sample)
    assert ds.levels[0] == 1 and ds.levels[-1] == 6
    above, deep, all_ = ds.level(0), ds.level(60), ds.level(6)
    reads = {
        "parts": lambda s: s.parts,
        "plan": lambda s: s.plan("density").cells,
        "stats": lambda s: s.sum("density", weight="volume"),
        "arrays": lambda s: s.arrays("density")["density"].sum(),
        "map": lambda s: s.map("density", pixels=8).sum(),
        "camera": lambda s: s.map("density", pixels=8, camera=(1, 1, 1)).sum(),
        "slice": lambda s: s.slice("density", pixels=8).sum(),
        "line": lambda s: s.line("density", (0.1, 0.2, 0.3), (0.9, 0.8, 0.7))["density"].tolist(),
        "hist": lambda s: s.hist("density").weights.tolist(),
        "phase": lambda s: s.phase("density", "pressure").weights.tolist(),
        "profile": lambda s: s.profile("density").cells.tolist(),
        "percentile": lambda s: s.percentile("density", 50),
        "cube": lambda s: s.cube("density")["density"].sum(),
        "contour": lambda s: len(s.contour("density", 1).points),
        "clumps": lambda s: len(s.clumps(1, field="density")),
    }
    for name, read in reads.items():
        with pytest.raises(octavo.UsageError, match="no level 0: there are 1 to 6"):
            read(above)
            pytest.fail(name)
        assert read(deep) == read(all_), name
        read(ds.level(1))
    with pytest.raises(octavo.UsageError, match="no level 0: there are 1 to 6"):
        octavo.convert(sample, "/nowhere/out.octavo", max_level=0)


# --------------------------------------------------------------------------------------------------------- conditions


def test_nan_is_not_true_in_any_verb(sample):
    ds = octavo.open(sample).derive("maybe", "where(x > 0.5, nan, 1)")
    left = octavo.open(sample).box((0, 0, 0), (0.5, 1, 1)).sum("density", weight="volume")
    for condition in ("maybe", "maybe & 1", "maybe | 0", "!(!maybe)", "maybe & maybe"):
        held = ds.where(condition)
        assert held.sum("density", weight="volume") == pytest.approx(left, rel=1e-12), condition
        assert held.map("density", pixels=16).sum() == pytest.approx(left, rel=1e-12), condition
        mean = held.map("density", weight="volume", pixels=16)
        assert np.isnan(mean.values[:, 8:]).all() and np.isfinite(mean.values[:, :8]).all(), condition
        assert np.isnan(held.slice("density", pixels=16).values[:, 8:]).all(), condition
        assert held.hist("density").weights.sum() == pytest.approx(0.5, rel=1e-12), condition
        # A condition and its opposite divide the cells between them.
        rest = ds.where(f"!({condition})")
        assert held.stats([])["leaves"] + rest.stats([])["leaves"] == ds.stats([])["leaves"], condition


# -------------------------------------------------------------------------------------------------------------- edges

BOXES = {
    "inside": ((0.2, 0.31, 0.1), (0.7, 0.8, 0.651)),
    "a part of a cell": ((0.501, 0.501, 0.501), (0.502, 0.503, 0.505)),
    "across a side": ((-0.13, 0.3, 0.77), (0.21, 0.6, 1.05)),
    "along cells": ((0.25, 0.25, 0.25), (0.5, 0.75, 0.5)),
}


def shares(cells, lo, hi):
    """Of each leaf of a periodic box of length 1: along each axis, the length that is between lo and hi, over its own."""
    out = np.ones(len(cells["x"]))
    for axis, a, b in zip("xyz", lo, hi, strict=True):
        below, above = cells[axis] - cells["dx"] / 2, cells[axis] + cells["dx"] / 2
        length = sum(np.maximum(0, np.minimum(above + k, b) - np.maximum(below + k, a)) for k in (-1, 0, 1))
        out *= length / cells["dx"]
    return np.where(out < 1e-9, 0, out)


@pytest.mark.parametrize("name", BOXES)
def test_clipped_sums_are_those_of_the_leaves_and_of_the_map(sample, name):
    lo, hi = BOXES[name]
    ds = octavo.open(sample)
    assert ds._data.periodic == [True] * 3 and ds._data.lo == [0.0] * 3 and ds._data.hi == [1.0] * 3
    cells, box = ds.arrays(["density", "pressure"]), ds.box(lo, hi)
    for chosen, keep in ((box, 1), (box.where("velocity_x > 0"), ds.arrays("velocity_x")["velocity_x"] > 0)):
        share = shares(cells, lo, hi) * keep
        volume, seen, values = share * cells["dx"] ** 3, share > 0, cells["pressure"]
        found = chosen.stats(["pressure"], edge="clip", particles=False)
        field = found["fields"]["pressure"]
        assert found["leaves"] == seen.sum() and found["volume"] == pytest.approx(volume.sum(), rel=1e-11)
        assert field["integral"] == pytest.approx((volume * values).sum(), rel=1e-11)
        assert field["sum"] == pytest.approx((share * values).sum(), rel=1e-11)
        assert field["mean"] == pytest.approx((share * values).sum() / share.sum(), rel=1e-11)
        mass = volume * cells["density"]
        assert field["mass_mean"] == pytest.approx((mass * values).sum() / mass.sum(), rel=1e-11)
        assert (field["min"], field["max"]) == (values[seen].min(), values[seen].max())
        total = chosen.sum("pressure", weight="volume", edge="clip")
        for axis in "xyz":
            assert chosen.map("pressure", axis=axis, pixels=19, edge="clip").sum() == pytest.approx(total, rel=1e-11)
    assert np.array_equal(box.map("density", pixels=9).values, box.map("density", pixels=9, edge="clip").values)


def test_centred_maps_show_the_cells_that_centred_sums_have(sample):
    ds = octavo.open(sample)
    lo, hi = BOXES["inside"]
    cells, box = ds.arrays("density"), ds.box(lo, hi)
    inside = np.all([(cells[a] >= p) & (cells[a] < q) for a, p, q in zip("xyz", lo, hi, strict=True)], axis=0)
    mass = cells["density"] * cells["dx"] ** 3 * inside
    assert box.sum("density", weight="volume", edge="centre") == pytest.approx(mass.sum(), rel=1e-11)
    shown = (mass * shares(cells, lo, hi)).sum()
    assert shown < mass.sum()
    for axis in "xyz":
        assert box.map("density", axis=axis, pixels=19, edge="centre").sum() == pytest.approx(shown, rel=1e-11)
    corner = box.map("density", camera=(1, 1, 1), pixels=300)
    assert np.nansum(box.map("density", camera=(1, 1, 1), pixels=300, edge="centre").values) < np.nansum(corner.values)
    with pytest.raises(octavo.UsageError, match="the selection holds no cell: box"):
        ds.box(*BOXES["a part of a cell"]).map("density", pixels=8, edge="centre")
    ball = ds.sphere("center", 0.2)
    assert np.array_equal(
        ball.map("density", pixels=9).values, ball.map("density", pixels=9, edge="centre").values, True
    )
    for refused in (lambda: ball.map("density", edge="clip", pixels=8), lambda: ball.sum("density", edge="clip")):
        with pytest.raises(octavo.Unsupported, match="at the sides of a single box"):
            refused()
    with pytest.raises(octavo.UsageError, match="no edge 'middle'"):
        box.sum("density", edge="middle")


def test_edges_are_the_same_words_in_the_command_on_any_number_of_ranks(sample, run, run_json, tmp_path):
    region = ["--roi", "box:0.2,0.31,0.1:0.7,0.8,0.651"]
    words = ["stats", sample, "--field", "density", *region, "--edge", "clip", "--no-particles"]
    one = run_json(*words)
    assert one["selection"].endswith(", edge clip")
    total = octavo.open(sample).inside(region[1]).sum("density", weight="volume", edge="clip")
    assert one["fields"]["density"]["integral"] == total
    if shutil.which("mpirun"):
        assert run_json(*words, ranks=3) == one
    run("map", sample, "--field", "density", *region, "--edge", "centre", "--pixels", 16, "-o", tmp_path / "m.npy")
    done = run(*words, "--percentiles", "50", check=False)
    assert done.returncode == 2 and "percentiles are of whole cells" in done.stderr
    done = run("map", sample, "--particles", "dm", "--edge", "clip", "-o", tmp_path / "p.npy", check=False)
    assert done.returncode == 2 and "--edge is of cells" in done.stderr


# ----------------------------------------------------------------------------------------------------------- distances


def test_phase_and_hist_are_over_distances_as_profile_is(sample, run, run_json, tmp_path):
    ds = octavo.open(sample)
    cells = ds.arrays(["density"])
    size = ds._data.hi[0] - ds._data.lo[0]
    centre = np.array([0.25, 0.5, 0.5]) * size
    away = np.stack([cells[axis] - c for axis, c in zip("xyz", centre, strict=True)])
    away -= size * np.round(away / size)
    radius = np.sqrt((away**2).sum(axis=0))
    mass = cells["density"] * cells["dx"] ** 3
    found = ds.phase("radius", "density", bins=(8, 4), centre=(0.25, 0.5, 0.5), x_range=(0, 0.8 * size))
    assert found.x.name == "radius" and found.x.unit == "code_length"
    edges = np.linspace(0, 0.8 * size, 9)
    expected = np.histogram2d(cells["density"], radius, [found.y.edges, edges], weights=mass)[0]
    assert np.allclose(found.weights, expected, rtol=1e-9, atol=1e-9 * mass.sum())
    one = ds.hist("cylinder", bins=5, centre=(0.25, 0.5, 0.5), normal="x")
    assert one.cells.sum() == len(radius) and one.axes[0].name == "cylinder radius"
    words = ["phase", sample, "--x", "radius", "--y", "density", "--bins", "8,4", "--centre", "0.25,0.5,0.5"]
    given = run_json(*words, f"--x-range=0,{0.8 * size!r}")
    assert np.allclose(given["weights"], found.weights, rtol=1e-12)
    run(*words, "-o", tmp_path / "phase.png")
    words = ["hist", sample, "--field", "radius", "--centre", "max:density"]
    assert sum(run_json(*words)["cells"]) == len(radius)
    done = run(*words, "--percentiles", "50", check=False)
    assert done.returncode == 2 and "not of distances" in done.stderr
    done = run("hist", sample, "--particles", "dm", "--field", "radius", check=False)
    assert done.returncode == 2 and "no particle has an attribute 'radius'" in done.stderr
