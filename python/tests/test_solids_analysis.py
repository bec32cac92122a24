"""Statistics, maps, slices, lines and surfaces of tetrahedra, pyramids, prisms and hexahedra: linear functions are exact."""

import numpy as np
import pytest
from solid_meshes import box, write_vtkhdf

import octavo

pytest.importorskip("h5py")
SHAPES = ("hexahedra", "prisms", "pyramids", "tetrahedra", "mixed")
SIZE = np.array([3.0, 2.0, 1.0])


def head(x, y, z):
    return 1 + x + 2 * y - z


def moved(shape: str, n=(4, 3, 3)):
    """A box of solids whose inner points are off their lattice, with head, which is linear, and wild, which is not."""
    mesh = box(n, shape, hi=tuple(SIZE))
    random = np.random.default_rng(3)
    inside = ((mesh.points > 0) & (mesh.points < SIZE)).all(axis=1)
    mesh.points[inside] += random.uniform(-0.05, 0.05, (inside.sum(), 3))
    mesh.at_points = {"head": head(*mesh.points.T), "wild": random.uniform(0, 1, len(mesh.points))}
    mesh.in_cells = {"number": np.arange(len(mesh.cells)) + 0.0}
    return mesh


@pytest.fixture(params=SHAPES)
def path(request, tmp_path):
    return write_vtkhdf(tmp_path / "box.vtkhdf", moved(request.param))


@pytest.fixture
def mixed(tmp_path):
    return write_vtkhdf(tmp_path / "box.vtkhdf", moved("mixed"))


def pixels(picture):
    """The places of the pixels' middles across and up, of shapes (1, nx) and (ny, 1)."""
    left, right, low, high = picture.extent
    ny, nx = picture.values.shape
    across = left + (np.arange(nx) + 0.5) * (right - left) / nx
    return across[None], (low + (np.arange(ny) + 0.5) * (high - low) / ny)[:, None]


def test_integrals_and_extremes(run, run_json, path):
    facts = run_json("stats", path)
    assert facts["volume"] == pytest.approx(6, rel=1e-13)
    values = facts["fields"]["head"]
    assert values["integral"] == pytest.approx(6 * head(*(SIZE / 2)), rel=1e-13)
    assert (values["max"], values["max_at"]) == (pytest.approx(8), [3, 2, 0])
    assert facts["leaves"] == len(octavo.open(path).part(0).x)
    text = run("stats", path).stdout
    assert "points, volume 6" in text


@pytest.mark.parametrize("view", [{"axis": "x"}, {"axis": "y"}, {"axis": "z"}, {"camera": (1, 2, 0.5)}])
def test_the_total_of_a_map_is_the_integral(path, view):
    ds = octavo.open(path)
    expected = ds.stats(["head", "wild", "number"])["fields"]
    for field in ("head", "wild", "number"):
        picture = ds.map(field, pixels=40, **view)
        left, right, low, high = picture.extent
        area = (right - left) * (high - low) / picture.values.size
        assert np.nansum(picture.values) * area == pytest.approx(expected[field]["integral"], rel=1e-12)


def test_means_and_extremes_of_maps(path):
    ds = octavo.open(path)
    mean = ds.map("head", kind="mean", pixels=30)
    x, y = pixels(mean)
    assert np.allclose(mean.values, head(x, y, 0.5), rtol=0, atol=1e-12)
    most = ds.map("head", kind="max", pixels=30)
    assert np.allclose(most.values, head(x + 0.05, y + 0.05, 0), rtol=0, atol=1e-12)
    weighted = ds.map("head", weight="wild", pixels=3)
    assert np.abs(weighted.values - head(*pixels(weighted), 0.5)).max() < 0.5


@pytest.mark.parametrize("normal", ["x", "y", "z", (1, 1, 1), (-1, 0.3, 2)])
def test_a_slice_shows_the_linear_function(path, normal):
    picture = octavo.open(path).slice("head", normal=normal, at=(0.5, 0.3, 0.2), pixels=50)
    facts = picture.facts
    x, y = pixels(picture)
    axes = [np.array(facts[name]) for name in ("right", "up", "towards")]
    depth = axes[2] @ (np.array([0.5, 0.3, 0.2]) * 3)
    places = [axes[0][a] * x + axes[1][a] * y + axes[2][a] * depth for a in range(3)]
    inside = np.all([(at > 1e-9) & (at < SIZE[a] - 1e-9) for a, at in enumerate(places)], axis=0)
    assert inside.sum() > 300
    assert np.allclose(picture.values[inside], head(*places)[inside], rtol=0, atol=1e-11)
    beyond = np.any([(at < -1e-9) | (at > SIZE[a] + 1e-9) for a, at in enumerate(places)], axis=0)
    assert np.isnan(picture.values[beyond]).all()


