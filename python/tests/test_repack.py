"""octavo repack: other domains and files, the same values."""

from __future__ import annotations

import os
import shutil
from itertools import product

import numpy as np
import pytest
from conftest import mostly_long, peak_of

import octavo


def leaves_of(path, **choice) -> np.ndarray:
    """All leaves with all their values, in an order that does not depend on the domains."""
    arrays = octavo.open(path, **choice).arrays()
    names = ["level", "x", "y", "z", *sorted(set(arrays) - {"level", "x", "y", "z", "dx"})]
    rows = np.stack([arrays[name] for name in names], axis=1)
    return rows[np.lexsort(rows[:, 3::-1].T)]


def particles_of(path) -> np.ndarray:
    arrays = octavo.open(path).particles()
    rows = np.stack([np.asarray(arrays[name], dtype=float) for name in sorted(arrays)], axis=1)
    return rows[np.lexsort(rows.T)]


@pytest.fixture(scope="module", params=["lossless", "point:1e-3"])
def store(request, run, sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("repack") / "run.octavo"
    run("convert", sample, path, "--codec", request.param, "--per-file", 3)
    return path


@pytest.mark.parametrize(
    ("domains", "per_file"), mostly_long(*product((1, 3, 8), (1, 2, "all")), short=[(1, 1), (3, 2), (8, "all")])
)
def test_values_and_statistics_are_the_same_bits(run, run_json, store, tmp_path, domains, per_file):
    out = tmp_path / "out.octavo"
    run("repack", store, out, "--domains", domains, "--per-file", per_file)
    assert octavo.open(out).domains == domains
    assert np.array_equal(leaves_of(out), leaves_of(store), equal_nan=True)
    if octavo.open(store).particles():
        assert np.array_equal(particles_of(out), particles_of(store))
    mine, theirs = run_json("stats", out, "-j", 1), run_json("stats", store, "-j", 1)
    assert mine["fields"] == theirs["fields"]
    assert run("verify", out).returncode == 0
    files = {row["file"] for step in run_json("ls", out, "--streams")["steps"] for row in step["streams"]}
    assert len(files) == (1 if per_file == "all" else -(-domains // per_file))


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
def test_ranks_share_the_files(run, run_json, store, tmp_path):
    for ranks, words in ((0, ["-j", 1]), (3, [])):
        run("repack", store, tmp_path / f"o{ranks}", "--domains", 5, "--per-file", 2, *words, ranks=ranks)
    rows = [
        [
            (row["part"], row["field"], row["stored_bytes"], os.path.basename(row["file"]), row["offset"])
            for row in run_json("ls", tmp_path / f"o{ranks}", "--streams")["steps"][0]["streams"]
        ]
        for ranks in (0, 3)
    ]
    assert rows[0] == rows[1]
    done = run("repack", store, tmp_path / "o3", "--domains", 5, ranks=2, check=False)
    assert done.returncode == 2 and done.stderr.count("error:") == 1


def test_every_flow_and_step_is_taken_or_those_asked_for(sample, store, tmp_path):
    both = tmp_path / "both.octavo"
    tree = octavo.Octree([np.zeros(8, bool)], roots=(2, 2, 2))
    pytest.importorskip("mpi4py")
    with octavo.Writer(None, both, octavo.Header(roots=(2, 2, 2)), mode="sync") as writer:
        for flow, step in (("checkpoint", 5), ("analysis", 6), ("checkpoint", 7)):
            writer.begin_step(flow, step, 0.25 * step)
            writer.put_attribute("note", "kept")
            writer.put_mesh(tree)
            writer.put_field("density", np.arange(8.0) + step)
            writer.end_step()

    def steps(path):
        return sorted((row["flow"], row["step"], row["time"], row["parts"]) for row in octavo.steps(path))

    assert octavo.repack(both, tmp_path / "all", domains=2)["steps"] == 3
    assert steps(tmp_path / "all") == [(flow, step, time, 2) for flow, step, time, _ in steps(both)]
    assert octavo.open(tmp_path / "all", step=6, flow="analysis").attributes["note"] == "kept"
    assert octavo.repack(both, tmp_path / "some", flow="checkpoint", steps=[7])["parts_copied"] == 1
    assert steps(tmp_path / "some") == [("checkpoint", 7, 1.75, 1)]
    start = octavo.restart(None, tmp_path / "all")
    assert start.step == 7 and np.array_equal(start.fields["density"], np.arange(8.0) + 7)
    with pytest.raises(octavo.UsageError, match="step 9"):
        octavo.repack(both, tmp_path / "none", steps=[9])
    with pytest.raises(octavo.UsageError, match="only a store"):
        octavo.repack(sample, tmp_path / "none")
    with pytest.raises(octavo.UsageError, match="exists"):
        octavo.repack(both, tmp_path / "all")
    octavo.repack(both, both, domains=2, overwrite=True)
    assert steps(both) == steps(tmp_path / "all")


def test_memory_is_bounded_by_a_part_and_not_by_the_step(run, tmp_path):
    """64 domains become 48: beside what the command takes to copy, it holds two new and three old parts, and what
    encoding one part takes; as one domain, it holds all twice."""
    run("sample", tmp_path / "in", "--to", "octavo", "--domains", 64, "--levels", "6-8", "--particles", 1000)
    step = octavo.open(tmp_path / "in")
    total = sum(step._data.part_bytes(part) for part in range(step.domains))

    def peak(output, *words):
        code, text, used = peak_of(["repack", tmp_path / "in", tmp_path / output, *words, "-j", 1, "-q"])
        assert code == 0, text
        return used

    base = peak("copied")
    assert peak("48", "--domains", 48) - base < 0.3 * total
    assert peak("1", "--domains", 1) - base > total
