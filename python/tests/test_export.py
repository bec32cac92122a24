"""Files for other programs, read back by these: each cell, value, level and mask as NumPy finds them on the leaves."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import OCTAVO, peak_of

import octavo

needs_vtk = pytest.mark.skipif(
    not importlib.util.find_spec("vtkmodules"), reason="VTK is not installed: pip install vtk"
)
needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def vtk_reads(tmp_path, *files):
    """What VTK makes of the files: a dict of arrays each."""
    out = tmp_path / "read.npz"
    script = Path(__file__).with_name("vtk_reads.py")
    done = subprocess.run([sys.executable, script, out, *files], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "ERR" not in done.stderr, done.stderr
    arrays = np.load(out)
    return [
        {name.split("/", 1)[1]: arrays[name] for name in arrays.files if name.split("/", 1)[0] == str(i)}
        for i in range(len(files))
    ]


def cells_of_trees(path):
    """The shown leaves of a hyper tree grid, by the definition of its file alone, as vtk_reads gives them. And `refined`:
    of each refined cell its number, its centre, its level below the root, and the number of its first child."""
    with h5py.File(path) as file:
        grid = file["VTKHDF"]
        corners = [grid[f"{axis}Coordinates"][:] for axis in "XYZ"]
        bits = np.unpackbits(grid["Descriptors"][:])[: grid["DescriptorsSize"][0]].astype(bool)
        count = grid["NumberOfCells"][0]
        hidden = np.unpackbits(grid["Mask"][:])[:count].astype(bool) if "Mask" in grid else np.zeros(count, bool)
        values = {name: data[:] for name, data in grid["CellData"].items()}
        trees = zip(grid["TreeIds"][:], grid["DepthPerTree"][:], strict=True)
        sizes = iter(grid["NumberOfCellsPerTreeDepth"][:])
        extents = [max(1, n - 1) for n in grid.attrs["Dimensions"]]
        time = grid["FieldData/TimeValue"][0]
    axes = [a for a in range(3) if len(corners[a]) > 1]
    lo, hi, taken, above, bit, cell = [], [], [], [], 0, 0
    for number, depth in trees:
        at = [number % extents[0], number // extents[0] % extents[1], number // extents[0] // extents[1]]
        low = np.array([[corners[a][at[a]] for a in range(3)]])
        size = np.array([corners[a][at[a] + 1] - corners[a][at[a]] if a in axes else 0 for a in range(3)])
        for level in range(depth):
            assert len(low) == next(sizes)
            refined = bits[bit : bit + len(low)] if level + 1 < depth else np.zeros(len(low), bool)
            bit += len(low) if level + 1 < depth else 0
            shown = ~refined & ~hidden[cell : cell + len(low)]
            lo.append(low[shown])
            hi.append(low[shown] + size)
            taken.append(cell + np.flatnonzero(shown))
            child = cell + len(low) + (np.arange(refined.sum()) << len(axes))
            levels = np.full(len(child), level)
            above.append(np.column_stack([cell + np.flatnonzero(refined), low[refined] + size / 2, levels, child]))
            cell += len(low)
            size = size / 2
            child = np.zeros((1 << len(axes), 3))
            for k, a in enumerate(axes):
                child[:, a] = (np.arange(1 << len(axes)) >> k & 1) * size[a]
            low = (low[refined][:, None, :] + child).reshape(-1, 3)
    assert cell == count and bit == len(bits)
    where = np.concatenate(taken)
    fields = {f"field:{name}": array[where] for name, array in values.items()}
    whole = {f"all:{name}": array for name, array in values.items()}
    found = {"lo": np.concatenate(lo), "hi": np.concatenate(hi), "refined": np.concatenate(above), "time": time}
    return {**found, **fields, **whole}


def cells_of_grid(path):
    """The same of an unstructured grid."""
    with h5py.File(path) as file:
        grid = file["VTKHDF"]
        points, ids, starts = grid["Points"][:].astype(float), grid["Connectivity"][:], grid["Offsets"][:-1]
        assert len(starts) == grid["NumberOfCells"][0] and set(grid["Types"][:]) <= {3, 8, 11}
        lo, hi = (kind.reduceat(points[ids], starts) for kind in (np.minimum, np.maximum))
        fields = {f"field:{name}": data[:] for name, data in grid["CellData"].items()}
        return {"lo": lo, "hi": hi, "points": len(points), "time": grid["FieldData/TimeValue"][0], **fields}


def cells_of_boxes(path):
    """The same of overlapping boxes: the cells that no finer box covers."""
    found = {}
    with h5py.File(path) as file:
        grid, finer = file["VTKHDF"], np.zeros((0, 6), int)
        for level in reversed(range(sum(name.startswith("Level") for name in grid))):
            group = grid[f"Level{level}"]
            index, boxes = [], group["AMRBox"][:]
            for box in boxes.tolist():
                z, y, x = np.meshgrid(*(np.arange(box[2 * a], box[2 * a + 1] + 1) for a in (2, 1, 0)), indexing="ij")
                index.append(np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1))
            at = np.concatenate(index)
            hidden = np.zeros(len(at), bool)
            for box in finer // 2:
                hidden |= ((at >= box[::2]) & (at <= box[1::2])).all(axis=1)
            corner = grid.attrs["Origin"] + at * group.attrs["Spacing"]
            values = {f"field:{name}": data[:] for name, data in group["CellData"].items()}
            for name, array in {"lo": corner, "hi": corner + group.attrs["Spacing"], **values}.items():
                found.setdefault(name, []).append(array[~hidden])
            finer = boxes
    return {name: np.concatenate(arrays) for name, arrays in found.items()}


DEFINITIONS = {
    "HyperTreeGrid": cells_of_trees,
    "UnstructuredGrid": cells_of_grid,
    "OverlappingAMR": cells_of_boxes,
}
READERS = pytest.mark.parametrize("reader", ["definition", pytest.param("VTK", marks=needs_vtk)])


def read(reader, tmp_path, *files):
    """What VTK makes of the files, or what they say by their definition."""
    if reader == "VTK":
        return vtk_reads(tmp_path, *files)
    found = []
    for path in files:
        with h5py.File(path) as file:
            kind = file["VTKHDF"].attrs["Type"].decode()
        found.append({**DEFINITIONS[kind](path), "class": f"vtk{kind}"})
    return found


def in_order(places, *columns):
    """The columns, sorted by place."""
    order = np.lexsort(np.round(np.asarray(places).T, 12))
    return [np.asarray(column)[order] for column in columns]


def same_cells(found, selection, fields):
    """The cells that a program found are those of the selection: centres, sizes and values."""
    cells = selection.arrays(fields)
    axes = [axis for axis in "xyz" if axis in cells]
    expected = np.stack([cells[axis] for axis in axes], axis=1)
    centres = ((found["lo"] + found["hi"]) / 2)[:, : len(axes)]
    assert len(centres) == len(expected)
    here, size, *values = in_order(
        centres, centres, (found["hi"] - found["lo"])[:, 0], *(found[f"field:{f}"] for f in fields)
    )
    there, dx, *wanted = in_order(expected, expected, cells["dx"], *(cells[f] for f in fields))
    assert np.allclose(here, there, rtol=0, atol=1e-12) and np.allclose(size, dx, rtol=1e-12)
    for value, want in zip(values, wanted, strict=True):
        assert value.dtype == want.dtype and np.array_equal(value, want)


@READERS
def test_a_hyper_tree_grid_has_the_leaves_of_every_selection(sample, run, tmp_path, reader):
    ds = octavo.open(sample)
    selections = {
        (): ds,
        ("--roi", "sphere:center:0.21"): ds.sphere("center", 0.21),
        ("--roi", "box:-0.1,0.2,0:0.3,0.9,0.5"): ds.box((-0.1, 0.2, 0), (0.3, 0.9, 0.5)),
        ("--level", "5"): ds.level(5),
        ("--level", "4", "--roi", "sphere:0.3,0.3,0.3:0.25"): ds.sphere((0.3, 0.3, 0.3), 0.25).level(4),
        ("--where", "x + y < 0.7 & velocity_x > 0"): ds.where("x + y < 0.7 & velocity_x > 0"),
    }
    files = [tmp_path / f"{i}.vtkhdf" for i in range(len(selections))]
    for file, words in zip(files, selections, strict=True):
        run("export", sample, file, "--field", "density,velocity_x,level,mass", *words)
    for found, selection in zip(read(reader, tmp_path, *files), selections.values(), strict=True):
        assert found["class"] == "vtkHyperTreeGrid" and found["time"] == ds.time
        same_cells(found, selection, ["density", "velocity_x", "level", "mass"])
        volume = (found["hi"] - found["lo"]).prod(axis=1)
        assert np.isclose(
            (found["field:density"] * volume).sum(), selection.sum("density", weight="volume"), rtol=1e-12
        )


@needs_vtk
def test_refined_cells_have_the_stored_value_and_hidden_ones_none(sample, run, tmp_path):
    whole, some = tmp_path / "whole.vtkhdf", tmp_path / "some.vtkhdf"
    run("export", sample, whole, "--field", "density,level")
    run("export", sample, some, "--field", "density", "--where", "x < 0.3")
    found, part = vtk_reads(tmp_path, whole, some)
    ds = octavo.open(sample)
    assert found["numbers"][1] == len(ds.arrays("level")["level"])
    for level in (3, 4, 5):
        cells = ds.level(level).arrays("density")
        there = np.sort(cells["density"][cells["level"] == level])
        assert np.array_equal(np.sort(found["all:density"][found["all:level"] == level]), there)
    assert part["numbers"][0] > part["numbers"][1]
    leaves, hidden = len(ds.where("x < 0.3").arrays("level")["level"]), np.isnan(part["all:density"]).sum()
    assert len(part["lo"]) == leaves and part["numbers"][1] == leaves + hidden


REAL = ["ramses/sedov3d_4ranks", "ramses/implosion2d_2ranks", "flash/sedov2d_pm4_par4", "flash/sedov3d_octant_par3"]
REAL += ["amrex/adv2d_core_r4", "amrex/adv3d_amrlevel_r2"]


@pytest.mark.parametrize("region", [((0.3, 0.4, 0.6), 0.12), ((0.0, 0.0, 0.0), 0.2)])
def test_a_refined_cell_is_as_stored_or_the_mean_of_what_is_shown_below(sample, tmp_path, region):
    ds = octavo.open(sample)
    report = ds.sphere(*region).export(tmp_path / "a.vtkhdf", fields="density")
    found, stored, means = cells_of_trees(tmp_path / "a.vtkhdf"), {}, 0
    for level in ds.levels:
        cells = ds.level(level).arrays("density")
        for x, y, z, own, value in zip(*(cells[name] for name in ("x", "y", "z", "level", "density")), strict=True):
            stored[own, round(x * 4096), round(y * 4096), round(z * 4096)] = value
    values = found["all:density"]
    for number, x, y, z, level, child in found["refined"].tolist():
        value, below = values[int(number)], values[int(child) : int(child) + 8]
        if value != stored[level + ds._data.level_origin, round(x * 4096), round(y * 4096), round(z * 4096)]:
            means += 1
            assert np.isclose(value, np.nanmean(below), rtol=1e-14)
    assert means == report["means"] > 0


@pytest.mark.parametrize("name", [*REAL, "amrex/async2d_r4"])
def test_real_outputs_by_the_definition_of_the_files(data, tmp_path, name):
    ds = octavo.open(newest(data / name))
    near, fields = ds.sphere((0.4,) * ds._data.dim, 0.23), ds.fields[:2]
    for kind in ("htg", "ug"):
        near.export(tmp_path / f"{kind}.vtkhdf", as_=kind, fields=fields)
        same_cells(*read("definition", tmp_path, tmp_path / f"{kind}.vtkhdf"), near, fields)


@needs_vtk
@pytest.mark.parametrize("name", REAL)
def test_vtk_reads_real_outputs(data, tmp_path, name):
    ds = octavo.open(newest(data / name))
    near, fields = ds.sphere((0.4,) * ds._data.dim, 0.23), [*ds.fields[:2], "level"]
    ds.export(tmp_path / "a.vtkhdf", fields=fields)
    near.export(tmp_path / "b.vtkhdf", fields=fields)
    ds.export(tmp_path / "c.vtkhdf", as_="ug", fields=fields)
    whole, some, voxels = vtk_reads(tmp_path, *(tmp_path / f"{name}.vtkhdf" for name in "abc"))
    same_cells(voxels, ds, fields)
    same_cells(whole, ds, fields)
    same_cells(some, near, fields)
    assert not np.isnan(whole[f"all:{fields[0]}"]).any()


def newest(folder):
    """The last output in a folder, by name."""
    return [path for path in sorted(folder.rglob("*")) if recognised(path)][-1]


def recognised(path):
    try:
        octavo.open(path)
    except octavo.Error:
        return False
    return True


@needs_vtk
@needs_mpi
def test_ranks_threads_and_stores_make_the_same_file(sample, run, tmp_path):
    octavo.convert(sample, tmp_path / "run.octavo")
    for kind in ("htg", "amr", "ug", "particles"):
        words = ["--as", kind, "--roi", "sphere:0.4,0.5,0.6:0.3", "-f"]
        words += [] if kind == "particles" else ["--field", "density,pressure"]
        one, three, store = (tmp_path / f"{name}.vtkhdf" for name in ("one", "three", "store"))
        run("export", sample, one, *words, "-j", "1")
        run("export", sample, three, *words, "-j", "2", ranks=3)
        run("export", tmp_path / "run.octavo", store, *words)
        assert one.read_bytes() == three.read_bytes()
        assert kind == "particles" or one.read_bytes() == store.read_bytes()


def test_an_export_holds_one_part_and_few_bits_a_cell(run, run_json, tmp_path):
    """A file of 25 MB or more takes less than half of 25 MB."""

    def peak(*words):
        code, text, used = peak_of(words)
        assert code == 0, text
        return used

    step, tiny = tmp_path / "output_00001", tmp_path / "output_00002"
    run("sample", step, "--domains", 32, "--levels", "6-8", "-q")
    run("sample", tiny, "--domains", 1, "--levels", "2-2", "-q")
    for kind in ("htg", "amr", "ug"):
        size = run_json("export", step, tmp_path / "a.vtkhdf", "--as", kind, "-q", "-f", "-j", "1")["bytes"]
        held, least = (
            peak("export", path, tmp_path / "a.vtkhdf", "--as", kind, "-q", "-f", "-j", "1") for path in (step, tiny)
        )
        held -= least
        assert size > 22e6 and held < 12.5e6, kind


@READERS
def test_voxels_are_the_cells_of_every_selection(sample, run, tmp_path, reader):
    ds = octavo.open(sample)
    selections = [ds, ds.sphere("center", 0.21).level(5), ds.where("x + y < 0.7 & velocity_x > 0")]
    files = [tmp_path / f"{i}.vtkhdf" for i in range(len(selections))]
    for file, selection in zip(files, selections, strict=True):
        report = selection.export(file, as_="ug", fields=["density", "level", "speed"])
        assert report["cells"] == len(selection.arrays("density")["density"])
    for found, selection in zip(read(reader, tmp_path, *files), selections, strict=True):
        assert found["class"] == "vtkUnstructuredGrid" and found["time"] == ds.time
        same_cells(found, selection, ["density", "level", "speed"])
    with pytest.raises(octavo.UsageError, match="exists"):
        ds.export(files[0], as_="ug")
    run("sample", tmp_path / "output_00001", "--domains", "1", "--levels", "3-5", "-q")
    octavo.open(tmp_path / "output_00001").export(files[0], as_="ug", fields="level", overwrite=True)
    (found,) = read(reader, tmp_path, files[0])  # each corner of a domain is there once
    corner = [np.where(np.arange(8)[:, None] >> np.arange(3) & 1, found["hi"][:, None], found["lo"][:, None])]
    assert found["points"] == len(np.unique(np.concatenate(corner).reshape(-1, 3), axis=0))
    ds.sphere("center", 0.1).export(files[0], as_="ug", single_precision=True, overwrite=True)
    (found,) = read(reader, tmp_path, files[0])
    assert found["field:density"].dtype == np.float32


@READERS
@pytest.mark.parametrize(
    "name", ["sample", "ramses/sedov3d_4ranks", "flash/sedov3d_octant_par3", "amrex/adv3d_amrlevel_r2"]
)
def test_boxes_on_levels_show_the_leaves(sample, request, tmp_path, name, reader):
    path = sample
    if name != "sample":
        path = newest(request.getfixturevalue("data") / name)
    ds = octavo.open(path)
    fields = [ds.fields[0], "level"]
    selections = [ds, ds.level(ds.levels[-2]), ds.sphere("center", 0.3), ds.where("x < 0.3")]
    files = [tmp_path / f"{i}.vtkhdf" for i in range(len(selections))]
    for file, selection in zip(files, selections, strict=True):
        report = selection.export(file, as_="amr", fields=fields)
        assert report["leaves"] == len(selection.arrays("level")["level"])
    for i, (found, selection) in enumerate(zip(read(reader, tmp_path, *files), selections, strict=True)):
        assert found["class"] == "vtkOverlappingAMR"
        shown = ~np.isnan(found[f"field:{fields[0]}"])
        assert shown.all() or i >= 2
        same_cells(
            {key: array[shown] for key, array in found.items() if np.shape(array)[:1] == shown.shape}, selection, fields
        )


def test_boxes_on_levels_are_for_three_dimensions(data, run, tmp_path):
    path = newest(data / "ramses" / "implosion2d_2ranks")
    done = run("export", path, tmp_path / "a.vtkhdf", "--as", "amr", check=False)
    assert done.returncode == 4 and "3-D" in done.stderr


@needs_vtk
def test_triangles_are_exported_with_vtks_own_layout(data, run, tmp_path):
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    run("export", path, tmp_path / "a.vtkhdf")
    run("convert", path, tmp_path / "b.vtkhdf")
    assert (tmp_path / "a.vtkhdf").read_bytes() == (tmp_path / "b.vtkhdf").read_bytes()
    assert run("export", path, tmp_path / "c.vtkhdf", "--where", "x > 0", check=False).returncode == 4


@needs_vtk
def test_particles_keep_places_attributes_and_family(sample, data, run, tmp_path):
    ds = octavo.open(sample)
    selections = [ds, ds.sphere((0.4, 0.5, 0.6), 0.3)]
    files = [tmp_path / f"{i}.vtkhdf" for i in range(len(selections))]
    for file, selection in zip(files, selections, strict=True):
        selection.export(file, as_="particles")
    for found, selection in zip(vtk_reads(tmp_path, *files), selections, strict=True):
        there = selection.particles()
        assert found["class"] == "vtkPolyData" and len(found["points"]) > 100
        assert np.array_equal(found["points"], np.stack([there[f"position_{axis}"] for axis in "xyz"], axis=1))
        assert np.array_equal(found["vertices"], np.arange(len(found["points"])))
        assert not found["field:species"].any()
        for name in set(there) - {"position_x", "position_y", "position_z"}:
            assert np.array_equal(found[f"field:{name}"], there[name]), name
    run("export", sample, tmp_path / "p.csv", "--as", "particles", "--roi", "sphere:0.4,0.5,0.6:0.3")
    table = np.genfromtxt(tmp_path / "p.csv", delimiter=",", names=True)
    there = selections[1].particles()
    assert all(np.array_equal(table[name], there[name]) for name in there)
    done = run("export", sample, files[0], "--as", "particles", "--species", "suns", "-f", check=False)
    assert done.returncode == 2 and 'no species "suns"' in done.stderr
    done = run("export", sample, files[0], "--species", "stars", "-f", check=False)
    assert done.returncode == 2 and "--as particles" in done.stderr


def write_two_species(path):
    """A store with the places of dust and stars, which it returns by their names."""
    header = octavo.Header(code="test", dim=2, roots=(4, 4))
    tree = octavo.Octree([np.zeros(16, bool)], [np.ones(16, bool)], dim=2, roots=(4, 4))
    random = np.random.default_rng(1)
    places = {name: random.random((n, 2)) for name, n in (("dust", 30), ("stars", 20))}
    with octavo.Writer(None, path, header) as writer:
        writer.begin_step("analysis", 1, 0.5)
        writer.put_mesh(tree)
        writer.put_field("density", np.ones(16))
        for name, at in places.items():
            own = {"mass": at[:, 0]} if name == "stars" else {"size": np.arange(30, dtype=np.int32)}
            writer.put_particles(name, {"position_x": at[:, 0], "position_y": at[:, 1], **own})
        writer.end_step()
    return places


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    """Until it is whole it has another name."""
    write_two_species(tmp_path / "run.octavo")
    with pytest.raises(octavo.UsageError, match="one species") as caught:
        octavo.open(tmp_path / "run.octavo").export(tmp_path / "b.npz", as_="particles")
    assert str(tmp_path / "b.npz") in str(caught.value) and "partial" not in str(caught.value)


@needs_vtk
def test_species_have_their_numbers_and_what_one_lacks_is_nan(tmp_path):
    places = write_two_species(tmp_path / "run.octavo")
    ds = octavo.open(tmp_path / "run.octavo").box((0.2, 0.0), (0.9, 1.0))
    report = ds.export(tmp_path / "a.vtkhdf", as_="particles")
    assert sorted(report["species"]) == ["dust", "stars"]
    (found,) = vtk_reads(tmp_path, tmp_path / "a.vtkhdf")
    for number, name in enumerate(report["species"]):
        there, chosen = places[name], found["field:species"] == number
        there = there[(there[:, 0] >= 0.2) & (there[:, 0] < 0.9)]
        assert 5 < len(there) < len(places[name])
        order = np.argsort(there[:, 0])
        mine = np.argsort(found["points"][chosen, 0])
        assert np.array_equal(found["points"][chosen][mine], np.pad(there[order], ((0, 0), (0, 1))))
        masses = found["field:mass"][chosen][mine]
        assert np.array_equal(masses, there[order, 0]) if name == "stars" else np.isnan(masses).all()
    assert found["field:size"].max() == 29
    ds.export(tmp_path / "b.npz", as_="particles", species="stars", fields="mass")
    assert (
        np.load(tmp_path / "b.npz")["mass"].size == (found["field:species"] == report["species"].index("stars")).sum()
    )


def painted(cells, size, shape):
    """The value of the cell that covers each cell of a cube from the origin, painted one by one."""
    cube = np.full(shape, np.nan)
    for x, y, z, dx, value in zip(*(cells[name] for name in ("x", "y", "z", "dx", "density")), strict=True):
        first, n = [round((centre - dx / 2) / size) for centre in (z, y, x)], max(1, round(dx / size))
        cube[tuple(slice(f, f + n) for f in first)] = value
    return cube


@pytest.mark.parametrize("level", [4, 5, 6])
def test_a_cube_is_the_leaves_and_keeps_their_sum(sample, level):
    ds = octavo.open(sample)
    cube = ds.level(level).cube(["density", "level"])
    size = 1 / 2**level
    assert (
        cube.shape == (2**level,) * 3 and cube.cell == (size,) * 3 and cube.corner == (0, 0, 0) and cube.level == level
    )
    assert np.array_equal(cube["density"], painted(ds.level(level).arrays("density"), size, cube.shape))
    assert np.isclose(cube["density"].sum() * size**3, ds.sum("density", weight="volume"), rtol=1e-12)
    assert cube["level"].max() == level


def test_a_cube_over_a_region_has_the_cells_whose_centre_is_inside(sample):
    ds = octavo.open(sample)
    whole = ds.level(5).cube("density")
    box = ds.box((0.11, 0.2, 0.3), (0.52, 0.6, 0.81)).level(5).cube("density")
    centres = {axis: whole.centres(axis) for axis in "xyz"}
    inside = {
        axis: (c > lo) & (c < hi)
        for (axis, c), lo, hi in zip(centres.items(), (0.11, 0.2, 0.3), (0.52, 0.6, 0.81), strict=True)
    }
    expected = whole["density"][np.ix_(inside["z"], inside["y"], inside["x"])]
    assert np.array_equal(box["density"], expected) and np.isclose(box.corner[0], 4 / 32) and box.first == (4, 6, 10)
    ball = ds.sphere((0.5, 0.4, 0.6), 0.2).level(5).cube("density")
    z, y, x = np.meshgrid(*(ball.centres(axis) for axis in "zyx"), indexing="ij")
    near = (x - 0.5) ** 2 + (y - 0.4) ** 2 + (z - 0.6) ** 2 < 0.04
    assert np.array_equal(~np.isnan(ball["density"]), near)
    for axis in range(3):  # no slab without a cell
        assert near.any(axis=tuple(a for a in range(3) if a != axis)).all()
    hot = ds.where("density > 1").level(5).cube(["density", "density*2"])
    assert np.array_equal(hot["density"], np.where(whole["density"] > 1, whole["density"], np.nan), equal_nan=True)
    assert np.array_equal(hot["density*2"], 2 * hot["density"], equal_nan=True)
    with pytest.raises(octavo.UsageError, match="no centre"):
        ds.sphere((0.5, 0.5, 0.5), 1e-4).cube("density")


@needs_vtk
def test_cubes_in_files_are_the_cube(sample, run, tmp_path):
    words = ["--field", "density,pressure", "--level", "5", "--roi", "box:0.1,0.2,0.3:0.5,0.6,0.8", "-f"]
    cube = octavo.open(sample).box((0.1, 0.2, 0.3), (0.5, 0.6, 0.8)).level(5).cube(["density", "pressure"])
    for name in ("a.npz", "a.fits", "a.vtkhdf"):
        run("export", sample, tmp_path / name, "--as", "cube", *words)
    arrays = np.load(tmp_path / "a.npz")
    assert np.array_equal(arrays["pressure"], cube["pressure"]) and tuple(arrays["octavo_corner"]) == cube.corner
    (found,) = vtk_reads(tmp_path, tmp_path / "a.vtkhdf")
    assert np.array_equal(found["field:pressure"].reshape(cube.shape), cube["pressure"])
    assert tuple(found["dimensions"] - 1) == cube.shape[::-1]
    upper = [c + n * d for c, n, d in zip(cube.corner, cube.shape[::-1], cube.cell, strict=True)]
    assert np.allclose(found["bounds"][1::2], upper) and np.allclose(found["bounds"][::2], cube.corner)
    run("export", sample, tmp_path / "a.npy", "--field", "density", "--level", "4")
    assert np.array_equal(np.load(tmp_path / "a.npy"), octavo.open(sample).level(4).cube("density")["density"])
    done = run("export", sample, tmp_path / "b.npy", check=False)
    assert done.returncode == 2 and "one field" in done.stderr and not (tmp_path / "b.npy").exists()


def test_fits_is_read_by_astropy(sample, tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    ds = octavo.open(sample).level(5).box((0.1, 0.2, 0.3), (0.5, 0.6, 0.8))
    ds.export(tmp_path / "a.fits", fields=["density", "velocity_x"])
    cube = ds.cube(["density", "velocity_x"])
    with fits.open(tmp_path / "a.fits") as units:
        units.verify("exception")
        assert [unit.name for unit in units] == ["density", "velocity_x"]
        for unit, name in zip(units, cube.fields, strict=True):
            assert np.array_equal(unit.data, cube[name])
            assert unit.header["BUNIT"] == cube.units[name] and unit.header["TIME"] == cube.time
            assert unit.header["CRVAL3"] == cube.corner[2] and unit.header["CDELT1"] == cube.cell[0]


def test_a_table_of_cells_has_every_digit(sample, run, tmp_path):
    ds = octavo.open(sample).sphere("center", 0.2)
    run("export", sample, tmp_path / "a.csv", "--field", "density,speed", "--roi", "sphere:center:0.2")
    table, there = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True), ds.arrays(["density", "speed"])
    assert list(table.dtype.names) == list(there) and all(np.array_equal(table[name], there[name]) for name in there)
    ds.export(tmp_path / "a.npz", as_="cells", fields="density", single_precision=True)
    arrays = np.load(tmp_path / "a.npz")
    assert np.array_equal(arrays["density"], there["density"].astype(np.float32))
    assert np.array_equal(arrays["level"], there["level"])


def test_pandas_and_dask_have_the_cells(sample):
    pytest.importorskip("pandas")
    ds = octavo.open(sample).where("x < 0.4")
    table, there = ds.to_pandas(["density", "speed"]), ds.arrays(["density", "speed"])
    assert list(table) == list(there) and all(np.array_equal(table[name], there[name]) for name in there)
    pytest.importorskip("dask.dataframe")
    frame = ds.to_dask(["density", "speed"])
    assert frame.npartitions == ds.domains
    assert np.isclose(frame["density"].sum().compute(scheduler="sync"), there["density"].sum(), rtol=1e-12)


def test_xarray_has_the_cube(sample):
    pytest.importorskip("xarray")
    ds = octavo.open(sample).level(5).sphere("center", 0.3)
    found, cube = ds.to_xarray(["density"]), ds.cube("density")
    assert found["density"].dims == ("z", "y", "x") and np.array_equal(found["x"], cube.centres("x"))
    at = found["density"].sel(x=0.5, y=0.45, z=0.6, method="nearest")
    assert (
        float(at)
        == octavo.open(sample).level(5).line("density", (0.515, 0.451, 0.601), (0.516, 0.451, 0.601))["density"][0]
    )


@needs_vtk
@pytest.mark.parametrize("name", ["3-D", "flash/sedov2d_pm4_par4", "serafin/geo_gouttedo.slf"])
def test_pyvista_has_the_mesh(sample, request, tmp_path, name):
    pytest.importorskip("pyvista")
    path = sample
    if name != "3-D":
        path = request.getfixturevalue("data") / name
        path = path if path.is_file() else newest(path)
    ds = octavo.open(path)
    grid = ds.to_pyvista(None if ds._data.unstructured else ["level"])
    if ds._data.unstructured:
        assert grid.n_points == len(ds.part(0).x) and grid.area > 0
        return
    cells = ds.arrays("level")
    assert grid.n_cells == len(cells["level"]) and np.array_equal(grid.cell_data["level"], cells["level"])
    domain = np.prod(np.array(ds._data.hi) - np.array(ds._data.lo))
    assert np.isclose(grid.volume if ds._data.dim == 3 else grid.area, domain, rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["sample", "ramses/implosion2d_2ranks", "flash/sedov3d_octant_par3", "amrex/adv3d_amrlevel_r2"]
)
def test_yt_has_the_cells(sample, request, name):
    yt = pytest.importorskip("yt")
    yt.set_log_level("error")
    ds = octavo.open(sample if name == "sample" else newest(request.getfixturevalue("data") / name))
    for selection in (ds, ds.level(ds.levels[-2])):
        field = ds.fields[0]
        found, cells = selection.to_yt(field).all_data(), selection.arrays(field)
        here = np.sort(np.asarray(found["stream", field]))
        assert np.array_equal(here, np.sort(cells[field])) and np.isclose(float(found.ds.current_time), ds.time)
        order = np.lexsort([np.round(np.asarray(found["index", axis].to("code_length")), 10) for axis in "zyx"])
        there = np.lexsort([np.round(cells.get(axis, np.full(len(here), 0.5)), 10) for axis in "zyx"])
        assert np.array_equal(np.asarray(found["stream", field])[order], cells[field][there])
    with pytest.raises(octavo.Unsupported, match="whole step"):
        ds.sphere("center", 0.2).to_yt()


def test_a_missing_library_is_named(sample, monkeypatch):
    for name, call in {"pandas": "to_pandas", "xarray": "to_xarray", "pyvista": "to_pyvista", "yt": "to_yt"}.items():
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(octavo.Unsupported, match=f"the Python package {name}, which is not installed"):
            getattr(octavo.open(sample).level(4), call)("density")


def test_a_cube_larger_than_memory_is_refused_before_it_is_made(sample, run, tmp_path):
    done = run("export", sample, tmp_path / "a.npy", "--field", "density", "--memory", "1MB", check=False)
    assert done.returncode == 5 and not list(tmp_path.iterdir())
    tree = [np.ones(1, bool), *([np.eye(1, 8, dtype=bool)[0]] * 14), np.zeros(8, bool)]
    with octavo.Writer(None, tmp_path / "deep.octavo", octavo.Header(code="test", roots=(1, 1, 1))) as writer:
        writer.begin_step("analysis", 1, 0.5)
        writer.put_mesh(octavo.Octree(tree, [np.ones(len(level), bool) for level in tree], roots=(1, 1, 1)))
        writer.put_field("density", np.ones(sum(map(len, tree))))
        writer.end_step()
    ds = octavo.open(tmp_path / "deep.octavo")
    with pytest.raises(octavo.NoSpace, match="10\\^12"):
        ds.cube("density")
    deepest = ds.sphere((0, 0, 0), 1e-4).cube("density")
    assert deepest["density"][0, 0, 0] == 1 and np.isclose(deepest.cell[0], 2.0**-15)
    ds.export(tmp_path / "deep.vtkhdf")
    same_cells(cells_of_trees(tmp_path / "deep.vtkhdf"), ds, ["density"])


def test_an_export_of_nothing_is_refused_and_leaves_nothing(sample, run, tmp_path):
    out = tmp_path / "a.vtkhdf"
    done = run("export", sample, out, "--where", "density < -1", check=False)
    assert done.returncode == 2 and "no cell is selected" in done.stderr and not list(tmp_path.iterdir())
    done = run("export", sample, out, "--field", "densty", check=False)
    assert done.returncode == 2 and "density" in done.stderr
    assert OCTAVO.exists()


# ---------------------------------------------------------------------------------------------------------- many steps


@pytest.fixture(scope="module")
def run_of_three(run, tmp_path_factory):
    """Three outputs of one domain with other trees, cells and times each."""
    folder = tmp_path_factory.mktemp("run")
    for number, (levels, domains) in enumerate((("3-5", 3), ("2-4", 1), ("4-6", 5)), 1):
        path = folder / f"output_{number:05}"
        run("sample", path, "--levels", levels, "--domains", domains, "--seed", number, "-q")
        for file in path.glob("amr_*"):  # records of the time alone: of the run, and of its next output
            old, new = (b"\x08\0\0\0" + np.float64(time).tobytes() + b"\x08\0\0\0" for time in (0.05, 0.5 * number))
            raw = file.read_bytes()
            assert raw.count(old) == 2
            file.write_bytes(raw.replace(old, new))
    return folder


@needs_vtk
@pytest.mark.parametrize("kind", ["htg", "ug"])
@pytest.mark.parametrize("words", [[], ["--roi", "sphere:0.4,0.5,0.6:0.3"]])
def test_vtk_reads_every_step_of_a_series_as_that_step_alone(run_of_three, run, run_json, tmp_path, kind, words):
    out = tmp_path / "series.vtkhdf"
    words = ["--as", kind, "--field", "density,level", *words]
    report = run_json("export", run_of_three / "output_*", out, *words)
    assert report["steps"] == 3 and report["times"] == [0.5, 1.0, 1.5] and report["bytes"] == out.stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["series.vtkhdf"]
    alone = [tmp_path / f"{number}.vtkhdf" for number in range(3)]
    for number, path in enumerate(alone):
        run("export", run_of_three / f"output_{number + 1:05}", path, *words)
    steps = vtk_reads(tmp_path, *(f"{out}@{number}" for number in range(3)))
    for number, (step, one) in enumerate(zip(steps, vtk_reads(tmp_path, *alone), strict=True)):
        assert step["steps"] == 3 and step["time"] == 0.5 * (number + 1) and one["time"] == step["time"]
        assert len(step["field:density"]) == report["leaves"][number]
        for name in one.keys() - {"steps", "class", "time"}:
            if name not in ("field:vtkGhostType", "field:OriginalIds"):  # VTK sets its own, and not all of these
                assert np.array_equal(step[name], one[name], equal_nan=True), (number, name)
    assert len({len(step["field:density"]) for step in steps}) == 3


def test_one_step_with_a_mask_gives_all_one(run_of_three, tmp_path):
    out = tmp_path / "series.vtkhdf"
    octavo.series(run_of_three / "output_*").export(
        out, fields="density", select=lambda ds: ds.sphere("center", 0.3) if ds.time == 1.0 else ds
    )
    with h5py.File(out) as file:
        grid = file["VTKHDF"]
        cells, starts = grid["NumberOfCells"][:], grid["Steps/MaskOffsets"][:]
        hidden = [np.unpackbits(grid["Mask"][start:])[:count].sum() for start, count in zip(starts, cells, strict=True)]
        assert hidden[0] == hidden[2] == 0 and hidden[1] > 0
        assert grid["CellData/density"].attrs["Name"] in (b"density", "density")


@needs_mpi
def test_ranks_and_stores_make_the_same_series(run_of_three, run, tmp_path):
    outputs = sorted(run_of_three.glob("output_*"))
    run("convert", *outputs, tmp_path / "run.octavo", "-q")
    one, three, store = (tmp_path / f"{name}.vtkhdf" for name in ("one", "three", "store"))
    run("export", *outputs, one, "--field", "density", "-j", 1)
    run("export", *outputs, three, "--field", "density", ranks=3)
    run("export", tmp_path / "run.octavo", store, "--all-steps", "--field", "density")
    assert one.read_bytes() == three.read_bytes() == store.read_bytes()


def test_a_series_that_is_none_is_refused_and_leaves_nothing(run_of_three, data, run, tmp_path):
    other = data / "ramses" / "tracer2d_3ranks" / "output_00002"
    for words, message in (
        ([run_of_three / "output_*", tmp_path / "a.csv"], "VTKHDF file of kind htg or ug"),
        ([run_of_three / "output_*", tmp_path / "a.vtkhdf", "--as", "amr"], "VTKHDF file of kind htg or ug"),
        ([run_of_three / "none_*", tmp_path / "a.vtkhdf"], "none_*"),
        ([run_of_three / "output_*", tmp_path / "a.vtkhdf", "--step", "3"], "--step does not go with several steps"),
        ([run_of_three / "output_00001", other, tmp_path / "a.vtkhdf", "--field", "density"], "has other"),
        ([run_of_three / "output_*", tmp_path / "a.vtkhdf", "--field", "colour"], "colour"),
    ):
        done = run("export", *words, check=False)
        assert done.returncode in (2, 3, 4) and message in done.stderr, done.stderr
        assert not list(tmp_path.iterdir())
