"""Regions of all shapes, joined: against NumPy over all leaves, in every verb that takes one."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from conftest import mostly_long, open_as
from test_geometry import leaves_by_hand

import octavo


def images(x, centre, extent, periodic, reach):
    """Displacements of points from every image of a centre that is near."""
    counts = [range(-int(np.ceil(reach / e)) - 1, int(np.ceil(reach / e)) + 2) if p else [0] for e, p in zip(extent, periodic, strict=True)]  # fmt: skip
    for move in itertools.product(*counts):
        yield x - np.asarray(centre) + np.array(move) * extent


class Judge:
    """The definitions of docs/regions.md on arrays of points."""

    def __init__(self, ds):
        lo, hi = np.array(ds._data.lo), np.array(ds._data.hi)
        self.dim, self.extent, self.periodic = ds._data.dim, (hi - lo) / (hi[0] - lo[0]), ds._data.periodic

    def any_image(self, x, centre, reach, holds):
        return np.any([holds(d) for d in images(x, centre, self.extent, self.periodic, reach)], axis=0)

    def box(self, x, lo, hi):
        size = max(np.abs([*lo, *hi]))
        return self.any_image(x, [0] * self.dim, size, lambda d: ((d >= lo) & (d < hi)).all(1))

    def sphere(self, x, centre, radius):
        return self.any_image(x, centre, radius, lambda d: (d**2).sum(1) < radius**2)

    def cylinder(self, x, centre, axis, radius, height):
        axis = np.array(axis[: self.dim], float) / np.linalg.norm(axis)

        def holds(d):
            along = d @ axis
            return (np.abs(along) < height / 2) & ((d**2).sum(1) - along**2 < radius**2)

        return self.any_image(x, centre, radius + height, holds)

    def sector(self, x, centre, radius, axis, angle):
        axis = np.array(axis, float) / np.linalg.norm(axis)

        def holds(d):
            length = np.linalg.norm(d, axis=1)
            return (length < radius) & (d @ axis > np.cos(np.radians(angle)) * length)

        return self.any_image(x, centre, radius, holds)

    def halfspace(self, x, point, normal):
        d = x - np.asarray(point)
        for axis in range(self.dim):
            if self.periodic[axis]:
                d[:, axis] -= np.round(d[:, axis] / self.extent[axis]) * self.extent[axis]
        return d @ np.array(normal, float) > 0


CASES = {
    "cylinder": (lambda s, c, a: s.cylinder(c, a, 0.17, 0.7), lambda j, x, c, a: j.cylinder(x, c, a, 0.17, 0.7)),
    "shell": (lambda s, c, a: s.shell(c, 0.1, 0.3), lambda j, x, c, a: j.sphere(x, c, 0.3) & ~j.sphere(x, c, 0.1)),
    "narrow sector": (lambda s, c, a: s.sector(c, 0.45, a, 35), lambda j, x, c, a: j.sector(x, c, 0.45, a, 35)),
    "wide sector": (lambda s, c, a: s.sector(c, 0.4, a, 130), lambda j, x, c, a: j.sector(x, c, 0.4, a, 130)),
    "halfspace": (lambda s, c, a: s.halfspace(c, a), lambda j, x, c, a: j.halfspace(x, c, a)),
    "without": (lambda s, c, a: s.sphere(c, 0.3) - s.cylinder(c, a, 0.1, 2),
                lambda j, x, c, a: j.sphere(x, c, 0.3) & ~j.cylinder(x, c, a, 0.1, 2)),
    "half a sphere": (lambda s, c, a: s.sphere(c, 0.3) & s.halfspace(c, a),
                      lambda j, x, c, a: j.sphere(x, c, 0.3) & j.halfspace(x, c, a)),
    "either": (lambda s, c, a: s.sphere(c, 0.2) | s.box([0] * len(c), [0.3] * len(c)),
               lambda j, x, c, a: j.sphere(x, c, 0.2) | j.box(x, [0] * len(c), [0.3] * len(c))),
    "all but": (lambda s, c, a: s - s.sphere(c, 0.3), lambda j, x, c, a: ~j.sphere(x, c, 0.3)),
    "chained": (lambda s, c, a: s.halfspace(c, a).sphere(c, 0.35) - (s.sphere(c, 0.1) | s.sector(c, 0.2, a, 20)),
                lambda j, x, c, a: j.halfspace(x, c, a) & j.sphere(x, c, 0.35) & ~(j.sphere(x, c, 0.1) | j.sector(x, c, 0.2, a, 20))),
}  # fmt: skip


@pytest.fixture(scope="module", params=["ramses 2-D", "ramses", "store", "flash", "amrex", "real flash"])
def ds(request, run, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("regions")
    if request.param == "real flash":
        return octavo.open(data / "flash" / "sedov3d_octant_par3" / "sedov3do_hdf5_chk_0001")
    output = folder / "output_00001"
    dim = 2 if request.param == "ramses 2-D" else 3
    run("sample", output, "--dim", dim, "--levels", "3-5", "--domains", 12, "--particles", 300, "-q")
    return open_as(request.param, run, output)


@pytest.fixture(scope="module")
def leaves(ds):
    """Centres in fractions, volumes, and the part of each leaf."""
    hand = leaves_by_hand(ds)
    dim, lo, hi = ds._data.dim, np.array(ds._data.lo), np.array(ds._data.hi)
    return (hand[:, :dim] - lo) / (hi[0] - lo[0]), hand[:, dim + 1]


def centre_and_axis(ds, number):
    """A centre near a corner, so that shapes reach over the sides, and an oblique axis or one of the domain's."""
    dim = ds._data.dim
    return [0.08, 0.9, 0.47][:dim], [[0.6, 0, 0.8], [0, 1, 0], [-0.48, 0.6, -0.64]][number % 3][:dim]


