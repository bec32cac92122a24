"""`octavo convert` killed at any instant leaves nothing under the final name: a retry works without -f, and what has the
name is whole. Two at once to one output: one is refused."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import OCTAVO, mostly_long, until

SOURCE = Path(__file__).resolve().parents[2] / "tests" / "faults" / "at_call.cpp"

# The outputs to kill while they are written: name -> (kind of input, words of the command, name of the output).
TARGETS = {
    "store": ("cells", [], "run.octavo"),
    "store of files": ("cells", ["--per-file", "1"], "run.octavo"),
    "flash": ("cells", ["--to", "flash", "--block", "4", "--fill"], "a_hdf5_chk_0001"),
    "amrex": ("cells", ["--to", "amrex", "--kind", "plotfile"], "plt00001"),
    "ramses": ("cells", ["--to", "ramses"], "output_00001"),
    "serafin": ("triangles", [], "out.slf"),
    "med": ("triangles", [], "out.med"),
    "vtkhdf": ("triangles", [], "out.vtkhdf"),
    "store of triangles": ("triangles", [], "out.octavo"),
}


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    library = tmp_path_factory.mktemp("preload") / "at_call.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def inputs(run, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    run("sample", folder / "output_00007", "--dim", 2, "--levels", "3-5", "--domains", 3, "--particles", 30, "-q")
    return {"cells": folder / "output_00007", "triangles": data / "serafin" / "f2d_gouttedo.slf"}


class Job:
    """A conversion in a folder of its own, with calls on files in it counted."""

    def __init__(self, preload, inputs, target, folder, ranks=1):
        kind, words, name = TARGETS[target]
        self.folder, self.out, self.preload = folder, folder / name, preload
        self.words = [str(OCTAVO), "convert", str(inputs[kind]), str(self.out), *words, "-q", "-j", "1"]
        if ranks > 1:
            self.words = ["mpirun", "-n", str(ranks), *self.words]

    def start(self, nth, number, *more):
        self.folder.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "LD_PRELOAD": str(self.preload),
            "OCTAVO_AT_CALL": f"{nth} {int(number)} {self.folder}",
            "OCTAVO_AT_CALL_COUNT": str(self.folder) + ".count",
        }
        return subprocess.Popen([*self.words, *more], env=environment, stderr=subprocess.PIPE, text=True)

    def calls(self):
        """How many calls the whole conversion has."""
        process = self.start(0, 0)
        message = process.communicate(timeout=600)[1]
        if process.returncode == 4:
            pytest.skip(message)
        assert process.returncode == 0, message
        shutil.rmtree(self.folder)
        return max(int(line) for line in Path(str(self.folder) + ".count").read_text().split())


def instants(count, most):
    """The first ones, the last ones, and as many between."""
    if count <= most:
        return list(range(1, count + 1))
    third = most // 3
    between = [third + (count - 2 * third) * i // third for i in range(third)]
    return sorted({*range(1, third + 1), *between, *range(count - third + 1, count + 1)})


@pytest.mark.parametrize("target", mostly_long(*TARGETS, short=["store", "amrex", "ramses", "med", "vtkhdf"]))
def test_a_killed_convert_leaves_nothing_under_the_name(run, preload, inputs, tmp_path, target, pytestconfig):
    job = Job(preload, inputs, target, tmp_path / "here")
    most = 10**9 if pytestconfig.getoption("--long") else 9
    seen = set()
    for nth in instants(job.calls(), most):
        process = job.start(nth, signal.SIGKILL)
        process.communicate(timeout=600)
        assert process.returncode == -signal.SIGKILL, nth
        whole = job.out.exists()
        seen.add(whole)
        if not whole:
            done = subprocess.run(job.words, capture_output=True, text=True)
            assert done.returncode == 0, (nth, done.stderr, list(job.folder.iterdir()))
            assert [path.name for path in job.folder.iterdir()] == [job.out.name], nth
        assert run("verify", job.out).returncode == 0, nth
        shutil.rmtree(job.folder)
    assert False in seen


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
@pytest.mark.parametrize("target", ["store of files", "amrex"])
@pytest.mark.long
def test_so_does_one_of_two_ranks(run, preload, inputs, tmp_path, target):
    """Each rank dies at its nth call, or with the other."""
    job = Job(preload, inputs, target, tmp_path / "here", ranks=2)
    for nth in instants(job.calls(), 3):
        job.start(nth, signal.SIGKILL).communicate(timeout=600)
        if not job.out.exists():
            done = subprocess.run(job.words, capture_output=True, text=True)
            assert done.returncode == 0, (nth, done.stderr, list(job.folder.iterdir()))
            assert [path.name for path in job.folder.iterdir()] == [job.out.name], nth
        assert run("verify", job.out).returncode == 0, nth
        shutil.rmtree(job.folder)


def stopped(process):
    assert process.poll() is None
    return "State:\tT" in Path(f"/proc/{process.pid}/status").read_text()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.long
def test_two_at_once_one_is_refused(run, preload, inputs, tmp_path, target):
    job = Job(preload, inputs, target, tmp_path / "here")
    middle = max(job.calls() // 2, 2)
    for words in ([], ["-f"]):
        first = job.start(middle, signal.SIGSTOP, *words)
        until(lambda process=first: stopped(process))
        second = subprocess.run([*job.words, *words], capture_output=True, text=True)
        first.send_signal(signal.SIGCONT)
        message = first.communicate(timeout=600)[1]
        assert first.returncode == 0, message
        assert second.returncode == 2 and "writing this output" in second.stderr, second.stderr
        assert [path.name for path in job.folder.iterdir()] == [job.out.name]
        assert run("verify", job.out).returncode == 0
    assert subprocess.run(job.words, capture_output=True).returncode == 2  # it exists


def test_an_append_that_was_killed_is_repeated(run, run_json, preload, inputs, tmp_path):
    job = Job(preload, inputs, "store", tmp_path / "here")
    job.folder.mkdir()
    run("sample", tmp_path / "output_00001", "--dim", 2, "--levels", "3-4", "--domains", 2, "-q")
    run("convert", tmp_path / "output_00001", tmp_path / "base.octavo", "-q")
    for nth in range(1, 8):
        shutil.rmtree(job.out, ignore_errors=True)
        shutil.copytree(tmp_path / "base.octavo", job.out)
        process = job.start(nth, signal.SIGKILL, "--append")
        process.communicate(timeout=600)
        if 7 not in [step["step"] for step in run_json("ls", job.out)["steps"]]:
            assert subprocess.run([*job.words, "--append"]).returncode == 0
        assert [step["step"] for step in run_json("ls", job.out)["steps"]] == [1, 7]
        assert run("verify", job.out).returncode == 0
