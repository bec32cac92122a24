"""Faults that come from below the engine: a preloaded library (tests/faults/preload.cpp) kills a rank at a named call, or
makes the call fail or fall short. Runs that were hurt are continued on another number of ranks."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import octavo

pytest.importorskip("mpi4py")
from conftest import OCTAVO, mostly_long
from test_engine import ENVIRONMENT
from test_engine_faults import BOUND, beside, errors, expect_whole, start, told, until

pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not shutil.which("c++"), reason="no compiler for the preloaded library"),
]
SOURCE = Path(__file__).resolve().parents[2] / "tests" / "faults" / "preload.cpp"
LAYOUTS = {
    "directories": {},
    "append": {"checkpoint": {"append": True, "codec": "raw"}},
    "keep": {"keep_last": 2, "recycle": False},
    "recycle": {"keep_last": 1, "recycle": True, "checkpoint": {"codec": "raw"}},
}


@pytest.fixture(scope="session")
def library(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("preload") / "faults.so"
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-o", path, SOURCE, "-ldl"], check=True)
    return path


def fault(library: Path, rank, call: str, nth: int, action, where: str = "") -> dict[str, str]:
    return {"LD_PRELOAD": str(library), "OCTAVO_FAULT": f"{rank} {call} {nth} {action} {where}"}


def newest(store: Path) -> int:
    return max((step for _, step in told(store)), default=0)


def kill_and_go_on(store, library, ranks, victim, call, nth, **options) -> bool:
    """Whether the call was reached; nothing goes on where it was not."""
    process = start(store, ranks, 1, 0, 8, env=fault(library, victim, call, nth, "kill"), **options)
    if process.wait(timeout=BOUND) == 0:
        return False
    promised = newest(store)
    listed = expect_whole(store)
    if "keep_last" in options:  # older ones go when newer ones are complete, told or not
        kept = options["keep_last"]
        assert sum(step > promised - kept for step in listed) >= min(kept, promised), (promised, listed)
    else:
        assert set(range(1, promised + 1)) <= set(listed), (promised, listed)
    # With checkpoints that go, the newest; else an older one, whose successors are written again.
    first = max(listed, default=0) if "keep_last" in options else len(listed) // 2
    process = start(store, ranks % 4 + 1, 2, first, first + 3, **options)
    assert process.wait(timeout=BOUND) == 0 and not errors(store, 0)
    again = expect_whole(store)
    assert {again[s] for s in again if s > first} == {2}
    assert {s for s in range(first + 1, first + 4) if s > first + 3 - options.get("keep_last", 3)} <= set(again)
    assert max(again) == first + 3
    return True


POINTS = [  # ranks, victim, call, the how manieth, layout, mode, contributors a file
    (2, 1, "create", 3, "directories", "background", 1),
    (3, 2, "write", 9, "append", "sync", 2),
    (2, 0, "record", 5, "recycle", "background", 0),
    (4, "all", "sync", 6, "directories", "background", 2),
    (1, 0, "remove", 1, "keep", "background", 1),
]


@pytest.mark.parametrize(
    ("ranks", "victim", "call", "nth", "layout", "mode", "per_file"), mostly_long(*POINTS, short=POINTS[:3])
)
def test_kill_9_at_a_named_call(tmp_path, library, ranks, victim, call, nth, layout, mode, per_file):
    options = LAYOUTS[layout] | {"mode": mode, "contributors_per_file": per_file}
    assert kill_and_go_on(tmp_path / "run.octavo", library, ranks, victim, call, nth, **options)


def counts(folder: Path, library: Path, ranks: int, **options) -> list[tuple[int, str, int]]:
    """(rank, call, how often) of a run of 8 steps that nothing happens to."""
    folder.mkdir()
    told_counts = folder / "counts"
    env = fault(library, "all", "none", 0, "count") | {"OCTAVO_FAULT_COUNTS": str(told_counts)}
    assert start(folder / "run.octavo", ranks, 1, 0, 8, env=env, **options).wait(timeout=BOUND) == 0
    rows = [line.split() for line in told_counts.read_text().splitlines()]
    return [(int(rank), call, int(often)) for rank, call, often in rows if int(often)]


@pytest.mark.long
def test_kill_9_at_any_call(tmp_path, library):
    """48 kills, all of calls that there are: a run without one first counts them. Two minutes on two idle cores."""
    rng = random.Random(3)
    reached = 0
    for turn in range(12):
        layout, mode, per_file = list(LAYOUTS)[turn % 4], rng.choice(["sync", "background"]), turn // 4
        options = LAYOUTS[layout] | {"mode": mode, "contributors_per_file": per_file}
        ranks = rng.randint(1, 4)
        known = counts(tmp_path / f"{turn}", library, ranks, **options)
        for call in rng.sample(sorted({call for _, call, _ in known}), 4):
            rank, often = rng.choice([(rank, often) for rank, name, often in known if name == call])
            victim, nth = rng.choice(["all", rank]), rng.randint(1, often)
            folder = tmp_path / f"{turn}-{ranks}-ranks-{victim}-{call}-{nth}-{layout}-{mode}-{per_file}"
            folder.mkdir()
            reached += kill_and_go_on(folder / "run.octavo", library, ranks, victim, call, nth, **options)
            shutil.rmtree(folder)
    assert reached > 40  # a run in the background may make fewer calls than another


# Each phase of a drain: the store's file made, written, committed and synced, the local copy removed; and of the step
# on the local disk before it.
DRAINS = [  # ranks, victim, call, the how manieth, on which disk
    (2, 1, "write", 4, "run.octavo/"),
    (3, "all", "record", 3, "run.octavo/"),
    (2, 0, "sync", 5, "run.octavo/"),
    (2, "all", "remove", 3, "/local/"),
    (1, 0, "record", 5, "/local/"),
]


def kill_at_the_drain(tmp_path, library, ranks, victim, call, nth, where) -> bool:
    """Steps reported durable are there after the next run, which finds them on the local disk or in the store."""
    store, options = tmp_path / "run.octavo", {"staging_directory": str(tmp_path / "local")}
    process = start(store, ranks, 1, 0, 8, env=fault(library, victim, call, nth, "kill", where), **options)
    if process.wait(timeout=BOUND) == 0:
        return False
    expect_whole(store)
    promised = newest(store)
    process = start(store, ranks % 4 + 1, 2, -1, 11, **options)
    assert process.wait(timeout=BOUND) == 0 and not errors(store, 0)
    listed = expect_whole(store)
    began = min(step for step, run in listed.items() if run == 2)
    assert began > promised and set(range(1, 12)) == set(listed)
    assert {run for step, run in listed.items() if step < began} <= {1}
    assert not list((tmp_path / "local").rglob("data.*"))
    return True


@pytest.mark.parametrize(("ranks", "victim", "call", "nth", "where"), mostly_long(*DRAINS, short=DRAINS[::3]))
def test_kill_9_at_each_phase_of_a_drain(tmp_path, library, ranks, victim, call, nth, where):
    assert kill_at_the_drain(tmp_path, library, ranks, victim, call, nth, where)


FAILURES = [
    ("write", 12, errno.EIO, "sync", "Unreadable"),
    ("sync", 7, errno.EIO, "background", "Unreadable"),
    ("write", 12, errno.ENOSPC, "background", "NoSpace"),
]


@pytest.mark.parametrize(("call", "nth", "number", "mode", "kind"), FAILURES)
def test_a_call_that_fails_on_one_rank_is_one_error_on_all_and_the_run_goes_on(
    tmp_path, library, call, nth, number, mode, kind
):
    store = tmp_path / "run.octavo"
    assert start(store, 2, 1, 0, 6, env=fault(library, 1, call, nth, number), mode=mode).wait(timeout=BOUND) == 0
    assert len(errors(store, 0)) == 1 and errors(store, 0) == errors(store, 1)
    assert errors(store, 0)[0].startswith(kind)
    listed = expect_whole(store)
    assert len(listed) == 5 and 6 in listed and {step for _, step in told(store)} <= set(listed)


@pytest.mark.parametrize("codec", ["raw", "lossless"])
def test_writes_that_fall_short_are_gone_on_with(tmp_path, library, codec):
    store = tmp_path / "run.octavo"
    process = start(store, 2, 1, 0, 3, env=fault(library, "all", "write", 1, "short"), checkpoint={"codec": codec})
    assert process.wait(timeout=BOUND) == 0 and not errors(store, 0)
    assert set(expect_whole(store)) == {1, 2, 3}


def test_a_full_dev_shm_is_no_matter(tmp_path):
    """A name space of its own, where /dev/shm has 64 kB and they are taken. Open MPI must do without it too."""
    full = 'mount -t tmpfs -o size=64k none /dev/shm && head -c 70000 /dev/zero >/dev/shm/full; exec "$@"'
    before = ["unshare", "-m", "bash", "-c", full, "bash"]
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/dev/shm"]
    if not shutil.which("unshare") or subprocess.run(probe, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small /dev/shm")
    store = tmp_path / "run.octavo"
    env = {"OMPI_MCA_btl": "self,tcp"}
    process = start(store, 3, 1, 0, 4, env=env, before=before, contributors_per_file=0, mode="background")
    assert process.wait(timeout=BOUND) == 0 and not errors(store, 0)
    assert set(expect_whole(store)) == {1, 2, 3, 4}


WRITER = """
import sys, numpy as np, octavo
from engine_faults import tree_of
tree = tree_of(0, 1)
with octavo.Writer(None, sys.argv[1], octavo.Header(roots=tree.roots), mode="background") as writer:
    for step in range(1, 51):
        writer.begin_step("analysis", step, 0.0)
        writer.put_attribute("step", step)
        writer.put_mesh(tree)
        writer.put_field("density", np.full(tree.cells, float(step)))
        writer.end_step()
