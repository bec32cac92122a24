"""The promises of the engine when things go wrong: nothing hangs, every step reported durable is there bit for
bit, and no partial one is listed. (That bytes are on the disk is shown by replaying recorded writes:
octavo/store/crash_test.cpp.)"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import mostly_long

import octavo

pytest.importorskip("mpi4py")
from engine_faults import EDGE, places_of, tree_of, values
from test_engine import ENVIRONMENT

pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
BOUND = 600  # [s] that anything may take: nothing hangs, but a disk may stand still for minutes


def start(
    store: Path, ranks: int, run: int, first: int, last: int, *, env=None, before=(), **options
) -> subprocess.Popen:
    for old in store.parent.glob(store.name + ".*.pid"):
        old.unlink()
    program = Path(__file__).with_name("engine_faults.py")
    words = [sys.executable, "-m", "mpi4py", program, store, run, first, last, json.dumps(options)]
    return subprocess.Popen(
        [*before, "mpirun", "-n", str(ranks), *map(str, words)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT | (env or {}), start_new_session=True,
    )  # fmt: skip


def told(store: Path) -> list[tuple[int, int]]:
    """(run, step) of what was reported durable, whole lines only."""
    log = Path(f"{store}.log")
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    return [(int(run), int(step)) for run, step in (line.split() for line in lines)]


def until(condition, process: subprocess.Popen) -> None:
    """Waits for what the program does; it may also end first."""
    end = time.monotonic() + BOUND
    while not condition() and process.poll() is None:
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.002)


def errors(store: Path, rank: int) -> list[str]:
    path = Path(f"{store}.{rank}.error")
    return path.read_text().splitlines() if path.exists() else []


def expect_right(store: Path, step: int) -> int:
    """The step has all its cells with the right values; the run that wrote it."""
    data = octavo.open(store, flow="checkpoint", step=step)
    cells = data.arrays()
    assert len(cells["density"]) == EDGE**3
    run = data.attributes["run"]
    assert np.array_equal(cells["density"], values(places_of(cells["x"], cells["y"], cells["z"]), step, run))
    return run


def expect_whole(store: Path) -> dict[int, int]:
    """Every listed step is right, and what is damaged is nowhere. {step: the run that wrote it}."""
    if not store.exists():
        return {}
    try:
        listed = {row["step"]: expect_right(store, row["step"]) for row in octavo.steps(store)}
    except octavo.Damaged as error:
        assert "expected a store" in str(error)  # made, and nothing in it yet
        return {}
    if not listed:  # no step is complete: verify says so, with an error where there is nothing at all
        return {}
    assert octavo.verify(store, threads=1)["findings"] == []
    return listed


def kill(store: Path, ranks: list[int]) -> None:
    for rank in ranks:
        pid = Path(f"{store}.{rank}.pid")
        if pid.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), signal.SIGKILL)


CASES = [
    (1, "sync", 1, "all"),
    (2, "background", 1, "one"),
    (3, "background", 2, "all"),
    (4, "background", 0, "one"),
    (2, "sync", 0, "one"),
]


def kill_at_random(store: Path, rng: random.Random, ranks: int, victims: str, **options) -> None:
    """A run is killed, and goes on from an older step on another number of ranks, which writes the same numbers again."""
    last = 400
    process = start(store, ranks, 1, 0, last, **options)
    wanted = rng.randint(0, 6)
    until(lambda: len(told(store)) > wanted, process)
    time.sleep(rng.uniform(0, 0.03))  # anywhere within a step
    kill(store, list(range(ranks)) if victims == "all" else [rng.randrange(ranks)])
    assert process.wait(timeout=BOUND) != 0
    durable = [step for _, step in told(store)]
    listed = expect_whole(store)
    assert set(durable) <= set(listed) and set(listed.values()) <= {1}, (durable, listed)
    newest = max(listed, default=0)
    first = rng.randint(1, newest) if newest else 0
    process = start(store, ranks % 4 + 1, 2, first, first + 3, **options)
    assert process.wait(timeout=BOUND) == 0
    again = expect_whole(store)
    assert again == {**{s: 1 for s in listed if s <= first}, **dict.fromkeys(range(first + 1, first + 4), 2)}


@pytest.mark.parametrize(("ranks", "mode", "per_file", "victims"), mostly_long(*CASES, short=CASES[1::3] + CASES[2:3]))
def test_kill_9_of_one_and_of_all_ranks(tmp_path, request, ranks, mode, per_file, victims):
    rng = random.Random(f"{ranks} {mode} {per_file}")
    for turn in range(25 if request.config.getoption("--long") else 1):
        folder = tmp_path / str(turn)
        folder.mkdir()
        kill_at_random(
            folder / "run.octavo", rng, ranks, victims, mode=mode, contributors_per_file=per_file,
            checkpoint={"codec": rng.choice(["raw", "lossless"])},
        )  # fmt: skip


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small tmpfs: " + mounted.stderr.strip())
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


def beside(disk: Path) -> Path:
    """A link to the store on the small disk: what the program tells goes beside the link, where there is space."""
    (disk / "run.octavo").mkdir()
    link = disk.parent / "run.octavo"
    link.symlink_to(disk / "run.octavo")
    return link


@pytest.mark.parametrize("mode", ["sync", "background"])
def test_a_full_disk_is_an_error_on_all_ranks_and_old_steps_stay(small_disk, mode):
    """A step takes 220 kB: some fit. One error a failed step, the same on both ranks; then space, and the run goes on."""
    store = beside(small_disk)
    options = {"mode": mode, "checkpoint": {"codec": "raw"}}
    assert start(store, 2, 1, 0, 24, **options).wait(timeout=BOUND) == 0
    assert errors(store, 0) and errors(store, 0) == errors(store, 1)
    assert all(text.startswith("NoSpace") for text in errors(store, 0))
    listed = expect_whole(store)
    newest = max(listed)
    assert 0 < len(listed) < 24 and {step for _, step in told(store)} <= set(listed)
    for folder in list((store / "checkpoint").glob("*/*/*")):
        if int(folder.name) < newest - 2:
            shutil.rmtree(folder)
    assert octavo.verify(store, threads=1)["findings"]  # they were durable; whoever removes them removes the mark too
    (store / "checkpoint.durable").unlink()
    assert octavo.verify(store, threads=1)["findings"] == []
    assert start(store, 3, 2, newest, newest + 2, **options).wait(timeout=BOUND) == 0
    assert expect_whole(store)[newest + 2] == 2


def test_a_disk_that_becomes_read_only_is_an_error_on_all_ranks(small_disk):
    store = beside(small_disk)
    assert start(store, 2, 1, 0, 2).wait(timeout=BOUND) == 0
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert start(store, 2, 2, 2, 3).wait(timeout=BOUND) == 0
    assert errors(store, 0) == errors(store, 1) and errors(store, 0)[0].startswith("Unreadable")
    assert expect_whole(store) == {1: 1, 2: 1}


@pytest.mark.parametrize("mode", ["sync", "background"])
def test_a_store_that_vanishes_hangs_nobody(tmp_path, mode):
    """Steps after it are errors on all ranks, or in a store that is whole again; those before it are lost."""
    store = tmp_path / "run.octavo"
    process = start(store, 2, 1, 0, 100, mode=mode)
    until(lambda: len(told(store)) > 3, process)
    ranks = [int(path.read_text()) for path in store.parent.glob(store.name + ".*.pid")]
    for rank in ranks:  # anywhere within a step; on a busy machine it might end while the store is taken away
        os.kill(rank, signal.SIGSTOP)
    while store.exists():  # until they stand
        shutil.rmtree(store, ignore_errors=True)
    for rank in ranks:
        os.kill(rank, signal.SIGCONT)
    assert process.wait(timeout=BOUND) == 0
    assert errors(store, 0) == errors(store, 1)
    listed = {row["step"] for row in octavo.steps(store)}
    assert 100 in listed and all(expect_right(store, step) == 1 for step in listed)
    assert {finding["kind"] for finding in octavo.verify(store, threads=1)["findings"]} == {"lost"}


def test_a_second_writer_gets_a_clear_error(tmp_path):
    """Another process has the file: here, this one."""
    store = tmp_path / "run.octavo"
    tree = tree_of(0, 1)

    def write(writer, step):
        writer.begin_step("analysis", step, 0.0)
        writer.put_mesh(tree)
        writer.put_field("density", np.zeros(tree.cells))
        writer.end_step()

    with octavo.Writer(None, store, octavo.Header(roots=tree.roots), mode="sync") as writer:
        write(writer, 1)
    files = {row["file"] for row in octavo._core.list_streams(store, "analysis", 1)}
    with octavo.Writer(None, store, octavo.Header(roots=tree.roots), mode="sync") as writer:
        with open(files.pop()) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with pytest.raises(octavo.UsageError, match="another writer"):
                write(writer, 2)
        write(writer, 3)
        # From its first step on the writer keeps the file, and its lock.
        name = octavo._core.list_streams(store, "analysis", 3)[0]["file"]
        with open(name) as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert [row["step"] for row in octavo.steps(store)] == [1, 3]


def test_a_reader_beside_a_writer_sees_whole_steps_only(tmp_path):
    store = tmp_path / "run.octavo"
    process = start(store, 2, 1, 0, 60)
    seen: set[int] = set()
    until(lambda: told(store), process)
    while process.poll() is None:
        listed = {row["step"] for row in octavo.steps(store)}
        assert seen <= listed
        expect_right(store, max(listed))
        seen = listed
    assert process.returncode == 0 and seen
    assert set(expect_whole(store)) == set(range(1, 61))
