"""XDMF files as other programs write them, and outputs that would replace their input."""

import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from solid_meshes import box, write_vtkhdf

import octavo

POINTS = "0 0 0  1 0 0  0 1 0  0 0 1  1 1 1"


def item(values, shape, kind="Float"):
    return f'<DataItem Dimensions="{shape}" NumberType="{kind}" Precision="8" Format="XML">{values}</DataItem>'


def attribute(name, values, centre="Node"):
    return f'<Attribute Name="{name}" Center="{centre}">{item(values, len(values.split()))}</Attribute>'


def grid(inside="", cells="0 1 2 3 1 2 3 4", topology='TopologyType="Tetrahedron"', points=POINTS, name="g"):
    return (
        f'<Grid Name="{name}" GridType="Uniform"><Topology {topology}>{item(cells, len(cells.split()), "Int")}'
        f'</Topology><Geometry GeometryType="XYZ">{item(points, len(points.split()))}</Geometry>{inside}</Grid>'
    )


def steps(*grids, time="", name="c"):
    return f'<Grid Name="{name}" GridType="Collection" CollectionType="Temporal">{time}{"".join(grids)}</Grid>'


@pytest.fixture
def written(tmp_path):
    def call(domain, head=""):
        path = tmp_path / "given.xdmf"
        path.write_text(f'<?xml version="1.0"?>{head}<Xdmf Version="3.0"><Domain>{domain}</Domain></Xdmf>')
        return path

    return call


def u(step=0):
    return attribute("u", " ".join(str(step + i) for i in range(5)))


def test_an_output_never_replaces_the_input(run, tmp_path):
    mesh = box((2, 1, 1), "mixed")
    mesh.at_points = {"head": np.array([mesh.points[:, 0]])}
    given = shutil.copy(write_vtkhdf(tmp_path / "given.vtkhdf", mesh, [0.0]), tmp_path / "in.h5")
    run("convert", given, tmp_path / "data.xdmf", "-q")
    shutil.copy(tmp_path / "data.xdmf", tmp_path / "run.xdmf")
    (tmp_path / "data.xdmf").unlink()
    (tmp_path / "link.h5").symlink_to("data.h5")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for source, out in (("in.h5", "in.xdmf"), ("run.xdmf", "data.xdmf"), ("run.xdmf", "link.xdmf")):
        for words in ([], ["-f"]):
            done = run("convert", tmp_path / source, tmp_path / out, "-q", *words, check=False)
            assert done.returncode == 2 and "would replace the input's" in done.stderr, done.stderr
            assert "-f replaces" not in done.stderr
            assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    (tmp_path / "left.h5").write_text("left out")
    left = '<Attribute Name="e" Center="Edge"><DataItem Dimensions="1" Format="HDF">left.h5:/e</DataItem></Attribute>'
    text = (tmp_path / "run.xdmf").read_text().replace("</Grid>", left + "</Grid>")
    (tmp_path / "more.xdmf").write_text(text)
    done = run("convert", tmp_path / "more.xdmf", tmp_path / "left.xdmf", "-q", "-f", check=False)
    assert done.returncode == 2 and (tmp_path / "left.h5").read_text() == "left out"
    run("convert", tmp_path / "run.xdmf", tmp_path / "other.xdmf", "-q")
    run("convert", tmp_path / "run.xdmf", tmp_path / "other.xdmf", "-q", "-f")


def test_points_are_numbered_from_the_base_offset(written):
    plain = octavo.open(written(grid())).part(0)
    mixed = 'TopologyType="Mixed" BaseOffset="1"'
    for topology, cells in (
        ('TopologyType="Tetrahedron" BaseOffset="1"', "1 2 3 4 2 3 4 5"),
        (mixed, "6 1 2 3 4 6 2 3 4 5"),
    ):
        part = octavo.open(written(grid(topology=topology, cells=cells))).part(0)
        assert np.array_equal(part.connectivity, plain.connectivity)
    with pytest.raises(octavo.Error):
        octavo.open(written(grid(topology=mixed, cells="6 0 1 2 3"))).part(0)
    for own, words in (('Order="3 2 1 0"', "Order 3 2 1 0"), ('BaseOffset="one"', "BaseOffset one")):
        with pytest.raises(octavo.Error, match=words):
            octavo.open(written(grid(topology=f'TopologyType="Tetrahedron" {own}')))