"""


def test_a_reader_of_steps_that_are_being_appended_sees_whole_ones_only(tmp_path):
    store = tmp_path / "run.octavo"
    words = [sys.executable, "-c", WRITER, str(store)]
    writer = subprocess.Popen(words, cwd=Path(__file__).parent, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    seen, looks = 0, 0
    while writer.poll() is None or looks == 0:
        if not (store / "analysis" / "data.000").exists():
            continue
        try:
            listed = [row["step"] for row in octavo.steps(store)]
        except octavo.Error:
            assert seen == 0, "what was there has gone"
            continue
        assert listed == list(range(1, len(listed) + 1)) and len(listed) >= seen
        seen = len(listed)
        if listed:
            density = octavo.open(store, flow="analysis", step=seen).arrays()["density"]
            assert np.all(density == seen)
            assert octavo.verify(store, threads=1, quick=looks % 2 == 0)["findings"] == []
            looks += 1
    assert writer.wait(timeout=BOUND) == 0, writer.stderr.read()
    assert [row["step"] for row in octavo.steps(store)] == list(range(1, 51))


@pytest.mark.parametrize("byte", [4096 + 40, 8192 + 40], ids=["first record", "second record"])
def test_a_record_that_is_read_while_it_is_written_is_read_again(tmp_path, library, byte):
    """Linux copies the bytes of a page without a lock between who reads and who writes."""
    store = tmp_path / "run.octavo"
    assert start(store, 1, 1, 0, 2, **LAYOUTS["append"]).wait(timeout=BOUND) == 0
    words = [OCTAVO, "verify", store, "--quick"]
    outcomes = {}
    for nth in (1, 0):
        torn = ENVIRONMENT | fault(library, "all", "read", nth, f"torn:{byte}")
        outcomes[nth] = subprocess.run(words, env=torn, capture_output=True, text=True, check=False)
    assert outcomes[1].returncode == 0, outcomes[1].stderr
    assert outcomes[0].returncode != 0 and "commit record: checksum differs" in outcomes[0].stdout + outcomes[0].stderr


# ---------------------------------------------------------------- room for keep_last + 1 steps


def expect_all_but(store: Path, failed: int, last: int, keep: int) -> None:
    """One error on both ranks; every other step was durable, and the newest ones are there."""
    assert len(errors(store, 0)) == failed and errors(store, 0) == errors(store, 1)
    assert len(told(store)) == last - failed and newest(store) == last
    assert len(expect_whole(store)) == keep and max(expect_whole(store)) == last


@pytest.fixture
def tight_disk(tmp_path):
    """Room for three steps of two files of 113 kB, and not for four."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=800k", "none", folder], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small tmpfs: " + mounted.stderr.strip())
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


