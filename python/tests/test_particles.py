"""Particles by family: compared with NumPy on the records of the part files themselves."""

import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import OCTAVO
from octavo.sinks import sinks_of

import octavo
from octavo import cosmology, particles


@pytest.fixture(scope="module")
def ramses(data):
    folder = data / "ramses"
    if not folder.is_dir():
        pytest.skip(f"no RAMSES outputs at {folder}")
    return folder


@pytest.fixture(scope="module")
def dark(ramses):
    return ramses / "dm_gas_gravity3d_3ranks/output_00002"


@pytest.fixture(scope="module")
def mixed(dark, tmp_path_factory):
    """The same with other families: every third particle of a domain is a star, and the last one a cloud."""
    folder = tmp_path_factory.mktemp("mixed") / "output_00002"
    shutil.copytree(dark, folder)
    for path in folder.glob("part_0*.out*"):
        raw = bytearray(path.read_bytes())
        start, size = records(raw)[8 + names(folder).index("family")]
        family = np.frombuffer(raw, "i1", size, start)
        assert (family == 1).all()
        family[::3] = 2
        family[-1] = 3
        path.write_bytes(raw)
    return folder


def names(folder):
    rows = (folder / "part_file_descriptor.txt").read_text().splitlines()
    return [row.split(",")[1].strip() for row in rows if not row.startswith("#")]


def records(raw):
    """(first byte, bytes) of each record of Fortran."""
    at, out = 0, []
    while at < len(raw):
        size = int(np.frombuffer(raw, "<i4", 1, at)[0])
        out.append((at + 4, size))
        at += size + 8
    return out


