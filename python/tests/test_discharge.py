"""Discharge, volumes, arrivals and parts of meshes of triangles, on results of TELEMAC that NumPy alone reads."""

import itertools
import json
import shutil

import numpy as np
import pytest
import serafin_by_numpy

import octavo

MALPASSET = "r2d_malpasset-small_5steps.slf"
VALLEY = [(4000.0, 3500.0), (6500.0, 3800.0), (6000.0, 5200.0), (5200.0, 4300.0), (4300.0, 5000.0)]
SECTION = [(4500.0, 4350.0), (5500.0, 4400.0), (6000.0, 4000.0)]


@pytest.fixture(scope="module")
def mesh(files):
    return serafin_by_numpy.read(files / MALPASSET)


def areas(mesh):
    a, b, c = (np.stack([mesh["x"][p], mesh["y"][p]]) for p in mesh["elements"].T)
    return np.abs((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0]) / 2


def test_the_volume_of_the_mesh_is_that_of_its_triangles(files, mesh):
    found = octavo.volume(files / MALPASSET)
    depth = mesh["values"]["WATER DEPTH"]
    expected = [(areas(mesh) * step[mesh["elements"]].mean(axis=1)).sum() for step in depth]
    assert np.array_equal(found.times, mesh["times"]) and np.allclose(found.values[0], expected, rtol=1e-12)
    around = octavo.volume(files / MALPASSET, [(-1e5, -1e5), (1e5, -1e5), (1e5, 1e5), (-1e5, 1e5)])
    assert np.allclose(around.values, found.values, rtol=1e-12)


