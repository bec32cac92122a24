"""The cost of output in the simulations of apps/: the tables of bench/results, each of one command.

.venv/bin/python bench/run.py apps                       all of them, small sizes
.venv/bin/python bench/apps_tables.py weak strong        some of: weak, strong, share, sod, bubble, wave
.venv/bin/python bench/apps_tables.py weak --ranks 2,4 --repetitions 5

Each run is made on the store as it is and on one that takes --rate MB/s of each process (bench/throttle.c), where it can
be preloaded. Files are not synced to the disk, which HDF5 does not do either (OCTAVO_SYNC_POLICY=step syncs them).
Seconds in I/O are those that a rank spends in calls of the engine, the last drain included (with octavo-sedov and
octavo-sod also what opening takes, with memory for three steps): the slowest rank's of
octavo-sedov and octavo-sod, the mean over ranks of octavo-bubble and octavo-wave. Beside stands what one collective write
of parallel HDF5 takes for as many bytes a rank (octavo_bench_flash_collective), where it was built.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
MODES = ("sync", "background")
CHECKPOINTS_ALONE = ["--checkpoint-codec", "raw", "--analysis-every", "1e9t"]  # a time that never comes


@dataclass
class Setup:
    folder: Path
    ranks: list[int]
    repetitions: int
    rate: float  # MB/s of a process on the throttled store
    throttle: Path | None = None
    made: dict = field(default_factory=dict)


def build_throttle(folder):
    """The library that slows writes down; None where there is no compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    library = folder / "throttle.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", ROOT / "bench" / "throttle.c", "-o", library, "-ldl"], check=True
    )
    return library


def stores(setup):
    """(name, whether it is throttled) of each."""
    yield "fast", False
    if setup.throttle:
        yield f"{setup.rate:g} MB/s a process", True


def mpirun(setup, ranks, words, throttled, more=None):
    env = {**MPI, "OCTAVO_SYNC_POLICY": "none", **os.environ, **(more or {})}
    command = ["mpirun", "-n", str(ranks)]
    if throttled:
        slow = {"LD_PRELOAD": str(setup.throttle), "THROTTLE_MB_S": f"{setup.rate:g}",
                "THROTTLE_UNDER": str(setup.folder / "slow")}  # fmt: skip
        env |= slow
        command += [word for name in slow for word in ("-x", name)]
    done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def once(setup, program, ranks, words, throttled, more):
    """One run: seconds, seconds in I/O, bytes put, by the report of either kind of program."""
    store = setup.folder / "slow" / "run.octavo"
    shutil.rmtree(store, ignore_errors=True)
    words = [BUILD / "apps" / program, *words, "--store", store]
    if program in ("octavo-bubble", "octavo-wave"):
        said = json.loads(mpirun(setup, ranks, words, throttled, more).strip().splitlines()[-1])
        return {"seconds": said["seconds"], "io": said["io_seconds"], "bytes": said["bytes"], "calls": said["calls"]}
    report = setup.folder / "report.json"
    mpirun(setup, ranks, [*words, "--quiet", "--report", report], throttled, more)
    said = json.loads(report.read_text())
    # A step's directory has nine digits and may stand below two levels of three (decision 15).
    calls = sum(1 for path in (store / "checkpoint").rglob("*") if len(path.name) >= 9 and path.name.isdigit())
    size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    return {"seconds": said["seconds"], "io": said["seconds_in_io"], "bytes": size, "calls": calls}


