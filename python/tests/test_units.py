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
    assert ds.sum("kinetic_energy_density", weight="volume", unit="erg") == pytest.approx(
        ds.sum("kinetic_energy_density", weight="volume") * DENSITY * LENGTH**5 / TIME**2, rel=1e-12
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
    assert flash.sum("mass", unit="g/cm") == flash.sum("mass")  # FLASH computes in cgs
    assert flash.map("dens", pixels=8).unit == "code_mass/code_length**3"  # 2-D: the values
    amrex = octavo.open(next((data / "amrex" / "adv3d_amrlevel_r2").glob("plt*")))
    with pytest.raises(octavo.UsageError, match="does not say the unit"):
        amrex.sum(amrex.fields[0], unit="g")
    picture = amrex.map(amrex.fields[0], pixels=8)
    assert picture.unit == ""
    figure = picture.plot()
    assert any("no unit" in axes.get_ylabel() for axes in figure.axes)
    for ds, named in ((flash, True), (amrex, False)):
        said = run("info", ds.path).stdout
        assert ("g/cm^3" in said, " cm along x" in said) == (named, named) and ("not in the output" in said) != named


def test_a_unit_follows_from_those_of_the_fields(ds, sample, data):
    """None is invented: without the code's units there is no temperature in K, and on files that say no unit nothing has one."""

    def unit(step, field, **constants):
        step = step.derive("one", "1", **constants)
        return step.stats([field])["fields"][field]["unit"]

    assert unit(ds, "temperature", mu=0.6) == "K"
    assert unit(octavo.open(sample), "temperature", mu=0.6) == ""
    assert unit(ds, "mass") == "code_mass" and unit(ds, "speed") == "code_length/code_time"
    assert unit(ds, "density*volume*norm(velocity)^2/2") == "code_length**2*code_mass/code_time**2"
    assert unit(ds, "sqrt(pressure/density)*time") == "code_length"
    assert unit(ds, "where(density > 1, pressure, nan)") == "code_mass/code_length/code_time**2"
    for none in ("mach_number", "log10(density)", "density + pressure", "sqrt(density)", "density > 1"):
        assert unit(ds, none) == "", none
    kelvin = ds.derive("mean_mass", "0.6").derive("t", "mean_mass*m_H/k_B*unit_velocity^2*pressure/density")
    assert kelvin.stats(["t"])["fields"]["t"]["unit"] == "K"
    amrex = octavo.open(next((data / "amrex" / "adv2d_core_r4").glob("plt*")))
    assert unit(amrex, "2*" + amrex.fields[0]) == ""
    for path in (data / "serafin").glob("geo_malpasset-small.slf"):
        assert unit(octavo.open(path), "speed") == "M/S"


def test_mass_in_two_dimensions_is_a_mass_a_length(data, run):
    path = data / "flash" / "sedov2d_pm4_serial" / "sedov2d_hdf5_chk_0001"
    for words in (["stats", "--field", "mass"], ["hist", "--field", "dens", "--weight", "mass"]):
        done = run(words[0], path, *words[1:], "--unit", "mass=g", "--json", check=False)
        assert done.returncode == 2 and "write g/cm" in done.stderr, (words, done.stdout, done.stderr)
        run(words[0], path, *words[1:], "--unit", "mass=g/cm", "--json")
    with pytest.raises(octavo.UsageError, match="'g' is a mass"):
        octavo.open(path).sum("density", weight="volume", unit="g")


def test_densities_are_not_named_as_amounts(ds):
    """The sum of an energy per volume over cells is no energy."""
    cells = ds.arrays(["density", "velocity_x", "velocity_y", "velocity_z"])
    energy = 0.5 * cells["density"] * sum(cells[f"velocity_{axis}"] ** 2 for axis in "xyz")
    volume = cells["dx"] ** 3
    assert ds.sum("kinetic_energy_density", weight="volume") == pytest.approx((energy * volume).sum(), rel=1e-12)
    assert ds.sum("momentum_density_x", weight="volume") == pytest.approx(
        (cells["density"] * cells["velocity_x"] * volume).sum(), abs=1e-12
    )
    for old in ("kinetic_energy", "momentum_x"):
        with pytest.raises(octavo.UsageError) as error:
            ds.sum(old)
        new = old.replace("energy", "energy_density").replace("momentum", "momentum_density")
        assert f"{new}*volume" in str(error.value.hint), error.value


def test_units_in_conditions_and_formulas(ds, run_json):
    cells = ds.arrays(["density", "pressure", "velocity_x", "x", "dx"])
    velocity = LENGTH / TIME / 1e5  # [km/s]
    sound = np.sqrt(cells["pressure"] / cells["density"]) * velocity
    for condition, keep in (
        ("density > 2.5 H/cc", cells["density"] * 2 > 2.5),
        ("density>2.5H/cc & x < 0.25 kpc", (cells["density"] * 2 > 2.5) & (cells["x"] * 0.5 < 0.25)),
        ("x < 250 pc or velocity_x >= 3 km s^-1", (cells["x"] < 0.5) | (cells["velocity_x"] * velocity >= 3)),
        ("density > 4.18383e-24 g/cm3", cells["density"] * DENSITY > 4.18383e-24),
        ("sqrt(pressure/density) > 500 km/s", sound > 500),
        ("density*volume < 100 Msun", cells["density"] * cells["dx"] ** 3 * DENSITY * LENGTH**3 / MSUN < 100),
        ("abs(x - 0.1 kpc) < 1e-1kpc", np.abs(cells["x"] - 0.2) < 0.2),
    ):
        assert 0 < keep.sum() < keep.size, condition
        stats = ds.where(condition).stats(["density"])
        assert stats["leaves"] == keep.sum(), condition
        assert condition in stats["selection"]
        told = run_json("stats", ds.path, "--field", "density", "--where", condition)
        assert told["fields"] == stats["fields"]
    dense = ds.derive("dense", "where(density > 2.5 H/cc, density - 1 H/cc, 0)")
    assert dense.sum("dense") == pytest.approx((cells["density"] - 0.5)[cells["density"] > 1.25].sum(), rel=1e-12)
    assert dense.stats(["dense"])["fields"]["dense"]["unit"] == "code_mass/code_length**3"
    kelvin = 0.6 * H / 1.380649e-16 * (sound * 1e5) ** 2
    cold = ds.derive("mu", "0.6").where(f"temperature < {np.median(kelvin) * 1.0001:.17g} K").stats(["density"])
    assert cold["leaves"] == (kelvin < np.median(kelvin) * 1.0001).sum() < kelvin.size
    share = ds.where("density > 1 code_density").stats(["density"])
    assert share["leaves"] == (cells["density"] > 1).sum()


def test_units_in_formulas_that_do_not_fit_are_refused(ds, sample, data):
    unknown, amrex = octavo.open(sample), octavo.open(next((data / "amrex" / "multi3d_r4").glob("plt*")))
    for step, condition, words in (
        (ds, "density > 3 furlong", ["unknown unit 'furlong'", "at column 13"]),
        (ds, "density > 3 km", ["density is a length^-3 mass", "'3 km' is a length", "write g/cm**3"]),
        (ds, "x + 3 g > 0", ["x is a length", "'3 g' is a mass"]),
        (ds, "3 g/cc < pressure/density", ["pressure/density is a length^2 time^-2", "cm**2/s**2"]),
        (ds, "log10(density) > 3 g", ["without dimension"]),
        (ds, "where(level > 4, x, 1 s) > 0", ["'1 s' is a time"]),
        (ds, "2 density > 1", ["unknown unit 'density'", "operator"]),
        (unknown, "density > 1 g/cc", ["does not say what its code units are"]),
        (amrex, "1 g/cc < density", ["does not say what its code units are"]),
        (amrex, f"{amrex.fields[0]} > 1 code_density", ["does not say the unit of " + amrex.fields[0]]),
    ):
        with pytest.raises(octavo.UsageError) as error:
            step.where(condition).stats([step.fields[0]])
        assert all(word in str(error.value) + str(error.value.hint) for word in words), (condition, error.value)
    keep = unknown.arrays("density")["density"] > 1.5
    assert unknown.where("density > 1.5 code_density").stats(["density"])["leaves"] == keep.sum()


def test_depths_have_units(files):
    river = octavo.open(files / "geo_malpasset-small.slf")
    depth = np.asarray(river.part(0).fields["HAUTEUR D'EAU"], dtype=float)
    for condition, keep in (("water_depth > 10 cm", depth > 0.1), ("water_depth/2 >= 0.001 km", depth >= 2)):
        assert 0 < keep.sum() < keep.size
        assert river.where(condition).stats(["FOND"])["leaves"] == keep.sum()
    with pytest.raises(octavo.UsageError, match=r"is a length .*'1 s' is a time"):
        river.where("water_depth > 1 s").stats(["FOND"])
