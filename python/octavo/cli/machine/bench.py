"""Measure the parallel engine beside other ways to write, all in one run: write, read, async (the time that writing costs a
simulation); or the rates of a directory (calibrate). Or print a plan for any machine: files, opens, bytes per writer, time and quota. Or measure codecs on your own
output (codec).

Start the first four with mpirun. The ways take turns, and each repetition begins with another one; a first round is not
counted. Seconds are medians of the slowest rank, from a barrier to an agreement of all ranks. A ratio is the median over
repetitions of (seconds of pwrite, one file per rank) / (seconds of this way). Writes and bytes are the system calls of all
ranks, as the kernel counts them. Without --sync nothing waits for the disk; the engine skips fdatasync, too. The throttle
makes the process sleep before each write (bytes / rate). It belongs to this command, not to the engine; MPI-IO and the
libraries sleep once per call."""

from __future__ import annotations

import argparse
import math
import statistics
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "mpirun -n 4 octavo bench write --bytes-per-rank 64M --per-file 1,all",
    "mpirun -n 4 octavo bench write --sync --repetitions 15 --json",
    "mpirun -n 2 octavo bench write --mode background --option staging_bytes=1G",
    "mpirun -n 1 octavo bench read --blocks 10000 --block-bytes 10k",
    "mpirun -n 2 octavo bench async --throttle 250M --codec point:2e-3 --flow analysis",
    "octavo bench plan --ranks 50000 --ranks-per-node 128 --bytes 15T --per-file 1,16,all --node-rate 2G --rate 500G",
    "mpirun -n 8 octavo bench calibrate /scratch/me -o rates.toml",
    "octavo bench plan --ranks 50000 --bytes 15T --rates rates.toml",
    "octavo bench codec output_00080 --field density,velocity_x --bound lossless,point:2e-3,range:1e-3",
    "octavo bench plan --ranks 16384 --bytes 4.7T --files-per-writer 4 --quota-files 2M --quota-bytes 100T",
]

_FILES = {
    "write": "fresh: each repetition makes new files; rewritten: it writes over those of the one before. The engine keeps "
    "the last checkpoint and removes the one before (default: fresh)",
    "async": "fresh: a new run makes its two files in its first steps; rewritten: the run has already written three steps "
    "(default: fresh)",
}
_ONLY = (
    "only ways whose names begin with one of these, and raw, file a rank: raw, octavo, MPI-IO, HDF5, ADIOS2",
    "only ways whose names begin with one of these, and off and octavo sync: pwrite, copy, octavo",
)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
BASE = "raw, file a rank"


def amount(text: str) -> int:
    """Reads a count with a decimal prefix: 250M is 250 000 000."""
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].isalpha() else (text, "")
    try:
        value = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise argparse.ArgumentTypeError(f"expected a number such as 64M or 4.7T, found {text}") from None
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 9.2e18, found {text}")
    return round(value)


def contributors(text: str) -> list[int]:
    """Reads numbers of ranks per file: "1,16,all"; all is 0."""
    try:
        counts = [0 if word == "all" else options.positive(word) for word in options.names(text)]
    except (ValueError, argparse.ArgumentTypeError):
        counts = []
    if not counts:
        raise argparse.ArgumentTypeError(f"expected numbers of ranks or 'all', found {text}")
    return counts


def modes(text: str) -> list[str]:
    found = options.names(text)
    if not found or any(mode not in ("sync", "background", "auto") for mode in found):
        raise argparse.ArgumentTypeError(f"expected sync, background or auto, found {text}")
    return found


def setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text}")
    return name, value


