"""Memory: sizes that a file claims are asked for before they are taken, at most --memory, and to lack memory is exit code 5
and no damage."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
from pathlib import Path
from struct import pack_into, unpack_from

import cbor2
import numpy as np
import octavo_reader as reader
import pytest
from conftest import OCTAVO, peak_of

GIB = 1 << 30


def test_a_peak_is_the_command_s_own_and_not_that_of_the_tests():
    held = np.ones(GIB // 4 // 8)
    code, text, used = peak_of(["--version"])
    assert code == 0 and "octavo" in text
    assert used < held.nbytes / 2


def test_clumps_and_surfaces_hold_parts_and_borders_not_all_leaves(run, tmp_path):
    """The leaves with their tree take 130 bytes each: 60 MB and more here. A surface around few cells, and few clumps,
    leave the borders of parts, which nothing above the threshold touches. NumPy takes 14 MB of the 35, and freed memory
    that the command keeps 7 more where it does not fit what comes next: that changes with the environment's length."""
    run("sample", tmp_path / "run.octavo", "--to", "octavo", "--levels", "6-8", "--domains", "64", "-q")
    stats = json.loads(run("stats", tmp_path / "run.octavo", "--field", "density", "--json").stdout)
    assert stats["leaves"] * 130 > 50e6
    high = stats["fields"]["density"]["max"] * 0.99
    _, _, bare = peak_of(["stats", tmp_path / "run.octavo", "--field", "density", "-j", 1])
    for words in (
        ["clumps", "--above", high],
        ["contour", "--field", "density", "--at", high, "-o", tmp_path / "s.ply"],
    ):
        code, text, most = peak_of([words[0], tmp_path / "run.octavo", *words[1:], "-j", 1])
        assert code == 0 and most < bare + 35e6, (text, most, bare)


def rewrite_table(path, change):
    """Changes the table of the newest commit of a subfile, with all checksums right."""
    data = bytearray(path.read_bytes())
    _, records = reader.read_records(bytes(data))
    sequence, offset, length, _ = max(records)
    footer = cbor2.loads(bytes(data[offset : offset + length]))
    place = footer["table"]
    table = cbor2.loads(bytes(data[place["offset"] : place["offset"] + place["length"]]))
    change(table)
    new = cbor2.dumps(table)
    place["length"] = len(new)
    place["checksum"] = cbor2.CBORTag(71, np.uint64(reader.xxh3(new)).tobytes())
    end = place["offset"] + (len(new) + 7) // 8 * 8
    text = cbor2.dumps(footer)
    data[place["offset"] :] = new.ljust(end - place["offset"], b"\0") + text
    data.extend(b"\0" * (-len(data) % 8))
    for at in (reader.BLOCK, 2 * reader.BLOCK):
        assert unpack_from("<Q", data, at + 8)[0] == sequence
        pack_into("<QQQ", data, at + 8 + 32, end, len(text), reader.xxh3(text))
        pack_into("<Q", data, at + 504, reader.xxh3(bytes(data[at : at + 504])))
    path.write_bytes(data)


def column(table, name):
    tag = table[name]
    return np.frombuffer(tag.value, reader.COLUMN_TYPES[tag.tag]).astype(np.uint64)


