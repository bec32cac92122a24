"""Tetrahedra, pyramids, prisms and hexahedra: VTKHDF files that VTK reads, and that others wrote; info and verify."""

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest
from solid_meshes import box, write_vtkhdf

import octavo

h5py = pytest.importorskip("h5py")
needs_vtk = pytest.mark.skipif(not importlib.util.find_spec("vtkmodules"), reason="VTK is not installed")
TIMES = [0.0, 0.5, 2.0]


def with_values(mesh, steps=3):
    x, y, z = mesh.points.T
    mesh.at_points = {"head": np.array([x + 2 * y - z + s for s in range(steps)])}
    mesh.in_cells = {"porosity": np.array([np.arange(len(mesh.cells)) / 8 + s for s in range(steps)])}
    return mesh


@pytest.fixture(params=["mixed", "tetrahedra", "hexahedra"])
def mesh(request):
    return with_values(box((3, 2, 2), request.param, hi=(3, 1, 2)))


@pytest.fixture
def path(mesh, tmp_path):
    return write_vtkhdf(tmp_path / "given.vtkhdf", mesh, TIMES)


def test_the_mesh_and_its_values_are_read(mesh, path):
    ds = octavo.open(path)
    part = ds.part(0)
    assert np.array_equal(np.stack([part.x, part.y, part.z], axis=1), mesh.points)
    assert np.array_equal(part.corners, mesh.corners)
    assert np.array_equal(part.connectivity, mesh.connectivity)
    assert np.array_equal(part.fields["head"], mesh.at_points["head"][-1])
    assert np.array_equal(part.fields["porosity"], mesh.in_cells["porosity"][-1])
    assert octavo.open(path, step=0).part(0).fields["head"][0] == mesh.at_points["head"][0][0]


def test_info_counts_the_shapes(run, run_json, mesh, path):
    facts = run_json("info", path)
    counts = {name: int((mesh.corners == n).sum()) for n, name in
              ((4, "tetrahedra"), (5, "pyramids"), (6, "prisms"), (8, "hexahedra"))}  # fmt: skip
    assert facts["solids"] == counts and facts["cells"] == len(mesh.cells)
    assert facts["box"] == {"lo": [0, 0, 0], "hi": [3, 1, 2], "periodic": [False] * 3}
    text = run("info", path).stdout
    assert all(f"{count} {name}" in text for name, count in counts.items() if count)
    assert "in cells" in text and "at points" in text


def test_a_converted_file_is_the_same_mesh_with_the_same_values(run, run_json, mesh, path, tmp_path):
    report = run_json("convert", path, tmp_path / "out.vtkhdf", "-q")
    assert report["steps"] == len(TIMES) and report["notes"] == []
    for step in range(len(TIMES)):
        given, made = octavo.open(path, step=step).part(0), octavo.open(tmp_path / "out.vtkhdf", step=step).part(0)
        for name in ("x", "y", "z", "corners", "connectivity"):
            assert np.array_equal(getattr(given, name), getattr(made, name)), name
        assert given.fields.keys() == made.fields.keys() == {"head", "porosity"}
        for name, values in given.fields.items():
            assert np.array_equal(values, made.fields[name]), name
    run("convert", tmp_path / "out.vtkhdf", tmp_path / "again.vtkhdf", "-q")
    assert (tmp_path / "again.vtkhdf").read_bytes() == (tmp_path / "out.vtkhdf").read_bytes()


@needs_vtk
def test_vtk_reads_what_is_written_and_finds_no_cell_inverted(run, mesh, path, tmp_path):
    run("convert", path, tmp_path / "out.vtkhdf", "-q")
    look = """
import sys, numpy as np
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = vtkHDFReader(); reader.SetFileName(sys.argv[1]); found = {}
for step in range(3):
    reader.SetStep(step); reader.Update(); grid = reader.GetOutput()
    found[f"head{step}"] = vtk_to_numpy(grid.GetPointData().GetArray("head")).copy()
    found[f"porosity{step}"] = vtk_to_numpy(grid.GetCellData().GetArray("porosity")).copy()
found["points"] = vtk_to_numpy(grid.GetPoints().GetData()).copy()
found["connectivity"] = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).copy()
found["types"] = np.array([grid.GetCellType(c) for c in range(grid.GetNumberOfCells())])
sizes = vtkCellSizeFilter(); sizes.SetInputData(grid); sizes.Update()
found["volumes"] = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume")).copy()
np.savez(sys.argv[2], **found)
"""
    words = [sys.executable, "-c", look, str(tmp_path / "out.vtkhdf"), str(tmp_path / "found.npz")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "found.npz")
    assert np.array_equal(found["points"], mesh.points)
    assert np.array_equal(found["connectivity"], mesh.connectivity)
    assert np.array_equal(np.array([0, 0, 0, 0, 10, 14, 13, 0, 12])[mesh.corners], found["types"])
    assert found["volumes"].sum() == pytest.approx(6, rel=1e-12) and found["volumes"].min() > 0
    for step in range(len(TIMES)):
        assert np.array_equal(found[f"head{step}"], mesh.at_points["head"][step])
        assert np.array_equal(found[f"porosity{step}"], mesh.in_cells["porosity"][step])