def configure(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", metavar="write|read|async|calibrate|plan|codec", required=True)
    for kind, text in (
        ("write", "write steps to files, each way in turn"),
        ("read", "read such steps again, from the page cache, and compare every value"),
        ("async", "compute and write steps, and measure the time that the writing costs"),
    ):
        _configure_measure(kinds.add_parser(kind, help=text, description=text), kind)
    text = "measure what a directory takes a second (files made, syncs, bytes of one writer and of a node), for plans"
    _configure_calibrate(kinds.add_parser("calibrate", help=text, description=text))
    plan = kinds.add_parser(
        "plan", help="print files, bytes, time and quota of a step; needs no mpirun, writes nothing"
    )
    _configure_plan(plan)
    text = "measure ratio, speed and errors of our codec and its peers on a file's own values"
    _configure_codec(kinds.add_parser("codec", help=text, description=text + ". " + _CODEC))


_CODEC = """Times are CPU seconds of one thread, the least of the repetitions. Our codec takes a field as a store does, level by
level. Each peer takes the same values in four arrangements (merged, leaves only, bricks of neighbouring cells, whole
levels), and its best counts. A peer without bounds gets integers on a grid that keeps the bound; one with absolute bounds
gets logarithms for point. 'within' says whether every value kept the bound."""


def _configure_codec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="an output or a store, of cells")
    options.add_step(parser)
    parser.add_argument(
        "--field", type=options.names, metavar="A,B", help="(default: all fields of floating-point values)"
    )
    parser.add_argument("--bound", type=bounds, default=["lossless", "point:2e-3"], metavar="CODEC,...",
                        help="lossless, abs:E, range:E, point:E (default: lossless,point:2e-3)")  # fmt: skip
    parser.add_argument("--effort", choices=["default", "fast", "max", "all"], default="default", help="of ours")
    parser.add_argument("--repetitions", type=options.positive, default=3, metavar="N")
    parser.add_argument("--csv", metavar="FILE", help="write all rows as CSV")
    parser.add_argument(
        "--picture", metavar="FILE.png", help="draw PSNR over bits a value, and ratio over speed (give several bounds)"
    )
    _add_last(parser)


def bounds(text: str) -> list[str]:
    """Reads codecs: "lossless,point:2e-3"."""
    found = options.names(text)
    for word in found:
        kind, colon, number = word.partition(":")
        try:
            good = word == "lossless" or (kind in ("abs", "range", "point") and bool(colon) and float(number) > 0)
        except ValueError:
            good = False
        if not good:
            raise argparse.ArgumentTypeError(f"expected lossless, abs:E, range:E or point:E, found {word}")
    if not found:
        raise argparse.ArgumentTypeError("expected a codec, found nothing")
    return found


def _codec(arguments: argparse.Namespace) -> int:
    import octavo
    from octavo.cli import console
    from octavo.codecs import codec_bench, peers

    dataset = octavo.open(arguments.path, step=arguments.step, flow=arguments.flow)
    fields = arguments.field or dataset.fields
    unknown = [name for name in fields if name not in dataset.fields]
    if unknown:
        raise UsageError(f"no field {unknown[0]}: there are {', '.join(dataset.fields)}", [arguments.path], "")
    efforts = ["default", "fast", "max"] if arguments.effort == "all" else [arguments.effort]
    rows = [
        row
        for field in fields
        for bound in arguments.bound
        for row in codec_bench.measure_field(dataset, field, bound, efforts, arguments.repetitions)
    ]
    missing = peers.available()[1]
    if arguments.csv:
        codec_bench.save_csv(rows, arguments.csv)
    if arguments.picture:
        codec_bench.save_picture(rows, arguments.picture)
    if arguments.json:
        console.print_json({"path": arguments.path, "rows": rows, "missing": missing})
        return 0
    _print_codecs(arguments, rows)
    for sentence in missing:
        console.say(arguments.quiet, "note: " + sentence)
    return 0