@pytest.mark.parametrize(
    "time, own, times",
    [
        (f'<Time TimeType="List">{item("10. 20. 40.", 3)}</Time>', [""] * 3, [10, 20, 40]),
        (f'<Time TimeType="HyperSlab">{item("1 0.25 3", 3)}</Time>', [""] * 3, [1, 1.25, 1.5]),
        ("", ['<Time Value="+1"/>', '<Time Value=" 2.5 "/>', '<Time Value="1e1"/>'], [1, 2.5, 10]),
        (f'<Time TimeType="List">{item("10. 20.", 2)}</Time>', [""] * 3, None),
        (f'<Time TimeType="Range">{item("1 2", 2)}</Time>', [""] * 3, [1, 1.5, 2]),
        ("", [f'<Time TimeType="Range">{item(f"{s} {s + 1}", 2)}</Time>' for s in (3, 4, 5)], [3, 4, 5]),
        ("", [""] * 3, None),
        ("", ['<Time Value="1"/>', '<Time Value="noon"/>', '<Time Value="3"/>'], None),
    ],
)
def test_times_are_those_of_the_steps_or_of_the_collection(written, time, own, times):
    path = written(steps(*(grid(own[s] + u(s)) for s in range(3)), time=time))
    assert [octavo.open(path, step=s).time for s in range(3)] == (times or [0, 1, 2])
    assert ("the file has no times: steps are numbered" in octavo.open(path)._data.notes) == (times is None)


def test_a_single_mesh_needs_no_time(written):
    assert octavo.open(written(grid(u())))._data.notes == []


def test_notes_name_the_grids_and_fields_that_are_left_out(written):
    times = [f'<Time Value="{s}"/>' for s in range(3)]
    pressure = attribute("p", "1 2 3 4 5")
    first = steps(*(grid(times[s] + u(s) + (pressure if s != 1 else "")) for s in range(3)), name="one")
    notes = octavo.open(written(grid(name="mesh") + first + steps(grid(times[0] + pressure), name="two")))._data.notes
    assert notes == ["grid one is read; others are left out: two", "field p has no values at step 1"]


def test_heights_of_a_surface_are_left_out_with_a_note(written):
    surface = {"topology": 'TopologyType="Triangle"', "cells": "0 1 2"}
    assert octavo.open(written(grid(**surface)))._data.notes == ["the points' heights (z) are left out"]
    assert octavo.open(written(grid(**surface, points="0 0 0 1 0 0 0 1 0")))._data.notes == []


def test_points_and_lines_of_a_mixed_topology_are_left_out(written):
    mixed = 'TopologyType="Mixed"'
    cells = "1 1 0  6 0 1 2 3  2 2 0 1  4 0 1 2  6 1 2 3 4"
    step = octavo.open(written(grid(attribute("c", "1 2 3 4 5", "Cell"), topology=mixed, cells=cells)))
    assert step._data.notes == ["3 cells that are no solids (points, lines, sides) are left out"]
    assert step.part(0).fields["c"].tolist() == [2, 5] and len(step.part(0).corners) == 2
    cells = "2 2 0 1  4 0 1 2  1 1 3  4 0 2 3"
    flat = grid(attribute("c", "1 2 3 4", "Cell"), topology=mixed, cells=cells, points="0 0 0 1 0 0 1 1 0 0 1 0")
    step = octavo.open(written(flat))
    assert step._data.notes == ["2 cells that are points or lines are left out"]
    assert step.part(0).triangles.tolist() == [[0, 1, 2], [2, 3, 0]] and step.part(0).fields["c"].tolist() == [2, 4]
    for cells, words in (("1 1 0 2 2 0 1", "points and lines"), ("6 0 1 2 3 2 9 0", "ends in a cell")):
        with pytest.raises(octavo.Error, match=words):
            octavo.open(written(grid(topology=mixed, cells=cells)))


def test_two_attributes_of_one_name_are_both_read(written):
    fields = octavo.open(written(grid(attribute("T", "1 2 3 4 5") + attribute("T", "8 9", "Cell")))).part(0).fields
    assert fields["T"].tolist() == [1, 2, 3, 4, 5] and fields["T (CellData)"].tolist() == [8, 9]


