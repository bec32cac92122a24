"""Surfaces of one value: closed across levels and domains, and of the area and volume that a sphere has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
BALL = "0.31 - sqrt((x - 0.52)**2 + (y - 0.47)**2 + (z - 0.5)**2)"
DISC = "0.31 - sqrt((x - 0.52)**2 + (y - 0.47)**2)"


def open_sides(surface):
    """The sides of triangles that no other one passes the other way; shape (sides, 2)."""
    t = surface.triangles.astype(np.int64)
    ahead = np.concatenate([t[:, [i, (i + 1) % 3]] for i in range(3)])
    passed, counts = np.unique(ahead, axis=0, return_counts=True)
    assert (counts == 1).all()  # no side is passed twice the same way
    back = {tuple(side[::-1]) for side in passed.tolist()}
    return np.array([side for side in passed.tolist() if tuple(side) not in back]).reshape(-1, 2)


@pytest.fixture(scope="module")
def levels(run, tmp_path_factory):
    """Four levels in 7 domains."""
    path = tmp_path_factory.mktemp("contour") / "run.octavo"
    run("sample", path, "--to", "octavo", "--levels", "3-6", "--domains", 7, "-q")
    return octavo.open(path)


def test_a_sphere_across_levels_and_domains_is_closed(levels):
    assert len(np.unique(levels.arrays(["level"])["level"])) == 4
    sphere = levels.contour(BALL, 0)
    assert len(open_sides(sphere)) == 0 and sphere.closed
    used = np.unique(sphere.triangles)
    sides = 3 * len(sphere.triangles) // 2
    assert len(used) == len(sphere.points) and len(used) - sides + len(sphere.triangles) == 2  # Euler: one sphere
    assert 0.95 < sphere.volume / (4 / 3 * np.pi * 0.31**3) < 1.0
    away = np.linalg.norm(sphere.points - [0.52, 0.47, 0.5], axis=1)
    assert np.abs(away - 0.31).max() < levels.arrays(["dx"])["dx"].max() ** 2 / 0.31


def test_area_and_volume_of_a_sphere_converge(run, tmp_path):
    errors = []
    for level in (4, 5, 6):
        path = tmp_path / f"{level}.octavo"
        run("sample", path, "--to", "octavo", "--levels", f"{level}-{level}", "--domains", 3, "-q")
        sphere = octavo.open(path).contour(BALL, 0)
        errors.append((1 - sphere.volume / (4 / 3 * np.pi * 0.31**3), 1 - sphere.area / (4 * np.pi * 0.31**2)))
    errors = np.array(errors)
    assert (errors > 0).all() and (errors[-1] < 0.005).all()
    assert (errors[:-1] / errors[1:] > 3.3).all(), errors  # of second order


@pytest.mark.parametrize("share", [20, 50, 90])
def test_a_rough_surface_is_open_at_the_domains_sides_alone(levels, share):
    surface = levels.contour("density", levels.percentile("density", share))
    sides = open_sides(surface)
    corners = surface.points[sides]
    at_side = np.minimum(corners, 1 - corners).min(axis=-1)
    assert len(sides) > 0 and (at_side <= levels.arrays(["dx"])["dx"].max() / 2 + 1e-12).all()


def test_one_domain_gives_the_same_surface_as_many(run, levels, tmp_path):
    run("repack", levels.path, tmp_path / "one.octavo", "--domains", 1)
    at = levels.percentile("density", 70)
    many, one = levels.contour("density", at), octavo.open(tmp_path / "one.octavo").contour("density", at)

    def places(surface):
        corners = surface.points[surface.triangles]
        corners = np.array([np.roll(c, -int(np.lexsort(c.T)[0]), axis=0) for c in corners]).reshape(len(corners), 9)
        return corners[np.lexsort(corners.T)]

    assert len(many.points) == len(one.points) and np.array_equal(places(many), places(one))


@pytest.mark.parametrize("place", ["ramses/sedov3d_4ranks/output_00002", "amrex/multi3d_r4/plt00007"])
def test_surfaces_of_real_data_have_no_cracks(data, place):
    """Trees of cells, and blocks of cells."""
    ds = octavo.open(data / place)
    field = "density" if "ramses" in place else ds.fields[0]
    surface = ds.contour(field, ds.percentile(field, 60))
    sides = open_sides(surface)
    size = ds.arrays(["dx"])["dx"].max()
    lo, hi = (
        ds._data.domain if hasattr(ds._data, "domain") else (surface.points.min(axis=0), surface.points.max(axis=0))
    )
    corners = surface.points[sides]
    away = np.minimum(np.abs(corners - lo), np.abs(corners - hi)).min(axis=-1) if len(sides) else np.zeros(1)
    assert len(surface.triangles) > 100 and (away <= size / 2 + 1e-9 * size).all()


def test_a_region_opens_the_surface_and_a_level_makes_it_coarser(levels):
    half = levels.box((0, 0, 0), (0.5, 1, 1)).contour(BALL, 0)
    assert not half.closed and half.points[:, 0].max() <= 0.5
    holes = levels.where("density < 1e99").contour(BALL, 0)
    assert np.array_equal(holes.points, levels.contour(BALL, 0).points)
    coarse = levels.level(4).contour(BALL, 0)
    assert coarse.closed and len(coarse.points) < len(levels.contour(BALL, 0).points)
    assert len(levels.contour("density", 1e99).triangles) == 0


def test_any_threads_give_the_same_bytes(run, levels, tmp_path):
    words = ["contour", levels.path, "--field", "density", "--at", levels.percentile("density", 60)]
    for name, threads in (("one", 1), ("many", 5)):
        run(*words, "-j", threads, "-o", tmp_path / f"{name}.ply")
    assert (tmp_path / "one.ply").read_bytes() == (tmp_path / "many.ply").read_bytes()


@needs_mpi
def test_any_ranks_give_the_same_bytes(few, run, levels, tmp_path):
    words = ["contour", levels.path, "--field", "density", "--at", levels.percentile("density", 60)]
    run(*words, "-j", 1, "-o", tmp_path / "one.ply")
    for ranks in few(2, 3, 9):
        run(*words, "-f", "-o", tmp_path / "all.ply", ranks=ranks)
        assert (tmp_path / "one.ply").read_bytes() == (tmp_path / "all.ply").read_bytes()


READ = """
import sys
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
from vtkmodules.vtkIOPLY import vtkPLYReader
from vtkmodules.vtkFiltersCore import vtkFeatureEdges, vtkMassProperties
for path, reader in ((sys.argv[1], vtkPLYReader()), (sys.argv[2], vtkXMLPolyDataReader())):
    reader.SetFileName(path)
    reader.Update()
    found = reader.GetOutput()
    edges = vtkFeatureEdges()
    edges.SetInputData(found)
    edges.FeatureEdgesOff()
    edges.Update()
    sums = vtkMassProperties()
    sums.SetInputData(found)
    print(found.GetNumberOfPoints(), found.GetNumberOfCells(), edges.GetOutput().GetNumberOfCells(),
          sums.GetSurfaceArea(), sums.GetVolume())
