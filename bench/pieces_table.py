"""Tables of `octavo partition` and `octavo merge`, for run.py. Needs the real Malpasset mesh.

OCTAVO_BENCH_TIMES=2,3,4 (the default) names the refinements of its 26,000 triangles: 5 has 26.6 million, 6 106 million.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data")) / "serafin"
METIS = ROOT / "build" / "release" / "bench" / "octavo_bench_metis"
TIMES = [int(word) for word in os.environ.get("OCTAVO_BENCH_TIMES", "2,3,4").split(",")]
METHODS = ["metis", "hilbert", "inertial", "scotch"]
METIS_MOST = 5  # refinements that METIS has the memory for


def octavo(*words):
    done = subprocess.run([OCTAVO, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"octavo {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def one_variable(folder):
    """The Malpasset mesh with its bottom and nothing else: what the measurements of partel were made on."""
    import struct

    source = (DATA / "geo_malpasset-small.slf").read_bytes()
    variables, points = struct.unpack(">i", source[92:96])[0], 13541
    bottom = 4
    header = source[:92] + struct.pack(">ii", 1, 0) + source[100:104] + source[104 + 40 * bottom : 144 + 40 * bottom]
    arrays = source[104 + 40 * variables :]
    step = 12 + variables * (8 + 4 * points)
    values = len(arrays) - step + 12 + bottom * (8 + 4 * points)
    path = folder / "small.slf"
    path.write_bytes(header + arrays[: len(arrays) - step + 12] + arrays[values : values + 8 + 4 * points])
    return path


def refined(folder, times):
    mesh, boundary = folder / f"mesh{times}.slf", folder / f"mesh{times}.cli"
    source, cli = one_variable(folder), DATA / "geo_malpasset-small.cli"
    if times > 0:
        octavo(
            "refine", source, "-o", mesh, "--times", times, "--boundary", cli, "--boundary-out", boundary, "-f", "-q"
        )
    return mesh, boundary


def remove(folder, pattern):
    for path in folder.glob(pattern):
        path.unlink()


def cutting(folder, measure, head, row):
    bare = measure([OCTAVO, "--version"])
    head(
        "triangles / parts", "METIS alone", *(f"octavo, {name}" for name in METHODS), "edges cut: " + ", ".join(METHODS)
    )
    for times in TIMES:
        mesh, boundary = refined(folder, times)
        triangles = 26000 * 4**times
        parts = max(1, round(triangles / 10000))
        runs = 3 if times < 4 else 1
        floor = measure([METIS, mesh, parts], runs) if times <= METIS_MOST else None
        cells, edges = [], []
        for method in METHODS:
            if (method == "metis" and floor is None) or (method == "scotch" and times > 3):
                cells.append("-")
                continue
            words = [
                "partition",
                mesh,
                "-o",
                folder / "T2D",
                "--boundary",
                boundary,
                "--parts",
                parts,
                "--method",
                method,
            ]
            edges.append(json.loads(octavo(*words, "--json"))["cut_edges"])
            seconds, peak = measure([OCTAVO, *words, "-q"], runs)
            seconds, peak = seconds - bare[0], peak - bare[1]
            ratio = f" ({seconds / floor[0]:.2f}, {peak / floor[1]:.2f})" if floor else ""
            cells.append(f"{seconds:.2f} s, {peak:.0f} MB{ratio}")
        alone = f"{floor[0]:.2f} s, {floor[1]:.0f} MB" if floor else "-"
        row(f"{triangles} / {parts}", alone, *cells, ", ".join(map(str, edges)))
        remove(folder, "T2D*")
        if times > 2:
            mesh.unlink()


def merging(folder, measure, head, row):
    """416,000 triangles, 42 parts, 5 variables, 10 steps."""
    source = folder / "five.slf"
    small = DATA / "f2d_malpasset-small_pos.slf"  # 5 variables, 2 steps: five times over make 10
    octavo("refine", small, "-o", folder / "once.slf", "--times", 2, "-f", "-q")
    whole = (folder / "once.slf").read_bytes()
    step = 12 + 5 * (8 + 4 * 210161)
    source.write_bytes(whole + whole[-2 * step :] * 4)
    octavo("partition", source, "-o", folder / "M", "--parts", 42, "-q", "--layout", "files")
    bare = measure([OCTAVO, "--version"])
    head("merge", "CPU s", "peak MB above octavo --version", "bar")
    for label, words in [("with the mesh", ["--mesh", source]), ("without it", [])]:
        command = [OCTAVO, "merge", folder / "MGEO", "-o", folder / "merged.slf", "-f", "-q", *words]
        seconds, peak = measure(command)
        row(label, f"{seconds - bare[0]:.2f}", f"{peak - bare[1]:.1f}", "0.7 s, 12.8 MB" if words else "-")
        if words and (folder / "merged.slf").read_bytes() != source.read_bytes():
            raise SystemExit("merged file differs from what was cut")
    command = [OCTAVO, "split", source, "--like", folder / "MGEO", "-o", folder / "AGAIN", "-q"]
    seconds, peak = measure(command)
    row("split by the pieces", f"{seconds - bare[0]:.2f}", f"{peak - bare[1]:.1f}", "-")


def tables(folder, measure, head, row):
    if not DATA.is_dir():
        print(f"no real meshes at {DATA}")
        return
    cutting(folder, measure, head, row)
    merging(folder, measure, head, row)
