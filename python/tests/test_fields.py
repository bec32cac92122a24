"""Names that are not stored, formulas, and conditions: numpy evaluates the same on values that were read by their own
names."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
FLASH = "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002"


def cells_of(ds, *names):
    """Stored columns, as one dict; with volume."""
    cells = ds.arrays(list(names))
    return cells | {"volume": cells["dx"] ** ds._data.dim}


FORMULAS = [
    ("sqrt(velocity_x^2 + velocity_y**2)", lambda c: np.sqrt(c["velocity_x"] ** 2 + c["velocity_y"] ** 2)),
    ("norm(velocity)", lambda c: np.sqrt(c["velocity_x"] ** 2 + c["velocity_y"] ** 2 + c["velocity_z"] ** 2)),
    ("mass", lambda c: c["density"] * c["volume"]),
    ("log10(pressure/density) - 1e-3*level", lambda c: np.log10(c["pressure"] / c["density"]) - 1e-3 * c["level"]),
    (
        "where(density > 1 & !(x < 0.5), min(density, pressure), -density)",
        lambda c: np.where((c["density"] > 1) & ~(c["x"] < 0.5), np.minimum(c["density"], c["pressure"]), -c["density"]),
    ),
    ("atan2(y - 0.5, x - 0.5)*2^-1", lambda c: np.arctan2(c["y"] - 0.5, c["x"] - 0.5) / 2),
    ("max(abs(velocity_x), abs(velocity_y), volume)", lambda c: np.maximum.reduce(
        [np.abs(c["velocity_x"]), np.abs(c["velocity_y"]), c["volume"]])),
]  # fmt: skip


@pytest.fixture(scope="module", params=["native", "store"])
def ds(request, run, sample, tmp_path_factory):
    if request.param == "native":
        return octavo.open(sample)
    path = tmp_path_factory.mktemp("fields") / "run.octavo"
    run("convert", sample, path)
    return octavo.open(path)


@pytest.mark.parametrize("formula, expected", FORMULAS)
def test_a_formula_is_what_numpy_makes_of_it(ds, formula, expected):
    cells = cells_of(ds, "density", "pressure", "velocity_x", "velocity_y", "velocity_z")
    values = expected(cells)
    found = ds.arrays(formula)[formula]
    assert np.allclose(found, values, rtol=1e-15, atol=1e-15)  # a logarithm near 0 is the difference of two
    stats = ds.stats([formula])["fields"][formula]
    assert (stats["min"], stats["max"]) == (found.min(), found.max())
    assert np.isclose(stats["integral"], (values * cells["volume"]).sum(), rtol=1e-11)
    assert np.isclose(ds.map(formula, pixels=32).sum(), (values * cells["volume"]).sum(), rtol=1e-11)
    hist = ds.hist(formula, bins=12)
    assert (hist.cells == np.histogram(found, bins=hist.edges)[0]).all()
    profile = ds.profile(formula, bins=6)
    assert np.isclose(np.nansum(profile[formula] * profile.weights), (values * cells["volume"]).sum(), rtol=1e-11)


def test_definitions_build_on_one_another(ds):
    made = ds.derive("c", "sqrt(gamma*pressure/density)", gamma=1.4).derive("mach", "speed/c")
    cells = cells_of(ds, "density", "pressure", "velocity_x", "velocity_y", "velocity_z")
    speed = np.sqrt(sum(cells[f"velocity_{axis}"] ** 2 for axis in "xyz"))
    expected = speed / np.sqrt(1.4 * cells["pressure"] / cells["density"])
    found = made.sphere("center", 0.3).arrays("mach")["mach"]
    inside = ((cells["x"] - 0.5) ** 2 + (cells["y"] - 0.5) ** 2 + (cells["z"] - 0.5) ** 2) < 0.09
    assert np.allclose(np.sort(found), np.sort(expected[inside]), rtol=1e-14)
    assert made.derive("mach", "2*c").stats(["mach"])["fields"]["mach"]["min"] > 0
    with pytest.raises(octavo.UsageError, match='there is a field "density" already'):
        ds.derive("density", "2*pressure").stats(["density"])
    with pytest.raises(octavo.UsageError, match="unknown field"):
        ds.stats(["mach"])


def test_a_condition_is_the_filter_of_all(ds):
    cells = cells_of(ds, "density", "pressure")
    keep = (cells["density"] > 1) & (cells["x"] < 0.6)
    assert 0 < keep.sum() < len(keep)
    some = ds.where("density > 1").where("x < 0.6")
    stats = some.stats(["pressure"])
    assert stats["leaves"] == keep.sum() and "where" in stats["selection"]
    assert stats["fields"]["pressure"]["max"] == cells["pressure"][keep].max()
    assert sorted(some.arrays("pressure")["pressure"]) == sorted(cells["pressure"][keep])
    mass = (cells["density"] * cells["volume"])[keep].sum()
    assert np.isclose(some.sum("density", weight="volume"), mass, rtol=1e-12)
    assert np.isclose(some.phase("density", "pressure").weights.sum(), mass, rtol=1e-12)
    assert np.isclose(some.map("density", pixels=16).sum(), mass, rtol=1e-12)
    assert np.isclose(np.nanmax(some.map("pressure", pixels=16, kind="max").values), cells["pressure"][keep].max())
    mean = some.map("pressure", pixels=1, weight="density").values[0, 0]
    assert np.isclose(mean, np.average(cells["pressure"][keep], weights=(cells["density"] * cells["volume"])[keep]))
    nothing = ds.where("density < 0")
    for draw in (lambda: nothing.hist("density"), lambda: nothing.profile("density")):
        with pytest.raises(octavo.UsageError, match="holds no cell: where density < 0"):
            draw()


def test_common_names_find_those_of_a_code(data):
    flash = octavo.open(data / FLASH)
    own, common = flash.stats(["dens", "velx", "temp"])["fields"], flash.stats(["density", "velocity_x", "temperature"])
    for a, b in (("dens", "density"), ("velx", "velocity_x"), ("temp", "temperature")):
        assert own[a] == common["fields"][b]
    assert flash.sum("density", weight="volume") == flash.sum("dens", weight="volume")
    assert np.array_equal(flash.map("density", pixels=32).values, flash.map("dens", pixels=32).values)
    assert flash.phase("density", "temperature").weights.sum() == pytest.approx(flash.sum("dens", weight="volume"))
    gamma = flash.attributes["real runtime parameters/gamma"]
    cells = flash.arrays(["velx", "vely", "velz", "pres", "dens"])
    mach = np.sqrt(cells["velx"] ** 2 + cells["vely"] ** 2 + cells["velz"] ** 2)
    mach /= np.sqrt(gamma * cells["pres"] / cells["dens"])
    assert np.allclose(flash.arrays("mach_number")["mach_number"], mach, rtol=1e-14)
    ramses = octavo.open(data / "ramses" / "sedov3d_4ranks" / "output_00002")
    assert ramses.stats(["dens"])["fields"]["dens"]["max"] == ramses.stats(["density"])["fields"]["density"]["max"]
    with pytest.raises(octavo.UsageError, match="mu, the mean mass of a particle"):
        ramses.stats(["temperature"])


@pytest.mark.parametrize("word", ["T", "temp", "Temp"])
def test_words_of_codes_find_fields_of_the_library(sample, word):
    """A RAMSES output stores no temperature; codes' words for it find the definition, with its unit and its errors."""
    ds = octavo.open(sample)
    with pytest.raises(octavo.UsageError, match="mu, the mean mass of a particle"):
        ds.sum(word)
    ds = ds.derive("mu", "0.6")
    own, common = ds.stats([word])["fields"][word], ds.stats(["temperature"])["fields"]["temperature"]
    assert own == common
    half = float(np.median(ds.arrays("temperature")["temperature"]))
    assert 0 < ds.where(f"{word} < {half!r}").stats([word])["leaves"] < ds.stats([word])["leaves"]