def test_data_sets_may_be_named_without_a_slash(run, tmp_path):
    mesh = box((2, 1, 1), "mixed")
    mesh.at_points = {"head": np.array([mesh.points[:, 0]])}
    run("convert", write_vtkhdf(tmp_path / "given.vtkhdf", mesh, [0.0]), tmp_path / "a.xdmf", "-q")
    text = (tmp_path / "a.xdmf").read_text()
    assert "a.h5:/" in text
    (tmp_path / "b.xdmf").write_text(text.replace("a.h5:/", "a.h5:"))
    assert np.array_equal(octavo.open(tmp_path / "b.xdmf").part(0).fields["head"], mesh.points[:, 0])


def test_numbers_in_the_text_may_have_a_plus_and_be_too_small(written):
    values = octavo.open(written(grid(attribute("u", "+0.5 1e-400 -1e-400 +1e+2 -3")))).part(0).fields["u"]
    assert values.tolist() == [0.5, 0, 0, 100, -3]
    for bad in ("1e400", "+-1", "+"):
        with pytest.raises(octavo.Error, match="expected a number"):
            octavo.open(written(grid(attribute("u", f"1 2 3 4 {bad}")))).part(0)


def test_document_types_are_passed_over(written):
    for head in ("<!DOCTYPE Xdmf>", '<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []>', "<!DOCTYPE Xdmf [<!ENTITY a 'b'>]>"):
        assert octavo.open(written(grid(), head)).part(0).corners.tolist() == [4, 4]


def test_bytes_are_those_of_both_files(run_json, tmp_path):
    source = write_vtkhdf(tmp_path / "a.vtkhdf", box())
    report = run_json("convert", source, tmp_path / "a.xdmf")
    both = sum((tmp_path / name).stat().st_size for name in ("a.xdmf", "a.h5"))
    assert report["bytes"] == both and run_json("info", tmp_path / "a.xdmf")["bytes"] == both


# ------------------------------------------------------------------ arrays that stand elsewhere

PETSC = """<?xml version="1.0" ?>
<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" [
<!ENTITY HeavyData "run.h5">
]>

<Xdmf>
  <Domain Name="domain">
    <DataItem Name="cells"
              ItemType="Uniform"
              Format="HDF"
              NumberType="Float" Precision="8"
              Dimensions="2 4">
      &HeavyData;:/topology/cells
    </DataItem>
    <DataItem Name="vertices"
              Format="HDF"
              Dimensions="5 3">
      &HeavyData;:/geometry/vertices
    </DataItem>
    <!-- ============================================================ -->
    <Grid Name="TimeSeries" GridType="Collection" CollectionType="Temporal">
      <Time TimeType="List">
        <DataItem Format="XML" NumberType="Float" Dimensions="3">
          0.0 0.5 2.0
        </DataItem>
      </Time>
{grids}    </Grid>
  </Domain>
</Xdmf>
"""
PETSC_GRID = """      <Grid Name="domain" GridType="Uniform">
        <Topology
           TopologyType="Tetrahedron"
           NumberOfElements="2">
          <DataItem Reference="XML">
            /Xdmf/Domain/DataItem[@Name="cells"]
          </DataItem>
        </Topology>
        <Geometry GeometryType="XYZ">
          <DataItem Reference="XML">
            /Xdmf/Domain/DataItem[@Name="vertices"]
          </DataItem>
        </Geometry>
{fields}      </Grid>
"""


def slab(inside, start, stride, count, dimensions=None):
    axes = len(start)
    numbers = " ".join(str(n) for n in (*start, *stride, *count))
    return (
        f'<DataItem ItemType="HyperSlab" Dimensions="{dimensions or " ".join(map(str, count))}" Type="HyperSlab">'
        f'<DataItem Dimensions="3 {axes}" Format="XML">{numbers}</DataItem>{inside}</DataItem>'
    )


def heavy(path, shape, entity="&HeavyData;"):
    shape = " ".join(map(str, shape))
    return f'<DataItem DataType="Float" Precision="8" Dimensions="{shape}" Format="HDF">{entity}:{path}</DataItem>'


def field(name, inside, centre="Node"):
    return f'<Attribute Name="{name}" Center="{centre}">{inside}</Attribute>'