KEEP = {"keep_last": 2, "recycle": False, "mode": "sync", "checkpoint": {"codec": "raw"}}
TRANSIENT = [("create", 3), ("record", 5), ("write", 12), ("write", 13), ("sync", 7), ("sync", 9), ("directory", 5)]


@pytest.mark.parametrize(("call", "nth"), TRANSIENT)
def test_one_failure_on_a_disk_with_room_for_one_step_more_fails_no_later_step(tight_disk, library, call, nth):
    store = beside(tight_disk)
    env = fault(library, 1, call, nth, errno.EIO)
    assert start(store, 2, 1, 0, 16, env=env, **KEEP).wait(timeout=BOUND) == 0
    expect_all_but(store, 1, 16, 2)


@pytest.mark.long
def test_what_an_earlier_run_left_takes_no_room_from_a_later_one(tight_disk, library):
    """Each run goes on from the step before the newest: the newest is superseded, and the killed one's is garbage."""
    store = beside(tight_disk)
    first = 0
    for run, (call, nth) in enumerate([("sync", 11), ("write", 14), ("record", 9), ("sync", 12)], 1):
        env = fault(library, 1, call, nth, "kill")
        assert start(store, 2, run, first, first + 20, env=env, **KEEP).wait(timeout=BOUND) != 0
        assert not errors(store, 0)
        listed = sorted(expect_whole(store))
        assert listed[-1] > first + 1
        first = listed[-2]
    assert start(store, 2, 9, first, first + 8, **KEEP).wait(timeout=BOUND) == 0
    assert not errors(store, 0) and expect_whole(store) == {first + 7: 9, first + 8: 9}


