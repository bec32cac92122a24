"""Write the selected cells of an output as a file for other programs.

--as chooses the kind: `htg` is a hyper tree grid for ParaView and VTK (VTKHDF), the whole adaptive mesh with a value on
each cell. Cells that are not selected are hidden."""

from __future__ import annotations

import argparse

from octavo.cli import options

EXAMPLES = [
    "octavo export output_00080 run.vtkhdf",
    "octavo export run.octavo core.vtkhdf --field density,speed,level --roi sphere:center:0.1",
    "octavo export run.octavo hot.vtkhdf --where 'pressure/density > 1e-3' --level 9 --precision single",
    "mpirun -n 4 octavo export run.octavo run.vtkhdf",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo.export import KINDS

    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("out", help="the file to write; its ending chooses the format")
    parser.add_argument("--as", dest="kind", choices=list(KINDS), help="the kind of data (default: by the ending)")
    parser.add_argument("--field", type=options.names, metavar="F,G", help="only these, also formulas (default: all)")
    options.add_selection(parser)
    options.add_fields(parser)
    parser.add_argument("--precision", choices=["double", "single"], default="double", help="single stores float32")
    options.add_step(parser)
    options.add_threads(parser)
    options.add_force(parser, "replace the output")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import export
    from octavo.cli import console
    from octavo.ranks import world

    kind = export.kind_of(arguments.out, arguments.kind)
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    with console.Progress("export", arguments.quiet, unit="domains") as progress:
        report = export.write(
            ds, arguments.out, kind, options.chosen(arguments), fields=arguments.field,
            single_precision=arguments.precision == "single", overwrite=arguments.force, threads=arguments.threads,
            ranks=ranks, progress=progress,
        )  # fmt: skip
    notes = report.pop("notes")
    console.notes(arguments.quiet, notes)
    if arguments.json:
        console.print_json({**report, "notes": notes})
    else:
        console.say(arguments.quiet, f"{arguments.out}: {report['leaves']} cells, {len(report['fields'])} fields, "
                    f"{console.size(report['bytes'])}, read {report['parts_read']} of {ds.num_parts} domains")  # fmt: skip
    return 0
