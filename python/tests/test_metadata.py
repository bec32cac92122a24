"""What a step asks of a file system's metadata server, counted by strace: opens, syncs and names, never time."""

from __future__ import annotations

import collections
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")
from test_engine import ENVIRONMENT

pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine"),
]
# Not mkdir: which rank makes a directory that all need is chance.
CALLS = "openat,open,creat,fsync,fdatasync,unlink,unlinkat,rmdir,rename,getdents64,flock"


def calls(folder: Path, steps: int, ranks: int, options: str) -> dict[int, collections.Counter]:
    """Of a run: how often each rank made each call on a path in the store. A handle counts as its path."""
    store, traces = folder / "run.octavo", folder / "traces"
    shutil.rmtree(traces, ignore_errors=True)
    traces.mkdir()
    # A process a file: rank and process are told apart by the rank's own line.
    trace = ["strace", "-f", "-y", "-e", f"trace={CALLS}", "-o", f"{traces}/$OMPI_COMM_WORLD_RANK"]
    program = [
        sys.executable,
        str(Path(__file__).with_name("engine_cases.py")),
        "counted",
        str(store),
        str(steps),
        options,
    ]
    words = ["mpirun", "-n", str(ranks), "sh", "-c", f'exec {" ".join(trace)} "$@"', "sh", *program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    counts: dict[int, collections.Counter] = {}
    for file in traces.iterdir():
        counts[int(file.name)] = collections.Counter()
        for line in file.read_text().splitlines():
            call = re.match(r"\d+ +(\w+)\(", line)
            if call and str(store) in line and " = -1 " not in line:
                kind = {"fsync": "sync", "fdatasync": "sync", "openat": "open"}.get(call[1], call[1])
                counts[int(file.name)][kind] += 1
    shutil.rmtree(store)
    return counts


def a_step(folder: Path, ranks: int, options: str) -> dict[int, dict[str, float]]:
    """Calls of each rank a step, of a run that goes on: what opening and the first steps cost is taken off."""
    few, many = (calls(folder, steps, ranks, options) for steps in (6, 14))
    return {
        rank: {
            call: (many[rank][call] - few[rank][call]) / 8 for call in many[rank] if many[rank][call] != few[rank][call]
        }
        for rank in sorted(many)
    }


def test_recycled_checkpoints_in_one_file_open_nothing_and_sync_four_times(tmp_path):
    """Of the file the emptied records, the content and the record; and the mark, one a step."""
    first, *others = a_step(tmp_path, 3, '{"keep_last": 2, "contributors_per_file": 0}').values()
    assert first == {"sync": 4}
    assert others == [{}, {}]


def test_recycled_checkpoints_in_a_file_a_rank_sync_three_times_each(tmp_path):
    first, *others = a_step(tmp_path, 3, '{"keep_last": 2, "contributors_per_file": 1}').values()
    assert first == {"sync": 4}
    assert others == [{"sync": 3}, {"sync": 3}]


def test_steps_appended_to_one_file_open_nothing(tmp_path):
    first, *others = a_step(tmp_path, 2, '{"checkpoint": {"append": true}, "contributors_per_file": 0}').values()
    assert first == {"sync": 3}
    assert others == [{}]


def test_new_files_are_opened_by_one_rank_alone(tmp_path):
    """Two syncs of a file and one of the mark; two of directories, for the step's name and the file's."""
    options = '{"keep_last": 2, "recycle": false, "contributors_per_file": 0}'
    first, *others = a_step(tmp_path, 2, options).values()
    assert others == [{}]
    assert first["open"] <= 4 and first["sync"] <= 6


def test_old_files_cost_a_step_nothing(tmp_path):
    alone = a_step(tmp_path, 1, '{"keep_last": 2}')
    assert alone == a_step(tmp_path, 1, '{"keep_last": 2, "old": 40}')
