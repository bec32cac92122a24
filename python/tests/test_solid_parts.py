"""VTKHDF files of solids, and of surfaces, that several ranks wrote, each its own part: points stand in each part that has them, ghosts as well."""

import h5py
import numpy as np
import pytest
from solid_meshes import VTK, Mesh, box

import octavo

GHOST_CELL, GHOST_POINT = 1, 1
TIMES = [0.0, 2.5]


def values(mesh):
    """A field at points and one in cells, of shapes (steps, points) and (steps, cells)."""
    steps = np.arange(len(TIMES))[:, None]
    x, y, z = mesh.points.T
    return {"head": x + 2 * y - z + 10 * steps}, {"k": 1.0 * np.arange(len(mesh.cells)) + 100 * steps}


def parts_of(mesh, owner, ghosts):
    """For each part, its points and cells (numbers of the mesh's), and which of the cells are ghosts: those of other parts at a point
    of this one."""
    for part in range(owner.max() + 1):
        cells = np.flatnonzero(owner == part)
        own = {point for c in cells for point in mesh.cells[c]}
        others = [c for c in np.flatnonzero(owner != part) if ghosts and own & set(mesh.cells[c])]
        cells = np.concatenate([cells, np.array(others, int)])
        yield np.unique([point for c in cells for point in mesh.cells[c]]).astype(int), cells, owner[cells] != part


def write_parts(path, mesh, owner, ghosts=False, stale=0.0, types=VTK):
    """`stale`: what the values of ghosts are off by. `types`: VTK's of a cell by its corners."""
    at_points, in_cells = values(mesh)
    made = {
        name: [] for name in ("Points", "Connectivity", "Offsets", "Types", "head", "k", "ghost cells", "ghost points")
    }
    counts = []
    for points, cells, is_ghost in parts_of(mesh, owner, ghosts):
        local = {point: i for i, point in enumerate(points)}
        ids = [local[p] for c in cells for p in mesh.cells[c]]
        own = {p for c, ghost in zip(cells, is_ghost, strict=True) if not ghost for p in mesh.cells[c]}
        ghost_points = np.array([p not in own for p in points], bool)
        counts.append((len(points), len(cells), len(ids)))
        for name, array in (
            ("Points", mesh.points[points]),
            ("Connectivity", np.array(ids, np.int64)),
            ("Offsets", np.cumsum([0] + [len(mesh.cells[c]) for c in cells])),
            ("Types", np.array([types[len(mesh.cells[c])] for c in cells], np.uint8)),
            ("head", at_points["head"][:, points] + stale * ghost_points),
            ("k", in_cells["k"][:, cells] + stale * is_ghost),
            ("ghost cells", GHOST_CELL * is_ghost.astype(np.uint8)),
            ("ghost points", GHOST_POINT * ghost_points.astype(np.uint8)),
        ):
            made[name].append(array)
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([2, 0], np.int64)
        root.attrs.create("Type", b"UnstructuredGrid", dtype=h5py.string_dtype("ascii", len("UnstructuredGrid")))
        for name, column in zip(("Points", "Cells", "ConnectivityIds"), np.array(counts, np.int64).T, strict=True):
            root[f"NumberOf{name}"] = column
        for name in ("Points", "Connectivity", "Offsets", "Types"):
            root[name] = np.concatenate(made[name])
        root["PointData/head"] = np.concatenate(made["head"], axis=1).reshape(-1)
        root["CellData/k"] = np.concatenate(made["k"], axis=1).reshape(-1)
        if ghosts:
            root["PointData/vtkGhostType"] = np.tile(np.concatenate(made["ghost points"]), len(TIMES))
            root["CellData/vtkGhostType"] = np.tile(np.concatenate(made["ghost cells"]), len(TIMES))
        steps, count = root.create_group("Steps"), np.arange(len(TIMES))
        steps.attrs["NSteps"] = len(TIMES)
        steps["Values"] = np.array(TIMES)
        steps["NumberOfParts"] = np.full(len(TIMES), len(counts))
        for name in ("PartOffsets", "PointOffsets"):
            steps[name] = np.zeros(len(TIMES), np.int64)
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            steps[name] = np.zeros((len(TIMES), 1), np.int64)
        points, cells, _ = np.sum(counts, axis=0)
        for group, total in (("PointData", points), ("CellData", cells)):
            for name in root[group]:
                steps[f"{group}Offsets/{name}"] = count * total
    return path


