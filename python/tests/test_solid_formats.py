"""Solids in files of Gmsh, MED, UGRID and XDMF: written by gmsh and netCDF4, and read by them and by meshio."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import octavo_reader
import octavo_solids
import pytest
from solid_meshes import box, write_vtkhdf

import octavo

SCRIPT = Path(__file__).with_name("solids_by_gmsh.py")
TIMES = [0.0, 0.5, 2.0]


def needs(*modules):
    missing = [name for name in modules if not importlib.util.find_spec(name)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def child(script, *words):
    """Another library's work, in a process of its own."""
    done = subprocess.run([sys.executable, script, *map(str, words)], capture_output=True, text=True, timeout=600)
    if "cannot open shared object file" in done.stderr:
        pytest.skip("gmsh lacks a library of the system")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def convert(run):
    def call(*words):
        """A conversion, unless the build has no MED."""
        done = run("convert", *words, check=False)
        if done.returncode == 4 and "libmed" in done.stderr:
            pytest.skip("no MED in this build, or no libmedC here")
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return call


def shaken(shape="mixed", seed=3):
    mesh = box((3, 2, 2), shape, hi=(3, 1, 2))
    mesh.points = mesh.points + np.random.default_rng(seed).uniform(-0.05, 0.05, mesh.points.shape)
    return mesh


def with_values(mesh):
    x, y, z = mesh.points.T
    mesh.at_points = {"head": np.array([x + 2 * y - z + s for s in range(len(TIMES))])}
    mesh.in_cells = {"porosity": np.array([np.arange(len(mesh.cells)) / 8 + s for s in range(len(TIMES))])}
    return mesh


@pytest.fixture
def mesh():
    return with_values(shaken())


@pytest.fixture
def path(mesh, tmp_path):
    return write_vtkhdf(tmp_path / "given.vtkhdf", mesh, TIMES)


def rows_of(cells, width=8):
    """Cells as rows that end with -1."""
    rows = np.full((len(cells), width), -1)
    for c, cell in enumerate(cells):
        rows[c, : len(cell)] = cell
    return rows


def cells_of(part):
    ends = np.cumsum(part.corners.astype(int))
    return [tuple(part.connectivity[end - count : end].tolist()) for end, count in zip(ends, part.corners, strict=True)]


def cells_found(found):
    """Those of gmsh and meshio, shape by shape."""
    return [tuple(row) for size in (4, 5, 6, 8) for row in found[f"cells{size}"].tolist()]


def by_shape(cells):
    return [cell for size in (4, 5, 6, 8) for cell in cells if len(cell) == size]


def places_of(part):
    return np.stack([part.x, part.y, part.z], axis=1)


def same(path, mesh, step=None, order=by_shape):
    """Whether a file has the mesh, shape by shape, and its values."""
    part = octavo.open(path, step=step).part(0)
    cells = order(mesh.cells)
    values = {name: values[-1 if step is None else step] for name, values in mesh.at_points.items()}
    number = {cell: c for c, cell in enumerate(mesh.cells)}
    for name, all_steps in mesh.in_cells.items():
        values[name] = all_steps[-1 if step is None else step][[number[cell] for cell in cells]]
    assert cells_of(part) == cells and np.array_equal(places_of(part), mesh.points)
    assert part.fields.keys() - {"part"} == values.keys()  # a store that was cut says so
    for name, expected in values.items():
        assert np.array_equal(part.fields[name], expected), name
    return True


def in_file_order(cells):
    return list(cells)


# ---------------------------------------------------------------------------------------------------------------- Gmsh