def test_telemacs_names_are_known_in_both_languages(data, run_json):
    french = data / "serafin" / "geo_malpasset-small.slf"
    if not french.exists():
        pytest.skip("no SERAFIN files")
    ds = octavo.open(french)
    assert "HAUTEUR D'EAU" in ds.fields
    own = ds.stats(["HAUTEUR D'EAU"])["fields"]["HAUTEUR D'EAU"]
    for name in ("WATER DEPTH", "water_depth"):
        assert ds.stats([name])["fields"][name] == own
        assert np.array_equal(ds.map(name, pixels=40).values, ds.map("HAUTEUR D'EAU", pixels=40).values, equal_nan=True)
    assert run_json("hist", french, "--field", "FREE SURFACE")["all"]["cells"] == len(ds.part(0).x)
    speed = ds.stats(["norm(velocity)"])["fields"]["norm(velocity)"]
    part = ds.part(0)
    assert speed["max"] == np.hypot(*(np.asarray(part.fields[f"VITESSE {axis}"], dtype=float) for axis in "UV")).max()
    wet = ds.where('"HAUTEUR D\'EAU" > 0.01').stats(["FOND"])
    assert wet["leaves"] == (np.asarray(part.fields["HAUTEUR D'EAU"], dtype=float) > 0.01).sum()
    east = ds.stats(["x"])["fields"]["x"]
    assert (east["min"], east["max"]) == (part.x.min(), part.x.max())


