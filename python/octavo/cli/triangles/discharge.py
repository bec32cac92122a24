"""The discharge through lines at every step of a mesh of triangles (SERAFIN, MED, VTKHDF, a store): the integral of depth times
the velocity across the line, positive from its left to its right. Depth and velocity are linear in triangles, and their
product is integrated exactly. In prisms it is the integral over the height. A table, CSV, JSON or a picture over time. Under
mpirun the ranks share the steps."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo discharge r2d.slf --through 4500,4350 5500,4400",
    "octavo discharge r2d.slf --through section1.geojson --through section2.geojson -o discharge.csv",
    "octavo discharge r2d.slf --through section.txt --depth '\"FREE SURFACE\" - BOTTOM' -o discharge.png",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a SERAFIN, MED, UGRID or VTKHDF file, or a store")
    options.add_through(parser, "a line", required=True, several=True)
    parser.add_argument(
        "--depth", default="water_depth", metavar="F", help="the depth, a field or a formula (default: water_depth)"
    )
    add_series_output(parser)


def add_series_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help="out.csv, .png, .pdf or .svg (default: a table)")
    options.add_force(parser, "overwrite the output file")
    options.add_flow(parser)
    parser.add_argument("--csv", action="store_true", help="comma-separated values")
    options.add_json(parser)


def check_series_output(arguments: argparse.Namespace, verb: str) -> None:
    if arguments.output:
        if not arguments.output.endswith((".csv", ".png", ".pdf", ".svg")):
            raise UsageError("the output must end in .csv, .png, .pdf or .svg", [arguments.output], f"-o {verb}.csv")
        options.check_output(arguments.output, arguments.force)


def run(arguments: argparse.Namespace) -> int:
    from octavo.ranks import world
    from octavo.triangles.outlines import words_of
    from octavo.triangles.steps_of_triangles import discharge

    check_series_output(arguments, "discharge")
    lines = [words_of(words, options.THROUGH) for words in arguments.through]
    found = discharge(arguments.path, lines, depth=arguments.depth, flow=arguments.flow, ranks=world())
    return tell(arguments, found)


def tell(arguments: argparse.Namespace, series) -> int:
    """Writes or prints a series. Collective under mpirun."""
    from octavo.cli import console
    from octavo.ranks import gathered, is_root, world

    if arguments.output:
        gathered(world(), lambda: series.save(arguments.output) if is_root() else None)
        console.say(arguments.quiet, f"{arguments.output}: {console.counted(len(series.times), 'step')}")
    if not is_root():
        return 0
    if arguments.json:
        console.print_json(
            {
                "path": arguments.path,
                "output": arguments.output,
                "times": series.times.tolist(),
                "series": [
                    {"name": name, "size": float(size), "values": values.tolist()}
                    for name, size, values in zip(series.names, series.sizes, series.values, strict=True)
                ],
            }
        )
    elif arguments.csv:
        console.print_csv(series.heads(), series.rows())
    elif not arguments.output:
        console.table(arguments.path, series.heads(), ([f"{value:.10g}" for value in row] for row in series.rows()))
    return 0
