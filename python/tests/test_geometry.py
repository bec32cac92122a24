"""Fields that follow from the mesh, and particles in a region: against sums by hand, from the tree."""

from __future__ import annotations

import itertools
import shutil

import numpy as np
import pytest

import octavo


def leaves_by_hand(ds):
    """Centres, edge along x, volume and level of every owned leaf, by walking the trees: nothing but their bits."""
    rows = []
    header = ds._data
    lo, hi = np.array(header.lo), np.array(header.hi)
    dim, block = header.dim, np.array(header.block)
    for number in range(header.num_parts):
        part = header.read(number, [])
        roots = np.array(header.roots[:dim])
        held = itertools.chain.from_iterable(itertools.starmap(range, part.held))
        places = [np.array(np.unravel_index(root, roots, order="F")) for root in held]
        for level, (refined, owned) in enumerate(zip(part.refined, part.owned, strict=True)):
            size = (hi - lo) / (roots * block) / 2.0**level
            for place in itertools.compress(places, owned & ~refined):
                for cell in itertools.product(*[range(n) for n in block[::-1]]):
                    at = place * block + np.array(cell[::-1])
                    rows.append([*(lo + (at + 0.5) * size), size[0], size.prod(), level + header.level_origin])
            corners = [np.array(corner[::-1]) for corner in itertools.product((0, 1), repeat=dim)]
            places = [2 * place + corner for place in itertools.compress(places, refined) for corner in corners]
    return np.array(rows)


