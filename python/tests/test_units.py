"""Units: sums and maps in units, lengths in regions, and what is refused."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from octavo.units import factor, parse

import octavo

KPC, MSUN, H = 3.0856775814913673e21, 1.98840987e33, 1.6735328e-24
LENGTH, DENSITY, TIME = 0.5 * KPC, 2 * H, 3.15576e13


@pytest.fixture(scope="module")
def ds(sample, tmp_path_factory):
    """The sample with the units of a galaxy in its info file."""
    path = tmp_path_factory.mktemp("units") / "output_00007"
    shutil.copytree(sample, path)
    info = path / "info_00007.txt"
    given = {"unit_l": LENGTH, "unit_d": DENSITY, "unit_t": TIME}
    lines = [
        f"{line[:12]}= {given[line.split('=')[0].strip()]:.15E}" if line.split("=")[0].strip() in given else line
        for line in info.read_text().splitlines()
    ]
    info.write_text("\n".join(lines) + "\n")
    return octavo.open(path)


def test_sums_are_in_the_unit_asked_for(ds, sample):
    plain = octavo.open(sample).sum("mass")
    assert ds.units == pytest.approx({"length": LENGTH, "density": DENSITY, "time": TIME}, rel=1e-14)
    msun = plain * DENSITY * LENGTH**3 / MSUN
    assert ds.sum("mass", unit="Msun") == pytest.approx(msun, rel=1e-13)
    assert ds.sum("density", weight="volume", unit="Msun") == pytest.approx(msun, rel=1e-12)
    assert ds.sum("density", weight="volume", unit="code_mass") == ds.sum("density", weight="volume")
    assert ds.sum("kinetic_energy", weight="volume", unit="erg") == pytest.approx(
        ds.sum("kinetic_energy", weight="volume") * DENSITY * LENGTH**5 / TIME**2, rel=1e-12
    )


def test_pictures_and_tables_are_in_the_unit_asked_for(ds):
    plain, column = ds.map("density", pixels=16), ds.map("density", pixels=16, unit="Msun/pc**2")
    assert column.unit == column.facts["unit"] == "Msun/pc**2"
    assert np.allclose(column.values, plain.values * DENSITY * LENGTH / MSUN * (KPC / 1000) ** 2, rtol=1e-13)
    cut = ds.slice("density", pixels=16, unit="H/cc")
    assert np.allclose(cut.values, ds.slice("density", pixels=16).values * 2, rtol=1e-13)
    assert ds.percentile("density", 50, unit="H/cc") == pytest.approx(ds.percentile("density", 50) * 2)
    profile = ds.profile("density", bins=8, units={"density": "H/cc", "radius": "kpc"})
    other = ds.profile("density", bins=8)
    assert np.allclose(profile["density"], other["density"] * 2, equal_nan=True)
    assert np.allclose(profile.fields["density"]["std"], other.fields["density"]["std"] * 2, equal_nan=True)
    assert np.allclose(profile.axes[0].edges, other.axes[0].edges * 0.5) and profile.axes[0].unit == "kpc"
    hist = ds.hist("density", weight="mass", units={"mass": "Msun"})
    assert hist.weights.sum() == pytest.approx(ds.sum("mass", unit="Msun"), rel=1e-12)
    assert hist.facts["all"]["weight"] == pytest.approx(hist.weights.sum(), rel=1e-12)
    line = ds.line(["density", "pressure"], (0, 0.5, 0.5), (1, 0.5, 0.5), units={"density": "H/cc"})
    assert np.allclose(line["density"], ds.line("density", (0, 0.5, 0.5), (1, 0.5, 0.5))["density"] * 2)
    assert line.units == ["H/cc", "code_mass/code_length/code_time**2"]


def numbers(region: str) -> list[float]:
    return [round(float(word), 12) for word in re.findall(r"[\d.]+", region)]


def test_lengths_have_units_in_regions_and_places(ds, run_json):
    ball = ds.sphere("center", "100 pc")
    assert numbers(ball.region) == [0.2]
    assert numbers(ds.sphere(("0.1 kpc", 0.2, "1e2 pc"), 0.1).region) == [0.2, 0.2, 0.2, 0.1]
    assert numbers(ds.inside("sphere:center:100pc-box:0,0,0:1,1,250 pc").region) == [0.2, 0, 0, 0, 1, 1, 0.5]
    assert ds.sphere((1e-9, 0.5, 2.5e3), 1e-30).region == "sphere:1e-09,0.5,2500.0:1e-30"
    assert ds.sphere("center", "0.25 code_length").region == "sphere:center:0.25"
    stats = run_json("stats", ds.path, "--field", "mass", "--roi", "sphere:center:0.1 kpc", "--unit", "mass=Msun")
    assert stats["fields"]["mass"]["sum"] == pytest.approx(ball.sum("mass", unit="Msun"), rel=1e-13)
    cut = ds.slice("density", at=("0.1 kpc", "0.1 kpc", "0.1 kpc"), pixels=8)
    assert np.array_equal(cut.values, ds.slice("density", at=(0.2, 0.2, 0.2), pixels=8).values)
    with pytest.raises(octavo.UsageError, match="no length"):
        ds.slice("density", at="0.1 Myr,0.5,0.5")


def test_what_is_wrong_is_said_with_the_fix(ds, sample, run):
    unknown = octavo.open(sample)
    for call, words in (
        (lambda: ds.sum("mass", unit="kpc"), ["mass", "write g"]),
        (lambda: ds.map("density", unit="H/cc", pixels=4), ["write g/cm**2"]),
        (lambda: ds.sum("mass", unit="furlong"), ["unknown unit 'furlong'"]),
        (lambda: ds.sum("mass", unit="g^1.5"), ["no unit"]),
        (lambda: ds.sphere("center", "20 Msun"), ["no length", "kpc"]),
        (lambda: unknown.sum("mass", unit="Msun"), ["does not say what its code units are"]),
        (lambda: unknown.sphere("center", "20 kpc"), ["does not say", "fractions"]),
        (lambda: ds.sum("mach_number", unit="g"), ["does not say the unit of mach_number"]),
        (lambda: ds.profile("density", units={"pressure": "Pa"}), ["'pressure', which is not computed"]),
    ):
        with pytest.raises(octavo.UsageError) as error:
            call()
        assert all(word in str(error.value) + str(error.value.hint) for word in words), (error.value, error.value.hint)
    done = run("map", ds.path, "--field", "density", "--unit", "pressure=Pa", check=False)
    assert done.returncode == 2 and "density=" in done.stderr


def test_words_and_powers(ds):
    data = ds._data
    assert parse("g cm^-3", data) == parse("g/cm**3", data) == parse("g/cm3", data) == parse("g/cm/cm/cm", data)
    assert factor("code_length/code_time", "km/s", data, "speed") == pytest.approx(LENGTH / TIME / 1e5, rel=1e-15)
    assert factor("H/cc", "H/cc", data, "density") == 1
    assert factor("erg/cm**3", "Pa", data, "pressure") == pytest.approx(0.1, rel=1e-15)


def test_formats_say_their_units(data, run):
    flash = octavo.open(data / "flash" / "sedov2d_pm4_serial" / "sedov2d_hdf5_chk_0001")
    assert flash.sum("mass", unit="g") == flash.sum("mass")  # FLASH computes in cgs
    assert flash.map("dens", pixels=8).unit == "code_mass/code_length**3"  # 2-D: the values
    amrex = octavo.open(next((data / "amrex" / "adv3d_amrlevel_r2").glob("plt*")))
    with pytest.raises(octavo.UsageError, match="does not say the unit"):
        amrex.sum(amrex.fields[0], unit="g")
    picture = amrex.map(amrex.fields[0], pixels=8)
    assert picture.unit == ""
    figure = picture.plot()
    assert any("no unit" in axes.get_ylabel() for axes in figure.axes)
