"""Real RAMSES outputs, and the stores made of them, give the oracle values: counts and extremes exactly, sums to rounding."""

from __future__ import annotations

import math

import oracle as oracles
import pytest

SETS = [
    "sedov3d_1rank",
    "sedov3d_4ranks",
    "sedov3d_4ranks_medium",
    "dm_gas_gravity3d_3ranks",
    "implosion2d_2ranks",
    "tracer2d_3ranks",
]


@pytest.fixture(scope="module", params=SETS)
def native(request, data):
    folder = data / "ramses" / request.param
    return folder / "output_00002", oracles.read(folder)


@pytest.fixture(scope="module")
def store(native, run, tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "run.octavo"
    run("convert", native[0], path, "-q")
    return path


@pytest.fixture(scope="module", params=["native", "store"])
def either(request, native):
    return native[0] if request.param == "native" else request.getfixturevalue("store")


def close(found, expected, tolerance=1e-12):
    """Equal to rounding; sums that cancel are compared with zero on the scale of velocities."""
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-15)


def test_info_counts_cells_from_headers(either, native, run_json):
    facts, oracle = run_json("info", either), native[1]
    assert {level["level"]: level["leaves"] for level in facts["levels"]} == oracle["leaves"]
    cells = {level["level"]: level["cells"] for level in facts["levels"]}
    assert cells == {level: octs * 2 ** facts["ndim"] for level, octs in oracle["octs"].items()}
    assert facts["leaves"] == oracle["total"]
    particles = oracle["particles"].get("identity")
    assert facts["particles"] == (int(particles[1]) if particles else 0)


def test_stats_equal_the_oracle(either, native, run_json):
    stats, oracle = run_json("stats", either), native[1]
    assert stats["leaves"] == oracle["total"]
    assert close(stats["fields"]["density"]["integral"], oracle["mass"])
    assert close(stats["volume"], oracle["volume"])
    for name, (low, high, mean) in oracle["fields"].items():
        found = stats["fields"][name]
        assert (found["min"], found["max"], found["nan"]) == (low, high, 0)
        assert close(found["mean"], mean)
    for name, (low, high, total) in oracle["particles"].items():
        found = stats["particles"][name]
        assert (found["min"], found["max"]) == (low, high)
        assert close(found["sum"], total)


def test_verify_finds_nothing(either, run):
    assert run("verify", either).returncode == 0


def test_a_map_holds_the_mass(either, native, run, run_json, tmp_path):
    import numpy as np

    facts = run_json("info", either)
    out = tmp_path / "map.npy"
    run("map", either, "--field", "density", "--pixels", 100, "-o", out)
    image = np.load(out)
    width = facts["box"]["hi"][0] - facts["box"]["lo"][0]
    assert close(image.sum() * (width / 100) ** 2, native[1]["mass"], 1e-11)


def test_stats_of_native_and_store_are_the_same_bits(native, store, run_json):
    first, second = run_json("stats", native[0]), run_json("stats", store)
    assert first["fields"] == second["fields"]
    assert first["particles"] == second["particles"]


LOSSY_BAR = {"sedov3d_4ranks_medium": 16, "sedov3d_1rank": 12, "sedov3d_4ranks": 12, "dm_gas_gravity3d_3ranks": 12}


@pytest.mark.parametrize("name", LOSSY_BAR)
def test_lossy_stores_reach_their_ratio(name, data, run, tmp_path):
    """Against native amr + hydro bytes, all hydro fields, double precision; the whole store counts."""
    source = data / "ramses" / name / "output_00002"
    native = sum(path.stat().st_size for kind in ("amr", "hydro") for path in source.glob(f"{kind}_*.out*"))
    out = tmp_path / "run.octavo"
    hydro = "density,velocity_x,velocity_y,velocity_z,pressure"
    run("convert", source, out, "--codec", "point:2e-3", "--field", hydro, "--no-particles", "-q")
    stored = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert native / stored >= LOSSY_BAR[name]


@pytest.mark.parametrize("name", SETS[:4])
def test_the_mesh_is_below_one_percent_of_a_lossless_store(name, data, run_json, run, tmp_path):
    report = run_json("convert", data / "ramses" / name / "output_00002", tmp_path / "run.octavo")
    assert report["mesh_bytes"] < 0.01 * report["stored_bytes"]
