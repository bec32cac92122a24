"""XDMF files as other programs write them, and outputs that would replace their input."""

import shutil

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
        (f'<Time TimeType="Range">{item("0 1", 2)}</Time>', [""] * 3, None),
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
    assert octavo.open(written("<!DOCTYPE a>" * 300_000 + grid())).part(0).corners.tolist() == [4, 4]


def test_bytes_are_those_of_both_files(run_json, tmp_path):
    source = write_vtkhdf(tmp_path / "a.vtkhdf", box())
    report = run_json("convert", source, tmp_path / "a.xdmf")
    both = sum((tmp_path / name).stat().st_size for name in ("a.xdmf", "a.h5"))
    assert report["bytes"] == both and run_json("info", tmp_path / "a.xdmf")["bytes"] == both