@pytest.mark.parametrize("name", CASES)
def test_a_region_is_the_filter_of_all_leaves(ds, leaves, name):
    choose, judge = CASES[name]
    x, volume = leaves
    centre, axis = centre_and_axis(ds, len(name))
    inside = judge(Judge(ds), x, centre, axis)
    chosen = choose(ds, centre, axis)
    assert inside.sum() < len(inside) and (inside.any() or not any(ds._data.periodic))
    stats = chosen.stats(["cell_volume"], particles=False)
    assert stats["leaves"] == inside.sum()
    assert np.isclose(chosen.sum("cell_volume"), volume[inside].sum(), rtol=1e-12)
    assert (
        octavo.dataset.Selection(ds._data, region=stats["selection"]).stats(["cell_volume"])["leaves"] == inside.sum()
    )
    if not inside.any():
        return
    # The same bits for any number of threads.
    one, three = (chosen.stats(["cell_volume"], threads=threads, particles=False) for threads in (1, 3))
    assert one == three
    hist = chosen.hist("level", range=(0, 20), bins=4)
    assert hist.cells.sum() == inside.sum()


@pytest.mark.parametrize("name", mostly_long(*CASES, short=["cylinder", "narrow sector", "without", "all but"]))
def test_it_opens_only_the_parts_that_it_may_meet(ds, name):
    """Every part is read with a leaf that the region reaches into, and hardly another."""
    choose, judge = CASES[name]
    centre, axis = centre_and_axis(ds, len(name))
    dim, lo, hi = ds._data.dim, np.array(ds._data.lo), np.array(ds._data.hi)
    inner = np.array(list(itertools.product((np.arange(2) + 0.5) / 2 - 0.5, repeat=dim)))
    meeting = []
    for part in range(ds._data.num_parts):
        cells = octavo._core.cells(
            ds._data, part, fields=[], region=None, max_level=None, where=None, definitions=[]
        )  # fmt: skip
        places = np.stack([cells[a] for a in "xyz"[:dim]], axis=1)[:, None] + inner * cells["dx"][:, None, None]
        if judge(Judge(ds), ((places - lo) / (hi[0] - lo[0])).reshape(-1, dim), centre, axis).any():
            meeting.append(part)
    parts = choose(ds, centre, axis).parts
    assert set(meeting) <= set(parts)
    assert len(parts) <= len(meeting) + 1 + ds._data.num_parts // 3