@pytest.mark.long
def test_a_first_step_that_fails_does_not_bring_an_abandoned_branch_back(tmp_path, library):
    """The first step of a resumed run says which it took up; where that fails the next does."""
    for mode in ("sync", "background"):
        folder = tmp_path / mode
        folder.mkdir()
        store = folder / "run.octavo"
        assert start(store, 2, 1, 0, 6, mode=mode).wait(timeout=BOUND) == 0
        env = fault(library, 1, "sync", 2, errno.EIO)
        assert start(store, 2, 2, 3, 5, env=env, mode=mode).wait(timeout=BOUND) == 0
        assert len(errors(store, 0)) == 1
        listed = expect_whole(store)
        assert max(listed) == 5 and listed[5] == 2, listed


# ---------------------------------------------------------------- what has failed is not there


@pytest.mark.parametrize("mode", ["sync", "background"])
def test_a_step_whose_record_could_not_be_synced_is_neither_durable_nor_there(tmp_path, library, mode):
    """Two syncs a step: what the record speaks of, the record. The second one of step 3 fails."""
    store = tmp_path / "run.octavo"
    env = fault(library, 1, "sync", 6, errno.EIO)
    assert start(store, 2, 1, 0, 6, env=env, mode=mode).wait(timeout=BOUND) == 0
    assert len(errors(store, 0)) == 1
    assert set(expect_whole(store)) == {1, 2, 4, 5, 6}


@pytest.mark.long
def test_steps_that_wait_could_not_sync_are_not_there(tmp_path, library):
    """sync_policy = wait: the file of rank 1 is synced in wait(), behind three steps each."""
    for layout in ({}, {"checkpoint": {"append": True}}):
        folder = tmp_path / str(len(layout))
        folder.mkdir()
        store = folder / "run.octavo"
        env = fault(library, 1, "sync", 2, errno.EIO)
        assert start(store, 2, 1, 0, 9, env=env, sync_policy="wait", **layout).wait(timeout=BOUND) == 0
        told_steps = {step for _, step in told(store)}
        assert errors(store, 0) and errors(store, 0) == errors(store, 1)
        assert told_steps <= set(expect_whole(store))
        failed = {step for step in range(1, 10) if f"step {step}" in " ".join(errors(store, 0))}
        assert failed and not failed & set(expect_whole(store)), (failed, expect_whole(store))


# ---------------------------------------------------------------- those who share a file meet


@pytest.mark.parametrize("caller", ["friend", "stranger"])
def test_a_silent_caller_does_not_keep_ranks_from_meeting(tmp_path, library, caller):
    """A process of this host calls the socket where ranks meet until it takes nobody any more, and says nothing."""
    store = tmp_path / "run.octavo"
    env = fault(library, "all", "listen", 1, caller)
    process = start(store, 3, 1, 0, 3, env=env, contributors_per_file=0)
    try:
        assert process.wait(timeout=BOUND) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert not errors(store, 0) and set(expect_whole(store)) == {1, 2, 3}


# ---------------------------------------------------------------- file systems without locks


@pytest.mark.parametrize("number", mostly_long(errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, short=(errno.ENOTSUP,)))
@pytest.mark.long
def test_a_file_system_that_refuses_locks_can_be_written_by_one_at_a_time(tmp_path, library, number):
    store = tmp_path / "run.octavo"
    env = fault(library, "all", "lock", 0, number, "run.octavo")
    process = start(store, 2, 1, 0, 400, env=env)
    until(lambda: len(told(store)) > 2, process)
    pids = [int(Path(f"{store}.{rank}.pid").read_text()) for rank in (0, 1)]
    assert start(store, 1, 2, 0, 1, env=env).wait(timeout=BOUND) != 0  # while the first is at work
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    process.wait(timeout=BOUND)
    first = max(expect_whole(store))
    assert start(store, 2, 3, first, first + 3, env=env).wait(timeout=BOUND) == 0  # the dead one's lock is taken over
    assert not errors(store, 0) and max(expect_whole(store)) == first + 3


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
@pytest.mark.parametrize("code", ["flash", "amrex", "ramses"])
@pytest.mark.long
def test_a_file_system_that_refuses_locks_takes_every_output(run, sample, tmp_path, library, number, code):
    """HDF5 locks what it opens, too."""
    env = dict(os.environ, **fault(library, "all", "lock", 0, number))
    store = tmp_path / "run.octavo"
    native = tmp_path / ("output_00007" if code == "ramses" else "there")
    run("convert", sample, store, "-q", "--no-particles", env=env)
    run("convert", store, native, "-q", "--to", code, *(["--block", 4, "--fill"] if code == "flash" else []), env=env)
    run("info", native, "-q", env=env)
    assert sorted(tmp_path.iterdir()) == sorted([store, native])