@pytest.fixture
def petsc(tmp_path):
    """A file as PETSc and PyLith describe it: entities, references to arrays of the domain, and slabs of arrays with all steps, of
    which the text may know fewer. Then u (step, point, axis) and k (step, cell, 1)."""
    steps, points = np.arange(3), np.array(POINTS.split(), float).reshape(5, 3)
    u = 100.0 * steps[:, None, None] + 10 * np.arange(5)[:, None] + np.arange(3)
    k = 1.0 * np.arange(6).reshape(3, 2, 1)
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file["topology/cells"] = np.array([[0, 1, 2, 3], [1, 2, 3, 4]], float)
        file["geometry/vertices"] = points
        file["vertex_fields/u"] = np.concatenate([u, u])
        file["cell_fields/k"] = k
    grids = "".join(
        PETSC_GRID.format(
            fields=field("/vertex_fields/u", slab(heavy("/vertex_fields/u", u.shape), (s, 0, 0), (1, 1, 1), (1, 5, 3)))
            + field("u_z", slab(heavy("/vertex_fields/u", u.shape), (s, 0, 2), (1, 1, 1), (1, 5, 1)))
            + field("k", slab(heavy("/cell_fields/k", k.shape), (s, 0, 0), (1, 1, 1), (1, 2, 1)), "Cell")
        )
        for s in steps
    )
    path = tmp_path / "run.xmf"
    path.write_text(PETSC.format(grids=grids))
    return path, points, u, k


def test_files_as_petsc_and_pylith_describe_them(petsc, run_json):
    path, points, u, k = petsc
    for s in range(3):
        step = octavo.open(path, step=s)
        part = step.part(0)
        assert step.time == [0, 0.5, 2][s] and step._data.notes == []
        assert part.connectivity.tolist() == [0, 1, 2, 3, 1, 2, 3, 4] and np.array_equal(part.z, points[:, 2])
        for axis, name in enumerate("xyz"):
            assert np.array_equal(part.fields[f"/vertex_fields/u_{name}"], u[s, :, axis])
        assert np.array_equal(part.fields["u_z"], u[s, :, 2]) and part.fields["k"].tolist() == k[s, :, 0].tolist()
    assert run_json("info", path)["bytes"] == path.stat().st_size + path.with_suffix(".h5").stat().st_size


def test_vtk_reads_the_same_of_such_a_file(petsc):
    xdmf = pytest.importorskip("vtkmodules.vtkIOXdmf2")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    path = petsc[0]
    reader = xdmf.vtkXdmfReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for s, time in enumerate(reader.GetOutputInformation(0).Get(reader.GetExecutive().TIME_STEPS())):
        reader.UpdateTimeStep(time)
        theirs, ours = reader.GetOutputDataObject(0), octavo.open(path, step=s)
        part = ours.part(0)
        assert ours.time == time and np.array_equal(part.x, vtk_to_numpy(theirs.GetPoints().GetData())[:, 0])
        u = vtk_to_numpy(theirs.GetPointData().GetArray("/vertex_fields/u")).reshape(5, 3)
        assert np.array_equal(np.stack([part.fields[f"/vertex_fields/u_{axis}"] for axis in "xyz"], axis=1), u)
        assert np.array_equal(part.fields["u_z"], vtk_to_numpy(theirs.GetPointData().GetArray("u_z")))
        assert np.array_equal(part.fields["k"], vtk_to_numpy(theirs.GetCellData().GetArray("k")))


def test_slabs_have_strides_and_stand_in_other_arrays(written):
    long = item(" ".join(map(str, range(20))), "4 5")
    inside = slab(slab(long, (1, 0), (2, 2), (2, 3)), (1, 0), (1, 2), (1, 2), "2")
    fields = octavo.open(written(grid(field("c", inside, "Cell")))).part(0).fields
    table = np.arange(20).reshape(4, 5)
    assert fields["c"].tolist() == table[1::2, ::2][1, ::2].tolist()
    for start, stride, count, words in (
        ((3, 0), (2, 1), (2, 5), "axis 0, which has 4"),
        ((0, 4), (1, 1), (5, 2), "count 5 along axis 0"),
        ((0, -1), (1, 1), (2, 5), "start -1"),
        ((0, 0), (0, 1), (2, 5), "stride 0"),
        ((0,), (1,), (10,), "3 numbers: expected start, stride and count along each of 2 axes"),
    ):
        with pytest.raises(octavo.Error, match=words):
            octavo.open(written(grid(field("c", slab(long, start, stride, count, "10"))))).part(0)