def by_gmsh(mesh, folder, name, version=4.1, binary=1):
    cells = rows_of(mesh.cells)
    np.savez(folder / "mesh.npz", points=mesh.points, left=cells[: len(cells) // 2], right=cells[len(cells) // 2 :])
    child(SCRIPT, "write", folder / "mesh.npz", folder / name, version, binary)
    return folder / name


@needs("gmsh")
@pytest.mark.parametrize("binary", [0, 1])
@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_solids_of_gmsh_are_read_and_their_surfaces_are_left_out(run_json, tmp_path, version, binary):
    mesh = shaken()
    ds = octavo.open(by_gmsh(mesh, tmp_path, "a.msh", version, binary))
    part = ds.part(0)
    assert np.allclose(places_of(part), mesh.points, rtol=0, atol=1e-15)
    assert sorted(cells_of(part)) == sorted(mesh.cells)
    left = 2 if version == "2.2" else 1  # there gmsh drops the groups of what is saved whole
    assert ds._data.notes == [f"sides of solids that are in no group are left out: {left}"]
    counts = np.bincount(mesh.corners, minlength=9)[[4, 5, 6, 8]]
    assert list(run_json("info", tmp_path / "a.msh")["solids"].values()) == counts.tolist()


@needs("gmsh")
def test_gmsh_reads_what_is_written_with_its_groups(run, tmp_path):
    mesh = shaken()
    run("convert", by_gmsh(mesh, tmp_path, "a.msh"), tmp_path / "b.msh", "-q")
    child(SCRIPT, "read", tmp_path / "b.msh", tmp_path / "found.npz")
    found = np.load(tmp_path / "found.npz")
    assert np.array_equal(found["points"], mesh.points)
    assert sorted(cells_found(found)) == sorted(mesh.cells) and found["least_quality"] > 0
    half = len(mesh.cells) // 2
    assert (found["group left"], found["group right"], found["group inlet"]) == (half, len(mesh.cells) - half, 1)
    run("convert", tmp_path / "b.msh", tmp_path / "c.msh", "-q")
    assert (tmp_path / "c.msh").read_bytes() == (tmp_path / "b.msh").read_bytes()


def test_a_result_becomes_a_mesh_of_gmsh_and_its_values_are_named(convert, mesh, path, tmp_path):
    assert "left out are head, porosity" in convert(path, tmp_path / "a.msh")
    mesh.at_points, mesh.in_cells = {}, {}
    assert same(tmp_path / "a.msh", mesh, order=in_file_order)


def test_cells_of_higher_order_are_named(run, tmp_path):
    nodes = "\n".join(f"{i + 1} {i} 0 0" for i in range(10))
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n{nodes}\n$EndNodes\n"
    text += "$Elements\n1\n1 11 2 0 1 1 2 3 4 5 6 7 8 9 10\n$EndElements\n"
    (tmp_path / "a.msh").write_text(text)
    done = run("info", tmp_path / "a.msh", check=False)
    assert done.returncode == 4 and "type 11" in done.stderr and "tetrahedra (4)" in done.stderr


# ----------------------------------------------------------------------------------------------------------------- MED


@needs("gmsh")
def test_solids_in_med_of_gmsh_are_read(convert, tmp_path):
    mesh = shaken()
    by_gmsh(mesh, tmp_path, "a.med")
    notes = convert(tmp_path / "a.med", tmp_path / "b.vtkhdf")
    assert "2 sides beside solids" in notes and "inlet, left, right" in notes
    part = octavo.open(tmp_path / "a.med").part(0)
    assert np.array_equal(places_of(part), mesh.points)
    assert sorted(cells_of(part)) == sorted(mesh.cells)


@needs("meshio", "h5py")
def test_med_of_a_program_that_orders_corners_as_vtk_is_turned(run, convert, tmp_path):
    write = "import sys, meshio; meshio.write(sys.argv[2], meshio.read(sys.argv[1]))"
    mesh = shaken("hexahedra")
    run("convert", write_vtkhdf(tmp_path / "bare.vtkhdf", mesh), tmp_path / "a.xdmf", "-q")
    child(script(tmp_path, write), tmp_path / "a.xdmf", tmp_path / "a.med")
    convert(tmp_path / "a.med", tmp_path / "b.vtkhdf")
    assert sorted(cells_of(octavo.open(tmp_path / "b.vtkhdf").part(0))) == sorted(mesh.cells)


@needs("gmsh")
def test_gmsh_reads_solids_in_med_with_their_groups(convert, tmp_path):
    mesh = shaken()
    convert(by_gmsh(mesh, tmp_path, "a.msh"), tmp_path / "b.med")
    child(SCRIPT, "read", tmp_path / "b.med", tmp_path / "found.npz")
    found = np.load(tmp_path / "found.npz")
    assert np.array_equal(found["points"], mesh.points)
    assert sorted(cells_found(found)) == sorted(mesh.cells) and found["least_quality"] > 0
    half = len(mesh.cells) // 2
    assert (found["group left"], found["group right"], found["group inlet"]) == (half, len(mesh.cells) - half, 1)
    convert(tmp_path / "b.med", tmp_path / "c.msh")
    child(SCRIPT, "read", tmp_path / "c.msh", tmp_path / "found.npz")
    again = np.load(tmp_path / "found.npz")
    assert all(np.array_equal(again[name], found[name]) for name in found if name.startswith("group"))


def test_med_keeps_all_steps_and_values_at_points_and_in_cells(convert, mesh, path, tmp_path):
    convert(path, tmp_path / "a.med")
    assert all(same(tmp_path / "a.med", mesh, step) for step in range(len(TIMES)))
    assert [octavo.open(tmp_path / "a.med", step=s).time for s in range(len(TIMES))] == TIMES
    convert(tmp_path / "a.med", tmp_path / "b.vtkhdf")
    assert same(tmp_path / "b.vtkhdf", mesh)


# --------------------------------------------------------------------------------------------------------------- UGRID


WRITE_UGRID = """
import sys, netCDF4, numpy as np
given, file = np.load(sys.argv[1]), netCDF4.Dataset(sys.argv[2], "w", format=sys.argv[3])
start = int(sys.argv[4])
file.createDimension("time", None)
for name, size in (("nodes", len(given["points"])), ("volumes", len(given["cells"])), ("most", 8)):
    file.createDimension(name, size)
mesh = file.createVariable("Mesh", "i4")
mesh.cf_role, mesh.topology_dimension = "mesh_topology", 3
mesh.node_coordinates, mesh.volume_node_connectivity = "px py pz", "nodes_of_volumes"
mesh.volume_shape_type, mesh.volume_dimension = "types", "volumes"
for axis, places in zip("xyz", given["points"].T):
    file.createVariable(f"p{axis}", "f8", ("nodes",))[:] = places
nodes = file.createVariable("nodes_of_volumes", "i4", ("volumes", "most"), fill_value=-99)
nodes.start_index = np.int32(start)
nodes[:] = np.ma.masked_equal(given["cells"], -1) + start
time = file.createVariable("time", "f8", ("time",))
time.units = "s"
time[:] = given["times"]
for name, place, axis in (("head", "node", "nodes"), ("porosity", "volume", "volumes")):
    variable = file.createVariable(name, "f8", ("time", axis))
    variable.mesh, variable.location = "Mesh", place
    variable[:] = given[name]
file.close()
"""

READ_UGRID = """
import sys, netCDF4, numpy as np
found = {}
with netCDF4.Dataset(sys.argv[1]) as file:
    for name, variable in file.variables.items():
        found[name] = np.ma.filled(variable[:].astype("f8"), np.nan)
        for attribute in variable.ncattrs():
            found[f"{name}:{attribute}"] = np.array(variable.getncattr(attribute))
np.savez(sys.argv[2], **found)
"""


def script(folder, text):
    (folder / "script.py").write_text(text)
    return folder / "script.py"


@needs("netCDF4")
@pytest.mark.parametrize(("file_format", "start"), [("NETCDF3_CLASSIC", 1), ("NETCDF4", 0)])
def test_volumes_of_netcdf4_are_read_whichever_way_their_corners_turn(mesh, tmp_path, file_format, start):
    cells = [(c[0], c[2], c[1], c[3]) if len(c) == 4 else c for c in mesh.cells]
    arrays = {"points": mesh.points, "cells": rows_of(cells), "times": TIMES, **mesh.at_points, **mesh.in_cells}
    np.savez(tmp_path / "mesh.npz", **arrays)
    child(script(tmp_path, WRITE_UGRID), tmp_path / "mesh.npz", tmp_path / "a.nc", file_format, start)
    assert all(same(tmp_path / "a.nc", mesh, step, in_file_order) for step in range(len(TIMES)))
    assert octavo.open(tmp_path / "a.nc", step=1).time == TIMES[1]


@needs("netCDF4")
def test_netcdf4_reads_volumes_that_are_written(run, mesh, path, tmp_path):
    run("convert", path, tmp_path / "a.nc", "-q")
    child(script(tmp_path, READ_UGRID), tmp_path / "a.nc", tmp_path / "found.npz")
    found = np.load(tmp_path / "found.npz")
    assert found["mesh3d:topology_dimension"] == 3 and found["mesh3d:volume_dimension"] == "mesh3d_volumes"
    names = str(found["mesh3d:node_coordinates"]).split()
    assert np.array_equal(np.stack([found[name] for name in names], axis=1), mesh.points)
    assert np.array_equal(np.nan_to_num(found["mesh3d_volume_nodes"], nan=-1), rows_of(mesh.cells))
    meanings = str(found["mesh3d_volume_types:flag_meanings"]).split()
    shapes = [meanings[list(found["mesh3d_volume_types:flag_values"]).index(t)] for t in found["mesh3d_volume_types"]]
    names = {4: "tetrahedron", 5: "pyramid", 6: "wedge", 8: "hexahedron"}
    assert shapes == [names[len(cell)] for cell in mesh.cells]
    assert found["porosity:location"] == "volume" and np.array_equal(found["porosity"], mesh.in_cells["porosity"])
    assert found["head:location"] == "node" and np.array_equal(found["head"], mesh.at_points["head"])
    run("convert", tmp_path / "a.nc", tmp_path / "b.nc", "-q")
    assert (tmp_path / "b.nc").read_bytes() == (tmp_path / "a.nc").read_bytes()
    assert all(same(tmp_path / "a.nc", mesh, step, in_file_order) for step in range(len(TIMES)))


# ---------------------------------------------------------------------------------------------------------------- XDMF


def test_xdmf_keeps_all_steps_and_values_at_points_and_in_cells(run, mesh, path, tmp_path):
    run("convert", path, tmp_path / "a.xdmf", "-q")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.h5", "a.xdmf", "given.vtkhdf"]
    assert all(same(tmp_path / "a.xdmf", mesh, step, in_file_order) for step in range(len(TIMES)))
    assert [octavo.open(tmp_path / "a.xdmf", step=s).time for s in range(len(TIMES))] == TIMES
    run("convert", tmp_path / "a.xdmf", tmp_path / "b.vtkhdf", "-q")
    assert same(tmp_path / "b.vtkhdf", mesh, order=in_file_order)


@needs("meshio", "h5py")
@pytest.mark.parametrize("shape", ["mixed", "tetrahedra", "prisms"])
def test_meshio_reads_what_is_written_and_writes_what_is_read(run, tmp_path, shape):
    mesh = with_values(shaken(shape))
    one = {name: values[1] for name, values in mesh.at_points.items()}
    cells = {name: values[1] for name, values in mesh.in_cells.items()}
    mesh.at_points, mesh.in_cells = one, cells
    run("convert", write_vtkhdf(tmp_path / "one.vtkhdf", mesh), tmp_path / "a.xdmf", "-q")
    child(SCRIPT, "meshio", tmp_path / "a.xdmf", tmp_path / "found.npz")
    found = np.load(tmp_path / "found.npz")
    assert np.array_equal(found["points"], mesh.points) and np.array_equal(found["point:head"], one["head"])
    assert sorted(cells_found(found)) == sorted(mesh.cells) and sorted(found["cell:porosity"]) == sorted(
        cells["porosity"]
    )
    copy = "import sys, meshio; meshio.write(sys.argv[2], meshio.read(sys.argv[1]), data_format=sys.argv[3])"
    for data_format in ("HDF", "XML"):
        child(script(tmp_path, copy), tmp_path / "a.xdmf", tmp_path / "b.xdmf", data_format)
        part = octavo.open(tmp_path / "b.xdmf").part(0)
        assert np.allclose(places_of(part), mesh.points, rtol=1e-15) and sorted(cells_of(part)) == sorted(mesh.cells)
        assert np.allclose(part.fields["head"], one["head"], rtol=1e-15)
        assert sorted(part.fields["porosity"]) == sorted(cells["porosity"])


def test_damage_of_an_xdmf_file_is_named(run, path, tmp_path):
    run("convert", path, tmp_path / "a.xdmf", "-q")
    text = (tmp_path / "a.xdmf").read_text()
    for old, new, kind, words in (
        ("a.h5:/points", "a.h5:/places", 3, "no data set places"),
        ("a.h5:/points", "../a.h5:/points", 4, "in another folder"),
        ('Dimensions="39 3"', 'Dimensions="40 3"', 3, "expected 120 values"),
        ("</Domain>", "", 3, "no sound XML: mismatched tag"),
        ('GeometryType="XYZ"', 'GeometryType="ORIGIN_DXDYDZ"', 4, "expected XYZ, XY, X_Y_Z or X_Y"),
    ):
        assert old in text, old
        (tmp_path / "b.xdmf").write_text(text.replace(old, new))
        done = run("stats", tmp_path / "b.xdmf", "--field", "head", check=False)
        assert done.returncode == kind and words in done.stderr and "b.xdmf" in done.stderr, done.stderr


def test_an_hdf5_file_of_that_name_is_not_replaced(run, path, tmp_path):
    (tmp_path / "a.h5").write_text("mine")
    done = run("convert", path, tmp_path / "a.xdmf", check=False)
    assert done.returncode == 2 and "a.h5" in done.stderr and (tmp_path / "a.h5").read_text() == "mine"
    assert not (tmp_path / "a.xdmf").exists()
    assert run("convert", path, tmp_path / "a.xdmf", "-f", "-q", check=False).returncode == 2
    assert (tmp_path / "a.h5").read_text() == "mine" and not (tmp_path / "a.xdmf").exists()
    (tmp_path / "a.h5").unlink()
    for words in ([], ["-f"]):  # the second time they are the output's own
        run("convert", path, tmp_path / "a.xdmf", *words, "-q")
    assert "head" in octavo.open(tmp_path / "a.xdmf").fields


@needs("netCDF4")
def test_surfaces_go_through_xdmf(tmp_path):
    from test_ugrid import made, written

    flat = made()
    octavo.convert(written(flat, tmp_path, "NETCDF4", 0, "by_face"), tmp_path / "a.xdmf", to="xdmf")
    octavo.convert(tmp_path / "mesh.nc", tmp_path / "b.nc", to="ugrid")
    for step in range(3):
        a, b = octavo.open(tmp_path / "a.xdmf", step=step), octavo.open(tmp_path / "b.nc", step=step)
        assert np.array_equal(a.part(0).triangles, b.part(0).triangles) and a.time == b.time
        assert a.attributes["cells"] == b.attributes["cells"]
        for name, values in b.part(0).fields.items():
            assert np.array_equal(a.part(0).fields[name], values, equal_nan=True)


# ---------------------------------------------------------------------------------------------------------------- cuts


@pytest.mark.parametrize("method", ["metis", "scotch", "inertial", "hilbert"])
@pytest.mark.parametrize("shape", ["hexahedra", "tetrahedra"])
def test_a_cut_has_each_cell_once_and_few_cut_sides(run_json, tmp_path, method, shape):
    mesh = with_values(box((8, 8, 8), shape))
    given = write_vtkhdf(tmp_path / "given.vtkhdf", mesh, TIMES)
    words = [
        "partition",
        given,
        "-o",
        tmp_path / "P",
        "--parts",
        6,
        "--method",
        method,
        "--write-cut",
        tmp_path / "cut.npy",
    ]
    report = run_json(*words)
    part_of = np.load(tmp_path / "cut.npy")
    sizes = np.bincount(part_of, minlength=6)
    assert (report["parts"], report["elements"], report["points"]) == (6, len(mesh.cells), len(mesh.points))
    assert (report["fewest_elements"], report["most_elements"]) == (sizes.min(), sizes.max())
    assert sizes.max() - sizes.min() <= 1 if method in ("inertial", "hilbert") else sizes.max() <= 1.04 * sizes.mean()
    assert octavo.open(tmp_path / "PGEO.octavo").attributes["cut_parts"] == 6
    assert same(tmp_path / "PGEO.octavo", mesh, 1, in_file_order)
    assert report["cut_edges"] == sides_between(mesh, part_of)
    thirds = np.arange(len(mesh.cells)) % 6  # no method: as bad as can be
    assert report["cut_edges"] < 0.5 * sides_between(mesh, thirds)


SIDES = {
    4: ((0, 1, 2), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
    5: ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    6: ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    8: ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
}


def sides_between(mesh, part_of):
    first, between = {}, 0
    for part, cell in zip(part_of, mesh.cells, strict=True):
        for side in SIDES[len(cell)]:
            points = tuple(sorted(cell[k] for k in side))
            between += first.setdefault(points, part) != part
    return between


def test_a_cut_that_is_given_is_stored_and_a_wrong_one_is_named(run, run_json, mesh, path, tmp_path):
    cut = np.arange(len(mesh.cells)) % 3
    np.savetxt(tmp_path / "cut.txt", cut, fmt="%d")
    words = ["partition", path, "-o", tmp_path / "P", "--cut", tmp_path / "cut.txt"]
    run(*words, "-q")
    assert np.array_equal(stored_cut(tmp_path / "PGEO.octavo"), cut)
    assert run_json("verify", tmp_path / "PGEO.octavo")["findings"] == []
    for wrong, text in ((cut[:-1], "34"), (np.where(cut == 1, 2, cut), "without an element")):
        np.savetxt(tmp_path / "cut.txt", wrong, fmt="%d")
        done = run(*words, check=False)
        assert done.returncode == 3 and "cut.txt" in done.stderr and text in done.stderr, done.stderr
    assert np.array_equal(stored_cut(tmp_path / "PGEO.octavo"), cut)  # the one before


def stored_cut(store):
    """The part of each cell, as the independent reader finds it."""
    first = min(octavo_reader.read_store(store), key=lambda step: step.step)
    return octavo_solids.mesh_of(first).part


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--parts", 3, "--layout", "files"], 4, "--layout octavo"),
        (["--parts", 3, "--boundary", "a.cli"], 4, "solids"),
        ([], 2, "--parts P"),
        (["--parts", 1000], 2, "expected 1 to 34 parts"),
    ],
)
def test_what_is_of_triangles_is_refused_for_solids(run, mesh, path, tmp_path, words, code, text):
    done = run("partition", path, "-o", tmp_path / "P", *words, check=False)
    assert done.returncode == code and text in done.stderr, done.stderr
