"""Results show themselves in notebooks, and pictures become arrays of other libraries and FITS."""

from __future__ import annotations

import numpy as np
import pytest

import octavo


@pytest.fixture(scope="module")
def ds(sample):
    return octavo.open(sample)


def results(ds):
    ball = ds.sphere("center", 0.2).level(5).where("density > 0 & density < 1e9")
    return {
        "Selection": ball,
        "Line": ds.line(["density", "pressure"], (0, 0.3, 0.3), (1, 0.6, 0.5)),
        "Clumps": ds.clumps(1.1),
        "Surface": ds.contour("density", 1.1),
        "Cube": ds.level(4).cube(["density", "pressure"]),
    }


@pytest.mark.parametrize("kind", ["Selection", "Line", "Clumps", "Surface", "Cube"])
def test_results_say_what_they_are_in_a_line_and_as_html(ds, kind):
    result = results(ds)[kind]
    line, page = repr(result), result._repr_html_()
    assert line.startswith(f"<octavo.{kind}") and "\n" not in line and len(line) < 400
    assert page.startswith("<b>") and page.count("<table>") == page.count("</table>") >= 1
    assert "density" in line and "density" in page
    assert len(page) < 10_000  # a table shows its first rows alone


def drawn(ds):
    return {
        "Picture": ds.map("density", pixels=64),
        "Histogram": ds.hist("density"),
        "Phase": ds.phase("density", "pressure"),
        "Profile": ds.profile(["density", "pressure"]),
        "Spectrum": ds.spectrum("density"),
        "Axis": ds.hist("density").axes[0],
        "Table": octavo.series(ds.path).table("density"),
    }


@pytest.mark.parametrize("kind", ["Picture", "Histogram", "Phase", "Profile", "Spectrum", "Axis", "Table"])
def test_results_with_many_numbers_say_what_they_are_in_a_line(ds, kind):
    line = repr(drawn(ds)[kind])
    assert line.startswith(f"<octavo.{kind}: ") and line.endswith(">") and "\n" not in line and len(line) < 200
    assert "density" in line and ("pressure" in line) == (kind in ("Phase", "Profile"))


def test_html_is_escaped(ds):
    page = ds.where("density < 1")._repr_html_()
    assert "density &lt; 1" in page and "density < 1" not in page


def test_a_selection_names_its_domains(ds):
    ball = ds.sphere((0.1, 0.1, 0.1), 0.05)
    assert f"{ball.domains} of 8 domains" in repr(ball) and "sphere:0.1,0.1,0.1:0.05" in repr(ball)


def cards(path):
    """The header of a FITS file with one image, and its values, lowest row first."""
    data = path.read_bytes()
    end = next(at for at in range(0, len(data), 80) if data[at : at + 8].strip() == b"END")
    head = {}
    for at in range(0, end, 80):
        key, _, value = data[at : at + 80].decode().partition("=")
        head[key.strip()] = value.strip().strip("'").strip()
    begin = -(-(end + 80) // 2880) * 2880
    shape = [int(head[f"NAXIS{axis}"]) for axis in (2, 1)]
    assert len(data) % 2880 == 0
    return head, np.frombuffer(data, ">f8", count=shape[0] * shape[1], offset=begin).reshape(shape)


def pictures(ds):
    return {"map": ds.map("density", pixels=48), "slice": ds.slice("density", normal=(1, 1, 1), pixels=48)}


@pytest.mark.parametrize("kind", ["map", "slice"])
def test_fits_has_values_places_and_unit(ds, tmp_path, kind):
    picture = pictures(ds)[kind]
    picture.save(str(tmp_path / "a.fits"))
    head, values = cards(tmp_path / "a.fits")
    np.testing.assert_array_equal(values, picture.values)
    assert (head["SIMPLE"], head["BITPIX"], head["BUNIT"]) == ("T", "-64", picture.unit[:68])
    x0, x1, y0, y1 = picture.extent
    ny, nx = picture.values.shape
    assert float(head["CRVAL1"]) == x0 and float(head["CDELT1"]) * nx == pytest.approx(x1 - x0)
    assert float(head["CRVAL2"]) == y0 and float(head["CDELT2"]) * ny == pytest.approx(y1 - y0)
    assert float(head["CRPIX1"]) == 0.5 and float(head["TIME"]) == ds.time


@pytest.mark.parametrize("ranks", [0, 3])
def test_the_command_writes_fits(ds, run, sample, tmp_path, ranks):
    run("map", sample, "--field", "density", "--pixels", 48, "-o", tmp_path / "a.fits", ranks=ranks)
    np.testing.assert_array_equal(cards(tmp_path / "a.fits")[1], pictures(ds)["map"].values)


def test_astropy_reads_it(ds, tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    picture = pictures(ds)["map"]
    picture.save(str(tmp_path / "a.fits"))
    with fits.open(tmp_path / "a.fits") as found:
        found.verify("exception")
        np.testing.assert_array_equal(found[0].data, picture.values)


@pytest.mark.parametrize("kind", ["map", "slice"])
def test_xarray_has_values_and_coordinates(ds, kind):
    pytest.importorskip("xarray")
    picture = pictures(ds)[kind]
    found = picture.to_xarray()
    np.testing.assert_array_equal(found.values, picture.values)
    x0, x1, _, _ = picture.extent
    along = found.coords[picture.axes[0]].values
    assert x0 < along[0] < along[-1] < x1 and found.attrs["units"] == picture.unit
    assert found.dims == (picture.axes[1], picture.axes[0])


def test_without_xarray_it_says_so(ds, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(octavo.Unsupported, match="xarray"):
        ds.map("density", pixels=16).to_xarray()
