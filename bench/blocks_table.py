"""Tables of block codes: how small stores of FLASH and AMReX checkpoints are, and what their outputs cost from all ranks.

.venv/bin/python bench/run.py blocks     stores of real checkpoints at point:2e-3
.venv/bin/python bench/run.py native     outputs of all ranks, beside parallel HDF5 and raw writes
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
from pathlib import Path

from apps_tables import MPI, build_throttle

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data"))
BENCH = ROOT / "build" / "release" / "bench"
CHECKPOINTS = {
    "FLASH Sedov 2-D, chk_0000": "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0000",
    "FLASH Sedov 2-D, chk_0001": "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0001",
    "FLASH Sedov 2-D, chk_0002": "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002",
    "FLASH Sedov 2-D HLL, chk_0002": "flash/sedov2d_hll_par2/sedovroe_hdf5_chk_0002",
    "FLASH Sedov 3-D octant, chk_0001": "flash/sedov3d_octant_par3/sedov3do_hdf5_chk_0001",
    "AMReX advection 2-D (AmrCore), chk00020": "amrex/adv2d_core_r4/chk00020",
    "AMReX advection 2-D (AmrLevel), chk00010": "amrex/adv2d_amrlevel_r4/chk00010",
    "AMReX advection 3-D, chk00004": "amrex/adv3d_amrlevel_r2/chk00004",
    "AMReX multi 3-D, chk00007": "amrex/multi3d_r4/chk00007",
    "AMReX particles 2-D, chk00007": "amrex/parts2d_bigid_r4/chk00007",
}
RATE = 250  # MB/s of a process on the throttled store
RUNS = 3


def stores(folder, convert, store_bytes, head, row):
    """Whole stores at point:2e-3 against the bytes of the mesh variables; "of fields alone" leaves out all else."""
    head("checkpoint", "mesh variables [B]", "store [B]", "ratio", "of fields alone")
    for name, path in CHECKPOINTS.items():
        if not (DATA / path).exists():
            row(name, "not found", "", "", "")
            continue
        fields = convert(DATA / path, folder / "o", "--codec", "point:2e-3")["fields"].values()
        raw, stored = (sum(field[key] for field in fields) for key in ("raw", "stored"))
        whole = store_bytes(folder / "o")
        row(name, f"{raw:,}".replace(",", " "), f"{whole:,}".replace(",", " "), f"{raw / whole:.1f}",
            f"{raw / stored:.0f}")  # fmt: skip


def said(ranks, words, slow):
    preload = {"LD_PRELOAD": str(slow), "THROTTLE_MB_S": str(RATE)} if slow else {}
    exported = [word for name, value in preload.items() for word in ("-x", f"{name}={value}")]
    command = ["mpirun", "-n", ranks, *exported, *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**MPI, **os.environ})
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def visible(text, name):
    return float(re.search(rf"^{name} .*visible +([0-9.]+) ms", text, re.MULTILINE).group(1))


def native(folder, head, row):
    """FLASH files beside collective HDF5, and AMReX plotfiles beside raw writes of the same bytes."""
    throttle, target = build_throttle(folder), folder / "native"
    head("ranks, store", "in the background [ms]", "in the call", "through rank 0", "collective HDF5", "ratio, median")
    for ranks, slow in [(2, throttle), (4, throttle), (2, None), (4, None)]:
        ours, theirs = {"background": [], "sync": [], "collect": []}, []
        for _ in range(RUNS):
            text = said(ranks, [BENCH / "octavo_bench_native", "flash", target, 128, 10, 3, 0.6], slow)
            for name, values in ours.items():
                values.append(visible(text, name))
            peer = BENCH / "octavo_bench_flash_collective"
            if peer.exists():
                text = said(ranks, [peer, folder / "collective.h5", 128, 10, 3], slow)
                theirs.append(visible(text, "collective"))
        gain = (
            [f"{statistics.median(b / a for a, b in zip(ours['background'], theirs, strict=True)):.1f}"]
            if theirs
            else [""]
        )
        cells = [", ".join(f"{value:.0f}" for value in values) for values in (*ours.values(), theirs)]
        row(f"{ranks}, {f'{RATE} MB/s a process' if slow else 'page cache'}", *cells, *gain)
    head("boxes", "plotfile / raw write (CPU)", "read / raw read (CPU)")
    for edge, dim in [(64, 2), (32, 3), (16, 2), (16, 3)]:
        text = said(1, [BENCH / "octavo_bench_native", "amrex", target, edge, dim, 128, 12], None)
        write, read = re.findall(r"([0-9.]+ \(CPU [0-9.]+\))", text)
        row(f"{edge}^{dim}", write.replace("CPU ", ""), read.replace("CPU ", ""))
