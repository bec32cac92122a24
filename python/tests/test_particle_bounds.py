"""Particles under bounds: each is found again by its identity, within the bound; what names something is exact; without a bound order
and bits stay; and `--report`, the independent reader and `verify` agree."""

from __future__ import annotations

import numpy as np
import octavo_reader
import pytest

import octavo


def particles_of(path):
    dataset = octavo.open(path)
    return [dataset._data.read(n, [], particles=True).particles["particles"] for n in range(dataset.domains)]


def by_identity(part):
    order = np.argsort(part["identity"], kind="stable")
    return {name: np.asarray(values)[order] for name, values in part.items()}


@pytest.fixture(scope="module")
def bounded(sample, run, run_json, tmp_path_factory):
    """The sample with point:1e-3, and its report."""
    out = tmp_path_factory.mktemp("bounded") / "run.octavo"
    report = run_json("convert", sample, out, "--codec", "point:1e-3", "--report")
    return out, report


def test_every_particle_is_within_the_bound(sample, bounded):
    out, _ = bounded
    finest = octavo.open(sample)._data.levels[-1]["level"]  # the domain is 1 wide, RAMSES' level 1 has 2 cells
    for given, found in zip(particles_of(sample), particles_of(out), strict=True):
        given, found = by_identity(given), by_identity(found)
        for name, x in given.items():
            y, x = found[name].astype(np.float64), x.astype(np.float64)
            if name.startswith("position_"):
                assert np.abs(y - x).max(initial=0) <= 1e-3 * 2.0**-finest, name
            elif given[name].dtype.kind == "f":
                assert np.all(np.abs(y - x) <= 1e-3 * np.abs(x)), name
            else:
                assert np.array_equal(x, y), name


def test_the_report_has_what_numpy_finds(sample, bounded):
    out, report = bounded
    pairs = [(by_identity(a), by_identity(b)) for a, b in zip(particles_of(sample), particles_of(out), strict=True)]
    for name in ("position_x", "velocity_y"):
        x = np.concatenate([given[name] for given, _ in pairs])
        e = np.concatenate([found[name] for _, found in pairs]) - x
        errors = report["fields"]["particles/" + name]["errors"]
        assert errors["largest"] == np.abs(e).max() > 0
        assert errors["mean"] == pytest.approx(e.mean(), abs=1e-9 * np.abs(e).max())
        assert errors["nrmse"] == pytest.approx(np.sqrt(np.mean(e**2)) / np.ptp(x))
    assert report["fields"]["particles/position_x"]["bound"].startswith("abs:")
    assert report["fields"]["particles/identity"]["bound"] == "lossless"


def test_it_is_smaller_and_sound(sample, bounded, run, run_json, tmp_path):
    out, report = bounded
    exact = run_json("convert", sample, tmp_path / "exact.octavo")
    sizes = [
        sum(field["stored"] for name, field in one["fields"].items() if name.startswith("particles/"))
        for one in (report, exact)
    ]
    assert sizes[0] < 0.6 * sizes[1]
    run("verify", out, "-q")


def test_the_independent_reader_gives_the_same(bounded):
    out, _ = bounded
    (step,) = octavo_reader.read_store(out)
    for number, wanted in enumerate(particles_of(out)):
        found = octavo_reader.read_part(step, number).particles["particles"]
        assert found.keys() == wanted.keys()
        for name, values in wanted.items():
            assert found[name].ravel().tobytes() == np.ravel(values).tobytes(), name


def test_without_a_bound_order_and_bits_stay(sample, run, tmp_path):
    run("convert", sample, tmp_path / "exact.octavo", "-q")
    for given, found in zip(particles_of(sample), particles_of(tmp_path / "exact.octavo"), strict=True):
        for name, values in given.items():
            assert np.asarray(values).tobytes() == np.asarray(found[name]).tobytes(), name


def test_attributes_and_vectors_have_bounds_of_their_own(sample, run, run_json, tmp_path):
    out = tmp_path / "own.octavo"
    codec = "particles/position=abs:1e-5,particles/velocity_x=range:1e-2"
    report = run_json("convert", sample, out, "--codec", codec, "--report")["fields"]
    given = [by_identity(part) for part in particles_of(sample)]
    found = [by_identity(part) for part in particles_of(out)]
    extent = np.ptp(np.concatenate([part["velocity_x"] for part in given]))
    for x, y in zip(given, found, strict=True):
        for axis in "xyz":
            assert np.abs(x["position_" + axis] - y["position_" + axis]).max(initial=0) <= 1e-5
        assert np.abs(x["velocity_x"] - y["velocity_x"]).max(initial=0) <= 1e-2 * extent
        assert np.array_equal(x["velocity_y"], y["velocity_y"])
    assert report["particles/position_z"]["bound"] == "abs:1e-05" and report["density"]["bound"] == "lossless"
    assert report["particles/velocity_x"]["bound"] == "range:0.01"


def test_wrong_names_and_checkpoints_are_refused(sample, run, tmp_path):
    done = run("convert", sample, tmp_path / "a", "--codec", "particles/speed=abs:1", check=False)
    assert done.returncode == 2 and "particles/speed" in done.stderr and "particles/velocity" in done.stderr
    done = run(
        "convert",
        sample,
        tmp_path / "b",
        "--codec",
        "particles/velocity=point:1e-3",
        "--flow",
        "checkpoint",
        check=False,
    )
    assert done.returncode == 2 and "lossless" in done.stderr


def test_a_code_does_not_go_on_from_it(bounded, run, tmp_path):
    out, _ = bounded
    done = run("convert", out, tmp_path / "output_00001", "--to", "ramses", check=False)
    assert done.returncode != 0 and "particles/position_x" in done.stderr


def test_repacking_keeps_the_values(bounded, run, run_json, tmp_path):
    out, _ = bounded
    report = run_json("repack", out, tmp_path / "few.octavo", "--domains", 3)
    assert report["made_lossless"] > 0

    def all_of(path):
        parts = particles_of(path)
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return by_identity(joined)

    before, after = all_of(out), all_of(tmp_path / "few.octavo")
    for name, values in before.items():
        assert np.array_equal(values, after[name]), name
