"""What a step asks of a file system's metadata server, counted by strace: opens, syncs and names, never time."""

from __future__ import annotations

import collections
import json
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
CALLS = "openat,open,creat,fsync,fdatasync,mkdir,unlink,unlinkat,rmdir,rename,getdents64,flock"


STEPS = 8


def whole_run(folder: Path, ranks: int, options: str, calls: str) -> list[tuple[list[str], int, int]]:
    """The calls of each rank, and the places of the two .mark files in the list: between them are the steps that count. The
    first six, in which slots are made and their names are synced, do not. A handle counts as its path. A line begins with
    the thread."""
    store, traces = folder / "run.octavo", folder / "traces"
    traces.mkdir()
    trace = ["strace", "-f", "-y", "-e", f"trace={calls}", "-o", f"{traces}/$OMPI_COMM_WORLD_RANK"]
    cases = str(Path(__file__).with_name("engine_cases.py"))
    program = [sys.executable, cases, "counted", str(store), str(6 + STEPS), options]
    words = ["mpirun", "-n", str(ranks), "sh", "-c", f'exec {" ".join(trace)} "$@"', "sh", *program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    of_ranks = []
    for file in sorted(traces.iterdir()):
        lines = file.read_text().splitlines()
        begin, end = (i for i, line in enumerate(lines) if ".mark" in line and "openat(" in line)
        of_ranks.append((lines, begin, end))
    shutil.rmtree(store)
    shutil.rmtree(traces)
    return of_ranks


def of_a_run(folder: Path, ranks: int, options: str, calls: str) -> list[list[str]]:
    """Those of the steps that count on paths in the store, behind the line of the mark, which the application's thread
    writes."""
    runs = whole_run(folder, ranks, options, calls)
    return [[lines[begin], *on_the_store(folder, lines[begin:end])] for lines, begin, end in runs]


def on_the_store(folder: Path, lines: list[str]) -> list[str]:
    own = [line for line in lines if f"{folder}/run.octavo/" in line and " = -1 " not in line]
    return [line for line in own if re.match(r"\d+ +(\w+)\(", line)]


def a_step(folder: Path, ranks: int, options: str, calls: str = CALLS) -> list[dict[str, float]]:
    """How often each rank makes each call, a step."""
    counts = []
    for _, *lines in of_a_run(folder, ranks, options, calls):
        of_rank: collections.Counter = collections.Counter()
        for line in lines:
            call = re.match(r"\d+ +(\w+)\(", line)
            assert call
            of_rank[{"fsync": "sync", "fdatasync": "sync", "openat": "open"}.get(call[1], call[1])] += 1
        counts.append({call: count / STEPS for call, count in of_rank.items()})
    return counts


def in_mode(mode: str, **options: object) -> str:
    return json.dumps({"mode": mode, "wait": True, **options})


def assert_syncs(mode: str, counts: dict[str, float], of_file: int) -> None:
    """Of the store one sync a step more, of the mark. The background's mark is behind by a step or more, and one mark
    may tell of several steps."""
    assert set(counts) == {"sync"}
    least = of_file if mode == "background" else of_file + 1
    assert least <= counts["sync"] <= of_file + 1


in_both_modes = pytest.mark.parametrize("mode", ["sync", "background"])


@in_both_modes
def test_recycled_checkpoints_in_one_file_open_nothing_and_sync_four_times(tmp_path, mode):
    """Of the file the emptied records, the content and the record; and the mark, one a step."""
    first, *others = a_step(tmp_path, 3, in_mode(mode, keep_last=2, contributors_per_file=0))
    assert_syncs(mode, first, 3)
    assert others == [{}, {}]


@in_both_modes
def test_recycled_checkpoints_in_a_file_a_rank_sync_three_times_each(tmp_path, mode):
    first, *others = a_step(tmp_path, 3, in_mode(mode, keep_last=2, contributors_per_file=1))
    assert_syncs(mode, first, 3)
    assert others == [{"sync": 3}, {"sync": 3}]


@in_both_modes
def test_steps_appended_to_one_file_open_nothing(tmp_path, mode):
    first, *others = a_step(tmp_path, 2, in_mode(mode, checkpoint={"append": True}, contributors_per_file=0))
    assert_syncs(mode, first, 2)
    assert others == [{}]


@in_both_modes
@pytest.mark.parametrize("ranks_of_file", [0, 1])
def test_new_files_are_opened_by_one_rank_alone(tmp_path, mode, ranks_of_file):
    """A file takes two opens, its own and its directory's, and three syncs: of that directory, of head and content, of
    the record. A step takes two opens more, of the directory with its name and of the one that is removed, and two
    syncs, of that name and of the mark. Directories of up to four steps before those that count may still be removed
    behind them. Of several writers that of the first file alone syncs the name of the step's directory. A writer that
    comes before it finds no directory: its first open fails, and it makes the directory."""
    options = in_mode(mode, keep_last=2, recycle=False, contributors_per_file=ranks_of_file)
    first, *others = a_step(tmp_path, 2, options)
    for counts in others:
        assert counts.get("open", 0) <= 2 * ranks_of_file + counts.get("mkdir", 0)
        assert counts.get("sync", 0) <= 3 * ranks_of_file
    assert first["open"] <= 2 + 2 + 4 / STEPS and first["sync"] <= 3 + 2


@in_both_modes
def test_old_checkpoints_are_removed_by_all_writers_behind_end_step(tmp_path, mode):
    """No thread of the application and none that writes removes anything. Each rank removes its own files, rank 0 the
    directories."""
    options = json.dumps(
        {"keep_last": 2, "recycle": False, "mode": mode, "contributors_per_file": 1, "old_checkpoints": 9}
    )
    calls = "openat,unlink,unlinkat,rmdir,pwrite64,pwritev"
    for rank, (whole, begin, end) in enumerate(whole_run(tmp_path, 2, options, calls)):
        mark, lines = whole[begin], on_the_store(tmp_path, whole[begin:end])
        removals = [line for line in lines if re.match(r"\d+ +(unlink|unlinkat|rmdir)\(", line)]
        writes = [line for line in lines if re.match(r"\d+ +pwrite", line) and "/data." in line]
        busy = {line.split()[0] for line in [mark, *writes]}
        assert writes and not [line for line in removals if line.split()[0] in busy]
        # How far the removal is behind the steps is chance. When the writer is closed it has come to its end, but for what
        # steps in flight set free: on a slow disk all of this run's.
        every = [line for line in on_the_store(tmp_path, whole) if re.match(r"\d+ +(unlink|unlinkat|rmdir)\(", line)]
        removed = [line for line in every if "/data." in line]
        old = 9 + 6 + STEPS - 2
        assert old - STEPS <= len(removed) <= old and all(f"/data.{rank:03}" in line for line in removed)
        assert (len(every) > len(removed)) == (rank == 0)


@in_both_modes
def test_old_files_cost_a_step_nothing(tmp_path, mode):
    for old in (0, 40):
        assert_syncs(mode, a_step(tmp_path, 1, in_mode(mode, keep_last=2, old=old))[0], 3)


def test_an_array_of_the_host_costs_no_search_for_a_drivers_library(tmp_path):
    """Each array is asked for its place. Without a driver the first one of all has searched for it."""
    for lines, begin, end in whole_run(tmp_path, 2, "{}", "openat"):
        assert not [line for line in lines[begin:end] if "libcuda" in line]


def test_each_rank_starts_write_back_and_the_files_writer_drops_the_pages(tmp_path):
    """Once a step each: the steps are smaller than the piece for which write-back is asked."""
    options = '{"keep_last": 2, "contributors_per_file": 0}'
    first, *others = a_step(tmp_path, 2, options, "sync_file_range,fadvise64,openat")
    assert first == {"sync_file_range": 1, "fadvise64": 1}
    assert others == [{"sync_file_range": 1}]
    options = '{"keep_last": 2, "contributors_per_file": 0, "drop_pages": false}'
    assert a_step(tmp_path, 2, options, "sync_file_range,fadvise64,openat") == [{}, {}]