def test_cells_that_are_no_solids_are_left_out_with_their_values(tmp_path):
    mesh = with_values(box((2, 2, 1)), steps=1)
    solids = mesh.in_cells["porosity"][0]
    mesh.in_cells = {"porosity": np.concatenate([[-1.0, -2.0, -3.0], solids])}
    mesh.at_points = {"head": mesh.at_points["head"][0]}
    sides = [(5, (0, 1, 2)), (9, (0, 1, 3, 4)), (3, (0, 1))]
    ds = octavo.open(write_vtkhdf(tmp_path / "a.vtkhdf", mesh, extra=sides))
    part = ds.part(0)
    assert np.array_equal(part.connectivity, mesh.connectivity)
    assert np.array_equal(part.fields["porosity"], solids)
    assert ds._data.notes == ["3 cells that are no solids (points, lines, sides) are left out"]


def test_voxels_are_hexahedra(tmp_path):
    mesh = with_values(box((3, 2, 2), "hexahedra"))
    path = write_vtkhdf(tmp_path / "a.vtkhdf", mesh, TIMES)
    with h5py.File(path, "r+") as file:
        file["VTKHDF/Types"][:] = 11
        cells = file["VTKHDF/Connectivity"][:].reshape(-1, 8)
        file["VTKHDF/Connectivity"][:] = cells[:, [0, 1, 3, 2, 4, 5, 7, 6]].ravel()
    assert np.array_equal(octavo.open(path).part(0).connectivity, mesh.connectivity)


def test_vectors_become_a_field_for_each_axis_and_integers_stay_what_they_are(run, run_json, tmp_path):
    mesh = box((2, 1, 1), "prisms")
    mesh.at_points = {"velocity": np.arange(3.0 * len(mesh.points)).reshape(-1, 3)}
    mesh.in_cells = {"material": np.arange(len(mesh.cells), dtype=np.int64) + (1 << 53)}
    ds = octavo.open(write_vtkhdf(tmp_path / "a.vtkhdf", mesh))
    assert ds.fields == ["velocity_x", "velocity_y", "velocity_z", "material"]
    run("convert", ds.path, tmp_path / "b.vtkhdf", "-q")
    for part in (ds.part(0), octavo.open(tmp_path / "b.vtkhdf").part(0)):
        for axis, name in enumerate("xyz"):
            assert np.array_equal(part.fields[f"velocity_{name}"], mesh.at_points["velocity"][:, axis])
        assert part.fields["material"].dtype == np.int64
        assert np.array_equal(part.fields["material"], mesh.in_cells["material"])
    (tmp_path / "single").mkdir()
    run("convert", ds.path, tmp_path / "single" / "b.vtkhdf", "--precision", "single", "-q")
    types = {f["name"]: f["dtype"] for f in run_json("info", tmp_path / "single" / "b.vtkhdf")["fields"]}
    assert types == {"velocity_x": "float32", "velocity_y": "float32", "velocity_z": "float32", "material": "int64"}


@pytest.mark.parametrize(
    ("break_it", "kind", "said"),
    [
        (lambda f: f["VTKHDF/Types"].__setitem__(3, 42), 4, "VTK's type 42 beside solids"),
        (lambda f: f["VTKHDF/Types"].__setitem__(3, 24), 4, "VTK's type 24 beside solids"),
        (lambda f: f["VTKHDF/Types"].__setitem__(0, 12), 3, "cell 0 of VTK's type 12: found 6 points"),
        (lambda f: f["VTKHDF/Offsets"].__setitem__(1, 99), 3, "Offsets of cell 1"),
        (lambda f: f["VTKHDF/Connectivity"].__setitem__(0, 99), 3, "expected 0 to 17, found 99"),
        (lambda f: f["VTKHDF/Points"].__setitem__((3, 1), np.nan), 3, "expected a finite number, found nan"),
    ],
)
def test_bad_cells_are_refused_by_number(run, tmp_path, break_it, kind, said):
    path = write_vtkhdf(tmp_path / "a.vtkhdf", box((2, 2, 1), "prisms"))
    with h5py.File(path, "r+") as file:
        break_it(file)
    done = run("convert", path, tmp_path / "b.vtkhdf", check=False)
    assert done.returncode == kind and said in done.stderr, done.stderr


