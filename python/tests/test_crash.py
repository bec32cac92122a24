"""kill -9 at any instant: the steps that were complete stay, the new one is whole or not there. (Durability itself is shown
by replaying recorded writes: octavo/store/durability_test.cpp.)"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import until


def start(words, **options):
    return subprocess.Popen(list(map(str, words)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **options)


@pytest.fixture(scope="module")
def two_outputs(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crash")
    for number in (1, 2):
        run("sample", folder / f"output_{number:05}", "--levels", "4-6", "--domains", 8, "--seed", number, "-q")
    return folder


def check(run, run_json, out, allowed):
    steps = [step["step"] for step in run_json("ls", out)["steps"]]
    assert steps in allowed
    assert run("verify", out).returncode == 0
    return steps


def alive(session):
    """The processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            state, _, _, of = path.read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append(int(path.parent.name))
    return found


def kill_all(process):
    """Kills the processes of a session, ranks too, and waits until all have ended."""

    def gone():
        for pid in alive(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not alive(process.pid)

    until(gone)
    process.wait()


def kill_and_check(run, run_json, two_outputs, tmp_path, times, ranks=0):
    from conftest import OCTAVO

    rng, seen = random.Random(5), set()
    base = tmp_path / "base.octavo"
    run("convert", two_outputs / "output_00001", base, "--per-file", 2, "-q")
    command = [OCTAVO, "convert", two_outputs / "output_00002", tmp_path / "run.octavo", "--append", "--per-file", 2]
    if ranks:
        command = ["mpirun", "-n", ranks, *command]
    shutil.copytree(base, tmp_path / "run.octavo")
    begin = time.monotonic()
    assert start(command).wait(timeout=600) == 0
    whole = time.monotonic() - begin
    for turn in range(times):
        shutil.rmtree(tmp_path / "run.octavo")
        shutil.copytree(base, tmp_path / "run.octavo")
        process = start(command, start_new_session=True)
        time.sleep(rng.uniform(0, 1.1 * whole) if turn else 0)
        kill_all(process)
        steps = check(run, run_json, tmp_path / "run.octavo", ([1], [1, 2]))
        seen.add(len(steps))
        if steps == [1]:  # what the dead writer left is no obstacle
            run("convert", two_outputs / "output_00002", tmp_path / "run.octavo", "--append", "-q")
            check(run, run_json, tmp_path / "run.octavo", ([1, 2],))
    return seen


def test_kill_9_leaves_no_partial_step(run, run_json, two_outputs, tmp_path):
    assert 1 in kill_and_check(run, run_json, two_outputs, tmp_path, 12)


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
def test_kill_9_of_all_ranks(run, run_json, two_outputs, tmp_path):
    kill_and_check(run, run_json, two_outputs, tmp_path, 4, ranks=3)


@pytest.mark.long
def test_many_kills(run, run_json, two_outputs, tmp_path):
    assert kill_and_check(run, run_json, two_outputs, tmp_path, 200) == {1, 2}


def test_a_second_writer_is_refused(run, run_json, two_outputs, tmp_path):
    """Two converts append to one store at once: each either works or says that the other is writing."""
    from conftest import OCTAVO

    out = tmp_path / "run.octavo"
    run("convert", two_outputs / "output_00001", out, "-q")
    shutil.copytree(two_outputs / "output_00002", tmp_path / "output_00003")
    for name in tmp_path.glob("output_00003/*"):
        name.rename(str(name).replace("_00002", "_00003"))
    writers = [
        start([OCTAVO, "convert", path, out, "--append", "--effort", "max"])
        for path in (two_outputs / "output_00002", tmp_path / "output_00003")
    ]
    codes = sorted(writer.wait(timeout=600) for writer in writers)
    assert codes in ([0, 0], [0, 2])
    assert run("verify", out).returncode == 0
    assert len(run_json("ls", out)["steps"]) == 1 + codes.count(0)