def test_maps_show_the_cells_whose_centre_is_inside(ds):
    """The domain's frame clips nothing, so the sum over the pixels is the integral."""
    centre, _ = centre_and_axis(ds, 1)
    for chosen in (ds - ds.sphere(centre, 0.3), ds.halfspace(centre, [0.8, 0.6, 0][: ds._data.dim])):
        picture = chosen.map("level", pixels=32)
        assert np.isclose(picture.sum(), chosen.sum("level", weight="volume"), rtol=1e-12)
    if ds._data.dim == 3:
        axis_map, camera = (chosen.map("level", pixels=64, **how) for how in ({"axis": "z"}, {"camera": (0, 0, 1)}))
        assert np.allclose(axis_map.values, camera.values, equal_nan=True)


def test_slices_and_lines_are_clipped_at_the_surface(ds):
    if ds._data.dim == 2:
        pytest.skip("3-D")
    judge = Judge(ds)
    centre = [0.3, 0.4, 0.5]
    chosen = ds.sphere(centre, 0.25) - ds.cylinder(centre, (1, 1, 0), 0.1, 2)
    picture = chosen.slice("level", at=centre, pixels=40)
    lo, hi = np.array(ds._data.lo), np.array(ds._data.hi)
    u, v = ((np.arange(n) + 0.5) / n for n in picture.values.shape[::-1])
    assert picture.values.shape == (40, 40)
    x = np.stack([*np.meshgrid(0.05 + 0.5 * u, 0.15 + 0.5 * v), np.full((40, 40), 0.5)], axis=-1).reshape(-1, 3)
    inside = judge.sphere(x, centre, 0.25) & ~judge.cylinder(x, centre, (1, 1, 0), 0.1, 2)
    assert np.array_equal(~np.isnan(picture.values).ravel(), inside)
    line = chosen.line("level", (0.3, 0, 0.5), (0.3, 0.99, 0.5))
    assert np.isclose((line.exit - line.entry).sum(), 2 * (0.25 - 0.1 * np.sqrt(2)) * (hi[0] - lo[0]), rtol=1e-12)


def test_particles_and_converted_stores_are_those_of_the_region(ds, run, tmp_path, leaves):
    centre, axis = centre_and_axis(ds, 1)
    chosen = ds.cylinder(centre, axis, 0.2, 0.6) | ds.sphere(centre, 0.1)
    x, _ = leaves
    judge = Judge(ds)

    def inside(places):
        return judge.cylinder(places, centre, axis, 0.2, 0.6) | judge.sphere(places, centre, 0.1)

    everything = ds.particles()
    if everything:
        lo, hi = np.array(ds._data.lo), np.array(ds._data.hi)
        places = np.stack([everything[f"position_{a}"] for a in "xyz"[: ds._data.dim]], axis=1)
        assert len(chosen.particles()["position_x"]) == inside((places - lo) / (hi[0] - lo[0])).sum()
    run("convert", ds.path, tmp_path / "part.octavo", "--roi", chosen.region, "-q")
    part = octavo.open(tmp_path / "part.octavo")
    again = part.inside(chosen.region)
    assert again.stats(["cell_volume"])["fields"] == chosen.stats(["cell_volume"])["fields"]
    assert inside(x).sum() == again.stats(["cell_volume"])["leaves"]


def test_ranks_and_the_command_give_the_same_bits(few, ds, run):
    region = "sphere:center:0.3 - cylinder:center:y:0.1:1 | halfspace:center:x"
    one = run("stats", ds.path, "--roi", region, "--json").stdout
    assert json.loads(one)["leaves"] == ds.inside(region).stats()["leaves"] > 0
    for ranks in few(2, 3):
        assert run("stats", ds.path, "--roi", region, "--json", ranks=ranks).stdout == one