def measure(setup, program, ranks, words, throttled=False, more=None):
    """The run of the median share of some."""
    runs = [once(setup, program, ranks, words, throttled, more) for _ in range(setup.repetitions)]
    for run in runs:
        run["share"] = run["io"] / run["seconds"]
    return sorted(runs, key=lambda run: run["share"])[len(runs) // 2]


def collective(setup, ranks, bytes_a_rank, throttled):
    """Seconds of one collective write of so many bytes a rank, as text."""
    program = BUILD / "bench" / "octavo_bench_flash_collective"
    if not program.exists():
        return "not built"
    key = (ranks, bytes_a_rank // 32768, throttled and setup.rate)
    if key not in setup.made:
        blocks = max(1, round(bytes_a_rank / 32768))
        said = mpirun(setup, ranks, [program, setup.folder / "slow" / "flash.h5", blocks, 1, 5], throttled)
        setup.made[key] = float(said.split("visible")[1].split()[0]) / 1e3
    return f"{setup.made[key]:.4f}"


def cores():
    """Ranks of the runs whose share of I/O is asked for: a thread that writes takes little."""
    return len(os.sched_getaffinity(0))


def arena_for(run, ranks):
    """Staging memory for three of its steps."""
    return {"OCTAVO_STAGING_BYTES": str(3 * run["bytes"] // run["calls"] // ranks + (1 << 20))}


def checkpoints(setup, rows, every, head, row):
    """Seconds that the slowest rank spends in I/O for a checkpoint, of 8 and that of the start, `every` so many steps;
    `rows` gives ranks, blocks and tracers along an axis, and cells of a block."""
    head("ranks", "blocks", "tracers", "MB a rank", "store", "sync s", "background s", "collective HDF5 s")
    for ranks, blocks, tracers, block in rows:
        words = ["--roots", f"{blocks},{blocks}", "--max-level", 0, "--block", block, "--tracers", tracers,
                 "--steps", 8 * every, "--checkpoint-every", every, *CHECKPOINTS_ALONE]  # fmt: skip
        for name, throttled in stores(setup):
            runs, more = {}, {}
            for mode in MODES:
                runs[mode] = measure(setup, "octavo-sedov", ranks, [*words, "--io", mode], throttled, more)
                more = arena_for(runs["sync"], ranks)
            each = {mode: run["io"] / run["calls"] for mode, run in runs.items()}
            size = runs["sync"]["bytes"] // runs["sync"]["calls"] // ranks
            row(ranks, f"{blocks}x{blocks}", f"{tracers}x{tracers}", f"{size / 1e6:.2f}", name, f"{each['sync']:.4f}",
                f"{each['background']:.4f}", collective(setup, ranks, size, throttled))  # fmt: skip


def weak(setup, head, row):
    """Weak scaling of checkpoint writing: octavo-sedov, 18 blocks of 64x64 cells a rank (as many as 16x16x16), 16x16 to
    40x40 of them with 8x8 to 20x20 tracers, a checkpoint a step."""
    edges = [(ranks, round(math.sqrt(18 * ranks))) for ranks in setup.ranks or (14, 32, 57, 89)]
    checkpoints(setup, [(ranks, edge, edge // 2, 64) for ranks, edge in edges], 1, head, row)


def strong(setup, head, row):
    """Strong scaling of checkpoint writing: octavo-sedov, 46x46 blocks of 16x16 cells, 24x24 tracers, a checkpoint every
    5 steps."""
    checkpoints(setup, [(ranks, 46, 24, 16) for ranks in setup.ranks or (2, 8, 32, 118)], 5, head, row)


def shares(setup, program, ranks, words, head, row, modes=MODES):
    """I/O of a run in each mode and store."""
    head("store", "mode", "run s", "calls", "I/O s", "share %", "collective HDF5 s a call")
    for name, throttled in stores(setup):
        more = {}
        for mode in modes:
            run = measure(setup, program, ranks, [*words, "--io", mode], throttled, more)
            more = more or arena_for(run, ranks)
            size = run["bytes"] // run["calls"] // ranks
            row(name, mode, f"{run['seconds']:.3f}", run["calls"], f"{run['io']:.4f}", f"{100 * run['share']:.1f}",
                collective(setup, ranks, size, throttled))  # fmt: skip


def share(setup, head, row):
    """Synchronous and asynchronous: octavo-sedov on 6 ranks, 8 checkpoints and that of the start; the throttled store
    takes a twentieth of the others' rate from each of the many ranks."""
    words = ["--roots", 1, "--min-level", 4, "--max-level", 6, "--block", 16, "--tracers", 64, "--steps", 960,
             "--checkpoint-every", 120, *CHECKPOINTS_ALONE]  # fmt: skip
    shares(replace(setup, rate=setup.rate / 20), "octavo-sedov", 6, words, head, row)


def sod(setup, head, row):
    """Sod's tube with tracers in five configurations: 109 steps, a checkpoint every 33, an analysis step every 10. Files
    are synced in all of them, since a disk of the node takes none that are not."""
    words = ["--max-level", 1, "--steps", 109, "--checkpoint-every", 33, "--analysis-every", 10]
    ranks = cores()
    local = setup.folder / "local"
    synced = {"OCTAVO_SYNC_POLICY": "step", "OCTAVO_STAGING_BYTES": "16M"}
    staged = ["--option", f"staging_directory={local}"]
    kinds = [
        ("sync", ["--io", "sync"], synced),
        ("background", ["--io", "background"], synced),
        ("background, MPI_THREAD_MULTIPLE", ["--io", "background"], {**synced, "OCTAVO_APPS_THREADS": "multiple"}),
        ("sync, staged on the node", ["--io", "sync", *staged], synced),
        ("background, staged on the node", ["--io", "background", *staged], synced),
    ]
    head("store", "configuration", "run s", "I/O s", "share %")
    for name, throttled in stores(setup):
        for kind, how, more in kinds:
            local.mkdir(exist_ok=True)
            run = measure(setup, "octavo-sod", ranks, [*words, *how], throttled, more)
            row(name, kind, f"{run['seconds']:.3f}", f"{run['io']:.4f}", f"{100 * run['share']:.1f}")
            shutil.rmtree(local)


def bubble(setup, head, row):
    """The bubbles' share of I/O: 4x4 of them, two finer levels, face velocities in 16 checkpoints, a rank a core."""
    words = ["--bubbles", 4, "--max-level", 2, "--end", 10, "--steps", 1920, "--checkpoint-every", 120]
    shares(setup, "octavo-bubble", cores(), words, head, row)


def wave(setup, head, row):
    """The wave's share of I/O: 12 energy bins on 64^3 cells, a rank a core, 16 checkpoints."""
    words = ["--cells", 64, "--bins", 12, "--block", 16, "--steps", 640, "--checkpoint-every", 40]
    shares(setup, "octavo-wave", cores(), words, head, row)


TABLES = {"weak": weak, "strong": strong, "share": share, "sod": sod, "bubble": bubble, "wave": wave}


def tables(folder, head, row, names=(), ranks=(), repetitions=0, rate=100.0):
    """Measures and prints the named tables, all where none is named, with the given printers of rows."""
    repetitions = repetitions or int(os.environ.get("OCTAVO_BENCH_REPETITIONS", "3"))
    folder = Path(folder).resolve()
    (folder / "slow").mkdir(exist_ok=True)
    setup = Setup(folder, list(ranks), repetitions, rate, build_throttle(folder))
    for name in names or TABLES:
        print(f"\n### {name}\n\n{inspect.getdoc(TABLES[name])}")
        TABLES[name](setup, head, row)


def main():
    sys.path.insert(0, str(Path(__file__).parent))
    import run

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []], help="which tables")
    parser.add_argument("--ranks", default="", help="numbers of ranks of the scalings, in place of the papers'")
    parser.add_argument("--repetitions", type=int, default=0, help="runs of which the one of median share is told")
    parser.add_argument("--rate", type=float, default=100.0, help="of the throttled store [MB/s a process]")
    parser.add_argument("--directory", help="where stores are written; a temporary directory where it is not given")
    arguments = parser.parse_args()
    ranks = [int(number) for number in arguments.ranks.split(",") if number]
    with tempfile.TemporaryDirectory(prefix="octavo-bench-", dir=arguments.directory) as folder:
        tables(folder, run.head, run.row, arguments.names, ranks, arguments.repetitions, arguments.rate)


if __name__ == "__main__":
    main()
