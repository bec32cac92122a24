"""Threads and ranks share the work; the streams, the values and the maps do not depend on how many there are."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")


def streams(path, run_json):
    """The bytes of every stream of a store, wherever it lies, by part, field and level group."""
    listed = run_json("ls", path, "--streams")["steps"]
    result = {}
    for step in listed:
        for s in step["streams"]:
            with open(s["file"], "rb") as file:
                file.seek(s["offset"])
                data = file.read(s["stored_bytes"])
            result[step["step"], s["part"], s["field"], s["first_level"]] = data
    return result


@pytest.fixture(scope="module")
def reference(run, run_json, sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "run.octavo"
    run("convert", sample, path, "-j", 1, "--codec", "point:1e-3,density=range:1e-4")
    return path, streams(path, run_json), run_json("stats", path, "-j", 1)


@pytest.mark.parametrize("words", [["-j", 2], ["-j", 5], ["-j", 2, "--per-file", 1], ["--per-file", 3]])
def test_streams_are_the_same_for_any_threads_and_files(run, run_json, sample, reference, tmp_path, words):
    out = tmp_path / "run.octavo"
    run("convert", sample, out, "--codec", "point:1e-3,density=range:1e-4", *words)
    assert streams(out, run_json) == reference[1]
    assert run("verify", out).returncode == 0


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 9])
def test_streams_are_the_same_for_any_ranks(run, run_json, sample, reference, tmp_path, ranks):
    """Nine ranks for eight domains: one has nothing to do, and nothing hangs."""
    out = tmp_path / "run.octavo"
    run("convert", sample, out, "--codec", "point:1e-3,density=range:1e-4", ranks=ranks)
    assert streams(out, run_json) == reference[1]
    assert run("verify", out).returncode == 0


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_maps_and_stats_are_the_same_bits_for_any_threads(run, run_json, reference, tmp_path, threads):
    path, _, stats = reference
    assert run_json("stats", path, "-j", threads) == stats
    for name, count in (("one", 1), ("many", threads)):
        run("map", path, "--field", "density", "--pixels", 77, "-j", count, "-o", tmp_path / f"{name}.npy")
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "many.npy").read_bytes()


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3, 9])
def test_maps_and_stats_of_several_ranks(run, run_json, reference, tmp_path, ranks):
    path, _, stats = reference
    shared = run_json("stats", path, ranks=ranks)
    for name, field in stats["fields"].items():
        assert shared["fields"][name]["min"] == field["min"]
        assert shared["fields"][name]["integral"] == pytest.approx(field["integral"], rel=1e-12, abs=1e-14)
    run("map", path, "--field", "density", "--pixels", 64, "-o", tmp_path / "one.npy")
    run("map", path, "--field", "density", "--pixels", 64, "-o", tmp_path / "all.npy", ranks=ranks)
    assert np.allclose(np.load(tmp_path / "one.npy"), np.load(tmp_path / "all.npy"), rtol=1e-12)


@needs_mpi
def test_an_error_on_one_rank_is_the_error_of_all(run, sample, tmp_path):
    broken = tmp_path / "output_00007"
    shutil.copytree(sample, broken)
    file = broken / "hydro_00007.out00006"
    file.write_bytes(file.read_bytes()[:-1000])
    done = run("convert", broken, tmp_path / "o", ranks=3, check=False)
    assert done.returncode == 3
    assert done.stderr.count("error:") == 1 and "hydro_00007.out00006" in done.stderr
    assert not (tmp_path / "o").exists()