def _print_codecs(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    from octavo.cli.console import table

    def number(x: float | None) -> str | None:
        return None if x is None else f"{x:.3g}"

    columns = ["compressor", "given", "ratio", "bits", "comp. MB/s", "decomp. MB/s", "max abs", "max rel", "mean", "NRMSE",
               "PSNR dB", "within"]  # fmt: skip
    for field, bound in dict.fromkeys((row["field"], row["bound"]) for row in rows):
        table(f"{arguments.path}: {field}, {bound}", columns, [
            [row["compressor"], row["arrangement"], f"{row['ratio']:.3f}", f"{row['bits_per_value']:.2f}",
             f"{row['compress_MBps']:.0f}", f"{row['decompress_MBps']:.0f}", number(row["max_abs_error"]),
             number(row["max_rel_error"]), number(row["mean_error"]), number(row["nrmse"]), number(row["psnr"]),
             "yes" if row["within"] else "no"]
            for row in rows if (row["field"], row["bound"]) == (field, bound)
        ])  # fmt: skip


def _configure_measure(parser: argparse.ArgumentParser, kind: str) -> None:
    parser.add_argument("--directory", metavar="DIR", help="where to write (default: a new folder here, removed after)")
    parser.add_argument("--bytes-per-rank", type=amount, default=amount("64M"), metavar="B", help="of a step (64M)")
    parser.add_argument("--fields", type=options.positive, metavar="N", help="arrays (default: 10; 1 with --blocks)")
    parser.add_argument("--blocks", type=int, default=0, metavar="N", help="tree cells with a block of values each")
    parser.add_argument("--block-bytes", type=amount, default=10_000, metavar="B", help="of one field (10k)")
    parser.add_argument("--repetitions", type=options.positive, default=5, metavar="N")
    parser.add_argument("--sync", action="store_true", help="to disk, not only into the page cache")
    parser.add_argument("--throttle", type=amount, default=0, metavar="B", help="bytes a second a process may write")
    parser.add_argument("--checksums", choices=["on", "off", "both"], default="both" if kind == "write" else "on")
    parser.add_argument("--per-file", type=contributors, default=[1, 0] if kind != "async" else [1], metavar="K,...",
                        help="ranks of a node that share a file; all: one file a node (1,all; async: 1)")  # fmt: skip
    parser.add_argument("--codec", default="raw", help="raw, lossless, abs:E or point:E")
    parser.add_argument("--option", type=setting, action="append", default=[], metavar="NAME=VALUE",
                        help="any option of the engine (docs/options.md); may be repeated")  # fmt: skip
    parser.add_argument("--only", type=options.names, default=[], metavar="NAME,...", help=_ONLY[kind == "async"])
    if kind == "write":
        parser.add_argument("--mode", type=modes, default=["sync"], metavar="M,...", help="sync, background, auto")
    if kind != "read":
        parser.add_argument("--files", choices=["fresh", "rewritten"], default="fresh", help=_FILES[kind])
    if kind == "async":
        parser.add_argument("--steps", type=options.positive, default=8, metavar="N")
        parser.add_argument("--flow", choices=["checkpoint", "analysis"], default="checkpoint")
        parser.add_argument("--compute", type=float, default=0, metavar="S",
                            help="seconds of computing a step (1.5 times what pwrite takes)")  # fmt: skip
    _add_last(parser)


def _configure_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR", help="on the file system; a folder is made in it, and removed")
    parser.add_argument("-o", "--output", metavar="FILE", default="rates.toml", help="(rates.toml)")
    options.add_force(parser, "replace FILE")
    parser.add_argument("--bytes-per-rank", type=amount, default=amount("256M"), metavar="B", help="(256M)")
    parser.add_argument("--files", type=options.positive, default=500, metavar="N", help="that each rank makes (500)")
    parser.add_argument("--repetitions", type=options.positive, default=3, metavar="N", help="the median counts (3)")
    _add_last(parser)


def _add_last(parser: argparse.ArgumentParser) -> None:
    """Adds the common options behind the kind, too. A default here would undo an option before the kind."""
    options.add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _configure_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", type=options.positive, required=True, metavar="N")
    parser.add_argument("--ranks-per-node", type=options.positive, default=128, metavar="N", help="(128)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--bytes", type=amount, metavar="B", help="of a step, all ranks")
    size.add_argument("--bytes-per-rank", type=amount, metavar="B", help="(256M)")
    parser.add_argument("--per-file", type=contributors, default=[1, 4, 16, 64, 0], metavar="K,...",
                        help="ranks of a node that share a file; all: one file a node (1,4,16,64,all)")  # fmt: skip
    parser.add_argument(
        "--writers-per-node", type=options.whole, default=0, metavar="N", help="files of a node at most"
    )
    parser.add_argument("--files-per-writer", type=options.positive, default=1, metavar="N",
                        help="4 is a native RAMSES output: amr, hydro, grav, part (1)")  # fmt: skip
    parser.add_argument("--ratio", type=float, default=1, metavar="R", help="bytes before encoding for one after (1)")
    parser.add_argument("--append", action="store_true", help="steps follow one another in the same files")
    parser.add_argument(
        "--rates", metavar="FILE", help="of octavo bench calibrate; the options below replace its lines"
    )
    parser.add_argument("--writer-rate", type=amount, default=0, metavar="B", help="bytes a second of one writer")
    parser.add_argument("--node-rate", type=amount, default=0, metavar="B", help="of one node")
    parser.add_argument("--rate", type=amount, default=0, metavar="B", help="of the file system")
    parser.add_argument("--creates-rate", type=amount, default=0, metavar="N", help="files it makes a second")
    parser.add_argument("--syncs-rate", type=amount, default=0, metavar="N", help="syncs a second of one writer")
    parser.add_argument("--quota-files", type=amount, default=0, metavar="N")
    parser.add_argument("--quota-bytes", type=amount, default=0, metavar="B")
    parser.add_argument("--files", action="store_true", help="also print the first files of each plan")
    _add_last(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.kind == "codec":
        return _codec(arguments)
    try:
        from octavo import _bench
    except ImportError as error:
        from octavo.errors import Unsupported

        raise Unsupported(
            "this build of octavo has no MPI, and so no engine to measure or to plan for", [str(error)],
            "build it where MPI is found (Debian: libopenmpi-dev)",
        ) from None  # fmt: skip
    if arguments.kind == "plan":
        return _plan(arguments, _bench)
    if arguments.kind == "calibrate":
        return _calibrate(arguments, _bench)
    return _measure(arguments, _bench)


# ---------------------------------------------------------------------------------------------------------- measuring


def _setup(arguments: argparse.Namespace, directory: str) -> dict[str, Any]:
    switches = {"on": [True], "off": [False], "both": [False, True]}
    return {
        "directory": directory,
        "bytes_per_rank": arguments.bytes_per_rank,
        "fields": arguments.fields or (1 if arguments.blocks else 10),
        "blocks": arguments.blocks,
        "block_bytes": arguments.block_bytes,
        "repetitions": arguments.repetitions,
        "sync": arguments.sync,
        "rewrite": getattr(arguments, "files", "") == "rewritten",
        "throttle": float(arguments.throttle),
        "per_file": arguments.per_file,
        "checksums": switches[arguments.checksums],
        "modes": getattr(arguments, "mode", ["sync"]),
        "codec": arguments.codec,
        "only": arguments.only,
        "options": arguments.option,
    }


def _measure(arguments: argparse.Namespace, bench: Any) -> int:
    import os
    import shutil

    from octavo.ranks import is_root

    given = arguments.directory
    if given is not None and not os.path.isdir(given):
        raise UsageError("the folder to write in does not exist", [given], "")
    directory = os.path.join(given or ".", f"octavo-bench.{os.getpid()}")  # all ranks take rank 0's
    setup = _setup(arguments, directory)
    try:
        if arguments.kind == "async":
            report = bench.runs(setup, arguments.steps, arguments.compute, arguments.flow)
        else:
            report = bench.transfer(setup, arguments.kind == "read")
    finally:
        if is_root():
            shutil.rmtree(directory, ignore_errors=True)
    if not is_root():
        return 0
    report = {"kind": arguments.kind, "setup": setup, **report}
    _summarise(report, arguments)
    if arguments.json:
        from octavo.cli import console

        console.print_json(report)
    elif arguments.kind == "async":
        _print_runs(report, arguments)
    else:
        _print_transfers(report, arguments)
    return 0


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _summarise(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Adds medians to each row."""
    if report["kind"] == "async":
        rows = {row["name"]: row["runs"] for row in report["rows"]}
        for row in report["rows"]:
            row["median"] = summary_of_runs(row["runs"], rows, arguments.steps)
        return
    base = next(row["samples"] for row in report["rows"] if row["name"] == BASE)
    whole = report["ranks"] * report["bytes_per_rank"]
    for row in report["rows"]:
        if row["samples"]:
            row["median"] = summary_of_samples(row["samples"], base, whole, report)


def summary_of_samples(samples: list[dict], base: list[dict], whole: int, report: dict[str, Any]) -> dict[str, float]:
    """Returns medians of one way of writing; ratios are taken within a repetition."""
    median = {key: _median([one[key] for one in samples]) for key in samples[0]}
    median["rate"] = whole / median["seconds"]
    median["ratio"] = _median([b["seconds"] / s["seconds"] for b, s in zip(base, samples, strict=True)])
    blocks = report["ranks"] * report["blocks"]
    median["cpu_per_block_above_raw"] = (
        _median([s["cpu"] - b["cpu"] for b, s in zip(base, samples, strict=True)]) / blocks
    )
    return median


def summary_of_runs(runs: list[dict], rows: dict[str, list[dict]], steps: int) -> dict[str, float]:
    """Returns medians of one way to run. All but the total are relative to the same repetition's run without output. A
    gain is None if half of the runs or more were no longer than those without output."""
    off, sync = rows["off"], rows["octavo sync"]

    def above(key: str, of: list[dict]) -> list[float]:
        return [r[key] - o[key] for r, o in zip(of, off, strict=True)]

    def gain(key: str) -> float | None:
        pairs = list(zip(above(key, sync), above(key, runs), strict=True))
        median = _median([s / r if r > 0 else math.inf for s, r in pairs])
        return median if runs is not off and math.isfinite(median) else None

    return {
        "whole": _median([r["whole"] for r in runs]),
        "visible": _median(above("whole", runs)),
        "visible_before_close": _median(above("before_close", runs)),
        "in_calls": _median([r["in_calls"] for r in runs]),
        "slowdown": _median(above("computing", runs)),
        "cpu": _median(above("cpu", runs)),
        "stored_per_step": runs[0]["stored"] / steps,
        "gain": gain("whole"),
        "gain_before_close": gain("before_close"),
    }


def _title(report: dict[str, Any], arguments: argparse.Namespace) -> str:
    from octavo.cli.console import size

    text = f"{arguments.kind}: {report['ranks']} ranks, {size(report['bytes_per_rank'])} a rank"
    if arguments.blocks:
        text += f" in {report['blocks']} blocks"
    text += ", to disk" if arguments.sync else ", page cache"
    if arguments.throttle:
        text += f", {size(arguments.throttle)}/s a process"
    if arguments.kind != "read":
        text += f", {arguments.files} files"
    return text + f", medians of {arguments.repetitions}"


def _print_transfers(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    from octavo.cli.console import say, size, table

    calls, volume = ("reads", "read") if arguments.kind == "read" else ("writes", "written")
    per_block = ["us a block"] if arguments.blocks else []
    rows: list[list[Any]] = []
    for row in report["rows"]:
        if row["missing"]:
            rows.append([row["name"], row["missing"].partition(":")[0]] + [None] * (5 + len(per_block)))
            continue
        m = row["median"]
        cells = [row["name"], f"{m['seconds']:.4f}", f"{m['rate'] / 1e6:.0f}", f"{m['ratio']:.2f}", f"{m['cpu']:.3f}"]
        cells += [int(m[calls]), size(m[volume])]
        if per_block:
            cells.append(f"{1e6 * m['cpu_per_block_above_raw']:+.2f}")
        rows.append(cells)
    columns = ["what", "s", "MB/s", "ratio", "CPU s", calls, "bytes", *per_block]
    table(_title(report, arguments), columns, rows)
    for reason in dict.fromkeys(row["missing"] for row in report["rows"] if row["missing"]):
        say(arguments.quiet, "note: " + reason)


def _print_runs(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    from octavo.cli.console import size, table

    def times(gain: float | None, way: str) -> str | None:
        return f"{gain:.1f}x" if gain is not None else None if way == "off" else "all hidden"

    rows = []
    for row in report["rows"]:
        m, way = row["median"], row["name"]
        rows.append([way, f"{m['whole']:.3f}", f"{m['visible']:.3f}", times(m["gain"], way),
                     f"{m['visible_before_close']:.3f}", times(m["gain_before_close"], way), f"{m['in_calls']:.3f}",
                     f"{m['slowdown']:.3f}", f"{m['cpu']:.3f}",
                     size(m["stored_per_step"]) if m["stored_per_step"] else None])  # fmt: skip
    title = f"{_title(report, arguments)}; {arguments.steps} {arguments.flow} steps, {report['compute']:.3f} s computing each"
    columns = ["way", "run s", "visible s", "gain", "before close s", "gain", "in calls s", "compute + s", "CPU + s",
               "stored a step"]  # fmt: skip
    table(title, columns, rows)


# ---------------------------------------------------------------------------------------------------------- rates

RATES = {
    "creates_rate": "files made a second in one folder, by all ranks that measured",
    "syncs_rate": "syncs a second of one writer",
    "writer_rate": "bytes a second that one rank writes and syncs",
    "node_rate": "bytes a second of a node all of whose ranks write",
    "rate": "bytes a second of the file system; nothing measures it",
}


def _calibrate(arguments: argparse.Namespace, bench: Any) -> int:
    import os
    import shutil

    from octavo.cli import console
    from octavo.ranks import is_root

    if not os.path.isdir(arguments.directory):
        raise UsageError("the folder to measure does not exist", [arguments.directory], "")
    options.check_output(arguments.output, arguments.force)
    directory = os.path.join(arguments.directory, f"octavo-bench.{os.getpid()}")  # all ranks take rank 0's
    setup = {
        "directory": directory, "bytes_per_rank": arguments.bytes_per_rank, "fields": 1, "blocks": 0, "block_bytes": 0,
        "repetitions": arguments.repetitions, "sync": True, "rewrite": False, "throttle": 0.0, "per_file": [1],
        "checksums": [False], "modes": ["sync"], "codec": "raw", "only": [], "options": [],
    }  # fmt: skip
    try:
        found = bench.calibrate(setup, arguments.files)
    finally:
        if is_root():
            shutil.rmtree(directory, ignore_errors=True)
    if not is_root():
        return 0
    head = f"octavo bench calibrate {arguments.directory}: {found['ranks']} ranks on {found['nodes']} nodes"
    lines = [f"# {head}, {console.size(arguments.bytes_per_rank)} a rank"]
    lines += [f"{name} = {found[name]:.6g}  # {meaning}" for name, meaning in RATES.items() if name in found]
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    if arguments.json:
        console.print_json({**found, "file": arguments.output})
    else:
        print("\n".join(lines))
        console.say(arguments.quiet, f"{arguments.output}: octavo bench plan --rates reads it")
    return 0


def rates_in(path: str) -> dict[str, float]:
    """Reads a file of rates: those of RATES that it has."""
    import tomllib

    from octavo.errors import Unreadable

    hint = "octavo bench calibrate DIR -o FILE makes such a file"
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise Unreadable(f"the file of rates cannot be read: {error.strerror}", [path], hint) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"expected lines NAME = NUMBER of TOML, found: {error}", [path], hint) from None
    for name, value in found.items():
        if name not in RATES:
            raise UsageError(f"expected {', '.join(RATES)}, found {name}", [path], hint)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise UsageError(f"{name}: expected a number above 0, found {value!r}", [path], hint)
    return found


# ----------------------------------------------------------------------------------------------------------- planning


def plans(arguments: argparse.Namespace, bench: Any) -> list[dict[str, Any]]:
    """Makes a plan for each number of contributors per file."""
    from octavo.cli import console

    total = arguments.bytes
    if total is None:
        total = arguments.ranks * (amount("256M") if arguments.bytes_per_rank is None else arguments.bytes_per_rank)
        if total >= 2**63:
            raise UsageError(
                f"a step of {console.size(total)} is more than any store holds", hint="fewer ranks, or bytes a rank"
            )
    rates = _rates_of(arguments)
    machine = {
        "writer_rate": rates["writer_rate"],
        "host_rate": rates["node_rate"],
        "rate": rates["rate"],
        "creates_rate": rates["creates_rate"],
        "syncs_rate": rates["syncs_rate"],
        "quota_files": arguments.quota_files,
        "quota_bytes": arguments.quota_bytes,
    }
    return [
        {"per_file": per_file, **bench.plan(
            arguments.ranks, arguments.ranks_per_node, total, per_file, arguments.writers_per_node, machine,
            arguments.ratio, arguments.files_per_writer, arguments.append)}
        for per_file in arguments.per_file
    ]  # fmt: skip


def _rates_of(arguments: argparse.Namespace) -> dict[str, float]:
    """The options' rates, else those of the file; 0: no limit."""
    known = rates_in(arguments.rates) if arguments.rates else {}
    return {name: float(getattr(arguments, name) or known.get(name, 0)) for name in RATES}


def _plan(arguments: argparse.Namespace, bench: Any) -> int:
    from octavo.cli import console

    found = plans(arguments, bench)
    if arguments.json:
        console.print_json({"plans": found})
        return 0
    timed = any(_rates_of(arguments).values())
    rows = [
        ["all" if p["per_file"] == 0 else p["per_file"], p["files"], p["opens"], p["creates"] + p["opens"] + p["syncs"],
         console.size(p["bytes_of_writer"]), console.size(p["bytes_of_host"]),
         f"{p['seconds']:.3g} s" if timed else None,
         *(None if p[key] < 0 else p[key] for key in ("steps_by_files", "steps_by_bytes"))]
        for p in found
    ]  # fmt: skip
    first = found[0]
    console.table(
        f"{first['ranks']} ranks on {first['hosts']} nodes, {console.size(first['bytes'])} a step",
        [
            "ranks a file",
            "files",
            "opens",
            "metadata ops",
            "a writer",
            "a node",
            "a step",
            "steps in files",
            "in bytes",
        ],
        rows,
    )
    if arguments.files:
        for p in found:
            print(p["text"])
    return 0