def places(indices, inside, dimensions):
    words = " ".join(map(str, indices))
    own = f'<DataItem Dimensions="{len(indices)}" NumberType="Int" Format="XML">{words}</DataItem>'
    return f'<DataItem ItemType="Coordinates" Dimensions="{dimensions}">{own}{inside}</DataItem>'


def test_values_are_taken_at_coordinates(written):
    long = item(" ".join(map(str, range(20))), "4 5")
    fields = octavo.open(written(grid(field("c", places((3, 4, 0, 1), long, 2), "Cell")))).part(0).fields
    assert fields["c"].tolist() == [19, 1]
    for indices, words in (
        ((3, 5, 0, 1), "index 5 along axis 1"),
        ((3, -1, 0, 1), "index -1"),
        ((1, 2, 3), "3 indices"),
    ):
        with pytest.raises(octavo.Error, match=words):
            octavo.open(written(grid(field("c", places(indices, long, 2), "Cell")))).part(0)

    with pytest.raises(octavo.Error, match="axis 0, which has 0"):
        octavo.open(written(grid(field("c", places((0, 0), item("", 0), 2), "Cell")))).part(0)


def test_arrays_are_joined_to_vectors_and_points(written):
    def joined(function, count, n=3):
        arrays = "".join(item(f"{i}1 {i}2 {i}3 {i}4 {i}5", 5) for i in range(n))
        return f'<DataItem ItemType="Function" Function="{function}" Dimensions="5 {count}">{arrays}</DataItem>'

    fields = octavo.open(written(grid(field("v", joined("JOIN($0, $1, $2)", 3))))).part(0).fields
    assert fields["v_y"].tolist() == [11, 12, 13, 14, 15] and fields["v_z"].tolist() == [21, 22, 23, 24, 25]
    fields = octavo.open(written(grid(field("v", joined("join($1 , $0, 0*$1)", 3))))).part(0).fields
    assert fields["v_x"].tolist() == [11, 12, 13, 14, 15] and fields["v_z"].tolist() == [0] * 5
    for function in ("$0 + $1", "JOIN($0, $3)", "JOIN($0; $1)", "JOIN()"):
        with pytest.raises(octavo.Error, match="expected JOIN"):
            octavo.open(written(grid(field("v", joined(function, 3)))))
    points = np.array(POINTS.split(), float).reshape(5, 3)
    axes = "".join(item(" ".join(map(str, axis)), 5) for axis in points.T)
    text = grid().replace('"XYZ">' + item(POINTS, 15), '"X_Y_Z">' + axes)
    assert axes in text
    part = octavo.open(written(text)).part(0)
    assert np.array_equal(np.stack([part.x, part.y, part.z], axis=1), points)


INCLUDES = (
    "xpointer(//Grid[@Name=&quot;mesh&quot;]/*[self::Topology or self::Geometry])",
    "xpointer(/Xdmf/Domain/Grid[@GridType='Uniform'][2]/*[self::Topology or self::Geometry])",
    "element(/1/1/2/1)",
)


@pytest.mark.parametrize("pointer", INCLUDES)
def test_steps_include_the_mesh_that_they_name(written, pointer):
    """As meshio, FEniCS and XDMF's own library write it; another mesh stands before."""
    other = grid(name="other", cells="0 1 2 4")
    include = f'<xi:include xpointer="{pointer}"/>'
    if pointer.startswith("element"):
        include += '<xi:include xpointer="element(/1/1/2/2)"/>'
    step = f'<Grid Name="s" GridType="Uniform">{include}<Time Value="3"/>{u()}</Grid>'
    path = written(other + grid(name="mesh") + steps(step, step))
    path.write_text(path.read_text().replace("<Xdmf ", '<Xdmf xmlns:xi="http://www.w3.org/2001/XInclude" '))
    assert octavo.open(path).time == 3 and octavo.open(path).part(0).connectivity.tolist() == [0, 1, 2, 3, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "reference, words",
    [
        ("/Xdmf/Domain/DataItem[3]", "where no element is"),
        ("../DataItem", "expected a path from the outermost element"),
        ("/Xdmf/Domain/DataItem[position()=1]", "expected a path from the outermost element"),
        ("/Xdmf" * 300, "expected a path from the outermost element"),
        ('/Xdmf/Domain/DataItem[@Name="a"]', "lead from one to another"),
    ],
)
def test_references_to_nothing_are_refused(written, reference, words):
    circle = '<DataItem Name="a" Reference="/Xdmf/Domain/DataItem[2]"/><DataItem Reference="/Xdmf/Domain/DataItem[1]"/>'
    own = f'<DataItem Reference="XML">{reference}</DataItem>'
    with pytest.raises(octavo.Error, match=words):
        octavo.open(written(circle + grid(field("u", own))))