def by_numpy(folder):
    """The particles of all domains, from the files' records."""
    types = {"mass": "f8", "identity": "i4", "levelp": "i4", "family": "i1", "tag": "i1", "partp": "i4"}
    out = {name: [] for name in names(folder)}
    for path in sorted(folder.glob("part_0*.out*")):
        raw = path.read_bytes()
        for name, (start, size) in zip(out, records(raw)[8:], strict=True):
            kind = types.get(name, "f8")
            out[name].append(np.frombuffer(raw, kind, size // np.dtype(kind).itemsize, start))
    return {name: np.concatenate(parts) for name, parts in out.items()}


def test_families_are_those_of_the_files(mixed, ramses):
    ds, everything = octavo.open(mixed), by_numpy(mixed)
    for name, number in (("dm", 1), ("star", 2), ("cloud", 3)):
        chosen = everything["family"] == number
        found = ds.particles(name)
        assert chosen.sum() >= 3
        for attribute, values in everything.items():
            assert np.array_equal(found[attribute], values[chosen])
    assert len(ds.particles("tracer")["mass"]) == 0
    folder = ramses / "tracer2d_3ranks/output_00002"
    tracers = octavo.open(folder).particles("tracer_gas")
    assert np.array_equal(tracers["identity"], by_numpy(folder)["identity"]) and (tracers["family"] == 0).all()
    with pytest.raises(octavo.UsageError, match=r"no species or family 'stars'.*|there are"):
        ds.particles("stars")


def test_a_map_deposits_weights_and_a_region_chooses(mixed):
    ds, everything = octavo.open(mixed), by_numpy(mixed)
    for axis, sides in (("z", "xy"), ("x", "yz"), ("y", "xz")):
        picture = ds.map(particles="dm", axis=axis, pixels=32)
        chosen = everything["family"] == 1
        width = 1.0 / 32
        expected = np.zeros((32, 32))
        x, y = (np.minimum((everything["position_" + side][chosen] / width).astype(int), 31) for side in sides)
        np.add.at(expected, (y, x), everything["mass"][chosen])
        assert np.allclose(picture.values, expected / width**2, rtol=1e-12)
        assert picture.sum() == pytest.approx(everything["mass"][chosen].sum(), rel=1e-12)
        assert picture.axes == tuple(sides)
    ball = ds.sphere("center", 0.2)
    inside = sum((everything["position_" + side] - 0.5) ** 2 for side in "xyz") < 0.04
    number = ball.map(particles="star", weight="none", pixels=16)
    assert number.facts["particles"] == (inside & (everything["family"] == 2)).sum() > 0
    mean = ds.map("velocity_x", particles="dm", pixels=8)
    flat = 8 * np.minimum((everything["position_y"] * 8).astype(int), 7) + np.minimum(
        (everything["position_x"] * 8).astype(int), 7
    )
    dm, mass = everything["family"] == 1, everything["mass"]
    with np.errstate(invalid="ignore"):
        sums = np.bincount(flat[dm], (mass * everything["velocity_x"])[dm], 64) / np.bincount(flat[dm], mass[dm], 64)
    assert np.allclose(mean.values.ravel(), sums, rtol=1e-10, equal_nan=True) and np.isfinite(sums).sum() > 10


def test_a_histogram_is_that_of_numpy(mixed):
    ds, everything = octavo.open(mixed), by_numpy(mixed)
    dm = everything["family"] == 1
    found = ds.hist("velocity_x", particles="dm", bins=20)
    counts, edges = np.histogram(everything["velocity_x"][dm], 20)
    assert np.array_equal(found.cells, counts) and np.allclose(found.edges, edges, rtol=1e-14)
    sums, _ = np.histogram(everything["velocity_x"][dm], 20, weights=everything["mass"][dm])
    assert np.allclose(found.weights, sums, rtol=1e-12)
    some = ds.hist("velocity_x", particles="dm", bins=5, range=(0, 0.1), weight="none", cumulative=True)
    assert some.cells[-1] + some.facts["beyond"]["cells"] == dm.sum() == some.facts["all"]["cells"]


def test_particles_without_a_mass_are_counted(data, run):
    """AMReX's tracers: a map and a histogram that name no weight count them."""
    tracers = data / "amrex" / "adv3d_amrlevel_r2" / "plt00004"
    ds = octavo.open(tracers)
    count = len(ds.particles("Tracer")["id"])
    assert ds.map(particles="Tracer", pixels=16).sum() == pytest.approx(count)
    assert ds.map(particles="Tracer", pixels=16).label == "Tracer, number per area"
    found = ds.hist("position_x", particles="Tracer", bins=4)
    assert found.weight == "none" and found.weights.sum() == found.cells.sum() == count
    text = run("hist", tracers, "--particles", "Tracer", "--field", "position_x", "--bins", "4").stdout
    assert "particles" in text.splitlines()[0] and "cells" not in text.splitlines()[0]


def test_the_commands_say_the_same(mixed, run, run_json, tmp_path):
    ds = octavo.open(mixed)
    run("map", mixed, "--particles", "dm", "--pixels", "32", "-o", tmp_path / "dm.npy")
    assert np.array_equal(np.load(tmp_path / "dm.npy"), ds.map(particles="dm", pixels=32).values)
    report = run_json("hist", mixed, "--particles", "star", "--field", "mass", "--weight", "none", "--bins", "4")
    assert sum(report["cells"]) == len(ds.particles("star")["mass"])
    run("map", mixed, "--particles", "dm", "--field", "velocity_x", "-o", tmp_path / "v.png")
    assert (tmp_path / "v.png").read_bytes()[1:4] == b"PNG"
    for words, message in (
        (["map", mixed], f"a map of no field: there are {', '.join(octavo.open(mixed).fields)}"),
        (["map", mixed, "--particles", "black"], "no species or family"),
        (["map", mixed, "--particles", "dm", "--field", "age"], "no particle has an attribute 'age'"),
        (["map", mixed, "--particles", "dm", "--where", "density > 1"], "choose no particles"),
        (["map", mixed, "--particles", "tracer"], "no particle is selected"),
    ):
        done = run(*words, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine")
@pytest.mark.parametrize("words", [["map", "--particles", "dm"], ["hist", "--particles", "dm", "--field", "mass"]])
def test_files_of_cells_are_not_read(dark, tmp_path, words):
    verb, *more = words
    command = ["strace", "-f", "-y", "-e", "trace=openat,pread64,read", "-o", tmp_path / "trace", OCTAVO, verb, dark]
    output = ["-o", tmp_path / ("m.npy" if verb == "map" else "h.csv")]
    subprocess.run([*command, *more, *output, "-j", "1"], check=True, capture_output=True)
    lines = (tmp_path / "trace").read_text().splitlines()
    read = {}
    for line in lines:
        for kind in ("amr", "hydro", "grav", "part"):
            if f"/{kind}_0" in line and ("pread64(" in line or " read(" in line):
                read[kind] = read.get(kind, 0) + max(0, int(line.rsplit("=", 1)[1].split()[0]))
    size = sum(path.stat().st_size for path in dark.glob("part_0*"))
    assert read["part"] >= 0.99 * size
    # Headers alone are read of the others: kilobytes of megabytes.
    for kind in ("amr", "hydro", "grav"):
        assert read.get(kind, 0) < 0.05 * sum(path.stat().st_size for path in dark.glob(f"{kind}_0*")) + 65536, (
            kind,
            read,
        )


def header(time, **attributes):
    return SimpleNamespace(time=time, attributes=attributes)


def test_ages_are_proper_times():
    births = np.array([0.0, 1.0, 2.5])
    plain = particles.age(header(4.0, H0=1.0, aexp=1.0), births)
    assert np.isnan(plain[0]) and plain[1:].tolist() == [3.0, 1.5]
    assert particles.age(header(4.0), births)[1:].tolist() == [3.0, 1.5]
    # Einstein and de Sitter: tau = 2 (1 - a^-1/2), t = 2/3 a^3/2 [1/H0].
    a_now, a_birth = 0.5, np.array([0.1, 0.3, 0.5])
    known = {"H0": 70.0, "aexp": a_now, "omega_m": 1.0, "omega_l": 0.0, "omega_k": 0.0}

    def tau(a):
        return 2 * (1 - 1 / np.sqrt(a))

    expected = 2 / 3 * (a_now**1.5 - a_birth**1.5) / a_now**2
    found = particles.age(header(tau(a_now), **known), tau(a_birth))
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-9)
    # A flat universe with a constant: t = 2/3 / sqrt(L) asinh(sqrt(L / M) a^3/2).
    known |= {"omega_m": 0.3, "omega_l": 0.7, "aexp": 1.0}
    conformal, proper = cosmology.proper_times(0.3, 0.7, 0.0)
    at = np.interp([-1.0, -0.2, 0.0], conformal, proper)
    a = np.interp([-1.0, -0.2, 0.0], conformal, np.exp(np.linspace(np.log(1e-4), np.log(2), len(conformal))))
    exact = 2 / 3 / np.sqrt(0.7) * np.arcsinh(np.sqrt(0.7 / 0.3) * a**1.5)
    assert np.allclose(at, exact, atol=2e-6) and at[2] == pytest.approx(0.9641, abs=1e-4)
    found = particles.age(header(0.0, **known), np.array([-1.0, -0.2]))
    assert np.allclose(found, exact[2] - exact[:2], rtol=1e-6)


# -------------------------------------------------------------------------------------------------------------- sinks

HEADS = [
    " # id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform,acc_rate,del_mass,rho_gas,cs**2,etherm,vx_gas,vy_gas,vz_gas,mbh,dmfsink,level ",
    " # 1,m,l,l,l,l t**-1,l t**-1,l t**-1,m l**2 t**-1,m l**2 t**-1,m l**2 t**-1,t,m t**-1,m,m l**-3,l**2 t**-2,"
    "m l**2 t**-2,l t**-1,l t**-1,l t**-1,m,m,1",
]


def fortran_real(value):
    """ES21.10, which leaves the E away where the exponent has three digits."""
    mantissa, exponent = f"{value:.10E}".split("E")
    whole = int(exponent)
    return f"{mantissa}{f'E{whole:+03d}' if abs(whole) < 100 else f'{whole:+04d}'}".rjust(21)


def sink_table(rows):
    """What RAMSES writes: I10,21(A1,ES21.10),A1,I10."""
    lines = [f"{row[0]:10d}," + ",".join(map(fortran_real, row[1:22])) + f",{row[22]:10d}" for row in rows]
    return "\n".join([*HEADS, *lines]) + "\n"


SINKS = [[n, *np.linspace(0.01 * n, 0.7 + 0.03 * n, 21).tolist(), 7] for n in (1, 2, 3, 9)]
SINKS[1][20] = 2.5e-120


@pytest.fixture(scope="module")
def with_sinks(dark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sinks") / "output_00002"
    shutil.copytree(dark, folder)
    (folder / "sink_00002.csv").write_text(sink_table(SINKS))
    info = folder / "info_00002.txt"
    for name, value in (("unit_l", 3.08567758128e21), ("unit_d", 1.67e-24), ("unit_t", 3.15576e13)):
        text, count = re.subn(rf"^{name} *=.*$", f"{name:<12}={value:23.15E}", info.read_text(), flags=re.MULTILINE)
        assert count == 1
        info.write_text(text)
    return folder


def test_sinks_are_the_rows_of_the_table_with_units(with_sinks, run, tmp_path):
    run("convert", with_sinks, tmp_path / "run.octavo", "-q")
    expected = np.array(SINKS)
    for ds in (octavo.open(with_sinks), octavo.open(tmp_path / "run.octavo")):
        sinks = ds.sinks
        assert len(sinks) == 4 and sinks["identity"].tolist() == [1, 2, 3, 9] and sinks["level"].tolist() == [7] * 4
        assert np.allclose(sinks.mass, expected[:, 1], rtol=1e-10)
        assert np.allclose(sinks.position, expected[:, 2:5], rtol=1e-10)
        assert np.allclose(sinks.velocity, expected[:, 5:8], rtol=1e-10)
        assert sinks["black_hole_mass"][1] == 2.5e-120
        gram = ds.units["density"] * ds.units["length"] ** 3
        assert np.allclose(sinks.in_unit("mass", "g"), sinks.mass * gram, rtol=1e-12)
        speed = ds.units["length"] / ds.units["time"]
        assert np.allclose(sinks.in_unit("velocity_x", "cm/s"), sinks["velocity_x"] * speed, rtol=1e-12)
        spin = ds.units["density"] * ds.units["length"] ** 5 / ds.units["time"]
        assert np.allclose(
            sinks.in_unit("angular_momentum_z", "g*cm**2/s"), sinks["angular_momentum_z"] * spin, rtol=1e-12
        )
        with pytest.raises(octavo.UsageError, match="mass is a mass"):
            sinks.in_unit("mass", "cm")
        with pytest.raises(octavo.UsageError, match="no column 'weight'"):
            sinks["weight"]
        ball = ds.sphere((0.05, 0.08, 0.12), 0.05).sinks
        inside = ((sinks.position / (ds._data.hi[0] - ds._data.lo[0]) - [0.05, 0.08, 0.12]) ** 2).sum(axis=1) < 0.05**2
        assert inside.tolist() == [True, True, True, False] and np.array_equal(
            ball["identity"], sinks["identity"][inside]
        )
        assert np.array_equal(ds.particles("sink")["mass"], sinks.mass)
        assert ds.map(particles="sink", pixels=16).sum() == pytest.approx(sinks.mass.sum(), rel=1e-12)
        assert ds.hist("mass", particles="sink", bins=3, weight="none").cells.sum() == 4
    pandas = pytest.importorskip("pandas")
    assert isinstance(sinks.to_pandas(), pandas.DataFrame) and len(sinks.to_pandas()) == 4


def test_a_step_without_sinks_and_damaged_tables_say_so(with_sinks, dark, tmp_path):
    with pytest.raises(octavo.UsageError, match="no table of sinks"):
        _ = octavo.open(dark).sinks
    none = sink_table([])
    assert len(parsed(none)) == 0
    for text, why in (
        ("\n".join([*HEADS, "   1,   0.5"]), "line 3: expected 23 values, found 2"),
        (sink_table(SINKS).replace("1.0000000000E-02", "1.00000x"), "expected a number, found '1.00000x'"),
        ("1,2,3\n", "line 1: expected a line '# id,msink"),
        ("", "found nothing"),
        ("# id,colour\n 1,2\n", "expected the columns"),
    ):
        with pytest.raises(octavo.Damaged, match=re.escape(why)):
            parsed(text)
    at_start = parsed(sink_table([[1, *[0.0] * 21, 5]]))  # born with the run, at the time 0
    assert at_start["age"].tolist() == [1.0] and at_start["birth_time"].tolist() == [0.0]
    # Columns without a line of units have none; other columns keep their names.
    few = parsed("# id,msink,x,y,z,Teff\n 1,0.5,0.1,0.2,0.3,5000\n")
    assert few["Teff"].tolist() == [5000] and few.units["mass"] == ""


def parsed(text):
    return sinks_of(SimpleNamespace(path="a", attributes={"sink_csv": text}, time=1.0))


def test_ranks_share_particles_and_give_the_same_bits(few, mixed, with_sinks, run, run_json, tmp_path):
    if not shutil.which("mpirun"):
        pytest.skip("no mpirun on this machine")
    run("convert", mixed, tmp_path / "run.octavo", "-q")
    for path in few(mixed, tmp_path / "run.octavo"):
        for words in (
            ["map", path, "--particles", "dm", "--pixels", "64"],
            ["map", path, "--particles", "star", "--field", "velocity_x", "--axis", "x", "--pixels", "40"],
            ["map", path, "--particles", "dm", "--roi", "sphere:0.5,0.5,0.5:0.2", "--weight", "none"],
        ):
            run(*words, "-j", "1", "-f", "-o", tmp_path / "one.npy")
            for ranks, threads in few((0, 3), (2, 1), (3, 2), (4, 1)):
                run(*words, "-j", threads, "-f", "-o", tmp_path / "all.npy", ranks=ranks)
                assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "all.npy").read_bytes()
        words = ["hist", path, "--particles", "dm", "--field", "velocity_x", "--bins", "30"]
        one = run_json(*words, "-j", "1")
        assert sum(one["cells"]) > 100
        for ranks in few(2, 3, 5):
            assert run_json(*words, ranks=ranks) == one
    words = ["hist", with_sinks, "--particles", "sink", "--field", "mass", "--bins", "4"]
    assert run_json(*words, ranks=3) == run_json(*words)
    done = run("hist", mixed, "--particles", "dm", "--field", "colour", check=False, ranks=2)
    assert done.returncode == 2 and done.stderr.count("no particle has an attribute 'colour'") == 1


# ----------------------------------------------------------------------------------------------------------- pictures


def test_pixels_without_particles_are_drawn_as_empty(dark, run, tmp_path):
    for picture in (octavo.open(dark).map(particles="dm"), octavo.open(dark).map("mass", particles="dm", pixels=600)):
        image = picture.plot().axes[0].images[0]
        shown = np.ma.filled(np.ma.masked_invalid(image.get_array()), np.nan)
        assert np.array_equal(np.isnan(shown), ~(np.nan_to_num(picture.values) > 0))
        assert 0 < image.norm.vmin <= np.nanmin(shown)
    assert picture.facts["kind"] == "mean"
    run("map", dark, "--particles", "dm", "-o", tmp_path / "dm.png")
    run("map", dark, "--particles", "dm", "-o", tmp_path / "dm.npy")
    assert np.load(tmp_path / "dm.npy").min() == 0


REGIONS = (
    "sphere:0.5,0.5,0.5:0.1",
    "sphere:0.98,0.5,0.03:0.2",
    "box:0.4,0.3,0.2:0.6,0.8,0.7",
    "box:-0.2,0.1,0:0.3,0.6,1",
)


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("axis", "xz")
def test_a_map_of_particles_has_the_window_of_its_region(sample, region, axis):
    ds = octavo.open(sample)
    assert ds._data.periodic == [True] * 3 and ds._data.hi == [1.0] * 3
    chosen = ds.inside(region)
    picture = chosen.map(particles="dm", axis=axis, pixels=40)
    assert picture.extent == chosen.map("density", axis=axis, pixels=8).extent
    found = chosen.particles("dm")
    sides = [name for name in "xyz" if name != axis]
    x0, x1, y0, y1 = picture.extent
    at = [found[f"position_{name}"] for name in sides]  # in the box of length 1
    at = [lo + (values - lo) % 1.0 for values, lo in zip(at, (x0, y0), strict=True)]
    ny, nx = picture.values.shape
    expected = np.histogram2d(*at[::-1], bins=(ny, nx), range=((y0, y1), (x0, x1)), weights=found["mass"])[0]
    assert picture.sum() == pytest.approx(found["mass"].sum(), rel=1e-12) and expected.sum() > 0
    area = (x1 - x0) * (y1 - y0) / (nx * ny)
    assert (
        np.abs(picture.values * area - expected) > 1e-12 * expected.max()
    ).sum() <= 4  # a rounding at a pixel's side


def dots_by_hand(ds, picture, found, thickness=None):
    facts = picture.facts
    axes = {name: np.eye(3)["xyz".index(name)] for name in "xyz"}
    right, up, towards = (
        (np.array(facts[name]) for name in ("right", "up", "towards"))
        if "right" in facts
        else (axes[name] for name in (*facts["axes"], facts["axis"]))
    )
    at = np.stack([found[f"position_{name}"] for name in "xyz"], axis=1)
    x0, x1, y0, y1 = picture.extent
    middle = right * (x0 + x1) / 2 + up * (y0 + y1) / 2 + towards * sum(facts["depth"]) / 2
    at = at - np.round(at - middle)  # a periodic box of length 1
    if thickness is not None:
        at = at[np.abs((at - middle) @ towards) <= thickness / 2]
    rows, columns = picture.overlays.dots.shape
    return np.histogram2d(at @ up, at @ right, bins=(rows, columns), range=((y0, y1), (x0, x1)))[0]


@pytest.mark.parametrize("region", [None, REGIONS[1]])
def test_dots_over_cells_are_where_the_particles_are(sample, region):
    ds = octavo.open(sample) if region is None else octavo.open(sample).inside(region)
    found = ds.particles("dm")
    pictures = [
        (ds.map("density", pixels=32, overlay_particles="dm"), None),
        (ds.map("density", pixels=32, axis="y", overlay_particles="dm"), None),
        (ds.map("density", pixels=32, camera=(1, 1, 1), overlay_particles="dm"), None),
        (ds.map("density", pixels=32, camera=(0, 0, -1), overlay_particles="dm"), None),
        (ds.slice("density", pixels=32, overlay_particles="dm:0.05"), 0.05),
        (ds.slice("density", pixels=32, normal=(1, 2, 0), overlay_particles="dm:0.05"), 0.05),
        (ds.slice("density", pixels=32, overlay_particles="dm"), "hundredth"),
    ]
    for picture, thickness in pictures:
        x0, x1, y0, y1 = picture.extent
        if thickness == "hundredth":
            thickness = max(x1 - x0, y1 - y0) / 100
        expected = dots_by_hand(ds, picture, found, thickness)
        dots = picture.overlays.dots
        assert max(dots.shape) == 512
        counts = np.nan_to_num(dots) * (x1 - x0) * (y1 - y0) / dots.size
        assert (np.abs(counts - expected) > 1e-6).sum() <= 4 and (thickness == 0.004 or expected.sum() > 0)
        if picture is not pictures[0][0] and picture is not pictures[-1][0]:
            continue
        figure = picture.plot()
        assert len(figure.axes[0].collections) == (1 if counts.any() else 0)
        assert [text.get_text() for text in figure.axes[0].texts] == ["dots: dm"]


@pytest.mark.long
def test_dots_are_the_same_on_any_number_of_ranks_and_refuse_what_is_no_family(dark, run, tmp_path):
    for words in (["map", dark, "--roi", "sphere:0.98,0.5,0.03:0.2"], ["slice", dark, "--normal", "1,1,1"]):
        words += ["--field", "density", "--overlay-particles", "dm", "--pixels", "64"]
        run(*words, "-o", tmp_path / "one.png", "-f")
        plain = words[:-4] + words[-2:]
        run(*plain, "-o", tmp_path / "plain.png", "-f")
        assert (tmp_path / "one.png").read_bytes() != (tmp_path / "plain.png").read_bytes()
        if shutil.which("mpirun"):
            run(*words, "-o", tmp_path / "three.png", "-f", ranks=3)
            assert (tmp_path / "one.png").read_bytes() == (tmp_path / "three.png").read_bytes()
    for family, said in (("dm:0.1", "a thickness is of slices"), ("gas", "no species or family 'gas'")):
        done = run(
            "map", dark, "--field", "density", "--overlay-particles", family, "-o", tmp_path / "m.png", check=False
        )
        assert done.returncode == 2 and said in done.stderr and not (tmp_path / "m.png").exists()
    for family in ("dm:", "dm:-1", "dm:thick", "dm:nan"):
        with pytest.raises(octavo.UsageError, match="expected a thickness"):
            octavo.open(dark).slice("density", overlay_particles=family, pixels=8)
    done = run("map", dark, "--particles", "dm", "--overlay-particles", "dm", "-o", tmp_path / "m.png", check=False)
    assert done.returncode == 2 and "drawn over cells" in done.stderr


# ------------------------------------------------------------------------------------------------------- ages, as yt's


def conformal(a, matter, dark_energy):
    """RAMSES' conformal time at an expansion factor, by a sum of a million terms: d tau = d a / (a^3 H), 0 at a = 1."""
    edges = np.linspace(a, 1.0, 1_000_001)
    middle = (edges[1:] + edges[:-1]) / 2
    return -float((1 / (middle**3 * np.sqrt(matter / middle**3 + dark_energy))).sum() * (edges[1] - edges[0]))


def cosmological(dark, folder, births):
    """The output as one of a cosmological run at a = 0.5, of which each third particle is a star with a time of birth."""
    shutil.copytree(dark, folder)
    aexp, hubble = 0.5, 70.0
    time, unit_t = conformal(aexp, 0.3, 0.7), aexp**2 * 3.0856775814913673e19 / hubble
    values = {"time": time, "aexp": aexp, "H0": hubble, "omega_m": 0.3, "omega_l": 0.7, "unit_t": unit_t,
              "unit_l": 1e25, "unit_d": 1e-28}  # fmt: skip
    info = folder / "info_00002.txt"
    for name, value in values.items():
        text, count = re.subn(rf"^{name} *=.*$", f"{name:<12}={value:23.15E}", info.read_text(), flags=re.MULTILINE)
        assert count == 1
        info.write_text(text)
    for path in folder.glob("amr_0*"):
        raw = path.read_bytes()
        old = b"\x08\0\0\0" + np.float64(octavo.open(dark).time).tobytes() + b"\x08\0\0\0"
        assert raw.count(old) >= 1
        path.write_bytes(raw.replace(old, b"\x08\0\0\0" + np.float64(time).tobytes() + b"\x08\0\0\0"))
    number = len(names(folder)) + 1
    with open(folder / "part_file_descriptor.txt", "a") as file:
        file.write(f"{number:2d}, birth_time, d\n")
    for path in sorted(folder.glob("part_0*.out*")):
        raw = bytearray(path.read_bytes())
        start, size = records(raw)[8 + names(dark).index("family")]
        np.frombuffer(raw, "i1", size, start)[::3] = 2
        born = np.where(np.arange(size) % 3 == 0, births(size), 0.0)
        mark = np.int32(8 * size).tobytes()
        path.write_bytes(bytes(raw) + mark + born.tobytes() + mark)


def test_pictures_of_cosmological_runs_show_redshift_and_age(dark, run, run_json, tmp_path):
    cosmological(dark, tmp_path / "output_00002", lambda count: np.full(count, conformal(0.4, 0.3, 0.7)))
    run("convert", tmp_path / "output_00002", tmp_path / "run.octavo", "-q")
    expected = "z = 1, age 5.752 Gyr"  # 2/3 / sqrt(L) asinh(sqrt(L / M) a^3/2) / H0
    for path in (tmp_path / "output_00002", tmp_path / "run.octavo"):
        ds = octavo.open(path)
        assert ds.time < 0
        for result in (
            ds.map("density", pixels=8), ds.slice("density", pixels=8), ds.map(particles="dm", pixels=8),
            ds.hist("density"), ds.profile("density"), ds.phase("density", "pressure", bins=8),
            ds.spectrum("density", cells=16),
        ):  # fmt: skip
            assert result.plot().axes[0].get_title(loc="left").endswith(expected)
        facts = run_json("map", path, "--field", "density", "-o", tmp_path / "map.npy", "-f")
        assert facts["redshift"] == pytest.approx(1) and facts["age"] * ds.units["time"] / 3.15576e16 == pytest.approx(
            5.752, abs=1e-3
        )
        assert "of conformal time: z = 1, age 1.81" in run("info", path).stdout
    plain = octavo.open(dark).map("density", pixels=8)
    assert "redshift" not in plain.facts and "t = 0.0116407" in plain.plot().axes[0].get_title(loc="left")


@pytest.mark.long
def test_ages_of_stars_are_those_of_yt(dark, tmp_path):
    yt = pytest.importorskip("yt")
    pytest.importorskip("scipy")  # yt integrates with it
    yt.set_log_level(50)
    rng = np.random.default_rng(1)
    earliest, latest = conformal(0.1, 0.3, 0.7), conformal(0.49, 0.3, 0.7)
    cosmological(dark, tmp_path / "output_00002", lambda count: rng.uniform(earliest, latest, count))
    ds = octavo.open(tmp_path / "output_00002")
    stars = ds.particles("star")
    ours = stars["age"] * ds.units["time"] / 3.15576e16  # Gyr
    theirs = yt.load(str(tmp_path / "output_00002" / "info_00002.txt"))
    assert theirs.cosmological_simulation and theirs.use_conformal_time
    found = theirs.all_data()
    of_stars = np.asarray(found["io", "particle_family"]) == 2
    age = found["io", "star_age"].to("Gyr").value[of_stars]
    place = np.asarray(found["io", "particle_identity"])[of_stars]
    assert len(age) == len(ours) > 100 and np.isfinite(ours).all()
    order, same = np.argsort(stars["identity"]), np.argsort(place)
    assert np.array_equal(stars["identity"][order], place[same])
    assert 0.1 < ours.min() < ours.max() < 6.0
    assert np.allclose(ours[order], age[same], atol=2e-3)  # yt interpolates in a table of some hundred times
