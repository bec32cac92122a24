"""Put the pieces of a parallel TELEMAC result together into one SERAFIN file, or MED file by its suffix, one variable of
one step in memory: values are the same bits, and the boundary's numbers (IPOBO) and the date are kept. Pieces are
PREFIXnnnnn-iiiii, SERAFIN or MED, or PREFIX-CONCAT and PREFIX-INDEX, or meshes of PREFIX.med; 2-D or 3-D."""

from __future__ import annotations

import argparse

from octavo.cli import options

EXAMPLES = [
    "octavo merge run/T2DRES -o result.slf --mesh geo.slf",
    "octavo merge run/T2DRES-CONCAT -o result.slf --mesh geo.slf",
    "octavo merge run/T2DRES -o result.med --mesh geo.slf --boundary geo.cli",
    "octavo merge run/T2DRES00003-0000? -o result.slf            # elements in the order of the pieces",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pieces", nargs="+", metavar="PIECES", help="a prefix, a -CONCAT file, or all the pieces")
    parser.add_argument("-o", "--out", metavar="OUT", required=True, help="the whole result; OUT.med becomes MED")
    parser.add_argument(
        "--mesh", metavar="GEO", help="the whole geometry, SERAFIN or MED: its order of elements, and its boundary"
    )
    parser.add_argument(
        "--boundary",
        metavar="F.cli",
        help="the boundary's order, where the geometry has none (IPOBO 0); in MED its groups, too",
    )
    options.add_force(parser, "replace an existing file, once the new one is whole")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console

    options.check_output(arguments.out, arguments.force, None)
    options.check_ending(arguments.out, options.ends_of("serafin", "med"), "SERAFIN and MED files")
    options.refuse_ranks("merge")
    with console.Progress("merge", arguments.quiet) as progress:
        report = _core.merge(
            arguments.pieces,
            arguments.out,
            mesh=arguments.mesh,
            boundary=arguments.boundary,
            overwrite=arguments.force,
            progress=progress,
        )
    console.report(
        arguments.quiet,
        arguments.json,
        report,
        f"{arguments.out}: {report['parts']} pieces, {console.number(report['points'])} points, "
        f"{console.counted(report['steps'], 'step')}, {console.size(report['bytes'])}",
    )
    return 0
