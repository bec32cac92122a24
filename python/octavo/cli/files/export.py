"""Write the selected cells of an output, or its particles, as a file for other programs.

--as chooses the kind; the ending of the file's name chooses the format, and the kind if --as does not:
  htg        .vtkhdf                  the adaptive mesh as a hyper tree grid, for ParaView and VTK
  ug         .vtkhdf                  voxels (pixels in 2-D), or triangles or solids with all steps
  cube       .npy .npz .fits .vtkhdf  a uniform grid of the cells of --level (default: the finest) over --roi
  cells      .csv .npz                a table: centre, edge, level and fields of each cell; of triangles and solids centroid, size and
                                      fields in cells
  particles  .vtkhdf .csv .npz        positions and attributes
  points     .csv .npz                of triangles and solids, a table: place, size that the point stands for, fields at points
             .geojson .shp .gpkg      of triangles, for geographic systems
  triangles  .geojson .shp .gpkg      the triangles, with the values at their middles
Cells that are not selected are left out; in a hyper tree grid they are hidden, in a cube NaN. Several outputs, or --all-steps of a
store, become one VTKHDF file (htg or ug) with all steps."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo export output_00080 run.vtkhdf",
    "octavo export run.octavo core.vtkhdf --field density,speed,level --roi sphere:center:0.1",
    "octavo export run.octavo hot.vtkhdf --where 'pressure/density > 1e-3' --level 9 --precision single",
    "octavo export output_00080 cube.fits --field density --level 8 --roi box:0.4,0.4,0.4:0.6,0.6,0.6",
    "octavo export output_00080 stars.vtkhdf --as particles --species star",
    "octavo export run.octavo dense.csv --where 'density > 10' --field density,pressure",
    "octavo export r2d.slf depth.gpkg --field 'WATER DEPTH' --crs EPSG:2154",
    "octavo export dam.vtkhdf wet.csv --where 'head > 3 m' --as points",
    "octavo export 'output_*' series.vtkhdf --field density",
    "mpirun -n 4 octavo export run.octavo run.vtkhdf",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo.exports.files import KINDS

    parser.add_argument("path", nargs="+", help="an output directory, or a store; several for a file of many steps")
    parser.add_argument("out", help="the file to write; its ending chooses the format")
    parser.add_argument("--as", dest="kind", choices=list(KINDS), help="the kind of data (default: by the ending)")
    parser.add_argument("--field", type=options.names, metavar="F,G", help="only these, also formulas (default: all)")
    parser.add_argument("--species", type=options.names, metavar="A,B", help="species of particles (default: all)")
    options.add_crs(parser, "of points and triangles")
    options.add_selection(parser)
    options.add_fields(parser, unit=False)
    parser.add_argument("--precision", choices=["double", "single"], default="double", help="single stores float32")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    parser.add_argument("--all-steps", action="store_true", help="all steps of a store in one VTKHDF file")
    options.add_threads(parser)
    options.add_force(parser, "replace the output")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.damage import replacing
    from octavo.exports import files
    from octavo.ranks import world

    files.kind_of(arguments.out, arguments.kind)  # raises now if the kind is wrong
    ranks = world()
    if arguments.all_steps or len(arguments.path) > 1 or any(sign in arguments.path[0] for sign in "*?["):
        return _series(arguments, ranks)
    arguments.path = arguments.path[0]
    ds = options.open_dataset(arguments, ranks)
    if options.planned(arguments, ds, arguments.field):
        return 0
    reading = options.reading(arguments, ds, ranks)
    with console.Progress("export", arguments.quiet, unit="domains") as progress:
        report = reading.do(replacing(lambda data, overwrite: files.write(
            data, options.chosen(arguments, data), arguments.out, arguments.kind, fields=arguments.field,
            species=arguments.species, single_precision=arguments.precision == "single", overwrite=overwrite,
            threads=arguments.threads, ranks=ranks, progress=progress, crs=arguments.crs,
        ), arguments.force))  # fmt: skip
    _tell(arguments, report | reading.facts())
    return console.end(reading)


def _series(arguments: argparse.Namespace, ranks: Any) -> int:
    """All steps in one file. Collective over `ranks`."""
    from octavo.cli import console
    from octavo.cli.numbers.series import listed
    from octavo.exports import files, over_time
    from octavo.snapshots import Snapshot

    for name in ("step", "dry_run", "species", "crs", "skip_damaged"):
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} does not go with several steps", [arguments.out], "")
    snapshots = listed(arguments.path, arguments.flow, ranks)
    with console.Progress("export", arguments.quiet, unit="steps") as progress:

        def export(snapshot: Snapshot, out: str, kind: str) -> dict[str, Any]:
            ds = snapshot.open(ranks)
            report = files.write(
                ds, options.chosen(arguments, ds), out, kind, fields=arguments.field,
                single_precision=arguments.precision == "single", threads=arguments.threads, ranks=ranks,
            )  # fmt: skip
            progress(snapshots.index(snapshot) + 1, len(snapshots))
            return report

        report = over_time.write(
            snapshots, arguments.out, arguments.kind, export, overwrite=arguments.force, ranks=ranks
        )
    _tell(arguments, report)
    return 0


def _tell(arguments: argparse.Namespace, report: dict[str, Any]) -> None:
    from octavo.cli import console

    notes = report.pop("notes")
    console.notes(arguments.quiet, notes)
    if arguments.json:
        console.print_json({**report, "notes": notes})
    else:
        console.say(arguments.quiet, f"{arguments.out}: {_amount(report)}, {console.size(report['bytes'])}")


def _amount(report: dict[str, Any]) -> str:
    from octavo.cli import console

    if isinstance(report.get("leaves"), list):
        return f"{console.counted(report['steps'], 'step')}, {sum(report['leaves'])} cells"
    if report["as"] == "ug" and "cells" not in report:
        return f"{report['elements']} cells, {console.counted(report['steps'], 'step')}"
    if report["as"] == "cube":
        return " x ".join(map(str, report["shape"][::-1])) + f" cells of level {report['level']}"
    if report["as"] in ("points", "triangles"):
        return f"{report['cells']} {report['as']}"
    return f"{report.get('leaves') or report['cells']} {'particles' if report['as'] == 'particles' else 'cells'}"
