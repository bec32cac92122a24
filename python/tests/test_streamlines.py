"""Streamlines and ways of particles: against formulas, and against steps of another integrator on NumPy's own reading."""

import json

import numpy as np
import pytest
import serafin_by_numpy

import octavo

triangulations = pytest.importorskip("matplotlib.tri")

MALPASSET = "r2d_malpasset-small_5steps.slf"
STRATIFIED = "r3d_stratification.slf"


@pytest.fixture(scope="module")
def files(data):
    return data / "serafin"


class Flow:
    """Velocities of two steps by matplotlib's interpolation, linear in time between."""

    def __init__(self, path, first, last):
        mesh = serafin_by_numpy.read(path)
        self.times = [mesh["times"][first], mesh["times"][last]]
        tri = triangulations.Triangulation(mesh["x"], mesh["y"], mesh["elements"])
        self.at = [
            [
                triangulations.LinearTriInterpolator(tri, mesh["values"][name][step])
                for name in ("VELOCITY U", "VELOCITY V")
            ]
            for step in (first, last)
        ]

    def __call__(self, place, time):
        begin, end = ([float(np.ma.filled(part(*place), np.nan)) for part in step] for step in self.at)
        span = self.times[1] - self.times[0]
        late = (time - self.times[0]) / span if span else 0
        return np.array(begin) * (1 - late) + np.array(end) * late

    def carry(self, place, begin, end, steps):
        """Runge and Kutta's classic method with equal steps."""
        h, place = (end - begin) / steps, np.array(place, float)
        for step in range(steps):
            t = begin + step * h
            k1 = self(place, t)
            k2 = self(place + h / 2 * k1, t + h / 2)
            k3 = self(place + h / 2 * k2, t + h / 2)
            k4 = self(place + h * k3, t + h)
            place = place + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return place


def wet(files, count):
    """Places with water that moves at the last two steps."""
    mesh = serafin_by_numpy.read(files / MALPASSET)
    speed = np.hypot(mesh["values"]["VELOCITY U"], mesh["values"]["VELOCITY V"])[3:5].min(axis=0)
    some = np.argsort(-speed)[20 : 20 + 40 * count : 40]
    return [(float(mesh["x"][i]) + 0.3, float(mesh["y"][i]) + 0.2) for i in some]


def test_streamlines_go_where_another_integrator_goes(files):
    flow, seeds = Flow(files / MALPASSET, 4, 4), wet(files, 6)
    ways = octavo.streamlines(files / MALPASSET, seeds, duration=20)
    ends = [way[-1] for way in ways]
    assert ways.ends.count("time") > 2
    for seed, end, why in zip(seeds, ends, ways.ends, strict=True):
        if why == "time":
            assert end[2] == 20
            assert np.allclose(end[:2], flow.carry(seed, 0, 20, 400), atol=1e-2), seed
            assert np.hypot(*(end[:2] - seed)) > 1
    back = octavo.streamlines(
        files / MALPASSET, ends and [tuple(end[:2]) for end in ends], duration=20, direction="backward"
    )
    for seed, way, why in zip(seeds, back, ways.ends, strict=True):
        if why == "time":
            assert np.allclose(way[0, :2], seed, atol=0.05) and way[-1, 2] == 0 and way[0, 2] == -20


def test_particles_go_where_another_integrator_takes_them(files):
    flow, seeds = Flow(files / MALPASSET, 3, 4), wet(files, 5)
    begin, end = flow.times
    ways = octavo.pathlines(files / MALPASSET, seeds, start=begin + 10, until=begin + 40)
    assert begin < end and ways.time == begin + 10 and ways.ends.count("time") > 2
    for seed, way, why in zip(seeds, ways, ways.ends, strict=True):
        if why == "time":
            assert way[-1, 2] == begin + 40
            assert np.allclose(way[-1, :2], flow.carry(seed, begin + 10, begin + 40, 500), atol=1e-2)
    whole = octavo.pathlines(files / MALPASSET, count=20)
    assert 10 <= len(whole) <= 30 and whole.times.max() == end
    assert whole.lengths.max() > 10  # the flow begins at rest


def test_seeds_lie_evenly_on_the_mesh(files):
    ways = octavo.streamlines(files / MALPASSET, count=200, duration=1e-9)
    seeds = np.array([way[0, :2] for way in ways])
    mesh = serafin_by_numpy.read(files / MALPASSET)
    tri = triangulations.Triangulation(mesh["x"], mesh["y"], mesh["elements"])
    assert 170 <= len(seeds) <= 230
    assert (tri.get_trifinder()(seeds[:, 0], seeds[:, 1]) >= 0).all()
    gaps = np.hypot(*(seeds[:, None] - seeds[None]).T) + 1e9 * np.eye(len(seeds))
    assert np.allclose(gaps.min(axis=0).min(), np.median(gaps.min(axis=0)))


def test_files_and_pictures(files, tmp_path, run, run_json):
    path = files / MALPASSET
    facts = run_json("streamlines", path, "--seeds", "50", "--both", "-o", tmp_path / "a.geojson")
    lines = json.loads((tmp_path / "a.geojson").read_text())["features"]
    assert facts["ways"] == len(lines) == sum(facts["ends"].values())
    ways = octavo.streamlines(path, count=50, direction="both")
    for line, way, length in zip(lines, ways, ways.lengths, strict=True):
        assert np.array_equal(line["geometry"]["coordinates"][: len(way)], way[:, :2])
        assert line["properties"]["length"] == length
    run("pathlines", path, "--seeds", "30", "-o", tmp_path / "b.csv")
    rows = np.genfromtxt(tmp_path / "b.csv", delimiter=",", names=True)
    assert np.array_equal(rows["x"], octavo.pathlines(path, count=30).x)
    run("streamlines", path, "--seeds", "80", "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    axes = ways.draw(octavo.open(path).map("speed", pixels=64)).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("x [m]", "y [m]", "t = 800 s")
    run("streamlines", files / STRATIFIED, "--seeds", "9", "--plane", "0", "-o", tmp_path / "c.csv")


def test_bad_words_are_refused(files, tmp_path, run):
    path = files / MALPASSET
    with pytest.raises(octavo.UsageError, match="seed 2 lies outside"):
        octavo.streamlines(path, [wet(files, 1)[0], (0, 0)])
    with pytest.raises(octavo.UsageError, match="expected times from"):
        octavo.pathlines(path, start=-5)
    with pytest.raises(octavo.UsageError, match="plane"):
        octavo.streamlines(path, plane=2)
    with pytest.raises(octavo.UsageError, match="wind_x"):
        octavo.streamlines(path, velocity="wind")
    with pytest.raises(octavo.UsageError, match="0 or more"):
        octavo.streamlines(path, duration=-1)
    with pytest.raises(octavo.UsageError, match="1 or more"):
        octavo.streamlines(path, count=0)
    assert run("streamlines", path, "-o", tmp_path / "a.txt", check=False).returncode == 2
    assert run("streamlines", path, "--at", "1,2,3", "-o", tmp_path / "a.csv", check=False).returncode == 2