def test_a_line_has_exact_chords(run, path, tmp_path):
    line = octavo.open(path).line(["head", "number"], (0, 0, 0), (1, 2 / 3, 1 / 3))
    assert np.array_equal(line.entry[1:], line.exit[:-1])
    length = np.linalg.norm(SIZE)
    assert (line.entry[0], line.exit[-1]) == (0, pytest.approx(length, rel=1e-14))
    middle = (line.entry + line.exit) / 2 / length
    assert np.allclose(line["head"], head(*(SIZE[:, None] * middle)), rtol=0, atol=1e-12)
    assert line.integral("head") == pytest.approx(length * head(*(SIZE / 2)), rel=1e-13)
    run("line", path, "--field", "head,number", "--from", "0,0,0", "--to", "1,0.6666666666666666,0.3333333333333333",
        "-o", tmp_path / "l.csv")  # fmt: skip
    rows = np.genfromtxt(tmp_path / "l.csv", delimiter=",", names=True)
    assert np.array_equal(rows["entry"], line.entry) and np.array_equal(rows["number"], line["number"])


def test_a_surface_is_closed_and_lies_where_the_value_is(path, tmp_path):
    ds = octavo.open(path)
    plane = ds.contour("head", 4.0)
    assert np.allclose(head(*plane.points.T), 4, rtol=0, atol=1e-12) and not plane.closed
    mesh = moved("tetrahedra", (12, 8, 6))
    mesh.at_points = {"distance": np.linalg.norm(mesh.points - SIZE / 2, axis=1)}
    ball = octavo.open(write_vtkhdf(tmp_path / "ball.vtkhdf", mesh)).contour("distance", 0.4)
    assert ball.closed and ball.volume == pytest.approx(-4 / 3 * np.pi * 0.4**3, rel=0.25)


def test_regions_take_cells_by_their_centre_and_maps_cut_a_box(mixed):
    ds = octavo.open(mixed)
    part = ds.part(0)
    chosen = ds.box((0, 0, 0), (0.5, 2 / 3, 1 / 3))
    half = moved("mixed").centres()[:, 0] < 1.5
    assert chosen.sum("number") == part.fields["number"][half].sum() and 0 < half.sum() < len(half)
    picture = chosen.map("head", pixels=20)
    left, right, low, high = picture.extent
    assert (left, right, low, high) == (0, 1.5, 0, 2)
    total = np.nansum(picture.values) * 1.5 * 2 / picture.values.size
    assert total == pytest.approx(3 * head(0.75, 1, 0.5), rel=1e-12)
    line = chosen.line("head", (0, 0.1, 0.1), (1, 0.1, 0.1))
    assert line.exit[-1] == pytest.approx(1.5, rel=1e-14)


def test_a_box_clips_statistics_exactly(path):
    """As it clips maps: values at points by the linear function, cells by their share."""
    low, high = (0.11, 0.12, 0.05), (0.64, 0.5, 0.3)
    part = octavo.open(path).box(low, high)
    size, centre = 3 * np.subtract(high, low), 3 * np.add(low, high) / 2
    found = part.stats(edge="clip")["fields"]
    assert found["head"]["integral"] == pytest.approx(head(*centre) * size.prod(), rel=1e-12)
    assert found["head"]["volume_mean"] == pytest.approx(head(*centre), rel=1e-12)
    for name in ("wild", "number"):
        image = part.map(name, axis="y", pixels=40)
        left, right, below, above = image.extent
        area = (right - left) * (above - below) / image.values.size
        assert found[name]["integral"] == pytest.approx(np.nansum(image.values) * area, rel=1e-10)
    whole = octavo.open(path).stats(["number"])["fields"]["number"]
    assert found["number"]["leaves"] < whole["leaves"] and found["number"]["sum"] < whole["sum"]
    everything = octavo.open(path).box((0, 0, 0), (1, 2 / 3, 1 / 3)).stats(["number"], edge="clip")["fields"]["number"]
    assert everything["mean"] == pytest.approx(whole["mean"], rel=1e-12)
    assert everything["integral"] == pytest.approx(whole["integral"], rel=1e-12)


def test_conditions_and_formulas(mixed):
    ds = octavo.open(mixed)
    part = ds.part(0)
    high = ds.where("head > 4").stats(["head"])
    assert high["leaves"] == (part.fields["head"] > 4).sum() and high["fields"]["head"]["min"] > 4
    assert ds.stats(["2*head - z"])["fields"]["2*head - z"]["integral"] == pytest.approx(
        6 * (2 * head(*(SIZE / 2)) - 0.5), rel=1e-12
    )
    assert ds.stats(["number**2"])["fields"]["number**2"]["max"] == (len(part.corners) - 1) ** 2