def claim_roots(roots):
    """A change that gives a store of one part so many roots along each axis, with counts and sizes that follow."""

    def change(table):
        table["header"]["roots"] = [roots] * 3
        parts, streams = table["parts"], table["streams"]
        cells = column(parts, "cells")
        cells[0] = roots**3
        parts["cells"] = cbor2.CBORTag(71, cells.tobytes())
        raw = column(streams, "raw")
        kinds, first, last = (column(streams, name) for name in ("kind", "first_level", "last_level"))
        index = column(streams, "index")
        for i in range(len(raw)):
            levels = cells[int(first[i]) : int(last[i]) + 1]
            if kinds[i] == reader.REFINEMENT:
                raw[i] = 16 + sum((int(n) + 7) // 8 for n in levels[:-1])
            elif kinds[i] == reader.OWNERSHIP:
                raw[i] = sum((int(n) + 7) // 8 for n in levels)
            elif kinds[i] == reader.FIELD:
                raw[i] = int(levels.sum()) * 8 * table["header"]["fields"][int(index[i])]["width"]
        streams["raw"] = cbor2.CBORTag(71, raw.tobytes())

    return change


@pytest.fixture(scope="module")
def small(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "run.octavo"
    run("sample", path, "--to", "octavo", "--domains", 1, "--levels", "3-4", "-q")
    return path


def test_the_helper_changes_nothing_by_itself(run, small, tmp_path):
    shutil.copytree(small, tmp_path / "same.octavo")
    rewrite_table(tmp_path / "same.octavo" / "analysis" / "data.000", lambda table: None)
    assert run("verify", tmp_path / "same.octavo").returncode == 0


@pytest.mark.parametrize("verb", [["stats"], ["verify"], ["map", "--field", "density", "-o", "map.npy", "-f"]])
def test_giant_sizes_are_refused_before_anything_is_taken(small, tmp_path, verb):
    giant = tmp_path / "giant.octavo"
    shutil.copytree(small, giant)
    rewrite_table(giant / "analysis" / "data.000", claim_roots(1 << 10))  # 8 GiB a field
    words = [verb[0], giant, *verb[1:], "--memory", "2GiB"]
    code, text, used = peak_of(words, cwd=tmp_path)
    assert code == 5, text
    assert "memory" in text and "Traceback" not in text
    assert used < 300 << 20
    # `info` reads headers alone, so it needs little memory even for a giant.
    code, text, used = peak_of(["info", giant], cwd=tmp_path)
    assert code == 0 and used < 300 << 20


def test_what_is_claimed_and_not_there_is_damage(small, tmp_path):
    """Within the limit: level by level the tree tells that it is not so, before fields of that size are taken."""
    wrong = tmp_path / "wrong.octavo"
    shutil.copytree(small, wrong)
    rewrite_table(wrong / "analysis" / "data.000", claim_roots(1 << 8))  # 128 MiB a field
    code, text, used = peak_of(["stats", wrong, "--memory", "8GiB"])
    assert code == 3, text
    assert used < 300 << 20
    assert peak_of(["verify", wrong, "--memory", "8GiB"])[0] == 1


@pytest.mark.parametrize("intervals", [0, 2, 1 << 40, (1 << 64) - 1])
def test_intervals_of_roots_that_cannot_be_are_damage(small, tmp_path, intervals):
    """The table tells before anything is taken: eight roots, all held, are one interval."""

    def change(table):
        table["parts"]["intervals"] = cbor2.CBORTag(71, np.array([intervals], "<u8").tobytes())
        raw = column(table["streams"], "raw")
        raw[0] = (int(raw[0]) + 16 * (intervals - 1)) % (1 << 64)
        table["streams"]["raw"] = cbor2.CBORTag(71, raw.tobytes())

    wrong = tmp_path / "wrong.octavo"
    shutil.copytree(small, wrong)
    rewrite_table(wrong / "analysis" / "data.000", change)
    code, text, used = peak_of(["stats", wrong])
    assert code == 3 and "intervals" in text, text
    assert used < 300 << 20


@pytest.fixture(scope="module")
def large(run, tmp_path_factory):
    """Four parts of 20 MB."""
    path = tmp_path_factory.mktemp("large") / "run.octavo"
    run("sample", path, "--to", "octavo", "--domains", 4, "--levels", "6-7", "-q")
    return path


@pytest.mark.parametrize("verb", ["stats", "verify"])
def test_the_limit_is_kept(run, run_json, large, verb):
    """Threads are fewer where the parts of all would not fit; a limit below one part is refused."""
    streams = run_json("ls", large, "--streams")["steps"][0]["streams"]
    parts = {}
    for stream in streams:
        parts[stream["part"]] = parts.get(stream["part"], 0) + stream["raw_bytes"]
    one = max(parts.values())
    code, text, base = peak_of([verb, large, "-j", "1"])
    assert code == 0, text
    code, text, used = peak_of([verb, large, "-j", "4", "--memory", f"{int(2.5 * one)}B"])
    assert code == 0 and used < base + one // 2, (base, used, one, text)
    code, text, used = peak_of([verb, large, "-j", "4", "--memory", f"{one // 2}B"])
    assert code == 5 and "--memory" in text, text
    assert "damaged" not in text and "Traceback" not in text


@pytest.mark.parametrize("verb", ["stats", "verify"])
def test_a_limit_of_address_space_is_no_damage(run, tmp_path, verb):
    """ulimit -v, from where the interpreter does not start to where all is well: exit code 5 between, and no damage."""
    store = tmp_path / "run.octavo"
    run("sample", store, "--to", "octavo", "--domains", 1, "--levels", "6-7", "-q")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    codes = []
    for megabytes in range(40, 600, 6):
        limit = megabytes << 20
        done = subprocess.run(
            [OCTAVO, verb, store, "-j", "1"], capture_output=True, text=True, env=environment,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )  # fmt: skip
        codes.append(done.returncode)
        assert "damaged" not in done.stdout
        if "bytes of memory" in done.stderr:
            assert done.returncode == 5
        if done.returncode == 0:
            break
    assert codes[-1] == 0 and 5 in codes


def test_a_giant_amrex_header(run, small, tmp_path):
    plot = tmp_path / "plt00001"
    run("convert", small, plot, "--to", "amrex", "--kind", "plotfile", "-q")
    for name in ("Header", "Level_0/Cell_H"):
        copy = tmp_path / "copy"
        shutil.copytree(plot, copy)
        os.truncate(copy / name, 64 * GIB)  # a hole
        for verb in ("info", "verify"):
            code, text, used = peak_of([verb, copy, "--memory", "1GiB"])
            assert code in (1, 3, 5) and used < 300 << 20, (code, used, text)
            assert "Traceback" not in text
        os.truncate(copy / name, 2 * GIB)
        code, text, used = peak_of(["info", copy, "--memory", "1GiB"])
        assert code == 5 and used < 300 << 20, (code, used, text)
        shutil.rmtree(copy)


def test_amounts_of_memory(run, small):
    for text in ("8GiB", "8 GiB", "500MB", "1000000000"):
        assert run("stats", small, "--memory", text).returncode == 0
    for text in ("much", "-1GiB", "0", "8 boxes"):
        assert run("stats", small, "--memory", text, check=False).returncode == 2
    assert run("stats", small, "--memory", "1B", check=False).returncode == 5


def test_facts_of_memory():
    from octavo import _core

    before = _core.memory_limit()
    total = int(Path("/proc/meminfo").read_text().split()[1]) << 10
    assert 0 < before <= 0.8 * total
    _core.set_memory_limit(12345)
    assert _core.memory_limit() == 12345
    _core.set_memory_limit(0)
    assert _core.memory_limit() > 12345
    assert json.dumps(before)


@pytest.mark.parametrize(
    "ranks", [0, pytest.param(3, marks=pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun"))]
)
@pytest.mark.parametrize(
    "words",
    [
        ["map", "--field", "density"],
        ["map", "--field", "density", "--weight", "density"],
        ["map", "--field", "density", "--camera", "1,1,1"],
        ["map", "--particles", "particles"],
        ["slice", "--field", "density"],
    ],
)
def test_an_image_that_does_not_fit_is_refused_before_it_is_made(run, sample, tmp_path, words, ranks):
    """20,000 x 20,000 pixels are 3.2 GB; a rank has its share of the rows."""
    large = [words[0], sample, *words[1:], "--pixels", 20000, "-o", tmp_path / "a.npy", "--memory", "900MB"]
    done = run(*large, check=False, ranks=ranks)
    assert done.returncode == 5, done.stderr
    assert re.search(r"an image of \d+ x 20000 pixels takes", done.stderr) and "pixels" in done.stderr.split("try:")[1]
    assert not list(tmp_path.iterdir())
    run(words[0], sample, *words[1:], "--pixels", 500, "-o", tmp_path / "a.npy", "--memory", "900MB", ranks=ranks)


def test_memory_of_an_image_that_is_refused_is_never_taken(sample, tmp_path):
    words = ["map", sample, "--field", "density", "-o", tmp_path / "a.npy", "--memory", "64MB"]
    code, text, used = peak_of([*words, "--pixels", 8000])  # 512 MB
    assert code == 5 and "--memory" in text, text
    _, _, bare = peak_of([*words, "--pixels", 64])
    assert used < bare + (20 << 20)


def test_an_image_of_triangles_is_asked_for_too(run, files, tmp_path):
    path = files / "r2d_malpasset-small_5steps.slf"
    done = run(
        "map",
        path,
        "--field",
        "WATER DEPTH",
        "--pixels",
        20000,
        "-o",
        tmp_path / "a.npy",
        "--memory",
        "500MB",
        check=False,
    )
    assert done.returncode == 5 and "pixels takes" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["hist", "--field", "density", "--bins", 65536],
        ["phase", "--x", "density", "--y", "pressure", "--bins", "4000", "-o", "p.npy"],
    ],
)
def test_bins_that_do_not_fit_are_refused(run, sample, words, tmp_path):
    limit = "1MB" if words[0] == "hist" else "300MB"
    done = run(words[0], sample, *words[1:], "--memory", limit, check=False, cwd=tmp_path)
    assert done.returncode == 5 and "bins takes" in done.stderr and not list(tmp_path.iterdir())
