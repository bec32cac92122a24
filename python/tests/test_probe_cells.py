"""Values at places in cells are those of the leaf around them, in every format, step by step."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import open_as

import octavo


@pytest.fixture(scope="module")
def outputs(run, tmp_path_factory):
    """Two outputs of one run, and a store that holds both."""
    folder = tmp_path_factory.mktemp("probe")
    for number in (1, 2):
        run("sample", folder / f"output_{number:05}", "--levels", "3-5", "--domains", 5, "--seed", number, "-q")
        run("convert", folder / f"output_{number:05}", folder / "run.octavo", "--append", "-q")
    return folder


def leaf_values(ds, point, fields):
    """By looking at all leaves: those that have the point, lower sides included."""
    cells = ds.arrays(fields)
    inside = np.ones(len(cells["dx"]), bool)
    for axis, x, hi in zip("xyz", point, ds._data.hi, strict=False):
        lower, upper = cells[axis] - cells["dx"] / 2, cells[axis] + cells["dx"] / 2
        inside &= (lower <= x) & ((x < upper) | ((x == hi) & (upper == hi)))
    (place,) = np.nonzero(inside)[0]
    return [float(cells[name][place]) for name in fields]


@pytest.mark.parametrize("kind", ["ramses", "store", "flash", "amrex"])
def test_values_are_those_of_the_leaf_around(run, kind, tmp_path):
    run("sample", tmp_path / "output_00001", "--levels", "3-5", "--domains", 5, "-q")
    ds = open_as(kind, run, tmp_path / "output_00001")
    rng = np.random.default_rng(5)
    places = [tuple(place) for place in rng.random((12, 3))]
    places += [(0.5, 0.5, 0.5), (0.0, 0.25, 0.125), (1 - 1e-12, 0.3, 0.3)]  # on sides, and at the last cells
    fields = ["density", "pressure"]
    found = octavo.probe(ds.path, places, fields)
    assert found["values"].shape == (len(places), 2, 1) and found["inside"].all()
    unit = ds._data.hi[0] - ds._data.lo[0]
    for place, values in zip(places, found["values"], strict=True):
        point = [lo + x * unit for lo, x in zip(ds._data.lo, place, strict=True)]
        assert values[:, 0].tolist() == leaf_values(ds, point, fields)


def test_steps_of_outputs_and_of_a_store_are_in_the_order_of_time(outputs):
    place = (0.31, 0.62, 0.47)
    series = octavo.probe(str(outputs / "output_*"), [place, "max:density"], ["density", "pressure/density"])
    times = octavo.series(str(outputs / "output_*")).times
    assert (
        series["times"].tolist() == times.tolist()
        and len(times) == 2
        and series["fields"] == ["density", "pressure/density"]
    )
    for step, ds in enumerate(octavo.series(str(outputs / "output_*"))):
        density, pressure = leaf_values(ds, place, ["density", "pressure"])
        assert series["values"][0, :, step].tolist() == [density, pressure / density]
        top = ds.stats(["density"])["fields"]["density"]
        assert series["values"][1, 0, step] == top["max"]
        np.testing.assert_allclose(series["at"][1, step], top["max_at"], atol=1e-12)
    stored = octavo.probe(outputs / "run.octavo", [place, "max:density"], ["density", "pressure/density"])
    np.testing.assert_array_equal(stored["values"], series["values"])


def test_places_outside_have_no_value(outputs):
    found = octavo.probe(outputs / "output_00001", [(1.2, 0.5, 0.5), "center"], "density")
    assert np.isnan(found["values"][0]).all() and found["inside"].tolist() == [False, True]


def test_the_command_prints_tables_csv_and_json(run, outputs):
    words = [
        "probe",
        outputs / "output_00001",
        outputs / "output_00002",
        "--at",
        "0.31,0.62,0.47",
        "--field",
        "density",
    ]
    values = octavo.probe([outputs / "output_00001", outputs / "output_00002"], [(0.31, 0.62, 0.47)], "density")[
        "values"
    ]
    for ranks in (0, 3):
        report = json.loads(run(*words, "--json", ranks=ranks).stdout)
        assert report["places"][0]["fields"]["density"] == values[0, 0].tolist()
        assert report["places"][0]["at"] == [[0.31, 0.62, 0.47]] * 2 and report["places"][0]["inside"]
    rows = run(*words, "--csv").stdout.splitlines()
    assert rows[0] == "time,density" and [float(row.split(",")[1]) for row in rows[1:]] == values[0, 0].tolist()
    done = run(*words[:2], "--at", "1.5,0.5,0.5", "--field", "density")
    assert "lies outside" in done.stderr and "nan" in done.stdout


@pytest.mark.parametrize(
    ("at", "said"), [("0.5,0.5", "three numbers"), ("somewhere", "three numbers"), ("max:nothing", "nothing")]
)
def test_places_that_are_none_are_refused(run, outputs, at, said):
    done = run("probe", outputs / "output_00001", "--at", at, check=False)
    assert done.returncode == 2 and said in done.stderr


def test_an_unknown_field_has_near_matches(run, outputs):
    done = run("probe", outputs / "output_00001", "--at", "center", "--field", "densty", check=False)
    assert done.returncode == 2 and "density" in done.stderr


def test_triangles_are_one_file(run, files, outputs):
    path = files / "r2d_malpasset-small_5steps.slf"
    assert octavo.probe(path, [(4500, 4350)])["values"].shape[0] == 1
    done = run("probe", path, path, "--at", "4500,4350", check=False)
    assert done.returncode == 2 and "one file" in done.stderr