def test_unknown_names_have_near_matches_across_codes(run, sample, data):
    for words, message in (
        (["--field", "speeed"], "did you mean speed"),
        (["--field", "densit"], "did you mean density"),
        (["--field", "sqrt(densit)"], "did you mean density"),
        (["--field", "density", "--where", "presure > 1"], "did you mean pressure"),
        (["--field", "1 + sqrt(density"], "at column 17"),
        (["--field", "density*(pressure"], "found its end"),
        (["--field", "m", "--define", "m=m+1"], "leads back to itself"),
        (["--field", "m", "--define", "m"], "expected NAME=FORMULA"),
        (["--field", "mach_number"], "the step has no pressure, velocity_x"),
        (["--field", "sqrt(gamma)*density"], "--define gamma=1.4"),
    ):
        path = (
            data / "amrex" / "multi3d_r4" / "plt00007"
            if "--define gamma" in message or "velocity_x" in message
            else sample
        )
        done = run("stats", path, *words, check=False)
        assert done.returncode == 2 and message in done.stderr, (words, done.stderr)


def test_words_of_the_command_line(run_json, run, sample, tmp_path):
    words = ["--define", "g=1.4", "--define", "c=sqrt(g*pressure/density)"]
    found = run_json("stats", sample, "--field", "c,max(density,pressure)", *words, "--where", "level >= 5")
    ds = octavo.open(sample).derive("c", "sqrt(1.4*pressure/density)").where("level >= 5")
    assert found["fields"]["c"]["mean"] == ds.stats(["c"])["fields"]["c"]["mean"]
    assert found["leaves"] == sum(row["leaves"] for row in octavo.open(sample).level_counts if row["level"] >= 5)
    run("map", sample, "--field", "speed", "--weight", "mass", "--pixels", 20, "-o", tmp_path / "m.npy")
    assert np.load(tmp_path / "m.npy").shape == (20, 20)


@needs_mpi
def test_formulas_have_the_same_bits_for_any_ranks(run_json, run, sample, tmp_path):
    store = tmp_path / "run.octavo"
    run("convert", sample, store)
    for path in (sample, store):
        words = ["profile", path, "--field", "norm(velocity),mass", "--where", "density > 1", "--weight", "mass"]
        assert run_json(*words, ranks=3) == run_json(*words, "-j", 1)


def test_dask_knows_conditions_and_definitions(sample):
    pytest.importorskip("dask")
    import dask

    ds = octavo.open(sample).derive("double", "2*density").where("x < 0.5")
    parts = [part.sum("double", weight="volume") for part in octavo.dask(ds)]
    assert sum(dask.compute(*parts)) == pytest.approx(ds.sum("double", weight="volume"), rel=1e-12)


def values_of(river, name):
    return np.asarray(river.part(0).fields[name], dtype=float)


def extremes_of(ds, name):
    found = ds.stats([name])["fields"][name]
    return (found["min"], found["max"]), found["unit"]


