"""The dam break of Malpasset (1959) with octavo-shallow: when the wave arrives, and a picture of it.

.venv/bin/python bench/run.py malpasset        OCTAVO_BENCH_ORDER=2 takes the scheme of second order (four times as long)

Three electric transformers stopped when the wave reached them; the times are those that TELEMAC's validation manual and
Hervouet and Petitjean (1999, J. Hydraulic Research 37) compare with. The picture goes to docs/figures/malpasset.png.
"""

from __future__ import annotations

import json
import os

import numpy as np
from shallow_ways import DATA, RANKS, ROOT, SOLVER, run

ORDER = os.environ.get("OCTAVO_BENCH_ORDER", "1")
TRANSFORMERS = {"A": (5550, 4400, 100), "B": (11900, 3250, 1240), "C": (13000, 2700, 1420)}  # x, y [m], stopped [s]
WET = 0.1  # [m]


def record(raw, at, kind):
    """A Fortran record of a big-endian file, and where the next one begins."""
    size = int.from_bytes(raw[at : at + 4], "big")
    return np.frombuffer(raw, kind, count=size // np.dtype(kind).itemsize, offset=at + 4), at + size + 8


def read(path):
    """Triangles, x, y, times, and values by (step, variable, point) of a single-precision SERAFIN file of ours."""
    raw = path.read_bytes()
    _, at = record(raw, 0, "S1")
    counts, at = record(raw, at, ">i4")
    for _ in range(counts.sum()):
        _, at = record(raw, at, "S1")
    settings, at = record(raw, at, ">i4")
    if settings[9]:
        _, at = record(raw, at, ">i4")
    _, at = record(raw, at, ">i4")
    corners, at = record(raw, at, ">i4")
    _, at = record(raw, at, ">i4")
    x, at = record(raw, at, ">f4")
    y, at = record(raw, at, ">f4")
    points, variables = x.size, int(counts.sum())
    step = np.dtype([("time", ">f4", 3), ("values", ">f4", (variables, points + 2))])
    steps = np.frombuffer(raw, step, offset=at)
    return corners.reshape(-1, 3) - 1, x, y, steps["time"][:, 1], steps["values"][:, :, 1:-1]


def nearest(x, y, place):
    return int(np.argmin(np.hypot(x - place[0], y - place[1])))


def draw(mesh, x, y, times, depth, path):
    """Depth at four moments, over the mesh."""
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    for axes, moment in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, (0, 400, 1000, 2400), strict=True):
        k = int(np.argmin(abs(times - moment)))
        dry = (depth[k][mesh] <= WET).all(axis=1)
        axes.triplot(x, y, mesh, color="#d9d4c7", linewidth=0.15)
        drawn = axes.tripcolor(
            x, y, mesh, depth[k], mask=dry, shading="gouraud", cmap="viridis_r", norm=LogNorm(WET, 60), rasterized=True
        )
        for name, place in TRANSFORMERS.items():
            axes.plot(*place[:2], "r^", markersize=4)
            axes.annotate(name, place[:2], xytext=(3, 3), textcoords="offset points", fontsize=7, color="r")
        axes.set_title(f"{times[k]:.0f} s", fontsize=9)
        axes.set_aspect("equal")
        axes.set_xlim(0, 18000)
        axes.tick_params(labelsize=7)
        axes.set_xlabel("x [m]", fontsize=8)
        axes.set_ylabel("y [m]", fontsize=8)
        axes.label_outer()
    figure.colorbar(drawn, ax=figure.axes, label="depth [m]", shrink=0.8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=90)


def tables(folder, head, row):
    result = folder / "malpasset.slf"
    words = ["mpirun", "-n", RANKS, SOLVER, DATA / "geo_malpasset-small.slf", "--until", 2400, "--strickler", 30]
    report = json.loads(run([*words, "--order", ORDER, "-o", result, "-f", "--every", 20, "--json"]))
    mesh, x, y, times, values = read(result)
    depth = values[:, 2]
    lost = report["volume_after"] / report["volume_before"] - 1
    print(f"\n{report['steps']} steps of order {ORDER}; {report['volume_before']:.0f} m3 of water, change {lost:.1e}")
    head("transformer", "stopped after, s", "wave arrives, s", "greatest depth, m")
    for name, place in TRANSFORMERS.items():
        wet = depth[:, nearest(x, y, place)]
        arrives = f"{times[np.argmax(wet > WET)]:.0f}" if (wet > WET).any() else "never"
        row(name, place[2], arrives, f"{wet.max():.1f}")
    draw(mesh, x, y, times, depth, ROOT / "docs" / "figures" / "malpasset.png")
