"""Files for geographic systems, read back by GDAL through rasterio and pyogrio."""

import sys

import numpy as np
import pytest
import serafin_by_numpy

import octavo

MALPASSET = "r2d_malpasset-small_5steps.slf"


def corners(wkb):
    """The coordinates of a point or of a polygon's first ring, in well-known binary."""
    kind = int(np.frombuffer(wkb, "<u4", 1, 1)[0]) % 1000
    assert wkb[0] == 1 and kind in (1, 3, 6)
    start = {1: 5, 3: 13, 6: 22}[kind]
    return np.frombuffer(wkb, "<f8", -1, start).reshape(-1, 2)


def test_a_map_becomes_a_geotiff_with_its_place_and_no_value_where_no_triangle_is(files, run, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    out = tmp_path / "depth.tif"
    words = ["--field", "WATER DEPTH", "--pixels", "300", "--crs", "EPSG:2154"]
    run("map", files / MALPASSET, *words, "-o", out)
    picture = octavo.open(files / MALPASSET).map("WATER DEPTH", pixels=300)
    with rasterio.open(out) as file:
        assert np.array_equal(file.read(1), picture.values[::-1], equal_nan=True) and np.isnan(file.nodata)
        assert file.crs.to_epsg() == 2154 and np.allclose(
            file.bounds, np.array(picture.extent)[[0, 2, 1, 3]], rtol=1e-12
        )
        place = (5000.0, 4000.0)
        row, column = file.index(*place)
        assert np.isfinite(file.read(1)[row, column]) and file.units == ("M",)
        assert float(next(file.sample([place]))[0]) == file.read(1)[row, column]
    picture.save(str(tmp_path / "again.tif"))
    with rasterio.open(tmp_path / "again.tif") as file:
        assert file.crs is None and np.array_equal(file.read(1), picture.values[::-1], equal_nan=True)
    done = run("map", files / MALPASSET, *words[:-1], "EPSG:nothing", "-o", tmp_path / "x.tif", check=False)
    assert done.returncode == 2 and "no coordinate system" in done.stderr and not (tmp_path / "x.tif").exists()
    done = run("map", files / MALPASSET, *words, "-o", tmp_path / "x.png", check=False)
    assert done.returncode == 2 and "of a GeoTIFF" in done.stderr


@pytest.mark.parametrize("ending", [".geojson", ".shp", ".gpkg"])
def test_points_and_triangles_are_read_back(files, run, tmp_path, ending):
    raw = pytest.importorskip("pyogrio.raw")
    mesh = serafin_by_numpy.read(files / MALPASSET)
    depth, speed = mesh["values"]["WATER DEPTH"][4], mesh["values"]["VELOCITY U"][4]
    out = tmp_path / f"points{ending}"
    run("export", files / MALPASSET, out, "--field", "WATER DEPTH,VELOCITY U", "--crs", "EPSG:2154")
    facts, _, geometry, columns = raw.read(out)
    places = np.concatenate([corners(one) for one in geometry])
    order = np.lexsort((places[:, 1], places[:, 0]))
    expected = np.lexsort((mesh["y"], mesh["x"]))
    assert np.allclose(places[order], np.stack([mesh["x"], mesh["y"]], axis=1)[expected], rtol=1e-14)
    for found, values in zip(columns, (depth, speed), strict=True):
        assert np.allclose(found[order], values[expected], rtol=1e-13, atol=1e-13)
    assert facts["crs"] is not None and facts["fields"][0] == ("WATER DEPT" if ending == ".shp" else "WATER DEPTH")
    done = run("export", files / MALPASSET, tmp_path / f"x{ending}", "--where", "water_depth > 0.1", check=False)
    assert done.returncode == 4 and "whole" in done.stderr
    out = tmp_path / f"triangles{ending}"
    run("export", files / MALPASSET, out, "--as", "triangles", "--field", "WATER DEPTH")
    _, _, geometry, columns = raw.read(out)
    middles = np.array([corners(one)[:3].mean(axis=0) for one in geometry])
    of_mesh = np.stack([mesh[axis][mesh["elements"]].mean(axis=1) for axis in "xy"], axis=1)
    order, expected = (np.lexsort(np.round(places, 6).T) for places in (middles, of_mesh))
    assert np.allclose(middles[order], of_mesh[expected], rtol=1e-12)
    assert np.allclose(columns[0][order], depth[mesh["elements"]].mean(axis=1)[expected], rtol=1e-12, atol=1e-12)
    assert {path.stem for path in tmp_path.iterdir()} == {"points", "triangles"}


def test_missing_libraries_and_other_meshes_are_told(files, sample, tmp_path, monkeypatch):
    ds = octavo.open(files / MALPASSET)
    with pytest.raises(octavo.Unsupported, match="triangles"):
        octavo.open(sample).export(tmp_path / "cells.geojson", as_="points")
    with pytest.raises(octavo.Unsupported, match="planes"):
        octavo.open(files / "r3d_stratification.slf").export(tmp_path / "planes.geojson")
    for name in ("rasterio", "pyogrio"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(octavo.Unsupported, match="needs pyogrio"):
        ds.export(tmp_path / "points.geojson")
    with pytest.raises(octavo.Unsupported, match="needs rasterio"):
        ds.map("WATER DEPTH", pixels=20).save(str(tmp_path / "x.tif"))
    assert not list(tmp_path.iterdir())
