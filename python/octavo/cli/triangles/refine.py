"""Cut each triangle of a 2-D SERAFIN mesh into four at the middles of its edges, with all steps: new points have the mean of
their edge's ends. With --boundary the boundary file is refined along."""

from __future__ import annotations

import argparse

from octavo.cli import options

EXAMPLES = [
    "octavo refine geo.slf -o fine.slf",
    "octavo refine geo.slf -o fine.slf --times 2 --boundary geo.cli --boundary-out fine.cli",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mesh", metavar="MESH.slf", help="a mesh of triangles")
    parser.add_argument("-o", "--out", metavar="OUT.slf", required=True, help="the finer mesh")
    parser.add_argument(
        "--times", type=options.positive, default=1, metavar="N", help="4^N triangles for one (default 1)"
    )
    parser.add_argument("--boundary", metavar="F.cli", help="boundary file of the mesh")
    parser.add_argument("--boundary-out", metavar="OUT.cli", help="boundary file of the finer mesh")
    options.add_force(parser, "replace existing files, once the new ones are whole")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.errors import UsageError

    if bool(arguments.boundary) != bool(arguments.boundary_out):
        raise UsageError("--boundary and --boundary-out go together", [], "")
    options.check_output(arguments.out, arguments.force, None)
    options.check_ending(arguments.out, options.ends_of("serafin"), "SERAFIN files")
    options.refuse_ranks("refine")
    with console.Progress("refine", arguments.quiet) as progress:
        report = _core.refine(
            arguments.mesh,
            arguments.out,
            times=arguments.times,
            boundary=arguments.boundary,
            boundary_out=arguments.boundary_out,
            overwrite=arguments.force,
            progress=progress,
        )
    console.report(
        arguments.quiet,
        arguments.json,
        report,
        f"{arguments.out}: {console.number(report['elements'])} triangles, {console.number(report['points'])} points, "
        f"{console.counted(report['steps'], 'step')}, {console.size(report['bytes'])}",
    )
    return 0
