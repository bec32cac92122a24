"""UGRID: meshes of triangles, quadrangles and hexagons that netCDF4 writes, and files that netCDF4 and VTK read."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import octavo

needs_netcdf4 = pytest.mark.skipif(not importlib.util.find_spec("netCDF4"), reason="netCDF4 is not installed")
needs_vtk = pytest.mark.skipif(not importlib.util.find_spec("vtkmodules"), reason="VTK is not installed")
SCRIPT = Path(__file__).with_name("ugrid_by_netcdf4.py")
STEPS = 3


def by_netcdf4(*words):
    done = subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def made(n=7, seed=1, hexagons=True):
    """Squares with shaken points: each a quadrangle, two triangles, or with the next one a hexagon. Rows end with -1."""
    random = np.random.default_rng(seed)
    x, y = (a.ravel() for a in np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0)))
    x, y = x + random.uniform(-0.2, 0.2, x.shape), y + random.uniform(-0.2, 0.2, y.shape)
    cells, j = [], 0
    for j in range(n):
        i = 0
        while i < n:
            a = i + j * (n + 1)
            square = [a, a + 1, a + n + 2, a + n + 1]
            kind = random.integers(0 if hexagons else 1, 3)
            if kind == 0 and i + 1 < n:
                cells.append([a, a + 1, a + 2, a + n + 3, a + n + 2, a + n + 1])
                i += 1
            elif kind == 1:
                cells += [square[:3], [square[0], *square[2:]]]
            else:
                cells.append(square)
            i += 1
    rows = np.full((len(cells), 6), -1)
    for c, cell in enumerate(cells):
        start = random.integers(len(cell))
        rows[c, : len(cell)] = cell[start:] + cell[:start]
    whole = {name: random.integers(-99, 99, (STEPS, size)) / 2.0 for name, size in
             (("depth", len(x)), ("u", len(cells)), ("v", len(cells)))}  # fmt: skip
    whole["u"][1, 2] = np.nan
    return {"x": x, "y": y, "cells": rows, **whole, "bed": np.arange(len(cells)) / 4.0}


def corners(mesh, cell):
    row = mesh["cells"][cell]
    points = row[row >= 0]
    return mesh["x"][points], mesh["y"][points]


def area(x, y):
    return (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2


def inside(x, y, px, py):
    """Whether places are in a polygon, by the edges that a way to the right crosses."""
    odd = np.zeros(np.shape(px), bool)
    for ax, ay, bx, by in zip(x, y, np.roll(x, -1), np.roll(y, -1), strict=True):
        crosses = (ay > py) != (by > py)
        with np.errstate(divide="ignore", invalid="ignore"):
            odd ^= crosses & (px < ax + (py - ay) / (by - ay) * (bx - ax))
    return odd


def cell_at(mesh, px, py):
    found = np.full(np.shape(px), -1)
    for cell in range(len(mesh["cells"])):
        found[inside(*corners(mesh, cell), px, py)] = cell
    return found


@pytest.fixture(scope="module")
def mesh():
    return made()


@pytest.fixture(scope="module")
def path(mesh, tmp_path_factory):
    return written(mesh, tmp_path_factory.mktemp("ugrid"), "NETCDF4", 0, "by_face")


def written(mesh, folder, file_format, start, layout):
    if not importlib.util.find_spec("netCDF4"):
        pytest.skip("netCDF4 is not installed")
    np.savez(folder / "mesh.npz", **mesh)
    by_netcdf4("write", folder / "mesh.npz", folder / "mesh.nc", file_format, start, layout)
    return folder / "mesh.nc"


@pytest.mark.parametrize("layout", ["by_face", "by_corner", "packed"])
@pytest.mark.parametrize("file_format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"])
def test_all_values_of_files_of_netcdf4_are_read(mesh, tmp_path, file_format, layout):
    path = written(mesh, tmp_path, file_format, 1 if layout == "by_corner" else 0, layout)
    for step in range(STEPS):
        ds = octavo.open(path, step=step)
        assert (ds.format, ds.time, ds.attributes["title"]) == ("ugrid", 3600.0 * step, "made by netCDF4")
        part = ds.part(0)
        assert np.array_equal(part.x, mesh["x"]) and np.array_equal(part.y, mesh["y"])
        for name in ("depth", "u", "v"):
            assert np.array_equal(part.fields[name], mesh[name][step], equal_nan=True)
        assert np.array_equal(part.fields["bed"], mesh["bed"])
        assert "layered" not in part.fields and any("layered" in note for note in ds._data.notes)
    counts = np.bincount((mesh["cells"] >= 0).sum(axis=1))[3:]
    assert ds.attributes["cells"] == counts.tolist()


def test_a_map_shows_the_cell_of_each_pixel_and_a_line_the_cells_it_passes(mesh, path):
    ds = octavo.open(path, step=0)
    picture = ds.map("u", pixels=150)
    x0, x1, y0, y1 = picture.extent
    rows, columns = picture.values.shape
    px, py = np.meshgrid(x0 + (np.arange(columns) + 0.5) * (x1 - x0) / columns,
                         y0 + (np.arange(rows) + 0.5) * (y1 - y0) / rows)  # fmt: skip
    cell = cell_at(mesh, px, py)
    expected = np.where(cell >= 0, mesh["u"][0][cell], np.nan)
    assert np.array_equal(picture.values, expected, equal_nan=True) and np.isnan(expected).any()
    speed = ds.map("sqrt(u^2+v^2)", pixels=150).values
    assert np.allclose(speed, np.hypot(expected, np.where(cell >= 0, mesh["v"][0][cell], np.nan)), equal_nan=True)

    line = ds.line(["u", "depth"], through=[(0.5, 0.7), (5.3, 4.9), (6.2, 1.1)])
    middle = (line.distance[1:] + line.distance[:-1]) / 2
    some = np.diff(line.distance) > 1e-9
    px = np.interp(middle, line.distance, line.x)[some]
    py = np.interp(middle, line.distance, line.y)[some]
    ours = ((line["u"][1:] + line["u"][:-1]) / 2)[some]
    assert np.allclose(ours, mesh["u"][0][cell_at(mesh, px, py)])


def test_statistics_of_cells_are_numpys(mesh, path, run, run_json):
    areas = np.array([area(*corners(mesh, cell)) for cell in range(len(mesh["cells"]))])
    found = octavo.open(path, step=2).stats()["fields"]
    for name in ("u", "v", "bed"):
        values = mesh[name][2] if name != "bed" else mesh["bed"]
        row = found[name]
        assert (row["leaves"], row["min"], row["max"]) == (len(values), values.min(), values.max())
        assert row["mean"] == pytest.approx(values.mean(), rel=1e-12)
        assert row["integral"] == pytest.approx((values * areas).sum(), rel=1e-12)
    assert found["depth"]["leaves"] == len(mesh["x"])
    chosen = mesh["v"][2] > 0
    row = octavo.open(path, step=2).where("v > 0").stats(["u"])["fields"]["u"]
    assert (row["leaves"], row["sum"]) == (chosen.sum(), mesh["u"][2][chosen].sum())
    hist = octavo.open(path, step=2).hist("u", bins=8)
    assert np.allclose(hist.weights, np.histogram(mesh["u"][2], hist.edges, weights=areas)[0])
    facts = run_json("info", path)
    assert sum(facts["elements"].values()) == len(areas)
    text = run("info", path).stdout
    assert " quadrangles" in text and "in cells" in text and "at points" in text


def test_probes_in_cells_have_all_steps(mesh, path):
    places = [(3.3, 2.1), (0.9, 5.2), (-5, 0)]
    found = octavo.probe(path, places, ["u", "depth"])
    cell = cell_at(mesh, np.array([p[0] for p in places]), np.array([p[1] for p in places]))
    assert cell[2] == -1 and found["inside"][2] == 0
    u = list(found["fields"]).index("u")
    for i in (0, 1):
        assert np.array_equal(found["values"][i, u], mesh["u"][:, cell[i]], equal_nan=True)
    assert found["times"].tolist() == [0, 3600, 7200]


@needs_netcdf4
def test_netcdf4_and_vtk_read_what_is_written(mesh, path, tmp_path):
    octavo.convert(path, tmp_path / "out.nc", to="ugrid")
    by_netcdf4("read", tmp_path / "out.nc", tmp_path / "out.npz")
    found = np.load(tmp_path / "out.npz")
    assert found["format"] == "NETCDF3_64BIT_OFFSET" and "UGRID-1.0" in str(found["conventions"])
    assert found["time:units"] == "seconds since 2020-01-02 03:04:05"
    assert found["time"].tolist() == [0, 3600, 7200]
    for name in ("depth", "u", "v"):
        assert np.array_equal(found[name], mesh[name], equal_nan=True)
        assert (found[f"{name}:location"], found[f"{name}:units"]) == ("node" if name == "depth" else "face", "m")
    for ours, theirs in zip(found["mesh2d_face_nodes"], mesh["cells"], strict=True):
        ours, theirs = ours[~np.isnan(ours)].astype(int).tolist(), theirs[theirs >= 0].tolist()
        at = theirs.index(ours[0])
        assert ours == theirs[at:] + theirs[:at]
    octavo.convert(tmp_path / "out.nc", tmp_path / "again.nc", to="ugrid")
    assert (tmp_path / "again.nc").read_bytes() == (tmp_path / "out.nc").read_bytes()


@needs_netcdf4
@needs_vtk
def test_vtks_reader_of_ugrid_reads_what_is_written(tmp_path):
    mesh = made(seed=4, hexagons=False)  # it knows triangles and quadrangles
    octavo.convert(written(mesh, tmp_path, "NETCDF4", 0, "by_face"), tmp_path / "out.nc", to="ugrid")
    by_netcdf4("vtk", tmp_path / "out.nc", tmp_path / "vtk.npz")
    found = np.load(tmp_path / "vtk.npz")
    assert np.array_equal(found["points"][:, 0], mesh["x"]) and len(found["types"]) == len(mesh["cells"])
    assert np.array_equal(np.sort(np.unique(found["types"])), [5, 9])
    assert np.array_equal(found["bed"], mesh["bed"])
    assert np.array_equal(found["depth"], mesh["depth"][0])


def test_vtkhdf_has_cells_and_comes_back(mesh, path, tmp_path):
    h5py = pytest.importorskip("h5py")
    octavo.convert(path, tmp_path / "a.vtkhdf", to="vtkhdf")
    with h5py.File(tmp_path / "a.vtkhdf") as file:
        types = file["VTKHDF/Types"][()]
        offsets = file["VTKHDF/Offsets"][()]
        assert np.array_equal(np.diff(offsets), (mesh["cells"] >= 0).sum(axis=1))
        assert np.array_equal(types, np.array([0, 0, 0, 5, 9, 7, 7])[np.diff(offsets)])
        cells = len(types)
        assert file["VTKHDF/Steps/CellDataOffsets/u"][()].tolist() == [0, cells, 2 * cells]
        assert np.array_equal(file["VTKHDF/CellData/v"][()].reshape(STEPS, -1), mesh["v"])
        assert np.array_equal(file["VTKHDF/PointData/depth"][()].reshape(STEPS, -1), mesh["depth"])
    octavo.convert(path, tmp_path / "direct.nc", to="ugrid")
    octavo.convert(tmp_path / "a.vtkhdf", tmp_path / "b.nc", to="ugrid")
    a, b = octavo.open(tmp_path / "direct.nc"), octavo.open(tmp_path / "b.nc")
    assert np.array_equal(a.part(0).triangles, b.part(0).triangles)
    for name, values in a.part(0).fields.items():
        assert np.array_equal(values, b.part(0).fields[name], equal_nan=True)


@needs_vtk
def test_vtks_reader_of_vtkhdf_has_every_step(mesh, path, tmp_path):
    octavo.convert(path, tmp_path / "a.vtkhdf", to="vtkhdf")
    look = """
