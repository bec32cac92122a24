"""The engine beside its peers: the tables of bench/results that `octavo bench` measures, and what was asked of them.

make bench-engine                                       4 and 2 ranks, 15 repetitions
OCTAVO_BENCH_REPETITIONS=5 OCTAVO_BENCH_PARTS=page_cache,staging .venv/bin/python bench/run.py engine
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

OCTAVO = Path(sys.prefix) / "bin" / "octavo"
BYTES = os.environ.get("OCTAVO_BENCH_BYTES", "64M")  # a rank and step
REPETITIONS = int(os.environ.get("OCTAVO_BENCH_REPETITIONS", "15"))
RANKS = (4, 2)
SPARE = 1  # ranks of a run whose threads have a core of their own, on two
MEMORY = Path("/dev/shm")  # a file system whose pages nothing takes away
RAW, SUMMED, SHARED = "raw, file a rank", "raw, file a rank, checksums", "raw, shared file preallocated"
HASH_OF_A_BLOCK = "0.5 us, and XXH3 of 10 kB from memory: 9.5 ms for 100 MB, so 0.95 us"
RANK, NODE = "octavo, 1 file a rank", "octavo, 1 file a node"
# Ranks are not bound to cores: what has a thread beside its rank may take a core that is idle.
LAUNCH = ["mpirun", "--bind-to", "none", "-n"]
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def bench(folder, ranks, *words):
    """The report of one `octavo bench`."""
    command = [*LAUNCH, str(ranks), str(OCTAVO), "bench", words[0], "--directory", str(folder), *words[1:], "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**MPI, **os.environ})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def samples(report, name):
    return next(row for row in report["rows"] if row["name"] == name)["samples"]


def pairs(report, one, other, value):
    """The median, over the repetitions, of value(sample of one, sample of other); nothing where a peer is missing."""
    ours, theirs = samples(report, one), samples(report, other)
    return statistics.median(value(a, b) for a, b in zip(ours, theirs, strict=True)) if ours and theirs else None


def times_faster(a, b):
    return b["seconds"] / a["seconds"]


def median(report, name):
    return next(row for row in report["rows"] if row["name"] == name)["median"]


class Bars:
    """Rows of the first table: what was asked, and what each number of ranks gave."""

    def __init__(self):
        self.rows = {}

    def add(self, what, bar, value, form="{:.2f}", why=""):
        entry = self.rows.setdefault(what, [bar, why])
        entry.append("not found" if value is None else value if isinstance(value, str) else form.format(value))

    def lines(self):
        yield ["what", "bar", *(f"{ranks} ranks" for ranks in RANKS), f"{SPARE} rank", "why this bar"]
        for what, (bar, why, *cells) in self.rows.items():
            yield [what, bar, *cells, *[""] * (1 + len(RANKS) - len(cells)), why]


def transfer_rows(report, reading=False):
    blocks = report["setup"]["blocks"]
    yield ["what", "s", "MB/s", "ratio", "CPU s", "reads" if reading else "writes"] + (["us a block"] if blocks else [])
    for row in report["rows"]:
        if row["missing"]:
            yield [row["name"], row["missing"], *[""] * (5 if blocks else 4)]
            continue
        m = row["median"]
        cells = [row["name"], f"{m['seconds']:.4f}", f"{m['rate'] / 1e6:.0f}", f"{m['ratio']:.2f}", f"{m['cpu']:.3f}",
                 f"{m['reads' if reading else 'writes']:.0f}"]  # fmt: skip
        yield cells + ([f"{1e6 * m['cpu_per_block_above_raw']:.2f}"] if blocks else [])


def run_rows(report):
    yield ["way", "run s", "visible s", "gain", "visible before close", "gain", "in calls s", "compute + s", "CPU + s",
           "MB stored a step"]  # fmt: skip
    for row in report["rows"]:
        m = row["median"]
        hidden = "" if row["name"] == "off" else "all hidden"
        gain = [f"{m[key]:.1f}" if m[key] is not None else hidden for key in ("gain", "gain_before_close")]
        yield [row["name"], f"{m['whole']:.3f}", f"{m['visible']:.3f}", gain[0], f"{m['visible_before_close']:.3f}",
               gain[1], f"{m['in_calls']:.3f}", f"{m['slowdown']:.3f}", f"{m['cpu']:.3f}",
               f"{m['stored_per_step'] / 1e6:.2f}" if m["stored_per_step"] else ""]  # fmt: skip


def page_cache(folder, ranks, bars):
    words = ["write", "--files", "rewritten", "--option", "recycle=true", "--bytes-per-rank", BYTES,
             "--repetitions", str(REPETITIONS)]  # fmt: skip
    report = bench(folder, ranks, *words)
    bars.add("rewritten files, 1 file a rank: of pwrite", ">= 0.95", pairs(report, RANK, RAW, times_faster))
    bars.add(
        "the same with checksums: of pwrite with checksums",
        ">= 0.95",
        pairs(report, RANK + ", checksums", SUMMED, times_faster),
        why="summing 64 MB from the cache takes a tenth of its write at least: the next row bounds any writer",
    )
    bars.add("pwrite with checksums, of pwrite without", "", pairs(report, SUMMED, RAW, times_faster))
    bars.add(
        "rewritten files, 1 file a node: of pwrite into one preallocated file",
        ">= 0.95",
        pairs(report, NODE, SHARED, times_faster),
        why="one process at a time writes into a file: the next row bounds any writer of one file",
    )
    bars.add(
        "pwrite into one preallocated file, of pwrite into a file a rank", "", pairs(report, SHARED, RAW, times_faster)
    )
    collective = pairs(report, SHARED, "HDF5 collective", times_faster)
    bars.add(
        "1 file a node, times HDF5 collective",
        ">= 0.95 of the next row",
        pairs(report, NODE, "HDF5 collective", times_faster),
        "{:.1f}",
    )
    bars.add("pwrite into one preallocated file, times HDF5 collective", "", collective, "{:.1f}")
    yield words, transfer_rows(report)


def fresh_files(folder, ranks, bars):
    words = ["write", "--bytes-per-rank", BYTES, "--repetitions", str(REPETITIONS)]
    report = bench(folder, ranks, *words)
    bars.add(
        "fresh files, 1 file a rank: of pwrite into fresh files", ">= 0.95", pairs(report, RANK, RAW, times_faster)
    )
    bars.add(
        "the same with checksums: of pwrite with checksums, fresh files",
        ">= 0.95",
        pairs(report, RANK + ", checksums", SUMMED, times_faster),
    )
    bars.add(
        "fresh files, 1 file a node: of pwrite into one preallocated fresh file",
        ">= 0.95",
        pairs(report, NODE, SHARED, times_faster),
    )
    yield words, transfer_rows(report)


def to_disk(folder, ranks, bars):
    words = ["write", "--sync", "--bytes-per-rank", BYTES, "--only", "raw,octavo", "--repetitions", str(REPETITIONS)]
    report = bench(folder, ranks, *words)
    for name in (NODE, RANK):
        bars.add(f"{name.removeprefix('octavo, ')}, on disk and committed: of a preallocated shared file", ">= 0.85",
                 pairs(report, name, SHARED, times_faster))  # fmt: skip
    yield words, transfer_rows(report)


def staging(folder, ranks, bars):
    words = ["write", "--mode", "background", "--per-file", "1", "--bytes-per-rank", BYTES, "--only", "octavo",
             "--repetitions", str(REPETITIONS)]  # fmt: skip
    report = bench(folder, ranks, *words)
    plain, summed = f"{RANK}, background", f"{RANK}, checksums, background"

    def more(a, b):
        return 100 * (a["copying"] - b["copying"]) / b["copying"]

    bars.add(
        "checksum inside background end_step(), % of the copy", "<= 8", pairs(report, summed, plain, more), "{:.0f}"
    )
    rows = [["what", "ms in end_step()", "of those copying"]]
    for name in (plain, summed):
        m = median(report, name)
        rows.append([name, f"{1e3 * m['end_step']:.2f}", f"{1e3 * m['copying']:.2f}"])
    yield words, rows


def small_blocks(folder, ranks, bars):
    for kind in ("write", "read"):
        words = [kind, "--blocks", "10000", "--block-bytes", "10k", "--checksums", "both", "--per-file", "1",
                 "--only", "octavo,HDF5", "--repetitions", str(REPETITIONS)]  # fmt: skip
        report = bench(folder, ranks, *words)
        for name, bar, why in ((RANK, "<= 0.5", ""), (RANK + ", checksums", "<= 1.45", HASH_OF_A_BLOCK)):
            bars.add(f"10,000 blocks of 10 kB, {kind}{name.removeprefix(RANK)}: CPU us a block above one raw {kind}",
                     bar, 1e6 * median(report, name)["cpu_per_block_above_raw"], why=why)  # fmt: skip
        yield words, transfer_rows(report, kind == "read")


def slow_runs(folder, ranks, codec, flow, repetitions):
    """A throttled store. Files that are there, in memory: the store that is meant is the throttle."""
    words = ["async", "--throttle", "250M", "--files", "rewritten", "--bytes-per-rank", BYTES,
             "--codec", codec, "--flow", flow, "--repetitions", str(repetitions)]  # fmt: skip
    words += ["--directory", str(MEMORY)] if MEMORY.is_dir() else []
    return words, bench(folder, ranks, *words)


def throttled(folder, ranks, bars):
    words, report = slow_runs(folder, ranks, "raw", "checkpoint", max(3, REPETITIONS // 3))
    for way in ("octavo background", "octavo lend", "octavo auto", "copy + thread + pwrite"):
        m = median(report, way)
        ours = way.startswith("octavo")
        bars.add(
            f"{way}, 250 MB/s a process: less visible time, last drain included",
            ">= 0.9 of copy + thread + pwrite" if ours else "",
            m["gain"] or "all hidden",
            "{:.1f}",
            why="a bare copy and thread is the least there is; ranks without a spare core pay for the thread",
        )
        bars.add(
            f"{way}, without the last drain",
            ">= 0.9 of copy + thread + pwrite" if ours else "",
            m["gain_before_close"] or "all hidden",
            "{:.1f}",
        )
    yield words, run_rows(report)


# On as many ranks as there are cores: it is computing.
def compressed(folder, ranks, bars):
    for codec in ("lossless", "point:2e-3"):
        for flow in ("checkpoint", "analysis"):
            words, report = slow_runs(folder, ranks, codec, flow, 3)
            yield words, run_rows(report)


def fast_store(folder, ranks, bars):
    words = ["async", "--bytes-per-rank", BYTES, "--steps", "24", "--repetitions", str(max(3, REPETITIONS // 3))]
    report = bench(folder, ranks, *words)
    auto, sync = (next(r["runs"] for r in report["rows"] if r["name"] == f"octavo {way}") for way in ("auto", "sync"))
    more = statistics.median(100 * (a["cpu"] - s["cpu"]) / s["cpu"] for a, s in zip(auto, sync, strict=True))
    bars.add("auto on a fast store: CPU seconds over sync, %", "<= 2", more, "{:.1f}")
    yield words, run_rows(report)


ALL = {part.__name__: part for part in (page_cache, fresh_files, to_disk, staging, small_blocks, throttled, compressed,
                                        fast_store)}  # fmt: skip
PARTS = [ALL[name] for name in os.environ.get("OCTAVO_BENCH_PARTS", ",".join(ALL)).split(",")]


def tables(folder, head, row):
    """Measures all, then prints the bars and the tables behind them with the given printers of rows. Interrupted, it
    prints what it has."""
    bars, details = Bars(), []
    try:
        for part in PARTS:
            for ranks in {throttled: (*RANKS, SPARE), compressed: (2,)}.get(part, RANKS):
                for words, rows in part(folder, ranks, bars):
                    details.append((ranks, words, list(rows)))
                    print(f"measured: {ranks} ranks, {' '.join(words)}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    emit(bars.lines(), head, row)
    for ranks, words, rows in details:
        print(f"\n`{' '.join(LAUNCH)} {ranks} octavo bench {' '.join(words)}`")
        emit(rows, head, row)


def emit(rows, head, row):
    for index, cells in enumerate(rows):
        (head if index == 0 else row)(*cells)
