"""A view of a snapshot of many parts: how often files are opened and how much is read of them, counted by strace, beside a
snapshot of the same cells in a quarter of the parts. Names, heads and tables grow with all parts; pictures with those that
they show."""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import BOUND
from test_view import View

import octavo

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="no strace on this machine")

CALLS = "open,openat,read,pread64,preadv,readv,stat,lstat,newfstatat,statx"


@dataclass
class Counts:
    opens: int = 0
    bytes: int = 0
    looks: int = 0  #: questions about a file's size and time


class Traced(View):
    """A running view, and what it has done with the files below its path."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.trace, self.seen = path, folder / "trace", 0
        super().__init__(path, before=["strace", "-f", "-y", "-s", "0", "-o", str(self.trace), "-e", f"trace={CALLS}"])

    def __exit__(self, *_) -> None:
        os.kill(self.child, signal.SIGTERM)  # strace itself takes no signal
        self.process.communicate(timeout=BOUND)

    @property
    def child(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    @property
    def peak(self) -> int:
        """Largest resident memory so far [bytes]."""
        return 1024 * int(re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{self.child}/status").read_text())[1])

    def since(self) -> Counts:
        """Since it was asked last."""
        lines = self.trace.read_text().splitlines()
        counts, waiting = Counts(), {}
        for line in lines[self.seen :]:
            thread = line.split(" ", 1)[0]
            if line.endswith("<unfinished ...>"):
                waiting[thread] = line
                continue
            if " resumed>" in line:
                line = waiting.pop(thread, "") + line
            if str(self.path) in line and "O_DIRECTORY" not in line:
                add(counts, line)
        self.seen = len(lines)
        return counts


def add(counts: Counts, line: str) -> None:
    """A call of strace's."""
    given = re.search(r" = (\d+)(<.*>)?$", line)
    if re.search(r"\bopen(at)?\(", line):
        counts.opens += given is not None
    elif re.search(r"\bp?read(64|v)?\(", line):
        counts.bytes += int(given[1]) if given else 0
    else:
        counts.looks += 1


@dataclass
class Looked:
    """What a user's first look costs: the page until it knows the step, its 16 tiles, and a tile deep inside."""

    opening: Counts
    picture: Counts
    parts: int  #: that the 16 tiles read, each as often as a tile did
    deep: Counts
    deep_parts: int
    peak: int


def look(path: Path, folder: Path) -> Looked:
    with Traced(path, folder) as view:
        view.get("")
        view.json("steps")
        view.json("step/0")
        opening = view.since()
        parts = sum(view.tile(2, k % 4, k // 4, field="density")[0]["parts_read"] for k in range(16))
        picture = view.since()
        deep_parts = view.tile(8, 90, 90, field="density")[0]["parts_read"]
        return Looked(opening, picture, parts, view.since(), deep_parts, view.peak)


def made(run, folder: Path, kind: str, domains: int) -> Path:
    path = folder / f"{domains}" / {"octavo": "run.octavo", "ramses": "output_00001"}[kind]
    path.parent.mkdir()
    run("sample", path, "--to", kind, "--levels", "5-6", "--domains", domains, "--particles", 2000, "-q")
    return path


def test_a_store_of_four_times_the_parts(run, tmp_path):
    """A file of 64 parts is opened three times before the first picture: for the list of steps, again when the page asks whether
    there are new ones, and for its table. Then a part is one open."""
    looked = {}
    for parts in (1024, 4096):
        path = made(run, tmp_path, "octavo", parts)
        files = len(list(path.rglob("data.*")))
        assert files == parts // 64
        one = looked[parts] = look(path, tmp_path)
        assert one.opening.opens <= 4 * files + 4
        # Heads and footers each time, and the tables.
        assert one.opening.bytes <= 3 * 16384 * files + 600 * parts
        assert one.picture.opens == one.parts and one.deep.opens == one.deep_parts
        assert one.parts < parts and one.deep_parts <= 16
    few, many = looked[1024], looked[4096]
    # The plane meets parts^(2/3) of them, and the same cells are shown.
    assert many.parts <= 4 * few.parts
    assert many.picture.bytes <= 2 * few.picture.bytes and many.deep.bytes <= 2 * few.deep.bytes
    assert many.peak - few.peak <= 3072 * 4096


def stars_of(output: Path) -> None:
    """Each part file tells of stars: the record after the seeds counts them."""
    for file in output.glob("part_*.out*"):
        raw, at = bytearray(file.read_bytes()), 0
        for _ in range(4):
            at += 8 + struct.unpack_from("<i", raw, at)[0]
        struct.pack_into("<i", raw, at + 4, 7)
        file.write_bytes(raw)


@pytest.mark.long
def test_an_output_of_four_times_the_domains(run, tmp_path):
    """A domain's files are opened when it is shown, not before, stars or not."""
    looked = {}
    for domains in (64, 256):
        path = made(run, tmp_path, "ramses", domains)
        stars_of(path)
        one = looked[domains] = look(path, tmp_path)
        files = len(list(path.iterdir()))
        assert one.opening.looks <= 7 * files + 100
        assert one.picture.opens <= 2 * one.parts and one.deep.opens <= 2 * one.deep_parts
        assert one.deep_parts <= 4
    assert looked[256].opening.opens == looked[64].opening.opens <= 40


@pytest.mark.parametrize("kind", ["ramses", "store", "amrex", "flash", "walls"])
def test_a_box_of_cells_coarser_than_all_leaves_needs_few_parts(kind, run, data, tmp_path):
    """The coarse cells in it are those that all parts have there, and fewer parts are read."""
    path = {
        "amrex": data / "amrex" / "multi3d_r4" / "plt00007",
        "flash": data / "flash" / "sedov2d_pm4_par4" / "sedov2dp_hdf5_chk_0002",
        "walls": data / "ramses" / "implosion2d_2ranks" / "output_00002",
    }.get(kind) or made(run, tmp_path, {"store": "octavo"}.get(kind, kind), 64)
    ds, draw, fewer = octavo.open(path), np.random.default_rng(1), 0
    dim, head = ds._data.dim, ds._data
    leaves = min(row["level"] for row in ds.level_counts if row["leaves"])
    for level in [number for number in ds.levels if number < leaves]:
        cells = ds.level(level).arrays([ds.fields[0]])
        places = np.stack([cells[axis] for axis in "xyz"[:dim]])
        low, extent = (np.array(side[:dim]) for side in (head.lo, np.subtract(head.hi, head.lo)))
        for _ in range(12):
            corner = draw.uniform(0, 0.8, dim) * extent / extent[0]
            size = draw.uniform(0.05, 0.2, dim) * extent / extent[0]
            lo, hi = low + corner * extent[0], low + (corner + size) * extent[0]
            inside = ((places >= lo[:, None]) & (places < hi[:, None])).all(axis=0)
            box = ds.box(tuple(corner), tuple(corner + size)).level(level)
            found = box.arrays([ds.fields[0]])[ds.fields[0]] if inside.any() else np.zeros(0)
            np.testing.assert_array_equal(np.sort(found), np.sort(cells[ds.fields[0]][inside]))
            fewer += box.domains < ds.domains
    if kind in ("ramses", "store"):
        assert fewer > 12
