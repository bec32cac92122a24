"""Lines and cuts through triangles: compared with matplotlib's interpolation on meshes that NumPy alone reads."""

import json

import numpy as np
import pytest
import serafin_by_numpy

import octavo

triangulations = pytest.importorskip("matplotlib.tri")

MALPASSET = "r2d_malpasset-small_5steps.slf"
STRATIFIED = "r3d_stratification.slf"
SECTION = [(4500.0, 4350.0), (5500.0, 4400.0), (6000.0, 4000.0)]


def interpolator(mesh, values):
    return triangulations.LinearTriInterpolator(
        triangulations.Triangulation(mesh["x"], mesh["y"], mesh["elements"]), values
    )


def places_on(line, distances):
    """The places at some distances along a polyline."""
    line = np.array(line)
    ends = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    return np.interp(distances, ends, line[:, 0]), np.interp(distances, ends, line[:, 1])


def test_values_along_a_line_are_those_of_matplotlib(files):
    mesh = serafin_by_numpy.read(files / MALPASSET)
    for step in (0, 3):
        line = octavo.open(files / MALPASSET, step=step).line(["WATER DEPTH", "VELOCITY U"], through=SECTION)
        at = np.linspace(0, line.length, 1777)
        for field in ("WATER DEPTH", "VELOCITY U"):
            theirs = interpolator(mesh, mesh["values"][field][step])(*places_on(SECTION, at))
            expected = np.ma.filled(theirs, np.nan)
            ours = np.interp(at, line.distance, line[field], left=np.nan, right=np.nan)
            assert np.array_equal(np.isnan(ours), np.isnan(expected)) and np.isnan(ours).any()
            assert np.allclose(ours, expected, rtol=0, atol=1e-9, equal_nan=True)
        width = np.diff(line.distance)
        assert line.integral("WATER DEPTH") == pytest.approx(
            np.nansum(width * (line["WATER DEPTH"][1:] + line["WATER DEPTH"][:-1]) / 2), rel=1e-14
        )


def test_a_column_and_a_vertical_cut_are_those_of_matplotlib(files):
    mesh = serafin_by_numpy.read(files / STRATIFIED)
    planes, points = mesh["planes"], len(mesh["x"]) // mesh["planes"]
    lowest = mesh["elements"][mesh["elements"].max(axis=1) < 2 * points][:, :3]
    flat = {"x": mesh["x"][:points], "y": mesh["y"][:points], "elements": lowest}
    of_planes = {
        name: [interpolator(flat, mesh["values"][name][1].reshape(planes, -1)[k]) for k in range(planes)]
        for name in ("COTE Z", "SALINITE")
    }
    ds = octavo.open(files / STRATIFIED, step=1)
    column = ds.line("SALINITE", through=[(1800.5, 51.0)])
    assert len(column) == 1
    for name, found in (("COTE Z", column.z[0]), ("SALINITE", column["SALINITE"][0])):
        assert np.allclose(found, [float(plane(1800.5, 51.0)) for plane in of_planes[name]], rtol=1e-12)
    line = [(1500.0, 20.0), (1990.0, 80.0)]
    cut = ds.slice("SALINITE", through=line, pixels=64)
    assert cut.values.shape == (32, 64) and cut.facts["axes"] == ["distance", "z"]
    s0, s1, z0, z1 = cut.extent
    at, z = s0 + (np.arange(64) + 0.5) * (s1 - s0) / 64, z0 + (np.arange(32) + 0.5) * (z1 - z0) / 32
    heights, values = (
        np.array([np.asarray(plane(*places_on(line, at))) for plane in of_planes[name]])
        for name in ("COTE Z", "SALINITE")
    )
    expected = np.array(
        [np.interp(z, heights[:, i], values[:, i], left=np.nan, right=np.nan) for i in range(len(at))]
    ).T
    assert np.allclose(cut.values, expected, rtol=1e-10, equal_nan=True) and np.ptp(expected[~np.isnan(expected)]) > 1
    height = ds.slice("SALINITE", height=9.0, pixels=64)
    depth = ds.slice("SALINITE", depth=0.0, pixels=64)
    assert np.allclose(depth.values, ds.slice("SALINITE", plane=-1, pixels=64).values, equal_nan=True)
    x0, x1, y0, y1 = height.extent
    ny, nx = height.values.shape
    x, y = np.meshgrid(x0 + (np.arange(nx) + 0.5) * (x1 - x0) / nx, y0 + (np.arange(ny) + 0.5) * (y1 - y0) / ny)
    heights, values = (
        np.array([np.asarray(plane(x.ravel(), y.ravel())) for plane in of_planes[name]])
        for name in ("COTE Z", "SALINITE")
    )
    expected = [np.interp(9.0, heights[:, i], values[:, i], left=np.nan, right=np.nan) for i in range(x.size)]
    assert np.allclose(height.values.ravel(), expected, rtol=1e-10, equal_nan=True)