def owner_of(mesh):
    """The part of each cell; part 1 has none."""
    return 2 * (mesh.centres()[:, 0] > 0.6)


@pytest.fixture(params=["no ghosts", "ghosts"])
def parted(request, tmp_path):
    mesh, ghosts = box((4, 3, 2), "mixed"), request.param == "ghosts"
    return write_parts(tmp_path / "parts.vtkhdf", mesh, owner_of(mesh), ghosts, stale=1000.0), mesh, ghosts


def test_parts_become_one_mesh_with_each_point_and_cell_once(parted):
    path, mesh, ghosts = parted
    for s, time in enumerate(TIMES):
        step = octavo.open(path, step=s)
        part = step.part(0)
        at_points, in_cells = ({name: array[s] for name, array in of.items()} for of in values(mesh))
        assert step.time == time and len(part.x) == len(mesh.points) and len(part.corners) == len(mesh.cells)
        points = np.stack([part.x, part.y, part.z], axis=1)
        number = {tuple(point): i for i, point in enumerate(mesh.points)}
        old = np.array([number[tuple(point)] for point in points])
        assert np.array_equal(part.fields["head"], at_points["head"][old])
        ends = np.cumsum(part.corners.astype(int))
        found = {
            tuple(old[part.connectivity[end - n : end]]): k
            for n, end, k in zip(part.corners, ends, part.fields["k"], strict=True)
        }
        assert found == dict(zip(map(tuple, mesh.cells), in_cells["k"], strict=True))
        notes = " ".join(step._data.notes)
        assert (
            "that vtkGhostType marks" in notes
        ) == ghosts and "points of several parts at one place are one" in notes


def test_the_verbs_give_what_they_give_of_the_whole_mesh(parted, run, tmp_path):
    path, mesh, _ = parted
    whole = write_parts(tmp_path / "whole.vtkhdf", mesh, np.zeros(len(mesh.cells), int))
    for field in ("head", "k"):
        theirs, ours = octavo.open(whole), octavo.open(path)
        one, other = (ds.stats([field])["fields"][field] for ds in (theirs, ours))
        for name in ("min", "max", "mean", "volume_mean", "integral"):
            assert other[name] == pytest.approx(one[name], rel=1e-12), name
        cut = {"normal": (1, 2.1, 3.3), "at": (0.471, 0.522, 0.513), "pixels": 40}  # along no side of a cell
        assert np.allclose(ours.slice(field, **cut), theirs.slice(field, **cut), equal_nan=True)
        seen = [np.asarray(ds.map(field, axis="y", pixels=40)) for ds in (ours, theirs)]
        assert np.allclose(*seen, rtol=1e-12, equal_nan=True)
    assert run("verify", path).returncode == 0
    run("convert", path, tmp_path / "a.octavo", "-q")
    run("convert", tmp_path / "a.octavo", tmp_path / "a.vtkhdf", "-q")
    assert run("diff", path, tmp_path / "a.vtkhdf", check=False).returncode == 0


def test_vtk_reads_the_same_parts(parted):
    vtk = pytest.importorskip("vtkmodules.vtkIOHDF")
    path, mesh, ghosts = parted
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    theirs = reader.GetOutputDataObject(0)
    assert theirs.GetNumberOfCells() == len(mesh.cells) or ghosts
    assert theirs.GetNumberOfPoints() == sum(len(p) for p, _, _ in parts_of(mesh, owner_of(mesh), ghosts))


def test_points_of_a_crack_stay_apart(tmp_path):
    """Two cells of one part that touch and share no point; a third one, in another part, stands on both."""
    mesh = box((1, 1, 2), "hexahedra")
    own = np.concatenate([mesh.points, mesh.points[list(mesh.cells[0])]])
    mesh.points, cells = own, list(mesh.cells)
    mesh.cells = [tuple(range(len(own) - 8, len(own))), cells[1], cells[1]]
    path = write_parts(tmp_path / "crack.vtkhdf", mesh, np.array([0, 0, 1]))
    assert len(octavo.open(path).part(0).x) == 8 + 8 + 8 - 4


FLAT = {3: 5, 4: 9, 5: 7}