def test_verify_tells_inverted_and_flat_cells_and_lost_points(run, run_json, tmp_path):
    mesh = box((2, 1, 1), "hexahedra")
    good = write_vtkhdf(tmp_path / "good.vtkhdf", with_values(mesh), TIMES)
    assert run_json("verify", good)["notes"] == []
    mesh.cells[1] = mesh.cells[1][4:] + mesh.cells[1][:4]
    mesh.cells.append(mesh.cells[0][:4] * 2)
    mesh.points = np.concatenate([mesh.points, [[0.0, 0.0, 0.0]]])
    mesh = with_values(mesh)
    report = run_json("verify", write_vtkhdf(tmp_path / "odd.vtkhdf", mesh, TIMES))
    assert report["notes"] == [
        "1 points belong to no element; the first: 13 (from 1)",
        "1 cells have a negative volume: their corners stand the other way round; the first: 2 (from 1)",
        "1 cells have no volume; the first: 3 (from 1)",
    ]
    mesh.at_points["head"][1, 2] = np.nan
    done = run("verify", write_vtkhdf(tmp_path / "nan.vtkhdf", mesh, TIMES), check=False)
    assert done.returncode == 1 and "1 values are no numbers" in done.stdout + done.stderr


def test_a_format_without_solids_refuses_them(run, path, tmp_path):
    for to in ("serafin", "flash", "ramses", "amrex"):
        done = run("convert", path, tmp_path / "out", "--to", to, check=False)
        assert done.returncode == 4 and "solids" in done.stderr, done.stderr


def test_pyvista_gets_the_cells(mesh, path):
    pytest.importorskip("pyvista")
    grid = octavo.open(path).to_pyvista()
    assert np.array_equal(grid.points, mesh.points)
    assert np.array_equal(grid.cell_connectivity, mesh.connectivity)
    assert np.array_equal(grid["head"], mesh.at_points["head"][-1])
    assert np.array_equal(grid.cell_data["porosity"], mesh.in_cells["porosity"][-1])


