"""Measures Octavo beside its peers in one run and prints the tables of bench/results.

    make bench                              all tables, on samples made here and on the real sets where they are
    .venv/bin/python bench/run.py map       one of those at its end, by name
    .venv/bin/python bench/run.py scale     tables of virtual ranks: some minutes, 3 GB
                            scale --long    those of their rows that take an hour and more, 18 GB
                            scale --write   either, and puts it into bench/results/scaling.md

CPU seconds are user + system of the whole process, least of several runs; where a Python process is measured the bare
interpreter's are taken off. These are ratios of one machine in one run: compare columns, not runs.
"""

from __future__ import annotations

import filecmp
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OCTAVO = Path(sys.prefix) / "bin" / "octavo"
DATA = Path(os.environ.get("OCTAVO_DATA", ROOT.parent / "shared" / "data")) / "ramses"
SETS = ["sedov3d_1rank", "sedov3d_4ranks", "sedov3d_4ranks_medium", "dm_gas_gravity3d_3ranks"]
HYDRO = "density,velocity_x,velocity_y,velocity_z,pressure"


# A child's peak memory counts that of the process it was forked from: a bare interpreter starts the commands.
STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, 1, 0)])
_, status, usage = os.wait4(child, 0)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""


def measure(words, runs=3):
    """(CPU seconds, peak MB) of a command, the least of some runs."""
    seconds, peak = [], []
    for _ in range(runs):
        command = [sys.executable, "-I", "-S", "-c", STARTER, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        status, cpu, memory = done.stdout.split()
        if int(status):
            raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
        seconds.append(float(cpu))
        peak.append(float(memory))
    return min(seconds), min(peak)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    print()
    row(*cells)
    row(*["---"] * len(cells))


def native_bytes(output):
    return sum(path.stat().st_size for kind in ("amr", "hydro") for path in output.glob(f"{kind}_*.out*"))


def store_bytes(path):
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def convert(source, out, *options):
    words = [OCTAVO, "convert", source, out, "-f", "--no-particles", "--json", *options]
    return json.loads(subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout)


def outputs(folder):
    """The real sets, and a turbulence sample, by name."""
    found = {name: DATA / name / "output_00002" for name in SETS if (DATA / name).is_dir()}
    sample = folder / "output_00001"
    if not sample.exists():
        subprocess.run([OCTAVO, "sample", sample, "--levels", "6-8", "--domains", "8", "-q"], check=True)
    return {**found, "turbulence sample, 8 domains, 6-8": sample}


def sizes(folder):
    """Whole stores against native amr + hydro bytes; all hydro fields, double precision."""
    head("set", "native amr+hydro", "lossless", "lossless, max", "point:2e-3", "point:2e-4", "mesh share of lossless")
    for name, source in outputs(folder).items():
        native, cells = native_bytes(source), []
        for options in (
            ["--effort", "default"],
            ["--effort", "max"],
            ["--codec", "point:2e-3"],
            ["--codec", "point:2e-4"],
        ):
            report = convert(source, folder / "o", "--field", HYDRO, *options)
            cells.append(f"{native / store_bytes(folder / 'o'):.2f}")
            if options == ["--effort", "default"]:
                mesh = report["mesh_bytes"] / report["stored_bytes"]
        row(name, f"{native / 1e6:.2f} MB", *cells, f"{100 * mesh:.3f} %")


def lossless(folder):
    """Bytes of every field of every set beside the best of zstd-19, bitshuffle + zstd and pcodec on the field's values as one array."""
    import lossless_table

    lossless_table.table(folder, convert, head, row)


def codecs(folder):
    """Ratio and speed of one thread beside all peers, of all fields of a set that are not constant."""
    import codecs_table

    codecs_table.table(folder, head, row)


def big_sample(folder):
    path = folder / "output_00064"
    if not path.exists():
        subprocess.run([OCTAVO, "sample", path, "--levels", "7-9", "--domains", "64", "-q"], check=True)
    return path


def convert_speed(folder):
    """One thread, a 64-domain sample."""
    source = big_sample(folder)
    facts = json.loads(subprocess.run([OCTAVO, "info", source, "--json"], capture_output=True, check=True).stdout)
    native = native_bytes(source)
    largest = max(
        sum((source / f"{kind}_00064.out{domain:05}").stat().st_size for kind in ("amr", "hydro"))
        for domain in range(1, 65)
    )
    bare = measure([OCTAVO, "--version"])
    print(f"\n{facts['leaves']} leaves, {native / 1e6:.0f} MB native amr+hydro, largest domain {largest / 1e6:.1f} MB")
    head("convert", "CPU s", "MB/s of native", "ratio", "peak MB above the interpreter", "bound MB")
    for label, threads, options in [
        ("lossless", 1, []),
        ("lossless, 2 threads", 2, []),
        ("point:2e-3", 1, ["--codec", "point:2e-3"]),
        ("lossless, max", 1, ["--effort", "max"]),
    ]:
        words = [OCTAVO, "convert", source, folder / "o", "-f", "-q", "-j", threads, *options]
        seconds, peak = measure(words, 1 if "max" in label else 3)
        cost = seconds - bare[0]
        row(label, f"{cost:.2f}", f"{native / 1e6 / cost:.0f}", f"{native / store_bytes(folder / 'o'):.2f}",
            f"{peak - bare[1]:.0f}", f"{(3 * largest * threads) / 1e6 + 64:.0f}")  # fmt: skip


YT_MAP = """
import sys, numpy as np, yt
yt.set_log_level(50)
ds = yt.load(sys.argv[1])
frb = ds.proj(("gas", "density"), "z").to_frb(ds.domain_width[0], 1024)
np.save(sys.argv[2], frb["gas", "density"].to_ndarray())
"""


def maps(folder):
    """A 1024^2 projection to .npy: whole processes, one thread. AMR2MAP names the program of RAMSES' utils/f90, a peer."""
    source, store = big_sample(folder), folder / "big.octavo"
    subprocess.run([OCTAVO, "convert", source, store, "-q", "-f"], check=True)
    bare = measure([OCTAVO, "--version"])
    words = ["--field", "density", "--pixels", "1024", "-o", folder / "map.npy", "-f", "-q", "-j", "1"]
    head("map 1024^2", "CPU s above the interpreter", "peak MB above the interpreter")
    for label, path, extra in [
        ("octavo, from the store", store, []),
        ("octavo, from the RAMSES output", source, []),
        ("octavo, from the store, box 0.4-0.6", store, ["--roi", "box:0.4,0.4,0.4:0.6,0.6,0.6"]),
        ("octavo, from the store, level 7", store, ["--level", "7"]),
        ("octavo, weighted by mass, from the store", store, ["--weight", "density"]),
        ("octavo, weighted by mass, from the RAMSES output", source, ["--weight", "density"]),
    ]:
        seconds, peak = measure([OCTAVO, "map", path, *words, *extra])
        row(label, f"{seconds - bare[0]:.2f}", f"{peak - bare[1]:.0f}")
    if amr2map := os.environ.get("AMR2MAP"):
        size = ["-nx", "1024", "-ny", "1024"]
        seconds, peak = measure([amr2map, "-inp", source, "-out", folder / "a.map", "-dir", "z", "-typ", "1", *size])
        row("amr2map, weighted by mass, from the RAMSES output", f"{seconds:.2f}", f"{peak:.0f}")
    if importlib.util.find_spec("yt") is None:
        row("yt", "not installed", "")
        return
    python = measure([sys.executable, "-c", "pass"])
    seconds, peak = measure([sys.executable, "-c", YT_MAP, source, folder / "yt.npy"], 1)
    row("yt, from the RAMSES output", f"{seconds - python[0]:.2f}", f"{peak - python[1]:.0f}")


YT_SLICES = """
import sys, yt
yt.set_log_level(50)
ds = yt.load(sys.argv[1])
what, normal = sys.argv[2], [1, 1, 1]
if what == "slice":
    image = yt.SlicePlot(ds, "z", ("gas", "density"), buff_size=(1024, 1024)).frb["gas", "density"]
elif what == "plane":
    image = yt.OffAxisSlicePlot(ds, normal, ("gas", "density"), buff_size=(1024, 1024)).frb["gas", "density"]
else:
    image = yt.off_axis_projection(ds, [0.5] * 3, normal, [1.7] * 3, 1024, ("gas", "density"))
"""


def slices(folder):
    """Slices, lines and maps from a camera, 1024^2: whole processes, one thread, 3.7 million leaves in 64 domains."""
    source, store = big_sample(folder), folder / "big.octavo"
    if not store.exists():
        subprocess.run([OCTAVO, "convert", source, store, "-q", "-f"], check=True)
    bare = measure([OCTAVO, "--version"])
    image, ends = ["-o", folder / "s.npy"], ["--from", "0,0,0", "--to", "1,1,1", "-o", folder / "l.csv"]
    head("1024^2", "CPU s above the interpreter", "peak MB above the interpreter")
    for label, words in [
        ("slice across z", ["slice", *image]),
        ("slice across 1,1,1 through the middle", ["slice", "--normal", "1,1,1", *image]),
        ("slice across 1,1,1 through 0.2,0.2,0.2", ["slice", "--normal", "1,1,1", "--at", "0.2,0.2,0.2", *image]),
        ("line along the diagonal", ["line", *ends]),
        ("map, camera 1,1,1", ["map", "--camera", "1,1,1", *image]),
    ]:
        for name, path in (("store", store), ("RAMSES output", source)):
            command = [OCTAVO, words[0], path, "--field", "density", *words[1:], "-f", "-q", "-j", "1"]
            seconds, peak = measure(command, 5)
            row(f"octavo, {label}, from the {name}", f"{seconds - bare[0]:.2f}", f"{peak - bare[1]:.0f}")
    if importlib.util.find_spec("yt") is None:
        row("yt", "not installed", "")
        return
    python = measure([sys.executable, "-c", "pass"])
    info = next(source.glob("info_*.txt"))
    for label, what in (("slice across z", "slice"), ("slice across 1,1,1", "plane"), ("map, camera 1,1,1", "map")):
        seconds, peak = measure([sys.executable, "-c", YT_SLICES, info, what], 1)
        row(f"yt, {label}, from the RAMSES output", f"{seconds - python[0]:.2f}", f"{peak - python[1]:.0f}")


def structures(folder):
    """Profiles, percentiles, clumps and surfaces: whole processes, one thread, 3.7 million leaves in 64 domains."""
    source, store = big_sample(folder), folder / "big.octavo"
    if not store.exists():
        subprocess.run([OCTAVO, "convert", source, store, "-q", "-f"], check=True)
    bare = measure([OCTAVO, "--version"])
    words = [OCTAVO, "stats", store, "--field", "density", "--percentiles", "50,90,99", "--json", "-q"]
    density = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    leaves, found = density["leaves"], density["fields"]["density"]["percentiles"]
    five = "density,velocity_x,velocity_y,velocity_z,pressure"
    head("what", "CPU s above the interpreter", "peak MB above the interpreter", "million leaves/s")
    for label, words in [
        ("stats of one field", ["stats", "--field", "density"]),
        ("percentiles 5, 50, 95 of one field", ["stats", "--field", "density", "--percentiles", "5,50,95"]),
        ("profile of 5 fields", ["profile", "--field", five]),
        ("profile of 5 fields with percentiles 16, 50, 84", ["profile", "--field", five, "--percentiles", "16,50,84"]),
        ("clumps above the 99th percentile", ["clumps", "--above", found["p99"]]),
        ("clumps above the 90th percentile", ["clumps", "--above", found["p90"]]),
        ("surface at the 99th percentile", ["contour", "--field", "density", "--at", found["p99"]]),
        ("surface at the median", ["contour", "--field", "density", "--at", found["p50"]]),
    ]:
        out = folder / ("s.ply" if words[0] == "contour" else "s.csv")
        more = [] if words[0] == "stats" else ["-f", "-o", out]
        for name, path in (("store", store), ("RAMSES output", source)):
            seconds, peak = measure([OCTAVO, words[0], path, *words[1:], *more, "-q", "-j", "1"], 3)
            cost = seconds - bare[0]
            row(f"{label}, from the {name}", f"{cost:.2f}", f"{peak - bare[1]:.0f}", f"{leaves / 1e6 / cost:.1f}")


def view(folder):
    """`octavo view` of 3.7 million leaves in 64 domains: from start to picture, tiles, bytes, eight views at once."""
    import view as of_view

    source, store = big_sample(folder), folder / "big.octavo"
    if not store.exists():
        subprocess.run([OCTAVO, "convert", source, store, "-q", "-f"], check=True)
    of_view.tables(OCTAVO, source, store, head, row)


def export(folder):
    """Files for other programs: whole processes, one thread, 3.7 million leaves in 64 domains, 5 fields."""
    source, store = big_sample(folder), folder / "big.octavo"
    bare = measure([OCTAVO, "--version"])
    head("what", "CPU s above the interpreter", "peak MB above the interpreter", "MB on disk")

    def add(label, words, out, size, runs):
        seconds, peak = measure([*words, "-f", "-q", "-j", "1"], runs)
        row(label, f"{seconds - bare[0]:.2f}", f"{peak - bare[1]:.0f}", f"{size(out) / 1e6:.0f}")

    add("convert to a store, lossless", [OCTAVO, "convert", source, store], store, store_bytes, 1)
    for kind, ending, *more in (
        ("htg", ".vtkhdf"), ("amr", ".vtkhdf"), ("ug", ".vtkhdf"),
        ("cube", ".npy", "--field", "density", "--level", "8"),
    ):  # fmt: skip
        for name, path in (("store", store), ("RAMSES output", source)):
            out = folder / f"export{ending}"
            words = [OCTAVO, "export", path, out, "--as", kind, *more]
            add(" ".join([kind, *more, "from the", name]), words, out, lambda file: file.stat().st_size, 2)
            out.unlink()


PEAK = """import os, resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1] + os.environ["OMPI_COMM_WORLD_RANK"], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)"""


def maps_on_ranks(folder):
    """A 10,000^2 projection to .npy, 800 MB, of 64 domains in a store: the largest peak of a rank, interpreter included."""
    store, pixels = folder / "big.octavo", 10_000
    subprocess.run([OCTAVO, "convert", big_sample(folder), store, "-q", "-f"], check=True)
    words = [OCTAVO, "map", store, "--field", "density", "--pixels", pixels, "-f", "-q", "-j", 1, "-o"]
    head("ranks", "image / ranks MB", "peak MB", "peak above image / ranks MB", "bytes")
    for ranks in (1, 2, 4, 8):
        out = folder / f"map{ranks}.npy"
        command = ["mpirun", "-n", ranks, sys.executable, "-c", PEAK, folder / "peak", *words, out]
        subprocess.run([str(word) for word in command], check=True)
        peak = max(1024 * int((folder / f"peak{rank}").read_text()) for rank in range(ranks)) / 1e6
        share = 8 * pixels**2 / ranks / 1e6
        same = "same" if filecmp.cmp(folder / "map1.npy", out, shallow=False) else "OTHERS"
        row(ranks, f"{share:.0f}", f"{peak:.0f}", f"{peak - share:.0f}", same)
        if ranks > 1:
            out.unlink()


def info(folder):
    """Headers only, a 64-domain output; interpreter included."""
    source, store = big_sample(folder), folder / "big.octavo"
    if not store.exists():
        subprocess.run([OCTAVO, "convert", source, store, "-q", "-f"], check=True)
    head("info", "CPU s, interpreter included", "peak MB")
    for label, words in [
        ("bare interpreter", [sys.executable, "-c", "pass"]),
        ("octavo --version", [OCTAVO, "--version"]),
        ("octavo info, RAMSES output", [OCTAVO, "info", source]),
        ("octavo info, store", [OCTAVO, "info", store]),
    ]:
        seconds, peak = measure(words, 9)
        row(label, f"{seconds:.3f}", f"{peak:.0f}")


def engine(folder):
    """The parallel engine beside what programs otherwise write with, as `octavo bench` measures it."""
    import engine_bars

    engine_bars.tables(folder, head, row)


def partition(folder):
    """Cutting and merging refinements of the Malpasset mesh, beside METIS alone, about 10,000 triangles a part."""
    import pieces_table

    pieces_table.tables(folder, measure, head, row)


def apps(folder):
    """The cost of output in the simulations of apps/."""
    import apps_tables

    apps_tables.tables(folder, head, row)


def shallow(folder):
    """A shallow-water run on 1.66 million triangles that writes its results in several ways."""
    import shallow_ways

    shallow_ways.tables(folder, head, row)


def blocks(folder):
    """Stores of real FLASH and AMReX checkpoints at point:2e-3, against the bytes of their mesh variables."""
    import blocks_table

    blocks_table.stores(folder, convert, store_bytes, head, row)


def native(folder):
    """FLASH and AMReX outputs from all ranks: what a step costs the simulation."""
    import blocks_table

    blocks_table.native(folder, head, row)


def malpasset(folder):
    """The dam break of Malpasset: arrival of the wave, and the picture of docs/shallow.md."""
    import shallow_malpasset

    shallow_malpasset.tables(folder, head, row)


SCALE = ROOT / "build" / "release" / "bench" / "octavo_bench_scale"
PAGE = ROOT / "bench" / "results" / "scaling.md"


def block_of(page, command):
    """Where a page shows what a command prints: text before, shown, after."""
    before, found, rest = page.partition(f"```\n$ {command}\n")
    if not found:
        raise SystemExit(f"{PAGE} has no block that begins with $ {command}")
    shown, _, after = rest.partition("```")
    return before + found, shown, "```" + after


def scale(folder, *options):
    """Messages, memory and file operations of virtual ranks, which run the engine's own code: docs/scaling.md."""
    words = ["--metadata-rate", "10k", *(word for word in options if word == "--long")]
    command = " ".join(["bench/run.py scale", *words[2:]])
    if "--write" in options:
        block_of(PAGE.read_text(), command)  # there is a place for it, before minutes go by
    # Virtual ranks take their turns all over the memory: huge pages save a fifth of the time.
    pages = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    printed = subprocess.run([SCALE, *words], check=True, stdout=subprocess.PIPE, text=True, env=pages).stdout
    print(f"\n```\n$ {command}\n{printed}```")
    if "--write" in options:
        before, _, after = block_of(PAGE.read_text(), command)
        PAGE.write_text(before + printed + after)


TABLES = {
    "sizes": sizes,
    "lossless": lossless,
    "codecs": codecs,
    "convert": convert_speed,
    "map": maps,
    "maps_on_ranks": maps_on_ranks,
    "slices": slices,
    "structures": structures,
    "view": view,
    "export": export,
    "info": info,
    "engine": engine,
    "blocks": blocks,
    "native": native,
    "partition": partition,
    "apps": apps,
    "shallow": shallow,
    "malpasset": malpasset,
    "scale": scale,
}


def main(words):
    names = [word for word in words if not word.startswith("--")]
    options = [word for word in words if word.startswith("--")]
    if options and (names != ["scale"] or set(options) - {"--long", "--write"}):
        raise SystemExit("options are --long and --write, of scale")
    with tempfile.TemporaryDirectory(prefix="octavo-bench-") as folder:
        for name in names or TABLES:
            print(f"\n## {name}\n\n{TABLES[name].__doc__}")
            TABLES[name](Path(folder), *options)


if __name__ == "__main__":
    main(sys.argv[1:])
