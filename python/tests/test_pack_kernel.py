"""The kernel that packs arrays on a device: the PTX that is kept is that of its source, and does what it should.

C++ tests run the source on the stand-in for a device; here the kept text itself runs, on an interpreter.
"""

from __future__ import annotations

import math
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from ptx import BASE, Kernel

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import pack_kernel  # noqa: E402

NOWHERE = 0xFFFFFFFF


def test_the_kept_ptx_is_that_of_the_kernel():
    first = pack_kernel.KEPT.read_text().splitlines()
    assert first[1] == f"// {pack_kernel.sum_of_source()}", "pack_kernel.h has changed: run scripts/pack_kernel.py"


class Job(NamedTuple):
    """octavo_pack_job, with offsets in memory for addresses."""

    first: int
    to: int
    places: np.ndarray | None
    pitch: list[int]
    count: list[int]
    size: int

    def packed(self, memory: bytes) -> bytes:
        """What the kernel has to write."""
        slices = range(self.count[4]) if self.places is None else self.places.tolist()
        out = b""
        for place, *index in product(slices, *(range(self.count[axis]) for axis in (3, 2, 1, 0))):
            at = self.first + place * self.pitch[4]
            at += sum(i * self.pitch[axis] for i, axis in zip(index, (3, 2, 1, 0), strict=True))
            out += bytes(self.size) if self.places is not None and place == NOWHERE else memory[at : at + self.size]
        return out

    def words(self, places_at: int) -> bytes:
        places = 0 if self.places is None else BASE + places_at
        return struct.pack("<3Q5q6I", BASE + self.first, BASE + self.to, places, *self.pitch, *self.count, self.size)


def any_job(random: np.random.Generator, size: int, first: int, room: int, to: int) -> Job:
    """Reads `room` bytes from offset `first` on, and writes at offset `to`."""
    count = [int(n) for n in random.integers(1, 5, 5)]
    extent, pitch = size, [0] * 5
    for axis in random.permutation(5):  # axes nest in any order, with gaps, forwards or backwards
        pitch[axis] = extent + size * int(random.integers(0, 3))
        extent = pitch[axis] * count[axis]
    places = None
    if random.integers(2):
        places = random.integers(0, count[4], count[4] + 3).astype("uint32")
        places[1] = NOWHERE
    begin = first
    for axis in range(5):
        if random.integers(3) == 0:
            begin += pitch[axis] * (count[axis] - 1)
            pitch[axis] = -pitch[axis]
    assert extent <= room
    if places is not None:
        count[4] = len(places)
    return Job(begin, to, places, pitch, count, size)


def test_the_kept_ptx_packs():
    kernel = Kernel(pack_kernel.kept_ptx())
    assert kernel.name == "octavo_pack"
    random, room = np.random.default_rng(1), 1 << 18
    for sizes in ((8, 1, 2), (4,)):
        start = bytearray(random.bytes(room + (1 << 16)))
        jobs, tables, to = [], bytearray(), room
        for size in sizes:
            to = -(-to // size) * size
            jobs.append(any_job(random, size, 0, room, to))
            to += math.prod(jobs[-1].count) * size
        table = -(-to // 16) * 16
        places_at = table + 88 * len(jobs)
        places = b""
        for job in jobs:
            tables += job.words(places_at + len(places))
            places += b"" if job.places is None else job.places.tobytes()
        start[table : places_at + len(places)] = tables + places
        expected = bytearray(start)
        for job in jobs:
            packed = job.packed(bytes(start))
            expected[job.to : job.to + len(packed)] = packed
        kernel.run([BASE + table, len(jobs)], start, grid=(2, 2), block=32)  # more jobs and values than threads
        assert start == expected, sizes


def ptxas() -> str:
    spec = find_spec("nvidia.cuda_nvcc") if find_spec("nvidia") else None
    places = [Path(place) / "bin/ptxas" for place in spec.submodule_search_locations or ()] if spec else []
    found = next((str(path) for path in places if path.exists()), shutil.which("ptxas"))
    if found is None:
        pytest.skip("no ptxas: it is in a CUDA toolkit, and in the package nvidia-cuda-nvcc-cu12")
    return found


def nvrtc():
    try:
        return pack_kernel.nvrtc()
    except OSError as error:
        pytest.skip(f"no NVRTC: it is in a CUDA toolkit, and in the package nvidia-cuda-nvrtc-cu12 ({error})")


def assemble(ptx: str, architecture: str, folder: Path) -> None:
    """Throws where ptxas refuses the text, or says anything about it."""
    text = folder / f"{architecture}.ptx"
    text.write_text(ptx)
    words = [ptxas(), f"--gpu-name=sm_{architecture}", "--warning-as-error", str(text), "-o", str(folder / "cubin")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert (folder / "cubin").read_bytes().startswith(b"\x7fELF")


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["70", "80", "90"])
def test_nvrtc_compiles_the_kernel_for_devices_and_ptxas_takes_it(architecture, tmp_path):
    ptx = pack_kernel.compiled(nvrtc(), architecture)
    assert f".target sm_{architecture}" in ptx
    assemble(ptx, architecture, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["50", "60", "70", "75", "80", "86", "89", "90"])
def test_ptxas_takes_the_kept_ptx(architecture, tmp_path):
    assemble(pack_kernel.kept_ptx(), architecture, tmp_path)


@pytest.mark.long
def test_the_script_makes_what_is_kept():
    made = pack_kernel.older(pack_kernel.compiled(nvrtc(), pack_kernel.ARCHITECTURE))
    assert Kernel(made).code == Kernel(pack_kernel.kept_ptx()).code, "of another version of NVRTC?"