def surface():
    """A sheet of quadrangles, of which every second is two triangles, and one pentagon."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(6) / 5, np.arange(4) / 3, indexing="ij"))
    at = lambda i, j: 4 * i + j  # noqa: E731
    cells = []
    for i, j in np.ndindex(5, 3):
        a, b, c, d = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
        cells += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, c, d)]
    points = np.stack([x, y, 0 * x], axis=1)
    points = np.concatenate([points, [[0.1, 0.0, 0.0]]])
    cells[0] = (cells[0][0], len(points) - 1, *cells[0][1:])
    return Mesh(points, cells)


@pytest.mark.parametrize("ghosts", [False, True])
def test_surfaces_in_parts_are_one_mesh(run, tmp_path, ghosts):
    mesh = surface()
    path = write_parts(tmp_path / "parts.vtkhdf", mesh, owner_of(mesh), ghosts, stale=1000.0, types=FLAT)
    whole = write_parts(tmp_path / "whole.vtkhdf", mesh, np.zeros(len(mesh.cells), int), types=FLAT)
    for s in range(len(TIMES)):
        ours, theirs = octavo.open(path, step=s), octavo.open(whole, step=s)
        assert len(ours.part(0).x) == len(mesh.points)
        for field in ("head", "k"):
            one, other = (ds.stats([field])["fields"][field] for ds in (theirs, ours))
            for name in ("min", "max", "mean", "volume_mean", "integral"):
                assert other[name] == pytest.approx(one[name], rel=1e-12), (field, name)
            pictures = [np.asarray(ds.map(field, pixels=40)) for ds in (ours, theirs)]
            assert np.allclose(*pictures, rtol=1e-12, equal_nan=True)
        assert ("that vtkGhostType marks" in " ".join(ours._data.notes)) == ghosts
    assert run("verify", path).returncode == 0
    run("convert", path, tmp_path / "a.vtkhdf", "-q")  # a store has no place for a surface's values in cells
    assert run("diff", path, tmp_path / "a.vtkhdf", check=False).returncode == 0


def spoil(path, name, change):
    with h5py.File(path, "r+") as file:
        array = file[f"VTKHDF/{name}"][...]
        change(array)
        file[f"VTKHDF/{name}"][...] = array


@pytest.mark.parametrize(
    "name, index, value, words",
    [
        ("Offsets", 0, 1, "Offsets of part 0: expected 0 to"),
        ("Offsets", -1, 5, "Offsets of part 2: expected 0 to"),
        ("Connectivity", 3, 10**6, "Connectivity of part 0: expected points below"),
        ("NumberOfCells", 1, -1, "NumberOfCells: expected above 0 and below 2^31, found -1"),
        ("NumberOfPoints", 0, 10**6, "Points: expected rows"),
        ("Points", (3, 1), np.nan, "a point without a place"),
        ("Steps/NumberOfParts", 1, 2, "a mesh that changes from step to step"),
        ("Steps/NumberOfParts", slice(None), 2, "of 3 parts or steps: expected one mesh of 2 parts"),
        ("Steps/PartOffsets", 1, 3, "a mesh that changes from step to step"),
    ],
)
def test_damaged_parts_are_named(tmp_path, name, index, value, words):
    mesh = box((4, 3, 2), "mixed")
    path = write_parts(tmp_path / "a.vtkhdf", mesh, owner_of(mesh))
    spoil(path, name, lambda array: array.__setitem__(index, value))
    with pytest.raises(octavo.Error) as caught:
        octavo.open(path).part(0)
    assert words in str(caught.value) and "a.vtkhdf" in str(caught.value)


def test_values_in_other_files_are_refused_with_a_way_out(tmp_path):
    mesh = box((1, 1, 1), "hexahedra")
    given = write_parts(tmp_path / "part0.vtkhdf", mesh, np.zeros(1, int))
    with h5py.File(given) as source, h5py.File(tmp_path / "all.vtkhdf", "w") as file:
        source.copy("VTKHDF", file)
        layout = h5py.VirtualLayout((8, 3), float)
        layout[...] = h5py.VirtualSource(given.name, "VTKHDF/Points", (8, 3))
        del file["VTKHDF/Points"]
        file["VTKHDF"].create_virtual_dataset("Points", layout)
    with pytest.raises(octavo.Unsupported, match=r"values of VTKHDF/Points in other files[\s\S]*ParaView"):
        octavo.open(tmp_path / "all.vtkhdf")
