"""Figures of random meshes of solids beside those of a slow second way in NumPy, which cuts each cell by the rule of docs/solids.md.
The meshes have cells that stand the other way round, that name points twice or have no volume, and points that no cell has."""

import numpy as np
import pytest
from solid_meshes import SIDES, box, write_vtkhdf

import octavo

pytest.importorskip("h5py")
SIDES_OF = {
    4: ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    5: ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    6: ((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)),
    8: SIDES,
}
#: The same solid, its corners the other way round.
TURNED = {4: (0, 2, 1, 3), 5: (0, 3, 2, 1, 4), 6: (3, 4, 5, 0, 1, 2), 8: (4, 5, 6, 7, 0, 1, 2, 3)}
AS_HEXAHEDRON = (0, 1, 2, 2, 3, 4, 5, 5)  # of a prism


def random_mesh(seed):
    """A box of mixed cells whose inner points are moved, with points in any order."""
    random = np.random.default_rng(seed)
    mesh = box(tuple(random.integers(2, 4, 3)), "mixed")
    inside = ((mesh.points > 0) & (mesh.points < 1)).all(axis=1)
    mesh.points[inside] += random.uniform(-0.04, 0.04, (inside.sum(), 3))
    cells = []
    for cell in mesh.cells:
        if len(cell) == 6 and random.random() < 0.3:
            cell = tuple(cell[k] for k in AS_HEXAHEDRON)
        elif random.random() < 0.3:
            cell = tuple(cell[k] for k in TURNED[len(cell)])
        cells.append(cell)
    flat = next(cell for cell in mesh.cells if len(cell) == 8)
    cells += [flat[:4], (*flat[:3], flat[0])]  # no volume: in a plane, and with a point twice
    points = np.concatenate([mesh.points, random.uniform(0.2, 0.8, (4, 3))])  # the last ones are of no cell
    order = random.permutation(len(points))
    place = np.argsort(order)
    mesh.points = points[order]
    mesh.cells = [tuple(int(place[p]) for p in cell) for cell in cells]
    mesh.at_points = {"u": random.normal(size=len(points))}
    mesh.in_cells = {"k": random.normal(size=len(cells))}
    return mesh


def tetrahedra(mesh):
    """The points of each tetrahedron (count, 4), and its cell."""
    found, cells = [], []
    for number, cell in enumerate(mesh.cells):
        apex = min(cell)
        for side in SIDES_OF[len(cell)]:
            points = [cell[k] for k in side]
            if apex in points:
                continue
            low = points.index(min(points))
            points = points[low:] + points[:low]
            for k in range(1, len(points) - 1):
                found.append((apex, points[0], points[k], points[k + 1]))
                cells.append(number)
    return np.array(found), np.array(cells)