import sys, numpy as np
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkHDFReader(); reader.SetFileName(sys.argv[1]); found = {}
for step in range(3):
    reader.SetStep(step); reader.Update(); grid = reader.GetOutput()
    found[f"u{step}"] = vtk_to_numpy(grid.GetCellData().GetArray("u"))
    found[f"depth{step}"] = vtk_to_numpy(grid.GetPointData().GetArray("depth"))
found["types"] = vtk_to_numpy(grid.GetCellTypesArray())
np.savez(sys.argv[2], **found)
"""
    words = [sys.executable, "-c", look, str(tmp_path / "a.vtkhdf"), str(tmp_path / "found.npz")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "found.npz")
    for step in range(STEPS):
        assert np.array_equal(found[f"u{step}"], mesh["u"][step], equal_nan=True)
        assert np.array_equal(found[f"depth{step}"], mesh["depth"][step])


def test_stores_and_serafin_keep_triangles_and_say_so(mesh, path, tmp_path, run):
    report = run("convert", path, tmp_path / "a.octavo")
    assert "values in cells are left out" in report.stderr + report.stdout
    octavo.convert(tmp_path / "a.octavo", tmp_path / "b.nc", to="ugrid")
    back = octavo.open(tmp_path / "b.nc")
    assert back.attributes["cells"] == octavo.open(path).attributes["cells"]  # quadrangles survive a store
    assert [field["name"] for field in back._data.fields] == ["depth"]
    report = run("convert", path, tmp_path / "c.slf")
    assert "cells become triangles" in report.stderr + report.stdout
    slf = octavo.open(tmp_path / "c.slf")
    assert np.array_equal(slf.part(0).triangles, octavo.open(path).part(0).triangles)
    assert np.array_equal(slf.part(0).fields["depth"], mesh["depth"][2].astype(slf.part(0).fields["depth"].dtype))
    with pytest.raises(octavo.Unsupported, match="stand in cells"):
        octavo.convert(path, tmp_path / "d.octavo", fields=["u"])


def test_a_mesh_is_partitioned_and_merged(path, tmp_path, run):
    run("partition", path, "-o", tmp_path / "T2D", "--parts", "3")
    run("merge", tmp_path / "T2DGEO", "-o", tmp_path / "whole.slf")
    whole = octavo.open(tmp_path / "whole.slf")
    assert len(whole.part(0).triangles) == len(octavo.open(path).part(0).triangles)


def test_differences_of_cells_are_found(mesh, path, tmp_path, run):
    other = {name: values.copy() for name, values in mesh.items()}
    other["v"][2, 5] += 0.5
    (tmp_path / "b").mkdir()
    changed = written(other, tmp_path / "b", "NETCDF4", 0, "by_face")
    assert run("diff", path, path).returncode == 0
    done = run("diff", path, changed, check=False)
    assert done.returncode == 1 and "v" in done.stdout


def test_serafin_becomes_ugrid_and_comes_back(data, tmp_path):
    source = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    octavo.convert(source, tmp_path / "a.nc", to="ugrid")
    for step in (0, 4):
        a, b = octavo.open(source, step=step), octavo.open(tmp_path / "a.nc", step=step)
        assert a.time == b.time
        for name, values in b.part(0).fields.items():
            assert np.array_equal(values, a.part(0).fields[name])
        for name in a.fields:
            assert name == "IPOBO" or name in b.fields
        assert np.array_equal(np.sort(a.part(0).triangles, axis=1), np.sort(b.part(0).triangles, axis=1))


def test_what_makes_no_sense_is_refused_in_words(path, tmp_path):
    ds = octavo.open(path)
    with pytest.raises(octavo.Unsupported, match="cannot join values at points and in cells"):
        ds.map("u + depth")
    with pytest.raises(octavo.Unsupported, match="at points"):
        ds.contour("u", at=0)
    with pytest.raises(octavo.Unsupported, match="cells"):
        octavo.volume(path, field="u")
    with pytest.raises(octavo.UsageError, match="step 9"):
        octavo.open(path, step=9)
    bad = tmp_path / "bad.nc"
    bad.write_bytes(b"CDF\x01" + bytes(5))
    with pytest.raises(octavo.Error, match="byte"):
        octavo.open(bad)


def test_other_libraries_get_the_cells(mesh, path):
    pandas = pytest.importorskip("pandas")
    table = octavo.open(path).to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table) == ["x", "y", "depth"]
    with pytest.raises(octavo.Unsupported, match="no place in a table"):
        octavo.open(path).to_pandas(["u"])
    from octavo.triangles.polygons import first_triangles, vtk_cells

    triangles = octavo.open(path).part(0).triangles
    cells, types = vtk_cells(triangles, first_triangles(triangles))
    assert len(types) == len(mesh["cells"])
    at = 0
    for row in mesh["cells"]:
        points = row[row >= 0].tolist()
        ours = cells[at + 1 : at + 1 + cells[at]].tolist()
        begin = points.index(ours[0])
        assert ours == points[begin:] + points[:begin]
        at += 1 + cells[at]


def test_pyvista_has_cells_of_all_kinds(mesh, path):
    pytest.importorskip("pyvista")
    look = """
import sys, numpy as np, octavo
grid = octavo.open(sys.argv[1], step=0).to_pyvista()
areas = grid.compute_cell_sizes(length=False, volume=False)["Area"]
np.savez(sys.argv[2], types=grid.celltypes, areas=areas, u=grid.cell_data["u"], depth=grid.point_data["depth"])
"""
    out = path.with_suffix(".npz")
    done = subprocess.run([sys.executable, "-c", look, path, out], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = np.load(out)
    assert np.array_equal(found["types"], np.array([0, 0, 0, 5, 9, 7, 7])[(mesh["cells"] >= 0).sum(axis=1)])
    assert np.array_equal(found["u"], mesh["u"][0]) and np.array_equal(found["depth"], mesh["depth"][0])
    assert np.allclose(found["areas"], [area(*corners(mesh, cell)) for cell in range(len(mesh["cells"]))], rtol=1e-5)
