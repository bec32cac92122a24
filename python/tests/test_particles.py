"""Particles by family: compared with NumPy on the records of the part files themselves."""

import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import OCTAVO

import octavo
from octavo import particles


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
    subprocess.run([*command, *more, *output], check=True, capture_output=True)
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
    conformal, proper = particles.proper_times(0.3, 0.7, 0.0)
    at = np.interp([-1.0, -0.2, 0.0], conformal, proper)
    a = np.interp([-1.0, -0.2, 0.0], conformal, np.exp(np.linspace(np.log(1e-4), np.log(2), len(conformal))))
    exact = 2 / 3 / np.sqrt(0.7) * np.arcsinh(np.sqrt(0.7 / 0.3) * a**1.5)
    assert np.allclose(at, exact, atol=2e-6) and at[2] == pytest.approx(0.9641, abs=1e-4)
    found = particles.age(header(0.0, **known), np.array([-1.0, -0.2]))
    assert np.allclose(found, exact[2] - exact[:2], rtol=1e-6)