def test_a_centre_is_the_cell_of_an_extreme(ds, run):
    field = ds.fields[0]
    cells = ds.arrays(field)
    lo, width = np.array(ds._data.lo), ds._data.hi[0] - ds._data.lo[0]
    row = ds.stats([field])["fields"][field]
    at = (np.array(row["max_at"]) - lo) / width
    assert cells[field].max() == row["max"]
    ball = ds.sphere(f"max:{field}", 0.1)
    assert ball.region == ds.sphere(at, 0.1).region
    text = f"sphere:max:{field}:0.1 - sphere:min:{field}:0.05"
    one = run("stats", ds.path, "--field", field, "--roi", text, "--json").stdout
    assert json.loads(one)["leaves"] == ds.inside(text).stats([field])["leaves"] > 0
    assert run("stats", ds.path, "--field", field, "--roi", text, "--json", ranks=2).stdout == one


def test_selections_join_as_values(sample):
    ds = octavo.open(sample)
    ball, box = ds.sphere("center", 0.2), ds.box((0, 0, 0), (1, 1, 0.5))
    assert (ball & box) == ds.sphere("center", 0.2).box((0, 0, 0), (1, 1, 0.5))
    assert (ball | ds).region is None and (ball & ds).region == ball.region
    assert (ds - ball).region == "all - sphere:center:0.2"
    narrow = ball.where("density > 0").level(5) & box.where("pressure > 0").level(4)
    assert narrow.max_level == 4 and narrow.condition == "(density > 0) & (pressure > 0)"
    assert (ball.where("density > 0") - box).condition == "density > 0"
    both = ds.derive("a", "density*2").sphere("center", 0.2) | ds.derive("b", "pressure").box((0, 0, 0), (1, 1, 1))
    assert dict(both.definitions) == {"a": "density*2", "b": "pressure"}
    for wrong in (
        lambda: ball | box.level(4), lambda: ball | box.where("density > 0"), lambda: ball - box.where("density > 0"),
        lambda: ball - ds, lambda: ball & octavo.open(sample).sphere("center", 0.1), lambda: ball & 3,
        lambda: ds.derive("a", "1").sphere("center", 0.2) & ds.derive("a", "2"), lambda: ds.cylinder("center", (0, 0, 0), 1, 1),
        lambda: ds.shell("center", 0.2, 0.1), lambda: ds.inside("sphere:center:0.1 - "),
    ):  # fmt: skip
        with pytest.raises(octavo.UsageError):
            wrong()


def test_flash_leaves_as_h5py_reads_them(data):
    """An independent reader: FLASH's blocks, leaf by leaf."""
    h5py = pytest.importorskip("h5py")
    path = data / "flash" / "sedov3d_octant_par3" / "sedov3do_hdf5_chk_0001"
    with h5py.File(path) as file:
        leaf = file["node type"][:] == 1
        centre, size, dens = file["coordinates"][leaf], file["block size"][leaf], file["dens"][leaf]
    n = np.array(dens.shape[:0:-1])
    at = np.stack(np.meshgrid(*[(np.arange(k) + 0.5) / k - 0.5 for k in n[::-1]], indexing="ij")[::-1], axis=-1)
    x = (centre[:, None, None, None] + at * size[:, None, None, None]).reshape(-1, 3)
    mass = (dens * (size / n).prod(1)[:, None, None, None]).ravel()
    ds = octavo.open(path)
    x = (x - np.array(ds._data.lo)) / (ds._data.hi[0] - ds._data.lo[0])
    judge = Judge(ds)
    chosen = ds.cylinder((0.2, 0.3, 0.4), (1, 1, 1), 0.2, 0.6) - ds.sphere((0.2, 0.3, 0.4), 0.15)
    inside = judge.cylinder(x, (0.2, 0.3, 0.4), (1, 1, 1), 0.2, 0.6) & ~judge.sphere(x, (0.2, 0.3, 0.4), 0.15)
    assert 0 < inside.sum() == chosen.stats(["dens"])["leaves"]
    assert np.isclose(chosen.sum("dens", weight="volume"), mass[inside].sum(), rtol=1e-13)