def volumes(mesh, tets):
    a, b, c, d = (mesh.points[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6


def weights(mesh):
    """What each point weighs, and each cell."""
    tets, cells = tetrahedra(mesh)
    v = np.abs(volumes(mesh, tets))
    return np.bincount(tets.ravel(), np.repeat(v / 4, 4), len(mesh.points)), np.bincount(cells, v, len(mesh.cells))


def at_places(mesh, places):
    """u and k at places: NaN outside."""
    tets, cells = tetrahedra(mesh)
    tets, cells = tets[np.abs(volumes(mesh, tets)) > 1e-9], cells[np.abs(volumes(mesh, tets)) > 1e-9]
    a = mesh.points[tets[:, 0]]
    edges = np.stack([mesh.points[tets[:, k]] - a for k in (1, 2, 3)], axis=-1)
    u, k = np.full(len(places), np.nan), np.full(len(places), np.nan)
    for i, place in enumerate(places):
        shares = np.linalg.solve(edges, (place - a)[..., None])[..., 0]
        shares = np.column_stack([1 - shares.sum(axis=1), shares])
        t = shares.min(axis=1).argmax()
        if shares[t].min() >= -1e-9:
            u[i], k[i] = shares[t] @ mesh.at_points["u"][tets[t]], mesh.in_cells["k"][cells[t]]
    return u, k


@pytest.mark.parametrize("seed", range(4))
def test_figures_agree_with_a_slow_second_way(tmp_path, seed):
    mesh = random_mesh(seed)
    ds = octavo.open(write_vtkhdf(tmp_path / "a.vtkhdf", mesh))
    for name, values, weight in zip("uk", (mesh.at_points["u"], mesh.in_cells["k"]), weights(mesh), strict=True):
        found = ds.stats([name])["fields"][name]
        assert weight.sum() == pytest.approx(1, rel=1e-12) and found["leaves"] == len(values)
        assert (found["min"], found["max"]) == (values.min(), values.max())
        assert found["mean"] == pytest.approx(values.mean(), rel=1e-12, abs=1e-14)
        total = (values * weight).sum()
        assert found["integral"] == pytest.approx(total, rel=1e-11, abs=1e-13)
        hist = ds.hist(name, bins=7, range=(-2, 2))
        expected = np.histogram(values, 7, (-2, 2), weights=weight)[0]
        assert np.allclose(hist.weights, expected, rtol=1e-12, atol=1e-15)
        for axis in "xyz":
            image = ds.map(name, axis=axis, pixels=23)
            left, right, low, high = image.extent
            area = (right - left) * (high - low) / image.values.size
            assert np.nansum(image.values) * area == pytest.approx(total, rel=1e-10, abs=1e-13)
        profile = ds.profile(name, axis="height", bins=5)
        assert profile.weights.sum() == pytest.approx(weight.sum(), rel=1e-12)
        assert np.nansum(profile[name] * profile.weights) == pytest.approx(total, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("seed", range(2))
def test_slices_agree_with_a_slow_second_way(tmp_path, seed):
    mesh = random_mesh(seed)
    ds = octavo.open(write_vtkhdf(tmp_path / "a.vtkhdf", mesh))
    pictures = [ds.slice(name, normal=(0.3, 0.5, 0.81), at=(0.47, 0.52, 0.49), pixels=12) for name in "uk"]
    facts, (left, right, low, high) = pictures[0].facts, pictures[0].extent
    ny, nx = pictures[0].values.shape
    x, y = left + (np.arange(nx) + 0.5) * (right - left) / nx, low + (np.arange(ny) + 0.5) * (high - low) / ny
    axes = [np.array(facts[name]) for name in ("right", "up", "towards")]
    depth = axes[2] @ np.array([0.47, 0.52, 0.49])
    places = (x[None, :, None] * axes[0] + y[:, None, None] * axes[1] + depth * axes[2]).reshape(-1, 3)
    for picture, expected in zip(pictures, at_places(mesh, places), strict=True):
        assert 20 < np.isfinite(expected).sum() < expected.size
        assert np.allclose(picture.values.ravel(), expected, rtol=0, atol=1e-9, equal_nan=True)


def integral_of_map(ds, name):
    image = ds.map(name, pixels=50)
    left, right, low, high = image.extent
    return np.nansum(image.values) * (right - left) * (high - low) / image.values.size


def test_a_twisted_cell_weighs_the_same_everywhere(tmp_path):
    """Some of its tetrahedra stand the other way round."""
    mesh = box((1, 1, 1), "hexahedra")
    mesh.points[6] = (-0.5, -0.5, 0.4)
    mesh.at_points, mesh.in_cells = {"u": np.ones(8)}, {"k": np.ones(1)}
    ds = octavo.open(write_vtkhdf(tmp_path / "a.vtkhdf", mesh))
    total = np.abs(volumes(mesh, tetrahedra(mesh)[0])).sum()
    assert total > 1.5 * abs(volumes(mesh, tetrahedra(mesh)[0]).sum())
    for name in "uk":
        assert ds.stats([name])["fields"][name]["integral"] == pytest.approx(total, rel=1e-12), name
        assert ds.hist(name, bins=1, range=(0, 2)).weights.sum() == pytest.approx(total, rel=1e-12), name
        assert integral_of_map(ds, name) == pytest.approx(total, rel=1e-10), name


def test_values_that_are_no_numbers_are_counted_and_shown(tmp_path):
    mesh = box((2, 2, 2), "hexahedra")
    mesh.at_points, mesh.in_cells = {"u": mesh.points[:, 0].copy()}, {"k": np.arange(8.0)}
    mesh.at_points["u"][13], mesh.in_cells["k"][3] = np.nan, np.nan  # point 13 is the middle
    ds = octavo.open(write_vtkhdf(tmp_path / "a.vtkhdf", mesh))
    for name, weight in zip("uk", weights(mesh), strict=True):
        values = mesh.at_points["u"] if name == "u" else mesh.in_cells["k"]
        known = np.isfinite(values)
        found = ds.stats([name])["fields"][name]
        assert found["nan"] == 1 and found["integral"] == pytest.approx((values * weight)[known].sum(), rel=1e-12)
        assert ds.hist(name, bins=3).weights.sum() == pytest.approx(weight[known].sum(), rel=1e-12)
        assert (
            np.isnan(ds.map(name, pixels=8).values).any()
            and np.isfinite(ds.map(name, kind="max", pixels=8).values).all()
        )
    cell = mesh.centres()[3]
    assert np.isnan(ds.slice("k", at=cell, pixels=2).values).sum() == 1
