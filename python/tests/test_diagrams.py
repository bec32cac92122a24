"""Several diagrams in one pass: each is what its method and its verb make alone."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
ASKED = [
    ("hist", {"field": "density", "log": True, "weight": "mass"}),
    ("phase", {"x": "density", "y": "pressure", "bins": (20, 30)}),
    ("profile", {"fields": ["pressure", "velocity_x"], "centre": "max:density", "bins": 12}),
    ("profile", {"fields": "density", "bins": 9, "log": True, "cumulative": True}),
    ("hist", {"field": "pressure/density", "range": (0, 1), "percentiles": [5, 50]}),
    ("profile", {"fields": ["density"], "axis": "height", "normal": (1, 1, 0), "percentiles": [25, 75], "bins": 7}),
    ("hist", {"field": "density", "units": {"density": "code_mass/code_length^3"}, "bins": 10}),
]


def same(one, other):
    assert type(one) is type(other) and one.facts == other.facts and one.weight_unit == other.weight_unit
    for a, b in zip(one.axes, other.axes, strict=True):
        assert np.array_equal(a.edges, b.edges) and (a.name, a.unit, a.log) == (b.name, b.unit, b.log)
    assert np.array_equal(one.cells, other.cells) and np.array_equal(one.weights, other.weights)
    assert one.fields.keys() == other.fields.keys()
    for name, row in one.fields.items():
        for key, values in row.items():
            assert np.array_equal(values, other.fields[name][key], equal_nan=key != "unit"), (name, key)


@pytest.mark.parametrize(
    "choose",
    [
        lambda ds: ds,
        lambda ds: ds.sphere("center", 0.3).level(5),
        lambda ds: ds.where("density > 1").box((0, 0, 0), (0.5, 1, 1)),
    ],
)
def test_each_is_what_its_method_makes_alone(sample, choose):
    ds = choose(octavo.open(sample))
    for threads in (1, 3):
        found = ds.diagrams(*ASKED, threads=threads)
        assert len(found) == len(ASKED)
        for (kind, options), result in zip(ASKED, found, strict=True):
            same(result, getattr(ds, kind)(**options))


def test_points_of_triangles_have_diagrams_too(files):
    path = next(path for path in sorted(files.rglob("*.slf")) if octavo.open(path).fields)
    ds = octavo.open(path)
    asked = [("hist", {"field": ds.fields[0]}), ("profile", {"fields": ds.fields[0], "axis": "x", "bins": 5})]
    for (kind, options), result in zip(asked, ds.diagrams(*asked), strict=True):
        same(result, getattr(ds, kind)(**options))


def test_wrong_diagrams_are_refused(sample):
    ds = octavo.open(sample)
    with pytest.raises(octavo.UsageError, match="no diagram 'slice'"):
        ds.diagrams(("hist", {"field": "density"}), ("slice", {"field": "density"}))
    with pytest.raises(octavo.UsageError, match="no diagram is asked for"):
        ds.diagrams()
    with pytest.raises(TypeError, match="colour"):
        ds.diagrams(("hist", {"field": "density", "colour": "red"}))
    with pytest.raises(octavo.UsageError, match="density"):
        ds.diagrams(("hist", {"field": "density"}), ("hist", {"field": "densty"}))


VERBS = [
    ("hist --field density --log --weight none -o {}.csv", "csv"),
    ("phase --x density --y pressure --bins 16 -o {}.npy", "npy"),
    ("profile --field density,pressure --centre max:density --bins 8 -o {}.csv", "csv"),
    ("hist --field density --percentiles 50 -o {}.csv", "csv"),
]


@pytest.mark.parametrize("ranks", [0, pytest.param(3, marks=needs_mpi)])
def test_the_verb_writes_what_the_verbs_write(sample, run, tmp_path, ranks):
    roi = ["--roi", "sphere:0.5,0.5,0.5:0.3", "--where", "density>0.5"]
    run("diagrams", sample, *(words.format(tmp_path / f"{i}") for i, (words, _) in enumerate(VERBS)), *roi, ranks=ranks)
    for i, (words, ending) in enumerate(VERBS):
        verb, *own = words.format(tmp_path / f"{i}alone").split()
        run(verb, sample, *own, *roi)
        assert (tmp_path / f"{i}.{ending}").read_bytes() == (tmp_path / f"{i}alone.{ending}").read_bytes()


def test_json_is_a_list_in_order(sample, run, run_json):
    words = ["phase --x density --y pressure --bins 4", "hist --field density"]
    found = json.loads(run("diagrams", sample, *words, "--json").stdout)["diagrams"]
    assert [row["diagram"] for row in found] == ["phase", "hist"]
    alone = run_json("hist", sample, "--field", "density")
    del alone["schema_version"]  # of the whole object
    assert found[1] == {"diagram": "hist", **alone}


def test_the_verb_refuses_what_is_of_all(sample, run, tmp_path):
    for words, why in (
        (["hist --field density --roi box:0,0,0:1,1,1"], "--roi is of all diagrams"),
        (["map --field density"], "is no diagram"),
        (["hist --field density -o a.csv", "hist --field pressure -o a.csv"], "two diagrams have one output"),
        (["hist --particles dm --field mass"], "diagrams are of cells"),
        (["hist --fild density"], "--field"),
    ):
        done = run("diagrams", sample, *words, check=False, cwd=tmp_path)
        assert done.returncode == 2 and why in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())