def test_rivers_have_their_own_library(files, run, run_json):
    """Held against numpy; nothing of gases is offered."""
    path = files / "r2d_malpasset-small_5steps.slf"
    river = octavo.open(path)
    depth, u, v = (values_of(river, name) for name in ("WATER DEPTH", "VELOCITY U", "VELOCITY V"))
    wet = depth > 0
    assert 0 < wet.sum() < wet.size and np.abs(u).max() > 1
    froude = np.zeros_like(depth)
    froude[wet] = np.hypot(u, v)[wet] / np.sqrt(9.81 * depth[wet])
    for name, values, unit in (
        ("froude_number", froude, ""),
        ("celerity", np.sqrt(9.81 * np.maximum(depth, 0)), "m/s"),
        ("discharge", depth * np.hypot(u, v), "M**2/S"),
        ("discharge_y", depth * v, "M**2/S"),
        ("water_depth", depth, "M"),
    ):
        found, its_unit = extremes_of(river, name)
        assert found == pytest.approx((values.min(), values.max()), rel=1e-12), name
        assert its_unit.strip() == unit, name
    assert river.where("froude_number > 0.5").stats(["x"])["leaves"] == (froude > 0.5).sum()
    derived = {field["name"] for field in run_json("info", path)["derived"]}
    assert derived == set(river.derived) == {
        "speed", "discharge", "discharge_x", "discharge_y", "celerity", "froude_number", "divergence", "vorticity",
        "vorticity_z",
    }  # fmt: skip
    for word, message in (
        ("froude", "did you mean froude_number"),
        ("sound_sped", "unknown field"),
        ("sound_speed", "sound_speed is a field of cells"),
        ("water_level", "the step has no"),
    ):
        done = run("stats", path, "--field", word, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr
        assert "mean sound_speed" not in done.stderr and "mach" not in done.stderr


def test_a_field_with_a_condition_is_no_suggestion(run, sample, tmp_path):
    """The command makes such a field for arrows; its name is none that a user may write."""
    words = ["--field", "density", "--where", "density > 0", "--pixels", 8, "-o", tmp_path / "a.png"]
    for vectors in ("velo", "velocity_"):
        done = run("slice", sample, *words, "--vectors", vectors, check=False)
        assert done.returncode == 2 and f'unknown field "{vectors}_x"' in done.stderr, done.stderr
        assert "velocity_x" in done.stderr.split("try:")[1] and " where " not in done.stderr.split("try:")[1]


def test_what_telemac_stores_is_what_follows_from_the_rest(files, tmp_path):
    """French names. The file's own froude number and discharge are those of the library on a file without them."""
    whole = octavo.open(files / "geo_malpasset-small.slf")
    out = tmp_path / "few.slf"
    octavo.convert(whole.path, out, to="serafin", fields=["VITESSE U", "VITESSE V", "HAUTEUR D'EAU", "FOND"])
    few = octavo.open(out)
    for name, stored in (
        ("water_level", "SURFACE LIBRE"), ("free_surface", "SURFACE LIBRE"), ("froude_number", "FROUDE"),
        ("discharge", "DEBIT SCALAIRE"), ("discharge_x", "DEBIT SUIVANT X"),
    ):  # fmt: skip
        assert (
            stored not in few.fields
            and stored in whole.fields
            and extremes_of(whole, name) == extremes_of(whole, stored)
        )
        kept = {point: few.stats([name])["fields"][name][point] for point in ("min", "max", "mean")}
        own = whole.stats([stored])["fields"][stored]
        assert kept == pytest.approx({point: own[point] for point in kept}, rel=1e-5, abs=1e-5), name
    depth = tmp_path / "depth.slf"
    octavo.convert(whole.path, depth, to="serafin", fields=["SURFACE LIBRE", "FOND"])
    found, unit = extremes_of(octavo.open(depth), "water_depth")
    assert found == pytest.approx(extremes_of(whole, "HAUTEUR D'EAU")[0], abs=1e-4) and unit.strip() == "M"
    with pytest.raises(octavo.UsageError, match=r"discharge follows from .* the step has no velocity_x"):
        octavo.open(depth).stats(["discharge"])


def test_meds_fields_have_the_library_of_rivers(files, tmp_path, run):
    slf, med = files / "r2d_malpasset-small_5steps.slf", tmp_path / "r2d.med"
    if run("convert", slf, med, check=False).returncode == 4:
        pytest.skip("no MED in this build, or no libmedC here")
    for name in ("speed", "froude_number", "discharge"):
        assert extremes_of(octavo.open(med), name)[0] == pytest.approx(extremes_of(octavo.open(slf), name)[0], rel=1e-6)


def test_cells_list_what_follows_from_their_fields(ds, run, sample, data):
    assert {"mass", "speed", "sound_speed", "kinetic_energy_density", "temperature"} <= set(ds.derived)
    assert not set(ds.derived) & {"froude_number", "discharge", "density"}
    assert ds.stats(list(ds.derived)[:6])  # all but those that need a constant
    assert octavo.open(data / "amrex" / "multi3d_r4" / "plt00007").derived.keys() == {"mass"}
    text = run("info", sample).stdout
    assert "derived fields" in text and "--define mu=..." in text and "density*cell_volume" in text


DEFINED = """# of galaxies
mu = 0.6
double = "2*density"       # twice
cold = "temperature < 1e4 K"
"a name" = "double + 1"
"""


def test_definitions_come_from_a_file(ds, run, run_json, sample, tmp_path):
    path = tmp_path / "galaxy.toml"
    path.write_text(DEFINED)
    made = ds.derive(octavo.definitions(path))
    density = ds.arrays("density")["density"]
    assert np.array_equal(made.arrays("a name")["a name"], 2 * density + 1)
    other = ds.derive(octavo.definitions(path), mu=1.2).derive("double", "3*density")
    assert np.array_equal(other.arrays("a name")["a name"], 3 * density + 1)
    for verb, *words in (
        ("stats", "--field", "double"),
        ("hist", "--field", "double"),
        ("profile", "--field", "double"),
        ("phase", "--x", "double", "--y", "pressure"),
    ):
        told = run_json(verb, sample, *words, "--definitions", path, "--where", "double > 2")
        assert told == run_json(verb, sample, *words, "--define", "double=2*density", "--where", "double > 2")
    run("map", sample, "--field", "double", "--definitions", path, "--pixels", 8, "-o", tmp_path / "m.npy")
    run("slice", sample, "--field", "double", "--definitions", path, "--pixels", 8, "-o", tmp_path / "s.npy")
    ends = ("--from", "0,0.5,0.5", "--to", "1,0.5,0.5")
    run("line", sample, "--field", "double", *ends, "--definitions", path, "-o", tmp_path / "l.csv")
    run("export", sample, tmp_path / "e.csv", "--field", "double", "--definitions", path)
    mine = run_json("stats", sample, "--field", "double", "--definitions", path, "--define", "double=5*density")
    assert mine["fields"]["double"]["max"] == 5 * density.max()


@pytest.mark.parametrize(
    "text, words",
    [
        ("mach = speed/sound_speed\n", ["no TOML", "line 1"]),
        ('a = 1\nmach = "speed/(sound_speed"\n', ["line 2", "mach", "found its end", "column"]),
        ("mach = true\n", ["line 1", "mach", "found True"]),
        ("a = 1\n\n[mach]\nb = 2\n", ["line 3", "mach", "a table"]),
        ('mach = "1 furlong"\n', ["line 1", "mach", "unknown unit 'furlong'"]),
        ('mach = "speeed/2"\n', ["definition of mach", "did you mean speed"]),
        ('mach = "mach + 1"\n', ["leads back to itself"]),
    ],
)
def test_errors_in_a_file_of_definitions_name_the_place(run, sample, tmp_path, text, words):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    done = run("stats", sample, "--field", "mach", "--definitions", path, check=False)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
    if "line" in words[0]:
        assert str(path) in done.stderr
    missing = run("stats", sample, "--field", "mach", "--definitions", tmp_path / "no.toml", check=False)
    assert missing.returncode == 2 and "no.toml" in missing.stderr and "No such file" in missing.stderr
