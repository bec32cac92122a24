"""Slices and lines: compared with NumPy on the leaves as `arrays` gives them, through another walk of the tree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import OCTAVO, peak_of

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def leaf_at(cells, points):
    """The number of the leaf that holds each point, -1 where none does: the lower sides belong to a leaf."""
    found = np.full(len(points), -1)
    for level in np.unique(cells["level"]):
        chosen = np.flatnonzero(cells["level"] == level)
        size = cells["dx"][chosen[0]]
        places = {
            tuple(at): i
            for at, i in zip(
                np.floor(np.stack([cells[a][chosen] for a in "xyz"], axis=1) / size).astype(int).tolist(),
                chosen,
                strict=True,
            )
        }
        for p, at in enumerate(np.floor(points / size).astype(int).tolist()):
            found[p] = places.get(tuple(at), found[p])
    return found


@pytest.mark.parametrize(
    "normal, at, choose",
    [
        ("x", (0.3, 0.5, 0.5), lambda ds: ds),
        ("y", "center", lambda ds: ds.level(5)),
        ((1, 1, 1), "max:density", lambda ds: ds),
        ((-1, 0.2, 0.4), (0.4, 0.45, 0.7), lambda ds: ds.box((0.2, 0.3, 0.4), (0.9, 0.6, 1.0))),
    ],
)
def test_each_pixel_of_a_slice_is_the_leaf_at_its_centre(sample, normal, at, choose):
    ds = choose(octavo.open(sample))
    picture = ds.slice("density", normal=normal, at=at, pixels=48)
    x0, x1, y0, y1 = picture.extent
    ny, nx = picture.values.shape
    right, up, towards = (np.array(picture.facts[name]) for name in ("right", "up", "towards"))
    u, v = np.meshgrid(x0 + (np.arange(nx) + 0.5) * (x1 - x0) / nx, y0 + (np.arange(ny) + 0.5) * (y1 - y0) / ny)
    points = u[..., None] * right + v[..., None] * up + picture.facts["depth"][0] * towards
    if not isinstance(at, str):
        assert np.isclose(np.dot(at, towards), picture.facts["depth"][0], rtol=1e-14)
    lo, hi = (np.array([0.2, 0.3, 0.4]), np.array([0.9, 0.6, 1.0])) if ds.region else (np.zeros(3), np.ones(3))
    inside = ((points > lo) & (points < hi)).all(axis=-1)
    whole = octavo.open(sample) if ds.max_level is None else octavo.open(sample).level(ds.max_level)
    cells = whole.arrays("density")
    expected = cells["density"][leaf_at(cells, points[inside])]
    assert inside.sum() > 400
    assert np.array_equal(picture.values[inside], expected)
    assert np.isnan(picture.values[~inside]).all()


def test_slices_of_a_store_and_of_its_source_are_the_same(sample, tmp_path):
    octavo.convert(sample, tmp_path / "run.octavo")
    for normal in ("z", (1, -2, 0.5)):
        first, second = (
            octavo.open(path).slice("pressure", normal=normal, pixels=64).values
            for path in (sample, tmp_path / "run.octavo")
        )
        assert np.array_equal(first, second, equal_nan=True)


def test_a_line_lists_the_leaves_on_it(sample):
    ds = octavo.open(sample)
    line = ds.line(["density", "pressure"], (0.05, 0.1, 0.2), (0.93, 0.71, 0.88))
    assert line.entry[0] == 0 and np.array_equal(line.entry[1:], line.exit[:-1])
    assert np.isclose((line.exit - line.entry).sum(), line.length, rtol=1e-14)
    course = (np.array(line.end) - line.start) / line.length
    middles = np.array(line.start) + ((line.entry + line.exit) / 2)[:, None] * course
    cells = ds.arrays(["density", "pressure"])
    leaf = leaf_at(cells, middles)
    assert np.array_equal(line["density"], cells["density"][leaf])
    assert np.array_equal(line["pressure"], cells["pressure"][leaf])
    assert np.array_equal(line.level, cells["level"][leaf])
    assert len(np.unique(leaf)) == len(line)


def test_a_line_of_a_linear_field_integrates_exactly_along_an_axis(sample):
    """Field x is the middle of each cell, so its integral along x is that of x itself."""
    line = octavo.open(sample).line("x", (0, 0.3, 0.4), (1, 0.3, 0.4))
    assert np.isclose(line.integral("x"), 0.5, rtol=1e-14)


def test_a_camera_along_an_axis_is_the_map_or_its_mirror_image(sample):
    ds = octavo.open(sample)
    for axis, camera in (("x", (2, 0, 0)), ("y", (0, -1, 0)), ("z", (0, 0, 0.1))):
        plain, seen = ds.map("density", axis=axis, pixels=100), ds.map("density", camera=camera, pixels=100)
        assert np.array_equal(plain.values, seen.values) and plain.extent == seen.extent and plain.axes == seen.axes
        behind = ds.map("density", camera=[-c for c in camera], pixels=100)
        assert np.array_equal(plain.values[:, ::-1], behind.values) and behind.extent[:2] == (-1, 0)


@pytest.mark.parametrize("camera", [(1, 1, 1), (1, -1, 0), (0.3, -0.2, -0.9)])
def test_a_camera_sees_lines_and_keeps_the_total(sample, camera):
    ds = octavo.open(sample).box((0.1, 0.2, 0.3), (0.7, 0.9, 0.8))
    picture = ds.map("density", camera=camera, pixels=160)
    x0, x1, y0, y1 = picture.extent
    ny, nx = picture.values.shape
    right, up, towards = (np.array(picture.facts[name]) for name in ("right", "up", "towards"))
    for x, y in ((80, ny // 2), (nx // 3, ny // 2), (nx // 2, ny // 3)):
        at = (x0 + (x + 0.5) * (x1 - x0) / nx) * right + (y0 + (y + 0.5) * (y1 - y0) / ny) * up
        line = ds.line("density", *(at + depth * towards for depth in picture.facts["depth"]))
        assert np.isclose(picture.values[y, x], line.integral("density"), rtol=1e-11)
    cells = octavo.open(sample).arrays("density")
    lo, hi = np.array((0.1, 0.2, 0.3)), np.array((0.7, 0.9, 0.8))
    overlap = [
        np.clip(np.minimum(cells[a] + cells["dx"] / 2, hi[i]) - np.maximum(cells[a] - cells["dx"] / 2, lo[i]), 0, None)
        for i, a in enumerate("xyz")
    ]
    assert np.isclose(picture.sum(), (cells["density"] * np.prod(overlap, axis=0)).sum(), rtol=2e-3)
    mean = ds.map("density", camera=camera, weight="density", pixels=40).values
    low, high = (ds.map("density", camera=camera, kind=kind, pixels=40).values for kind in ("min", "max"))
    seen = np.isfinite(mean)
    assert (low[seen] <= mean[seen] * (1 + 1e-12)).all() and (mean[seen] <= high[seen] * (1 + 1e-12)).all()


def test_a_camera_sees_across_a_periodic_side(sample):
    """A region across a side has the rays of its cells on both sides."""
    ds = octavo.open(sample)
    whole = ds.box((0.8, 0.2, 0.2), (1.2, 0.6, 0.6)).map("density", camera=(1, 2, 3), pixels=200).sum()
    halves = [((0.8, 0.2, 0.2), (1, 0.6, 0.6)), ((0, 0.2, 0.2), (0.2, 0.6, 0.6))]
    pieces = sum(ds.box(*half).map("density", camera=(1, 2, 3), pixels=200).sum() for half in halves)
    assert np.isclose(whole, pieces, rtol=2e-3)


def test_pictures_have_physical_axes_where_the_data_has_units():
    from octavo.pictures import picture

    facts = {"unit_length": 3.0856775814913673e21, "unit_time": 3.15576e13}
    image = picture.Picture(
        values=np.array([[1.0, 2.0], [3.0, -4.0]]), extent=(0, 2, 0, 2), axes=("x", "(0.707, 0, 0.707)"), label="v",
        unit="", time=2.5, facts=facts,
    )  # fmt: skip
    axes = image.plot(scale="log").axes[0]
    assert axes.get_xlabel() == "x [kpc]" and axes.get_ylabel() == "(0.707, 0, 0.707) [kpc]"
    assert axes.get_title(loc="left").endswith("t = 2.5 Myr")
    assert axes.images[0].norm.vmin == -4 and axes.images[0].norm.vmax == 4  # symmetric
    assert picture.length_unit(picture.Picture(**{**image.__dict__, "facts": {}})) == (1.0, "code length")
    with pytest.raises(octavo.UsageError, match="no scale"):
        image.plot(scale="cubic")


def test_the_command_writes_slices_and_lines(run, run_json, sample, tmp_path):
    facts = run_json(
        "slice", sample, "--field", "density", "--normal", "1,1,1", "--pixels", 40, "-o", tmp_path / "s.npy"
    )
    assert facts["kind"] == "slice" and facts["pixels"][0] == np.load(tmp_path / "s.npy").shape[1]
    assert facts["label"].startswith("density, slice across (0.577, 0.577, 0.577)")
    run("slice", sample, "--field", "density", "--at", "max:density", "--log", "-o", tmp_path / "s.png", "--pixels", 40)
    assert (tmp_path / "s.png").read_bytes()[:4] == b"\x89PNG"
    ends = ("--from", "0,0.5,0.5", "--to", "1,0.5,0.5")
    run("line", sample, "--field", "density,pressure", *ends, "-o", tmp_path / "l.csv")
    run("line", sample, "--field", "density,pressure", *ends, "-o", tmp_path / "l.npy")
    table = np.genfromtxt(tmp_path / "l.csv", delimiter=",", names=True)
    assert table.dtype.names == ("entry", "exit", "level", "density", "pressure")
    for name in table.dtype.names:
        assert np.array_equal(table[name], np.load(tmp_path / "l.npy")[name])
    line = run_json("line", sample, "--field", "density", *ends)
    assert line["fields"]["density"] == table["density"].tolist() and line["length"] == 1
    assert f"{len(table)} cells" in run("line", sample, "--field", "density", *ends).stdout


@pytest.mark.parametrize(
    "words, message",
    [
        (("slice", "--field", "densty"), "density"),
        (("slice", "--field", "density", "--normal", "0,0,0"), "no length"),
        (("slice", "--field", "density", "--at", "0.5,0.5,2"), "does not meet the domain"),
        (("slice", "--field", "density", "--roi", "box:0,0,0:0.1,0.1,0.1", "--at", "0.5,0.5,0.5"), "does not meet the region"),
        (("slice", "--field", "density", "--normal", "1,2"), "three numbers"),
        (("slice", "--field", "density", "--up", "0,0,1"), "along the line of sight"),
        (("map", "--field", "density", "--camera", "0,0,0"), "no length"),
        (("map", "--field", "density", "--camera", "1,0,0", "--up", "2,0,0"), "along the line of sight"),
        (("map", "--field", "density", "--up", "2,0,0"), "belongs to a camera"),
        (("line", "--field", "density", "--from", "0,0,0", "--to", "0,0,0"), "without length"),
        (("line", "--field", "density", "--from", "top", "--to", "0,0,0"), "no place \"top\""),
        (("line", "--field", "nothing", "--from", "0,0,0", "--to", "1,1,1"), "nothing"),
    ],
)  # fmt: skip
def test_wrong_use_is_told_and_draws_nothing(run, sample, tmp_path, words, message):
    verb, *rest = words
    output = ("-o", tmp_path / ("l.csv" if verb == "line" else "s.png"))
    done = run(verb, sample, *rest, *output, check=False)
    assert done.returncode == 2 and message in done.stderr
    assert not list(tmp_path.iterdir())


@needs_mpi
def test_ranks_write_the_same_slices_lines_and_camera_maps(run, sample, tmp_path):
    for ranks in (1, 3):
        picture = ("--field", "density", "--pixels", 50)
        run("slice", sample, *picture, "--normal", "1,2,3", "-o", tmp_path / f"s{ranks}.npy", ranks=ranks)
        run("map", sample, *picture, "--camera", "1,2,3", "-o", tmp_path / f"m{ranks}.npy", ranks=ranks)
        ends = ("--from", "0,0,0", "--to", "1,1,1")
        run("line", sample, "--field", "density", *ends, "-o", tmp_path / f"l{ranks}.csv", ranks=ranks)
    for kind in ("s{}.npy", "m{}.npy", "l{}.csv"):
        assert (tmp_path / kind.format(1)).read_bytes() == (tmp_path / kind.format(3)).read_bytes()


@pytest.mark.parametrize(
    "words, pixels", [(("slice", "--normal", "1,1,1"), 4000), (("map", "--camera", "1,1,1", "--level", "4"), 3000)]
)
def test_one_process_holds_the_image_and_little_more(sample, tmp_path, words, pixels):
    """The image and 200 MB, the interpreter included."""
    verb, *rest = words
    output = ("--pixels", str(pixels), "-j", "1", "-o", str(tmp_path / "image.npy"))
    code, text, peak = peak_of([verb, sample, "--field", "density", *rest, *output])
    image = np.load(tmp_path / "image.npy", mmap_mode="r")
    assert code == 0 and max(image.shape) == pixels, text
    assert peak < image.nbytes + 200e6


def test_a_condition_hides_cells_and_one_that_holds_nowhere_draws_nothing(run, sample, tmp_path):
    ds = octavo.open(sample)
    all_of, some = ds.slice("density").values, ds.where("density > 1").slice("density").values
    assert np.array_equal(np.isnan(some), ~(all_of > 1)) and np.array_equal(some[all_of > 1], all_of[all_of > 1])
    for ranks in (0, 3):
        output = tmp_path / f"{ranks}.png"
        done = run(
            "slice", sample, "--field", "density", "--where", "density > 1e30", "-o", output, check=False, ranks=ranks
        )
        assert done.returncode == 2 and "density > 1e30" in done.stderr and not output.exists()


REAL = [
    "ramses/sedov3d_4ranks/output_00002",
    "ramses/implosion2d_2ranks/output_00002",
    "amrex/multi3d_r4/plt00007",
    "amrex/adv2d_core_r4/plt00020",
    "flash/sedov3d_octant_par3",
    "flash/sedov2d_pm4_par4",
]


def edges_of(cells, axes):
    """The lengths of each leaf along the axes: the smallest distance between centres of its level."""
    edges = np.empty((len(cells["level"]), len(axes)))
    for level in np.unique(cells["level"]):
        chosen = cells["level"] == level
        for i, axis in enumerate(axes):
            places = np.unique(np.round(cells[axis][chosen] / cells["dx"][chosen][0], 6))
            edges[chosen, i] = np.min(np.diff(places), initial=1.0) * cells["dx"][chosen][0]
    return edges


def values_at(cells, centres, edges, field, points):
    """The value of the leaf around each point; NaN within 1e-7 of a side, or where there is none."""
    out = np.full(len(points), np.nan)
    for i, point in enumerate(points):
        gap = (edges / 2 - np.abs(centres - point)) / edges
        inside = np.flatnonzero((gap > 1e-7).all(axis=1))
        if len(inside):
            out[i] = cells[field][inside[0]]
    return out


@pytest.mark.parametrize("name", REAL)
def test_slices_and_lines_of_real_outputs_are_their_leaves(name, data):
    """Outputs of every format, in 2-D and 3-D."""
    path = data / name
    ds = octavo.open(path if name.startswith(("ramses", "amrex")) else sorted(path.glob("*_chk_*"))[-1])
    field = ds.fields[0]
    axes = "xyz"[: ds._data.dim]
    lo, hi = np.array(ds._data.lo), np.array(ds._data.hi)
    cells = ds.arrays([field])
    centres, edges = np.stack([cells[axis] for axis in axes], axis=1), edges_of(cells, axes)
    unit, compared = hi[0] - lo[0], 0
    for normal in ("z", "y", (1, 0.7, -0.4)) if len(axes) == 3 else ("z",):
        at = (0.37, 0.41, 0.43)[: len(axes)]
        picture = ds.slice(field, normal=normal, at=at, pixels=9)
        ny, nx = picture.values.shape
        x0, x1, y0, y1 = picture.extent
        right, up, towards = (np.array(picture.facts[key]) for key in ("right", "up", "towards"))
        u, v = np.meshgrid(x0 + (np.arange(nx) + 0.5) * (x1 - x0) / nx, y0 + (np.arange(ny) + 0.5) * (y1 - y0) / ny)
        points = u[..., None] * right + v[..., None] * up + picture.facts["depth"][0] * towards
        expected = values_at(cells, centres, edges, field, points.reshape(-1, 3)[:, : len(axes)]).reshape(ny, nx)
        sure = np.isfinite(expected)
        compared += sure.sum()
        assert np.array_equal(picture.values[sure], expected[sure])
    assert compared > 35 * (2 * len(axes) - 3)
    start, end = np.array((0.11, 0.23, 0.31))[: len(axes)], np.array((0.83, 0.67, 0.71))[: len(axes)]
    end = np.minimum(end, (hi - lo) / unit)
    line = ds.line(field, start, end)
    assert np.isclose((line.exit - line.entry).sum(), line.length, rtol=1e-12)
    middles = np.array(line.start) + ((line.entry + line.exit) / 2 / line.length)[:, None] * (
        np.array(line.end) - line.start
    )
    expected = values_at(cells, centres, edges, field, middles)
    sure = np.isfinite(expected)
    assert sure.sum() > 5 and np.array_equal(line[field][sure], expected[sure])


def test_json_of_a_line_is_valid(run, sample):
    text = run("line", sample, "--field", "density", "--from", "0,0.1,0.1", "--to", "0.2,0.1,0.1", "--json").stdout
    assert json.loads(text)["cells"] > 0


def test_outlines_are_where_the_level_changes(run, sample, tmp_path):
    """The outlines of a slice, against its levels pixel by pixel."""
    from matplotlib.figure import Figure
    from octavo.pictures.overlays import draw_levels

    ds = octavo.open(sample)
    picture = ds.slice("density", pixels=64, grid=True)
    levels = ds.slice("level", pixels=64).values
    assert (picture.overlays.levels == levels).all() and len(np.unique(levels)) > 1
    axes = Figure().add_subplot()
    draw_levels(axes, (0, 64, 0, 64), levels)
    drawn = set()
    for (x0, y0), (x1, y1) in (path.vertices for path in axes.collections[0].get_paths()):
        assert x0 == x1 or y0 == y1
        drawn |= {("|", x0, y) for y in np.arange(y0, y1)} if x0 == x1 else {("-", x, y0) for x in np.arange(x0, x1)}
    expected = {("|", x + 1, y) for y in range(64) for x in range(63) if levels[y, x] != levels[y, x + 1]}
    expected |= {("-", x, y + 1) for y in range(63) for x in range(64) if levels[y, x] != levels[y + 1, x]}
    assert drawn == expected


@pytest.mark.parametrize("normal", ["x", (1, 1, 1)])
def test_arrows_are_the_components_in_the_plane(sample, normal):
    ds = octavo.open(sample)
    picture = ds.slice("density", normal=normal, pixels=32, vectors="velocity")
    for side, name in enumerate(("right", "up")):
        parts = [
            weight * ds.slice(f"velocity_{axis}", normal=normal, pixels=24).values
            for axis, weight in zip("xyz", picture.facts[name], strict=True)
        ]
        np.testing.assert_allclose(picture.overlays.arrows[side], sum(parts), rtol=1e-12, atol=1e-12)


@pytest.mark.long
def test_what_is_drawn_over_a_picture_is_the_same_from_ranks(few, run, sample, tmp_path):
    for verb, more in few(("slice", ["--normal", "1,2,3"]), ("map", ["--axis", "x"]), ("map", ["--camera", "1,2,3"])):
        words = (verb, sample, "--field", "density", "--pixels", 48, "--grid", "--vectors", "velocity", *more)
        run(*words, "-o", tmp_path / "one.png", "-f")
        run(*words, "-o", tmp_path / "two.png", "-f", ranks=2)
        assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
        run(verb, sample, "--field", "density", "--pixels", 48, *more, "-o", tmp_path / "bare.png", "-f")
        assert (tmp_path / "one.png").read_bytes() != (tmp_path / "bare.png").read_bytes()


@pytest.mark.parametrize("width, length", [(1, 0.2), (3.9, 0.5), (4, 1), (79, 10)])
def test_a_scale_bar_has_a_round_length(sample, width, length):
    """As its line in the figure has it, within the window."""
    from octavo.pictures.picture import Picture, draw

    facts = {"unit_length": 1, "title": "t"}
    picture = Picture(np.ones((4, 8)), (1, 1 + width, 0, width / 2), ("x", "y"), "density", "", 0.0, facts)
    (axes, _) = draw(picture, scale_bar=True).axes
    (bar,) = (line for line in axes.lines if line.get_gid() == "scale bar")
    low, high = bar.get_xdata()
    assert high - low == pytest.approx(length) and low > 1 and high < 1 + width
    assert axes.get_xlim() == (1, 1 + width) and f"{length:g} code length" in [t.get_text() for t in axes.texts]
    assert not draw(picture).axes[0].lines


@pytest.mark.long
def test_verbs_draw_a_scale_bar(run, sample, tmp_path):
    words = ("slice", sample, "--field", "density", "--pixels", 32)
    run(*words, "-o", tmp_path / "bare.png")
    run(*words, "--scale-bar", "-o", tmp_path / "bar.png")
    assert (tmp_path / "bare.png").read_bytes() != (tmp_path / "bar.png").read_bytes()


@pytest.mark.long
def test_pictures_for_print(run, sample, tmp_path):
    for ending, head in ((".pdf", b"%PDF"), (".svg", b"<?xml")):
        run("slice", sample, "--field", "density", "--cmap", "magma", "-o", tmp_path / f"s{ending}")
        assert (tmp_path / f"s{ending}").read_bytes().startswith(head)
    done = run("map", sample, "--field", "density", "--cmap", "magm", "-o", tmp_path / "m.png", check=False)
    assert done.returncode == 2 and "no colours 'magm'" in done.stderr and "magma" in done.stderr
    done = run("map", sample, "--field", "density", "--vectors", "wind", "-o", tmp_path / "m.png", check=False)
    assert done.returncode == 2 and "wind_x" in done.stderr
    assert not (tmp_path / "m.png").exists()


@pytest.mark.parametrize(
    "words", [["map"], ["map", "--camera", "1,1,1"], ["slice"], ["map", "--particles", "particles"]]
)
def test_an_array_is_written_without_importing_numpy(sample, tmp_path, words):
    """The import would cost as much as a map of millions of cells."""
    verb, *more = words
    field = [] if "--particles" in more else ["--field", "density"]
    command = [sys.executable, "-X", "importtime", OCTAVO, verb, sample, *field, *more, "--pixels", "64", "-q"]
    for ending, imported in (("npy", "--particles" in more), ("png", True)):
        done = subprocess.run([*command, "-o", tmp_path / f"m.{ending}"], capture_output=True, text=True, check=True)
        found = re.sub(r"\| +", "| ", done.stderr)
        assert ("| numpy\n" in found) == imported
        if not imported:  # a third of what is left
            needless = ("ctypes", "dataclasses", "inspect", "json", "textwrap")
            assert [name for name in needless if f"| {name}\n" in found] == []


def test_a_slice_of_2d_data_is_named_by_its_field(data):
    ds = octavo.open(data / "ramses" / "implosion2d_2ranks" / "output_00002")
    assert ds.slice("density", pixels=16).label == "density" == ds.map("density", pixels=16).label


def test_the_label_of_a_bar_is_not_longer_than_the_bar(sample):
    """A flat picture has a short bar: its label takes two lines, or the field alone, and the title has the rest."""
    ds = octavo.open(sample)
    for roi, lines in (("box:0,0,0:1,1,1", 1), ("box:0,0.4,0:1,0.6,1", 2)):
        figure = ds.inside(roi).map("pressure", pixels=64).plot()
        figure.draw_without_rendering()
        bar = figure.axes[1]
        assert len(bar.get_ylabel().splitlines()) == lines and "pressure" in bar.get_ylabel()
        label, height = bar.yaxis.label.get_window_extent().height, bar.get_window_extent().height
        assert label <= 1.1 * height, (label, height)
        assert "pressure, integral along z" in figure.axes[0].get_title(loc="left")


def test_lengths_of_a_line_are_in_words_where_code_units_are(run, data, tmp_path):
    """Maps say cm for FLASH, whose units are cgs, and m for TELEMAC; a line says so, too."""
    small = ("--levels", "4-4", "-q")
    run("sample", tmp_path / "flash", "--to", "flash", *small)
    run("sample", tmp_path / "amrex", "--to", "amrex", *small)
    ends = ("--from", "0,0.5,0.5", "--to", "1,0.5,0.5")
    for name, unit in (("flash", "cm"), ("amrex", "code length")):
        field = octavo.open(tmp_path / name).fields[0]
        assert f"[{unit}]" in run("line", tmp_path / name, "--field", field, *ends).stdout
    basin = octavo.open(data / "serafin" / "r2d_malpasset-small_5steps.slf")
    transect = basin.line(basin.fields[0], (0.1, 0.1), (0.9, 0.9))
    assert transect.length_unit == "m"
    assert transect.draw().axes[0].get_xlabel() == "distance [m]"
