"""Meshes of Gmsh: made by gmsh itself and by meshio where they are installed, and written for them."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import octavo

MAKE = """
import sys, gmsh
out, version, binary, quads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
plate = gmsh.model.occ.addRectangle(0, 0, 0, 4, 3)
hole = gmsh.model.occ.addDisk(2, 1.5, 0, 0.7, 0.7)
gmsh.model.occ.cut([(2, plate)], [(2, hole)])
gmsh.model.occ.synchronize()
gmsh.option.setNumber("Mesh.MeshSizeMax", 0.3)
if quads:
    gmsh.option.setNumber("Mesh.RecombineAll", 1)
gmsh.model.mesh.generate(2)
gmsh.option.setNumber("Mesh.MshFileVersion", version)
gmsh.option.setNumber("Mesh.Binary", binary)
gmsh.option.setNumber("Mesh.SaveParametric", 1 if version > 4 else 0)
gmsh.write(out)
import json
nodes, places, _ = gmsh.model.mesh.getNodes()
types, _, points = gmsh.model.mesh.getElements(2)
area = 0.0
at = dict(zip(nodes.tolist(), places.reshape(-1, 3).tolist()))
count = {}
for kind, of in zip(types, points):
    corners = {2: 3, 3: 4}[int(kind)]
    rows = of.reshape(-1, corners).tolist()
    count[str(corners)] = len(rows)
    for row in rows:
        ring = [at[p] for p in row]
        area += sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1])) / 2
print(json.dumps({"count": count, "area": abs(area)}))
"""


@pytest.mark.skipif(not importlib.util.find_spec("gmsh"), reason="gmsh is not installed")
@pytest.mark.parametrize("quads", [0, 1])
@pytest.mark.parametrize("binary", [0, 1])
@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_meshes_of_gmsh_itself(tmp_path, version, binary, quads, run_json):
    import json

    path = tmp_path / "a.msh"
    words = [sys.executable, "-c", MAKE, str(path), version, str(binary), str(quads)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if "cannot open shared object file" in done.stderr:
        pytest.skip("gmsh lacks a library of the system")
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout.splitlines()[-1])
    assert run_json("info", path)["elements"] == theirs["count"] and ("4" in theirs["count"]) == bool(quads)
    part = octavo.open(path).part(0)
    x, y = part.x[part.triangles], part.y[part.triangles]
    areas = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    assert (areas > 0).all() and areas.sum() / 2 == pytest.approx(theirs["area"], rel=1e-12)


GROUPED = """
import json, sys, gmsh
out, version, binary, parts = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
a, b = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1), gmsh.model.occ.addRectangle(1, 0, 0, 1, 1)
gmsh.model.occ.fragment([(2, a)], [(2, b)])
gmsh.model.occ.synchronize()
lines = [tag for _, tag in gmsh.model.getEntities(1)]
gmsh.model.addPhysicalGroup(2, [tag for _, tag in gmsh.model.getEntities(2)], 1, "all")
gmsh.model.addPhysicalGroup(2, [gmsh.model.getEntities(2)[0][1]], 7)
gmsh.model.addPhysicalGroup(1, lines[:2], 1, "in let")
gmsh.model.addPhysicalGroup(1, lines[1:3], 2, "wall")
gmsh.option.setNumber("Mesh.MeshSizeMax", 0.25)
gmsh.model.mesh.generate(2)
if parts:
    gmsh.model.mesh.partition(parts)
gmsh.option.setNumber("Mesh.MshFileVersion", version)
gmsh.option.setNumber("Mesh.Binary", binary)
gmsh.write(out)
print(len(gmsh.model.mesh.getElementsByType(2)[0]))
"""

COUNTS = """
import json, sys, gmsh
gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
gmsh.open(sys.argv[1])
found = {}
for dim, tag in gmsh.model.getPhysicalGroups():
    cells = set()
    for entity in gmsh.model.getEntitiesForPhysicalGroup(dim, tag):
        kinds, _, points = gmsh.model.mesh.getElements(dim, entity)
        for kind, of in zip(kinds, points):
            cells |= {tuple(sorted(row)) for row in of.reshape(-1, dim + 1).tolist()}
    found[gmsh.model.getPhysicalName(dim, tag) or f"G_{dim}D_{tag}"] = len(cells)
