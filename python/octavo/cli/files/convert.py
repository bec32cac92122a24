"""Write outputs as steps of a compact store, or as outputs of another code; meshes of triangles as SERAFIN, MED or VTKHDF
files. Under mpirun the ranks share the domains; otherwise threads do. Each step appears whole or not at all."""

from __future__ import annotations

import argparse
import glob
import os
import re
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo convert output_00080 run.octavo",
    "octavo convert output_00080 small.octavo --codec point:2e-3 --report",
    "octavo convert 'output_*' run.octavo --codec point:1e-3,pressure=range:1e-4 --field density,pressure",
    "octavo convert output_00080 part.octavo --roi sphere:0.5,0.5,0.5:0.1 --level 9 --precision single",
    "mpirun -n 8 octavo convert output_00080 run.octavo --per-file 16",
    "octavo convert sedov_hdf5_chk_0002 chk00002 --to amrex --kind checkpoint --max-box 32",
    "octavo convert sedov_hdf5_plt_cnt_0002 chk00002 --to amrex --kind checkpoint --multifab phi --field dens --dt 1e-3",
    "octavo convert plt00020 run_hdf5_chk_0000 --to flash --block 8 --fill --rename phi=dens",
    "octavo convert sedov_hdf5_chk_0002 output_00002 --to ramses",
    "octavo convert run.octavo chk_again --to flash --flow checkpoint --step 40",
    "octavo convert r2d.slf r2d.octavo --codec abs:1e-3",
    "octavo convert r2d.octavo r2d.slf",
    "octavo convert geo.slf geo.med --boundary geo.cli",
    "octavo convert geo.med geo.slf --boundary-out geo.cli",
    "octavo convert r2d.slf r2d.vtkhdf",
    "octavo convert FlowFM_map.nc r2d.vtkhdf",
    "octavo convert r2d.slf r2d.nc",
    "octavo convert mesh.msh geo.slf",
    "octavo convert r2d.slf highest.slf --over-time max",
    "octavo convert r2d.slf valley.slf --polygon valley.geojson",
    "octavo convert output_00080 more/output_00080 --to ramses --domains 4096",
    "octavo convert run.octavo finer.octavo --flow checkpoint --refine 1",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo import _core

    parser.add_argument(
        "paths", nargs="+", metavar="IN ... OUT", help="outputs, stores or patterns; last the new store"
    )
    known = _core.formats()
    parser.add_argument("--to", choices=["octavo", *(format["name"] for format in known)],
                        help="format to write: a store, or another code's output from which that code can go on (whole "
                             f"steps, lossless). Default: by the ending of OUT ({', '.join(_endings(known))}), else a store")  # fmt: skip
    parser.add_argument("--flow", choices=["analysis", "checkpoint"],
                        help="if the input is a store, the flow to read (default: analysis, if it has a step); else the flow to "
                             "write (default: analysis)")  # fmt: skip
    parser.add_argument("--step", type=int, metavar="N", help="step of a store, with --to a native output")
    _add_native(parser, known)
    parser.add_argument("--field", type=options.names, metavar="A,B", help="only these fields (default: all)")
    options.add_selection(parser)
    parser.add_argument(
        "--codec",
        default="lossless",
        metavar="CODEC",
        help="lossless, abs:E (absolute), range:E (relative to the field's max - min) or point:E (relative to each value). "
        "FIELD=CODEC sets one field, SPECIES/ATTRIBUTE=CODEC an attribute or vector of particles; commas separate several. "
        "For positions, range and point are fractions of the finest cell; identities are exact",
    )
    parser.add_argument("--report", action="store_true",
                        help="read the store again and print the errors of each field: the largest error; the mean over volume, "
                             "with its standard error; the drift of the integral, divided by the integral of the "
                             "magnitudes; the correlation of neighbouring errors; the peak signal-to-noise ratio")  # fmt: skip
    options.add_effort(parser)
    parser.add_argument("--method", choices=["auto", "raw", "zstd", "tree", "delta", "pcp"], default="auto",
                        help="use one lossless method, for comparison (auto: try all and take the best)")  # fmt: skip
    parser.add_argument("--precision", choices=["double", "single"], default="double", help="single stores float32")
    parser.add_argument("--no-particles", action="store_true", help="leave particles out")
    parser.add_argument(
        "--per-file", type=options.positive, default=0, metavar="K", help="domains per file (default: up to 64)"
    )
    options.add_force(parser, "replace an existing store, once the new one is complete")
    parser.add_argument("--append", action="store_true", help="add steps to an existing store")
    options.add_threads(parser)
    options.add_json(parser)


