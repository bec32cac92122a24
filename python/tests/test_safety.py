"""Levels of safety as `octavo ls` and `octavo info` show them, and a restart from the disks of nodes. A node is a
directory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import octavo

RANKS = 2
pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")

# Checkpoint 1 goes to the store. Checkpoint 2 stays on the local disks of two nodes, each with a copy on the other;
# then the job is killed.
PROGRAM = """
import os, sys
import numpy as np
import octavo
from octavo import _mpi

rank, size = _mpi.world().rank, _mpi.world().size
def write(step, **options):
    header = octavo.Header(code="test", roots=(size, 1, 1))
    writer = octavo.Writer(None, sys.argv[1], header, ranks_per_node=1, **options)
    writer.begin_step("checkpoint", step, float(step))
    writer.put_mesh(octavo.Octree([np.zeros(1, bool)], roots=(size, 1, 1), held=[(rank, rank + 1)]))
    writer.put_field("density", np.array([rank + 10.0 * step]))
    writer.end_step()
    writer.wait()
    return writer
write(1).close()
kept = write(2, staging_directory=sys.argv[2], partner_every=1, drain_every=1000)
_mpi.abort(0)
"""


@pytest.fixture
def killed(tmp_path) -> tuple[Path, Path]:
    store, disk = tmp_path / "run.octavo", tmp_path / "disk"
    words = [sys.executable, "-c", PROGRAM, str(store), str(disk)]
    done = subprocess.run(
        ["mpirun", "-n", str(RANKS), *words], capture_output=True, text=True, timeout=600, env=os.environ
    )
    assert "Traceback" not in done.stderr, done.stderr
    return store, disk


def levels(run, verb: str, store: Path, disk: Path) -> dict[int, dict]:
    facts = json.loads(run(verb, store, "--staging-directory", disk, "--json").stdout)
    return {row["step"]: row for row in facts["safety"]}


@pytest.mark.parametrize("verb", ["ls", "info"])
def test_levels_of_each_step(run, killed, verb):
    store, disk = killed
    rows = levels(run, verb, store, disk)
    assert list(rows) == [1, 2]
    none = {"local": None, "partner": None, "xor": None, "rs": None}
    assert rows[1] == {"flow": "checkpoint", "step": 1, "segments": None, **none, "drained": {"complete": True}}
    whole = {"complete": True, "segments": RANKS}
    assert rows[2] == {
        "flow": "checkpoint", "step": 2, "segments": RANKS, **none, "local": whole, "partner": whole,
        "drained": {"complete": False},
    }  # fmt: skip
    # A node loses its disk: its file and its copy of the other's.
    shutil.rmtree(sorted(next(disk.iterdir()).iterdir())[0])
    rows = levels(run, verb, store, disk)
    assert rows[2]["local"] == {"complete": False, "segments": RANKS - 1}
    assert rows[2]["partner"] == {"complete": False, "segments": 0}
    table = run(verb, store, "--staging-directory", disk).stdout
    assert f"{RANKS - 1} of {RANKS}" in table
    assert "drained" in table


def test_without_a_directory_only_the_store_is_known(run, killed):
    store, _ = killed
    facts = json.loads(run("ls", store, "--json").stdout)
    assert [row["drained"] for row in facts["safety"]] == [{"complete": True}]
    assert "drained" not in run("ls", store).stdout


def test_a_damaged_parity_file_is_named_and_does_not_count(run, killed):
    store, disk = killed
    parity = sorted(disk.rglob("*.partner"))[0]
    content = bytearray(parity.read_bytes())
    content[-40] ^= 1
    parity.write_bytes(content)
    done = run("ls", store, "--staging-directory", disk, "--json")
    row = json.loads(done.stdout)["safety"][-1]
    assert row["local"]["complete"]
    assert not row["partner"]["complete"]
    assert parity.name in done.stderr


def test_python_sees_where_a_restart_came_from(killed):
    store, disk = killed
    program = (
        "import sys, octavo\n"
        "from octavo import _mpi\n"
        "start = octavo.restart(None, sys.argv[1], staging_directory=sys.argv[2], ranks_per_node=1)\n"
        "assert start.step == 2 and start.from_local_disks\n"
        "assert start.fields['density'].tolist() == [_mpi.world().rank + 20.0]\n"
    )
    subprocess.run(["mpirun", "-n", str(RANKS), sys.executable, "-c", program, str(store), str(disk)], check=True)
    assert octavo.open(store).time == 1.0  # the restart has drained nothing