print(json.dumps(found))
"""


@pytest.mark.skipif(not importlib.util.find_spec("gmsh"), reason="gmsh is not installed")
@pytest.mark.parametrize(
    ("version", "binary", "parts"), [("2.2", 0, 0), ("2.2", 1, 0), ("4.1", 0, 0), ("4.1", 1, 0), ("4.1", 0, 3)]
)
def test_physical_groups_overlap_and_elements_count_once(tmp_path, version, binary, parts, run, run_json):
    import json

    def gmsh(script, *words):
        words = [sys.executable, "-c", script, *map(str, words)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600)
        if "cannot open shared object file" in done.stderr:
            pytest.skip("gmsh lacks a library of the system")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    triangles = gmsh(GROUPED, tmp_path / "a.msh", version, binary, parts)
    assert run_json("info", tmp_path / "a.msh")["elements"] == {"3": triangles}
    run("convert", tmp_path / "a.msh", tmp_path / "b.msh")
    theirs = gmsh(COUNTS, tmp_path / "a.msh")
    assert gmsh(COUNTS, tmp_path / "b.msh") == theirs and set(theirs) == {"all", "G_2D_7", "in let", "wall"}


@pytest.fixture
def meshio_mesh():
    meshio = pytest.importorskip("meshio")
    random = np.random.default_rng(3)
    places = np.array([(i, j, 0) for j in range(5) for i in range(6)], float)
    places += random.uniform(-0.1, 0.1, places.shape)
    triangles, quads = [], []
    for j in range(4):
        for i in range(5):
            a = i + 6 * j
            square = [a, a + 1, a + 7, a + 6]
            if random.integers(2):
                quads.append(square)
            else:
                triangles += [square[:3], [square[0], *square[2:]]]
    return meshio, meshio.Mesh(places, [("triangle", np.array(triangles)), ("quad", np.array(quads))])


@pytest.mark.parametrize("binary", [False, True])
def test_meshio_writes_and_reads_the_same(tmp_path, meshio_mesh, binary):
    meshio, mesh = meshio_mesh
    meshio.write(tmp_path / "a.msh", mesh, file_format="gmsh22", binary=binary)
    part = octavo.open(tmp_path / "a.msh").part(0)
    assert np.allclose(np.stack([part.x, part.y, part.fields["BOTTOM"]], axis=1), mesh.points, atol=1e-15)
    octavo.convert(tmp_path / "a.msh", tmp_path / "b.msh", to="gmsh")
    back = meshio.read(tmp_path / "b.msh")
    assert np.array_equal(back.points, np.stack([part.x, part.y, part.fields["BOTTOM"]], axis=1))
    for block, given in zip(back.cells, mesh.cells, strict=True):
        assert block.type == given.type
        assert np.array_equal(np.sort(block.data, axis=1), np.sort(given.data, axis=1))
    octavo.convert(tmp_path / "b.msh", tmp_path / "c.msh", to="gmsh")
    assert (tmp_path / "c.msh").read_bytes() == (tmp_path / "b.msh").read_bytes()


def test_a_geometry_of_telemac_becomes_a_mesh_of_gmsh_and_comes_back(data, tmp_path, run):
    source = data / "serafin" / "geo_malpasset-small.slf"
    report = run("convert", source, tmp_path / "a.msh")
    assert "has no values: left out are" in report.stderr + report.stdout
    run("convert", tmp_path / "a.msh", tmp_path / "b.slf")
    a, b = octavo.open(source), octavo.open(tmp_path / "b.slf")
    assert np.array_equal(a.part(0).x, b.part(0).x) and np.array_equal(
        a.part(0).fields["FOND"], b.part(0).fields["BOTTOM"]
    )
    assert np.array_equal(np.sort(a.part(0).triangles, axis=1), np.sort(b.part(0).triangles, axis=1))
    run("partition", tmp_path / "a.msh", "-o", tmp_path / "T2D", "--parts", "4")
    run("merge", tmp_path / "T2DGEO", "-o", tmp_path / "whole.slf")
    assert len(octavo.open(tmp_path / "whole.slf").part(0).x) == len(a.part(0).x)
    run("map", tmp_path / "a.msh", "--field", "bottom", "-o", tmp_path / "bottom.npy")
    run("map", source, "--field", "bottom", "-o", tmp_path / "theirs.npy")
    assert np.allclose(np.load(tmp_path / "bottom.npy"), np.load(tmp_path / "theirs.npy"), equal_nan=True)


def test_codes_of_a_boundary_file_become_groups_and_come_back(data, tmp_path, run):
    mesh, codes = (data / "serafin" / f"geo_malpasset-small.{ending}" for ending in ("slf", "cli"))
    run("convert", mesh, tmp_path / "a.msh", "--boundary", codes, "-q")
    run("convert", tmp_path / "a.msh", tmp_path / "b.slf", "--boundary-out", tmp_path / "b.cli", "-q")
    theirs, ours = (
        [line.split()[:3] for line in path.read_text().splitlines()] for path in (codes, tmp_path / "b.cli")
    )
    assert ours == theirs


def test_quadrangles_of_med_are_read(tmp_path, meshio_mesh, run):
    meshio, mesh = meshio_mesh
    mesh.points = mesh.points[:, :2]
    pytest.importorskip("h5py")
    write = "import sys, meshio; meshio.write(sys.argv[2], meshio.read(sys.argv[1]), file_format='med')"
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(np.pad(mesh.points, ((0, 0), (0, 1))), mesh.cells))
    words = [sys.executable, "-c", write, str(tmp_path / "a.vtu"), str(tmp_path / "a.med")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    done = run("convert", tmp_path / "a.med", tmp_path / "b.nc", check=False)
    if done.returncode == 4 and "libmed" in done.stderr:
        pytest.skip("no MED in this build, or no libmedC here")
    assert done.returncode == 0, done.stderr
    ds = octavo.open(tmp_path / "b.nc")
    assert ds.attributes["cells"] == [len(block.data) for block in mesh.cells]
    x, y = ds.part(0).x[ds.part(0).triangles], ds.part(0).y[ds.part(0).triangles]
    areas = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    ring = [*range(0, 6), 11, 17, 23, *range(29, 23, -1), 18, 12, 6]
    px, py = mesh.points[ring].T
    assert areas.sum() / 2 == pytest.approx((px * np.roll(py, -1) - np.roll(px, -1) * py).sum() / 2)
