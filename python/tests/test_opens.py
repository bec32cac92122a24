"""How often files are opened by ranks that read a step together, counted by strace: rank 0 reads headers for all."""

from __future__ import annotations

import collections
import json
import re
import shutil
import subprocess

import pytest
from conftest import OCTAVO, mostly_long, open_as

pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine"),
]


def opens_of(words, below, folder, ranks):
    """How often all ranks together open each file below a path while they run the command, and the command's output."""
    traces = folder / f"traces{ranks}"
    shutil.rmtree(traces, ignore_errors=True)
    traces.mkdir()
    trace = f'exec strace -f -y -e trace=open,openat -o {traces}/$OMPI_COMM_WORLD_RANK "$@"'
    command = ["mpirun", "-n", str(ranks), "sh", "-c", trace, "sh", str(OCTAVO), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    counts: collections.Counter = collections.Counter()
    for file in traces.iterdir():
        for line in file.read_text().splitlines():
            found = re.search(rf" = \d+<({re.escape(str(below))}(?:/[^>]*)?)>", line)
            if found and "O_DIRECTORY" not in line:
                counts[found[1]] += 1
    return counts, done.stdout


@pytest.fixture(scope="module")
def outputs(run, run_json, sample, tmp_path_factory):
    """A sample of 8 domains as each format: its path and its number of parts."""
    folder = tmp_path_factory.mktemp("opens")
    names = {"ramses": "output_00007", "store": "run.octavo", "amrex": "plt00001", "flash": "a_hdf5_chk_0001"}
    shutil.copytree(sample, folder / names["ramses"])
    for kind in ("store", "amrex", "flash"):
        open_as(kind, run, folder / names["ramses"])
    return {kind: (folder / name, run_json("info", folder / name)["domains"]) for kind, name in names.items()}


# Each part is read from files that are opened for it.
@pytest.mark.parametrize("verb", mostly_long("verify", "stats", short=["stats"]))
@pytest.mark.parametrize("kind", ["store", "ramses", "amrex"])
def test_the_number_of_ranks_is_no_factor(outputs, tmp_path, kind, verb):
    path, parts = outputs[kind]
    one, alone = opens_of([verb, path, "--json"], path, tmp_path, 1)
    assert one
    for ranks in (2, 4):
        many, together = opens_of([verb, path, "--json"], path, tmp_path, ranks)
        assert many == one, ranks
        assert together == alone, ranks
    values = {name: count for name, count in one.items() if "/data." in name} if kind == "store" else one
    assert sum(values.values()) <= 2 * len(values) + parts * (1 if kind == "store" else len(values))


# A process keeps these files open: another one opens the file once, when it reads its first part.
@pytest.mark.parametrize("verb", ["verify", "stats"])
def test_a_rank_opens_a_flash_file_when_it_reads_a_part(outputs, tmp_path, verb):
    path, parts = outputs["flash"]
    one, alone = opens_of([verb, path, "--json"], path, tmp_path, 1)
    for ranks in (2, 4):
        many, together = opens_of([verb, path, "--json"], path, tmp_path, ranks)
        assert sum(many.values()) <= sum(one.values()) + min(ranks, parts), ranks
        assert together == alone, ranks


def test_ranks_share_the_steps_of_a_series(files, tmp_path):
    """Rank 0 opens the file to recognise it (as any of the formats), for the mesh and for the times; each step is read
    by one rank."""
    path = tmp_path / "f2d.slf"
    shutil.copy(files / "f2d_gouttedo.slf", path)
    one, alone = opens_of(["verify", path, "--json"], path, tmp_path, 1)
    for ranks in (2, 4):
        many, together = opens_of(["verify", path, "--json"], path, tmp_path, ranks)
        assert many == one, ranks
        assert together == alone, ranks
    assert one[str(path)] <= 8 + json.loads(alone)["steps"]


def test_a_rank_opens_a_series_when_it_reads_fields(files, tmp_path):
    path = tmp_path / "f2d.slf"
    shutil.copy(files / "f2d_gouttedo.slf", path)
    one, alone = opens_of(["stats", path, "--json"], path, tmp_path, 1)
    for ranks in (2, 4):
        many, together = opens_of(["stats", path, "--json"], path, tmp_path, ranks)
        assert sum(many.values()) <= sum(one.values()) + ranks, ranks
        assert together == alone, ranks


def test_convert_reads_the_headers_of_one_output_once(outputs, tmp_path):
    path, _ = outputs["ramses"]
    counts, _ = opens_of(["convert", path, tmp_path / "out.octavo", "-q"], path, tmp_path, 1)
    assert counts[str(path / "info_00007.txt")] == 1


@pytest.mark.parametrize("verb", ["info", "ls"])
def test_a_store_is_listed_once(outputs, tmp_path, verb):
    """Its step is opened, which takes two opens a file, and its steps are listed, which takes one."""
    path, _ = outputs["store"]
    counts, _ = opens_of([verb, path], path, tmp_path, 1)
    assert max(count for name, count in counts.items() if "/data." in name) <= 3