def test_histograms_weigh_with_volume(mixed):
    ds = octavo.open(mixed)
    assert ds.hist("head", bins=10).weights.sum() == pytest.approx(6, rel=1e-12)
    assert ds.hist("number", bins=10).weights.sum() == pytest.approx(6, rel=1e-12)
    profile = ds.profile("head", axis="height", bins=4)
    assert len(profile["head"]) == 4


def test_tables_have_the_points_or_the_cells_of_a_selection(run, mixed, tmp_path):
    mesh, ds = moved("mixed"), octavo.open(mixed)
    for field, kind, places in (("head", "points", mesh.points), ("number", "cells", None)):
        table = ds.arrays([field])
        assert list(table) == [field, "x", "y", "z", "volume"]
        assert table["volume"].sum() == pytest.approx(6, rel=1e-13)
        expected = ds.stats([field])["fields"][field]["integral"]
        assert (table[field] * table["volume"]).sum() == pytest.approx(expected, rel=1e-12)
        if places is not None:
            assert np.array_equal(np.stack([table[axis] for axis in "xyz"], axis=1), places)
        for name, words in (("a.csv", ["--field", field]), ("b.npz", ["--as", kind]), ("c.npz", ["--field", field])):
            run("export", mixed, tmp_path / name, *words, "-q")
        assert list(np.load(tmp_path / "c.npz")) == list(table)
        csv = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
        assert csv.dtype.names == tuple(table) and all(np.array_equal(csv[name], table[name]) for name in table)
        npz = np.load(tmp_path / "b.npz")
        assert set(table) <= set(npz) and all(np.array_equal(npz[name], table[name]) for name in table)
        for path in tmp_path.glob("[abc].*"):
            path.unlink()
    assert np.array_equal(ds.arrays()["wild"], mesh.at_points["wild"])  # values at points, where there are any
    chosen = ds.box((0.2, 0.1, 0), (0.8, 0.6, 0.3)).where("number > 20")
    table = chosen.arrays("number")
    assert len(table["x"]) == chosen.stats(["number"])["leaves"] > 0
    assert table["number"].min() > 20 and table["x"].min() >= 0.6 and table["z"].max() <= 0.9
    with pytest.raises(octavo.Unsupported, match="values at points have no place in a table of cells"):
        ds.export(tmp_path / "c.csv", as_="cells", fields="head")
    with pytest.raises(octavo.Unsupported, match="no place in a table of"):
        ds.arrays(["head", "number"])
    with pytest.raises(octavo.UsageError, match="no point is selected"):
        ds.where("head > 99").export(tmp_path / "c.csv")
    assert not list(tmp_path.glob("c.*"))
    assert run("export", mixed, tmp_path / "d.vtkhdf").returncode == 0
    assert np.array_equal(octavo.open(tmp_path / "d.vtkhdf").part(0).fields["head"], mesh.at_points["head"])


def test_places_stand_with_the_values_beside_them(run_json, mixed):
    """x, y, z in a condition, an axis or a formula are those of the cells' centroids where values stand in cells."""
    ds = octavo.open(mixed)
    table = ds.arrays("number")
    z, volume, number = table["z"], table["volume"], table["number"]
    profile = ds.profile("number", axis="z", bins=3, range=(0, 1))
    for i in range(3):
        here = (z >= i / 3) & (z < (i + 1) / 3)
        assert profile["number"][i] == pytest.approx((number * volume)[here].sum() / volume[here].sum(), rel=1e-12)
    assert run_json("profile", mixed, "--field", "number", "--axis", "z", "--range", "0,1")["cells"]
    assert ds.phase("x", "number", bins=4).cells.sum() == len(z)
    assert ds.sum("number*z", weight="volume") == pytest.approx((number * z * volume).sum(), rel=1e-12)
    above = ds.where("z > 0.5")
    assert above.stats(["number"])["fields"]["number"]["integral"] == pytest.approx((number * volume)[z > 0.5].sum())
    both = above.stats()["fields"]
    points = ds.arrays("head")
    assert both["head"]["sum"] == pytest.approx(points["head"][points["z"] > 0.5].sum())
    assert both["number"]["sum"] == pytest.approx(number[z > 0.5].sum())
    assert ds.stats(["z"])["fields"]["z"]["max"] == 1  # alone, at points