def test_the_command_writes_tables_and_pictures_of_a_line(files, run, run_json, tmp_path):
    path, words = files / MALPASSET, [f"{x},{y}" for x, y in SECTION]
    line = octavo.open(path).line(["WATER DEPTH", "speed"], through=SECTION)
    run("line", path, "--field", "WATER DEPTH,speed", "--through", *words, "-o", tmp_path / "l.csv")
    head, *rows = (tmp_path / "l.csv").read_text().splitlines()
    assert head == "distance,x,y,WATER DEPTH,speed"
    table = np.array([[float(word) for word in row.split(",")] for row in rows])
    assert np.array_equal(table[:, 3], line["WATER DEPTH"], equal_nan=True)
    run("line", path, "--field", "speed", "--through", *words, "-o", tmp_path / "l.npy")
    assert np.array_equal(np.load(tmp_path / "l.npy")["speed"], line["speed"], equal_nan=True)
    report = run_json("line", path, "--field", "speed", "--through", *words)
    assert report["rows"] == len(line) and None in report["fields"]["speed"]
    run("line", path, "--field", "speed", "--through", *words, "-o", tmp_path / "l.png")
    assert (tmp_path / "l.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(
    "name, text",
    [
        ("line.txt", "# a section\n4500 4350\n5500, 4400\n6000;4000\n"),
        ("line.geojson", json.dumps({"type": "LineString", "coordinates": SECTION})),
        (
            "all.geojson",
            json.dumps(
                {
                    "type": "FeatureCollection",
                    "features": [
                        {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [1, 2]}},
                        {
                            "type": "Feature",
                            "properties": {},
                            "geometry": {"type": "MultiLineString", "coordinates": [SECTION]},
                        },
                    ],
                }
            ),
        ),
    ],
)
def test_a_line_comes_from_a_file_of_text_or_geojson(files, run_json, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    line = octavo.open(files / MALPASSET).line("speed", through=SECTION)
    report = run_json("line", files / MALPASSET, "--field", "speed", "--through", tmp_path / name)
    assert report["length"] == line.length and report["rows"] == len(line)


def test_what_is_no_line_is_told(files, run, tmp_path):
    path = files / MALPASSET
    for text, words in (
        ("1 2\n3 a\n", "row 2: expected two numbers"),
        ("1 2\n3 inf\n", "a coordinate is not finite"),
        ('{"type": "Point", "coordinates": [1, 2]}', "holds no LineString"),
        ('{"type": "LineString", "coordinates": [[1], [2, 3]]}', "no GeoJSON"),
        ("{", "no GeoJSON"),
    ):
        (tmp_path / "bad").write_text(text)
        done = run("line", path, "--field", "speed", "--through", tmp_path / "bad", check=False)
        assert done.returncode == 3 and words in done.stderr and "Traceback" not in done.stderr
    for words, message in (
        (["--through", "1,2,3"], "expected two numbers or the name of a file"),
        (["--through", "1,2", "1,2"], "points 1 and 2 of the line are the same"),
        ([], "expected --from and --to, or --through"),
        (["--from", "0,0", "--through", "1,2", "2,2"], "expected --from and --to, or --through"),
        (["--through", "-5,0", "-6,0"], "meets no triangle"),
        (["--through", "-5,0 -6,0"], "meets no triangle"),
    ):
        done = run("line", path, "--field", "speed", *words, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr


def test_lines_with_bends_and_surfaces_are_of_triangles(sample):
    ds = octavo.open(sample)
    with pytest.raises(octavo.UsageError, match="triangles"):
        ds.line("density", through=[(0, 0), (1, 1)])
    with pytest.raises(octavo.UsageError, match="triangles"):
        ds.slice("density", depth=1.0)
    with pytest.raises(octavo.UsageError, match="start and end, or through"):
        ds.line("density", (0, 0, 0))
