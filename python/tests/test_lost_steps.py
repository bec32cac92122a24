"""Damaged, interrupted and lost are three things: `verify` and a restart tell them apart, whatever became of the files."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import mostly_long

import octavo

pytest.importorskip("mpi4py")
from test_engine_faults import BOUND, errors, start, told
from test_engine_preload import fault, library  # noqa: F401  (a fixture)

pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not shutil.which("c++"), reason="no compiler for the preloaded library"),
]


def verified(run, store: Path, *words) -> tuple[int, dict]:
    done = run("verify", store, "--json", *words, check=False)
    return done.returncode, json.loads(done.stdout)


def expect_note(run, store: Path, text: str) -> None:
    for words in ((), ("--quick",)):
        code, report = verified(run, store, *words)
        assert code == 0 and report["findings"] == []
        assert any(text in note for note in report["notes"]), report["notes"]


def expect_lost(run, store: Path, text: str) -> None:
    for words in ((), ("--quick",)):
        code, report = verified(run, store, *words)
        assert code == 1 and [finding["kind"] for finding in report["findings"]] == ["lost"]
        assert text in report["findings"][0]["what"]
    shown = run("verify", store, check=False)
    assert shown.returncode == 1 and "lost" in shown.stdout


def directory(store: Path, step: int) -> Path:
    return store / "checkpoint" / "000" / "000" / f"{step:09}"


@pytest.mark.parametrize(
    ("rank", "call", "nth"),
    mostly_long(
        (1, "create", 1), (1, "write", 1), (0, "record", 1), (1, "sync", 1), short=[(1, "write", 1), (0, "record", 1)]
    ),
)
def test_a_kill_in_the_first_step_is_a_note_and_a_first_start(run, tmp_path, library, rank, call, nth):  # noqa: F811
    store = tmp_path / "run.octavo"
    assert start(store, 2, 1, 0, 3, env=fault(library, rank, call, nth, "kill")).wait(timeout=BOUND) != 0
    assert not told(store)
    if any(store.rglob("data.*")):
        expect_note(run, store, "interrupted")
    assert octavo.restart(None, store) is None
    assert start(store, 2, 2, -1, 2).wait(timeout=BOUND) == 0
    assert verified(run, store)[0] == 0 and [row["step"] for row in octavo.steps(store)] == [1, 2]


def test_a_flow_that_never_had_a_durable_step_is_a_first_start_whatever_the_other_has(run, tmp_path, library):  # noqa: F811
    store = tmp_path / "run.octavo"
    header = octavo.Header(roots=(1, 1, 1))
    with octavo.Writer(None, store, header, mode="sync") as writer:
        writer.begin_step("analysis", 1, 0.0)
        writer.put_mesh(octavo.Octree([np.array([False])], [np.array([True])]))
        writer.put_field("density", np.array([1.0]))
        writer.end_step()
    assert start(store, 2, 1, 0, 3, env=fault(library, 1, "write", 1, "kill")).wait(timeout=BOUND) != 0
    expect_note(run, store, "checkpoint")  # its step 1, or, if rank 0 had written nothing yet, a file that is empty
    assert octavo.restart(None, store) is None
    assert octavo.restart(None, store, flow="analysis").step == 1


# The third step's file of rank 1: never made, empty, without its record.
@pytest.mark.parametrize(("call", "nth"), [("create", 3), ("record", 5), ("sync", 5)])
@pytest.mark.parametrize("mode", mostly_long("sync", "background", short=["background"]))
def test_a_step_that_failed_is_a_note_whatever_is_left_of_it(run, tmp_path, library, call, nth, mode):  # noqa: F811
    store = tmp_path / "run.octavo"
    env = fault(library, 1, call, nth, errno.EIO)
    assert start(store, 2, 1, 0, 6, env=env, mode=mode).wait(timeout=BOUND) == 0
    assert len(errors(store, 0)) == 1
    expect_note(run, store, "step 3")
    assert octavo.restart(None, store).step == 6


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    store = tmp_path_factory.mktemp("six") / "run.octavo"
    assert start(store, 2, 1, 0, 6).wait(timeout=BOUND) == 0
    return store


@pytest.mark.parametrize("what", ["directory", "data.000", "data.001"])
def test_a_durable_step_in_the_middle_that_is_gone_is_lost(run, six, tmp_path, what):
    store = shutil.copytree(six, tmp_path / "run.octavo")
    shutil.rmtree(directory(store, 3)) if what == "directory" else (directory(store, 3) / what).unlink()
    expect_lost(run, store, "step of order 3" if what == "directory" else "step 3")
    assert octavo.restart(None, store).step == 6


def test_the_oldest_durable_steps_that_are_gone_are_lost(run, six, tmp_path):
    store = shutil.copytree(six, tmp_path / "run.octavo")
    shutil.rmtree(directory(store, 1))
    expect_lost(run, store, "step of order 1")
    shutil.rmtree(directory(store, 2))
    code, report = verified(run, store)
    assert code == 1 and [finding["kind"] for finding in report["findings"]] == ["lost", "lost"]


# The run was killed, so its mark is of an earlier time.
def test_a_gap_above_a_stale_mark_is_a_lost_step(run, six, tmp_path):
    assert start(tmp_path / "one.octavo", 2, 1, 0, 1).wait(timeout=BOUND) == 0
    store = shutil.copytree(six, tmp_path / "run.octavo")
    shutil.copy(tmp_path / "one.octavo" / "checkpoint.durable", store)
    assert verified(run, store)[0] == 0
    shutil.rmtree(directory(store, 2))
    expect_lost(run, store, "step of order 2")


@pytest.mark.parametrize("what", ["directory", "data.000", "data.001", "empty"])
def test_a_restart_that_passes_over_a_lost_newer_step_says_so(run, six, tmp_path, what):
    store = shutil.copytree(six, tmp_path / "run.octavo")
    if what == "directory":
        shutil.rmtree(directory(store, 6))
    elif what == "empty":
        (directory(store, 6) / "data.001").write_bytes(b"")
    else:
        (directory(store, 6) / what).unlink()
    expect_lost(run, store, "checkpoint step 6")
    found = octavo.restart(None, store)
    assert found.step == 5
    assert any(note.startswith("lost: ") and "step 6" in note for note in found.notes), found.notes


def test_all_steps_gone_are_lost_and_no_first_start(run, six, tmp_path):
    store = shutil.copytree(six, tmp_path / "run.octavo")
    shutil.rmtree(store / "checkpoint")
    code, report = verified(run, store)
    assert code == 1 and {finding["kind"] for finding in report["findings"]} == {"lost"}
    with pytest.raises(octavo.Damaged, match=r"checkpoint\.durable"):
        octavo.restart(None, store)
    (store / "checkpoint.durable").unlink()
    assert octavo.restart(None, store) is None


def test_a_damaged_step_is_damaged(run, six, tmp_path):
    store = shutil.copytree(six, tmp_path / "run.octavo")
    path = directory(store, 6) / "data.001"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    code, report = verified(run, store)
    assert code == 1 and [finding["kind"] for finding in report["findings"]] == ["damaged"]


def test_checkpoints_that_keep_last_removed_are_not_lost(run, tmp_path):
    store = tmp_path / "run.octavo"
    assert start(store, 2, 1, 0, 6, keep_last=2, recycle=False).wait(timeout=BOUND) == 0
    assert start(store, 2, 2, 5, 8, keep_last=2, recycle=False).wait(timeout=BOUND) == 0
    code, report = verified(run, store)
    assert code == 0 and report["notes"] == [] and [row["step"] for row in octavo.steps(store)] == [7, 8]
    shutil.rmtree(store / "checkpoint" / "000000008")  # with keep_last directories lie side by side
    expect_lost(run, store, "checkpoint step 8")


# The head, and the two commit records: a disk loses up to 4 KiB with a sector that it cannot read.
@pytest.mark.parametrize("block", [0, 4096, 8192])
@pytest.mark.parametrize("layout", ["directories", "appended"])
@pytest.mark.long
def test_one_unreadable_block_of_a_head_loses_no_step(run, six, tmp_path, library, block, layout):  # noqa: F811
    store = six
    if layout == "appended":
        store = tmp_path / "run.octavo"
        assert start(store, 2, 1, 0, 6, checkpoint={"append": True}).wait(timeout=BOUND) == 0
    env = dict(os.environ, **fault(library, "all", "read", 0, f"block:{block}"))
    listed = run("info", store, "--json", env=env)
    assert [row["step"] for row in json.loads(listed.stdout)["steps"]] == [1, 2, 3, 4, 5, 6]
    shown = run("verify", store, "--json", check=False, env=env)
    assert shown.returncode == 1
    assert {finding["kind"] for finding in json.loads(shown.stdout)["findings"]} == {"damaged"}