@pytest.mark.parametrize(
    "words",
    [
        ["map", "--field", "head", "-o", "a.png"],
        ["slice", "--field", "head", "-o", "a.png"],
        ["line", "--field", "head", "--from", "0,0,0", "--to", "1,1,1", "-o", "a.csv"],
        ["stats"],
        ["hist", "--field", "head", "-o", "a.png"],
        ["contour", "--field", "head", "--at", "1", "-o", "a.ply"],
        ["clumps", "--above", "1", "--field", "head"],
        ["probe", "--at", "0.5,0.5,0.5"],
        ["discharge", "--through", "0,0", "1,1", "-o", "a.csv"],
        ["volume", "--field", "head"],
        ["streamlines", "-o", "a.geojson"],
        ["export", "a.npz"],
        ["export", "a.vtkhdf"],
        ["partition", "-o", "a", "--parts", "2"],
        ["convert", "a.slf"],
        ["convert", "a.vtkhdf", "--polygon", "0,0", "1,0", "1,1"],
        ["convert", "a.med", "--boundary", "a.cli"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_a_verb_takes_solids_or_says_that_it_does_not(run, tmp_path, words):
    path = write_vtkhdf(tmp_path / "given.vtkhdf", with_values(box((2, 2, 2))), TIMES)
    done = run(words[0], path, *words[1:], "-q", check=False, cwd=tmp_path)
    assert done.returncode in (0, 4), (words, done.returncode, done.stderr)
    assert done.returncode == 0 or ("solids" in done.stderr and "docs/solids.md" in done.stderr), done.stderr


def test_a_store_keeps_the_mesh_once_and_gives_everything_back(run, run_json, mesh, path, tmp_path):
    assert run_json("convert", path, tmp_path / "a.octavo", "-q")["steps"] == len(TIMES)
    listed = [{row["field"] for row in step["fields"]} for step in run_json("ls", tmp_path / "a.octavo")["steps"]]
    of_mesh = {"points/x", "points/y", "points/z", "cells/corners", "corners/point"}
    assert listed == [{"head", "porosity"} | of_mesh, {"head", "porosity"}, {"head", "porosity"}]
    assert run_json("verify", tmp_path / "a.octavo")["findings"] == []
    assert run_json("info", tmp_path / "a.octavo")["solids"] == run_json("info", path)["solids"]
    run("convert", tmp_path / "a.octavo", tmp_path / "b.vtkhdf", "-q")
    for step in range(len(TIMES)):
        given, made = octavo.open(path, step=step).part(0), octavo.open(tmp_path / "b.vtkhdf", step=step).part(0)
        for name in ("x", "y", "z", "corners", "connectivity"):
            assert np.array_equal(getattr(given, name), getattr(made, name)), name
        for name, values in given.fields.items():
            assert np.array_equal(values, made.fields[name]), name


def test_a_store_holds_values_within_a_bound_and_integers_exactly(run, tmp_path):
    mesh = box((4, 3, 3))
    random = np.random.default_rng(1)
    mesh.at_points = {"head": random.normal(size=len(mesh.points))}
    mesh.in_cells = {"flux": random.normal(size=len(mesh.cells)), "rock": random.integers(0, 9, len(mesh.cells))}
    path = write_vtkhdf(tmp_path / "a.vtkhdf", mesh)
    run("convert", path, tmp_path / "a.octavo", "--codec", "abs:0.001", "-q")
    fields = octavo.open(tmp_path / "a.octavo").part(0).fields
    assert np.array_equal(fields["rock"], mesh.in_cells["rock"])
    for name, values in (("head", mesh.at_points["head"]), ("flux", mesh.in_cells["flux"])):
        assert 0 < np.abs(fields[name] - values).max() <= 0.001, name


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
def test_ranks_share_verify_and_convert(run, path, tmp_path):
    run("convert", path, tmp_path / "one.octavo", "-q")
    run("convert", path, tmp_path / "two.octavo", "-q", ranks=2)
    one, two = octavo.open(tmp_path / "one.octavo").part(0), octavo.open(tmp_path / "two.octavo").part(0)
    assert all(np.array_equal(values, two.fields[name]) for name, values in one.fields.items())
    assert np.array_equal(one.connectivity, two.connectivity)
    for made in (path, tmp_path / "two.octavo"):
        assert run("verify", made, "-q", ranks=2).returncode == 0


def test_diff_compares_points_and_cells(run, tmp_path):
    mesh = with_values(box((2, 2, 2)))
    a = write_vtkhdf(tmp_path / "a.vtkhdf", mesh, TIMES)
    run("convert", a, tmp_path / "a.octavo", "-q")
    assert run("diff", a, tmp_path / "a.octavo", "-q").returncode == 0
    mesh.in_cells["porosity"][2, 5] += 0.25
    b = write_vtkhdf(tmp_path / "b.vtkhdf", mesh, TIMES)
    done = run("diff", a, b, check=False)
    assert done.returncode == 1 and "porosity differs" in done.stdout and "head differs" not in done.stdout
    assert run("diff", a, b, "--abs", "0.3", "-q").returncode == 0
    mesh.cells[0] = mesh.cells[0][::-1]
    assert "the cells are others" in run("diff", b, write_vtkhdf(tmp_path / "c.vtkhdf", mesh, TIMES)).stderr
    other = write_vtkhdf(tmp_path / "d.vtkhdf", with_values(box((2, 2, 1))), TIMES)
    done = run("diff", a, other, check=False)
    assert done.returncode == 1 and "the meshes differ: " in done.stdout


REFUSED = (
    (lambda ds: ds.clumps(1, field="head"), "octavo stats --where"),
    (lambda ds: ds.spectrum("head"), "octavo map and octavo slice"),
    (lambda ds: octavo.discharge(ds.path, [[(0, 0), (1, 1)]]), "octavo slice --normal"),
    (lambda ds: octavo.volume(ds.path, field="head"), "octavo stats --roi"),
    (lambda ds: octavo.streamlines(ds.path), "octavo map and octavo slice --vectors"),
    (lambda ds: octavo.pathlines(ds.path), "octavo map and octavo slice --vectors"),
    (lambda ds: ds.map("head", grid=True), "a grid shows the levels of cells, and this mesh has none"),
    (lambda ds: ds.slice("head", grid=True), "a grid shows the levels of cells, and this mesh has none"),
    (lambda ds: ds.phase("head", "porosity"), "name fields of one kind alone"),
)  # fmt: skip


@pytest.fixture
def given(tmp_path):
    return write_vtkhdf(tmp_path / "given.vtkhdf", with_values(box((2, 2, 2))), TIMES)


@pytest.mark.parametrize("call, words", REFUSED, ids=[words.replace(" ", "-") for _, words in REFUSED])
def test_a_refusal_says_what_to_do_instead(given, call, words):
    with pytest.raises((octavo.Unsupported, octavo.UsageError)) as caught:
        call(octavo.open(given))
    assert words in str(caught.value), caught.value


def test_the_command_refuses_likewise(run, given, tmp_path):
    for kind, words, said in (
        (4, ["stack", given, "--field", "head", "-o", "a.png"], "octavo map shows one output"),
        (4, ["partition", given, "-o", tmp_path / "a", "--parts", "2", "--concat-sides"], "go with triangles"),
        (3, ["refine", given, "-o", "a.slf"], "no SERAFIN file"),
        (4, ["convert", given, "a.octavo", "--roi", "box:0,0,0:0.5,0.5,0.5"], "triangles or solids"),
    ):
        done = run(*words, check=False, cwd=tmp_path)
        assert done.returncode == kind and said in done.stderr, done.stderr
    assert "steps     3, from 0 to 2\n" in run("info", given).stdout