def test_elements_of_other_files_are_refused(written):
    with pytest.raises(octavo.Error, match=r"another file, more\.xdmf"):
        octavo.open(written(grid('<xi:include href="more.xdmf"/>')))
    for head, words in (
        ('<!DOCTYPE Xdmf [<!ENTITY a SYSTEM "/etc/hostname">]>', "entity in another file, /etc/hostname"),
        ('<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd">', "entity &a; is not declared"),
        ("", "undefined entity"),
    ):
        with pytest.raises(octavo.Error, match=words):
            octavo.open(written(grid(attribute("u", "1 2 3 4 &a;")), head))


def test_entities_that_grow_are_refused(written):
    laughs = "".join(f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 10))
    path = written(grid(attribute("u", "&l9;")), f"<!DOCTYPE Xdmf [<!ENTITY l0 '1 2 3 4 5 '>{laughs}]>")
    with pytest.raises(octavo.Error, match="entities that make the text more than four times as long"):
        octavo.open(path)


def test_text_that_is_no_xml_is_refused_with_the_byte(written):
    path = written(grid() + "<Grid>")
    with pytest.raises(octavo.Error, match=r"no sound XML: mismatched tag[\s\S]*line 1, byte \d+"):
        octavo.open(path)
    with pytest.raises(octavo.Error, match="more than 100 deep"):
        octavo.open(written("<a>" * 200 + "</a>" * 200 + grid()))
    path = written(grid())
    path.write_text("\n" + path.read_text())  # some programs do
    assert octavo.open(path).part(0).corners.tolist() == [4, 4]


# ---------------------------------------------------------------- collections in space


def spatial(*grids, time="", name="s"):
    return f'<Grid Name="{name}" GridType="Collection" CollectionType="Spatial">{time}{"".join(grids)}</Grid>'


def pieces_of(mesh, owner, step=0, *, time="", base=0, skip=()):
    """The mesh as one grid a piece, each with its own points, as ranks write them: head at points, rock in cells, both a vector."""
    grids = []
    for piece in range(owner.max() + 1):
        cells = np.flatnonzero(owner == piece)
        points = np.unique([p for c in cells for p in mesh.cells[c]]).astype(int)
        local = {p: i + base for i, p in enumerate(points)}
        words = [w for c in cells for w in (XDMF[len(mesh.cells[c])], *(local[p] for p in mesh.cells[c]))]
        shown = lambda array: " ".join(map(repr, np.ravel(array).tolist()))  # noqa: E731
        head = mesh.points @ [1.0, 2.0, -1.0] + step
        own = [
            f'<Attribute Name="head" Center="Node">{item(shown(head[points]), len(points))}</Attribute>',
            f'<Attribute Name="rock" Center="Cell">{item(shown(10.0 * cells + step), len(cells))}</Attribute>',
            f'<Attribute Name="v" Center="Node">{item(shown(mesh.points[points]), f"{len(points)} 3")}</Attribute>',
        ]
        own = "".join(one for i, one in enumerate(own) if (piece, i) not in skip)
        topology = f'TopologyType="Mixed" BaseOffset="{base}"'
        given = shown(mesh.points[points])
        grids.append(grid(own + time, " ".join(map(str, words)), topology, given, f"piece{piece}"))
    return grids


XDMF = {4: 6, 5: 7, 6: 8, 8: 9}


@pytest.fixture
def in_space():
    mesh = box((4, 3, 2), "mixed")
    return mesh, np.digitize(mesh.centres()[:, 0], [0.3, 0.6])