@pytest.fixture(scope="module", params=["2-D", "3-D", "blocks", "amrex"])
def ds(request, run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("geometry")
    output = folder / "output_00001"
    dim = 3 if request.param == "3-D" else 2
    run("sample", output, "--dim", dim, "--levels", "2-4", "--domains", 3, "--particles", 200, "-q")
    if request.param == "blocks":
        run("convert", output, folder / "a_hdf5_chk_0001", "--to", "flash", "--block", 4, "--fill", "-q")
        output = folder / "a_hdf5_chk_0001"
    if request.param == "amrex":
        run("convert", output, folder / "plt00001", "--to", "amrex", "--kind", "plotfile", "-q")
        output = folder / "plt00001"
    return octavo.open(output)


def test_sums_of_geometry_are_those_by_hand(ds):
    hand = leaves_by_hand(ds)
    dim = ds._data.dim
    volume = hand[:, dim + 1]
    columns = {**{"xyz"[axis]: hand[:, axis] for axis in range(dim)}, "dx": hand[:, dim], "cell_volume": volume, "level": hand[:, dim + 2]}  # fmt: skip
    assert len(hand) == sum(level["leaves"] for level in ds.level_counts)
    for name, values in columns.items():
        assert np.isclose(ds.sum(name), values.sum(), rtol=1e-12), name
        assert np.isclose(ds.sum(name, weight="volume"), (values * volume).sum(), rtol=1e-12), name
        assert np.allclose(np.sort(ds.arrays(name)[name]), np.sort(values), rtol=1e-14), name
        stats = ds.stats([name])["fields"][name]
        assert np.isclose(stats["max"], values.max()) and np.isclose(stats["min"], values.min())
    assert np.isclose(ds.sum("cell_volume"), np.prod(np.array(ds._data.hi) - np.array(ds._data.lo)), rtol=1e-12)
    with pytest.raises(octavo.UsageError):
        ds.sum("dy")


def test_geometry_of_a_selection(ds):
    hand = leaves_by_hand(ds)
    dim = ds._data.dim
    lo, hi = np.array(ds._data.lo), np.array(ds._data.hi)
    places = (hand[:, :dim] - lo) / (hi[0] - lo[0])
    inside = ((places - 0.5) ** 2).sum(1) < 0.3**2
    sphere = ds.sphere("center", 0.3)
    assert 0 < inside.sum() < len(inside)
    assert np.isclose(sphere.sum("cell_volume"), hand[inside, dim + 1].sum(), rtol=1e-12)
    assert np.isclose(sphere.sum("level"), hand[inside, dim + 2].sum(), rtol=1e-12)
    coarsest = ds.level_counts[0]["level"]
    assert np.isclose(ds.level(coarsest).sum("cell_volume"), ds.sum("cell_volume"), rtol=1e-12)


def test_maps_of_geometry(ds):
    area = ds.map("cell_volume", pixels=64)
    assert np.nanmin(area.values) > 0
    level = ds.map("level", kind="max", pixels=16)
    assert np.nanmax(level.values) == max(ds.levels)


@pytest.mark.parametrize("region", ["sphere", "box", "across"])
def test_particles_are_those_in_the_region(ds, region):
    everything = ds.particles()
    if not everything:
        pytest.skip("no particles")
    dim = ds._data.dim
    lo, hi = np.array(ds._data.lo), np.array(ds._data.hi)
    places = np.stack([everything[f"position_{axis}"] for axis in "xyz"[:dim]], axis=1)
    places = (places - lo) / (hi[0] - lo[0])
    if region == "sphere":
        chosen = ds.sphere("center", 0.25)
        inside = ((places - 0.5) ** 2).sum(1) < 0.25**2
    elif region == "box":
        chosen = ds.box([0.1] * dim, [0.6] * dim)
        inside = ((places >= 0.1) & (places < 0.6)).all(1)
    else:
        if not all(ds._data.periodic):
            pytest.skip("not periodic")
        chosen = ds.box([0.8] + [0] * (dim - 1), [1.2] + [1] * (dim - 1))
        inside = (places[:, 0] >= 0.8) | (places[:, 0] < 0.2)
    found = chosen.particles()
    assert set(found) == set(everything) and 0 < inside.sum() < len(inside)
    for name, values in everything.items():
        assert np.array_equal(np.sort(found[name]), np.sort(values[inside])), name
    assert chosen.stats([])["particles"]["mass"]["sum"] == pytest.approx(found["mass"].sum()) or "mass" not in found


def test_a_region_without_particles_is_empty(ds):
    none = ds.sphere([0.01] * ds._data.dim, 1e-9).particles()
    assert all(len(values) == 0 for values in none.values())


def turned_flash(data, folder, geometry):
    """A real file whose header says other coordinates."""
    h5py = pytest.importorskip("h5py")
    path = folder / f"{geometry}_hdf5_chk_0002"
    shutil.copy(data / "flash" / "sedov2d_pm4_par4" / "sedov2dp_hdf5_chk_0002", path)
    with h5py.File(path, "r+") as file:
        rows = file["string scalars"][:]
        row = next(i for i, name in enumerate(rows["name"]) if name.strip() == b"geometry")
        rows["value"][row] = geometry.encode().ljust(rows["value"].dtype.itemsize)
        file["string scalars"][:] = rows
    return path


def turned_amrex(data, folder, system):
    path = folder / f"plt{system:05d}"
    shutil.copytree(data / "amrex" / "adv2d_amrlevel_r4" / "plt00010", path)
    lines = (path / "Header").read_text().splitlines()
    row = lines.index("0.00390625 0.00390625 ") + 1
    assert lines[row] == "0"
    lines[row] = str(system)
    (path / "Header").write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("kind", ["flash", "amrex", "store"])
def test_cells_of_r_and_z_are_rings(data, run, run_json, tmp_path, kind):
    path = turned_amrex(data, tmp_path, 1) if kind == "amrex" else turned_flash(data, tmp_path, "cylindrical")
    if kind == "store":
        run("convert", path, tmp_path / "run.octavo")
        path = tmp_path / "run.octavo"
    ds = octavo.open(path)
    field = "phi" if kind == "amrex" else "dens"
    assert any("ring" in note for note in ds._data.notes) or kind == "store"
    cells = ds.arrays([field])
    volume = 2 * np.pi * cells["x"] * cells["dx"] ** 2
    total = (cells[field] * volume).sum()
    assert ds.sum("cell_volume") == pytest.approx(volume.sum(), rel=1e-13)
    assert volume.sum() == pytest.approx(
        np.pi * (ds._data.hi[0] ** 2 - ds._data.lo[0] ** 2) * (ds._data.hi[1] - ds._data.lo[1])
    )
    assert ds.sum(field, weight="volume") == pytest.approx(total, rel=1e-12)
    half = ds.where("x < 0.25")
    assert half.sum(field, weight="volume") == pytest.approx(
        (cells[field] * volume)[cells["x"] < 0.25].sum(), rel=1e-12
    )
    hist = ds.hist(field, bins=7, weight="volume")
    assert np.allclose(hist.weights, np.histogram(cells[field], hist.edges, weights=volume)[0], rtol=1e-12, atol=1e-15)
    assert hist.weight == "volume" and hist.weight_unit == "code_length**3"
    row = run_json("stats", path, "--field", field)["fields"][field]
    assert row["integral"] is None and row["max"] == cells[field].max()
    if kind != "amrex":
        assert ds.sum("mass", unit="g") == pytest.approx(total, rel=1e-12)
        assert ds.sum("dens", weight="volume", unit="g") == pytest.approx(total, rel=1e-12)
        assert ds.hist("pres", bins=7).weights.sum() == pytest.approx(total, rel=1e-12)  # by mass
    done = run("clumps", path, "--field", field, "--above", 0.5, check=False)
    assert done.returncode == 4 and "Cartesian" in done.stderr


@pytest.mark.parametrize("kind", ["flash", "amrex"])
def test_volumes_in_other_coordinates_are_refused(data, run_json, tmp_path, kind):
    path = turned_amrex(data, tmp_path, 2) if kind == "amrex" else turned_flash(data, tmp_path, "spherical")
    ds = octavo.open(path)
    field = "phi" if kind == "amrex" else "dens"
    assert any("no volumes" in note for note in ds._data.notes)
    for call in (
        lambda: ds.sum("cell_volume"),
        lambda: ds.sum(field, weight="volume"),
        lambda: ds.hist(field, weight="volume"),
    ):
        with pytest.raises(octavo.Unsupported, match="neither Cartesian"):
            call()
    assert ds.hist(field, weight="none").weights.sum() == ds.stats([field])["leaves"]
    assert run_json("stats", path, "--field", field)["fields"][field]["integral"] is None
