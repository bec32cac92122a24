"""Our codec beside its peers, ratio against speed: bench/results/codecs.csv, and docs/figures/codecs.png from it.

.venv/bin/python bench/run.py codecs          measures, writes the rows, prints the table and draws
.venv/bin/python bench/codecs_table.py        draws what was measured before
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data"))
ROWS = ROOT / "bench" / "results" / "codecs.csv"
PICTURE = ROOT / "docs" / "figures" / "codecs.png"
SETS = {
    "turbulence, tree": None,
    "RAMSES, dark matter and gas": "ramses/dm_gas_gravity3d_3ranks/output_00002",
    "FLASH, Sedov blast, 2-D": "flash/sedov2d_pm4_par4/sedov2dp_hdf5_chk_0002",
    "AMReX, 3-D": "amrex/multi3d_r4/plt00007",
}
BOUNDS = ["lossless", "range:1e-3", "point:2e-3"]
COLUMNS = ["set", "bound", "compressor", "raw", "ratio", "compress_MBps", "decompress_MBps", "within"]


def sum_of(name, bound, compressor, rows):
    """One row for all fields of a set: of each field the compressor's best arrangement, scaled to all values of the field."""
    raw = sum(row["merged"] for row in rows)
    return {
        "set": name,
        "bound": bound,
        "compressor": compressor,
        "raw": raw,
        "ratio": round(raw / sum(row["merged"] / row["ratio"] for row in rows), 4),
        **{
            key: round(raw / sum(row["merged"] / row[key] for row in rows), 1)
            for key in ("compress_MBps", "decompress_MBps")
        },
        "within": all(row["within"] for row in rows),
    }


def measure(name, path):
    import numpy as np
    from octavo.codecs import codec_bench

    import octavo

    dataset = octavo.open(path)
    for bound in BOUNDS:
        by_compressor = {}
        for field in dataset.fields:
            values = codec_bench.Values(dataset, field).merged
            if values.dtype.kind != "f" or np.ptp(values) == 0:
                continue
            efforts = ["default", "fast", "max"] if bound == "lossless" else ["default", "fast"]
            for row in codec_bench.measure_field(dataset, field, bound, efforts, 5):
                by_compressor.setdefault(row["compressor"], []).append({**row, "merged": values.nbytes})
        for compressor, rows in by_compressor.items():
            yield sum_of(name, bound, compressor, rows)


def table(folder, head, row):
    sample = folder / "output_00001"
    if not sample.exists():
        subprocess.run([OCTAVO, "sample", sample, "--levels", "5-7", "--domains", "4", "-q"], check=True)
    rows = [found for name, path in SETS.items() for found in measure(name, DATA / path if path else sample)]
    with ROWS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    head("set", "bound", "octavo", "fast", "best peer", "octavo / best", "octavo MB/s", "fast MB/s", "that peer's MB/s")
    for name in SETS:
        for bound in BOUNDS:
            here = [found for found in rows if (found["set"], found["bound"]) == (name, bound) and found["within"]]
            ours, fast = (
                next(found for found in here if found["compressor"] == one) for one in ("octavo", "octavo fast")
            )
            best = max(
                (found for found in here if not found["compressor"].startswith("octavo")), key=lambda r: r["ratio"]
            )
            speeds = [f"{one['compress_MBps']:.0f} / {one['decompress_MBps']:.0f}" for one in (ours, fast, best)]
            row(name, bound, f"{ours['ratio']:.2f}", f"{fast['ratio']:.2f}", f"{best['compressor']} {best['ratio']:.2f}",
                f"{ours['ratio'] / best['ratio']:.2f}", *speeds)  # fmt: skip
    draw()


def draw():
    """A panel for each set and bound: for each compressor compression (hollow) and decompression (filled), joined."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    with ROWS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["within"] == "True"]
    names = list(dict.fromkeys(row["compressor"] for row in rows))
    figure = Figure(figsize=(10, 11), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(SETS), len(BOUNDS))
    for axes_of_set, name in zip(panels, SETS, strict=True):
        for axes, bound in zip(axes_of_set, BOUNDS, strict=True):
            for row in rows:
                if (row["set"], row["bound"]) != (name, bound):
                    continue
                number = names.index(row["compressor"])
                ours = row["compressor"].startswith("octavo")
                colour, marker = "black" if ours else f"C{number % 10}", "*D^vPXos<>"[number % 10]
                ratio, speeds = float(row["ratio"]), [float(row["compress_MBps"]), float(row["decompress_MBps"])]
                size = 110 if row["compressor"] == "octavo" else 36
                axes.plot(speeds, [ratio, ratio], color=colour, linewidth=1.0)
                axes.scatter(
                    speeds[:1], [ratio], s=size, marker=marker, edgecolors=colour, facecolors="white", zorder=3
                )
                axes.scatter(speeds[1:], [ratio], s=size, marker=marker, color=colour, zorder=3)
            axes.set(xscale="log", yscale="log", title=f"{name}: {bound}")
            axes.title.set_size(9)
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 5, 7)))
            axes.yaxis.set_major_formatter(ScalarFormatter())
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.tick_params(labelsize=8)
            axes.grid(color="0.9")
        axes_of_set[0].set_ylabel("ratio")
    for axes in panels[-1]:
        axes.set_xlabel("MB/s of one thread")
    from matplotlib.lines import Line2D

    marks = [
        Line2D(
            [],
            [],
            linestyle="",
            marker="*D^vPXos<>"[n % 10],
            color="black" if name.startswith("octavo") else f"C{n % 10}",
            label=name,
        )
        for n, name in enumerate(names)
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=(len(names) + 1) // 2, fontsize=9, frameon=False,
                  title="hollow: compression, filled: decompression", title_fontsize=9)  # fmt: skip
    figure.savefig(PICTURE, dpi=70)


if __name__ == "__main__":
    draw()