@pytest.mark.parametrize("base", [0, 1])
def test_grids_of_a_collection_in_space_are_pieces_of_one_mesh(written, run, in_space, tmp_path, base):
    mesh, owner = in_space
    empty = '<Grid Name="no cells" GridType="Uniform"/>'
    path = written(spatial(*pieces_of(mesh, owner, base=base), empty, time='<Time Value="2.5"/>'))
    ds = octavo.open(path)
    part = ds.part(0)
    assert len(part.x) == len(mesh.points) and len(part.corners) == len(mesh.cells) and ds.time == 2.5
    assert np.allclose(part.fields["head"], part.x + 2 * part.y - part.z, rtol=0, atol=1e-15)
    assert np.array_equal(part.fields["v_y"], part.y)
    order = np.argsort(owner, kind="stable")
    assert np.array_equal(part.fields["rock"], 10.0 * order)
    ends = np.cumsum(part.corners.astype(int))
    at = np.stack([part.x, part.y, part.z], axis=1)
    for cell, n, end in zip(order, part.corners, ends, strict=True):
        assert np.array_equal(at[part.connectivity[end - n : end]], mesh.points[list(mesh.cells[cell])])
    assert "points of several pieces at one place are one" in " ".join(ds._data.notes)
    assert ds.stats(["head"])["volume"] == pytest.approx(1, rel=1e-13)
    assert run("verify", path).returncode == 0
    run("convert", path, tmp_path / "a.vtkhdf", "-q")
    assert run("diff", path, tmp_path / "a.vtkhdf").returncode == 0


def test_collections_in_space_stand_in_one_in_time(written, in_space):
    mesh, owner = in_space
    times = [1.0, 4.0]
    for inside in (False, True):  # the time stands at the collection in space, or in its first grid
        own = [f'<Time Value="{time}"/>' for time in times]
        parts = [pieces_of(mesh, owner, s, time=own[s] if inside else "") for s in range(2)]
        path = written(steps(*(spatial(*parts[s], time="" if inside else own[s]) for s in range(2))))
        assert [row["time"] for row in octavo.steps(path)] == times
        for s in range(2):
            part = octavo.open(path, step=s).part(0)
            assert np.allclose(part.fields["head"], part.x + 2 * part.y - part.z + s)
            assert np.array_equal(part.fields["rock"], 10.0 * np.argsort(owner, kind="stable") + s)
    less = pieces_of(mesh, np.minimum(owner, 1), 1)
    with pytest.raises(octavo.Unsupported, match="a mesh that changes from step to step"):
        octavo.open(written(steps(spatial(*parts[0]), spatial(*less))))


def test_pieces_may_share_their_points(written):
    """Regions of one set of points, of which one has no copy."""
    first = grid(u() + attribute("k", "1", "Cell"), cells="0 1 2 3")
    shared = first.replace("<Geometry ", '<Geometry Name="all" ', 1)
    second = (
        '<Grid Name="h" GridType="Uniform"><Topology TopologyType="Tetrahedron">' + item("1 2 3 4", 4, "Int")
        + '</Topology><Geometry Reference="XML">//Geometry[@Name="all"]</Geometry>' + attribute("k", "2", "Cell") + "</Grid>"
    )  # fmt: skip
    ds = octavo.open(written(spatial(shared, second)))
    part = ds.part(0)
    assert len(part.x) == 5 and part.connectivity.tolist() == [0, 1, 2, 3, 1, 2, 3, 4]
    assert part.fields["u"].tolist() == [0, 1, 2, 3, 4] and part.fields["k"].tolist() == [1, 2]
    assert not ds._data.notes


def test_ghosts_of_pieces_are_left_out(written):
    mine = grid(attribute("k", "1 2", "Cell") + attribute("vtkGhostType", "0 1", "Cell"))
    other = grid(attribute("k", "2", "Cell"), cells="0 1 2 3", points="1 0 0  0 1 0  0 0 1  1 1 1", name="h")
    ds = octavo.open(written(spatial(mine, other)))
    assert ds.part(0).fields["k"].tolist() == [1, 2] and list(ds.part(0).fields) == ["k"]
    assert len(ds.part(0).x) == 5 and "1 cells are left out that vtkGhostType marks" in " ".join(ds._data.notes)


def test_surfaces_in_pieces_are_one(written):
    flat = 'TopologyType="Quadrilateral"'
    two = [
        grid(attribute("k", str(k), "Cell"), "0 1 2 3", flat, points, f"g{k}")
        for k, points in enumerate(("0 0 0 1 0 0 1 1 0 0 1 0", "1 0 0 2 0 0 2 1 0 1 1 0"))
    ]
    ds = octavo.open(written(spatial(*two)))
    assert len(ds.part(0).x) == 6 and ds.part(0).fields["k"].tolist() == [0, 1]
    assert ds.stats(["k"])["volume"] == pytest.approx(2)