def _endings(known: list[dict]) -> list[str]:
    return [ending for format in known for ending in format["endings"]]


def own_options(known: list[dict]) -> dict[str, tuple[dict, str]]:
    """{name: (option, help)} of the options that some formats alone have."""
    found: dict[str, tuple[dict, str]] = {}
    for format in known:
        for option in (option for option in format["options"] if option["help"]):
            before = found[option["name"]][1] + "; " if option["name"] in found else ""
            found[option["name"]] = (option, f"{before}{format['title']}: {option['help']}")
    return found


def _add_native(parser: argparse.ArgumentParser, known: list[dict]) -> None:
    native = parser.add_argument_group("native outputs, and stores on another mesh")
    with_kinds = [format for format in known if format["kinds"]]
    native.add_argument("--kind", choices=sorted({kind for format in with_kinds for kind in format["kinds"]}), default="",
                        help="which output of " + " or ".join(format["title"] for format in with_kinds))  # fmt: skip
    for name, (option, text) in own_options(known).items():
        of_type, metavar = _TYPES[option["type"]]
        native.add_argument("--" + name.replace("_", "-"), type=of_type, choices=option["values"] or None,
                            metavar=None if option["values"] else metavar, help=text)  # fmt: skip
    native.add_argument("--periodic", type=parse_axes, metavar="xyz",
                        help="periodic axes, or none; for steps that do not record them, such as AMReX's plotfiles "
                             "(default: those of the step)")  # fmt: skip
    native.add_argument("--lossy-ok", action="store_true",
                        help="allow a native output of a step that was stored with a loss")  # fmt: skip
    native.add_argument("--block", type=options.positive, default=0, metavar="N",
                        help="FLASH, stores: cells of a block along each axis (default: the input's, or for FLASH the "
                             "largest that fits)")  # fmt: skip
    native.add_argument("--fill", nargs="?", const="linear", choices=["linear", "constant"], default="",
                        help="add cells to complete blocks and to balance levels. New cells get values from the coarser cell, "
                             "conservatively: with limited slopes (linear, the default) or its value (constant)")  # fmt: skip
    native.add_argument("--refine", type=options.positive, default=0, metavar="N",
                        help="refine the leaves of the finest level N times, to go on with a finer mesh. New values are "
                             "conservative; fields on faces keep their divergence")  # fmt: skip
    native.add_argument("--per-mass", type=options.names, default=[], metavar="NAMES",
                        help="with --refine and --fill: fields per unit mass, such as mass fractions; they are weighted by "
                             "density, as velocities and FLASH's energies always are")  # fmt: skip
    options.add_over_time(native)
    options.add_polygon(native, "keep only triangles whose middle is in this polygon")
    native.add_argument("--boundary", metavar="F.cli",
                        help="to MED or Gmsh: write the boundary's edges in groups named by their codes. With --boundary-out: take the "
                             "codes of the groups from this file, TELEMAC's boundary file for MED")  # fmt: skip
    native.add_argument("--boundary-out", metavar="OUT.cli",
                        help="MED or Gmsh to SERAFIN: write the boundary file that follows from the groups of edges")  # fmt: skip
    native.add_argument("--rename", type=parse_renames, default={}, metavar="A=B,C=D",
                        help="field A of the input is called B in the output (default: a table of the codes' names)")  # fmt: skip


def numbers(text: str) -> list[float]:
    """[0.1, 0.05] of "0.1,0.05"."""
    try:
        return [float(word) for word in options.names(text)]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers, found {text}") from None


#: How the command takes the values of a format's own options, by their type.
_TYPES: dict[str, tuple[Any, str]] = {
    "number": (options.positive, "N"),
    "text": (str, "TEXT"),
    "numbers": (numbers, "X[,X...]"),
}