def test_values_at_places_over_time(run, tmp_path):
    mesh = moved("mixed")
    mesh.at_points = {"head": np.array([head(*mesh.points.T) + 3 * step for step in range(2)])}
    mesh.in_cells = {"number": np.array([mesh.in_cells["number"]] * 2)}
    path = write_vtkhdf(tmp_path / "box.vtkhdf", mesh, [0.0, 0.5])
    places = [(0.1, 0.2, 0.3), (2.9, 1.9, 0.9), (1.5, 1.0, 0.5), (4.0, 1.0, 0.5)]
    found = octavo.probe(path, places)
    assert found["inside"] == [True, True, True, False] and found["fields"] == ["head", "number"]
    for place, values in zip(places[:3], found["values"], strict=False):
        assert np.allclose(values[0], [head(*place), head(*place) + 3], rtol=0, atol=1e-12)
    assert found["values"][0, 1, 0] == 0 and np.isnan(found["values"][3]).all()
    text = run("probe", path, "--at", "0.1,0.2,0.3", "--field", "head", "--csv").stdout
    assert text.splitlines()[0] == "time,head"
    done = run("probe", path, "--at", "0.1,0.2", check=False)
    assert done.returncode == 2 and "three numbers" in done.stderr


def test_the_command_draws_what_python_does(run, mixed, tmp_path):
    ds = octavo.open(mixed)
    for verb, picture in (("map", ds.map("wild", pixels=32)), ("slice", ds.slice("wild", pixels=32))):
        run(verb, mixed, "--field", "wild", "--pixels", "32", "-o", tmp_path / f"{verb}.npy")
        assert np.array_equal(np.load(tmp_path / f"{verb}.npy"), picture.values, equal_nan=True)
    run("contour", mixed, "--field", "head", "--at", "4", "-o", tmp_path / "c.ply")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["map", "--field", "head", "--blur", "0.5"], "smoothed"),
        (["map", "--field", "head", "--mask", "wild>0.5"], "mask"),
        (["contour", "--field", "number", "--at", "3", "-o", "a.ply"], "at points"),
        (["clumps", "--field", "head", "--above", "3"], "solids"),
        (["stats", "--roi", "sphere:0.5,0.3,0.2:0.2", "--edge", "clip"], "a single box"),
    ],
)
def test_what_is_not_there_is_refused(run, mixed, words, said):
    done = run(words[0], mixed, *words[1:], check=False, cwd=mixed.parent)
    assert done.returncode == 4 and said in done.stderr, done.stderr


def test_numbers_may_begin_with_a_minus(run, mixed, tmp_path):
    run("slice", mixed, "--field", "head", "--normal", "-1,0,0", "-o", tmp_path / "a.npy", "-q")
    run("slice", mixed, "--field", "head", "--normal=-1,0,0", "-o", tmp_path / "b.npy", "-q")
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"), equal_nan=True)
    outside = run("probe", mixed, "--at", "-8,-.5,-1e-3", "--field", "head", check=False)
    assert "expected one argument" not in outside.stderr


def test_a_mesh_without_levels_is_told_so(run, mixed, tmp_path):
    for words in (
        ["stats"],
        ["map", "--field", "head", "-o", tmp_path / "a.npy"],
        ["slice", "--field", "head", "-o", tmp_path / "b.npy"],
    ):
        done = run(words[0], mixed, *words[1:], "--level", 2, check=False)
        assert done.returncode == 2 and "no levels" in done.stderr
    with pytest.raises(octavo.UsageError, match="no levels"):
        octavo.open(mixed).level(2).map("head")


def test_diff_counts_points(run, mixed, tmp_path):
    other = moved("mixed")
    other.at_points["head"][5] += 1
    done = run("diff", mixed, write_vtkhdf(tmp_path / "other.vtkhdf", other), check=False)
    assert done.returncode == 1 and f"{len(other.points)} common points" in done.stdout
    assert "different: 1 of 1 step compared" in done.stdout and run("diff", mixed, mixed).stdout == "equal: 1 step\n"


@pytest.mark.parametrize("name", ["box.med", "box.nc", "box.xdmf"])
def test_numbers_of_materials_become_reals(run, mixed, tmp_path, name):
    mesh = moved("mixed")
    mesh.in_cells = {"material": np.arange(len(mesh.cells), dtype=np.int64)}
    source = write_vtkhdf(tmp_path / "integers.vtkhdf", mesh)
    run("convert", source, tmp_path / name, "-q")
    assert sorted(octavo.open(tmp_path / name).part(0).fields["material"]) == sorted(mesh.in_cells["material"])
    mesh.in_cells["material"][3] = 2**53 + 1
    run("convert", write_vtkhdf(tmp_path / "large.vtkhdf", mesh), tmp_path / "exact.vtkhdf", "-q")
    done = run("convert", tmp_path / "large.vtkhdf", tmp_path / f"large_{name}", "-q", check=False)
    assert done.returncode == 4 and "material" in done.stderr and not (tmp_path / f"large_{name}").exists()