def test_pieces_that_make_no_mesh_are_refused_or_noted(written, in_space):
    mesh, owner = in_space
    ds = octavo.open(written(spatial(*pieces_of(mesh, owner, skip=[(1, 1), (2, 2)]))))
    assert set(ds.fields) == {"head"}
    notes = " ".join(ds._data.notes)
    assert "attribute rock is left out: piece piece1 has none" in notes and "v is left out: piece piece2" in notes
    for domain, words in (
        (spatial(), "a collection in space without a grid"),
        (spatial(steps(grid(u()))), "a grid of type collection in a collection in space"),
        (spatial(grid(u()), '<Grid Name="h"><Topology TopologyType="Tetrahedron"/></Grid>'), "no array|no element"),
        (spatial(grid(cells="0 1 2 9")), "a point that is not in the mesh"),
        (spatial(grid(), grid(cells="0 1 2 5", name="h")), "a point that is not in the mesh"),
        (spatial(grid(), grid(points="0 0 0 1 0 0 0 1 0 0 0 nan 1 1 1", name="h")), "a point without a place"),
        ('<Grid GridType="Collection" CollectionType="Other"/>', "of type Other: expected Spatial or Temporal"),
    ):
        with pytest.raises(octavo.Error, match=words):
            octavo.open(written(domain)).part(0)


def test_vtk_reads_the_same_pieces(written, in_space):
    readers = pytest.importorskip("vtkmodules.vtkIOXdmf2")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    mesh, owner = in_space
    reader = readers.vtkXdmfReader()
    reader.SetFileName(str(written(spatial(*pieces_of(mesh, owner)))))
    reader.Update()
    blocks = reader.GetOutputDataObject(0)
    theirs = [blocks.GetBlock(i) for i in range(blocks.GetNumberOfBlocks())]
    assert sum(block.GetNumberOfCells() for block in theirs) == len(mesh.cells)
    rock = np.concatenate([vtk_to_numpy(block.GetCellData().GetArray("rock")) for block in theirs])
    assert np.array_equal(rock, octavo.open(written(spatial(*pieces_of(mesh, owner)))).part(0).fields["rock"])


# ---------------------------------------------------------------- counts come before memory


@pytest.mark.parametrize("kind", ["rows", "columns", "whole", "coordinates"])
def test_a_large_extent_takes_no_memory(tmp_path, kind):
    """Data sets of 4 GB, a thousandth of that compressed, of which a slab takes 5 values, or says that it takes them all."""
    import zlib

    wide, chunk = 10**8, 10**7
    sevens = zlib.compress(np.full(chunk, 7.0).tobytes(), 1)
    with h5py.File(tmp_path / "run.h5", "w") as file:
        for name, shape, chunks in (("rows", (5, wide), (1, chunk)), ("flat", (5 * wide,), (chunk,))):
            made = file.create_dataset(name, shape, float, chunks=chunks, compression="gzip")
            for i in range(50):
                made.id.write_direct_chunk((i // 10, i % 10 * chunk) if name == "rows" else (i * chunk,), sevens)
    rows, flat = heavy("/rows", (5, wide), "run.h5"), heavy("/flat", (5 * wide,), "run.h5")
    inside, words = {
        "rows": (slab(rows, (0, chunk), (1, 1), (5, 1), "5"), "[7.0, 7.0, 7.0, 7.0, 7.0]"),
        "columns": (slab(rows, (2, 0), (1, 2 * chunk), (1, 5), "5"), "[7.0, 7.0, 7.0, 7.0, 7.0]"),
        "whole": (slab(flat, (0,), (1,), (5 * wide,), "5"), "expected 5 numbers, found 500000000"),
        "coordinates": (places((0, 5 * wide - 1, 5, 6, 7), flat, 5), "[7.0, 7.0, 7.0, 7.0, 7.0]"),
    }[kind]
    path = tmp_path / "run.xdmf"
    path.write_text(f'<Xdmf Version="3.0"><Domain>{grid(field("c", inside))}</Domain></Xdmf>')
    code = (
        "import resource, sys, octavo\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "try: print(octavo.open(sys.argv[1]).part(0).fields['c'].tolist())\n"
        "except octavo.Error as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60)
    assert words in done.stdout, done.stdout + done.stderr