def parse_renames(text: str) -> dict[str, str]:
    """{"a": "b"} of "a=b"."""
    pairs = {}
    for word in options.names(text):
        old, equals, new = word.partition("=")
        if not (old and equals and new):
            raise argparse.ArgumentTypeError(f"expected OLD=NEW, found {word}")
        pairs[old] = new
    return pairs


def parse_axes(text: str) -> list[bool]:
    """[True, False, True] of "xz"; "none" is no axis."""
    if text != "none" and not set(text) <= set("xyz"):
        raise argparse.ArgumentTypeError(f"expected axes, as xyz, or none, found {text}")
    return [text != "none" and axis in text for axis in "xyz"]


def parse_codecs(text: str) -> tuple[str, dict[str, str]]:
    """("point:1e-3", {"pressure": "range:1e-4"}) of "point:1e-3,pressure=range:1e-4"."""
    default, by_field = "lossless", {}
    for word in options.names(text):
        name, equals, codec = word.rpartition("=")
        if equals:
            by_field[name] = codec
        else:
            default = codec
    return default, by_field


def expand(patterns: list[str]) -> list[str]:
    """Returns the paths that names and patterns mean, in natural order. Patterns may come quoted, unexpanded."""
    paths: list[str] = []
    for pattern in patterns:
        found = glob.glob(pattern) if glob.has_magic(pattern) else [pattern]
        if not found:
            raise UsageError("nothing matches the pattern", [pattern], "")
        paths += sorted(found, key=lambda path: [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", path)])
    return paths


def _boundary(arguments: argparse.Namespace, source: str) -> dict:
    """Makes the boundary file. This comes before OUT, which is not written if the groups say too little."""
    from octavo import _core

    path = arguments.boundary_out
    others = {os.path.realpath(other) for other in (arguments.paths[-1], source, arguments.boundary) if other}
    if os.path.realpath(path) in others:
        raise UsageError("--boundary-out is a file of its own, not OUT nor what is read", [path], "give another name")
    options.check_output(path, arguments.force)
    options.check_output(arguments.paths[-1], arguments.force, arguments.to)
    return _core.boundary_of_groups(source, path, codes=arguments.boundary, overwrite=arguments.force)


def _format(arguments: argparse.Namespace) -> dict | None:
    """Returns the format that --to names, else the one that OUT's ending means; None is a store."""
    from octavo import _core

    out, known = arguments.paths[-1], _core.formats()
    if arguments.to:
        return next((format for format in known if format["name"] == arguments.to), None)
    for format in known:
        if out.lower().endswith(tuple(format["endings"])):
            return format
    hint = "--to says what is written, whatever OUT is called"
    options.check_ending(out, (*options.STORE_ENDS, *_endings(known)), "an output", hint)
    return None


def _request(arguments: argparse.Namespace, ranks: object, progress: object) -> dict:
    """Returns the options under the names that the compiled job takes."""
    from octavo import _core

    codec, field_codec = parse_codecs(arguments.codec)
    return {
        "to": arguments.to,
        "fields": arguments.field,
        "max_level": arguments.level,
        "region": arguments.roi,
        "codec": codec,
        "field_codec": field_codec,
        "single_precision": arguments.precision == "single",
        "particles": not arguments.no_particles,
        "overwrite": arguments.force,
        "measure": arguments.report,
        "boundary": None if arguments.boundary_out else arguments.boundary,
        "over_time": arguments.over_time,
        **_polygon(arguments),
        "ranks": ranks,
        "progress": progress,
        **{name: getattr(arguments, name) for name in (*_SAME_NAMES, *own_options(_core.formats()))},
    }


def _polygon(arguments: argparse.Namespace) -> dict:
    from octavo.triangles.outlines import polygon_of, words_of

    if arguments.polygon is None:
        return {}
    return {"polygon": polygon_of(words_of(arguments.polygon, options.POLYGON))}


_SAME_NAMES = (
    "effort", "method", "per_file", "append", "flow", "step", "threads", "refine", "block", "fill", "per_mass", "kind",
    "rename", "periodic", "lossy_ok",
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import is_root, world
    from octavo.regions import has_extremes, with_extremes
    from octavo.units import has_lengths

    if len(arguments.paths) < 2:
        raise UsageError(
            "convert takes at least an input and the store to write", [], "octavo convert output_00080 run.octavo"
        )
    format = _format(arguments)
    arguments.to = format["name"] if format else "octavo"
    triangles = format is not None and format["triangles"]
    if arguments.boundary_out and (format is None or not format["triangles"] or format["groups"]):
        raise UsageError("--boundary-out goes with a file of triangles that has no groups", [], "--to serafin")
    if triangles:
        options.refuse_ranks(f"convert --to {arguments.to}")
    inputs, out = expand(arguments.paths[:-1]), arguments.paths[-1]
    if arguments.roi is not None and (has_lengths(arguments.roi) or has_extremes(arguments.roi)):
        everything: dict = {"region": None, "max_level": None, "where": None, "definitions": []}
        first = _core.open(inputs[0], None, arguments.step)
        arguments.roi = with_extremes(options.place(arguments.roi, first), first, everything, world())
    boundary = _boundary(arguments, inputs[0]) if arguments.boundary_out and len(inputs) == 1 else None
    unit = "steps" if triangles else "parts" if format else "bytes"
    with console.Progress("convert", arguments.quiet, unit=unit) as progress:
        report = _core.convert(inputs, out, **_request(arguments, None if triangles else world(), progress))
    if not is_root():
        return 0
    if boundary:
        report["boundary_points"] = boundary["points"]
        report["notes"] = boundary["notes"] + [note for note in report["notes"] if note not in boundary["notes"]]
    console.notes(arguments.quiet, report["notes"])
    if arguments.json:
        console.print_json({"path": out, **report} if format else report)
    elif format:
        made = f"{console.counted(report['steps'], 'step')}, " if triangles else ""
        last = "" if triangles else f", {report['particles']} particles"
        console.say(arguments.quiet, f"{out}: {made}{console.size(report['bytes'])}{last}")
    elif not arguments.quiet:
        _print(report, out)
        if arguments.report:
            _print_errors(report)
    return 0


def _print_errors(report: dict) -> None:
    """Prints the errors of each field. The largest is measured as its bound is: for point, relative to each value."""
    from octavo.cli.console import table

    def number(x: float | None) -> str:
        return "infinite" if x is None else f"{x:.3g}"

    rows = []
    for name, field in report["fields"].items():
        if "errors" not in field:
            continue
        errors = field["errors"]
        kind = field["bound"].split(":")[0]
        rows.append(
            [
                name,
                field["bound"],
                " ".join(field["codecs"]),
                f"{field['raw'] / field['stored']:.2f}" if field["stored"] else None,
                number(errors["largest_ratio" if kind == "point" else "largest"]),
                f"{number(errors['mean'])} +- {number(errors['standard_error'])}",
                f"{errors['drift']:.1e}",
                f"{errors['autocorrelation']:.3f}",
                "exact" if not errors["nrmse"] and errors["largest"] == 0 else number(errors["psnr"]),
            ]
        )
    columns = ["field", "bound", "codec", "ratio", "largest", "mean", "drift", "lag-1", "PSNR dB"]
    table("errors", columns, rows)


def _print(report: dict, out: str) -> None:
    from octavo.cli.console import counted, size, table

    def ratio(raw: int, stored: int) -> str | None:
        return f"{raw / stored:.2f}" if stored else None

    rows = [
        [name, size(f["raw"]), size(f["stored"]), ratio(f["raw"], f["stored"])] for name, f in report["fields"].items()
    ]
    rows.append(["(mesh)", None, size(report["mesh_bytes"]), None])
    table(
        f"{out}: {counted(report['steps'], 'step')}, {counted(report['parts'], 'domain')}",
        ["field", "raw", "stored", "ratio"],
        rows,
    )
    table(
        "",
        ["native", "store", "ratio"],
        [
            [
                size(report["input_bytes"]),
                size(report["stored_bytes"]),
                ratio(report["input_bytes"], report["stored_bytes"]),
            ]
        ],
    )