"""


def test_vtk_reads_the_files(levels, tmp_path):
    """VTK's own count of open and crossing edges is 0, and its area and volume are ours."""
    pytest.importorskip("vtkmodules")
    sphere = levels.contour(BALL, 0)
    for ending in ("ply", "vtp"):
        sphere.save(str(tmp_path / f"s.{ending}"))
    command = [sys.executable, "-c", READ, str(tmp_path / "s.ply"), str(tmp_path / "s.vtp")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        points, triangles, open_edges, area, volume = map(float, line.split())
        assert (points, triangles, open_edges) == (len(sphere.points), len(sphere.triangles), 0)
        assert np.allclose([area, volume], [sphere.area, sphere.volume], rtol=1e-5)
    assert len(done.stdout.splitlines()) == 2


def test_files_hold_the_surface(levels, tmp_path):
    sphere = levels.contour(BALL, 0)
    sphere.save(str(tmp_path / "s.ply"))
    head, _, body = (tmp_path / "s.ply").read_bytes().partition(b"end_header\n")
    assert f"element vertex {len(sphere.points)}".encode() in head
    points = np.frombuffer(body[: 24 * len(sphere.points)], "<f8").reshape(-1, 3)
    faces = np.frombuffer(body[24 * len(sphere.points) :], dtype=[("n", "u1"), ("c", "<u4", 3)])
    assert np.array_equal(points, sphere.points) and np.array_equal(faces["c"], sphere.triangles)


def test_lines_of_2d_data_are_chains(run, tmp_path):
    path = tmp_path / "run.octavo"
    run("sample", path, "--to", "octavo", "--dim", 2, "--levels", "3-7", "--domains", 5, "-q")
    ds = octavo.open(path)
    circle = ds.contour(DISC, 0)
    assert circle.closed and len(circle.chains()) == 1
    assert np.allclose([circle.area, circle.volume], [2 * np.pi * 0.31, np.pi * 0.31**2], rtol=0.04)
    assert circle.volume > 0  # the higher values are at the left
    run("contour", path, "--field", DISC, "--at", 0, "-o", tmp_path / "c.geojson")
    (feature,) = json.loads((tmp_path / "c.geojson").read_text())["features"]
    line = np.array(feature["geometry"]["coordinates"])
    assert (line[0] == line[-1]).all() and len(line) == len(circle.points) + 1 and feature["properties"]["value"] == 0


def test_lines_on_triangles_are_where_the_value_is(data, run, tmp_path):
    path = data / "serafin" / "f2d_gouttedo.slf"
    if not path.exists():
        pytest.skip("no SERAFIN files")
    ds = octavo.open(path)
    part = ds.part(0)
    middle = float((part.x.min() + part.x.max()) / 2) + 0.123
    line = ds.contour("x", middle)
    assert np.allclose(line.points[:, 0], middle, rtol=1e-6)
    assert np.isclose(line.area, part.y.max() - part.y.min(), rtol=1e-6)
    run("contour", path, "--field", ds.fields[0], "--at", ds.percentile(ds.fields[0], 50), "-o", tmp_path / "c.geojson")
    assert json.loads((tmp_path / "c.geojson").read_text())["features"]


def test_bad_requests_write_nothing_and_say_why(run, levels, tmp_path):
    out = tmp_path / "s.ply"
    for words, message in (
        (["--field", "densty", "--at", 1, "-o", out], "did you mean density"),
        (["--field", "density", "--at", "nan", "-o", out], "no finite number"),
        (["--field", "density", "--at", 1e99, "-o", out], "nowhere"),
        (["--field", "density", "--at", 1, "-o", tmp_path / "s.geojson"], ".ply or .vtp"),
    ):
        done = run("contour", levels.path, *words, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())