def test_a_polygon_and_the_rest_make_up_the_mesh_and_samples_agree(files, mesh):
    tri = pytest.importorskip("matplotlib.tri")
    path = files / MALPASSET
    box = [(-1e5, -1e5), (1e5, -1e5), (1e5, 1e5), (-1e5, 1e5)]
    rings = {"type": "Polygon", "coordinates": [[*box, box[0]], [*VALLEY, VALLEY[0]]]}
    both = octavo.volume(path, [VALLEY, box])
    from octavo.triangles.outlines import polygon_of

    assert len(polygon_of(VALLEY)) == 1
    rest = octavo._core.volume(str(path), [rings["coordinates"]])["values"][0]
    assert np.allclose(both.values[0] + rest, both.values[1], rtol=1e-12)
    # A raster of a metre and a half over the polygon: its sum is the integral but for pixels at the sides.
    x, y = np.meshgrid(np.arange(4000, 6500, 2.5) + 1.25, np.arange(3500, 5200, 2.5) + 1.25)
    from matplotlib.path import Path

    inside = Path(VALLEY).contains_points(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
    plane = tri.LinearTriInterpolator(
        tri.Triangulation(mesh["x"], mesh["y"], mesh["elements"]), mesh["values"]["WATER DEPTH"][4]
    )
    sampled = np.ma.filled(plane(x, y), 0.0)[inside].sum() * 2.5**2
    assert both.values[0][4] == pytest.approx(sampled, rel=2e-3)


def test_discharge_is_the_sum_over_many_samples_of_the_line(files, mesh):
    tri = pytest.importorskip("matplotlib.tri")
    found = octavo.discharge(files / MALPASSET, SECTION)
    back = octavo.discharge(files / MALPASSET, SECTION[::-1])
    assert np.allclose(found.values, -back.values, rtol=1e-12) and abs(found.values[0, 4]) > 100
    shape = tri.Triangulation(mesh["x"], mesh["y"], mesh["elements"])
    for step in (1, 4):
        total = 0.0
        for (x0, y0), (x1, y1) in itertools.pairwise(SECTION):
            at = (np.arange(200_000) + 0.5) / 200_000
            h, u, v = (
                np.ma.filled(
                    tri.LinearTriInterpolator(shape, mesh["values"][name][step])(
                        x0 + at * (x1 - x0), y0 + at * (y1 - y0)
                    ),
                    0.0,
                )
                for name in ("WATER DEPTH", "VELOCITY U", "VELOCITY V")
            )
            total += float(np.mean(h * (u * (y1 - y0) - v * (x1 - x0))))
        assert found.values[0, step] == pytest.approx(total, rel=1e-5, abs=1e-6)


def test_the_commands_print_and_write_the_series(files, run, run_json, tmp_path):
    path, words = files / MALPASSET, [f"{x},{y}" for x, y in SECTION]
    found = octavo.discharge(path, SECTION)
    report = run_json("discharge", path, "--through", *words)
    assert report["series"][0]["values"] == found.values[0].tolist() and report["times"] == found.times.tolist()
    rows = run("discharge", path, "--through", *words, "--through", *words[::-1], "--csv").stdout.splitlines()
    assert rows[0] == "time,discharge 1,discharge 2" and len(rows) == 6
    (tmp_path / "valley.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [[*VALLEY, VALLEY[0]]]}))
    run("volume", path, "--polygon", tmp_path / "valley.geojson", "-o", tmp_path / "v.csv")
    table = np.loadtxt(tmp_path / "v.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 1], octavo.volume(path, VALLEY).values[0])
    run("volume", path, "-o", tmp_path / "v.png")
    assert (tmp_path / "v.png").read_bytes()[1:4] == b"PNG"
    for words, message in (
        (["volume", path, "--polygon", "0,0", "1,1", "1,0", "0,1"], "crosses itself"),
        (["volume", path, "--polygon", "0,0", "1,1"], "expected three or more"),
        (["volume", path, "--field", "nothing"], "nothing"),
        (["discharge", path, "--through", "0,0", "0,0"], "the same"),
        (["discharge", path, "--through", "1,1", "2,2", "-o", tmp_path / "x.txt"], "must end in"),
        (["map", path, "--field", "speed", "--over-time", "first"], "expected max, min, mean or arrival"),
    ):
        done = run(*words, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr


def test_times_of_arrival_and_maxima_become_files(files, mesh, run, tmp_path):
    path, depth = files / MALPASSET, mesh["values"]["WATER DEPTH"]
    run("convert", path, tmp_path / "a.slf", "--over-time", "arrival:0.1", "--field", "WATER DEPTH")
    run("convert", path, tmp_path / "m.slf", "--over-time", "max")
    wet = depth > 0.1
    expected = np.where(wet.any(axis=0), mesh["times"][wet.argmax(axis=0)], np.nan)
    arrival = serafin_by_numpy.read(tmp_path / "a.slf")
    assert np.array_equal(arrival["values"]["WATER DEPTH"][0], expected, equal_nan=True)
    assert len(np.unique(expected[~np.isnan(expected)])) > 2 and np.isnan(expected).any()
    highest = serafin_by_numpy.read(tmp_path / "m.slf")
    assert len(highest["times"]) == 1
    for name, values in mesh["values"].items():
        assert np.array_equal(highest["values"][name][0], values.max(axis=0))
    picture = octavo.over_time(path, "arrival:0.1").map("WATER DEPTH", pixels=40)
    assert picture.unit == "S" and np.nanmax(picture.values) <= 800
    assert picture.plot().axes[1].get_ylabel().startswith("time of arrival ")  # the bar


def edges_of(elements):
    """Directed edges, and of them those of one element alone."""
    edges = np.concatenate([elements[:, [0, 1]], elements[:, [1, 2]], elements[:, [2, 0]]])
    every = set(map(tuple, edges.tolist()))
    assert len(every) == len(edges)
    return [(a, b) for a, b in every if (b, a) not in every]


@pytest.mark.parametrize("name", [MALPASSET, "r3d_stratification.slf"])
def test_a_part_of_a_mesh_has_its_values_and_a_boundary_by_telemacs_rules(files, run, run_json, tmp_path, name):
    path = files / name
    whole = serafin_by_numpy.read(path)
    corners = VALLEY if name == MALPASSET else [(310.0, 11.0), (1490.0, 22.0), (1300.0, 85.0), (700.0, 55.0)]
    done = run("convert", path, tmp_path / "part.slf", "--polygon", *(f"{x},{y}" for x, y in corners))
    part = serafin_by_numpy.read(tmp_path / "part.slf")
    planes, points = whole["planes"], len(whole["x"]) // whole["planes"]
    assert part["planes"] == planes and np.array_equal(part["times"], whole["times"])
    own = len(part["x"]) // planes
    # Points keep their order: each is found again by its place, in every plane.
    number = {
        place: i for i, place in enumerate(zip(whole["x"][:points].tolist(), whole["y"][:points].tolist(), strict=True))
    }
    kept = np.array([number[place] for place in zip(part["x"][:own].tolist(), part["y"][:own].tolist(), strict=True)])
    assert (np.diff(kept) > 0).all()
    for field, values in whole["values"].items():
        expected = values.reshape(len(values), planes, points)[:, :, kept].reshape(len(values), -1)
        assert np.array_equal(part["values"][field], expected)
    # The triangles are those with their middle inside, but for those that the note counts.
    from matplotlib.path import Path

    flat = [mesh["elements"][mesh["elements"].max(axis=1) < (2 if planes > 1 else 1) * size][:, :3]
            for mesh, size in ((whole, points), (part, own))]  # fmt: skip
    middles = np.stack([whole["x"][flat[0]].mean(axis=1), whole["y"][flat[0]].mean(axis=1)], axis=1)
    inside = set(map(tuple, np.sort(flat[0][Path(corners).contains_points(middles)], axis=1).tolist()))
    found = set(map(tuple, np.sort(kept[flat[1]], axis=1).tolist()))
    left = [int(word) for word in done.stderr.split() if word.isdigit()] if "left out" in done.stderr else [0]
    assert found <= inside and len(inside) - len(found) == left[0]
    # IPOBO numbers each point of the boundary once, and follows its edges with the mesh on the left.
    boundary = part["boundary"][:own]
    edges = dict(edges_of(flat[1]))
    assert set(edges) == set(np.flatnonzero(boundary).tolist()) == set(edges.values())
    order = np.argsort(boundary)[-len(edges) :]
    assert np.array_equal(boundary[order], np.arange(1, len(edges) + 1))
    breaks = sum(edges[int(a)] != int(b) for a, b in itertools.pairwise(order))
    loops, left_over = 0, set(edges)
    while left_over:
        start = at = left_over.pop()
        loops += 1
        while edges[at] != start:
            at = edges[at]
            left_over.remove(at)
    assert breaks == loops - 1
    assert run_json("verify", tmp_path / "part.slf")["findings"] == []


def test_ranks_share_the_steps_and_give_the_same_bits(few, files, run, run_json, tmp_path):
    if not shutil.which("mpirun"):
        pytest.skip("no mpirun on this machine")
    run("convert", files / MALPASSET, tmp_path / "run.octavo", "-q")
    line = [f"{x},{y}" for x, y in SECTION]
    for path in few(files / MALPASSET, tmp_path / "run.octavo"):
        for words in (["discharge", path, "--through", *line, "--through", *line[:2]], ["volume", path]):
            one = run_json(*words)
            assert len(one["times"]) == 5 and one["series"][0]["values"][4] != 0
            for ranks in few(2, 3, 7):
                assert run_json(*words, ranks=ranks) == one
    run("volume", files / MALPASSET, "-o", tmp_path / "one.csv")
    run("volume", files / MALPASSET, "-o", tmp_path / "all.csv", ranks=3)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()
    done = run("volume", files / MALPASSET, "--field", "colour", check=False, ranks=2)
    assert done.returncode == 2 and done.stderr.count("colour") == 1
    done = run("discharge", files / MALPASSET, "--through", "0,0", "1,1", check=False, ranks=3)
    assert done.returncode == 2 and done.stderr.count("meets no triangle") == 1
